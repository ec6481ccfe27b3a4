//! The 24 bytes before a payload (spec, BLK-1), and the numbers in them: kinds (BLK-2), partitions (BLK-4), codecs.

use crate::bytes::{Seal, pad8};

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
/// Kind of a block that carries a dictionary.
pub const DICTIONARY: u8 = 131;

/// Codec number of uncompressed payloads.
pub(crate) const CODEC_NONE: u8 = 0;
/// The largest codec number that this library knows.
pub(crate) const CODEC_LAST: u8 = 2;

/// Whether blocks of a kind belong in extents: data and events.
pub(crate) const fn is_partition_kind(kind: u8) -> bool {
    kind == DATA || is_event_kind(kind)
}

/// Whether a kind is an event's.
pub const fn is_event_kind(kind: u8) -> bool {
    kind == EVENT || (kind >= 64 && kind <= 127)
}

/// Where the fields are, in bytes from the beginning of the block (BLK-1).
pub(crate) mod field {
    pub(crate) const STORED_SIZE: usize = 0;
    pub(crate) const PLAIN_SIZE: usize = 4;
    pub(crate) const PARTITION: usize = 8;
    pub(crate) const SEQUENCE: usize = 12;
    pub(crate) const KIND: usize = 16;
    pub(crate) const CODEC: usize = 17;
    pub(crate) const DICTIONARY: usize = 18;
    pub(crate) const CHECKSUM: usize = 20;
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
    /// Number of the dictionary that the payload is compressed with, 0 without one; in a dictionary block its own (DIC).
    pub dictionary: u16,
    /// CRC-32C of the file's id, the first 20 bytes and the stored payload (BLK-9).
    pub checksum: u32,
}

impl BlockHeader {
    /// Bytes of a block header.
    pub const SIZE: usize = 24;

    /// Reads the fields and checks nothing.
    pub fn parse(bytes: &[u8; Self::SIZE]) -> Self {
        let u32_at = |at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
        BlockHeader {
            stored_size: u32_at(field::STORED_SIZE),
            plain_size: u32_at(field::PLAIN_SIZE),
            partition: u32_at(field::PARTITION),
            sequence: u32_at(field::SEQUENCE),
            kind: bytes[field::KIND],
            codec: bytes[field::CODEC],
            dictionary: u16::from_le_bytes([bytes[field::DICTIONARY], bytes[field::DICTIONARY + 1]]),
            checksum: u32_at(field::CHECKSUM),
        }
    }

    /// The header as it stands before `stored` in the file of a seal, its checksum computed.
    pub fn encode(&self, seal: Seal, stored: &[u8]) -> [u8; Self::SIZE] {
        let fields = self.checked_bytes();
        let mut bytes = [0; Self::SIZE];
        bytes[..field::CHECKSUM].copy_from_slice(&fields);
        bytes[field::CHECKSUM..].copy_from_slice(&seal.checksum(&fields, stored).to_le_bytes());
        bytes
    }

    /// The bytes of the header that its checksum covers.
    pub(crate) fn checked_bytes(&self) -> [u8; field::CHECKSUM] {
        let mut bytes = [0; field::CHECKSUM];
        bytes[field::STORED_SIZE..field::PLAIN_SIZE].copy_from_slice(&self.stored_size.to_le_bytes());
        bytes[field::PLAIN_SIZE..field::PARTITION].copy_from_slice(&self.plain_size.to_le_bytes());
        bytes[field::PARTITION..field::SEQUENCE].copy_from_slice(&self.partition.to_le_bytes());
        bytes[field::SEQUENCE..field::KIND].copy_from_slice(&self.sequence.to_le_bytes());
        bytes[field::KIND] = self.kind;
        bytes[field::CODEC] = self.codec;
        bytes[field::DICTIONARY..field::CHECKSUM].copy_from_slice(&self.dictionary.to_le_bytes());
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
