//! The figures of a scheduler.

/// What a scheduler has done so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Figures {
    /// The number of reads.
    pub reads: u64,
    /// Bytes that were read, with gaps.
    pub read_bytes: u64,
    /// Bytes that consumers have taken.
    pub given_bytes: u64,
    /// Bytes between the end of a read and the beginning of the next read of the same file, forwards or backwards.
    pub seek_bytes: u64,
    /// Bytes that were read or are being read, and are not taken yet.
    pub held_bytes: u64,
    /// The highest value of `held_bytes` so far.
    pub most_held_bytes: u64,
    /// Bytes that were taken back to make room, and have to be read again.
    pub reclaimed_bytes: u64,
}
