//! The checks of a block, in their order (spec, BLK-7, with BLK-2 to BLK-5), and the context that they depend on.

use super::dictionary;
use super::header::{
    ANY_PARTITION, BlockHeader, CODEC_NONE, DATA, DICTIONARY, FOOTER, FRAGMENT_END, REGION, SCHEMA, field,
    is_partition_kind,
};
use crate::bytes::Seal;
use crate::codec::{self, Codec};
use crate::error::{Error, ErrorCode, Result};
use crate::limits::Limits;
use std::ops::Range;

/// Which kinds a context allows.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Kinds {
    /// Data and events.
    pub partition: bool,
    /// Region messages.
    pub region: bool,
    /// The footer.
    pub footer: bool,
    /// The schema.
    pub schema: bool,
    /// Dictionaries.
    pub dictionary: bool,
    /// The end of a fragment.
    pub fragment_end: bool,
    /// Metadata that a reader may skip, 192 to 255.
    pub skippable: bool,
}

impl Kinds {
    pub(crate) const EXTENT: Kinds = Kinds {
        partition: true,
        region: false,
        footer: false,
        schema: false,
        dictionary: false,
        fragment_end: false,
        skippable: false,
    };

    /// Only dictionaries: between the regions of a data file.
    pub(crate) const DICTIONARY: Kinds = Kinds {
        partition: false,
        dictionary: true,
        ..Kinds::EXTENT
    };

    fn has(self, kind: u8) -> bool {
        match kind {
            REGION => self.region,
            FOOTER => self.footer,
            SCHEMA => self.schema,
            DICTIONARY => self.dictionary,
            FRAGMENT_END => self.fragment_end,
            192.. => self.skippable,
            _ => self.partition && is_partition_kind(kind),
        }
    }

    fn is_for_metadata(self) -> bool {
        self.region || self.footer || self.schema || self.dictionary || self.fragment_end || self.skippable
    }

    fn text(self) -> String {
        let mut names = Vec::new();
        for (has, name) in [
            (self.partition, "0, 1, 64 to 127"),
            (self.region, "128 (region)"),
            (self.footer, "129 (footer)"),
            (self.schema, "130 (schema)"),
            (self.dictionary, "131 (dictionary)"),
            (self.fragment_end, "132 (end of a fragment)"),
            (self.skippable, "192 to 255"),
        ] {
            if has {
                names.push(name);
            }
        }
        format!("a block of kind {}", names.join(", "))
    }
}

/// What a context knows about the partition field.
#[derive(Clone, Debug)]
pub(crate) enum Partition {
    /// Exactly this number.
    Is(u32),
    /// A partition of the file, or [`ANY_PARTITION`].
    OfFile(Range<u32>),
    /// One of these partitions.
    In(Range<u32>),
    /// Nothing is known.
    Unknown,
}

/// What a context knows about the sequence field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sequence {
    /// Exactly this number. It is wider than the field: no block has the number after the largest one.
    Is(u64),
    /// Any number above this one.
    Above(u32),
    /// The first block of an extent: exactly the `number` in the index, which must be from `least` to `most` by the
    /// blocks before it.
    First { number: u32, least: u64, most: u64 },
    /// Nothing is known.
    Unknown,
}

/// How many dictionaries come before a block; none in a file without the reader feature `dictionaries` (DIC-3).
pub(crate) type Dictionaries = Option<u32>;

/// The context of a block (BLK-7, CTX-1 to CTX-3).
pub(crate) struct Context<'a> {
    pub limits: &'a Limits,
    /// The seal of the block's file (BLK-9).
    pub seal: Seal,
    /// Whether the block is metadata, which has a different limit.
    pub metadata: bool,
    /// Whether the checksum of a partition block is verified (INT-7).
    pub verify: bool,
    pub kinds: Kinds,
    pub partition: Partition,
    pub sequence: Sequence,
    pub dictionaries: Dictionaries,
}

impl<'a> Context<'a> {
    /// The context of a metadata block of one of these kinds.
    pub(crate) fn metadata(
        limits: &'a Limits,
        seal: Seal,
        kinds: Kinds,
        sequence: Sequence,
        dictionaries: Dictionaries,
    ) -> Self {
        Context {
            limits,
            seal,
            metadata: true,
            verify: true,
            kinds,
            partition: Partition::Is(ANY_PARTITION),
            sequence,
            dictionaries,
        }
    }
}

/// Check 1 of BLK-7: there is room for a header.
pub(crate) fn check_header_space(offset: u64, end: u64) -> Result<()> {
    if end.saturating_sub(offset) < BlockHeader::SIZE as u64 {
        return Err(Error::at(
            ErrorCode::MalformedBlock,
            offset,
            "a block header of 24 bytes",
            format!("{} bytes before the end at {end}", end.saturating_sub(offset)),
        ));
    }
    Ok(())
}

/// Check 2 of BLK-7: the block ends within the bounds of its context.
pub(crate) fn check_fits(header: &BlockHeader, offset: u64, end: u64) -> Result<()> {
    if header.size_in_file() > end.saturating_sub(offset) {
        return Err(Error::at(
            ErrorCode::MalformedBlock,
            offset,
            format!("a block that ends at or before {end}"),
            format!("a stored size of {} bytes", header.stored_size),
        ));
    }
    Ok(())
}

/// Check 3 of BLK-7: the stored size is within its limit.
pub(crate) fn check_limit(header: &BlockHeader, offset: u64, context: &Context<'_>) -> Result<()> {
    let (name, limit) = if header.kind == DICTIONARY && context.kinds.dictionary {
        ("max_dictionary_size", context.limits.max_dictionary_size)
    } else if context.metadata {
        ("max_message_size", context.limits.max_message_size)
    } else {
        ("max_block_size", context.limits.max_block_size)
    };
    check_size(header.stored_size, offset, name, limit)
}

/// The same for the metadata block at `offset`, by its stored size; not for dictionaries.
pub(crate) fn check_message_size(size: u32, offset: u64, limits: &Limits) -> Result<()> {
    check_size(size, offset, "max_message_size", limits.max_message_size)
}

fn check_size(size: u32, offset: u64, name: &str, limit: u64) -> Result<()> {
    if u64::from(size) > limit {
        return Err(Error::at(
            ErrorCode::LimitExceeded,
            offset,
            format!("a stored size of at most {limit} bytes ({name})"),
            format!("{size} bytes"),
        ));
    }
    Ok(())
}

/// DIC-5: before a dictionary block is checked, the file has room for one more.
pub(crate) fn check_count(header: &BlockHeader, offset: u64, context: &Context<'_>) -> Result<()> {
    let is_one = header.kind == DICTIONARY && context.kinds.dictionary;
    let most = context.limits.max_dictionaries;
    if is_one && context.dictionaries.is_some_and(|count| u64::from(count) >= most) {
        return Err(dictionary::too_many(context.limits, offset));
    }
    Ok(())
}

/// Check 4 of BLK-7: the stored checksum is the computed one.
pub(crate) fn check_checksum(header: &BlockHeader, offset: u64, computed: u32) -> Result<()> {
    if header.checksum != computed {
        return Err(Error::checksum(offset, header.checksum, computed));
    }
    Ok(())
}

/// Check 6 of BLK-7: the kind is known and allowed.
pub(crate) fn check_kind(header: &BlockHeader, offset: u64, kinds: Kinds, dictionaries: Dictionaries) -> Result<()> {
    let kind = header.kind;
    let is_unknown = matches!(kind, 133..=191) || kind == DICTIONARY && dictionaries.is_none();
    let (code, expected) = if kinds.is_for_metadata() && is_unknown {
        (
            ErrorCode::UnsupportedFeature,
            "metadata that this library knows".to_string(),
        )
    } else if kinds.has(kind) {
        return Ok(());
    } else {
        (ErrorCode::MalformedBlock, kinds.text())
    };
    Err(Error::at(
        code,
        offset + field::KIND as u64,
        expected,
        format!("kind {kind}"),
    ))
}

/// Whether a block is a data block of an extent, without a dictionary, that passes checks 5 to 10. Most blocks are.
#[inline]
pub(crate) fn is_usual(header: &BlockHeader, context: &Context<'_>) -> bool {
    let (stored, plain) = (header.stored_size, header.plain_size);
    header.kind == DATA
        && header.dictionary == 0
        && context.kinds.partition
        && codec::is_known(header.codec)
        && (if header.codec == CODEC_NONE {
            plain == stored
        } else {
            plain > stored
        })
        && plain >= 1
        && u64::from(plain) <= context.limits.max_plain_size
        && matches!(context.partition, Partition::Is(number) if number == header.partition)
        && match context.sequence {
            Sequence::Is(number) => u64::from(header.sequence) == number,
            Sequence::First { number, least, most } => {
                header.sequence == number && (least..=most).contains(&u64::from(number))
            }
            Sequence::Above(_) | Sequence::Unknown => false,
        }
}

/// Checks 5 to 10 of BLK-7: the header's fields, in their context.
pub(crate) fn check_fields(header: &BlockHeader, offset: u64, context: &Context<'_>) -> Result<()> {
    let fault = |code, field, expected: String, found: String| Err(Error::at(code, offset + field, expected, found));
    let kind = header.kind;
    if header.dictionary != 0 && context.dictionaries.is_none() {
        return fault(
            ErrorCode::MalformedBlock,
            18,
            "no dictionary in a file without the reader feature dictionaries".into(),
            format!("dictionary {}", header.dictionary),
        );
    }
    check_kind(header, offset, context.kinds, context.dictionaries)?;
    if !codec::is_known(header.codec) {
        return fault(
            ErrorCode::UnsupportedCodec,
            17,
            codec::KNOWN.into(),
            header.codec.to_string(),
        );
    }
    if kind != DATA && header.codec != CODEC_NONE {
        return fault(
            ErrorCode::MalformedBlock,
            17,
            format!("codec 0 in a block of kind {kind}"),
            format!("codec {}", header.codec),
        );
    }
    if header.dictionary != 0 && header.codec != Codec::Zstd as u8 && kind != DICTIONARY {
        return fault(
            ErrorCode::MalformedBlock,
            18,
            format!("no dictionary in a block of kind {kind} with codec {}", header.codec),
            format!("dictionary {}", header.dictionary),
        );
    }
    let (stored, plain) = (header.stored_size, header.plain_size);
    if header.codec == CODEC_NONE && plain != stored {
        return fault(
            ErrorCode::MalformedBlock,
            4,
            format!("the stored size {stored}, uncompressed"),
            plain.to_string(),
        );
    }
    if header.codec != CODEC_NONE && plain <= stored {
        return fault(
            ErrorCode::MalformedBlock,
            4,
            format!("more than the {stored} stored bytes"),
            plain.to_string(),
        );
    }
    if kind == DATA && plain == 0 {
        return fault(
            ErrorCode::MalformedBlock,
            4,
            "a data block with data".into(),
            "an empty one".into(),
        );
    }
    let limit = context.limits.max_plain_size;
    if !header.is_metadata() && u64::from(plain) > limit {
        let expected = format!("a plain size of at most {limit} bytes (max_plain_size)");
        return fault(ErrorCode::LimitExceeded, 4, expected, format!("{plain} bytes"));
    }
    let expected = match &context.partition {
        Partition::Is(number) if header.partition != *number => format!("partition {}", Number(*number)),
        Partition::In(range) if !range.contains(&header.partition) => {
            format!("a partition from {} on and below {}", range.start, range.end)
        }
        Partition::OfFile(range) if header.partition != ANY_PARTITION && !range.contains(&header.partition) => {
            format!("a partition from {} to {}, or none", range.start, range.end - 1)
        }
        _ => String::new(),
    };
    if !expected.is_empty() {
        return fault(
            ErrorCode::InconsistentIndex,
            8,
            expected,
            Number(header.partition).to_string(),
        );
    }
    let expected = match context.sequence {
        Sequence::Is(number) if u64::from(header.sequence) != number => format!("sequence {number}"),
        Sequence::First { number, .. } if header.sequence != number => format!("sequence {number}"),
        Sequence::First { least, most, .. } if !(least..=most).contains(&header.sequence.into()) => {
            format!("a sequence from {least} on, by the blocks before it")
        }
        Sequence::Above(number) if header.sequence <= number => format!("a sequence above {number}"),
        _ => String::new(),
    };
    if !expected.is_empty() {
        return fault(ErrorCode::InconsistentIndex, 12, expected, header.sequence.to_string());
    }
    let (before, dictionary) = (context.dictionaries.unwrap_or(0), u32::from(header.dictionary));
    let expected = match kind {
        DICTIONARY if dictionary != before + 1 => format!("a dictionary of number {}", before + 1),
        DICTIONARY => return Ok(()),
        _ if dictionary > before => format!("one of the {before} dictionaries before the block, or none"),
        _ => return Ok(()),
    };
    fault(
        ErrorCode::InconsistentIndex,
        18,
        expected,
        format!("dictionary {dictionary}"),
    )
}

/// Check 11 of BLK-7: the padding is zero. `padding` begins directly after the payload.
pub(crate) fn check_padding(header: &BlockHeader, offset: u64, padding: &[u8]) -> Result<()> {
    match padding.iter().position(|byte| *byte != 0) {
        None => Ok(()),
        Some(at) => Err(Error::at(
            ErrorCode::MalformedBlock,
            offset + BlockHeader::SIZE as u64 + u64::from(header.stored_size) + at as u64,
            "zero bytes after the payload",
            format!("{:02X}", padding[at]),
        )),
    }
}

/// Checks 4 to 11 of BLK-7, in order. `rest` holds the bytes after the header: payload and padding.
pub(crate) fn check_whole(header: &BlockHeader, rest: &[u8], offset: u64, context: &Context<'_>) -> Result<()> {
    let (stored, padding) = rest.split_at(header.stored_size as usize);
    if context.verify {
        check_checksum(header, offset, context.seal.checksum(&header.checked_bytes(), stored))?;
    }
    check_fields(header, offset, context)?;
    check_padding(header, offset, padding)
}

/// A partition field, for messages.
struct Number(u32);

impl std::fmt::Display for Number {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.0 {
            ANY_PARTITION => f.write_str("FFFFFFFF (none)"),
            number => write!(f, "{number}"),
        }
    }
}
