//! The files that writers of this process are writing (spec, PUB-6).

use std::collections::BTreeMap;
use std::fs::Metadata;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// What tells a file from any other while it is open: its device and number.
pub(crate) type FileKey = (u64, u64);

/// How many writers have each file, which is one.
static LIVING: Mutex<BTreeMap<FileKey, usize>> = Mutex::new(BTreeMap::new());

fn living() -> MutexGuard<'static, BTreeMap<FileKey, usize>> {
    LIVING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A file that is on the list until this is dropped, which has to be before the file is closed: its number may be given
/// to another file then.
#[derive(Debug)]
pub(crate) struct Living(FileKey);

impl Living {
    /// Puts a file on the list; not where files have no numbers.
    pub(crate) fn new(metadata: &Metadata) -> Option<Living> {
        let key = key_of_metadata(metadata)?;
        *living().entry(key).or_insert(0) += 1;
        Some(Living(key))
    }
}

impl Drop for Living {
    fn drop(&mut self) {
        let mut list = living();
        if let Some(count) = list.get_mut(&self.0) {
            *count -= 1;
            if *count == 0 {
                list.remove(&self.0);
            }
        }
    }
}

/// Whether a writer of this process is writing a file. That has to be asked before the file is opened: closing it gives
/// up all record locks that this process has on it.
pub(crate) fn is_living(metadata: &Metadata) -> bool {
    key_of_metadata(metadata).is_some_and(|key| living().contains_key(&key))
}

/// What a name stands for now, without following a symbolic link.
pub(crate) fn key_of(path: &Path) -> Option<FileKey> {
    key_of_metadata(&path.symlink_metadata().ok()?)
}

/// What tells a file from others, where files have numbers.
#[cfg(unix)]
pub(crate) fn key_of_metadata(metadata: &Metadata) -> Option<FileKey> {
    use std::os::unix::fs::MetadataExt;
    Some((metadata.dev(), metadata.ino()))
}

/// Files have no numbers here.
#[cfg(not(unix))]
pub(crate) fn key_of_metadata(_: &Metadata) -> Option<FileKey> {
    None
}
