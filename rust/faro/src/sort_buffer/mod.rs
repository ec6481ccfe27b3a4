//! Takes records in any order, and returns them by partition, in the order of their calls (spec, SRT).
//!
//! The charges of the records bound the memory, whatever the number of partitions. Records are packed one after
//! another; each has an entry of 8 bytes with its partition and place. The records of each partition are counted as
//! they come, so sorting is one pass over the entries.
//!
//! Where partitions are few and records short, records go to slots of their partitions instead, in blocks as they are
//! written. The first records of a region are packed, and show how long records are. Slots are left for good when they
//! get what they cannot hold: an event, or a record for several partitions. What follows in that region is packed again.
//!
//! Where partitions are too many for slots, their records go to buckets of neighbouring partitions, in the order of
//! calls. They stay there whatever else comes; only records for several partitions are packed.

mod arena;
mod bucket_blocks;
mod buckets;
mod choice;
mod entries;
mod packed;
mod sizes;
mod slots;
#[cfg(test)]
mod tests;

pub(crate) use buckets::Buckets;
pub(crate) use entries::PartitionRecords;
pub(crate) use packed::Packed;
pub(crate) use sizes::{RECORD_CHARGE, sorting_memory};
pub(crate) use slots::{Pieces, Slots, Walk};

use entries::{Entries, Sorter, partition_of, place_of, window};
use std::collections::HashMap;
use std::hash::Hash;

/// A record or event in the buffer.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Pushed<'a> {
    /// The bytes of a record and how many records it counts as.
    Data(&'a [u8], u64),
    /// The kind and the bytes of an event.
    Event(u8, &'a [u8]),
    /// How many records a record without bytes counts as.
    Nothing(u64),
}

/// The records of one open region. `S` is a set of partitions.
pub(crate) struct SortBuffer<S> {
    partition_count: u32,
    /// How many records are sorted at a time, at most.
    window: usize,
    /// Whether whole partitions are sorted at a time.
    whole: bool,
    capacity: u64,
    /// The part of the capacity for which there is memory.
    granted: u64,
    /// The part of that which is not charged yet, except what is withheld.
    room: u64,
    /// What is withheld until the first records of the region were looked at.
    withheld: u64,
    /// Whether they were.
    looked: bool,
    /// Whether memory for the whole capacity is reserved at once.
    all: bool,
    packed: Packed,
    /// The size at which blocks end, if slots may be chosen.
    block_target: Option<u32>,
    /// Whether blocks will be compressed.
    compressed: bool,
    /// Whether buckets may be chosen too.
    may_choose_buckets: bool,
    /// The slots, if they were chosen.
    slots: Option<Slots>,
    /// The buckets, if they were chosen.
    buckets: Option<Buckets>,
    /// If other records of this region are packed since then, the charges of what slots or buckets held.
    left: Option<u64>,
    own: Entries,
    /// The number of own records of each partition; allocated with the first.
    counts: Vec<u32>,
    shared: Vec<Group<S>>,
    /// The memory of a dropped group, for the next one.
    spare: Entries,
    by_members: HashMap<S, usize>,
    /// The group that a shared record went to last, if there is one.
    last_group: Option<usize>,
    /// The number of records without bytes, by partition, in files in which they leave none.
    empty: HashMap<u32, u64>,
    sorter: Sorter,
}

/// The records of one shared extent.
pub(crate) struct Group<S> {
    pub members: S,
    entries: Entries,
    pub empty_records: u64,
}

/// The packed records, to be read by their places.
#[derive(Clone, Copy)]
pub(crate) struct PackedRecords<'a> {
    pub packed: &'a Packed,
    /// How many records ahead to prefetch: about 8 KiB. Nearer records would not arrive in time.
    pub ahead: usize,
    /// The average size of a packed record, in bytes.
    pub length: usize,
}

/// Replaces `places` with the places of a piece of entries.
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
            granted: 0,
            room: 0,
            withheld: 0,
            looked: false,
            all: false,
            packed: Packed::new(capacity, counted),
            block_target: None,
            compressed: false,
            may_choose_buckets: false,
            slots: None,
            buckets: None,
            left: None,
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

    /// Sorts whole partitions at a time. A partition with more records than the window is sorted alone, with 4 bytes
    /// for each record.
    pub(crate) fn sort_whole_partitions(&mut self) {
        self.whole = true;
    }

    /// Whether there is room for a record with this charge.
    #[inline(always)]
    pub(crate) fn has_room(&self, charge: u64) -> bool {
        charge <= self.room
    }

    /// The sum of the charges of the records.
    pub(crate) fn charged(&self) -> u64 {
        self.granted - self.room - self.withheld
    }

    /// What a record with this charge lacks; none if it does not fit into the capacity.
    pub(crate) fn missing(&self, charge: u64) -> Option<u64> {
        let missing = charge.saturating_sub(self.room);
        (missing <= self.could_grow()).then_some(missing)
    }

    /// The part of the capacity for which there is memory.
    pub(crate) fn granted(&self) -> u64 {
        self.granted
    }

    /// The part of the capacity that is not granted yet.
    pub(crate) fn could_grow(&self) -> u64 {
        self.capacity - self.granted
    }

    /// Grants memory for more of the capacity.
    pub(crate) fn grant(&mut self, bytes: u64) {
        self.granted += bytes;
        self.room += bytes;
        match self.left {
            None if self.is_direct() => self.reserve_direct(self.granted),
            _ => self.packed.grant(self.granted - self.left.unwrap_or_default()),
        }
        self.withhold();
    }

    /// Reserves memory for the whole capacity at once, as soon as it needs more than a little.
    pub(crate) fn reserve_all(&mut self) {
        self.all = true;
        self.packed.reserve_all();
    }

    /// Whether the buffer has no record, not even one without bytes.
    pub(crate) fn is_empty(&self) -> bool {
        // Each record has a charge.
        self.charged() == 0
    }

    /// Whether own records are packed.
    pub(crate) fn holds_packed_own(&self) -> bool {
        self.own.len() > 0
    }

    /// Whether the buffer has a record for several partitions.
    #[inline(always)]
    pub(crate) fn holds_shared(&self) -> bool {
        !self.shared.is_empty()
    }

    /// The group of the last record for several partitions. The next record with the same members goes there too,
    /// whether the order is kept or not (SRT-4).
    #[inline(always)]
    pub(crate) fn last_group(&self) -> Option<usize> {
        self.last_group
    }

    /// The group for these members (SRT-4), if there is one.
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

    /// Adds a record for one partition, counted from the file's first. It counts as one and has fewer than 2^32 - 1
    /// bytes.
    #[inline(always)]
    pub(crate) fn push_plain(&mut self, at: u32, bytes: &[u8], charge: u64) {
        self.count(charge);
        if let Some(slots) = &mut self.slots
            && self.left.is_none()
        {
            return slots.push(at, bytes);
        }
        self.pack_plain(at, bytes);
    }

    /// Out of the way of what goes to slots: a call costs packed records little beside what they cost later.
    #[inline(never)]
    fn pack_plain(&mut self, at: u32, bytes: &[u8]) {
        if let Some(buckets) = &mut self.buckets {
            return buckets.push(at, bytes);
        }
        let place = self.packed.push_plain(bytes);
        self.enter(at, place);
    }

    /// Adds a record for one partition, counted from the file's first.
    pub(crate) fn push_own(&mut self, at: u32, record: &Pushed<'_>, charge: u64) {
        match record {
            Pushed::Data(bytes, _) if self.is_direct() => return self.push_plain(at, bytes, charge),
            Pushed::Data(..) => {}
            _ if self.buckets.is_none() => self.leave_slots(),
            _ => {}
        }
        self.count(charge);
        if let (Pushed::Event(kind, bytes), Some(buckets)) = (record, &mut self.buckets) {
            return buckets.push_event(at, *kind, bytes);
        }
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

    /// Adds a record for several partitions, to its group or to a new one.
    pub(crate) fn push_shared(&mut self, members: &S, ordered: bool, record: &Pushed<'_>, charge: u64) {
        self.leave_slots();
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

    /// Adds a record to an existing group. It counts as one and has fewer than 2^32 - 1 bytes.
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

    /// The number of partitions with own records that leave bytes. It is exact unless it is below a quarter of the
    /// partitions; then it may be too large.
    pub(crate) fn own_partitions(&self) -> usize {
        if let Some(buckets) = &self.buckets {
            return buckets.partitions();
        }
        if let Some(slots) = &self.slots {
            let is_packed = |at: u32| self.counts.get(at as usize).is_some_and(|count| *count > 0);
            return (0..self.partition_count)
                .filter(|at| slots.holds(*at) || is_packed(*at))
                .count();
        }
        match self.are_few() {
            true => self.own.len(),
            false => self.counts.iter().filter(|count| **count > 0).count(),
        }
    }

    /// Whether there are far fewer own records than partitions, so that a pass over all partitions is not worth it.
    fn are_few(&self) -> bool {
        self.own.len() < self.partition_count as usize / 4
    }

    /// Sorts own records by partition, from number `begin` on, beginning with partition `first`. Returns how many it
    /// sorted, 0 after the last. [`SortBuffer::window`] returns them.
    pub(crate) fn sort_from(&mut self, begin: usize, first: u32) -> usize {
        let left = self.own.len() - begin;
        if left == 0 {
            // Records in slots were not counted.
            return 0;
        }
        if self.are_few() {
            self.sorter.sort_few(&self.own, self.partition_count, first);
            return left;
        }
        let length = match self.whole {
            true => self.whole_partitions(begin, first),
            false => left.min(self.window),
        };
        self.sorter.sort(&self.own, &self.counts, first, begin, length);
        length
    }

    /// The number of records of the partitions from record `begin` on: as many partitions as fit into a window, or one.
    fn whole_partitions(&self, begin: usize, first: u32) -> usize {
        let (before, after) = self.counts.split_at(first as usize);
        let mut length = 0;
        let mut rank = 0;
        for count in after.iter().chain(before) {
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

    /// The places of the records that were sorted last, and the range of each partition among them.
    pub(crate) fn window(&self) -> (&[u32], &[PartitionRecords]) {
        self.sorter.window()
    }

    /// The packed records, to be read by their places.
    pub(crate) fn packed_records(&self) -> PackedRecords<'_> {
        let records = self.own.len().max(1);
        let mean = (self.packed.len() / records).max(1);
        PackedRecords {
            packed: &self.packed,
            ahead: ((8 << 10) / mean).clamp(8, 128),
            length: mean - 1,
        }
    }

    /// The groups in the order in which they began, each with the entries of its records, in pieces for [`places_of`].
    pub(crate) fn shared(&self) -> impl Iterator<Item = (&Group<S>, impl Iterator<Item = &[u64]>)> {
        self.shared.iter().map(|group| (group, group.entries.pieces()))
    }

    /// The partitions with records without bytes, and how many each has. They leave only a count.
    pub(crate) fn empty_own(&self) -> impl Iterator<Item = (u32, u64)> {
        self.empty.iter().map(|(at, records)| (*at, *records))
    }

    /// Releases the entries and counts, when no more records come.
    pub(crate) fn forget_order(&mut self) {
        self.sorter = Sorter::default();
        self.own = Entries::default();
        self.spare = Entries::default();
        self.counts = Vec::new();
    }

    /// Gives the memory of the records back to the system. The buffer is not used after that.
    pub(crate) fn give_back(&mut self) {
        if let Some(slots) = self.slots.take() {
            slots.give_back();
        }
        if let Some(buckets) = self.buckets.take() {
            buckets.give_back();
        }
        self.packed.give_back();
        self.own.give_back();
        self.spare.give_back();
        for mut group in self.shared.drain(..) {
            group.entries.give_back();
        }
    }

    /// Forgets all records and keeps the memory.
    pub(crate) fn clear(&mut self) {
        self.clear_slots();
        self.room = self.granted;
        self.withheld = 0;
        self.looked = false;
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
        self.withhold();
    }
}
