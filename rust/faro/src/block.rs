//! Blocks: their 24-byte header and the order in which they are checked (spec, BLK).

use crate::checksum::crc32c;
use crate::error::{Code, Error, Result};
use crate::limits::Limits;
use std::ops::Range;

/// The partition number of shared blocks and metadata blocks.
pub const ANY_PARTITION: u32 = u32::MAX;
/// Kind of a data block.
pub const DATA: u8 = 0;
/// Kind of an event block. Kinds 64 to 127 are events of the application.
pub const EVENT: u8 = 1;
/// Kind of a block that carries a region message.
pub const REGION: u8 = 128;
/// Kind of a block that carries the footer message.
pub const FOOTER: u8 = 129;
/// Kind of a block that carries the schema message.
pub const SCHEMA: u8 = 130;

/// Codec number of uncompressed payloads.
pub(crate) const CODEC_NONE: u8 = 0;
/// The largest codec number that this library knows.
pub(crate) const CODEC_LAST: u8 = 2;

/// Whether a kind is data or an event's: what may stand in an extent.
pub const fn is_partition_kind(kind: u8) -> bool {
    kind == DATA || is_event_kind(kind)
}

/// Whether a kind is an event's.
pub const fn is_event_kind(kind: u8) -> bool {
    kind == EVENT || (kind >= 64 && kind <= 127)
}

/// `n` rounded up to a multiple of 8 (INT-3). `n` is a size of at most 32 bits.
pub(crate) const fn pad8(n: u32) -> u64 {
    (n as u64 + 7) & !7
}

/// The header of a block. Its checksum is kept as it was found; [`BlockHeader::encode`] computes a new one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockHeader {
    /// Payload bytes as stored.
    pub stored_size: u32,
    /// Payload bytes after decompression.
    pub plain_size: u32,
    /// Absolute number of the block's partition; [`ANY_PARTITION`] in shared and metadata blocks.
    pub partition: u32,
    /// Number of the block in its stream.
    pub sequence: u32,
    /// What the payload is.
    pub kind: u8,
    /// How it is compressed.
    pub codec: u8,
    /// Zero in this version.
    pub reserved: u16,
    /// CRC-32C of the first 20 bytes and the stored payload.
    pub checksum: u32,
}

impl BlockHeader {
    /// Bytes of a block header.
    pub const SIZE: usize = 24;

    /// Reads the fields and checks nothing.
    pub fn parse(bytes: &[u8; Self::SIZE]) -> Self {
        let u32_at = |at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
        BlockHeader {
            stored_size: u32_at(0),
            plain_size: u32_at(4),
            partition: u32_at(8),
            sequence: u32_at(12),
            kind: bytes[16],
            codec: bytes[17],
            reserved: u16::from_le_bytes([bytes[18], bytes[19]]),
            checksum: u32_at(20),
        }
    }

    /// The header as it stands before `stored`, its checksum computed.
    pub fn encode(&self, stored: &[u8]) -> [u8; Self::SIZE] {
        let mut bytes = self.first_fields();
        let checksum = crc32c(&[&bytes[..20], stored]);
        bytes[20..].copy_from_slice(&checksum.to_le_bytes());
        bytes
    }

    /// The header with its checksum field left zero.
    fn first_fields(&self) -> [u8; Self::SIZE] {
        let mut bytes = [0; Self::SIZE];
        bytes[0..4].copy_from_slice(&self.stored_size.to_le_bytes());
        bytes[4..8].copy_from_slice(&self.plain_size.to_le_bytes());
        bytes[8..12].copy_from_slice(&self.partition.to_le_bytes());
        bytes[12..16].copy_from_slice(&self.sequence.to_le_bytes());
        bytes[16] = self.kind;
        bytes[17] = self.codec;
        bytes[18..20].copy_from_slice(&self.reserved.to_le_bytes());
        bytes
    }

    /// The bytes of the header that its checksum covers.
    pub(crate) fn checked_bytes(&self) -> [u8; 20] {
        let mut bytes = [0; 20];
        bytes.copy_from_slice(&self.first_fields()[..20]);
        bytes
    }

    /// Bytes of the whole block in its file: header, payload and padding (BLK-1).
    pub fn size_in_file(&self) -> u64 {
        Self::SIZE as u64 + pad8(self.stored_size)
    }

    /// Whether the kind is a metadata block's.
    pub fn is_metadata(&self) -> bool {
        self.kind >= REGION
    }
}

/// Which kinds are allowed in a place.
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
    /// Metadata that a reader may skip, 192 to 255.
    pub skippable: bool,
}

impl Kinds {
    pub(crate) const EXTENT: Kinds = Kinds {
        partition: true,
        region: false,
        footer: false,
        schema: false,
        skippable: false,
    };

    fn has(self, kind: u8) -> bool {
        match kind {
            REGION => self.region,
            FOOTER => self.footer,
            SCHEMA => self.schema,
            192.. => self.skippable,
            _ => self.partition && is_partition_kind(kind),
        }
    }

    fn is_for_metadata(self) -> bool {
        self.region || self.footer || self.schema || self.skippable
    }

    fn text(self) -> String {
        let mut names = Vec::new();
        for (has, name) in [
            (self.partition, "0, 1, 64 to 127"),
            (self.region, "128 (region)"),
            (self.footer, "129 (footer)"),
            (self.schema, "130 (schema)"),
            (self.skippable, "192 to 255"),
        ] {
            if has {
                names.push(name);
            }
        }
        format!("a block of kind {}", names.join(", "))
    }
}

/// What a place knows of the partition field.
#[derive(Clone, Debug)]
pub(crate) enum Partition {
    /// Exactly this number.
    Is(u32),
    /// A partition of the file, or [`ANY_PARTITION`].
    OfFile(Range<u32>),
    /// Nothing is known.
    Unknown,
}

/// What a place knows of the sequence field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sequence {
    /// Exactly this number. Wider than the field: the number after the last possible one is never found.
    Is(u64),
    /// Any number above this one.
    Above(u32),
    /// The first number, as the index says, and above the second, which was seen before.
    FirstOfSlot(u32, u32),
    /// Nothing is known.
    Unknown,
}

/// What the context of a block says about it (BLK-7).
pub(crate) struct Place<'a> {
    pub limits: &'a Limits,
    /// Whether the checksum of a partition block is verified (INT-7).
    pub verify: bool,
    pub kinds: Kinds,
    pub partition: Partition,
    pub sequence: Sequence,
}

impl<'a> Place<'a> {
    /// A place where metadata of these kinds stands.
    pub(crate) fn metadata(limits: &'a Limits, kinds: Kinds, sequence: Sequence) -> Self {
        Place {
            limits,
            verify: true,
            kinds,
            partition: Partition::Is(ANY_PARTITION),
            sequence,
        }
    }
}

/// Check 1 of BLK-7: there is space for a header.
pub(crate) fn check_header_space(offset: u64, end: u64) -> Result<()> {
    if end.saturating_sub(offset) < BlockHeader::SIZE as u64 {
        return Err(Error::at(
            Code::MalformedBlock,
            offset,
            "a block header of 24 bytes",
            format!("{} bytes before its place ends at {end}", end.saturating_sub(offset)),
        ));
    }
    Ok(())
}

/// Check 2 of BLK-7: the block fits into its place.
pub(crate) fn check_fits(header: &BlockHeader, offset: u64, end: u64) -> Result<()> {
    if header.size_in_file() > end.saturating_sub(offset) {
        return Err(Error::at(
            Code::MalformedBlock,
            offset,
            format!("a block that ends at or before {end}"),
            format!("a stored size of {} bytes", header.stored_size),
        ));
    }
    Ok(())
}

/// Check 3 of BLK-7: the stored size is within its limit.
pub(crate) fn check_limit(header: &BlockHeader, offset: u64, metadata: bool, limits: &Limits) -> Result<()> {
    let (name, limit) = if metadata {
        ("max_message_size", limits.max_message_size)
    } else {
        ("max_block_size", limits.max_block_size)
    };
    if u64::from(header.stored_size) > limit {
        return Err(Error::at(
            Code::LimitExceeded,
            offset,
            format!("a stored size of at most {limit} bytes ({name})"),
            format!("{} bytes", header.stored_size),
        ));
    }
    Ok(())
}

/// Check 4 of BLK-7, for a checksum that was computed.
pub(crate) fn check_checksum(header: &BlockHeader, offset: u64, computed: u32) -> Result<()> {
    if header.checksum != computed {
        return Err(Error::at(
            Code::Checksum,
            offset,
            format!("the block's checksum {:08X}", header.checksum),
            format!("bytes whose checksum is {computed:08X}"),
        ));
    }
    Ok(())
}

/// Check 6 of BLK-7: the kind is known and allowed.
pub(crate) fn check_kind(header: &BlockHeader, offset: u64, kinds: Kinds) -> Result<()> {
    let kind = header.kind;
    let (code, expected) = if kinds.is_for_metadata() && (131..=191).contains(&kind) {
        (Code::UnsupportedFeature, "metadata that this library knows".to_string())
    } else if kinds.has(kind) {
        return Ok(());
    } else {
        (Code::MalformedBlock, kinds.text())
    };
    Err(Error::at(code, offset + 16, expected, format!("kind {kind}")))
}

/// Checks 5 to 10 of BLK-7: what the header says and its place.
pub(crate) fn check_fields(header: &BlockHeader, offset: u64, place: &Place<'_>) -> Result<()> {
    let fault = |code, field, expected: String, found: String| Err(Error::at(code, offset + field, expected, found));
    let kind = header.kind;
    if header.reserved != 0 {
        return fault(
            Code::MalformedBlock,
            18,
            "zero in the reserved field".into(),
            header.reserved.to_string(),
        );
    }
    check_kind(header, offset, place.kinds)?;
    if header.codec > CODEC_LAST {
        return fault(
            Code::UnsupportedCodec,
            17,
            "codec 0, 1 or 2".into(),
            header.codec.to_string(),
        );
    }
    if kind != DATA && header.codec != CODEC_NONE {
        return fault(
            Code::MalformedBlock,
            17,
            format!("codec 0 in a block of kind {kind}"),
            format!("codec {}", header.codec),
        );
    }
    let (stored, plain) = (header.stored_size, header.plain_size);
    if header.codec == CODEC_NONE && plain != stored {
        return fault(
            Code::MalformedBlock,
            4,
            format!("the stored size {stored}, uncompressed"),
            plain.to_string(),
        );
    }
    if header.codec != CODEC_NONE && plain <= stored {
        return fault(
            Code::MalformedBlock,
            4,
            format!("more than the {stored} stored bytes"),
            plain.to_string(),
        );
    }
    if kind == DATA && plain == 0 {
        return fault(
            Code::MalformedBlock,
            4,
            "a data block with data".into(),
            "an empty one".into(),
        );
    }
    let limit = place.limits.max_plain_size;
    if !header.is_metadata() && u64::from(plain) > limit {
        let expected = format!("a plain size of at most {limit} bytes (max_plain_size)");
        return fault(Code::LimitExceeded, 4, expected, format!("{plain} bytes"));
    }
    let expected = match &place.partition {
        Partition::Is(number) if header.partition != *number => format!("partition {}", Number(*number)),
        Partition::OfFile(range) if header.partition != ANY_PARTITION && !range.contains(&header.partition) => {
            format!("a partition from {} to {}, or none", range.start, range.end - 1)
        }
        _ => String::new(),
    };
    if !expected.is_empty() {
        return fault(
            Code::InconsistentIndex,
            8,
            expected,
            Number(header.partition).to_string(),
        );
    }
    let expected = match place.sequence {
        Sequence::Is(number) if u64::from(header.sequence) != number => format!("sequence {number}"),
        Sequence::FirstOfSlot(first, _) if header.sequence != first => format!("sequence {first}"),
        Sequence::Above(number) | Sequence::FirstOfSlot(_, number) if header.sequence <= number => {
            format!("a sequence above {number}")
        }
        _ => return Ok(()),
    };
    fault(Code::InconsistentIndex, 12, expected, header.sequence.to_string())
}

/// Check 11 of BLK-7: the padding is zero. `padding` begins directly behind the payload.
pub(crate) fn check_padding(header: &BlockHeader, offset: u64, padding: &[u8]) -> Result<()> {
    match padding.iter().position(|byte| *byte != 0) {
        None => Ok(()),
        Some(at) => Err(Error::at(
            Code::MalformedBlock,
            offset + BlockHeader::SIZE as u64 + u64::from(header.stored_size) + at as u64,
            "zero bytes behind the payload",
            format!("{:02X}", padding[at]),
        )),
    }
}

/// Checks 4 to 11 of BLK-7, in order, for a block whose bytes behind the header are `rest`: payload and padding.
pub(crate) fn check_whole(header: &BlockHeader, rest: &[u8], offset: u64, place: &Place<'_>) -> Result<()> {
    let (stored, padding) = rest.split_at(header.stored_size as usize);
    if place.verify {
        check_checksum(header, offset, crc32c(&[&header.checked_bytes(), stored]))?;
    }
    check_fields(header, offset, place)?;
    check_padding(header, offset, padding)
}

/// Shows a partition field.
struct Number(u32);

impl std::fmt::Display for Number {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.0 {
            ANY_PARTITION => f.write_str("FFFFFFFF (none)"),
            number => write!(f, "{number}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn data(stored: &[u8]) -> BlockHeader {
        let size = stored.len() as u32;
        let mut header = BlockHeader {
            stored_size: size,
            plain_size: size,
            partition: 5,
            sequence: 2,
            kind: DATA,
            codec: 0,
            reserved: 0,
            checksum: 0,
        };
        header = BlockHeader::parse(&header.encode(stored));
        header
    }

    fn place(limits: &Limits) -> Place<'_> {
        Place {
            limits,
            verify: true,
            kinds: Kinds::EXTENT,
            partition: Partition::Is(5),
            sequence: Sequence::Is(2),
        }
    }

    fn fault(change: impl FnOnce(&mut BlockHeader)) -> Option<(Code, u64)> {
        let limits = Limits {
            max_plain_size: 100,
            ..Limits::default()
        };
        let mut header = data(b"abc");
        change(&mut header);
        check_fields(&header, 1000, &place(&limits))
            .err()
            .map(|e| (e.code, e.offset.unwrap()))
    }

    #[test]
    fn each_field_has_its_code_and_offset() {
        assert_eq!(fault(|_| ()), None);
        assert_eq!(fault(|h| h.reserved = 1), Some((Code::MalformedBlock, 1018)));
        assert_eq!(fault(|h| h.kind = 2), Some((Code::MalformedBlock, 1016)));
        assert_eq!(fault(|h| h.kind = 140), Some((Code::MalformedBlock, 1016)));
        assert_eq!(fault(|h| h.codec = 3), Some((Code::UnsupportedCodec, 1017)));
        assert_eq!(
            fault(|h| (h.kind, h.codec) = (64, 1)),
            Some((Code::MalformedBlock, 1017))
        );
        assert_eq!(fault(|h| h.plain_size = 4), Some((Code::MalformedBlock, 1004)));
        assert_eq!(fault(|h| h.codec = 1), Some((Code::MalformedBlock, 1004)));
        assert_eq!(
            fault(|h| (h.stored_size, h.plain_size) = (0, 0)),
            Some((Code::MalformedBlock, 1004))
        );
        assert_eq!(
            fault(|h| (h.plain_size, h.codec) = (101, 1)),
            Some((Code::LimitExceeded, 1004))
        );
        assert_eq!(fault(|h| h.partition = 6), Some((Code::InconsistentIndex, 1008)));
        assert_eq!(fault(|h| h.sequence = 3), Some((Code::InconsistentIndex, 1012)));
    }

    #[test]
    fn metadata_of_an_unknown_kind_is_unsupported() {
        let limits = Limits::default();
        let kinds = Kinds {
            region: true,
            ..Kinds::default()
        };
        let place = Place {
            partition: Partition::Unknown,
            ..Place::metadata(&limits, kinds, Sequence::Unknown)
        };
        let mut header = data(b"abc");
        header.kind = 131;
        assert_eq!(
            check_fields(&header, 0, &place).unwrap_err().code,
            Code::UnsupportedFeature
        );
        header.kind = 192;
        assert_eq!(check_fields(&header, 0, &place).unwrap_err().code, Code::MalformedBlock);
        header.kind = REGION;
        assert!(check_fields(&header, 0, &place).is_ok());
    }

    #[test]
    fn payload_and_padding_are_checked() {
        let limits = Limits::default();
        let header = data(b"abc");
        assert!(check_whole(&header, b"abc\0\0\0\0\0", 0, &place(&limits)).is_ok());
        let error = check_whole(&header, b"abd\0\0\0\0\0", 0, &place(&limits)).unwrap_err();
        assert_eq!((error.code, error.offset), (Code::Checksum, Some(0)));
        let error = check_whole(&header, b"abc\0\0\x01\0\0", 0, &place(&limits)).unwrap_err();
        assert_eq!((error.code, error.offset), (Code::MalformedBlock, Some(29)));
    }
}
