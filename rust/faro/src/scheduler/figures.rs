//! What a scheduler did so far.

/// What was done so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Figures {
    /// Reads.
    pub reads: u64,
    /// Bytes that were read, gaps included.
    pub read_bytes: u64,
    /// Bytes that consumers were given.
    pub given_bytes: u64,
    /// Bytes between where a read of a file ended and its next one began, forwards or backwards.
    pub seek_bytes: u64,
    /// Bytes that were read or are being read, and are not taken, now.
    pub held_bytes: u64,
    /// Most bytes of these at any time.
    pub most_held_bytes: u64,
    /// Bytes that were taken back to make room, and are read again.
    pub reclaimed_bytes: u64,
}
