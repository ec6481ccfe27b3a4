//! The report on what was written.

use super::json_key::Missing;
use serde::Serialize;

/// What was written for one input.
#[derive(Debug, Serialize)]
pub(super) struct Packed {
    pub input: String,
    pub files: Vec<String>,
    pub format: &'static str,
    pub producer: u64,
    pub file_id: String,
    pub partitions: u32,
    pub records: u64,
    pub regions: u64,
    pub data_bytes: u64,
    pub index_bytes: u64,
    /// How many records lack a value of the key, by the value's name.
    #[serde(serialize_with = "counts")]
    pub missing: Vec<Missing>,
}

fn counts<S: serde::Serializer>(missing: &[Missing], to: S) -> Result<S::Ok, S::Error> {
    to.collect_map(missing.iter().map(|missing| (&missing.name, missing.count)))
}
