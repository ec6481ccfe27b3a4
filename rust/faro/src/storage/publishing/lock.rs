//! The publishing lock (spec, PUB-5).

use super::patience::Patience;
use super::record_lock::{Locked, lock_file};
use std::collections::BTreeSet;
use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How long a writer waits for the lock before it fails.
pub(super) const PATIENCE: Duration = Duration::from_secs(60);

/// The locks that threads of this process hold. Record locks belong to the process, and closing any descriptor of the
/// file releases them, so only one thread at a time may have the file open.
static TURNS: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());
static TURN_ENDED: Condvar = Condvar::new();

fn turns() -> MutexGuard<'static, BTreeSet<PathBuf>> {
    TURNS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The lock of one output, held until this is dropped.
#[derive(Debug)]
pub(crate) struct PublishingLock {
    path: PathBuf,
    /// Closed after the name is removed, and before the next thread takes its turn.
    file: Option<File>,
    turn: Turn,
}

impl PublishingLock {
    /// Takes the lock with this path, and waits for it up to [`PATIENCE`].
    pub(crate) fn take(path: &Path) -> io::Result<Self> {
        Self::take_within(path, PATIENCE)
    }

    /// As [`PublishingLock::take`], with another limit for the wait.
    pub(crate) fn take_within(path: &Path, time: Duration) -> io::Result<Self> {
        let mut patience = Patience::new(time);
        let turn = Turn::take(path, patience.end())?;
        loop {
            let file = open(path)?;
            // Step 4: the previous owner of the lock may have removed the name with it.
            let locked = lock_file(&file)?;
            if locked != Locked::Elsewhere && is_named(&file, path) {
                return Ok(PublishingLock {
                    path: path.to_path_buf(),
                    file: Some(file),
                    turn,
                });
            }
            drop(file);
            if !patience.wait() {
                return Err(too_long(path));
            }
        }
    }

    /// Releases the lock and leaves its file.
    pub(crate) fn leave(mut self) {
        self.file = None;
    }
}

impl Drop for PublishingLock {
    fn drop(&mut self) {
        if let Some(file) = self.file.take() {
            // If the file stays, the next writer reuses it.
            let _ = std::fs::remove_file(&self.path);
            drop(file);
        }
        self.turn.end();
    }
}

/// The right of one thread to have the lock file open.
#[derive(Debug)]
struct Turn(Option<PathBuf>);

impl Turn {
    fn take(path: &Path, end: Instant) -> io::Result<Turn> {
        let key = key(path);
        let mut taken = turns();
        while taken.contains(&key) {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(too_long(path));
            }
            taken = TURN_ENDED
                .wait_timeout(taken, left)
                .unwrap_or_else(PoisonError::into_inner)
                .0;
        }
        taken.insert(key.clone());
        Ok(Turn(Some(key)))
    }

    fn end(&mut self) {
        if let Some(key) = self.0.take() {
            turns().remove(&key);
            TURN_ENDED.notify_all();
        }
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        self.end();
    }
}

/// One key for one file, whatever path leads to its folder.
fn key(path: &Path) -> PathBuf {
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    match (folder.canonicalize(), path.file_name()) {
        (Ok(folder), Some(name)) => folder.join(name),
        _ => path.to_path_buf(),
    }
}

fn too_long(path: &Path) -> io::Error {
    let text = format!(
        "another writer has held the publishing lock {} for too long",
        path.display()
    );
    io::Error::new(ErrorKind::TimedOut, text)
}

fn open(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(false);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        // Opening a pipe with this name must not block.
        options.custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK);
    }
    options.open(path)
}

#[cfg(unix)]
pub(super) fn is_named(file: &File, path: &Path) -> bool {
    use super::living::{key_of, key_of_metadata};
    file.metadata().is_ok_and(|own| key_of(path) == key_of_metadata(&own))
}

#[cfg(not(unix))]
pub(super) fn is_named(_: &File, _: &Path) -> bool {
    true
}
