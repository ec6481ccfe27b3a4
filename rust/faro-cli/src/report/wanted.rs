//! What a report shows of each output.

use faro::CheckLevel;

/// What a report shows of each output.
pub(super) struct Wanted {
    pub level: CheckLevel,
    pub records: usize,
    pub blocks: usize,
    pub bytes: u64,
    pub spec: Option<String>,
}
