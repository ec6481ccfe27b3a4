//! How a hybrid store works.

use super::memory::HybridMemory;
use crate::reader::ReaderOptions;
use crate::writer::Executor;
use std::sync::Arc;
use std::time::Duration;

/// What the files of a hybrid store keep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HybridMode {
    /// All of the output, whether it was consumed or not (HYB-4): it can be read again, and by several consumers.
    Full,
    /// Only what memory had no room for before it was consumed (HYB-5). Each partition is read once.
    Selective,
}

/// How a hybrid store works, besides the options of its writer.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct HybridOptions {
    /// The memory that the store shares with others.
    pub memory: HybridMemory,
    /// What the files keep.
    pub mode: HybridMode,
    /// The threads that write what leaves the memory; they may block. No producer should use them: it may wait for work
    /// that has not begun. Without them, the call that committed a region writes it. A store has at most one piece of work
    /// at a time. If the executor drops it, the store fails.
    pub executor: Option<Arc<dyn Executor>>,
    /// The time after which a region ends for a consumer that waits, even if it is small (HYB-7); default 10 ms. The
    /// producer looks at the clock when it writes: while it does not, nothing ends.
    pub delay: Duration,
    /// How consumers read.
    pub reader: ReaderOptions,
}

impl HybridOptions {
    /// The default options.
    pub fn new(memory: HybridMemory, mode: HybridMode) -> Self {
        HybridOptions {
            memory,
            mode,
            executor: None,
            delay: Duration::from_millis(10),
            reader: ReaderOptions::default(),
        }
    }

    /// Sets `executor`.
    #[must_use]
    pub fn executor(mut self, executor: Arc<dyn Executor>) -> Self {
        self.executor = Some(executor);
        self
    }

    /// Sets `delay`.
    #[must_use]
    pub fn delay(mut self, delay: Duration) -> Self {
        self.delay = delay;
        self
    }

    /// Sets `reader`.
    #[must_use]
    pub fn reader(mut self, reader: ReaderOptions) -> Self {
        self.reader = reader;
        self
    }
}
