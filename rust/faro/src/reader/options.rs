//! The options of a reader.

use crate::index::RegionCache;
use crate::limits::{Limits, MemoryBudget};
use std::sync::Arc;

/// How a reader finds the extents of one partition ([`ReaderOptions::lookup`]).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Lookup {
    /// Reads region messages whole, checks them (REG-10), and keeps as many as the cache has room for. It suits the
    /// reading of many partitions.
    #[default]
    Full,
    /// Reads some hundred bytes of each region message, and does not verify checksums of the index (LKP). It suits the
    /// reading of one partition when the index is not in memory. Messages may be of any size, since none is held in
    /// memory. The note at LKP-3 says which damage goes unnoticed in a file without statistics.
    Direct,
}

/// How a [`crate::Reader`] or [`crate::Follower`] reads. The default suits files from any source.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ReaderOptions {
    /// The most that the reader accepts from a file (LIM-1).
    pub limits: Limits,
    /// Whether the checksums of partition blocks are verified (INT-7); true by default.
    pub verify: bool,
    /// The most memory, in bytes, for regions of the index that are not in use; 64 MiB by default. It has no effect with
    /// `region_cache`.
    pub region_cache_bytes: u64,
    /// A cache for regions that other readers use too; none by default.
    pub region_cache: Option<RegionCache>,
    /// How the extents of one partition are found, for [`crate::Reader::partition`], [`crate::Reader::records`], Arrow
    /// batches and [`crate::Reader::stored_bytes`]. All other calls read region messages whole.
    pub lookup: Lookup,
    /// The engine's budget, which is asked for regions that are kept, for windows, and for dictionaries; none by default.
    /// A refused region or window makes reading slower, no more; a refused dictionary is `io`. A `region_cache` has a
    /// budget of its own.
    pub memory_budget: Option<Arc<dyn MemoryBudget>>,
}

impl ReaderOptions {
    /// Sets `limits`.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Sets `verify`.
    #[must_use]
    pub fn verify(mut self, verify: bool) -> Self {
        self.verify = verify;
        self
    }

    /// Sets `region_cache_bytes`.
    #[must_use]
    pub fn region_cache_bytes(mut self, region_cache_bytes: u64) -> Self {
        self.region_cache_bytes = region_cache_bytes;
        self
    }

    /// Sets `region_cache`.
    #[must_use]
    pub fn region_cache(mut self, region_cache: RegionCache) -> Self {
        self.region_cache = Some(region_cache);
        self
    }

    /// Sets `lookup`.
    #[must_use]
    pub fn lookup(mut self, lookup: Lookup) -> Self {
        self.lookup = lookup;
        self
    }

    /// Sets `memory_budget`.
    #[must_use]
    pub fn memory_budget(mut self, memory_budget: Arc<dyn MemoryBudget>) -> Self {
        self.memory_budget = Some(memory_budget);
        self
    }
}

impl Default for ReaderOptions {
    fn default() -> Self {
        ReaderOptions {
            limits: Limits::default(),
            verify: true,
            region_cache_bytes: 64 << 20,
            region_cache: None,
            lookup: Lookup::Full,
            memory_budget: None,
        }
    }
}
