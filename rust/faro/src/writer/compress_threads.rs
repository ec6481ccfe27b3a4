//! Several threads build the blocks of one region (the option `compress_threads`). The caller's thread is one of them: it
//! hands out units of whole blocks, appends what was made to the file, and makes units itself while it would wait. The
//! blocks come to the file in the same order as from one thread.

use super::blocks::BlockBuilder;
use super::compress_units::{Source, Unit};
use super::region_builder::RegionBuilder;
use crate::error::{Error, ErrorCode, Result};
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, scope};

/// How many units there are for each thread: waiting, in work, or waiting to be appended. It bounds the memory.
const DEPTH: usize = 3;

/// A unit with its number, once it was made or failed.
type Made = (usize, Result<Unit>);

/// The units that wait for a thread.
#[derive(Default)]
struct Queue {
    waiting: Mutex<Waiting>,
    changed: Condvar,
}

#[derive(Default)]
struct Waiting {
    units: VecDeque<(usize, Unit)>,
    /// Whether no more will come.
    closed: bool,
}

impl Queue {
    fn lock(&self) -> MutexGuard<'_, Waiting> {
        // Each change is complete, whatever panicked.
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn push(&self, number: usize, unit: Unit) {
        self.lock().units.push_back((number, unit));
        self.changed.notify_one();
    }

    /// The first unit, if one waits.
    fn try_next(&self) -> Option<(usize, Unit)> {
        self.lock().units.pop_front()
    }

    /// The first unit, as soon as one waits; none once the queue is closed.
    fn next(&self) -> Option<(usize, Unit)> {
        let mut waiting = self.lock();
        loop {
            if waiting.closed {
                return None;
            }
            if let Some(unit) = waiting.units.pop_front() {
                return Some(unit);
            }
            waiting = self.changed.wait(waiting).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// Closes the queue at the end, however that comes: the threads would wait forever.
struct Closing<'a>(&'a Queue);

impl Drop for Closing<'_> {
    fn drop(&mut self) {
        self.0.lock().closed = true;
        self.0.changed.notify_all();
    }
}

/// Writes own extents of a region, with the block builders of the threads: one for each, and the caller's thread is one
/// of them. `plan` makes the next unit of the source; it returns false at the end.
pub(super) fn write_own(
    builder: &mut RegionBuilder,
    block_builders: &mut [BlockBuilder],
    source: Source<'_>,
    plan: impl FnMut(&RegionBuilder, &mut Unit) -> bool,
) -> Result<()> {
    // A unit that failed may have left a block open.
    block_builders.iter_mut().for_each(BlockBuilder::forget);
    let most = block_builders.len() * DEPTH;
    let Some((own, others)) = block_builders.split_first_mut() else {
        return Ok(());
    };
    let queue = Queue::default();
    scope(|scope| {
        let _closing = Closing(&queue);
        let (done, made) = channel();
        for block_builder in others {
            let (queue, done) = (&queue, done.clone());
            let started = Builder::new().spawn_scoped(scope, move || work(block_builder, source, queue, &done));
            if started.is_err() {
                // The system refuses more. Those that there are make the units, if need be the caller's alone.
                break;
            }
        }
        drop(done);
        Director {
            builder,
            queue: &queue,
            made: &made,
            next: VecDeque::new(),
            given: 0,
            appended: 0,
        }
        .direct(most, plan, |unit| make(unit, own, source))
    })
}

/// The loop of one thread, until the queue is closed.
fn work(block_builder: &mut BlockBuilder, source: Source<'_>, queue: &Queue, done: &Sender<Made>) {
    while let Some((number, unit)) = queue.next() {
        if done.send((number, make(unit, block_builder, source))).is_err() {
            return;
        }
    }
}

/// Makes a unit. A panic becomes an error, so that no one waits for the unit in vain.
fn make(mut unit: Unit, block_builder: &mut BlockBuilder, source: Source<'_>) -> Result<Unit> {
    let made = catch_unwind(AssertUnwindSafe(|| unit.make(block_builder, source)));
    made.unwrap_or_else(|_| Err(lost())).map(|()| unit)
}

fn lost() -> Error {
    Error::bare(ErrorCode::Io, "a thread that compresses", "it panicked")
}

/// What the caller's thread knows of the units.
struct Director<'a> {
    builder: &'a mut RegionBuilder,
    queue: &'a Queue,
    made: &'a Receiver<Made>,
    /// The units that were handed out and not appended, in order: those that are made.
    next: VecDeque<Option<Unit>>,
    /// How many were handed out, and how many were appended.
    given: usize,
    appended: usize,
}

impl Director<'_> {
    /// Hands out units, at most `most` at a time, and appends them in the same order.
    fn direct(
        mut self,
        most: usize,
        mut plan: impl FnMut(&RegionBuilder, &mut Unit) -> bool,
        mut make: impl FnMut(Unit) -> Result<Unit>,
    ) -> Result<()> {
        let mut spare = Vec::new();
        let mut more = true;
        loop {
            while more && self.next.len() < most {
                let mut unit = spare.pop().unwrap_or_default();
                more = plan(self.builder, &mut unit);
                if more {
                    self.queue.push(self.given, unit);
                    self.next.push_back(None);
                    self.given += 1;
                }
            }
            while let Ok(made) = self.made.try_recv() {
                self.keep(made)?;
            }
            match self.next.front_mut().map(Option::take) {
                None => return Ok(()),
                Some(Some(unit)) => {
                    unit.append(self.builder)?;
                    self.next.pop_front();
                    self.appended += 1;
                    spare.push(unit);
                }
                Some(None) => match self.queue.try_next() {
                    Some((number, unit)) => self.keep((number, make(unit)))?,
                    None => {
                        let made = self.made.recv().map_err(|_| lost())?;
                        self.keep(made)?;
                    }
                },
            }
        }
    }

    /// Keeps a unit until those before it were appended.
    fn keep(&mut self, (number, made): Made) -> Result<()> {
        self.next[number - self.appended] = Some(made?);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sort_buffer::{PartitionRecords, SortBuffer};
    use crate::writer::WriterOptions;
    use crate::writer::compress_units::PackedPlan;
    use crate::writer::output::Target;

    fn write(
        builder: &mut RegionBuilder,
        block_builders: &mut [BlockBuilder],
        buffer: &SortBuffer<()>,
        places: &[u32],
        by_partition: &[PartitionRecords],
    ) -> Result<()> {
        let from = buffer.packed_records();
        let mut plan = PackedPlan::new(from, places, by_partition);
        let next = |builder: &RegionBuilder, unit: &mut Unit| plan.next(builder, unit);
        write_own(builder, block_builders, Source::Packed(from, places), next)
    }

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
            let result = write(&mut builder, &mut block_builders, &buffer, &places, &by_partition);
            assert_eq!(result.unwrap_err().to_string(), super::lost().to_string());
            builder.keep_block_builders(block_builders);
            builder.give_up_region().unwrap();
        }
        places.fill(0);
        builder.begin_region(true).unwrap();
        let mut block_builders = builder.take_block_builders();
        write(&mut builder, &mut block_builders, &buffer, &places, &by_partition).unwrap();
    }
}
