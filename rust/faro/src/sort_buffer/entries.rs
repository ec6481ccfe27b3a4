//! Whose record is where: one entry for each record, in the order of calls, and their order by partition.

/// Entries of a piece. A vector that grows would take its memory twice while it does.
const PIECE: usize = 1 << 16;

/// Entries: a partition, counted from the file's first, above the record's place.
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

    /// All of them.
    pub(super) fn iter(&self) -> impl Iterator<Item = u64> {
        self.pieces().flatten().copied()
    }

    /// Forgets them, and keeps the memory.
    pub(super) fn clear(&mut self) {
        self.last.clear();
        for mut piece in self.full.drain(..) {
            piece.clear();
            self.spare.push(piece);
        }
    }
}

/// How many places, of 4 bytes, are sorted at a time: what a writer takes beside the sort buffer is bounded, so places
/// have what partitions leave. 7 MiB for both: 48 bytes for each partition, but at least half for the places.
pub(super) fn window(partition_count: u32) -> usize {
    const BOTH: usize = 7 << 20;
    (BOTH - (partition_count as usize).saturating_mul(48).min(BOTH / 2)) / size_of::<u32>()
}

/// Consecutive records of one partition in a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Segment {
    /// The partition, counted from the file's first.
    pub at: u32,
    /// Where its places begin and end in the window.
    pub begin: u32,
    pub end: u32,
}

/// Sorts entries stably by partition, beginning with a partition that the caller names, window by window.
#[derive(Default)]
pub(super) struct Sorter {
    /// Of each partition: where its next record goes.
    next: Vec<u32>,
    /// The places of the window in hand, and one for all that do not belong to it.
    places: Vec<u32>,
    runs: Vec<Segment>,
    /// The entries themselves when partitions are far more than they.
    few: Vec<u64>,
}

impl Sorter {
    /// The window in hand: places in order, and whose they are.
    pub(super) fn window(&self) -> (&[u32], &[Segment]) {
        (
            &self.places[..self.runs.last().map_or(0, |run| run.end as usize)],
            &self.runs,
        )
    }

    /// Sorts the entries whose rank is from `begin` to `begin` + `length`. `counts` has how many each partition has.
    pub(super) fn sort(&mut self, entries: &Entries, counts: &[u32], first: u32, begin: usize, length: usize) {
        self.runs.clear();
        self.runs.reserve_exact(counts.len().min(length));
        self.next.clear();
        self.next.resize(counts.len(), 0);
        self.places.resize(length + 1, 0);
        let end = begin + length;
        let mut rank = 0usize;
        let first = first as usize;
        for at in (first..counts.len()).chain(0..first) {
            let count = counts[at] as usize;
            // Fewer than 2^33 / 12 records are in a buffer.
            self.next[at] = rank as u32;
            let (from, to) = (rank.max(begin), (rank + count).min(end));
            if from < to {
                self.runs.push(Segment {
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
                // Ranks outside become large, and go to the place behind the window.
                let rank = (next.wrapping_sub(begin) as usize).min(length);
                places[rank] = place_of(*entry);
                *next += 1;
            }
        }
    }

    /// Sorts entries that are far fewer than the partitions, all at once: counting would touch every partition.
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
        // Places ascend among those of one partition, so the order of plain numbers is stable.
        self.few.sort_unstable();
        self.places.clear();
        self.places.extend(self.few.iter().map(|entry| place_of(*entry)));
        self.runs.clear();
        let mut begin = 0;
        for same in self.few.chunk_by(|a, b| partition_of(*a) == partition_of(*b)) {
            let slot = partition_of(same[0]);
            let end = begin + same.len() as u32;
            let left = partition_count - first;
            let at = if slot < left { slot + first } else { slot - left };
            self.runs.push(Segment { at, begin, end });
            begin = end;
        }
    }
}
