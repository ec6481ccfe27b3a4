//! The scheduler compiled again with the locks and threads of shuttle. Each run draws an interleaving of its threads
//! from a seed, and fails if all wait for each other. The sources are the same, except the module `sync`, so no
//! separate build is needed.
//!
//! `FARO_INTERLEAVINGS` is the number of runs of each scenario, for each way of drawing. A run that fails prints its
//! schedule; set `FARO_SCHEDULE` to it and name the test to replay it.

// The scenarios do not use everything.
#![allow(dead_code, clippy::duplicate_mod)]

#[path = "../budget.rs"]
mod budget;
#[path = "../consumer.rs"]
mod consumer;
#[path = "../deliver.rs"]
mod deliver;
#[path = "../figures.rs"]
mod figures;
#[path = "../granted.rs"]
mod granted;
#[path = "../grants.rs"]
mod grants;
#[path = "../growing.rs"]
mod growing;
#[path = "../growth.rs"]
mod growth;
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
#[path = "../read_buffer.rs"]
mod read_buffer;
#[path = "../shared.rs"]
mod shared;
#[path = "../state.rs"]
mod state;
#[path = "../waiting.rs"]
mod waiting;
#[path = "../watching.rs"]
mod watching;

/// Locks and threads of shuttle.
mod sync {
    pub(super) use shuttle::sync::{Arc, Condvar, Mutex, MutexGuard};
    pub(super) use shuttle::thread::{Builder, JoinHandle, current};
}

mod budget_scenarios;
mod scenarios;

use consumer::Consumer;
use handle::Scheduler;
use options::SchedulerOptions;
use shuttle::scheduler::{PctScheduler, RandomScheduler, ReplayScheduler};
use shuttle::{Config, Runner};

/// The seed, so that the runs are the same each time.
const SEED: u64 = 0xfa50;

/// How often PCT preempts the running thread.
const DEPTHS: [usize; 2] = [2, 5];

fn explore(scenario: fn()) {
    explore_some(200, scenario);
}

/// Runs a scenario in many interleavings, by default in this number for each way of drawing, or in the one to replay.
pub(crate) fn explore_some(runs: usize, scenario: fn()) {
    let mut config = Config::new();
    // Blocks are checked and decoded on this stack.
    config.stack_size = 1 << 20;
    if let Ok(schedule) = std::env::var("FARO_SCHEDULE") {
        let mut schedule = ReplayScheduler::new_from_encoded(&schedule);
        // After the fault is fixed, a run continues beyond the schedule.
        schedule.set_allow_incomplete();
        Runner::new(schedule, config).run(scenario);
        return;
    }
    let wanted = std::env::var("FARO_INTERLEAVINGS").ok();
    let runs = wanted.map_or(runs, |runs| runs.parse().expect("FARO_INTERLEAVINGS is a number"));
    Runner::new(RandomScheduler::new_from_seed(SEED, runs), config.clone()).run(scenario);
    for depth in DEPTHS {
        Runner::new(PctScheduler::new_from_seed(SEED, depth, runs), config.clone()).run(scenario);
    }
}
