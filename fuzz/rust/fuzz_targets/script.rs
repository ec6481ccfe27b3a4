//! What a random script writes is what is read, and two writers write the same bytes.
//! The property in full: `fuzz/TARGETS.md`.
#![no_main]

use faro_fuzz_logic::targets;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| targets::script(input));
