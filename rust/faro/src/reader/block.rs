//! The blocks that readers deliver.

use super::open_extent::{Checked, OpenExtent};
use super::open_output::Opened;
use crate::block::framing;
use crate::block::{BlockHeader, DATA};
use crate::bytes::Framing;
use crate::error::Result;
use crate::index::Members;
use bytes::Bytes;
use std::sync::Arc;

/// A block that was read, checked (BLK-7) and decoded.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Block {
    /// The offset of the block in the data (or single) file.
    pub offset: u64,
    /// The header of the block.
    pub header: BlockHeader,
    /// The partition of an own block; none for a shared block.
    pub partition: Option<u32>,
    /// The number of its region.
    pub region: u32,
    /// The partitions that read a shared block; none with [`crate::Lookup::Direct`], which does not read them.
    pub members: Option<Members>,
    /// The plain payload. An uncompressed payload shares the memory of the read that it came with, up to 4 MiB; that
    /// memory is kept as long as the payload. Copy a small payload that you keep for long.
    pub payload: Bytes,
    pub(super) opened: Arc<Opened>,
}

impl Block {
    /// The kind of the block: [`crate::block::DATA`], or an event.
    pub fn kind(&self) -> u8 {
        self.header.kind
    }

    /// Checks the payload of a data block against a framing (FRM-5) and counts its records. Returns `None` for events,
    /// and for framings other than records.
    ///
    /// # Errors
    /// `malformed-block` at the payload's offset.
    pub fn records(&self, framing: Framing) -> Result<Option<u64>> {
        records(&self.opened, &self.header, self.offset, &self.payload, framing)
    }

    /// The records of a data block in a file with framing records, borrowed from the block; none for an event.
    ///
    /// # Errors
    /// `malformed-block` at the payload's offset, before any record, when the payload is not a sequence of whole
    /// records (FRM-5).
    pub fn record_slices(&self) -> Result<impl Iterator<Item = &[u8]>> {
        let whole = self.records(Framing::Records)?.is_some();
        Ok(RecordSlices(if whole { &self.payload } else { &[] }))
    }
}

/// A block that an iterator lends until its next call. It costs no copy and no reference count, and the memory of
/// decoded payloads is reused.
#[derive(Clone, Copy, Debug)]
pub struct BorrowedBlock<'a> {
    pub(super) checked: &'a Checked,
    pub(super) extent: &'a OpenExtent,
    pub(super) payload: &'a [u8],
    pub(super) opened: &'a Opened,
}

impl<'a> BorrowedBlock<'a> {
    /// The offset of the block in the data (or single) file.
    pub fn offset(&self) -> u64 {
        self.checked.offset
    }

    /// The header of the block.
    pub fn header(&self) -> &'a BlockHeader {
        &self.checked.header
    }

    /// The kind of the block: [`crate::block::DATA`], or an event.
    pub fn kind(&self) -> u8 {
        self.header().kind
    }

    /// The partition of an own block; none for a shared block.
    pub fn partition(&self) -> Option<u32> {
        self.extent.partition
    }

    /// The number of its region.
    pub fn region(&self) -> u32 {
        self.extent.region
    }

    /// The partitions that read a shared block; none with [`crate::Lookup::Direct`], which does not read them.
    pub fn members(&self) -> Option<&'a Members> {
        self.extent.members.as_ref()
    }

    /// The plain payload.
    pub fn payload(&self) -> &'a [u8] {
        self.payload
    }

    /// As [`Block::records`].
    ///
    /// # Errors
    /// `malformed-block` at the payload's offset.
    pub fn records(&self, framing: Framing) -> Result<Option<u64>> {
        records(self.opened, self.header(), self.offset(), self.payload, framing)
    }

    /// As [`Block::record_slices`].
    ///
    /// # Errors
    /// `malformed-block` at the payload's offset, before any record.
    pub fn record_slices(&self) -> Result<impl Iterator<Item = &'a [u8]> + use<'a>> {
        let whole = self.records(Framing::Records)?.is_some();
        Ok(RecordSlices(if whole { self.payload } else { &[] }))
    }
}

/// FRM-5 for a block in the data file.
fn records(
    opened: &Opened,
    header: &BlockHeader,
    offset: u64,
    payload: &[u8],
    framing: Framing,
) -> Result<Option<u64>> {
    if header.kind != DATA {
        return Ok(None);
    }
    framing::check(framing, payload, offset + BlockHeader::SIZE as u64)
        .map_err(|error| opened.files.data_file().blame(error))
}

/// The records of a payload that was checked (FRM-5).
struct RecordSlices<'a>(&'a [u8]);

impl<'a> Iterator for RecordSlices<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        let (record, rest) = framing::split_record(self.0)?;
        self.0 = rest;
        Some(record)
    }
}
