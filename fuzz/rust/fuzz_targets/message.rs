//! A message alone is refused with an error, or read, and the same after it is built and read again. The property in
//! full: `fuzz/TARGETS.md`.
#![no_main]

use faro_fuzz_properties::{mutate, targets};
use libfuzzer_sys::{fuzz_mutator, fuzz_target, fuzzer_mutate};

fuzz_target!(|input: &[u8]| targets::message(input));

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    mutate::message(data, size, max_size, seed, fuzzer_mutate)
});
