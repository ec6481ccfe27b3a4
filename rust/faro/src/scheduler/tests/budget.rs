//! Consumers that are closed in the middle of a read, or of a call of the budget.

use super::common::{collect, hook, in_time, options, reader, write};
use crate::scheduler::{Consumer, Scheduler};
use crate::storage::seam::{Call, Verdict};
use crate::{Codec, FileRole, Layout, MemoryBudget, Reader, ReaderOptions};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};

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

/// Grants so much, and asks the scheduler in each call.
struct Looking {
    left: AtomicU64,
    calls: AtomicU64,
    look: OnceLock<Box<dyn Fn() + Send + Sync>>,
}

impl Looking {
    fn new(left: u64) -> Arc<Looking> {
        Arc::new(Looking {
            left: AtomicU64::new(left),
            calls: AtomicU64::new(0),
            look: OnceLock::new(),
        })
    }

    fn look(&self) {
        if let Some(look) = self.look.get() {
            look();
        }
    }
}

impl MemoryBudget for Looking {
    fn try_grow(&self, bytes: u64) -> bool {
        self.look();
        self.calls.fetch_add(1, Ordering::SeqCst);
        self.left
            .fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(bytes))
            .is_ok()
    }

    fn shrink(&self, bytes: u64) {
        self.look();
        self.left.fetch_add(bytes, Ordering::SeqCst);
    }
}

/// A read may have the last handle of an output. Its end gives regions back, without the scheduler's lock.
#[test]
fn the_last_handle_of_an_output_is_dropped_without_the_lock() {
    in_time(|| {
        let folder = tempfile::tempdir().unwrap();
        let files = write(&folder.path().join("out"), 3, 20, Codec::None, Layout::Paired);
        let budget = Looking::new(u64::MAX);
        let reading = ReaderOptions::default().memory_budget(budget.clone());
        let reader = Reader::open(&files, reading).unwrap();
        let scheduler = Arc::new(Scheduler::new(options(0, 8_192, 100_000)).unwrap());
        let looking = Arc::downgrade(&scheduler);
        let look = move || {
            if let Some(scheduler) = looking.upgrade() {
                scheduler.figures();
            }
        };
        assert!(budget.look.set(Box::new(look)).is_ok());
        let consumer = scheduler.partition(&reader, 1).unwrap();
        let slot = Arc::new(Mutex::new(Some((consumer, reader.clone()))));
        let closing = slot.clone();
        hook(&reader, move |call| {
            if matches!(call, Call::Read(FileRole::Data, _)) {
                let closed = closing.lock().unwrap().take();
                drop(closed);
            }
            Verdict::Go
        });
        drop(reader);
        while slot.lock().unwrap().is_some() {
            assert!(scheduler.serve(), "nothing is read");
        }
        assert!(budget.calls.load(Ordering::SeqCst) > 0, "no region was kept");
        assert_eq!(budget.left.load(Ordering::SeqCst), u64::MAX);
    });
}

/// Threads that have nothing to do ask the budget no more, however often it has refused.
#[test]
fn idle_threads_do_not_ask() {
    let folder = tempfile::tempdir().unwrap();
    let files = write(&folder.path().join("out"), 3, 20, Codec::None, Layout::Paired);
    let reader = reader(&files);
    let budget = Looking::new(8_192);
    let scheduler = Scheduler::with_threads(options(0, 8_192, 100_000).memory_budget(budget.clone()), 2).unwrap();
    let consumers = [0, 1].map(|partition| scheduler.partition(&reader, partition).unwrap());
    let calls = || budget.calls.load(Ordering::SeqCst);
    let end = Instant::now() + Duration::from_secs(30);
    loop {
        let before = calls();
        std::thread::sleep(Duration::from_millis(200));
        if calls() == before && scheduler.figures().held_bytes > 0 {
            break;
        }
        assert!(Instant::now() < end, "{before} and {} calls", calls());
    }
    for (consumer, partition) in consumers.into_iter().zip([0, 1]) {
        assert!(collect(consumer) == collect(reader.partition(partition).unwrap()));
    }
}
