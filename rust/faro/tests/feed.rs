//! Feeds deliver what readers deliver, and fail as readers fail, however the bytes are brought.

mod bringer;
mod common;
mod harm;
mod script;

use bringer::{Bringer, Manner};
use bytes::Bytes;
use common::{Place, write_sample};
use faro::feed::{FeedOptions, FeedReader, Opening, Wanted};
use faro::storage::FileRange;
use faro::{
    Block, Codec, ErrorCode, FileRole, Files, Layout, Lookup, Reader, ReaderOptions, Result, Writer, WriterOptions,
};
use harm::{apply, blocks, harm, in_memory, told};
use proptest::prelude::*;
use script::{call, fit, options, write};
use std::io;
use std::sync::Arc;
use std::task::Poll;

fn by_reader(files: &Files, options: &ReaderOptions) -> Vec<String> {
    let mut found = Vec::new();
    let reader = match Reader::open_stored(in_memory(files, |file| file), options.clone()) {
        Ok(reader) => reader,
        Err(error) => return vec![told::<()>(Err(error))],
    };
    found.push(told(Ok((reader.header(), reader.footer(), reader.dictionaries()))));
    for partition in reader.partitions() {
        blocks(&mut found, "partition", reader.partition(partition));
    }
    let all = reader.partitions();
    blocks(&mut found, "all", reader.range(all.clone()));
    blocks(
        &mut found,
        "some",
        reader.range(all.start..all.end.div_ceil(2).max(all.start)),
    );
    found
}

fn by_feed(files: &Files, options: &FeedOptions, bringer: &mut Bringer) -> Vec<String> {
    let mut found = Vec::new();
    let reader = match bringer.open(options) {
        Ok(reader) => reader,
        Err(error) => return vec![told::<()>(Err(error))],
    };
    found.push(told(Ok((reader.header(), reader.footer(), reader.dictionaries()))));
    for partition in reader.partitions() {
        blocks(
            &mut found,
            "partition",
            reader.partition(partition).map(|feed| bringer.read(feed).into_iter()),
        );
    }
    let all = reader.partitions();
    for (what, range) in [
        ("all", all.clone()),
        ("some", all.start..all.end.div_ceil(2).max(all.start)),
    ] {
        blocks(
            &mut found,
            what,
            reader.range(range).map(|feed| bringer.read(feed).into_iter()),
        );
    }
    assert!(files.paths().len() <= 2);
    found
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn feeds_read_as_readers_do(
        options in options(),
        mut calls in prop::collection::vec(call(), 0..60),
        harm in harm(),
        is_direct in any::<bool>(),
        cache in prop_oneof![Just(0u64), Just(500), Just(1 << 20)],
        small in prop_oneof![Just(64u64), Just(300), Just(1 << 20)],
        gap in prop_oneof![Just(0u64), Just(100), Just(1 << 20)],
        seed in any::<u64>(),
    ) {
        let place = Place::new();
        fit(&mut calls, &options);
        let files = write(&place.name(), &options, &calls).unwrap();
        apply(&files, &harm);
        let lookup = if is_direct { Lookup::Direct } else { Lookup::Full };
        let options = ReaderOptions::default().lookup(lookup).region_cache_bytes(cache);
        let expected = by_reader(&files, &options);
        let options = FeedOptions::default().reader(options).small_bytes(small).gap_bytes(gap);
        let options = options.read_bytes(4096).ahead_bytes(4096);
        for manner in [Manner::Whole, Manner::Wild(seed)] {
            let mut bringer = Bringer::new(&files, manner);
            prop_assert_eq!(&by_feed(&files, &options, &mut bringer), &expected);
        }
    }
}

/// An output of `records` records of `size` bytes in each partition, in regions of at most `buffer` bytes.
fn large(place: &Place, layout: Layout, partitions: u32, records: usize, size: usize, buffer: u64) -> Files {
    let options = WriterOptions::new(partitions).layout(layout).buffer_size(buffer);
    let mut writer = Writer::create(place.name(), options).unwrap();
    for record in 0..records {
        for partition in 0..partitions {
            writer.write(partition, &vec![(record % 251) as u8; size]).unwrap();
        }
    }
    writer.finish().unwrap().files
}

fn read(reader: &FeedReader, partition: u32, bringer: &mut Bringer) -> Vec<Block> {
    let blocks = bringer.read(reader.partition(partition).unwrap());
    blocks.into_iter().collect::<Result<_>>().unwrap()
}

#[test]
fn opening_takes_few_requests() {
    let options = FeedOptions::default();
    for (layout, requests) in [(Layout::Paired, 2), (Layout::Single, 1)] {
        let place = Place::new();
        let files = write_sample(&place.name(), layout);
        let mut bringer = Bringer::new(&files, Manner::Whole);
        bringer.open(&options).unwrap();
        assert_eq!((bringer.requests, bringer.rounds), (requests, 1), "{layout:?}");
    }
    // A single file of 64 KiB to 1 MiB, and a larger one.
    for (records, requests) in [(300, 2), (2000, 2)] {
        let place = Place::new();
        let files = large(&place, Layout::Single, 4, records, 250, 1 << 20);
        let mut bringer = Bringer::new(&files, Manner::Whole);
        let reader = bringer.open(&options).unwrap();
        assert_eq!(bringer.requests, requests);
        read(&reader, 0, &mut bringer);
        assert_eq!(
            bringer.requests == requests,
            records == 300,
            "a small file is there after its opening"
        );
    }
}

#[test]
fn neighbouring_data_takes_a_request_for_8_mib() {
    let place = Place::new();
    let files = large(&place, Layout::Paired, 2, 20_000, 1000, 1 << 30);
    let mut bringer = Bringer::new(&files, Manner::Whole);
    let reader = bringer.open(&FeedOptions::default()).unwrap();
    let before = bringer.requests;
    let blocks = read(&reader, 1, &mut bringer);
    let bytes: usize = blocks.iter().map(|block| block.payload.len()).sum();
    assert_eq!(bytes, 20_000 * 1004);
    assert_eq!(bringer.requests - before, 3, "20 MB of neighbouring data");
    assert!(bringer.most_open <= 16 << 20, "{} bytes at once", bringer.most_open);
}

#[test]
fn a_block_may_be_larger_than_what_is_wanted_ahead() {
    for layout in [Layout::Paired, Layout::Single] {
        let place = Place::new();
        let options = WriterOptions::new(2).layout(layout).block_size(1 << 20);
        let mut writer = Writer::create(place.name(), options).unwrap();
        (0..200).for_each(|record| writer.write(1, &[record as u8; 10_000]).unwrap());
        let files = writer.finish().unwrap().files;
        let options = FeedOptions::default()
            .small_bytes(64)
            .read_bytes(5000)
            .ahead_bytes(4096);
        for manner in [Manner::Whole, Manner::Wild(7)] {
            let mut bringer = Bringer::new(&files, manner);
            let reader = bringer.open(&options).unwrap();
            let blocks = read(&reader, 1, &mut bringer);
            let bytes: usize = blocks.iter().map(|block| block.payload.len()).sum();
            assert_eq!((bytes, blocks.len()), (200 * 10_004, 2));
        }
    }
}

#[test]
fn messages_of_all_regions_are_wanted_at_once() {
    for lookup in [Lookup::Full, Lookup::Direct] {
        let place = Place::new();
        let files = large(&place, Layout::Single, 2, 400, 1000, 64 << 10);
        let options = FeedOptions::default().small_bytes(64).gap_bytes(0);
        let options = options.reader(ReaderOptions::default().lookup(lookup));
        let mut bringer = Bringer::new(&files, Manner::Whole);
        let reader = bringer.open(&options).unwrap();
        assert!(reader.region_count() > 10);
        let mut feed = reader.partition(0).unwrap();
        assert!(feed.poll().is_pending());
        let wanted = feed.wanted();
        assert_eq!(wanted.len(), reader.region_count(), "{lookup:?}");
        let bytes: u64 = wanted
            .iter()
            .map(|wanted| bringer.range(wanted))
            .map(|range| range.end - range.start)
            .sum();
        assert!(bytes < 1000 * wanted.len() as u64, "{bytes} bytes");
    }
}

#[test]
fn what_is_wanted_is_told_once_and_kept_as_missing() {
    let place = Place::new();
    write_sample(&place.name(), Layout::Paired);
    let mut opening = Opening::paired("a.data", "a.index", FeedOptions::default()).unwrap();
    let wanted = opening.wanted();
    let suffix = FileRange::Suffix(1 << 20);
    assert!(
        wanted
            .iter()
            .any(|wanted| wanted.role == FileRole::Index && wanted.range == suffix)
    );
    assert!(
        wanted
            .iter()
            .any(|wanted| wanted.role == FileRole::Data && wanted.range == FileRange::Bounded(0..64))
    );
    assert_eq!(wanted.len(), 2);
    assert!(opening.poll().is_pending());
    assert_eq!(opening.wanted(), []);
    assert_eq!(opening.missing(), wanted);
    let data = std::fs::read(place.name().with_extension("data")).unwrap();
    opening
        .bring(FileRole::Data, 0, data[..30].to_vec(), data.len() as u64)
        .unwrap();
    assert!(opening.poll().is_pending());
    let rest: Vec<Wanted> = opening.missing();
    assert_eq!(rest[1].range, FileRange::Bounded(30..64));
}

#[test]
fn bytes_that_cannot_be_are_refused() {
    let mut opening = Opening::single("a", FeedOptions::default()).unwrap();
    let role = FileRole::Single;
    let of_a_pair = Opening::paired("a", "b", FeedOptions::default())
        .unwrap()
        .wanted()
        .remove(0);
    for result in [
        opening.bring(role, 10, vec![0; 10], 19),
        opening.bring(role, u64::MAX, vec![0; 10], u64::MAX),
        opening.bring(FileRole::Data, 0, vec![0; 10], 10),
        opening.fail(&of_a_pair, &io::Error::other("no")),
        Opening::single("a", FeedOptions::default().read_bytes(1)).map(drop),
    ] {
        assert_eq!(result.unwrap_err().code, ErrorCode::InvalidArgument);
    }
    assert!(opening.poll().is_pending(), "nothing was taken");
    opening.bring(role, 0, vec![0; 0], 0).unwrap();
    match opening.poll() {
        Poll::Ready(Err(error)) => assert_eq!(error.code, ErrorCode::Truncated),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_failure_comes_after_what_was_brought() {
    for kind in [
        io::ErrorKind::Other,
        io::ErrorKind::Interrupted,
        io::ErrorKind::WouldBlock,
    ] {
        let away = io::Error::new(kind, "the storage is away");
        let mut opening = Opening::paired("a.data", "a.index", FeedOptions::default()).unwrap();
        for wanted in opening.wanted() {
            opening.fail(&wanted, &away).unwrap();
        }
        assert_eq!(opening.missing(), []);
        let Poll::Ready(Err(error)) = opening.poll() else {
            panic!("no fault")
        };
        assert_eq!(
            (error.code, error.role, error.found.as_str()),
            (ErrorCode::Io, Some(FileRole::Index), "the storage is away")
        );

        let place = Place::new();
        let files = large(&place, Layout::Paired, 1, 1000, 1000, 1 << 20);
        let mut bringer = Bringer::new(&files, Manner::Whole);
        let reader = bringer.open(&FeedOptions::default()).unwrap();
        let mut feed = reader.partition(0).unwrap();
        let wanted = feed.wanted();
        let range = bringer.range(&wanted[0]);
        let half = range.start + (range.end - range.start) / 2;
        let size = bringer.size(FileRole::Data);
        feed.bring(
            FileRole::Data,
            range.start,
            bringer.bytes(FileRole::Data, range.start..half),
            size,
        )
        .unwrap();
        feed.fail(&wanted[0], &away).unwrap();
        let mut delivered = 0;
        let error = loop {
            match feed.poll() {
                Poll::Ready(Some(Ok(_))) => delivered += 1,
                Poll::Ready(Some(Err(error))) => break error,
                other => panic!("{other:?}"),
            }
        };
        assert!(delivered > 2, "{delivered} blocks");
        assert_eq!((error.code, error.role), (ErrorCode::Io, Some(FileRole::Data)));
        assert!(matches!(feed.poll(), Poll::Ready(None)));
        assert_eq!((feed.wanted(), feed.missing()), (vec![], vec![]));
    }
}

#[test]
fn a_file_that_shrinks_is_truncated_at_its_size() {
    let place = Place::new();
    let files = large(&place, Layout::Paired, 1, 1000, 1000, 1 << 20);
    let mut bringer = Bringer::new(&files, Manner::Whole);
    let reader = bringer.open(&FeedOptions::default()).unwrap();
    bringer.cut(FileRole::Data, 500_000);
    let found = bringer.read(reader.partition(0).unwrap());
    let error = found.last().unwrap().as_ref().unwrap_err();
    assert_eq!((error.code, error.offset), (ErrorCode::Truncated, Some(500_000)));
}

/// Bytes that say when they are dropped.
struct Watched {
    bytes: Vec<u8>,
    _watch: Arc<()>,
}

impl AsRef<[u8]> for Watched {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

#[test]
fn nothing_is_kept_after_a_feed() {
    for codec in [Codec::Lz4, Codec::None] {
        let place = Place::new();
        let options = WriterOptions::new(1).codec(codec);
        let mut writer = Writer::create(place.name(), options).unwrap();
        (0..10_000u32).for_each(|record| writer.write(0, &record.to_le_bytes().repeat(100)).unwrap());
        let files = writer.finish().unwrap().files;
        let mut bringer = Bringer::new(&files, Manner::Whole);
        // A compressed file comes in several pieces; an uncompressed block is a part of one.
        let read_bytes = if codec == Codec::None { 8 << 20 } else { 4096 };
        let options = FeedOptions::default().small_bytes(64).read_bytes(read_bytes);
        let reader = bringer.open(&options).unwrap();
        let mut feed = reader.partition(0).unwrap();
        let watch = Arc::new(());
        let block = loop {
            for wanted in feed.wanted() {
                let range = bringer.range(&wanted);
                let bytes = Watched {
                    bytes: bringer.bytes(wanted.role, range.clone()),
                    _watch: watch.clone(),
                };
                let size = bringer.size(wanted.role);
                feed.bring(wanted.role, range.start, Bytes::from_owner(bytes), size)
                    .unwrap();
            }
            if let Poll::Ready(block) = feed.poll() {
                break block.unwrap().unwrap();
            }
        };
        assert!(feed.memory_used() > 0);
        assert!(Arc::strong_count(&watch) > 1);
        drop(feed);
        // The payload of an uncompressed block is a part of what was brought.
        assert_eq!(Arc::strong_count(&watch) > 1, codec == Codec::None);
        drop(block);
        assert_eq!(Arc::strong_count(&watch), 1);
    }
}

#[test]
fn a_direct_lookup_keeps_little_of_the_index() {
    let place = Place::new();
    let mut writer = Writer::create(place.name(), WriterOptions::new(50_000)).unwrap();
    for region in 0..140u32 {
        // Each region is sparse: a lookup searches in it, and takes many pieces.
        (0..1500).for_each(|slot| writer.write(1 + 31 * slot, &region.to_le_bytes()).unwrap());
        writer.flush().unwrap();
    }
    let mut region = writer.region().unwrap();
    for shared in 0..100u32 {
        region.shared(Some(&[1, 2 + shared % 190])).unwrap();
        region
            .block(None, faro::block::DATA, &[4, 0, 0, 0, 1, 2, 3, 4], 1)
            .unwrap();
    }
    region.end().unwrap();
    let files = writer.finish().unwrap().files;
    let options = ReaderOptions::default().lookup(Lookup::Direct);
    let whole = Reader::open(&files, options.clone()).unwrap();
    let options = FeedOptions::default()
        .reader(options)
        .gap_bytes(0)
        .small_bytes(64)
        .index_bytes(128 << 10);
    let mut bringer = Bringer::new(&files, Manner::Whole);
    let reader = bringer.open(&options).unwrap();
    let mut feed = reader.partition(1).unwrap();
    let (mut most, mut rounds) = (0, 0);
    while bringer.bring_wanted(&mut feed) {
        most = most.max(feed.memory_used());
        rounds += 1;
        assert!(rounds < 400, "{rounds} rounds");
        if feed.missing().is_empty() && !feed.poll().is_pending() {
            break;
        }
    }
    assert!(most < 160 << 10, "{most} bytes of the index at once");
    let mut found = Vec::new();
    blocks(&mut found, "", whole.partition(1));
    assert_eq!(found.len(), 140 + 100);
    let mut expected = Vec::new();
    blocks(
        &mut expected,
        "",
        Ok(bringer.read(reader.partition(1).unwrap()).into_iter()),
    );
    assert_eq!(found, expected);
}
