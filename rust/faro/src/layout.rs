//! What each byte of a finished output is.

use crate::block::{self, BlockHeader, Kinds};
use crate::error::{Error, Result, Role};
use crate::header::{FileHeader, FileKind};
use crate::index::RegionIndex;
use crate::reader::Reader;
use crate::source::Source;
use crate::tail::Tail;

/// A stretch of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Which file.
    pub file: Role,
    /// Where it begins.
    pub offset: u64,
    /// Bytes.
    pub length: u64,
    /// What it is.
    pub what: PieceKind,
    /// The region of a partition block or of a region message.
    pub region: Option<u32>,
    /// Of a shared block: which of its region's shared extents it is in.
    pub shared: Option<u32>,
}

/// What a [`Piece`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PieceKind {
    /// The header of the file.
    FileHeader,
    /// A block: its header, payload and padding.
    Block(BlockHeader),
    /// The tail.
    Tail,
}

/// Lists all pieces of a finished output, in file order, the data file first. The pieces of each file tile it.
///
/// Only headers of blocks are read: whether payloads are sound, [`crate::check`] says.
///
/// # Errors
/// The faults of REG-10; of blocks, checks 1 and 2 of BLK-7, and whether their kinds fit their places.
pub fn layout(reader: &Reader) -> Result<Vec<Piece>> {
    let mut pieces = Pieces { all: Vec::new() };
    let single = reader.header().kind == FileKind::Single;
    if !single {
        pieces.header(reader.data_source());
        for number in 0..reader.region_count() {
            pieces.region(reader.data_source(), &*reader.region(number)?)?;
        }
    }
    let index = reader.index_source();
    pieces.header(index);
    let end = reader.footer_offset();
    let (mut offset, mut number) = (FileHeader::SIZE as u64, 0);
    while offset < end {
        let entry = reader.footer().regions.get(number);
        if let Some(entry) = entry.filter(|entry| single && entry.data_offset == offset) {
            pieces.region(index, &*reader.region(number)?)?;
            offset = entry.message_offset;
        }
        let is_region = entry.is_some_and(|entry| entry.message_offset == offset);
        // At most 2^32 regions, as their messages number them.
        let region = is_region.then_some(number as u32);
        offset = pieces.block(index, offset, end, METADATA, region, None)?;
        number += usize::from(is_region);
    }
    offset = pieces.block(
        index,
        end,
        u64::MAX,
        Kinds {
            footer: true,
            ..Kinds::default()
        },
        None,
        None,
    )?;
    pieces.add(index, offset, Tail::SIZE as u64, PieceKind::Tail);
    Ok(pieces.all)
}

const METADATA: Kinds = Kinds {
    partition: false,
    region: true,
    footer: false,
    schema: true,
    skippable: true,
};

struct Pieces {
    all: Vec<Piece>,
}

impl Pieces {
    fn add(&mut self, source: &Source, offset: u64, length: u64, what: PieceKind) {
        self.all.push(Piece {
            file: source.role(),
            offset,
            length,
            what,
            region: None,
            shared: None,
        });
    }

    fn header(&mut self, source: &Source) {
        self.add(source, 0, FileHeader::SIZE as u64, PieceKind::FileHeader);
    }

    /// The blocks of a region, extent by extent.
    fn region(&mut self, source: &Source, region: &RegionIndex) -> Result<()> {
        let number = Some(region.sequence());
        for slot in region.slots() {
            let mut at = slot.extent.offset;
            while at < slot.extent.end() {
                at = self.block(source, at, slot.extent.end(), Kinds::EXTENT, number, None)?;
            }
        }
        for (place, shared) in region.shared().iter().enumerate() {
            let mut at = shared.extent.offset;
            while at < shared.extent.end() {
                at = self.block(
                    source,
                    at,
                    shared.extent.end(),
                    Kinds::EXTENT,
                    number,
                    Some(place as u32),
                )?;
            }
        }
        Ok(())
    }

    /// One block, which must end at or before `end`; returns where it ends.
    fn block(
        &mut self,
        source: &Source,
        offset: u64,
        end: u64,
        kinds: Kinds,
        region: Option<u32>,
        shared: Option<u32>,
    ) -> Result<u64> {
        let blame = |error: Error| source.blame(error);
        block::check_header_space(offset, end).map_err(blame)?;
        let mut bytes = [0; BlockHeader::SIZE];
        source.read_exact(offset, &mut bytes)?;
        let header = BlockHeader::parse(&bytes);
        block::check_fits(&header, offset, end).map_err(blame)?;
        block::check_kind(&header, offset, kinds).map_err(blame)?;
        let what = PieceKind::Block(header);
        self.all.push(Piece {
            file: source.role(),
            offset,
            length: header.size_in_file(),
            what,
            region,
            shared,
        });
        Ok(offset + header.size_in_file())
    }
}
