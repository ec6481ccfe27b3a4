//! One reading among others: it asks for bytes, and checks and decodes them in its own thread.

use super::Shared;
use super::state::Piece;
use crate::error::{Error, Result};
use crate::index::Extent;
use crate::reader::{Block, Checker, Extents, OpenExtent, Step, Supply, View};
use crate::source::Source;
use bytes::{Bytes, BytesMut};
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::{Arc, Condvar, PoisonError};
use std::task::Poll;
use std::time::Duration;

/// Extents that are asked for at a time: the scheduler sees what a consumer will want in this sweep.
const AHEAD: usize = 64;

/// How long a consumer that may have to read by itself lets others.
const AGAIN: Duration = Duration::from_millis(1);

/// The blocks of a partition or range, in the order of PRT-1 or PRT-5, read by a scheduler. As an iterator it waits for
/// blocks; [`Consumer::poll`] does not. Dropping it gives back what it asked for.
pub struct Consumer {
    shared: Arc<Shared>,
    id: u64,
    wake: Arc<Condvar>,
    checker: Checker,
    extents: Extents,
    extent: OpenExtent,
    ahead: VecDeque<OpenExtent>,
    /// Whether there are no extents behind those ahead, but perhaps a fault.
    is_last: bool,
    fault: Option<Error>,
    held: Held,
    ended: bool,
}

/// What was taken of the open extent.
#[derive(Default)]
struct Held {
    start: u64,
    bytes: Bytes,
}

impl Held {
    /// Puts bytes behind those from `from` on, which are let go of; `needed` are needed from there on.
    fn append(&mut self, from: u64, piece: Piece, needed: usize) {
        let end = self.start + self.bytes.len() as u64;
        if from >= end || piece.offset != end {
            (self.start, self.bytes) = (piece.offset, piece.bytes);
            return;
        }
        // The beginning of a block whose end comes now, or part of it: a large one grows in place.
        let (old, skip) = (std::mem::take(&mut self.bytes), (from - self.start) as usize);
        let mut joined = match old.try_into_mut() {
            Ok(whole) if skip == 0 => whole,
            Ok(whole) => BytesMut::from(&whole[skip..]),
            Err(shared) => BytesMut::from(&shared[skip..]),
        };
        joined.reserve(needed.saturating_sub(joined.len()).max(piece.bytes.len()));
        joined.extend_from_slice(&piece.bytes);
        (self.start, self.bytes) = (from, joined.freeze());
    }

    fn place(&self, offset: u64, length: usize) -> Option<Range<usize>> {
        let from = usize::try_from(offset.checked_sub(self.start)?).ok()?;
        let to = from.checked_add(length)?;
        (to <= self.bytes.len()).then_some(from..to)
    }
}

impl Supply for Held {
    fn get(&mut self, _: &Source, offset: u64, length: usize, _: u64) -> Result<Option<&[u8]>> {
        Ok(self.place(offset, length).map(|place| &self.bytes[place]))
    }

    fn bytes(&self, offset: u64, length: usize) -> &[u8] {
        let from = (offset - self.start) as usize;
        &self.bytes[from..from + length]
    }

    fn share(&self, offset: u64, length: usize) -> Bytes {
        let from = (offset - self.start) as usize;
        self.bytes.slice(from..from + length)
    }
}

impl Consumer {
    pub(super) fn new(shared: Arc<Shared>, view: View, partitions: Range<u32>) -> Self {
        let (id, wake) = shared.lock().open(&view.core);
        // No partition uses no region, and is told no fault of one (REG-10).
        let regions = if partitions.is_empty() { 0 } else { view.region_count() };
        let mut consumer = Consumer {
            shared,
            id,
            wake,
            extents: Extents::new(partitions, 0..regions),
            checker: Checker::new(view, true),
            extent: OpenExtent::NONE,
            ahead: VecDeque::new(),
            is_last: false,
            fault: None,
            held: Held::default(),
            ended: false,
        };
        consumer.look_ahead();
        consumer
    }

    /// The next block if it is there: `Ready(None)` when there are no more, `Pending` when it has to be read first. Then
    /// the listener is told when it is worth to ask again. Nothing follows a fault.
    pub fn poll(&mut self) -> Poll<Option<Result<Block>>> {
        if self.ended {
            return Poll::Ready(None);
        }
        match self.advance() {
            Ok(Poll::Ready(Some(block))) => Poll::Ready(Some(Ok(block))),
            Ok(Poll::Ready(None)) => {
                self.end();
                Poll::Ready(None)
            }
            Ok(Poll::Pending) => Poll::Pending,
            Err(error) => {
                self.end();
                Poll::Ready(Some(Err(error)))
            }
        }
    }

    /// Calls `listener` each time that something was read for this consumer, from then on, in the thread that read it:
    /// it must not wait for anything. Something may be there already. Its panic, when others were told, comes out of
    /// [`Scheduler::serve`], or of a consumer that waits and serves itself, but ends no thread of the scheduler's own.
    ///
    /// [`Scheduler::serve`]: super::Scheduler::serve
    pub fn on_ready(&mut self, listener: impl Fn() + Send + Sync + 'static) {
        self.shared.lock().listen(self.id, Arc::new(listener));
    }

    fn advance(&mut self) -> Result<Poll<Option<Block>>> {
        loop {
            if self.extent.at < self.extent.end {
                match self.checker.check(&mut self.extent, &mut self.held)? {
                    Step::Block => {
                        return self
                            .checker
                            .own(&self.extent, &self.held)
                            .map(|block| Poll::Ready(Some(block)));
                    }
                    Step::Needs(needed) => match self.take_piece() {
                        // At most the extent, and the limit of a block: both were checked.
                        Some(piece) => self.held.append(self.extent.at, piece?, needed as usize),
                        None => return Ok(Poll::Pending),
                    },
                }
            } else if let Some(next) = self.ahead.pop_front() {
                self.extent = next;
            } else if self.is_last {
                return self.fault.take().map_or(Ok(Poll::Ready(None)), Err);
            } else {
                self.look_ahead();
            }
            if !self.is_last && self.ahead.len() < AHEAD / 2 {
                self.look_ahead();
            }
        }
    }

    fn take_piece(&self) -> Option<Result<Piece>> {
        let taken = self.shared.lock().take(self.id);
        if taken.is_some() {
            // There is room again.
            self.shared.work.notify_one();
        }
        taken
    }

    /// Asks for the next extents. A fault of a region waits for its turn.
    fn look_ahead(&mut self) {
        let asked = self.ahead.len();
        while !self.is_last && self.ahead.len() < AHEAD {
            let mut extent = OpenExtent::NONE;
            match self.extents.next(&self.checker.view, &mut extent) {
                Ok(true) => self.ahead.push_back(extent),
                Ok(false) => self.is_last = true,
                Err(error) => (self.is_last, self.fault) = (true, Some(error)),
            }
        }
        let extents = self.ahead.range(asked..).map(|extent| Extent {
            offset: extent.at,
            length: extent.end - extent.at,
        });
        self.shared.lock().ask(self.id, extents);
        self.shared.work.notify_one();
    }

    /// Waits until there may be something to take, or reads by itself when nobody else does.
    fn wait(&self) {
        let state = self.shared.lock();
        if state.has_something(self.id) {
            return;
        }
        if self.shared.has_threads && !state.closed {
            drop(self.wake.wait(state).unwrap_or_else(PoisonError::into_inner));
            return;
        }
        drop(state);
        if self.shared.serve() {
            return;
        }
        let state = self.shared.lock();
        if !state.has_something(self.id) {
            // Another thread reads from the file now; its next read may be for somebody else again.
            drop(self.wake.wait_timeout(state, AGAIN));
        }
    }

    fn end(&mut self) {
        self.ended = true;
        self.ahead.clear();
        self.held = Held::default();
        self.shared.lock().close(self.id);
        self.shared.work.notify_one();
    }
}

impl Iterator for Consumer {
    type Item = Result<Block>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            match self.poll() {
                Poll::Ready(item) => return item,
                Poll::Pending => self.wait(),
            }
        }
    }
}

impl Drop for Consumer {
    fn drop(&mut self) {
        if !self.ended {
            self.end();
        }
    }
}
