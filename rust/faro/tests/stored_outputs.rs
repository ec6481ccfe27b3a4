//! Outputs in memory, also with short reads, are read as the same bytes in local files are: the same blocks, and the
//! same faults in the same words.

mod common;
mod harm;
mod script;
mod stored;

use common::{Place, write_sample};
use faro::scheduler::{Scheduler, SchedulerOptions};
use faro::storage::{MemoryFile, RangeRead, StoredFile};
use faro::{CheckLevel, CheckOptions, CheckReport, ErrorCode, FileRole, Files, Layout};
use faro::{Lookup, Reader, ReaderOptions, Result, Writer, WriterOptions};
use harm::{Harm, apply, blocks, harm, in_memory, told};
use proptest::prelude::*;
use script::{call, fit, options, write};
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use stored::{OddFile, ShortFile};

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

/// A file that says how much to read at once, and notes the reads.
#[derive(Debug)]
struct Distant {
    file: MemoryFile,
    read_bytes: u64,
    reads: Arc<Mutex<Vec<usize>>>,
    calls: Arc<Mutex<Vec<usize>>>,
}

impl StoredFile for Distant {
    fn name(&self) -> &Path {
        self.file.name()
    }

    fn size(&self) -> io::Result<u64> {
        self.file.size()
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        self.reads.lock().unwrap().push(buffer.len());
        self.file.read_at(offset, buffer)
    }

    fn read_ranges(&self, ranges: &mut [RangeRead<'_>]) -> io::Result<()> {
        self.calls.lock().unwrap().push(ranges.len());
        self.file.read_ranges(ranges)
    }

    fn read_bytes(&self) -> u64 {
        self.read_bytes
    }
}

#[test]
fn a_storage_says_how_much_to_read_at_once() {
    let place = Place::new();
    let mut writer = Writer::create(place.name(), WriterOptions::new(1)).unwrap();
    (0..3000u32).for_each(|record| writer.write(0, &record.to_le_bytes().repeat(250)).unwrap());
    let files = writer.finish().unwrap().files;
    // 3 MB. Wrong counts are bounded; a block is read whole, whatever they are.
    for (read_bytes, least, most) in [(1 << 20, 3, 4), (8 << 20, 1, 1), (0, 90, 800), (u64::MAX, 1, 1)] {
        let reads = Arc::new(Mutex::new(Vec::new()));
        let noted = reads.clone();
        let output = in_memory(&files, move |file| {
            Arc::new(Distant {
                file,
                read_bytes,
                reads: noted.clone(),
                calls: Arc::default(),
            })
        });
        let reader = Reader::open_stored(output, ReaderOptions::default()).unwrap();
        reader.region(0).unwrap();
        reads.lock().unwrap().clear();
        assert_eq!(
            reader
                .records(0)
                .unwrap()
                .map(|record| record.unwrap().len())
                .sum::<usize>(),
            3_000_000
        );
        let reads = reads.lock().unwrap().len();
        assert!((least..=most).contains(&reads), "{reads} reads of {read_bytes} bytes");
    }
}

#[test]
fn a_direct_lookup_asks_all_messages_with_one_call() {
    let place = Place::new();
    let mut writer = Writer::create(place.name(), WriterOptions::new(3)).unwrap();
    for region in 0..50u32 {
        writer.write(region % 3, &region.to_le_bytes()).unwrap();
        writer.flush().unwrap();
    }
    let files = writer.finish().unwrap().files;
    let (reads, calls) = (Arc::new(Mutex::new(Vec::new())), Arc::new(Mutex::new(Vec::new())));
    let (noted, called) = (reads.clone(), calls.clone());
    let output = in_memory(&files, move |file| Distant {
        file,
        read_bytes: 1 << 20,
        reads: noted.clone(),
        calls: called.clone(),
    });
    let reader = Reader::open_stored(output, ReaderOptions::default().lookup(Lookup::Direct)).unwrap();
    let before = reads.lock().unwrap().len();
    assert_eq!(reader.partition(1).unwrap().map(Result::unwrap).count(), 17);
    assert_eq!(*calls.lock().unwrap(), [50]);
    // The messages are smaller than a piece, so only the extents are left to read.
    assert_eq!(reads.lock().unwrap().len() - before, 17);
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
