//! The names of a writer's files: temporary, free, taken (spec, PUB-2, WRT-4).

use crate::error::{Error, FileRole, Result};
use crate::storage::{Destination, Files, with_extension};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

/// The temporary name (PUB-2): the final name, a dot, the first 8 hexadecimal digits of the file id, `.tmp`.
pub(super) fn temporary(path: &Path, file_id: &[u8; 16]) -> PathBuf {
    let [a, b, c, d, ..] = file_id;
    with_extension(path, &format!("{a:02x}{b:02x}{c:02x}{d:02x}.tmp"))
}

pub(super) fn check_free(path: &Path, role: FileRole, overwrite: bool) -> Result<()> {
    if overwrite || path.symlink_metadata().is_err() {
        return Ok(());
    }
    Err(exists(path, role))
}

/// WRT-13: the names of both layouts are free.
pub(super) fn check_both_free(stem: &Path) -> Result<()> {
    for files in [Files::paired(stem), Files::single(stem)] {
        for (role, path) in files.paths() {
            check_free(path, role, false)?;
        }
    }
    Ok(())
}

/// WRT-4, WRT-13: in a storage, no file of these roles exists, if the storage knows.
pub(super) fn check_not_taken(storage: &dyn Destination, roles: &[FileRole]) -> Result<()> {
    for role in roles {
        match storage.taken(*role) {
            Ok(None) => {}
            Ok(Some(name)) => return Err(exists(&name, *role)),
            Err(error) => {
                // Without a file there is no name for the error.
                return Err(Error {
                    file: None,
                    ..Error::io("look for a file of this name", Path::new(""), Some(*role), error)
                });
            }
        }
    }
    Ok(())
}

/// The error for a file that did not get its final name.
pub(super) fn refused(path: &Path, role: FileRole, error: io::Error) -> Error {
    match error.kind() {
        io::ErrorKind::AlreadyExists => exists(path, role),
        _ => Error::io("give the file its name", path, Some(role), error),
    }
}

fn exists(path: &Path, role: FileRole) -> Error {
    let error = io::Error::new(
        io::ErrorKind::AlreadyExists,
        "a file that exists, without the option overwrite",
    );
    Error::io("create the file", path, Some(role), error)
}

/// Syncs the folder of a file, to make the names of new files durable.
pub(crate) fn sync_folder(file: &Path) -> Result<()> {
    let folder = match file.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let synced = File::open(folder).and_then(|folder| folder.sync_all());
    match synced {
        // Windows cannot open folders, and need not.
        Err(error) if cfg!(unix) => Err(Error::io("sync the folder", folder, None, error)),
        _ => Ok(()),
    }
}
