//! The picture as text.

use super::grid::Grid;
use crate::units::{plural, size};

/// From few bytes to many. The first is for nothing.
const SHADES: [char; 10] = [' ', '.', ':', '-', '=', '+', '*', '#', '%', '@'];

/// The picture as lines: a row for each region or output, a character for each partition or several.
pub(crate) fn lines(grid: &Grid) -> Vec<String> {
    let darkest = grid.darkest();
    let label = |row: usize| grid.number(grid.rows[row].regions.start).to_string();
    let widest = (0..grid.rows.len()).map(|row| label(row).len()).max().unwrap_or(0);
    let left = widest.max(grid.names.word.len());
    let mut lines = vec![format!("{:>left$}  {}", grid.names.word, axis(grid))];
    for (number, row) in grid.rows.iter().enumerate() {
        let cells: String = row.cells.iter().map(|bytes| shade(*bytes, darkest)).collect();
        let bytes = size(row.own + row.shared);
        lines.push(format!("{:>left$} |{cells}| {bytes}", label(number)));
    }
    lines.push(String::new());
    lines.extend(legend(grid, darkest));
    lines
}

/// The numbers of some partitions, above their columns.
fn axis(grid: &Grid) -> String {
    let mut text = String::new();
    for (at, column) in grid.columns.iter().enumerate().step_by(16) {
        let number = (grid.first_partition + column.partitions.start).to_string();
        text.push_str(&" ".repeat(at.saturating_sub(text.chars().count())));
        text.push_str(&number);
    }
    text
}

/// The character for a size, linear in the bytes.
fn shade(bytes: u64, darkest: u64) -> char {
    if bytes == 0 {
        return SHADES[0];
    }
    let most = SHADES.len() as u128 - 1;
    let step = (u128::from(bytes) * most).div_ceil(u128::from(darkest.max(1)));
    SHADES[step.min(most) as usize]
}

fn legend(grid: &Grid, darkest: u64) -> Vec<String> {
    let steps = SHADES.len() as u64 - 1;
    let part = |step: u64| (u128::from(darkest) * u128::from(step) / u128::from(steps)) as u64;
    let shades: String = SHADES[1..].iter().collect();
    let mut lines = vec![format!(
        "{shades}  stored bytes of a partition in each {}: linear, `{}` up to {}, `{}` up to {}; blank: nothing",
        grid.names.word,
        SHADES[1],
        size(part(1)),
        SHADES[SHADES.len() - 1],
        size(darkest)
    )];
    if grid.is_shared() {
        lines.push(format!("each character is the largest of {}", grid.sharing()));
    }
    if grid.in_row() > 1 {
        let rows = plural(grid.in_row() as u64, grid.names.word);
        lines.push(format!("the sum at the right is the mean of {rows}"));
    }
    if grid.shared > 0 {
        lines.push(format!("{} more are stored once for all partitions", size(grid.shared)));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shades_are_linear() {
        let shades: String = [0, 1, 10, 11, 45, 80, 81, 90]
            .map(|bytes| shade(bytes, 90))
            .iter()
            .collect();
        assert_eq!(shades, " ..:+%@@");
        assert_eq!(shade(u64::MAX, u64::MAX), '@');
    }
}
