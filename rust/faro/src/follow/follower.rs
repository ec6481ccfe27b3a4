//! Reading an output while it is written.

use super::next_block::{Purpose, next_block};
use super::walk::{Step, Walk};
use crate::bytes::{FileHeader, Framing};
use crate::error::{Error, ErrorCode, Result};
use crate::index::RegionIndex;
use crate::message::{DictionaryEntry, Footer};
use crate::reader::trace::{Span, fault};
use crate::reader::{
    Blocks, ByPartition, ByteRange, Ending, OpenFiles, OpenOutput, PartitionReader, ReaderFigures, ReaderOptions,
    Records, byte_map, open_files, open_stored,
};
use crate::storage::{Files, StoredOutput};
use std::ops::Range;
use std::sync::Arc;

/// How far a follower has read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Progress {
    /// The number of committed regions so far.
    pub regions: usize,
    /// Whether the file is finished, so that nothing more will come.
    pub finished: bool,
}

/// An output that a writer may still be appending to. [`Follower::poll`] looks for more regions. All other calls read
/// the regions seen so far, which never change (FOL-6).
///
/// ```
/// # fn main() -> faro::Result<()> {
/// # let folder = tempfile::tempdir().unwrap();
/// # let name = folder.path().join("shuffle");
/// let mut writer = faro::Writer::create(&name, faro::WriterOptions::new(4).follow(true))?;
/// let mut follower = faro::Follower::open(&faro::Files::paired(&name), faro::ReaderOptions::default())?;
/// writer.write(2, b"a record")?;
/// writer.finish()?;
///
/// let mut seen = 0;
/// loop {
///     let progress = follower.poll()?;
///     for block in follower.partition_in(2, seen..progress.regions)? {
///         println!("{} bytes", block?.payload.len());
///     }
///     seen = progress.regions;
///     if progress.finished {
///         break;
///     }
///     // Wait a moment here: the writer is still at work.
/// }
/// assert_eq!(seen, 1);
/// # Ok(()) }
/// ```
pub struct Follower {
    partitions: PartitionReader,
    walk: Walk,
    finished: bool,
}

impl Follower {
    /// Opens the files. It has seen no region before the first [`Follower::poll`]. Messages are read whole, whatever
    /// [`ReaderOptions::lookup`] is (LKP-1).
    ///
    /// # Errors
    /// Those of checks 1 to 5 of OPN-1. With framing arrow, `unfinished` when the schema is not there yet (FOL-1).
    pub fn open(files: &Files, options: ReaderOptions) -> Result<Self> {
        let span = Span::open(files.first().1);
        let follower = Self::open_files(files, options).inspect_err(fault)?;
        span.ends_with(0);
        Ok(follower)
    }

    /// Opens files of this library that grow in a storage.
    pub(crate) fn open_stored(output: StoredOutput, options: ReaderOptions) -> Result<Self> {
        Follower::of_open(open_stored(output)?, options)
    }

    fn open_files(files: &Files, options: ReaderOptions) -> Result<Self> {
        Follower::of_open(open_files(files)?, options)
    }

    fn of_open(files: OpenFiles, options: ReaderOptions) -> Result<Self> {
        let size = files.index.size()?;
        if files.header.framing == Framing::Arrow {
            let at = FileHeader::SIZE as u64;
            let context = |_: &_| files.schema_context(&options.limits);
            if next_block(&files.index, at, size, Purpose::Follow, context)?.is_none() {
                let error = Error::at(
                    ErrorCode::Unfinished,
                    size,
                    "a schema block",
                    "none yet: it is still being written",
                );
                return Err(files.index.blame(error));
            }
        }
        let schema = files.read_schema(&options.limits, size)?;
        let output = OpenOutput::new(files, schema, options, Footer::default());
        Ok(Follower {
            partitions: PartitionReader::new(output, None),
            walk: Walk::new(Purpose::Follow),
            finished: false,
        })
    }

    /// Looks for regions that were committed since the last call.
    ///
    /// # Errors
    /// The faults of FOL-2 to FOL-5. Bytes that are not there yet are not a fault.
    pub fn poll(&mut self) -> Result<Progress> {
        self.look().inspect_err(fault)
    }

    fn look(&mut self) -> Result<Progress> {
        if !self.finished {
            let opened = self.partitions.output.opened.clone();
            let size = opened.files.index.size()?;
            let seen = (self.walk.regions.len(), self.walk.dictionaries.len());
            let step = self.walk.run(&opened.files, &opened.options.limits, size);
            // Regions before a fault are committed and can be read.
            if (self.walk.regions.len(), self.walk.dictionaries.len()) != seen {
                self.partitions.output.footer = Arc::new(Footer {
                    regions: self.walk.regions.clone(),
                    dictionaries: self.walk.dictionaries.clone(),
                    ..Footer::default()
                });
            }
            if step? == Step::Footer {
                if let Some((footer, _)) = &self.walk.footer {
                    self.partitions.output.footer = Arc::new(footer.clone());
                }
                self.finished = self.walk.check_tail(&opened.files, size)?;
            }
        }
        Ok(Progress {
            regions: self.region_count(),
            finished: self.finished,
        })
    }

    pub(crate) fn output(&self) -> &OpenOutput {
        &self.partitions.output
    }

    /// Whether the last poll found the end of the file.
    pub(crate) fn is_finished(&self) -> bool {
        self.finished
    }

    /// The fault of those that wait for regions that a dead writer does not write.
    pub(crate) fn given_up(&self) -> Error {
        let expected = "another region or the footer, of a writer that is alive";
        let error = Error::at(
            ErrorCode::Unfinished,
            self.walk.metadata_end(),
            expected,
            "a writer that was given up",
        );
        self.output().index_file().blame(error)
    }

    /// The header of the index (or single) file.
    pub fn header(&self) -> &FileHeader {
        self.partitions.output.header()
    }

    /// The footer, once the follower has seen it.
    pub fn footer(&self) -> Option<&Footer> {
        self.walk.footer.as_ref().map(|(footer, _)| footer)
    }

    /// Where the dictionaries seen so far are, number 1 first. In a pair, those before the regions seen.
    pub fn dictionaries(&self) -> &[DictionaryEntry] {
        &self.partitions.output.footer.dictionaries
    }

    /// The number of regions seen so far.
    pub fn region_count(&self) -> usize {
        self.partitions.output.region_count()
    }

    /// A region by its number, from 0 on.
    ///
    /// # Errors
    /// As [`crate::Reader::region`].
    pub fn region(&self, number: usize) -> Result<Arc<RegionIndex>> {
        self.partitions.output.region(number)
    }

    /// The numbers of the file's partitions.
    pub fn partitions(&self) -> Range<u32> {
        self.header().partitions()
    }

    /// The bytes that a partition reads in the regions seen so far.
    ///
    /// # Errors
    /// As [`crate::Reader::stored_bytes`].
    pub fn stored_bytes(&self, partition: u32) -> Result<u64> {
        self.partitions.stored_bytes(partition)
    }

    /// The blocks of a partition in the regions seen so far.
    ///
    /// # Errors
    /// As [`crate::Reader::partition`].
    pub fn partition(&self, partition: u32) -> Result<Blocks> {
        self.partitions.partition(partition)
    }

    /// The blocks of a partition in some of the regions, for example in those that the last poll found.
    ///
    /// # Errors
    /// As [`crate::Reader::partition_in`].
    pub fn partition_in(&self, partition: u32, regions: Range<usize>) -> Result<Blocks> {
        self.partitions.partition_in(partition, regions)
    }

    /// The blocks of a range of partitions in the regions seen so far.
    ///
    /// # Errors
    /// As [`crate::Reader::range`].
    pub fn range(&self, partitions: Range<u32>) -> Result<Blocks> {
        self.partitions.range(partitions)
    }

    /// The blocks of a range of partitions in the regions seen so far, partition by partition.
    ///
    /// # Errors
    /// As [`crate::Reader::by_partition`].
    pub fn by_partition(&self, partitions: Range<u32>) -> Result<ByPartition> {
        self.partitions.by_partition(partitions)
    }

    /// The records of a partition in the regions seen so far.
    ///
    /// # Errors
    /// As [`crate::Reader::records`].
    pub fn records(&self, partition: u32) -> Result<Records> {
        self.partitions.records(partition)
    }

    /// The memory, in bytes, of what the follower keeps: regions in the cache, and dictionaries.
    pub fn memory_used(&self) -> u64 {
        self.partitions.output.memory_used()
    }

    /// What the follower and its iterators have read so far, beginning with the opening, and what they keep. What
    /// [`Follower::poll`] reads counts, except that the regions that it finds are not in `regions_read`.
    pub fn figures(&self) -> ReaderFigures {
        self.partitions.output.figures()
    }

    /// What each byte of the files is now, in file order; the data file comes first. Everything after the last commit
    /// seen is [`ByteRangeKind::Uncommitted`](crate::ByteRangeKind::Uncommitted), except the end of a finished file.
    ///
    /// # Errors
    /// As [`crate::Reader::byte_map`].
    pub fn byte_map(&self) -> Result<Vec<ByteRange>> {
        let ending = match (&self.walk.footer, self.finished) {
            (None, _) => Ending::Open,
            (Some(_), false) => Ending::Footer,
            (Some(_), true) => Ending::Tail,
        };
        byte_map(&self.partitions.output, self.walk.metadata_end(), ending)
    }

    /// The encapsulated Arrow IPC schema message; none unless the framing is Arrow.
    pub fn schema_message(&self) -> Option<&[u8]> {
        self.partitions.output.schema_message()
    }
}
