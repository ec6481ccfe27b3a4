//! Reads record batches from a file with framing arrow.

use super::ipc;
use crate::block::{BlockHeader, DATA};
use crate::bytes::Framing;
use crate::error::{Error, ErrorCode, Result};
use crate::reader::{Block, Blocks, Reader};
use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use std::sync::Arc;

/// The offset of the schema message (SCH-1): after the file header and a block header.
const SCHEMA_OFFSET: u64 = 88;

impl Reader {
    /// The Arrow schema of the file.
    ///
    /// # Errors
    /// `invalid-argument` for a file of another framing; `malformed-message` for a schema that Arrow refuses (SCH-3).
    pub fn arrow_schema(&self) -> Result<SchemaRef> {
        let Some(message) = self.schema_message() else {
            let found = format!("framing {}", self.header().framing.as_str());
            return Err(Error::argument("a file with framing arrow", found));
        };
        ipc::decode_schema(message).map(Arc::new).map_err(|found| {
            let fault = Error::at(ErrorCode::MalformedMessage, SCHEMA_OFFSET, "an Arrow schema", found);
            self.output().index_file().blame(fault)
        })
    }

    /// A decoder for the data blocks of this file, however they were read.
    ///
    /// # Errors
    /// Those of [`Reader::arrow_schema`].
    pub fn batch_decoder(&self) -> Result<BatchDecoder> {
        Ok(BatchDecoder {
            schema: self.arrow_schema()?,
            reader: self.clone(),
        })
    }

    /// The record batches of a partition. Events are skipped.
    ///
    /// # Errors
    /// `invalid-argument` for a partition that the file does not have, and the errors of [`Reader::arrow_schema`]. The
    /// iterator returns the faults of PRT-3 and FRM-5.
    pub fn batches(&self, partition: u32) -> Result<Batches> {
        let decoder = self.batch_decoder()?;
        Ok(Batches {
            decoder,
            blocks: Some(self.partition(partition)?),
        })
    }
}

/// Decodes data blocks of one file.
#[derive(Clone, Debug)]
pub struct BatchDecoder {
    schema: SchemaRef,
    reader: Reader,
}

impl BatchDecoder {
    /// The schema of all batches.
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// Decodes the batch of a data block. The columns share the memory of an uncompressed block.
    ///
    /// # Errors
    /// `invalid-argument` for an event; `malformed-block` for a payload that FRM-4 or Arrow refuses (FRM-5).
    pub fn decode(&self, block: &Block) -> Result<RecordBatch> {
        if block.kind() != DATA {
            return Err(Error::argument(
                "a data block",
                format!("an event of kind {}", block.kind()),
            ));
        }
        block.records(Framing::Arrow)?;
        ipc::decode_batch(&self.schema, &block.payload).map_err(|found| {
            let offset = block.offset + BlockHeader::SIZE as u64;
            let fault = Error::at(
                ErrorCode::MalformedBlock,
                offset,
                "an Arrow record batch of the file's schema",
                found,
            );
            self.reader.output().data_file().blame(fault)
        })
    }
}

/// An iterator over the record batches of a partition. It ends after the first error.
pub struct Batches {
    decoder: BatchDecoder,
    /// Absent after an error.
    blocks: Option<Blocks>,
}

impl Batches {
    /// The schema of all batches.
    pub fn schema(&self) -> &SchemaRef {
        self.decoder.schema()
    }
}

impl Iterator for Batches {
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let item = match self.blocks.as_mut()?.next()? {
                Ok(block) if block.kind() == DATA => self.decoder.decode(&block),
                Ok(_) => continue,
                Err(error) => Err(error),
            };
            if item.is_err() {
                self.blocks = None;
            }
            return Some(item);
        }
    }
}
