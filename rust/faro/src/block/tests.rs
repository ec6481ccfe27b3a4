use super::check::*;
use super::*;
use crate::error::ErrorCode;
use crate::limits::Limits;

fn seal() -> Seal {
    Seal::new(b"0123456789abcdef")
}

fn data(stored: &[u8]) -> BlockHeader {
    let size = stored.len() as u32;
    let mut header = BlockHeader {
        stored_size: size,
        plain_size: size,
        partition: 5,
        sequence: 2,
        kind: DATA,
        codec: 0,
        dictionary: 0,
        checksum: 0,
    };
    header = BlockHeader::parse(&header.encode(seal(), stored));
    header
}

fn context(limits: &Limits) -> Context<'_> {
    Context {
        limits,
        seal: seal(),
        metadata: false,
        verify: true,
        kinds: Kinds::EXTENT,
        partition: Partition::Is(5),
        sequence: Sequence::Is(2),
        dictionaries: None,
    }
}

fn fault(change: impl FnOnce(&mut BlockHeader)) -> Option<(ErrorCode, u64)> {
    let limits = Limits {
        max_plain_size: 100,
        ..Limits::default()
    };
    let mut header = data(b"abc");
    change(&mut header);
    check_fields(&header, 1000, &context(&limits))
        .err()
        .map(|e| (e.code, e.offset.unwrap()))
}

#[test]
fn each_field_has_its_code_and_offset() {
    assert_eq!(fault(|_| ()), None);
    assert_eq!(fault(|h| h.dictionary = 1), Some((ErrorCode::MalformedBlock, 1018)));
    assert_eq!(fault(|h| h.kind = 2), Some((ErrorCode::MalformedBlock, 1016)));
    assert_eq!(fault(|h| h.kind = 140), Some((ErrorCode::MalformedBlock, 1016)));
    assert_eq!(fault(|h| h.codec = 3), Some((ErrorCode::UnsupportedCodec, 1017)));
    assert_eq!(
        fault(|h| (h.kind, h.codec) = (64, 1)),
        Some((ErrorCode::MalformedBlock, 1017))
    );
    assert_eq!(fault(|h| h.plain_size = 4), Some((ErrorCode::MalformedBlock, 1004)));
    assert_eq!(fault(|h| h.codec = 1), Some((ErrorCode::MalformedBlock, 1004)));
    assert_eq!(
        fault(|h| (h.stored_size, h.plain_size) = (0, 0)),
        Some((ErrorCode::MalformedBlock, 1004))
    );
    assert_eq!(
        fault(|h| (h.plain_size, h.codec) = (101, 1)),
        Some((ErrorCode::LimitExceeded, 1004))
    );
    assert_eq!(fault(|h| h.partition = 6), Some((ErrorCode::InconsistentIndex, 1008)));
    assert_eq!(fault(|h| h.sequence = 3), Some((ErrorCode::InconsistentIndex, 1012)));
}

#[test]
fn metadata_of_an_unknown_kind_is_unsupported() {
    let limits = Limits::default();
    let kinds = Kinds {
        region: true,
        ..Kinds::default()
    };
    let context = Context {
        partition: Partition::Unknown,
        ..Context::metadata(&limits, seal(), kinds, Sequence::Unknown, None)
    };
    let mut header = data(b"abc");
    header.kind = 131;
    assert_eq!(
        check_fields(&header, 0, &context).unwrap_err().code,
        ErrorCode::UnsupportedFeature
    );
    header.kind = 192;
    assert_eq!(
        check_fields(&header, 0, &context).unwrap_err().code,
        ErrorCode::MalformedBlock
    );
    header.kind = REGION;
    assert!(check_fields(&header, 0, &context).is_ok());
}

#[test]
fn only_blocks_that_may_name_dictionaries_do() {
    let limits = Limits::default();
    let fault = |kind: u8, codec: u8, dictionary: u16, before: Option<u32>, dictionaries: bool| {
        let context = Context {
            dictionaries: before,
            kinds: Kinds {
                dictionary: dictionaries,
                ..Kinds::EXTENT
            },
            ..context(&limits)
        };
        let mut header = data(b"abc");
        (header.kind, header.codec, header.dictionary) = (kind, codec, dictionary);
        header.plain_size += u32::from(codec != 0);
        check_fields(&header, 1000, &context)
            .err()
            .map(|e| (e.code, e.offset.unwrap()))
    };
    let number = Some((ErrorCode::InconsistentIndex, 1018));
    assert_eq!(fault(DATA, 2, 1, None, false), Some((ErrorCode::MalformedBlock, 1018)));
    assert_eq!(fault(DATA, 2, 2, Some(2), false), None);
    assert_eq!(fault(DATA, 2, 3, Some(2), false), number);
    // Only Zstandard has dictionaries.
    assert_eq!(
        fault(DATA, 1, 1, Some(2), false),
        Some((ErrorCode::MalformedBlock, 1018))
    );
    assert_eq!(
        fault(EVENT, 0, 1, Some(2), false),
        Some((ErrorCode::MalformedBlock, 1018))
    );
    // A dictionary has the next number.
    assert_eq!(fault(DICTIONARY, 0, 3, Some(2), true), None);
    assert_eq!(fault(DICTIONARY, 0, 2, Some(2), true), number);
    assert_eq!(fault(DICTIONARY, 0, 0, Some(2), true), number);
    assert_eq!(
        fault(DICTIONARY, 0, 0, None, true),
        Some((ErrorCode::UnsupportedFeature, 1016))
    );
    assert_eq!(
        fault(DICTIONARY, 0, 3, Some(2), false),
        Some((ErrorCode::MalformedBlock, 1016))
    );
}

#[test]
fn payload_and_padding_are_checked() {
    let limits = Limits::default();
    let header = data(b"abc");
    assert!(check_whole(&header, b"abc\0\0\0\0\0", 0, &context(&limits)).is_ok());
    let error = check_whole(&header, b"abd\0\0\0\0\0", 0, &context(&limits)).unwrap_err();
    assert_eq!((error.code, error.offset), (ErrorCode::Checksum, Some(0)));
    let error = check_whole(&header, b"abc\0\0\x01\0\0", 0, &context(&limits)).unwrap_err();
    assert_eq!((error.code, error.offset), (ErrorCode::MalformedBlock, Some(29)));
}

/// A block that the short check accepts passes the full checks too.
#[test]
fn usual_blocks_pass_every_check() {
    let limits = Limits {
        max_plain_size: 10,
        ..Limits::default()
    };
    let sequences = [
        Sequence::Is(2),
        Sequence::Is(u64::from(u32::MAX) + 1),
        Sequence::Above(1),
        Sequence::Unknown,
        Sequence::First {
            number: 2,
            least: 0,
            most: u64::MAX,
        },
        Sequence::First {
            number: 2,
            least: 3,
            most: u64::MAX,
        },
        Sequence::First {
            number: 3,
            least: 0,
            most: u64::MAX,
        },
    ];
    let (mut usual, mut all) = (0, 0);
    for kind in [DATA, EVENT, 63, 64, REGION, 192] {
        for codec in 0..4 {
            for dictionary in [0, 1] {
                for (stored_size, plain_size) in [(0, 0), (3, 3), (3, 4), (4, 3), (11, 11), (10, 11), (9, 10)] {
                    for partition in [4, 5] {
                        for sequence in sequences {
                            let header = BlockHeader {
                                stored_size,
                                plain_size,
                                partition,
                                kind,
                                codec,
                                dictionary,
                                ..data(b"abc")
                            };
                            let context = Context {
                                sequence,
                                ..context(&limits)
                            };
                            all += 1;
                            if is_usual(&header, &context) {
                                usual += 1;
                                assert!(check_fields(&header, 0, &context).is_ok(), "{header:?}");
                            }
                        }
                    }
                }
            }
        }
    }
    // Three sizes with their codecs, and two of the sequences.
    assert!(usual > 5 && usual < all / 50, "{usual} of {all}");
    assert!(is_usual(&data(b"abc"), &context(&limits)));
}
