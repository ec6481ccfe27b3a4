//! Checks a fragment while its bytes arrive, in pieces of any size (spec, FRG-4).

use crate::block::{
    self, ANY_PARTITION, BlockHeader, Context, DICTIONARY, FRAGMENT_END, Kinds, Partition, SCHEMA, Seal, Sequence,
    dictionary,
};
use crate::bytes::{self, FEATURE_DICTIONARIES, FileHeader, FileKind, Framing};
use crate::error::{Error, ErrorCode, Result};
use crate::limits::Limits;
use crate::reader::parse_schema;

/// What a part of a fragment is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Header,
    Schema,
    Dictionary,
    Block,
    End,
}

/// A part of a fragment that has passed its checks.
pub(super) struct Part<'i> {
    pub kind: Kind,
    /// Where it begins in the fragment.
    pub at: u64,
    /// The header of a block. That of the fragment is [`Intake::header`].
    pub block: BlockHeader,
    /// Its bytes after that header, if they are in the last piece; otherwise the intake keeps them.
    rest: Option<&'i [u8]>,
}

/// What the end block says (FRG-3).
#[derive(Clone, Copy, Debug)]
pub(super) struct End {
    pub last: bool,
}

/// The state of the checks of one fragment.
pub(super) struct Intake {
    limits: Limits,
    /// The bytes of a part that has not arrived whole, or of the part that was returned last.
    carry: Vec<u8>,
    /// Whether the part that was returned last is there.
    is_used: bool,
    /// Where the next part begins.
    at: u64,
    header: Option<FileHeader>,
    seal: Seal,
    schema: Option<Vec<u8>>,
    /// The numbers of the dictionaries so far, ascending.
    dictionaries: Vec<u16>,
    /// Partition and number of the last partition block.
    last: Option<(u32, u32)>,
    blocks: u32,
    end: Option<End>,
}

impl Intake {
    pub(super) fn new(limits: Limits) -> Self {
        Intake {
            limits,
            carry: Vec::new(),
            is_used: false,
            at: 0,
            header: None,
            seal: Seal::new(&[0; 16]),
            schema: None,
            dictionaries: Vec::new(),
            last: None,
            blocks: 0,
            end: None,
        }
    }

    /// The header, once it has passed its checks.
    pub(super) fn header(&self) -> Option<&FileHeader> {
        self.header.as_ref()
    }

    /// The seal of the fragment's blocks.
    pub(super) fn seal(&self) -> Seal {
        self.seal
    }

    /// The encapsulated Arrow schema message, once it has passed its checks.
    pub(super) fn schema(&self) -> Option<&[u8]> {
        self.schema.as_deref()
    }

    /// The end block, once it has passed its checks.
    pub(super) fn end(&self) -> Option<End> {
        self.end
    }

    /// Where the next part begins; after the end block, how many bytes the fragment has.
    pub(super) fn at(&self) -> u64 {
        self.at
    }

    /// The bytes of a block after its header.
    pub(super) fn rest<'a>(&'a self, part: &Part<'a>) -> &'a [u8] {
        part.rest.unwrap_or_else(|| &self.carry[BlockHeader::SIZE..])
    }

    /// The stored payload of a block.
    pub(super) fn stored<'a>(&'a self, part: &Part<'a>) -> &'a [u8] {
        &self.rest(part)[..part.block.stored_size as usize]
    }

    /// Whether the fragment has ended. The fault of one whose bytes end before its end block does.
    pub(super) fn check_ended(&self) -> Result<End> {
        if let Some(end) = self.end {
            return Ok(end);
        }
        let carried = if self.is_used { &[][..] } else { &self.carry };
        if self.header.is_none() {
            // HDR-1: the first bytes may not be a header's at all.
            FileHeader::parse(carried).map_err(Error::in_fragment)?;
        }
        let size = self.at + carried.len() as u64;
        let expected = "a fragment with its end block";
        Err(Error::at(ErrorCode::Truncated, size, expected, format!("{size} bytes")).in_fragment())
    }

    /// The next part, if it is whole. It takes bytes from `input`: all of them, unless a part is returned or the
    /// fragment has ended.
    pub(super) fn next<'i>(&mut self, input: &mut &'i [u8]) -> Result<Option<Part<'i>>> {
        if self.is_used {
            self.carry.clear();
            self.is_used = false;
        }
        if self.end.is_some() {
            return Ok(None);
        }
        let found = match self.header {
            None => self.next_header(input),
            Some(_) => self.next_block(input),
        };
        found.map_err(Error::in_fragment)
    }

    fn next_header<'i>(&mut self, input: &mut &'i [u8]) -> Result<Option<Part<'i>>> {
        let header = if self.carry.is_empty() && input.len() >= FileHeader::SIZE {
            let (bytes, rest) = input.split_at(FileHeader::SIZE);
            *input = rest;
            FileHeader::parse(bytes)?
        } else if self.carry_until(FileHeader::SIZE, input) {
            self.is_used = true;
            FileHeader::parse(&self.carry)?
        } else {
            return Ok(None);
        };
        check_header(&header)?;
        self.seal = Seal::new(&header.file_id);
        self.header = Some(header);
        self.at = FileHeader::SIZE as u64;
        Ok(Some(Part {
            kind: Kind::Header,
            at: 0,
            block: BlockHeader::parse(&[0; BlockHeader::SIZE]),
            rest: None,
        }))
    }

    fn next_block<'i>(&mut self, input: &mut &'i [u8]) -> Result<Option<Part<'i>>> {
        let whole = match (self.carry.is_empty(), input.first_chunk()) {
            (true, Some(bytes)) => Some(*bytes),
            _ if self.carry_until(BlockHeader::SIZE, input) => self.carry.first_chunk().copied(),
            _ => None,
        };
        let Some(block) = whole.map(|bytes| BlockHeader::parse(&bytes)) else {
            return Ok(None);
        };
        let context = self.context(&block);
        block::check_limit(&block, self.at, &context)?;
        let size = block.size_in_file() as usize;
        let rest = if self.carry.is_empty() && input.len() >= size {
            let (bytes, rest) = input.split_at(size);
            *input = rest;
            Some(&bytes[BlockHeader::SIZE..])
        } else if self.carry_until(size, input) {
            self.is_used = true;
            None
        } else {
            return Ok(None);
        };
        let at = self.at;
        let kind = self.check_block(&block, rest)?;
        self.at += size as u64;
        Ok(Some(Part { kind, at, block, rest }))
    }

    /// Moves bytes to those of the part that has not arrived whole, until they are `size`; whether they are. Memory is
    /// taken only for bytes that have arrived.
    fn carry_until(&mut self, size: usize, input: &mut &[u8]) -> bool {
        let missing = size.saturating_sub(self.carry.len());
        let (taken, rest) = input.split_at(missing.min(input.len()));
        self.carry.extend_from_slice(taken);
        *input = rest;
        taken.len() == missing
    }

    /// CTX-1 to CTX-3 for the next block.
    fn context(&self, block: &BlockHeader) -> Context<'_> {
        let (partitions, arrow, has_dictionaries) = match &self.header {
            Some(header) => (
                header.partitions(),
                header.framing == Framing::Arrow,
                header.has_dictionaries(),
            ),
            None => (0..0, false, false),
        };
        let kinds = if arrow && self.at == FileHeader::SIZE as u64 {
            Kinds {
                schema: true,
                ..Kinds::default()
            }
        } else {
            Kinds {
                partition: true,
                dictionary: has_dictionaries && self.last.is_none(),
                fragment_end: self.last.is_some(),
                ..Kinds::default()
            }
        };
        let sequence = match block.kind {
            SCHEMA | FRAGMENT_END => Sequence::Is(0),
            DICTIONARY if has_dictionaries && block.dictionary > 0 => Sequence::Is(u64::from(block.dictionary) - 1),
            kind if kind >= 128 => Sequence::Unknown,
            _ => match self.last {
                Some((partition, number)) if partition == block.partition => Sequence::Is(u64::from(number) + 1),
                _ => Sequence::Unknown,
            },
        };
        let least = self.last.map_or(partitions.start, |(partition, _)| partition);
        // The number of a dictionary block must be above the last; any other block must name one that is here.
        let known = match block.kind {
            DICTIONARY => self.is_next(block.dictionary),
            _ => block.dictionary == 0 || self.dictionaries.binary_search(&block.dictionary).is_ok(),
        };
        let dictionaries = match (block.kind, known) {
            (DICTIONARY, true) => u32::from(block.dictionary) - 1,
            (DICTIONARY, false) => u32::from(self.dictionaries.last().copied().unwrap_or(0)),
            (_, true) => u32::from(u16::MAX),
            (_, false) => u32::from(block.dictionary) - 1,
        };
        Context {
            limits: &self.limits,
            seal: self.seal,
            metadata: block.is_metadata(),
            verify: true,
            kinds,
            partition: match block.is_metadata() {
                true => Partition::Is(ANY_PARTITION),
                false => Partition::In(least..partitions.end),
            },
            sequence,
            dictionaries: has_dictionaries.then_some(dictionaries),
        }
    }

    fn is_next(&self, dictionary: u16) -> bool {
        dictionary > self.dictionaries.last().copied().unwrap_or(0)
    }

    /// Checks 4 to 11 of BLK-7, then those of FRG-4.
    fn check_block(&mut self, block: &BlockHeader, rest: Option<&[u8]>) -> Result<Kind> {
        let at = self.at;
        let rest = rest.unwrap_or_else(|| &self.carry[BlockHeader::SIZE..]);
        let context = self.context(block);
        if block.kind == DICTIONARY && context.kinds.dictionary {
            // DIC-5: how many there are comes before what they are.
            if self.dictionaries.len() as u64 >= self.limits.max_dictionaries {
                return Err(dictionary::too_many(&self.limits, at));
            }
        }
        block::check_whole(block, rest, at, &context)?;
        let stored = &rest[..block.stored_size as usize];
        match block.kind {
            SCHEMA => {
                let header = self.header.as_ref();
                self.schema = header
                    .map(|header| parse_schema(stored, header))
                    .transpose()?
                    .map(|schema| schema.arrow);
                Ok(Kind::Schema)
            }
            DICTIONARY => {
                dictionary::check(stored, at)?;
                self.dictionaries.push(block.dictionary);
                Ok(Kind::Dictionary)
            }
            FRAGMENT_END => {
                self.end = Some(parse_end(stored, at, self.blocks)?);
                Ok(Kind::End)
            }
            _ => {
                self.last = Some((block.partition, block.sequence));
                self.blocks = self.blocks.checked_add(1).ok_or_else(|| {
                    Error::at(
                        ErrorCode::LimitExceeded,
                        at,
                        "fewer than 2^32 blocks in a fragment",
                        "one more",
                    )
                })?;
                Ok(Kind::Block)
            }
        }
    }
}

/// Checks 2 to 4 of FRG-4.
fn check_header(header: &FileHeader) -> Result<()> {
    if header.kind != FileKind::Fragment {
        let found = format!("kind {}", header.kind as u8);
        let at = bytes::field::KIND as u64;
        return Err(Error::at(
            ErrorCode::MismatchedPair,
            at,
            "file kind 5, a fragment",
            found,
        ));
    }
    if header.reader_features & !FEATURE_DICTIONARIES != 0 {
        let found = format!("{:#X}", header.reader_features);
        let at = bytes::field::READER_FEATURES as u64;
        let expected = "no reader feature in a fragment, or dictionaries";
        return Err(Error::at(ErrorCode::UnsupportedFeature, at, expected, found));
    }
    header.check_writer_features()
}

/// Checks 8 and 9 of FRG-4, for the end block at `at`.
fn parse_end(stored: &[u8], at: u64, blocks: u32) -> Result<End> {
    let Ok(bytes) = <[u8; 16]>::try_from(stored) else {
        let found = format!("{} bytes", stored.len());
        return Err(Error::at(
            ErrorCode::MalformedBlock,
            at,
            "an end block with 16 bytes",
            found,
        ));
    };
    let [length, rest] = [&bytes[..8], &bytes[8..]].map(|half| {
        let mut number = [0; 8];
        number.copy_from_slice(half);
        u64::from_le_bytes(number)
    });
    let (count, flags) = (rest as u32, rest >> 32);
    if length != at || count != blocks || blocks == 0 || flags > 1 {
        return Err(Error::at(
            ErrorCode::InconsistentIndex,
            at + BlockHeader::SIZE as u64,
            format!("an end after {at} bytes and {blocks} blocks, with flags 0 or 1"),
            format!("{length} bytes, {count} blocks, flags {flags:#X}"),
        ));
    }
    Ok(End { last: flags == 1 })
}
