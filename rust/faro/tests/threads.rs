//! One reader for many threads, many followers of one writer, and iterators that are dropped half-way. The tests are
//! small enough for ThreadSanitizer (`make tsan`).

mod common;

use common::{Content, Place, check, content, contents, open, options};
use faro::scheduler::{Consumer, Scheduler};
use faro::{Block, Blocks, ByPartition, Codec, Files, Follower, Layout, Reader, ReaderOptions, Records, Writer};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Barrier, mpsc};
use std::time::{Duration, Instant};

const LAYOUTS: [Layout; 2] = [Layout::Paired, Layout::Single];
const PARTITIONS: u32 = 7;
const REGIONS: usize = 9;
const THREADS: usize = 6;

fn fill(writer: &mut Writer) {
    for region in 0..REGIONS as u32 {
        for record in 0..40u32 {
            let partition = (record * 5 + region) % PARTITIONS;
            let bytes = format!("{region} {record} ").repeat(1 + (record as usize * 7) % 30);
            writer.write(partition, bytes.as_bytes()).unwrap();
        }
        writer
            .write_event(region % PARTITIONS, 64, &region.to_le_bytes())
            .unwrap();
        writer.broadcast(b"to all").unwrap();
        writer.multicast(&[1, region % PARTITIONS], b"to some").unwrap();
        writer.flush().unwrap();
    }
}

fn write(place: &Place, layout: Layout, codec: Codec) -> Files {
    let small = options(layout, PARTITIONS).codec(codec).block_size(700);
    let mut writer = Writer::create(place.name(), small).unwrap();
    fill(&mut writer);
    writer.finish().unwrap().files
}

/// What one thread reads from a reader.
#[derive(Debug, PartialEq)]
struct Told {
    contents: Vec<Content>,
    ranges: Vec<Content>,
    stored: Vec<u64>,
    records: Vec<Vec<Vec<u8>>>,
    extents: Vec<Vec<faro::Extent>>,
}

/// Reads everything from a reader, in an order that depends on `turn`.
fn ask(reader: &Reader, turn: usize) -> Told {
    let turned = |count: usize| (0..count).map(move |at| (at + turn) % count);
    let mut told = Told {
        contents: vec![Content::new(); PARTITIONS as usize],
        ranges: vec![Content::new(); PARTITIONS as usize],
        stored: vec![0; PARTITIONS as usize],
        records: vec![Vec::new(); PARTITIONS as usize],
        extents: vec![Vec::new(); REGIONS],
    };
    for at in turned(PARTITIONS as usize) {
        let partition = at as u32;
        told.contents[at] = content(reader.partition(partition).unwrap()).unwrap();
        let range = partition..(partition + 3).min(PARTITIONS);
        told.ranges[at] = content(reader.range(range).unwrap()).unwrap();
        told.stored[at] = reader.stored_bytes(partition).unwrap();
        let records = reader.records(partition).unwrap();
        told.records[at] = records.map(|record| record.unwrap().to_vec()).collect();
    }
    for number in turned(REGIONS) {
        let region = reader.region(number).unwrap();
        told.extents[number] = (0..PARTITIONS)
            .flat_map(|partition| region.extents_of(partition))
            .collect();
    }
    told
}

/// Runs code on many threads at once.
fn at_once(act: impl Fn(usize) + Sync) {
    let start = Barrier::new(THREADS);
    std::thread::scope(|scope| {
        for number in 0..THREADS {
            let (start, act) = (&start, &act);
            scope.spawn(move || {
                start.wait();
                act(number);
            });
        }
    });
}

/// The crate's documentation promises these bounds, which the compiler checks here.
#[test]
fn handles_move_between_threads_and_readers_are_shared() {
    fn moves<T: Send>() {}
    fn is_shared<T: Send + Sync>() {}
    is_shared::<(Reader, Block, Scheduler)>();
    moves::<(Blocks, ByPartition, Records, Consumer)>();
    moves::<(Writer, Follower)>();
}

#[test]
fn many_threads_read_what_one_reads() {
    for (layout, codec) in [
        (Layout::Paired, Codec::Zstd),
        (Layout::Single, Codec::Lz4),
        (Layout::Paired, Codec::None),
    ] {
        let place = Place::new();
        let files = write(&place, layout, codec);
        let expected = ask(&open(&files).unwrap(), 0);
        let report = check(&files).unwrap();
        // The cache keeps all regions, some, or none: threads hit, miss, and evict each other's regions.
        for region_cache_bytes in [64 << 20, 1200, 0] {
            let options = ReaderOptions::default().region_cache_bytes(region_cache_bytes);
            let reader = Reader::open(&files, options).unwrap();
            at_once(|number| {
                for turn in number..number + 3 {
                    assert_eq!(ask(&reader, turn), expected);
                }
                assert_eq!(check(&files).unwrap(), report);
            });
            assert_eq!(ask(&reader, 0), expected);
        }
    }
}

/// Blocks share the memory of a read. It is reused when no thread holds a part of it.
#[test]
fn blocks_may_be_kept_and_dropped_by_other_threads() {
    let place = Place::new();
    // Several times the size of a read, in blocks that do not end where a read ends.
    let mut writer = Writer::create(place.name(), options(Layout::Paired, PARTITIONS).block_size(10_000)).unwrap();
    for record in 0..25 * PARTITIONS {
        let bytes: Vec<u8> = (0..9_900).map(|at| (at * 31 + record * 7) as u8).collect();
        writer.write(record % PARTITIONS, &bytes).unwrap();
    }
    let files = writer.finish().unwrap().files;
    let reader = open(&files).unwrap();
    let expected: Content = content(reader.all().unwrap()).unwrap();
    at_once(|number| {
        let (to, from) = mpsc::sync_channel::<Block>(number);
        std::thread::scope(|scope| {
            let keeper = scope.spawn(move || -> Content {
                from.into_iter()
                    .map(|block| (block.kind(), block.payload.to_vec()))
                    .collect()
            });
            let mut blocks = reader.all().unwrap();
            for block in blocks.by_ref().take(number * 20) {
                to.send(block.unwrap()).unwrap();
            }
            // The iterator itself moves to another thread half-way.
            scope.spawn(move || blocks.for_each(|block| to.send(block.unwrap()).unwrap()));
            assert_eq!(keeper.join().unwrap(), expected);
        });
    });
}

#[test]
fn a_reader_outlives_what_is_dropped_half_way() {
    for layout in LAYOUTS {
        let place = Place::new();
        let files = write(&place, layout, Codec::Zstd);
        let reader = open(&files).unwrap();
        let expected = contents(&reader).unwrap();
        at_once(|number| {
            for count in 0..20 {
                let partition = (number + count) as u32 % PARTITIONS;
                assert!(reader.range(0..partition + 1).unwrap().take(count).count() <= count);
                assert!(reader.records(partition).unwrap().take(count).count() <= count);
                // A caller that panics leaves no traces either.
                let stopped = catch_unwind(AssertUnwindSafe(|| {
                    for (at, block) in reader.all().unwrap().enumerate() {
                        let _block = block.unwrap();
                        if at == count {
                            std::panic::resume_unwind(Box::new("enough"));
                        }
                    }
                }));
                assert!(stopped.is_err());
                let found = content(reader.partition(partition).unwrap()).unwrap();
                assert_eq!(found, expected[partition as usize]);
            }
        });
        assert_eq!(contents(&reader).unwrap(), expected);
    }
}

#[test]
fn a_check_that_its_caller_stops_changes_nothing() {
    let place = Place::new();
    let files = write(&place, Layout::Paired, Codec::Lz4);
    let report = check(&files).unwrap();
    at_once(|number| {
        let mut calls = 0;
        let stopped = catch_unwind(AssertUnwindSafe(|| {
            faro::check_with(&files, &faro::CheckOptions::default(), &mut |_, _| {
                calls += 1;
                if calls > number {
                    std::panic::resume_unwind(Box::new("enough"));
                }
            })
        }));
        assert!(stopped.is_err());
        assert_eq!(check(&files).unwrap(), report);
    });
}

/// Follows to the end. Each poll sees what the previous one saw, and perhaps more.
fn follow(files: &Files, turn: usize) -> Vec<Content> {
    let deadline = Instant::now() + Duration::from_secs(120);
    let mut follower = Follower::open(files, ReaderOptions::default()).unwrap();
    let mut seen = vec![Content::new(); PARTITIONS as usize];
    let mut regions = 0;
    loop {
        let progress = follower.poll().unwrap();
        assert!(progress.regions >= regions, "{progress:?} after {regions}");
        if progress.regions > regions || progress.finished {
            regions = progress.regions;
            for at in 0..PARTITIONS as usize {
                let partition = ((at + turn) % PARTITIONS as usize) as u32;
                let now = content(follower.partition(partition).unwrap()).unwrap();
                let before = &mut seen[partition as usize];
                assert!(now.starts_with(before), "partition {partition} changed");
                *before = now;
            }
        }
        if progress.finished {
            return seen;
        }
        assert!(Instant::now() < deadline, "the writer never finished");
        std::thread::sleep(Duration::from_micros(100 * turn as u64));
    }
}

#[test]
fn many_followers_of_one_writer_see_it_grow() {
    for layout in LAYOUTS {
        let place = Place::new();
        let followed = options(layout, PARTITIONS)
            .codec(Codec::Zstd)
            .block_size(700)
            .follow(true);
        let mut writer = Writer::create(place.name(), followed).unwrap();
        let files = place.output(layout);
        let all = std::thread::scope(|scope| {
            let followers: Vec<_> = (0..THREADS)
                .map(|turn| {
                    let files = &files;
                    scope.spawn(move || follow(files, turn))
                })
                .collect();
            fill(&mut writer);
            writer.finish().unwrap();
            let ended = followers.into_iter().map(|follower| follower.join().unwrap());
            ended.collect::<Vec<_>>()
        });
        let expected = contents(&open(&files).unwrap()).unwrap();
        assert_eq!(expected.len(), PARTITIONS as usize);
        for seen in all {
            assert_eq!(seen, expected);
        }
    }
}

/// Two threads write one word without synchronisation. `make tsan` runs this first, and continues only if the sanitizer
/// reports it. Nothing else runs it, since its behaviour is undefined.
#[test]
#[ignore = "a data race on purpose"]
fn races_on_purpose() {
    static mut WORD: u64 = 0;
    std::thread::scope(|scope| {
        for number in 0..2 {
            scope.spawn(move || {
                for _ in 0..1000 {
                    // SAFETY: none. It is a data race on purpose, for the sanitizer to find, and runs only for that.
                    unsafe { (&raw mut WORD).write_volatile((&raw const WORD).read_volatile() + number) };
                }
            });
        }
    });
}
