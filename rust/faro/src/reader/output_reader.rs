//! Reading a finished output.

use super::blocks::Blocks;
use super::by_partition::ByPartition;
use super::byte_map::{ByteRange, Ending, byte_map};
use super::figures::ReaderFigures;
use super::open::{FoundFooter, OpenFiles, open_files, open_stored};
use super::open_output::OpenOutput;
use super::options::ReaderOptions;
use super::partition_reader::PartitionReader;
use super::records::Records;
use super::trace::{Span, fault};
use super::written::WrittenOutput;
use crate::bytes::FileHeader;
use crate::error::Result;
use crate::index::{RegionIndex, StreamCounts};
use crate::message::{DictionaryEntry, Footer, Schema};
use crate::storage::{Files, StoredOutput};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

/// A finished output, open for reading. Cloning it is cheap, and any number of threads may read from it.
///
/// ```
/// # fn main() -> faro::Result<()> {
/// # let folder = tempfile::tempdir().unwrap();
/// # let name = folder.path().join("shuffle");
/// let mut writer = faro::Writer::create(&name, faro::WriterOptions::new(4))?;
/// writer.write(2, b"a record")?;
/// writer.finish()?;
///
/// let reader = faro::Reader::open(&faro::Files::locate(&name)?, faro::ReaderOptions::default())?;
/// let records = reader.records(2)?.collect::<faro::Result<Vec<_>>>()?;
/// assert_eq!(records, ["a record"]);
/// # Ok(()) }
/// ```
#[derive(Clone, Debug)]
pub struct Reader {
    partitions: PartitionReader,
    footer_offset: u64,
    footer_sequence: u32,
}

impl Reader {
    /// Opens a finished output. It reads headers, tail, footer and schema; no region messages and no partition blocks.
    ///
    /// # Errors
    /// The first check of OPN-1 that fails; `unfinished` for a file without a tail.
    pub fn open(files: &Files, options: ReaderOptions) -> Result<Self> {
        let (_, data) = files.first();
        Self::traced(data, || Self::finish_opening(open_files(files)?, options))
    }

    /// Opens a finished output in any storage, with the same checks and errors as [`Reader::open`]. The reader, its
    /// clones and its iterators drop the files with the last of them.
    ///
    /// # Errors
    /// As [`Reader::open`]; `io` for what the storage refuses.
    pub fn open_stored(output: StoredOutput, options: ReaderOptions) -> Result<Self> {
        let data = output.data.as_ref().unwrap_or(&output.index).clone();
        Self::traced(data.name(), || Self::open_untraced(output, options))
    }

    /// As [`Reader::open_stored`], for an attempt that may lack bytes.
    pub(crate) fn open_untraced(output: StoredOutput, options: ReaderOptions) -> Result<Self> {
        Self::finish_opening(open_stored(output)?, options)
    }

    fn traced(data: &Path, open: impl FnOnce() -> Result<Self>) -> Result<Self> {
        let span = Span::open(data);
        let reader = open().inspect_err(fault)?;
        span.ends_with(reader.region_count());
        Ok(reader)
    }

    /// Opens an output from its writer's memory, and reads nothing. It checks only limits: the writer made the rest.
    ///
    /// # Errors
    /// `limit-exceeded`, as [`Reader::open`] reports it.
    pub(crate) fn of_written(written: WrittenOutput, options: ReaderOptions) -> Result<Self> {
        written.check_limits(&options.limits)?;
        let WrittenOutput {
            files,
            footer,
            schema,
            regions,
            ..
        } = written;
        let reader = Reader::new(files, footer, schema.map(|(schema, _)| schema), options);
        reader.output().remember(regions);
        Ok(reader)
    }

    /// Checks 6 to 9 of OPN-1.
    fn finish_opening(open: OpenFiles, options: ReaderOptions) -> Result<Self> {
        let found = open.read_footer(&options.limits)?;
        // The tail begins where the footer block ends; the schema must end before it.
        let schema = open.read_schema(&options.limits, open.index.size()?.saturating_sub(24))?;
        Ok(Reader::new(open, found, schema, options))
    }

    fn new(files: OpenFiles, found: FoundFooter, schema: Option<Schema>, options: ReaderOptions) -> Self {
        let output = OpenOutput::new(files, schema, options, found.footer);
        Reader {
            partitions: PartitionReader::new(output, Some(found.offset)),
            footer_offset: found.offset,
            footer_sequence: found.sequence,
        }
    }

    /// The header of the index (or single) file.
    pub fn header(&self) -> &FileHeader {
        self.output().header()
    }

    /// The footer: directory, statistics and properties.
    pub fn footer(&self) -> &Footer {
        &self.output().footer
    }

    /// Where the dictionaries are, number 1 first; empty without the reader feature `dictionaries`.
    pub fn dictionaries(&self) -> &[DictionaryEntry] {
        &self.output().footer.dictionaries
    }

    /// The number of regions.
    pub fn region_count(&self) -> usize {
        self.output().region_count()
    }

    /// A region by its number, from 0 on. It is read and checked when it is first used (REG-10).
    ///
    /// # Errors
    /// `invalid-argument` for a number that the file does not have; the faults of REG-10.
    pub fn region(&self, number: usize) -> Result<Arc<RegionIndex>> {
        self.output().region(number)
    }

    /// The numbers of the file's partitions.
    pub fn partitions(&self) -> Range<u32> {
        self.header().partitions()
    }

    /// The bytes that a partition reads, with block headers and padding. This reads no block (PRT-6).
    ///
    /// # Errors
    /// `invalid-argument` for a partition that the file does not have; the faults of REG-10 (or LKP-2, by
    /// [`ReaderOptions::lookup`]) when the file has no statistics.
    pub fn stored_bytes(&self, partition: u32) -> Result<u64> {
        self.partitions.stored_bytes(partition)
    }

    /// How many own blocks a partition had, and how many of them are not in the file (PRT-8); none in a file without the
    /// reader feature `selective`, and when it is not known, as after a repair. This reads no block.
    ///
    /// # Errors
    /// `invalid-argument` for a partition that the file does not have.
    pub fn stream(&self, partition: u32) -> Result<Option<StreamCounts>> {
        self.output().check_partition(partition)?;
        Ok(StreamCounts::of_partition(self.footer(), self.header(), partition))
    }

    /// As [`Reader::stream`], of the shared blocks of all partitions together.
    pub fn shared_stream(&self) -> Option<StreamCounts> {
        StreamCounts::of_shared(self.footer())
    }

    /// The blocks of a partition, region by region (PRT-1).
    ///
    /// With [`crate::Lookup::Direct`], the first call of the iterator looks up all regions (LKP-3) and keeps some 20
    /// bytes for each extent.
    ///
    /// ```
    /// # fn main() -> faro::Result<()> {
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let name = folder.path().join("shuffle");
    /// # let mut writer = faro::Writer::create(&name, faro::WriterOptions::new(4))?;
    /// # writer.write(2, b"a record")?;
    /// # writer.finish()?;
    /// let options = faro::ReaderOptions::default().lookup(faro::Lookup::Direct);
    /// let reader = faro::Reader::open(&faro::Files::locate(&name)?, options)?;
    /// assert_eq!(reader.partition(2)?.count(), 1);
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// `invalid-argument` for a partition that the file does not have. The iterator returns the faults of PRT-3; with
    /// direct lookup, those of LKP-2 and LKP-3 come before any block.
    pub fn partition(&self, partition: u32) -> Result<Blocks> {
        self.partitions.partition(partition)
    }

    /// The blocks of a partition in some of the regions. Sequences are checked from the first block on. Region messages
    /// are read whole, whatever [`ReaderOptions::lookup`] is.
    ///
    /// # Errors
    /// `invalid-argument` for a partition or regions that the file does not have.
    pub fn partition_in(&self, partition: u32, regions: Range<usize>) -> Result<Blocks> {
        self.partitions.partition_in(partition, regions)
    }

    /// The blocks of a range of partitions, region by region (PRT-5).
    ///
    /// # Errors
    /// `invalid-argument` for partitions that the file does not have.
    pub fn range(&self, partitions: Range<u32>) -> Result<Blocks> {
        self.partitions.range(partitions)
    }

    /// The blocks of a range of partitions, partition by partition in ascending order, with few, long reads (PRT-7).
    /// Each partition has the blocks that [`Reader::partition`] delivers, and each block comes with the partition that
    /// it is read for. It takes a window of as many bytes as the storage says
    /// ([`crate::storage::StoredFile::read_bytes`]), but 768 KiB to 4 MiB, which is 768 KiB for files, and for the index as
    /// much memory as [`ReaderOptions::region_cache_bytes`] once more.
    ///
    /// ```
    /// # fn main() -> faro::Result<()> {
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let name = folder.path().join("shuffle");
    /// # let mut writer = faro::Writer::create(&name, faro::WriterOptions::new(4))?;
    /// # writer.write(2, b"a record")?;
    /// # writer.write(1, b"another")?;
    /// # writer.finish()?;
    /// # let reader = faro::Reader::open(&faro::Files::locate(&name)?, faro::ReaderOptions::default())?;
    /// let mut found = Vec::new();
    /// for block in reader.by_partition(0..4)? {
    ///     let (partition, block) = block?;
    ///     found.push((partition, block.payload.len()));
    /// }
    /// assert_eq!(found, [(1, 11), (2, 12)]);
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// `invalid-argument` for partitions that the file does not have. The iterator returns the first fault that reading
    /// one partition after another would return.
    pub fn by_partition(&self, partitions: Range<u32>) -> Result<ByPartition> {
        self.partitions.by_partition(partitions)
    }

    /// The blocks of all partitions, region by region (PRT-5).
    ///
    /// # Errors
    /// None. The iterator returns the faults of PRT-3.
    pub fn all(&self) -> Result<Blocks> {
        self.partitions.range(self.partitions())
    }

    /// The records of a partition in a file with framing records. Events are skipped.
    ///
    /// # Errors
    /// `invalid-argument` for a partition that the file does not have, or for another framing.
    pub fn records(&self, partition: u32) -> Result<Records> {
        self.partitions.records(partition)
    }

    /// The memory, in bytes, of what the reader and its clones keep: regions in the cache, and dictionaries. Iterators
    /// have memory of their own.
    pub fn memory_used(&self) -> u64 {
        self.output().memory_used()
    }

    /// What the reader, its clones and their iterators have read so far, beginning with the opening, and what they keep.
    pub fn figures(&self) -> ReaderFigures {
        self.output().figures()
    }

    /// What each byte of the files is, in file order; the data file comes first.
    ///
    /// It reads only the headers of blocks. [`crate::check`] verifies payloads.
    ///
    /// # Errors
    /// The faults of REG-10; for blocks, those of checks 1 and 2 of BLK-7, and kinds that their contexts do not allow.
    pub fn byte_map(&self) -> Result<Vec<ByteRange>> {
        byte_map(self.output(), self.footer_offset, Ending::Tail)
    }

    /// The encapsulated Arrow IPC schema message; none unless the framing is Arrow.
    pub fn schema_message(&self) -> Option<&[u8]> {
        self.output().schema_message()
    }

    /// The same output, whose bytes come from other files.
    pub(crate) fn with_files(&self, stored: StoredOutput) -> Reader {
        Reader {
            partitions: PartitionReader::new(self.output().with_files(stored), Some(self.footer_offset)),
            ..self.clone()
        }
    }

    pub(crate) fn partition_reader(&self) -> &PartitionReader {
        &self.partitions
    }

    pub(crate) fn output(&self) -> &OpenOutput {
        &self.partitions.output
    }

    pub(crate) fn footer_offset(&self) -> u64 {
        self.footer_offset
    }

    pub(crate) fn footer_sequence(&self) -> u32 {
        self.footer_sequence
    }
}
