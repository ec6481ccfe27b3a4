//! Tables for people: aligned columns without lines around them.

/// How a column is aligned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Align {
    Left,
    Right,
}

/// Rows of text under titles.
pub struct Rows {
    align: Vec<Align>,
    rows: Vec<Vec<String>>,
}

impl Rows {
    /// A table with these columns.
    pub fn new(columns: &[(&str, Align)]) -> Rows {
        let titles = columns.iter().map(|(title, _)| (*title).to_owned()).collect();
        Rows {
            align: columns.iter().map(|(_, align)| *align).collect(),
            rows: vec![titles],
        }
    }

    /// Adds a row of text that is already safe.
    pub fn row(&mut self, cells: Vec<String>) {
        self.rows.push(cells);
    }

    /// The table's lines, the titles first.
    pub fn lines(&self) -> impl Iterator<Item = String> + '_ {
        let width = |column: usize| {
            let cells = self.rows.iter().filter_map(move |row| row.get(column));
            cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..self.align.len()).map(width).collect();
        self.rows.iter().map(move |row| {
            let mut line = String::new();
            for ((cell, width), align) in row.iter().zip(&widths).zip(&self.align) {
                let cell = match align {
                    Align::Left => format!("{cell:<width$}"),
                    Align::Right => format!("{cell:>width$}"),
                };
                line.push_str(&cell);
                line.push_str("  ");
            }
            line.trim_end().to_owned()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn aligns_columns() {
        let mut rows = Rows::new(&[("name", Align::Left), ("n", Align::Right)]);
        rows.row(vec!["a".into(), "1234".into()]);
        rows.row(vec!["größer".into(), "5".into()]);
        assert_eq!(
            rows.lines().collect::<Vec<_>>(),
            ["name       n", "a       1234", "größer     5"]
        );
    }
}
