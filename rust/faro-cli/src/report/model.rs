//! What a page shows. The script of the page reads this as JSON.

use serde::Serialize;

#[derive(Debug, Serialize)]
pub(crate) struct Report {
    /// The version of this model.
    pub version: u32,
    pub title: String,
    pub made: String,
    pub subjects: Vec<Subject>,
}

impl Report {
    /// Whether any output has a fault.
    pub(crate) fn is_damaged(&self) -> bool {
        self.subjects.iter().any(|subject| subject.fault.is_some())
    }
}

/// One output, or a whole shuffle.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Subject {
    pub name: String,
    pub fault: Option<Fault>,
    /// The result of the check, if there is no fault.
    pub checked: Option<String>,
    pub facts: Vec<(String, String)>,
    pub properties: Vec<(String, String)>,
    pub heat: Option<Heat>,
    /// The partitions that read most, and their bytes.
    pub largest: Vec<(String, u64)>,
    /// The kinds of bytes, and how many there are.
    pub sizes: Vec<(String, u64)>,
    pub records: Vec<Preview>,
    /// The outputs of a shuffle.
    pub outputs: Option<Rows>,
    pub blocks: Option<Rows>,
    pub bytes: Vec<Explained>,
    pub bytes_note: String,
}

/// The first fault.
#[derive(Debug, Serialize)]
pub(crate) struct Fault {
    pub code: String,
    pub message: String,
    pub clause: &'static str,
    /// The address of the clause.
    pub spec: Option<String>,
}

/// Bytes by row and column.
#[derive(Debug, Serialize)]
pub(crate) struct Heat {
    pub row_word: &'static str,
    pub column_word: &'static str,
    pub rows: Vec<String>,
    pub columns: Vec<String>,
    pub cells: Vec<Vec<u64>>,
    pub most: u64,
    /// What a row and a column are, if they are several.
    pub grouped: Option<String>,
}

/// The first records of a partition.
#[derive(Debug, Serialize)]
pub(crate) struct Preview {
    pub partition: u32,
    pub note: String,
    pub columns: Vec<String>,
    pub rows: Vec<Vec<String>>,
}

/// A table.
#[derive(Debug, Serialize)]
pub(crate) struct Rows {
    pub note: String,
    pub columns: Vec<&'static str>,
    pub rows: Vec<Vec<Value>>,
}

/// A value of a table.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(crate) enum Value {
    Number(u64),
    Text(String),
}

/// Some bytes and their meaning.
#[derive(Debug, Serialize)]
pub(crate) struct Explained {
    pub offset: u64,
    pub hex: String,
    pub meaning: String,
}
