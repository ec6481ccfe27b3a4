//! Walks over the structure of a Zstandard frame that is stored without its magic number (spec, COD-4).
//!
//! Decoders differ in what they accept after a frame, in window limits and in unused bits. This walk makes all readers
//! agree.

use crate::error::{Error, ErrorCode, Result};

/// The most bytes in a block of a frame (RFC 8878). Decoders enforce it differently.
const LARGEST_BLOCK: u64 = 131_072;

/// Checks the frame `stored`, which must decode to `plain_size` bytes. Faults are at `payload_offset`.
pub(crate) fn check(stored: &[u8], plain_size: u32, max_window_size: u64, payload_offset: u64) -> Result<()> {
    let fault = |expected: &str, found: String| Error::at(ErrorCode::MalformedBlock, payload_offset, expected, found);
    let mut rest = stored;
    let descriptor = take(&mut rest, 1, "a frame header descriptor", payload_offset)?[0];
    if descriptor & 0x1F != 0 {
        return Err(fault(
            "a Zstandard frame without checksum and dictionary, its unused and reserved bits zero",
            format!("the descriptor {descriptor:02X}"),
        ));
    }
    let single_segment = descriptor & 0x20 != 0;
    let mut window = 0;
    if !single_segment {
        let byte = take(&mut rest, 1, "a window descriptor", payload_offset)?[0];
        let (exponent, mantissa) = (u64::from(byte >> 3), u64::from(byte & 7));
        window = (1 << (10 + exponent)) + mantissa * (1 << (7 + exponent));
    }
    let size_bytes = match (descriptor >> 6, single_segment) {
        (0, true) => 1,
        (0, false) => 0,
        (1, _) => 2,
        (2, _) => 4,
        _ => 8,
    };
    if size_bytes > 0 {
        let field = take(&mut rest, size_bytes, "a content size", payload_offset)?;
        let mut wide = [0; 8];
        wide[..size_bytes].copy_from_slice(field);
        let content_size = u64::from_le_bytes(wide) + if size_bytes == 2 { 256 } else { 0 };
        if content_size != u64::from(plain_size) {
            return Err(fault(
                &format!("a content size of {plain_size} bytes"),
                content_size.to_string(),
            ));
        }
        if single_segment {
            window = content_size;
        }
    }
    if window > max_window_size {
        return Err(Error::at(
            ErrorCode::LimitExceeded,
            payload_offset,
            format!("a window of at most {max_window_size} bytes (max_window_size)"),
            format!("{window} bytes"),
        ));
    }
    loop {
        let header = take(&mut rest, 3, "a header of a block of the frame", payload_offset)?;
        let header = u32::from_le_bytes([header[0], header[1], header[2], 0]);
        let size = header >> 3;
        let content = match (header >> 1) & 3 {
            1 => 1,
            3 => return Err(fault("a block of the frame of type 0, 1 or 2", "3".into())),
            _ => size as usize,
        };
        if u64::from(size) > window.min(LARGEST_BLOCK) {
            return Err(fault(
                "a block of the frame of at most 128 KiB, and of the window",
                format!("{size} bytes"),
            ));
        }
        take(
            &mut rest,
            content,
            "the content of a block of the frame",
            payload_offset,
        )?;
        if header & 1 != 0 {
            break;
        }
    }
    if !rest.is_empty() {
        return Err(fault(
            "a payload that ends with the frame",
            format!("{} more bytes", rest.len()),
        ));
    }
    Ok(())
}

fn take<'a>(rest: &mut &'a [u8], count: usize, what: &str, payload_offset: u64) -> Result<&'a [u8]> {
    match rest.split_at_checked(count) {
        Some((taken, left)) => {
            *rest = left;
            Ok(taken)
        }
        None => Err(Error::at(
            ErrorCode::MalformedBlock,
            payload_offset,
            format!("{what} of {count} bytes in the Zstandard frame"),
            format!("{} bytes before the payload ends", rest.len()),
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(frame: &[u8], plain_size: u32) -> Option<ErrorCode> {
        check(frame, plain_size, 8 << 20, 24).err().map(|e| {
            assert_eq!(e.offset, Some(24));
            e.code
        })
    }

    #[test]
    fn frames_are_walked() {
        let malformed = Some(ErrorCode::MalformedBlock);
        // Window 1 KiB, one RLE block of 5 bytes of 'a'.
        assert_eq!(fault(&[0x00, 0x00, 0x2B, 0, 0, b'a'], 5), None);
        assert_eq!(fault(&[0x00, 0x00, 0x2B, 0, 0, b'a', 0], 5), malformed);
        assert_eq!(fault(&[0x00, 0x00, 0x2B, 0, 0], 5), malformed);
        assert_eq!(fault(&[0x00, 0x00, 0x2A, 0, 0, b'a'], 5), malformed);
        assert_eq!(fault(&[0x00, 0x00, 0x2F, 0, 0, b'a'], 5), malformed);
        // An RLE block of the whole window, and of one byte more.
        assert_eq!(fault(&[0x00, 0x00, 0x03, 0x20, 0, b'a'], 1024), None);
        assert_eq!(fault(&[0x00, 0x00, 0x0B, 0x20, 0, b'a'], 1025), malformed);
        assert_eq!(fault(&[0x04, 0x00, 0x2B, 0, 0, b'a'], 5), malformed);
        assert_eq!(fault(&[], 5), malformed);
        assert_eq!(fault(&[0x00], 5), malformed);
        // Single segment, content size of one and of two bytes.
        assert_eq!(fault(&[0x20, 5, 0x2B, 0, 0, b'a'], 5), None);
        assert_eq!(fault(&[0x20, 6, 0x2B, 0, 0, b'a'], 5), malformed);
        assert_eq!(fault(&[0x60, 44, 0, 0x63, 9, 0, b'a'], 300), None);
        // The largest window that is allowed, and the smallest that is too large.
        assert_eq!(fault(&[0x00, 0x68, 0x2B, 0, 0, b'a'], 5), None);
        assert_eq!(
            fault(&[0x00, 0x69, 0x2B, 0, 0, b'a'], 5),
            Some(ErrorCode::LimitExceeded)
        );
        assert_eq!(
            fault(&[0x00, 0xFF, 0x2B, 0, 0, b'a'], 5),
            Some(ErrorCode::LimitExceeded)
        );
    }
}
