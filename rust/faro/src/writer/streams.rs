//! The sequence numbers of an output's streams (spec, BLK-3), and what the footer says of them (FTR-8).

use super::owner::Owner;
use crate::message::Streams;

/// The stream of own blocks of a partition, counted from the file's first; or the stream of shared blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StreamName {
    Own(u32),
    Shared,
}

impl From<&Owner> for StreamName {
    fn from(owner: &Owner) -> Self {
        match owner {
            Owner::Own(at) => StreamName::Own(*at),
            Owner::Shared(_) => StreamName::Shared,
        }
    }
}

/// For each stream, the sequence number of its next block and the blocks that are missing below it.
#[derive(Debug)]
pub(crate) struct StreamCounters {
    own: Vec<u32>,
    shared: u32,
    /// Empty while nothing is missing, so that it takes no memory.
    own_missing: Vec<u32>,
    shared_missing: u32,
    /// The streams of the current region whose first block was not the next one, and what that would have been.
    jumps: Vec<(StreamName, u32)>,
    /// The gaps of the current region, which may be given up.
    gaps: Vec<(StreamName, u32)>,
}

impl StreamCounters {
    pub(crate) fn new(partition_count: u32) -> Self {
        StreamCounters {
            own: vec![0; partition_count as usize],
            shared: 0,
            own_missing: Vec::new(),
            shared_missing: 0,
            jumps: Vec::new(),
            gaps: Vec::new(),
        }
    }

    /// The sequence number of the stream's next block.
    pub(crate) fn next(&self, stream: StreamName) -> u32 {
        match stream {
            StreamName::Own(at) => self.own[at as usize],
            StreamName::Shared => self.shared,
        }
    }

    fn set_next(&mut self, stream: StreamName, next: u32) {
        match stream {
            StreamName::Own(at) => self.own[at as usize] = next,
            StreamName::Shared => self.shared = next,
        }
    }

    fn add_missing(&mut self, stream: StreamName, gaps: u32) {
        match stream {
            StreamName::Own(at) => {
                self.own_missing.resize(self.own.len(), 0);
                self.own_missing[at as usize] += gaps;
            }
            StreamName::Shared => self.shared_missing += gaps,
        }
    }

    pub(crate) fn begin_region(&mut self) {
        self.jumps.clear();
        self.gaps.clear();
    }

    /// Remembers that an extent of the current region does not begin with the next block of its stream.
    pub(crate) fn jump(&mut self, stream: StreamName, next: u32) {
        self.jumps.push((stream, next));
    }

    /// Goes on after an extent of the current region, with its gaps.
    pub(crate) fn advance(&mut self, stream: StreamName, next: u32, gaps: u32) {
        self.set_next(stream, next);
        if gaps > 0 {
            self.gaps.push((stream, gaps));
        }
    }

    /// Keeps what the current region did.
    pub(crate) fn commit_region(&mut self) {
        while let Some((stream, gaps)) = self.gaps.pop() {
            self.add_missing(stream, gaps);
        }
    }

    /// Undoes the current region. `extents` are from the last to the first, with their first sequence numbers.
    pub(crate) fn give_up_region(&mut self, extents: impl Iterator<Item = (Owner, u32)>) {
        for (owner, first) in extents {
            self.set_next(StreamName::from(&owner), first);
        }
        while let Some((stream, next)) = self.jumps.pop() {
            self.set_next(stream, next);
        }
        self.gaps.clear();
    }

    /// Between two regions: the blocks below this sequence number, which is not below the next, are missing (WRT-15).
    pub(crate) fn skip_to(&mut self, stream: StreamName, sequence: u32) {
        let gaps = sequence - self.next(stream);
        if gaps > 0 {
            self.add_missing(stream, gaps);
            self.set_next(stream, sequence);
        }
    }

    /// What the footer says. It empties the counters.
    pub(crate) fn take(&mut self) -> Streams {
        let vector = |counts: &mut Vec<u32>| {
            let counts = std::mem::take(counts);
            counts.iter().any(|count| *count > 0).then_some(counts)
        };
        Streams {
            next: vector(&mut self.own),
            missing: vector(&mut self.own_missing),
            shared_next: self.shared,
            shared_missing: self.shared_missing,
        }
    }
}
