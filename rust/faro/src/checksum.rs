//! CRC-32C, the checksum of everything (spec, INT-6).

use crc_fast::{CrcAlgorithm, Digest};

/// The checksum of the parts, one after another.
pub(crate) fn crc32c(parts: &[&[u8]]) -> u32 {
    let mut running = Running::new();
    for part in parts {
        running.update(part);
    }
    running.value()
}

/// A checksum of bytes that come piece by piece.
pub(crate) struct Running(Digest);

impl Running {
    pub(crate) fn new() -> Self {
        Running(Digest::new(CrcAlgorithm::Crc32Iscsi))
    }

    pub(crate) fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    pub(crate) fn value(&self) -> u32 {
        // The algorithm is 32 bits wide, so the upper half is always zero.
        self.0.finalize() as u32
    }
}

#[cfg(test)]
mod tests {
    use super::crc32c;

    #[test]
    fn check_values_of_the_specification() {
        assert_eq!(crc32c(&[b"123456789"]), 0xE306_9283);
        assert_eq!(crc32c(&[b"1234", b"", b"56789"]), 0xE306_9283);
        assert_eq!(crc32c(&[&[0; 20]]), 0xBCC5_563E);
    }
}
