//! Key values that outlive their record.

use faro::key::KeyValue;
use serde_json::{Number, Value as Json};

/// A key value that owns its bytes.
#[derive(Clone, Debug, PartialEq)]
pub enum OwnedValue {
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
    pub fn of(value: &KeyValue<'_>) -> OwnedValue {
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

    pub fn borrow(&self) -> KeyValue<'_> {
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

    /// As JSON, for the property that keeps the bounds: binary as hexadecimal text, decimals as text.
    pub fn to_json(&self) -> Json {
        match self {
            OwnedValue::Null => Json::Null,
            OwnedValue::Bool(v) => Json::Bool(*v),
            OwnedValue::Int(v) => Json::from(*v),
            OwnedValue::UInt(v) => Json::from(*v),
            OwnedValue::Float(v) => Number::from_f64(*v).map_or_else(|| Json::from(v.to_string()), Json::Number),
            OwnedValue::Text(v) => Json::from(v.as_str()),
            OwnedValue::Binary(v) => Json::from(hex(v)),
            OwnedValue::Decimal(v, scale) => Json::from(decimal(*v, *scale)),
        }
    }
}

/// Bytes as hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn decimal(unscaled: i128, scale: i8) -> String {
    if scale <= 0 {
        return format!("{unscaled}{}", "0".repeat(usize::from(scale.unsigned_abs())));
    }
    let scale = usize::from(scale.unsigned_abs());
    let digits = format!("{:0>width$}", unscaled.unsigned_abs(), width = scale + 1);
    let (whole, fraction) = digits.split_at(digits.len() - scale);
    let sign = if unscaled < 0 { "-" } else { "" };
    format!("{sign}{whole}.{fraction}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shows_decimals() {
        assert_eq!(decimal(-5, 2), "-0.05");
        assert_eq!(decimal(12345, 2), "123.45");
        assert_eq!(decimal(7, -2), "700");
    }
}
