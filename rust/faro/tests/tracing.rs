//! The spans and events of the feature `tracing`.

#![cfg(feature = "tracing")]

mod common;
mod flawed;

use common::{Place, options};
use faro::feed::{FeedOptions, Opening};
use faro::scheduler::{Scheduler, SchedulerOptions};
use faro::storage::{MemoryDestination, MemoryFile, StoredOutput};
use faro::{FileRole, Files, Follower, Layout, Reader, ReaderOptions, Writer};
use flawed::{Flaw, Flawed};
use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::{Arc, Mutex};
use std::task::Poll;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};

type Fields = BTreeMap<String, String>;

/// Keeps the spans and events, with their fields.
#[derive(Clone, Default)]
struct Collected(Arc<Mutex<Vec<(String, Level, Fields)>>>);

struct Into<'a>(&'a mut Fields);

impl Visit for Into<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.0.insert(field.name().to_owned(), format!("{value:?}"));
    }
}

impl Subscriber for Collected {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target().starts_with("faro")
    }
    fn new_span(&self, span: &Attributes<'_>) -> Id {
        let mut all = self.0.lock().unwrap();
        let mut fields = Fields::new();
        span.record(&mut Into(&mut fields));
        all.push((span.metadata().name().to_owned(), *span.metadata().level(), fields));
        Id::from_u64(all.len() as u64)
    }
    fn record(&self, span: &Id, values: &Record<'_>) {
        values.record(&mut Into(&mut self.0.lock().unwrap()[span.into_u64() as usize - 1].2));
    }
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn event(&self, event: &Event<'_>) {
        let mut fields = Fields::new();
        event.record(&mut Into(&mut fields));
        self.0
            .lock()
            .unwrap()
            .push(("event".into(), *event.metadata().level(), fields));
    }
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

fn collected(act: impl FnOnce()) -> Vec<(String, Level, Fields)> {
    let collected = Collected::default();
    tracing::subscriber::with_default(collected.clone(), act);
    let all = collected.0.lock().unwrap();
    all.clone()
}

fn fields(pairs: &[(&str, &str)]) -> Fields {
    pairs
        .iter()
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
        .collect()
}

#[test]
fn regions_and_finish_are_spans() {
    let found = collected(|| {
        let memory = MemoryDestination::new("out");
        let mut writer = Writer::create_in(memory, options(Layout::Single, 2)).unwrap();
        writer.write(0, b"one").unwrap();
        writer.flush().unwrap();
        writer.write(1, b"two and more").unwrap();
        writer.finish().unwrap();
    });
    let name = "\"out.faro\"";
    let expected = [
        ("faro.write_region", [("name", name), ("region", "1"), ("bytes", "32")]),
        ("faro.write_region", [("name", name), ("region", "2"), ("bytes", "40")]),
        ("faro.finish", [("name", name), ("region", "2"), ("bytes", "72")]),
    ];
    let expected = expected.map(|(span, of)| (span.to_owned(), Level::DEBUG, fields(&of)));
    assert_eq!(found, expected);
}

/// They come to the caller's subscriber, though another thread writes the regions.
#[test]
fn regions_of_another_thread_are_spans_of_the_caller() {
    let found = collected(|| {
        let options = options(Layout::Single, 2).buffer_size(10_000).double_buffer(true);
        let mut writer = Writer::create_in(MemoryDestination::new("out"), options).unwrap();
        for _ in 0..35 {
            writer.write(0, &[7; 988]).unwrap();
        }
        writer.finish().unwrap();
    });
    let names: Vec<_> = found.iter().map(|(name, ..)| name.as_str()).collect();
    assert_eq!(names, [&["faro.write_region"; 4][..], &["faro.finish"]].concat());
    assert_eq!(found[2].2["region"], "3");
}

#[test]
fn a_failure_is_one_event() {
    let found = collected(|| {
        // After `taken` and `create`, the first append.
        let flawed = Flawed::new(Some((2, Flaw::Refused(std::io::ErrorKind::Other))));
        let mut writer = Writer::create_in(flawed, options(Layout::Single, 2)).unwrap();
        writer.write(0, b"one").unwrap();
        for _ in 0..3 {
            writer.finish().unwrap_err();
        }
        // What is the caller's fault is none of the writer's.
        writer.write(9, b"x").unwrap_err();
    });
    let events: Vec<_> = found.iter().filter(|(name, ..)| name == "event").collect();
    assert_eq!(events.len(), 1);
    assert_eq!(events[0].1, Level::DEBUG);
    assert_eq!(events[0].2["code"], "\"io\"");
}

/// The bytes of an output of some regions.
fn output() -> Vec<u8> {
    let place = Place::new();
    let files = common::write_sample(&place.name(), Layout::Single);
    std::fs::read(files.paths()[0].1).unwrap()
}

fn stored(bytes: &[u8]) -> StoredOutput {
    StoredOutput::single(MemoryFile::new("out.faro", bytes.to_vec()))
}

#[test]
fn opening_regions_and_reads_are_spans() {
    let bytes = output();
    let mut sizes = Vec::new();
    let found = collected(|| {
        let reader = Reader::open_stored(stored(&bytes), ReaderOptions::default()).unwrap();
        sizes.extend(
            reader
                .footer()
                .regions
                .iter()
                .map(|entry| entry.message_size.to_string()),
        );
        for _ in 0..2 {
            // The second time the regions are in the cache.
            assert!(reader.all().unwrap().all(|block| block.is_ok()));
        }
        let scheduler = Scheduler::new(SchedulerOptions::default()).unwrap();
        let mut consumer = scheduler.range(&reader, reader.partitions()).unwrap();
        assert!(consumer.all(|block| block.is_ok()));
        let (reads, bytes) = (scheduler.figures().reads, scheduler.figures().read_bytes);
        sizes.extend([reads.to_string(), bytes.to_string()]);
    });
    let name = "\"out.faro\"";
    let span = |span: &str, of: &[(&str, &str)]| (span.to_owned(), Level::DEBUG, fields(of));
    let regions = sizes.len() - 2;
    let mut expected = vec![span("faro.open", &[("name", name), ("region", &regions.to_string())])];
    for (region, bytes) in sizes[..regions].iter().enumerate() {
        let region = region.to_string();
        expected.push(span(
            "faro.read_region",
            &[("name", name), ("region", &region), ("bytes", bytes)],
        ));
    }
    assert_eq!(found[..=regions], expected);
    let reads = &found[regions + 1..];
    assert_eq!(reads.len().to_string(), sizes[regions]);
    let number = |read: &Fields, field| read[field].parse::<u64>().unwrap();
    let bytes: u64 = reads.iter().map(|(_, _, read)| number(read, "bytes")).sum();
    assert_eq!(bytes.to_string(), sizes[regions + 1]);
    for (span, level, read) in reads {
        assert_eq!(
            (span.as_str(), *level, read["name"].as_str()),
            ("faro.read", Level::DEBUG, name)
        );
        assert!(
            number(read, "offset") >= 64 && number(read, "consumers") == 1,
            "{read:?}"
        );
    }
}

#[test]
fn a_fault_of_reading_is_one_event() {
    let bytes = output();
    let reader = Reader::open_stored(stored(&bytes), ReaderOptions::default()).unwrap();
    let block = reader.all().unwrap().last().unwrap().unwrap();
    let mut damaged = bytes.clone();
    damaged[block.offset as usize + 24] ^= 1;
    type Way = fn(&Reader) -> bool;
    let ways: [Way; 4] = [
        |reader| reader.all().unwrap().any(|block| block.is_err()),
        |reader| {
            let mut blocks = reader.all().unwrap();
            std::iter::from_fn(|| blocks.next_borrowed().map(|block| block.is_err())).any(|failed| failed)
        },
        |reader| {
            reader
                .by_partition(reader.partitions())
                .unwrap()
                .any(|block| block.is_err())
        },
        |reader| {
            let scheduler = Scheduler::new(SchedulerOptions::default()).unwrap();
            let mut consumer = scheduler.range(reader, reader.partitions()).unwrap();
            consumer.any(|block| block.is_err())
        },
    ];
    // The openings of feeds make no spans, since they read nothing.
    let found = collected(|| {
        let opened = |bytes: &[u8]| {
            let mut opening = Opening::single("out.faro", FeedOptions::default()).unwrap();
            let (whole, size) = (bytes.to_vec(), bytes.len() as u64);
            opening.bring(FileRole::Single, 0, whole, size).unwrap();
            opening.poll()
        };
        let Poll::Ready(Ok(reader)) = opened(&damaged) else {
            panic!("not opened")
        };
        let mut feed = reader.range(reader.partitions()).unwrap();
        feed.wanted();
        let (whole, size) = (damaged.clone(), damaged.len() as u64);
        feed.bring(FileRole::Single, 0, whole, size).unwrap();
        while let Poll::Ready(Some(Ok(_))) = feed.poll() {}
        assert!(matches!(opened(&bytes[..bytes.len() - 1]), Poll::Ready(Err(_))));
    });
    let events = found.iter().filter(|(name, ..)| name == "event");
    let codes: Vec<_> = events.map(|(_, _, fields)| fields["code"].as_str()).collect();
    assert_eq!(codes, ["\"checksum\"", "\"unfinished\""]);
    assert!(found.iter().all(|(name, ..)| name != "faro.open"));
    for way in ways {
        let found = collected(|| {
            let reader = Reader::open_stored(stored(&damaged), ReaderOptions::default()).unwrap();
            assert!(way(&reader), "no fault");
            // What is the caller's fault is none of reading's.
            reader.partition(99).err().unwrap();
        });
        let events: Vec<_> = found.iter().filter(|(name, ..)| name == "event").collect();
        assert_eq!(events.len(), 1, "{events:?}");
        assert_eq!(
            (events[0].1, events[0].2["code"].as_str()),
            (Level::DEBUG, "\"checksum\"")
        );
    }
    // An output that cannot be opened.
    let found = collected(|| {
        let cut = &bytes[..bytes.len() - 1];
        Reader::open_stored(stored(cut), ReaderOptions::default())
            .err()
            .unwrap();
    });
    let names: Vec<_> = found.iter().map(|(name, ..)| name.as_str()).collect();
    assert_eq!(names, ["faro.open", "event"]);
    assert_eq!(found[1].2["code"], "\"unfinished\"");
    let place = Place::new();
    let files = Files::Single(place.name());
    std::fs::write(place.name(), &bytes[..63]).unwrap();
    let found = collected(|| drop(Follower::open(&files, ReaderOptions::default()).err().unwrap()));
    let names: Vec<_> = found.iter().map(|(name, ..)| name.as_str()).collect();
    assert_eq!(names, ["faro.open", "event"]);
}
