//! The report of `faro info`.

use crate::streams::StreamsInfo;
use serde::Serialize;
use std::collections::BTreeMap;

#[derive(Debug, Serialize)]
pub(crate) struct Info {
    pub layout: &'static str,
    pub finished: bool,
    pub files: Vec<FileInfo>,
    pub header: HeaderInfo,
    pub created_by: Option<String>,
    /// Only for files that may have dictionaries.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dictionaries: Option<DictionariesInfo>,
    pub properties: BTreeMap<String, String>,
    pub regions: RegionsInfo,
    pub blocks: BlocksInfo,
    /// From the statistics. A multicast record counts for each of its partitions.
    pub records: Option<u64>,
    pub partitions: PartitionsInfo,
    /// Only for finished selective files.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub streams: Option<StreamsInfo>,
    /// With --schema, for files with a schema.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub schema: Option<Vec<ColumnInfo>>,
}

#[derive(Debug, Serialize)]
pub(crate) struct ColumnInfo {
    pub name: String,
    pub r#type: String,
    pub nullable: bool,
}

#[derive(Debug, Serialize)]
pub(crate) struct FileInfo {
    pub role: &'static str,
    pub path: String,
    pub bytes: u64,
}

#[derive(Debug, Serialize)]
pub(crate) struct HeaderInfo {
    pub version: String,
    pub framing: &'static str,
    pub partition_count: u32,
    pub first_partition: u32,
    /// Absent in a merged file.
    pub producer: Option<u64>,
    pub attempt: u64,
    pub file_id: String,
    pub reader_features: u32,
    pub writer_features: u32,
}

#[derive(Debug, Serialize)]
pub(crate) struct DictionariesInfo {
    pub count: usize,
    pub bytes: u64,
}

#[derive(Debug, Default, Serialize)]
pub(crate) struct RegionsInfo {
    pub count: u64,
    pub sparse: u64,
    pub bytes: u64,
    pub own_extents: u64,
    pub shared_extents: u64,
    pub shared_bytes: u64,
    /// Bytes after the last commit of an unfinished data file.
    pub uncommitted_bytes: u64,
    /// In merged files, the number of runs, and of the producers that have any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub runs: Option<RunsInfo>,
}

#[derive(Debug, Default, Serialize)]
pub(crate) struct RunsInfo {
    pub count: u64,
    pub producers: u64,
}

#[derive(Debug, Default, Serialize)]
pub(crate) struct BlocksInfo {
    /// Whether all blocks were counted.
    pub complete: bool,
    pub count: u64,
    pub events: u64,
    pub stored_payload_bytes: u64,
    pub plain_bytes: u64,
    pub ratio: Option<f64>,
    pub codecs: BTreeMap<&'static str, CodecInfo>,
}

#[derive(Debug, Default, Serialize)]
pub(crate) struct CodecInfo {
    pub blocks: u64,
    pub stored_payload_bytes: u64,
    pub plain_bytes: u64,
}

#[derive(Debug, Serialize)]
pub(crate) struct PartitionsInfo {
    pub empty: u32,
    pub min_bytes: u64,
    pub median_bytes: u64,
    pub mean_bytes: f64,
    pub p99_bytes: u64,
    pub max_bytes: u64,
    /// The largest partition, as a multiple of the mean.
    pub skew: Option<f64>,
    pub largest: Vec<PartitionInfo>,
    /// With --partitions: the partitions that read anything, or miss blocks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub each: Option<Vec<PartitionInfo>>,
}

#[derive(Debug, Serialize)]
pub(crate) struct PartitionInfo {
    pub partition: u32,
    pub bytes: u64,
    /// From the statistics.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub records: Option<u64>,
    /// The own blocks that were consumed before they were stored, of selective files whose footer says it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub missing: Option<u32>,
}
