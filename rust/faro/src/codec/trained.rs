//! A dictionary that the writer uses.

/// A dictionary for small blocks, and how to use it.
#[derive(Clone, Debug)]
pub(crate) struct Trained {
    pub bytes: Vec<u8>,
    /// The least length in bytes of a match, where the default of the compression level is not the best.
    #[cfg_attr(
        not(feature = "zstd"),
        expect(dead_code, reason = "only Zstandard searches for matches")
    )]
    pub least_match: Option<u32>,
}
