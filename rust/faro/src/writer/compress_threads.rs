//! Several threads build the blocks of one region (the option `compress_threads`). Each takes units of whole blocks in
//! turn. The blocks come to the file in the same order as from one thread.

use super::blocks::BlockBuilder;
use super::owner::Owner;
use super::region::Stream;
use super::region_builder::RegionBuilder;
use crate::bytes::Framing;
use crate::error::{Error, ErrorCode, Result};
use crate::sort_buffer::{PackedRecords, PartitionRecords, Pushed};
use std::ops::Range;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{Builder, ScopedJoinHandle, scope};

/// About how many bytes a unit takes: its plain bytes, and for each partition a `UnitPart` and a block header. It
/// bounds the memory of the threads.
const UNIT: usize = 128 << 10;
const EACH_PART: usize = 128;
/// How many units each thread has waiting, in work, or waiting to be written.
const DEPTH: usize = 3;

/// Records of one partition that become one or more whole blocks.
struct UnitPart {
    at: u32,
    /// Whether it begins the partition's extent.
    begins: bool,
    places: Range<usize>,
    stream: Stream,
}

/// A unit of work, and its result.
#[derive(Default)]
struct Unit {
    parts: Vec<UnitPart>,
    bytes: Vec<u8>,
}

/// A worker thread, for the thread that writes.
struct Worker<'scope> {
    tasks: Sender<Unit>,
    made: Receiver<Result<Unit>>,
    thread: ScopedJoinHandle<'scope, ()>,
}

/// Writes the own extents of a region, with the block builders of the threads. All places of the region are sorted.
pub(super) fn write_own(
    builder: &mut RegionBuilder,
    block_builders: &mut [BlockBuilder],
    from: PackedRecords<'_>,
    places: &[u32],
    by_partition: &[PartitionRecords],
) -> Result<()> {
    scope(|scope| {
        let mut workers = Vec::with_capacity(block_builders.len());
        let mut result = Ok(());
        for block_builder in block_builders {
            let (tasks, todo) = channel();
            let (done, made) = channel();
            let thread = Builder::new().spawn_scoped(scope, move || work(block_builder, from, places, &todo, &done));
            match thread {
                Ok(thread) => workers.push(Worker { tasks, made, thread }),
                Err(error) => {
                    result = Err(Error::bare(
                        ErrorCode::Io,
                        "a thread that compresses",
                        error.to_string(),
                    ));
                }
            }
        }
        let result = result.and_then(|()| direct(builder, &workers, Plan::new(from, places, by_partition)));
        for worker in workers {
            // The thread ends when its channel of tasks is closed.
            drop((worker.tasks, worker.made));
            if worker.thread.join().is_err() && result.is_ok() {
                return Err(lost());
            }
        }
        result
    })
}

/// Hands out units, and takes their results in the same order.
fn direct(builder: &mut RegionBuilder, workers: &[Worker<'_>], mut plan: Plan<'_>) -> Result<()> {
    let (mut given, mut taken) = (0, 0);
    let mut spare = Unit::default();
    let mut take = |builder: &mut RegionBuilder| {
        let worker: &Worker<'_> = &workers[taken % workers.len()];
        taken += 1;
        let unit = worker.made.recv().map_err(|_| lost())??;
        append(builder, &unit)?;
        Ok::<Unit, Error>(unit)
    };
    while plan.next(builder, &mut spare.parts) {
        workers[given % workers.len()].tasks.send(spare).map_err(|_| lost())?;
        given += 1;
        spare = if given >= workers.len() * DEPTH {
            take(builder)?
        } else {
            Unit::default()
        };
    }
    let left = given.min(workers.len() * DEPTH - 1);
    for _ in 0..left {
        take(builder)?;
    }
    Ok(())
}

fn lost() -> Error {
    Error::bare(ErrorCode::Io, "a thread that compresses", "it panicked")
}

/// The loop of one thread, until its channel is closed.
fn work(
    block_builder: &mut BlockBuilder,
    from: PackedRecords<'_>,
    places: &[u32],
    todo: &Receiver<Unit>,
    done: &Sender<Result<Unit>>,
) {
    // A unit that failed may have left a block open.
    block_builder.forget();
    while let Ok(mut unit) = todo.recv() {
        let made = make(block_builder, from, places, &mut unit).map(|()| unit);
        if done.send(made).is_err() {
            return;
        }
    }
}

fn make(block_builder: &mut BlockBuilder, from: PackedRecords<'_>, places: &[u32], unit: &mut Unit) -> Result<()> {
    unit.bytes.clear();
    for part in &mut unit.parts {
        let (own, all) = (&places[part.places.clone()], &places[part.places.start..]);
        block_builder.push_all(&mut unit.bytes, &mut part.stream, from, own, all)?;
        block_builder.end_data_block(&mut unit.bytes, &mut part.stream)?;
    }
    Ok(())
}

fn append(builder: &mut RegionBuilder, unit: &Unit) -> Result<()> {
    for part in &unit.parts {
        if part.begins {
            builder.begin_extent(Owner::Own(part.at));
        }
        builder.add_to_extent(&part.stream);
    }
    builder.add_made(&unit.bytes)
}

/// Cuts the records of a region into units.
struct Plan<'a> {
    from: PackedRecords<'a>,
    places: &'a [u32],
    by_partition: &'a [PartitionRecords],
    /// If a part of the first partition was handed out: where the rest begins, and its stream.
    rest: Option<(usize, Stream)>,
}

impl<'a> Plan<'a> {
    fn new(from: PackedRecords<'a>, places: &'a [u32], by_partition: &'a [PartitionRecords]) -> Self {
        let rest = None;
        Plan {
            from,
            places,
            by_partition,
            rest,
        }
    }

    /// Finds the parts of the next unit; returns false at the end.
    fn next(&mut self, builder: &RegionBuilder, parts: &mut Vec<UnitPart>) -> bool {
        parts.clear();
        let most = (UNIT / self.from.length.max(1)).max(1);
        let mut taken = 0;
        while let Some(records) = self.by_partition.first()
            && taken < UNIT
        {
            let begins = self.rest.is_none();
            let (begin, stream) = self
                .rest
                .take()
                .unwrap_or_else(|| (records.begin as usize, builder.stream_of(&Owner::Own(records.at))));
            let mut end = records.end as usize;
            if end - begin > 2 * most
                && let Some((cut, blocks)) = self.cut(builder, begin, end)
                // The thread that builds its blocks reports a stream that is too long.
                && let Some(sequence) = stream.sequence.checked_add(blocks)
            {
                end = cut;
                self.rest = Some((cut, Stream { sequence, ..stream }));
            } else {
                self.by_partition = &self.by_partition[1..];
            }
            taken += (end - begin) * self.from.length + EACH_PART;
            let places = begin..end;
            parts.push(UnitPart {
                at: records.at,
                begins,
                places,
                stream,
            });
        }
        !parts.is_empty()
    }

    /// Where a block begins after one unit of records and before `end`, and how many blocks end before it.
    fn cut(&self, builder: &RegionBuilder, begin: usize, end: usize) -> Option<(usize, u32)> {
        let (framing, target) = builder.cuts();
        let (mut blocks, mut open, mut sum) = (0u32, 0, 0);
        for at in begin..end {
            if let Some(ahead) = self.places.get(at + self.from.ahead) {
                self.from.packed.prefetch(*ahead, 0);
            }
            let (length, ends) = match (self.from.packed.framed(self.places[at]), framing) {
                (Some(framed), Framing::Records) => (framed.len(), false),
                // Blocks may end inside records.
                (_, Framing::Opaque) => return None,
                (Some(framed), Framing::Arrow) => (framed.len(), true),
                (None, _) => match self.from.packed.record(self.places[at]) {
                    Pushed::Data(bytes, _) if framing == Framing::Records => (4 + bytes.len(), false),
                    Pushed::Data(bytes, _) | Pushed::Event(_, bytes) => (bytes.len(), true),
                    Pushed::Nothing(_) => (0, false),
                },
            };
            // As the block builder does (SRT-6).
            if open > 0 && (ends || open + length > target) {
                blocks += 1;
                open = 0;
            }
            if open == 0 && sum >= UNIT {
                return Some((at, blocks));
            }
            sum += length;
            if ends {
                blocks += 1;
            } else {
                open += length;
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sort_buffer::SortBuffer;
    use crate::writer::WriterOptions;
    use crate::writer::output::Target;

    /// A panic of a thread, here for a place without a record, is an error, whatever the others do.
    #[test]
    fn a_panic_is_an_error_and_nothing_hangs() {
        let folder = tempfile::tempdir().unwrap();
        let options = WriterOptions::new(100).compress_threads(2);
        let mut builder = RegionBuilder::create(Target::Name(folder.path().join("out")), &options).unwrap();
        let mut buffer: SortBuffer<()> = SortBuffer::new(100, 1 << 20, false);
        buffer.grant(1 << 20);
        buffer.push_plain(0, b"a record", 20);
        let mut places = vec![0; 50_000];
        let records = |at: u32| PartitionRecords {
            at,
            begin: at * 500,
            end: (at + 1) * 500,
        };
        let by_partition: Vec<PartitionRecords> = (0..100).map(records).collect();
        for lost in [0, 30_000, 49_999] {
            places.fill(0);
            places[lost] = 1 << 30;
            builder.begin_region(true).unwrap();
            let mut block_builders = builder.take_block_builders();
            let result = write_own(
                &mut builder,
                &mut block_builders,
                buffer.packed_records(),
                &places,
                &by_partition,
            );
            assert_eq!(result.unwrap_err().to_string(), super::lost().to_string());
            builder.keep_block_builders(block_builders);
            builder.give_up_region().unwrap();
        }
        places.fill(0);
        builder.begin_region(true).unwrap();
        let mut block_builders = builder.take_block_builders();
        write_own(
            &mut builder,
            &mut block_builders,
            buffer.packed_records(),
            &places,
            &by_partition,
        )
        .unwrap();
    }
}
