//! The memory of the engine, which its tasks share.

use faro::MemoryBudget;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Memory with a limit. Each of `tasks` tasks that write may always have its least, and so may all reading together;
/// those that ask first get the rest. A writer whose least covers its working memory and one step of its sort buffer
/// always gets on: it spills when it is refused. Reading gets on with the least shares of the
/// consumers that are open; a reduce that is refused them starts later.
pub(crate) struct EngineMemory {
    limit: u64,
    task_least: u64,
    reading_least: u64,
    state: Mutex<State>,
}

struct State {
    held: u64,
    most_held: u64,
    /// What is held, and what is missing of the least of each.
    promised: u64,
}

impl EngineMemory {
    /// All sizes are in bytes; `spare` is left beyond the least.
    pub(crate) fn new(tasks: u64, task_least: u64, reading_least: u64, spare: u64) -> Arc<EngineMemory> {
        let promised = tasks * task_least + reading_least;
        Arc::new(EngineMemory {
            limit: promised + spare,
            task_least,
            reading_least,
            state: Mutex::new(State {
                held: 0,
                most_held: 0,
                promised,
            }),
        })
    }

    /// The budget of one more task that writes; no more than `tasks` at a time.
    pub(crate) fn for_task(self: &Arc<Self>) -> Arc<Share> {
        self.share(self.task_least)
    }

    /// The budget of all readers, their cache and their scheduler; one.
    pub(crate) fn for_reading(self: &Arc<Self>) -> Arc<Share> {
        self.share(self.reading_least)
    }

    fn share(self: &Arc<Self>, least: u64) -> Arc<Share> {
        Arc::new(Share {
            engine: self.clone(),
            least,
            held: Mutex::new(0),
        })
    }

    pub(crate) fn limit(&self) -> u64 {
        self.limit
    }

    pub(crate) fn held(&self) -> u64 {
        lock(&self.state).held
    }

    pub(crate) fn most_held(&self) -> u64 {
        lock(&self.state).most_held
    }
}

/// A budget that takes from the engine's memory.
pub(crate) struct Share {
    engine: Arc<EngineMemory>,
    least: u64,
    held: Mutex<u64>,
}

impl Share {
    /// What it takes of the limit when it holds `held`.
    fn promise(&self, held: u64) -> u64 {
        held.max(self.least)
    }
}

impl MemoryBudget for Share {
    fn try_grow(&self, bytes: u64) -> bool {
        let mut held = lock(&self.held);
        let mut state = lock(&self.engine.state);
        let promised = state.promised - self.promise(*held) + self.promise(*held + bytes);
        if promised > self.engine.limit {
            return false;
        }
        state.promised = promised;
        state.held += bytes;
        state.most_held = state.most_held.max(state.held);
        *held += bytes;
        true
    }

    fn shrink(&self, bytes: u64) {
        let mut held = lock(&self.held);
        let mut state = lock(&self.engine.state);
        state.promised -= self.promise(*held) - self.promise(*held - bytes);
        state.held -= bytes;
        *held -= bytes;
    }
}

/// The numbers are changed together, so they are right even after a panic elsewhere.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
