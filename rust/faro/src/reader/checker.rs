//! BLK-7 for the blocks of extents, whatever order these come in and whoever supplies their bytes.

use super::block::{Block, BorrowedBlock};
use super::partition_reader::PartitionReader;
use super::sequences::Sequences;
use crate::block::{self, ANY_PARTITION, BlockHeader, CODEC_NONE, Context, Dictionaries, Kinds, Partition};
use crate::checksum::Sealing;
use crate::codec::Decompressor;
use crate::error::Result;
use crate::index::{Extent, Members, SharedSlot, Slot};
use crate::source::Source;
use bytes::Bytes;

/// What of each block is wanted beyond its header and checksum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Depth {
    /// The stored payload as it is: for checks only.
    Stored,
    /// The plain payload.
    Plain,
}

/// Where the bytes of blocks come from.
pub(crate) trait Supply {
    /// The bytes `offset..offset + length` of the file; nothing when they are not there yet. More may be read ahead, up
    /// to `read_ahead`.
    fn get(&mut self, source: &Source, offset: u64, length: usize, read_ahead: u64) -> Result<Option<&[u8]>>;

    /// Bytes that the last [`Supply::get`] gave, or a part of them.
    fn bytes(&self, offset: u64, length: usize) -> &[u8];

    /// The same bytes, kept for as long as somebody has them.
    fn share(&self, offset: u64, length: usize) -> Bytes;
}

/// What is left of an extent.
#[derive(Clone, Debug)]
pub(crate) struct OpenExtent {
    pub at: u64,
    pub end: u64,
    /// How far it is worth to read ahead: the end of what is wanted and contiguous.
    pub read_ahead: u64,
    pub partition: Option<u32>,
    pub members: Option<Members>,
    pub first_block: Option<u32>,
    pub is_first: bool,
    pub region: u32,
    /// How many dictionaries stand before it.
    pub dictionaries: Dictionaries,
}

impl OpenExtent {
    /// One of which nothing is left.
    pub(crate) const NONE: OpenExtent = OpenExtent {
        at: 0,
        end: 0,
        read_ahead: 0,
        partition: None,
        members: None,
        first_block: None,
        is_first: true,
        region: 0,
        dictionaries: None,
    };
}

impl OpenExtent {
    /// Turns to the own extent of a slot.
    #[inline]
    pub(crate) fn open_own(&mut self, slot: &Slot, region: u32, dictionaries: Dictionaries) {
        self.open(slot.extent, region, dictionaries);
        self.partition = Some(slot.partition);
        self.members = None;
        self.first_block = slot.first_block;
    }

    /// Turns to a shared extent.
    pub(crate) fn open_shared(&mut self, shared: &SharedSlot, region: u32, dictionaries: Dictionaries) {
        self.open_shared_extent(shared.extent, shared.first_block, region, dictionaries);
        self.members = Some(shared.members.clone());
    }

    /// Turns to a shared extent of which nobody says who else reads it.
    pub(crate) fn open_shared_extent(
        &mut self,
        extent: Extent,
        first_block: u32,
        region: u32,
        dictionaries: Dictionaries,
    ) {
        self.open(extent, region, dictionaries);
        self.partition = None;
        self.members = None;
        self.first_block = Some(first_block);
    }

    #[inline]
    fn open(&mut self, extent: Extent, region: u32, dictionaries: Dictionaries) {
        self.at = extent.offset;
        self.end = extent.end();
        self.read_ahead = self.end;
        self.is_first = true;
        self.region = region;
        self.dictionaries = dictionaries;
    }
}

/// A block that passed checks 1 to 11.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Checked {
    pub offset: u64,
    pub header: BlockHeader,
}

/// What came of checking the next block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// There is one, which the extent is now behind.
    Block,
    /// So many bytes of the extent have to be there first.
    Needs(u64),
}

/// Checks and decodes block after block of one reading. What it found last stays in place: small blocks are many, and
/// handing each from one function to the next costs as much as its checksum.
pub(crate) struct Checker {
    pub view: PartitionReader,
    pub sequences: Sequences,
    pub depth: Depth,
    sealing: Sealing,
    decoder: Decompressor,
    /// The block that was checked last.
    checked: Checked,
    /// Where lent payloads are decoded to.
    plain: Vec<u8>,
}

impl Checker {
    /// `from_start`: whether the reading begins at the first region.
    pub(crate) fn new(view: PartitionReader, from_start: bool) -> Self {
        let sequences = Sequences::new(view.header().is_selective(), from_start);
        Checker {
            sealing: Sealing::new(view.core.files.seal),
            view,
            sequences,
            depth: Depth::Plain,
            decoder: Decompressor::default(),
            checked: Checked {
                offset: 0,
                header: BlockHeader::parse(&[0; BlockHeader::SIZE]),
            },
            plain: Vec::new(),
        }
    }

    /// Checks 1 to 11 of the next block of an extent. The functions that make errors are called when there is one, and
    /// otherwise only for what is out of the ordinary: calls and moves are what small blocks cost most.
    #[inline]
    pub(crate) fn check(&mut self, extent: &mut OpenExtent, supply: &mut impl Supply) -> Result<Step> {
        let core = &*self.view.core;
        let (source, limits) = (core.files.data_source(), &core.options.limits);
        let blame = |error| source.blame(error);
        let (offset, end) = (extent.at, extent.end);
        let space = end.saturating_sub(offset);
        if space < BlockHeader::SIZE as u64 {
            return block::check_header_space(offset, end)
                .map_err(blame)
                .map(|()| Step::Block);
        }
        let Some(bytes) = supply.get(source, offset, BlockHeader::SIZE, extent.read_ahead)? else {
            return Ok(Step::Needs(BlockHeader::SIZE as u64));
        };
        let header = parse(bytes);
        let place = Context {
            limits,
            seal: core.files.seal,
            metadata: false,
            verify: core.options.verify,
            kinds: Kinds::EXTENT,
            partition: Partition::Is(extent.partition.unwrap_or(ANY_PARTITION)),
            sequence: self
                .sequences
                .expected(extent.partition, extent.is_first, extent.first_block),
            dictionaries: extent.dictionaries,
        };
        let size = header.size_in_file();
        if size > space || u64::from(header.stored_size) > limits.max_block_size {
            block::check_fits(&header, offset, end).map_err(blame)?;
            block::check_limit(&header, offset, &place).map_err(blame)?;
        }
        // At most the limit and the extent, both just checked.
        let Some(whole) = supply.get(source, offset, size as usize, extent.read_ahead)? else {
            return Ok(Step::Needs(size));
        };
        let (before, rest) = whole.split_at(BlockHeader::SIZE);
        let (stored, padding) = rest.split_at(header.stored_size as usize);
        if let (true, Some(checked)) = (place.verify, before.first_chunk()) {
            let computed = self.sealing.checksum(checked, stored);
            if computed != header.checksum {
                block::check_checksum(&header, offset, computed).map_err(blame)?;
            }
        }
        if !block::is_usual(&header, &place) {
            block::check_fields(&header, offset, &place).map_err(blame)?;
        }
        if padding.iter().any(|byte| *byte != 0) {
            block::check_padding(&header, offset, padding).map_err(blame)?;
        }
        self.sequences.seen(extent.partition, header.sequence);
        extent.is_first = false;
        extent.at += size;
        self.checked = Checked { offset, header };
        Ok(Step::Block)
    }

    /// The block that was checked last, with its payload: check 12, if its plain payload is wanted. Nothing may be asked
    /// of the reading behind a fault.
    pub(crate) fn own(&mut self, extent: &OpenExtent, supply: &impl Supply) -> Result<Block> {
        let Checked { offset, header } = self.checked;
        let payload = if self.is_decoded() {
            let mut plain = Vec::new();
            self.decode(supply, &mut plain)?;
            Bytes::from(plain)
        } else {
            supply.share(offset + BlockHeader::SIZE as u64, header.stored_size as usize)
        };
        Ok(Block {
            offset,
            header,
            partition: extent.partition,
            region: extent.region,
            members: extent.members.clone(),
            payload,
            core: self.view.core.clone(),
        })
    }

    /// The dictionary that the block that was checked last needs and that nobody has read yet.
    pub(crate) fn missing_dictionary(&self) -> Option<u16> {
        let number = self.checked.header.dictionary;
        let is_missing = number != 0 && self.is_decoded() && !self.view.core.dictionaries.has(number);
        is_missing.then_some(number)
    }

    /// Check 12 of the block that was checked last and is to be lent.
    #[inline]
    pub(crate) fn decode_to_lend(&mut self, supply: &impl Supply) -> Result<()> {
        if !self.is_decoded() {
            return Ok(());
        }
        let mut plain = std::mem::take(&mut self.plain);
        let decoded = self.decode(supply, &mut plain);
        self.plain = plain;
        decoded
    }

    /// The block that passed its last check, for as long as the supply and this are not asked again.
    #[inline]
    pub(crate) fn lend<'a>(&'a self, extent: &'a OpenExtent, supply: &'a impl Supply) -> BorrowedBlock<'a> {
        BorrowedBlock {
            checked: &self.checked,
            extent,
            payload: match self.is_decoded() {
                true => &self.plain,
                false => self.stored(supply),
            },
            core: &self.view.core,
        }
    }

    fn is_decoded(&self) -> bool {
        self.depth == Depth::Plain && self.checked.header.codec != CODEC_NONE
    }

    fn stored<'a>(&self, supply: &'a impl Supply) -> &'a [u8] {
        let Checked { offset, header } = &self.checked;
        supply.bytes(offset + BlockHeader::SIZE as u64, header.stored_size as usize)
    }

    fn decode(&mut self, supply: &impl Supply, plain: &mut Vec<u8>) -> Result<()> {
        let (stored, view) = (self.stored(supply), &self.view);
        let Checked { offset, header } = &self.checked;
        let window = view.limits().max_window_size;
        let dictionary = |number| view.dictionary(number);
        self.decoder
            .decode_into(header, stored, *offset, window, dictionary, plain)
            .map_err(|error| view.data_source().blame(error))
    }
}

#[inline]
fn parse(bytes: &[u8]) -> BlockHeader {
    let mut fields = [0; BlockHeader::SIZE];
    fields.copy_from_slice(bytes);
    BlockHeader::parse(&fields)
}
