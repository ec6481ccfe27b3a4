//! Counts again what the footer's statistics say.

use crate::index::Members;

/// One vector of the statistics, and what was counted. It takes memory only if the footer has that vector.
pub(super) struct Counter<'a> {
    name: &'static str,
    expected: Option<&'a [u64]>,
    expected_to_all: u64,
    found: Vec<u64>,
    found_to_all: u64,
    /// The value of a partition that should have none, since the footer has no vector.
    unexpected: Option<u64>,
}

impl<'a> Counter<'a> {
    pub(super) fn new(name: &'static str, expected: Option<&'a [u64]>, expected_to_all: u64) -> Self {
        let found = vec![0; expected.map_or(0, <[u64]>::len)];
        Counter {
            name,
            expected,
            expected_to_all,
            found,
            found_to_all: 0,
            unexpected: None,
        }
    }

    /// Adds a value for the readers of an extent: a partition, or members.
    pub(super) fn add(&mut self, first: u32, partition: Option<u32>, members: Option<&Members>, value: u64) {
        match (partition, members) {
            (Some(partition), _) => self.add_one(partition - first, value),
            (None, Some(members)) if members.is_all() => {
                self.found_to_all = self.found_to_all.saturating_add(value);
            }
            (None, Some(members)) if value > 0 => {
                for partition in members.iter() {
                    self.add_one(partition - first, value);
                }
            }
            _ => {}
        }
    }

    fn add_one(&mut self, at: u32, value: u64) {
        match self.found.get_mut(at as usize) {
            Some(found) => *found = found.saturating_add(value),
            None if value > 0 => self.unexpected = Some(value),
            None => {}
        }
    }

    /// The value in the footer and the counted one, if they differ.
    pub(super) fn fault(self) -> Option<(String, String)> {
        let name = self.name;
        if let Some(value) = self.unexpected {
            return Some((
                format!("{name} statistics of zeros"),
                format!("a partition with {value}"),
            ));
        }
        let expected = self.expected.unwrap_or_default();
        if let Some(at) = expected
            .iter()
            .zip(&self.found)
            .position(|(expected, found)| expected != found)
        {
            let place = format!("{name}[{at}]");
            return Some((
                format!("{} as {place}", self.found[at]),
                format!("statistics that say {}", expected[at]),
            ));
        }
        (self.found_to_all != self.expected_to_all).then(|| {
            let said = format!("statistics that say {}", self.expected_to_all);
            (format!("{} as {name}_to_all", self.found_to_all), said)
        })
    }
}
