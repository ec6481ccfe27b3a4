//! An open output whose bytes the caller brings.

use super::Feed;
use super::FeedOptions;
use super::files::Files;
use crate::bytes::FileHeader;
use crate::error::Result;
use crate::message::{DictionaryEntry, Footer};
use crate::reader::{Reader, ReaderFigures};
use std::ops::Range;
use std::sync::Arc;

/// A finished output that an [`Opening`](super::Opening) has opened. Cloning it is cheap. Any number of feeds may be in
/// use at once, in any threads; they share the regions and the dictionaries that they read.
///
/// It keeps the bytes of the index that came with the opening, usually at most 1 MiB. A feed wants them no more.
#[derive(Clone, Debug)]
pub struct FeedReader {
    reader: Reader,
    files: Arc<Files>,
    options: FeedOptions,
}

impl FeedReader {
    pub(super) fn new(reader: &Reader, files: Files, options: FeedOptions) -> Self {
        // Footer and tail were read.
        files.index.file.remove(reader.footer_offset()..u64::MAX);
        FeedReader {
            reader: reader.with_files(files.stored()),
            files: Arc::new(files),
            options,
        }
    }

    /// The header of the index (or single) file.
    pub fn header(&self) -> &FileHeader {
        self.reader.header()
    }

    /// The footer: directory, statistics and properties.
    pub fn footer(&self) -> &Footer {
        self.reader.footer()
    }

    /// Where the dictionaries are, number 1 first; empty without the reader feature `dictionaries`.
    pub fn dictionaries(&self) -> &[DictionaryEntry] {
        self.reader.dictionaries()
    }

    /// The number of regions.
    pub fn region_count(&self) -> usize {
        self.reader.region_count()
    }

    /// The numbers of the file's partitions.
    pub fn partitions(&self) -> Range<u32> {
        self.reader.partitions()
    }

    /// The encapsulated Arrow IPC schema message; none unless the framing is Arrow.
    pub fn schema_message(&self) -> Option<&[u8]> {
        self.reader.schema_message()
    }

    /// The bytes that a partition reads, with block headers and padding, by the statistics of the footer (FTR-4); none
    /// without statistics.
    ///
    /// # Errors
    /// `invalid-argument` for a partition that the file does not have.
    pub fn stored_bytes(&self, partition: u32) -> Result<Option<u64>> {
        self.reader.output().check_partition(partition)?;
        Ok(self.reader.output().statistics_of(partition))
    }

    /// The memory, in bytes, of what is kept for all feeds: bytes of the index, regions in the cache, and dictionaries.
    pub fn memory_used(&self) -> u64 {
        self.files.held() + self.reader.memory_used()
    }

    /// What its feeds have delivered so far, and what is kept for all of them. The caller does the reads, so `reads`,
    /// `bytes_read` and `read_time` are 0.
    pub fn figures(&self) -> ReaderFigures {
        let mut figures = self.reader.figures();
        figures.memory_used = self.memory_used();
        figures
    }

    /// A feed of the blocks of a partition, region by region (PRT-1). With [`Lookup::Direct`](crate::Lookup::Direct) it
    /// wants some hundred bytes of each region message, those of all regions at once, before any block.
    ///
    /// # Errors
    /// `invalid-argument` for a partition that the file does not have.
    pub fn partition(&self, partition: u32) -> Result<Feed> {
        let plan = self.reader.partition_reader().plan_of(partition)?;
        Ok(Feed::new(&self.reader, self.files.fork(), plan, self.options.clone()))
    }

    /// A feed of the blocks of a range of partitions, region by region (PRT-5).
    ///
    /// # Errors
    /// `invalid-argument` for partitions that the file does not have.
    pub fn range(&self, partitions: Range<u32>) -> Result<Feed> {
        let plan = self.reader.partition_reader().plan_of_range(partitions)?;
        Ok(Feed::new(&self.reader, self.files.fork(), plan, self.options.clone()))
    }
}
