//! Writing what is to leave the memory, a region at a time, in the threads of the caller.

use super::full_files::FullFiles;
use super::image::Image;
use super::image_state::Work;
use super::memory::Spills;
use super::selective_files::SelectiveFiles;
use super::sync::{Arc, AtomicU64, Mutex, MutexGuard, Ordering};
use crate::error::{Error, Result};
use crate::writer::Executor;
use std::path::Path;
use std::sync::PoisonError;

/// The files of a store.
pub(super) enum SpillFiles {
    Full(Box<FullFiles>),
    Selective(Box<SelectiveFiles>),
}

pub(super) struct Spiller {
    pub image: Arc<Image>,
    /// One thread at a time writes: the one that has made the state busy.
    files: Mutex<SpillFiles>,
    executor: Option<Arc<dyn Executor>>,
    /// Counts the pieces of work.
    queued: AtomicU64,
    /// Tests make writes of regions fail with it.
    #[cfg(test)]
    pub refuses: std::sync::OnceLock<Box<dyn Fn() -> bool + Send + Sync>>,
}

/// A piece of work, which the executor runs or drops.
struct Task {
    spiller: Arc<Spiller>,
    number: u64,
}

impl Task {
    fn run(self) {
        self.spiller.run();
    }
}

impl Drop for Task {
    fn drop(&mut self) {
        let image = &self.spiller.image;
        let fails = image.with(|state, _| {
            let fails = state.work == Work::Queued(self.number);
            if fails {
                // It cannot be taken back any more: it is ended here.
                state.work = Work::Running;
            }
            fails
        });
        if fails {
            let dropped = std::io::Error::other("the executor dropped the work");
            image.fail(Error::io("spill", Path::new(""), None, dropped));
            self.spiller.done();
            image.tell();
        }
    }
}

impl Spills for Spiller {
    fn spill(self: Arc<Self>) {
        let number = self.queued.fetch_add(1, Ordering::Relaxed);
        let begins = self.image.with(|state, counts| {
            // What had been written before has left already.
            let begins = state.work == Work::None && state.has_to_write();
            if begins {
                state.work = Work::Queued(number);
                counts.spills += 1;
            }
            begins
        });
        if !begins {
            return;
        }
        let executor = self.executor.clone();
        let task = Task { spiller: self, number };
        match executor {
            Some(executor) => executor.execute(Box::new(move || task.run())),
            None => task.run(),
        }
    }
}

/// Makes the store fail if the writing of regions panics: otherwise callers would wait for its end for ever.
pub(super) struct Panics<'a>(&'a Spiller);

impl Panics<'_> {
    /// Nothing panicked.
    pub(super) fn not(self) {
        std::mem::forget(self);
    }
}

impl Drop for Panics<'_> {
    fn drop(&mut self) {
        let image = &self.0.image;
        let panicked = std::io::Error::other("it panicked");
        image.fail(Error::io("spill", Path::new(""), None, panicked));
        image.with(|state, counts| {
            counts.spills -= usize::from(state.work == Work::Running);
            state.work = Work::None;
        });
        image.tell();
    }
}

impl Spiller {
    pub(super) fn new(image: Arc<Image>, files: SpillFiles, executor: Option<Arc<dyn Executor>>) -> Self {
        Spiller {
            image,
            files: Mutex::new(files),
            executor,
            queued: AtomicU64::new(0),
            #[cfg(test)]
            refuses: std::sync::OnceLock::new(),
        }
    }

    pub(super) fn files(&self) -> MutexGuard<'_, SpillFiles> {
        self.files.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn run(&self) {
        let begins = self.image.with(|state, _| {
            let begins = matches!(state.work, Work::Queued(_));
            if begins {
                state.work = Work::Running;
            }
            begins
        });
        if !begins {
            return;
        }
        // The next region, or the end of the work, in one step: what is given up meanwhile is not overlooked.
        let next = || {
            self.image.with(|state, counts| {
                let number = state.take();
                if number.is_none() {
                    state.work = Work::None;
                    counts.spills -= 1;
                }
                number
            })
        };
        let panics = Panics(self);
        let mut written = Ok(());
        while let Some(number) = written.is_ok().then(next).flatten() {
            written = self.write(number);
        }
        panics.not();
        if let Err(error) = written {
            self.image.fail(error);
            self.done();
            self.image.tell();
        }
    }

    /// Makes the store fail if what follows panics, until [`Panics::not`].
    pub(super) fn panics(&self) -> Panics<'_> {
        Panics(self)
    }

    fn done(&self) {
        self.image.with(|state, counts| {
            state.work = Work::None;
            counts.spills -= 1;
        });
    }

    fn write(&self, number: usize) -> Result<()> {
        #[cfg(test)]
        if self.refuses.get().is_some_and(|refuses| refuses()) {
            let refused = std::io::Error::other("a test refused it");
            return Err(Error::io("spill", Path::new(""), None, refused));
        }
        match &mut *self.files() {
            SpillFiles::Full(files) => files.write(&self.image, number),
            SpillFiles::Selective(files) => files.write(&self.image, number),
        }
    }

    /// Takes back work that has not begun, waits for work that has, and begins none until [`Spiller::resume`].
    pub(super) fn stop(&self) {
        let memory = &self.image.memory;
        let mut ledger = memory.lock();
        loop {
            let (state, counts) = ledger.image(self.image.number);
            match state.work {
                Work::None => break,
                Work::Queued(_) => {
                    counts.spills -= 1;
                    break;
                }
                Work::Running | Work::Stopped => ledger = memory.wait(ledger),
            }
        }
        ledger.image(self.image.number).0.work = Work::Stopped;
        drop(ledger);
        memory.changed();
    }

    /// Lets spills begin again, after [`Spiller::stop`].
    pub(super) fn resume(&self) {
        self.image.with(|state, _| state.work = Work::None);
    }

    /// Writes all regions that were not written yet, in this thread, after [`Spiller::stop`].
    pub(super) fn write_all(&self) -> Result<()> {
        let next = || {
            self.image.with(|state, _| {
                state.want_all();
                state.take()
            })
        };
        while let Some(number) = next() {
            self.write(number)?;
        }
        Ok(())
    }
}
