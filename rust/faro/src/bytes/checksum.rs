//! CRC-32C, the checksum of the format (spec, INT-6), and how it ties a block to its file (BLK-9).

// From this version on the build script sets the flag.
#[clippy::msrv = "1.89"]
#[cfg(has_avx512)]
mod avx512;
mod kernel;
mod payload;
mod states;

use crc_fast::{CrcAlgorithm, Digest};
use kernel::Kernel;
pub(crate) use payload::PayloadSum;
use states::digest;

/// The checksum of the concatenated parts.
pub(crate) fn crc32c(parts: &[&[u8]]) -> u32 {
    let mut running = Running(Digest::new(CrcAlgorithm::Crc32Iscsi));
    parts.iter().for_each(|part| running.update(part));
    running.value()
}

/// The start of the checksums of all blocks of one file: the state after its file id (BLK-9).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seal {
    /// The state of the checksum after the file id.
    state: u32,
    kernel: Kernel,
}

impl Seal {
    /// The seal of the blocks of the file with this id.
    pub fn new(file_id: &[u8; 16]) -> Self {
        let mut digest = Digest::new(CrcAlgorithm::Crc32Iscsi);
        digest.update(file_id);
        Seal {
            // The algorithm is 32 bits wide, so the upper half is always zero.
            state: digest.get_state() as u32,
            kernel: Kernel::detect(),
        }
    }

    /// The checksum of a block: over the file id, the first 20 bytes of the block header, and the stored payload.
    #[inline]
    pub fn checksum(self, header: &[u8; 20], stored: &[u8]) -> u32 {
        !self.kernel.state_after(self.state, header, stored)
    }

    /// The same, from the sum and the length of the payload.
    pub(crate) fn checksum_of_sum(self, header: &[u8; 20], payload: PayloadSum, length: u32) -> u32 {
        !payload.state_after(self.kernel.state_after_header(self.state, header), length)
    }

    /// The checksum that a block has in the file of this seal, with the header `to`, from its checksum in the file of
    /// another seal with the header `from` (BLK-9). The payload, of `length` bytes, is the same and is not read.
    pub(crate) fn moved(self, to: &[u8; 20], other: Seal, from: &[u8; 20], checksum: u32, length: u32) -> u32 {
        let before =
            self.kernel.state_after_header(self.state, to) ^ other.kernel.state_after_header(other.state, from);
        // Checksums are linear: what differs before the payload moves over it, and is added to what was after it.
        !(PayloadSum::default().state_after(before, length) ^ !checksum)
    }

    /// A checksum of a block, to be fed piece by piece.
    pub(crate) fn running(self) -> Running {
        Running(digest(self.state))
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

    #[test]
    fn a_checksum_moves_to_another_file() {
        let (one, two) = (Seal::new(b"0123456789abcdef"), Seal::new(b"fedcba9876543210"));
        let (from, to) = ([7; 20], [200; 20]);
        for length in [0, 1, 7, 24, 255, 256, 10_000, 70_000] {
            let stored: Vec<u8> = (0..length).map(|at| (at * 7 + at / 256) as u8).collect();
            let checksum = one.checksum(&from, &stored);
            let moved = two.moved(&to, one, &from, checksum, length as u32);
            assert_eq!(moved, two.checksum(&to, &stored), "{length}");
            assert_eq!(two.moved(&from, two, &from, checksum, length as u32), checksum);
        }
    }
}
