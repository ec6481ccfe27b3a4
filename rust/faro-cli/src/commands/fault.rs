//! An error of the library in reports.

use serde::Serialize;

/// An error of the library for programs.
#[derive(Debug, Serialize)]
pub(crate) struct Fault {
    code: &'static str,
    file: Option<String>,
    role: Option<&'static str>,
    offset: Option<u64>,
    expected: String,
    found: String,
}

impl Fault {
    pub(crate) fn of(error: &faro::Error) -> Fault {
        Fault {
            code: error.code.as_str(),
            file: error.file.as_ref().map(|file| file.display().to_string()),
            role: error.role.map(faro::FileRole::as_str),
            offset: error.offset,
            expected: error.expected.clone(),
            found: error.found.clone(),
        }
    }

    /// In one line, not yet safe to show.
    pub(crate) fn line(&self) -> String {
        let place = match (&self.file, self.offset) {
            (Some(file), Some(offset)) => format!(" in {file} at {offset}"),
            (Some(file), None) => format!(" in {file}"),
            (None, _) => String::new(),
        };
        format!("{}{place}: expected {}, found {}", self.code, self.expected, self.found)
    }
}
