//! How far the partitions of a selective store were read.

use super::sync::{AtomicU64, Ordering};
use std::cmp;

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

    /// The sequence from which blocks of a region are still wanted; the largest number if none are.
    pub(super) fn wanted(&self, region: usize, shared: bool) -> u64 {
        // One look at the region: it may grow meanwhile.
        match self.region().cmp(&region) {
            cmp::Ordering::Less => 0,
            cmp::Ordering::Equal if shared => self.shared(),
            cmp::Ordering::Equal => self.own(),
            cmp::Ordering::Greater => u64::MAX,
        }
    }

    pub(super) fn own(&self) -> u64 {
        self.own.load(Ordering::Acquire)
    }

    pub(super) fn shared(&self) -> u64 {
        self.shared.load(Ordering::Acquire)
    }
}
