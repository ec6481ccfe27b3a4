//! Records in buckets of neighbouring partitions, where the partitions are too many for slots of their own.
//!
//! Each bucket has a chain of slots with its records in the order of calls. When the region ends, the records of a bucket
//! go to the blocks of their partitions. A bucket fits into the processor's cache then, so that they need not come from
//! all over the memory.

use super::arena::{Arena, LARGEST_SLOT, NONE, smallest_slot};
use super::bucket_blocks::Blocks;
use super::sizes::sorting_memory;
use crate::block::{BlockHeader, DATA};
use crate::bytes::{self, CACHE_LINE, Seal, pad8};
use std::ops::Range;

/// The bit of an entry that marks an event. Partition numbers are below 2^28.
const EVENT: u32 = 1 << 31;
/// A partition and a length, before the bytes of an entry. They take no more than what a record is charged for.
const ENTRY: usize = 8;
/// The most buckets. Their slots' ends stay in the cache.
const MOST_BUCKETS: u64 = 128;
/// How much larger than the mean a bucket may be. A bucket is a few times the size of the scratch then, at most.
const MOST_SKEW: u64 = 8;
/// How far ahead entries are prefetched, in bytes.
const AHEAD: usize = 1024;

/// Where the next record of a bucket goes.
#[derive(Clone, Copy, Debug)]
struct Tail {
    end: u32,
    /// The end of the slot.
    limit: u32,
    first: u32,
    last: u32,
}

const EMPTY: Tail = Tail {
    end: 0,
    limit: 0,
    first: NONE,
    last: NONE,
};

/// What a partition has.
#[derive(Clone, Copy, Debug, Default)]
struct Count {
    /// Records and events.
    entries: u32,
    /// The plain bytes of its records.
    plain: u32,
}

/// The records of one open region, in buckets.
pub(crate) struct Buckets {
    arena: Arena,
    /// The logarithm of the number of partitions in a bucket.
    shift: u32,
    /// The plain size at which blocks end.
    target: u32,
    tails: Vec<Tail>,
    counts: Vec<Count>,
    /// Whether there is an event.
    has_events: bool,
    /// Blocks before they are written. Its first `filled` bytes are whole blocks.
    scratch: Vec<u8>,
    filled: usize,
    /// The blocks of the partitions of one bucket.
    blocks: Vec<Blocks>,
}

/// The number of buckets, the size of their slots, and that of the scratch.
fn plan(partition_count: u32, capacity: u64) -> Option<(u32, u64, u64)> {
    let most = sorting_memory(capacity);
    let smallest = smallest_slot(capacity);
    let mut most_buckets = MOST_BUCKETS;
    while most_buckets > 1 {
        let mut shift = 0;
        while u64::from(partition_count - 1) >> shift >= most_buckets {
            shift += 1;
        }
        let buckets = (u64::from(partition_count - 1) >> shift) + 1;
        let mut slot = LARGEST_SLOT;
        while slot >= smallest {
            let beside = buckets * slot;
            let tables = buckets * size_of::<Tail>() as u64 + 8 * (capacity + beside) / slot;
            let of_bucket = (size_of::<Blocks>() as u64) << shift;
            if beside <= most / 2 && tables + of_bucket <= most / 4 && capacity + beside + slot < u64::from(NONE) {
                return Some((shift, slot, most / 4));
            }
            slot /= 2;
        }
        most_buckets /= 2;
    }
    None
}

impl Buckets {
    /// Empty buckets without memory, if they suit the buffer.
    pub(super) fn new(partition_count: u32, capacity: u64, target: u32) -> Option<Buckets> {
        let (shift, slot, scratch) = plan(partition_count, capacity)?;
        let buckets = ((partition_count - 1) >> shift) as usize + 1;
        Some(Buckets {
            arena: Arena::new(slot, capacity, buckets as u64 * slot),
            shift,
            target,
            tails: vec![EMPTY; buckets],
            counts: vec![Count::default(); partition_count as usize],
            has_events: false,
            scratch: vec![0; scratch as usize],
            filled: 0,
            blocks: vec![Blocks::default(); 1 << shift],
        })
    }

    /// Reserves memory for records with these charges.
    pub(super) fn reserve(&mut self, charges: u64) {
        self.arena.reserve(charges);
    }

    /// Gives back the memory that no record has reached.
    pub(super) fn shrink(&mut self) {
        self.arena.shrink();
    }

    /// Gives the memory back to the system.
    pub(super) fn give_back(self) {
        self.arena.give_back();
    }

    /// Forgets all records, and keeps the memory.
    pub(super) fn clear(&mut self) {
        self.arena.clear();
        self.tails.fill(EMPTY);
        self.counts.fill(Count::default());
        self.has_events = false;
        self.filled = 0;
    }

    /// Whether a partition has records or events.
    pub(crate) fn holds(&self, at: u32) -> bool {
        self.counts[at as usize].entries > 0
    }

    /// The number of partitions that have records or events.
    pub(super) fn partitions(&self) -> usize {
        self.counts.iter().filter(|count| count.entries > 0).count()
    }

    /// The number of records and events.
    pub(super) fn entries(&self) -> u64 {
        self.counts.iter().map(|count| u64::from(count.entries)).sum()
    }

    /// Whether buckets suit what they hold.
    pub(super) fn suit(&self) -> bool {
        self.would_suit(self.counts.iter().map(|count| count.entries))
    }

    /// Whether buckets suit records, given the number of each partition. A bucket that is much larger than the scratch is
    /// read again for each part of its blocks.
    pub(super) fn would_suit(&self, counts: impl Iterator<Item = u32>) -> bool {
        let mut of_buckets = vec![0; self.tails.len()];
        for (at, count) in counts.enumerate() {
            of_buckets[at >> self.shift] += u64::from(count);
        }
        let largest = of_buckets.iter().copied().max().unwrap_or_default();
        largest * self.tails.len() as u64 <= MOST_SKEW * of_buckets.iter().sum::<u64>()
    }

    /// Adds a record of fewer than 2^32 - 1 bytes for a partition, counted from the file's first.
    #[inline]
    pub(super) fn push(&mut self, at: u32, record: &[u8]) {
        let count = &mut self.counts[at as usize];
        count.entries += 1;
        count.plain += 4 + record.len() as u32;
        let tail = &mut self.tails[(at >> self.shift) as usize];
        let begin = tail.end as usize;
        let end = begin + ENTRY + record.len();
        if end > tail.limit as usize {
            return self.append(at, at, &[], record);
        }
        tail.end = end as u32;
        self.arena.bytes[begin..begin + 4].copy_from_slice(&at.to_le_bytes());
        bytes::write_framed(&mut self.arena.bytes[begin + 4..end], record);
        // As in slots.
        bytes::prefetch_to_write(&self.arena.bytes, end + 2 * CACHE_LINE - 1);
        if record.len() >= CACHE_LINE {
            bytes::prefetch_to_write(&self.arena.bytes, end + CACHE_LINE - 1);
        }
    }

    /// Adds an event. Its kind is before its bytes.
    pub(super) fn push_event(&mut self, at: u32, kind: u8, bytes: &[u8]) {
        self.counts[at as usize].entries += 1;
        self.has_events = true;
        self.append(at, at | EVENT, &[kind], bytes);
    }

    /// Appends an entry to a bucket, from slot to slot.
    #[cold]
    #[inline(never)]
    fn append(&mut self, at: u32, word: u32, before: &[u8], bytes: &[u8]) {
        // A buffer has fewer than 2^32 bytes.
        let length = (before.len() + bytes.len()) as u32;
        let tail = &mut self.tails[(at >> self.shift) as usize];
        for mut rest in [&word.to_le_bytes(), &length.to_le_bytes(), before, bytes] {
            while !rest.is_empty() {
                if tail.end == tail.limit {
                    let slot = self.arena.take(tail.last, tail.end);
                    if tail.first == NONE {
                        tail.first = slot;
                    }
                    tail.last = slot;
                    (tail.end, tail.limit) = (self.arena.begin(slot), self.arena.end(slot));
                }
                let begin = tail.end as usize;
                let (now, later) = rest.split_at(rest.len().min(tail.limit as usize - begin));
                self.arena.bytes[begin..begin + now.len()].copy_from_slice(now);
                tail.end += now.len() as u32;
                rest = later;
            }
        }
    }

    /// The partitions of a range that are in the bucket of its first one.
    pub(crate) fn in_bucket(&self, range: &Range<u32>) -> Range<u32> {
        let end = ((range.start >> self.shift) + 1) << self.shift;
        range.start..end.min(range.end)
    }

    /// Measures the blocks of the partitions in the bucket of `at`.
    pub(crate) fn measure(&mut self, at: u32) {
        let base = at >> self.shift << self.shift;
        let end = self.counts.len().min(base as usize + self.blocks.len());
        let counts = &self.counts[base as usize..end];
        if self.has_events || counts.iter().any(|count| count.plain > self.target) {
            return self.measure_entries(at);
        }
        // One block each.
        for (of, count) in self.blocks.iter_mut().zip(counts) {
            *of = Blocks::default();
            of.records = u64::from(count.entries);
            if count.plain > 0 {
                of.size = BlockHeader::SIZE as u64 + pad8(count.plain);
            }
        }
    }

    /// Measures them by their entries.
    fn measure_entries(&mut self, at: u32) {
        let mut blocks = std::mem::take(&mut self.blocks);
        let base = at >> self.shift << self.shift;
        blocks.fill(Blocks::default());
        self.scan(at, |word, bytes| {
            let of = &mut blocks[((word & !EVENT) - base) as usize];
            match word & EVENT {
                0 => of.count(false, bytes.len(), self.target),
                _ => of.count(true, bytes.len() - 1, self.target),
            }
        });
        blocks.iter_mut().for_each(Blocks::pad);
        self.blocks = blocks;
    }

    fn blocks_of(&self, at: u32) -> &Blocks {
        &self.blocks[(at & ((1 << self.shift) - 1)) as usize]
    }

    /// How many of the partitions of a range have blocks that fit into the scratch, from its first one on. The range is
    /// in the bucket that was measured.
    pub(crate) fn fitting(&self, range: Range<u32>) -> u32 {
        let mut left = (self.scratch.len() - self.filled) as u64;
        let fits = |at: &u32| match left.checked_sub(self.blocks_of(*at).size) {
            Some(less) => {
                left = less;
                true
            }
            None => false,
        };
        range.take_while(fits).count() as u32
    }

    /// Makes the blocks of partitions, which fit into the scratch, except their headers.
    pub(crate) fn scatter(&mut self, range: Range<u32>) {
        let mut blocks = std::mem::take(&mut self.blocks);
        let mut scratch = std::mem::take(&mut self.scratch);
        let mask = (1u32 << self.shift) - 1;
        for at in range.clone() {
            let of = &mut blocks[(at & mask) as usize];
            (of.begin, of.end) = (self.filled, self.filled);
            self.filled += of.size as usize;
        }
        self.scan(range.start, |word, bytes| {
            let at = word & !EVENT;
            if !range.contains(&at) {
                return;
            }
            let of = &mut blocks[(at & mask) as usize];
            if word & EVENT != 0 {
                of.end_block(&mut scratch);
                of.begin_block(&mut scratch, bytes[0]);
                scratch[of.end..of.end + bytes.len() - 1].copy_from_slice(&bytes[1..]);
                of.end += bytes.len() - 1;
                of.plain = bytes.len() as u32 - 1;
                of.end_block(&mut scratch);
                return;
            }
            let needed = 4 + bytes.len();
            if u64::from(of.plain) + needed as u64 > u64::from(self.target) {
                of.end_block(&mut scratch);
            }
            if of.end == of.begin || of.plain == 0 {
                of.begin_block(&mut scratch, DATA);
            }
            bytes::write_framed(&mut scratch[of.end..of.end + needed], bytes);
            of.end += needed;
            of.plain += needed as u32;
        });
        for at in range {
            blocks[(at & mask) as usize].end_block(&mut scratch);
        }
        (self.blocks, self.scratch) = (blocks, scratch);
    }

    /// The number of records of a partition in the bucket that was measured.
    pub(crate) fn records_of(&self, at: u32) -> u64 {
        self.blocks_of(at).records
    }

    /// Where the blocks of a partition are, which were made.
    pub(crate) fn made(&self, at: u32) -> Range<usize> {
        let of = self.blocks_of(at);
        of.begin..of.begin + of.size as usize
    }

    /// The kind and the plain size of the next block.
    pub(crate) fn next_block(&self, made: &Range<usize>) -> Option<(u8, u32)> {
        let header = self.scratch[made.clone()].first_chunk::<{ BlockHeader::SIZE }>()?;
        let [a, b, c, d, kind, ..] = *header;
        Some((kind, u32::from_le_bytes([a, b, c, d])))
    }

    /// Takes the next block: its kind and its payload.
    pub(crate) fn take_block(&self, made: &mut Range<usize>) -> Option<(u8, &[u8])> {
        let (kind, plain_size) = self.next_block(made)?;
        let payload = made.start + BlockHeader::SIZE;
        made.start = payload + pad8(plain_size) as usize;
        Some((kind, &self.scratch[payload..payload + plain_size as usize]))
    }

    /// Writes the header of the next block.
    pub(crate) fn seal(&mut self, made: &mut Range<usize>, header: &BlockHeader, seal: Seal) {
        let payload = made.start + BlockHeader::SIZE;
        let bytes = header.encode(seal, &self.scratch[payload..payload + header.plain_size as usize]);
        self.scratch[made.start..payload].copy_from_slice(&bytes);
        made.start = payload + pad8(header.plain_size) as usize;
    }

    /// The blocks that were made.
    pub(crate) fn scratch(&self) -> &[u8] {
        &self.scratch[..self.filled]
    }

    /// Forgets them.
    pub(crate) fn empty_scratch(&mut self) {
        self.filled = 0;
    }

    /// Calls `each` with the kind and the bytes of all records and events of a partition.
    pub(crate) fn for_each(&self, at: u32, mut each: impl FnMut(u8, &[u8])) {
        self.scan(at, |word, bytes| match word & EVENT {
            _ if word & !EVENT != at => {}
            0 => each(DATA, bytes),
            _ => each(bytes[0], &bytes[1..]),
        });
    }

    /// Calls `each` with the entries of the bucket of `at`: the first word, and the bytes.
    fn scan(&self, at: u32, mut each: impl FnMut(u32, &[u8])) {
        let tail = self.tails[(at >> self.shift) as usize];
        if tail.first == NONE {
            return;
        }
        let mut place = self.arena.place(tail.first);
        // The beginning of an entry that continues in the next slot.
        let mut begun: Vec<u8> = Vec::new();
        while place.at != tail.end {
            let mut rest = &self.arena.bytes[self.arena.rest_of_slot(&mut place, tail.end)];
            while !begun.is_empty() && !rest.is_empty() {
                let lacking = match length(&begun) {
                    Some(whole) => whole - begun.len(),
                    None => ENTRY - begun.len(),
                };
                let (now, later) = rest.split_at(lacking.min(rest.len()));
                begun.extend_from_slice(now);
                rest = later;
                if length(&begun) == Some(begun.len()) {
                    each(word(&begun), &begun[ENTRY..]);
                    begun.clear();
                }
            }
            while let Some(whole) = length(rest).filter(|whole| *whole <= rest.len()) {
                let (entry, later) = rest.split_at(whole);
                bytes::prefetch(later, AHEAD);
                bytes::prefetch(later, AHEAD + CACHE_LINE);
                each(word(entry), &entry[ENTRY..]);
                rest = later;
            }
            begun.extend_from_slice(rest);
        }
    }
}

/// The first word of an entry.
#[inline(always)]
fn word(entry: &[u8]) -> u32 {
    entry.first_chunk().map_or(0, |word| u32::from_le_bytes(*word))
}

/// The whole length of an entry, from its beginning.
#[inline(always)]
fn length(entry: &[u8]) -> Option<usize> {
    let [.., a, b, c, d] = *entry.first_chunk::<ENTRY>()?;
    Some(ENTRY + u32::from_le_bytes([a, b, c, d]) as usize)
}
