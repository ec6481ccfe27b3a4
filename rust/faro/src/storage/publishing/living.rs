//! The files that writers in this process are writing (spec, PUB-6).

use std::collections::BTreeMap;
use std::fs::{File, Metadata};
use std::ops::Deref;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The device and inode number of a file: unique while the file is open.
pub(crate) type FileKey = (u64, u64);

/// Each file that is being written, with the other descriptors of it that must stay open until its writer ends.
static LIVING: Mutex<BTreeMap<FileKey, Vec<File>>> = Mutex::new(BTreeMap::new());

fn living() -> MutexGuard<'static, BTreeMap<FileKey, Vec<File>>> {
    LIVING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Keeps a file on the list until it is dropped. It must be dropped before the file is closed, since another file may
/// get the inode number after that.
#[derive(Debug)]
pub(crate) struct Living(FileKey);

impl Living {
    /// Puts a file on the list; none on systems without inode numbers.
    pub(crate) fn new(metadata: &Metadata) -> Option<Living> {
        let key = key_of_metadata(metadata)?;
        living().insert(key, Vec::new());
        Some(Living(key))
    }
}

impl Living {
    /// The number of the file's device.
    pub(crate) fn device(&self) -> u64 {
        self.0.0
    }
}

impl Drop for Living {
    fn drop(&mut self) {
        let closed = living().remove(&self.0);
        drop(closed);
    }
}

/// A file that is read. If a writer in this process is writing it, it stays open until that writer ends: closing any
/// descriptor of the file would release the writer's record lock.
#[derive(Debug)]
pub(crate) struct ReadFile(Option<File>);

impl ReadFile {
    pub(crate) fn new(file: File) -> ReadFile {
        ReadFile(Some(file))
    }

    /// A descriptor that waits to be closed, if a writer in this process is writing the file. Reusing it keeps a
    /// process that reads its own unfinished files from running out of descriptors.
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

/// Whether a writer in this process is writing a file. Check this before opening the file, since closing it releases
/// all record locks that this process has on it.
pub(crate) fn is_living(metadata: &Metadata) -> bool {
    key_of_metadata(metadata).is_some_and(|key| living().contains_key(&key))
}

/// The file that has this name now. Symbolic links are not followed.
pub(crate) fn key_of(path: &Path) -> Option<FileKey> {
    key_of_metadata(&path.symlink_metadata().ok()?)
}

#[cfg(unix)]
pub(crate) fn key_of_metadata(metadata: &Metadata) -> Option<FileKey> {
    use std::os::unix::fs::MetadataExt;
    Some((metadata.dev(), metadata.ino()))
}

/// Without inode numbers there is no key.
#[cfg(not(unix))]
pub(crate) fn key_of_metadata(_: &Metadata) -> Option<FileKey> {
    None
}
