//! A range of a file.

use std::ops::Range;

/// The bytes of a file that are asked for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum FileRange {
    /// From an offset on, and before another one, which may be after the end of the file.
    Bounded(Range<u64>),
    /// The last bytes of a file whose size is not known: this many, or all if the file has fewer.
    Suffix(u64),
}

impl FileRange {
    /// The offsets of these bytes in a file of `size` bytes.
    ///
    /// ```
    /// use faro::storage::FileRange;
    /// assert_eq!(FileRange::Suffix(100).within(1000), 900..1000);
    /// assert_eq!(FileRange::Suffix(100).within(64), 0..64);
    /// assert_eq!(FileRange::Bounded(40..80).within(64), 40..64);
    /// ```
    pub fn within(&self, size: u64) -> Range<u64> {
        match self {
            FileRange::Bounded(range) => range.start.min(size)..range.end.min(size).max(range.start.min(size)),
            FileRange::Suffix(length) => size.saturating_sub(*length)..size,
        }
    }
}
