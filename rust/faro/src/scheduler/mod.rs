//! Few, long reads in the order of the file for many consumers at once (docs/scheduler.md).
//!
//! ```
//! use faro::scheduler::{Scheduler, SchedulerOptions};
//! # fn main() -> faro::Result<()> {
//! # let folder = tempfile::tempdir().unwrap();
//! # let name = folder.path().join("shuffle");
//! # let mut writer = faro::Writer::create(&name, faro::WriterOptions::new(4))?;
//! # writer.write(2, b"a record")?;
//! # writer.write(1, b"another")?;
//! # writer.finish()?;
//! let reader = faro::Reader::open(&faro::Files::locate(&name)?, faro::ReaderOptions::default())?;
//! let scheduler = Scheduler::with_threads(SchedulerOptions::default(), 1)?;
//! let consumers = [scheduler.partition(&reader, 1)?, scheduler.partition(&reader, 2)?];
//! let sizes = consumers.map(|consumer| consumer.map(|block| block.unwrap().payload.len()).sum::<usize>());
//! assert_eq!(sizes, [11, 12]);
//! # Ok(()) }
//! ```

mod consumer;
mod state;
#[cfg(test)]
mod tests;

pub use consumer::Consumer;
pub use state::Figures;

use crate::error::{Error, Result};
use crate::reader::Reader;
use bytes::Bytes;
use state::{Job, Outcome, State};
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

/// How a scheduler reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchedulerOptions {
    /// Most bytes between two requests that become one read.
    pub gap_bytes: u64,
    /// Most bytes of a read.
    pub read_bytes: u64,
    /// Most bytes, of all consumers together, that are read and not taken; never less than 4 KiB for each. Besides, each thread that reads has a buffer of
    /// `read_bytes`, and each consumer what it took and works on: a block, and what came along with it.
    pub budget_bytes: u64,
}

impl Default for SchedulerOptions {
    fn default() -> Self {
        SchedulerOptions {
            gap_bytes: 64 << 10,
            read_bytes: 4 << 20,
            budget_bytes: 64 << 20,
        }
    }
}

/// Reads for many consumers. Without threads of its own ([`Scheduler::new`]) it reads when [`Scheduler::serve`] is
/// called, by an executor of the caller's, or in a consumer that has to wait.
pub struct Scheduler {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
}

/// What consumers and threads have in common.
struct Shared {
    options: SchedulerOptions,
    state: Mutex<State>,
    /// There may be something to read.
    work: Condvar,
    /// What reads are done into, of those who read and do not read now.
    buffers: Mutex<Vec<Vec<u8>>>,
    has_threads: bool,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        // What a panic elsewhere left is whole: it is only ever changed by its own methods.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// One read, if any can be done.
    fn serve(&self) -> bool {
        let Some(job) = self.lock().plan(&self.options) else {
            return false;
        };
        if let Err(panic) = self.execute(&job) {
            resume_unwind(panic);
        }
        true
    }

    /// Reads what was planned, and hands it out. An error is the panic of a listener: the others were told all the same.
    fn execute(&self, job: &Job) -> std::thread::Result<()> {
        // A new one each time would be given back to the system and taken again.
        let buffers = || self.buffers.lock().unwrap_or_else(PoisonError::into_inner);
        let mut buffer = buffers().pop().unwrap_or_default();
        let outcome = read(job, &mut buffer);
        buffers().push(buffer);
        let listeners = self.lock().deliver(job, outcome);
        self.work.notify_one();
        let mut told = Ok(());
        for listener in listeners {
            // All of them, whatever one of them does.
            told = told.and(catch_unwind(AssertUnwindSafe(|| listener())));
        }
        told
    }

    /// What a thread of the scheduler's own does.
    fn work(&self) {
        let mut state = self.lock();
        while !state.closed {
            match state.plan(&self.options) {
                None => state = self.work.wait(state).unwrap_or_else(PoisonError::into_inner),
                Some(job) => {
                    drop(state);
                    // The panic of a listener has been printed; who waits for this thread has nothing to do with it.
                    let _ = self.execute(&job);
                    state = self.lock();
                }
            }
        }
    }
}

/// Reads what was planned, by way of a buffer. A read that is refused, or meets the end of a file that shrank, is the fault of those whose
/// bytes cannot be had alone either.
fn read(job: &Job, buffer: &mut Vec<u8>) -> Outcome {
    let source = job.core.files.data_source();
    let (read, parts) = (job.read.extent, &job.read.parts);
    let alone = |offset: u64, length: u64| source.read_vec(offset, length as usize).map(Bytes::from);
    if parts.len() == 1 {
        return vec![alone(read.offset, read.length)];
    }
    let length = read.length as usize;
    if buffer.len() < length {
        buffer.resize(length, 0);
    }
    let all = &mut buffer[..length];
    let got = source.read_up_to(read.offset, all).unwrap_or(0) as u64;
    let part = |part: &crate::plan::Part| {
        let from = part.extent.offset - read.offset;
        if from + part.extent.length <= got {
            // Copied, so that what somebody keeps does not keep what others let go of.
            return Ok(Bytes::copy_from_slice(
                &all[from as usize..(from + part.extent.length) as usize],
            ));
        }
        alone(part.extent.offset, part.extent.length)
    };
    parts.iter().map(part).collect()
}

impl Scheduler {
    /// A scheduler without threads of its own.
    pub fn new(options: SchedulerOptions) -> Self {
        Scheduler {
            shared: Self::shared(options, false),
            threads: Vec::new(),
        }
    }

    /// A scheduler that reads in `threads` threads of its own, at least one, until it is dropped: one file at a time
    /// each.
    ///
    /// # Errors
    /// `io` when the system makes no thread.
    pub fn with_threads(options: SchedulerOptions, threads: usize) -> Result<Self> {
        let mut scheduler = Scheduler {
            shared: Self::shared(options, true),
            threads: Vec::new(),
        };
        for _ in 0..threads.max(1) {
            let shared = scheduler.shared.clone();
            let thread = std::thread::Builder::new().name("faro-scheduler".into());
            let thread = thread.spawn(move || shared.work()).map_err(|error| Error {
                source: Some(Arc::new(error)),
                ..Error::bare(crate::Code::Io, "to make a thread", "an error of the system")
            })?;
            scheduler.threads.push(thread);
        }
        Ok(scheduler)
    }

    fn shared(options: SchedulerOptions, has_threads: bool) -> Arc<Shared> {
        Arc::new(Shared {
            options,
            state: Mutex::default(),
            work: Condvar::new(),
            buffers: Mutex::default(),
            has_threads,
        })
    }

    /// A consumer of a partition (PRT-1). Readers that were cloned from one share its handle.
    ///
    /// # Errors
    /// `invalid-argument` for a partition that the file does not have. The consumer gives the faults of PRT-3.
    pub fn partition(&self, reader: &Reader, partition: u32) -> Result<Consumer> {
        self.range(reader, partition..partition.saturating_add(1))
    }

    /// A consumer of a range of partitions, region by region (PRT-5).
    ///
    /// # Errors
    /// `invalid-argument` for partitions that the file does not have.
    pub fn range(&self, reader: &Reader, partitions: Range<u32>) -> Result<Consumer> {
        reader.view().check_partitions(&partitions)?;
        Ok(Consumer::new(self.shared.clone(), reader.view().clone(), partitions))
    }

    /// Does one read, if any can be done: chooses it, reads, hands out. Whether it did. Any number of threads may call
    /// this at once; listeners are called by the thread that read.
    pub fn serve(&self) -> bool {
        self.shared.serve()
    }

    /// What was done so far.
    pub fn figures(&self) -> Figures {
        self.shared.lock().figures
    }
}

impl Drop for Scheduler {
    /// Ends the threads. Consumers that are left read by themselves.
    fn drop(&mut self) {
        let mut state = self.shared.lock();
        state.closed = true;
        state.wake_all();
        drop(state);
        self.shared.work.notify_all();
        for thread in self.threads.drain(..) {
            // One that panicked has nothing to tell any more.
            let _ = thread.join();
        }
    }
}
