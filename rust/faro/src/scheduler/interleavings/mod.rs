//! The scheduler once more, with locks and threads of shuttle: each run draws another interleaving of its threads, from a
//! seed, and a run in which all wait for each other fails. The sources are the scheduler's own, word by word; only `sync`
//! is another one, so that no other build is needed.
//!
//! `FARO_INTERLEAVINGS` is how many runs each scenario has with each way of drawing. A run that fails prints its
//! schedule; `FARO_SCHEDULE` with the name of the test replays it.

// What the scenarios do not use is used by the original.
#![allow(dead_code, clippy::duplicate_mod)]

#[path = "../budget.rs"]
mod budget;
#[path = "../consumer.rs"]
mod consumer;
#[path = "../deliver.rs"]
mod deliver;
#[path = "../figures.rs"]
mod figures;
#[path = "../guard.rs"]
mod guard;
#[path = "../handle.rs"]
mod handle;
#[path = "../held.rs"]
mod held;
#[path = "../job.rs"]
mod job;
#[path = "../options.rs"]
mod options;
#[path = "../shared.rs"]
mod shared;
#[path = "../state.rs"]
mod state;
#[path = "../waiting.rs"]
mod waiting;

/// Locks and threads that shuttle knows of.
mod sync {
    pub(super) use shuttle::sync::{Arc, Condvar, Mutex, MutexGuard};
    pub(super) use shuttle::thread::{Builder, JoinHandle, current};
}

mod scenarios;

use consumer::Consumer;
use handle::Scheduler;
use options::SchedulerOptions;
use shuttle::scheduler::{PctScheduler, RandomScheduler, ReplayScheduler};
use shuttle::{Config, Runner};

/// Where the drawing begins: the same runs each time.
const SEED: u64 = 0xfa50;

/// How often PCT takes the turn from the thread that has it.
const DEPTHS: [usize; 2] = [2, 5];

/// Runs a scenario in many interleavings, or in the one that is to be replayed.
fn explore(scenario: fn()) {
    let mut config = Config::new();
    // Blocks are checked and decoded on it.
    config.stack_size = 1 << 20;
    if let Ok(schedule) = std::env::var("FARO_SCHEDULE") {
        let mut schedule = ReplayScheduler::new_from_encoded(&schedule);
        // When the fault is mended, a run goes on from where it failed.
        schedule.set_allow_incomplete();
        Runner::new(schedule, config).run(scenario);
        return;
    }
    let runs = std::env::var("FARO_INTERLEAVINGS").ok();
    let runs = runs.map_or(200, |runs| runs.parse().expect("FARO_INTERLEAVINGS is a number"));
    Runner::new(RandomScheduler::new_from_seed(SEED, runs), config.clone()).run(scenario);
    for depth in DEPTHS {
        Runner::new(PctScheduler::new_from_seed(SEED, depth, runs), config.clone()).run(scenario);
    }
}
