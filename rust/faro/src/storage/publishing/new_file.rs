//! Creates a file that belongs to one writer (spec, PUB-2, PUB-4, PUB-6).

use super::living::{Living, key_of_metadata};
use super::lock::{PATIENCE, is_named};
use super::patience::Patience;
use super::record_lock::{Locked, lock_file};
use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind};
use std::path::Path;

/// What the system was to do, and its error.
pub(crate) type Refused = (&'static str, io::Error);

/// A new file with its record lock. It is on the list of files that are being written, except on systems without inode
/// numbers.
#[derive(Debug)]
pub(crate) struct ClaimedFile {
    /// Declared, and so dropped, before the file.
    pub living: Option<Living>,
    pub file: File,
}

/// Creates a file that did not exist. With `replacing`, it first removes the file that has the name, as often as
/// needed.
pub(crate) fn new_file(path: &Path, replacing: bool) -> Result<ClaimedFile, Refused> {
    let mut patience = Patience::new(PATIENCE);
    loop {
        if replacing {
            remove(path)?;
        }
        // For reading too: a finished writer may hand the file over to a reader.
        let mut options = OpenOptions::new();
        options.read(true).write(true).create_new(true);
        let file = match options.open(path) {
            Ok(file) => file,
            // A writer of a single file needs no lock and may have taken the name again.
            Err(error) if replacing && error.kind() == ErrorKind::AlreadyExists && patience.wait() => continue,
            Err(error) => return Err(("create the file", error)),
        };
        match claim(file, path, &mut patience)? {
            Some(made) => return Ok(made),
            // Before it was locked, another process took it for a dead writer's file and removed it.
            None => continue,
        }
    }
}

/// Puts a new file on the list and locks it; none if the name belongs to another file by now.
fn claim(file: File, path: &Path, patience: &mut Patience) -> Result<Option<ClaimedFile>, Refused> {
    let mut living = None;
    let claimed = file.metadata().and_then(|metadata| {
        living = Living::new(&metadata);
        lock(&file, patience)?;
        match path.symlink_metadata() {
            Ok(named) => Ok(key_of_metadata(&named) == key_of_metadata(&metadata)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error),
        }
    });
    match claimed {
        Ok(true) => Ok(Some(ClaimedFile { living, file })),
        Ok(false) => Ok(None),
        Err(error) => {
            if is_named(&file, path) {
                let _ = std::fs::remove_file(path);
            }
            // Leave the list first: once the file is closed, another file may get its inode number.
            drop(living);
            drop(file);
            Err(("lock the file", error))
        }
    }
}

fn remove(path: &Path) -> Result<(), Refused> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(("replace the file", error)),
        _ => Ok(()),
    }
}

/// Takes the lock. Other processes may hold it for a moment to see whether the writer is alive.
fn lock(file: &File, patience: &mut Patience) -> io::Result<()> {
    while lock_file(file)? == Locked::Elsewhere {
        if !patience.wait() {
            return Err(io::Error::new(ErrorKind::TimedOut, "another process has locked it"));
        }
    }
    Ok(())
}
