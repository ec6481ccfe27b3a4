//! When the scheduler asks the engine's budget, and what it gives back.

use super::SchedulerOptions;
use super::granted::Freed;
use super::guard::{Payload, caught_alone};
use super::options::LEAST;
use super::shared::Shared;
use super::state::State;
use crate::limits::Grants;

/// What a step asks for, for each consumer, if that is more than a read. Smaller shares cut requests into many reads.
const SHARE: u64 = 64 << 10;

impl State {
    /// How much to ask for before the next read: nothing if the last one needed no more, if no file has a request, or if
    /// another thread is asking.
    pub(super) fn missing(&self, options: &SchedulerOptions) -> Option<u64> {
        let granted = &self.granted;
        let most = options.budget_bytes.saturating_sub(granted.grants.held());
        if !granted.grants.has_budget() || !granted.is_short || granted.asking || most == 0 {
            return None;
        }
        let wanted = options.read_bytes.max(self.consumers.len() as u64 * SHARE);
        self.has_request().then(|| wanted.min(granted.chunk).min(most))
    }

    /// Adds what was granted for the least share of a new consumer. If nothing was, the consumers that read ahead have to
    /// spare it. Returns whether the new one has its share.
    pub(super) fn add_least(&mut self, least: Grants) -> bool {
        let granted = &mut self.granted;
        granted.grants.merge(least);
        // The shares of the others are smaller now.
        granted.is_short = true;
        let open = self.consumers.len() as u64 + 1;
        !granted.grants.has_budget() || granted.grants.held() >= open * LEAST
    }

    /// Takes out what is granted beyond the bytes that are held and the least share of each consumer, and the buffers
    /// when there is no consumer.
    pub(super) fn free(&mut self) -> Freed {
        if !self.granted.grants.has_budget() {
            return Freed::default();
        }
        let open = self.consumers.len() as u64;
        let least = self.figures.held_bytes.max(open * LEAST);
        self.granted.is_short = true;
        let buffers = match open {
            0 => std::mem::take(&mut self.buffers),
            _ => Vec::new(),
        };
        Freed::new(buffers, self.granted.grants.split_off(least))
    }
}

impl Shared {
    /// Asks for the least share of a new consumer.
    pub(super) fn ask_least(&self) -> Grants {
        let mut least = Grants::new(self.options.memory_budget.clone());
        if self.options.memory_budget.is_some() && !least.try_grow(LEAST) {
            // Buffers that no read uses make room.
            let idle = std::mem::take(&mut self.lock().buffers);
            if !idle.is_empty() {
                drop(idle);
                least.try_grow(LEAST);
            }
        }
        least
    }

    /// Asks the budget once for more memory, if the next read can use it. A refusal changes nothing: another step asks
    /// again. Returns the panic of the budget.
    pub(super) fn grow(&self) -> Option<Payload> {
        self.options.memory_budget.as_ref()?;
        let bytes = {
            let mut state = self.lock();
            let bytes = state.missing(&self.options)?;
            state.granted.asking = true;
            bytes
        };
        let mut more = Grants::new(self.options.memory_budget.clone());
        let asked = caught_alone(|| {
            more.try_grow(bytes);
        });
        let mut state = self.lock();
        let granted = &mut state.granted;
        granted.asking = false;
        granted.chunk = match more.held() {
            0 => (bytes / 4).max(LEAST),
            _ => granted.chunk.saturating_mul(2),
        };
        if state.consumers.is_empty() {
            // All of them were closed meanwhile.
            drop(state);
            return caught_alone(|| drop(more)).and(asked).err();
        }
        let is_granted = more.held() > 0;
        state.granted.grants.merge(more);
        drop(state);
        if is_granted {
            // Another thread may read now, too. After a refusal it would ask, and so wake this one again.
            self.notify();
        }
        asked.err()
    }
}
