//! What repairs did.

/// What was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Action {
    /// Nothing: the output is finished and opens.
    Nothing,
    /// The output was cut at its last commit and finished.
    LastCommit,
    /// The index was made anew.
    Rebuilt,
    /// The output was whole, and was given its final names; by [`crate::recover`] only.
    Published,
    /// There are files without the header that it would take to save something; by [`crate::recover`] only.
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
#[non_exhaustive]
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
