//! The report over many outputs.

use serde::Serialize;

use crate::commands::fault::Fault;

/// The report over many outputs.
#[derive(Debug, Serialize)]
pub(super) struct Total {
    pub outputs: OutputsInfo,
    /// Stored bytes of all blocks; a block that several partitions share counts once.
    pub bytes: u64,
    /// None if an output does not have statistics.
    pub records: Option<u64>,
    pub producers: ProducersInfo,
    pub partitions: PartitionsInfo,
    /// Outputs that are still being written, or whose writer died.
    pub unfinished: Vec<BadOutput>,
    pub damaged: Vec<BadOutput>,
    /// Folders that could not be read, and names without an output.
    pub not_found: Vec<Fault>,
}

#[derive(Debug, Serialize)]
pub(super) struct OutputsInfo {
    pub count: u64,
    pub finished: u64,
    pub unfinished: u64,
    pub damaged: u64,
    /// Files in the folders that are of no output.
    pub other_files: u64,
}

#[derive(Debug, Serialize)]
pub(super) struct BadOutput {
    pub name: String,
    pub error: Fault,
}

#[derive(Debug, Serialize)]
pub(super) struct ProducersInfo {
    pub count: u64,
    /// Merged files; they are of no producer.
    pub merged: u64,
    pub least_bytes: u64,
    pub median_bytes: u64,
    pub mean_bytes: f64,
    pub most_bytes: u64,
    /// The largest as a multiple of the mean.
    pub skew: Option<f64>,
    pub largest: Vec<ProducerInfo>,
    /// Producers with several attempts: what their attempts have counts each time.
    pub with_several_attempts: u64,
    /// Outputs that are copies of others, as their `file_id` says: what they have counts each time.
    pub copies: u64,
}

#[derive(Debug, Serialize)]
pub(super) struct ProducerInfo {
    /// None for a merged file.
    pub producer: Option<u64>,
    /// The generation of a merged file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub generation: Option<u64>,
    pub outputs: u64,
    pub bytes: u64,
    pub records: Option<u64>,
}

#[derive(Debug, Serialize)]
pub(super) struct PartitionsInfo {
    pub first: u32,
    pub count: u32,
    pub empty: u32,
    pub mean_bytes: f64,
    pub most_bytes: u64,
    /// The largest as a multiple of the mean.
    pub skew: Option<f64>,
    pub largest: Vec<PartitionTotal>,
    /// The ranges of partitions that outputs have. A shuffle has one.
    pub ranges: Vec<RangeInfo>,
    /// With --partitions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub each: Option<Vec<PartitionTotal>>,
}

#[derive(Debug, Serialize)]
pub(super) struct PartitionTotal {
    pub partition: u32,
    pub bytes: u64,
    pub records: Option<u64>,
}

#[derive(Debug, Serialize)]
pub(super) struct RangeInfo {
    pub first: u32,
    pub count: u32,
    pub outputs: u64,
}
