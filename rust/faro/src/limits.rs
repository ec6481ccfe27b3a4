//! The most that a reader accepts from a file (spec, LIM-1), and the memory that an engine grants.

mod memory_budget;

pub use memory_budget::MemoryBudget;
pub(crate) use memory_budget::{CountedBudget, Grants, out_of_memory};

/// The limits of a reader, in bytes unless said otherwise. The reader compares a size from a file with its limit before
/// it allocates memory for it.
///
/// ```
/// let limits = faro::Limits::default().max_regions(1000);
/// assert_eq!(limits.max_block_size, 64 << 20);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Largest stored size of a partition block; 64 MiB by default.
    pub max_block_size: u64,
    /// Largest plain size of a partition block; 64 MiB by default.
    pub max_plain_size: u64,
    /// Largest stored size of a metadata block; 64 MiB by default.
    pub max_message_size: u64,
    /// Most regions in a file; 2^20 by default.
    pub max_regions: u64,
    /// Largest stored size of a dictionary block; 1 MiB by default.
    pub max_dictionary_size: u64,
    /// Most dictionaries in a file; 1,024 by default.
    pub max_dictionaries: u64,
    /// Largest window of a Zstandard frame; 8 MiB by default.
    pub max_window_size: u64,
}

impl Limits {
    /// Sets `max_block_size`.
    #[must_use]
    pub fn max_block_size(mut self, max_block_size: u64) -> Self {
        self.max_block_size = max_block_size;
        self
    }

    /// Sets `max_plain_size`.
    #[must_use]
    pub fn max_plain_size(mut self, max_plain_size: u64) -> Self {
        self.max_plain_size = max_plain_size;
        self
    }

    /// Sets `max_message_size`.
    #[must_use]
    pub fn max_message_size(mut self, max_message_size: u64) -> Self {
        self.max_message_size = max_message_size;
        self
    }

    /// Sets `max_regions`.
    #[must_use]
    pub fn max_regions(mut self, max_regions: u64) -> Self {
        self.max_regions = max_regions;
        self
    }

    /// Sets `max_dictionary_size`.
    #[must_use]
    pub fn max_dictionary_size(mut self, max_dictionary_size: u64) -> Self {
        self.max_dictionary_size = max_dictionary_size;
        self
    }

    /// Sets `max_dictionaries`.
    #[must_use]
    pub fn max_dictionaries(mut self, max_dictionaries: u64) -> Self {
        self.max_dictionaries = max_dictionaries;
        self
    }

    /// Sets `max_window_size`.
    #[must_use]
    pub fn max_window_size(mut self, max_window_size: u64) -> Self {
        self.max_window_size = max_window_size;
        self
    }
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
