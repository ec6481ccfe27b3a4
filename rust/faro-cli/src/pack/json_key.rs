//! The key of JSON records: its values, their types, and how often they are missing.

use std::borrow::Cow;
use std::collections::BTreeSet;

use faro::key::KeyValue;

use super::args::By;
use super::json::{self, Path};
use super::key_type::KeyType;
use super::reading::integer;

/// How many names are shown, and how many records are searched for them, when a key is missing.
const NAMES: usize = 20;

/// Finds the key of records, one after another.
#[derive(Debug)]
pub(super) struct JsonKey {
    fields: Vec<Field>,
    records: u64,
}

/// One value of the key.
#[derive(Debug)]
struct Field {
    path: Path,
    rule: Rule,
    missing: u64,
    /// The names that exist instead, while no record had this one.
    names: BTreeSet<String>,
}

/// The types that a value may have.
#[derive(Clone, Copy, Debug)]
enum Rule {
    /// Any type (KEY-1).
    Any,
    /// The type that the caller named.
    Named(KeyType),
    /// The type of the bounds, or of the first value: values of several types have no useful order.
    Alike(Option<KeyType>),
}

/// A value of the key that records lack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Missing {
    pub name: String,
    /// How many records lack it.
    pub count: u64,
    pub records: u64,
    /// The names that the first records have instead.
    pub names: Vec<String>,
}

impl JsonKey {
    /// A key of the values `by`. With `alike`, each value must have the same type in all records.
    pub(super) fn new(by: &[By], alike: bool) -> Result<JsonKey, String> {
        let field = |by: &By| {
            Ok(Field {
                path: Path::parse(&by.name)?,
                rule: match by.kind {
                    Some(kind) => Rule::Named(kind),
                    None if alike => Rule::Alike(None),
                    None => Rule::Any,
                },
                missing: 0,
                names: BTreeSet::new(),
            })
        };
        let fields = by.iter().map(field).collect::<Result<_, String>>()?;
        Ok(JsonKey { fields, records: 0 })
    }

    /// The types of the values; none for a value that was always null.
    pub(super) fn types(&self) -> Vec<Option<KeyType>> {
        let kind = |field: &Field| match field.rule {
            Rule::Named(kind) => Some(kind),
            Rule::Alike(kind) => kind,
            Rule::Any => None,
        };
        self.fields.iter().map(kind).collect()
    }

    /// Requires the types of the bounds of values for which the caller named none.
    pub(super) fn expect(&mut self, types: &[KeyType]) {
        for (field, kind) in self.fields.iter_mut().zip(types) {
            if let Rule::Alike(expected) = &mut field.rule {
                *expected = Some(*kind);
            }
        }
    }

    /// Finds the key of a record, and passes it to `then`.
    pub(super) fn with<T>(&mut self, record: &[u8], then: impl FnOnce(&[KeyValue<'_>]) -> T) -> Result<T, String> {
        let record = std::str::from_utf8(record).map_err(|_| "not UTF-8, as JSON must be".to_owned())?;
        self.records += 1;
        let mut found = Vec::with_capacity(self.fields.len());
        for field in &mut self.fields {
            let raw = field.path.find(record)?;
            if raw.is_none() {
                field.miss(record, self.records)?;
            }
            let raw = raw.unwrap_or("null");
            let text = if raw.starts_with('"') {
                serde_json::from_str(raw).map_err(json::mistake)?
            } else {
                Cow::Borrowed("")
            };
            found.push((raw, text));
        }
        let mut values = Vec::with_capacity(found.len());
        for (field, (raw, text)) in self.fields.iter_mut().zip(&found) {
            values.push(field.value(raw, text)?);
        }
        Ok(then(&values))
    }

    /// The values that some or all records lack.
    pub(super) fn missing(&self) -> Vec<Missing> {
        let missing = self.fields.iter().filter(|field| field.missing > 0);
        let report = |field: &Field| Missing {
            name: field.path.text.clone(),
            count: field.missing,
            records: self.records,
            names: field.names.iter().take(NAMES + 1).cloned().collect(),
        };
        missing.map(report).collect()
    }
}

impl Field {
    fn miss(&mut self, record: &str, records: u64) -> Result<(), String> {
        self.missing += 1;
        if self.missing == records && records <= NAMES as u64 {
            self.names.extend(self.path.beside(record)?.into_iter().take(NAMES + 1));
        }
        Ok(())
    }

    fn value<'a>(&mut self, raw: &str, text: &'a str) -> Result<KeyValue<'a>, String> {
        let name = &self.path.text;
        let at_key = |what: String| format!("\"{name}\": {what}");
        if raw.starts_with(['{', '[']) {
            return Err(at_key("an object or a list cannot be a key".to_owned()));
        }
        match &mut self.rule {
            Rule::Any => plain(raw, text).map_err(at_key),
            Rule::Named(kind) => kind.json(raw, text).map_err(at_key),
            Rule::Alike(expected) => {
                let value = plain(raw, text).map_err(at_key)?;
                *expected = expected.or(type_of(&value));
                let Some(kind) = *expected else { return Ok(value) };
                kind.json(raw, text).map_err(|what| {
                    let next = match value {
                        KeyValue::Float(_) => format!("; name the type: --by {name}:float"),
                        _ => "; by range all keys are of one type".to_owned(),
                    };
                    at_key(format!("{what}{next}"))
                })
            }
        }
    }
}

pub(super) fn type_of(value: &KeyValue<'_>) -> Option<KeyType> {
    Some(match value {
        KeyValue::Bool(_) => KeyType::Bool,
        KeyValue::Int(_) | KeyValue::UInt(_) => KeyType::Int,
        KeyValue::Float(_) => KeyType::Float(64),
        KeyValue::Text(_) => KeyType::Text,
        _ => return None,
    })
}

/// The value of a JSON value by its form. KEY-1: a number without fraction and exponent is an integer; one that does
/// not fit into 64 bits is a float.
pub(super) fn plain<'a>(raw: &str, text: &'a str) -> Result<KeyValue<'a>, String> {
    match raw.as_bytes().first() {
        Some(b'"') => Ok(KeyValue::Text(text)),
        Some(b'n') => Ok(KeyValue::Null),
        Some(b't') => Ok(KeyValue::Bool(true)),
        Some(b'f') => Ok(KeyValue::Bool(false)),
        _ => {
            let whole = !raw.contains(['.', 'e', 'E']);
            let value = whole.then(|| integer(raw)).flatten();
            let value = value.or_else(|| raw.parse().ok().map(KeyValue::Float));
            value.ok_or_else(|| format!("{raw} is not a number that can be a key"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(name: &str, kind: Option<KeyType>, alike: bool) -> JsonKey {
        let by = By {
            name: name.to_owned(),
            kind,
        };
        JsonKey::new(&[by], alike).unwrap()
    }

    fn value(record: &str) -> Result<String, String> {
        key("k", None, false).with(record.as_bytes(), |key| format!("{:?}", key[0]))
    }

    #[test]
    fn takes_values_as_what_they_are() {
        let table = [
            (r#"{"a": 1, "k": -0}"#, "Int(0)"),
            (r#"{"k": 18446744073709551615}"#, "UInt(18446744073709551615)"),
            (r#"{"k": 18446744073709551616}"#, "Float(1.8446744073709552e19)"),
            (r#"{"k": 1.0}"#, "Float(1.0)"),
            (r#"{"k": 1e0}"#, "Float(1.0)"),
            (r#"{"k": 1, "k": "\u0041"}"#, "Text(\"A\")"),
            (r#"{"k": null}"#, "Null"),
            (r#"{}"#, "Null"),
        ];
        for (record, expected) in table {
            assert_eq!(value(record).unwrap(), expected, "{record}");
        }
        assert!(value("{\"k\": [1]}").unwrap_err().contains("cannot be a key"));
    }

    #[test]
    fn by_range_all_are_alike() {
        let mut key = key("k", None, true);
        let mut take = |record: &str| key.with(record.as_bytes(), |key| format!("{:?}", key[0]));
        assert_eq!(take("{\"k\": null}").unwrap(), "Null");
        assert_eq!(take("{\"k\": 1}").unwrap(), "Int(1)");
        assert!(take("{\"k\": 1.5}").unwrap_err().contains("--by k:float"));
        assert!(take("{\"k\": \"x\"}").is_err());
        assert_eq!(key.types(), [Some(KeyType::Int)]);
    }

    #[test]
    fn counts_what_is_missing() {
        let mut key = key("/u/id", None, false);
        for record in ["{\"u\": {\"name\": 1}}", "{\"u\": 1}"] {
            key.with(record.as_bytes(), |_| ()).unwrap();
        }
        let missing = key.missing();
        assert_eq!((missing[0].count, missing[0].records), (2, 2));
        assert_eq!(missing[0].names, ["/u", "/u/name"]);
    }
}
