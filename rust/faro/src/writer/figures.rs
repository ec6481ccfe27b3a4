//! What a writer has done so far.

use std::time::{Duration, Instant};

/// What a writer has done so far, and what it holds: [`crate::Writer::figures`]. Sizes are in bytes.
///
/// They are counted where a region ends or a file is appended to, not for each record: the records in the sort buffer are
/// not in them yet, nor is a region that was given up. A region that another thread writes (the option `double_buffer`) is
/// counted by the next call that waits for it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct WriterFigures {
    /// Records in regions that have ended, as the statistics count them (FTR-4): events are not among them, and a record
    /// for several partitions counts once. A region writer's blocks count with the records that its caller said.
    pub records: u64,
    /// Regions in the file.
    pub regions: u64,
    /// Regions that ended because a record did not fit into the sort buffer, or the budget refused memory for it. The
    /// order of calls (SRT-4), a flush, and a record that is larger than the buffer end others.
    pub spills: u64,
    /// Regions that another thread wrote, with the option `double_buffer`. The others, the caller's thread wrote: those that
    /// ended for another reason than a full buffer, or whose work an executor had not begun when the writer needed it.
    pub double_buffered: u64,
    /// Partition blocks: data and events.
    pub blocks: u64,
    /// The plain bytes of partition blocks, events included. The statistics (FTR-4) count data blocks only.
    pub plain_bytes: u64,
    /// The bytes of partition blocks in the file, with headers and padding.
    pub stored_bytes: u64,
    /// The bytes appended to the files, all together.
    pub file_bytes: u64,
    /// The time in ending regions, from sorting to writing, in whatever thread; of a region writer, the time in
    /// [`end`](crate::RegionWriter::end).
    pub region_time: Duration,
    /// The time in compression, of all threads together. Only with the option [`crate::WriterOptions::timed`], else zero.
    pub compress_time: Duration,
    /// The time in checksums of partition blocks, of all threads together. Only with that option, too.
    pub checksum_time: Duration,
    /// The time in calls that append to files.
    pub write_time: Duration,
    /// The time in calls that sync files.
    pub sync_time: Duration,
    /// What the writer holds now: [`crate::Writer::memory_used`].
    pub memory_used: u64,
    /// How often the budget refused memory.
    pub memory_refusals: u64,
}

/// What the regions of a writer have in all.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counts {
    pub records: u64,
    pub blocks: u64,
    pub plain: u64,
    pub stored: u64,
}

impl Counts {
    pub(super) fn add(&mut self, other: &Counts) {
        self.records += other.records;
        self.blocks += other.blocks;
        self.plain += other.plain;
        self.stored += other.stored;
    }
}

/// The times of a block builder, if they are wanted: two readings of the clock cost more than a small block's checksum.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct BlockTimes {
    pub wanted: bool,
    pub compress: Duration,
    pub checksum: Duration,
}

impl BlockTimes {
    pub(super) fn start(&self) -> Option<Instant> {
        self.wanted.then(Instant::now)
    }
}

/// The time since a start, if there was one.
pub(super) fn since(start: Option<Instant>) -> Duration {
    start.map_or(Duration::ZERO, |start| start.elapsed())
}
