//! Annotations.

use serde::Serialize;

/// The meaning of some bytes of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Note {
    pub offset: u64,
    pub length: u64,
    pub name: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub value: String,
    /// Bytes of a payload, which are shown with their characters.
    #[serde(skip)]
    pub payload: bool,
}

/// A part of a file, such as a header or a block, with the notes that tile it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Section {
    pub offset: u64,
    pub length: u64,
    pub title: String,
    pub notes: Vec<Note>,
    /// The section's bytes. All notes are inside them.
    #[serde(skip)]
    pub bytes: Vec<u8>,
}

impl Section {
    /// A section without notes yet.
    pub(super) fn new(offset: u64, title: impl Into<String>, bytes: Vec<u8>) -> Section {
        Section {
            offset,
            length: bytes.len() as u64,
            title: title.into(),
            notes: Vec::new(),
            bytes,
        }
    }

    /// Adds a note on bytes at a position in the section.
    pub(super) fn note(&mut self, at: usize, length: usize, name: impl Into<String>, value: impl Into<String>) {
        self.push(at, length, name, value, false);
    }

    /// Adds a note on bytes of a payload.
    pub(super) fn payload(&mut self, at: usize, length: usize, name: impl Into<String>) {
        self.push(at, length, name, "", true);
    }

    fn push(&mut self, at: usize, length: usize, name: impl Into<String>, value: impl Into<String>, payload: bool) {
        if length > 0 {
            let offset = self.offset + at as u64;
            let (name, value) = (name.into(), value.into());
            self.notes.push(Note {
                offset,
                length: length as u64,
                name,
                value,
                payload,
            });
        }
    }

    /// The bytes of a note.
    pub(super) fn bytes_of(&self, note: &Note) -> &[u8] {
        let at = (note.offset - self.offset) as usize;
        &self.bytes[at..at + note.length as usize]
    }
}

/// A little-endian number. The caller knows that there are enough bytes.
pub(super) fn number(bytes: &[u8], at: usize, size: usize) -> u64 {
    bytes[at..at + size]
        .iter()
        .rev()
        .fold(0, |value, byte| value << 8 | u64::from(*byte))
}
