use super::*;

fn header() -> FileHeader {
    FileHeader {
        kind: FileKind::Single,
        version_minor: 0,
        framing: Framing::Records,
        partition_count: 8,
        reader_features: 0,
        writer_features: 0,
        producer: 7,
        attempt: 1,
        first_partition: 3,
        file_id: *b"0123456789abcdef",
    }
}

fn resealed(change: impl FnOnce(&mut [u8; 64])) -> [u8; 64] {
    let mut bytes = header().encode();
    change(&mut bytes);
    let checksum = crc32c(&[&bytes[..60]]);
    bytes[60..].copy_from_slice(&checksum.to_le_bytes());
    bytes
}

fn fault(bytes: &[u8]) -> (ErrorCode, u64) {
    let error = FileHeader::parse(bytes).unwrap_err();
    (error.code, error.offset.unwrap())
}

#[test]
fn encoded_headers_are_parsed() {
    assert_eq!(FileHeader::parse(&header().encode()).unwrap(), header());
}

#[test]
fn each_check_has_its_code_and_offset() {
    assert_eq!(fault(&[]), (ErrorCode::Truncated, 0));
    assert_eq!(fault(&MAGIC[..5]), (ErrorCode::Truncated, 5));
    assert_eq!(fault(b"\x89FAR\x00"), (ErrorCode::NotFaro, 0));
    assert_eq!(fault(&resealed(|_| ())[..63]), (ErrorCode::Truncated, 63));
    assert_eq!(fault(&resealed(|b| b[9] = 2)), (ErrorCode::UnsupportedVersion, 9));
    assert_eq!(fault(&resealed(|b| b[16] = 4)), (ErrorCode::UnsupportedFeature, 16));
    assert_eq!(fault(&resealed(|b| b[8] = 4)), (ErrorCode::UnsupportedFeature, 8));
    assert_eq!(fault(&resealed(|b| b[8] = 6)), (ErrorCode::MalformedHeader, 8));
    assert_eq!(fault(&resealed(|b| b[11] = 3)), (ErrorCode::MalformedHeader, 11));
    assert_eq!(fault(&resealed(|b| b[12] = 0)), (ErrorCode::MalformedHeader, 12));
    assert_eq!(fault(&resealed(|b| b[15] = 0x11)), (ErrorCode::MalformedHeader, 12));
    assert_eq!(fault(&resealed(|b| b[59] = 0x10)), (ErrorCode::MalformedHeader, 56));
    assert_eq!(
        fault(&resealed(|b| b[56..60].fill(0xFF))),
        (ErrorCode::MalformedHeader, 56)
    );
    assert!(FileHeader::parse(&resealed(|b| b[16] = 1)).unwrap().is_selective());
}

/// HDR-1: producer and attempt have 64 bits, first_partition is after file_id.
#[test]
fn wide_fields_keep_their_value_and_their_place() {
    for attempt in [0, 1, 1 << 32, (1 << 32) + 7, 1 << 63, u64::MAX] {
        let wide = FileHeader {
            producer: u64::MAX,
            attempt,
            first_partition: 0x0ABC_DEF0,
            ..header()
        };
        let bytes = wide.encode();
        assert_eq!(bytes[24..32], [0xFF; 8]);
        assert_eq!(bytes[32..40], attempt.to_le_bytes());
        assert_eq!(bytes[40..56], *b"0123456789abcdef");
        assert_eq!(bytes[56..60], [0xF0, 0xDE, 0xBC, 0x0A]);
        assert_eq!(FileHeader::parse(&bytes).unwrap(), wide);
    }
}

#[test]
fn fragments_have_a_kind() {
    let fragment = FileHeader {
        kind: FileKind::Fragment,
        ..header()
    };
    let bytes = fragment.encode();
    assert_eq!(bytes[8], 5);
    assert_eq!(FileHeader::parse(&bytes).unwrap(), fragment);
}

#[test]
fn every_changed_byte_is_reported() {
    let good = header().encode();
    for at in 0..good.len() {
        let mut bad = good;
        bad[at] ^= 0x20;
        let expected = if at < 8 {
            ErrorCode::NotFaro
        } else {
            ErrorCode::Checksum
        };
        assert_eq!(fault(&bad), (expected, 0));
    }
}

#[test]
fn text_mode_damage_is_named() {
    let error = FileHeader::parse(b"\x89FARO\n\x1A\x03").unwrap_err();
    assert!(error.found.contains("text mode"), "{error}");
}

#[test]
fn the_first_field_that_differs_is_named() {
    let index = header();
    let data = FileHeader {
        attempt: 1 + (1 << 32),
        version_minor: 3,
        ..header()
    };
    let fault = |data: &FileHeader| {
        let error = FileHeader::check_pair(&index, data).unwrap_err();
        (error.code, error.offset)
    };
    assert_eq!(fault(&data), (ErrorCode::MismatchedPair, Some(32)));
    let data = FileHeader {
        first_partition: 4,
        ..data
    };
    assert_eq!(fault(&data), (ErrorCode::MismatchedPair, Some(56)));
}
