//! Budgets for tests.

// Each test file is a crate and uses only a part.
#![allow(dead_code)]

use faro::MemoryBudget;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

/// A budget with a limit, which can refuse or panic at one call.
pub(crate) struct Limited {
    limit: u64,
    /// What is held, the most that was, and the calls of `try_grow` so far.
    state: Mutex<(u64, u64, usize)>,
    refusals: AtomicU64,
    flaw: Option<(usize, Flaw)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flaw {
    /// This call is refused.
    RefusesOne,
    /// This call and all after it are refused.
    RefusesFrom,
    Panics,
}

impl Limited {
    pub(crate) fn new(limit: u64) -> Arc<Limited> {
        Limited::with_flaw(limit, None)
    }

    pub(crate) fn with_flaw(limit: u64, flaw: Option<(usize, Flaw)>) -> Arc<Limited> {
        Arc::new(Limited {
            limit,
            state: Mutex::default(),
            refusals: AtomicU64::new(0),
            flaw,
        })
    }

    pub(crate) fn held(&self) -> u64 {
        self.state.lock().unwrap().0
    }

    pub(crate) fn most(&self) -> u64 {
        self.state.lock().unwrap().1
    }

    pub(crate) fn calls(&self) -> usize {
        self.state.lock().unwrap().2
    }

    pub(crate) fn refusals(&self) -> u64 {
        self.refusals.load(Ordering::Relaxed)
    }

    fn refuse(&self) -> bool {
        self.refusals.fetch_add(1, Ordering::Relaxed);
        false
    }
}

impl MemoryBudget for Limited {
    fn try_grow(&self, bytes: u64) -> bool {
        assert!(bytes > 0, "nothing is asked for");
        let call = {
            let mut state = self.state.lock().unwrap();
            state.2 += 1;
            state.2 - 1
        };
        match self.flaw {
            Some((at, Flaw::RefusesOne)) if call == at => return self.refuse(),
            Some((at, Flaw::RefusesFrom)) if call >= at => return self.refuse(),
            Some((at, Flaw::Panics)) if call == at => panic!("a flaw of the test"),
            _ => {}
        }
        let mut state = self.state.lock().unwrap();
        if state.0 + bytes > self.limit {
            return self.refuse();
        }
        state.0 += bytes;
        state.1 = state.1.max(state.0);
        true
    }

    fn shrink(&self, bytes: u64) {
        let mut state = self.state.lock().unwrap();
        state.0 = state.0.checked_sub(bytes).expect("more is given back than was granted");
    }
}

/// A budget that calls code of a test in the middle of each of its calls.
pub(crate) struct Probing {
    inner: Arc<Limited>,
    probe: Mutex<Option<Probe>>,
    probes: AtomicUsize,
}

type Probe = Arc<dyn Fn() + Send + Sync>;

impl Probing {
    pub(crate) fn new(limit: u64) -> Arc<Probing> {
        Arc::new(Probing {
            inner: Limited::new(limit),
            probe: Mutex::new(None),
            probes: AtomicUsize::new(0),
        })
    }

    pub(crate) fn set(&self, probe: impl Fn() + Send + Sync + 'static) {
        *self.probe.lock().unwrap() = Some(Arc::new(probe));
    }

    pub(crate) fn unset(&self) {
        let probe = self.probe.lock().unwrap().take();
        drop(probe);
    }

    pub(crate) fn held(&self) -> u64 {
        self.inner.held()
    }

    pub(crate) fn probes(&self) -> usize {
        self.probes.load(Ordering::Relaxed)
    }

    fn probe(&self) {
        let probe = self.probe.lock().unwrap().clone();
        if let Some(probe) = probe {
            self.probes.fetch_add(1, Ordering::Relaxed);
            probe();
        }
    }
}

impl MemoryBudget for Probing {
    fn try_grow(&self, bytes: u64) -> bool {
        self.probe();
        self.inner.try_grow(bytes)
    }

    fn shrink(&self, bytes: u64) {
        self.probe();
        self.inner.shrink(bytes);
    }
}
