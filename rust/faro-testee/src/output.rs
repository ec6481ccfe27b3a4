//! What reading needs of an output, however it was opened.

use faro::message::{DictionaryEntry, Footer};
use faro::{Block, FileHeader, Follower, Reader, RegionIndex};
use std::ops::Range;
use std::sync::Arc;

/// Blocks, one after another.
pub type Blocks<'a> = Box<dyn Iterator<Item = faro::Result<Block>> + 'a>;

/// What `Reader`, `Follower`, feeds and asynchronous readers have in common.
pub trait Output {
    /// The index file's header.
    fn header(&self) -> &FileHeader;
    /// The footer, if there is one yet.
    fn footer(&self) -> Option<&Footer>;
    /// Where the dictionaries are.
    fn dictionaries(&self) -> &[DictionaryEntry];
    /// The number of regions.
    fn regions(&self) -> usize;
    /// A region by its number.
    fn region(&self, number: usize) -> faro::Result<Arc<RegionIndex>>;
    /// The bytes that a partition reads (PRT-6).
    fn stored_bytes(&self, partition: u32) -> faro::Result<u64>;
    /// The blocks of a partition (PRT-1).
    fn partition(&self, partition: u32) -> faro::Result<Blocks<'_>>;
    /// The blocks of a range of partitions (PRT-5).
    fn range(&self, partitions: Range<u32>) -> faro::Result<Blocks<'_>>;
}

/// The library's types have the calls under these names.
macro_rules! implement {
    ($type:ty, $footer:expr) => {
        impl Output for $type {
            fn header(&self) -> &FileHeader {
                self.header()
            }

            fn footer(&self) -> Option<&Footer> {
                ($footer)(self)
            }

            fn dictionaries(&self) -> &[DictionaryEntry] {
                self.dictionaries()
            }

            fn regions(&self) -> usize {
                self.region_count()
            }

            fn region(&self, number: usize) -> faro::Result<Arc<RegionIndex>> {
                self.region(number)
            }

            fn stored_bytes(&self, partition: u32) -> faro::Result<u64> {
                self.stored_bytes(partition)
            }

            fn partition(&self, partition: u32) -> faro::Result<Blocks<'_>> {
                Ok(Box::new(self.partition(partition)?))
            }

            fn range(&self, partitions: Range<u32>) -> faro::Result<Blocks<'_>> {
                Ok(Box::new(self.range(partitions)?))
            }
        }
    };
}

implement!(Reader, |reader| Some(Reader::footer(reader)));
implement!(Follower, Follower::footer);
