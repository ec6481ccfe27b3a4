//! One reading among others: it asks for bytes, and checks and decodes them in its own thread.

use super::guard::caught;
use super::held::Held;
use super::shared::Shared;
use super::sync::{Arc, Condvar};
use super::waiting::AHEAD;
use crate::error::{Error, Result};
use crate::reader::{Block, BlockCheck, OpenExtent, OpenOutput, Step};
use std::collections::VecDeque;
use std::ops::Range;
use std::task::Poll;

/// The blocks of a partition or range, in the order of PRT-1 or PRT-5, read by a scheduler. As an iterator it waits for
/// blocks; [`Consumer::poll`] does not. Dropping it gives back what it asked for.
pub struct Consumer {
    shared: Arc<Shared>,
    id: u64,
    wake: Arc<Condvar>,
    checker: BlockCheck,
    extent: OpenExtent,
    /// Whether the block that was checked last was not given yet: its dictionary is not there.
    is_checked: bool,
    ahead: VecDeque<OpenExtent>,
    /// Whether there are no extents after those ahead, but perhaps a fault.
    is_last: bool,
    fault: Option<Error>,
    held: Held,
    ended: bool,
}

impl Consumer {
    pub(super) fn new(shared: Arc<Shared>, output: OpenOutput, partitions: Range<u32>) -> Self {
        let (id, wake) = shared.lock().open(&output, partitions);
        shared.notify();
        Consumer {
            shared,
            id,
            wake,
            checker: BlockCheck::new(output, true),
            extent: OpenExtent::NONE,
            is_checked: false,
            ahead: VecDeque::new(),
            is_last: false,
            fault: None,
            held: Held::default(),
            ended: false,
        }
    }

    /// The next block if it is there: `Ready(None)` when there are no more, `Pending` when something has to be read
    /// first. Nothing follows a fault. This waits for nothing and reads nothing; a block is checked and decoded here.
    ///
    /// After `Pending` the listener is called when it is worth to ask again. Without threads of the scheduler's own,
    /// `Pending` also asks the caller for one call of [`Scheduler::serve`]. When the scheduler was dropped, this makes
    /// the steps itself: then it does read, and the panic of any consumer's listener may come out of it.
    ///
    /// [`Scheduler::serve`]: super::Scheduler::serve
    pub fn poll(&mut self) -> Poll<Option<Result<Block>>> {
        loop {
            if self.ended {
                return Poll::Ready(None);
            }
            match caught(|| self.advance()) {
                Ok(Poll::Ready(Some(block))) => return Poll::Ready(Some(Ok(block))),
                Ok(Poll::Ready(None)) => self.end(),
                Err(error) => {
                    self.end();
                    return Poll::Ready(Some(Err(error)));
                }
                Ok(Poll::Pending) => {
                    let is_left_alone = self.shared.lock().closed;
                    if !is_left_alone || !self.shared.serve() {
                        return Poll::Pending;
                    }
                }
            }
        }
    }

    /// Calls `listener` when it is worth to call [`Consumer::poll`] again, from now on, in the thread that made a step or
    /// dropped the scheduler: each time that something was read for this consumer, and without threads of the
    /// scheduler's own also when another step can be made. Something may be there already. Another call replaces the
    /// listener.
    ///
    /// A listener must not wait for anything, and neither serves nor polls: it makes a task run that does. Its panic, when
    /// others were told, comes out of [`Scheduler::serve`], or of a consumer that serves itself, but ends no thread of
    /// the scheduler's own. It may drop consumers and the scheduler.
    ///
    /// [`Scheduler::serve`]: super::Scheduler::serve
    pub fn on_ready(&mut self, listener: impl Fn() + Send + Sync + 'static) {
        let before = self.shared.lock().listen(self.id, Arc::new(listener));
        drop(before);
    }

    fn advance(&mut self) -> Result<Poll<Option<Block>>> {
        loop {
            if self.is_checked {
                return self.give();
            }
            if self.extent.at < self.extent.end {
                match self.checker.check(&mut self.extent, &mut self.held)? {
                    Step::Block => self.is_checked = true,
                    Step::Needs(needed) => {
                        let taken = self.shared.lock().take(self.id);
                        let Some(piece) = taken else {
                            return Ok(Poll::Pending);
                        };
                        // There is room again.
                        self.shared.notify();
                        let source = self.checker.output.data_file();
                        // At most the extent, and the limit of a block: both were checked.
                        self.held.append(source, self.extent.at, piece?, needed as usize)?;
                    }
                }
                continue;
            }
            if !self.is_last && self.ahead.len() < AHEAD / 2 {
                self.look_ahead();
            }
            match self.ahead.pop_front() {
                Some(next) => self.extent = next,
                None if self.is_last => return self.fault.take().map_or(Ok(Poll::Ready(None)), Err),
                None => return Ok(Poll::Pending),
            }
        }
    }

    /// The block that was checked, when its dictionary is there.
    fn give(&mut self) -> Result<Poll<Option<Block>>> {
        if let Some(number) = self.checker.missing_dictionary() {
            let found = self.shared.lock().dictionary(self.id, number);
            self.shared.notify();
            match found {
                None => return Ok(Poll::Pending),
                Some(found) => found?,
            }
        }
        self.is_checked = false;
        let block = self.checker.own(&self.extent, &self.held)?;
        Ok(Poll::Ready(Some(block)))
    }

    /// Takes over the next extents, and asks for more. A fault of a region waits for its turn.
    fn look_ahead(&mut self) {
        let end = self.shared.lock().extents(self.id, &mut self.ahead);
        self.shared.notify();
        if let Some(end) = end {
            (self.is_last, self.fault) = (true, end.err());
        }
    }

    /// Waits until there may be something to take, or makes a step itself when no thread of the scheduler's own does.
    fn wait(&self) {
        let state = self.shared.lock();
        let is_by_hand = self.shared.is_by_hand(&state);
        drop(state);
        if is_by_hand && self.shared.serve() {
            return;
        }
        // When no step can be made, one is under way in another thread, which tells.
        let mut state = self.shared.lock();
        while state.consumers.get(&self.id).is_some_and(|me| me.asleep) {
            state = self.shared.wait(&self.wake, state);
        }
    }

    fn end(&mut self) {
        self.ended = true;
        self.ahead.clear();
        self.held = Held::default();
        let gone = self.shared.lock().close(self.id);
        self.shared.notify();
        // The listener is the caller's, and what it owns may be the scheduler.
        drop(gone);
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
