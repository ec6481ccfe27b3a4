//! Which reads serve which requests (docs/scheduler.md): without threads, files and clocks.
//!
//! [`reads`] is for those who know all that they want; a [`Sweep`] for requests that come and go.

use crate::index::Extent;
use std::collections::BTreeMap;
use std::ops::Bound::{Excluded, Included, Unbounded};

/// Neighbouring extents that are read with one system call.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PlannedRead {
    /// What is read: the extents and the gaps between them.
    pub extent: Extent,
    /// The places in the list of what is wanted, by offset.
    pub wanted: Vec<usize>,
}

/// The reads for extents of one file, by offset: neighbours with at most `gap_bytes` between them go together, up to
/// `read_bytes`. An extent that is larger alone is one read. Empty extents need none.
pub fn reads(wanted: &[Extent], gap_bytes: u64, read_bytes: u64) -> Vec<PlannedRead> {
    let mut order: Vec<usize> = (0..wanted.len()).filter(|at| wanted[*at].length > 0).collect();
    order.sort_by_key(|at| (wanted[*at].offset, wanted[*at].length));
    let mut reads: Vec<PlannedRead> = Vec::new();
    for at in order {
        let extent = wanted[at];
        match reads.last_mut() {
            Some(read) if joins(&read.extent, &extent, gap_bytes, read_bytes) => {
                read.extent.length = read.extent.end().max(extent.end()) - read.extent.offset;
                read.wanted.push(at);
            }
            _ => reads.push(PlannedRead {
                extent,
                wanted: vec![at],
            }),
        }
    }
    reads
}

/// Whether an extent that begins at or after a read's beginning becomes part of it.
fn joins(read: &Extent, next: &Extent, gap_bytes: u64, read_bytes: u64) -> bool {
    let near = next.offset <= read.end().saturating_add(gap_bytes);
    let inside = next.end() <= read.end();
    inside || near && next.end() - read.offset <= read_bytes
}

/// What is taken of a request, and what the same consumer asks for next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Admitted {
    /// Bytes from the request's beginning, at least 1 and at most its length.
    pub length: u64,
    /// The consumer's next request, perhaps the rest of this one.
    pub next: Option<Extent>,
}

impl Admitted {
    /// The first `length` bytes of a request, and the same consumer's `next` request.
    pub const fn new(length: u64, next: Option<Extent>) -> Self {
        Admitted { length, next }
    }
}

/// A part of a read, for one consumer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Part {
    /// Whose it is.
    pub consumer: u64,
    /// The bytes that it gets.
    pub extent: Extent,
}

/// A read of a sweep.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SweepRead {
    /// What is read.
    pub extent: Extent,
    /// Who gets what, by offset.
    pub parts: Vec<Part>,
}

/// The requests of one file, at most one of each consumer, served in ascending offset again and again.
#[derive(Clone, Debug, Default)]
pub struct Sweep {
    requests: BTreeMap<(u64, u64), u64>,
    head: u64,
}

impl Sweep {
    /// Takes a request of a consumer that has none.
    pub fn insert(&mut self, consumer: u64, extent: Extent) {
        self.requests.insert((extent.offset, consumer), extent.length);
    }

    /// Forgets the request of a consumer at an offset; whether there was one.
    pub fn remove(&mut self, consumer: u64, offset: u64) -> bool {
        self.requests.remove(&(offset, consumer)).is_some()
    }

    /// Whether nobody asks for anything.
    pub fn is_empty(&self) -> bool {
        self.requests.is_empty()
    }

    /// Where the last read ended.
    pub fn head(&self) -> u64 {
        self.head
    }

    /// The next read, from where the last one ended on, then again from the beginning; none when nobody is admitted.
    /// `admit` says what of a request may be served now, if anything: what it admits will be read.
    pub fn next_read(
        &mut self,
        gap_bytes: u64,
        read_bytes: u64,
        mut admit: impl FnMut(u64, Extent) -> Option<Admitted>,
    ) -> Option<SweepRead> {
        let head = self.head;
        let read = self
            .read_in(head, u64::MAX, gap_bytes, read_bytes, &mut admit)
            .or_else(|| self.read_in(0, head, gap_bytes, read_bytes, &mut admit))?;
        self.head = read.extent.end();
        Some(read)
    }

    /// The first read that begins from `from` on and below `to`.
    fn read_in(
        &mut self,
        from: u64,
        to: u64,
        gap_bytes: u64,
        read_bytes: u64,
        admit: &mut impl FnMut(u64, Extent) -> Option<Admitted>,
    ) -> Option<SweepRead> {
        let mut read: Option<SweepRead> = None;
        let mut position = Included((from, 0));
        loop {
            let next = self.requests.range((position, Unbounded)).next();
            let Some((&(offset, consumer), &length)) = next else {
                return read;
            };
            let wanted = match &read {
                None if offset >= to => return None,
                // A request that is too long for one read is read piece by piece.
                None => Extent {
                    offset,
                    length: length.min(read_bytes),
                },
                Some(_) => Extent { offset, length },
            };
            if let Some(read) = read
                .as_ref()
                .filter(|read| !joins(&read.extent, &wanted, gap_bytes, read_bytes))
            {
                return Some(read.clone());
            }
            position = Excluded((offset, consumer));
            let Some(admitted) = admit(consumer, wanted) else {
                continue;
            };
            self.requests.remove(&(offset, consumer));
            if let Some(next) = admitted.next {
                self.insert(consumer, next);
            }
            let extent = Extent {
                offset,
                length: admitted.length,
            };
            let read = read.get_or_insert(SweepRead {
                extent,
                parts: Vec::new(),
            });
            read.extent.length = read.extent.end().max(extent.end()) - read.extent.offset;
            read.parts.push(Part { consumer, extent });
        }
    }
}

#[cfg(test)]
mod tests;
