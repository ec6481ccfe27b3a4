//! What was read from a file.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Counts of requests. They order nothing, and what one thread sees of another's may be late.
#[derive(Debug, Default)]
pub(crate) struct ReadCalls {
    requests: AtomicU64,
    bytes: AtomicU64,
    nanoseconds: AtomicU64,
}

impl ReadCalls {
    /// Counts a request that began at `start`, and brought some bytes.
    pub(super) fn add(&self, start: Instant, bytes: usize) {
        // 584 years are enough.
        let nanoseconds = start.elapsed().as_nanos() as u64;
        self.requests.fetch_add(1, Ordering::Relaxed);
        self.bytes.fetch_add(bytes as u64, Ordering::Relaxed);
        self.nanoseconds.fetch_add(nanoseconds, Ordering::Relaxed);
    }

    pub(crate) fn requests(&self) -> u64 {
        self.requests.load(Ordering::Relaxed)
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    pub(crate) fn time(&self) -> Duration {
        Duration::from_nanos(self.nanoseconds.load(Ordering::Relaxed))
    }
}
