//! The order of names as people read them: `map-2` comes before `map-10`.

use std::cmp::Ordering;
use std::path::Path;

/// Compares two paths part by part, runs of digits by their value. Only equal paths are equal.
pub(super) fn compare(a: &Path, b: &Path) -> Ordering {
    let mut parts = b.components();
    for part in a.components() {
        let Some(other) = parts.next() else {
            return Ordering::Greater;
        };
        let (part, other) = (part.as_os_str(), other.as_os_str());
        let order = compare_texts(part.as_encoded_bytes(), other.as_encoded_bytes());
        if order != Ordering::Equal {
            return order;
        }
    }
    match parts.next() {
        Some(_) => Ordering::Less,
        // Names such as `map-1` and `map-01` are still to be told apart.
        None => a.as_os_str().cmp(b.as_os_str()),
    }
}

fn compare_texts(mut a: &[u8], mut b: &[u8]) -> Ordering {
    loop {
        let (Some(first), Some(second)) = (a.first(), b.first()) else {
            return a.len().cmp(&b.len());
        };
        let order = if first.is_ascii_digit() && second.is_ascii_digit() {
            let (left, right) = (number(&mut a), number(&mut b));
            left.len().cmp(&right.len()).then_with(|| left.cmp(right))
        } else {
            let order = first.cmp(second);
            (a, b) = (&a[1..], &b[1..]);
            order
        };
        if order != Ordering::Equal {
            return order;
        }
    }
}

/// Takes the digits at the beginning; returns them without leading zeros.
fn number<'a>(text: &mut &'a [u8]) -> &'a [u8] {
    let length = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (digits, rest) = text.split_at(length);
    *text = rest;
    let zeros = digits.iter().take_while(|byte| **byte == b'0').count();
    &digits[zeros..]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_count_as_numbers() {
        let sorted = [
            "a",
            "a/b",
            "a/map-2",
            "a/map-9.1",
            "a/map-9.10",
            "a/map-010",
            "a/map-10",
            "a/map-99999999999999999999999",
            "a-b",
            "b",
        ];
        for (at, left) in sorted.iter().enumerate() {
            for (other, right) in sorted.iter().enumerate() {
                let order = compare(Path::new(left), Path::new(right));
                assert_eq!(order, at.cmp(&other), "{left} {right}");
            }
        }
    }
}
