//! Cuts a file, and writes a footer after the cut.

use crate::error::{Error, FileRole, Result};
use crate::message::{DictionaryEntry, Footer, Property, RegionEntry};
use std::fs::{File, OpenOptions};
use std::io::{Seek, SeekFrom, Write};
use std::path::Path;

/// The footer of a repaired file (REP-3).
pub(super) fn footer(
    regions: Vec<RegionEntry>,
    dictionaries: Vec<DictionaryEntry>,
    data_size: u64,
    how: &str,
) -> Footer {
    let property = Property {
        key: "faro.repair".into(),
        value: how.into(),
    };
    Footer {
        regions,
        data_size,
        statistics: None,
        properties: vec![property],
        created_by: None,
        dictionaries,
        streams: None,
    }
}

/// Cuts a file and appends bytes.
pub(super) fn cut_and_append(path: &Path, role: FileRole, length: u64, after: &[u8]) -> Result<()> {
    let act = || -> std::io::Result<()> {
        let mut file: File = OpenOptions::new().write(true).open(path)?;
        file.set_len(length)?;
        file.seek(SeekFrom::Start(length))?;
        file.write_all(after)?;
        file.sync_all()
    };
    act().map_err(|error| Error::io("repair the file", path, Some(role), error))
}
