//! Tables of `faro layout`: their titles, columns and lines.

use comfy_table::presets::NOTHING;
use comfy_table::{CellAlignment, Table};

use crate::failure::Outcome;
use crate::term::Out;

/// A table without borders. Texts are aligned left, numbers right.
pub(super) fn titled(titles: &[&str]) -> Table {
    let mut table = Table::new();
    table.load_style(NOTHING).set_header(titles);
    for (column, title) in table.column_iter_mut().zip(titles) {
        column.set_padding((0, 2));
        if !matches!(*title, "file" | "what" | "for") {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table
}

/// Prints rows of safe text, with the titles in bold.
pub(super) fn print_rows(rows: &Table, out: &mut Out) -> Outcome {
    for (i, line) in rows.lines().enumerate() {
        let (style, line) = (out.style(), line.trim_end());
        out.line(&if i == 0 { style.bold(line) } else { line.to_owned() })?;
    }
    Ok(())
}
