//! Bounds that the caller gives.

use std::path::{Path, PathBuf};

use serde_json::Value as Json;

use super::args::PackArgs;
use super::partitioner::{OwnedKey, sort_bounds};
use super::text_key::Kind;
use super::value::OwnedValue;
use crate::failure::{Failure, Outcome};

/// Reads `--bounds`: values with commas between, of the type that the key's column has if that is known; or `@FILE`
/// with one bound in JSON on each line.
pub fn parse(text: &str, args: &PackArgs, kind: Option<Kind>) -> Outcome<Vec<OwnedKey>> {
    let bounds = match text.strip_prefix('@') {
        Some(path) => read_file(Path::new(path), args)?,
        None if args.by.len() > 1 => {
            return Err(Failure::usage(
                "bounds of several columns stand in a file: --bounds @FILE",
            ));
        }
        None => text
            .split(',')
            .map(|text| Ok(vec![value(text, kind)?]))
            .collect::<Outcome<_>>()?,
    };
    let mut sorted = bounds.clone();
    sort_bounds(&mut sorted);
    if sorted != bounds {
        return Err(Failure::usage("the bounds must ascend"));
    }
    Ok(bounds)
}

fn value(text: &str, kind: Option<Kind>) -> Outcome<OwnedValue> {
    let of = |kind: Kind| kind.value(text.as_bytes()).map(|value| OwnedValue::of(&value));
    match kind {
        Some(kind) => of(kind).map_err(Failure::usage),
        // JSON values are what they look like.
        None => Ok(of(Kind::Int)
            .or_else(|_| of(Kind::Float))
            .unwrap_or_else(|_| OwnedValue::Text(text.to_owned()))),
    }
}

fn read_file(path: &Path, args: &PackArgs) -> Outcome<Vec<OwnedKey>> {
    let text = std::fs::read_to_string(path).map_err(|source| Failure::file(path, source))?;
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    lines
        .map(|(number, line)| parse_line(path, number + 1, line, args.by.len()))
        .collect()
}

fn parse_line(path: &Path, number: usize, line: &str, columns: usize) -> Outcome<OwnedKey> {
    let wrong = |what: String| Failure::Input {
        path: PathBuf::from(path),
        place: Some(format!("line {number}")),
        what,
    };
    let values = match serde_json::from_str(line).map_err(|error| wrong(error.to_string()))? {
        Json::Array(values) => values,
        value => vec![value],
    };
    if values.len() != columns {
        return Err(wrong(format!(
            "a bound needs {columns} values, this one has {}",
            values.len()
        )));
    }
    let value = |json: Json| of_json(&json).ok_or_else(|| wrong(format!("{json} is no key")));
    values.into_iter().map(value).collect()
}

fn of_json(json: &Json) -> Option<OwnedValue> {
    Some(match json {
        Json::Null => OwnedValue::Null,
        Json::Bool(v) => OwnedValue::Bool(*v),
        Json::String(v) => OwnedValue::Text(v.clone()),
        Json::Number(number) => match (number.as_i64(), number.as_u64()) {
            (Some(v), _) => OwnedValue::Int(v),
            (_, Some(v)) => OwnedValue::UInt(v),
            _ => OwnedValue::Float(number.as_f64()?),
        },
        Json::Array(_) | Json::Object(_) => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn takes_values_by_type_or_look() {
        assert_eq!(value("10", Some(Kind::Text)).unwrap(), OwnedValue::Text("10".into()));
        assert_eq!(value("10", None).unwrap(), OwnedValue::Int(10));
        assert_eq!(value("1.5", None).unwrap(), OwnedValue::Float(1.5));
        assert_eq!(value("x", None).unwrap(), OwnedValue::Text("x".into()));
        assert!(value("x", Some(Kind::Int)).is_err());
    }

    #[test]
    fn reads_bounds_of_several_columns() {
        let line = parse_line(Path::new("b"), 1, "[\"a\", 18446744073709551615]", 2).unwrap();
        assert_eq!(line, [OwnedValue::Text("a".into()), OwnedValue::UInt(u64::MAX)]);
        assert!(parse_line(Path::new("b"), 1, "[1]", 2).is_err());
        assert!(parse_line(Path::new("b"), 1, "{}", 1).is_err());
    }
}
