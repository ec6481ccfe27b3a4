//! `faro where`: says which partition a key is in.

use std::collections::BTreeMap;
use std::path::Path;

use clap::Args;
use faro::shuffle::{Amount, OutputSums, name};
use faro::{FileHeader, Reader};
use serde::Serialize;

use crate::escape::escape;
use crate::failure::{Failure, Outcome};
use crate::folder;
use crate::pack::{By, Place, Placed, PlacedColumn, Placing, parse_by};
use crate::rows::Source;
use crate::target::AnyTarget;
use crate::term::Out;
use crate::units::{count, plural, size};

/// Say which partition a key is in, and how it got there
#[derive(Args, Debug)]
#[command(after_long_help = "\
The output says how `faro pack` made partitions of keys: by hash, or by bounds. The value is read as the type of the \
key's column; a value of JSON lines whose type was not named is what it looks like: 42 is an integer, \"42\" is text. \
--by names another type. An empty value is null, except for text.

A key of several columns is a list with commas between, or a list in JSON, which may also have nulls and commas in its \
texts.

Outputs of a folder that are unfinished or damaged are left out and reported.

Examples:
  faro where shuffle --key customer-7
  faro where shuffles/ --key 2024-01-31,42
  faro where shuffle --key '[\"Miller, A\", null]'
  faro where events --key 42 --by user:text")]
pub(crate) struct WhereArgs {
    #[command(flatten)]
    target: AnyTarget,

    /// The value of each column of the key, or a JSON list of them
    #[arg(
        short,
        long,
        required = true,
        value_name = "VALUE[,VALUE]",
        allow_hyphen_values = true
    )]
    key: String,

    /// The columns of the key with other types than those that were packed
    #[arg(short, long, value_name = "COLUMN:TYPE", value_delimiter = ',', value_parser = parse_by)]
    by: Vec<By>,

    /// The partitions of the whole shuffle, when a merged file has a part of them [default: those of the outputs]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1 << 28))]
    partitions: Option<u32>,

    /// Print the answer as JSON
    #[arg(long)]
    json: bool,
}

/// An answer, and the outputs that it is for.
#[derive(Debug, Serialize)]
struct Answer {
    #[serde(flatten)]
    placed: Placed,
    /// The number of outputs with this answer, and the first of them.
    outputs: u64,
    first_output: String,
    /// Whether merged files are among them, which may have a part of the partitions.
    #[serde(skip)]
    may_be_part: bool,
    /// What the partition has in these outputs; records only with statistics in all of them.
    bytes: u64,
    records: Option<u64>,
}

/// Runs the command.
pub(crate) fn run(args: &WhereArgs, out: &mut Out) -> Outcome {
    let source = Source::of_rows(&args.target, &[])?;
    let mut faults = Vec::new();
    let answers = answers(args, &source, &mut faults)?;
    if args.json {
        out.json(&serde_json::json!({ "answers": answers }))?;
    } else {
        if answers.len() > 1 {
            out.line(&out.style().yellow("the outputs have different answers:"))?;
        }
        for (number, answer) in answers.iter().enumerate() {
            if number > 0 {
                out.line("")?;
            }
            print(answer, answers.len() > 1, out)?;
        }
    }
    out.finish()?;
    folder::left_out(&faults)
}

/// The different answers of the outputs. In a shuffle there is one. Outputs with faults are left out.
fn answers(args: &WhereArgs, source: &Source, faults: &mut Vec<faro::Error>) -> Outcome<Vec<Answer>> {
    let shuffle = source.shuffle();
    let open = |number| {
        let reader = shuffle.reader(number)?;
        let sums = OutputSums::of_reader(&reader)?;
        Ok((reader, sums))
    };
    let mut answers = Answers::default();
    for (number, files) in shuffle.outputs().iter().enumerate() {
        match open(number) {
            Ok((reader, sums)) => {
                let partitions = answers.divided(args, source, reader.header())?;
                match answers.add(args, partitions, &name(files), &reader, &sums) {
                    Ok(()) => {}
                    Err(Failure::Faro(error)) => source.leave_out(error, faults)?,
                    Err(failure) => return Err(failure),
                }
            }
            Err(error) => source.leave_out(error, faults)?,
        }
    }
    Ok(answers.found)
}

#[derive(Default)]
struct Answers {
    found: Vec<Answer>,
    /// Most outputs have the properties of one before; keys are looked up only for new ones.
    known: BTreeMap<Vec<String>, usize>,
    /// The partitions of all outputs, once a merged one was seen.
    whole: Option<u32>,
}

impl Answers {
    /// Adds the answer of an output.
    fn add(&mut self, args: &WhereArgs, partitions: u32, path: &Path, reader: &Reader, sums: &OutputSums) -> Outcome {
        let properties = reader.footer().properties.iter();
        let recorded = properties.filter(|property| property.key.starts_with("faro.pack."));
        let mut like: Vec<String> = recorded
            .map(|property| format!("{}={}", property.key, property.value))
            .collect();
        like.push(format!("{partitions} {:?}", reader.schema_message()));
        let at = match self.known.get(&like) {
            Some(at) => *at,
            None => {
                let place = Place {
                    key: &args.key,
                    by: &args.by,
                    partitions,
                };
                let placed = place.find(reader, path)?;
                let at = self.of(placed, path);
                self.known.insert(like, at);
                at
            }
        };
        let answer = &mut self.found[at];
        let Amount { bytes, records } = sums.partition(answer.placed.partition);
        answer.outputs += 1;
        answer.may_be_part |= reader.header().is_merged() && args.partitions.is_none();
        answer.bytes = answer.bytes.saturating_add(bytes);
        let records = sums.records.map(|_| records);
        answer.records = answer.records.zip(records).map(|(all, own)| all.saturating_add(own));
        Ok(())
    }

    /// The position of an answer, which is added if it is new.
    fn of(&mut self, placed: Placed, path: &Path) -> usize {
        if let Some(at) = self.found.iter().position(|answer| answer.placed == placed) {
            return at;
        }
        self.found.push(Answer {
            placed,
            outputs: 0,
            first_output: path.display().to_string(),
            may_be_part: false,
            bytes: 0,
            records: Some(0),
        });
        self.found.len() - 1
    }

    /// The partitions that the keys of an output were divided among: its own, but a merged file may have a part of those
    /// of the whole shuffle. Their number is not known if another file cannot be read, so that is an error.
    fn divided(&mut self, args: &WhereArgs, source: &Source, header: &FileHeader) -> Outcome<u32> {
        match (args.partitions, self.whole) {
            (Some(partitions), _) => Ok(partitions),
            (None, _) if !header.is_merged() => Ok(header.partitions().end),
            (None, Some(whole)) => Ok(whole),
            (None, None) => Ok(*self.whole.insert(source.sums()?.partitions().end)),
        }
    }
}

fn print(answer: &Answer, several: bool, out: &mut Out) -> Outcome {
    let style = out.style();
    let placed = &answer.placed;
    let mut entry = |title: &str, text: &str| out.line(&format!("{}  {text}", style.bold(&format!("{title:<9}"))));
    entry("partition", &placed.partition.to_string())?;
    let mut title = "key";
    for column in &placed.columns {
        entry(title, &described(column))?;
        title = "";
    }
    match &placed.method {
        Placing::Hash { hash, partitions } => {
            entry(
                "method",
                &format!(
                    "hash: XXH64 of the key is {hash}, modulo {} partitions",
                    count((*partitions).into())
                ),
            )?;
            if answer.may_be_part {
                let text = "of a merged file; if it has a part of the partitions, pass --partitions with their number";
                entry("", &style.yellow(text))?;
            }
        }
        Placing::Range { bounds, from, to } => {
            let bounds = plural(*bounds as u64, "bound");
            let place = match (from, to) {
                (None, None) => String::new(),
                (None, Some(to)) => format!(", before {}", escape(to)),
                (Some(from), None) => format!(", from {} on", escape(from)),
                (Some(from), Some(to)) => format!(", from {} on and before {}", escape(from), escape(to)),
            };
            entry("method", &format!("range: {bounds}{place}"))?;
        }
    }
    let records = answer
        .records
        .map_or_else(String::new, |records| format!("{}, ", plural(records, "record")));
    let outputs = plural(answer.outputs, "output");
    let first = match several {
        true => format!(", the first is {}", escape(&answer.first_output)),
        false => String::new(),
    };
    entry("holds", &format!("{records}{} in {outputs}{first}", size(answer.bytes)))
}

fn described(column: &PlacedColumn) -> String {
    let look = if column.by_look {
        format!(
            ", as it looks; name the type otherwise: --by {}:text",
            escape(&column.name)
        )
    } else {
        String::new()
    };
    let value = escape(&column.value.to_string());
    format!("{} = {value} ({}{look})", escape(&column.name), column.r#type)
}
