//! The figures of the picture: the stored bytes of each region and partition, combined into columns and rows that are
//! wide enough to be seen.

use std::collections::BTreeMap;
use std::ops::Range;

use super::scale::shade;
use crate::units::plural;

/// The most columns and rows; above that, several partitions or regions share one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Room {
    pub columns: u32,
    pub rows: usize,
}

impl Room {
    /// In a picture.
    pub(crate) const PICTURE: Room = Room {
        columns: 200,
        rows: 120,
    };
    /// In a text.
    pub(crate) const TEXT: Room = Room { columns: 64, rows: 32 };
}

/// What the rows of a picture are.
#[derive(Clone, Debug)]
pub(crate) struct RowNames {
    /// The word for one of them.
    pub word: &'static str,
    /// The number of each; none if they count from 0.
    pub numbers: Option<Vec<u64>>,
    /// Whether the colours are linear in the bytes.
    pub linear: bool,
}

impl RowNames {
    /// The regions of an output.
    pub(crate) const REGIONS: RowNames = RowNames {
        word: "region",
        numbers: None,
        linear: false,
    };
}

/// The bytes that one region stores.
#[derive(Clone, Debug, Default)]
pub(crate) struct RegionShare {
    /// Partitions, counted from the file's first, and the bytes of their own extents.
    pub own: Vec<(u32, u64)>,
    pub shared: Vec<SharedShare>,
}

/// A shared extent.
#[derive(Clone, Debug)]
pub(crate) struct SharedShare {
    pub bytes: u64,
    /// The members, counted from the file's first partition; none for all.
    pub members: Option<Vec<u32>>,
}

/// One row of the picture.
#[derive(Clone, Debug, Default)]
pub(crate) struct Row {
    /// Regions that share the row.
    pub regions: Range<usize>,
    /// The largest own extent in each column.
    pub cells: Vec<u64>,
    /// Whether a shared extent has members in each column.
    pub member_columns: Vec<bool>,
    /// The bytes of own and of shared extents: the mean of the row's regions.
    pub own: u64,
    pub shared: u64,
}

/// One column of the picture.
#[derive(Clone, Debug, Default)]
pub(crate) struct Column {
    /// Partitions that share the column, counted from the file's first.
    pub partitions: Range<u32>,
    /// The bytes of the partitions' own extents in all regions: the mean and the largest.
    pub mean: u64,
    pub largest: u64,
}

/// All figures of a picture.
#[derive(Clone, Debug)]
pub(crate) struct Grid {
    pub first_partition: u32,
    pub partitions: u32,
    pub regions: usize,
    pub rows: Vec<Row>,
    pub columns: Vec<Column>,
    pub own: u64,
    pub shared: u64,
    /// The number of the partition with the most own bytes, and these bytes.
    pub heaviest: (u32, u64),
    pub empty_partitions: u32,
    pub names: RowNames,
}

impl Grid {
    /// Collects the figures of a picture; `region` returns what a region stores.
    pub(crate) fn collect<E>(
        first_partition: u32,
        partitions: u32,
        regions: usize,
        region: impl FnMut(usize) -> Result<RegionShare, E>,
    ) -> Result<Grid, E> {
        Grid::within(Room::PICTURE, first_partition, partitions, regions, region)
    }

    /// As [`Grid::collect`], in at most as many columns and rows as there is room for.
    pub(crate) fn within<E>(
        room: Room,
        first_partition: u32,
        partitions: u32,
        regions: usize,
        mut region: impl FnMut(usize) -> Result<RegionShare, E>,
    ) -> Result<Grid, E> {
        let in_column = round_up(partitions.div_ceil(room.columns)).max(1);
        let in_row = regions.div_ceil(room.rows).max(1);
        let column_count = partitions.div_ceil(in_column) as usize;
        // Only partitions with extents: a file may claim 2^28 partitions.
        let mut totals = BTreeMap::new();
        let mut rows = Vec::new();
        let (mut own, mut shared) = (0u64, 0u64);
        for start in (0..regions).step_by(in_row) {
            let end = regions.min(start + in_row);
            let mut row = Row {
                regions: start..end,
                cells: vec![0; column_count],
                member_columns: vec![false; column_count],
                ..Row::default()
            };
            for i in start..end {
                row.add(&region(i)?, in_column, &mut totals);
            }
            own += row.own;
            shared += row.shared;
            row.own /= (end - start) as u64;
            row.shared /= (end - start) as u64;
            rows.push(row);
        }
        let heaviest = totals.iter().max_by_key(|(i, bytes)| (**bytes, std::cmp::Reverse(**i)));
        let heaviest = heaviest.map_or((first_partition, 0), |(i, bytes)| (first_partition + i, *bytes));
        let columns = (0..partitions).step_by(in_column as usize);
        let columns = columns
            .map(|start| column(start..partitions.min(start + in_column), &totals))
            .collect();
        Ok(Grid {
            first_partition,
            partitions,
            regions,
            rows,
            columns,
            own,
            shared,
            heaviest,
            empty_partitions: partitions - totals.len() as u32,
            names: RowNames::REGIONS,
        })
    }

    /// The same, with rows of another kind.
    pub(crate) fn named(mut self, names: RowNames) -> Grid {
        self.names = names;
        self
    }

    /// The number of a region, or of what else the rows are.
    pub(crate) fn number(&self, region: usize) -> u64 {
        let numbers = self.names.numbers.as_ref();
        numbers
            .and_then(|numbers| numbers.get(region))
            .copied()
            .unwrap_or(region as u64)
    }

    /// The shade of a cell, from 0 to 1.
    pub(super) fn shade(&self, bytes: u64, darkest: u64) -> f64 {
        match self.names.linear {
            true => bytes as f64 / darkest.max(1) as f64,
            false => shade(bytes, darkest),
        }
    }

    /// What a row is, or rows together are.
    pub(super) fn row_text(&self, row: usize) -> String {
        let (range, word) = (&self.rows[row].regions, self.names.word);
        match range.len() {
            1 => format!("{word} {}", self.number(range.start)),
            _ => format!("{word}s {} to {}", self.number(range.start), self.number(range.end - 1)),
        }
    }

    /// How many partitions and rows share a cell.
    pub(super) fn sharing(&self) -> String {
        let columns = plural(self.in_column().into(), "partition");
        let rows = plural(self.in_row() as u64, self.names.word);
        format!("{columns} wide and {rows} high")
    }

    /// Whether several share a cell.
    pub(super) fn is_shared(&self) -> bool {
        self.in_column() > 1 || self.in_row() > 1
    }

    /// The largest extent of the picture, which has the darkest colour.
    pub(crate) fn darkest(&self) -> u64 {
        self.rows.iter().flat_map(|row| &row.cells).copied().max().unwrap_or(0)
    }

    /// How many partitions share a column.
    pub(crate) fn in_column(&self) -> u32 {
        self.columns.first().map_or(1, |column| column.partitions.len() as u32)
    }

    /// How many regions share a row.
    pub(crate) fn in_row(&self) -> usize {
        self.rows.first().map_or(1, |row| row.regions.len())
    }

    /// The mean of a partition's own bytes.
    pub(crate) fn mean(&self) -> f64 {
        self.own as f64 / f64::from(self.partitions)
    }
}

impl Row {
    fn add(&mut self, region: &RegionShare, in_column: u32, totals: &mut BTreeMap<u32, u64>) {
        for &(partition, bytes) in &region.own {
            let cell = &mut self.cells[(partition / in_column) as usize];
            *cell = (*cell).max(bytes);
            *totals.entry(partition).or_default() += bytes;
            self.own += bytes;
        }
        for extent in &region.shared {
            self.shared += extent.bytes;
            match &extent.members {
                None => self.member_columns.fill(true),
                Some(members) => {
                    members
                        .iter()
                        .for_each(|member| self.member_columns[(member / in_column) as usize] = true);
                }
            }
        }
    }
}

/// The next of 1, 2, 5, 10, 20, ...: columns of this width begin at round numbers.
fn round_up(least: u32) -> u32 {
    let steps = (0..9).flat_map(|power| [1, 2, 5].map(|digit| digit * 10u32.pow(power)));
    steps.into_iter().find(|step| *step >= least).unwrap_or(least)
}

fn column(partitions: Range<u32>, totals: &BTreeMap<u32, u64>) -> Column {
    let own = totals.range(partitions.clone()).map(|(_, bytes)| *bytes);
    Column {
        mean: own.clone().sum::<u64>() / partitions.len() as u64,
        largest: own.max().unwrap_or(0),
        partitions,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn combines_partitions_into_columns() {
        let grid = Grid::collect(10, 1000, 2, |i| {
            let own = if i == 0 {
                vec![(0, 64), (7, 128)]
            } else {
                vec![(999, 32)]
            };
            let shared = vec![SharedShare {
                bytes: 48,
                members: Some(vec![3, 500]),
            }];
            Ok::<_, ()>(RegionShare { own, shared })
        })
        .unwrap();
        assert_eq!((grid.columns.len(), grid.in_column(), grid.rows.len()), (200, 5, 2));
        assert_eq!(grid.rows[0].cells[..3], [64, 128, 0]);
        assert_eq!(grid.rows[1].cells[199], 32);
        assert!(grid.rows[1].member_columns[0] && grid.rows[1].member_columns[100]);
        assert_eq!(
            (grid.own, grid.shared, grid.heaviest, grid.empty_partitions),
            (224, 96, (17, 128), 997)
        );
        assert_eq!(grid.darkest(), 128);
    }
}
