//! The checks of a dictionary before a decoder sees it, and how many a file may have (spec, DIC-4 and DIC-5).

use super::header::BlockHeader;
use crate::error::{Error, ErrorCode, Result};
use crate::limits::Limits;

/// The first bytes of every dictionary.
pub(crate) const MAGIC: [u8; 4] = [0x37, 0xA4, 0x30, 0xEC];
/// The least size of a dictionary, in bytes.
pub(crate) const LEAST: u32 = 8;
/// The most dictionaries in a file: their numbers have 16 bits.
pub(crate) const MOST: usize = 65_535;

/// Why a payload is not a dictionary, as far as that can be checked without a decoder (DIC-4).
pub(crate) fn fault_of(payload: &[u8]) -> Option<String> {
    match payload {
        _ if payload.len() < LEAST as usize => Some(format!("{} bytes", payload.len())),
        _ if payload[..4] != MAGIC => Some(format!("bytes that begin with {:02X?}", &payload[..4])),
        _ => None,
    }
}

/// The last check of DIC-4, on the payload of the dictionary block at `offset`.
pub(crate) fn check(payload: &[u8], offset: u64) -> Result<()> {
    match fault_of(payload) {
        None => Ok(()),
        Some(found) => Err(Error::at(
            ErrorCode::MalformedBlock,
            offset + BlockHeader::SIZE as u64,
            "a Zstandard dictionary of 8 bytes or more that begins with 37 A4 30 EC",
            found,
        )),
    }
}

/// The fault of a dictionary at `offset` that exceeds the limit (DIC-5).
pub(crate) fn too_many(limits: &Limits, offset: u64) -> Error {
    let expected = format!("at most {} dictionaries (max_dictionaries)", limits.max_dictionaries);
    Error::at(ErrorCode::LimitExceeded, offset, expected, "one more")
}
