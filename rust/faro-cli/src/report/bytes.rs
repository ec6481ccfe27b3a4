//! The bytes of files with their meaning, from their beginning or around a fault.

use std::path::Path;

use super::model::Explained;
use super::wanted::Wanted;
use crate::dump::{Row, rows};
use crate::failure::Outcome;

/// The bytes of a field that are shown.
const SHOWN: usize = 32;

/// Explains about as many bytes of a file as are wanted, those around an offset if there is one. Payloads are left out if
/// records are.
pub(super) fn explain(path: &Path, role: &str, wanted: &Wanted, around: Option<u64>) -> Outcome<Vec<Explained>> {
    let most = wanted.bytes;
    let from = around.map_or(0, |at| at.saturating_sub(most / 2));
    let range = from..from.saturating_add(most);
    let mut found = Vec::new();
    rows(path, range, |row: Row<'_>| {
        let is_shown = wanted.records > 0 || !row.payload;
        let shown = &row.bytes[..if is_shown { row.bytes.len().min(SHOWN) } else { 0 }];
        let mut hex: Vec<String> = shown.iter().map(|byte| format!("{byte:02x}")).collect();
        if shown.len() < row.bytes.len() {
            hex.push("…".to_owned());
        }
        let meaning = match row.value {
            "" => row.name.to_owned(),
            value => format!("{}: {value}", row.name),
        };
        let mark = match around {
            Some(at) if row.offset <= at && at < row.offset + row.bytes.len() as u64 => "HERE is the fault. ",
            _ => "",
        };
        found.push(Explained {
            offset: row.offset,
            hex: hex.join(" "),
            meaning: format!("{mark}{role}, {}: {meaning}", row.section),
        });
        Ok(())
    })?;
    Ok(found)
}
