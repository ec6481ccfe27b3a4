//! A file that its writer creates, and that is the writer's alone (spec, PUB-2, PUB-4, PUB-6).

use super::living::Living;
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
        let living = file.metadata().ok().as_ref().and_then(Living::new);
        let made = NewFile { living, file };
        if let Err(error) = lock(&made.file, &mut patience) {
            let ours = is_named(&made.file, path);
            drop(made);
            if ours {
                let _ = std::fs::remove_file(path);
            }
            return Err(("lock the file", error));
        }
        // Another process may have taken it for a dead writer's until it was locked, and removed it.
        if is_named(&made.file, path) {
            return Ok(made);
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
