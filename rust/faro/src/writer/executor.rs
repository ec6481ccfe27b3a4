//! Threads that an engine lends (the option `executor`), and the thread of a writer that has none.

use crate::storage::publishing::Birth;
use std::fmt;
use std::sync::Mutex;
use std::sync::mpsc::{Sender, channel};
use std::thread::{Builder, JoinHandle};

/// The threads of an engine, which write the full sort buffers of writers with the option
/// [`double_buffer`](crate::WriterOptions::double_buffer).
///
/// A writer has at most one piece of work at a time. It takes as long as sorting, compressing and writing a region. The
/// writer never waits for work that has not begun: it takes it back, and does it in the caller's thread. So an executor
/// may be busy, may drop work, and may have a single thread. Work that comes too late does nothing. It does not panic.
///
/// ```
/// use faro::{Executor, Writer, WriterOptions};
/// use std::sync::Arc;
///
/// /// A new thread for each piece of work; an engine has a pool.
/// struct Threads;
///
/// impl Executor for Threads {
///     fn execute(&self, work: Box<dyn FnOnce() + Send>) {
///         std::thread::spawn(work);
///     }
/// }
///
/// # fn main() -> faro::Result<()> {
/// # let folder = tempfile::tempdir().unwrap();
/// # let name = folder.path().join("shuffle");
/// let options = WriterOptions::new(4).double_buffer(true).executor(Arc::new(Threads));
/// let mut writer = Writer::create(&name, options)?;
/// writer.write(2, b"a record")?;
/// writer.finish()?;
/// # Ok(()) }
/// ```
pub trait Executor: Send + Sync {
    /// Runs work in another thread, soon. The call returns without waiting for it.
    fn execute(&self, work: Box<dyn FnOnce() + Send>);
}

/// Options show whether they have an executor.
impl fmt::Debug for dyn Executor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Executor")
    }
}

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
