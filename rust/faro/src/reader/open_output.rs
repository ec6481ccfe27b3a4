//! An open output: its files, its regions and its dictionaries.

use super::figures::{Counts, ReaderFigures};
use super::open::OpenFiles;
use super::options::ReaderOptions;
use super::trace::Span;
use crate::block::{BlockHeader, Context, Dictionaries, Kinds, Sequence, read_metadata};
use crate::bytes::{FileHeader, pad8};
use crate::codec::Digest;
use crate::error::{Error, ErrorCode, Result};
use crate::index::dictionaries::{self, Digests};
use crate::index::{DataBounds, Holdings, OutputRegions, RegionCache, RegionIndex, stored_in_statistics};
use crate::limits::{CountedBudget, Limits, MemoryBudget};
use crate::message::{Footer, Region, RegionEntry, Schema};
use crate::storage::{InputFile, StoredOutput};
use std::ops::Range;
use std::sync::Arc;

/// The part of an open output that does not change.
#[derive(Debug)]
pub(crate) struct Opened {
    pub files: OpenFiles,
    pub schema: Option<Arc<Schema>>,
    pub options: ReaderOptions,
    pub cache: Arc<OutputRegions>,
    pub dictionaries: Arc<Digests>,
    pub counts: Arc<Counts>,
}

/// An open output and its regions: all regions of a finished file, or those that a follower has seen.
#[derive(Clone, Debug)]
pub(crate) struct OpenOutput {
    pub opened: Arc<Opened>,
    pub footer: Arc<Footer>,
}

impl OpenOutput {
    pub(crate) fn new(files: OpenFiles, schema: Option<Schema>, mut options: ReaderOptions, footer: Footer) -> Self {
        let counts = Counts::new(CountedBudget::wrap(&mut options.memory_budget));
        let budget = options.memory_budget.clone();
        let own = || RegionCache::of(options.region_cache_bytes, budget.clone());
        let cache = options.region_cache.clone().unwrap_or_else(own).for_output();
        OpenOutput {
            opened: Arc::new(Opened {
                files,
                schema: schema.map(Arc::new),
                options,
                cache: Arc::new(cache),
                dictionaries: Arc::new(Digests::new(budget)),
                counts: Arc::new(counts),
            }),
            footer: Arc::new(footer),
        }
    }

    /// The same output, whose bytes come from other files. It shares the regions and dictionaries that were read.
    pub(crate) fn with_files(&self, stored: StoredOutput) -> OpenOutput {
        let opened = &*self.opened;
        OpenOutput {
            opened: Arc::new(Opened {
                files: opened.files.with(stored),
                schema: opened.schema.clone(),
                options: opened.options.clone(),
                cache: opened.cache.clone(),
                dictionaries: opened.dictionaries.clone(),
                counts: opened.counts.clone(),
            }),
            footer: self.footer.clone(),
        }
    }

    /// The encapsulated Arrow IPC schema message of a file with Arrow framing.
    pub(crate) fn schema_message(&self) -> Option<&[u8]> {
        self.opened.schema.as_ref().map(|schema| schema.arrow.as_slice())
    }

    pub(crate) fn header(&self) -> &FileHeader {
        &self.opened.files.header
    }

    pub(crate) fn limits(&self) -> &Limits {
        &self.opened.options.limits
    }

    pub(crate) fn budget(&self) -> Option<Arc<dyn MemoryBudget>> {
        self.opened.options.memory_budget.clone()
    }

    pub(crate) fn index_file(&self) -> &InputFile {
        &self.opened.files.index
    }

    pub(crate) fn data_file(&self) -> &InputFile {
        self.opened.files.data_file()
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
        // There are fewer than 2^32 regions: their messages number them with 32 bits, which was checked.
        let number = number as u32;
        let cached = self.cache().get(number);
        if let Some(region) = cached {
            self.opened.counts.region(true);
            return Ok(region);
        }
        let region = Arc::new(self.read_region(number, entry)?);
        self.opened.counts.region(false);
        self.cache().put(number, &region);
        Ok(region)
    }

    /// Whether a budget may refuse to keep a region.
    pub(super) fn is_budgeted(&self) -> bool {
        self.opened.options.memory_budget.is_some() || self.cache().has_budget()
    }

    /// Whether a region is in memory and needs no read.
    pub(crate) fn has_region(&self, number: u32) -> bool {
        self.cache().has(number)
    }

    fn cache(&self) -> &OutputRegions {
        &self.opened.cache
    }

    /// The most memory, in bytes, for regions that are not in use.
    pub(super) fn cache_bytes(&self) -> u64 {
        self.cache().capacity()
    }

    /// The memory, in bytes, of the regions and dictionaries that are kept.
    pub(crate) fn memory_used(&self) -> u64 {
        self.cache().memory_used() + self.opened.dictionaries.memory_used()
    }

    pub(crate) fn figures(&self) -> ReaderFigures {
        self.opened.counts.figures(&self.opened.files, self.memory_used())
    }

    fn read_region(&self, number: u32, entry: &RegionEntry) -> Result<RegionIndex> {
        let _span = Span::read_region(self.data_file(), number, entry.message_size);
        let source = self.index_file();
        let offset = entry.message_offset;
        let end = offset + BlockHeader::SIZE as u64 + pad8(entry.message_size);
        let kinds = Kinds {
            region: true,
            ..Kinds::default()
        };
        let context = Context::metadata(
            self.limits(),
            self.opened.files.seal,
            kinds,
            Sequence::Unknown,
            self.dictionaries_before(offset),
        );
        let (block, message) = read_metadata(source, offset, end, &context)?;
        if block.stored_size != entry.message_size {
            return Err(source.blame(Error::at(
                ErrorCode::InconsistentIndex,
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

    /// Checks the structure and the rules of a region message. Its block was checked before.
    pub(crate) fn index_region(&self, number: u32, entry: &RegionEntry, message: &[u8]) -> Result<RegionIndex> {
        let offset = entry.message_offset + BlockHeader::SIZE as u64;
        let region = Region::parse(message, self.header().version_minor, offset)?;
        self.index_parsed(number, entry, region)
    }

    /// Checks the rules of a region message that was parsed.
    fn index_parsed(&self, number: u32, entry: &RegionEntry, region: Region) -> Result<RegionIndex> {
        let offset = entry.message_offset + BlockHeader::SIZE as u64;
        let bounds = DataBounds {
            offset: entry.data_offset,
            later: false,
            end: Some(entry.data_offset + entry.data_length),
        };
        RegionIndex::new(region, self.header(), number, &bounds, offset)
    }

    /// Puts regions into the cache in the place of reading them, except those whose messages reading would refuse.
    pub(super) fn remember(&self, regions: impl IntoIterator<Item = Region>) {
        for region in regions {
            let number = region.sequence;
            let Some(entry) = self.footer.regions.get(number as usize) else {
                continue;
            };
            if u64::from(entry.message_size) > self.limits().max_message_size {
                continue;
            }
            // A region that breaks a rule is left to be read, so that its fault is reported as always.
            if let Ok(region) = self.index_parsed(number, entry, region) {
                self.cache().put(number, &Arc::new(region));
            }
        }
    }

    /// How many dictionaries come before an offset of the data (or single) file; none when the file cannot have any
    /// (DIC-3).
    pub(crate) fn dictionaries_before(&self, offset: u64) -> Dictionaries {
        let entries = &self.footer.dictionaries;
        // There are at most 65,535: those of a footer were counted, and those of a walk have 16-bit numbers.
        let before = || entries.partition_point(|entry| entry.offset < offset) as u32;
        self.header().has_dictionaries().then(before)
    }

    /// A dictionary of the file, by its number. It is read, checked and digested when it is needed first (DIC-6).
    pub(crate) fn dictionary(&self, number: u16) -> Result<Arc<Digest>> {
        let entry = &self.footer.dictionaries[usize::from(number) - 1];
        // The reading refuses a dictionary that is larger than the limit, before it takes memory.
        let room = match u64::from(entry.size) <= self.limits().max_dictionary_size {
            true => dictionaries::room_of(entry),
            false => 0,
        };
        let source = self.data_file();
        let found = self.opened.dictionaries.get_or(number, room, || {
            let files = &self.opened.files;
            let paired = files.data.is_some();
            let bytes = dictionaries::read(source, self.limits(), files.seal, number.into(), entry, paired)?;
            Digest::new(&bytes).ok_or_else(|| {
                source.blame(Error::at(
                    ErrorCode::MalformedBlock,
                    entry.offset + BlockHeader::SIZE as u64,
                    "a dictionary that the decoder accepts",
                    "one that it refuses",
                ))
            })
        });
        // A refusal of memory has no file yet.
        found.map_err(|error| source.blame(error))
    }

    /// Adds the runs of a region to those of the regions before it.
    ///
    /// # Errors
    /// `inconsistent-index` at the message if they break MRG-2; then nothing is added.
    pub(crate) fn hold(&self, region: &RegionIndex, holdings: &mut Holdings) -> Result<()> {
        let broken = |found| self.fault_of_runs(region.sequence(), "runs that obey MRG-2", found);
        holdings.add_region(region).map_err(broken)
    }

    /// A fault of the runs of a region, which is at its message (MRG-2, MRG-3).
    pub(crate) fn fault_of_runs(&self, region: u32, expected: &str, found: String) -> Error {
        let offset = self.footer.regions[region as usize].message_offset + BlockHeader::SIZE as u64;
        let error = Error::at(ErrorCode::InconsistentIndex, offset, expected, found);
        self.index_file().blame(error)
    }

    /// The bytes of a dictionary of the file, checked (DIC-4).
    pub(crate) fn dictionary_bytes(&self, number: u16) -> Result<Vec<u8>> {
        let entry = &self.footer.dictionaries[usize::from(number) - 1];
        let files = &self.opened.files;
        dictionaries::read(
            self.data_file(),
            self.limits(),
            files.seal,
            number.into(),
            entry,
            files.data.is_some(),
        )
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

    /// Refuses a partition that the file does not have (PRT-2).
    pub(crate) fn check_partition(&self, partition: u32) -> Result<()> {
        if partition == u32::MAX {
            return Err(Error::argument("a partition of the file", partition.to_string()));
        }
        self.check_partitions(&(partition..partition + 1))
    }

    /// The stored bytes of a partition, if the footer has statistics (FTR-4).
    pub(crate) fn statistics_of(&self, partition: u32) -> Option<u64> {
        stored_in_statistics(&self.footer, self.header(), partition)
    }
}
