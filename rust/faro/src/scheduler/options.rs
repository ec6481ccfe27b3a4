//! The options of a scheduler.

use crate::error::{Error, Result};
use crate::limits::MemoryBudget;
use std::sync::Arc;

/// The least size of a read, of the budget, and of a consumer's share, in bytes.
pub(super) const LEAST: u64 = 4 << 10;

/// The options of a scheduler. Sizes are in bytes.
///
/// ```
/// use faro::scheduler::SchedulerOptions;
/// let options = SchedulerOptions::default().read_bytes(1 << 20).budget_bytes(16 << 20);
/// assert_eq!(options.gap_bytes, 64 << 10);
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SchedulerOptions {
    /// The largest gap between two requests that become one read, at most 2^30; 64 KiB by default.
    pub gap_bytes: u64,
    /// The largest read, 4,096 to 2^30; 4 MiB by default.
    pub read_bytes: u64,
    /// The most bytes that are read and not taken, for all consumers together, 4,096 to 2^40; 64 MiB by default. Each
    /// consumer has a share of at least 4 KiB, whatever the budget is. In addition, each thread that reads has a buffer
    /// of `read_bytes`, and each consumer has the bytes that it has taken: its block, and what was read with it.
    pub budget_bytes: u64,
    /// The engine's budget, which is asked for these bytes and buffers, up to `budget_bytes` and `read_bytes`; none by
    /// default. A refusal makes reads shorter, no more. Only the 4 KiB of a consumer that is opened must be granted.
    pub memory_budget: Option<Arc<dyn MemoryBudget>>,
}

impl Default for SchedulerOptions {
    fn default() -> Self {
        SchedulerOptions {
            gap_bytes: 64 << 10,
            read_bytes: 4 << 20,
            budget_bytes: 64 << 20,
            memory_budget: None,
        }
    }
}

impl SchedulerOptions {
    /// Sets `gap_bytes`.
    #[must_use]
    pub fn gap_bytes(mut self, gap_bytes: u64) -> Self {
        self.gap_bytes = gap_bytes;
        self
    }

    /// Sets `read_bytes`.
    #[must_use]
    pub fn read_bytes(mut self, read_bytes: u64) -> Self {
        self.read_bytes = read_bytes;
        self
    }

    /// Sets `budget_bytes`.
    #[must_use]
    pub fn budget_bytes(mut self, budget_bytes: u64) -> Self {
        self.budget_bytes = budget_bytes;
        self
    }

    /// Sets `memory_budget`.
    #[must_use]
    pub fn memory_budget(mut self, memory_budget: Arc<dyn MemoryBudget>) -> Self {
        self.memory_budget = Some(memory_budget);
        self
    }

    /// Refuses sizes out of range.
    pub(super) fn check(&self) -> Result<()> {
        let rules = [
            ("gap_bytes", self.gap_bytes, 0, 1 << 30),
            ("read_bytes", self.read_bytes, LEAST, 1 << 30),
            ("budget_bytes", self.budget_bytes, LEAST, 1 << 40),
        ];
        for (name, value, least, most) in rules {
            if !(least..=most).contains(&value) {
                return Err(Error::argument(
                    format!("{name} from {least} to {most}"),
                    value.to_string(),
                ));
            }
        }
        Ok(())
    }
}
