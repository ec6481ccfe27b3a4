//! Gives files their final names, in steps that no other writer can undo by accident (spec, PUB).

mod fork;
mod living;
mod lock;
mod new_file;
mod patience;
mod record_lock;
mod rename_new;

pub(crate) use fork::Birth;
pub(crate) use living::{Living, ReadFile, is_living, key_of, key_of_metadata};
pub(crate) use lock::PublishingLock;
pub(crate) use new_file::{ClaimedFile, new_file};
pub(crate) use record_lock::{Locked, lock_file, unlock_file};

use living::FileKey;
use rename_new::rename_new;
use std::collections::BTreeSet;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A file that is about to get its final name.
pub(crate) struct Naming<'a> {
    pub temporary: &'a Path,
    pub last: &'a Path,
    /// The number of the device, if it is known.
    pub device: Option<u64>,
}

/// Whether files with the final names may be replaced, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Replace {
    Nothing,
    /// Yes, by a single file, in one step.
    Single,
    /// Yes, by the files of a pair, while other writers wait for the lock.
    Pair,
}

/// Gives all files their final names, in this order (PUB-2 to PUB-4), or none of them. An error comes with the position
/// of the file that failed.
pub(crate) fn give_names(names: &[Naming<'_>], lock: &Path, replace: Replace) -> Result<(), (usize, io::Error)> {
    if replace == Replace::Single {
        return rename_all(names);
    }
    if replace == Replace::Pair {
        let _lock = PublishingLock::take(lock).map_err(|error| (0, error))?;
        return rename_all(names);
    }
    let mut given: Vec<(usize, Option<FileKey>)> = Vec::new();
    for (at, name) in names.iter().enumerate() {
        // Only a file that others follow may have to be taken back.
        let key = if at + 1 < names.len() {
            key_of(name.temporary)
        } else {
            None
        };
        match give_free_name(name) {
            Ok(()) => given.push((at, key)),
            Err(error) if at == 0 && has_no_links(&error) => return rename_free(names, lock),
            Err(error) => {
                take_back(names, &given, lock);
                return Err((at, error));
            }
        }
    }
    Ok(())
}

/// The devices that have hard links, as this process has seen.
static LINKED: Mutex<BTreeSet<u64>> = Mutex::new(BTreeSet::new());

fn linked() -> MutexGuard<'static, BTreeSet<u64>> {
    LINKED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Gives a file a name that is free (PUB-3): by a hard link, or by one rename where the system has it, on a device that
/// has hard links. On others, writers look and rename under the lock, which that rename would not respect.
fn give_free_name(name: &Naming<'_>) -> io::Result<()> {
    if name.device.is_some_and(|device| linked().contains(&device)) {
        match rename_new(name.temporary, name.last) {
            Err(error) if error.kind() == ErrorKind::Unsupported => {}
            done => return done,
        }
    }
    link(name)?;
    linked().extend(name.device);
    Ok(())
}

fn link(name: &Naming<'_>) -> io::Result<()> {
    std::fs::hard_link(name.temporary, name.last)?;
    // If this fails, the temporary name stays as a second name (PUB-7).
    let _ = std::fs::remove_file(name.temporary);
    Ok(())
}

/// Whether the file system has no hard links.
fn has_no_links(error: &io::Error) -> bool {
    if matches!(error.kind(), ErrorKind::Unsupported | ErrorKind::TooManyLinks) {
        return true;
    }
    #[cfg(unix)]
    return matches!(
        error.raw_os_error(),
        Some(libc::EPERM | libc::EOPNOTSUPP | libc::ENOSYS)
    );
    #[cfg(not(unix))]
    false
}

/// PUB-3 without hard links: checks that the names are free, then renames. Other writers that do the same wait for the
/// lock.
fn rename_free(names: &[Naming<'_>], lock: &Path) -> Result<(), (usize, io::Error)> {
    let _lock = PublishingLock::take(lock).map_err(|error| (0, error))?;
    for (at, name) in names.iter().enumerate() {
        if name.last.symlink_metadata().is_ok() {
            return Err((at, ErrorKind::AlreadyExists.into()));
        }
    }
    rename_all(names)
}

/// Renames one file after another. After a failure, the files before it get their temporary names back.
fn rename_all(names: &[Naming<'_>]) -> Result<(), (usize, io::Error)> {
    for (at, name) in names.iter().enumerate() {
        if let Err(error) = std::fs::rename(name.temporary, name.last) {
            for before in &names[..at] {
                let _ = std::fs::rename(before.last, before.temporary);
            }
            return Err((at, error));
        }
    }
    Ok(())
}

/// Removes the final names again, except those that belong to another file by now.
fn take_back(names: &[Naming<'_>], given: &[(usize, Option<FileKey>)], lock: &Path) {
    if given.is_empty() {
        return;
    }
    let Ok(_lock) = PublishingLock::take(lock) else { return };
    for (at, key) in given {
        let name = &names[*at];
        if key.is_some() && key_of(name.last) == *key {
            let _ = std::fs::rename(name.last, name.temporary);
        }
    }
}

/// The path of the publishing lock, `NAME.faro-lock` (PUB-5), for the final name of a data or single file.
pub(crate) fn lock_path(last: &Path) -> PathBuf {
    let stem = match last.extension().and_then(|extension| extension.to_str()) {
        Some("data" | "index" | "faro") => last.with_extension(""),
        _ => last.to_path_buf(),
    };
    let mut text = stem.into_os_string();
    text.push(".faro-lock");
    text.into()
}

#[cfg(test)]
mod tests;
