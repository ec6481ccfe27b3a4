//! One partition from all outputs of a shuffle, record by record.

use super::blocks::ShuffleBlocks;
use super::outputs::Shuffle;
use crate::block::{DATA, framing};
use crate::bytes::Framing;
use crate::error::{Error, Result};
use bytes::Bytes;

/// An iterator over the records of a partition from all outputs, each with the position of its output:
/// [`super::Shuffle::records`].
pub struct ShuffleRecords<'a> {
    blocks: ShuffleBlocks<'a>,
    output: usize,
    /// The rest of a payload that was checked (FRM-5).
    rest: Bytes,
}

impl Shuffle {
    /// The records of a partition from all outputs, each with the position of its output. Events are skipped.
    ///
    /// # Errors
    /// As [`Shuffle::partition`]; `invalid-argument` for an output of another framing.
    pub fn records(&self, partition: u32) -> ShuffleRecords<'_> {
        ShuffleRecords::new(self.partition(partition))
    }
}

impl<'a> ShuffleRecords<'a> {
    fn new(blocks: ShuffleBlocks<'a>) -> Self {
        ShuffleRecords {
            blocks,
            output: 0,
            rest: Bytes::new(),
        }
    }

    /// Takes the next data block; returns whether there is one.
    fn take_block(&mut self) -> Option<Result<()>> {
        let next = match self.blocks.next()? {
            Ok(next) => next,
            Err(error) => return Some(Err(error)),
        };
        let header = next.reader.header();
        if header.framing != Framing::Records {
            let found = format!("framing {}", header.framing.as_str());
            let error = Error::argument("a file with framing records", found);
            self.blocks.leave_output();
            return Some(Err(next.reader.output().index_file().blame(error)));
        }
        if let Err(error) = next.block.records(Framing::Records) {
            self.blocks.leave_output();
            return Some(Err(error));
        }
        if next.block.kind() == DATA {
            (self.output, self.rest) = (next.output, next.block.payload);
        }
        Some(Ok(()))
    }
}

impl Iterator for ShuffleRecords<'_> {
    type Item = Result<(usize, Bytes)>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some((record, _)) = framing::split_record(&self.rest) {
                let end = 4 + record.len();
                let record = self.rest.slice(4..end);
                self.rest = self.rest.slice(end..);
                return Some(Ok((self.output, record)));
            }
            if let Err(error) = self.take_block()? {
                return Some(Err(error));
            }
        }
    }
}
