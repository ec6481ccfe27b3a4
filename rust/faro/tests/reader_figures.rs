//! The figures of a reader agree with what its storage and the receiver of its blocks count.

mod bringer;
mod common;
mod script;

use bringer::{Bringer, Manner};
use common::{Place, open};
use faro::feed::FeedOptions;
use faro::scheduler::{Scheduler, SchedulerOptions};
use faro::storage::{MemoryFile, RangeRead, StoredFile, StoredOutput};
use faro::{Files, Follower, Layout, Lookup, Reader, ReaderFigures, ReaderOptions};
use proptest::prelude::*;
use script::{call, fit, unfinished};
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::task::Poll;
use std::time::Duration;

/// Requests, and the bytes that they returned.
type Seen = Arc<Mutex<(u64, u64)>>;

/// A file in memory that counts what is read of it, and reads at most 1,000 bytes at a time.
#[derive(Debug)]
struct Counting(MemoryFile, Seen);

impl Counting {
    fn saw(&self, bytes: usize) {
        let mut seen = self.1.lock().unwrap();
        seen.0 += 1;
        seen.1 += bytes as u64;
    }
}

impl StoredFile for Counting {
    fn name(&self) -> &Path {
        self.0.name()
    }

    fn size(&self) -> io::Result<u64> {
        self.0.size()
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        // Short, so that some reads take several requests.
        let length = buffer.len().min(1000);
        let count = self.0.read_at(offset, &mut buffer[..length])?;
        self.saw(count);
        Ok(count)
    }

    fn read_ranges(&self, ranges: &mut [RangeRead<'_>]) -> io::Result<()> {
        self.0.read_ranges(ranges)?;
        self.saw(ranges.iter().map(RangeRead::filled).sum());
        Ok(())
    }
}

fn counted(files: &Files, seen: &Seen) -> StoredOutput {
    let file = |path: &Path| Counting(MemoryFile::new(path, std::fs::read(path).unwrap()), Arc::clone(seen));
    match files {
        Files::Single(path) => StoredOutput::single(file(path)),
        Files::Paired { data, index } => StoredOutput::paired(file(data), file(index)),
    }
}

/// Blocks, their plain and their stored bytes, as a receiver counts them.
#[derive(Debug, Default, PartialEq, Eq)]
struct Received(u64, u64, u64);

impl Received {
    fn take(&mut self, plain: usize, stored: u32) {
        self.0 += 1;
        self.1 += plain as u64;
        self.2 += u64::from(stored);
    }
}

/// Reads everything in one of several ways.
fn read(reader: &Reader, way: usize, received: &mut Received) {
    let mut blocks = reader.all().unwrap();
    match way {
        0 => {
            for block in blocks {
                let block = block.unwrap();
                received.take(block.payload.len(), block.header.stored_size);
            }
        }
        1 => {
            while let Some(block) = blocks.next_borrowed() {
                let block = block.unwrap();
                received.take(block.payload().len(), block.header().stored_size);
            }
        }
        2 => {
            for partition in reader.partitions() {
                for block in reader.partition(partition).unwrap() {
                    let block = block.unwrap();
                    received.take(block.payload.len(), block.header.stored_size);
                }
            }
        }
        _ => {
            let mut blocks = reader.by_partition(reader.partitions()).unwrap();
            while let Some(block) = blocks.next_borrowed() {
                let (_, block) = block.unwrap();
                received.take(block.payload().len(), block.header().stored_size);
            }
        }
    }
}

fn agree(figures: &ReaderFigures, seen: &Seen, received: &Received) -> Result<(), TestCaseError> {
    prop_assert_eq!((figures.reads, figures.bytes_read), *seen.lock().unwrap());
    prop_assert_eq!(
        &Received(figures.blocks, figures.plain_bytes, figures.stored_bytes),
        received
    );
    prop_assert!(figures.read_time > Duration::ZERO);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn figures_agree_with_the_storage_and_the_receiver(
        written in script::options(),
        mut calls in prop::collection::vec(call(), 0..40),
        ways in prop::collection::vec(0usize..4, 1..4),
        direct in any::<bool>(),
        cache in prop::sample::select(vec![0u64, 1 << 20]),
    ) {
        fit(&mut calls, &written);
        let place = Place::new();
        let files = unfinished(&place.name(), &written, &calls).unwrap().finish().unwrap().files;
        let (seen, mut received) = (Seen::default(), Received::default());
        let lookup = if direct { Lookup::Direct } else { Lookup::Full };
        let options = ReaderOptions::default().lookup(lookup).region_cache_bytes(cache);
        let reader = Reader::open_stored(counted(&files, &seen), options).unwrap();
        agree(&reader.figures(), &seen, &received)?;
        for way in ways {
            read(&reader, way, &mut received);
            // A clone is the same reader.
            agree(&reader.clone().figures(), &seen, &received)?;
        }
        prop_assert_eq!(reader.figures().memory_used, reader.memory_used());
    }
}

#[test]
fn regions_are_read_or_come_from_the_cache() {
    for (cache, read, cached) in [(1 << 20, 3, 6), (0, 9, 0)] {
        let place = Place::new();
        let mut writer = faro::Writer::create(place.name(), faro::WriterOptions::new(2)).unwrap();
        for _ in 0..3 {
            writer.write(1, b"x").unwrap();
            writer.flush().unwrap();
        }
        let files = writer.finish().unwrap().files;
        let options = ReaderOptions::default().region_cache_bytes(cache);
        let reader = Reader::open(&files, options).unwrap();
        for _ in 0..3 {
            assert_eq!(reader.all().unwrap().count(), 3);
        }
        let figures = reader.figures();
        assert_eq!((figures.regions_read, figures.regions_cached), (read, cached));
    }
}

/// A caller that keeps the iterator after its end, drops it before, or reads much sees the blocks.
#[test]
fn blocks_are_counted_when_a_reading_ends_and_meanwhile() {
    let place = Place::new();
    let mut writer = faro::Writer::create(place.name(), faro::WriterOptions::new(1).block_size(1)).unwrap();
    for _ in 0..3000 {
        writer.write(0, b"x").unwrap();
    }
    let files = writer.finish().unwrap().files;
    let reader = open(&files).unwrap();
    let mut blocks = reader.all().unwrap();
    assert_eq!(blocks.by_ref().take(2500).count(), 2500);
    assert_eq!(reader.figures().blocks, 2048);
    assert_eq!(blocks.by_ref().count(), 500);
    assert_eq!(reader.figures().blocks, 3000);
    let mut first = reader.all().unwrap();
    first.next_borrowed().unwrap().unwrap();
    drop(first);
    assert_eq!(reader.figures().blocks, 3001);
}

/// Followers, feeds and consumers count as readers do, at their end.
#[test]
fn other_readings_are_counted_too() {
    let place = Place::new();
    let files = common::write_sample(&place.name(), Layout::Paired);
    let reader = open(&files).unwrap();
    assert!(reader.all().unwrap().all(|block| block.is_ok()));
    let expected = reader.figures();
    let of_blocks = |figures: &ReaderFigures| {
        assert!(figures.memory_used > 0);
        [
            figures.blocks,
            figures.plain_bytes,
            figures.stored_bytes,
            figures.regions_read,
        ]
    };

    let mut follower = Follower::open(&files, ReaderOptions::default()).unwrap();
    let opened = follower.figures();
    assert!(opened.reads > 0 && opened.regions_read == 0 && follower.memory_used() == 0);
    follower.poll().unwrap();
    assert!(follower.figures().bytes_read > opened.bytes_read);
    assert_eq!(follower.figures().regions_read, 0);
    let mut blocks = follower.range(follower.partitions()).unwrap();
    assert!(blocks.by_ref().all(|block| block.is_ok()));
    assert_eq!(of_blocks(&follower.figures()), of_blocks(&expected));
    assert_eq!(follower.figures().memory_used, follower.memory_used());

    let mut bringer = Bringer::new(&files, Manner::Whole);
    let feeds = bringer.open(&FeedOptions::default()).unwrap();
    let mut feed = feeds.range(feeds.partitions()).unwrap();
    loop {
        match feed.poll() {
            Poll::Ready(None) => break,
            Poll::Ready(Some(block)) => drop(block.unwrap()),
            Poll::Pending => assert!(bringer.bring_wanted(&mut feed)),
        }
    }
    let figures = feeds.figures();
    assert_eq!(of_blocks(&figures), of_blocks(&expected));
    assert_eq!(
        (figures.reads, figures.bytes_read, figures.read_time),
        (0, 0, Duration::ZERO)
    );
    assert_eq!(figures.memory_used, feeds.memory_used());

    let reader = open(&files).unwrap();
    let scheduler = Scheduler::new(SchedulerOptions::default()).unwrap();
    let mut consumer = scheduler.range(&reader, reader.partitions()).unwrap();
    assert!(consumer.by_ref().all(|block| block.is_ok()));
    assert_eq!(of_blocks(&reader.figures()), of_blocks(&expected));
}
