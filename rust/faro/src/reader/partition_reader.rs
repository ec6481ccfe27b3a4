//! An open output and the regions of it that may be read.

use super::lookup::{self, Direct, Lookup};
use super::open::OpenFiles;
use super::{Blocks, ByPartition, Records};
use crate::block::{BlockHeader, Context, Dictionaries, Kinds, Sequence, pad8};
use crate::codec::Digest;
use crate::dictionary::{self, Digests};
use crate::error::{Code, Error, Result};
use crate::header::{FileHeader, Framing};
use crate::index::{DataPlace, RegionCache, RegionIndex};
use crate::limits::Limits;
use crate::message::{Footer, Region, RegionEntry, Schema};
use crate::metadata::read_metadata;
use crate::source::Source;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

/// How a reader reads.
#[derive(Clone, Debug)]
pub struct ReaderOptions {
    /// What a file may ask for.
    pub limits: Limits,
    /// Whether the checksums of partition blocks are verified (INT-7).
    pub verify: bool,
    /// Most bytes that regions of the index may take in memory, besides those in use.
    pub region_cache_bytes: u64,
    /// How the extents of one partition are found, for [`crate::Reader::partition`], [`crate::Reader::records`], batches
    /// of Arrow's, and [`crate::Reader::stored_bytes`]. All other reading takes region messages whole.
    pub lookup: Lookup,
}

impl Default for ReaderOptions {
    fn default() -> Self {
        ReaderOptions {
            limits: Limits::default(),
            verify: true,
            region_cache_bytes: 64 << 20,
            lookup: Lookup::Full,
        }
    }
}

/// What does not change while an output is open.
#[derive(Debug)]
pub(crate) struct Core {
    pub files: OpenFiles,
    pub schema: Option<Schema>,
    pub options: ReaderOptions,
    pub cache: Mutex<RegionCache>,
    pub dictionaries: Digests,
}

/// An open output and its regions: all of a finished file's, or those that a follower has seen.
#[derive(Clone, Debug)]
pub(crate) struct PartitionReader {
    pub core: Arc<Core>,
    pub footer: Arc<Footer>,
    /// Where the footer's block begins, when partitions are looked up directly (LKP).
    direct: Option<u64>,
}

impl PartitionReader {
    /// `footer_offset` is where the footer's block begins, once there is one.
    pub(crate) fn new(
        files: OpenFiles,
        schema: Option<Schema>,
        options: ReaderOptions,
        footer: Footer,
        footer_offset: Option<u64>,
    ) -> Self {
        let cache = Mutex::new(RegionCache::new(options.region_cache_bytes));
        PartitionReader {
            direct: footer_offset.filter(|_| options.lookup == Lookup::Direct),
            core: Arc::new(Core {
                files,
                schema,
                options,
                cache,
                dictionaries: Digests::default(),
            }),
            footer: Arc::new(footer),
        }
    }

    pub(crate) fn header(&self) -> &FileHeader {
        &self.core.files.header
    }

    pub(crate) fn limits(&self) -> &Limits {
        &self.core.options.limits
    }

    pub(crate) fn index_source(&self) -> &Source {
        &self.core.files.index
    }

    pub(crate) fn data_source(&self) -> &Source {
        self.core.files.data_source()
    }

    pub(crate) fn region_count(&self) -> usize {
        self.footer.regions.len()
    }

    /// A region by its number, from the cache or from the file (REG-10).
    pub(crate) fn region(&self, number: usize) -> Result<Arc<RegionIndex>> {
        let Some(entry) = self.footer.regions.get(number) else {
            let expected = format!("a region below {}", self.region_count());
            return Err(Error::argument(expected, number.to_string()));
        };
        // Fewer regions than 2^32: their numbers are u32 in their messages, and those were counted.
        let number = number as u32;
        // What a panic elsewhere left in the cache is whole: it is only ever changed by its own methods.
        let cached = self
            .core
            .cache
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .get(number);
        if let Some(region) = cached {
            return Ok(region);
        }
        let region = Arc::new(self.read_region(number, entry)?);
        self.core
            .cache
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .put(number, &region);
        Ok(region)
    }

    fn read_region(&self, number: u32, entry: &RegionEntry) -> Result<RegionIndex> {
        let source = self.index_source();
        let offset = entry.message_offset;
        let end = offset + BlockHeader::SIZE as u64 + pad8(entry.message_size);
        let kinds = Kinds {
            region: true,
            ..Kinds::default()
        };
        let place = Context::metadata(
            self.limits(),
            self.core.files.seal,
            kinds,
            Sequence::Unknown,
            self.dictionaries_before(offset),
        );
        let (block, message) = read_metadata(source, offset, end, &place)?;
        if block.stored_size != entry.message_size {
            return Err(source.blame(Error::at(
                Code::InconsistentIndex,
                offset,
                format!(
                    "a region message of {} bytes, as the directory says",
                    entry.message_size
                ),
                block.stored_size.to_string(),
            )));
        }
        self.index_region(number, entry, &message)
            .map_err(|error| source.blame(error))
    }

    /// Structure and rules of a region message whose block was checked.
    pub(crate) fn index_region(&self, number: u32, entry: &RegionEntry, message: &[u8]) -> Result<RegionIndex> {
        let offset = entry.message_offset + BlockHeader::SIZE as u64;
        let region = Region::parse(message, self.header().version_minor, offset)?;
        let place = DataPlace {
            offset: entry.data_offset,
            later: false,
            end: Some(entry.data_offset + entry.data_length),
        };
        RegionIndex::new(region, self.header(), number, &place, offset)
    }

    /// How many dictionaries stand before an offset of the data (or single) file; nothing when the file cannot have any
    /// (DIC-3).
    pub(crate) fn dictionaries_before(&self, offset: u64) -> Dictionaries {
        let entries = &self.footer.dictionaries;
        // At most 65,535: the footer's were counted, and those of a walk bear their numbers.
        let before = || entries.partition_point(|entry| entry.offset < offset) as u32;
        self.header().has_dictionaries().then(before)
    }

    /// A dictionary that the file has, by its number: read, checked and digested when it is needed first (DIC-6).
    pub(crate) fn dictionary(&self, number: u16) -> Result<Arc<Digest>> {
        self.core.dictionaries.get_or(number, || {
            let source = self.data_source();
            let entry = &self.footer.dictionaries[usize::from(number) - 1];
            let files = &self.core.files;
            let paired = files.data.is_some();
            let bytes = dictionary::read(source, self.limits(), files.seal, number.into(), entry, paired)?;
            Digest::new(&bytes).ok_or_else(|| {
                source.blame(Error::at(
                    Code::MalformedBlock,
                    entry.offset + BlockHeader::SIZE as u64,
                    "a dictionary that the decoder takes",
                    "one that it refuses",
                ))
            })
        })
    }

    /// Refuses partitions that the file does not have (PRT-2).
    pub(crate) fn check_partitions(&self, wanted: &Range<u32>) -> Result<()> {
        let range = self.header().partitions();
        if wanted.start <= wanted.end && wanted.start >= range.start && wanted.end <= range.end {
            return Ok(());
        }
        Err(Error::argument(
            format!("partitions from {} on and below {}", range.start, range.end),
            if u64::from(wanted.end) == u64::from(wanted.start) + 1 {
                format!("partition {}", wanted.start)
            } else {
                format!("{} to {}", wanted.start, wanted.end)
            },
        ))
    }

    /// The range that holds one partition, which is not the number that no partition has.
    fn one(partition: u32) -> Range<u32> {
        partition..partition.saturating_add(1)
    }

    /// Refuses a partition that the file does not have (PRT-2).
    pub(crate) fn check_partition(&self, partition: u32) -> Result<()> {
        if partition == u32::MAX {
            return Err(Error::argument("a partition of the file", partition.to_string()));
        }
        self.check_partitions(&Self::one(partition))
    }

    pub(crate) fn blocks(&self, wanted: Range<u32>, regions: Range<usize>) -> Result<Blocks> {
        self.check_partitions(&wanted)?;
        if regions.start > regions.end || regions.end > self.region_count() {
            let expected = format!("regions from 0 on and at most {}", self.region_count());
            return Err(Error::argument(
                expected,
                format!("{} to {}", regions.start, regions.end),
            ));
        }
        // No partition uses no region, and is told no fault of one (REG-10).
        let regions = if wanted.is_empty() { 0..0 } else { regions };
        Ok(Blocks::new(self.clone(), wanted, regions))
    }

    pub(crate) fn partition(&self, partition: u32) -> Result<Blocks> {
        let Some(footer_offset) = self.direct else {
            return self.partition_in(partition, 0..self.region_count());
        };
        self.check_partition(partition)?;
        Ok(Blocks::direct(self.clone(), Direct::new(partition, footer_offset)))
    }

    pub(crate) fn partition_in(&self, partition: u32, regions: Range<usize>) -> Result<Blocks> {
        self.check_partition(partition)?;
        self.blocks(Self::one(partition), regions)
    }

    pub(crate) fn range(&self, partitions: Range<u32>) -> Result<Blocks> {
        self.blocks(partitions, 0..self.region_count())
    }

    pub(crate) fn by_partition(&self, partitions: Range<u32>) -> Result<ByPartition> {
        self.check_partitions(&partitions)?;
        Ok(ByPartition::new(self.clone(), partitions))
    }

    pub(crate) fn records(&self, partition: u32) -> Result<Records> {
        if self.header().framing != Framing::Records {
            let found = format!("framing {}", self.header().framing.as_str());
            return Err(Error::argument("a file with framing records", found));
        }
        Ok(Records::new(self.partition(partition)?))
    }

    /// PRT-6.
    pub(crate) fn stored_bytes(&self, partition: u32) -> Result<u64> {
        self.check_partition(partition)?;
        if let Some(bytes) = self.statistics_of(partition) {
            return Ok(bytes);
        }
        if let Some(footer_offset) = self.direct {
            return lookup::stored_bytes(self, partition, footer_offset);
        }
        let mut sum = 0;
        for number in 0..self.region_count() {
            sum += self.region(number)?.stored_bytes(partition);
        }
        Ok(sum)
    }

    /// Stored bytes of a partition of the file, if statistics were kept (FTR-4).
    pub(super) fn statistics_of(&self, partition: u32) -> Option<u64> {
        let statistics = self.footer.statistics.as_ref()?;
        let at = (partition - self.header().first_partition) as usize;
        let stored = statistics.stored.as_ref();
        let own = stored.and_then(|stored| stored.get(at)).copied().unwrap_or(0);
        // The statistics are a hint from the file: they need not make sense (FTR-6).
        Some(own.saturating_add(statistics.stored_to_all))
    }
}
