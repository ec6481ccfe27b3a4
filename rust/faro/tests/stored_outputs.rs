//! Outputs in memory, also with short reads, are read as the same bytes in local files are: the same blocks, and the
//! same faults in the same words.

mod common;
mod script;
mod stored;

use common::{Place, write_sample};
use faro::scheduler::{Scheduler, SchedulerOptions};
use faro::storage::{MemoryFile, RangeRead, StoredFile, StoredOutput};
use faro::{Block, CheckLevel, CheckOptions, CheckReport, ErrorCode, FileRole, Files, Layout};
use faro::{Lookup, Reader, ReaderOptions, Result};
use proptest::prelude::*;
use script::{call, fit, options, write};
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use stored::{OddFile, ShortFile};

/// What a test does to the bytes of an output. Positions are parts of a file.
#[derive(Clone, Debug)]
enum Harm {
    None,
    /// Changes bytes: in the first or the last file, at which position, by which mask.
    Flip(Vec<(bool, f64, u8)>),
    /// Cuts a file off.
    Cut(bool, f64),
    /// Appends to a file.
    Append(bool, Vec<u8>),
}

fn harm() -> impl Strategy<Value = Harm> {
    let flip = (any::<bool>(), 0.0..1.0f64, 1..=255u8);
    prop_oneof![
        2 => Just(Harm::None),
        4 => prop::collection::vec(flip, 1..4).prop_map(Harm::Flip),
        3 => (any::<bool>(), 0.0..1.0f64).prop_map(|(first, at)| Harm::Cut(first, at)),
        1 => (any::<bool>(), prop::collection::vec(any::<u8>(), 1..40)).prop_map(|(first, more)| Harm::Append(first, more)),
    ]
}

fn apply(files: &Files, harm: &Harm) {
    let paths = files.paths();
    let path = |first: bool| paths[if first { 0 } else { paths.len() - 1 }].1;
    let change = |first: bool, act: &dyn Fn(&mut Vec<u8>)| {
        let mut bytes = std::fs::read(path(first)).unwrap();
        act(&mut bytes);
        std::fs::write(path(first), bytes).unwrap();
    };
    match harm {
        Harm::None => {}
        Harm::Flip(flips) => flips.iter().for_each(|(first, at, mask)| {
            change(*first, &|bytes| {
                let at = (bytes.len() as f64 * at) as usize;
                bytes[at] ^= mask;
            });
        }),
        Harm::Cut(first, at) => change(*first, &|bytes| bytes.truncate((bytes.len() as f64 * at) as usize)),
        Harm::Append(first, more) => change(*first, &|bytes| bytes.extend_from_slice(more)),
    }
}

/// The files in memory, with their paths as names, so that errors have the same words.
fn in_memory<F: StoredFile + 'static>(files: &Files, make: impl Fn(MemoryFile) -> F) -> StoredOutput {
    let file = |path: &Path| make(MemoryFile::new(path, std::fs::read(path).unwrap()));
    match files {
        Files::Single(path) => StoredOutput::single(file(path)),
        Files::Paired { data, index } => StoredOutput::paired(file(data), file(index)),
    }
}

fn told<T: std::fmt::Debug>(result: Result<T>) -> String {
    result.map_or_else(
        |error| format!("{error}, role {:?}", error.role),
        |value| format!("{value:?}"),
    )
}

fn blocks(found: &mut Vec<String>, what: &str, blocks: Result<impl Iterator<Item = Result<Block>>>) {
    let blocks = match blocks {
        Ok(blocks) => blocks,
        Err(error) => return found.push(format!("{what}: {}", told::<()>(Err(error)))),
    };
    for block in blocks {
        let seen = |block: Block| {
            let Block {
                offset,
                partition,
                region,
                ..
            } = block;
            (offset, partition, region, block.kind(), block.payload)
        };
        found.push(format!("{what}: {}", told(block.map(seen))));
    }
}

/// What all ways of reading deliver, until their faults.
fn read_every_way(open: impl Fn(ReaderOptions) -> Result<Reader>) -> Vec<String> {
    let mut found = Vec::new();
    for lookup in [Lookup::Full, Lookup::Direct] {
        let reader = match open(ReaderOptions::default().lookup(lookup).region_cache_bytes(500)) {
            Ok(reader) => reader,
            Err(error) => {
                found.push(told::<()>(Err(error)));
                continue;
            }
        };
        for partition in reader.partitions() {
            blocks(
                &mut found,
                &format!("partition {partition}"),
                reader.partition(partition),
            );
            found.push(told(reader.stored_bytes(partition)));
        }
        if lookup == Lookup::Direct {
            continue;
        }
        blocks(&mut found, "all", reader.all());
        let by_partition = reader.by_partition(reader.partitions()).unwrap();
        blocks(
            &mut found,
            "by partition",
            Ok(by_partition.map(|item| item.map(|(_, block)| block))),
        );
        found.push(told(reader.byte_map()));
        let scheduler = Scheduler::new(SchedulerOptions::default()).unwrap();
        for partition in reader.partitions() {
            blocks(&mut found, "scheduler", scheduler.partition(&reader, partition));
        }
    }
    found
}

fn check_every_way(check: impl Fn(&CheckOptions) -> Result<CheckReport>) -> Vec<String> {
    [CheckLevel::Structure, CheckLevel::Checksums, CheckLevel::Decode]
        .into_iter()
        .map(|level| told(check(&CheckOptions::default().level(level))))
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn memory_reads_as_local_files_do(
        options in options(),
        mut calls in prop::collection::vec(call(), 0..60),
        harm in harm(),
        seed in any::<u64>(),
    ) {
        let place = Place::new();
        fit(&mut calls, &options);
        let files = write(&place.name(), &options, &calls).unwrap();
        apply(&files, &harm);
        let expected = read_every_way(|options| Reader::open(&files, options));
        let checked = check_every_way(|options| faro::check(&files, options));
        let whole = in_memory(&files, |file| file);
        let short = in_memory(&files, |file| ShortFile::new(file, seed));
        for output in [whole, short] {
            let found = read_every_way(|options| Reader::open_stored(output.clone(), options));
            prop_assert_eq!(&found, &expected);
            prop_assert_eq!(&check_every_way(|options| faro::check_stored(&output, options)), &checked);
        }
    }
}

const LAYOUTS: [Layout; 2] = [Layout::Paired, Layout::Single];

#[test]
fn the_harms_are_found() {
    // The test above compares faults. They must be there.
    for layout in LAYOUTS {
        for harm in [
            Harm::Flip(vec![(true, 0.5, 1)]),
            Harm::Cut(false, 0.9),
            Harm::Append(true, vec![1]),
        ] {
            let place = Place::new();
            let files = write_sample(&place.name(), layout);
            apply(&files, &harm);
            assert!(faro::check_stored(&in_memory(&files, |file| file), &CheckOptions::default()).is_err());
        }
    }
}

#[test]
fn every_read_that_fails_is_told_with_role_and_name() {
    for layout in LAYOUTS {
        let place = Place::new();
        let files = write_sample(&place.name(), layout);
        let read = |fails: usize| {
            let reads = Arc::new(AtomicUsize::new(0));
            let counted = reads.clone();
            let output = in_memory(&files, move |file| {
                let reads = counted.clone();
                OddFile::new(file).read_at(move |file, offset, buffer| {
                    match reads.fetch_add(1, Ordering::Relaxed) == fails {
                        true => Err(io::Error::other("the storage is away")),
                        false => file.read_at(offset, buffer),
                    }
                })
            });
            let result = Reader::open_stored(output, ReaderOptions::default()).and_then(|reader| {
                reader
                    .partitions()
                    .try_for_each(|p| reader.partition(p)?.try_for_each(|b| b.map(drop)))
            });
            (result, reads.load(Ordering::Relaxed))
        };
        let (result, reads) = read(usize::MAX);
        result.unwrap();
        assert!(reads > 5);
        for fails in 0..reads {
            let error = read(fails).0.unwrap_err();
            assert_eq!(error.code, ErrorCode::Io);
            assert_eq!(error.found, "the storage is away");
            let (role, path) = (error.role.unwrap(), error.file.unwrap());
            assert!(files.paths().contains(&(role, path.as_path())), "{role} {path:?}");
        }
    }
}

#[test]
fn a_storage_that_returns_too_much_is_an_error() {
    for layout in LAYOUTS {
        let place = Place::new();
        let files = write_sample(&place.name(), layout);
        let output = in_memory(&files, |file| {
            OddFile::new(file).read_at(|file, offset, buffer| Ok(file.read_at(offset, buffer)? + 1))
        });
        let error = Reader::open_stored(output, ReaderOptions::default()).unwrap_err();
        assert_eq!(error.code, ErrorCode::Io);
        assert_eq!(
            error.role,
            Some(if layout == Layout::Single {
                FileRole::Single
            } else {
                FileRole::Index
            })
        );
        assert!(error.found.contains("more bytes"), "{error}");
    }
}

/// What reading one partition after another does.
#[derive(Debug)]
struct Windowed {
    blocks: Vec<String>,
    /// The number of ranges of each call for ranges.
    calls: Vec<usize>,
    /// The number of reads beside those calls.
    reads: usize,
}

fn by_partition(
    files: &Files,
    read_ranges: impl Fn(&MemoryFile, &mut [RangeRead<'_>]) -> io::Result<()> + Clone + Send + Sync + 'static,
) -> Windowed {
    let (calls, reads) = (Arc::new(Mutex::new(Vec::new())), Arc::new(AtomicUsize::new(0)));
    let output = in_memory(files, |file| {
        let (calls, reads, read_ranges) = (calls.clone(), reads.clone(), read_ranges.clone());
        let file = OddFile::new(file).read_ranges(move |file, ranges| {
            calls.lock().unwrap().push(ranges.len());
            read_ranges(file, ranges)
        });
        // Through a pointer, which must pass on the calls for ranges too.
        Arc::new(file.read_at(move |file, offset, buffer| {
            reads.fetch_add(1, Ordering::Relaxed);
            file.read_at(offset, buffer)
        }))
    });
    let reader = Reader::open_stored(output, ReaderOptions::default()).unwrap();
    let mut found = Vec::new();
    let items = reader.by_partition(reader.partitions()).unwrap();
    blocks(&mut found, "", Ok(items.map(|item| item.map(|(_, block)| block))));
    let calls = calls.lock().unwrap().clone();
    Windowed {
        blocks: found,
        calls,
        reads: reads.load(Ordering::Relaxed),
    }
}

#[test]
fn a_window_is_read_with_one_call_and_its_failure_is_no_fault() {
    for layout in LAYOUTS {
        let place = Place::new();
        let files = write_sample(&place.name(), layout);
        let reader = Reader::open(&files, ReaderOptions::default()).unwrap();
        let mut expected = Vec::new();
        for partition in reader.partitions() {
            blocks(&mut expected, "", reader.partition(partition));
        }
        let all = |file: &MemoryFile, ranges: &mut [RangeRead<'_>]| file.read_ranges(ranges);
        let right = by_partition(&files, all);
        assert_eq!(right.blocks, expected);
        assert_eq!(right.calls, [2], "a window with the own extents of two regions");
        let none = |_: &MemoryFile, _: &mut [RangeRead<'_>]| Err(io::Error::other("too many"));
        let alone = by_partition(&files, none);
        assert_eq!(alone.blocks, expected);
        assert_eq!(alone.reads, right.reads + 2, "each range is read alone");
        let claims_more = |_: &MemoryFile, ranges: &mut [RangeRead<'_>]| {
            ranges.iter_mut().for_each(|range| range.set_filled(range.length() + 1));
            Ok(())
        };
        assert_eq!(by_partition(&files, claims_more).blocks, expected);
        let leaves_out = |file: &MemoryFile, ranges: &mut [RangeRead<'_>]| ranges[1].fill_from(file);
        assert_eq!(by_partition(&files, leaves_out).blocks, expected);
    }
}

#[test]
fn files_close_with_the_last_that_holds_them() {
    let place = Place::new();
    let files = write_sample(&place.name(), Layout::Paired);
    let open = Arc::new(AtomicUsize::new(0));
    let token = open.clone();
    let output = in_memory(&files, move |file| {
        let token = token.clone();
        OddFile::new(file).read_at(move |file, offset, buffer| {
            token.fetch_add(1, Ordering::Relaxed);
            file.read_at(offset, buffer)
        })
    });
    let reader = Reader::open_stored(output, ReaderOptions::default()).unwrap();
    let mut rest = reader.all().unwrap();
    let first = rest.next().unwrap().unwrap();
    drop(reader);
    assert!(Arc::strong_count(&open) > 1);
    assert!(rest.by_ref().all(|block| block.is_ok()));
    drop(rest);
    drop(first);
    assert_eq!(Arc::strong_count(&open), 1);
}
