//! The options of a reader.

use crate::index::Lookup;
use crate::limits::Limits;

/// How a [`crate::Reader`] or [`crate::Follower`] reads. The default suits files from any source.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ReaderOptions {
    /// The most that the reader accepts from a file (LIM-1).
    pub limits: Limits,
    /// Whether the checksums of partition blocks are verified (INT-7); true by default.
    pub verify: bool,
    /// The most memory, in bytes, for regions of the index that are not in use; 64 MiB by default.
    pub region_cache_bytes: u64,
    /// How the extents of one partition are found, for [`crate::Reader::partition`], [`crate::Reader::records`], Arrow
    /// batches and [`crate::Reader::stored_bytes`]. All other calls read region messages whole.
    pub lookup: Lookup,
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

    /// Sets `lookup`.
    #[must_use]
    pub fn lookup(mut self, lookup: Lookup) -> Self {
        self.lookup = lookup;
        self
    }
}

impl Default for ReaderOptions {
    fn default() -> Self {
        ReaderOptions {
            limits: Limits::default(),
            verify: true,
            region_cache_bytes: 64 << 20,
            lookup: Lookup::Full,
        }
    }
}
