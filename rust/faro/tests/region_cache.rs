//! Readers share a cache of regions, and say what memory they keep.

mod common;

use common::{Place, contents, write_sample};
use faro::feed::{FeedOptions, Opening};
use faro::{Codec, Layout, Reader, ReaderOptions, RegionCache, Writer, WriterOptions};
use std::task::Poll;

#[test]
fn readers_share_a_cache() {
    let cache = RegionCache::new(1 << 20);
    let options = ReaderOptions::default()
        .region_cache(cache.clone())
        .region_cache_bytes(0);
    let places = [Place::new(), Place::new()];
    let mut readers = Vec::new();
    for (place, layout) in places.iter().zip([Layout::Paired, Layout::Single]) {
        let files = write_sample(&place.name(), layout);
        let reader = Reader::open(&files, options.clone()).unwrap();
        assert_eq!(reader.memory_used(), 0, "opening reads no region");
        let alone = Reader::open(&files, ReaderOptions::default()).unwrap();
        assert_eq!(contents(&reader).unwrap(), contents(&alone).unwrap());
        assert!(reader.memory_used() > 0);
        assert_eq!(reader.memory_used(), alone.memory_used());
        readers.push(reader);
    }
    let used: u64 = readers.iter().map(Reader::memory_used).sum();
    assert_eq!(cache.memory_used(), used);
    // A block keeps its output.
    let block = readers[0].all().unwrap().next().unwrap().unwrap();
    let first = readers.remove(0);
    let kept = first.memory_used();
    drop(first);
    assert_eq!(cache.memory_used(), used);
    drop(block);
    assert_eq!(cache.memory_used(), used - kept);
    drop(readers);
    assert_eq!(cache.memory_used(), 0);
}

#[test]
fn a_feed_reader_says_what_it_keeps() {
    let place = Place::new();
    let files = write_sample(&place.name(), Layout::Single);
    let bytes = std::fs::read(files.paths()[0].1).unwrap();
    let (size, cache) = (bytes.len() as u64, RegionCache::new(1 << 20));
    let options = FeedOptions::default().reader(ReaderOptions::default().region_cache(cache.clone()));
    let mut opening = Opening::single("a", options).unwrap();
    opening.bring(faro::FileRole::Single, 0, bytes, size).unwrap();
    let Poll::Ready(reader) = opening.poll() else {
        panic!("not opened")
    };
    let (reader, before) = (reader.unwrap(), cache.memory_used());
    drop(opening);
    let held = reader.memory_used();
    assert!(held > 0 && held < size, "the footer was read: {held} of {size} bytes");
    let mut feed = reader.partition(6).unwrap();
    assert!(matches!(feed.poll(), Poll::Ready(Some(Ok(_)))));
    assert_eq!(before, 0);
    assert_eq!(reader.memory_used(), held + cache.memory_used());
    assert!(cache.memory_used() > 0);
    drop((feed, reader));
    assert_eq!(cache.memory_used(), 0);
}

#[test]
fn dictionaries_are_counted() {
    let place = Place::new();
    let options = WriterOptions::new(1)
        .codec(Codec::Zstd)
        .dictionaries(true)
        .block_size(1000);
    let mut writer = Writer::create(place.name(), options).unwrap();
    (0..20_000u32).for_each(|record| {
        writer
            .write(0, format!("a record like others, {record}").as_bytes())
            .unwrap()
    });
    let files = writer.finish().unwrap().files;
    let reader = Reader::open(&files, ReaderOptions::default()).unwrap();
    assert_eq!(reader.dictionaries().len(), 1);
    reader.region(0).unwrap();
    let regions = reader.memory_used();
    contents(&reader).unwrap();
    assert!(reader.memory_used() >= regions + u64::from(reader.dictionaries()[0].size));
}
