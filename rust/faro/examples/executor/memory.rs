//! The memory of the engine, which its tasks share.

use faro::MemoryBudget;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Memory with a limit. Each of `tasks` tasks may always have its least; tasks that ask first get the rest. A writer
/// whose least covers its working memory and one step of its sort buffer always gets on: it spills when it is refused.
pub(crate) struct EngineMemory {
    limit: u64,
    least: u64,
    state: Mutex<State>,
}

struct State {
    held: u64,
    most_held: u64,
    /// What the tasks hold, and what is missing of the least of each.
    promised: u64,
}

impl EngineMemory {
    /// All sizes are in bytes; `spare` is what tasks may have beyond the least.
    pub(crate) fn new(tasks: u64, least: u64, spare: u64) -> Arc<EngineMemory> {
        Arc::new(EngineMemory {
            limit: tasks * least + spare,
            least,
            state: Mutex::new(State {
                held: 0,
                most_held: 0,
                promised: tasks * least,
            }),
        })
    }

    /// The budget of one more task; no more than `tasks` at a time.
    pub(crate) fn for_task(self: &Arc<Self>) -> Arc<TaskMemory> {
        Arc::new(TaskMemory {
            engine: self.clone(),
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

    /// What a task that holds `held` takes of the limit.
    fn promise(&self, held: u64) -> u64 {
        held.max(self.least)
    }
}

/// The budget of one task.
pub(crate) struct TaskMemory {
    engine: Arc<EngineMemory>,
    held: Mutex<u64>,
}

impl MemoryBudget for TaskMemory {
    fn try_grow(&self, bytes: u64) -> bool {
        let mut held = lock(&self.held);
        let mut state = lock(&self.engine.state);
        let promised = state.promised - self.engine.promise(*held) + self.engine.promise(*held + bytes);
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
        state.promised -= self.engine.promise(*held) - self.engine.promise(*held - bytes);
        state.held -= bytes;
        *held -= bytes;
    }
}

/// The numbers are changed together, so they are right even after a panic elsewhere.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
