//! Key values that outlive their record.

use faro::key::KeyValue;

/// A key value that owns its bytes.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum OwnedValue {
    Null,
    Bool(bool),
    Int(i64),
    UInt(u64),
    Float(f64),
    Text(String),
    Binary(Vec<u8>),
    Decimal(i128, i8),
}

impl OwnedValue {
    pub(crate) fn of(value: &KeyValue<'_>) -> OwnedValue {
        match *value {
            KeyValue::Null => OwnedValue::Null,
            KeyValue::Bool(v) => OwnedValue::Bool(v),
            KeyValue::Int(v) => OwnedValue::Int(v),
            KeyValue::UInt(v) => OwnedValue::UInt(v),
            KeyValue::Float(v) => OwnedValue::Float(v),
            KeyValue::Text(v) => OwnedValue::Text(v.to_owned()),
            KeyValue::Binary(v) => OwnedValue::Binary(v.to_vec()),
            KeyValue::Decimal(v, scale) => OwnedValue::Decimal(v, scale),
        }
    }

    pub(crate) fn borrow(&self) -> KeyValue<'_> {
        match self {
            OwnedValue::Null => KeyValue::Null,
            OwnedValue::Bool(v) => KeyValue::Bool(*v),
            OwnedValue::Int(v) => KeyValue::Int(*v),
            OwnedValue::UInt(v) => KeyValue::UInt(*v),
            OwnedValue::Float(v) => KeyValue::Float(*v),
            OwnedValue::Text(v) => KeyValue::Text(v),
            OwnedValue::Binary(v) => KeyValue::Binary(v),
            OwnedValue::Decimal(v, scale) => KeyValue::Decimal(*v, *scale),
        }
    }
}

/// Bytes as hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
