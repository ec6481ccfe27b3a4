//! Plans which reads serve which requests (docs/scheduler.md). It uses no threads, files or clocks.
//!
//! [`reads`] is for a caller that knows all requests, a [`Sweep`] for requests that come and go.

use crate::index::Extent;
use std::collections::BTreeMap;
use std::ops::Bound::{Excluded, Included, Unbounded};

/// Neighbouring extents that are read with one system call.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PlannedRead {
    /// The bytes to read: the extents and the gaps between them.
    pub extent: Extent,
    /// The positions of its extents in the list of wanted extents, ordered by offset.
    pub wanted: Vec<usize>,
}

/// The reads for extents of one file, ordered by offset. Neighbours with at most `gap_bytes` between them become one
/// read of at most `read_bytes`. A larger extent is one read. Empty extents need none.
///
/// ```
/// use faro::{Extent, plan::reads};
/// let extent = |offset, length| Extent { offset, length };
/// let planned = reads(&[extent(900, 50), extent(0, 100), extent(120, 80)], 64, 4096);
/// assert_eq!(planned.len(), 2);
/// assert_eq!((planned[0].extent, planned[0].wanted.as_slice()), (extent(0, 200), &[1, 2][..]));
/// ```
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

/// What a sweep reads of a request, and the next request of the same consumer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Admitted {
    /// How many bytes to read from the beginning of the request, at least 1 and at most its length.
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
    /// The consumer's number.
    pub consumer: u64,
    /// The bytes for that consumer.
    pub extent: Extent,
}

/// A read of a sweep.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SweepRead {
    /// The bytes to read.
    pub extent: Extent,
    /// The parts for consumers, ordered by offset.
    pub parts: Vec<Part>,
}

/// The requests to one file, at most one for each consumer. They are served in ascending order of offsets, again and
/// again.
#[derive(Clone, Debug, Default)]
pub struct Sweep {
    requests: BTreeMap<(u64, u64), u64>,
    head: u64,
}

impl Sweep {
    /// Adds a request of a consumer that has none.
    pub fn insert(&mut self, consumer: u64, extent: Extent) {
        self.requests.insert((extent.offset, consumer), extent.length);
    }

    /// Removes the request of a consumer at an offset; returns whether there was one.
    pub fn remove(&mut self, consumer: u64, offset: u64) -> bool {
        self.requests.remove(&(offset, consumer)).is_some()
    }

    /// Whether there are no requests.
    pub fn is_empty(&self) -> bool {
        self.requests.is_empty()
    }

    /// Where the last read ended.
    pub fn head(&self) -> u64 {
        self.head
    }

    /// The next read, at or after the end of the last one, else from the beginning; none when no request is admitted.
    /// `admit` gets a consumer and its request, and returns how much of it may be read now, if any. Everything that it
    /// admits is read.
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

    /// The first read that begins in `from..to`.
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
