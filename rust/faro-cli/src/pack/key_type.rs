//! The type of a key's column: its names, and the types that it compares with.

use std::fmt;

use arrow_schema::{DataType, TimeUnit};

/// The type of the values of a key's column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KeyType {
    /// Only nulls.
    Null,
    Bool,
    /// An integer of any width, signed or not.
    Int,
    /// A float of this many bits.
    Float(u8),
    Text,
    Binary,
    /// A decimal of this scale.
    Decimal(i8),
    /// A date that is stored as days, or as milliseconds.
    Date(Stored),
    Time(TimeUnit),
    /// A point in time, with a time zone or without one.
    Timestamp(TimeUnit, bool),
    /// A span of time, as an integer of this unit.
    Duration(TimeUnit),
}

/// How a date is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stored {
    Days,
    Milliseconds,
}

/// Names of types in `--by NAME:TYPE`, besides decimal(SCALE).
const NAMED: [(&str, KeyType); 7] = [
    ("text", KeyType::Text),
    ("int", KeyType::Int),
    ("float", KeyType::Float(64)),
    ("bool", KeyType::Bool),
    ("date", KeyType::Date(Stored::Days)),
    ("timestamp", KeyType::Timestamp(TimeUnit::Microsecond, false)),
    ("timestamptz", KeyType::Timestamp(TimeUnit::Microsecond, true)),
];

/// The names of types, for people.
pub(super) const NAMES: &str = "text, int, float, bool, decimal(SCALE), date, timestamp or timestamptz";

impl KeyType {
    /// The type for a name in `--by`.
    pub(crate) fn of_name(name: &str) -> Option<KeyType> {
        let scale = name.strip_prefix("decimal(").and_then(|rest| rest.strip_suffix(')'));
        if let Some(scale) = scale {
            return scale.parse().ok().map(KeyType::Decimal);
        }
        NAMED.iter().find(|(known, _)| *known == name).map(|(_, kind)| *kind)
    }

    /// The type of an Arrow column; none if it cannot be a key.
    pub(crate) fn of_arrow(data_type: &DataType) -> Option<KeyType> {
        use DataType as D;
        Some(match data_type {
            D::Null => KeyType::Null,
            D::Boolean => KeyType::Bool,
            _ if data_type.is_integer() => KeyType::Int,
            D::Float16 => KeyType::Float(16),
            D::Float32 => KeyType::Float(32),
            D::Float64 => KeyType::Float(64),
            D::Utf8 | D::LargeUtf8 | D::Utf8View => KeyType::Text,
            D::Binary | D::LargeBinary | D::BinaryView | D::FixedSizeBinary(_) => KeyType::Binary,
            D::Decimal32(_, scale) | D::Decimal64(_, scale) | D::Decimal128(_, scale) => KeyType::Decimal(*scale),
            D::Date32 => KeyType::Date(Stored::Days),
            D::Date64 => KeyType::Date(Stored::Milliseconds),
            D::Time32(unit) | D::Time64(unit) => KeyType::Time(*unit),
            D::Timestamp(unit, zone) => KeyType::Timestamp(*unit, zone.is_some()),
            D::Duration(unit) => KeyType::Duration(*unit),
            D::Dictionary(_, values) => return KeyType::of_arrow(values),
            _ => return None,
        })
    }

    /// Whether the values of the two types compare with each other, so that bounds of one are bounds of the other.
    pub(crate) fn compares_with(self, other: KeyType) -> bool {
        let both = (self, other);
        self == other
            || matches!(
                both,
                (KeyType::Float(_), KeyType::Float(_)) | (KeyType::Decimal(_), KeyType::Decimal(_))
            )
    }

    /// The type in words, with an example.
    pub(crate) fn described(self) -> &'static str {
        match self {
            KeyType::Null => "a null",
            KeyType::Bool => "a boolean, such as true",
            KeyType::Int => "an integer, such as 42",
            KeyType::Float(_) => "a float, such as 1.5",
            KeyType::Text => "text, such as \"abc\"",
            KeyType::Binary => "bytes in hexadecimal, such as 00ff",
            KeyType::Decimal(_) => "a decimal, such as 12.50",
            KeyType::Date(_) => "a date, such as 2024-01-31",
            KeyType::Time(_) => "a time, such as 12:30:00",
            KeyType::Timestamp(_, false) => "a timestamp, such as 2024-01-31T12:30:00",
            KeyType::Timestamp(_, true) => "a timestamp with a time zone, such as 2024-01-31T12:30:00Z",
            KeyType::Duration(_) => "a duration as an integer, such as 42",
        }
    }
}

impl fmt::Display for KeyType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            KeyType::Null => f.write_str("null"),
            KeyType::Bool => f.write_str("bool"),
            KeyType::Int => f.write_str("int"),
            KeyType::Float(_) => f.write_str("float"),
            KeyType::Text => f.write_str("text"),
            KeyType::Binary => f.write_str("binary"),
            KeyType::Decimal(scale) => write!(f, "decimal({scale})"),
            KeyType::Date(_) => f.write_str("date"),
            KeyType::Time(_) => f.write_str("time"),
            KeyType::Timestamp(_, false) => f.write_str("timestamp"),
            KeyType::Timestamp(_, true) => f.write_str("timestamptz"),
            KeyType::Duration(_) => f.write_str("duration"),
        }
    }
}
