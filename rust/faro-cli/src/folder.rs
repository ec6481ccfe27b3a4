//! The outputs that a command reads: one, or all of a shuffle in folders.

use std::io;
use std::path::{Path, PathBuf};

use faro::Files;
use faro::shuffle::{self, Found};

use crate::escape::escape;
use crate::failure::{Failure, Outcome, code_of, describe};

/// Whether any of the names is a folder of outputs.
pub(crate) fn any(names: &[PathBuf]) -> bool {
    names.iter().any(shuffle::is_folder)
}

/// All outputs in folders, and those that are named.
///
/// # Errors
///
/// A folder that cannot be read, a name without an output, and folders without any.
pub(crate) fn outputs<P: AsRef<Path>>(names: &[P]) -> Outcome<Vec<Files>> {
    let mut found = shuffle::find(names);
    if !found.faults.is_empty() {
        return Err(found.faults.swap_remove(0).into());
    }
    check_any(names, &found)?;
    Ok(found.outputs)
}

/// Refuses folders without outputs.
pub(crate) fn check_any<P: AsRef<Path>>(names: &[P], found: &Found) -> Outcome {
    if !found.outputs.is_empty() || !found.faults.is_empty() {
        return Ok(());
    }
    let others = match found.other_files {
        0 => String::new(),
        count => format!(", but {}", crate::units::plural(count, "other file")),
    };
    let source = io::Error::new(io::ErrorKind::NotFound, format!("no Faro output there{others}"));
    let folder = names.first().map_or(Path::new("."), AsRef::as_ref);
    Err(Failure::file(folder, source))
}

/// The name of an output for people.
pub(crate) fn shown(files: &Files) -> String {
    escape(&shuffle::name(files).display().to_string())
}

/// Reports the errors of outputs that a command left out. The exit code is that of the worst.
///
/// # Errors
///
/// Any fault, when it was shown.
pub(crate) fn left_out<'a>(faults: impl IntoIterator<Item = &'a faro::Error>) -> Outcome {
    let mut worst = None;
    for error in faults {
        eprintln!("faro: left out: {}", escape(&describe(error)));
        worst = worst.max(Some(code_of(error)));
    }
    worst.map_or(Ok(()), |code| Err(Failure::Shown(code)))
}
