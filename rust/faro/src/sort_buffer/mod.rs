//! Records in, in any order; records out, by partition and in the order of their calls (spec, SRT).
//!
//! Memory is bounded by what the records are charged, whatever the count of partitions. Records are packed one behind
//! another; an entry of 8 bytes for each holds partition and place. Counting how many each partition has, as they come,
//! makes sorting them one pass over the entries.

mod entries;
mod packed;
#[cfg(test)]
mod tests;

pub(crate) use entries::Segment;
pub(crate) use packed::Packed;

use entries::{Entries, Sorter, partition_of, place_of, window};
use std::collections::HashMap;
use std::hash::Hash;

/// What each record is charged beyond its bytes: its length and its entry (SRT-1).
pub(crate) const RECORD_CHARGE: u64 = 12;

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
    partition_count: u32,
    /// How many records are sorted at a time.
    window: usize,
    /// Whether those are all of their partitions.
    whole: bool,
    capacity: u64,
    /// What of the capacity is not charged yet.
    room: u64,
    packed: Packed,
    own: Entries,
    /// How many own records each partition has; made with the first.
    counts: Vec<u32>,
    shared: Vec<Group<S>>,
    /// The memory of a group that is gone, for the next one.
    spare: Entries,
    by_members: HashMap<S, usize>,
    /// The group that a shared record went to last, if there is one.
    last_group: Option<usize>,
    /// Records without bytes in files where such leave none: by partition, how many.
    empty: HashMap<u32, u64>,
    sorter: Sorter,
}

/// The records of one shared extent.
pub(crate) struct Group<S> {
    pub members: S,
    entries: Entries,
    pub empty_records: u64,
}

/// What it takes to get at records by their places.
#[derive(Clone, Copy)]
pub(crate) struct Gather<'a> {
    pub packed: &'a Packed,
    /// How many records ahead to ask for, so that they come while others are copied: about 8 KiB of them, as nearer
    /// ones would still be waited for.
    pub ahead: usize,
    /// Bytes of a record, as it is kept, on average.
    pub length: usize,
}

/// Puts the places of a piece of entries in place of what is there.
pub(crate) fn places_of(piece: &[u64], places: &mut Vec<u32>) {
    places.clear();
    places.extend(piece.iter().map(|entry| place_of(*entry)));
}

impl<S: Clone + Eq + Hash> SortBuffer<S> {
    pub(crate) fn new(partition_count: u32, capacity: u64, counted: bool) -> Self {
        SortBuffer {
            window: window(partition_count),
            whole: false,
            partition_count,
            capacity,
            room: capacity,
            packed: Packed::new(capacity, counted),
            own: Entries::default(),
            counts: Vec::new(),
            shared: Vec::new(),
            spare: Entries::default(),
            by_members: HashMap::new(),
            last_group: None,
            empty: HashMap::new(),
            sorter: Sorter::default(),
        }
    }

    /// Has whole partitions sorted at a time: one that has more records than are sorted at a time by itself, for 4
    /// bytes each.
    pub(crate) fn sort_whole_partitions(&mut self) {
        self.whole = true;
    }

    /// Whether a record with this charge has room beside those that are there.
    #[inline(always)]
    pub(crate) fn has_room(&self, charge: u64) -> bool {
        charge <= self.room
    }

    /// Whether no record was pushed, not even one without bytes.
    pub(crate) fn is_empty(&self) -> bool {
        // Each is charged something.
        self.room == self.capacity
    }

    /// Whether a record for several partitions was pushed.
    #[inline(always)]
    pub(crate) fn holds_shared(&self) -> bool {
        !self.shared.is_empty()
    }

    /// The group that the last record for several partitions went to. Another one with the same members goes there too,
    /// whether order is kept or not (SRT-4).
    #[inline(always)]
    pub(crate) fn last_group(&self) -> Option<usize> {
        self.last_group
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

    /// A record for one partition, counted from the file's first, that counts as one and has fewer than 2^32 - 1 bytes.
    #[inline(always)]
    pub(crate) fn push_plain(&mut self, at: u32, bytes: &[u8], charge: u64) {
        self.count(charge);
        let place = self.packed.push_plain(bytes);
        self.enter(at, place);
    }

    /// A record for one partition, counted from the file's first.
    pub(crate) fn push_own(&mut self, at: u32, record: &Pushed<'_>, charge: u64) {
        self.count(charge);
        if let Pushed::Nothing(records) = record {
            *self.empty.entry(at).or_default() += records;
        } else {
            let place = self.packed.push(record);
            self.enter(at, place);
        }
    }

    #[inline(always)]
    fn enter(&mut self, at: u32, place: u32) {
        if self.counts.is_empty() {
            self.counts = vec![0; self.partition_count as usize];
        }
        let count = &mut self.counts[at as usize];
        *count += 1;
        self.own.push(at, place);
    }

    /// A record for several partitions, in its group or in the next one.
    pub(crate) fn push_shared(&mut self, members: &S, ordered: bool, record: &Pushed<'_>, charge: u64) {
        self.count(charge);
        let group = self.group_or_new(members, ordered);
        self.last_group = Some(group);
        match record {
            Pushed::Nothing(records) => self.shared[group].empty_records += records,
            _ => {
                let place = self.packed.push(record);
                self.shared[group].entries.push(0, place);
            }
        }
    }

    /// A record for the members of a group that is there, that counts as one and has fewer than 2^32 - 1 bytes.
    #[inline(always)]
    pub(crate) fn push_plain_shared(&mut self, group: usize, bytes: &[u8], charge: u64) {
        self.count(charge);
        let place = self.packed.push_plain(bytes);
        self.shared[group].entries.push(0, place);
    }

    fn group_or_new(&mut self, members: &S, ordered: bool) -> usize {
        self.group(members, ordered).unwrap_or_else(|| {
            let group = self.shared.len();
            self.shared.push(Group {
                members: members.clone(),
                entries: std::mem::take(&mut self.spare),
                empty_records: 0,
            });
            self.by_members.insert(members.clone(), group);
            group
        })
    }

    #[inline(always)]
    fn count(&mut self, charge: u64) {
        self.room -= charge;
    }

    /// At most how many partitions have own records that leave bytes: exactly, unless they are fewer than a quarter.
    pub(crate) fn own_partitions(&self) -> usize {
        match self.are_few() {
            true => self.own.len(),
            false => self.counts.iter().filter(|count| **count > 0).count(),
        }
    }

    /// Whether there are far fewer own records than partitions: what touches every partition is not worth it then.
    fn are_few(&self) -> bool {
        self.own.len() < self.partition_count as usize / 4
    }

    /// Sorts own records from the `begin`th on by partition, beginning with partition `first`, as many as are sorted at
    /// a time, and returns how many: none behind the last. Then [`SortBuffer::window`] gives them.
    pub(crate) fn sort_from(&mut self, begin: usize, first: u32) -> usize {
        let left = self.own.len() - begin;
        if self.are_few() {
            if left > 0 {
                self.sorter.sort_few(&self.own, self.partition_count, first);
            }
            return left;
        }
        let length = match self.whole {
            true => self.whole_partitions(begin, first),
            false => left.min(self.window),
        };
        if length > 0 {
            self.sorter.sort(&self.own, &self.counts, first, begin, length);
        }
        length
    }

    /// How many records the partitions have that begin at the `begin`th record: as many of them as are sorted at a time,
    /// or one.
    fn whole_partitions(&self, begin: usize, first: u32) -> usize {
        let (before, behind) = self.counts.split_at(first as usize);
        let mut length = 0;
        let mut rank = 0;
        for count in behind.iter().chain(before) {
            let count = *count as usize;
            if rank >= begin {
                if length > 0 && length + count > self.window {
                    break;
                }
                length += count;
            }
            rank += count;
        }
        length
    }

    /// The places of the records that were sorted last, and the partition of each run of them.
    pub(crate) fn window(&self) -> (&[u32], &[Segment]) {
        self.sorter.window()
    }

    /// How records are got by their places.
    pub(crate) fn gather(&self) -> Gather<'_> {
        let records = self.own.len().max(1);
        let mean = (self.packed.len() / records).max(1);
        Gather {
            packed: &self.packed,
            ahead: ((8 << 10) / mean).clamp(8, 128),
            length: mean - 1,
        }
    }

    /// The groups in the order in which they began, and the entries of their records in pieces, for [`places_of`].
    pub(crate) fn shared(&self) -> impl Iterator<Item = (&Group<S>, impl Iterator<Item = &[u64]>)> {
        self.shared.iter().map(|group| (group, group.entries.pieces()))
    }

    /// How many records without bytes partitions got, which leave nothing but a count.
    pub(crate) fn empty_own(&self) -> impl Iterator<Item = (u32, u64)> {
        self.empty.iter().map(|(at, records)| (*at, *records))
    }

    /// Gives back what is kept for the order of records, when no more come.
    pub(crate) fn forget_order(&mut self) {
        self.sorter = Sorter::default();
        self.own = Entries::default();
        self.spare = Entries::default();
        self.counts = Vec::new();
    }

    /// Forgets all records and keeps the memory.
    pub(crate) fn clear(&mut self) {
        self.room = self.capacity;
        self.packed.clear();
        if self.are_few() {
            for entry in self.own.iter() {
                self.counts[partition_of(entry) as usize] = 0;
            }
        } else {
            self.counts.fill(0);
        }
        self.own.clear();
        if let Some(group) = self.shared.drain(..).next() {
            self.spare = group.entries;
            self.spare.clear();
        }
        self.by_members.clear();
        self.last_group = None;
        self.empty.clear();
    }
}
