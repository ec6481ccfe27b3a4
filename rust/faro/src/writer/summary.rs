//! Arguments and results of a writer's calls.

use crate::storage::Files;

/// The partitions that a record is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum To<'a> {
    /// One partition.
    One(u32),
    /// Every partition of the file.
    All,
    /// A set of partitions, in any order. Repeated partitions count once.
    These(&'a [u32]),
}

/// What [`crate::Writer::finish`] made.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Summary {
    /// The number of regions.
    pub regions: usize,
    /// Bytes of the data file; in a single output, of the regions' blocks.
    pub data_bytes: u64,
    /// Bytes of the index file; in a single output, of everything else.
    pub index_bytes: u64,
    /// The files.
    pub files: Files,
}
