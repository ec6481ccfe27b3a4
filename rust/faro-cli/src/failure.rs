//! The failures of commands, and their exit codes.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use crate::escape::escape;

/// Why a command did not succeed.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The command found differences, and has shown them.
    Differences,
    /// The arguments are wrong.
    Usage(String),
    /// The system reported an error.
    Environment { what: String, source: io::Error },
    /// An input of `pack` does not follow its format.
    Input {
        path: PathBuf,
        place: Option<String>,
        what: String,
    },
    /// The library refused a file, an argument or the work.
    Faro(faro::Error),
    /// The command has shown the errors of several files already.
    Shown(u8),
    /// Ctrl-C, or a request to terminate.
    Interrupted,
}

/// The result of a command and of its parts.
pub(crate) type Outcome<T = ()> = Result<T, Failure>;

impl Failure {
    /// An error of the system for a file.
    pub(crate) fn file(path: &Path, source: io::Error) -> Failure {
        Failure::Environment {
            what: path.display().to_string(),
            source,
        }
    }

    /// An input that breaks its format, at a place such as "line 7".
    pub(crate) fn input(path: &Path, place: impl Into<Option<String>>, what: impl Into<String>) -> Failure {
        Failure::Input {
            path: path.to_owned(),
            place: place.into(),
            what: what.into(),
        }
    }

    /// A mistake in the arguments.
    pub(crate) fn usage(what: impl Into<String>) -> Failure {
        Failure::Usage(what.into())
    }

    /// The exit code as a number.
    pub(crate) fn code(&self) -> u8 {
        match self {
            Failure::Differences => 1,
            Failure::Usage(_) => 2,
            Failure::Environment { .. } => 3,
            Failure::Input { .. } => 4,
            Failure::Faro(error) => code_of(error),
            Failure::Shown(code) => *code,
            Failure::Interrupted => 130,
        }
    }

    /// The exit code for `main`.
    pub(crate) fn exit_code(&self) -> ExitCode {
        ExitCode::from(self.code())
    }

    /// What the user can do about it, if the command knows.
    pub(crate) fn hint(&self) -> Option<String> {
        match self {
            Failure::Faro(error) => hint_of(error),
            _ => None,
        }
    }

    /// Whether there is something left to tell the user.
    pub(crate) fn is_silent(&self) -> bool {
        matches!(self, Failure::Differences | Failure::Shown(_))
    }
}

/// The exit code of an error of the library.
pub(crate) fn code_of(error: &faro::Error) -> u8 {
    match error.code {
        faro::ErrorCode::Io => 3,
        faro::ErrorCode::InvalidArgument => 2,
        _ => 4,
    }
}

/// What helps against an error of the library: a pair without its index can be repaired.
pub(crate) fn hint_of(error: &faro::Error) -> Option<String> {
    let is_missing = |source: &io::Error| source.kind() == io::ErrorKind::NotFound;
    let index = error.file.as_ref()?;
    if error.role != Some(faro::FileRole::Index) || !error.source.as_deref().is_some_and(is_missing) {
        return None;
    }
    if index.extension().is_none_or(|extension| extension != "index") {
        return Some("`faro repair --rebuild` makes a lost index again from the data file".to_owned());
    }
    let (name, data) = (index.with_extension(""), index.with_extension("data"));
    // Without --rebuild, it first looks for the index under the name that it has until it is complete.
    data.is_file().then(|| {
        let (name, data) = (name.display(), data.display());
        format!("`faro repair {name}` finds the index that a dead writer left, or rebuilds it from {data}")
    })
}

/// An error of the library in one line. For errors of the system it is the text of the system.
pub(crate) fn describe(error: &faro::Error) -> String {
    match (&error.file, error.code) {
        (Some(file), faro::ErrorCode::Io) if error.source.is_some() => format!("{}: {}", file.display(), error.found),
        (Some(file), faro::ErrorCode::Io) => {
            format!("{}: expected {}, found {}", file.display(), error.expected, error.found)
        }
        (None, faro::ErrorCode::InvalidArgument) => format!("expected {}, found {}", error.expected, error.found),
        _ => error.to_string(),
    }
}

impl From<faro::Error> for Failure {
    fn from(error: faro::Error) -> Failure {
        Failure::Faro(error)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Differences | Failure::Shown(_) => Ok(()),
            Failure::Usage(what) => write!(f, "{}", escape(what)),
            Failure::Environment { what, source } => write!(f, "{}: {source}", escape(what)),
            Failure::Input { path, place, what } => {
                write!(f, "{}: ", escape(&path.display().to_string()))?;
                if let Some(place) = place {
                    write!(f, "{place}: ")?;
                }
                write!(f, "{}", escape(what))
            }
            Failure::Faro(error) => write!(f, "{}", escape(&describe(error))),
            Failure::Interrupted => write!(f, "interrupted"),
        }
    }
}
