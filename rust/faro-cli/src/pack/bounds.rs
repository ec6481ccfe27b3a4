//! Bounds from the caller, read by the types of the key's columns.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use faro::key::compare_keys;
use serde_json::value::RawValue;

use super::json;
use super::json_key::plain;
use super::key_type::KeyType;
use super::partitioner::OwnedKey;
use super::reading::integer;
use super::value::OwnedValue;
use crate::failure::{Failure, Outcome};

/// Bounds without types: each input reads them by the types of its key.
#[derive(Debug)]
pub(super) struct Bounds {
    file: Option<PathBuf>,
    rows: Vec<Row>,
}

/// One bound, and the line that it is on.
#[derive(Debug)]
struct Row {
    line: usize,
    values: Vec<Given>,
}

/// One value of a bound.
#[derive(Debug)]
enum Given {
    Plain(String),
    /// A JSON value, with its text if it is a string.
    Json {
        raw: String,
        text: String,
    },
}

impl Bounds {
    /// Reads `--bounds`: values with commas between, or `@FILE` with one bound in JSON on each line.
    pub(super) fn read(text: &str, columns: usize) -> Outcome<Bounds> {
        if let Some(path) = text.strip_prefix('@') {
            return read_file(Path::new(path), columns);
        }
        if columns > 1 {
            return Err(Failure::usage(
                "bounds of several columns are read from a file: --bounds @FILE, with a line such as [1, \"a\"] for each",
            ));
        }
        if text.split(',').any(|bound| bound.trim().is_empty()) {
            return Err(Failure::usage(
                "--bounds: a bound is empty; for an empty text, use --bounds @FILE with the line \"\"",
            ));
        }
        let rows = text.split(',').map(|bound| Row {
            line: 1,
            values: vec![Given::Plain(bound.to_owned())],
        });
        Ok(Bounds {
            file: None,
            rows: rows.collect(),
        })
    }

    /// Reads the property `faro.pack.bounds`.
    pub(super) fn of_property(text: &str, columns: usize) -> Result<Bounds, String> {
        let all: Vec<&RawValue> = serde_json::from_str(text).map_err(json::mistake)?;
        let row = |(number, raw): (usize, &&RawValue)| {
            Ok(Row {
                line: number + 1,
                values: values(raw.get(), columns)?,
            })
        };
        Ok(Bounds {
            file: None,
            rows: all.iter().enumerate().map(row).collect::<Result<_, String>>()?,
        })
    }

    /// A bound as it was given.
    pub(super) fn shown(&self, number: usize) -> Option<String> {
        self.rows.get(number).map(Row::shown)
    }

    /// How many partitions the bounds make.
    pub(super) fn partitions(&self) -> u64 {
        self.rows.len() as u64 + 1
    }

    /// The bounds with these types. If a column has none, as in JSON, the type follows from the bounds.
    pub(super) fn typed(&self, types: &[Option<KeyType>]) -> Outcome<(Vec<OwnedKey>, Vec<KeyType>)> {
        let kind = |(column, kind): (usize, &Option<KeyType>)| kind.unwrap_or_else(|| self.look(column));
        let types: Vec<KeyType> = types.iter().enumerate().map(kind).collect();
        let mut bounds: Vec<OwnedKey> = Vec::with_capacity(self.rows.len());
        for row in &self.rows {
            let values = row.values.iter().zip(&types).map(|(given, kind)| given.value(*kind));
            let bound = values.collect::<Result<OwnedKey, _>>();
            let bound = bound.map_err(|what| self.wrong(row, what))?;
            if let Some(last) = bounds.last()
                && compare_keys(
                    last.iter().map(OwnedValue::borrow),
                    bound.iter().map(OwnedValue::borrow),
                )
                .is_gt()
            {
                let what = "bounds must ascend: this one is less than the one before".to_owned();
                return Err(self.wrong(row, format!("{}: {what}", row.shown())));
            }
            bounds.push(bound);
        }
        Ok((bounds, types))
    }

    /// The type that all values of a column fit.
    fn look(&self, column: usize) -> KeyType {
        let looks = self.rows.iter().filter_map(|row| row.values.get(column)?.look());
        let together = |a, b| match (a, b) {
            (a, b) if a == b => a,
            (KeyType::Int | KeyType::Float(_), KeyType::Int | KeyType::Float(_)) => KeyType::Float(64),
            _ => KeyType::Text,
        };
        looks.reduce(together).unwrap_or(KeyType::Null)
    }

    fn wrong(&self, row: &Row, what: String) -> Failure {
        match &self.file {
            Some(path) => Failure::input(path, format!("line {}", row.line), what),
            None => Failure::usage(format!("--bounds: {what}")),
        }
    }
}

impl Row {
    fn shown(&self) -> String {
        let values = self.values.iter().map(|given| match given {
            Given::Plain(text) => text.as_str(),
            Given::Json { raw, .. } => raw.as_str(),
        });
        values.collect::<Vec<_>>().join(", ")
    }
}

/// A key on the command line.
#[derive(Debug)]
pub(super) struct GivenKey(Vec<Given>);

impl GivenKey {
    /// Reads a key: a value for each column with commas between, or a JSON list of values.
    pub(super) fn parse(text: &str, columns: usize) -> Result<GivenKey, String> {
        if text.starts_with('[')
            && let Ok(values) = values(text, columns)
        {
            return Ok(GivenKey(values));
        }
        let values: Vec<&str> = if columns == 1 {
            vec![text]
        } else {
            text.split(',').collect()
        };
        if values.len() != columns {
            let given = crate::units::plural(values.len() as u64, "value");
            return Err(format!(
                "the key has {columns} columns, and this is {given}; values with commas need a JSON list: [\"a,b\", 7]"
            ));
        }
        Ok(GivenKey(
            values.into_iter().map(|value| Given::Plain(value.to_owned())).collect(),
        ))
    }

    /// The values by their types; without a type, a value is what it looks like in JSON, else text.
    pub(super) fn values(&self, types: &[Option<KeyType>]) -> Result<OwnedKey, String> {
        let values = self.0.iter().zip(types);
        values.map(|(given, kind)| given.key_value(*kind)).collect()
    }
}

impl Given {
    /// The value of a key's column in a record.
    fn key_value(&self, kind: Option<KeyType>) -> Result<OwnedValue, String> {
        let value = match (self, kind) {
            (_, Some(KeyType::Binary)) => return self.value(KeyType::Binary),
            (Given::Plain(text), Some(kind)) => kind.field(text)?,
            (Given::Json { raw, text }, Some(kind)) => kind.json(raw, text)?,
            (Given::Json { raw, text }, None) => plain(raw, text)?,
            (Given::Plain(text), None) => match values(text, 1).as_deref() {
                Ok([Given::Json { raw, text }]) if !raw.starts_with(['{', '[']) => {
                    return plain(raw, text).map(|value| OwnedValue::of(&value));
                }
                _ => plain("\"\"", text)?,
            },
        };
        Ok(OwnedValue::of(&value))
    }

    fn value(&self, kind: KeyType) -> Result<OwnedValue, String> {
        match self {
            Given::Plain(text) => kind.bound(text),
            Given::Json { raw, text } => kind.json_bound(raw, text),
        }
    }

    fn look(&self) -> Option<KeyType> {
        let number = |text: &str| match integer(text) {
            Some(_) => Some(KeyType::Int),
            None => text.parse::<f64>().ok().map(|_| KeyType::Float(64)),
        };
        Some(match self {
            Given::Json { raw, .. } if raw == "null" => return None,
            Given::Json { raw, .. } if raw.starts_with('"') => KeyType::Text,
            Given::Plain(raw) | Given::Json { raw, .. } if raw == "true" || raw == "false" => KeyType::Bool,
            Given::Plain(raw) | Given::Json { raw, .. } => number(raw.trim()).unwrap_or(KeyType::Text),
        })
    }
}

fn read_file(path: &Path, columns: usize) -> Outcome<Bounds> {
    let bytes = std::fs::read(path).map_err(|source| Failure::file(path, source))?;
    let text = String::from_utf8(bytes).map_err(|_| Failure::input(path, None, "not UTF-8, as JSON must be"))?;
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let row = |(number, text): (usize, &str)| {
        let values = values(text, columns);
        let values = values.map_err(|what| Failure::input(path, format!("line {}", number + 1), what))?;
        Ok(Row {
            line: number + 1,
            values,
        })
    };
    Ok(Bounds {
        file: Some(path.to_owned()),
        rows: lines.map(row).collect::<Outcome<_>>()?,
    })
}

/// The values of a line: a list, or one value alone.
fn values(line: &str, columns: usize) -> Result<Vec<Given>, String> {
    let hint = |error| format!("{}; texts and dates need quotes: \"2024-01-31\"", json::mistake(error));
    let all: Vec<&RawValue> = if line.trim_start().starts_with('[') {
        serde_json::from_str(line).map_err(hint)?
    } else {
        vec![serde_json::from_str(line).map_err(hint)?]
    };
    if all.len() != columns {
        return Err(format!(
            "a bound of this key needs {columns} values, this one has {}",
            all.len()
        ));
    }
    let given = |raw: &RawValue| {
        let text: Cow<'_, str> = match raw.get().starts_with('"') {
            true => serde_json::from_str(raw.get()).map_err(json::mistake)?,
            false => Cow::Borrowed(""),
        };
        Ok(Given::Json {
            raw: raw.get().to_owned(),
            text: text.into_owned(),
        })
    };
    all.into_iter().map(given).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(text: &str, kind: Option<KeyType>) -> Outcome<(Vec<OwnedKey>, Vec<KeyType>)> {
        Bounds::read(text, 1)?.typed(&[kind])
    }

    #[test]
    fn values_are_of_the_given_type_or_what_they_look_like() {
        let (bounds, _) = typed("10", Some(KeyType::Text)).unwrap();
        assert_eq!(bounds, [[OwnedValue::Text("10".into())]]);
        let kinds = [
            ("10,20", KeyType::Int),
            ("10,20.5", KeyType::Float(64)),
            ("false,true", KeyType::Bool),
            ("10,x", KeyType::Text),
        ];
        for (text, kind) in kinds {
            assert_eq!(typed(text, None).unwrap().1, [kind], "{text}");
        }
        assert!(typed("x", Some(KeyType::Int)).is_err());
        assert!(typed("2,1", Some(KeyType::Int)).is_err());
        assert!(typed("1,1", Some(KeyType::Int)).is_ok());
        assert!(typed("1,", Some(KeyType::Text)).is_err());
    }

    #[test]
    fn reads_bounds_of_several_columns() {
        let line = values("[\"a\", 18446744073709551615]", 2).unwrap();
        let row = Row { line: 1, values: line };
        let bounds = Bounds {
            file: None,
            rows: vec![row],
        };
        let (bounds, types) = bounds.typed(&[None, None]).unwrap();
        assert_eq!(bounds, [[OwnedValue::Text("a".into()), OwnedValue::UInt(u64::MAX)]]);
        assert_eq!(types, [KeyType::Text, KeyType::Int]);
        assert!(values("[1]", 2).is_err());
        assert!(Bounds::read("1,2", 2).is_err());
    }
}
