//! The walk over a growing file, block by block (spec, FOL-2 to FOL-5; CTX-1 says which kinds are allowed where, hence
//! SCH-2). Following and repairing share it.

use super::next_block::{Purpose, checksum_in_file, next_block};
use crate::block::dictionary;
use crate::block::read_metadata;
use crate::block::{self, BlockHeader, Context, Kinds, Partition, Sequence};
use crate::bytes::Tail;
use crate::bytes::{FileHeader, FileKind, Framing};
use crate::error::{Error, ErrorCode, Result};
use crate::index::dictionaries;
use crate::index::{DataBounds, RegionIndex};
use crate::limits::Limits;
use crate::message::{DictionaryEntry, Footer, Region, RegionEntry};
use crate::reader::{OpenFiles, check_data_size, parse_footer, parse_schema};
use crate::storage::InputFile;

/// The result of one step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// A whole block that passed its checks.
    Block,
    /// The next block is not yet there.
    NotYet,
    /// The footer has been seen: no more blocks follow.
    Footer,
}

/// The state of a walk.
#[derive(Debug)]
pub(crate) struct Walk {
    purpose: Purpose,
    /// Where the next block is expected.
    offset: u64,
    /// The number of metadata blocks so far.
    metadata_blocks: u64,
    /// Where the last metadata block ends, or the file header.
    metadata_end: u64,
    /// Where the last committed region ends in the data file of a pair.
    data_end: u64,
    /// The committed regions.
    pub regions: Vec<RegionEntry>,
    /// The dictionaries before those regions; in a single file, also those after them.
    pub dictionaries: Vec<DictionaryEntry>,
    /// The footer, and where its block begins.
    pub footer: Option<(Footer, Tail)>,
}

impl Walk {
    pub(crate) fn new(purpose: Purpose) -> Self {
        let start = FileHeader::SIZE as u64;
        Walk {
            purpose,
            offset: start,
            metadata_blocks: 0,
            metadata_end: start,
            data_end: start,
            regions: Vec::new(),
            dictionaries: Vec::new(),
            footer: None,
        }
    }

    /// Where the last metadata block ends. Bytes after it are not committed.
    pub(crate) fn metadata_end(&self) -> u64 {
        self.metadata_end
    }

    /// Where the last committed region ends in the data file of a pair.
    pub(crate) fn data_end(&self) -> u64 {
        self.data_end
    }

    /// The sequence number of the next metadata block.
    pub(crate) fn metadata_blocks(&self) -> u64 {
        self.metadata_blocks
    }

    /// Walks over the blocks that are there, in a file of `size` bytes.
    pub(crate) fn run(&mut self, files: &OpenFiles, limits: &Limits, size: u64) -> Result<Step> {
        loop {
            match self.step(files, limits, size)? {
                Step::Block => {}
                end => return Ok(end),
            }
        }
    }

    fn step(&mut self, files: &OpenFiles, limits: &Limits, size: u64) -> Result<Step> {
        if self.footer.is_some() {
            return Ok(Step::Footer);
        }
        let (source, offset) = (&files.index, self.offset);
        let blame = |error| source.blame(error);
        let context = |header: &BlockHeader| self.context(files, limits, header);
        let Some(header) = next_block(source, offset, size, self.purpose, context)? else {
            return Ok(Step::NotYet);
        };
        let context = context(&header);
        if !context.metadata {
            block::check_limit(&header, offset, &context).map_err(blame)?;
            let computed = checksum_in_file(source, files.seal, &header, offset)?;
            block::check_checksum(&header, offset, computed).map_err(blame)?;
            block::check_fields(&header, offset, &context).map_err(blame)?;
            let padding = offset + BlockHeader::SIZE as u64 + u64::from(header.stored_size);
            let end = offset + header.size_in_file();
            let padding = source.read_vec(padding, (end - padding) as usize)?;
            block::check_padding(&header, offset, &padding).map_err(blame)?;
            self.offset = end;
            return Ok(Step::Block);
        }
        let (_, message) = read_metadata(source, offset, size, &context)?;
        self.message(files, limits, &header, &message)?;
        self.metadata_blocks += 1;
        self.offset += header.size_in_file();
        if header.kind == block::FOOTER {
            return Ok(Step::Footer);
        }
        self.metadata_end = self.offset;
        Ok(Step::Block)
    }

    /// FOL-3 and FOL-4: the context of the next block, which has this header.
    fn context<'a>(&self, files: &OpenFiles, limits: &'a Limits, block: &BlockHeader) -> Context<'a> {
        let header = &files.header;
        // An index file has only metadata (FOL-3); in a single file the kind decides (FOL-4).
        let metadata = block.is_metadata() || header.kind == FileKind::Index;
        let single = header.kind == FileKind::Single;
        // In a single file, a region's message is directly after its blocks, and nothing else may be there.
        let behind_blocks = single && self.offset > self.metadata_end;
        let first = self.offset == FileHeader::SIZE as u64;
        let kinds = Kinds {
            partition: single,
            region: !single || behind_blocks,
            footer: !behind_blocks,
            schema: first && header.framing == Framing::Arrow,
            dictionary: single && !behind_blocks && header.has_dictionaries(),
            fragment_end: false,
            skippable: !behind_blocks,
        };
        // At most 65,535: each had its own 16-bit number.
        let dictionaries = header.has_dictionaries().then_some(self.dictionaries.len() as u32);
        if metadata {
            return Context::metadata(
                limits,
                files.seal,
                kinds,
                Sequence::Is(self.metadata_blocks),
                dictionaries,
            );
        }
        Context {
            limits,
            seal: files.seal,
            metadata,
            verify: true,
            kinds,
            partition: Partition::Unknown,
            sequence: Sequence::Unknown,
            dictionaries,
        }
    }

    fn message(&mut self, files: &OpenFiles, limits: &Limits, header: &BlockHeader, message: &[u8]) -> Result<()> {
        let blame = |error| files.index.blame(error);
        match header.kind {
            block::REGION => self.region(files, limits, message),
            block::DICTIONARY => {
                dictionary::check(message, self.offset).map_err(blame)?;
                self.dictionaries.push(DictionaryEntry {
                    offset: self.offset,
                    size: header.stored_size,
                    reserved: 0,
                });
                Ok(())
            }
            block::SCHEMA => parse_schema(message, &files.header).map(|_| ()).map_err(blame),
            block::FOOTER => {
                let footer = parse_footer(message, &files.header, self.offset, limits).map_err(blame)?;
                if footer.regions != self.regions {
                    return Err(blame(Error::at(
                        ErrorCode::InconsistentIndex,
                        self.offset + BlockHeader::SIZE as u64,
                        format!("a directory of the {} regions before it", self.regions.len()),
                        format!("another one, of {}", footer.regions.len()),
                    )));
                }
                if footer.dictionaries != self.dictionaries {
                    return Err(blame(Error::at(
                        ErrorCode::InconsistentIndex,
                        self.offset + BlockHeader::SIZE as u64,
                        format!("the {} dictionaries before it", self.dictionaries.len()),
                        format!("others, {} of them", footer.dictionaries.len()),
                    )));
                }
                let tail = Tail {
                    footer_offset: self.offset,
                    footer_size: header.stored_size,
                };
                self.footer = Some((footer, tail));
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn region(&mut self, files: &OpenFiles, limits: &Limits, message: &[u8]) -> Result<()> {
        let (header, offset) = (&files.header, self.offset);
        let blame = |error| files.index.blame(error);
        if self.regions.len() as u64 >= limits.max_regions {
            return Err(blame(Error::at(
                ErrorCode::LimitExceeded,
                offset,
                format!("at most {} regions (max_regions)", limits.max_regions),
                "one more",
            )));
        }
        let message_offset = offset + BlockHeader::SIZE as u64;
        let mut region = Region::parse(message, header.version_minor, message_offset).map_err(blame)?;
        // After dictionaries, the offset may be any number, also one above the size of the file.
        let is_beyond = region.data_offset.checked_add(region.data_length).is_none();
        if is_beyond && files.data.is_some() && header.has_dictionaries() {
            region.data_offset = self.data_end;
        }
        let bounds = match files.data {
            Some(_) => DataBounds {
                offset: self.data_end,
                // Dictionaries may come between (DIC-5).
                later: header.has_dictionaries(),
                end: None,
            },
            None => DataBounds {
                offset: self.metadata_end,
                later: false,
                end: Some(offset),
            },
        };
        // Fewer than 2^32: the message of each has its number as a u32.
        let number = self.regions.len() as u32;
        let region = RegionIndex::new(region, header, number, &bounds, message_offset).map_err(blame)?;
        let extent = region.extent();
        if let Some(data) = &files.data {
            let size = data.size()?;
            if is_beyond || size < extent.end() {
                return Err(data.blame(Error::at(
                    ErrorCode::Truncated,
                    size,
                    format!("the end of region {number}"),
                    format!("a file of {size} bytes"),
                )));
            }
            let between = self.dictionaries_between(files, data, limits, extent.offset)?;
            self.dictionaries.extend(between);
            self.data_end = extent.end();
        }
        self.regions.push(RegionEntry {
            message_offset: offset,
            message_size: message.len() as u32,
            flags: 0,
            data_offset: extent.offset,
            data_length: extent.length,
        });
        Ok(())
    }

    /// DIC-5: the dictionaries between the last region of a pair and the next region, which begins at `end`.
    fn dictionaries_between(
        &self,
        files: &OpenFiles,
        data: &InputFile,
        limits: &Limits,
        end: u64,
    ) -> Result<Vec<DictionaryEntry>> {
        let mut found = Vec::new();
        let mut offset = self.data_end;
        while offset < end {
            let before = self.dictionaries.len() + found.len();
            if before as u64 >= limits.max_dictionaries {
                return Err(data.blame(dictionary::too_many(limits, offset)));
            }
            // A dictionary with a number above 16 bits is not found.
            let entry = dictionaries::find(data, limits, files.seal, before as u32 + 1, offset, end)?;
            offset = dictionaries::end_of(&entry);
            found.push(entry);
        }
        Ok(found)
    }

    /// FOL-5, after a footer: whether the file is finished.
    pub(crate) fn check_tail(&self, files: &OpenFiles, size: u64) -> Result<bool> {
        let Some((footer, tail)) = &self.footer else {
            return Ok(false);
        };
        let at = self.offset;
        if size.saturating_sub(at) < Tail::SIZE as u64 {
            return Ok(false);
        }
        let source = &files.index;
        let mut bytes = [0; Tail::SIZE];
        source.read_exact(at, &mut bytes)?;
        let found = Tail::parse(&bytes, at).map_err(|error| source.blame(error))?;
        if found != *tail || size > at + Tail::SIZE as u64 {
            return Err(source.blame(Error::at(
                ErrorCode::InconsistentIndex,
                at,
                "a tail that leads to the footer before it and ends the file",
                format!("one that leads to {}, in a file of {size} bytes", found.footer_offset),
            )));
        }
        if let Some(data) = &files.data {
            check_data_size(data, footer, false)?;
        }
        Ok(true)
    }
}
