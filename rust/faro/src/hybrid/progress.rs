//! How far the partitions of a selective store were read.

use std::sync::atomic::{AtomicU64, Ordering};

/// How far a partition was read. Its consumer writes it, and spills read it at any time: what is old is only less.
#[derive(Debug, Default)]
pub(super) struct Progress {
    /// The region that is being read; all before it were.
    region: AtomicU64,
    /// The sequences after the last own and the last shared block that were delivered.
    own: AtomicU64,
    shared: AtomicU64,
}

impl Progress {
    pub(super) fn delivered(&self, is_shared: bool, sequence: u32) {
        let stream = if is_shared { &self.shared } else { &self.own };
        stream.store(u64::from(sequence) + 1, Ordering::Release);
    }

    pub(super) fn move_to(&self, region: usize) {
        self.region.store(region as u64, Ordering::Release);
    }

    pub(super) fn region(&self) -> usize {
        self.region.load(Ordering::Acquire) as usize
    }

    pub(super) fn own(&self) -> u64 {
        self.own.load(Ordering::Acquire)
    }

    pub(super) fn shared(&self) -> u64 {
        self.shared.load(Ordering::Acquire)
    }
}
