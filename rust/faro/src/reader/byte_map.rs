//! The byte map of an output: what each byte is.

use super::open_output::OpenOutput;
use crate::block::{self, BlockHeader, Dictionaries, Kinds};
use crate::bytes::FileHeader;
use crate::bytes::Tail;
use crate::error::{Error, FileRole, Result};
use crate::index::{Extent, RegionIndex};
use crate::storage::InputFile;

/// A range of bytes of a file. The ranges of a file tile it: they cover each byte once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ByteRange {
    /// The file that it is in.
    pub file: FileRole,
    /// Where it begins.
    pub offset: u64,
    /// Its length in bytes.
    pub length: u64,
    /// What the bytes are.
    pub what: ByteRangeKind,
    /// The region of an extent or of a region message.
    pub region: Option<u32>,
    /// The partition of an own extent.
    pub partition: Option<u32>,
    /// How many partitions read a shared extent.
    pub members: Option<u32>,
    /// The sequence number of an extent's first block, where the index has it: for shared extents (REG-11), and with
    /// the reader feature `selective` for own extents (REG-9).
    pub first_block: Option<u32>,
    /// The number of a dictionary.
    pub dictionary: Option<u16>,
    /// The blocks of an extent, or the one block of a message.
    pub blocks: BlockSums,
}

/// What a [`ByteRange`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum ByteRangeKind {
    /// The header of the file.
    FileHeader,
    /// The blocks of one partition in a region.
    OwnExtent,
    /// Blocks of a region that several partitions read.
    SharedExtent,
    /// The block of a region message.
    RegionMessage,
    /// The block of the schema.
    SchemaMessage,
    /// A block of metadata that readers skip.
    OtherMetadata,
    /// The block of a dictionary.
    Dictionary,
    /// The block of the footer.
    FooterMessage,
    /// The tail.
    Tail,
    /// The bytes of an unfinished file after its last commit.
    Uncommitted,
}

impl ByteRangeKind {
    /// The name of the kind, for people: for example `own extent`.
    pub fn as_str(self) -> &'static str {
        match self {
            ByteRangeKind::FileHeader => "file header",
            ByteRangeKind::OwnExtent => "own extent",
            ByteRangeKind::SharedExtent => "shared extent",
            ByteRangeKind::RegionMessage => "region message",
            ByteRangeKind::SchemaMessage => "schema message",
            ByteRangeKind::OtherMetadata => "other metadata",
            ByteRangeKind::Dictionary => "dictionary",
            ByteRangeKind::FooterMessage => "footer message",
            ByteRangeKind::Tail => "tail",
            ByteRangeKind::Uncommitted => "uncommitted",
        }
    }
}

/// How many blocks a [`ByteRange`] has, and how many bytes of each sort.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct BlockSums {
    /// The number of blocks.
    pub count: u64,
    /// Bytes of the headers.
    pub headers: u64,
    /// Bytes of the stored payloads.
    pub payload: u64,
    /// Bytes of padding after the payloads.
    pub padding: u64,
}

impl BlockSums {
    fn add(&mut self, header: &BlockHeader) {
        let (size, payload) = (BlockHeader::SIZE as u64, u64::from(header.stored_size));
        self.count += 1;
        self.headers += size;
        self.payload += payload;
        self.padding += header.size_in_file() - size - payload;
    }
}

/// What an index or single file ends with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    /// Neither footer nor tail.
    Open,
    /// A footer without a tail.
    Footer,
    /// Footer and tail.
    Tail,
}

const METADATA: Kinds = Kinds {
    partition: false,
    region: true,
    footer: false,
    schema: true,
    dictionary: false,
    fragment_end: false,
    skippable: true,
};

const FOOTER: Kinds = Kinds {
    partition: false,
    region: false,
    footer: true,
    schema: false,
    dictionary: false,
    fragment_end: false,
    skippable: false,
};

/// All ranges of an output. `metadata_end` is the end of the last metadata block before the footer.
pub(crate) fn byte_map(output: &OpenOutput, metadata_end: u64, ending: Ending) -> Result<Vec<ByteRange>> {
    let mut ranges = Vec::new();
    let dictionaries = output.dictionaries_before(0);
    if let Some(data) = &output.opened.files.data {
        let mut file = ByteRanges::of(data, dictionaries, &mut ranges);
        for number in 0..output.region_count() {
            let region = output.region(number)?;
            while file.end < region.extent().offset {
                file.message(region.extent().offset, Kinds::DICTIONARY)?;
            }
            file.region(&region)?;
        }
        file.rest()?;
    }
    let single = output.opened.files.data.is_none();
    let kinds = Kinds {
        dictionary: single && dictionaries.is_some(),
        ..METADATA
    };
    let mut file = ByteRanges::of(output.index_file(), dictionaries, &mut ranges);
    let mut regions = 0;
    while file.end < metadata_end {
        let entry = output.footer.regions.get(regions);
        if entry.is_some_and(|entry| single && entry.data_offset == file.end) {
            file.region(&*output.region(regions)?)?;
        }
        let is_region = entry.is_some_and(|entry| entry.message_offset == file.end);
        let range = file.message(metadata_end, kinds)?;
        if is_region {
            // There are at most 2^32 regions: their messages number them with 32 bits.
            range.region = Some(regions as u32);
            regions += 1;
        }
    }
    if ending != Ending::Open {
        file.message(u64::MAX, FOOTER)?;
    }
    if ending == Ending::Tail {
        file.add(ByteRangeKind::Tail, Tail::SIZE as u64);
    }
    file.rest()?;
    Ok(ranges)
}

/// The ranges of one file, from its beginning to `end`.
struct ByteRanges<'a> {
    source: &'a InputFile,
    /// Whether the file may have dictionaries.
    dictionaries: Dictionaries,
    all: &'a mut Vec<ByteRange>,
    end: u64,
}

impl<'a> ByteRanges<'a> {
    fn of(source: &'a InputFile, dictionaries: Dictionaries, all: &'a mut Vec<ByteRange>) -> Self {
        let mut ranges = ByteRanges {
            source,
            dictionaries,
            all,
            end: 0,
        };
        ranges.add(ByteRangeKind::FileHeader, FileHeader::SIZE as u64);
        ranges
    }

    /// Adds a range after the last one, and returns it for its other fields.
    fn add(&mut self, what: ByteRangeKind, length: u64) -> &mut ByteRange {
        let range = ByteRange {
            file: self.source.role(),
            offset: self.end,
            length,
            what,
            region: None,
            partition: None,
            members: None,
            first_block: None,
            dictionary: None,
            blocks: BlockSums::default(),
        };
        self.end += length;
        let at = self.all.len();
        self.all.push(range);
        &mut self.all[at]
    }

    /// The extents of a region, which tile it (REG-6).
    fn region(&mut self, region: &RegionIndex) -> Result<()> {
        for slot in region.slots().filter(|slot| slot.extent.length > 0) {
            let range = self.extent(region, slot.extent, ByteRangeKind::OwnExtent)?;
            (range.partition, range.first_block) = (Some(slot.partition), slot.first_block);
        }
        for shared in region.shared() {
            let range = self.extent(region, shared.extent, ByteRangeKind::SharedExtent)?;
            (range.members, range.first_block) = (Some(shared.members.count()), Some(shared.first_block));
        }
        Ok(())
    }

    fn extent(&mut self, region: &RegionIndex, extent: Extent, what: ByteRangeKind) -> Result<&mut ByteRange> {
        let mut blocks = BlockSums::default();
        let mut at = self.end;
        while at < extent.end() {
            let header = self.block(at, extent.end(), Kinds::EXTENT)?;
            blocks.add(&header);
            at += header.size_in_file();
        }
        let range = self.add(what, extent.length);
        (range.region, range.blocks) = (Some(region.sequence()), blocks);
        Ok(range)
    }

    /// The block of a message, which must end at or before `end`.
    fn message(&mut self, end: u64, kinds: Kinds) -> Result<&mut ByteRange> {
        let header = self.block(self.end, end, kinds)?;
        let what = match header.kind {
            block::REGION => ByteRangeKind::RegionMessage,
            block::SCHEMA => ByteRangeKind::SchemaMessage,
            block::FOOTER => ByteRangeKind::FooterMessage,
            block::DICTIONARY => ByteRangeKind::Dictionary,
            _ => ByteRangeKind::OtherMetadata,
        };
        let range = self.add(what, header.size_in_file());
        range.dictionary = (header.kind == block::DICTIONARY).then_some(header.dictionary);
        range.blocks.add(&header);
        Ok(range)
    }

    /// The header of the block at `offset`, which must end at or before `end`.
    fn block(&self, offset: u64, end: u64, kinds: Kinds) -> Result<BlockHeader> {
        let blame = |error: Error| self.source.blame(error);
        block::check_header_space(offset, end).map_err(blame)?;
        let mut bytes = [0; BlockHeader::SIZE];
        self.source.read_exact(offset, &mut bytes)?;
        let header = BlockHeader::parse(&bytes);
        block::check_fits(&header, offset, end).map_err(blame)?;
        block::check_kind(&header, offset, kinds, self.dictionaries).map_err(blame)?;
        Ok(header)
    }

    /// The bytes of the file after its last range.
    fn rest(&mut self) -> Result<()> {
        let size = self.source.size()?;
        if self.end < size {
            self.add(ByteRangeKind::Uncommitted, size - self.end);
        }
        Ok(())
    }
}
