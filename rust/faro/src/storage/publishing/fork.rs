//! Whether this process is the one that made a thing, or a copy of it that was forked (spec, WRT-11).

#![allow(unsafe_code)]

use std::sync::Once;
use std::sync::atomic::{AtomicU32, Ordering};

/// How many forks lie between this process and its oldest ancestor that runs this library.
static FORKS: AtomicU32 = AtomicU32::new(0);
static WATCH: Once = Once::new();

#[cfg(unix)]
extern "C" fn in_child() {
    FORKS.fetch_add(1, Ordering::Relaxed);
}

/// The process that something was made in. Asking costs one load, so it can be asked with each record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Birth(u32);

impl Birth {
    /// In this process.
    pub(crate) fn here() -> Birth {
        WATCH.call_once(|| {
            #[cfg(unix)]
            // SAFETY: the handler takes no lock, allocates nothing and does not unwind: it adds to an atomic.
            unsafe {
                // It fails for want of memory only; forks are not noticed then.
                libc::pthread_atfork(None, None, Some(in_child));
            }
        });
        Birth(FORKS.load(Ordering::Relaxed))
    }

    /// Whether this is still that process.
    #[inline(always)]
    pub(crate) fn is_here(self) -> bool {
        FORKS.load(Ordering::Relaxed) == self.0
    }
}
