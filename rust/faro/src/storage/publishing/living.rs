//! The files that writers of this process are writing (spec, PUB-6).

use std::collections::BTreeMap;
use std::fs::{File, Metadata};
use std::ops::Deref;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// What tells a file from any other while it is open: its device and number.
pub(crate) type FileKey = (u64, u64);

/// Each file that is being written, with what was opened of it otherwise and may not be closed before its writer ends.
static LIVING: Mutex<BTreeMap<FileKey, Vec<File>>> = Mutex::new(BTreeMap::new());

fn living() -> MutexGuard<'static, BTreeMap<FileKey, Vec<File>>> {
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
        living().insert(key, Vec::new());
        Some(Living(key))
    }
}

impl Drop for Living {
    fn drop(&mut self) {
        let closed = living().remove(&self.0);
        drop(closed);
    }
}

/// A file that is read. One that a writer of this process is writing is closed when that writer ends: closing any
/// descriptor of it would give up the writer's record lock.
#[derive(Debug)]
pub(crate) struct ReadFile(Option<File>);

impl ReadFile {
    pub(crate) fn new(file: File) -> ReadFile {
        ReadFile(Some(file))
    }

    /// One that waits to be closed, of a file that a writer of this process is writing. Taking it instead of opening
    /// the file again keeps a process that reads its own unfinished files from running out of descriptors.
    pub(crate) fn waiting(path: &Path) -> Option<ReadFile> {
        if living().is_empty() {
            return None;
        }
        let key = key_of_metadata(&path.metadata().ok()?)?;
        living().get_mut(&key)?.pop().map(ReadFile::new)
    }
}

impl Deref for ReadFile {
    type Target = File;

    fn deref(&self) -> &File {
        self.0.as_ref().expect("the file is taken when this is dropped")
    }
}

impl Drop for ReadFile {
    fn drop(&mut self) {
        let Some(file) = self.0.take() else { return };
        let mut list = living();
        if list.is_empty() {
            return;
        }
        let key = file.metadata().ok().as_ref().and_then(key_of_metadata);
        if let Some(kept) = key.and_then(|key| list.get_mut(&key)) {
            kept.push(file);
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
