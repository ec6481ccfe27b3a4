//! The scenarios with a budget.

use super::scenarios::{PARTITIONS, assert_all, open, undaunted, wait_for};
use super::shared::Shared;
use super::sync::{Arc, Mutex};
use super::{Scheduler, SchedulerOptions, explore};
use crate::MemoryBudget;
use shuttle::rand::{Rng, thread_rng};
use shuttle::thread;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, Ordering};

/// A budget of some bytes, or one that refuses or panics at random. It asks the scheduler for its figures in each call.
struct Fickle {
    left: Mutex<i64>,
    /// While consumers are opened, all is granted.
    opening: AtomicBool,
    scheduler: Mutex<Option<Arc<Shared>>>,
    panics: bool,
}

impl Fickle {
    fn probe(&self) {
        let scheduler = self.scheduler.lock().unwrap().clone();
        scheduler.map(|scheduler| scheduler.lock().figures);
    }
}

impl MemoryBudget for Fickle {
    fn try_grow(&self, bytes: u64) -> bool {
        self.probe();
        let opening = self.opening.load(Ordering::Relaxed);
        match thread_rng().gen_range(0..6) {
            0 if !opening => return false,
            1 if self.panics => resume_unwind(Box::new("in the budget")),
            _ => {}
        }
        let mut left = self.left.lock().unwrap();
        let is_there = opening || *left >= bytes as i64;
        *left -= if is_there { bytes as i64 } else { 0 };
        is_there
    }

    fn shrink(&self, bytes: u64) {
        self.probe();
        *self.left.lock().unwrap() += bytes as i64;
    }
}

const LIMIT: i64 = 40_000;

/// Consumers that wait or are polled, and a scheduler that is dropped at some time, with a budget.
fn with_budget(panics: bool) {
    explore(if panics { || scenario(true) } else { || scenario(false) });

    fn scenario(panics: bool) {
        let budget = std::sync::Arc::new(Fickle {
            left: Mutex::new(LIMIT),
            opening: AtomicBool::new(true),
            scheduler: Mutex::default(),
            panics,
        });
        let threads = thread_rng().gen_range(0..3);
        let options = SchedulerOptions::default()
            .gap_bytes(thread_rng().gen_range(0..2) * 4_096)
            .read_bytes(8_192)
            .memory_budget(budget.clone());
        let scheduler = match threads {
            0 => Scheduler::new(options).unwrap(),
            threads => Scheduler::with_threads(options, threads).unwrap(),
        };
        *budget.scheduler.lock().unwrap() = Some(scheduler.shared.clone());
        let reader = open();
        let open = |p| undaunted(|| scheduler.partition(&reader, p).unwrap());
        let consumers: Vec<_> = (0..PARTITIONS).map(open).collect();
        let mut leaves = open(1);
        budget.opening.store(false, Ordering::Relaxed);
        let left = thread::spawn(move || {
            undaunted(|| leaves.next());
        });
        if thread_rng().gen_bool(0.5) {
            let gone = thread::spawn(move || drop(scheduler));
            assert_all(wait_for(consumers));
            gone.join().unwrap();
        } else {
            assert_all(wait_for(consumers));
            drop(scheduler);
        }
        left.join().unwrap();
        let shared = budget.scheduler.lock().unwrap().take();
        drop(shared);
        assert_eq!(*budget.left.lock().unwrap(), LIMIT, "not all is given back");
    }
}

#[test]
fn a_budget_refuses() {
    with_budget(false);
}

#[test]
fn a_budget_refuses_and_panics() {
    with_budget(true);
}
