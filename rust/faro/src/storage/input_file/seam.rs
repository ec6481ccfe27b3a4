//! Where tests observe reads and allocations, and make them fail.

use super::FileRole;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

/// An operation that is about to happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Call {
    /// A read of this many bytes from a file of this role.
    Read(FileRole, usize),
    /// An allocation of this many bytes.
    Memory(usize),
}

/// What the operation is to do. A hook may also panic.
#[derive(Debug)]
pub(crate) enum Verdict {
    /// Proceed.
    Go,
    /// Fail with this error.
    Refused(io::Error),
    /// Read at most this many bytes.
    Short(usize),
}

pub(crate) type Hook = Arc<dyn Fn(Call) -> Verdict + Send + Sync>;

/// The hook that a test has set, if any.
#[derive(Default)]
pub(crate) struct Seam(Mutex<Option<Hook>>);

impl Seam {
    pub(crate) fn set(&self, hook: Option<Hook>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = hook;
    }

    /// Calls the hook without holding the lock, so that the hook may wait, panic, or set another hook.
    pub(super) fn ask(&self, call: Call) -> Verdict {
        let hook = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        hook.map_or(Verdict::Go, |hook| hook(call))
    }
}

impl std::fmt::Debug for Seam {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Seam")
    }
}
