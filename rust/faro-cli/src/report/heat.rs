//! The heat map of a page.

use super::model::Heat;
use crate::picture::Grid;
use crate::units::plural;

/// The picture's grid, with labels.
pub(super) fn heat(grid: &Grid) -> Heat {
    let label = |from: u64, to: u64| {
        if from == to {
            from.to_string()
        } else {
            format!("{from} to {to}")
        }
    };
    let first = u64::from(grid.first_partition);
    let columns = grid.columns.iter().map(|column| {
        label(
            first + u64::from(column.partitions.start),
            first + u64::from(column.partitions.end) - 1,
        )
    });
    let rows = grid
        .rows
        .iter()
        .map(|row| label(grid.number(row.regions.start), grid.number(row.regions.end - 1)));
    let (in_column, in_row) = (grid.in_column(), grid.in_row());
    let grouped = (in_column > 1 || in_row > 1).then(|| {
        format!(
            "A column has {}, a row {}; the colour is that of the largest extent.",
            plural(in_column.into(), "partition"),
            plural(in_row as u64, grid.names.word)
        )
    });
    Heat {
        row_word: grid.names.word,
        column_word: "partition",
        rows: rows.collect(),
        columns: columns.collect(),
        cells: grid.rows.iter().map(|row| row.cells.clone()).collect(),
        most: grid.darkest(),
        grouped,
    }
}
