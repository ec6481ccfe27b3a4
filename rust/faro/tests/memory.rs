//! How much memory reading (LIM-2) and writing take.

mod common;
mod counting;

use common::{Place, open, options};
use counting::Counting;
use faro::{Codec, Files, Framing, Layout, MemoryBudget, Reader, ReaderOptions, Writer, WriterOptions};
use std::cell::Cell;
use std::sync::Arc;

// A count for each thread, since other tests run at the same time.
thread_local! {
    static TAKEN: Cell<isize> = const { Cell::new(0) };
    static PEAK: Cell<isize> = const { Cell::new(0) };
    static TIMES: Cell<usize> = const { Cell::new(0) };
}

fn count(bytes: isize) {
    TIMES.set(TIMES.get() + usize::from(bytes > 0));
    TAKEN.set(TAKEN.get() + bytes);
    PEAK.set(PEAK.get().max(TAKEN.get()));
}

#[global_allocator]
static ALLOCATOR: Counting = Counting(count);

/// Runs code, and returns its peak memory in bytes, beyond what was allocated before.
fn peak_of<T>(act: impl FnOnce() -> T) -> (T, usize) {
    let before = TAKEN.get();
    PEAK.set(before);
    let result = act();
    (result, usize::try_from(PEAK.get() - before).unwrap())
}

const PARTITIONS: u32 = 100_000;
/// The size of the message of a dense region: the offsets of its slots, u32.
const MESSAGE: usize = 4 * PARTITIONS as usize;

/// Dense regions, each with a block for every other partition and for the last.
fn write_regions(place: &Place, regions: usize) -> Files {
    let many = options(Layout::Paired, PARTITIONS)
        .framing(Framing::Opaque)
        .statistics(false);
    let mut writer = Writer::create(place.name(), many).unwrap();
    for _ in 0..regions {
        for partition in (1..PARTITIONS).step_by(2) {
            writer.write(partition, b"x").unwrap();
        }
        writer.flush().unwrap();
    }
    let summary = writer.finish().unwrap();
    assert!(summary.index_bytes as usize > regions * MESSAGE);
    let reader = open(&summary.files).unwrap();
    assert!((0..regions).all(|number| !reader.region(number).unwrap().is_sparse()));
    summary.files
}

fn read_last_partition(files: &Files, region_cache_bytes: u64) -> usize {
    let options = ReaderOptions::default().region_cache_bytes(region_cache_bytes);
    let reader = Reader::open(files, options).unwrap();
    let blocks = reader.partition(PARTITIONS - 1).unwrap();
    blocks.map(|block| block.unwrap().payload.len()).sum()
}

#[test]
fn one_region_message_at_a_time() {
    let (one, ten) = (Place::new(), Place::new());
    let one = write_regions(&one, 1);
    let ten = write_regions(&ten, 10);
    let (length, one_region) = peak_of(|| read_last_partition(&one, 0));
    assert_eq!(length, 1);
    let (length, ten_regions) = peak_of(|| read_last_partition(&ten, 0));
    assert_eq!(length, 10);
    // One message and its index are in memory. Nine more regions may add entries of the directory, but no message.
    assert!(one_region < 3 * MESSAGE, "{one_region}");
    assert!(
        ten_regions < one_region + MESSAGE / 10,
        "{one_region} and {ten_regions}"
    );
    // Check the measurement: a cache for all regions shows.
    let (_, all_kept) = peak_of(|| read_last_partition(&ten, 1 << 30));
    assert!(all_kept > 10 * MESSAGE, "{all_kept}");
    // A bounded cache stays within its bound.
    let (_, some_kept) = peak_of(|| read_last_partition(&ten, 3 * MESSAGE as u64));
    assert!(some_kept < one_region + 4 * MESSAGE, "{some_kept}");
}

/// Records need no allocation each; sorting and writing them take little memory beside their charges.
#[test]
fn writing_takes_the_sort_buffer_and_no_allocation_for_each_record() {
    const BUFFER: usize = 32 << 20;
    for (length, partitions) in [(0, 64), (16, 10_000), (100, 64), (1000, 10_000)] {
        let place = Place::new();
        let record = vec![7; length];
        let write = |regions: usize| {
            let before = TIMES.get();
            let many = options(Layout::Paired, partitions).buffer_size(BUFFER as u64);
            let mut writer = Writer::create(place.name().with_extension(regions.to_string()), many).unwrap();
            let records = regions * (BUFFER / (length + 12));
            for number in 0..records as u32 {
                writer
                    .write(number.wrapping_mul(0x9E37_79B9) % partitions, &record)
                    .unwrap();
            }
            assert_eq!(writer.finish().unwrap().regions, regions);
            (TIMES.get() - before, records)
        };
        let ((first, _), peak) = peak_of(|| write(1));
        assert!(peak < BUFFER + (16 << 20), "{length}: {peak}");
        // Later regions allocate only what they leave in the file: the extents in a message.
        let (times, records) = write(4);
        assert!(times - first < records / 100, "{length}: {first}, {times} of {records}");
    }
}

/// A writer without records holds only its small buffers. After a full buffer closed a region, it keeps the memory for
/// the next.
#[test]
fn flush_finish_and_abort_give_memory_back() {
    const BUFFER: u64 = 8 << 20;
    let place = Place::new();
    let before = TAKEN.get();
    let held = |bytes: isize| (TAKEN.get() - before) / bytes;
    let mut writer = Writer::create(place.name(), options(Layout::Paired, 4).buffer_size(BUFFER)).unwrap();
    let fill = |writer: &mut Writer| {
        for record in 0..BUFFER / 1000 {
            writer.write((record % 4) as u32, &[1; 900]).unwrap();
        }
    };
    fill(&mut writer);
    assert!(held(1 << 20) >= 7);
    writer.flush().unwrap();
    assert!(held(1 << 20) < 4, "{} MiB after flush", held(1 << 20));
    fill(&mut writer);
    writer.abort().unwrap();
    assert!(held(1 << 20) < 4, "{} MiB after abort", held(1 << 20));
    let mut writer = Writer::create(place.name(), options(Layout::Paired, 4).buffer_size(BUFFER)).unwrap();
    fill(&mut writer);
    writer.finish().unwrap();
    assert!(held(1 << 20) < 4, "{} MiB after finish", held(1 << 20));
}

/// Grants everything.
struct Endless;

impl MemoryBudget for Endless {
    fn try_grow(&self, _: u64) -> bool {
        true
    }

    fn shrink(&self, _: u64) {}
}

/// The formula of [`WriterOptions::working_memory`]: the peak is at most 5 % above it. Threads of the library count for
/// themselves, so there are none here.
#[test]
fn a_writer_takes_its_sort_buffer_and_its_working_memory() {
    let base = |partitions: u32| options(Layout::Paired, partitions);
    let events = |writer: &mut Writer, number: u32, partitions: u32| writer.write_event(number % partitions, 64, b"");
    type Put = fn(&mut Writer, u32, u32) -> faro::Result<()>;
    fn records<const LENGTH: usize>(writer: &mut Writer, number: u32, partitions: u32) -> faro::Result<()> {
        writer.write(number.wrapping_mul(0x9E37_79B9) % partitions, &[7; LENGTH])
    }
    // Long records after short ones, so that the first estimate is wrong.
    fn mixed(writer: &mut Writer, number: u32, partitions: u32) -> faro::Result<()> {
        let length = if number < 60_000 { 10 } else { 1000 };
        writer.write(number.wrapping_mul(0x9E37_79B9) % partitions, &vec![7; length])
    }
    fn shared(writer: &mut Writer, number: u32, partitions: u32) -> faro::Result<()> {
        writer.multicast(&[number % 50 % partitions, partitions - 1], &[7; 60])
    }
    // What slots cannot hold comes after other records.
    fn events_late(writer: &mut Writer, number: u32, partitions: u32) -> faro::Result<()> {
        match number % 70_000 > 40_000 && number.is_multiple_of(10) {
            true => writer.write_event(number % partitions, 64, &[7; 100]),
            false => writer.write(number % partitions, &[7; 100]),
        }
    }
    fn shared_early(writer: &mut Writer, number: u32, partitions: u32) -> faro::Result<()> {
        match number % 75_000 > 6_000 {
            true => writer.broadcast(&[7; 100]),
            false => writer.write(number % partitions, &[7; 100]),
        }
    }
    let small = base(64).block_size(200);
    let cases: [(&str, WriterOptions, Put, u32); 18] = [
        ("length 0", base(64), records::<0>, 800_000),
        ("length 16", base(10_000), records::<16>, 100_000),
        ("length 100", base(64), records::<100>, 100_000),
        ("length 10,000", base(3), records::<10_000>, 1200),
        ("partitions", base(300_000), records::<16>, 100_000),
        ("mixed", base(100), mixed, 110_000),
        ("events", base(100), events, 1_500_000),
        ("shared", base(100).ordered(false), shared, 150_000),
        ("events late", base(100), events_late, 200_000),
        ("shared early", base(100).ordered(false), shared_early, 200_000),
        ("small blocks", small, records::<100>, 200_000),
        ("many partitions", base(1000), records::<100>, 200_000),
        ("long after short", base(500), mixed, 150_000),
        ("zstd", base(1000).codec(Codec::Zstd), records::<100>, 100_000),
        ("buckets", base(10_000), records::<100>, 200_000),
        ("buckets, long after short", base(10_000), mixed, 150_000),
        ("buckets, events late", base(10_000), events_late, 200_000),
        (
            "buckets, shared early",
            base(10_000).ordered(false),
            shared_early,
            200_000,
        ),
    ];
    for (what, options, put, records) in cases {
        for budget in [false, true] {
            let place = Place::new();
            let mut options = options.clone().buffer_size(8 << 20);
            if budget {
                options.memory_budget = Some(Arc::new(Endless));
            }
            let surplus = if what == "events" { options.buffer_size } else { 0 };
            let most = options.buffer_size + surplus + options.working_memory();
            let partitions = options.partition_count;
            let (used, peak) = peak_of(|| {
                let mut writer = Writer::create(place.name(), options).unwrap();
                let mut used = 0;
                for number in 0..records {
                    put(&mut writer, number, partitions).unwrap();
                    if number % 1000 == 0 {
                        used = writer.memory_used().max(used);
                    }
                }
                writer.finish().unwrap();
                used
            });
            assert!(peak as u64 <= most + most / 20, "{what} {budget}: {peak} of {most}");
            // What it says that it holds is no less.
            assert!(peak as u64 <= used + used / 20, "{what} {budget}: {peak} of {used}");
            assert!(used <= most + (1 << 17), "{what} {budget}: {used} of {most}");
        }
    }
}
