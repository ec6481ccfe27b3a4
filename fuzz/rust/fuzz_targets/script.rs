//! The records of a random script are read back, and two writers write the same bytes. The property in full:
//! `fuzz/TARGETS.md`.
#![no_main]

use faro_fuzz_properties::targets;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| targets::script(input));
