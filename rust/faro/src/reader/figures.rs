//! What a reader has done so far.

use super::open::OpenFiles;
use crate::block::BlockHeader;
use crate::limits::CountedBudget;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// What a reader, its clones and its iterators have read so far, and what they keep: [`crate::Reader::figures`]. Sizes
/// are in bytes.
///
/// Each figure only grows, except `memory_used`. While other threads read, figures that are asked for together need not
/// belong to one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReaderFigures {
    /// Requests to the storage: calls of [`read_at`](crate::storage::StoredFile::read_at) and
    /// [`read_ranges`](crate::storage::StoredFile::read_ranges). Those of opening and those that failed are among them.
    pub reads: u64,
    /// The bytes that these returned.
    pub bytes_read: u64,
    /// Partition blocks that were delivered; a block for several partitions counts each time. They are counted when their
    /// iterator ends, fails or is dropped, and after each 1,024 of them.
    pub blocks: u64,
    /// The size of their plain payloads.
    pub plain_bytes: u64,
    /// The size of their stored payloads.
    pub stored_bytes: u64,
    /// Region messages that were read and checked. A direct lookup reads parts of them, which do not count.
    pub regions_read: u64,
    /// How often the cache had a region.
    pub regions_cached: u64,
    /// The time in requests to the storage, of all threads together.
    pub read_time: Duration,
    /// What is kept now: [`crate::Reader::memory_used`].
    pub memory_used: u64,
    /// How often the [`memory_budget`](crate::ReaderOptions::memory_budget) refused memory.
    pub memory_refusals: u64,
}

/// The counts of an output that is read. They order nothing.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    blocks: AtomicU64,
    plain: AtomicU64,
    stored: AtomicU64,
    regions_read: AtomicU64,
    regions_cached: AtomicU64,
    budget: Option<Arc<CountedBudget>>,
}

impl Counts {
    pub(super) fn new(budget: Option<Arc<CountedBudget>>) -> Self {
        Counts {
            budget,
            ..Counts::default()
        }
    }

    pub(super) fn region(&self, cached: bool) {
        let regions = if cached {
            &self.regions_cached
        } else {
            &self.regions_read
        };
        regions.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn figures(&self, files: &OpenFiles, memory_used: u64) -> ReaderFigures {
        let mut figures = ReaderFigures {
            blocks: self.blocks.load(Ordering::Relaxed),
            plain_bytes: self.plain.load(Ordering::Relaxed),
            stored_bytes: self.stored.load(Ordering::Relaxed),
            regions_read: self.regions_read.load(Ordering::Relaxed),
            regions_cached: self.regions_cached.load(Ordering::Relaxed),
            memory_used,
            memory_refusals: CountedBudget::refusals(self.budget.as_ref()),
            ..ReaderFigures::default()
        };
        for file in files.data.iter().chain([&files.index]) {
            figures.reads += file.calls().requests();
            figures.bytes_read += file.calls().bytes();
            figures.read_time += file.calls().time();
        }
        figures
    }
}

/// After that many blocks, a reading adds them to the counts of its output.
const MANY: u64 = 1024;

/// The blocks that a reading has delivered since it counted them.
#[derive(Debug)]
pub(super) struct Delivered {
    counts: Arc<Counts>,
    blocks: u64,
    plain: u64,
    stored: u64,
}

impl Delivered {
    pub(super) fn new(counts: &Arc<Counts>) -> Self {
        Delivered {
            counts: Arc::clone(counts),
            blocks: 0,
            plain: 0,
            stored: 0,
        }
    }

    #[inline]
    pub(super) fn add(&mut self, header: &BlockHeader) {
        self.blocks += 1;
        self.plain += u64::from(header.plain_size);
        self.stored += u64::from(header.stored_size);
        if self.blocks == MANY {
            self.count();
        }
    }

    /// Adds them to the counts of the output.
    #[cold]
    pub(super) fn count(&mut self) {
        let take = |from: &mut u64, to: &AtomicU64| to.fetch_add(std::mem::take(from), Ordering::Relaxed);
        take(&mut self.blocks, &self.counts.blocks);
        take(&mut self.plain, &self.counts.plain);
        take(&mut self.stored, &self.counts.stored);
    }
}

impl Drop for Delivered {
    fn drop(&mut self) {
        self.count();
    }
}
