use super::*;

fn region() -> Region {
    Region {
        sequence: 3,
        data_offset: 64,
        data_length: 8 * 12,
        offsets: vec![0, 3, 6],
        rotation: 0,
        partitions: Some(vec![1, 9]),
        shared: vec![
            SharedExtent {
                length: 3,
                members: Some(vec![0b10, 0b10]),
                first_block: 4,
            },
            SharedExtent {
                length: 3,
                members: None,
                first_block: 6,
            },
        ],
        runs: Some(vec![Run {
            producer: 1 << 40,
            attempt: u64::MAX - 1,
            first_block: 5,
            blocks: 1,
            length: 3,
            flags: Run::LAST,
        }]),
        first_block: Some(vec![0, 7]),
    }
}

fn footer() -> Footer {
    Footer {
        regions: vec![
            RegionEntry {
                message_offset: 64,
                message_size: 80,
                flags: 0,
                data_offset: 64,
                data_length: 96,
            },
            RegionEntry {
                message_offset: 168,
                message_size: 80,
                flags: 0,
                data_offset: 160,
                data_length: 24,
            },
        ],
        data_size: 184,
        statistics: Some(Statistics {
            stored: Some(vec![1, 2, 3]),
            records_to_all: 9,
            ..Statistics::default()
        }),
        properties: vec![
            Property {
                key: "a".into(),
                value: "größe".into(),
            },
            Property {
                key: "b".into(),
                value: String::new(),
            },
        ],
        created_by: Some("test".into()),
        dictionaries: vec![DictionaryEntry {
            offset: 64,
            size: 9,
            reserved: 0,
        }],
        streams: Some(Streams {
            next: Some(vec![0, 9, u32::MAX]),
            missing: Some(vec![0, 1, 2]),
            shared_next: 7,
            shared_missing: 6,
        }),
    }
}

#[test]
fn built_messages_are_parsed() {
    let built = region().build().unwrap();
    assert_eq!(Region::parse(&built, 0, 0).unwrap(), region());
    let dense = Region {
        partitions: None,
        shared: vec![],
        runs: None,
        first_block: None,
        ..region()
    };
    assert_eq!(Region::parse(&dense.build().unwrap(), 0, 0).unwrap(), dense);
    let no_slots = Region {
        offsets: vec![0],
        partitions: Some(vec![]),
        ..dense
    };
    assert_eq!(Region::parse(&no_slots.build().unwrap(), 0, 0).unwrap(), no_slots);
    assert_eq!(Footer::parse(&footer().build().unwrap(), 0, 0).unwrap(), footer());
    let empty = Footer::default();
    assert_eq!(Footer::parse(&empty.build().unwrap(), 0, 0).unwrap(), empty);
    let schema = Schema { arrow: vec![1, 2, 3] };
    assert_eq!(Schema::parse(&schema.build().unwrap(), 0, 0).unwrap(), schema);
}

#[test]
fn statistics_of_zeros_are_left_out() {
    let zeros = Footer {
        statistics: Some(Statistics {
            plain: Some(vec![0; 100]),
            ..Statistics::default()
        }),
        ..Footer::default()
    };
    let parsed = Footer::parse(&zeros.build().unwrap(), 0, 0).unwrap();
    assert_eq!(parsed.statistics, Some(Statistics::default()));
}

#[test]
fn streams_of_zeros_are_left_out() {
    let zeros = Footer {
        streams: Some(Streams {
            next: Some(vec![0; 100]),
            missing: Some(vec![0; 100]),
            ..Streams::default()
        }),
        ..Footer::default()
    };
    let parsed = Footer::parse(&zeros.build().unwrap(), 0, 0).unwrap();
    assert_eq!(parsed.streams, Some(Streams::default()));
}

#[test]
fn the_identifier_and_the_place_are_told() {
    let error = Footer::parse(&region().build().unwrap(), 0, 88).unwrap_err();
    assert_eq!((error.code, error.offset), (ErrorCode::MalformedMessage, Some(88)));
}

// Hundreds of whole walks take hours in Miri.
#[test]
#[cfg_attr(miri, ignore)]
fn every_length_but_the_right_one_is_refused() {
    for built in [region().build().unwrap(), footer().build().unwrap()] {
        let is_valid = |bytes: &[u8]| Region::parse(bytes, 0, 0).is_ok() || Footer::parse(bytes, 0, 0).is_ok();
        for length in 0..built.len() {
            // Zero bytes at the end belong to the last part or to the gap after it. Every shorter message is cut off.
            if built[length..].iter().any(|byte| *byte != 0) {
                assert!(!is_valid(&built[..length]), "{length} of {}", built.len());
            }
        }
        let mut longer = built.clone();
        longer.resize(built.len() + 16, 0);
        assert!(!is_valid(&longer));
    }
}

/// No mutation may crash the walk. A message that it accepts in strict mode, the verifier of the library accepts too;
/// otherwise `parse` would fail with the library's text.
#[test]
fn mutations_are_parsed_or_refused() {
    for built in [region().build().unwrap(), footer().build().unwrap()] {
        for at in 0..built.len() {
            // Miri takes a thousand times as long, so it tries fewer values, among them each single bit.
            let values = (0..=255).filter(|value: &u8| !cfg!(miri) || at % 8 == 0 && value.count_ones() == 1);
            for value in values {
                let mut bad = built.clone();
                bad[at] = value;
                for minor in [0, 1] {
                    let _ = Region::parse(&bad, minor, 0);
                    let _ = Footer::parse(&bad, minor, 0);
                }
            }
        }
    }
}

/// A message of a newer minor version: one more field in the table, which this version does not know.
#[test]
fn a_newer_minor_may_have_more_fields() {
    let mut to = flatbuffers::FlatBufferBuilder::new();
    let offsets = to.create_vector(&[0u32, 3]);
    let more = to.create_string("of a later version");
    let table = to.start_table();
    to.push_slot::<u64>(6, 64, 0);
    to.push_slot::<u64>(8, 24, 0);
    to.push_slot_always(generated::Region::VT_OFFSETS, offsets);
    to.push_slot_always(22, more);
    let root = to.end_table(table);
    to.finish(root, Some(REGION_IDENTIFIER));
    let message = to.finished_data();
    assert_eq!(
        Region::parse(message, 0, 0).unwrap_err().code,
        ErrorCode::MalformedMessage
    );
    let region = Region::parse(message, 1, 0).unwrap();
    assert_eq!(
        (region.data_offset, region.data_length, region.offsets),
        (64, 24, vec![0, 3])
    );
}

#[test]
fn parts_have_one_owner() {
    let mut to = flatbuffers::FlatBufferBuilder::new();
    let text = to.create_string("text");
    let args = generated::PropertyArgs {
        key: Some(text),
        value: Some(text),
    };
    let property = generated::Property::create(&mut to, &args);
    let properties = Some(to.create_vector(&[property]));
    let root = generated::Footer::create(
        &mut to,
        &generated::FooterArgs {
            properties,
            ..Default::default()
        },
    );
    to.finish(root, Some(FOOTER_IDENTIFIER));
    assert_eq!(
        Footer::parse(to.finished_data(), 0, 0).unwrap_err().code,
        ErrorCode::MalformedMessage
    );
    assert_eq!(
        Footer::parse(to.finished_data(), 1, 0).unwrap_err().code,
        ErrorCode::MalformedMessage
    );
}
