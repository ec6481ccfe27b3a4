//! A set of offsets of a file.

use std::collections::BTreeMap;
use std::ops::Range;

/// A set of offsets, as ranges that neither overlap nor touch.
#[derive(Debug, Default)]
pub(super) struct Ranges(BTreeMap<u64, u64>);

impl Ranges {
    pub(super) fn iter(&self) -> impl Iterator<Item = Range<u64>> + '_ {
        self.0.iter().map(|(start, end)| *start..*end)
    }

    /// The parts of a range that are in the set.
    pub(super) fn within(&self, range: &Range<u64>) -> Vec<Range<u64>> {
        let before = self.0.range(..range.start).next_back();
        let inside = self.0.range(range.start..range.end.max(range.start));
        let both = before.into_iter().chain(inside);
        both.map(|(start, end)| (*start).max(range.start)..(*end).min(range.end))
            .filter(|part| part.start < part.end)
            .collect()
    }

    pub(super) fn add(&mut self, range: Range<u64>) {
        if range.is_empty() {
            return;
        }
        let (mut start, mut end) = (range.start, range.end);
        if let Some((before, until)) = self.0.range(..=start).next_back()
            && *until >= start
        {
            (start, end) = (*before, end.max(*until));
        }
        while let Some((next, until)) = self.0.range(start..=end).next().map(|(next, until)| (*next, *until)) {
            end = end.max(until);
            self.0.remove(&next);
        }
        self.0.insert(start, end);
    }

    pub(super) fn remove(&mut self, range: Range<u64>) {
        for part in self.within(&range) {
            let Some((start, end)) = self
                .0
                .range(..=part.start)
                .next_back()
                .map(|(start, end)| (*start, *end))
            else {
                continue;
            };
            self.0.remove(&start);
            if start < part.start {
                self.0.insert(start, part.start);
            }
            if part.end < end {
                self.0.insert(part.end, end);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn ranges_are_a_set(steps in prop::collection::vec((any::<bool>(), 0..60u64, 0..20u64), 0..40)) {
            let (mut ranges, mut set) = (Ranges::default(), BTreeSet::new());
            for (is_add, from, length) in steps {
                match is_add {
                    true => {
                        ranges.add(from..from + length);
                        set.extend(from..from + length);
                    }
                    false => {
                        ranges.remove(from..from + length);
                        set.retain(|at| !(from..from + length).contains(at));
                    }
                }
                prop_assert_eq!(ranges.iter().flatten().collect::<BTreeSet<_>>(), set.clone());
                let within: BTreeSet<_> = ranges.within(&(10..40)).into_iter().flatten().collect();
                prop_assert_eq!(within, set.range(10..40).copied().collect());
                let found: Vec<_> = ranges.iter().collect();
                prop_assert!(found.windows(2).all(|pair| pair[0].end < pair[1].start));
            }
        }
    }
}
