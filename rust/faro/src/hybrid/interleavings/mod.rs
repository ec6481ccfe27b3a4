//! Hybrid stores compiled again with the locks and counters of shuttle, as the scheduler is: see its module
//! `interleavings`, which also says how to draw more and how to replay a schedule.

// The scenarios do not use everything.
#![allow(dead_code, clippy::duplicate_mod)]

#[path = "../consumer.rs"]
mod consumer;
#[path = "../full_files.rs"]
mod full_files;
#[path = "../image.rs"]
mod image;
#[path = "../image_file.rs"]
mod image_file;
#[path = "../image_state.rs"]
mod image_state;
#[path = "../index_blocks.rs"]
mod index_blocks;
#[path = "../memory.rs"]
mod memory;
#[path = "../options.rs"]
mod options;
#[path = "../part.rs"]
mod part;
#[path = "../progress.rs"]
mod progress;
#[path = "../selective_files.rs"]
mod selective_files;
#[path = "../spiller.rs"]
mod spiller;
#[path = "../store.rs"]
mod store;

/// Locks and counters of shuttle.
mod sync {
    pub(super) use shuttle::sync::atomic::{AtomicBool, AtomicU64, Ordering};
    pub(super) use shuttle::sync::{Arc, Condvar, Mutex, MutexGuard, Weak};
}

mod failures;
mod pool;
mod scenarios;
mod world;

use consumer::HybridConsumer;
use image_state::HybridPosition;
use memory::HybridMemory;
use options::{HybridMode, HybridOptions};
use store::HybridStore;

/// How many interleavings of a scenario the tests draw in each way. Most runs make files.
const RUNS: usize = 40;

fn explore(scenario: fn()) {
    crate::scheduler::interleavings::explore_some(RUNS, scenario);
}
