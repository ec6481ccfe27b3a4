//! Fragments of an output, to be pushed (spec, FRG-6).

use crate::block::{self, ANY_PARTITION, BlockHeader, CODEC_NONE, FRAGMENT_END, Seal};
use crate::bytes::{FEATURE_DICTIONARIES, FileHeader, FileKind};
use crate::error::{Error, ErrorCode, Result};
use crate::message::Schema;
use crate::reader::{Block, Depth, Reader};
use crate::writer::append_metadata;
use std::collections::BTreeSet;
use std::io::Write;
use std::ops::Range;

/// What a fragment has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FragmentSummary {
    /// The number of its partition blocks.
    pub blocks: u64,
    /// Its bytes before the end block.
    pub length: u64,
    /// Whether each partition that has a block in it has no further block in the output.
    pub last: bool,
}

impl Reader {
    /// Writes a fragment (FRG-6): the blocks of a range of partitions or, of one partition, those whose numbers are in a
    /// range. A block's number is its position among all blocks that the partition reads (FRG-1). Every block is checked,
    /// and none is decoded. None if there are no such blocks; then nothing is written.
    ///
    /// After an error `to` has no fragment, whatever it got.
    ///
    /// # Errors
    /// `invalid-argument` for an empty range, partitions that the output does not have, numbers with several partitions,
    /// and a merged file; the faults of PRT-3; `io` for what `to` refuses.
    pub fn fragment(
        &self,
        partitions: Range<u32>,
        numbers: Option<Range<u32>>,
        to: &mut dyn Write,
    ) -> Result<Option<FragmentSummary>> {
        self.output().check_partitions(&partitions)?;
        if partitions.is_empty() {
            return Err(Error::argument("a range of partitions", "an empty one"));
        }
        if self.header().is_merged() {
            return Err(Error::argument("the output of one producer", "a merged file"));
        }
        if numbers.is_some() && partitions.len() > 1 {
            let found = format!("{} partitions", partitions.len());
            return Err(Error::argument("one partition, with a range of numbers", found));
        }
        let wanted = Wanted { partitions, numbers };
        let mut named = BTreeSet::new();
        if self.header().has_dictionaries() {
            // The dictionaries come first, so the blocks are read twice.
            wanted.each(self, &mut |_, _, block| {
                named.extend(Some(block.header.dictionary).filter(|number| *number != 0));
                Ok(())
            })?;
        }
        let mut header = self.header().clone();
        header.kind = FileKind::Fragment;
        header.first_partition = wanted.partitions.start;
        header.partition_count = wanted.partitions.end - wanted.partitions.start;
        let mut sink = Sink::new(to, header, &named);
        let mut blocks = 0;
        let last = wanted.each(self, &mut |partition, number, block| {
            if blocks == 0 {
                sink.begin(self, &named)?;
            }
            // At most 2^32: each partition block has 24 bytes or more, and its own number.
            blocks += 1;
            sink.block(self, partition, number, &block)
        })?;
        match blocks {
            0 => Ok(None),
            _ => sink.end(blocks, last).map(Some),
        }
    }
}

/// The blocks of a fragment.
struct Wanted {
    partitions: Range<u32>,
    numbers: Option<Range<u32>>,
}

impl Wanted {
    /// Passes each block with its partition and number. Returns whether no partition of them has a further block.
    fn each(&self, reader: &Reader, take: &mut dyn FnMut(u32, u32, Block) -> Result<()>) -> Result<bool> {
        let mut last = true;
        for partition in self.partitions.clone() {
            let mut has_any = false;
            let mut number = 0u32;
            for block in reader
                .partition_reader()
                .partition(partition)?
                .with_depth(Depth::Stored)
            {
                let block = block?;
                let numbers = self.numbers.as_ref();
                if numbers.is_some_and(|numbers| number >= numbers.end) {
                    last &= !has_any;
                    break;
                }
                if numbers.is_none_or(|numbers| numbers.contains(&number)) {
                    has_any = true;
                    take(partition, number, block)?;
                }
                number = number.checked_add(1).ok_or_else(|| {
                    Error::bare(
                        ErrorCode::LimitExceeded,
                        "fewer than 2^32 blocks in a partition",
                        "more",
                    )
                })?;
            }
        }
        Ok(last)
    }
}

/// Where a fragment goes.
pub(super) struct Sink<'a> {
    to: &'a mut dyn Write,
    header: FileHeader,
    seal: Seal,
    length: u64,
}

impl<'a> Sink<'a> {
    /// `named` are the dictionaries that its blocks name.
    pub(super) fn new(to: &'a mut dyn Write, mut header: FileHeader, named: &BTreeSet<u16>) -> Self {
        header.reader_features = if named.is_empty() { 0 } else { FEATURE_DICTIONARIES };
        Sink {
            to,
            seal: Seal::new(&header.file_id),
            header,
            length: 0,
        }
    }

    /// Header, schema and dictionaries.
    pub(super) fn begin(&mut self, reader: &Reader, named: &BTreeSet<u16>) -> Result<()> {
        let mut bytes = self.header.encode().to_vec();
        if let Some(arrow) = reader.schema_message() {
            let message = Schema { arrow: arrow.to_vec() }.build()?;
            append_metadata(&mut bytes, self.seal, block::SCHEMA, 0, &message);
        }
        self.write(&bytes)?;
        for number in named {
            let content = reader.output().dictionary_bytes(*number)?;
            let mut header = metadata(block::DICTIONARY, content.len() as u32);
            header.sequence = u32::from(*number) - 1;
            header.dictionary = *number;
            self.metadata(&header, &content)?;
        }
        Ok(())
    }

    pub(super) fn block(&mut self, reader: &Reader, partition: u32, number: u32, block: &Block) -> Result<()> {
        let from = &block.header;
        let to = BlockHeader {
            partition,
            sequence: number,
            ..*from
        };
        let bytes = to.checked_bytes();
        // Most blocks are pushed as they are.
        let is_same = to == *from && self.header.file_id == reader.header().file_id;
        let checksum = match is_same {
            true => from.checksum,
            false => {
                let seal = reader.output().opened.files.seal;
                let checked = from.checked_bytes();
                self.seal.moved(&bytes, seal, &checked, from.checksum, from.stored_size)
            }
        };
        self.write(&bytes)?;
        self.write(&checksum.to_le_bytes())?;
        self.write(&block.payload)?;
        self.pad(from)
    }

    fn metadata(&mut self, header: &BlockHeader, payload: &[u8]) -> Result<()> {
        self.write(&header.encode(self.seal, payload))?;
        self.write(payload)?;
        self.pad(header)
    }

    fn pad(&mut self, header: &BlockHeader) -> Result<()> {
        let padding = header.size_in_file() - BlockHeader::SIZE as u64 - u64::from(header.stored_size);
        self.write(&[0; 8][..padding as usize])
    }

    /// FRG-3.
    pub(super) fn end(&mut self, blocks: u64, last: bool) -> Result<FragmentSummary> {
        let length = self.length;
        let count = u32::try_from(blocks).map_err(|_| {
            Error::bare(
                ErrorCode::LimitExceeded,
                "fewer than 2^32 blocks in a fragment",
                blocks.to_string(),
            )
        })?;
        let mut payload = length.to_le_bytes().to_vec();
        payload.extend_from_slice(&count.to_le_bytes());
        payload.extend_from_slice(&u32::from(last).to_le_bytes());
        self.metadata(&metadata(FRAGMENT_END, 16), &payload)?;
        Ok(FragmentSummary { blocks, length, last })
    }

    /// The bytes that were written.
    pub(super) fn length(&self) -> u64 {
        self.length
    }

    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.length += bytes.len() as u64;
        self.to.write_all(bytes).map_err(|error| {
            let expected = "a place for the fragment that takes its bytes";
            Error {
                source: Some(std::sync::Arc::new(std::io::Error::from(error.kind()))),
                ..Error::bare(ErrorCode::Io, expected, error.to_string())
            }
        })
    }
}

/// The header of a metadata block.
fn metadata(kind: u8, size: u32) -> BlockHeader {
    BlockHeader {
        stored_size: size,
        plain_size: size,
        partition: ANY_PARTITION,
        sequence: 0,
        kind,
        codec: CODEC_NONE,
        dictionary: 0,
        checksum: 0,
    }
}
