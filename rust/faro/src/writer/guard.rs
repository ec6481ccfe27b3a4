//! Whether a writer may go on (spec, WRT-6, WRT-10, WRT-11), and who has what writes its regions.

use super::handed_over::{HandedOver, Written, lost};
use super::output_writer::{State, Writer};
use super::region_builder::RegionBuilder;
use crate::error::{Error, Result};

impl Writer {
    /// Refuses calls by WRT-1 and WRT-6.
    pub(crate) fn check_open(&self) -> Result<()> {
        self.check_process()?;
        match &self.state {
            State::Open => Ok(()),
            State::Failed(error) => Err(error.clone()),
            State::Finished => Err(Error::argument("a writer that is not finished", "one that is")),
            State::Aborted => Err(Error::argument("a writer that was not aborted", "one that was")),
        }
    }

    /// As [`Writer::check_open`], and by WRT-10: no region writer is open.
    pub(super) fn check_idle(&self) -> Result<()> {
        self.check_open()?;
        match self.region_open {
            false => Ok(()),
            true => Err(Error::argument(
                "no other call until the region writer has ended its region",
                "a region that is open; abort the writer if its region writer was lost",
            )),
        }
    }

    /// Refuses calls in a forked process (WRT-11).
    pub(super) fn check_process(&self) -> Result<()> {
        match self.born.is_here() {
            true => Ok(()),
            false => Err(Error::argument(
                "a call in the process that created the writer",
                "one in a process that was forked from it",
            )),
        }
    }

    pub(super) fn set_state(&mut self, state: State) {
        self.state = state;
        self.know_plain();
    }

    /// Determines which records [`Writer::write`] and [`Writer::broadcast`] take without further checks.
    pub(super) fn know_plain(&mut self) {
        let out_of_order = self.options.ordered && self.buffer.holds_shared();
        self.plain_shared = match self.state {
            State::Open if !self.region_open => self.options.plain_lengths(),
            _ => 0..0,
        };
        self.plain = if out_of_order { 0..0 } else { self.plain_shared.clone() };
    }

    /// Waits for the region that another thread writes, if one does. Its error is final.
    pub(super) fn settle(&mut self) -> Result<()> {
        self.settle_by(HandedOver::wait)
    }

    /// As [`Writer::settle`], for an output that is given up.
    pub(super) fn settle_to_discard(&mut self) {
        // A region that failed leaves nothing that is not discarded.
        let _ = self.settle_by(HandedOver::give_up);
    }

    fn settle_by(&mut self, wait: impl FnOnce(&mut HandedOver) -> Result<Written>) -> Result<()> {
        let Some(handed_over) = self.handed_over.as_mut().filter(|_| self.builder.is_none()) else {
            return Ok(());
        };
        let settled = wait(handed_over).and_then(|written| {
            self.builder = Some(written.builder);
            self.other_buffer = Some(written.buffer);
            self.region_time += written.time;
            self.double_buffered += u64::from(written.elsewhere);
            self.memory.other_buffer_is_empty();
            written.result
        });
        self.final_fault(settled)
    }

    /// What writes regions, after the region that another thread writes.
    pub(super) fn builder(&mut self) -> Result<&mut RegionBuilder> {
        self.settle()?;
        self.builder.as_mut().ok_or_else(lost)
    }

    /// Keeps an error, which is final.
    pub(super) fn final_fault<T>(&mut self, done: Result<T>) -> Result<T> {
        done.inspect_err(|error| {
            // The first cause counts.
            if matches!(self.state, State::Open) {
                #[cfg(feature = "tracing")]
                super::trace::fault(error);
                self.set_state(State::Failed(error.clone()));
                self.release_memory();
            }
        })
    }

    /// Runs a step; its error is final.
    pub(super) fn guarded<T>(&mut self, act: impl FnOnce(&mut RegionBuilder) -> Result<T>) -> Result<T> {
        self.settle()?;
        let done = match &mut self.builder {
            Some(builder) => act(builder),
            None => Err(lost()),
        };
        self.final_fault(done)
    }
}
