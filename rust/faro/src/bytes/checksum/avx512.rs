//! The checksum of a small block with AVX-512 and VPCLMULQDQ. Its one branch that depends on the length is the loop;
//! crc-fast has several, and for small blocks each mispredicted one costs as much as hundreds of bytes.
//!
//! The payload is four registers at a time, with zeros before it, which do not change a checksum that begins with zero.
//! The state after the header is added at the end, multiplied by x^(8 · length). "Fast CRC Computation for Generic
//! Polynomials Using PCLMULQDQ Instruction" (Intel, 2009) explains the folding.

#![allow(unsafe_code)]

use super::states::after_header;
use std::arch::x86_64::*;

/// The most bytes of a payload, by the length of [`BY_64`].
pub(super) const MOST: usize = 64 * 64 - 1;

/// Whether the processor has the instructions of [`state_after`].
pub(super) fn is_available() -> bool {
    is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512vl")
        && is_x86_feature_detected!("vpclmulqdq")
        && is_x86_feature_detected!("pclmulqdq")
        && is_x86_feature_detected!("sse4.2")
}

/// The state of the checksum after a block's header and payload, from the state before them.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,vpclmulqdq,pclmulqdq,sse4.2")]
pub(super) fn state_after(state: u32, header: &[u8; 20], stored: &[u8]) -> u32 {
    let length = stored.len();
    let (first, rest) = stored.split_at(length % 256);
    let end = first.as_ptr().wrapping_add(first.len());
    let count = _mm512_set1_epi8(first.len() as u8 as i8);
    let part = |number: usize| {
        let mask = _mm512_cmplt_epu8_mask(load(&BYTES_AFTER[number]), count);
        // SAFETY: the mask leaves out all bytes before the first one, and masked bytes are not accessed.
        unsafe { _mm512_maskz_loadu_epi8(mask, end.wrapping_sub(256 - 64 * number).cast()) }
    };
    let mut x = [part(0), part(1), part(2), part(3)];
    for chunk in rest.as_chunks::<256>().0 {
        for (x, bytes) in x.iter_mut().zip(chunk.as_chunks().0) {
            *x = fold(*x, over::<256>(), load(bytes));
        }
    }
    let [x0, x1, x2, x3] = x;
    let x = fold(x0, over::<192>(), x3);
    let x = fold(x1, over::<128>(), x);
    let x = fold(x2, over::<64>(), x);
    // The 16 bytes at the end stay, and the others are moved to them.
    let [a, b, c] = const { [multipliers(48), multipliers(32), multipliers(16)] };
    let lanes = _mm512_set_epi64(0, 0, c[1], c[0], b[1], b[0], a[1], a[0]);
    let x = fold(x, lanes, _mm512_maskz_mov_epi64(0b1100_0000, x));
    let x = _mm256_xor_si256(_mm512_castsi512_si256(x), _mm512_extracti64x4_epi64::<1>(x));

    let start = after_header(state, header);
    let start = multiplied(start, BY_64[length / 64 % 64]);
    let start = _mm_crc32_u64(0, start) as u32;
    let start = multiplied(start, BY_1[length % 64]);
    let x = _mm_xor_si128(_mm256_castsi256_si128(x), _mm256_extracti128_si256::<1>(x));
    let low = _mm_crc32_u64(0, _mm_cvtsi128_si64(x) as u64);
    _mm_crc32_u64(low, _mm_extract_epi64::<1>(x) as u64 ^ start) as u32
}

#[inline]
#[target_feature(enable = "avx512f")]
fn load(bytes: &[u8; 64]) -> __m512i {
    // SAFETY: the array has the 64 bytes, at any alignment.
    unsafe { _mm512_loadu_si512(bytes.as_ptr().cast()) }
}

/// The multipliers that move each 16 bytes over this many bytes.
#[inline]
#[target_feature(enable = "avx512f")]
fn over<const BYTES: usize>() -> __m512i {
    let [low, high] = const { multipliers(BYTES) };
    _mm512_set4_epi64(high, low, high, low)
}

/// Moves `x` by the multipliers, and adds `y`.
#[inline]
#[target_feature(enable = "avx512f,vpclmulqdq")]
fn fold(x: __m512i, multipliers: __m512i, y: __m512i) -> __m512i {
    let low = _mm512_clmulepi64_epi128::<0x00>(x, multipliers);
    let high = _mm512_clmulepi64_epi128::<0x11>(x, multipliers);
    _mm512_ternarylogic_epi64::<XOR>(low, high, y)
}

/// The three-operand table of exclusive or.
const XOR: i32 = 0x96;

/// The product of a state and x^n, for the multiplier of x^n. It has 64 bits, of which the checksum is the product.
#[inline]
#[target_feature(enable = "pclmulqdq")]
fn multiplied(state: u32, multiplier: u32) -> u64 {
    let [state, multiplier] = [state, multiplier].map(|bits| _mm_cvtsi32_si128(bits as i32));
    _mm_cvtsi128_si64(_mm_clmulepi64_si128::<0>(state, multiplier)) as u64
}

/// How many of 256 bytes come after each.
static BYTES_AFTER: [[u8; 64]; 4] = {
    let mut behind = [[0; 64]; 4];
    let mut at = 0;
    while at < 256 {
        behind[at / 64][at % 64] = 255 - at as u8;
        at += 1;
    }
    behind
};

/// The multipliers of x^(8 · 64 · n).
static BY_64: [u32; 64] = powers(64);
/// The multipliers of x^(8 · n).
static BY_1: [u32; 64] = powers(1);

/// The multipliers for [`multiplied`] of the powers of x^(8 · bytes). They are x^-33 too small: carry-less
/// multiplication of reversed bits makes one factor x, and the checksum of the product 32 more.
const fn powers(bytes: usize) -> [u32; 64] {
    let mut powers = [0; 64];
    let mut power = ONE;
    let mut count = 0;
    while count < 33 {
        power = over_x(power);
        count += 1;
    }
    let mut number = 0;
    while number < 64 {
        powers[number] = power;
        power = times_x(power, 8 * bytes);
        number += 1;
    }
    powers
}

/// The multipliers of [`fold`] for a distance: of the first 8 of 16 bytes, which are 8 bytes farther, and of the others.
const fn multipliers(bytes: usize) -> [i64; 2] {
    [times_x(ONE, 8 * bytes + 31) as i64, times_x(ONE, 8 * bytes - 33) as i64]
}

/// The polynomial 1. The bits are reversed: the highest is that of x^0.
const ONE: u32 = 1 << 31;
/// The polynomial of CRC-32C without x^32.
const POLYNOMIAL: u32 = 0x82F6_3B78;

const fn times_x(mut power: u32, times: usize) -> u32 {
    let mut count = 0;
    while count < times {
        power = (power >> 1) ^ (if power & 1 == 1 { POLYNOMIAL } else { 0 });
        count += 1;
    }
    power
}

const fn over_x(power: u32) -> u32 {
    // The polynomial's own x^0 is where the x that was divided away goes.
    if power & ONE == 0 {
        power << 1
    } else {
        (power ^ POLYNOMIAL) << 1 | 1
    }
}
