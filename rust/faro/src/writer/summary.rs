//! Arguments and results of a writer's calls.

use crate::message::Statistics;
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

/// What [`crate::Writer::finish`] made: what a scheduler of a shuffle needs, without reading anything.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Summary {
    /// The files, with their final names: a pair or a single file.
    pub files: Files,
    /// The identity of the output, as in its headers.
    pub file_id: [u8; 16],
    /// The number of regions.
    pub regions: usize,
    /// The number of partition blocks: data and events. A shared block counts once.
    pub blocks: u64,
    /// Bytes of the data file; in a single output, of the regions' blocks.
    pub data_bytes: u64,
    /// Bytes of the index file; in a single output, of everything else.
    pub index_bytes: u64,
    /// The statistics of the footer: records, plain and stored bytes of each partition, and those to all (FTR-4). Absent
    /// when the option [`crate::WriterOptions::statistics`] leaves them out.
    pub statistics: Option<Statistics>,
}
