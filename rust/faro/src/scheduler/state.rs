//! Who wants what, who holds what, and what is read next. No thread, and no file is read here.

use super::SchedulerOptions;
use crate::error::{Error, Result};
use crate::index::Extent;
use crate::plan::{Admitted, Sweep, SweepRead};
use crate::reader::Core;
use bytes::Bytes;
use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::{Arc, Condvar};

/// Least bytes of a consumer's share: less would be more reads than bytes.
const LEAST_SHARE: u64 = 4 << 10;

/// Bytes that were read for a consumer.
#[derive(Debug)]
pub(super) struct Piece {
    pub offset: u64,
    pub bytes: Bytes,
}

/// Called when a consumer has something to take.
pub(super) type Listener = Arc<dyn Fn() + Send + Sync>;

/// A consumer as those see it who read for it.
struct Waiting {
    file: usize,
    /// What it asked for and what is not being read for it yet, in its order. The first is in the sweep.
    wanted: VecDeque<Extent>,
    /// What it may take, in its order.
    ready: VecDeque<Piece>,
    /// Bytes that are ready or being read.
    held: u64,
    /// Whether it is served until its share is full: from when half of it is free. Who is served whenever there is room
    /// for one more request is served here and there, and the bytes between are read for nothing.
    filling: bool,
    /// Whether a read for it is under way.
    reading: bool,
    /// What failed. All that is wanted comes before it, in the consumer's order: what was let go of for others.
    fault: Option<Error>,
    wake: Arc<Condvar>,
    listener: Option<Listener>,
}

impl Waiting {
    /// Whether nothing comes before its fault any more.
    fn is_fault_due(&self) -> bool {
        self.fault.is_some() && self.ready.is_empty() && self.wanted.is_empty() && !self.reading
    }
}

/// One handle, and the requests to it.
struct FileState {
    core: Arc<Core>,
    sweep: Sweep,
    consumers: usize,
    /// Whether a read is under way: one at a time, or they would not be in order.
    busy: bool,
}

/// A read to be done, and by which handle.
pub(super) struct Job {
    pub file: usize,
    pub core: Arc<Core>,
    pub read: SweepRead,
}

/// What came of the parts of a read, in its order.
pub(super) type Outcome = Vec<Result<Bytes>>;

/// What was done so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Figures {
    /// Reads.
    pub reads: u64,
    /// Bytes that were read, gaps included.
    pub read_bytes: u64,
    /// Bytes that consumers were given.
    pub given_bytes: u64,
    /// Bytes between where a read of a file ended and its next one began, forwards or backwards.
    pub seek_bytes: u64,
    /// Bytes that were read or are being read, and are not taken, now.
    pub held_bytes: u64,
    /// Most bytes of these at any time.
    pub most_held_bytes: u64,
    /// Bytes that were let go of to make room, and are read again.
    pub reclaimed_bytes: u64,
}

#[derive(Default)]
pub(super) struct State {
    files: HashMap<usize, FileState>,
    /// The files in turn.
    turn: VecDeque<usize>,
    consumers: HashMap<u64, Waiting>,
    next_consumer: u64,
    pub figures: Figures,
    /// Whether the scheduler's own threads are to end.
    pub closed: bool,
}

impl State {
    /// A new consumer of a file.
    pub(super) fn open(&mut self, core: &Arc<Core>) -> (u64, Arc<Condvar>) {
        let file = Arc::as_ptr(core) as usize;
        let id = self.next_consumer;
        self.next_consumer += 1;
        let state = self.files.entry(file).or_insert_with(|| {
            self.turn.push_back(file);
            FileState {
                core: core.clone(),
                sweep: Sweep::default(),
                consumers: 0,
                busy: false,
            }
        });
        state.consumers += 1;
        let wake = Arc::new(Condvar::new());
        self.consumers.insert(
            id,
            Waiting {
                file,
                wanted: VecDeque::new(),
                ready: VecDeque::new(),
                held: 0,
                filling: true,
                reading: false,
                fault: None,
                wake: wake.clone(),
                listener: None,
            },
        );
        (id, wake)
    }

    /// A consumer leaves: its requests go with it, and what it held is free. A read that is under way for it is dropped
    /// when it is done.
    pub(super) fn close(&mut self, id: u64) {
        let Some(gone) = self.consumers.remove(&id) else {
            return;
        };
        // What is being read for it is given back by the read.
        let ready: u64 = gone.ready.iter().map(|piece| piece.bytes.len() as u64).sum();
        self.figures.held_bytes -= ready;
        if let Some(file) = self.files.get_mut(&gone.file) {
            if let Some(first) = gone.wanted.front() {
                file.sweep.remove(id, first.offset);
            }
            file.consumers -= 1;
            if file.consumers == 0 && !file.busy {
                self.files.remove(&gone.file);
                self.turn.retain(|file| *file != gone.file);
            }
        }
    }

    pub(super) fn listen(&mut self, id: u64, listener: Listener) {
        if let Some(consumer) = self.consumers.get_mut(&id) {
            consumer.listener = Some(listener);
        }
    }

    /// More requests of a consumer, behind those it has.
    pub(super) fn ask(&mut self, id: u64, extents: impl Iterator<Item = Extent>) {
        let Some(consumer) = self.consumers.get_mut(&id).filter(|consumer| consumer.fault.is_none()) else {
            // Behind a fault nothing is wanted.
            return;
        };
        let was_empty = consumer.wanted.is_empty();
        consumer.wanted.extend(extents);
        if was_empty {
            self.ask_again(id, None);
        }
    }

    /// The next piece for a consumer, or its fault; nothing when there is neither yet.
    pub(super) fn take(&mut self, id: u64) -> Option<Result<Piece>> {
        let consumer = self.consumers.get_mut(&id)?;
        match consumer.ready.pop_front() {
            Some(piece) => {
                let length = piece.bytes.len() as u64;
                consumer.held -= length;
                self.figures.held_bytes -= length;
                self.figures.given_bytes += length;
                Some(Ok(piece))
            }
            None if consumer.is_fault_due() => consumer.fault.take().map(Err),
            None => None,
        }
    }

    /// Whether a consumer has something to take.
    pub(super) fn has_something(&self, id: u64) -> bool {
        let found = self.consumers.get(&id);
        found.is_none_or(|consumer| !consumer.ready.is_empty() || consumer.is_fault_due())
    }

    /// Everybody who waits looks again.
    pub(super) fn wake_all(&self) {
        self.consumers.values().for_each(|consumer| consumer.wake.notify_all());
    }

    /// The bytes of all consumers together, and of each.
    fn budget(&self, options: &SchedulerOptions) -> (u64, u64) {
        let open = self.consumers.len().max(1) as u64;
        let total = options.budget_bytes.max(open * LEAST_SHARE);
        (total, total / open)
    }

    /// What is read next, its bytes reserved: of the files that are not busy, in turn.
    pub(super) fn plan(&mut self, options: &SchedulerOptions) -> Option<Job> {
        let (total, share) = self.budget(options);
        for _ in 0..self.turn.len() {
            let number = self.turn.pop_front()?;
            self.turn.push_back(number);
            let Some(file) = self.files.get_mut(&number) else {
                continue;
            };
            if file.busy || file.sweep.is_empty() {
                continue;
            }
            let mut budget = Budget {
                consumers: &mut self.consumers,
                figures: &mut self.figures,
                reclaimed: Vec::new(),
                share,
                total,
            };
            let head = file.sweep.head();
            let read = file
                .sweep
                .next_read(options.gap_bytes, options.read_bytes, |id, extent| {
                    budget.admit(id, extent)
                });
            let reclaimed = std::mem::take(&mut budget.reclaimed);
            let job = read.map(|read| {
                file.busy = true;
                self.figures.reads += 1;
                self.figures.read_bytes += read.extent.length;
                self.figures.seek_bytes += read.extent.offset.abs_diff(head);
                Job {
                    file: number,
                    core: file.core.clone(),
                    read,
                }
            });
            for (id, before) in reclaimed {
                self.ask_again(id, before);
            }
            if job.is_some() {
                return job;
            }
        }
        None
    }

    /// Puts the first request of a consumer into the sweep, in place of the one that was there at an offset.
    fn ask_again(&mut self, id: u64, before: Option<u64>) {
        let Some(consumer) = self.consumers.get(&id) else {
            return;
        };
        if let Some(file) = self.files.get_mut(&consumer.file) {
            if let Some(before) = before {
                file.sweep.remove(id, before);
            }
            if let Some(first) = consumer.wanted.front() {
                file.sweep.insert(id, *first);
            }
        }
    }

    /// Hands out what was read; returns those who are to be told.
    pub(super) fn deliver(&mut self, job: &Job, outcome: Outcome) -> Vec<Listener> {
        let mut listeners = Vec::new();
        let mut failed = HashSet::new();
        for (part, bytes) in job.read.parts.iter().zip(outcome) {
            let length = part.extent.length;
            let Some(consumer) = self.consumers.get_mut(&part.consumer) else {
                self.figures.held_bytes -= length;
                continue;
            };
            match bytes {
                // Behind a fault nothing is wanted, though it was read at once with what failed.
                Ok(bytes) if !failed.contains(&part.consumer) => consumer.ready.push_back(Piece {
                    offset: part.extent.offset,
                    bytes,
                }),
                other => {
                    consumer.held -= length;
                    self.figures.held_bytes -= length;
                    if let Err(error) = other
                        && failed.insert(part.consumer)
                    {
                        // In place of one that comes later.
                        consumer.fault = Some(error);
                    }
                }
            }
            consumer.wake.notify_all();
            listeners.extend(consumer.listener.clone());
        }
        for part in &job.read.parts {
            let Some(consumer) = self.consumers.get_mut(&part.consumer) else {
                continue;
            };
            consumer.reading = false;
            if failed.contains(&part.consumer) {
                let before = consumer.wanted.front().map(|first| first.offset);
                consumer.wanted.clear();
                self.ask_again(part.consumer, before);
            }
        }
        if let Some(file) = self.files.get_mut(&job.file) {
            file.busy = false;
            if file.consumers == 0 {
                self.files.remove(&job.file);
                self.turn.retain(|file| *file != job.file);
            }
        }
        listeners
    }
}

/// Who may have how much.
struct Budget<'a> {
    consumers: &'a mut HashMap<u64, Waiting>,
    figures: &'a mut Figures,
    /// Whose first request changed, since bytes were taken from them, and where it was.
    reclaimed: Vec<(u64, Option<u64>)>,
    share: u64,
    total: u64,
}

impl Budget<'_> {
    /// What of a consumer's first request may be read now.
    fn admit(&mut self, id: u64, extent: Extent) -> Option<Admitted> {
        let consumer = self.consumers.get(&id)?;
        // Somebody from whom bytes were taken asks for these first.
        if consumer
            .wanted
            .front()
            .is_none_or(|first| first.offset != extent.offset)
        {
            return None;
        }
        if !consumer.filling && consumer.held > self.share / 2 {
            return None;
        }
        let room = self.share.saturating_sub(consumer.held);
        let length = extent.length.min(room);
        // Whole, or a good part of the share: a trickle would be many reads.
        let is_full = length == 0 || (length < extent.length && length < self.share / 4);
        self.consumers.get_mut(&id)?.filling = !is_full;
        if is_full || !self.make_room(id, length) {
            return None;
        }
        self.figures.held_bytes += length;
        self.figures.most_held_bytes = self.figures.most_held_bytes.max(self.figures.held_bytes);
        let consumer = self.consumers.get_mut(&id)?;
        consumer.held += length;
        consumer.reading = true;
        let first = consumer.wanted.front_mut()?;
        first.offset += length;
        first.length -= length;
        if first.length == 0 {
            consumer.wanted.pop_front();
        }
        Some(Admitted {
            length,
            next: consumer.wanted.front().copied(),
        })
    }

    /// Whether there is room for so many bytes, if need be that of consumers who hold more than their share, as it was
    /// larger when there were fewer: they get the same bytes again, when they have taken what comes before.
    fn make_room(&mut self, id: u64, length: u64) -> bool {
        if self.figures.held_bytes + length <= self.total {
            return true;
        }
        let share = self.share;
        for (other, consumer) in self.consumers.iter_mut() {
            if *other == id || consumer.reading {
                continue;
            }
            let before = consumer.wanted.front().map(|first| first.offset);
            let mut changed = false;
            while consumer.held > share {
                let Some(piece) = consumer.ready.pop_back() else {
                    break;
                };
                let bytes = piece.bytes.len() as u64;
                consumer.held -= bytes;
                self.figures.held_bytes -= bytes;
                self.figures.reclaimed_bytes += bytes;
                consumer.wanted.push_front(Extent {
                    offset: piece.offset,
                    length: bytes,
                });
                changed = true;
            }
            if changed {
                self.reclaimed.push((*other, before));
            }
            if self.figures.held_bytes + length <= self.total {
                return true;
            }
        }
        false
    }
}
