//! CRC-32C, the checksum of the format (spec, INT-6), and how it ties a block to its file (BLK-9).

use crc_fast::{CrcAlgorithm, Digest};

/// The checksum of the concatenated parts.
pub(crate) fn crc32c(parts: &[&[u8]]) -> u32 {
    Running(Digest::new(CrcAlgorithm::Crc32Iscsi)).with(parts)
}

/// The start of the checksums of all blocks of one file: the state after its file id (BLK-9).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seal {
    /// The state of the checksum after the file id.
    state: u64,
}

impl Seal {
    /// The seal of the blocks of the file with this id.
    pub fn new(file_id: &[u8; 16]) -> Self {
        let mut digest = Digest::new(CrcAlgorithm::Crc32Iscsi);
        digest.update(file_id);
        Seal {
            state: digest.get_state(),
        }
    }

    /// The checksum of a block: over the file id, the first 20 bytes of the block header, and the stored payload.
    pub fn checksum(self, header: &[u8; 20], stored: &[u8]) -> u32 {
        self.running().with(&[header, stored])
    }

    /// A checksum of a block, to be fed piece by piece.
    pub(crate) fn running(self) -> Running {
        Running(Digest::new_with_init_state(CrcAlgorithm::Crc32Iscsi, self.state))
    }
}

/// A seal for many blocks in turn. A new checksum for each small block would cost more than its bytes do.
pub(crate) struct Sealing {
    seal: Seal,
    digest: Digest,
}

impl Sealing {
    pub(crate) fn new(seal: Seal) -> Self {
        Sealing {
            seal,
            digest: seal.running().0,
        }
    }

    /// As [`Seal::checksum`].
    #[inline]
    pub(crate) fn checksum(&mut self, header: &[u8; 20], stored: &[u8]) -> u32 {
        // The checksum takes bytes by adding them to its state. Adding the difference between the previous block's
        // final state and the state after the file id to the first bytes therefore starts a new checksum.
        let difference = self.digest.get_state() ^ self.seal.state;
        let (first, rest) = header.split_at(8);
        let mut bytes = [0; 20];
        let first = first.try_into().map_or(0, u64::from_le_bytes);
        bytes[..8].copy_from_slice(&(first ^ difference).to_le_bytes());
        bytes[8..].copy_from_slice(rest);
        self.digest.update(&bytes);
        self.digest.update(stored);
        // The algorithm is 32 bits wide, so the upper half is always zero.
        self.digest.finalize() as u32
    }
}

/// A checksum that is fed piece by piece.
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
    use super::{Seal, Sealing, crc32c};

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
    #[test]
    fn block_after_block_has_the_checksum_of_its_own() {
        let bytes: Vec<u8> = (0..70_000u32).map(|at| (at.wrapping_mul(at) >> 7) as u8).collect();
        let seal = Seal::new(b"0123456789abcdef");
        let mut sealing = Sealing::new(seal);
        for length in [0, 1, 7, 8, 100, 255, 256, 257, 1000, 65_536, 3] {
            let header = std::array::from_fn(|at| bytes[length / 2 + at]);
            let stored = &bytes[1000..1000 + length];
            assert_eq!(
                sealing.checksum(&header, stored),
                seal.checksum(&header, stored),
                "{length}"
            );
        }
    }
}
