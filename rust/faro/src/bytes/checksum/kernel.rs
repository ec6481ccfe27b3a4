//! Which instructions compute the checksum of a block. For small blocks, crc-fast takes three times as long for each
//! byte as for large ones, so their headers, and with AVX-512 also their payloads, have code of our own.

#![allow(unsafe_code)]

#[cfg(has_avx512)]
use super::avx512;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
use super::states::after_header;
use super::states::updated;

/// The instructions that this processor has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kernel {
    /// What crc-fast finds.
    Portable,
    /// Those for CRC-32C, for the header.
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    Crc,
    /// Also AVX-512 with VPCLMULQDQ, for small payloads.
    #[cfg(has_avx512)]
    Avx512,
}

impl Kernel {
    pub(super) fn detect() -> Self {
        #[cfg(has_avx512)]
        if avx512::is_available() {
            return Kernel::Avx512;
        }
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("sse4.2") {
            return Kernel::Crc;
        }
        #[cfg(target_arch = "aarch64")]
        if std::arch::is_aarch64_feature_detected!("crc") {
            return Kernel::Crc;
        }
        Kernel::Portable
    }

    /// The state of the checksum after a block's header.
    pub(super) fn state_after_header(self, state: u32, header: &[u8; 20]) -> u32 {
        match self {
            Kernel::Portable => updated(state, header),
            // SAFETY: the processor has the instructions; where it has AVX-512, it has those for CRC-32C too.
            #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
            _ => unsafe { after_header(state, header) },
        }
    }

    /// The state of the checksum after a block's header and payload, from the state before them. The kernel was
    /// detected.
    #[inline]
    pub(super) fn state_after(self, state: u32, header: &[u8; 20], stored: &[u8]) -> u32 {
        match self {
            #[cfg(has_avx512)]
            // SAFETY: the processor has the instructions.
            Kernel::Avx512 if stored.len() <= avx512::MOST => unsafe { avx512::state_after(state, header, stored) },
            _ => updated(self.state_after_header(state, header), stored),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The state after one more byte, by the definition.
    fn after_byte(state: u32, byte: u8) -> u32 {
        (0..8).fold(state ^ u32::from(byte), |state, _| {
            state >> 1 ^ if state & 1 == 1 { 0x82F6_3B78 } else { 0 }
        })
    }

    /// Every kernel that this processor has.
    fn kernels() -> Vec<Kernel> {
        let mut all = vec![Kernel::Portable];
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("sse4.2") {
            all.push(Kernel::Crc);
        }
        let detected = Kernel::detect();
        if !all.contains(&detected) {
            all.push(detected);
        }
        all
    }

    #[test]
    fn every_length_has_the_state_of_the_definition() {
        let mut random = 0x9E37_79B9_7F4A_7C15u64;
        let mut next = || {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            random
        };
        let bytes: Vec<u8> = (0..6000).map(|_| next() as u8).collect();
        // Miri is slow, and has none of the instructions.
        let most = if cfg!(miri) { 300 } else { 4200 };
        for begin in [0, 1, 3, 8, 31, 63, 64, 1000] {
            let header = bytes[begin..].first_chunk().unwrap();
            let state = next() as u32;
            let mut expected = header.iter().fold(state, |state, byte| after_byte(state, *byte));
            for length in 0..most {
                let stored = &bytes[begin + 24..][..length];
                for kernel in kernels() {
                    assert_eq!(
                        kernel.state_after(state, header, stored),
                        expected,
                        "{kernel:?} {begin} {length}"
                    );
                }
                expected = after_byte(expected, bytes[begin + 24 + length]);
            }
        }
    }

    /// A kernel reads nothing outside of the payload: here the payload is all there is.
    #[test]
    fn payloads_of_their_own() {
        for length in 0..600 {
            let stored: Box<[u8]> = (0..length).map(|at| (at * 7) as u8).collect();
            let [expected, others @ ..] = &kernels()
                .iter()
                .map(|kernel| kernel.state_after(7, &[9; 20], &stored))
                .collect::<Vec<_>>()[..]
            else {
                panic!("no kernel")
            };
            assert!(others.iter().all(|other| other == expected), "{length}");
        }
    }
}
