//! What the plain payload of a data block is (spec, FRM).

use crate::bytes::Framing;
use crate::error::{Error, ErrorCode, Result};

/// Checks the plain payload of a data block (FRM-5) and returns its count of records; none unless the framing is
/// records. Faults are at `payload_offset`.
pub(crate) fn check(framing: Framing, plain: &[u8], payload_offset: u64) -> Result<Option<u64>> {
    match framing {
        Framing::Opaque => Ok(None),
        Framing::Records => count_records(plain, payload_offset).map(Some),
        Framing::Arrow => match encapsulated_fault(plain) {
            None => Ok(None),
            Some(found) => Err(Error::at(
                ErrorCode::MalformedBlock,
                payload_offset,
                "an encapsulated Arrow IPC message",
                found,
            )),
        },
    }
}

/// Counts whole records (FRM-2).
fn count_records(plain: &[u8], payload_offset: u64) -> Result<u64> {
    let mut rest = plain;
    let mut count = 0;
    while !rest.is_empty() {
        let Some((_, after)) = split_record(rest) else {
            return Err(Error::at(
                ErrorCode::MalformedBlock,
                payload_offset,
                "whole records, each with its length before it",
                format!(
                    "a record at byte {} of the payload that does not end in it",
                    plain.len() - rest.len()
                ),
            ));
        };
        rest = after;
        count += 1;
    }
    Ok(count)
}

/// The first record of a payload and the bytes after it; none when the record is cut off.
pub(crate) fn split_record(payload: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, rest) = payload.split_first_chunk::<4>()?;
    rest.split_at_checked(u32::from_le_bytes(*length) as usize)
}

/// The fault at the beginning of an encapsulated Arrow IPC message (FRM-4), if there is one.
pub(crate) fn encapsulated_fault(message: &[u8]) -> Option<String> {
    let Some(start) = message.first_chunk::<8>() else {
        return Some(format!("{} bytes, too few for one", message.len()));
    };
    if start[..4] != [0xFF; 4] {
        return Some(format!("{:02X?} in place of the continuation mark", &start[..4]));
    }
    let length = i32::from_le_bytes([start[4], start[5], start[6], start[7]]);
    if length < 8 || length % 8 != 0 {
        return Some(format!("a metadata length of {length}"));
    }
    // The length is positive here.
    if 8 + length as usize > message.len() {
        return Some(format!("a metadata length of {length} in {} bytes", message.len()));
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_must_be_whole() {
        let records = |payload: &[u8]| check(Framing::Records, payload, 88);
        assert_eq!(records(b"").unwrap(), Some(0));
        assert_eq!(records(b"\x01\0\0\0a\0\0\0\0").unwrap(), Some(2));
        for bad in [&b"\x01"[..], b"\x01\0\0\0", b"\x01\0\0\0a\0", b"\xFF\xFF\xFF\xFFa"] {
            let error = records(bad).unwrap_err();
            assert_eq!((error.code, error.offset), (ErrorCode::MalformedBlock, Some(88)));
        }
    }

    #[test]
    fn arrow_messages_begin_with_mark_and_length() {
        let arrow = |payload: &[u8]| check(Framing::Arrow, payload, 0).is_ok();
        assert!(arrow(b"\xFF\xFF\xFF\xFF\x08\0\0\x0012345678"));
        assert!(!arrow(b"\xFF\xFF\xFF\xFF\x08\0\0\x001234567"));
        assert!(!arrow(b"\xFF\xFF\xFF\xFF\0\0\0\0"));
        assert!(!arrow(b"\xFF\xFF\xFF\xFF\x09\0\0\x00123456789"));
        assert!(!arrow(b"\xFF\xFF\xFF\xFF\xF8\xFF\xFF\xFF12345678"));
        assert!(!arrow(b"\xFF\xFF\xFF\xFE\x08\0\0\x0012345678"));
        assert!(!arrow(b"\xFF\xFF\xFF\xFF"));
    }
}
