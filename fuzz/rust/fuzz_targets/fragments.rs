//! Reading streams of fragments, at once and in small pieces. The property in full: `fuzz/TARGETS.md`.
#![no_main]

use faro_fuzz_properties::{mutate, targets};
use libfuzzer_sys::{fuzz_mutator, fuzz_target, fuzzer_mutate};

fuzz_target!(|input: &[u8]| targets::fragments(input));

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    mutate::fragments(data, size, max_size, seed, fuzzer_mutate)
});
