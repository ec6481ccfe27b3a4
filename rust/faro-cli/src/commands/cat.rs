//! `faro cat`: partitions back out of the files.

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use clap::{Args, ValueEnum};
use faro::{Framing, Reader, ReaderOptions};
use parquet::basic::Compression;
use parquet::file::properties::WriterProperties;

use crate::failure::{Failure, Outcome};
use crate::partitions::Selection;
use crate::target::Target;
use crate::term::Out;

/// Print the records of partitions in the format that was packed
#[derive(Args, Debug)]
#[command(after_long_help = "\
CSV and TSV come with the header line that `faro pack` kept. Arrow and Parquet outputs come as what was packed, on a \
terminal as JSON lines; --format turns them into arrow (an IPC stream), parquet, csv or jsonl. Records of other \
writers come with a line end behind each. Events are not printed.

Partitions come one after another in the order given; what several partitions share is printed for each of them.

Examples:
  faro cat shuffle -p 3
  faro cat shuffle -p 3 -p 5..9 | head
  faro cat shuffle --all > orders.csv
  faro cat shuffle -p 0 --format parquet > part-0.parquet
  faro cat shuffle -p 0 --raw | xxd")]
pub struct CatArgs {
    #[command(flatten)]
    target: Target,

    /// A partition, or the partitions from A to B, both included
    #[arg(short, long = "partition", value_name = "N|A..B", required_unless_present = "all")]
    partitions: Vec<Selection>,

    /// All partitions
    #[arg(short, long, conflicts_with = "partitions")]
    all: bool,

    /// What to print [default: what was packed]
    #[arg(long, value_enum, value_name = "FORMAT", conflicts_with = "raw")]
    format: Option<As>,

    /// Print the plain payloads of data blocks as they are, one after another
    #[arg(long)]
    raw: bool,

    /// Leave the header line of CSV and TSV out
    #[arg(long)]
    no_header: bool,
}

/// What partitions can be printed as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum As {
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
pub fn run(args: &CatArgs, out: &mut Out) -> Outcome {
    let reader = Reader::open(&args.target.files()?, ReaderOptions::default())?;
    let partitions = crate::partitions::select(&args.partitions, reader.partitions())?;
    if args.raw {
        return raw(&reader, partitions, out);
    }
    match reader.header().framing {
        Framing::Opaque if args.format.is_none() => raw(&reader, partitions, out),
        Framing::Opaque => Err(Failure::usage("the payload is opaque: only --raw can print it")),
        Framing::Records => records(args, &reader, partitions, out),
        Framing::Arrow => batches(args, &reader, partitions, out),
    }
}

/// Binary output would garble a terminal, and nobody could read it there.
fn refuse_terminal(out: &Out, what: &str) -> Outcome {
    if out.is_terminal() {
        return Err(Failure::usage(format!(
            "{what} is not for a terminal: redirect the output"
        )));
    }
    Ok(())
}

fn raw(reader: &Reader, partitions: impl Iterator<Item = u32>, out: &mut Out) -> Outcome {
    refuse_terminal(out, "a raw payload")?;
    for partition in partitions {
        for block in reader.partition(partition)? {
            let block = block?;
            if block.kind() == faro::block::DATA {
                out.payload(&block.payload)?;
            }
        }
    }
    Ok(())
}

/// The property of a name, which `pack` wrote.
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

fn records(args: &CatArgs, reader: &Reader, partitions: impl Iterator<Item = u32>, out: &mut Out) -> Outcome {
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
    for partition in partitions {
        for record in reader.records(partition)? {
            out.payload(&record?)?;
            out.payload(line_end)?;
        }
    }
    Ok(())
}

fn batches(args: &CatArgs, reader: &Reader, partitions: impl Iterator<Item = u32>, out: &mut Out) -> Outcome {
    let usual = if out.is_terminal() {
        As::Jsonl
    } else {
        packed_as(reader).unwrap_or(As::Arrow)
    };
    let format = args.format.unwrap_or(usual);
    let schema = reader.arrow_schema()?;
    if matches!(format, As::Arrow | As::Parquet) {
        refuse_terminal(out, "this format")?;
    }
    let mut writer = BatchWriter::new(format, schema, !args.no_header, out)?;
    for partition in partitions {
        for batch in reader.batches(partition)? {
            writer.write(&batch?)?;
        }
    }
    writer.finish()
}

/// Writes batches in one of the formats that have columns.
enum BatchWriter<'a> {
    /// With a delimiter; the header stands before the first batch.
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
            As::Lines => return Err(Failure::usage("rows are no lines: use --format csv, tsv or jsonl")),
            As::Arrow => {
                let writer = arrow_ipc::writer::StreamWriter::try_new(out, &schema);
                BatchWriter::Arrow(Box::new(writer.map_err(conversion)?))
            }
            As::Parquet => {
                let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
                let writer = parquet::arrow::ArrowWriter::try_new(out, schema.clone(), Some(properties));
                BatchWriter::Parquet(Box::new(writer.map_err(conversion)?))
            }
        };
        // So that the header line is there even when no batch is.
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
            BatchWriter::Parquet(writer) => writer.write(batch).map_err(conversion),
        }
    }

    fn finish(self) -> Outcome {
        match self {
            BatchWriter::Csv { .. } | BatchWriter::Json { .. } => Ok(()),
            BatchWriter::Arrow(mut writer) => writer.finish().map_err(conversion),
            BatchWriter::Parquet(writer) => writer.close().map(|_| ()).map_err(conversion),
        }
    }
}

/// Types that a format cannot hold, or a failure to write.
fn conversion(error: impl std::error::Error + Send + Sync + 'static) -> Failure {
    Failure::Environment {
        what: "conversion".to_owned(),
        source: std::io::Error::other(error),
    }
}
