//! What the scheduler holds of the engine's budget.

use super::SchedulerOptions;
use super::read_buffer::ReadBuffer;
use crate::limits::Grants;
use crate::reader::Opened;
use std::sync::Arc;

/// What the budget has granted for bytes that are read and not taken. Without a budget nothing of this is used.
#[derive(Default)]
pub(super) struct Granted {
    pub grants: Grants,
    /// Whether the last planning could have read more with more memory.
    pub is_short: bool,
    /// Whether a thread is asking the budget.
    pub asking: bool,
    /// The most that the next step asks for: less after a refusal, and more after a grant.
    pub chunk: u64,
}

impl Granted {
    pub(super) fn new(options: &SchedulerOptions) -> Self {
        Granted {
            grants: Grants::new(options.memory_budget.clone()),
            chunk: u64::MAX,
            ..Granted::default()
        }
    }

    /// The part of `budget_bytes` that may be used.
    pub(super) fn within(&self, budget_bytes: u64) -> u64 {
        match self.grants.has_budget() {
            true => self.grants.held().min(budget_bytes),
            false => budget_bytes,
        }
    }
}

/// Memory that is free, and grants for it. It is dropped without the lock, since that calls the engine's budget. The end
/// of the last handle of an output does, too.
#[derive(Default)]
#[must_use]
pub(super) struct Freed {
    _buffers: Vec<ReadBuffer>,
    _grants: Grants,
    pub outputs: Vec<Arc<Opened>>,
}

impl Freed {
    pub(super) fn new(buffers: Vec<ReadBuffer>, grants: Grants) -> Self {
        Freed {
            _buffers: buffers,
            _grants: grants,
            outputs: Vec::new(),
        }
    }
}
