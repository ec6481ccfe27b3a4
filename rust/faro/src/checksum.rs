//! CRC-32C, the checksum of everything (spec, INT-6), and what ties a block to its file (BLK-9).

use crc_fast::{CrcAlgorithm, Digest};

/// The checksum of the parts, one after another.
pub(crate) fn crc32c(parts: &[&[u8]]) -> u32 {
    Running(Digest::new(CrcAlgorithm::Crc32Iscsi)).with(parts)
}

/// What a file's blocks have before them in their checksums: its file id, taken once for all of them (BLK-9).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seal {
    /// The state of the checksum behind the file id.
    state: u64,
}

impl Seal {
    /// The seal of a file's blocks.
    pub fn new(file_id: &[u8; 16]) -> Self {
        let mut digest = Digest::new(CrcAlgorithm::Crc32Iscsi);
        digest.update(file_id);
        Seal {
            state: digest.get_state(),
        }
    }

    /// The checksum of a block: of the first 20 bytes of its header and its stored payload.
    pub fn checksum(self, header: &[u8; 20], stored: &[u8]) -> u32 {
        self.running().with(&[header, stored])
    }

    /// The checksum of a block whose bytes come piece by piece.
    pub(crate) fn running(self) -> Running {
        Running(Digest::new_with_init_state(CrcAlgorithm::Crc32Iscsi, self.state))
    }
}

/// A checksum of bytes that come piece by piece.
pub(crate) struct Running(Digest);

impl Running {
    pub(crate) fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    pub(crate) fn value(&self) -> u32 {
        // The algorithm is 32 bits wide, so the upper half is always zero.
        self.0.finalize() as u32
    }

    fn with(mut self, parts: &[&[u8]]) -> u32 {
        for part in parts {
            self.update(part);
        }
        self.value()
    }
}

#[cfg(test)]
mod tests {
    use super::{Seal, crc32c};

    #[test]
    fn check_values_of_the_specification() {
        assert_eq!(crc32c(&[b"123456789"]), 0xE306_9283);
        assert_eq!(crc32c(&[b"1234", b"", b"56789"]), 0xE306_9283);
        assert_eq!(crc32c(&[&[0; 20]]), 0xBCC5_563E);
    }

    #[test]
    fn a_seal_is_the_file_id_before_the_block() {
        let (id, header, stored) = (*b"0123456789abcdef", [7; 20], [9u8; 1000]);
        let seal = Seal::new(&id);
        let expected = crc32c(&[&id, &header, &stored]);
        assert_eq!(seal.checksum(&header, &stored), expected);
        let mut running = seal.running();
        running.update(&header);
        stored.chunks(7).for_each(|chunk| running.update(chunk));
        assert_eq!(running.value(), expected);
        assert_ne!(Seal::new(b"0123456789abcdeg").checksum(&header, &stored), expected);
    }
}
