//! The last 24 bytes of a finished index or single file (spec, TAIL).

use super::checksum::crc32c;
use super::header::MAGIC;
use crate::error::{Error, Result};

/// The file magic with every byte complemented: the last bytes of a finished file.
pub(crate) const TAIL_MAGIC: [u8; 8] = {
    let mut bytes = MAGIC;
    let mut at = 0;
    while at < bytes.len() {
        bytes[at] = !bytes[at];
        at += 1;
    }
    bytes
};

/// Where the fields are, in bytes from the beginning of the tail (TAIL-1).
mod field {
    pub(super) const FOOTER_OFFSET: usize = 0;
    pub(super) const FOOTER_SIZE: usize = 8;
    pub(super) const CHECKSUM: usize = 12;
    pub(super) const MAGIC: usize = 16;
}

/// The fields of a tail: where the footer is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Tail {
    /// Where the footer block begins.
    pub footer_offset: u64,
    /// Stored size of the footer block, in bytes.
    pub footer_size: u32,
}

impl Tail {
    /// The size of a tail, in bytes.
    pub(crate) const SIZE: usize = 24;

    pub(crate) fn encode(&self) -> [u8; Self::SIZE] {
        let mut bytes = [0; Self::SIZE];
        bytes[field::FOOTER_OFFSET..field::FOOTER_SIZE].copy_from_slice(&self.footer_offset.to_le_bytes());
        bytes[field::FOOTER_SIZE..field::CHECKSUM].copy_from_slice(&self.footer_size.to_le_bytes());
        bytes[field::MAGIC..].copy_from_slice(&TAIL_MAGIC);
        let checksum = crc32c(&[&bytes[..field::CHECKSUM], &bytes[field::MAGIC..]]);
        bytes[field::CHECKSUM..field::MAGIC].copy_from_slice(&checksum.to_le_bytes());
        bytes
    }

    /// Whether the bytes end with the tail's magic.
    pub(crate) fn has_magic(bytes: &[u8; Self::SIZE]) -> bool {
        bytes[field::MAGIC..] == TAIL_MAGIC
    }

    /// Reads the tail at `offset`. Any damage, also of its magic, is `checksum`.
    pub(crate) fn parse(bytes: &[u8; Self::SIZE], offset: u64) -> Result<Self> {
        let u32_at = |at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
        let stored = u32_at(field::CHECKSUM);
        let computed = crc32c(&[&bytes[..field::CHECKSUM], &bytes[field::MAGIC..]]);
        if stored != computed || !Self::has_magic(bytes) {
            return Err(Error::checksum(offset, stored, computed));
        }
        let mut footer_offset = [0; 8];
        footer_offset.copy_from_slice(&bytes[field::FOOTER_OFFSET..field::FOOTER_SIZE]);
        Ok(Tail {
            footer_offset: u64::from_le_bytes(footer_offset),
            footer_size: u32_at(field::FOOTER_SIZE),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorCode;

    #[test]
    fn a_tail_is_read_back_and_damage_is_seen() {
        let tail = Tail {
            footer_offset: 4096,
            footer_size: 100,
        };
        let bytes = tail.encode();
        assert_eq!(bytes[16..], [0x76, 0xB9, 0xBE, 0xAD, 0xB0, 0xF2, 0xF5, 0xE5]);
        assert!(Tail::has_magic(&bytes));
        assert_eq!(Tail::parse(&bytes, 0).unwrap(), tail);
        for at in 0..16 {
            let mut bad = bytes;
            bad[at] ^= 1;
            assert_eq!(Tail::parse(&bad, 7).unwrap_err().code, ErrorCode::Checksum);
        }
    }
}
