//! CRC-32C for `dump`, which shows damaged files that the library refuses.

use crc_fast::{CrcAlgorithm, Digest};

/// The checksum of the concatenated parts.
pub(crate) fn crc32c(parts: &[&[u8]]) -> u32 {
    let mut digest = Digest::new(CrcAlgorithm::Crc32Iscsi);
    parts.iter().for_each(|part| digest.update(part));
    // The algorithm is 32 bits wide, so the upper half is always zero.
    digest.finalize() as u32
}
