//! `faro cat`: prints partitions.

use arrow_array::RecordBatch;
use arrow_schema::{ArrowError, SchemaRef};
use clap::{Args, ValueEnum};
use faro::{Block, Framing, Reader, ReaderOptions};
use parquet::basic::Compression;
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;

use crate::failure::{Failure, Outcome};
use crate::partitions::Selection;
use crate::target::Target;
use crate::term::Out;
use crate::units;

/// Print the records of partitions in the format that was packed
#[derive(Args, Debug)]
#[command(after_long_help = "\
CSV and TSV are printed with the header line that `faro pack` kept. Arrow and Parquet outputs are printed in the \
format that was packed, on a terminal as JSON lines; --format converts them to arrow (an IPC stream), parquet, csv or \
jsonl. Records of other writers are printed with a line end after each.

Partitions are printed one after another in the order given. Data that several partitions share is stored once, and \
printed once for each selected partition, also with --all.

Events are never printed, not even with --raw; standard error says how many there were. `faro info --json` counts them \
in .blocks.events, `faro dump` shows them.

Examples:
  faro cat shuffle -p 3
  faro cat shuffle -p 3,5-9 | head
  faro cat shuffle --all > orders.csv
  faro cat shuffle -p 0 --format parquet > part-0.parquet
  faro cat shuffle -p 0 --raw | xxd")]
pub(crate) struct CatArgs {
    #[command(flatten)]
    target: Target,

    /// A partition, or the partitions from A to B, both included; several with commas
    #[arg(short, long = "partition", value_name = "N|A-B", value_delimiter = ',')]
    partitions: Vec<Selection>,

    /// All partitions
    #[arg(short, long, conflicts_with = "partitions")]
    all: bool,

    /// What to print [default: what was packed]
    #[arg(long, value_enum, value_name = "FORMAT", conflicts_with = "raw")]
    format: Option<As>,

    /// Print the plain payloads of data blocks as they are, one after another, without those of events
    #[arg(long)]
    raw: bool,

    /// Omit the header line of CSV and TSV
    #[arg(long)]
    no_header: bool,
}

/// The output formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum As {
    /// Comma-separated values
    Csv,
    /// Tab-separated values
    Tsv,
    /// JSON lines
    Jsonl,
    /// Each record and a line end
    Lines,
    /// Arrow IPC stream
    Arrow,
    /// Apache Parquet
    Parquet,
}

/// Runs the command.
pub(crate) fn run(args: &CatArgs, out: &mut Out) -> Outcome {
    if args.partitions.is_empty() && !args.all {
        return Err(Failure::usage(
            "which partitions? --partition 3, --partition 3,5-9, or --all",
        ));
    }
    let reader = Reader::open(&args.target.files()?, ReaderOptions::default())?;
    let partitions = crate::partitions::select(&args.partitions, reader.partitions())?;
    let mut source = DataBlocks {
        reader: &reader,
        partitions,
        events: 0,
    };
    match reader.header().framing {
        _ if args.raw => raw(&mut source, out),
        Framing::Opaque if args.format.is_none() => raw(&mut source, out),
        Framing::Opaque => Err(Failure::usage("the payload is opaque: only --raw can print it")),
        Framing::Records => records(args, &mut source, out),
        Framing::Arrow => batches(args, &mut source, out),
    }?;
    if source.events > 0 {
        eprintln!("faro: not printed: {}", units::plural(source.events, "event"));
    }
    Ok(())
}

/// The data blocks of the selected partitions. Events are only counted.
struct DataBlocks<'a, P> {
    reader: &'a Reader,
    partitions: P,
    events: u64,
}

impl<P: Iterator<Item = u32>> DataBlocks<'_, P> {
    fn each(&mut self, mut take: impl FnMut(&Block) -> Outcome) -> Outcome {
        for partition in &mut self.partitions {
            for block in self.reader.partition(partition)? {
                let block = block?;
                if block.kind() == faro::block::DATA {
                    take(&block)?;
                } else {
                    self.events += 1;
                }
            }
        }
        Ok(())
    }
}

/// Binary output would garble a terminal, and people could not read it.
fn refuse_terminal(out: &Out, what: &str) -> Outcome {
    if out.is_terminal() {
        return Err(Failure::usage(format!(
            "{what} is not for a terminal: redirect the output"
        )));
    }
    Ok(())
}

fn raw(source: &mut DataBlocks<'_, impl Iterator<Item = u32>>, out: &mut Out) -> Outcome {
    refuse_terminal(out, "a raw payload")?;
    source.each(|block| out.payload(&block.payload))
}

/// The value of a property that `pack` wrote.
fn property<'a>(reader: &'a Reader, key: &str) -> Option<&'a str> {
    let properties = &reader.footer().properties;
    properties
        .iter()
        .find(|property| property.key == key)
        .map(|property| property.value.as_str())
}

fn packed_as(reader: &Reader) -> Option<As> {
    As::from_str(property(reader, "faro.pack.format")?, false).ok()
}

fn records(args: &CatArgs, source: &mut DataBlocks<'_, impl Iterator<Item = u32>>, out: &mut Out) -> Outcome {
    let reader = source.reader;
    let packed = packed_as(reader).unwrap_or(As::Lines);
    let format = args.format.unwrap_or(packed);
    if format != packed && format != As::Lines {
        let name = packed
            .to_possible_value()
            .map_or_else(String::new, |value| value.get_name().to_owned());
        return Err(Failure::usage(format!(
            "the records are {name}: they can be printed as {name}, lines or --raw"
        )));
    }
    let line_end: &[u8] = if property(reader, "faro.pack.line_end") == Some("crlf") {
        b"\r\n"
    } else {
        b"\n"
    };
    let header = property(reader, "faro.pack.header").filter(|_| !args.no_header && format != As::Lines);
    if let Some(header) = header {
        out.payload(header.as_bytes())?;
        out.payload(line_end)?;
    }
    source.each(|block| {
        for record in block.record_slices()? {
            out.payload(record)?;
            out.payload(line_end)?;
        }
        Ok(())
    })
}

fn batches(args: &CatArgs, source: &mut DataBlocks<'_, impl Iterator<Item = u32>>, out: &mut Out) -> Outcome {
    let reader = source.reader;
    let usual = if out.is_terminal() {
        As::Jsonl
    } else {
        packed_as(reader).unwrap_or(As::Arrow)
    };
    let format = args.format.unwrap_or(usual);
    let decoder = reader.batch_decoder()?;
    if matches!(format, As::Arrow | As::Parquet) {
        refuse_terminal(out, "this format")?;
    }
    let mut writer = BatchWriter::new(format, decoder.schema().clone(), !args.no_header, out)?;
    source.each(|block| writer.write(&decoder.decode(block)?))?;
    writer.finish()
}

/// Writes batches in one of the formats with columns.
enum BatchWriter<'a> {
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
    fn new(format: As, schema: SchemaRef, header: bool, out: &'a mut Out) -> Outcome<BatchWriter<'a>> {
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

    fn write(&mut self, batch: &RecordBatch) -> Outcome {
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

    fn finish(self) -> Outcome {
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
