//! What readers ask of a budget for dictionaries.

mod budget;
mod common;

use budget::Limited;
use common::{Place, with_dictionary};
use faro::{ErrorCode, MemoryBudget, Reader, ReaderOptions};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

/// Refuses one request, after another thread has read everything that the refused call needs.
struct Overtaken {
    inner: Arc<Limited>,
    at: usize,
    other: Mutex<Option<Reader>>,
}

impl MemoryBudget for Overtaken {
    fn try_grow(&self, bytes: u64) -> bool {
        let mut other = None;
        if self.inner.calls() == self.at {
            other = self.other.lock().unwrap().take();
        }
        if let Some(other) = other {
            assert!(other.all().unwrap().all(|block| block.is_ok()));
            return false;
        }
        self.inner.try_grow(bytes)
    }

    fn shrink(&self, bytes: u64) {
        self.inner.shrink(bytes);
    }
}

/// What another thread has got in the meantime needs no memory.
#[test]
fn a_dictionary_that_is_there_by_now_is_not_refused() {
    let place = Place::new();
    let files = with_dictionary(&place);
    for at in 0.. {
        let budget = Arc::new(Overtaken {
            inner: Limited::new(u64::MAX),
            at,
            other: Mutex::new(None),
        });
        let reader = Reader::open(&files, ReaderOptions::default().memory_budget(budget.clone())).unwrap();
        *budget.other.lock().unwrap() = Some(reader.clone());
        for block in reader.all().unwrap() {
            block.unwrap();
        }
        if budget.other.lock().unwrap().take().is_some() {
            assert!(at > 2, "nothing is asked for");
            break;
        }
        drop(reader);
        assert_eq!(budget.inner.held(), 0, "{at}");
    }
}

/// Panics when it gets memory back for the first time.
#[derive(Default)]
struct Brittle(AtomicU64);

impl MemoryBudget for Brittle {
    fn try_grow(&self, _: u64) -> bool {
        true
    }

    fn shrink(&self, _: u64) {
        assert!(self.0.fetch_add(1, Ordering::Relaxed) > 0, "a flaw of the test");
    }
}

/// A damaged dictionary is reported, whatever the budget does when the memory for it is given back.
#[test]
fn a_damaged_dictionary_is_reported_before_a_panic() {
    let place = Place::new();
    let files = with_dictionary(&place);
    let entry = common::open(&files).unwrap().dictionaries()[0];
    let path = common::index_path(&files);
    let mut bytes = std::fs::read(path).unwrap();
    bytes[entry.offset as usize + 100] ^= 1;
    std::fs::write(path, bytes).unwrap();
    let budget = Arc::new(Brittle::default());
    let reader = Reader::open(&files, ReaderOptions::default().memory_budget(budget.clone())).unwrap();
    let fault = reader.all().unwrap().find_map(Result::err).unwrap();
    assert_eq!(fault.code, ErrorCode::Checksum, "{fault}");
    assert!(budget.0.load(Ordering::Relaxed) > 0, "nothing was given back");
}
