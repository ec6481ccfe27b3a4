//! Writes batches in the formats with columns.

use arrow_array::RecordBatch;
use arrow_schema::{ArrowError, SchemaRef};
use parquet::basic::Compression;
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;

use super::format::As;
use crate::failure::{Failure, Outcome};
use crate::term::Out;

/// Writes batches in one of the formats with columns.
pub(super) enum BatchWriter<'a> {
    /// With a delimiter. The header line is written before the first batch.
    Csv {
        out: &'a mut Out,
        header: bool,
        delimiter: u8,
    },
    Json {
        out: &'a mut Out,
    },
    Arrow(Box<arrow_ipc::writer::StreamWriter<&'a mut Out>>),
    Parquet(Box<parquet::arrow::ArrowWriter<&'a mut Out>>),
}

impl<'a> BatchWriter<'a> {
    pub(super) fn new(format: As, schema: SchemaRef, header: bool, out: &'a mut Out) -> Outcome<BatchWriter<'a>> {
        let mut writer = match format {
            As::Csv => BatchWriter::Csv {
                out,
                header,
                delimiter: b',',
            },
            As::Tsv => BatchWriter::Csv {
                out,
                header,
                delimiter: b'\t',
            },
            As::Jsonl => BatchWriter::Json { out },
            As::Lines => return Err(Failure::usage("rows are not lines: use --format csv, tsv or jsonl")),
            As::Arrow => {
                let writer = arrow_ipc::writer::StreamWriter::try_new(out, &schema);
                BatchWriter::Arrow(Box::new(writer.map_err(conversion)?))
            }
            As::Parquet => {
                let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
                let writer = parquet::arrow::ArrowWriter::try_new(out, schema.clone(), Some(properties));
                BatchWriter::Parquet(Box::new(writer.map_err(parquet_conversion)?))
            }
        };
        // Write the header line even if there are no batches.
        if matches!(writer, BatchWriter::Csv { .. }) {
            writer.write(&RecordBatch::new_empty(schema))?;
        }
        Ok(writer)
    }

    pub(super) fn write(&mut self, batch: &RecordBatch) -> Outcome {
        match self {
            BatchWriter::Csv { out, header, delimiter } => {
                let mut text = Vec::new();
                let builder = arrow_csv::WriterBuilder::new().with_header(std::mem::take(header));
                let mut writer = builder.with_delimiter(*delimiter).build(&mut text);
                writer.write(batch).map_err(conversion)?;
                drop(writer);
                out.payload(&text)
            }
            BatchWriter::Json { out } => {
                let mut text = Vec::new();
                let mut writer = arrow_json::LineDelimitedWriter::new(&mut text);
                writer.write(batch).and_then(|()| writer.finish()).map_err(conversion)?;
                out.payload(&text)
            }
            BatchWriter::Arrow(writer) => writer.write(batch).map_err(conversion),
            BatchWriter::Parquet(writer) => writer.write(batch).map_err(parquet_conversion),
        }
    }

    pub(super) fn finish(self) -> Outcome {
        match self {
            BatchWriter::Csv { .. } | BatchWriter::Json { .. } => Ok(()),
            BatchWriter::Arrow(mut writer) => writer.finish().map_err(conversion),
            BatchWriter::Parquet(writer) => writer.close().map(|_| ()).map_err(parquet_conversion),
        }
    }
}

/// A failure to write, or values that the format cannot show.
fn conversion(error: ArrowError) -> Failure {
    match error {
        ArrowError::IoError(_, source) => not_written(source),
        other => cannot_show(&other),
    }
}

/// The same for a Parquet writer.
fn parquet_conversion(error: ParquetError) -> Failure {
    match error {
        ParquetError::External(cause) if cause.is::<std::io::Error>() => not_written(std::io::Error::other(cause)),
        other => cannot_show(&other),
    }
}

fn not_written(source: std::io::Error) -> Failure {
    Failure::Environment {
        what: "standard output".to_owned(),
        source,
    }
}

fn cannot_show(error: &dyn std::error::Error) -> Failure {
    Failure::usage(format!("this format cannot show the rows: {error}; try --format arrow"))
}
