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

/// The values of an encoded key (KEY-1); none for bytes that are not one.
pub(crate) fn decode_key(mut encoded: &[u8]) -> Option<Vec<OwnedValue>> {
    fn take<const N: usize>(from: &mut &[u8]) -> Option<[u8; N]> {
        let (first, rest) = from.split_first_chunk::<N>()?;
        *from = rest;
        Some(*first)
    }
    fn sized(from: &mut &[u8]) -> Option<Vec<u8>> {
        let length = u32::from_le_bytes(take(from)?) as usize;
        let (bytes, rest) = from.split_at_checked(length)?;
        *from = rest;
        Some(bytes.to_vec())
    }
    let mut values = Vec::new();
    while let Some([tag]) = take(&mut encoded) {
        let from = &mut encoded;
        values.push(match tag {
            0 => OwnedValue::Null,
            1 => OwnedValue::Bool(take(from)? != [0]),
            2 => OwnedValue::Int(i64::from_le_bytes(take(from)?)),
            3 => OwnedValue::UInt(u64::from_le_bytes(take(from)?)),
            4 => OwnedValue::Float(f64::from_bits(u64::from_le_bytes(take(from)?))),
            5 => OwnedValue::Text(String::from_utf8(sized(from)?).ok()?),
            6 => OwnedValue::Binary(sized(from)?),
            7 => OwnedValue::Decimal(i128::from_le_bytes(take(from)?), i8::from_le_bytes(take(from)?)),
            _ => return None,
        });
    }
    Some(values)
}

/// Bytes as hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encoded_keys_come_back() {
        let key = [
            OwnedValue::Null,
            OwnedValue::Bool(true),
            OwnedValue::Int(-7),
            OwnedValue::UInt(u64::MAX),
            OwnedValue::Float(1.5),
            OwnedValue::Text("Gr\u{fc}n".into()),
            OwnedValue::Binary(vec![0, 255]),
            OwnedValue::Decimal(-150, 2),
        ];
        let mut encoded = Vec::new();
        key.iter().for_each(|value| value.borrow().encode(&mut encoded));
        assert_eq!(decode_key(&encoded).unwrap(), key);
        for end in 1..encoded.len() {
            // No part of it is read past its end.
            let _ = decode_key(&encoded[..end]);
        }
        assert_eq!(decode_key(&[9]), None);
    }
}
