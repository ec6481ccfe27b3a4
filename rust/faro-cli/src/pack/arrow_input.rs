//! Parquet and Arrow inputs: batches with the keys of their rows.

use std::io::{Cursor, Read, Seek};
use std::path::{Path, PathBuf};

use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_ipc::reader::{FileReader, StreamReader};
use arrow_schema::{ArrowError, SchemaRef};
use faro::key::KeyValue;
use indicatif::ProgressBar;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

use super::args::PackArgs;
use super::columns;
use super::compressed::is_damage;
use super::key_type::KeyType;
use super::source::{Format, RandomAccess, Source, read_failure};
use crate::failure::{Failure, Outcome};

type Batches = Box<dyn Iterator<Item = Result<RecordBatch, ArrowError>>>;

/// An input of batches that is ready to be read.
pub(super) struct ArrowInput {
    path: PathBuf,
    pub format: Format,
    pub schema: SchemaRef,
    batches: Batches,
    key: Vec<usize>,
    rows: u64,
}

impl ArrowInput {
    /// Reads the schema and finds the key's columns in it.
    pub(super) fn open(source: Source, args: &PackArgs, progress: &ProgressBar) -> Outcome<ArrowInput> {
        let (path, format) = (source.path.clone(), source.format);
        let (schema, batches) = if format == Format::Parquet {
            parquet(&path, source.into_random_access()?)?
        } else if source.is_arrow_file() {
            match source.into_random_access()? {
                RandomAccess::File(file) => ipc_file(&path, progress.wrap_read(file))?,
                RandomAccess::Memory(bytes) => ipc_file(&path, Cursor::new(bytes))?,
            }
        } else {
            let stream = StreamReader::try_new(std::io::BufReader::new(source.into_reader(progress)?), None);
            let stream = stream.map_err(|error| arrow_failure(&path, None, error))?;
            (stream.schema(), Box::new(stream) as Batches)
        };
        let key =
            columns::find(&schema, &args.by).map_err(|what| Failure::usage(format!("{}: {what}", path.display())))?;
        Ok(ArrowInput {
            path,
            format,
            schema,
            batches,
            key,
            rows: 0,
        })
    }

    /// The types of the key's columns.
    pub(super) fn types(&self) -> Vec<Option<KeyType>> {
        let kind = |&position: &usize| KeyType::of_arrow(self.schema.field(position).data_type());
        self.key.iter().map(kind).collect()
    }

    /// The next batch, with the result of `then` for the key of each row; none at the end.
    pub(super) fn next<T>(
        &mut self,
        mut then: impl FnMut(&[KeyValue<'_>]) -> T,
    ) -> Outcome<Option<(RecordBatch, Vec<T>)>> {
        let Some(batch) = self.batches.next() else {
            return Ok(None);
        };
        let batch = batch.map_err(|error| arrow_failure(&self.path, Some(self.rows), error))?;
        self.rows += batch.num_rows() as u64;
        let mut made = Vec::with_capacity(batch.num_rows());
        let key_columns = columns::of_batch(&batch, &self.key);
        let mut key = Vec::with_capacity(key_columns.len());
        for row in 0..batch.num_rows() {
            key.clear();
            key.extend(key_columns.iter().map(|column| column.value(row)));
            made.push(then(&key));
        }
        drop(key_columns);
        Ok(Some((batch, made)))
    }
}

fn parquet(path: &Path, content: RandomAccess) -> Outcome<(SchemaRef, Batches)> {
    fn batches<R: parquet::file::reader::ChunkReader + 'static>(
        content: R,
    ) -> parquet::errors::Result<(SchemaRef, Batches)> {
        let reader = ParquetRecordBatchReaderBuilder::try_new(content)?
            .with_batch_size(8192)
            .build()?;
        Ok((reader.schema(), Box::new(reader)))
    }
    let opened = match content {
        RandomAccess::File(file) => batches(file),
        RandomAccess::Memory(bytes) => batches(bytes),
    };
    opened.map_err(|error| Failure::input(path, None, error.to_string()))
}

fn ipc_file(path: &Path, content: impl Read + Seek + 'static) -> Outcome<(SchemaRef, Batches)> {
    let reader = FileReader::try_new_buffered(content, None).map_err(|error| arrow_failure(path, None, error))?;
    Ok((reader.schema(), Box::new(reader)))
}

fn arrow_failure(path: &Path, rows: Option<u64>, error: ArrowError) -> Failure {
    match error {
        ArrowError::IoError(_, source) if source.raw_os_error().is_some() => Failure::file(path, source),
        ArrowError::IoError(_, source) if is_damage(&source) => read_failure(path, source),
        error => Failure::input(path, rows.map(|rows| format!("after {rows} rows")), error.to_string()),
    }
}
