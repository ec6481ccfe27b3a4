//! The closed set of error codes and the error type (spec, ERR-1 to ERR-3).

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;

/// Where the fault is, and so what a program does next (ERR-5). The set is closed in version 1 of the format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ErrorFamily {
    /// The system: missing files, no space, no rights. A program may try again.
    Environment,
    /// The bytes of the file. The producer writes them again, or the file is repaired.
    File,
    /// The file is larger than the caller allows. A program that trusts the file may raise the limit.
    Limit,
    /// The call: the program is wrong.
    Caller,
}

impl ErrorFamily {
    /// The family as every implementation spells it, for example `environment`.
    pub const fn as_str(self) -> &'static str {
        match self {
            ErrorFamily::Environment => "environment",
            ErrorFamily::File => "file",
            ErrorFamily::Limit => "limit",
            ErrorFamily::Caller => "caller",
        }
    }
}

impl fmt::Display for ErrorFamily {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What kind of fault an [`Error`] is (ERR-1). The set is closed in version 1 of the format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ErrorCode {
    /// The system refused: missing, unreadable, no space, a failed sync.
    Io,
    /// The file does not begin with the magic.
    NotFaro,
    /// The file has another major version of the format.
    UnsupportedVersion,
    /// A feature bit, file kind or metadata kind that this library does not know.
    UnsupportedFeature,
    /// A codec number that this library does not know.
    UnsupportedCodec,
    /// No tail: the file is still being written, or its writer died.
    Unfinished,
    /// Bytes that must be there are not.
    Truncated,
    /// A checksum does not match: damage.
    Checksum,
    /// A file header with a correct checksum breaks a rule.
    MalformedHeader,
    /// A block with a correct checksum breaks a rule, or is not allowed in its context.
    MalformedBlock,
    /// A message is not structurally valid (MSG).
    MalformedMessage,
    /// Index, blocks, tail or statistics contradict each other.
    InconsistentIndex,
    /// The data file and the index file do not belong together.
    MismatchedPair,
    /// The file or the record needs more than the caller allows.
    LimitExceeded,
    /// The caller's mistake.
    InvalidArgument,
}

impl ErrorCode {
    /// All codes, in the order of the specification.
    pub const ALL: [ErrorCode; 15] = [
        ErrorCode::Io,
        ErrorCode::NotFaro,
        ErrorCode::UnsupportedVersion,
        ErrorCode::UnsupportedFeature,
        ErrorCode::UnsupportedCodec,
        ErrorCode::Unfinished,
        ErrorCode::Truncated,
        ErrorCode::Checksum,
        ErrorCode::MalformedHeader,
        ErrorCode::MalformedBlock,
        ErrorCode::MalformedMessage,
        ErrorCode::InconsistentIndex,
        ErrorCode::MismatchedPair,
        ErrorCode::LimitExceeded,
        ErrorCode::InvalidArgument,
    ];

    /// The family of the code (ERR-5).
    pub const fn family(self) -> ErrorFamily {
        match self {
            ErrorCode::Io => ErrorFamily::Environment,
            ErrorCode::LimitExceeded => ErrorFamily::Limit,
            ErrorCode::InvalidArgument => ErrorFamily::Caller,
            _ => ErrorFamily::File,
        }
    }

    /// The code as every implementation spells it, for example `not-faro`.
    pub const fn as_str(self) -> &'static str {
        match self {
            ErrorCode::Io => "io",
            ErrorCode::NotFaro => "not-faro",
            ErrorCode::UnsupportedVersion => "unsupported-version",
            ErrorCode::UnsupportedFeature => "unsupported-feature",
            ErrorCode::UnsupportedCodec => "unsupported-codec",
            ErrorCode::Unfinished => "unfinished",
            ErrorCode::Truncated => "truncated",
            ErrorCode::Checksum => "checksum",
            ErrorCode::MalformedHeader => "malformed-header",
            ErrorCode::MalformedBlock => "malformed-block",
            ErrorCode::MalformedMessage => "malformed-message",
            ErrorCode::InconsistentIndex => "inconsistent-index",
            ErrorCode::MismatchedPair => "mismatched-pair",
            ErrorCode::LimitExceeded => "limit-exceeded",
            ErrorCode::InvalidArgument => "invalid-argument",
        }
    }
}

impl fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for ErrorCode {
    type Err = Error;

    /// Reads a code as [`ErrorCode::as_str`] spells it; any other text is `invalid-argument`.
    fn from_str(text: &str) -> Result<Self> {
        ErrorCode::ALL
            .into_iter()
            .find(|code| code.as_str() == text)
            .ok_or_else(|| Error::argument("an error code of the specification", format!("{text:?}")))
    }
}

/// Which file of an output a fault is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FileRole {
    /// The data file of a pair.
    Data,
    /// The index file of a pair.
    Index,
    /// The one file of a single output.
    Single,
    /// A fragment, in a stream or as a file (FRG-2). Its offsets count from its first byte.
    Fragment,
}

impl FileRole {
    /// The role as the conformance protocol spells it, for example `data`.
    pub const fn as_str(self) -> &'static str {
        match self {
            FileRole::Data => "data",
            FileRole::Index => "index",
            FileRole::Single => "single",
            FileRole::Fragment => "fragment",
        }
    }
}

impl fmt::Display for FileRole {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A fault: what, where, what was expected and what was found (ERR-2).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Error {
    /// The kind of fault.
    pub code: ErrorCode,
    /// The file that has the fault.
    pub file: Option<PathBuf>,
    /// The role of that file in its output.
    pub role: Option<FileRole>,
    /// Absolute byte offset of the fault in the file.
    pub offset: Option<u64>,
    /// What should have been there, as a text for people.
    pub expected: String,
    /// What was there, as a text for people.
    pub found: String,
    /// The system's own error, with code [`ErrorCode::Io`]. Shared, so that a failed writer can repeat its error.
    pub source: Option<Arc<io::Error>>,
}

/// The result of this library's calls.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// A fault at an offset. [`Error::in_file`] adds the file.
    pub(crate) fn at(code: ErrorCode, offset: u64, expected: impl Into<String>, found: impl Into<String>) -> Self {
        Error {
            code,
            file: None,
            role: None,
            offset: Some(offset),
            expected: expected.into(),
            found: found.into(),
            source: None,
        }
    }

    /// A fault without file and offset.
    pub(crate) fn bare(code: ErrorCode, expected: impl Into<String>, found: impl Into<String>) -> Self {
        Error {
            offset: None,
            ..Error::at(code, 0, expected, found)
        }
    }

    /// A checksum that does not match (ERR-4).
    pub(crate) fn checksum(offset: u64, stored: u32, computed: u32) -> Self {
        let (stored, computed) = (format!("stored {stored:08x}"), format!("computed {computed:08x}"));
        Error::at(ErrorCode::Checksum, offset, stored, computed)
    }

    /// The caller's mistake.
    pub(crate) fn argument(expected: impl Into<String>, found: impl Into<String>) -> Self {
        Error::bare(ErrorCode::InvalidArgument, expected, found)
    }

    /// A failed system call; `what` says what it was to do.
    pub(crate) fn io(what: &str, path: &Path, role: Option<FileRole>, source: io::Error) -> Self {
        Error {
            file: Some(path.to_path_buf()),
            role,
            source: Some(Arc::new(source)),
            ..Error::bare(ErrorCode::Io, format!("to {what}"), "")
        }
        .with_source_text()
    }

    fn with_source_text(mut self) -> Self {
        if let Some(source) = &self.source {
            self.found = source.to_string();
        }
        self
    }

    /// Says that the fault is in a fragment, which has no name.
    pub(crate) fn in_fragment(mut self) -> Self {
        if self.offset.is_some() && self.role.is_none() {
            self.role = Some(FileRole::Fragment);
        }
        self
    }

    /// Names the file, unless it is named already.
    pub(crate) fn in_file(mut self, role: FileRole, path: &Path) -> Self {
        if self.file.is_none() {
            self.file = Some(path.to_path_buf());
            self.role = Some(role);
        }
        self
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code.as_str())?;
        if let Some(file) = &self.file {
            write!(f, " in {}", file.display())?;
        } else if self.role == Some(FileRole::Fragment) {
            f.write_str(" in a fragment")?;
        }
        if let Some(offset) = self.offset {
            write!(f, " at offset {offset}")?;
        }
        write!(f, ": expected {}, found {}", self.expected, self.found)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.source.as_deref().map(|source| source as _)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_spelled_back() {
        for code in ErrorCode::ALL {
            assert_eq!(code.as_str().parse::<ErrorCode>().unwrap(), code);
        }
        assert_eq!("Io".parse::<ErrorCode>().unwrap_err().code, ErrorCode::InvalidArgument);
    }

    #[test]
    fn families_are_those_of_the_specification() {
        let text = include_str!("../../../spec/errors.md");
        let rows = text.lines().filter_map(|line| {
            let cells: Vec<&str> = line.split('|').map(str::trim).collect();
            let code = cells.get(1)?.trim_matches('`').parse::<ErrorCode>().ok()?;
            Some((code, *cells.get(3)?))
        });
        let rows: Vec<_> = rows.collect();
        assert_eq!(rows.len(), ErrorCode::ALL.len());
        for (code, family) in rows {
            assert_eq!(code.family().to_string(), family, "{code:?}");
        }
    }

    #[test]
    fn an_error_says_what_and_where() {
        let error = Error::at(ErrorCode::Checksum, 64, "1234", "5678").in_file(FileRole::Data, Path::new("a.data"));
        assert_eq!(
            error.to_string(),
            "checksum in a.data at offset 64: expected 1234, found 5678"
        );
    }
}
