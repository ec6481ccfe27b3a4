//! Tells a process from a forked copy of it (spec, WRT-11).

#![allow(unsafe_code)]

use std::sync::Once;
use std::sync::atomic::{AtomicU32, Ordering};

/// The number of forks from the first process that used this library to this process.
static FORKS: AtomicU32 = AtomicU32::new(0);
static WATCH: Once = Once::new();

#[cfg(unix)]
extern "C" fn in_child() {
    FORKS.fetch_add(1, Ordering::Relaxed);
}

/// The process in which something was created. Checking it takes one load, so it can be done for each record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Birth(u32);

impl Birth {
    /// The current process.
    pub(crate) fn here() -> Birth {
        WATCH.call_once(|| {
            #[cfg(unix)]
            // SAFETY: the handler only increments an atomic: it takes no lock, allocates nothing and does not unwind.
            unsafe {
                // It fails only when there is no memory; then forks go unnoticed.
                libc::pthread_atfork(None, None, Some(in_child));
            }
        });
        Birth(FORKS.load(Ordering::Relaxed))
    }

    /// Whether the current process is still that process.
    #[inline(always)]
    pub(crate) fn is_here(self) -> bool {
        FORKS.load(Ordering::Relaxed) == self.0
    }
}
