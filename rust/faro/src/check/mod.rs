//! Checking a whole output (spec, CHK).

mod metadata;
mod runs;
mod statistics;
mod streams;

use crate::block::DATA;
use crate::bytes::Framing;
use crate::error::{Error, ErrorCode, Result};
use crate::index::Members;
use crate::limits::Limits;
use crate::reader::{Block, Blocks, Depth, Reader, ReaderOptions};
use crate::storage::{Files, StoredOutput};
use runs::WholeBlocks;
use statistics::Counter;
use streams::StreamCounter;

/// How much is checked (CHK-1). Each level includes the one before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum CheckLevel {
    /// Everything except partition blocks.
    Structure,
    /// Also partition blocks, except that payloads are not decoded.
    Checksums,
    /// Also that payloads decode, and have the framing of the file.
    Decode,
}

/// What a check found in a valid output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CheckReport {
    /// The number of regions.
    pub regions: u64,
    /// The number of partition blocks; none at level structure, which does not count them.
    pub blocks: Option<u64>,
}

/// The options of [`check`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CheckOptions {
    /// How much is checked.
    pub level: CheckLevel,
    /// What is taken from the files at most.
    pub limits: Limits,
}

impl Default for CheckOptions {
    fn default() -> Self {
        CheckOptions {
            level: CheckLevel::Decode,
            limits: Limits::default(),
        }
    }
}

impl CheckOptions {
    /// Sets `level`.
    #[must_use]
    pub fn level(mut self, level: CheckLevel) -> Self {
        self.level = level;
        self
    }

    /// Sets `limits`.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }
}

/// Checks an output in the order of CHK-1.
///
/// # Errors
/// The first fault.
///
/// ```no_run
/// use faro::{CheckOptions, Files, check};
/// match check(&Files::locate("shuffle/map-7")?, &CheckOptions::default()) {
///     Ok(report) => println!("{} regions", report.regions),
///     Err(error) => println!("{} at {:?}", error.code, error.offset),
/// }
/// # Ok::<(), faro::Error>(())
/// ```
pub fn check(files: &Files, options: &CheckOptions) -> Result<CheckReport> {
    check_with(files, options, &mut |_, _| ())
}

/// As [`check`]. It calls `progress` after each partition block with the bytes that are done and the bytes in all.
///
/// # Errors
/// The first fault.
pub fn check_with(files: &Files, options: &CheckOptions, progress: &mut dyn FnMut(u64, u64)) -> Result<CheckReport> {
    check_reader(&Reader::open(files, reading(options))?, options.level, progress)
}

/// As [`check`], for an output in any storage.
///
/// # Errors
/// The first fault.
pub fn check_stored(output: &StoredOutput, options: &CheckOptions) -> Result<CheckReport> {
    check_stored_with(output, options, &mut |_, _| ())
}

/// As [`check_with`], for an output in any storage.
///
/// # Errors
/// The first fault.
pub fn check_stored_with(
    output: &StoredOutput,
    options: &CheckOptions,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<CheckReport> {
    let reader = Reader::open_stored(output.clone(), reading(options))?;
    check_reader(&reader, options.level, progress)
}

fn reading(options: &CheckOptions) -> ReaderOptions {
    ReaderOptions::default().limits(options.limits.clone())
}

/// Checks what a reader has opened.
pub(crate) fn check_reader(
    reader: &Reader,
    level: CheckLevel,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<CheckReport> {
    let statistics = reader.footer().statistics.as_ref();
    let mut stored = statistics.map(|s| Counter::new("stored", s.stored.as_deref(), s.stored_to_all));
    metadata::check(reader, &mut stored)?;
    finish(reader, stored)?;
    let regions = reader.region_count() as u64;
    if level == CheckLevel::Structure {
        return Ok(CheckReport { regions, blocks: None });
    }

    let decode = level == CheckLevel::Decode;
    let total = reader.footer().regions.iter().map(|entry| entry.data_length).sum();
    let framing = reader.header().framing;
    let mut plain = statistics
        .filter(|_| decode)
        .map(|s| Counter::new("plain", s.plain.as_deref(), s.plain_to_all));
    let mut records = statistics
        .filter(|_| decode && framing == Framing::Records)
        .map(|s| Counter::new("records", s.records.as_deref(), s.records_to_all));
    let depth = if decode { Depth::Plain } else { Depth::Stored };
    let (mut blocks, mut done) = (0, 0);
    let mut extent = ExtentSum::default();
    let mut runs = WholeBlocks::of(reader);
    let streams = reader.footer().streams.as_ref();
    let mut streams = streams.map(|streams| StreamCounter::new(streams, reader.header().first_partition));
    for block in Blocks::of_whole_file(reader.output().clone(), depth) {
        let block = block?;
        let counted = if decode { block.records(framing)? } else { None };
        if !extent.belongs(&block) {
            extent.add_to(reader, &mut plain, &mut records);
            extent = ExtentSum {
                partition: block.partition,
                members: block.members.clone(),
                ..ExtentSum::default()
            };
        }
        if block.kind() == DATA {
            extent.plain = extent.plain.saturating_add(block.header.plain_size.into());
            extent.records = extent.records.saturating_add(counted.unwrap_or(0));
        }
        runs.add(&block)?;
        if let Some(streams) = &mut streams {
            streams.add(&block);
        }
        blocks += 1;
        done += block.header.size_in_file();
        progress(done, total);
    }
    extent.add_to(reader, &mut plain, &mut records);
    verdict(reader, streams.and_then(StreamCounter::fault))?;
    finish(reader, plain)?;
    finish(reader, records)?;
    Ok(CheckReport {
        regions,
        blocks: Some(blocks),
    })
}

/// The sum of consecutive blocks with the same readers, added once for all of these readers.
#[derive(Default)]
struct ExtentSum {
    partition: Option<u32>,
    members: Option<Members>,
    plain: u64,
    records: u64,
}

impl ExtentSum {
    fn belongs(&self, block: &Block) -> bool {
        self.partition == block.partition && self.members == block.members
    }

    fn add_to<'a>(&self, reader: &Reader, plain: &mut Option<Counter<'a>>, records: &mut Option<Counter<'a>>) {
        let first = reader.header().first_partition;
        for (counter, value) in [(plain, self.plain), (records, self.records)] {
            if let Some(counter) = counter {
                counter.add(first, self.partition, self.members.as_ref(), value);
            }
        }
    }
}

/// The verdict of a counter; a difference is `inconsistent-index` at the footer message.
fn finish(reader: &Reader, counter: Option<Counter<'_>>) -> Result<()> {
    verdict(reader, counter.and_then(Counter::fault))
}

fn verdict(reader: &Reader, fault: Option<(String, String)>) -> Result<()> {
    fault.map_or(Ok(()), |(expected, found)| {
        let offset = reader.footer_offset() + crate::block::BlockHeader::SIZE as u64;
        Err(reader
            .output()
            .index_file()
            .blame(Error::at(ErrorCode::InconsistentIndex, offset, expected, found)))
    })
}
