//! The records of a partition.

use super::blocks::Blocks;
use super::trace::fault;
use crate::block::DATA;
use crate::block::framing;
use crate::bytes::Framing;
use crate::error::Result;
use bytes::Bytes;

/// An iterator over the records of a partition. It skips events, and ends after the first error.
pub struct Records {
    blocks: Blocks,
    /// The rest of a payload that was checked (FRM-5).
    rest: Bytes,
}

impl Records {
    pub(crate) fn new(blocks: Blocks) -> Self {
        Records {
            blocks,
            rest: Bytes::new(),
        }
    }
}

impl Iterator for Records {
    type Item = Result<Bytes>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some((record, _)) = framing::split_record(&self.rest) {
                let end = 4 + record.len();
                let record = self.rest.slice(4..end);
                self.rest = self.rest.slice(end..);
                return Some(Ok(record));
            }
            let checked = self
                .blocks
                .next()?
                .and_then(|block| block.records(Framing::Records).inspect_err(fault).map(|_| block));
            match checked {
                Ok(block) if block.kind() == DATA => self.rest = block.payload,
                Ok(_) => {}
                Err(error) => {
                    self.blocks.stop();
                    return Some(Err(error));
                }
            }
        }
    }
}
