//! How outputs are read.

use crate::index::Lookup;
use crate::limits::Limits;

/// How a reader reads.
#[derive(Clone, Debug)]
pub struct ReaderOptions {
    /// What a file may ask for.
    pub limits: Limits,
    /// Whether the checksums of partition blocks are verified (INT-7).
    pub verify: bool,
    /// Most bytes that regions of the index may take in memory, besides those in use.
    pub region_cache_bytes: u64,
    /// How the extents of one partition are found, for [`crate::Reader::partition`], [`crate::Reader::records`], batches
    /// of Arrow's, and [`crate::Reader::stored_bytes`]. All other reading takes region messages whole.
    pub lookup: Lookup,
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
