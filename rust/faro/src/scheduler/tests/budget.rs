//! Consumers that are closed in the middle of a read, or of a call of the budget.

use super::common::{collect, hook, options, reader, write};
use crate::scheduler::{Consumer, Scheduler};
use crate::storage::seam::{Call, Verdict};
use crate::{Codec, FileRole, Layout, MemoryBudget};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

/// Grants all, and closes consumers when it is asked for the first time after they were put there.
#[derive(Default)]
struct Closing {
    held: AtomicU64,
    closes: Mutex<Vec<Consumer>>,
}

impl Closing {
    fn close(&self) {
        let closed = std::mem::take(&mut *self.closes.lock().unwrap());
        drop(closed);
    }

    fn held(&self) -> u64 {
        self.held.load(Ordering::Relaxed)
    }
}

impl MemoryBudget for Closing {
    fn try_grow(&self, bytes: u64) -> bool {
        self.close();
        self.held.fetch_add(bytes, Ordering::Relaxed);
        true
    }

    fn shrink(&self, bytes: u64) {
        self.held.fetch_sub(bytes, Ordering::Relaxed);
    }
}

#[test]
fn what_is_granted_after_the_last_consumer_left_is_given_back() {
    let folder = tempfile::tempdir().unwrap();
    let files = write(&folder.path().join("out"), 3, 20, Codec::None, Layout::Paired);
    let reader = reader(&files);
    let budget = Arc::new(Closing::default());
    let scheduler = Scheduler::new(options(0, 8_192, 100_000).memory_budget(budget.clone())).unwrap();
    let consumer = scheduler.partition(&reader, 1).unwrap();
    budget.closes.lock().unwrap().push(consumer);
    while scheduler.serve() {}
    assert!(budget.closes.lock().unwrap().is_empty(), "nothing was asked for");
    assert_eq!(budget.held(), 0);
}

#[test]
fn a_read_for_a_consumer_that_left_is_given_back() {
    let folder = tempfile::tempdir().unwrap();
    let files = write(&folder.path().join("out"), 3, 20, Codec::None, Layout::Paired);
    let reader = reader(&files);
    let expected = collect(reader.partition(2).unwrap());
    for others in [false, true] {
        let budget = Arc::new(Closing::default());
        let scheduler = Scheduler::new(options(0, 8_192, 100_000).memory_budget(budget.clone())).unwrap();
        let stays = others.then(|| scheduler.partition(&reader, 2).unwrap());
        let leaves = scheduler.partition(&reader, 1).unwrap();
        let slot = Arc::new(Mutex::new(Some(leaves)));
        let closing = slot.clone();
        hook(&reader, move |call| {
            if matches!(call, Call::Read(FileRole::Data, _)) {
                let closed = closing.lock().unwrap().take();
                drop(closed);
            }
            Verdict::Go
        });
        while slot.lock().unwrap().is_some() {
            assert!(scheduler.serve(), "nothing is read");
        }
        hook(&reader, |_| Verdict::Go);
        match stays {
            // The read that was under way is over, and its bytes are free.
            None => assert_eq!(scheduler.figures().held_bytes, 0),
            Some(stays) => assert!(collect(stays) == expected),
        }
        assert_eq!(budget.held(), 0);
    }
}
