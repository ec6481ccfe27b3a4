//! The entries of a sort buffer: one for each record, in the order of calls, and how they are sorted by partition.

use crate::bytes::give_back;

/// The number of entries in a piece. One vector that grows would take its memory twice.
const PIECE: usize = 1 << 16;

/// Entries: in the upper bits a partition, counted from the file's first, and below them the record's place.
#[derive(Default)]
pub(super) struct Entries {
    full: Vec<Vec<u64>>,
    last: Vec<u64>,
    spare: Vec<Vec<u64>>,
}

/// The partition of an entry.
#[inline(always)]
pub(super) fn partition_of(entry: u64) -> u32 {
    (entry >> 32) as u32
}

/// The place of an entry.
#[inline(always)]
pub(super) fn place_of(entry: u64) -> u32 {
    entry as u32
}

impl Entries {
    #[inline(always)]
    pub(super) fn push(&mut self, partition: u32, place: u32) {
        if self.last.len() == PIECE {
            self.next_piece();
        }
        self.last.push(u64::from(partition) << 32 | u64::from(place));
    }

    #[cold]
    fn next_piece(&mut self) {
        let next = self.spare.pop().unwrap_or_else(|| Vec::with_capacity(PIECE));
        self.full.push(std::mem::replace(&mut self.last, next));
    }

    pub(super) fn len(&self) -> usize {
        self.full.len() * PIECE + self.last.len()
    }

    /// The entries in pieces.
    pub(super) fn pieces(&self) -> impl Iterator<Item = &[u64]> {
        self.full.iter().chain(std::iter::once(&self.last)).map(Vec::as_slice)
    }

    /// All entries.
    pub(super) fn iter(&self) -> impl Iterator<Item = u64> {
        self.pieces().flatten().copied()
    }

    /// Gives the memory back to the system.
    pub(super) fn give_back(&mut self) {
        let pieces = self.full.drain(..).chain(self.spare.drain(..));
        pieces.for_each(give_back);
        give_back(std::mem::take(&mut self.last));
    }

    /// Forgets the entries, and keeps the memory.
    pub(super) fn clear(&mut self) {
        self.last.clear();
        for mut piece in self.full.drain(..) {
            piece.clear();
            self.spare.push(piece);
        }
    }
}

/// How many places, of 4 bytes, are sorted at a time. The memory of a writer beside its sort buffer is bounded: 7 MiB,
/// of which partitions take 48 bytes each and places take the rest, at least half.
pub(super) fn window(partition_count: u32) -> usize {
    const BOTH: usize = 7 << 20;
    (BOTH - (partition_count as usize).saturating_mul(48).min(BOTH / 2)) / size_of::<u32>()
}

/// Consecutive records of one partition in a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PartitionRecords {
    /// The partition, counted from the file's first.
    pub at: u32,
    /// Where its places begin in the window.
    pub begin: u32,
    pub end: u32,
}

/// Sorts entries by partition, stably and window by window, beginning with the partition `first`.
#[derive(Default)]
pub(super) struct Sorter {
    /// The rank of the next record of each partition.
    next: Vec<u32>,
    /// The places of the current window, and one more for all records outside it.
    places: Vec<u32>,
    by_partition: Vec<PartitionRecords>,
    /// The sorted entries, when there are far fewer than partitions.
    few: Vec<u64>,
}

impl Sorter {
    /// The current window: the places in order, and their partitions.
    pub(super) fn window(&self) -> (&[u32], &[PartitionRecords]) {
        (
            &self.places[..self.by_partition.last().map_or(0, |records| records.end as usize)],
            &self.by_partition,
        )
    }

    /// Sorts the entries with ranks in `begin..begin + length`. `counts` has the number of records of each partition.
    pub(super) fn sort(&mut self, entries: &Entries, counts: &[u32], first: u32, begin: usize, length: usize) {
        self.by_partition.clear();
        self.by_partition.reserve_exact(counts.len().min(length));
        self.next.clear();
        self.next.resize(counts.len(), 0);
        self.places.resize(length + 1, 0);
        let end = begin + length;
        let mut rank = 0usize;
        let first = first as usize;
        for at in (first..counts.len()).chain(0..first) {
            let count = counts[at] as usize;
            // A buffer has fewer than 2^33 / 12 records.
            self.next[at] = rank as u32;
            let (from, to) = (rank.max(begin), (rank + count).min(end));
            if from < to {
                self.by_partition.push(PartitionRecords {
                    at: at as u32,
                    begin: (from - begin) as u32,
                    end: (to - begin) as u32,
                });
            }
            rank += count;
        }
        let (next, places, begin) = (&mut self.next[..], &mut self.places[..], begin as u32);
        for piece in entries.pieces() {
            for entry in piece {
                let next = &mut next[partition_of(*entry) as usize];
                // Ranks outside the window become large, and go to the place after it.
                let rank = (next.wrapping_sub(begin) as usize).min(length);
                places[rank] = place_of(*entry);
                *next += 1;
            }
        }
    }

    /// Sorts all entries at once when there are far fewer than partitions: counting would touch every partition.
    pub(super) fn sort_few(&mut self, entries: &Entries, partition_count: u32, first: u32) {
        let turned = |entry: u64| {
            let at = partition_of(entry);
            let slot = if at >= first {
                at - first
            } else {
                at + (partition_count - first)
            };
            u64::from(slot) << 32 | u64::from(place_of(entry))
        };
        self.few.clear();
        self.few.extend(entries.iter().map(turned));
        // The places of one partition ascend, so sorting by number is stable.
        self.few.sort_unstable();
        self.places.clear();
        self.places.extend(self.few.iter().map(|entry| place_of(*entry)));
        self.by_partition.clear();
        let mut begin = 0;
        for same in self.few.chunk_by(|a, b| partition_of(*a) == partition_of(*b)) {
            let slot = partition_of(same[0]);
            let end = begin + same.len() as u32;
            let left = partition_count - first;
            let at = if slot < left { slot + first } else { slot - left };
            self.by_partition.push(PartitionRecords { at, begin, end });
            begin = end;
        }
    }
}
