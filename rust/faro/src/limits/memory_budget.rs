//! The memory of an engine, from which writers, readers and schedulers ask for theirs.

use crate::error::{Error, ErrorCode};
use std::fmt;
use std::io::ErrorKind;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// An engine's budget of memory. What it is given to asks before it takes memory, and tells when it gives memory back,
/// both in bytes. After the end of its user, all that was granted is given back. What a writer holds is its `memory_used`.
///
/// A writer that is refused ends its region, or its call fails (docs/memory.md). A reader or scheduler goes on without
/// what only makes it faster: kept regions, windows, bytes that are read ahead. The call fails with `io` when a dictionary
/// is refused, or the least share of a consumer. Blocks that were delivered are the caller's, and are not asked for.
///
/// Both calls come from the threads that use the library, also several at a time, and never while the library holds a
/// lock. A call may take time, but must not wait until memory is free: the user that asks may hold it, and gives it back
/// only after a refusal. It may make other writers spill, with [`Writer::flush`](crate::Writer::flush) on their
/// threads; not the writer that asks, which is in the middle of a call, and spills by itself when it is refused.
///
/// ```
/// use faro::{MemoryBudget, Writer, WriterOptions};
/// use std::sync::Arc;
/// use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
///
/// /// So many bytes are left.
/// struct Left(AtomicU64);
///
/// impl MemoryBudget for Left {
///     fn try_grow(&self, bytes: u64) -> bool {
///         self.0.fetch_update(Relaxed, Relaxed, |left| left.checked_sub(bytes)).is_ok()
///     }
///     fn shrink(&self, bytes: u64) {
///         self.0.fetch_add(bytes, Relaxed);
///     }
/// }
///
/// # fn main() -> faro::Result<()> {
/// # let folder = tempfile::tempdir().unwrap();
/// # let name = folder.path().join("shuffle");
/// let left = Arc::new(Left(AtomicU64::new(100 << 20)));
/// let mut writer = Writer::create(&name, WriterOptions::new(4).memory_budget(left.clone()))?;
/// writer.write(2, b"a record")?;
/// assert_eq!(left.0.load(Relaxed) + writer.memory_used(), 100 << 20);
/// writer.finish()?;
/// assert_eq!(left.0.load(Relaxed), 100 << 20);
/// # Ok(()) }
/// ```
pub trait MemoryBudget: Send + Sync {
    /// Grants `bytes` more, or refuses and returns false. It is called before the memory is taken.
    fn try_grow(&self, bytes: u64) -> bool;

    /// Takes back `bytes` that were granted. The memory is free already.
    fn shrink(&self, bytes: u64);
}

/// Options show whether they have a budget.
impl fmt::Debug for dyn MemoryBudget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("MemoryBudget")
    }
}

/// An engine's budget whose refusals to one user are counted.
#[derive(Debug)]
pub(crate) struct CountedBudget {
    budget: Arc<dyn MemoryBudget>,
    refusals: AtomicU64,
}

impl CountedBudget {
    /// Puts the counter in the place of the budget; none if there is no budget.
    pub(crate) fn wrap(budget: &mut Option<Arc<dyn MemoryBudget>>) -> Option<Arc<CountedBudget>> {
        let counted = Arc::new(CountedBudget {
            budget: budget.take()?,
            refusals: AtomicU64::new(0),
        });
        *budget = Some(counted.clone());
        Some(counted)
    }

    /// How often a budget refused; 0 if there is none.
    pub(crate) fn refusals(counted: Option<&Arc<CountedBudget>>) -> u64 {
        counted.map_or(0, |budget| budget.refusals.load(Ordering::Relaxed))
    }
}

impl MemoryBudget for CountedBudget {
    fn try_grow(&self, bytes: u64) -> bool {
        let granted = self.budget.try_grow(bytes);
        if !granted {
            self.refusals.fetch_add(1, Ordering::Relaxed);
        }
        granted
    }

    fn shrink(&self, bytes: u64) {
        self.budget.shrink(bytes);
    }
}

/// What one user holds of a budget. Without a budget, all is granted, and counted all the same. Dropping it gives all
/// back.
#[derive(Debug, Default)]
pub(crate) struct Grants {
    budget: Option<Arc<dyn MemoryBudget>>,
    held: u64,
}

impl Grants {
    pub(crate) fn new(budget: Option<Arc<dyn MemoryBudget>>) -> Grants {
        Grants { budget, held: 0 }
    }

    /// Asks for `bytes` more.
    pub(crate) fn try_grow(&mut self, bytes: u64) -> bool {
        let granted = self.budget.as_ref().is_none_or(|budget| budget.try_grow(bytes));
        if granted {
            self.held += bytes;
        }
        granted
    }

    /// Gives back what is held beyond `bytes`.
    pub(crate) fn shrink_to(&mut self, bytes: u64) {
        let rest = self.held.saturating_sub(bytes);
        if rest > 0 {
            // Before the call, which may panic: nothing is given back twice.
            self.held -= rest;
            if let Some(budget) = &self.budget {
                budget.shrink(rest);
            }
        }
    }

    /// Adds what another one holds of the same budget. Nothing is called, so it may be done under a lock.
    pub(crate) fn merge(&mut self, mut other: Grants) {
        self.held += std::mem::take(&mut other.held);
    }

    /// Takes out what is held beyond `bytes`. The caller drops it, when it holds no lock.
    #[must_use]
    pub(crate) fn split_off(&mut self, bytes: u64) -> Grants {
        let rest = self.held.saturating_sub(bytes);
        self.held -= rest;
        Grants {
            budget: self.budget.clone(),
            held: rest,
        }
    }

    /// Whether there is a budget.
    pub(crate) fn has_budget(&self) -> bool {
        self.budget.is_some()
    }

    /// The bytes that are held.
    pub(crate) fn held(&self) -> u64 {
        self.held
    }

    /// Forgets the budget, in a process that is a copy of its user's.
    pub(crate) fn forget(&mut self) {
        self.budget = None;
    }
}

impl Drop for Grants {
    fn drop(&mut self) {
        self.shrink_to(0);
    }
}

/// The refusal of what is indispensable. The call may be repeated.
pub(crate) fn out_of_memory(bytes: u64) -> Error {
    Error {
        source: Some(Arc::new(ErrorKind::OutOfMemory.into())),
        ..Error::bare(
            ErrorCode::Io,
            format!("{bytes} bytes of memory (memory_budget)"),
            "the budget refused them",
        )
    }
}
