//! Records in, in any order; records out, by partition and in the order of their calls (spec, SRT).
//!
//! Memory is bounded by what the records are charged, whatever the count of partitions. Own records are packed one
//! behind another; an entry of 8 bytes for each holds partition and place, so that sorting entries by their partition,
//! stably, sorts the records.

use std::collections::HashMap;
use std::hash::Hash;

/// What each record is charged beyond its bytes: its length and its entry (SRT-1).
pub(crate) const RECORD_CHARGE: u64 = 12;

/// Bits of an entry that hold the record's place and, in the lowest, whether it is an event. Charges sum up to at most
/// 2^33, and a record takes at most 8 bytes more than the 4 of its length: places stay below 2^35.
const PLACE_BITS: u32 = 36;
const PLACE_MASK: u64 = (1 << PLACE_BITS) - 1;

/// A length that says that the real one, wider, follows it.
const ESCAPE: u32 = u32::MAX;

/// A record, as it was pushed.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Pushed<'a> {
    /// The bytes of a record and how many records it counts as.
    Data(&'a [u8], u64),
    /// The kind and the bytes of an event.
    Event(u8, &'a [u8]),
    /// A record that leaves no bytes, and how many records it counts as.
    Nothing(u64),
}

/// The records of one open region. `S` is a set of partitions.
pub(crate) struct SortBuffer<S> {
    capacity: u64,
    charged: u64,
    /// Whether records count as other numbers than 1, which are kept with them.
    counted: bool,
    packed: Vec<u8>,
    own: Vec<u64>,
    shared: Vec<Group<S>>,
    by_members: HashMap<S, usize>,
    /// Records without bytes in files where such leave none: by partition, how many.
    empty: HashMap<u32, u64>,
    holds_records: bool,
    /// Entries in order of partition, and where each partition's begin; kept for their memory.
    sorted: Vec<u64>,
    starts: Vec<u32>,
}

/// The records of one shared extent.
pub(crate) struct Group<S> {
    pub members: S,
    entries: Vec<u64>,
    pub empty_records: u64,
}

impl<S: Clone + Eq + Hash> SortBuffer<S> {
    pub(crate) fn new(capacity: u64, counted: bool) -> Self {
        SortBuffer {
            capacity,
            charged: 0,
            counted,
            packed: Vec::new(),
            own: Vec::new(),
            shared: Vec::new(),
            by_members: HashMap::new(),
            empty: HashMap::new(),
            holds_records: false,
            sorted: Vec::new(),
            starts: Vec::new(),
        }
    }

    /// Whether a record with this charge has room beside those that are there.
    pub(crate) fn has_room(&self, charge: u64) -> bool {
        self.charged.checked_add(charge).is_some_and(|sum| sum <= self.capacity)
    }

    /// Whether no record was pushed, not even one without bytes.
    pub(crate) fn is_empty(&self) -> bool {
        !self.holds_records
    }

    /// Whether a record for several partitions was pushed.
    pub(crate) fn holds_shared(&self) -> bool {
        !self.shared.is_empty()
    }

    /// The group that a record for these members belongs to (SRT-4), if it is there.
    pub(crate) fn group(&self, members: &S, ordered: bool) -> Option<usize> {
        if ordered {
            self.shared
                .last()
                .filter(|group| group.members == *members)
                .map(|_| self.shared.len() - 1)
        } else {
            self.by_members.get(members).copied()
        }
    }

    /// A record for one partition, counted from the file's first.
    pub(crate) fn push_own(&mut self, at: u32, record: &Pushed<'_>, charge: u64) {
        self.count(charge);
        if let Pushed::Nothing(records) = record {
            *self.empty.entry(at).or_default() += records;
        } else {
            let entry = u64::from(at) << PLACE_BITS | self.pack(record);
            self.own.push(entry);
        }
    }

    /// A record for several partitions, in its group or in the next one.
    pub(crate) fn push_shared(&mut self, members: &S, ordered: bool, record: &Pushed<'_>, charge: u64) {
        self.count(charge);
        let group = self.group_or_new(members, ordered);
        match record {
            Pushed::Nothing(records) => self.shared[group].empty_records += records,
            _ => {
                let entry = self.pack(record);
                self.shared[group].entries.push(entry);
            }
        }
    }

    fn group_or_new(&mut self, members: &S, ordered: bool) -> usize {
        self.group(members, ordered).unwrap_or_else(|| {
            let group = self.shared.len();
            self.shared.push(Group {
                members: members.clone(),
                entries: Vec::new(),
                empty_records: 0,
            });
            self.by_members.insert(members.clone(), group);
            group
        })
    }

    fn count(&mut self, charge: u64) {
        self.charged += charge;
        self.holds_records = true;
    }

    fn pack(&mut self, record: &Pushed<'_>) -> u64 {
        let place = (self.packed.len() as u64) << 1;
        match record {
            Pushed::Data(bytes, records) => {
                if self.counted {
                    self.packed.extend_from_slice(&records.to_le_bytes());
                }
                self.pack_bytes(bytes);
                place
            }
            Pushed::Event(kind, bytes) => {
                self.packed.push(*kind);
                self.pack_bytes(bytes);
                place | 1
            }
            Pushed::Nothing(_) => place,
        }
    }

    fn pack_bytes(&mut self, bytes: &[u8]) {
        match u32::try_from(bytes.len()) {
            Ok(length) if length < ESCAPE => self.packed.extend_from_slice(&length.to_le_bytes()),
            _ => {
                self.packed.extend_from_slice(&ESCAPE.to_le_bytes());
                self.packed.extend_from_slice(&(bytes.len() as u64).to_le_bytes());
            }
        }
        self.packed.extend_from_slice(bytes);
    }

    /// The record of an entry.
    pub(crate) fn record(&self, entry: u64) -> Pushed<'_> {
        let mut rest = &self.packed[((entry & PLACE_MASK) >> 1) as usize..];
        if entry & 1 != 0 {
            let [kind] = take(&mut rest);
            return Pushed::Event(kind, take_bytes(&mut rest));
        }
        let records = if self.counted {
            u64::from_le_bytes(take(&mut rest))
        } else {
            1
        };
        Pushed::Data(take_bytes(&mut rest), records)
    }

    /// Sorts the own records. Then [`SortBuffer::own`] gives them.
    pub(crate) fn sort(&mut self, partition_count: u32) {
        let partitions = partition_count as usize;
        // Counting touches every partition: worth it unless there are far fewer records.
        if self.own.len() < partitions / 4 {
            // Entries ascend by place among those of one partition, so plain order of numbers is stable.
            self.own.sort_unstable();
            return;
        }
        self.starts.clear();
        self.starts.resize(partitions, 0);
        for entry in &self.own {
            self.starts[(entry >> PLACE_BITS) as usize] += 1;
        }
        let mut sum = 0;
        for start in &mut self.starts {
            sum += std::mem::replace(start, sum);
        }
        self.sorted.clear();
        self.sorted.resize(self.own.len(), 0);
        for entry in &self.own {
            let next = &mut self.starts[(entry >> PLACE_BITS) as usize];
            self.sorted[*next as usize] = *entry;
            *next += 1;
        }
        std::mem::swap(&mut self.own, &mut self.sorted);
    }

    /// The sorted entries by partition, ascending: the partition and its entries in the order of their calls.
    pub(crate) fn own(&self) -> impl Iterator<Item = (u32, &[u64])> {
        self.own
            .chunk_by(|a, b| a >> PLACE_BITS == b >> PLACE_BITS)
            .map(|entries| ((entries[0] >> PLACE_BITS) as u32, entries))
    }

    /// The groups in the order in which they began.
    pub(crate) fn shared(&self) -> impl Iterator<Item = (&Group<S>, &[u64])> {
        self.shared.iter().map(|group| (group, group.entries.as_slice()))
    }

    /// How many records without bytes partitions got, which leave nothing but a count.
    pub(crate) fn empty_own(&self) -> impl Iterator<Item = (u32, u64)> {
        self.empty.iter().map(|(at, records)| (*at, *records))
    }

    /// Forgets all records and keeps the memory.
    pub(crate) fn clear(&mut self) {
        self.charged = 0;
        self.holds_records = false;
        self.packed.clear();
        self.own.clear();
        self.shared.clear();
        self.by_members.clear();
        self.empty.clear();
    }
}

fn take<const N: usize>(rest: &mut &[u8]) -> [u8; N] {
    let mut taken = [0; N];
    let (bytes, left) = rest.split_at(N);
    taken.copy_from_slice(bytes);
    *rest = left;
    taken
}

fn take_bytes<'a>(rest: &mut &'a [u8]) -> &'a [u8] {
    let length = match u32::from_le_bytes(take(rest)) {
        ESCAPE => u64::from_le_bytes(take(rest)) as usize,
        length => length as usize,
    };
    &rest[..length]
}

#[cfg(test)]
mod tests {
    use super::*;

    type Buffer = SortBuffer<&'static str>;

    fn own(buffer: &Buffer) -> Vec<(u32, Vec<String>)> {
        let text = |entry: &u64| match buffer.record(*entry) {
            Pushed::Data(bytes, _) => String::from_utf8_lossy(bytes).into_owned(),
            Pushed::Event(kind, bytes) => format!("{kind}:{}", String::from_utf8_lossy(bytes)),
            Pushed::Nothing(_) => unreachable!("nothing is packed for it"),
        };
        buffer
            .own()
            .map(|(at, entries)| (at, entries.iter().map(text).collect()))
            .collect()
    }

    #[test]
    fn both_ways_of_sorting_are_stable() {
        for partition_count in [4, 1000] {
            let mut buffer = Buffer::new(1000, false);
            for (at, text) in [(3, "a"), (0, "b"), (3, "c"), (1, ""), (0, "d")] {
                buffer.push_own(at, &Pushed::Data(text.as_bytes(), 1), 13);
            }
            buffer.push_own(0, &Pushed::Event(64, b"e"), 13);
            buffer.sort(partition_count);
            let found = own(&buffer);
            let expected = [(0, vec!["b", "d", "64:e"]), (1, vec![""]), (3, vec!["a", "c"])];
            assert_eq!(found.len(), 3);
            for ((at, texts), (expected_at, expected_texts)) in found.into_iter().zip(expected) {
                assert_eq!(
                    (at, texts),
                    (expected_at, expected_texts.iter().map(|t| t.to_string()).collect())
                );
            }
            buffer.clear();
            buffer.sort(partition_count);
            assert!(buffer.is_empty() && own(&buffer).is_empty());
        }
    }

    #[test]
    fn groups_follow_the_order_if_it_is_kept() {
        for (ordered, expected) in [(true, vec!["x", "y", "x"]), (false, vec!["x", "y"])] {
            let mut buffer = Buffer::new(1000, false);
            for members in ["x", "x", "y", "x"] {
                buffer.push_shared(&members, ordered, &Pushed::Data(b"r", 1), 13);
            }
            assert_eq!(
                buffer.shared().map(|(group, _)| group.members).collect::<Vec<_>>(),
                expected
            );
        }
    }

    #[test]
    fn charges_and_counts() {
        let mut buffer = Buffer::new(30, true);
        assert!(buffer.has_room(30) && !buffer.has_room(31) && !buffer.has_room(u64::MAX));
        buffer.push_own(0, &Pushed::Data(b"abc", 77), 15);
        assert!(buffer.has_room(15) && !buffer.has_room(16));
        buffer.sort(1);
        let entry = buffer.own().next().unwrap().1[0];
        assert_eq!(buffer.record(entry), Pushed::Data(b"abc", 77));
    }
}
