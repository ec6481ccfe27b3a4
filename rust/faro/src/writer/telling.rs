//! When a writer tells its listener: at the end of its calls, so that a panic of the listener changes nothing.

use super::output_writer::{State, Writer};
use crate::error::{Error, Result};
use std::panic::{AssertUnwindSafe, catch_unwind};

impl Writer {
    /// Does the work of a call, and tells the listener what came of it.
    pub(super) fn telling<T>(&mut self, work: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        let done = work(self);
        self.tell();
        done
    }

    /// Tells the listener about the regions, the end and the failure that are news.
    pub(crate) fn tell(&mut self) {
        let Some(listener) = &self.options.listener else { return };
        // A forked process has a copy of the news (WRT-11).
        if !self.born.is_here() {
            return;
        }
        if let Some(builder) = &mut self.builder {
            builder.tell_regions();
            if let Some((regions, bytes)) = self.finished_news.take() {
                listener.finished(builder.files().first().1, regions, bytes);
            }
        }
        if let State::Failed(error) = &self.state
            && !self.fault_told
        {
            self.tell_fault(&error.clone());
        }
    }

    /// Tells the listener about the error that is final, once.
    pub(crate) fn tell_fault(&mut self, error: &Error) {
        if let Some(listener) = &self.options.listener
            && !std::mem::replace(&mut self.fault_told, true)
        {
            listener.fault(error);
        }
    }

    /// As [`Writer::tell`], where a panic cannot leave: it goes to the panic hook only.
    pub(super) fn tell_in_drop(&mut self) {
        let _ = catch_unwind(AssertUnwindSafe(|| self.tell()));
    }
}
