//! What consumers and threads share: the state, under a lock, and the steps.

use super::SchedulerOptions;
use super::figures::SchedulerFigures;
use super::guard::{Payload, broken, call_all, caught_alone, drop_payload, first};
use super::job::Job;
use super::state::State;
use super::sync::{Condvar, Mutex, MutexGuard};
use super::waiting::Listener;
use crate::error::Result;
use crate::limits::CountedBudget;
use crate::reader::OpenOutput;
use std::panic::resume_unwind;
use std::sync::{self, PoisonError};

/// What consumers and threads share. No lock is held while a file is read, memory is allocated for it, or a value of
/// the caller is called or dropped.
pub(super) struct Shared {
    pub(super) options: SchedulerOptions,
    state: Mutex<State>,
    /// Notified when there may be work for a thread of the scheduler.
    work: Condvar,
    /// Whether the scheduler has threads, while it is not dropped.
    has_threads: bool,
    /// The budget of the options.
    budget: Option<sync::Arc<CountedBudget>>,
}

impl Shared {
    pub(super) fn new(mut options: SchedulerOptions, has_threads: bool) -> Self {
        Shared {
            budget: CountedBudget::wrap(&mut options.memory_budget),
            state: Mutex::new(State::new(&options)),
            options,
            work: Condvar::new(),
            has_threads,
        }
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        match self.state.lock() {
            Ok(state) => state,
            Err(poisoned) => {
                // A panic interrupted a change, so the state cannot be trusted.
                let mut state = poisoned.into_inner();
                self.state.clear_poison();
                let listeners = state.break_off(broken());
                drop(state);
                tell(listeners);
                self.state.lock().unwrap_or_else(PoisonError::into_inner)
            }
        }
    }

    pub(super) fn figures(&self) -> SchedulerFigures {
        SchedulerFigures {
            memory_refusals: CountedBudget::refusals(self.budget.as_ref()),
            ..self.lock().figures
        }
    }

    /// Waits for a notification.
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

    /// Notifies a thread that there may be work.
    pub(super) fn notify(&self) {
        self.work.notify_one();
    }

    /// Makes one step, if one can be made. It passes on the panic of a listener or of the budget after everything else
    /// is done.
    pub(super) fn serve(&self) -> bool {
        let mut panic = self.grow();
        let job = self.lock().plan(&self.options);
        let is_made = job.is_some();
        if let Some(job) = job {
            panic = first(panic, self.step(job));
        }
        if let Some(panic) = panic {
            resume_unwind(panic);
        }
        is_made
    }

    /// Does the planned work, hands out the result, and calls the listeners. Returns the first panic of a listener or of
    /// the budget.
    pub(super) fn step(&self, mut job: Job) -> Option<Payload> {
        let unfinished = Unfinished(self);
        let asked = job.ask();
        let done = job.run();
        let mut state = self.lock();
        let (mut listeners, freed) = state.deliver(done);
        std::mem::forget(unfinished);
        if self.is_by_hand(&state) {
            // Another step may be possible, and there are no threads to make it.
            listeners.append(&mut state.tell_sleepers());
        }
        drop(state);
        self.notify();
        let given_back = caught_alone(|| drop(freed)).err();
        first(first(asked, given_back), call_all(calls(listeners)))
    }

    /// Tells the consumers of an output which regions it has now, and whether more will come.
    pub(super) fn output_grew(&self, output: &OpenOutput, end: Option<&Result<()>>) {
        let mut state = self.lock();
        state.output_grew(output, end);
        let listeners = match self.is_by_hand(&state) {
            true => state.tell_sleepers(),
            false => Vec::new(),
        };
        drop(state);
        self.notify();
        if let Some(panic) = call_all(calls(listeners)) {
            resume_unwind(panic);
        }
    }

    /// The loop of a thread of the scheduler, until the scheduler is dropped.
    pub(super) fn work(&self) {
        while let Some(job) = self.next_job() {
            // The panic hook has reported the panic of a listener. It must not stop this thread, which serves others.
            if let Some(payload) = self.step(job) {
                drop_payload(payload);
            }
        }
    }

    fn next_job(&self) -> Option<Job> {
        let mut state = self.lock();
        while !state.closed {
            if state.missing(&self.options).is_some() {
                drop(state);
                // After a refusal or a panic it reads with what there is.
                if let Some(payload) = self.grow() {
                    drop_payload(payload);
                }
                state = self.lock();
                if state.closed {
                    return None;
                }
            }
            if let Some(job) = state.plan(&self.options) {
                return Some(job);
            }
            state = self.wait(&self.work, state);
        }
        None
    }

    /// Ends the threads. The consumers that are left make the steps themselves from now on.
    pub(super) fn close(&self) {
        let mut state = self.lock();
        state.closed = true;
        state.end_watches();
        let listeners = state.tell_sleepers();
        drop(state);
        self.work.notify_all();
        tell(listeners);
    }
}

/// A step without a handed out result. Everything in it that can fail is caught; if something else fails, its file must
/// not stay busy.
struct Unfinished<'a>(&'a Shared);

impl Drop for Unfinished<'_> {
    fn drop(&mut self) {
        let listeners = self.0.lock().break_off(broken());
        tell(listeners);
    }
}

/// Calls listeners where no caller can get their panics. The panic hook has reported them.
fn tell(listeners: Vec<Listener>) {
    if let Some(payload) = call_all(calls(listeners)) {
        drop_payload(payload);
    }
}

fn calls(listeners: Vec<Listener>) -> Vec<impl FnOnce()> {
    listeners.into_iter().map(|listener| move || listener()).collect()
}
