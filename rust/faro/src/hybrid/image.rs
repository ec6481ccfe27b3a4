//! The output that a store's writer writes (spec, HYB-1), for the threads that use it.

use super::image_file::{ImageFile, SharedFile, Which};
use super::image_state::{Available, Counts, HybridFigures, ImageState};
use super::memory::HybridMemory;
use super::sync::{Arc, AtomicBool, AtomicU64, Mutex, MutexGuard, Ordering};
use crate::error::{Error, FileRole, Result};
use crate::follow::Follower;
use crate::reader::ReaderOptions;
use crate::storage::{StoredFile, StoredOutput};
use std::fmt;
use std::path::PathBuf;
use std::sync::PoisonError;
use std::time::{Duration, Instant};

/// The files of an image, and what its threads tell each other.
pub(super) struct Image {
    pub memory: HybridMemory,
    pub number: u64,
    pub data: Arc<ImageFile>,
    pub index: Arc<ImageFile>,
    options: ReaderOptions,
    reader: Mutex<Option<Follower>>,
    /// Whether a consumer waits, and since when, in nanoseconds after `made`.
    waited_for: AtomicBool,
    waited_since: AtomicU64,
    made: Instant,
    /// Counts the regions and the ends, for the producer.
    commits: AtomicU64,
    /// Whether the store has failed, or was closed.
    unusable: AtomicBool,
}

impl fmt::Debug for Image {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Image")
            .field("number", &self.number)
            .finish_non_exhaustive()
    }
}

impl Image {
    pub(super) fn new(
        memory: HybridMemory,
        selective: bool,
        data: PathBuf,
        index: PathBuf,
        options: ReaderOptions,
    ) -> Self {
        let number = memory.add(ImageState::new(selective));
        Image {
            data: Arc::new(ImageFile::new(&memory, number, Which::Data, data)),
            index: Arc::new(ImageFile::new(&memory, number, Which::Index, index)),
            memory,
            number,
            options,
            reader: Mutex::default(),
            waited_for: AtomicBool::new(false),
            waited_since: AtomicU64::new(0),
            made: Instant::now(),
            commits: AtomicU64::new(0),
            unusable: AtomicBool::new(false),
        }
    }

    /// Looks at the state, or changes it, with the lock of the memory.
    pub(super) fn with<T>(&self, work: impl FnOnce(&mut ImageState, &mut Counts) -> T) -> T {
        let mut ledger = self.memory.lock();
        let (state, counts) = ledger.image(self.number);
        let done = work(state, counts);
        drop(ledger);
        self.memory.changed();
        done
    }

    pub(super) fn add_data(&self, bytes: &[u8]) {
        self.with(|state, _| state.add_data(bytes));
    }

    pub(super) fn add_index(&self, bytes: &[u8]) {
        self.with(|state, counts| {
            state.add_index(bytes, counts);
            self.waited_for.store(false, Ordering::Release);
        });
        self.commits.fetch_add(1, Ordering::Release);
    }

    pub(super) fn commits(&self) -> u64 {
        self.commits.load(Ordering::Acquire)
    }

    /// Waits for the next change; returns false if there was one already.
    pub(super) fn wait(&self, seen: u64, available: Option<&Available>) -> bool {
        self.with(|state, _| {
            let waits = state.wait(seen, available);
            if waits && !self.waited_for.load(Ordering::Acquire) {
                let now = u64::try_from(self.made.elapsed().as_nanos()).unwrap_or(u64::MAX);
                self.waited_since.store(now, Ordering::Release);
                self.waited_for.store(true, Ordering::Release);
            }
            waits
        })
    }

    /// How long a consumer has waited for the region that is open, if one waits.
    pub(super) fn waited_for(&self) -> Option<Duration> {
        self.waited_for.load(Ordering::Acquire).then(|| {
            let since = Duration::from_nanos(self.waited_since.load(Ordering::Acquire));
            self.made.elapsed().saturating_sub(since)
        })
    }

    /// Tells consumers that wait to look again. No lock is held.
    pub(super) fn tell(&self) {
        for available in self.with(|state, _| state.take_waiting()) {
            available();
        }
    }

    pub(super) fn fail(&self, cause: Error) {
        self.with(|state, counts| {
            state.fail(cause, counts);
            // In the lock: a consumer that misses bytes finds the cause.
            self.unusable.store(true, Ordering::Release);
        });
    }

    /// Gives up everything.
    pub(super) fn end(&self) {
        self.with(|state, counts| {
            state.end(counts);
            self.unusable.store(true, Ordering::Release);
        });
    }

    /// Refuses the use of a store that has failed or was closed.
    pub(super) fn check_usable(&self) -> Result<()> {
        match self.unusable.load(Ordering::Acquire) {
            true => self.with(|state, _| state.check_usable()),
            false => Ok(()),
        }
    }

    /// The reader of the committed regions, locked; none before the first.
    pub(super) fn reader(&self) -> Result<MutexGuard<'_, Option<Follower>>> {
        let mut reader = self.reader.lock().unwrap_or_else(PoisonError::into_inner);
        if reader.is_none() && self.with(|state, _| state.index.size > 0 && state.data.size > 0) {
            let data = SharedFile(Arc::clone(&self.data));
            let output = StoredOutput::paired(data, SharedFile(Arc::clone(&self.index)));
            *reader = Some(Follower::open_stored(output, self.options.clone())?);
        }
        Ok(reader)
    }

    /// Reads bytes of blocks.
    pub(super) fn read(&self, offset: u64, buffer: &mut [u8]) -> Result<()> {
        let file = SharedFile(Arc::clone(&self.data));
        let mut filled = 0;
        while filled < buffer.len() {
            let count = file.read_at(offset + filled as u64, &mut buffer[filled..]);
            match count {
                Ok(count) if count > 0 => filled += count,
                other => {
                    let error = other.err().unwrap_or_else(|| std::io::ErrorKind::UnexpectedEof.into());
                    return Err(Error::io("read the image", file.name(), Some(FileRole::Data), error));
                }
            }
        }
        Ok(())
    }

    pub(super) fn figures(&self) -> HybridFigures {
        let (from_memory, from_files) = self.data.read_bytes_so_far();
        HybridFigures {
            from_memory,
            from_files,
            ..self.with(|state, _| state.figures())
        }
    }
}

impl Drop for Image {
    fn drop(&mut self) {
        // The reader first: its files look into the state.
        *self.reader.get_mut().unwrap_or_else(PoisonError::into_inner) = None;
        self.end();
        self.memory.remove(self.number);
    }
}
