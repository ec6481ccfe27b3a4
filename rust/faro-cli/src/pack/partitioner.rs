//! Maps keys to partitions by hash (KEY-2) or by range (KEY-3), and finds the bounds of ranges.

use std::cmp::Ordering;

use faro::key::{self, KeyValue, compare_keys};

use super::key_type::KeyType;
use super::value::OwnedValue;

/// A key that outlives its record.
pub(super) type OwnedKey = Vec<OwnedValue>;

/// Finds the partition of each key.
#[derive(Clone, Debug)]
pub(super) enum Partitioner {
    Hash {
        partitions: u32,
    },
    Range {
        /// The bounds, ascending; at most one fewer than partitions.
        bounds: Vec<OwnedKey>,
        /// The type of each value of the key.
        types: Vec<KeyType>,
    },
}

impl Partitioner {
    /// The partition of a key, counted from 0. `scratch` avoids an allocation for each key.
    pub(super) fn partition(&self, key: &[KeyValue<'_>], scratch: &mut Vec<u8>) -> u32 {
        match self {
            Partitioner::Hash { partitions } => {
                scratch.clear();
                for value in key {
                    value.encode(scratch);
                }
                key::partition_of(key::hash(scratch), 0, *partitions)
            }
            Partitioner::Range { bounds, .. } => {
                let at_most = |bound: &OwnedKey| compare_to_bound(bound, key) != Ordering::Greater;
                bounds.partition_point(at_most) as u32
            }
        }
    }
}

fn compare_to_bound(bound: &OwnedKey, key: &[KeyValue<'_>]) -> Ordering {
    compare_keys(bound.iter().map(OwnedValue::borrow), key.iter().copied())
}

/// Keeps a random sample of all keys that it gets. The same input gives the same sample.
pub(super) struct Sampler {
    sample: Vec<OwnedKey>,
    capacity: usize,
    seen: u64,
    state: u64,
}

impl Sampler {
    /// A sampler for bounds of this many partitions.
    pub(super) fn new(partitions: u32) -> Sampler {
        // With 100 keys for each partition, the partitions differ by some ten percent.
        let capacity = (partitions as usize).saturating_mul(100).clamp(10_000, 1_000_000);
        Sampler {
            sample: Vec::new(),
            capacity,
            seen: 0,
            state: 0,
        }
    }

    /// Reservoir sampling: each key so far is in the sample with the same probability.
    pub(super) fn offer(&mut self, key: &[KeyValue<'_>]) {
        self.seen += 1;
        if self.sample.len() < self.capacity {
            self.sample.push(key.iter().map(OwnedValue::of).collect());
            return;
        }
        let place = (self.random() % self.seen) as usize;
        if let Some(slot) = self.sample.get_mut(place) {
            *slot = key.iter().map(OwnedValue::of).collect();
        }
    }

    /// SplitMix64, from a fixed seed.
    fn random(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Bounds that divide the sample evenly; none for an empty sample.
    pub(super) fn bounds(mut self, partitions: u32) -> Vec<OwnedKey> {
        self.sample
            .sort_by(|a, b| compare_keys(a.iter().map(OwnedValue::borrow), b.iter().map(OwnedValue::borrow)));
        if self.sample.is_empty() {
            return Vec::new();
        }
        let n = self.sample.len() as u64;
        (1..u64::from(partitions))
            .map(|i| self.sample[(i * n / u64::from(partitions)) as usize].clone())
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hashed(key: &[KeyValue<'_>]) -> u32 {
        Partitioner::Hash { partitions: 64 }.partition(key, &mut Vec::new())
    }

    #[test]
    fn hashes_as_the_specification_says() {
        assert_eq!(hashed(&[KeyValue::Int(1)]), 18);
        assert_eq!(hashed(&[KeyValue::Text("1")]), 2);
        assert_eq!(hashed(&[KeyValue::Null]), 40);
        assert_eq!(hashed(&[KeyValue::Text("faro"), KeyValue::Int(-1)]), 15);
    }

    #[test]
    fn counts_the_bounds_up_to_a_key() {
        let bounds = [10, 20, 20].map(|v| vec![OwnedValue::Int(v)]).to_vec();
        let range = Partitioner::Range {
            bounds,
            types: vec![KeyType::Int],
        };
        let of = |v| range.partition(&[KeyValue::Int(v)], &mut Vec::new());
        assert_eq!([of(9), of(10), of(19), of(20), of(21)], [0, 1, 1, 3, 3]);
    }

    #[test]
    fn samples_the_same_and_parts_evenly() {
        let bounds = || {
            let mut sampler = Sampler::new(4);
            (0..100_000).for_each(|v| sampler.offer(&[KeyValue::Int(v * 7919 % 100_000)]));
            sampler.bounds(4)
        };
        let first = bounds();
        assert_eq!(first, bounds());
        for (bound, expected) in first.iter().zip([25_000i64, 50_000, 75_000]) {
            let OwnedValue::Int(v) = bound[0] else {
                panic!("{bound:?}")
            };
            assert!((v - expected).abs() < 2500, "{v} is far from {expected}");
        }
        assert!(Sampler::new(4).bounds(4).is_empty());
    }
}
