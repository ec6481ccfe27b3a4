//! The state of the scheduler: what each consumer wants and holds, and the next step. It has no threads and reads no
//! files.

use super::SchedulerOptions;
use super::budget::Budget;
use super::figures::SchedulerFigures;
use super::granted::Granted;
use super::growth::Growth;
use super::job::{FindJob, Job, ReadJob};
use super::options::LEAST;
use super::read_buffer::ReadBuffer;
use super::sync::{Arc, Condvar};
use super::waiting::{AHEAD, Listener, ReadyBytes, Waiting};
use crate::error::{Error, Result};
use crate::index::Extent;
use crate::plan::Sweep;
use crate::reader::{OpenExtent, OpenOutput, Opened};
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::ops::Range;

/// An open output, and the requests to it.
struct FileState {
    opened: Arc<Opened>,
    sweep: Sweep,
    consumers: usize,
    /// Whether a read is under way. There is one at a time, to keep the order.
    busy: bool,
}

#[derive(Default)]
pub(super) struct State {
    files: HashMap<usize, FileState>,
    /// The files, in the order of their next turns.
    turn: VecDeque<usize>,
    pub consumers: BTreeMap<u64, Waiting>,
    next_consumer: u64,
    /// Consumers that need a step that finds, before the next read.
    finding: VecDeque<u64>,
    /// Consumers that need one after the next read. No consumer is served twice between two reads.
    queue: VecDeque<u64>,
    /// Consumers that may be asleep.
    sleepers: Vec<u64>,
    pub figures: SchedulerFigures,
    pub granted: Granted,
    /// Buffers for reads that no step is using.
    pub buffers: Vec<ReadBuffer>,
    /// Whether the scheduler was dropped, so that its threads must end.
    pub closed: bool,
    /// The fault of all consumers, after a panic left this state inconsistent.
    pub broken: Option<Error>,
}

impl State {
    pub(super) fn new(options: &SchedulerOptions) -> Self {
        State {
            granted: Granted::new(options),
            ..State::default()
        }
    }

    /// Adds a consumer of a file; `growth` is present if the file is still written.
    pub(super) fn open(
        &mut self,
        output: &OpenOutput,
        partitions: Range<u32>,
        growth: Option<Growth>,
    ) -> (u64, Arc<Condvar>) {
        let opened = &output.opened;
        let file = Arc::as_ptr(opened) as usize;
        let id = self.next_consumer;
        self.next_consumer += 1;
        let state = self.files.entry(file).or_insert_with(|| {
            self.turn.push_back(file);
            FileState {
                opened: opened.clone(),
                sweep: Sweep::default(),
                consumers: 0,
                busy: false,
            }
        });
        state.consumers += 1;
        let consumer = Waiting::new(output, partitions, file, growth);
        let wake = consumer.wake.clone();
        self.consumers.insert(id, consumer);
        self.enqueue(id);
        (id, wake)
    }

    /// Removes a consumer: its requests are withdrawn, and the bytes that it held are free. A read that is under way
    /// for it is dropped when it is done. The caller drops the returned value without the lock, since the listener
    /// belongs to the user.
    pub(super) fn close(&mut self, id: u64) -> Option<Waiting> {
        let gone = self.consumers.remove(&id)?;
        // The read that is under way gives back its bytes.
        let ready: u64 = gone.ready.iter().map(|ready| ready.bytes.len() as u64).sum();
        self.figures.held_bytes = self.figures.held_bytes.saturating_sub(ready);
        if let Some(file) = self.files.get_mut(&gone.file) {
            if let Some(first) = gone.wanted.front() {
                file.sweep.remove(id, first.offset);
            }
            file.consumers -= 1;
        }
        self.forget_file(gone.file);
        Some(gone)
    }

    /// Forgets a file that no consumer reads and no step has.
    fn forget_file(&mut self, number: usize) {
        let is_left = |file: &FileState| file.consumers == 0 && !file.busy;
        if self.files.get(&number).is_some_and(is_left) {
            self.files.remove(&number);
            self.turn.retain(|file| *file != number);
        }
    }

    /// Sets the listener of a consumer. Returns the previous one, to be dropped without the lock, and whether the new one
    /// has to be called, without the lock, for what happened when there was none.
    pub(super) fn listen(&mut self, id: u64, listener: Listener) -> (Option<Listener>, bool) {
        let Some(consumer) = self.consumers.get_mut(&id) else {
            return (None, false);
        };
        let has_news = std::mem::take(&mut consumer.has_news);
        (consumer.listener.replace(listener), has_news)
    }

    /// Queues a consumer for a step that finds what it needs.
    pub(super) fn enqueue(&mut self, id: u64) {
        if let Some(consumer) = self.consumers.get_mut(&id)
            && (consumer.missing_dictionary.is_some() || consumer.missing > 0 && !consumer.waits_for_regions())
            && consumer.finder.is_some()
            && !consumer.queued
        {
            consumer.queued = true;
            self.queue.push_back(id);
        }
    }

    /// Adds requests of a consumer, after those that it has.
    pub(super) fn ask(&mut self, id: u64, extents: impl Iterator<Item = Extent>) {
        let Some(consumer) = self.consumers.get_mut(&id).filter(|consumer| consumer.fault.is_none()) else {
            // After a fault nothing is wanted.
            return;
        };
        let was_empty = consumer.wanted.is_empty();
        consumer.wanted.extend(extents);
        if was_empty {
            self.ask_again(id, None);
        }
    }

    /// Hands over the extents that were found for a consumer, and requests more when it has few. Returns a value when
    /// the consumer knows all extents; it may be the fault that comes after them. A consumer that gets none sleeps.
    pub(super) fn extents(&mut self, id: u64, ahead: &mut VecDeque<OpenExtent>) -> Option<Result<()>> {
        if let Some(error) = &self.broken {
            return Some(Err(error.clone()));
        }
        let consumer = self.consumers.get_mut(&id)?;
        ahead.append(&mut consumer.found);
        let end = consumer.end.take();
        if end.is_none() {
            if consumer.finder.is_some() && ahead.len() < AHEAD / 2 && consumer.fault.is_none() {
                consumer.missing = AHEAD - ahead.len();
                self.enqueue(id);
            }
            if ahead.is_empty() {
                self.sleep(id);
            }
        }
        end
    }

    /// The output of a consumer with the regions that were seen so far, if it is still written.
    pub(super) fn grown(&self, id: u64) -> Option<&OpenOutput> {
        let growth = self.consumers.get(&id)?.growth.as_ref()?;
        Some(&growth.output)
    }

    /// The next bytes for a consumer, or its fault. When there is neither yet, the consumer sleeps.
    pub(super) fn take(&mut self, id: u64) -> Option<Result<ReadyBytes>> {
        if let Some(error) = &self.broken {
            return Some(Err(error.clone()));
        }
        let consumer = self.consumers.get_mut(&id)?;
        match consumer.ready.pop_front() {
            Some(ready) => {
                let length = ready.bytes.len() as u64;
                consumer.held -= length;
                self.figures.held_bytes -= length;
                self.figures.given_bytes += length;
                Some(Ok(ready))
            }
            None if consumer.is_fault_due() => consumer.fault.clone().map(Err),
            None => {
                self.sleep(id);
                None
            }
        }
    }

    /// Whether a dictionary that a consumer needs is there. Until then the consumer sleeps.
    pub(super) fn dictionary(&mut self, id: u64, number: u16) -> Option<Result<()>> {
        if let Some(error) = &self.broken {
            return Some(Err(error.clone()));
        }
        let consumer = self.consumers.get_mut(&id)?;
        let there = consumer.dictionary.take();
        if there.is_none() {
            consumer.missing_dictionary = Some(number);
            self.enqueue(id);
            self.sleep(id);
        }
        there
    }

    fn sleep(&mut self, id: u64) {
        if let Some(consumer) = self.consumers.get_mut(&id) {
            consumer.has_news = false;
            if !std::mem::replace(&mut consumer.asleep, true) {
                self.sleepers.push(id);
            }
        }
    }

    /// Wakes all consumers that sleep.
    pub(super) fn tell_sleepers(&mut self) -> Vec<Listener> {
        let mut listeners = Vec::new();
        for id in std::mem::take(&mut self.sleepers) {
            if let Some(consumer) = self.consumers.get_mut(&id)
                && consumer.asleep
            {
                listeners.extend(consumer.tell());
            }
        }
        listeners
    }

    /// Ends all consumers, also those that come later.
    pub(super) fn break_off(&mut self, error: Error) -> Vec<Listener> {
        self.broken.get_or_insert(error);
        self.consumers.values_mut().filter_map(Waiting::tell).collect()
    }

    /// The budget of all consumers, and the share of each, in bytes.
    fn budget(&self, options: &SchedulerOptions) -> (u64, u64) {
        let open = self.consumers.len().max(1) as u64;
        let total = self.granted.within(options.budget_bytes).max(open * LEAST);
        (total, total / open)
    }

    /// The next step.
    pub(super) fn plan(&mut self, options: &SchedulerOptions) -> Option<Job> {
        if self.broken.is_some() {
            return None;
        }
        // Find what consumers will want before reading it, so that there are few reads.
        if let Some(job) = self.plan_finding() {
            return Some(Job::Find(job));
        }
        let read = self.plan_read(options);
        self.finding.append(&mut self.queue);
        read.map(Job::Read).or_else(|| self.plan_finding().map(Job::Find))
    }

    /// Whether there is a request that could be read now.
    pub(super) fn has_request(&self) -> bool {
        self.finding.is_empty() && self.files.values().any(|file| !file.busy && !file.sweep.is_empty())
    }

    fn plan_finding(&mut self) -> Option<FindJob> {
        while let Some(id) = self.finding.pop_front() {
            let Some(consumer) = self.consumers.get_mut(&id) else {
                continue;
            };
            consumer.queued = false;
            if let Some(finder) = consumer.finder.take() {
                return Some(FindJob {
                    consumer: id,
                    finder,
                    count: std::mem::take(&mut consumer.missing),
                    dictionary: consumer.missing_dictionary.take(),
                });
            }
        }
        None
    }

    /// The next read, with its bytes reserved. The files that are not busy take turns.
    pub(super) fn plan_read(&mut self, options: &SchedulerOptions) -> Option<ReadJob> {
        let (total, share) = self.budget(options);
        let mut is_first = true;
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
                is_short: false,
            };
            let head = file.sweep.head();
            let read = file
                .sweep
                .next_read(options.gap_bytes, options.read_bytes, |id, extent| {
                    budget.admit(id, extent)
                });
            let reclaimed = std::mem::take(&mut budget.reclaimed);
            // Without a request nothing is known of what the next one needs.
            self.granted.is_short = budget.is_short || (self.granted.is_short && !is_first);
            is_first = false;
            let job = read.map(|read| {
                file.busy = true;
                self.figures.count(&read, head);
                let mut buffer = || {
                    self.buffers
                        .pop()
                        .unwrap_or_else(|| ReadBuffer::new(options.memory_budget.clone()))
                };
                ReadJob {
                    file: number,
                    opened: file.opened.clone(),
                    buffer: if read.parts.len() > 1 {
                        buffer()
                    } else {
                        ReadBuffer::default()
                    },
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

    /// Puts the first request of a consumer into the sweep, and removes the one that was there at offset `before`.
    pub(super) fn ask_again(&mut self, id: u64, before: Option<u64>) {
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

    /// Notes that the read of a file is done. The file is forgotten when no consumer reads it.
    pub(super) fn set_free(&mut self, number: usize) {
        if let Some(file) = self.files.get_mut(&number) {
            file.busy = false;
        }
        self.forget_file(number);
    }
}
