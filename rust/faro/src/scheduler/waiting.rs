//! A consumer as the steps see it.

use super::growth::Growth;
use super::job::Finder;
use super::sync::{Arc, Condvar};
use crate::error::{Error, Result};
use crate::index::Extent;
use crate::reader::{Extents, OpenExtent, OpenOutput};
use bytes::Bytes;
use std::collections::VecDeque;
use std::ops::Range;

/// How many extents a consumer knows ahead, so that the scheduler sees what it will want in this sweep.
pub(super) const AHEAD: usize = 64;

/// Bytes that were read for a consumer.
#[derive(Debug)]
pub(super) struct ReadyBytes {
    pub offset: u64,
    pub bytes: Bytes,
}

/// Called when another poll of a consumer is worthwhile.
pub(super) type Listener = Arc<dyn Fn() + Send + Sync>;

/// A consumer as the steps see it.
pub(super) struct Waiting {
    pub file: usize,
    /// Finds its extents; none while a step uses it.
    pub finder: Option<Box<Finder>>,
    /// Present if its output is still written.
    pub growth: Option<Growth>,
    /// Requested extents that no step is finding yet.
    pub missing: usize,
    /// The dictionary that it needs.
    pub missing_dictionary: Option<u16>,
    /// Whether it is queued for a step that finds these.
    pub queued: bool,
    /// Found extents that it has not taken over yet, in its order.
    pub found: VecDeque<OpenExtent>,
    /// Present if no extents follow those found; it may be a fault that follows.
    pub end: Option<Result<()>>,
    /// Present if the dictionary is there; or the fault.
    pub dictionary: Option<Result<()>>,
    /// The extents that are still to be read for it, in its order. The first is in the sweep.
    pub wanted: VecDeque<Extent>,
    /// The bytes that it may take, in its order.
    pub ready: VecDeque<ReadyBytes>,
    /// Bytes that are ready or being read.
    pub held: u64,
    /// Whether it is being served until its share is full, which begins when half of it is free. Serving a consumer
    /// whenever there is room for one more request would read at many places, and waste the bytes between them.
    pub filling: bool,
    /// Whether a read for it is under way.
    pub reading: bool,
    /// Its fault. Bytes that were taken back for others may still be wanted before it.
    pub fault: Option<Error>,
    /// Whether it sleeps: it was told to wait and not notified since.
    pub asleep: bool,
    pub wake: Arc<Condvar>,
    pub listener: Option<Listener>,
    /// Whether there was news since it was told to wait, and no listener.
    pub has_news: bool,
}

impl Waiting {
    /// A new consumer, for which nothing was done yet.
    pub(super) fn new(output: &OpenOutput, partitions: Range<u32>, file: usize, growth: Option<Growth>) -> Self {
        // An empty range reads no region, and so finds no fault of one (REG-10).
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
            growth,
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
            has_news: false,
        }
    }

    /// Whether nothing more comes before its fault.
    pub(super) fn is_fault_due(&self) -> bool {
        self.fault.is_some() && self.has_all()
    }

    /// Whether no read is needed for it.
    pub(super) fn has_all(&self) -> bool {
        self.ready.is_empty() && self.wanted.is_empty() && !self.reading
    }

    /// Whether a step that finds would find nothing.
    pub(super) fn waits_for_regions(&self) -> bool {
        self.growth.as_ref().is_some_and(|growth| growth.is_waiting)
    }

    /// Wakes the consumer. Returns the listener, to be called without the lock.
    pub(super) fn tell(&mut self) -> Option<Listener> {
        self.has_news |= self.asleep && self.listener.is_none();
        self.asleep = false;
        self.wake.notify_all();
        self.listener.clone()
    }
}
