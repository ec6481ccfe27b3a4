//! The random numbers of a mutation, and changes of numbers.

/// SplitMix64, from the fuzzer's seed.
pub(crate) struct Rng(u64);

/// Numbers near limits of the format.
const EDGES: [u64; 14] = [
    0,
    1,
    2,
    7,
    8,
    24,
    64,
    127,
    128,
    0xFFFF,
    1 << 16,
    1 << 28,
    0x7FFF_FFFF,
    0xFFFF_FFFF,
];

impl Rng {
    pub(super) fn new(seed: u32) -> Self {
        Rng(seed.into())
    }

    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number below `count`, or 0 when that is 0.
    pub(super) fn below(&mut self, count: usize) -> usize {
        (self.next() % count.max(1) as u64) as usize
    }

    /// True in one of `n` cases.
    pub(super) fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    /// A changed `value`.
    pub(super) fn tweak(&mut self, value: u64) -> u64 {
        match self.below(8) {
            0 => value ^ 1 << self.below(32),
            1 => value.wrapping_add(1),
            2 => value.wrapping_sub(1),
            3 => value.wrapping_add(8),
            4 => value.wrapping_sub(8),
            5 => EDGES[self.below(EDGES.len())],
            6 => EDGES[self.below(EDGES.len())].wrapping_neg(),
            _ => self.next() >> self.below(64),
        }
    }

    /// Changes the number of `size` bytes at `at`, if it is there.
    pub(super) fn tweak_at(&mut self, bytes: &mut [u8], at: usize, size: usize) {
        let Some(field) = bytes.get_mut(at..at + size) else {
            return;
        };
        let mut number = [0; 8];
        number[..size].copy_from_slice(field);
        let tweaked = self.tweak(u64::from_le_bytes(number));
        field.copy_from_slice(&tweaked.to_le_bytes()[..size]);
    }
}
