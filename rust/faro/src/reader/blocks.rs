//! The blocks of a partition, a range, or everything, in the order of PRT-1 and PRT-5.

use super::sequences::Sequences;
use super::view::View;
use super::window::Window;
use crate::block::{self, ANY_PARTITION, BlockHeader, DATA, Kinds, Partition, Place};
use crate::codec::Decompressor;
use crate::error::Result;
use crate::framing;
use crate::header::Framing;
use crate::index::{Members, RegionIndex};
use bytes::Bytes;
use std::ops::Range;
use std::sync::Arc;

/// A block that was read, checked and decoded.
#[derive(Clone, Debug)]
pub struct Block {
    /// Where it begins in the data (or single) file.
    pub offset: u64,
    /// Its header.
    pub header: BlockHeader,
    /// The partition whose own block it is; none of a shared block.
    pub partition: Option<u32>,
    /// The number of its region.
    pub region: u32,
    /// Who reads a shared block.
    pub members: Option<Members>,
    /// The plain payload. An uncompressed one shares memory with what was read along with it.
    pub payload: Bytes,
    view: View,
}

impl Block {
    /// Data or which event, as in [`crate::block`].
    pub fn kind(&self) -> u8 {
        self.header.kind
    }

    /// Checks the payload of a data block against a framing (FRM-5) and counts its records: `None` for events and for
    /// framings without records.
    ///
    /// # Errors
    /// `malformed-block` at the payload's offset.
    pub fn records(&self, framing: Framing) -> Result<Option<u64>> {
        if self.kind() != DATA {
            return Ok(None);
        }
        framing::check(framing, &self.payload, self.offset + BlockHeader::SIZE as u64)
            .map_err(|error| self.view.data_source().blame(error))
    }

    /// The records of a data block of a file with framing records, without a copy or a count of references for each; no
    /// records of an event.
    ///
    /// # Errors
    /// `malformed-block` at the payload's offset, before any record, when the payload does not hold whole ones (FRM-5).
    pub fn record_slices(&self) -> Result<impl Iterator<Item = &[u8]>> {
        let whole = self.records(Framing::Records)?.is_some();
        Ok(RecordSlices(if whole { &self.payload } else { &[] }))
    }
}

/// The records of a payload that was found to hold whole ones.
struct RecordSlices<'a>(&'a [u8]);

impl<'a> Iterator for RecordSlices<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        let (record, rest) = framing::split_record(self.0)?;
        self.0 = rest;
        Some(record)
    }
}

/// What of each block is wanted beyond its header and checksum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Depth {
    /// The stored payload as it is: for checks only.
    Stored,
    /// The plain payload.
    Plain,
}

/// An iterator over blocks. It ends behind the first error.
pub struct Blocks {
    view: View,
    wanted: Range<u32>,
    regions: Range<usize>,
    depth: Depth,
    /// Also shared extents that nobody reads, with the sequences of the whole file (CHK-1, step 5).
    whole_file: bool,
    region: Option<Cursor>,
    window: Window,
    decoder: Decompressor,
    sequences: Sequences,
}

/// A place in a region.
struct Cursor {
    region: Arc<RegionIndex>,
    slots: [Range<usize>; 2],
    next_shared: usize,
    extent: Option<OpenExtent>,
}

/// What is left of an extent.
struct OpenExtent {
    at: u64,
    end: u64,
    /// How far it is worth to read ahead: the end of what is wanted and contiguous.
    read_ahead: u64,
    partition: Option<u32>,
    members: Option<Members>,
    first_block: Option<u32>,
    is_first: bool,
}

impl Cursor {
    fn new(region: Arc<RegionIndex>, wanted: &Range<u32>) -> Self {
        let slots = region.slot_runs(wanted);
        Cursor {
            region,
            slots,
            next_shared: 0,
            extent: None,
        }
    }

    /// The next extent that is wanted and has blocks.
    fn next_extent(&mut self, wanted: &Range<u32>, whole_file: bool) -> Option<OpenExtent> {
        for run in &mut self.slots {
            let run_end = run.end;
            for at in run.by_ref() {
                let slot = self.region.slot(at);
                if slot.extent.length > 0 {
                    return Some(OpenExtent {
                        at: slot.extent.offset,
                        end: slot.extent.end(),
                        read_ahead: self.region.slot(run_end - 1).extent.end(),
                        partition: Some(slot.partition),
                        members: None,
                        first_block: slot.first_block,
                        is_first: true,
                    });
                }
            }
        }
        while let Some(shared) = self.region.shared().get(self.next_shared) {
            let at = self.next_shared;
            self.next_shared += 1;
            if whole_file || self.region.shared_is_wanted(at, wanted) {
                return Some(OpenExtent {
                    at: shared.extent.offset,
                    end: shared.extent.end(),
                    read_ahead: shared.extent.end(),
                    partition: None,
                    members: Some(shared.members.clone()),
                    first_block: Some(shared.first_block),
                    is_first: true,
                });
            }
        }
        None
    }
}

impl Blocks {
    pub(crate) fn new(view: View, wanted: Range<u32>, regions: Range<usize>) -> Self {
        let sequences = Sequences::new(view.header().is_selective(), regions.start == 0);
        Blocks {
            view,
            wanted,
            regions,
            depth: Depth::Plain,
            whole_file: false,
            region: None,
            window: Window::default(),
            decoder: Decompressor::default(),
            sequences,
        }
    }

    /// Every block of the file, shared ones that nobody reads too, with the sequences of CHK-1.
    pub(crate) fn of_whole_file(view: View, depth: Depth) -> Self {
        let (wanted, regions) = (view.header().partitions(), 0..view.region_count());
        let mut blocks = Blocks::new(view, wanted, regions);
        blocks.depth = depth;
        blocks.whole_file = true;
        blocks.sequences.count_all_shared();
        blocks
    }

    /// Nothing is delivered behind a fault (PRT-3).
    pub(crate) fn stop(&mut self) {
        self.regions = 0..0;
        self.region = None;
    }

    fn advance(&mut self) -> Result<Option<Block>> {
        loop {
            let cursor = match &mut self.region {
                Some(cursor) => cursor,
                empty => match self.regions.next() {
                    None => return Ok(None),
                    Some(number) => {
                        self.sequences.next_region();
                        empty.insert(Cursor::new(self.view.region(number)?, &self.wanted))
                    }
                },
            };
            if cursor.extent.is_none() {
                cursor.extent = cursor.next_extent(&self.wanted, self.whole_file);
            }
            match &mut cursor.extent {
                None => self.region = None,
                Some(extent) => {
                    let region = cursor.region.sequence();
                    let block = read_block(
                        &self.view,
                        extent,
                        region,
                        &mut self.window,
                        &mut self.sequences,
                        (self.depth == Depth::Plain).then_some(&mut self.decoder),
                    )?;
                    if extent.at == extent.end {
                        cursor.extent = None;
                    }
                    return Ok(Some(block));
                }
            }
        }
    }
}

/// Reads the next block of an extent: BLK-7, all checks.
fn read_block(
    view: &View,
    extent: &mut OpenExtent,
    region: u32,
    window: &mut Window,
    sequences: &mut Sequences,
    decoder: Option<&mut Decompressor>,
) -> Result<Block> {
    let (source, limits) = (view.data_source(), view.limits());
    let blame = |error| source.blame(error);
    let (offset, end) = (extent.at, extent.end);
    block::check_header_space(offset, end).map_err(blame)?;
    let bytes = window.get(source, offset, BlockHeader::SIZE, extent.read_ahead)?;
    let mut fields = [0; BlockHeader::SIZE];
    fields.copy_from_slice(&bytes);
    drop(bytes);
    let header = BlockHeader::parse(&fields);
    block::check_fits(&header, offset, end).map_err(blame)?;
    let place = Place {
        limits,
        seal: view.core.files.seal,
        metadata: false,
        verify: view.core.options.verify,
        kinds: Kinds::EXTENT,
        partition: Partition::Is(extent.partition.unwrap_or(ANY_PARTITION)),
        sequence: sequences.expected(extent.partition, extent.is_first, extent.first_block),
        // No dictionary stands inside a region.
        dictionaries: view.dictionaries_before(offset),
    };
    block::check_limit(&header, offset, &place).map_err(blame)?;
    // At most the limit and the extent, both just checked.
    let whole = window.get(source, offset, header.size_in_file() as usize, extent.read_ahead)?;
    block::check_whole(&header, &whole[BlockHeader::SIZE..], offset, &place).map_err(blame)?;
    let stored = whole.slice(BlockHeader::SIZE..BlockHeader::SIZE + header.stored_size as usize);
    drop(whole);
    let payload = match decoder {
        Some(decoder) => decoder
            .decode(&header, stored, offset, limits.max_window_size, |number| {
                view.dictionary(number)
            })
            .map_err(blame)?,
        None => stored,
    };
    sequences.seen(extent.partition, header.sequence);
    extent.is_first = false;
    extent.at += header.size_in_file();
    Ok(Block {
        offset,
        header,
        partition: extent.partition,
        region,
        members: extent.members.clone(),
        payload,
        view: view.clone(),
    })
}

impl Iterator for Blocks {
    type Item = Result<Block>;

    fn next(&mut self) -> Option<Self::Item> {
        let item = self.advance().transpose();
        if matches!(item, Some(Err(_))) {
            self.stop();
        }
        item
    }
}
