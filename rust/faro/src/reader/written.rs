//! What a writer knows of an output that it has just finished: enough to open it without reading.

use super::open::{FoundFooter, OpenFiles, check_counts};
use crate::block::{BlockHeader, check_message_size};
use crate::bytes::FileHeader;
use crate::error::{Error, Result};
use crate::limits::Limits;
use crate::message::{Region, Schema};

/// A finished output, from its writer's memory.
#[derive(Debug)]
pub(crate) struct WrittenOutput {
    pub files: OpenFiles,
    pub footer: FoundFooter,
    /// With framing arrow, the schema and the stored size of its block.
    pub schema: Option<(Schema, u32)>,
    /// The regions whose contents the writer still has, in ascending order.
    pub regions: Vec<Region>,
}

impl WrittenOutput {
    /// Checks the limits that opening checks, in the same order (OPN-1, OPN-2).
    pub(super) fn check_limits(&self, limits: &Limits) -> Result<()> {
        let FoundFooter {
            footer, offset, size, ..
        } = &self.footer;
        let check_schema = || match &self.schema {
            Some((_, size)) => check_message_size(*size, FileHeader::SIZE as u64, limits),
            None => Ok(()),
        };
        check_message_size(*size, *offset, limits)
            .and_then(|()| check_counts(footer, offset + BlockHeader::SIZE as u64, limits))
            .and_then(|()| check_schema())
            .map_err(|error| self.files.index.blame(published(error)))
    }
}

/// The caller must know that the output exists.
fn published(error: Error) -> Error {
    Error {
        found: format!("{}; the output is finished and published", error.found),
        ..error
    }
}
