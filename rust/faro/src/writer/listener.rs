//! What writers tell an engine (the option `listener`).

use crate::error::Error;
use std::collections::VecDeque;
use std::fmt;
use std::path::Path;
use std::sync::Arc;

/// Learns what writers do. A call comes from the thread that made the library's call, when that call's work is done. A
/// panic of a listener leaves that call, and changes nothing: what was written stays written. What the listener missed
/// then comes with a later call, if there is one.
///
/// A region that it learns of is committed: a [`Follower`](crate::Follower) that polls in the listener, or later, sees
/// it. So a consumer in the writer's process need not poll in vain (docs/following.md). Each region comes once, in
/// ascending order, and before the end. A writer that is aborted or dropped has no news.
///
/// With the option [`double_buffer`](crate::WriterOptions::double_buffer), the thread that writes a region tells of it,
/// when it is committed; there, a panic goes to the panic hook only. Later calls of the writer wait for that thread, so
/// a listener must not wait for the thread that uses the writer. The library holds no lock in these calls.
///
/// ```
/// use faro::{Files, Follower, Listener, ReaderOptions, Writer, WriterOptions};
/// use std::path::Path;
/// use std::sync::Arc;
/// use std::sync::mpsc::{Sender, channel};
///
/// /// Wakes a consumer.
/// struct Wake(Sender<()>);
///
/// impl Listener for Wake {
///     fn region_written(&self, _name: &Path, _region: usize, _bytes: u64) {
///         let _ = self.0.send(());
///     }
///     fn finished(&self, _name: &Path, _regions: usize, _bytes: u64) {
///         let _ = self.0.send(());
///     }
///     fn fault(&self, _fault: &faro::Error) {
///         let _ = self.0.send(());
///     }
/// }
///
/// # fn main() -> faro::Result<()> {
/// # let folder = tempfile::tempdir().unwrap();
/// # let name = folder.path().join("shuffle");
/// let (wake, woken) = channel();
/// let options = WriterOptions::new(4).follow(true).listener(Arc::new(Wake(wake)));
/// let mut writer = Writer::create(&name, options)?;
/// let mut follower = Follower::open(&Files::paired(&name), ReaderOptions::default())?;
/// writer.write(2, b"a record")?;
/// writer.flush()?;
/// // In the consumer's thread:
/// woken.recv().unwrap();
/// assert_eq!(follower.poll()?.regions, 1);
/// # writer.finish()?;
/// # Ok(()) }
/// ```
pub trait Listener: Send + Sync {
    /// A region was committed. `name` is the name of the data file or single file, `region` the number of the region,
    /// and `bytes` the size of its blocks in the file.
    fn region_written(&self, name: &Path, region: usize, bytes: u64) {
        let _ = (name, region, bytes);
    }

    /// An output was published. `name` is the name of the data file or single file, `regions` the number of regions,
    /// and `bytes` the size of all files.
    fn finished(&self, name: &Path, regions: usize, bytes: u64) {
        let _ = (name, regions, bytes);
    }

    /// A writer failed. The call that this comes from returns the same error.
    fn fault(&self, fault: &Error) {
        let _ = fault;
    }
}

/// Options show whether they have a listener.
impl fmt::Debug for dyn Listener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Listener")
    }
}

/// The committed regions that a listener has not heard of.
pub(super) struct News {
    listener: Option<Arc<dyn Listener>>,
    /// The numbers and sizes of regions.
    regions: VecDeque<(usize, u64)>,
}

impl News {
    pub(super) fn new(listener: Option<Arc<dyn Listener>>) -> News {
        News {
            listener,
            regions: VecDeque::new(),
        }
    }

    /// A region was committed.
    pub(super) fn region_written(&mut self, region: usize, bytes: u64) {
        if self.listener.is_some() {
            self.regions.push_back((region, bytes));
        }
    }

    /// Tells the listener about the regions that are news.
    pub(super) fn tell(&mut self, name: &Path) {
        let Some(listener) = &self.listener else { return };
        // Removed before the call, which may panic: nothing comes twice.
        while let Some((region, bytes)) = self.regions.pop_front() {
            listener.region_written(name, region, bytes);
        }
    }
}
