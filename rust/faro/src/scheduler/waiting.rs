//! A consumer as the steps see it.

use super::job::Finder;
use super::sync::{Arc, Condvar};
use crate::error::{Error, Result};
use crate::index::Extent;
use crate::reader::{Extents, OpenExtent, OpenOutput};
use bytes::Bytes;
use std::collections::VecDeque;
use std::ops::Range;

/// Extents that a consumer knows ahead: the scheduler sees what it will want in this sweep.
pub(super) const AHEAD: usize = 64;

/// Bytes that were read for a consumer.
#[derive(Debug)]
pub(super) struct Piece {
    pub offset: u64,
    pub bytes: Bytes,
}

/// Called when it is worth to ask a consumer again.
pub(super) type Listener = Arc<dyn Fn() + Send + Sync>;

/// A consumer as the steps see it.
pub(super) struct Waiting {
    pub file: usize,
    /// What finds its extents; none while a step has it.
    pub finder: Option<Box<Finder>>,
    /// Extents that it asked for and that no step looks for yet.
    pub missing: usize,
    /// The dictionary that it asked for.
    pub missing_dictionary: Option<u16>,
    /// Whether it waits for a step that finds these.
    pub queued: bool,
    /// Extents that were found and that it did not take over, in its order.
    pub found: VecDeque<OpenExtent>,
    /// That no extents come after those found, or the fault that does.
    pub end: Option<Result<()>>,
    /// Whether the dictionary is there, or why it is not.
    pub dictionary: Option<Result<()>>,
    /// What is to be read and what is not being read for it yet, in its order. The first is in the sweep.
    pub wanted: VecDeque<Extent>,
    /// What it may take, in its order.
    pub ready: VecDeque<Piece>,
    /// Bytes that are ready or being read.
    pub held: u64,
    /// Whether it is served until its share is full: from when half of it is free. A consumer that is served whenever
    /// there is room for one more request is served here and there, and the bytes between are read for nothing.
    pub filling: bool,
    /// Whether a read for it is under way.
    pub reading: bool,
    /// What failed. All that is wanted comes before it, in the consumer's order: what was taken back for others.
    pub fault: Option<Error>,
    /// Whether it was told to wait, and not to ask again since.
    pub asleep: bool,
    pub wake: Arc<Condvar>,
    pub listener: Option<Listener>,
}

impl Waiting {
    /// A new one, for which nothing was done.
    pub(super) fn new(output: &OpenOutput, partitions: Range<u32>, file: usize) -> Self {
        // No partition uses no region, and is told no fault of one (REG-10).
        let regions = if partitions.is_empty() {
            0
        } else {
            output.region_count()
        };
        let finder = Finder {
            output: output.clone(),
            extents: Extents::new(partitions, 0..regions),
        };
        Waiting {
            file,
            finder: Some(Box::new(finder)),
            missing: AHEAD,
            missing_dictionary: None,
            queued: false,
            found: VecDeque::new(),
            end: None,
            dictionary: None,
            wanted: VecDeque::new(),
            ready: VecDeque::new(),
            held: 0,
            filling: true,
            reading: false,
            fault: None,
            asleep: false,
            wake: Arc::new(Condvar::new()),
            listener: None,
        }
    }

    /// Whether nothing comes before its fault any more.
    pub(super) fn is_fault_due(&self) -> bool {
        self.fault.is_some() && self.has_all()
    }

    /// Whether no read has anything for it.
    pub(super) fn has_all(&self) -> bool {
        self.ready.is_empty() && self.wanted.is_empty() && !self.reading
    }

    /// Says that it is worth to ask again; the listener is for the caller to call, without the lock.
    pub(super) fn tell(&mut self) -> Option<Listener> {
        self.asleep = false;
        self.wake.notify_all();
        self.listener.clone()
    }
}
