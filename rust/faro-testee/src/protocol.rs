//! Requests and answers of the protocol.

use crate::payload::{Content, Payload};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::path::PathBuf;

/// One line of input.
#[derive(Debug, Deserialize)]
pub(crate) struct Envelope {
    /// The identity of the request, repeated in the answer.
    pub id: Value,
    /// What is to be done.
    pub op: String,
    /// The other fields, which depend on the op.
    #[serde(flatten)]
    pub rest: serde_json::Map<String, Value>,
}

/// Why an op failed.
#[derive(Debug)]
pub enum Failure {
    /// The library refused.
    Refused(Box<Fault>),
    /// The testee does not do this.
    Unsupported(String),
}

impl From<faro::Error> for Failure {
    fn from(error: faro::Error) -> Self {
        Failure::Refused(Box::new(error.into()))
    }
}

/// The answer of an op.
pub(crate) type Answer = Result<Value, Failure>;

/// A fault as the protocol writes it.
#[derive(Debug, Serialize)]
pub struct Fault {
    /// The error code.
    pub code: &'static str,
    file: Option<&'static str>,
    offset: Option<u64>,
    expected: String,
    found: String,
}

impl From<faro::Error> for Fault {
    fn from(error: faro::Error) -> Self {
        Fault {
            code: error.code.as_str(),
            file: error.role.map(faro::FileRole::as_str),
            offset: error.offset,
            expected: error.expected,
            found: error.found,
        }
    }
}

/// The error for a number that the types of the library cannot hold.
pub(crate) fn invalid_argument(expected: &str, found: impl ToString) -> Failure {
    Failure::Refused(Box::new(Fault {
        code: faro::ErrorCode::InvalidArgument.as_str(),
        file: None,
        offset: None,
        expected: expected.to_string(),
        found: found.to_string(),
    }))
}

/// Reads the fields of an op. Unknown fields or values make the op unsupported.
pub(crate) fn fields<T: for<'a> Deserialize<'a>>(rest: serde_json::Map<String, Value>) -> Result<T, Failure> {
    serde_json::from_value(Value::Object(rest)).map_err(|error| Failure::Unsupported(error.to_string()))
}

/// The files of a request.
#[derive(Debug, Deserialize)]
pub(crate) struct Paths {
    data: Option<PathBuf>,
    index: Option<PathBuf>,
    single: Option<PathBuf>,
}

impl Paths {
    /// The files for the library.
    pub(crate) fn files(self) -> Result<faro::Files, Failure> {
        match self {
            Paths {
                data: Some(data),
                index: Some(index),
                single: None,
            } => Ok(faro::Files::Paired { data, index }),
            Paths {
                data: None,
                index: None,
                single: Some(path),
            } => Ok(faro::Files::Single(path)),
            other => Err(Failure::Unsupported(format!(
                "neither a pair nor a single file: {other:?}"
            ))),
        }
    }
}

/// The limits that a request sets.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct LimitFields {
    max_block_size: Option<u64>,
    max_plain_size: Option<u64>,
    max_message_size: Option<u64>,
    max_regions: Option<u64>,
    max_dictionary_size: Option<u64>,
    max_dictionaries: Option<u64>,
    max_window_size: Option<u64>,
}

impl LimitFields {
    /// The limits for the library: these, and the defaults of the others.
    pub(crate) fn limits(&self) -> faro::Limits {
        let default = faro::Limits::default();
        faro::Limits::default()
            .max_block_size(self.max_block_size.unwrap_or(default.max_block_size))
            .max_plain_size(self.max_plain_size.unwrap_or(default.max_plain_size))
            .max_message_size(self.max_message_size.unwrap_or(default.max_message_size))
            .max_regions(self.max_regions.unwrap_or(default.max_regions))
            .max_dictionary_size(self.max_dictionary_size.unwrap_or(default.max_dictionary_size))
            .max_dictionaries(self.max_dictionaries.unwrap_or(default.max_dictionaries))
            .max_window_size(self.max_window_size.unwrap_or(default.max_window_size))
    }
}

/// The request `read`.
#[derive(Debug, Deserialize)]
pub(crate) struct Read {
    /// The files to read.
    #[serde(flatten)]
    pub paths: Paths,
    /// What the file may ask for.
    #[serde(default)]
    pub limits: LimitFields,
    /// Whether checksums of partition blocks are verified.
    pub verify: Option<bool>,
    /// The partitions to read, each alone.
    pub partitions: Option<Vec<u32>>,
    /// The partitions to read as a range.
    pub range: Option<[u32; 2]>,
    /// The partitions to read one after another (PRT-7).
    pub by_partition: Option<[u32; 2]>,
    /// How partitions are found: `full` or `direct` (LKP).
    pub lookup: Option<String>,
}

/// The request `check`.
#[derive(Debug, Deserialize)]
pub(crate) struct Check {
    /// The files to check.
    #[serde(flatten)]
    pub paths: Paths,
    /// The level.
    pub level: String,
    /// What the file may ask for.
    #[serde(default)]
    pub limits: LimitFields,
}

/// The request `repair`.
#[derive(Debug, Deserialize)]
pub(crate) struct Repair {
    /// The files to repair.
    #[serde(flatten)]
    pub paths: Paths,
    /// `last-commit` or `rebuild`.
    pub mode: String,
    /// Which partitions read the shared blocks of a rebuilt index: `none` or `all`.
    pub shared: Option<String>,
    /// What the files may ask for.
    #[serde(default)]
    pub limits: LimitFields,
    /// Whether only the report is wanted.
    #[serde(default)]
    pub dry_run: bool,
}

/// The request `recover`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Recover {
    /// The NAME of the output.
    pub path: PathBuf,
    /// The first digits of the file_id of the output to recover.
    pub file_id: Option<String>,
    /// Whether another output may be replaced.
    #[serde(default)]
    pub overwrite: bool,
    /// Whether only the report is wanted.
    #[serde(default)]
    pub dry_run: bool,
    /// What the files may ask for.
    #[serde(default)]
    pub limits: LimitFields,
}

/// The request `clean`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Clean {
    /// The folder to clean.
    pub folder: PathBuf,
    /// How many seconds a file must be unchanged before it is removed.
    #[serde(default = "an_hour")]
    pub older_than: f64,
    /// Whether only the report is wanted.
    #[serde(default)]
    pub dry_run: bool,
}

fn an_hour() -> f64 {
    3600.0
}

/// The request `follow`.
#[derive(Debug, Deserialize)]
pub(crate) struct Follow {
    /// What is to be done.
    pub action: String,
    /// The follower's name.
    pub handle: String,
    /// With `open`, the files to follow.
    #[serde(flatten)]
    pub paths: Paths,
    /// With `open`, the limits.
    #[serde(default)]
    pub limits: LimitFields,
    /// With `read`, the partitions.
    pub partitions: Option<Vec<u32>>,
    /// With `watch`, the partition.
    pub partition: Option<u32>,
}

/// The request `write`. Integers are as wide as in JSON, so that the library refuses those out of range.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Write {
    /// The base name.
    pub path: PathBuf,
    /// The options of the writer.
    pub options: Options,
    /// The calls of the writer.
    pub calls: Vec<Call>,
}

/// The options of a writer.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Options {
    pub layout: Option<String>,
    pub partition_count: Option<i64>,
    pub first_partition: Option<i64>,
    pub framing: Option<String>,
    pub producer: Option<String>,
    pub attempt: Option<String>,
    pub file_id: Option<String>,
    pub block_size: Option<i64>,
    pub buffer_size: Option<i64>,
    pub codec: Option<String>,
    pub level: Option<i64>,
    pub ordered: Option<bool>,
    pub rotation: Option<i64>,
    pub selective: Option<bool>,
    pub statistics: Option<bool>,
    pub created_by: Option<String>,
    pub durability: Option<String>,
    pub follow: Option<bool>,
    pub overwrite: Option<bool>,
    pub max_plain_size: Option<i64>,
    pub single_below: Option<i64>,
    pub schema: Option<Payload>,
    pub dictionaries: Option<bool>,
}

/// The request `hybrid`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Hybrid {
    /// The NAME of the first store.
    pub path: PathBuf,
    /// The size of their memory in bytes.
    pub memory: u64,
    pub stores: Vec<HybridFields>,
    /// Each has the index of its store besides its own fields.
    pub calls: Vec<serde_json::Map<String, Value>>,
}

/// A store of the request `hybrid`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct HybridFields {
    pub mode: String,
    pub options: Options,
}

/// A call of a writer.
#[derive(Debug, Deserialize)]
#[serde(tag = "call", rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum Call {
    Write {
        partition: i64,
        payload: Payload,
        #[serde(default)]
        kind: i64,
    },
    Broadcast {
        payload: Payload,
        #[serde(default)]
        kind: i64,
    },
    Multicast {
        partitions: Vec<i64>,
        payload: Payload,
        #[serde(default)]
        kind: i64,
    },
    Many {
        count: u64,
        seed: u64,
        partitions: [u32; 2],
        length: [u32; 2],
        content: Content,
    },
    Flush {},
    SkipTo {
        partition: i64,
        sequence: i64,
    },
    SkipSharedTo {
        sequence: i64,
    },
    Finish {},
    Abort {},
    Property {
        key: String,
        value: String,
    },
    Dictionary {
        payload: Payload,
    },
    Region {
        blocks: Vec<RegionBlock>,
    },
}

/// A call of the region writer.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RegionBlock {
    pub partition: Option<i64>,
    #[serde(default)]
    pub kind: i64,
    pub payload: Option<Payload>,
    pub codec: Option<i64>,
    pub plain_size: Option<i64>,
    pub stored: Option<Payload>,
    #[serde(default)]
    pub records: i64,
    #[serde(default)]
    pub dictionary: i64,
    pub shared: Option<Members>,
    pub sequence: Option<i64>,
}

/// The members of a shared extent.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(crate) enum Members {
    /// A word: `all`.
    Word(String),
    /// A list of partitions.
    Some(Vec<i64>),
}
