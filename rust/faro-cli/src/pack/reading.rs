//! Reads values of keys from text and JSON by the type of their column, and shows them.

use arrow_array::types::{ArrowPrimitiveType, Float16Type};
use arrow_schema::TimeUnit;
use faro::key::KeyValue;
use serde_json::{Number, Value as Json};

use super::key_type::{KeyType, Stored};
use super::value::{OwnedValue, hex};
use super::{decimal, times};

impl KeyType {
    fn wrong(self, shown: &str) -> String {
        format!("{} is not {}", shorten(shown), self.described())
    }

    /// The value of a field of CSV or TSV. An empty field is null, unless the type is text.
    pub(crate) fn field(self, text: &str) -> Result<KeyValue<'_>, String> {
        let trimmed = text.trim();
        match self {
            KeyType::Text => Ok(KeyValue::Text(text)),
            _ if trimmed.is_empty() => Ok(KeyValue::Null),
            _ => self.held(self.value(trimmed)?, trimmed),
        }
    }

    /// The value of a JSON value. `raw` is its JSON text, and `text` the content if it is a string.
    pub(crate) fn json<'a>(self, raw: &str, text: &'a str) -> Result<KeyValue<'a>, String> {
        let value = self.json_value(raw, text)?;
        self.held(value, raw)
    }

    /// A bound on the command line.
    pub(crate) fn bound(self, text: &str) -> Result<OwnedValue, String> {
        match self {
            KeyType::Null => Err("the column has only nulls, which no bound divides".to_owned()),
            KeyType::Text => Ok(OwnedValue::Text(text.to_owned())),
            KeyType::Binary => bytes_of_hex(text)
                .map(OwnedValue::Binary)
                .ok_or_else(|| self.wrong(&quoted(text))),
            _ => self.value(text.trim()).map(|value| OwnedValue::of(&value)),
        }
    }

    /// A bound in JSON; see [`KeyType::json`].
    pub(crate) fn json_bound(self, raw: &str, text: &str) -> Result<OwnedValue, String> {
        match self {
            _ if raw == "null" => Ok(OwnedValue::Null),
            KeyType::Null => self.bound(text),
            KeyType::Binary if raw.starts_with('"') => self.bound(text),
            _ => self.json_value(raw, text).map(|value| OwnedValue::of(&value)),
        }
    }

    fn json_value<'a>(self, raw: &str, text: &'a str) -> Result<KeyValue<'a>, String> {
        if raw == "null" {
            return Ok(KeyValue::Null);
        }
        let wrong = || self.wrong(raw);
        let is_text = raw.starts_with('"');
        match self {
            KeyType::Text if is_text => Ok(KeyValue::Text(text)),
            KeyType::Bool if raw == "true" || raw == "false" => Ok(KeyValue::Bool(raw == "true")),
            // JSON has no number for these values.
            KeyType::Float(_) if is_text && !text.contains(|c: char| c.is_ascii_digit()) => self.value(text),
            KeyType::Int | KeyType::Float(_) | KeyType::Decimal(_) | KeyType::Duration(_) if is_number(raw) => {
                self.value(raw)
            }
            KeyType::Decimal(_) | KeyType::Date(_) | KeyType::Time(_) | KeyType::Timestamp(..) if is_text => {
                self.value(text)
            }
            _ => Err(wrong()),
        }
    }

    /// A value from a text that is not empty, of a type other than text and binary. A decimal has the scale of its
    /// text.
    fn value(self, text: &str) -> Result<KeyValue<'static>, String> {
        let wrong = || self.wrong(&quoted(text));
        let too_large = || format!("{} does not fit into 64 bits", quoted(text));
        let in_unit = |nanoseconds, unit| {
            times::in_unit(nanoseconds, unit).map(KeyValue::Int).ok_or_else(|| {
                format!(
                    "{} is finer than the column's {}, or too far away",
                    quoted(text),
                    unit_name(unit)
                )
            })
        };
        match self {
            KeyType::Bool if text.eq_ignore_ascii_case("true") || text == "1" => Ok(KeyValue::Bool(true)),
            KeyType::Bool if text.eq_ignore_ascii_case("false") || text == "0" => Ok(KeyValue::Bool(false)),
            KeyType::Int => integer(text).ok_or_else(|| if is_integer(text) { too_large() } else { wrong() }),
            KeyType::Duration(_) => text.parse().map(KeyValue::Int).map_err(|_| wrong()),
            KeyType::Float(bits) => float(text, bits).map(KeyValue::Float).ok_or_else(wrong),
            KeyType::Decimal(_) => decimal::parse(text)
                .map(|(unscaled, scale)| KeyValue::Decimal(unscaled, scale))
                .ok_or_else(|| {
                    if is_number(text) {
                        format!("{} has too many digits", shorten(text))
                    } else {
                        wrong()
                    }
                }),
            KeyType::Date(Stored::Days) => times::parse_date(text).map(KeyValue::Int).ok_or_else(wrong),
            // The milliseconds may be within a day.
            KeyType::Date(Stored::Milliseconds) => {
                let instant = times::parse_instant(text).filter(|instant| !instant.has_zone);
                in_unit(instant.ok_or_else(wrong)?.nanoseconds, TimeUnit::Millisecond)
            }
            KeyType::Time(unit) => in_unit(times::parse_time(text).ok_or_else(wrong)?, unit),
            KeyType::Timestamp(unit, zoned) => {
                let instant = times::parse_instant(text).ok_or_else(wrong)?;
                match (zoned, instant.has_zone) {
                    (true, false) => Err(format!(
                        "{} needs a time zone, such as 2024-01-31T12:30:00Z",
                        quoted(text)
                    )),
                    (false, true) => Err(format!(
                        "{} has a time zone, but the column has no time zone: write for example 2024-01-31T12:30:00",
                        quoted(text)
                    )),
                    _ => in_unit(instant.nanoseconds, unit),
                }
            }
            KeyType::Null | KeyType::Bool | KeyType::Text | KeyType::Binary => Err(wrong()),
        }
    }

    /// Gives a decimal of a record the scale of its column, so that equal values are equal keys.
    fn held<'a>(self, value: KeyValue<'a>, shown: &str) -> Result<KeyValue<'a>, String> {
        let (KeyType::Decimal(scale), KeyValue::Decimal(unscaled, own)) = (self, value) else {
            return Ok(value);
        };
        decimal::rescale(unscaled, own, scale)
            .map(|unscaled| KeyValue::Decimal(unscaled, scale))
            .ok_or_else(|| format!("{} does not fit into {self} without rounding", shorten(shown)))
    }

    /// A value in the form of bounds. A value without such a form, such as a date beyond the calendar, is shown as the
    /// integer that stores it.
    pub(crate) fn show(self, value: &OwnedValue) -> Json {
        let text = match (self, value) {
            (KeyType::Date(Stored::Days), OwnedValue::Int(v)) => times::show_date(*v),
            (KeyType::Date(Stored::Milliseconds), OwnedValue::Int(v)) => {
                times::show_instant(*v, TimeUnit::Millisecond, false).map(|text| match text.strip_suffix("T00:00:00") {
                    Some(date) => date.to_owned(),
                    None => text,
                })
            }
            (KeyType::Time(unit), OwnedValue::Int(v)) => times::show_time(*v, unit),
            (KeyType::Timestamp(unit, zoned), OwnedValue::Int(v)) => times::show_instant(*v, unit, zoned),
            (_, OwnedValue::Float(v)) if !v.is_finite() => Some(v.to_string()),
            (_, OwnedValue::Text(v)) => Some(v.clone()),
            (_, OwnedValue::Binary(v)) => Some(hex(v)),
            (_, OwnedValue::Decimal(v, scale)) => Some(decimal::show(*v, *scale)),
            _ => None,
        };
        text.map(Json::from).unwrap_or_else(|| match value {
            OwnedValue::Bool(v) => Json::from(*v),
            OwnedValue::Int(v) => Json::from(*v),
            OwnedValue::UInt(v) => Json::from(*v),
            OwnedValue::Float(v) => Number::from_f64(*v).map_or(Json::Null, Json::Number),
            _ => Json::Null,
        })
    }
}

/// An integer that fits into 64 bits, signed or not.
pub(super) fn integer(text: &str) -> Option<KeyValue<'static>> {
    text.parse()
        .map(KeyValue::Int)
        .or_else(|_| text.parse().map(KeyValue::UInt))
        .ok()
}

/// The nearest float of a width: for a column of 32 bits, the bound 0.7 is the 32-bit value 0.7.
fn float(text: &str, bits: u8) -> Option<f64> {
    let value = match bits {
        16 => <Float16Type as ArrowPrimitiveType>::Native::from_f64(text.parse().ok()?).to_f64(),
        32 => f64::from(text.parse::<f32>().ok()?),
        _ => text.parse().ok()?,
    };
    // A number with digits is finite: if it is too large, it is not infinity.
    (!value.is_infinite() || !text.contains(|c: char| c.is_ascii_digit())).then_some(value)
}

fn is_integer(text: &str) -> bool {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether a text begins like a number, as in JSON.
fn is_number(text: &str) -> bool {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    digits.starts_with(|c: char| c.is_ascii_digit()) && text.parse::<f64>().is_ok()
}

fn bytes_of_hex(text: &str) -> Option<Vec<u8>> {
    let digit = |byte: u8| char::from(byte).to_digit(16);
    let pair = |pair: &[u8]| match pair {
        // Two digits of four bits each.
        &[high, low] => Some((digit(high)? << 4 | digit(low)?) as u8),
        _ => None,
    };
    text.trim().as_bytes().chunks(2).map(pair).collect()
}

fn unit_name(unit: TimeUnit) -> &'static str {
    match unit {
        TimeUnit::Second => "seconds",
        TimeUnit::Millisecond => "milliseconds",
        TimeUnit::Microsecond => "microseconds",
        TimeUnit::Nanosecond => "nanoseconds",
    }
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", shorten(text))
}

/// At most 60 characters, since a wrong value may be very long.
fn shorten(text: &str) -> String {
    match text.char_indices().nth(60) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_fields_by_their_type() {
        assert_eq!(KeyType::Text.field(" 7"), Ok(KeyValue::Text(" 7")));
        assert_eq!(KeyType::Text.field(""), Ok(KeyValue::Text("")));
        assert_eq!(KeyType::Int.field(" 7"), Ok(KeyValue::Int(7)));
        assert_eq!(KeyType::Int.field(" "), Ok(KeyValue::Null));
        assert_eq!(KeyType::Bool.field("TRUE"), Ok(KeyValue::Bool(true)));
        assert_eq!(KeyType::Decimal(2).field("1.5"), Ok(KeyValue::Decimal(150, 2)));
        assert!(
            KeyType::Decimal(2)
                .field("1.505")
                .unwrap_err()
                .contains("without rounding")
        );
        assert!(
            KeyType::Int
                .field("1.0")
                .unwrap_err()
                .contains("not an integer, such as 42")
        );
        assert!(KeyType::Int.field(&"9".repeat(500)).unwrap_err().len() < 120);
    }

    #[test]
    fn json_values_keep_their_types() {
        assert_eq!(KeyType::Int.json("7", ""), Ok(KeyValue::Int(7)));
        assert_eq!(KeyType::Float(64).json("7", ""), Ok(KeyValue::Float(7.0)));
        assert_eq!(
            KeyType::Float(64).json("\"-inf\"", "-inf"),
            Ok(KeyValue::Float(f64::NEG_INFINITY))
        );
        assert_eq!(KeyType::Decimal(1).json("\"1.5\"", "1.5"), Ok(KeyValue::Decimal(15, 1)));
        assert_eq!(
            KeyType::Date(Stored::Days).json("\"1970-01-02\"", "1970-01-02"),
            Ok(KeyValue::Int(1))
        );
        for (kind, raw) in [
            (KeyType::Int, "\"7\""),
            (KeyType::Int, "7.0"),
            (KeyType::Int, "true"),
            (KeyType::Float(64), "\"7\""),
            (KeyType::Float(64), "1e999"),
            (KeyType::Text, "7"),
            (KeyType::Bool, "1"),
            (KeyType::Date(Stored::Days), "19700102"),
        ] {
            assert!(kind.json(raw, raw.trim_matches('"')).is_err(), "{kind} {raw}");
        }
    }

    #[test]
    fn floats_are_those_of_the_column() {
        assert_eq!(float("0.7", 32), Some(f64::from(0.7f32)));
        assert_eq!(float("0.1", 16), Some(0.0999755859375));
        assert_eq!(float("1e39", 32), None);
        assert_eq!(float("70000", 16), None);
        assert_eq!(float("-inf", 16), Some(f64::NEG_INFINITY));
    }

    #[test]
    fn shows_bounds_as_they_are_given() {
        let table = [
            (KeyType::Date(Stored::Days), "\"2024-02-29\""),
            (KeyType::Date(Stored::Milliseconds), "\"2024-02-29\""),
            (KeyType::Date(Stored::Milliseconds), "\"2024-02-29T00:00:00.500\""),
            (KeyType::Time(TimeUnit::Microsecond), "\"23:59:59.000001\""),
            (KeyType::Timestamp(TimeUnit::Second, true), "\"2024-02-29T00:00:00Z\""),
            (KeyType::Decimal(2), "\"-0.05\""),
            (KeyType::Binary, "\"00ff\""),
            (KeyType::Float(64), "\"-inf\""),
            (KeyType::Float(64), "\"NaN\""),
            (KeyType::Float(64), "1.5"),
            (KeyType::Int, "18446744073709551615"),
            (KeyType::Bool, "true"),
            (KeyType::Text, "\"a\""),
            (KeyType::Text, "null"),
        ];
        for (kind, json) in table {
            let bound = kind.json_bound(json, json.trim_matches('"')).unwrap();
            assert_eq!(kind.show(&bound).to_string(), json);
        }
    }
}
