//! How two outputs differ.

use serde::Serialize;

/// A property of both files that differs.
#[derive(Debug, Serialize)]
pub(super) struct Difference {
    pub what: String,
    pub a: String,
    pub b: String,
}

impl Difference {
    pub(super) fn new(what: impl Into<String>, a: impl ToString, b: impl ToString) -> Difference {
        Difference {
            what: what.into(),
            a: a.to_string(),
            b: b.to_string(),
        }
    }
}
