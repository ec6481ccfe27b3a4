//! A payload that claims to be an LZ4 block decodes to exactly plain_size bytes, or is refused. The property in full:
//! `fuzz/TARGETS.md`.
#![no_main]

use faro_fuzz_properties::targets;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| targets::codec_lz4(input));
