//! The sums over all outputs of a shuffle.

use super::output_sums::{Amount, MOST_PARTITIONS, OutputSums};
use crate::bytes::FileHeader;
use crate::error::{Error, ErrorCode, Result};
use crate::storage::Files;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// Whose output it is. Numbers come before merged files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Producer {
    /// The producer with this number.
    Number(u64),
    /// A merged file, with blocks of many producers, and its generation.
    Merged(u64),
}

impl Producer {
    /// The producer that a header names.
    pub fn of(header: &FileHeader) -> Producer {
        match header.is_merged() {
            true => Producer::Merged(header.attempt),
            false => Producer::Number(header.producer),
        }
    }
}

/// What the outputs of a producer have together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ProducerSums {
    /// The number of its outputs.
    pub outputs: u64,
    /// The attempts that they are of.
    pub attempts: BTreeSet<u64>,
    /// How many of its outputs are copies: an output before them has the same `file_id` and first partition. What they have
    /// counts again.
    pub copies: u64,
    /// Stored bytes of their blocks, each once, and their records ([`OutputSums::records`]).
    pub amount: Amount,
}

/// An output that could not be summed up.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Fault {
    /// Its position in the list of outputs.
    pub output: usize,
    /// Its files.
    pub files: Files,
    /// What is wrong with it. The code is `unfinished` for an output that is still being written, or whose writer died.
    pub error: Error,
}

/// The sums over all outputs of a shuffle. Its memory grows with the outputs, and with the partitions that read anything.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct ShuffleSums {
    /// The number of outputs that were summed up.
    pub finished: u64,
    /// The outputs that were not: unfinished or damaged, in the order of the list.
    pub faults: Vec<Fault>,
    /// Stored bytes of all blocks. A block that several partitions share counts once.
    pub bytes: u64,
    /// The records of all outputs ([`OutputSums::records`]); none if an output does not have statistics.
    pub records: Option<u64>,
    /// What each producer has.
    pub producers: BTreeMap<Producer, ProducerSums>,
    /// The ranges of partitions that outputs have, as first partition and count; of each the number of outputs, and what
    /// every partition of the range reads. In most shuffles there is one.
    pub ranges: BTreeMap<(u32, u32), (u64, Amount)>,
    /// What partitions read besides that, over all outputs. Partitions that read nothing more are not here.
    pub own: BTreeMap<u32, Amount>,
    /// The `file_id` and the first partition of each output.
    identities: BTreeSet<([u8; 16], u32)>,
}

impl ShuffleSums {
    pub(super) fn new() -> Self {
        ShuffleSums {
            records: Some(0),
            ..ShuffleSums::default()
        }
    }

    /// Adds an output, unless the sums would have too many partitions.
    pub(super) fn add(&mut self, sums: &OutputSums) -> Result<()> {
        // Counting exactly would look up each partition twice.
        if self.own.len() + sums.partitions.len() > MOST_PARTITIONS {
            let more = sums
                .partitions
                .iter()
                .filter(|(partition, _)| !self.own.contains_key(partition));
            if self.own.len() + more.count() > MOST_PARTITIONS {
                let expected = format!("at most {MOST_PARTITIONS} partitions with data in all outputs");
                return Err(Error::bare(ErrorCode::LimitExceeded, expected, "more with this one"));
            }
        }
        self.finished += 1;
        self.bytes = self.bytes.saturating_add(sums.bytes);
        self.records = self.records.zip(sums.records).map(|(all, own)| all.saturating_add(own));
        let producer = self.producers.entry(Producer::of(&sums.header)).or_default();
        producer.outputs += 1;
        producer.attempts.insert(sums.header.attempt);
        let identity = (sums.header.file_id, sums.header.first_partition);
        producer.copies += u64::from(!self.identities.insert(identity));
        producer.amount.add(Amount {
            bytes: sums.bytes,
            records: sums.records.unwrap_or(0),
        });
        let range = (sums.header.first_partition, sums.header.partition_count);
        let (outputs, to_all) = self.ranges.entry(range).or_default();
        *outputs += 1;
        to_all.add(sums.to_all);
        for (partition, amount) in &sums.partitions {
            self.own.entry(*partition).or_default().add(*amount);
        }
        Ok(())
    }

    /// The partitions from the first to the last that an output has; empty without outputs.
    pub fn partitions(&self) -> Range<u32> {
        let first = self.ranges.keys().map(|(first, _)| *first).min();
        let end = self.ranges.keys().map(|(first, count)| first + count).max();
        first.unwrap_or(0)..end.unwrap_or(0)
    }

    /// What a partition reads from all outputs.
    pub fn partition(&self, partition: u32) -> Amount {
        let own = self.own.get(&partition).copied().unwrap_or_default();
        own.plus(self.to_all(partition))
    }

    /// What the partition reads of blocks for all partitions.
    fn to_all(&self, partition: u32) -> Amount {
        let has = |(first, count): (u32, u32)| (first..first + count).contains(&partition);
        let ranges = self.ranges.iter().filter(|(range, _)| has(**range));
        ranges.fold(Amount::default(), |sum, (_, (_, amount))| sum.plus(*amount))
    }

    /// The partitions that read anything, in order, with what they read.
    pub fn each_partition(&self) -> Box<dyn Iterator<Item = (u32, Amount)> + '_> {
        let alike = self.alike();
        if alike.is_empty() {
            return Box::new(self.own.iter().map(|(partition, amount)| (*partition, *amount)));
        }
        let of_both = Merged {
            left: alike.into_iter().flatten().peekable(),
            right: self.own.keys().copied().peekable(),
        };
        Box::new(of_both.map(|partition| (partition, self.partition(partition))))
    }

    /// The number of partitions that read nothing, from the first to the last that an output has.
    pub fn empty_partitions(&self) -> u32 {
        let all = self.partitions();
        let alike = self.alike();
        let lengths: u32 = alike.iter().map(|range| range.end - range.start).sum();
        let inside: usize = alike.iter().map(|range| self.own.range(range.clone()).count()).sum();
        // All of these are below 2^28.
        all.end - all.start - lengths - (self.own.len() - inside) as u32
    }

    /// The partitions that read blocks for all partitions of their output, as ranges that ascend and do not overlap.
    fn alike(&self) -> Vec<Range<u32>> {
        let is_read = self
            .ranges
            .iter()
            .filter(|(_, (_, amount))| *amount != Amount::default());
        let mut next = 0;
        let mut found = Vec::new();
        for ((first, count), _) in is_read {
            let new = next.max(*first)..first + count;
            if !new.is_empty() {
                next = new.end;
                found.push(new);
            }
        }
        found
    }

    /// What all partitions read together. A block counts for each partition that reads it.
    fn read_bytes(&self) -> f64 {
        let own: f64 = self.own.values().map(|amount| amount.bytes as f64).sum();
        let to_all = self
            .ranges
            .iter()
            .map(|((_, count), (_, amount))| f64::from(*count) * amount.bytes as f64);
        own + to_all.sum::<f64>()
    }

    /// The partitions that read the most bytes, at most `most`, the largest first.
    pub fn largest_partitions(&self, most: usize) -> Vec<(u32, Amount)> {
        let mut largest: Vec<(u32, Amount)> = Vec::new();
        // The partitions of a range without own data are all alike; the first of them will do.
        let own = self.own.keys().copied();
        let alike = self.ranges.keys().map(|(first, _)| *first);
        for partition in own.chain(alike.filter(|first| !self.own.contains_key(first))) {
            let amount = self.partition(partition);
            let is_new = !largest.iter().any(|(known, _)| *known == partition);
            if amount.bytes > 0 && is_new {
                largest.push((partition, amount));
            }
            if largest.len() > most.saturating_mul(2).max(64) {
                keep_largest(&mut largest, most, |amount| amount.bytes);
            }
        }
        keep_largest(&mut largest, most, |amount| amount.bytes);
        largest
    }

    /// The producers with the most bytes, at most `most`, the largest first.
    pub fn largest_producers(&self, most: usize) -> Vec<(Producer, &ProducerSums)> {
        let mut largest: Vec<_> = self
            .producers
            .iter()
            .map(|(producer, sums)| (*producer, sums))
            .collect();
        keep_largest(&mut largest, most, |sums| sums.amount.bytes);
        largest
    }

    /// The largest partition as a multiple of the mean; none if no partition reads anything.
    pub fn partition_skew(&self) -> Option<f64> {
        let largest = self.largest_partitions(1).first()?.1.bytes as f64;
        let partitions = self.partitions();
        Some(largest / (self.read_bytes() / f64::from(partitions.end - partitions.start)))
    }

    /// The largest producer as a multiple of the mean; none if there are no blocks.
    pub fn producer_skew(&self) -> Option<f64> {
        let largest = self.largest_producers(1).first()?.1.amount.bytes as f64;
        (largest > 0.0).then(|| largest / (self.bytes as f64 / self.producers.len() as f64))
    }
}

/// Keeps the largest items in order; of equal ones those with the smallest keys.
fn keep_largest<K: Ord + Copy, V>(items: &mut Vec<(K, V)>, most: usize, size: impl Fn(&V) -> u64) {
    items.sort_by_key(|(key, value)| (Reverse(size(value)), *key));
    items.truncate(most);
}

/// The numbers of two ascending lists, each once.
struct Merged<L: Iterator, R: Iterator> {
    left: std::iter::Peekable<L>,
    right: std::iter::Peekable<R>,
}

impl<L: Iterator<Item = u32>, R: Iterator<Item = u32>> Iterator for Merged<L, R> {
    type Item = u32;

    fn next(&mut self) -> Option<u32> {
        let next = match (self.left.peek(), self.right.peek()) {
            (Some(left), Some(right)) => *left.min(right),
            (left, right) => *left.or(right)?,
        };
        self.left.next_if_eq(&next);
        self.right.next_if_eq(&next);
        Some(next)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sums(ranges: &[(u32, u32, u64)], own: &[(u32, u64)]) -> ShuffleSums {
        let amount = |bytes| Amount { bytes, records: 0 };
        ShuffleSums {
            ranges: ranges
                .iter()
                .map(|(first, count, bytes)| ((*first, *count), (1, amount(*bytes))))
                .collect(),
            own: own
                .iter()
                .map(|(partition, bytes)| (*partition, amount(*bytes)))
                .collect(),
            ..ShuffleSums::new()
        }
    }

    /// What each partition reads, added up partition by partition.
    fn model(ranges: &[(u32, u32, u64)], own: &[(u32, u64)]) -> Vec<(u32, u64)> {
        let of = |partition: u32| {
            let shared = ranges
                .iter()
                .filter(|(first, count, _)| (*first..first + count).contains(&partition));
            let own = own.iter().filter(|(number, _)| *number == partition);
            shared.map(|range| range.2).sum::<u64>() + own.map(|own| own.1).sum::<u64>()
        };
        (0..100)
            .map(|partition| (partition, of(partition)))
            .filter(|(_, bytes)| *bytes > 0)
            .collect()
    }

    #[test]
    fn ranges_may_differ_and_overlap() {
        type Case<'a> = (&'a [(u32, u32, u64)], &'a [(u32, u64)]);
        let cases: [Case<'_>; 5] = [
            (&[(0, 4, 0)], &[(1, 10), (3, 30)]),
            (&[(0, 4, 5)], &[(1, 10), (3, 30)]),
            (&[(0, 4, 5), (2, 4, 7)], &[(5, 1)]),
            (&[(0, 10, 5), (2, 3, 7), (20, 2, 0)], &[(9, 1), (21, 2)]),
            (&[(0, 60, 0), (3, 2, 5), (20, 2, 9)], &[(1, 4), (10, 4), (50, 4)]),
        ];
        for (ranges, own) in cases {
            let sums = sums(ranges, own);
            let each: Vec<_> = sums
                .each_partition()
                .map(|(partition, amount)| (partition, amount.bytes))
                .collect();
            assert_eq!(each, model(ranges, own));
            let total: u64 = each.iter().map(|(_, bytes)| bytes).sum();
            assert_eq!(sums.read_bytes() as u64, total);
            let all = sums.partitions();
            assert_eq!(sums.empty_partitions(), all.end - all.start - each.len() as u32);
            let largest = each.iter().map(|(_, bytes)| *bytes).max();
            assert_eq!(
                sums.largest_partitions(1).first().map(|(_, amount)| amount.bytes),
                largest
            );
        }
    }

    #[test]
    fn the_largest_are_few() {
        let own: Vec<(u32, u64)> = (0..10_000).map(|p| (p, u64::from(p * 7919 % 10_000) + 1)).collect();
        let largest = sums(&[(0, 10_000, 0)], &own).largest_partitions(3);
        let bytes: Vec<u64> = largest.iter().map(|(_, amount)| amount.bytes).collect();
        assert_eq!(bytes, [10_000, 9_999, 9_998]);
    }
}
