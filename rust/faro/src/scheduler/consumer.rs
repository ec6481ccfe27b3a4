//! A consumer: it requests bytes from the scheduler, and checks and decodes them in the caller's thread.

use super::growth::Growth;
use super::guard::caught;
use super::held::Held;
use super::options::LEAST;
use super::shared::Shared;
use super::sync::{Arc, Condvar};
use super::waiting::{AHEAD, Listener};
use crate::error::{Error, Result};
use crate::limits::out_of_memory;
use crate::reader::trace::fault;
use crate::reader::{Block, BlockCheck, CheckOutcome, OpenExtent, OpenOutput};
use std::collections::VecDeque;
use std::ops::Range;
use std::task::Poll;

/// The blocks of a partition or range, in the order of PRT-1 or PRT-5, read by a scheduler. As an iterator it waits for
/// blocks; [`Consumer::poll`] does not. Dropping it withdraws its requests.
pub struct Consumer {
    shared: Arc<Shared>,
    id: u64,
    wake: Arc<Condvar>,
    checker: BlockCheck,
    extent: OpenExtent,
    /// Whether the last checked block was not delivered yet, because its dictionary is not there.
    is_checked: bool,
    ahead: VecDeque<OpenExtent>,
    /// Whether no extents follow those ahead. A fault may follow.
    is_last: bool,
    fault: Option<Error>,
    held: Held,
    ended: bool,
}

impl Consumer {
    /// `growth` is present if the output is still written. It fails when the budget refuses the least share, and the
    /// other consumers cannot spare it.
    pub(super) fn new(
        shared: Arc<Shared>,
        output: OpenOutput,
        partitions: Range<u32>,
        growth: Option<Growth>,
    ) -> Result<Self> {
        let least = shared.ask_least();
        let mut state = shared.lock();
        if !state.add_least(least) {
            return Err(out_of_memory(LEAST));
        }
        let (id, wake) = state.open(&output, partitions, growth);
        drop(state);
        shared.notify();
        Ok(Consumer {
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
        })
    }

    /// The next block if it is there; `Ready(None)` when there are no more, `Pending` when something has to be read
    /// first. Nothing follows a fault. This does not wait and does not read; it checks and decodes the block.
    ///
    /// After `Pending`, the scheduler calls the listener when another poll is worthwhile. If the scheduler has no
    /// threads, the caller also has to call [`Scheduler::serve`] once for each `Pending`. After the scheduler was
    /// dropped, this method makes the steps itself: then it reads, and it may pass on the panic of any consumer's
    /// listener.
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
                    fault(&error);
                    self.end();
                    return Poll::Ready(Some(Err(error)));
                }
                Ok(Poll::Pending) => {
                    let mut state = self.shared.lock();
                    state.figures.waits += 1;
                    let is_left_alone = state.closed;
                    drop(state);
                    if !is_left_alone || !self.shared.serve() {
                        return Poll::Pending;
                    }
                }
            }
        }
    }

    /// Sets the listener, which is called from now on when another [`Consumer::poll`] is worthwhile: each time that
    /// something was read for this consumer and, if the scheduler has no threads, when another step can be made. The
    /// thread that made the step, or dropped the scheduler, calls it. If that happened after a `Pending` and before
    /// this call, the listener is called at once, in this call. Another call replaces the listener.
    ///
    /// A listener must not wait, serve or poll; it makes a task run that does. It may drop consumers and the scheduler.
    /// Its panic is passed on by [`Scheduler::serve`], or by a consumer that makes steps itself, after the other
    /// listeners were called; it does not end a thread of the scheduler.
    ///
    /// [`Scheduler::serve`]: super::Scheduler::serve
    pub fn on_ready(&mut self, listener: impl Fn() + Send + Sync + 'static) {
        let listener: Listener = Arc::new(listener);
        let (before, has_news) = self.shared.lock().listen(self.id, listener.clone());
        drop(before);
        if has_news {
            listener();
        }
    }

    fn advance(&mut self) -> Result<Poll<Option<Block>>> {
        loop {
            if self.is_checked {
                return self.give();
            }
            if self.extent.at < self.extent.end {
                match self.checker.check(&mut self.extent, &mut self.held)? {
                    CheckOutcome::Block => self.is_checked = true,
                    CheckOutcome::Needs(needed) => {
                        let taken = self.shared.lock().take(self.id);
                        let Some(ready) = taken else {
                            return Ok(Poll::Pending);
                        };
                        // There is room in the budget again.
                        self.shared.notify();
                        let source = self.checker.output.data_file();
                        // At most the extent, and the limit of a block, as checked before.
                        self.held.append(source, self.extent.at, ready?, needed as usize)?;
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

    /// Delivers the checked block when its dictionary is there.
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

    /// Takes over the next extents, and requests more. A fault of a region waits for its turn.
    fn look_ahead(&mut self) {
        let mut state = self.shared.lock();
        let end = state.extents(self.id, &mut self.ahead);
        if let Some(grown) = state.grown(self.id) {
            // The dictionaries of its blocks are in it.
            self.checker.output = grown.clone();
        }
        drop(state);
        self.shared.notify();
        if let Some(end) = end {
            (self.is_last, self.fault) = (true, end.err());
        }
    }

    /// Waits until there may be something to take, or makes a step itself if the scheduler has no threads.
    fn wait(&self) {
        let state = self.shared.lock();
        let is_by_hand = self.shared.is_by_hand(&state);
        drop(state);
        if is_by_hand && self.shared.serve() {
            return;
        }
        // When no step can be made, another thread is making one, and will notify.
        let mut state = self.shared.lock();
        while state.consumers.get(&self.id).is_some_and(|me| me.asleep) {
            state = self.shared.wait(&self.wake, state);
        }
    }

    fn end(&mut self) {
        self.ended = true;
        self.checker.ends();
        self.ahead.clear();
        self.held = Held::default();
        let mut state = self.shared.lock();
        let gone = state.close(self.id);
        let freed = state.free();
        drop(state);
        self.shared.notify();
        // The listener and the budget belong to the caller. The listener may own the scheduler.
        drop((gone, freed));
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
