//! Merging by a program of pushes: a model knows each answer, and what is in the file in the end. The property in full:
//! `fuzz/TARGETS.md`.
#![no_main]

use faro_fuzz_properties::{mutate, targets};
use libfuzzer_sys::{fuzz_mutator, fuzz_target, fuzzer_mutate};

fuzz_target!(|input: &[u8]| targets::merge(input));

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    mutate::merge(data, size, max_size, seed, fuzzer_mutate)
});
