//! Where tests look on, and put failures in, when a file is read and memory is taken for it.

use super::Role;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

/// What is about to be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Call {
    /// A read of so many bytes from a file of this role.
    Read(Role, usize),
    /// So many bytes of memory are taken.
    Memory(usize),
}

/// What is to become of it. A hook may panic, too.
#[derive(Debug)]
pub(crate) enum Verdict {
    /// What is to be.
    Go,
    /// It is refused.
    Refused(io::Error),
    /// A read gets at most so many bytes.
    Short(usize),
}

pub(crate) type Hook = Arc<dyn Fn(Call) -> Verdict + Send + Sync>;

/// What a test set, if it did.
#[derive(Default)]
pub(crate) struct Seam(Mutex<Option<Hook>>);

impl Seam {
    pub(crate) fn set(&self, hook: Option<Hook>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = hook;
    }

    /// The hook is called without a lock, so that it may wait, panic, or set another.
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
