//! Maps keys to partitions: a convention for tools that partition by columns (spec, KEY). The file format does not
//! depend on it.
//!
//! ```
//! use faro::key::{KeyValue, encode_key, hash, partition_of};
//! let key = [KeyValue::Text("faro"), KeyValue::Int(-1)];
//! assert_eq!(partition_of(hash(&encode_key(&key)), 0, 64), 15);
//! ```

use std::cmp::Ordering;
use xxhash_rust::xxh64::xxh64;

/// One value of a key. The tags of KEY-1 are these kinds; the set is closed in version 1 of the format.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum KeyValue<'a> {
    /// No value.
    Null,
    /// A boolean.
    Bool(bool),
    /// An integer, or the integer that stores a date or a time.
    Int(i64),
    /// An integer that may be 2^63 or more. Below that it is the same value as [`KeyValue::Int`].
    UInt(u64),
    /// A float of 16, 32 or 64 bits.
    Float(f64),
    /// Text.
    Text(&'a str),
    /// Bytes.
    Binary(&'a [u8]),
    /// A decimal: the unscaled value and the scale.
    Decimal(i128, i8),
}

impl KeyValue<'_> {
    /// The tag byte, with which the encoding begins.
    fn tag(&self) -> u8 {
        match self.normal() {
            KeyValue::Null => 0,
            KeyValue::Bool(_) => 1,
            KeyValue::Int(_) => 2,
            KeyValue::UInt(_) => 3,
            KeyValue::Float(_) => 4,
            KeyValue::Text(_) => 5,
            KeyValue::Binary(_) => 6,
            KeyValue::Decimal(..) => 7,
        }
    }

    /// The canonical form of a value: small unsigned integers, zeros and NaNs have several forms.
    fn normal(&self) -> Self {
        match *self {
            KeyValue::UInt(value) => i64::try_from(value).map_or(*self, KeyValue::Int),
            KeyValue::Float(value) if value.is_nan() => KeyValue::Float(f64::from_bits(0x7FF8_0000_0000_0000)),
            KeyValue::Float(0.0) => KeyValue::Float(0.0),
            _ => *self,
        }
    }

    /// Appends the encoding of KEY-1 to `to`. The length of texts and binaries of 2^32 bytes or more is encoded modulo
    /// 2^32.
    pub fn encode(&self, to: &mut Vec<u8>) {
        to.push(self.tag());
        let mut sized = |bytes: &[u8]| {
            to.extend_from_slice(&(bytes.len() as u32).to_le_bytes());
            to.extend_from_slice(bytes);
        };
        match self.normal() {
            KeyValue::Null => {}
            KeyValue::Bool(value) => to.push(value.into()),
            KeyValue::Int(value) => to.extend_from_slice(&value.to_le_bytes()),
            KeyValue::UInt(value) => to.extend_from_slice(&value.to_le_bytes()),
            KeyValue::Float(value) => to.extend_from_slice(&value.to_bits().to_le_bytes()),
            KeyValue::Text(value) => sized(value.as_bytes()),
            KeyValue::Binary(value) => sized(value),
            KeyValue::Decimal(unscaled, scale) => {
                to.extend_from_slice(&unscaled.to_le_bytes());
                to.extend_from_slice(&scale.to_le_bytes());
            }
        }
    }

    /// Compares two values in the order of KEY-3: by tag, then by value. A NaN comes after all other floats.
    pub fn compare(&self, other: &KeyValue<'_>) -> Ordering {
        match (self.normal(), other.normal()) {
            (KeyValue::Bool(a), KeyValue::Bool(b)) => a.cmp(&b),
            (KeyValue::Int(a), KeyValue::Int(b)) => a.cmp(&b),
            (KeyValue::UInt(a), KeyValue::UInt(b)) => a.cmp(&b),
            (KeyValue::Float(a), KeyValue::Float(b)) => a.total_cmp(&b),
            (KeyValue::Text(a), KeyValue::Text(b)) => a.as_bytes().cmp(b.as_bytes()),
            (KeyValue::Binary(a), KeyValue::Binary(b)) => a.cmp(b),
            (KeyValue::Decimal(a, a_scale), KeyValue::Decimal(b, b_scale)) => {
                compare_decimals((a, a_scale), (b, b_scale))
            }
            (a, b) => a.tag().cmp(&b.tag()),
        }
    }
}

/// Compares a / 10^a_scale with b / 10^b_scale.
fn compare_decimals((a, a_scale): (i128, i8), (b, b_scale): (i128, i8)) -> Ordering {
    let difference = i32::from(b_scale) - i32::from(a_scale);
    if difference < 0 {
        return compare_decimals((b, b_scale), (a, a_scale)).reverse();
    }
    // A value that does not fit at the finer scale is beyond every value of that scale.
    let scaled = 10i128
        .checked_pow(difference.unsigned_abs())
        .and_then(|power| a.checked_mul(power));
    match scaled {
        Some(scaled) => scaled.cmp(&b),
        None if a == 0 => 0.cmp(&b),
        None => a.cmp(&0),
    }
}

/// The encoding of a key of one or more values (KEY-1).
pub fn encode_key(values: &[KeyValue<'_>]) -> Vec<u8> {
    let mut encoded = Vec::new();
    for value in values {
        value.encode(&mut encoded);
    }
    encoded
}

/// The hash of an encoded key: XXH64 with seed 0 (KEY-2).
pub fn hash(encoded: &[u8]) -> u64 {
    xxh64(encoded, 0)
}

/// The partition of a hash in a file of `count` partitions from `first` on (KEY-2). `count` must be at least 1.
pub fn partition_of(hash: u64, first: u32, count: u32) -> u32 {
    // The remainder is below `count`, a u32.
    first + (hash % u64::from(count)) as u32
}

/// Compares two keys in the order of KEY-3: by the first value that differs. A key that is a prefix of another comes
/// before it.
pub fn compare_keys<'a>(
    a: impl IntoIterator<Item = KeyValue<'a>>,
    b: impl IntoIterator<Item = KeyValue<'a>>,
) -> Ordering {
    let mut b = b.into_iter();
    for left in a {
        let Some(right) = b.next() else {
            return Ordering::Greater;
        };
        let order = left.compare(&right);
        if order != Ordering::Equal {
            return order;
        }
    }
    if b.next().is_some() {
        Ordering::Less
    } else {
        Ordering::Equal
    }
}

/// The partition of a key by range (KEY-3): `first` plus the number of bounds that are not above the key. The bounds
/// ascend; there is one fewer than partitions.
pub fn partition_by_range(key: &[KeyValue<'_>], bounds: &[Vec<KeyValue<'_>>], first: u32) -> u32 {
    let not_above = |bound: &Vec<KeyValue<'_>>| compare_keys(bound.iter().copied(), key.iter().copied()).is_le();
    // There are fewer bounds than partitions, and partition numbers are u32.
    first + bounds.partition_point(not_above) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_of_the_specification() {
        let table: [(&[KeyValue<'_>], u64, u32); 4] = [
            (&[KeyValue::Int(1)], 0x7bc7_59f3_a16f_d092, 18),
            (&[KeyValue::Text("1")], 0x562c_c27f_a1ec_df82, 2),
            (&[KeyValue::Null], 0xe934_a84a_db05_2768, 40),
            (&[KeyValue::Text("faro"), KeyValue::Int(-1)], 0x4049_1b5b_035f_740f, 15),
        ];
        for (key, expected, partition) in table {
            let hash = hash(&encode_key(key));
            assert_eq!(hash, expected, "{key:?}");
            assert_eq!(partition_of(hash, 100, 64), 100 + partition);
        }
    }

    #[test]
    fn encodings_of_the_table() {
        let table: [(KeyValue<'_>, &[u8]); 9] = [
            (KeyValue::Null, &[0]),
            (KeyValue::Bool(true), &[1, 1]),
            (KeyValue::Int(-2), &[2, 0xFE, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF]),
            (KeyValue::UInt(1 << 63), &[3, 0, 0, 0, 0, 0, 0, 0, 0x80]),
            (KeyValue::Float(1.5), &[4, 0, 0, 0, 0, 0, 0, 0xF8, 0x3F]),
            (KeyValue::Float(-f64::NAN), &[4, 0, 0, 0, 0, 0, 0, 0xF8, 0x7F]),
            (KeyValue::Text("ü"), &[5, 2, 0, 0, 0, 0xC3, 0xBC]),
            (KeyValue::Binary(b"ab"), &[6, 2, 0, 0, 0, b'a', b'b']),
            (
                KeyValue::Decimal(-2, -1),
                &[
                    7, 0xFE, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF,
                    0xFF,
                ],
            ),
        ];
        for (value, encoded) in table {
            assert_eq!(encode_key(&[value]), encoded, "{value:?}");
        }
        // The values of a key follow one another.
        let key = table.map(|(value, _)| value);
        assert_eq!(encode_key(&key), table.map(|(_, encoded)| encoded).concat());
    }

    #[test]
    fn equal_values_have_equal_encodings() {
        let encoded = |value: KeyValue<'_>| encode_key(&[value]);
        assert_eq!(encoded(KeyValue::UInt(7)), encoded(KeyValue::Int(7)));
        assert_ne!(encoded(KeyValue::UInt(1 << 63)), encoded(KeyValue::Int(i64::MIN)));
        assert_eq!(encoded(KeyValue::Float(-0.0)), encoded(KeyValue::Float(0.0)));
        assert_eq!(encoded(KeyValue::Float(-f64::NAN)), encoded(KeyValue::Float(f64::NAN)));
    }

    #[test]
    fn values_order_by_tag_and_value() {
        let ascending = [
            KeyValue::Null,
            KeyValue::Bool(false),
            KeyValue::Bool(true),
            KeyValue::Int(-1),
            KeyValue::UInt(7),
            KeyValue::UInt(u64::MAX),
            KeyValue::Float(f64::NEG_INFINITY),
            KeyValue::Float(-0.0),
            KeyValue::Float(1.5),
            KeyValue::Float(-f64::NAN),
            KeyValue::Text("A"),
            KeyValue::Text("a"),
            KeyValue::Binary(b""),
            KeyValue::Binary(&[0xFF]),
            KeyValue::Decimal(i128::MIN, -100),
            KeyValue::Decimal(-15, 1),
            KeyValue::Decimal(14, 1),
            KeyValue::Decimal(1500, 3),
            KeyValue::Decimal(2, 0),
            KeyValue::Decimal(1, -100),
        ];
        for (at, a) in ascending.iter().enumerate() {
            for (bt, b) in ascending.iter().enumerate() {
                assert_eq!(a.compare(b), at.cmp(&bt), "{a:?} {b:?}");
            }
        }
        // The scales are so far apart that the power of ten between them exceeds 128 bits.
        for (other, order) in [(-5, Ordering::Greater), (0, Ordering::Equal), (5, Ordering::Less)] {
            assert_eq!(KeyValue::Decimal(0, -100).compare(&KeyValue::Decimal(other, 0)), order);
            assert_eq!(
                KeyValue::Decimal(other, 0).compare(&KeyValue::Decimal(0, -100)),
                order.reverse()
            );
        }
        assert_eq!(
            KeyValue::Decimal(15, 1).compare(&KeyValue::Decimal(1500, 3)),
            Ordering::Equal
        );
    }
    #[test]
    fn ranges() {
        let five_b = vec![KeyValue::Int(5), KeyValue::Text("b")];
        let bounds = [vec![KeyValue::Int(5)], five_b.clone(), vec![KeyValue::Text("a")]];
        let of = |value| partition_by_range(&[value], &bounds, 10);
        let table = [
            (KeyValue::Null, 10),
            (KeyValue::Bool(true), 10),
            (KeyValue::Int(4), 10),
            (KeyValue::UInt(5), 11),
            (KeyValue::Int(6), 12),
            (KeyValue::UInt(1 << 63), 12),
            (KeyValue::Float(f64::NAN), 12),
            (KeyValue::Text("A"), 12),
            (KeyValue::Text("a"), 13),
            (KeyValue::Binary(b"a"), 13),
            (KeyValue::Decimal(1, 0), 13),
        ];
        for (value, partition) in table {
            assert_eq!(of(value), partition, "{value:?}");
        }
        assert_eq!(partition_by_range(&five_b, &bounds, 10), 12);
        assert_eq!(partition_by_range(&[KeyValue::Int(5), KeyValue::Null], &bounds, 10), 11);
        let twice = [vec![KeyValue::Int(2)], vec![KeyValue::Int(2)]];
        assert_eq!(partition_by_range(&[KeyValue::Int(2)], &twice, 0), 2);
        assert_eq!(partition_by_range(&[KeyValue::Int(2)], &[], 7), 7);
    }
}
