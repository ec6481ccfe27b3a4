//! A file that its writer creates, and that is the writer's alone (spec, PUB-2, PUB-4, PUB-6).

use super::living::{Living, key_of_metadata};
use super::lock::{PATIENCE, is_named};
use super::patience::Patience;
use super::record_lock::{Locked, lock_file};
use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind};
use std::path::Path;

/// What the system refused, and what it was to do.
pub(crate) type Refused = (&'static str, io::Error);

/// A new file with its record lock. It is on the list of files that are being written, where files have numbers.
#[derive(Debug)]
pub(crate) struct NewFile {
    /// Before the file, which is closed after it.
    pub living: Option<Living>,
    pub file: File,
}

/// Creates a file that did not exist before; with `replacing`, what has the name is removed first, as often as needed.
pub(crate) fn new_file(path: &Path, replacing: bool) -> Result<NewFile, Refused> {
    let mut patience = Patience::new(PATIENCE);
    loop {
        if replacing {
            remove(path)?;
        }
        let file = match OpenOptions::new().write(true).create_new(true).open(path) {
            Ok(file) => file,
            // A writer that needs no lock for its one file may have the name again by now.
            Err(error) if replacing && error.kind() == ErrorKind::AlreadyExists && patience.wait() => continue,
            Err(error) => return Err(("create the file", error)),
        };
        match claim(file, path, &mut patience)? {
            Some(made) => return Ok(made),
            // Another process took it for a dead writer's until it was locked, and removed it.
            None => continue,
        }
    }
}

/// Puts a new file on the list and locks it. None if its name is not its own any more.
fn claim(file: File, path: &Path, patience: &mut Patience) -> Result<Option<NewFile>, Refused> {
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
        Ok(true) => Ok(Some(NewFile { living, file })),
        Ok(false) => Ok(None),
        Err(error) => {
            if is_named(&file, path) {
                let _ = std::fs::remove_file(path);
            }
            // The list goes first: the file's number may be given to another file when it is closed.
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

/// Waits for others that only look whether the file has a living writer.
fn lock(file: &File, patience: &mut Patience) -> io::Result<()> {
    while lock_file(file)? == Locked::Elsewhere {
        if !patience.wait() {
            return Err(io::Error::new(ErrorKind::TimedOut, "another process has locked it"));
        }
    }
    Ok(())
}
