//! The reports of repairs.

use crate::error::Error;

/// What was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Action {
    /// Nothing was done: the output is finished and opens.
    Nothing,
    /// The output was cut at its last commit and finished.
    LastCommit,
    /// The index was made again.
    Rebuilt,
    /// The output was complete and got its final names. Only [`crate::recover`] does this.
    Published,
    /// Nothing could be saved: the files lack a header. Only [`crate::recover`] reports this.
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
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct RepairReport {
    /// What was done.
    pub action: Action,
    /// The number of regions of the output now.
    pub regions: u64,
    /// The number of partition blocks found; only a rebuild counts them.
    pub blocks: Option<u64>,
    /// Bytes of the data file that were kept; 0 for a single file.
    pub data_kept: u64,
    /// Bytes that were cut off the data file.
    pub data_cut: u64,
    /// The fault of the block at which a rebuild stopped (REP-5): it and everything after it were cut off. None if all
    /// blocks passed their checks, and after other repairs.
    pub fault: Option<Error>,
    /// Bytes of the index or single file that were kept; 0 after a rebuild.
    pub index_kept: u64,
    /// Bytes that were cut off the index or single file, before a footer and a tail were appended.
    pub index_cut: u64,
    /// The number of shared blocks that a rebuild left without members, so that no partition reads them.
    pub orphaned: u64,
    /// What cannot be recovered, as texts for people.
    pub lost: &'static [&'static str],
}
