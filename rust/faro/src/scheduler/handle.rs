//! What an engine has of it: making it, opening consumers, steps by hand, and its end.

use super::figures::Figures;
use super::guard::{caught_alone, drop_payload};
use super::shared::Shared;
use super::sync::{Arc, Builder, JoinHandle, current};
use super::{Consumer, SchedulerOptions};
use crate::error::{Code, Error, Result};
use crate::reader::Reader;
use std::io;
use std::ops::Range;

/// Reads for many consumers. Without threads of its own ([`Scheduler::new`]) it reads when [`Scheduler::serve`] is
/// called, by an executor of the caller's, or in a consumer that is waited for.
pub struct Scheduler {
    pub(super) shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
}

/// What a thread of the scheduler's own does.
type Work = Box<dyn FnOnce() + Send>;

impl Scheduler {
    /// A scheduler without threads of its own.
    ///
    /// # Errors
    /// `invalid-argument` for sizes that [`SchedulerOptions`] does not allow.
    pub fn new(options: SchedulerOptions) -> Result<Self> {
        options.check()?;
        Ok(Scheduler {
            shared: Arc::new(Shared::new(options, false)),
            threads: Vec::new(),
        })
    }

    /// A scheduler that reads in `threads` threads of its own, at least one, until it is dropped: one file at a time
    /// each.
    ///
    /// # Errors
    /// `invalid-argument` for sizes that [`SchedulerOptions`] does not allow; `io` when the system makes no thread.
    pub fn with_threads(options: SchedulerOptions, threads: usize) -> Result<Self> {
        Self::with_spawner(options, threads, |work| {
            Builder::new().name("faro-scheduler".into()).spawn(work)
        })
    }

    /// As [`Scheduler::with_threads`], with threads from wherever the caller says.
    pub(super) fn with_spawner(
        options: SchedulerOptions,
        threads: usize,
        mut spawn: impl FnMut(Work) -> io::Result<JoinHandle<()>>,
    ) -> Result<Self> {
        options.check()?;
        let mut scheduler = Scheduler {
            shared: Arc::new(Shared::new(options, true)),
            threads: Vec::new(),
        };
        for _ in 0..threads.max(1) {
            let shared = scheduler.shared.clone();
            // Those that were made before one that cannot be made end with the scheduler.
            let thread = spawn(Box::new(move || work(&shared))).map_err(|error| Error {
                source: Some(Arc::new(error)),
                ..Error::bare(Code::Io, "to make a thread", "an error of the system")
            })?;
            scheduler.threads.push(thread);
        }
        Ok(scheduler)
    }

    /// A consumer of a partition (PRT-1). Readers that were cloned from one share its handle. Nothing is read here.
    ///
    /// # Errors
    /// `invalid-argument` for a partition that the file does not have. The consumer gives the faults of PRT-3.
    pub fn partition(&self, reader: &Reader, partition: u32) -> Result<Consumer> {
        reader.output().check_partition(partition)?;
        self.range(reader, partition..partition + 1)
    }

    /// A consumer of a range of partitions, region by region (PRT-5). Nothing is read here.
    ///
    /// # Errors
    /// `invalid-argument` for partitions that the file does not have.
    pub fn range(&self, reader: &Reader, partitions: Range<u32>) -> Result<Consumer> {
        reader.output().check_partitions(&partitions)?;
        Ok(Consumer::new(self.shared.clone(), reader.output().clone(), partitions))
    }

    /// Makes one step, if any can be made: looks up extents of one consumer, or reads once, and hands out. Whether it did.
    /// Any number of threads may call this at once; listeners are called by the thread that made the step.
    ///
    /// Without threads of the scheduler's own, each `Pending` of [`Consumer::poll`] asks for one call of this. More do
    /// no harm. When it returns false, another thread makes a step, or no consumer waits.
    pub fn serve(&self) -> bool {
        self.shared.serve()
    }

    /// What was done so far.
    pub fn figures(&self) -> Figures {
        self.shared.lock().figures
    }
}

/// A thread of the scheduler's own ends with the scheduler, and with nothing else.
fn work(shared: &Shared) {
    while let Err(payload) = caught_alone(|| shared.work()) {
        drop_payload(payload);
    }
}

impl Drop for Scheduler {
    /// Ends the threads and waits for them, except in one of them (in a listener): then they end by themselves.
    /// Consumers that are left make the steps themselves, in [`Consumer::poll`] and as iterators.
    fn drop(&mut self) {
        self.shared.close();
        let me = current().id();
        if self.threads.iter().any(|thread| thread.thread().id() == me) {
            return;
        }
        for thread in self.threads.drain(..) {
            // No panic comes out of it.
            let _ = thread.join();
        }
    }
}
