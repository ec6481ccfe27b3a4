//! A shuffle on a model disk: the real planning, with a disk that has only a seek time and a throughput.

use crate::data::shuffled;
use crate::outcome::{Outcome, Run};
use crate::results::{Case, Results};
use faro::Extent;
use faro::plan::{Admitted, Sweep};
use serde_json::json;

/// Seconds for a seek.
const SEEK_SECONDS: f64 = 0.008;
/// Bytes in a second, without seeks.
const BYTES_A_SECOND: f64 = 200e6;
/// Bytes between two files, so that going from one to another needs a seek.
const APART: u64 = 1 << 20;
/// Bytes that each consumer reads from each producer's file.
const EXTENT: u64 = 10 << 10;

/// Bytes of a block that is pushed, and of a chunk of a merged file.
const PUSHED_BLOCK: u64 = 10_000;
const CHUNK: u64 = 2 << 20;

/// The position of the disk's head, and the time that it has worked.
#[derive(Default)]
struct Disk {
    at: u64,
    seconds: f64,
    reads: u64,
    seeks: u64,
    seek_bytes: u64,
}

impl Disk {
    fn read(&mut self, place: u64, length: u64) {
        if place != self.at {
            self.seconds += SEEK_SECONDS;
            self.seeks += 1;
            self.seek_bytes += place.abs_diff(self.at);
        }
        self.seconds += length as f64 / BYTES_A_SECOND;
        self.reads += 1;
        self.at = place + length;
    }

    fn run(&self) -> Run {
        let figures = json!({
            "reads": self.reads,
            "seeks": self.seeks,
            "seek_bytes": self.seek_bytes,
            "seek_seconds": SEEK_SECONDS,
            "bytes_a_second": BYTES_A_SECOND,
        });
        Run {
            figures: figures.as_object().cloned().unwrap_or_default(),
            ..Run::timed(self.seconds)
        }
    }
}

/// Push-merge: each consumer reads its merged file in chunks, and they take turns.
fn merged(producers: u64, consumers: u64, block: u64) -> Disk {
    let mut disk = Disk::default();
    let partition = producers * block;
    let file = partition + APART;
    let who = shuffled(consumers as usize);
    for chunk in 0..partition.div_ceil(CHUNK) {
        for consumer in &who {
            let begin = chunk * CHUNK;
            disk.read(*consumer as u64 * file + begin, CHUNK.min(partition - begin));
        }
    }
    disk
}

/// Every consumer reads the files alone, in its own order. The disk serves the consumers in turn.
fn one_by_one(producers: u64, consumers: u64, block: u64) -> Disk {
    let mut disk = Disk::default();
    let file = consumers * block + APART;
    let (files, who) = (shuffled(producers as usize), shuffled(consumers as usize));
    for turn in 0..producers {
        for consumer in &who {
            // Each begins with another file, as engines do, so that they do not all want the same file.
            let producer = files[(turn as usize + consumer) % files.len()] as u64;
            disk.read(producer * file + *consumer as u64 * block, block);
        }
    }
    disk
}

/// The same requests through sweeps, file after file, with a limit for bytes that are read and not taken.
fn scheduled(producers: u64, consumers: u64, budget: u64) -> Disk {
    let options = faro::scheduler::SchedulerOptions::default();
    let mut disk = Disk::default();
    let mut left = producers * consumers;
    let mut sweeps: Vec<Sweep> = vec![Sweep::default(); producers as usize];
    for sweep in &mut sweeps {
        for consumer in shuffled(consumers as usize) {
            let consumer = consumer as u64;
            sweep.insert(
                consumer,
                Extent {
                    offset: consumer * EXTENT,
                    length: EXTENT,
                },
            );
        }
    }
    while left > 0 {
        for (producer, sweep) in sweeps.iter_mut().enumerate() {
            // Consumers take the bytes of a read before the next one begins.
            let mut room = budget;
            let read = sweep.next_read(options.gap_bytes, options.read_bytes, |_, extent| {
                room = room.checked_sub(extent.length)?;
                Some(Admitted::new(extent.length, None))
            });
            if let Some(read) = read {
                disk.read(
                    producer as u64 * (consumers * EXTENT + APART) + read.extent.offset,
                    read.extent.length,
                );
                left -= read.parts.len() as u64;
            }
        }
    }
    disk
}

/// Runs the model. Its seconds are those of the model disk.
pub(super) fn run(quick: bool, results: &mut Results) -> Outcome<()> {
    let (producers, consumers) = if quick { (20, 30) } else { (1_000, 1_000) };
    let bytes = producers * consumers * EXTENT;
    let mut case = Case::new();
    case.insert("data".into(), "model disk".into());
    case.insert("producers".into(), producers.into());
    case.insert("consumers".into(), consumers.into());
    case.insert("extent_bytes".into(), EXTENT.into());
    case.insert("plain_bytes".into(), bytes.into());
    let (alone, together) = (
        one_by_one(producers, consumers, EXTENT),
        scheduled(producers, consumers, 64 << 20),
    );
    let mut run = together.run();
    run.figures.insert("reads_alone".into(), alone.reads.into());
    run.figures.insert("seek_bytes_alone".into(), alone.seek_bytes.into());
    run.figures
        .insert("times".into(), (alone.seconds / together.seconds).into());
    results.add("scheduler", &case, bytes, &[run])?;
    results.add("one-by-one", &case, bytes, &[alone.run()])?;
    push_merge(quick, results)
}

/// The published case of push-merge: 150 GB in blocks of 10 KB, and the same in chunks of 2 MiB.
fn push_merge(quick: bool, results: &mut Results) -> Outcome<()> {
    let (producers, consumers) = if quick { (30, 50) } else { (3_000, 5_000) };
    let bytes = producers * consumers * PUSHED_BLOCK;
    let mut case = Case::new();
    case.insert("data".into(), "model disk, push-merge".into());
    case.insert("producers".into(), producers.into());
    case.insert("consumers".into(), consumers.into());
    case.insert("block_bytes".into(), PUSHED_BLOCK.into());
    case.insert("plain_bytes".into(), bytes.into());
    let alone = one_by_one(producers, consumers, PUSHED_BLOCK);
    let merged = merged(producers, consumers, PUSHED_BLOCK);
    let mut run = merged.run();
    run.figures
        .insert("times".into(), (alone.seconds / merged.seconds).into());
    results.add("merged", &case, bytes, &[run])?;
    results.add("one-by-one", &case, bytes, &[alone.run()])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_model_is_what_it_says() {
        let alone = one_by_one(10, 20, EXTENT);
        assert_eq!(alone.reads, 200);
        assert!(alone.seeks > 150);
        let seconds = alone.seeks as f64 * SEEK_SECONDS + (200 * EXTENT) as f64 / BYTES_A_SECOND;
        assert!((alone.seconds - seconds).abs() < 1e-9);
        let together = scheduled(10, 20, 1 << 20);
        // The whole of each file is one read; the disk begins at the first.
        assert_eq!((together.reads, together.seeks), (10, 9));
        // With less room there are more reads, and more sweeps.
        let narrow = scheduled(10, 20, 5 * EXTENT);
        assert_eq!(narrow.reads, 40);
        // 3 MB for each consumer are two chunks, and each read needs a seek, except the first of all if it is there.
        let chunks = merged(300, 20, PUSHED_BLOCK);
        assert_eq!(chunks.reads, 40);
        assert!(chunks.seeks >= 39);
    }
}
