//! Writing what is to leave the memory, a region at a time, in the threads of the caller.

use super::full_files::FullFiles;
use super::image::Image;
use super::memory::Spills;
use super::selective_files::SelectiveFiles;
use crate::error::{Error, Result};
use crate::writer::Executor;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

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
}

/// A piece of work, which the executor runs or drops.
struct Work {
    spiller: Option<Arc<Spiller>>,
}

impl Work {
    fn run(mut self) {
        if let Some(spiller) = self.spiller.take() {
            spiller.run();
        }
    }
}

impl Drop for Work {
    fn drop(&mut self) {
        if let Some(spiller) = self.spiller.take() {
            let dropped = std::io::Error::other("the executor dropped the work");
            spiller.image.fail(Error::io("spill", Path::new(""), None, dropped));
            spiller.done();
            spiller.image.tell();
        }
    }
}

impl Spills for Spiller {
    fn spill(self: Arc<Self>) {
        let begins = self.image.with(|state, counts| {
            let begins = !std::mem::replace(&mut state.busy, true);
            counts.spills += usize::from(begins);
            begins
        });
        if !begins {
            return;
        }
        let executor = self.executor.clone();
        let work = Work { spiller: Some(self) };
        match executor {
            Some(executor) => executor.execute(Box::new(move || work.run())),
            None => work.run(),
        }
    }
}

impl Spiller {
    pub(super) fn new(image: Arc<Image>, files: SpillFiles, executor: Option<Arc<dyn Executor>>) -> Self {
        Spiller {
            image,
            files: Mutex::new(files),
            executor,
        }
    }

    pub(super) fn files(&self) -> MutexGuard<'_, SpillFiles> {
        self.files.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn run(&self) {
        // The next region, or the end of the work, in one step: what is given up meanwhile is not overlooked.
        let next = || {
            self.image.with(|state, counts| {
                let number = state.take();
                if number.is_none() {
                    state.busy = false;
                    counts.spills -= 1;
                }
                number
            })
        };
        while let Some(number) = next() {
            if let Err(error) = self.write(number) {
                self.image.fail(error);
                self.done();
                self.image.tell();
                return;
            }
        }
    }

    fn done(&self) {
        self.image.with(|state, counts| {
            state.busy = false;
            counts.spills -= 1;
        });
    }

    fn write(&self, number: usize) -> Result<()> {
        match &mut *self.files() {
            SpillFiles::Full(files) => files.write(&self.image, number),
            SpillFiles::Selective(files) => files.write(&self.image, number),
        }
    }

    /// Waits until no thread writes, and keeps others from it.
    pub(super) fn stop(&self) {
        let memory = &self.image.memory;
        let mut ledger = memory.lock();
        loop {
            let (state, _) = ledger.image(self.image.number);
            if !std::mem::replace(&mut state.busy, true) {
                return;
            }
            ledger = memory.wait(ledger);
        }
    }

    /// Lets spills begin again, after [`Spiller::stop`].
    pub(super) fn resume(&self) {
        self.image.with(|state, _| state.busy = false);
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
