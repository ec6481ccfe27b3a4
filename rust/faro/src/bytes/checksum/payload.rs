//! The checksum of a payload whose header is not known yet, to be added to that of the header at the end.

use super::states::updated;

/// The sum of a payload, to be fed piece by piece: the state of the checksum if the state before were zero. A state moves
/// over bytes as a polynomial is multiplied, and the sum of what comes after is added to it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct PayloadSum(u32);

impl PayloadSum {
    pub(crate) fn update(&mut self, bytes: &[u8]) {
        self.0 = updated(self.0, bytes);
    }

    /// The state after a payload of this length, from the state before it.
    pub(super) fn state_after(self, state: u32, length: u32) -> u32 {
        let [a, b, c, d] = length.to_le_bytes();
        let powers = [(&BY_1, a), (&BY_256, b), (&BY_64_KIB, c), (&BY_16_MIB, d)];
        let moved = powers
            .iter()
            .filter(|(_, number)| *number > 0)
            .fold(state, |state, (powers, number)| {
                product(state, powers[usize::from(*number)])
            });
        moved ^ self.0
    }

    /// As bytes, to be kept.
    pub(crate) fn to_le_bytes(self) -> [u8; 4] {
        self.0.to_le_bytes()
    }

    pub(crate) fn from_le_bytes(bytes: [u8; 4]) -> Self {
        PayloadSum(u32::from_le_bytes(bytes))
    }
}

static BY_1: [u32; 256] = powers(shifted(ONE));
static BY_256: [u32; 256] = powers(product(BY_1[255], BY_1[1]));
static BY_64_KIB: [u32; 256] = powers(product(BY_256[255], BY_256[1]));
static BY_16_MIB: [u32; 256] = powers(product(BY_64_KIB[255], BY_64_KIB[1]));

/// The polynomial 1. The bits are reversed: the highest is that of x^0.
const ONE: u32 = 1 << 31;
/// The polynomial of CRC-32C without x^32.
const POLYNOMIAL: u32 = 0x82F6_3B78;

/// x^8 times a polynomial.
const fn shifted(mut polynomial: u32) -> u32 {
    let mut count = 0;
    while count < 8 {
        polynomial = times_x(polynomial);
        count += 1;
    }
    polynomial
}

const fn times_x(polynomial: u32) -> u32 {
    (polynomial >> 1) ^ (POLYNOMIAL & (polynomial & 1).wrapping_neg())
}

/// The product of two polynomials. It has no branch, since the bits are random.
const fn product(mut a: u32, mut b: u32) -> u32 {
    let mut product = 0;
    let mut count = 0;
    while count < 32 {
        product ^= b & (a >> 31).wrapping_neg();
        a <<= 1;
        b = times_x(b);
        count += 1;
    }
    product
}

/// The powers of a polynomial.
const fn powers(polynomial: u32) -> [u32; 256] {
    let mut powers = [ONE; 256];
    let mut number = 1;
    while number < 256 {
        powers[number] = product(powers[number - 1], polynomial);
        number += 1;
    }
    powers
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sum_is_added_to_any_state() {
        let bytes: Vec<u8> = (0..140_000u32).map(|at| (at.wrapping_mul(at) >> 7) as u8).collect();
        for length in [0, 1, 7, 255, 256, 257, 1000, 65_535, 65_536, 131_073] {
            for state in [0, 1, !0, 0x1234_5678] {
                let mut sum = PayloadSum::default();
                bytes[..length].chunks(8 << 10).for_each(|piece| sum.update(piece));
                assert_eq!(PayloadSum::from_le_bytes(sum.to_le_bytes()), sum);
                let expected = updated(state, &bytes[..length]);
                assert_eq!(sum.state_after(state, length as u32), expected, "{length} {state}");
            }
        }
    }

    #[test]
    fn the_longest_payloads_have_a_power_too() {
        let zeros = vec![0; 1 << 20];
        let length = (3 << 24) + (2 << 16) + 5;
        let (mut state, mut left) = (77, length);
        while left > 0 {
            let now = left.min(zeros.len());
            state = updated(state, &zeros[..now]);
            left -= now;
        }
        assert_eq!(PayloadSum::default().state_after(77, length as u32), state);
    }
}
