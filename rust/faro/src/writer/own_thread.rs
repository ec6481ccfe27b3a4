//! The thread of a writer with the option `double_buffer` and no executor.

use super::executor::Executor;
use crate::storage::publishing::Birth;
use std::sync::Mutex;
use std::sync::mpsc::{Sender, channel};
use std::thread::{Builder, JoinHandle};

type Work = Box<dyn FnOnce() + Send>;

/// One thread, which lives until this is dropped.
pub(super) struct OwnThread {
    /// Present until this is dropped.
    link: Option<Link>,
    born: Birth,
}

struct Link {
    /// Only to be used by one thread at a time, as the writer itself is.
    work: Mutex<Sender<Work>>,
    thread: JoinHandle<()>,
}

impl OwnThread {
    /// Starts the thread; none if the system refuses one.
    pub(super) fn start() -> Option<OwnThread> {
        let (work, next) = channel::<Work>();
        let run = move || next.into_iter().for_each(|work| work());
        let thread = Builder::new().name("faro-region".into()).spawn(run).ok()?;
        Some(OwnThread {
            link: Some(Link {
                work: Mutex::new(work),
                thread,
            }),
            born: Birth::here(),
        })
    }
}

impl Executor for OwnThread {
    fn execute(&self, work: Work) {
        if let Some(link) = &self.link
            && let Ok(sender) = link.work.lock()
        {
            // A thread that has ended loses it, and the writer takes it back.
            let _ = sender.send(work);
        }
    }
}

impl Drop for OwnThread {
    fn drop(&mut self) {
        let Some(link) = self.link.take() else { return };
        if self.born.is_here() {
            drop(link.work);
            let _ = link.thread.join();
        } else {
            // A forked process has no such thread, which may have been in the middle of a call of the channel.
            std::mem::forget(link);
        }
    }
}
