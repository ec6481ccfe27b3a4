//! Goes on with a merge from its last commit (spec, MRG-4).

use super::growing_file::GrowingFile;
use super::merged_file::{Committed, MergedFile, known_by};
use super::options::MergeOptions;
use crate::bytes::{FileHeader, Framing, field};
use crate::error::{Error, ErrorCode, FileRole, Result};
use crate::follow::{Purpose, Step, Walk};
use crate::index::{Holdings, dictionaries};
use crate::message::Footer;
use crate::reader::{OpenFiles, OpenOutput, ReaderOptions, SCHEMA_OFFSET, open_files};
use crate::repair::{check_schema_is_there, is_finished};
use crate::storage::Files;

/// Takes the steps of MRG-4.
pub(super) fn resume(files: Files, options: &MergeOptions) -> Result<MergedFile> {
    let Files::Paired { data, index } = &files else {
        return Err(Error::argument("the NAME of a pair", "a single file"));
    };
    let limits = &options.limits;
    let own_index = GrowingFile::open(index, FileRole::Index)?;
    let own_data = GrowingFile::open(data, FileRole::Data)?;
    let open = open_files(&files)?;
    let blame = |error| open.index.blame(error);
    open.header.check_writer_features().map_err(blame)?;
    check_header(&open.header, options).map_err(blame)?;
    let size = open.index.size()?;
    if is_finished(&open, limits, size)?.is_some() {
        return Err(Error::argument("a merge that is unfinished", "one that is finished"));
    }
    let schema = match open.header.framing {
        Framing::Arrow => {
            check_schema_is_there(&open, limits, size)?;
            open.read_schema(limits, size)?
        }
        Framing::Opaque | Framing::Records => None,
    };
    let mut walk = Walk::new(Purpose::Repair);
    let step = walk.run(&open, limits, size)?;
    if schema.as_ref().map(|schema| &schema.arrow) != options.schema.as_ref() {
        let expected = "the schema that the options say";
        return Err(blame(Error::at(
            ErrorCode::MismatchedPair,
            SCHEMA_OFFSET,
            expected,
            "another one",
        )));
    }
    let header = open.header.clone();
    // A footer is cut off like what is not whole.
    let metadata_blocks = walk.metadata_blocks() - u64::from(step == Step::Footer);
    let committed = committed(open, &walk, options, metadata_blocks)?;
    MergedFile::resume(files.clone(), header, (own_data, own_index), options, committed)
}

/// Step 3: the header is what the options say.
fn check_header(header: &FileHeader, options: &MergeOptions) -> Result<()> {
    let expected = options.header();
    let same_id = options.file_id.is_none_or(|id| id == header.file_id);
    let checks = [
        (header.is_merged(), field::PRODUCER, "a merged file"),
        (
            header.partition_count == expected.partition_count,
            field::PARTITION_COUNT,
            "the option partition_count",
        ),
        (
            header.first_partition == expected.first_partition,
            field::FIRST_PARTITION,
            "the option first_partition",
        ),
        (header.framing == expected.framing, field::FRAMING, "the option framing"),
        (
            header.attempt == expected.attempt,
            field::ATTEMPT,
            "the option generation",
        ),
        (same_id, field::FILE_ID, "the option file_id"),
        (
            header.reader_features == expected.reader_features,
            field::READER_FEATURES,
            "the option dictionaries",
        ),
    ];
    match checks.into_iter().find(|(holds, ..)| !holds) {
        None => Ok(()),
        Some((_, at, expected)) => {
            let found = "another value in the header";
            Err(Error::at(ErrorCode::MismatchedPair, at as u64, expected, found))
        }
    }
}

/// Step 7, and what the merge needs to know of the committed regions.
fn committed(open: OpenFiles, walk: &Walk, options: &MergeOptions, metadata_blocks: u64) -> Result<Committed> {
    let (limits, seal) = (&options.limits, open.seal);
    let data_end = walk.data_end();
    // Dictionaries after the last region are not committed.
    let entries = walk.dictionaries.iter().filter(|entry| entry.offset < data_end);
    let mut found = Vec::new();
    for (at, entry) in entries.enumerate() {
        let content = dictionaries::read(open.data_file(), limits, seal, at as u32 + 1, entry, true)?;
        found.push((*entry, known_by(&content)));
    }
    let footer = Footer {
        regions: walk.regions.clone(),
        dictionaries: walk.dictionaries.clone(),
        ..Footer::default()
    };
    let output = OpenOutput::new(open, None, ReaderOptions::default().limits(limits.clone()), footer);
    let mut committed = Committed {
        data_end,
        index_end: walk.metadata_end(),
        metadata_blocks: u32::try_from(metadata_blocks)
            .map_err(|_| Error::bare(ErrorCode::LimitExceeded, "fewer than 2^32 metadata blocks", "more"))?,
        regions: walk.regions.clone(),
        dictionaries: found,
        holdings: Holdings::default(),
        ..Committed::default()
    };
    for number in 0..output.region_count() {
        let region = output.region(number)?;
        let fault = |found| output.fault_of_runs(region.sequence(), "runs that obey MRG-2", found);
        if region.runs().is_empty() {
            return Err(fault("a region without runs".into()));
        }
        output.hold(&region, &mut committed.holdings)?;
        for (partition, run) in region.runs_by_partition() {
            let next = committed.sequences.entry(partition).or_default();
            *next = next
                .checked_add(run.blocks)
                .ok_or_else(|| fault(format!("2^32 blocks or more in partition {partition}")))?;
            committed.runs += 1;
        }
    }
    Ok(committed)
}
