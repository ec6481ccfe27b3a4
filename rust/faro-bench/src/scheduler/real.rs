//! Real files: the reads from the system, and their time with an empty page cache.

use crate::data::{Kind, Partitions, Records, SplitMix64};
use crate::outcome::{Outcome, Run, timed};
use crate::page_cache::forget;
use crate::results::{Case, Results};
use crate::rounds::{self, Subject};
use faro::scheduler::{Consumer, Scheduler, SchedulerFigures, SchedulerOptions};
use faro::{Blocks, Extent, Reader, ReaderOptions, Writer, WriterOptions};
use serde_json::json;
use std::path::Path;

/// Reads every partition of an output. Returns the plain bytes, and the figures of a scheduler.
type Reading = fn(&Reader, u32) -> Outcome<(u64, Option<SchedulerFigures>)>;

/// Writes an output of small extents and reads it, with a scheduler and with readers that take random turns.
pub(super) fn run(folder: &Path, partitions: u32, bytes: u64, count: usize, results: &mut Results) -> Outcome<()> {
    let records = Records::make(Kind::Text, 100)?;
    let (records_count, plain_bytes) = records.enough_for(bytes);
    let scratch = tempfile::tempdir_in(folder)?;
    let options = WriterOptions::new(partitions).buffer_size((bytes / 32).max(1 << 20));
    let mut writer = Writer::create(scratch.path().join("out"), options)?;
    let mut drawn = Partitions::new(Kind::Text, partitions);
    for at in 0..records_count {
        writer.write(drawn.next(), records.get(at))?;
    }
    let files = writer.finish()?.files;
    let reader = Reader::open(&files, ReaderOptions::default())?;
    let figures = trace(&reader, partitions)?;
    for cold in [false, true] {
        let mut case = Case::new();
        case.insert("data".into(), "text".into());
        case.insert("partitions".into(), partitions.into());
        case.insert("regions".into(), reader.region_count().into());
        case.insert("cache".into(), if cold { "cold" } else { "warm" }.into());
        case.insert("plain_bytes".into(), plain_bytes.into());
        let run = |subject: Reading| {
            let (files, figures) = (&files, &figures);
            move || {
                if cold {
                    forget(files)?;
                }
                let reader = Reader::open(files, ReaderOptions::default())?;
                let (seconds, (plain, found)) = timed(|| subject(&reader, partitions))?;
                if plain != plain_bytes {
                    return Err(format!("{plain} plain bytes in place of {plain_bytes}").into());
                }
                Ok(Run {
                    figures: match found {
                        Some(found) => together(found, figures),
                        None => alone(figures),
                    },
                    ..Run::timed(seconds)
                })
            }
        };
        let mut subjects = [
            Subject::new("scheduler", run(scheduled)),
            Subject::new("one-by-one", run(one_by_one)),
        ];
        rounds::run(&mut subjects, count, &case, plain_bytes, results)?;
    }
    Ok(())
}

fn together(found: SchedulerFigures, alone: &Trace) -> serde_json::Map<String, serde_json::Value> {
    let figures = json!({
        "reads": found.reads,
        "read_bytes": found.read_bytes,
        "seek_bytes": found.seek_bytes,
        "most_held_bytes": found.most_held_bytes,
        "reads_alone": alone.reads,
        "seek_bytes_alone": alone.seek_bytes,
    });
    figures.as_object().cloned().unwrap_or_default()
}

fn alone(trace: &Trace) -> serde_json::Map<String, serde_json::Value> {
    let figures = json!({ "reads": trace.reads, "seek_bytes": trace.seek_bytes });
    figures.as_object().cloned().unwrap_or_default()
}

/// The reads of readers that take turns: one for each extent, since all extents are shorter than a read.
struct Trace {
    reads: u64,
    seek_bytes: u64,
}

fn trace(reader: &Reader, partitions: u32) -> Outcome<Trace> {
    let mut extents: Vec<Vec<Extent>> = vec![Vec::new(); partitions as usize];
    for number in 0..reader.region_count() {
        let region = reader.region(number)?;
        for partition in 0..partitions {
            extents[partition as usize].extend(region.extents_of(partition));
        }
    }
    let mut left: Vec<_> = extents
        .into_iter()
        .map(|extents| extents.into_iter().peekable())
        .collect();
    let (mut at, mut trace) = (
        0u64,
        Trace {
            reads: 0,
            seek_bytes: 0,
        },
    );
    let mut turns = Turns::new(partitions);
    while let Some(turn) = turns.next(|turn| left[turn].peek().is_some()) {
        if let Some(extent) = left[turn].next() {
            trace.reads += 1;
            trace.seek_bytes += extent.offset.abs_diff(at);
            at = extent.end();
        }
    }
    Ok(trace)
}

/// Draws the next reader that has more, the same each time.
struct Turns {
    numbers: SplitMix64,
    left: Vec<usize>,
}

impl Turns {
    fn new(count: u32) -> Self {
        Turns {
            numbers: SplitMix64::new(3),
            left: (0..count as usize).collect(),
        }
    }

    fn next(&mut self, mut has_more: impl FnMut(usize) -> bool) -> Option<usize> {
        while !self.left.is_empty() {
            let place = (self.numbers.next() % self.left.len() as u64) as usize;
            if has_more(self.left[place]) {
                return Some(self.left[place]);
            }
            self.left.swap_remove(place);
        }
        None
    }
}

fn one_by_one(reader: &Reader, partitions: u32) -> Outcome<(u64, Option<SchedulerFigures>)> {
    let mut readings: Vec<Option<Blocks>> = (0..partitions)
        .map(|partition| reader.partition(partition).map(Some))
        .collect::<faro::Result<_>>()?;
    let (mut plain, mut turns) = (0, Turns::new(partitions));
    while let Some(turn) = turns.next(|turn| readings[turn].is_some()) {
        match readings[turn].as_mut().and_then(Iterator::next) {
            Some(block) => plain += block?.payload.len() as u64,
            None => readings[turn] = None,
        }
    }
    Ok((plain, None))
}

fn scheduled(reader: &Reader, partitions: u32) -> Outcome<(u64, Option<SchedulerFigures>)> {
    let scheduler = Scheduler::with_threads(SchedulerOptions::default(), 1)?;
    let mut consumers: Vec<Option<Consumer>> = (0..partitions)
        .map(|partition| scheduler.partition(reader, partition).map(Some))
        .collect::<faro::Result<_>>()?;
    let (mut plain, mut turns) = (0, Turns::new(partitions));
    while let Some(turn) = turns.next(|turn| consumers[turn].is_some()) {
        match consumers[turn].as_mut().and_then(Iterator::next) {
            Some(block) => plain += block?.payload.len() as u64,
            None => consumers[turn] = None,
        }
    }
    Ok((plain, Some(scheduler.figures())))
}
