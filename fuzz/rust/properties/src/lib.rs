//! The fuzz targets: how an input is decoded, what is done with it, and what must hold. `fuzz/TARGETS.md` specifies
//! this for all languages.
//!
//! A property that does not hold causes a panic.

mod container;
mod cursor;
pub mod mutate;
pub mod pack;
mod scratch;
mod seal;
mod seen;
pub mod targets;
pub mod verdicts;

pub use container::{Container, limits_of};
pub use cursor::Cursor;
pub use seal::{crc32c, seal};

/// A target: its name, and the function that runs it on an input.
pub type Target = (&'static str, fn(&[u8]));

/// All targets.
pub const TARGETS: [Target; 11] = [
    ("open", targets::open),
    ("read_all", targets::read_all),
    ("follow", targets::follow),
    ("repair", targets::repair),
    ("message", targets::message),
    ("codec_lz4", targets::codec_lz4),
    ("codec_zstd", targets::codec_zstd),
    ("header_block", targets::header_block),
    ("fragments", targets::fragments),
    ("merge", targets::merge),
    ("script", targets::script),
];
