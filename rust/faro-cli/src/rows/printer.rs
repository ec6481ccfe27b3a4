//! Prints blocks in the format that was packed, or in another.

use std::ops::ControlFlow;
use std::path::PathBuf;

use faro::shuffle::name;
use faro::{BatchDecoder, Files, Framing, Reader};

use super::batch_writer::BatchWriter;
use super::format::As;
use super::packed::Packed;
use super::source::Found;
use crate::failure::{Failure, Outcome};
use crate::term::Out;

/// How rows are printed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Printing {
    /// The format; without one, what was packed.
    pub format: Option<As>,
    /// Whether payloads are printed as they are.
    pub raw: bool,
    /// Whether CSV and TSV begin with their header line.
    pub header: bool,
    /// How many rows are printed at most.
    pub limit: Option<u64>,
}

/// Prints the blocks that it gets. All outputs must have rows of the same kind as the first.
pub(crate) struct Printer<'a> {
    outputs: &'a [Files],
    packed: Packed,
    sink: Sink<'a>,
    /// How many rows may still be printed.
    left: u64,
    /// The output that was checked last, and the decoder of its batches.
    output: Option<usize>,
    decoder: Option<BatchDecoder>,
}

enum Sink<'a> {
    Raw(&'a mut Out),
    Records(&'a mut Out),
    Batches(Box<BatchWriter<'a>>),
}

impl<'a> Printer<'a> {
    /// A printer for blocks of these outputs. The header line is printed now, even if there are no rows.
    pub(crate) fn new(
        printing: &Printing,
        outputs: &'a [Files],
        first: &Reader,
        out: &'a mut Out,
    ) -> Outcome<Printer<'a>> {
        let packed = Packed::of(first);
        let sink = match packed.framing {
            Framing::Opaque if printing.format.is_some() || printing.limit.is_some() => {
                return Err(Failure::usage(
                    "the payload is opaque: only `faro cat --raw` can print it",
                ));
            }
            _ if printing.raw => Sink::Raw(raw(out)?),
            Framing::Opaque => Sink::Raw(raw(out)?),
            Framing::Records => records(printing, &packed, out)?,
            Framing::Arrow => batches(printing, &packed, first, out)?,
        };
        Ok(Printer {
            outputs,
            packed,
            sink,
            left: printing.limit.unwrap_or(u64::MAX),
            output: None,
            decoder: None,
        })
    }

    /// Prints the rows of a data block. It breaks when enough rows were printed.
    pub(crate) fn take(&mut self, found: &Found<'_>) -> Outcome<ControlFlow<()>> {
        if self.left == 0 {
            return Ok(ControlFlow::Break(()));
        }
        if self.output != Some(found.output) {
            self.begin(found)?;
        }
        match &mut self.sink {
            Sink::Raw(out) => out.payload(&found.block.payload)?,
            Sink::Records(out) => {
                let line_end = self.packed.line_end();
                for record in found.block.record_slices()? {
                    if self.left == 0 {
                        break;
                    }
                    self.left -= 1;
                    out.payload(record)?;
                    out.payload(line_end)?;
                }
            }
            Sink::Batches(writer) => {
                let decoder = match &self.decoder {
                    Some(decoder) => decoder,
                    None => self.decoder.insert(found.reader.batch_decoder()?),
                };
                let mut batch = decoder.decode(found.block)?;
                if batch.num_rows() as u64 > self.left {
                    batch = batch.slice(0, self.left as usize);
                }
                self.left -= batch.num_rows() as u64;
                writer.write(&batch)?;
            }
        }
        Ok(match self.left {
            0 => ControlFlow::Break(()),
            _ => ControlFlow::Continue(()),
        })
    }

    /// Checks that the rows of an output are of the same kind as those before.
    fn begin(&mut self, found: &Found<'_>) -> Outcome {
        self.decoder = None;
        self.output = Some(found.output);
        if matches!(self.sink, Sink::Raw(_)) || Packed::of(found.reader) == self.packed {
            return Ok(());
        }
        let named = |output: usize| self.outputs.get(output).map_or_else(PathBuf::new, name);
        let first = named(0);
        Err(Failure::input(
            &named(found.output),
            None,
            format!(
                "its rows are of another kind than those of {}: `faro schema` shows both",
                first.display()
            ),
        ))
    }

    /// Writes what is still to be written.
    pub(crate) fn finish(self) -> Outcome {
        match self.sink {
            Sink::Raw(_) | Sink::Records(_) => Ok(()),
            Sink::Batches(writer) => writer.finish(),
        }
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

/// Where payloads are printed as they are.
pub(crate) fn raw(out: &mut Out) -> Outcome<&mut Out> {
    refuse_terminal(out, "a raw payload")?;
    Ok(out)
}

fn records<'a>(printing: &Printing, packed: &Packed, out: &'a mut Out) -> Outcome<Sink<'a>> {
    let known = packed.format.unwrap_or(As::Lines);
    let format = printing.format.unwrap_or(known);
    if format != known && format != As::Lines {
        let name = known.name();
        let own = if known == As::Lines {
            String::new()
        } else {
            format!("{name}, ")
        };
        return Err(Failure::usage(format!(
            "the records are {name}: they can be printed as {own}lines or --raw"
        )));
    }
    if let Some(header) = packed
        .header
        .as_ref()
        .filter(|_| printing.header && format != As::Lines)
    {
        out.payload(header.as_bytes())?;
        out.payload(packed.line_end())?;
    }
    Ok(Sink::Records(out))
}

fn batches<'a>(printing: &Printing, packed: &Packed, first: &Reader, out: &'a mut Out) -> Outcome<Sink<'a>> {
    let usual = if out.is_terminal() {
        As::Jsonl
    } else {
        packed.format.unwrap_or(As::Arrow)
    };
    let format = printing.format.unwrap_or(usual);
    let schema = first.arrow_schema()?;
    if matches!(format, As::Arrow | As::Parquet) {
        refuse_terminal(out, "this format")?;
    }
    let writer = BatchWriter::new(format, schema, printing.header, out)?;
    Ok(Sink::Batches(Box::new(writer)))
}
