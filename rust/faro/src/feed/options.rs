//! The options of an opening and of its feeds.

use crate::error::{Error, Result};
use crate::reader::ReaderOptions;

/// How an [`Opening`](super::Opening) and its feeds ask for bytes. Sizes are in bytes.
///
/// ```
/// use faro::feed::FeedOptions;
/// let options = FeedOptions::default().ahead_bytes(64 << 20);
/// assert_eq!(options.read_bytes, 8 << 20);
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct FeedOptions {
    /// The options of reading, as of a [`Reader`](crate::Reader).
    pub reader: ReaderOptions,
    /// The largest gap between two ranges that become one, at most 2^30; 1 MiB by default. The bytes of a gap are
    /// fetched, and dropped.
    pub gap_bytes: u64,
    /// The largest range of bytes that are wanted at once, 4,096 to 2^30; 8 MiB by default.
    pub read_bytes: u64,
    /// The most bytes of blocks, with gaps, that one feed wants or has and that were not delivered yet, 4,096 to 2^40;
    /// 16 MiB by default. A larger block is wanted whole.
    pub ahead_bytes: u64,
    /// The most bytes of region messages that one feed wants at once, or keeps for a direct lookup, 65,536 to 2^40;
    /// 8 MiB by default. A larger message is wanted whole.
    pub index_bytes: u64,
    /// The largest index file or single file that is fetched whole when it is opened, 64 to 2^30; 1 MiB by default. The
    /// bytes of the index stay in memory.
    pub small_bytes: u64,
}

impl Default for FeedOptions {
    fn default() -> Self {
        FeedOptions {
            reader: ReaderOptions::default(),
            gap_bytes: 1 << 20,
            read_bytes: 8 << 20,
            ahead_bytes: 16 << 20,
            index_bytes: 8 << 20,
            small_bytes: 1 << 20,
        }
    }
}

impl FeedOptions {
    /// Sets `reader`.
    #[must_use]
    pub fn reader(mut self, reader: ReaderOptions) -> Self {
        self.reader = reader;
        self
    }

    /// Sets `gap_bytes`.
    #[must_use]
    pub fn gap_bytes(mut self, gap_bytes: u64) -> Self {
        self.gap_bytes = gap_bytes;
        self
    }

    /// Sets `read_bytes`.
    #[must_use]
    pub fn read_bytes(mut self, read_bytes: u64) -> Self {
        self.read_bytes = read_bytes;
        self
    }

    /// Sets `ahead_bytes`.
    #[must_use]
    pub fn ahead_bytes(mut self, ahead_bytes: u64) -> Self {
        self.ahead_bytes = ahead_bytes;
        self
    }

    /// Sets `index_bytes`.
    #[must_use]
    pub fn index_bytes(mut self, index_bytes: u64) -> Self {
        self.index_bytes = index_bytes;
        self
    }

    /// Sets `small_bytes`.
    #[must_use]
    pub fn small_bytes(mut self, small_bytes: u64) -> Self {
        self.small_bytes = small_bytes;
        self
    }

    /// Refuses sizes out of range.
    pub(super) fn check(&self) -> Result<()> {
        let rules = [
            ("gap_bytes", self.gap_bytes, 0, 1 << 30),
            ("read_bytes", self.read_bytes, 4 << 10, 1 << 30),
            ("ahead_bytes", self.ahead_bytes, 4 << 10, 1 << 40),
            ("index_bytes", self.index_bytes, 64 << 10, 1 << 40),
            ("small_bytes", self.small_bytes, 64, 1 << 30),
        ];
        for (name, value, least, most) in rules {
            if !(least..=most).contains(&value) {
                return Err(Error::argument(
                    format!("{name} from {least} to {most}"),
                    value.to_string(),
                ));
            }
        }
        Ok(())
    }
}
