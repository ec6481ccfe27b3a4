//! Recovery to the last commit, rebuilding a lost index (spec, REP), and what dead writers leave (spec, PUB-7 to PUB-9).

mod clean;
mod last_commit;
mod rebuild;
mod recover;
mod remains;

pub use clean::{CleanOptions, CleanReport, KeptReason, Leftover, clean};
pub use last_commit::repair;
pub use rebuild::{RebuildOptions, SharedPolicy, rebuild};
pub use recover::{RecoverOptions, RecoverReport, recover};

use rebuild::rebuild_as;

use crate::error::{Error, Result, Role};
use crate::message::{DictionaryEntry, Footer, Property, RegionEntry};
use std::fs::{File, OpenOptions};
use std::io::{Seek, SeekFrom, Write};
use std::path::Path;

/// What was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Nothing: the output is finished and opens.
    Nothing,
    /// The output was cut at its last commit and finished.
    LastCommit,
    /// The index was made anew.
    Rebuilt,
    /// The output was whole, and was given its final names; by [`recover`] only.
    Published,
    /// There are files without the header that it would take to save something; by [`recover`] only.
    NothingSaved,
}

impl Action {
    /// The action as the conformance protocol spells it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Action::Nothing => "nothing",
            Action::LastCommit => "last-commit",
            Action::Rebuilt => "rebuilt",
            Action::Published => "published",
            Action::NothingSaved => "nothing-saved",
        }
    }
}

/// What a repair did, or with `dry_run` would have done (REP-8).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RepairReport {
    /// What was done.
    pub action: Action,
    /// Regions of the output now.
    pub regions: u64,
    /// Partition blocks that were found; counted by a rebuild only.
    pub blocks: Option<u64>,
    /// Bytes kept of the data file; 0 in a single output.
    pub data_kept: u64,
    /// Bytes cut off the data file.
    pub data_cut: u64,
    /// Bytes kept of the index or single file; 0 in a rebuild.
    pub index_kept: u64,
    /// Bytes cut off the index or single file, before a footer and a tail were written.
    pub index_cut: u64,
    /// Shared blocks that a rebuild left without members: nobody reads them.
    pub orphaned: u64,
    /// What cannot be recovered, for a human.
    pub lost: &'static [&'static str],
}

/// The footer of a repaired file (REP-3).
fn footer(regions: Vec<RegionEntry>, dictionaries: Vec<DictionaryEntry>, data_size: u64, how: &str) -> Footer {
    let property = Property {
        key: "faro.repair".into(),
        value: how.into(),
    };
    Footer {
        regions,
        data_size,
        statistics: None,
        properties: vec![property],
        created_by: None,
        dictionaries,
    }
}

/// Cuts a file and writes bytes behind the cut.
fn mend(path: &Path, role: Role, length: u64, behind: &[u8]) -> Result<()> {
    let act = || -> std::io::Result<()> {
        let mut file: File = OpenOptions::new().write(true).open(path)?;
        file.set_len(length)?;
        file.seek(SeekFrom::Start(length))?;
        file.write_all(behind)?;
        file.sync_all()
    };
    act().map_err(|error| Error::io("mend the file", path, Some(role), error))
}
