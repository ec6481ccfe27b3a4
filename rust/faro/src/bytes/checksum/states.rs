//! States of the checksum: after bytes, and after a block's header.

#![allow(unsafe_code)]

use crc_fast::{CrcAlgorithm, Digest};

/// A checksum that continues from a state.
pub(super) fn digest(state: u32) -> Digest {
    Digest::new_with_init_state(CrcAlgorithm::Crc32Iscsi, state.into())
}

/// The state after bytes.
pub(super) fn updated(state: u32, bytes: &[u8]) -> u32 {
    let mut digest = digest(state);
    digest.update(bytes);
    // The algorithm is 32 bits wide, so the upper half is always zero.
    digest.get_state() as u32
}

#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "sse4.2")]
pub(super) fn after_header(state: u32, header: &[u8; 20]) -> u32 {
    use std::arch::x86_64::{_mm_crc32_u32, _mm_crc32_u64};
    let (first, second, third) = words(header);
    _mm_crc32_u32(_mm_crc32_u64(_mm_crc32_u64(state.into(), first), second) as u32, third)
}

#[cfg(target_arch = "aarch64")]
#[inline]
#[target_feature(enable = "crc")]
pub(super) fn after_header(state: u32, header: &[u8; 20]) -> u32 {
    use std::arch::aarch64::{__crc32cd, __crc32cw};
    let (first, second, third) = words(header);
    __crc32cw(__crc32cd(__crc32cd(state, first), second), third)
}

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
#[inline]
fn words(header: &[u8; 20]) -> (u64, u64, u32) {
    let [a, b, c, d, e] = std::array::from_fn(|at| {
        u32::from_le_bytes([
            header[4 * at],
            header[4 * at + 1],
            header[4 * at + 2],
            header[4 * at + 3],
        ])
    });
    let double = |low: u32, high: u32| u64::from(low) | u64::from(high) << 32;
    (double(a, b), double(c, d), e)
}
