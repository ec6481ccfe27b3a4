//! Threads that an engine lends (the option `executor`).

use std::fmt;

/// The threads of an engine, which write the full sort buffers of writers with the option
/// [`double_buffer`](crate::WriterOptions::double_buffer).
///
/// A writer has at most one piece of work at a time. It takes as long as sorting, compressing and writing a region. The
/// writer never waits for work that has not begun: it takes it back, and does it in the caller's thread. So an executor
/// may be busy, may drop work, and may have a single thread. Work that comes too late does nothing. Work does not panic.
///
/// The threads may block: work writes to the storage, which may wait (with tokio, `spawn_blocking` runs such work).
/// `finish`, `flush`, `abort` and drop of a writer wait for work that has begun. The threads of
/// [`compress_threads`](crate::WriterOptions::compress_threads) are not taken from the executor.
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
