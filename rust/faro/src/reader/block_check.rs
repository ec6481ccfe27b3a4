//! BLK-7 for the blocks of extents, in any order of extents and from any source of bytes.

use super::block::{Block, BorrowedBlock};
use super::byte_source::ByteSource;
use super::figures::Delivered;
use super::open_extent::{Checked, OpenExtent};
use super::open_output::OpenOutput;
use super::sequences::Sequences;
use crate::block::{self, ANY_PARTITION, BlockHeader, CODEC_NONE, Context, Kinds, Partition};
use crate::codec::{Decompressor, Stored};
use crate::error::Result;
use bytes::Bytes;

/// What a reading needs of each block beyond its header and checksum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Depth {
    /// Nothing: the stored payload is checked, and not decoded.
    Stored,
    /// The plain payload.
    Plain,
}

/// The result of checking the next block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CheckOutcome {
    /// A block passed its checks, and the extent continues after it.
    Block,
    /// This many bytes of the extent must be available first.
    Needs(u64),
}

/// Checks and decodes the blocks of one reading, one after another. The last block stays here: passing a small block
/// from one function to the next costs as much as its checksum.
pub(crate) struct BlockCheck {
    pub output: OpenOutput,
    pub sequences: Sequences,
    pub depth: Depth,
    decoder: Decompressor,
    /// The block that was checked last.
    checked: Checked,
    /// The decoded payload of a block that is lent.
    plain: Vec<u8>,
    delivered: Delivered,
}

impl BlockCheck {
    /// `from_start` says whether the reading begins at the first region.
    pub(crate) fn new(output: OpenOutput, from_start: bool) -> Self {
        let sequences = Sequences::new(output.header().is_selective(), from_start);
        BlockCheck {
            delivered: Delivered::new(&output.opened.counts),
            output,
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

    /// Checks 1 to 11 of the next block of an extent. The checks that make errors are called only for unusual blocks,
    /// since calls and moves are the main cost of small blocks.
    #[inline]
    pub(crate) fn check(&mut self, extent: &mut OpenExtent, supply: &mut impl ByteSource) -> Result<CheckOutcome> {
        let opened = &*self.output.opened;
        let (source, limits) = (opened.files.data_file(), &opened.options.limits);
        let blame = |error| source.blame(error);
        let (offset, end) = (extent.at, extent.end);
        let space = end.saturating_sub(offset);
        if space < BlockHeader::SIZE as u64 {
            return block::check_header_space(offset, end)
                .map_err(blame)
                .map(|()| CheckOutcome::Block);
        }
        let Some(bytes) = supply.get(source, offset, BlockHeader::SIZE, extent.read_ahead)? else {
            return Ok(CheckOutcome::Needs(BlockHeader::SIZE as u64));
        };
        let header = parse(bytes);
        let context = Context {
            limits,
            seal: opened.files.seal,
            metadata: false,
            verify: opened.options.verify,
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
            block::check_limit(&header, offset, &context).map_err(blame)?;
        }
        // It is at most the limit and the extent, as checked above.
        let Some(whole) = supply.get(source, offset, size as usize, extent.read_ahead)? else {
            return Ok(CheckOutcome::Needs(size));
        };
        let (before, rest) = whole.split_at(BlockHeader::SIZE);
        let (stored, padding) = rest.split_at(header.stored_size as usize);
        if let (true, Some(checked)) = (context.verify, before.first_chunk()) {
            let computed = context.seal.checksum(checked, stored);
            if computed != header.checksum {
                block::check_checksum(&header, offset, computed).map_err(blame)?;
            }
        }
        if !block::is_usual(&header, &context) {
            block::check_fields(&header, offset, &context).map_err(blame)?;
        }
        if padding.iter().any(|byte| *byte != 0) {
            block::check_padding(&header, offset, padding).map_err(blame)?;
        }
        self.sequences.seen(extent.partition, header.sequence);
        extent.is_first = false;
        extent.at += size;
        self.checked = Checked { offset, header };
        Ok(CheckOutcome::Block)
    }

    /// The block that was checked last, with its payload. It does check 12 if the plain payload is wanted. After a
    /// fault the reading must stop.
    pub(crate) fn own(&mut self, extent: &OpenExtent, supply: &impl ByteSource) -> Result<Block> {
        let Checked { offset, header } = self.checked;
        let payload = if self.is_decoded() {
            let mut plain = Vec::new();
            self.decode(supply, &mut plain)?;
            Bytes::from(plain)
        } else {
            supply.share(offset + BlockHeader::SIZE as u64, header.stored_size as usize)
        };
        self.delivered.add(&header);
        Ok(Block {
            offset,
            header,
            partition: extent.partition,
            region: extent.region,
            members: extent.members.clone(),
            payload,
            opened: self.output.opened.clone(),
        })
    }

    /// The dictionary that the last checked block needs, if it was not read yet.
    pub(crate) fn missing_dictionary(&self) -> Option<u16> {
        let number = self.checked.header.dictionary;
        let is_missing = number != 0 && self.is_decoded() && !self.output.opened.dictionaries.has(number);
        is_missing.then_some(number)
    }

    /// Check 12 for the last checked block, which is to be lent.
    #[inline]
    pub(crate) fn decode_to_lend(&mut self, supply: &impl ByteSource) -> Result<()> {
        if self.is_decoded() {
            let mut plain = std::mem::take(&mut self.plain);
            let decoded = self.decode(supply, &mut plain);
            self.plain = plain;
            decoded?;
        }
        self.delivered.add(&self.checked.header);
        Ok(())
    }

    /// Called when the reading ends.
    pub(crate) fn ends(&mut self) {
        self.delivered.count();
    }

    /// The block that passed check 12, lent until the next call of this or of the byte source.
    #[inline]
    pub(crate) fn lend<'a>(&'a self, extent: &'a OpenExtent, supply: &'a impl ByteSource) -> BorrowedBlock<'a> {
        BorrowedBlock {
            checked: &self.checked,
            extent,
            payload: match self.is_decoded() {
                true => &self.plain,
                false => self.stored(supply),
            },
            opened: &self.output.opened,
        }
    }

    fn is_decoded(&self) -> bool {
        self.depth == Depth::Plain && self.checked.header.codec != CODEC_NONE
    }

    fn stored<'a>(&self, supply: &'a impl ByteSource) -> &'a [u8] {
        let Checked { offset, header } = &self.checked;
        supply.bytes(offset + BlockHeader::SIZE as u64, header.stored_size as usize)
    }

    fn decode(&mut self, supply: &impl ByteSource, plain: &mut Vec<u8>) -> Result<()> {
        let (stored, output) = (self.stored(supply), &self.output);
        let Checked { offset, header } = &self.checked;
        let window = output.limits().max_window_size;
        let dictionary = |number| output.dictionary(number);
        let payload = Stored {
            bytes: stored,
            offset: offset + BlockHeader::SIZE as u64,
            codec: header.codec,
            dictionary: header.dictionary,
            plain_size: header.plain_size,
        };
        self.decoder
            .decode_into(&payload, window, dictionary, plain)
            .map_err(|error| output.data_file().blame(error))
    }
}

#[inline]
fn parse(bytes: &[u8]) -> BlockHeader {
    let mut fields = [0; BlockHeader::SIZE];
    fields.copy_from_slice(bytes);
    BlockHeader::parse(&fields)
}
