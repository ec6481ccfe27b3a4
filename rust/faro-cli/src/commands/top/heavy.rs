//! The heaviest keys of a stream, in bounded memory: exact as long as there is room for all keys, then with an error that
//! is known (Misra and Gries, with weights, in the form of Anderson et al. 2017: when the table is full, the median weight
//! is subtracted from all).

use std::collections::HashMap;

/// The most bytes of keys; an entry takes more.
const KEY_BYTES: usize = 64 << 20;

/// A key's weight so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Weight {
    /// Bytes of its rows: exact, or at most `error` too few.
    pub bytes: u64,
    /// Its rows: exact, or those that were counted since it was forgotten last.
    pub records: u64,
}

/// Counts rows by key.
pub(super) struct Heavy {
    keys: HashMap<Box<[u8]>, Weight>,
    key_bytes: usize,
    most: usize,
    /// How much may have been subtracted from any key, or forgotten of it.
    error: u64,
    /// Over all keys, exact.
    pub total: Weight,
}

impl Heavy {
    /// Room for this many keys, at least 2.
    pub(super) fn new(most: usize) -> Heavy {
        Heavy {
            keys: HashMap::new(),
            key_bytes: 0,
            most: most.max(2),
            error: 0,
            total: Weight::default(),
        }
    }

    /// Counts a row.
    pub(super) fn add(&mut self, key: &[u8], bytes: u64) {
        self.total.bytes += bytes;
        self.total.records += 1;
        let weight = match self.keys.get_mut(key) {
            Some(weight) => weight,
            None => {
                if self.keys.len() >= self.most || self.key_bytes + key.len() > KEY_BYTES {
                    self.make_room();
                }
                self.key_bytes += key.len();
                self.keys.entry(key.into()).or_default()
            }
        };
        weight.bytes += bytes;
        weight.records += 1;
    }

    /// Subtracts the median from all weights, and forgets those that are not above it.
    fn make_room(&mut self) {
        let mut weights: Vec<u64> = self.keys.values().map(|weight| weight.bytes).collect();
        let middle = weights.len() / 2;
        if weights.is_empty() {
            return;
        }
        let median = *weights.select_nth_unstable(middle).1;
        self.keys.retain(|_, weight| {
            let stays = weight.bytes > median;
            weight.bytes = weight.bytes.saturating_sub(median);
            stays
        });
        self.key_bytes = self.keys.keys().map(|key| key.len()).sum();
        self.error += median;
    }

    /// How many bytes the weight of any key may lack; 0 while weights are exact.
    pub(super) fn error(&self) -> u64 {
        self.error
    }

    /// The number of keys; none if some were forgotten.
    pub(super) fn distinct(&self) -> Option<u64> {
        (self.error == 0).then_some(self.keys.len() as u64)
    }

    /// The heaviest keys, at most `most`, the heaviest first.
    pub(super) fn heaviest(&self, most: usize) -> Vec<(&[u8], Weight)> {
        let mut all: Vec<(&[u8], Weight)> = self.keys.iter().map(|(key, weight)| (&**key, *weight)).collect();
        all.sort_unstable_by_key(|(key, weight)| (std::cmp::Reverse((weight.bytes, weight.records)), *key));
        all.truncate(most);
        all
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    /// Keys with few heavy ones, and their exact weights.
    fn stream(seed: u64) -> Vec<(String, u64)> {
        let mut x = seed | 1;
        let mut next = move || {
            x ^= x << 13;
            x ^= x >> 7;
            x ^= x << 17;
            x
        };
        let row = |_| {
            let key = match next() % 10 {
                0..3 => format!("heavy {}", next() % 3),
                _ => format!("light {}", next() % 5000),
            };
            (key, next() % 100 + 1)
        };
        (0..20_000).map(row).collect()
    }

    #[test]
    fn estimates_keep_their_promise() {
        for (seed, most) in [(1, 50), (2, 500), (3, 2), (4, 100_000)] {
            let rows = stream(seed);
            let mut exact: BTreeMap<&str, u64> = BTreeMap::new();
            let mut heavy = Heavy::new(most);
            for (key, bytes) in &rows {
                *exact.entry(key).or_default() += bytes;
                heavy.add(key.as_bytes(), *bytes);
                assert!(heavy.keys.len() <= most);
            }
            let total: u64 = exact.values().sum();
            assert_eq!((heavy.total.bytes, heavy.total.records), (total, 20_000));
            for (key, bytes) in &exact {
                let found = heavy.keys.get(key.as_bytes()).copied().unwrap_or_default().bytes;
                assert!(
                    found <= *bytes && *bytes <= found + heavy.error(),
                    "{key}: {found} of {bytes}"
                );
            }
            // The error is at most the share of a key that half of the table has room for.
            assert!(
                heavy.error() <= total / (most as u64 / 2).max(1),
                "{} of {total}",
                heavy.error()
            );
            if most == 100_000 {
                assert_eq!(heavy.error(), 0);
                assert_eq!(heavy.distinct(), Some(exact.len() as u64));
            }
            if most >= 50 {
                let mut sorted: Vec<(&str, u64)> = exact.into_iter().collect();
                sorted.sort_by_key(|(_, bytes)| std::cmp::Reverse(*bytes));
                let found: Vec<&[u8]> = heavy.heaviest(3).into_iter().map(|(key, _)| key).collect();
                assert_eq!(
                    found,
                    sorted[..3].iter().map(|(key, _)| key.as_bytes()).collect::<Vec<_>>()
                );
            }
        }
    }
}
