//! Rows that wait for their region, in the order of the calls.

use super::ipc::refused;
use super::plain::{Rewrite, size_of, with_columns};
use crate::error::Result;
use arrow::array::{Array, RecordBatch};
use arrow::datatypes::SchemaRef;
use std::ops::Range;

/// The size in bytes at which small batches are joined into one, because collecting rows visits every batch.
const JOINED: u64 = 1 << 20;

/// Batches, with small ones joined.
#[derive(Default)]
struct Batches {
    joined: Vec<RecordBatch>,
    small: Vec<RecordBatch>,
    small_bytes: u64,
}

impl Batches {
    fn push(&mut self, schema: &SchemaRef, batch: RecordBatch, bytes: u64) -> Result<()> {
        self.small.push(batch);
        self.small_bytes += bytes;
        if self.small_bytes >= JOINED {
            self.join(schema)
        } else {
            Ok(())
        }
    }

    fn join(&mut self, schema: &SchemaRef) -> Result<()> {
        let small = std::mem::take(&mut self.small);
        self.small_bytes = 0;
        match <[RecordBatch; 1]>::try_from(small) {
            Ok([alone]) => self.joined.push(alone),
            Err(several) if several.is_empty() => {}
            Err(several) => {
                self.joined
                    .push(arrow::compute::concat_batches(schema, &several).map_err(refused)?);
            }
        }
        Ok(())
    }
}

/// Rows for one partition each.
#[derive(Default)]
pub(super) struct OwnRows {
    batches: Batches,
    /// The partition of each row.
    partitions: Vec<u32>,
    bytes: u64,
}

impl OwnRows {
    pub(super) fn is_empty(&self) -> bool {
        self.partitions.is_empty()
    }

    pub(super) fn push(
        &mut self,
        schema: &SchemaRef,
        batch: RecordBatch,
        partitions: &[u32],
        bytes: u64,
    ) -> Result<()> {
        self.partitions.extend_from_slice(partitions);
        self.bytes += bytes;
        self.batches.push(schema, batch, bytes)
    }

    /// Sorts the rows by partition, stably. `slot` gives the order of the partitions; it gets their number and a
    /// partition.
    pub(super) fn sorted(mut self, schema: &SchemaRef, slot: impl Fn(usize, u32) -> u32) -> Result<SortedRows> {
        self.batches.join(schema)?;
        let batches = self.batches.joined;
        let places = batches
            .iter()
            .enumerate()
            // A region has fewer than 2^32 rows, since each has a charge.
            .flat_map(|(batch, rows)| (0..rows.num_rows()).map(move |row| (batch as u32, row as u32)));
        let mut rows: Vec<_> = self
            .partitions
            .iter()
            .zip(places)
            .map(|(partition, place)| (*partition, place))
            .collect();
        rows.sort_by_key(|(partition, _)| *partition);
        let count = rows.chunk_by(|one, other| one.0 == other.0).count();
        rows.sort_by_key(|(partition, _)| slot(count, *partition));
        let bytes_per_row = self.bytes / (rows.len() as u64).max(1);
        Ok(SortedRows {
            batches,
            rows,
            bytes_per_row,
        })
    }
}

/// Rows by partition.
pub(super) struct SortedRows {
    batches: Vec<RecordBatch>,
    /// The partition, the batch, and the row in the batch.
    rows: Vec<(u32, (u32, u32))>,
    bytes_per_row: u64,
}

impl SortedRows {
    /// The partitions and where their rows are.
    pub(super) fn extents(&self) -> impl Iterator<Item = (u32, Range<usize>)> {
        let mut from = 0;
        self.rows.chunk_by(|one, other| one.0 == other.0).map(move |rows| {
            let range = from..from + rows.len();
            from = range.end;
            (rows[0].0, range)
        })
    }

    fn make_batch(&self, rows: Range<usize>, schema: &SchemaRef) -> Result<RecordBatch> {
        let places: Vec<_> = self.rows[rows]
            .iter()
            .map(|(_, (batch, row))| (*batch as usize, *row as usize))
            .collect();
        let columns = (0..schema.fields().len()).map(|at| {
            let parts: Vec<&dyn Array> = self.batches.iter().map(|batch| batch.column(at).as_ref()).collect();
            arrow::compute::interleave(&parts, &places).map_err(refused)
        });
        let gathered = with_columns(schema, columns.collect::<Result<_>>()?, places.len())?;
        Rewrite::Compact.apply(&gathered, schema)
    }

    /// Cuts the rows of an extent into batches near `target` bytes.
    pub(super) fn cut(
        &self,
        rows: Range<usize>,
        schema: &SchemaRef,
        target: u64,
        mut sink: impl FnMut(RecordBatch) -> Result<()>,
    ) -> Result<()> {
        let make_batch = |rows| self.make_batch(rows, schema);
        cut(rows, self.bytes_per_row, target, make_batch, &mut sink)
    }
}

/// Rows for several partitions.
pub(super) struct SharedRows {
    /// The partitions; absent for all.
    pub(super) members: Option<Vec<u32>>,
    batches: Batches,
}

impl SharedRows {
    pub(super) fn new(members: Option<Vec<u32>>) -> Self {
        SharedRows {
            members,
            batches: Batches::default(),
        }
    }

    pub(super) fn push(&mut self, schema: &SchemaRef, batch: RecordBatch, bytes: u64) -> Result<()> {
        self.batches.push(schema, batch, bytes)
    }

    /// Cuts the rows into batches near `target` bytes.
    pub(super) fn cut(
        mut self,
        schema: &SchemaRef,
        target: u64,
        mut sink: impl FnMut(RecordBatch) -> Result<()>,
    ) -> Result<()> {
        self.batches.join(schema)?;
        for batch in self.batches.joined {
            let slice = |rows: Range<usize>| Rewrite::Compact.apply(&batch.slice(rows.start, rows.len()), schema);
            let bytes_per_row = size_of(&batch) / (batch.num_rows() as u64).max(1);
            cut(0..batch.num_rows(), bytes_per_row, target, slice, &mut sink)?;
        }
        Ok(())
    }
}

/// Makes batches of about `target` bytes from rows that may differ much in size.
fn cut(
    rows: Range<usize>,
    bytes_per_row: u64,
    target: u64,
    make_batch: impl Fn(Range<usize>) -> Result<RecordBatch>,
    sink: &mut impl FnMut(RecordBatch) -> Result<()>,
) -> Result<()> {
    let mut from = rows.start;
    let mut wanted = scaled(1, target, bytes_per_row);
    while from < rows.end {
        let mut count = wanted.min(rows.end - from);
        let mut may_grow = true;
        let batch = loop {
            let batch = make_batch(from..from + count)?;
            let size = size_of(&batch);
            if size > target.saturating_mul(2) && count > 1 {
                may_grow = false;
                count = scaled(count, target, size).min(count / 2);
            } else if may_grow && size < target / 2 && from + count < rows.end {
                // The next rows may have another size.
                count = scaled(count, target, size)
                    .min(count.saturating_mul(16))
                    .min(rows.end - from);
            } else {
                break batch;
            }
        };
        sink(batch)?;
        from += count;
        wanted = count;
    }
    Ok(())
}

/// `count` times `target / size`, at least 1.
fn scaled(count: usize, target: u64, size: u64) -> usize {
    let scaled = count as u128 * u128::from(target) / u128::from(size.max(1));
    usize::try_from(scaled).unwrap_or(usize::MAX).max(1)
}
