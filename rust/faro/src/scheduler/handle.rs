//! The handle of an engine: creates the scheduler, opens consumers, makes steps, and ends it.

use super::figures::SchedulerFigures;
use super::guard::{caught_alone, drop_payload};
use super::shared::Shared;
use super::sync::{Arc, Builder, JoinHandle, current};
use super::{Consumer, SchedulerOptions};
use crate::error::{Error, ErrorCode, Result};
use crate::reader::Reader;
use std::io;
use std::ops::Range;

/// Reads for many consumers. Without threads ([`Scheduler::new`]) it reads when the caller calls [`Scheduler::serve`],
/// or in a consumer that is used as an iterator.
pub struct Scheduler {
    pub(super) shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
}

/// The work of a thread of the scheduler.
type Work = Box<dyn FnOnce() + Send>;

impl Scheduler {
    /// A scheduler without threads.
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

    /// A scheduler with `threads` threads, at least one, until it is dropped. Each reads one file at a time.
    ///
    /// # Errors
    /// `invalid-argument` for sizes that [`SchedulerOptions`] does not allow; `io` when the system cannot create a
    /// thread.
    pub fn with_threads(options: SchedulerOptions, threads: usize) -> Result<Self> {
        Self::with_spawner(options, threads, |work| {
            Builder::new().name("faro-scheduler".into()).spawn(work)
        })
    }

    /// As [`Scheduler::with_threads`], with threads that `spawn` creates.
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
            // If a thread cannot be created, the ones before it end with the scheduler.
            let thread = spawn(Box::new(move || work(&shared))).map_err(|error| Error {
                source: Some(Arc::new(error)),
                ..Error::bare(ErrorCode::Io, "to make a thread", "an error of the system")
            })?;
            scheduler.threads.push(thread);
        }
        Ok(scheduler)
    }

    /// Opens a consumer of a partition (PRT-1). It reads nothing yet. Clones of a reader share one queue of reads.
    ///
    /// # Errors
    /// `invalid-argument` for a partition that the file does not have; `io` when the budget refuses the least share of a
    /// consumer, 4 KiB. The consumer returns the faults of PRT-3.
    pub fn partition(&self, reader: &Reader, partition: u32) -> Result<Consumer> {
        reader.output().check_partition(partition)?;
        self.range(reader, partition..partition + 1)
    }

    /// Opens a consumer of a range of partitions, region by region (PRT-5). It reads nothing yet.
    ///
    /// # Errors
    /// `invalid-argument` for partitions that the file does not have; `io` when the budget refuses the least share of a
    /// consumer, 4 KiB.
    pub fn range(&self, reader: &Reader, partitions: Range<u32>) -> Result<Consumer> {
        reader.output().check_partitions(&partitions)?;
        Consumer::new(self.shared.clone(), reader.output().clone(), partitions, None)
    }

    /// Makes one step, if one can be made: it finds extents for one consumer, or does one read, and hands out the
    /// result. Returns whether it made a step. Any number of threads may call this at once. The thread that makes a
    /// step calls its listeners.
    ///
    /// If the scheduler has no threads, call this once for each `Pending` of [`Consumer::poll`]. More calls do no harm.
    /// When it returns false, another thread is making a step, or no consumer waits.
    pub fn serve(&self) -> bool {
        self.shared.serve()
    }

    /// What the scheduler has done so far.
    pub fn figures(&self) -> SchedulerFigures {
        self.shared.figures()
    }
}

/// A thread of the scheduler ends only with the scheduler.
fn work(shared: &Shared) {
    while let Err(payload) = caught_alone(|| shared.work()) {
        drop_payload(payload);
    }
}

impl Drop for Scheduler {
    /// Ends the threads and waits for them. In one of the threads, that is in a listener, it does not wait. The
    /// consumers that are left make the steps themselves, in [`Consumer::poll`] and as iterators.
    fn drop(&mut self) {
        self.shared.close();
        let me = current().id();
        if self.threads.iter().any(|thread| thread.thread().id() == me) {
            return;
        }
        for thread in self.threads.drain(..) {
            // The thread catches all panics.
            let _ = thread.join();
        }
    }
}
