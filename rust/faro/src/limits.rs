//! What a reader allows a file to ask for (spec, LIM-1).

/// The limits of a reader, in bytes unless said otherwise. A size from a file is held against its limit before memory is
/// taken for it.
///
/// ```
/// let limits = faro::Limits { max_regions: 1000, ..faro::Limits::default() };
/// assert_eq!(limits.max_block_size, 64 << 20);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Largest stored size of a partition block.
    pub max_block_size: u64,
    /// Largest plain size of a partition block.
    pub max_plain_size: u64,
    /// Largest stored size of a metadata block.
    pub max_message_size: u64,
    /// Most regions of a file.
    pub max_regions: u64,
    /// Largest stored size of a dictionary block.
    pub max_dictionary_size: u64,
    /// Most dictionaries of a file.
    pub max_dictionaries: u64,
    /// Largest window of a Zstandard frame.
    pub max_window_size: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            max_block_size: 64 << 20,
            max_plain_size: 64 << 20,
            max_message_size: 64 << 20,
            max_regions: 1 << 20,
            max_dictionary_size: 1 << 20,
            max_dictionaries: 1024,
            max_window_size: 8 << 20,
        }
    }
}
