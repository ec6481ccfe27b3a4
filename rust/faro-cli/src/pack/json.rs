//! Finds a value in a JSON record, by a member's name or a JSON pointer (RFC 6901).

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

/// The path to a value from the record's object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Path {
    /// The text from the caller.
    pub text: String,
    names: Vec<String>,
}

impl Path {
    /// Reads a name, or a pointer, which begins with a slash.
    pub(super) fn parse(text: &str) -> Result<Path, String> {
        let names = match text.strip_prefix('/') {
            None => vec![text.to_owned()],
            Some(pointer) => pointer
                .split('/')
                .map(unescaped)
                .collect::<Option<_>>()
                .ok_or_else(|| format!("\"{text}\" is not a JSON pointer: write ~0 for ~ and ~1 for / in a name"))?,
        };
        Ok(Path {
            text: text.to_owned(),
            names,
        })
    }

    /// The text of the value in a record, which must be an object; none if it is missing.
    pub(super) fn find<'a>(&self, record: &'a str) -> Result<Option<&'a str>, String> {
        let mut value = Some(object(record)?);
        for name in &self.names {
            value = match value {
                Some(text) => step(text, name)?,
                None => return Ok(None),
            };
        }
        Ok(value)
    }

    /// The sorted names that exist where the path ends in a record, in the same form as the path.
    pub(super) fn beside(&self, record: &str) -> Result<Vec<String>, String> {
        let mut value = object(record)?;
        let mut way = String::new();
        for name in &self.names {
            let Some(next) = step(value, name)? else { break };
            value = next;
            way = format!("{way}/{}", escaped(name));
        }
        let names: Vec<String> = match value.as_bytes().first() {
            Some(b'{') => {
                let members: BTreeMap<String, IgnoredAny> = serde_json::from_str(value).map_err(mistake)?;
                members.into_keys().collect()
            }
            Some(b'[') => {
                let elements: Vec<IgnoredAny> = serde_json::from_str(value).map_err(mistake)?;
                (0..elements.len()).map(|index| index.to_string()).collect()
            }
            _ => return Ok(vec![way]),
        };
        let is_pointer = self.text.starts_with('/');
        let full = |name: String| {
            if is_pointer {
                format!("{way}/{}", escaped(&name))
            } else {
                name
            }
        };
        Ok(names.into_iter().map(full).collect())
    }
}

/// A name from a pointer; none if it has a tilde without a meaning.
fn unescaped(segment: &str) -> Option<String> {
    let whole = segment.split('~').skip(1).all(|rest| rest.starts_with(['0', '1']));
    whole.then(|| segment.replace("~1", "/").replace("~0", "~"))
}

fn escaped(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

/// A record without the blanks around it, if it looks like an object.
fn object(record: &str) -> Result<&str, String> {
    let text = record.trim_matches([' ', '\t', '\r', '\n']);
    if text.starts_with('{') {
        Ok(text)
    } else if text.starts_with('\u{feff}') {
        Err("a byte order mark, which JSON does not have: remove it".to_owned())
    } else {
        Err("not a JSON object: each line needs one, such as {\"id\": 1}".to_owned())
    }
}

/// A member of an object, or an element of a list; none if there is none with this name.
fn step<'a>(value: &'a str, name: &str) -> Result<Option<&'a str>, String> {
    let mut parser = serde_json::Deserializer::from_str(value);
    let found = match value.as_bytes().first() {
        Some(b'{') => Member(name).deserialize(&mut parser),
        Some(b'[') => match index(name) {
            Some(index) => Element(index).deserialize(&mut parser),
            None => return Ok(None),
        },
        _ => return Ok(None),
    };
    let found = found.and_then(|found| parser.end().map(|()| found));
    Ok(found.map_err(mistake)?.map(RawValue::get))
}

/// The index of a list's element: digits without leading zeros.
fn index(name: &str) -> Option<usize> {
    let plain = name.bytes().all(|byte| byte.is_ascii_digit()) && (name == "0" || !name.starts_with('0'));
    plain.then(|| name.parse().ok()).flatten()
}

/// The fault in the JSON of a line.
pub(super) fn mistake(error: serde_json::Error) -> String {
    // The caller adds the line in the file; serde_json always says line 1.
    let text = error.to_string();
    let short = text.split(" at line ").next().unwrap_or(&text);
    format!("not JSON: {short} at column {}", error.column())
}

type Found<'de> = Option<&'de RawValue>;

/// Takes one member of an object, and skips the others.
struct Member<'n>(&'n str);

impl<'de> DeserializeSeed<'de> for Member<'_> {
    type Value = Found<'de>;

    fn deserialize<D: Deserializer<'de>>(self, parser: D) -> Result<Self::Value, D::Error> {
        parser.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Member<'_> {
    type Value = Found<'de>;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut found = None;
        // If several members have the name, the last counts, as in most JSON libraries.
        while let Some(key) = map.next_key::<Cow<'_, str>>()? {
            if key == self.0 {
                found = Some(map.next_value::<&RawValue>()?);
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(found)
    }
}

/// Takes one element of a list, and skips the others.
struct Element(usize);

impl<'de> DeserializeSeed<'de> for Element {
    type Value = Found<'de>;

    fn deserialize<D: Deserializer<'de>>(self, parser: D) -> Result<Self::Value, D::Error> {
        parser.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Element {
    type Value = Found<'de>;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        for _ in 0..self.0 {
            if list.next_element::<IgnoredAny>()?.is_none() {
                return Ok(None);
            }
        }
        let found = list.next_element()?;
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find<'a>(record: &'a str, path: &str) -> Result<Option<&'a str>, String> {
        Path::parse(path).unwrap().find(record)
    }

    #[test]
    fn finds_members_and_elements() {
        let record = r#" {"a": {"b/c": [10, {"~": 5}]}, "": 6, "k": 1, "k": 2, "/a": 7} "#;
        let table = [
            ("k", Some("2")),
            ("/k", Some("2")),
            ("/", Some("6")),
            ("/a/b~1c/0", Some("10")),
            ("/a/b~1c/1/~0", Some("5")),
            ("/a/b~1c/2", None),
            ("/a/b~1c/00", None),
            ("/a/b~1c/-", None),
            ("/a/b~1c/18446744073709551616", None),
            ("/k/x", None),
            ("/~1a", Some("7")),
            ("x", None),
        ];
        for (path, expected) in table {
            assert_eq!(find(record, path), Ok(expected), "{path}");
        }
        // Escapes are decoded only once.
        assert_eq!(find(r#"{"~1": 1}"#, "/~01"), Ok(Some("1")));
        for wrong in ["/~", "/a~2", "/~a~0"] {
            assert!(Path::parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn refuses_what_is_not_an_object() {
        for wrong in [
            "[1]",
            "5",
            "null",
            "x",
            "",
            "{",
            "{\"a\": 1} x",
            "{\"a\": 01}",
            "{\"a\": 1,}",
            "\u{feff}{}",
        ] {
            for path in ["a", "/a", "/0", "/a/b"] {
                assert!(find(wrong, path).is_err(), "{wrong} {path}");
            }
        }
        assert!(
            find("{\"a\": 1} x", "a")
                .unwrap_err()
                .contains("trailing characters at column 10")
        );
    }

    #[test]
    fn names_what_is_there() {
        let beside = |path: &str| {
            Path::parse(path)
                .unwrap()
                .beside(r#"{"u": {"i/d": 1}, "l": [1, 2]}"#)
                .unwrap()
        };
        assert_eq!(beside("x"), ["l", "u"]);
        assert_eq!(beside("/x"), ["/l", "/u"]);
        assert_eq!(beside("/u/x"), ["/u/i~1d"]);
        assert_eq!(beside("/l/2"), ["/l/0", "/l/1"]);
        assert_eq!(beside("/l/1/x"), ["/l/1"]);
    }
}
