//! The spans and events of the feature `tracing`.

#![cfg(feature = "tracing")]

mod common;
mod flawed;

use common::options;
use faro::storage::MemoryDestination;
use faro::{Layout, Writer};
use flawed::{Flaw, Flawed};
use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::{Arc, Mutex};
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
