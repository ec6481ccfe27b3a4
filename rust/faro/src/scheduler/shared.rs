//! What consumers and threads have in common: the books behind a lock, and the steps.

use super::SchedulerOptions;
use super::guard::{Payload, broken, call_all, drop_payload};
use super::job::Job;
use super::state::State;
use super::sync::{Condvar, Mutex, MutexGuard};
use super::waiting::Listener;
use std::panic::resume_unwind;
use std::sync::PoisonError;

/// What consumers and threads have in common. No lock is held while a file is read, memory is taken for it, or anything
/// of the caller's is called or dropped.
pub(super) struct Shared {
    options: SchedulerOptions,
    state: Mutex<State>,
    /// There may be something to do for a thread of the scheduler's own.
    work: Condvar,
    /// What reads are done into, of the threads that read and do not read now.
    buffers: Mutex<Vec<Vec<u8>>>,
    /// Whether there are threads of the scheduler's own, as long as it is not dropped.
    has_threads: bool,
}

impl Shared {
    pub(super) fn new(options: SchedulerOptions, has_threads: bool) -> Self {
        Shared {
            options,
            state: Mutex::default(),
            work: Condvar::new(),
            buffers: Mutex::default(),
            has_threads,
        }
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        match self.state.lock() {
            Ok(state) => state,
            Err(poisoned) => {
                // Whatever panicked was in the middle of a change: none of the books can be relied on.
                let mut state = poisoned.into_inner();
                self.state.clear_poison();
                let listeners = state.break_off(broken());
                drop(state);
                tell(listeners);
                self.state.lock().unwrap_or_else(PoisonError::into_inner)
            }
        }
    }

    /// Waits until somebody tells to look again.
    pub(super) fn wait<'a>(&'a self, told: &Condvar, state: MutexGuard<'a, State>) -> MutexGuard<'a, State> {
        match told.wait(state) {
            Ok(state) => state,
            Err(poisoned) => {
                drop(poisoned.into_inner());
                self.lock()
            }
        }
    }

    /// Whether consumers have to make the steps themselves.
    pub(super) fn is_by_hand(&self, state: &State) -> bool {
        !self.has_threads || state.closed
    }

    /// There may be something to do.
    pub(super) fn notify(&self) {
        self.work.notify_one();
    }

    /// One step, if any can be done. The panic of a listener comes out of it when all is done.
    pub(super) fn serve(&self) -> bool {
        let Some(job) = self.lock().plan(&self.options) else {
            return false;
        };
        if let Some(panic) = self.step(job) {
            resume_unwind(panic);
        }
        true
    }

    /// Does what was planned, hands it out, and calls the listeners; the first panic of one.
    pub(super) fn step(&self, job: Job) -> Option<Payload> {
        let unfinished = Unfinished(self);
        // A new one each time would be given back to the system and taken again.
        let buffers = || self.buffers.lock().unwrap_or_else(PoisonError::into_inner);
        let mut buffer = buffers().pop().unwrap_or_default();
        let done = job.run(&mut buffer);
        buffers().push(buffer);
        let mut state = self.lock();
        let mut listeners = state.deliver(done);
        std::mem::forget(unfinished);
        if self.is_by_hand(&state) {
            // Another step may be possible, and no thread is there to make it.
            listeners.append(&mut state.tell_sleepers());
        }
        drop(state);
        self.notify();
        call_all(calls(listeners))
    }

    /// What a thread of the scheduler's own does, until the scheduler is dropped.
    pub(super) fn work(&self) {
        while let Some(job) = self.next_job() {
            // The panic of a listener has been printed; those who wait for this thread have nothing to do with it.
            if let Some(payload) = self.step(job) {
                drop_payload(payload);
            }
        }
    }

    fn next_job(&self) -> Option<Job> {
        let mut state = self.lock();
        while !state.closed {
            if let Some(job) = state.plan(&self.options) {
                return Some(job);
            }
            state = self.wait(&self.work, state);
        }
        None
    }

    /// Ends the threads; consumers that are left make the steps themselves from now on.
    pub(super) fn close(&self) {
        let mut state = self.lock();
        state.closed = true;
        let listeners = state.tell_sleepers();
        drop(state);
        self.work.notify_all();
        tell(listeners);
    }
}

/// A step that was planned and whose outcome was not handed out. Everything that can fail in it is caught; if something
/// else ever does, its file would stay busy.
struct Unfinished<'a>(&'a Shared);

impl Drop for Unfinished<'_> {
    fn drop(&mut self) {
        let listeners = self.0.lock().break_off(broken());
        tell(listeners);
    }
}

/// Calls listeners where their panics have nowhere to go: the panic hook was told.
fn tell(listeners: Vec<Listener>) {
    if let Some(payload) = call_all(calls(listeners)) {
        drop_payload(payload);
    }
}

fn calls(listeners: Vec<Listener>) -> Vec<impl FnOnce()> {
    listeners.into_iter().map(|listener| move || listener()).collect()
}
