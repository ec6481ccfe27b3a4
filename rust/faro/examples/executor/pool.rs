//! The executor of the engine: a few threads that run jobs.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

type Job = Box<dyn FnOnce() + Send>;

/// The way to the threads. Jobs that are submitted after the end of the pool are dropped.
#[derive(Clone)]
pub(crate) struct Jobs(Sender<Option<Job>>);

impl Jobs {
    pub(crate) fn submit(&self, job: impl FnOnce() + Send + 'static) {
        let _ = self.0.send(Some(Box::new(job)));
    }
}

/// The threads. They end when the pool is dropped, after the jobs that were submitted before.
pub(crate) struct Pool {
    jobs: Jobs,
    threads: Vec<JoinHandle<()>>,
}

impl Pool {
    pub(crate) fn new(threads: usize) -> Pool {
        let (sender, receiver) = channel();
        let receiver = Arc::new(Mutex::new(receiver));
        let start = |_| {
            let receiver = receiver.clone();
            thread::spawn(move || work(&receiver))
        };
        Pool {
            jobs: Jobs(sender),
            threads: (0..threads).map(start).collect(),
        }
    }

    pub(crate) fn jobs(&self) -> &Jobs {
        &self.jobs
    }
}

fn work(jobs: &Mutex<Receiver<Option<Job>>>) {
    let next = || jobs.lock().unwrap_or_else(PoisonError::into_inner).recv();
    while let Ok(Some(job)) = next() {
        // The panic hook has reported it, and the driver misses the task's report. The thread serves other tasks.
        let _ = catch_unwind(AssertUnwindSafe(job));
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        for _ in &self.threads {
            let _ = self.jobs.0.send(None);
        }
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}
