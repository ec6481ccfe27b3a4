//! `faro schema`: the columns of rows.

use std::collections::{BTreeMap, BTreeSet};

use clap::Args;
use faro::shuffle::name;
use faro::{Framing, Reader};
use serde::Serialize;

use crate::escape::escape;
use crate::failure::{Failure, Outcome};
use crate::folder;
use crate::pack::{KeyType, by_of, header_names};
use crate::rows::{As, Packed, Source};
use crate::target::AnyTarget;
use crate::term::Out;
use crate::units::plural;

/// Show the columns of the rows
#[derive(Args, Debug)]
#[command(after_long_help = "\
Arrow batches have a schema. CSV and TSV have the names of their header line; columns of the key have the types that \
`faro pack --by` named, all others are text. JSON lines have the members of the first records, with the types of their \
values.

Outputs of one shuffle have the same columns. If those of a folder differ, each kind is shown, with its outputs. Those \
that are unfinished or damaged are left out and reported.

Examples:
  faro schema shuffle
  faro schema shuffles/
  faro schema shuffle --json | jq -r '.schemas[0].columns[].name'")]
pub(crate) struct SchemaArgs {
    #[command(flatten)]
    target: AnyTarget,

    /// How many records of JSON lines are read, of each output
    #[arg(long, value_name = "N", default_value_t = 100)]
    records: usize,

    /// Print the schemas as JSON
    #[arg(long)]
    json: bool,
}

/// The columns of outputs that have the same.
#[derive(Debug, Serialize)]
struct Schema {
    #[serde(flatten)]
    rows: Rows,
    outputs: u64,
    /// The first of them.
    first_output: String,
}

/// What the rows are.
#[derive(Clone, Debug, PartialEq, Serialize)]
struct Rows {
    framing: &'static str,
    /// What was packed; none in outputs of other writers.
    format: Option<String>,
    /// None if the output does not say.
    columns: Option<Vec<Column>>,
    /// The records that were read to find the columns; only of JSON lines.
    #[serde(skip_serializing_if = "Option::is_none")]
    records_read: Option<u64>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
struct Column {
    name: String,
    r#type: String,
    /// Whether rows may lack a value; none if that is not known.
    nullable: Option<bool>,
    /// Whether it is a column of the key.
    key: bool,
}

/// Runs the command.
pub(crate) fn run(args: &SchemaArgs, out: &mut Out) -> Outcome {
    let source = Source::open(&args.target)?;
    let mut schemas: Vec<Schema> = Vec::new();
    let mut members = Members::default();
    let mut faults = Vec::new();
    for (number, files) in source.shuffle().outputs().iter().enumerate() {
        let rows = match rows_of_output(&source, number, args.records, &mut members) {
            Ok(rows) => rows,
            Err(Failure::Faro(error)) => {
                source.leave_out(error, &mut faults)?;
                continue;
            }
            Err(failure) => return Err(failure),
        };
        match schemas.iter_mut().find(|schema| schema.rows == rows) {
            Some(schema) => schema.outputs += 1,
            None => schemas.push(Schema {
                rows,
                outputs: 1,
                first_output: name(files).display().to_string(),
            }),
        }
    }
    let of_json = schemas
        .iter_mut()
        .filter(|schema| schema.rows.format.as_deref() == Some("jsonl"));
    for schema in of_json {
        schema.rows.columns = Some(members.columns());
        schema.rows.records_read = Some(members.records);
    }
    if args.json {
        out.json(&serde_json::json!({ "schemas": schemas }))?;
    } else {
        print(&schemas, out)?;
    }
    out.finish()?;
    folder::left_out(&faults)
}

/// What the rows of an output are. The first records of JSON lines are added to the members of all outputs.
fn rows_of_output(source: &Source, number: usize, records: usize, members: &mut Members) -> Outcome<Rows> {
    let reader = source.shuffle().reader(number)?;
    let mut rows = rows(&reader)?;
    if rows.format.as_deref() == Some("jsonl") {
        let mut own = Members {
            key: key_names(&reader)?,
            ..Members::default()
        };
        own.read(&reader, records)?;
        members.add_all(own);
        // JSON lines have the members of all outputs together.
        rows.columns = Some(Vec::new());
    }
    Ok(rows)
}

/// The names and types of the key's columns.
fn key_names(reader: &Reader) -> Outcome<BTreeMap<String, Option<KeyType>>> {
    let by = by_of(reader)?.unwrap_or_default();
    Ok(by.into_iter().map(|by| (by.name, by.kind)).collect())
}

fn rows(reader: &Reader) -> Outcome<Rows> {
    let packed = Packed::of(reader);
    let key = key_names(reader)?;
    let is_key = |name: &str, number: usize| key.contains_key(name) || key.contains_key(&(number + 1).to_string());
    let columns = match packed.framing {
        Framing::Arrow => {
            let schema = reader.arrow_schema()?;
            let column = |(number, field): (usize, &std::sync::Arc<arrow_schema::Field>)| Column {
                name: field.name().clone(),
                r#type: field.data_type().to_string(),
                nullable: Some(field.is_nullable()),
                key: is_key(field.name(), number),
            };
            Some(schema.fields().iter().enumerate().map(column).collect())
        }
        Framing::Records => header_names(&packed)?.map(|names| {
            let column = |(number, name): (usize, String)| {
                let kind = key.get(&name).or_else(|| key.get(&(number + 1).to_string()));
                Column {
                    r#type: kind.copied().flatten().unwrap_or(KeyType::Text).to_string(),
                    nullable: None,
                    key: kind.is_some(),
                    name,
                }
            };
            names.into_iter().enumerate().map(column).collect()
        }),
        _ => None,
    };
    Ok(Rows {
        framing: packed.framing.as_str(),
        format: packed.format.map(As::name),
        columns,
        records_read: None,
    })
}

/// The members of JSON records: in the order in which they are seen first, each with the types of its values.
#[derive(Default)]
struct Members {
    order: Vec<String>,
    types: BTreeMap<String, (BTreeSet<&'static str>, u64)>,
    records: u64,
    /// The names of the key's columns.
    key: BTreeMap<String, Option<KeyType>>,
}

impl Members {
    /// Reads the first records of an output.
    fn read(&mut self, reader: &Reader, most: usize) -> Outcome {
        let mut left = most;
        for block in reader.all()? {
            let block = block?;
            if block.kind() != faro::block::DATA {
                continue;
            }
            for record in block.record_slices()? {
                if left == 0 {
                    return Ok(());
                }
                left -= 1;
                self.add(record);
            }
        }
        Ok(())
    }

    fn add(&mut self, record: &[u8]) {
        self.records += 1;
        let Ok(members) = serde_json::from_slice::<serde_json::Map<String, serde_json::Value>>(record) else {
            return;
        };
        for (name, value) in members {
            let (types, count) = self.types.entry(name.clone()).or_insert_with(|| {
                self.order.push(name);
                Default::default()
            });
            types.insert(type_of(&value));
            *count += 1;
        }
    }

    /// Adds those of another output. Of one that is left out for a fault, nothing is added.
    fn add_all(&mut self, other: Members) {
        self.records += other.records;
        self.key.extend(other.key);
        let mut types = other.types;
        for name in other.order {
            let Some((own, own_count)) = types.remove(&name) else {
                continue;
            };
            let (types, count) = self.types.entry(name.clone()).or_insert_with(|| {
                self.order.push(name);
                Default::default()
            });
            types.extend(own);
            *count += own_count;
        }
    }

    fn columns(&self) -> Vec<Column> {
        let column = |name: &String| {
            let (types, count) = &self.types[name];
            let types: Vec<&str> = types
                .iter()
                .copied()
                .filter(|kind| *kind != "null" || types.len() == 1)
                .collect();
            let has_null = self.types[name].0.contains("null");
            let pointer = format!("/{}", name.replace('~', "~0").replace('/', "~1"));
            let is_key = |by: &str| by == name || by == pointer || by.starts_with(&format!("{pointer}/"));
            Column {
                name: name.clone(),
                r#type: types.join(" or "),
                nullable: Some(has_null || *count < self.records),
                key: self.key.keys().any(|by| is_key(by)),
            }
        };
        self.order.iter().map(column).collect()
    }
}

fn type_of(value: &serde_json::Value) -> &'static str {
    use serde_json::Value;
    match value {
        Value::Null => "null",
        Value::Bool(_) => "bool",
        Value::Number(number) if number.is_f64() => "float",
        Value::Number(_) => "int",
        Value::String(_) => "text",
        Value::Array(_) => "list",
        Value::Object(_) => "object",
    }
}

fn print(schemas: &[Schema], out: &mut Out) -> Outcome {
    let style = out.style();
    if schemas.len() > 1 {
        let kinds = plural(schemas.len() as u64, "kind");
        out.line(&style.yellow(&format!("the outputs differ: they have rows of {kinds}")))?;
    }
    for schema in schemas {
        if schemas.len() > 1 {
            out.line("")?;
        }
        let rows = &schema.rows;
        let format = rows.format.as_deref().unwrap_or(rows.framing);
        let outputs = match (schemas.len(), schema.outputs) {
            (1, 1) => String::new(),
            (1, count) => format!(", in {}", plural(count, "output")),
            (_, count) => format!(
                ", in {}, first in {}",
                plural(count, "output"),
                escape(&schema.first_output)
            ),
        };
        let read = rows.records_read.map_or_else(String::new, |records| {
            format!(", as seen in {}", plural(records, "record"))
        });
        let Some(columns) = &rows.columns else {
            out.line(&format!("{format}{outputs}: the output does not name columns"))?;
            continue;
        };
        out.line(&format!(
            "{format}{outputs}: {}{read}",
            plural(columns.len() as u64, "column")
        ))?;
        let widest = columns
            .iter()
            .map(|column| escape(&column.name).chars().count())
            .max()
            .unwrap_or(0);
        for column in columns {
            let (name, kind) = (escape(&column.name), escape(&column.r#type));
            let fill = " ".repeat(widest - name.chars().count());
            let nullable = match column.nullable {
                Some(true) => ", may be null",
                Some(false) => ", not null",
                None => "",
            };
            let key = if column.key { style.cyan(", key") } else { String::new() };
            out.line(&format!("  {}{fill}  {kind}{nullable}{key}", style.bold(&name)))?;
        }
    }
    Ok(())
}
