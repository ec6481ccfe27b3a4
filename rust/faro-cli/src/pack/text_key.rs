//! The key of a text record: columns of CSV and TSV, fields of JSON objects.

use std::borrow::Cow;

use faro::key::KeyValue;
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::records::{Fields, Record};

/// How the text of a field is to be taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Text,
    Int,
    Float,
    Bool,
}

impl Kind {
    /// The type that a name stands for.
    pub fn of_name(name: &str) -> Option<Kind> {
        Some(match name {
            "text" => Kind::Text,
            "int" => Kind::Int,
            "float" => Kind::Float,
            "bool" => Kind::Bool,
            _ => return None,
        })
    }

    /// The name that stands for the type.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Text => "text",
            Kind::Int => "int",
            Kind::Float => "float",
            Kind::Bool => "bool",
        }
    }

    /// The value of a field. An empty field is no number and no truth value: null.
    pub fn value(self, field: &[u8]) -> Result<KeyValue<'_>, String> {
        let text = match std::str::from_utf8(field) {
            Ok(text) => text,
            // Text in another encoding is still a key, as the bytes it is.
            Err(_) if self == Kind::Text => return Ok(KeyValue::Binary(field)),
            Err(_) => return Err(format!("a field that is not UTF-8 is no {}", self.name())),
        };
        let trimmed = text.trim();
        if self == Kind::Text {
            return Ok(KeyValue::Text(text));
        }
        if trimmed.is_empty() {
            return Ok(KeyValue::Null);
        }
        let value = match self {
            Kind::Int => integer(trimmed),
            Kind::Float => trimmed.parse().ok().map(KeyValue::Float),
            _ if trimmed.eq_ignore_ascii_case("true") || trimmed == "1" => Some(KeyValue::Bool(true)),
            _ if trimmed.eq_ignore_ascii_case("false") || trimmed == "0" => Some(KeyValue::Bool(false)),
            _ => None,
        };
        value.ok_or_else(|| format!("\"{text}\" is no {}", self.name()))
    }
}

fn integer(text: &str) -> Option<KeyValue<'static>> {
    text.parse()
        .map(KeyValue::Int)
        .or_else(|_| text.parse().map(KeyValue::UInt))
        .ok()
}

/// Where in a record the key's values stand.
#[derive(Clone, Debug)]
pub enum TextKey {
    /// Columns counted from 0, each with its type.
    Columns(Vec<(usize, Kind)>),
    /// Fields of a JSON object: names, or JSON pointers that begin with a slash.
    Json { names: Vec<String> },
}

impl TextKey {
    /// Finds the key of a record and hands it on; the text of a failure is for the user, who is told the line too.
    pub fn with<T>(&self, record: &Record<'_>, then: impl FnOnce(&[KeyValue<'_>]) -> T) -> Result<T, String> {
        match self {
            TextKey::Columns(columns) => {
                let values = columns.iter().map(|column| value(record.fields, *column));
                Ok(then(&values.collect::<Result<Vec<_>, _>>()?))
            }
            TextKey::Json { names } => {
                let text = std::str::from_utf8(record.bytes).map_err(|_| "not UTF-8, as JSON must be".to_owned())?;
                let raw = names
                    .iter()
                    .map(|name| find_json(text, name))
                    .collect::<Result<Vec<_>, _>>()?;
                let texts = raw.iter().map(|raw| unescape(*raw)).collect::<Result<Vec<_>, _>>()?;
                let values = raw
                    .iter()
                    .zip(names)
                    .zip(&texts)
                    .map(|((raw, name), text)| json_value(*raw, name, text));
                Ok(then(&values.collect::<Result<Vec<_>, _>>()?))
            }
        }
    }
}

fn value(fields: Fields<'_>, (column, kind): (usize, Kind)) -> Result<KeyValue<'_>, String> {
    let missing = || format!("the record has no column {}: it has {}", column + 1, fields.count());
    kind.value(fields.get(column).ok_or_else(missing)?)
}

/// The raw value of a field of a JSON object, or of what a JSON pointer leads to; nothing if it is not there.
fn find_json<'a>(text: &'a str, name: &str) -> Result<Option<&'a str>, String> {
    let Some(pointer) = name.strip_prefix('/') else {
        return member(text, name);
    };
    let mut value = Some(text);
    for segment in pointer.split('/') {
        let key = segment.replace("~1", "/").replace("~0", "~");
        value = match value {
            Some(object) if object.starts_with('{') => member(object, &key)?,
            _ => None,
        };
    }
    Ok(value)
}

fn member<'a>(object: &'a str, name: &str) -> Result<Option<&'a str>, String> {
    let mut parser = serde_json::Deserializer::from_str(object);
    let found = Member { name }.deserialize(&mut parser).map_err(json_mistake)?;
    parser.end().map_err(json_mistake)?;
    Ok(found.map(RawValue::get))
}

fn json_mistake(error: serde_json::Error) -> String {
    // The line is the record's, counted in its file; serde_json would always say line 1.
    let text = error.to_string();
    let short = text.split(" at line ").next().unwrap_or(&text);
    format!("no JSON object: {short} at column {}", error.column())
}

/// Takes one member out of an object and passes over the others.
struct Member<'n> {
    name: &'n str,
}

impl<'de> DeserializeSeed<'de> for Member<'_> {
    type Value = Option<&'de RawValue>;

    fn deserialize<D: Deserializer<'de>>(self, parser: D) -> Result<Self::Value, D::Error> {
        parser.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Member<'_> {
    type Value = Option<&'de RawValue>;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut found = None;
        // Of members of the same name the last counts, as in most JSON libraries.
        while let Some(key) = map.next_key::<Cow<'_, str>>()? {
            if key == self.name {
                found = Some(map.next_value::<&RawValue>()?);
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(found)
    }
}

/// The text that a JSON string stands for; nothing for other values.
fn unescape(raw: Option<&str>) -> Result<String, String> {
    match raw {
        Some(raw) if raw.starts_with('"') => serde_json::from_str(raw).map_err(json_mistake),
        _ => Ok(String::new()),
    }
}

fn json_value<'a>(raw: Option<&str>, name: &str, text: &'a str) -> Result<KeyValue<'a>, String> {
    let Some(raw) = raw else { return Ok(KeyValue::Null) };
    match raw.as_bytes().first() {
        Some(b'"') => Ok(KeyValue::Text(text)),
        Some(b'n') => Ok(KeyValue::Null),
        Some(b't') => Ok(KeyValue::Bool(true)),
        Some(b'f') => Ok(KeyValue::Bool(false)),
        Some(b'{' | b'[') => Err(format!("\"{name}\" is an object or a list, which is no key")),
        _ => json_number(raw).ok_or_else(|| format!("{raw} is no number that can be a key")),
    }
}

/// KEY-1: a number without fraction and exponent is an integer; one that 64 bits do not hold is a float.
fn json_number(raw: &str) -> Option<KeyValue<'static>> {
    let whole = !raw.contains(['.', 'e', 'E']);
    whole
        .then(|| integer(raw))
        .flatten()
        .or_else(|| raw.parse().ok().map(KeyValue::Float))
}

#[cfg(test)]
mod tests {
    use super::super::records::{Records, Splitting};
    use super::*;

    fn only<'a>(records: &'a mut Records<&[u8]>) -> Record<'a> {
        records.next().unwrap().unwrap()
    }

    fn json(record: &str, name: &str) -> Result<String, String> {
        let mut records = Records::new(record.as_bytes(), Splitting::Lines);
        TextKey::Json {
            names: vec![name.to_owned()],
        }
        .with(&only(&mut records), |key| format!("{:?}", key[0]))
    }

    #[test]
    fn takes_json_values_as_what_they_are() {
        assert_eq!(json(r#"{"a": 1, "k": -0}"#, "k").unwrap(), "Int(0)");
        assert_eq!(
            json(r#"{"k": 18446744073709551615}"#, "k").unwrap(),
            "UInt(18446744073709551615)"
        );
        assert_eq!(
            json(r#"{"k": 18446744073709551616}"#, "k").unwrap(),
            "Float(1.8446744073709552e19)"
        );
        assert_eq!(json(r#"{"k": 1.0}"#, "k").unwrap(), "Float(1.0)");
        assert_eq!(json(r#"{"k": 1, "k": "\u0041"}"#, "k").unwrap(), "Text(\"A\")");
        assert_eq!(json(r#"{"k": null}"#, "k").unwrap(), "Null");
        assert_eq!(json(r#"{}"#, "k").unwrap(), "Null");
        assert_eq!(json(r#"{"a": {"b/c": true}}"#, "/a/b~1c").unwrap(), "Bool(true)");
        assert_eq!(json(r#"{"a": 5}"#, "/a/b").unwrap(), "Null");
    }

    #[test]
    fn refuses_what_is_no_object_and_no_key() {
        assert!(json("[1]", "k").unwrap_err().contains("expected an object"));
        assert!(
            json("{\"k\": 1} x", "k")
                .unwrap_err()
                .contains("trailing characters at column 10")
        );
        assert!(json("{\"k\": [1]}", "k").unwrap_err().contains("no key"));
    }

    fn column(record: &str, column: usize, kind: Kind) -> Result<String, String> {
        let mut records = Records::new(record.as_bytes(), Splitting::QuotedFields(b','));
        TextKey::Columns(vec![(column, kind)]).with(&only(&mut records), |key| format!("{:?}", key[0]))
    }

    #[test]
    fn takes_columns_by_their_type() {
        assert_eq!(column("a,\"7\"", 1, Kind::Text).unwrap(), "Text(\"7\")");
        assert_eq!(column("a, 7", 1, Kind::Int).unwrap(), "Int(7)");
        assert_eq!(column("a,", 1, Kind::Int).unwrap(), "Null");
        assert_eq!(column("a,", 1, Kind::Text).unwrap(), "Text(\"\")");
        assert_eq!(column("a,TRUE", 1, Kind::Bool).unwrap(), "Bool(true)");
        assert!(column("a,x", 1, Kind::Float).unwrap_err().contains("is no float"));
        assert!(
            column("a,x", 2, Kind::Text)
                .unwrap_err()
                .contains("no column 3: it has 2")
        );
    }
}
