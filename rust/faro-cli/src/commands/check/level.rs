//! How much is checked.

use clap::ValueEnum;
use faro::CheckLevel;

/// The levels of the specification's CHK-1; each includes the one before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LevelName {
    /// Headers, tail, footer and all region messages: reads no data
    Structure,
    /// Also the checksum and header of every block
    Checksums,
    /// Also the content of blocks: decompression, framing, statistics
    Decode,
}

impl LevelName {
    /// The level of the library.
    pub(crate) fn level(self) -> CheckLevel {
        match self {
            LevelName::Structure => CheckLevel::Structure,
            LevelName::Checksums => CheckLevel::Checksums,
            LevelName::Decode => CheckLevel::Decode,
        }
    }

    /// The name of the level, as on the command line.
    pub(super) fn name(self) -> &'static str {
        match self {
            LevelName::Structure => "structure",
            LevelName::Checksums => "checksums",
            LevelName::Decode => "decode",
        }
    }
}
