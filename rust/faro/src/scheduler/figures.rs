//! The figures of a scheduler.

use crate::plan::SweepRead;

/// What a scheduler has done so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SchedulerFigures {
    /// The number of requests of consumers that were served: parts of reads.
    pub requests: u64,
    /// The number of reads.
    pub reads: u64,
    /// Bytes that were read, with gaps.
    pub read_bytes: u64,
    /// Those of them that no consumer has asked for.
    pub gap_bytes: u64,
    /// Bytes that consumers have taken.
    pub given_bytes: u64,
    /// Bytes between the end of a read and the beginning of the next read of the same file, forwards or backwards.
    pub seek_bytes: u64,
    /// Bytes that were read or are being read, and are not taken yet.
    pub held_bytes: u64,
    /// The highest value of `held_bytes` so far.
    pub most_held_bytes: u64,
    /// How often a consumer was polled, or used as an iterator, and had nothing yet.
    pub waits: u64,
    /// Bytes that were taken back to make room, and have to be read again.
    pub reclaimed_bytes: u64,
    /// How often the [`memory_budget`](super::SchedulerOptions::memory_budget) refused memory.
    pub memory_refusals: u64,
}

impl SchedulerFigures {
    /// Counts a read. The last read of its file ended at `head`.
    pub(super) fn count(&mut self, read: &SweepRead, head: u64) {
        self.reads += 1;
        self.requests += read.parts.len() as u64;
        self.read_bytes += read.extent.length;
        self.seek_bytes += read.extent.offset.abs_diff(head);
        // The parts are ordered by offset, and may overlap.
        let mut end = read.extent.offset;
        for part in &read.parts {
            self.gap_bytes += part.extent.offset.saturating_sub(end);
            end = end.max(part.extent.end());
        }
    }
}
