//! The 24 bytes before a payload (spec, BLK-1), and their constants: kinds (BLK-2), partitions (BLK-4), codecs.

use crate::bytes::{Seal, pad8};

/// The partition number in the headers of shared blocks and metadata blocks (BLK-4).
pub const ANY_PARTITION: u32 = u32::MAX;
/// The kind of a data block.
pub const DATA: u8 = 0;
/// The kind of an event block. Kinds 64 to 127 are events that the application defines.
pub const EVENT: u8 = 1;
/// The kind of a block with a region message.
pub const REGION: u8 = 128;
/// The kind of a block with the footer message.
pub const FOOTER: u8 = 129;
/// The kind of a block with the schema message.
pub const SCHEMA: u8 = 130;
/// The kind of a block with a dictionary.
pub const DICTIONARY: u8 = 131;

/// The kind of the block that ends a fragment (FRG-3).
pub(crate) const FRAGMENT_END: u8 = 132;

/// The codec number of uncompressed payloads.
pub(crate) const CODEC_NONE: u8 = 0;
/// The largest codec number that this library knows.
pub(crate) const CODEC_LAST: u8 = 2;

/// Whether blocks of a kind belong in extents: data and events.
pub(crate) const fn is_partition_kind(kind: u8) -> bool {
    kind == DATA || is_event_kind(kind)
}

/// Whether a kind is an event: 1, or 64 to 127 (BLK-2).
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

/// The header of a block. It keeps the checksum as it was found; [`BlockHeader::encode`] computes a new one. The fields
/// are those of BLK-1, which do not change within a major version (VER-1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockHeader {
    /// Size of the stored payload, in bytes.
    pub stored_size: u32,
    /// Size of the payload after decompression, in bytes.
    pub plain_size: u32,
    /// The number of the block's partition; [`ANY_PARTITION`] in shared and metadata blocks.
    pub partition: u32,
    /// The block's sequence number in its stream (BLK-3).
    pub sequence: u32,
    /// What the payload is, for example [`DATA`] (BLK-2).
    pub kind: u8,
    /// The codec number: 0 none, 1 LZ4, 2 Zstandard.
    pub codec: u8,
    /// The number of the dictionary that the payload is compressed with; 0 without one. A dictionary block has its own
    /// number here (DIC-1).
    pub dictionary: u16,
    /// CRC-32C of the file_id, the first 20 bytes of this header and the stored payload (BLK-9).
    pub checksum: u32,
}

impl BlockHeader {
    /// The size of a block header, in bytes.
    pub const SIZE: usize = 24;

    /// Reads the fields and checks nothing.
    #[inline]
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

    /// The bytes of the header, with the checksum computed for the stored payload in the file of the seal.
    pub fn encode(&self, seal: Seal, stored: &[u8]) -> [u8; Self::SIZE] {
        let fields = self.checked_bytes();
        let mut bytes = [0; Self::SIZE];
        bytes[..field::CHECKSUM].copy_from_slice(&fields);
        bytes[field::CHECKSUM..].copy_from_slice(&seal.checksum(&fields, stored).to_le_bytes());
        bytes
    }

    /// The 20 bytes of the header that the checksum covers.
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

    /// The size of the whole block in its file, in bytes: header, payload and padding (BLK-1).
    pub fn size_in_file(&self) -> u64 {
        Self::SIZE as u64 + pad8(self.stored_size)
    }

    /// Whether this is a metadata block: its kind is 128 or above.
    pub fn is_metadata(&self) -> bool {
        self.kind >= REGION
    }
}
