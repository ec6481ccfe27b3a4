//! The threads that write what leaves the memory.

use super::sync::{Arc, Condvar, Mutex};
use crate::Executor;
use shuttle::thread::{self, JoinHandle};
use std::collections::VecDeque;

type Work = Box<dyn FnOnce() + Send>;

/// Some threads of an engine. It drops one piece of work, if it is asked to.
#[derive(Default)]
pub(super) struct Pool {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    work: VecDeque<Work>,
    busy: usize,
    ended: bool,
    taken: usize,
    drops: Option<usize>,
}

/// A pool and its threads.
pub(super) struct Running(Arc<Pool>, Vec<JoinHandle<()>>);

impl Executor for Pool {
    fn execute(&self, work: Work) {
        let mut state = self.state.lock().unwrap();
        state.work.push_back(work);
        drop(state);
        self.changed.notify_all();
    }
}

impl Pool {
    fn run(&self) {
        let mut state = self.state.lock().unwrap();
        loop {
            match state.work.pop_front() {
                Some(work) => {
                    let drops = state.drops == Some(state.taken);
                    state.taken += 1;
                    state.busy += 1;
                    drop(state);
                    match drops {
                        true => drop(work),
                        false => work(),
                    }
                    state = self.state.lock().unwrap();
                    state.busy -= 1;
                    self.changed.notify_all();
                }
                None if state.ended => return,
                None => state = self.changed.wait(state).unwrap(),
            }
        }
    }
}

impl Running {
    pub(super) fn new(threads: usize, drops: Option<usize>) -> Self {
        let pool = Arc::new(Pool::default());
        pool.state.lock().unwrap().drops = drops;
        let thread = |_| {
            let pool = Arc::clone(&pool);
            thread::spawn(move || pool.run())
        };
        let threads = (0..threads).map(thread).collect();
        Running(pool, threads)
    }

    /// The executor of a store; none without threads, so that the store's calls write.
    pub(super) fn executor(&self) -> Option<Arc<dyn Executor>> {
        (!self.1.is_empty()).then(|| Arc::clone(&self.0) as Arc<dyn Executor>)
    }

    /// Waits until there is no work.
    pub(super) fn rest(&self) {
        let mut state = self.0.state.lock().unwrap();
        while state.busy > 0 || !state.work.is_empty() {
            state = self.0.changed.wait(state).unwrap();
        }
    }

    /// Ends after all work. There will be no more.
    pub(super) fn end(&mut self) {
        self.0.state.lock().unwrap().ended = true;
        self.0.changed.notify_all();
        self.1.drain(..).for_each(|thread| thread.join().unwrap());
    }
}
