//! What a writer hands over when it has finished: the summary, and a reader that has read nothing yet.

#![cfg(target_os = "linux")]

mod common;
mod recorder;
mod script;

use common::{Place, check, code, contents, fill_sample, in_fork, open, options};
use faro::{
    Action, Block, Durability, ErrorCode, Files, Layout, Limits, Lookup, Reader, ReaderOptions, RepairOptions, Result,
    Summary, Writer, WriterOptions,
};
use proptest::prelude::*;
use recorder::{reads_of, recorded};
use script::{call, fit, unfinished};
use std::os::fd::AsRawFd;
use std::path::Path;

const LAYOUTS: [Layout; 2] = [Layout::Paired, Layout::Single];

/// All kinds of writers: layout, follow, durability.
fn kinds() -> impl Iterator<Item = (Layout, bool, Durability)> {
    LAYOUTS.into_iter().flat_map(|layout| {
        [false, true].into_iter().flat_map(move |follow| {
            let durability = [Durability::None, Durability::Commit];
            durability.map(|durability| (layout, follow, durability))
        })
    })
}

/// A writer with the sample of the common helpers, not finished.
fn sample(place: &Place, options: WriterOptions) -> Writer {
    let mut writer = Writer::create(place.name(), options.first_partition(5)).unwrap();
    fill_sample(&mut writer);
    writer.property("key", "value").unwrap();
    writer
}

/// How many files of the folder this process has open.
fn open_files(place: &Place) -> usize {
    let folder = place.name().parent().unwrap().canonicalize().unwrap();
    let entries = std::fs::read_dir("/proc/self/fd").unwrap();
    let links = entries.filter_map(|entry| std::fs::read_link(entry.unwrap().path()).ok());
    links.filter(|link| link.starts_with(&folder)).count()
}

/// What a block says, and its payload.
fn told_of(block: Block) -> String {
    let Block {
        offset,
        partition,
        region,
        header,
        members,
        payload,
        ..
    } = block;
    format!("{offset} {partition:?} {region} {header:?} {members:?} {payload:?}")
}

fn told_of_all(blocks: impl Iterator<Item = Result<Block>>) -> Vec<String> {
    blocks.map(|block| told_of(block.unwrap())).collect()
}

/// Everything that a reader says, and everything that it delivers.
fn told(reader: &Reader) -> Vec<Vec<String>> {
    let mut told = vec![
        vec![format!("{:?}", reader.header()), format!("{:?}", reader.footer())],
        vec![format!("{:?}", reader.schema_message())],
    ];
    for partition in reader.partitions() {
        told.push(told_of_all(reader.partition(partition).unwrap()));
        told.push(vec![reader.stored_bytes(partition).unwrap().to_string()]);
    }
    told.push(told_of_all(reader.all().unwrap()));
    let regions = (0..reader.region_count()).map(|number| reader.region(number).unwrap());
    told.push(regions.map(|region| format!("{region:?}")).collect());
    told.push(vec![format!("{:?}", reader.byte_map().unwrap())]);
    told
}

/// Compares a summary with what a reader by name says.
fn assert_fits(summary: &Summary, files: &Files) {
    let reader = open(files).unwrap();
    let sizes = files
        .paths()
        .into_iter()
        .map(|(_, path)| path.metadata().unwrap().len());
    let sizes: Vec<u64> = sizes.collect();
    let of_regions: u64 = reader.footer().regions.iter().map(|entry| entry.data_length).sum();
    let bytes = match sizes[..] {
        [data, index] => (data, index),
        [all] => (of_regions, all - of_regions),
        _ => unreachable!(),
    };
    assert_eq!(&summary.files, files);
    assert_eq!(summary.file_id, reader.header().file_id);
    assert_eq!(summary.regions, reader.region_count());
    assert_eq!(Some(summary.blocks), check(files).unwrap().blocks);
    assert_eq!((summary.data_bytes, summary.index_bytes), bytes);
    assert_eq!(summary.statistics, reader.footer().statistics);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn the_reader_is_as_one_by_name(
        options in script::options(),
        mut calls in prop::collection::vec(call(), 0..60),
        statistics in any::<bool>(),
        dictionaries in any::<bool>(),
        durable in any::<bool>(),
        direct in any::<bool>(),
        region_cache_bytes in prop_oneof![Just(0), 0..2000u64, Just(1 << 20)],
    ) {
        fit(&mut calls, &options);
        let place = Place::new();
        let files = place.output(options.layout.unwrap());
        let durability = if durable { Durability::Commit } else { Durability::None };
        let options = options.statistics(statistics).dictionaries(dictionaries).durability(durability);
        let mut writer = unfinished(&place.name(), &options, &calls).unwrap();
        if dictionaries {
            writer.dictionary(b"\x37\xA4\x30\xEC, of which no block makes use").unwrap();
            writer.write(options.first_partition, b"a record after it").unwrap();
        }
        let lookup = if direct { Lookup::Direct } else { Lookup::Full };
        let reading = ReaderOptions::default().lookup(lookup).region_cache_bytes(region_cache_bytes);
        let (summary, reader) = writer.finish_and_open(reading.clone()).unwrap();
        prop_assert_eq!(summary.statistics.is_some(), statistics);
        prop_assert_eq!(told(&reader), told(&Reader::open(&files, reading).unwrap()));
        assert_fits(&summary, &files);
    }

    #[test]
    fn finish_has_the_same_summary(options in script::options(), mut calls in prop::collection::vec(call(), 0..60)) {
        fit(&mut calls, &options);
        let place = Place::new();
        let summary = unfinished(&place.name(), &options, &calls).unwrap().finish().unwrap();
        assert_fits(&summary, &place.output(options.layout.unwrap()));
        prop_assert!(summary.statistics.is_some());
    }
}

#[test]
fn an_output_without_records_is_handed_over() {
    for (layout, follow, durability) in kinds() {
        let place = Place::new();
        let empty = options(layout, 3).follow(follow).durability(durability);
        let mut writer = Writer::create(place.name(), empty).unwrap();
        let (summary, reader) = writer.finish_and_open(ReaderOptions::default()).unwrap();
        assert_eq!((summary.regions, summary.blocks), (0, 0));
        assert_eq!(told(&reader), told(&open(&place.output(layout)).unwrap()));
        assert_fits(&summary, &place.output(layout));
    }
}

#[test]
fn nothing_is_read_before_the_first_partition() {
    for (layout, follow, durability) in kinds() {
        let written = options(layout, 3).follow(follow).durability(durability);
        let place = Place::new();
        let mut writer = sample(&place, written.clone());
        let (result, reads) = reads_of(|| writer.finish_and_open(ReaderOptions::default()).unwrap());
        // The folder is opened to be synced.
        let opens = usize::from(durability == Durability::Commit);
        assert!(
            reads.len() == opens && reads.iter().all(|read| read.starts_with("open")),
            "{reads:?}"
        );
        // All regions are in memory, so only blocks are read.
        let data = if layout == Layout::Paired {
            "out.data"
        } else {
            "out.faro"
        };
        let (blocks, reads) = reads_of(|| result.1.partition(6).unwrap().map(Result::unwrap).count());
        assert_eq!(blocks, 4);
        assert!(
            !reads.is_empty() && reads.iter().all(|read| read.starts_with(&format!("read {data}"))),
            "{reads:?}"
        );
        // Without a cache, the messages are read too.
        let place = Place::new();
        let uncached = ReaderOptions::default().region_cache_bytes(0);
        let (_, reader) = sample(&place, written).finish_and_open(uncached).unwrap();
        let (_, more) = reads_of(|| reader.partition(6).unwrap().map(Result::unwrap).count());
        assert!(more.len() > reads.len(), "{more:?}");
    }
}

#[test]
fn the_reader_keeps_its_output_when_the_names_go_to_others() {
    for (layout, follow, durability) in kinds() {
        for removed in [false, true] {
            let place = Place::new();
            let files = place.output(layout);
            let written = options(layout, 3).follow(follow).durability(durability);
            // Without a cache, the index is read after the names are gone.
            let uncached = ReaderOptions::default().region_cache_bytes(0);
            let (_, reader) = sample(&place, written).finish_and_open(uncached).unwrap();
            let expected = told(&open(&files).unwrap());
            if removed {
                for (_, path) in files.paths() {
                    std::fs::remove_file(path).unwrap();
                }
            } else {
                let other = WriterOptions::new(1).layout(layout).overwrite(true);
                let mut writer = Writer::create(place.name(), other).unwrap();
                writer.write(0, b"of another").unwrap();
                writer.finish().unwrap();
                assert_eq!(open(&files).unwrap().partitions(), 0..1);
            }
            assert_eq!(told(&reader), expected);
        }
    }
}

/// Whether another process gets the record locks of all files that this process does not have.
fn locks_are_free(paths: &[std::path::PathBuf]) -> bool {
    let is_free = |path: &Path| {
        let file = std::fs::File::options().write(true).open(path).unwrap();
        // SAFETY: zeros are a valid value of this struct of numbers.
        let mut lock: libc::flock = unsafe { std::mem::zeroed() };
        lock.l_type = libc::F_WRLCK as libc::c_short;
        // SAFETY: the descriptor is open, and the struct is a local variable.
        unsafe { libc::fcntl(file.as_raw_fd(), libc::F_SETLK, &raw const lock) == 0 }
    };
    in_fork(|| paths.iter().all(|path| is_free(path)))
}

#[test]
fn the_locks_are_released() {
    for (layout, follow, durability) in kinds() {
        let place = Place::new();
        let written = options(layout, 3).follow(follow).durability(durability);
        let mut writer = sample(&place, written);
        let paths = |place: &Place| -> Vec<_> {
            let names = place.files();
            names.iter().map(|name| place.name().with_file_name(name)).collect()
        };
        assert!(!locks_are_free(&paths(&place)), "the test does not see the locks");
        let (_, reader) = writer.finish_and_open(ReaderOptions::default()).unwrap();
        assert!(locks_are_free(&paths(&place)));
        // This process has no living writer of these files either.
        let files = place.output(layout);
        let report = faro::repair(&files, &RepairOptions::default()).unwrap();
        assert_eq!(report.action, Action::Nothing);
        contents(&reader).unwrap();
    }
}

#[test]
fn the_files_close_with_the_reader() {
    for layout in LAYOUTS {
        let place = Place::new();
        let mut writer = sample(&place, options(layout, 3));
        let count = place.files().len();
        assert_eq!(open_files(&place), count);
        let (_, reader) = writer.finish_and_open(ReaderOptions::default()).unwrap();
        assert_eq!(open_files(&place), count);
        let mut rest = reader.all().unwrap();
        drop(reader);
        rest.next().unwrap().unwrap();
        assert_eq!(open_files(&place), count);
        drop(rest);
        assert_eq!(open_files(&place), 0);
        let place = Place::new();
        let mut writer_alone = sample(&place, options(layout, 3));
        writer_alone.finish().unwrap();
        assert_eq!(open_files(&place), 0);
        assert_eq!(code(writer.finish()), ErrorCode::InvalidArgument);
        assert_eq!(
            code(writer_alone.finish_and_open(ReaderOptions::default())),
            ErrorCode::InvalidArgument
        );
    }
}

#[test]
fn a_refused_call_leaves_nothing_open() {
    for (layout, follow, durability) in kinds() {
        let mut refused = 0;
        loop {
            let place = Place::new();
            let mut writer = sample(&place, options(layout, 3).follow(follow).durability(durability));
            let finish = || writer.finish_and_open(ReaderOptions::default());
            let (result, calls) = recorded(refused..refused + 1, finish);
            let Err(first) = result else {
                assert!(calls.len() <= refused, "{calls:?}");
                break;
            };
            assert_eq!(first.code, ErrorCode::Io);
            let again = writer.finish_and_open(ReaderOptions::default()).unwrap_err();
            assert_eq!(again.to_string(), first.to_string());
            writer.abort().unwrap();
            assert!(place.files().is_empty());
            drop(writer);
            assert_eq!(open_files(&place), 0);
            refused += 1;
        }
        assert!(refused >= 1);
    }
}

/// The output exists when the reader's limits refuse it.
#[test]
fn a_limit_is_reported_after_the_output_was_published() {
    let limits: [&dyn Fn(Limits) -> Limits; 3] = [
        &|limits| limits.max_regions(2),
        &|limits| limits.max_dictionaries(0),
        &|limits| limits.max_message_size(100),
    ];
    for (layout, follow, durability) in kinds() {
        for limit in limits {
            let place = Place::new();
            let files = place.output(layout);
            let written = options(layout, 3)
                .follow(follow)
                .durability(durability)
                .dictionaries(true);
            let mut writer = sample(&place, written);
            writer
                .dictionary(b"\x37\xA4\x30\xEC, of which no block makes use")
                .unwrap();
            writer.write(5, b"a record after it").unwrap();
            let reading = ReaderOptions::default().limits(limit(Limits::default()));
            let error = writer.finish_and_open(reading.clone()).unwrap_err();
            let by_name = Reader::open(&files, reading).unwrap_err();
            assert_eq!(error.code, ErrorCode::LimitExceeded);
            assert_eq!(
                error.to_string(),
                format!("{by_name}; the output is finished and published")
            );
            assert_eq!((error.role, error.offset), (by_name.role, by_name.offset));
            assert_eq!(open_files(&place), 0);
            // The writer has finished.
            assert_eq!(code(writer.write(5, b"x")), ErrorCode::InvalidArgument);
            writer.abort().unwrap();
            check(&files).unwrap();
        }
    }
}

/// A region message above the limit is refused when it is needed, whether its writer had it or not.
#[test]
fn a_cached_region_does_not_escape_the_limit() {
    for layout in LAYOUTS {
        let place = Place::new();
        let mut writer = Writer::create(place.name(), options(layout, 1000).statistics(false)).unwrap();
        for partition in 0..1000 {
            writer.write(partition, b"x").unwrap();
        }
        let reading = ReaderOptions::default().limits(Limits::default().max_message_size(1000));
        let (_, reader) = writer.finish_and_open(reading.clone()).unwrap();
        let by_name = Reader::open(&place.output(layout), reading).unwrap();
        let (found, expected) = (reader.region(0).unwrap_err(), by_name.region(0).unwrap_err());
        assert_eq!(expected.code, ErrorCode::LimitExceeded);
        assert_eq!(found.to_string(), expected.to_string());
    }
}
