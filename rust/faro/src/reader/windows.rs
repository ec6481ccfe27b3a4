//! The own extents of consecutive partitions in memory, with one read for each region instead of one for each extent.

use super::byte_source::ByteSource;
use super::open_output::OpenOutput;
use super::own_extents::OwnExtent;
use super::window::{Window, aligned, allocate, reuse};
use crate::error::Result;
use crate::limits::{Grants, MemoryBudget};
use crate::storage::{InputFile, RangeRead};
use bytes::Bytes;
use std::ops::Range;
use std::sync::Arc;

/// The most bytes of a window. Since it has a part of each region, a large window keeps each read long.
const MOST: u64 = 4 << 20;
/// The bytes of a window where reads cost little. Blocks are checked when all of it was read, and then they come from the
/// processor's second-level cache, if the window fits into it. That gains more than long reads do.
const IN_CACHE: u64 = 768 << 10;

/// The bytes of a window of a storage that reads this many neighbouring bytes at once.
pub(super) fn window_of(read_bytes: u64) -> u64 {
    read_bytes.clamp(IN_CACHE, MOST)
}

/// An extent that is not in the window.
const ABSENT: usize = usize::MAX;

/// Neighbouring extents of a region, which are read at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct WindowRead {
    pub offset: u64,
    pub length: u64,
}

/// The extents of the next window, and how they are read.
#[derive(Debug, Default)]
pub(super) struct Plan {
    /// The extents, of whole partitions; the next window begins after them.
    pub extents: Range<usize>,
    /// The read of each extent. It is empty when a partition does not fit into a window; then its extents are read one
    /// by one.
    pub reads_of: Vec<usize>,
    /// The reads, in the order of their first extents.
    pub reads: Vec<WindowRead>,
    /// The last read of each region.
    last: Vec<usize>,
}

impl Plan {
    /// Plans the window of at most `most` bytes that begins with the extent `from`. `offset_of` returns the offset of
    /// an extent in the file.
    pub(super) fn next(&mut self, own: &[OwnExtent], from: usize, most: u64, offset_of: impl Fn(&OwnExtent) -> u64) {
        self.reads.clear();
        self.reads_of.clear();
        let (mut to, mut total) = (from, 0);
        while to < own.len() {
            let partition = own[to].partition;
            let count = own[to..].iter().take_while(|own| own.partition == partition).count();
            let bytes: u64 = own[to..to + count].iter().map(|own| 8 * u64::from(own.length)).sum();
            if total + bytes > most {
                break;
            }
            (to, total) = (to + count, total + bytes);
        }
        if to == from {
            let partition = own.get(from).map(|own| own.partition);
            to += own[from..]
                .iter()
                .take_while(|own| Some(own.partition) == partition)
                .count();
            self.extents = from..to;
            return;
        }
        self.extents = from..to;
        self.last.clear();
        for own in &own[from..to] {
            let (region, offset, length) = (own.region as usize, offset_of(own), 8 * u64::from(own.length));
            if self.last.len() <= region {
                self.last.resize(region + 1, ABSENT);
            }
            let last = self.last[region];
            match self.reads.get_mut(last) {
                Some(read) if read.offset + read.length == offset => read.length += length,
                _ => {
                    self.last[region] = self.reads.len();
                    self.reads.push(WindowRead { offset, length });
                }
            }
            self.reads_of.push(self.last[region]);
        }
    }
}

/// Supplies the extents of a window from memory, and other extents from the file.
#[derive(Default)]
pub(super) struct Windows {
    plan: Plan,
    memory: Bytes,
    /// The position of each planned extent in memory.
    places: Vec<usize>,
    /// The offset of the open extent in the file and its position in memory, if it is there.
    open: (u64, usize),
    direct: Window,
    /// The grants for `memory`. They are dropped after it.
    grants: Grants,
}

impl Windows {
    /// Windows that ask a budget before they are read.
    pub(super) fn new(budget: Option<Arc<dyn MemoryBudget>>) -> Self {
        Windows {
            direct: Window::new(budget.clone()),
            grants: Grants::new(budget),
            ..Windows::default()
        }
    }

    /// Drops the bytes, and gives back what was granted.
    pub(super) fn end(&mut self) {
        self.memory = Bytes::new();
        self.places.clear();
        self.open = (0, ABSENT);
        self.grants.shrink_to(0);
        self.direct.end();
    }

    /// The extents in the window.
    pub(super) fn extents(&self) -> Range<usize> {
        self.plan.extents.clone()
    }

    /// Forgets the extents, because the list of extents has changed.
    pub(super) fn forget(&mut self) {
        self.plan.extents = 0..0;
    }

    /// Reads the window of at most `most` bytes that begins with the extent `from`. What cannot be read is left out;
    /// the fault is reported when the reading comes to that extent.
    pub(super) fn load(&mut self, output: &OpenOutput, own: &[OwnExtent], from: usize, most: u64) {
        let regions = &output.footer.regions;
        let offset_of = |own: &OwnExtent| regions[own.region as usize].data_offset + 8 * u64::from(own.start);
        self.plan.next(own, from, most, offset_of);
        self.places.clear();
        if self.plan.reads.is_empty() {
            return;
        }
        // Each read has room for any position in a line. Together they take at most a window, and a line for each
        // extent.
        let length: usize = self.plan.reads.iter().map(|read| read.length as usize + 64).sum();
        let missing = (length as u64).saturating_sub(self.grants.held());
        if missing > 0 && !self.grants.try_grow(missing) {
            // Its extents are read one by one.
            return;
        }
        let mut buffer = reuse(std::mem::take(&mut self.memory), length).unwrap_or_else(|_| allocate(length));
        let mut at = 0;
        let mut done = Vec::with_capacity(self.plan.reads.len());
        for read in &self.plan.reads {
            let place = aligned(&buffer, at, read.offset);
            at = place + read.length as usize;
            done.push((place, 0));
        }
        read_parts(output.data_file(), &self.plan.reads, &mut buffer, &mut done);
        self.memory = buffer.freeze();
        for (own, read) in own[self.plan.extents.clone()].iter().zip(&self.plan.reads_of) {
            let ((place, got), within) = (done[*read], offset_of(own) - self.plan.reads[*read].offset);
            let is_there = within + 8 * u64::from(own.length) <= got;
            self.places
                .push(if is_there { place + within as usize } else { ABSENT });
        }
    }

    /// Moves to an extent at an offset of the file: extent `number` of the plan, or another one.
    #[inline]
    pub(super) fn open(&mut self, number: Option<usize>, offset: u64) {
        let place = number.and_then(|number| self.places.get(number - self.plan.extents.start));
        self.open = (offset, place.copied().unwrap_or(ABSENT));
    }
}

/// Reads each of the reads to its place in `buffer`, where `done` has it, and notes there how many bytes it got.
fn read_parts(source: &InputFile, reads: &[WindowRead], buffer: &mut [u8], done: &mut [(usize, u64)]) {
    let (mut rest, mut at) = (&mut *buffer, 0);
    let mut ranges = Vec::with_capacity(reads.len());
    for (read, (place, _)) in reads.iter().zip(&*done) {
        let (part, after) = rest[place - at..].split_at_mut(read.length as usize);
        ranges.push(RangeRead::new(read.offset, part));
        (rest, at) = (after, place + read.length as usize);
    }
    if source.read_ranges(&mut ranges).is_ok() {
        for (range, (_, got)) in ranges.iter().zip(done) {
            *got = range.filled() as u64;
        }
        return;
    }
    // One of them cannot be read. Each is read alone, so that only that one is left out.
    for (range, (_, got)) in ranges.iter_mut().zip(done) {
        *got = source.read_up_to(range.offset(), range.buffer()).unwrap_or(0) as u64;
    }
}

impl ByteSource for Windows {
    #[inline]
    fn get(&mut self, source: &InputFile, offset: u64, length: usize, read_ahead: u64) -> Result<Option<&[u8]>> {
        if self.open.1 == ABSENT {
            return self.direct.get(source, offset, length, read_ahead).map(Some);
        }
        Ok(Some(self.bytes(offset, length)))
    }

    #[inline]
    fn bytes(&self, offset: u64, length: usize) -> &[u8] {
        let (start, place) = self.open;
        if place == ABSENT {
            return self.direct.bytes(offset, length);
        }
        let from = place + (offset - start) as usize;
        &self.memory[from..from + length]
    }

    fn share(&self, offset: u64, length: usize) -> Bytes {
        let (start, place) = self.open;
        if place == ABSENT {
            return self.direct.share(offset, length);
        }
        let from = place + (offset - start) as usize;
        self.memory.slice(from..from + length)
    }
}
