//! `faro where`: says which partition a key is in.

use std::collections::BTreeMap;

use clap::Args;
use faro::FileHeader;
use faro::shuffle::{Amount, Shuffle, name};
use serde::Serialize;

use crate::escape::escape;
use crate::failure::{Failure, Outcome};
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
    /// What the partition has in these outputs; records only with statistics in all of them.
    bytes: u64,
    records: Option<u64>,
}

/// Runs the command.
pub(crate) fn run(args: &WhereArgs, out: &mut Out) -> Outcome {
    let source = Source::open(&args.target)?;
    let shuffle = source.shuffle();
    let whole = source.sums()?.partitions().end;
    let answers = answers(args, whole, shuffle)?;
    if args.json {
        return out.json(&serde_json::json!({ "answers": answers }));
    }
    if answers.len() > 1 {
        out.line(&out.style().yellow("the outputs have different answers:"))?;
    }
    let is_part = shuffle.reader(0)?.header().is_merged() && args.partitions.is_none();
    for (number, answer) in answers.iter().enumerate() {
        if number > 0 {
            out.line("")?;
        }
        print(answer, is_part, answers.len() > 1, out)?;
    }
    Ok(())
}

/// The partitions that the keys of an output were divided among: its own, but a merged file may have a part of those of
/// the whole shuffle.
fn divided(args: &WhereArgs, whole: u32, header: &FileHeader) -> u32 {
    match args.partitions {
        Some(partitions) => partitions,
        None if header.is_merged() => whole,
        None => header.partitions().end,
    }
}

/// The different answers of the outputs. In a shuffle there is one.
fn answers(args: &WhereArgs, whole: u32, shuffle: &Shuffle) -> Outcome<Vec<Answer>> {
    let mut answers: Vec<Answer> = Vec::new();
    // Most outputs have the properties of one before; keys are looked up only for new ones.
    let mut known: BTreeMap<Vec<String>, usize> = BTreeMap::new();
    for (number, files) in shuffle.outputs().iter().enumerate() {
        let reader = shuffle.reader(number)?;
        let properties = reader.footer().properties.iter();
        let recorded = properties.filter(|property| property.key.starts_with("faro.pack."));
        let mut like: Vec<String> = recorded
            .map(|property| format!("{}={}", property.key, property.value))
            .collect();
        let partitions = divided(args, whole, reader.header());
        like.push(format!("{partitions} {:?}", reader.schema_message()));
        let at = match known.get(&like) {
            Some(at) => *at,
            None => {
                let place = Place {
                    key: &args.key,
                    by: &args.by,
                    partitions,
                };
                let placed = place.find(&reader, &name(files))?;
                let at = answers.iter().position(|answer| answer.placed == placed);
                let at = at.unwrap_or_else(|| {
                    answers.push(Answer {
                        placed,
                        outputs: 0,
                        first_output: name(files).display().to_string(),
                        bytes: 0,
                        records: Some(0),
                    });
                    answers.len() - 1
                });
                known.insert(like, at);
                at
            }
        };
        let answer = &mut answers[at];
        let sums = faro::shuffle::OutputSums::of_reader(&reader)?;
        let Amount { bytes, records } = sums.partition(answer.placed.partition);
        answer.outputs += 1;
        answer.bytes = answer.bytes.saturating_add(bytes);
        let records = sums.records.map(|_| records);
        answer.records = answer.records.zip(records).map(|(all, own)| all.saturating_add(own));
    }
    if answers.is_empty() {
        return Err(Failure::usage("no output says where keys are"));
    }
    Ok(answers)
}

fn print(answer: &Answer, is_part: bool, several: bool, out: &mut Out) -> Outcome {
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
            if is_part {
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
