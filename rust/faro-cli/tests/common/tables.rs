//! Writes tables to files.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{ArrayRef, Int64Array, RecordBatch};

use super::Folder;

/// A batch of these columns, after a column with the number of each row.
pub(crate) fn numbered(columns: &[(&str, ArrayRef)]) -> RecordBatch {
    let rows = columns.first().map_or(0, |(_, column)| column.len());
    let row: ArrayRef = Arc::new(Int64Array::from_iter_values(0..rows as i64));
    let all = std::iter::once(("row", row)).chain(columns.iter().cloned());
    RecordBatch::try_from_iter_with_nullable(all.map(|(name, column)| (name, column, true))).unwrap()
}

impl Folder {
    /// Writes a Parquet file.
    pub(crate) fn parquet(&self, name: &str, batch: &RecordBatch) {
        let file = std::fs::File::create(self.path(name)).unwrap();
        let mut writer = parquet::arrow::ArrowWriter::try_new(file, batch.schema(), None).unwrap();
        writer.write(batch).unwrap();
        writer.close().unwrap();
    }

    /// Writes an Arrow IPC stream.
    pub(crate) fn stream(&self, name: &str, batch: &RecordBatch) {
        let file = std::fs::File::create(self.path(name)).unwrap();
        let mut writer = arrow_ipc::writer::StreamWriter::try_new(file, &batch.schema()).unwrap();
        writer.write(batch).unwrap();
        writer.finish().unwrap();
    }

    /// The numbers of the rows of a partition of an output that was packed from a table of [`numbered`].
    pub(crate) fn rows(&self, name: &str, partition: usize) -> Vec<i64> {
        let bytes = self.ok(&["cat", name, "-p", &partition.to_string(), "--format", "arrow"]);
        let reader = arrow_ipc::reader::StreamReader::try_new(bytes.as_slice(), None).unwrap();
        let rows = |batch: RecordBatch| batch["row"].as_primitive::<Int64Type>().values().to_vec();
        reader.flat_map(|batch| rows(batch.unwrap())).collect()
    }
}
