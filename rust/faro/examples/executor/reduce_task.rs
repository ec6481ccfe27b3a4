//! A reduce task: reads one partition of all maps, on the engine's executor, without a thread of its own.

use super::data::{Totals, decode};
use super::pool::Jobs;
use faro::Reader;
use faro::scheduler::{Consumer, Scheduler};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::Poll;

/// The most blocks that a task takes before other tasks have their turn.
const TURN: usize = 32;

/// The output that a consumer reads: which attempt of which map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Source {
    pub(crate) map: u32,
    pub(crate) attempt: u32,
}

/// What a task could not read, and why.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) source: Source,
    pub(crate) error: faro::Error,
}

/// Called once with the result of a task, unless it was cancelled.
pub(crate) type Report = Box<dyn Fn(Result<Totals, Failure>) + Send + Sync>;

pub(crate) struct ReduceTask {
    scheduler: Arc<Scheduler>,
    jobs: Jobs,
    report: Report,
    state: Mutex<State>,
}

/// Where the work is. It leaves the state while a thread does it, so that nothing is called under the lock.
enum State {
    Waiting(Work),
    Queued(Work),
    /// `again` says that a consumer became ready meanwhile.
    Running {
        again: bool,
    },
    /// Finished, failed or cancelled.
    Over,
}

/// The partition of each map that is not read to its end, and what was read so far.
struct Work {
    consumers: Vec<(Source, Consumer)>,
    totals: Totals,
}

/// How a turn ended.
enum Turn {
    Done,
    More,
    Waits,
}

impl ReduceTask {
    /// Opens the partition in the output of each map. Clones of a reader share its reads.
    pub(crate) fn new(
        partition: u32,
        outputs: &[(Source, Reader)],
        scheduler: Arc<Scheduler>,
        jobs: Jobs,
        report: Report,
    ) -> faro::Result<Arc<ReduceTask>> {
        let open = |(source, reader): &(Source, Reader)| Ok((*source, scheduler.partition(reader, partition)?));
        let mut consumers = outputs.iter().map(open).collect::<faro::Result<Vec<_>>>()?;
        Ok(Arc::new_cyclic(|task: &Weak<ReduceTask>| {
            for (_, consumer) in &mut consumers {
                // Weak: the task owns the consumer, which owns the listener.
                let task = task.clone();
                consumer.on_ready(move || {
                    if let Some(task) = task.upgrade() {
                        task.wake();
                    }
                });
            }
            let totals = Totals::default();
            ReduceTask {
                scheduler,
                jobs,
                report,
                state: Mutex::new(State::Waiting(Work { consumers, totals })),
            }
        }))
    }

    /// Makes the task run, now or after its current turn.
    pub(crate) fn wake(self: &Arc<Self>) {
        let mut state = self.lock();
        match std::mem::replace(&mut *state, State::Over) {
            State::Waiting(work) => {
                *state = State::Queued(work);
                let task = self.clone();
                self.jobs.submit(move || task.run());
            }
            State::Running { .. } => *state = State::Running { again: true },
            other => *state = other,
        }
    }

    /// Ends the task. Dropping its consumers withdraws their requests, and frees what was read for them.
    pub(crate) fn cancel(&self) {
        let before = std::mem::replace(&mut *self.lock(), State::Over);
        drop(before);
    }

    /// One turn, in a thread of the executor.
    fn run(self: Arc<Self>) {
        let mut state = self.lock();
        let State::Queued(mut work) = std::mem::replace(&mut *state, State::Running { again: false }) else {
            // It was cancelled.
            *state = State::Over;
            return;
        };
        drop(state);
        let turn = work.advance(&self.scheduler);
        let mut state = self.lock();
        let State::Running { again } = *state else {
            // It was cancelled. The consumers are dropped without the lock.
            drop(state);
            return;
        };
        match turn {
            Ok(Turn::Waits) if !again => *state = State::Waiting(work),
            Ok(Turn::Waits | Turn::More) => {
                *state = State::Waiting(work);
                drop(state);
                self.wake();
            }
            Ok(Turn::Done) => {
                *state = State::Over;
                drop(state);
                (self.report)(Ok(work.totals));
            }
            Err(failure) => {
                *state = State::Over;
                drop(state);
                drop(work);
                (self.report)(Err(failure));
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Work {
    fn advance(&mut self, scheduler: &Scheduler) -> Result<Turn, Failure> {
        let mut left = TURN;
        let mut at = 0;
        while let Some((source, consumer)) = self.consumers.get_mut(at) {
            let source = *source;
            let failure = |error| Failure { source, error };
            match consumer.poll() {
                Poll::Ready(Some(block)) => {
                    let block = block.map_err(failure)?;
                    for record in block.record_slices().map_err(failure)? {
                        self.totals += decode(record).expect("a record as the maps write it");
                    }
                    left -= 1;
                    if left == 0 {
                        return Ok(Turn::More);
                    }
                }
                Poll::Ready(None) => drop(self.consumers.swap_remove(at)),
                Poll::Pending => {
                    // The step may be for another task; its listener tells it.
                    scheduler.serve();
                    at += 1;
                }
            }
        }
        match self.consumers.is_empty() {
            true => Ok(Turn::Done),
            false => Ok(Turn::Waits),
        }
    }
}
