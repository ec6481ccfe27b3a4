use super::*;
use crate::bytes::{FileHeader, FileKind, Framing};
use crate::error::ErrorCode;
use crate::message::{Footer, Property, Region, RegionEntry, SharedExtent, Statistics};
use std::sync::Arc;

mod runs;

fn header() -> FileHeader {
    FileHeader {
        kind: FileKind::Index,
        version_minor: 0,
        framing: Framing::Opaque,
        partition_count: 5,
        reader_features: 0,
        writer_features: 0,
        producer: 0,
        attempt: 0,
        first_partition: 10,
        file_id: [0; 16],
    }
}

fn dense() -> Region {
    Region {
        sequence: 1,
        data_offset: 64,
        data_length: 8 * 16,
        offsets: vec![0, 3, 3, 6, 10, 10],
        rotation: 2,
        shared: vec![
            SharedExtent {
                length: 3,
                members: Some(vec![0b10010]),
                first_block: 3,
            },
            SharedExtent {
                length: 3,
                members: None,
                first_block: 4,
            },
        ],
        ..Region::default()
    }
}

fn sparse() -> Region {
    Region {
        offsets: vec![0, 4, 10],
        partitions: Some(vec![10, 13]),
        rotation: 0,
        ..dense()
    }
}

fn indexed(region: Region) -> Result<RegionIndex, crate::Error> {
    RegionIndex::new(
        region,
        &header(),
        1,
        &DataBounds {
            offset: 64,
            later: false,
            end: None,
        },
        88,
    )
}

#[test]
fn lookups_follow_rotation() {
    let region = indexed(dense()).unwrap();
    let partitions: Vec<_> = region.slots().map(|slot| slot.partition).collect();
    assert_eq!(partitions, [12, 13, 14, 10, 11]);
    assert_eq!(region.own_extent(12), Some(Extent { offset: 64, length: 24 }));
    assert_eq!(region.own_extent(13), None);
    assert_eq!(region.own_extent(14), Some(Extent { offset: 88, length: 24 }));
    assert_eq!(
        region.own_extent(10),
        Some(Extent {
            offset: 112,
            length: 32
        })
    );
    assert_eq!(region.own_extent(11), None);
    assert_eq!(region.own_extent(9), None);
    assert_eq!(region.own_extent(15), None);
    assert_eq!(
        region.extents_of(14).map(|extent| extent.offset).collect::<Vec<_>>(),
        [88, 144, 168]
    );
    assert_eq!(region.stored_bytes(13), 24);
    assert_eq!(region.shared()[0].members.iter().collect::<Vec<_>>(), [11, 14]);
    assert_eq!(region.shared()[0].members.count(), 2);
    assert_eq!(region.shared()[1].members.count(), 5);
}

#[test]
fn lookups_in_a_sparse_region() {
    let region = indexed(sparse()).unwrap();
    assert_eq!(region.own_extent(10), Some(Extent { offset: 64, length: 32 }));
    assert_eq!(region.own_extent(11), None);
    assert_eq!(region.own_extent(13), Some(Extent { offset: 96, length: 48 }));
}

#[test]
fn ranges_give_the_slots_of_their_partitions() {
    for region in [indexed(dense()).unwrap(), indexed(sparse()).unwrap()] {
        for from in 10..=15 {
            for to in from..=15 {
                let ranges = region.slot_ranges(&(from..to));
                let found: Vec<_> = ranges.into_iter().flatten().collect();
                let expected: Vec<_> = (0..region.slot_count())
                    .filter(|at| (from..to).contains(&region.slot(*at).partition))
                    .collect();
                assert_eq!(found, expected, "{from}..{to}");
            }
        }
    }
}

#[test]
fn each_broken_rule_is_found() {
    type Change = fn(&mut Region);
    let dense_changes: [Change; 17] = [
        |r| r.sequence = 0,
        |r| r.data_offset = 72,
        |r| r.data_length += 8,
        |r| r.data_length += 1,
        |r| r.data_length = u64::MAX - 7,
        |r| r.offsets[0] = 1,
        |r| r.offsets[1] = 7,
        |r| r.offsets[5] = 11,
        |r| r.offsets.truncate(5),
        |r| r.rotation = 5,
        |r| r.shared[0].length = 2,
        |r| r.shared[0].members = Some(vec![0b100000]),
        |r| r.shared[0].members = Some(vec![0, 0]),
        |r| r.first_block = Some(vec![0; 5]),
        |r| r.runs = Some(vec![]),
        |r| r.shared[1].first_block = 3,
        |r| r.shared[0].first_block = u32::MAX,
    ];
    let sparse_changes: [Change; 5] = [
        |r| r.rotation = 1,
        |r| r.partitions = Some(vec![13, 10]),
        |r| r.partitions = Some(vec![9, 10]),
        |r| r.partitions = Some(vec![10, 15]),
        |r| r.offsets[1] = 10,
    ];
    for (base, changes) in [
        (dense as fn() -> Region, &dense_changes[..]),
        (sparse, &sparse_changes[..]),
    ] {
        assert!(indexed(base()).is_ok());
        for (at, change) in changes.iter().enumerate() {
            let mut region = base();
            change(&mut region);
            let error = indexed(region).expect_err(&format!("change {at}"));
            assert_eq!((error.code, error.offset), (ErrorCode::InconsistentIndex, Some(88)));
        }
    }
}

#[test]
fn selective_files_have_first_blocks() {
    let selective = FileHeader {
        reader_features: 1,
        ..header()
    };
    let with = |first: Option<Vec<u32>>| {
        let region = Region {
            first_block: first,
            ..dense()
        };
        RegionIndex::new(
            region,
            &selective,
            1,
            &DataBounds {
                later: false,
                offset: 64,
                end: Some(192),
            },
            88,
        )
        .is_ok()
    };
    assert!(with(Some(vec![5, 0, 6, 7, 0])));
    assert!(!with(Some(vec![5, 1, 6, 7, 0])));
    assert!(!with(Some(vec![5, 0, 6, 7])));
    assert!(!with(None));
}

#[test]
fn the_cache_keeps_what_was_used_last() {
    let region = Arc::new(indexed(dense()).unwrap());
    let shared = RegionCache::new(3 * region.memory_size());
    let cache = shared.for_output();
    for number in 0..3 {
        cache.put(number, &region);
    }
    assert!(cache.get(0).is_some());
    cache.put(3, &region);
    assert_eq!(shared.memory_used(), 3 * region.memory_size());
    assert!(cache.get(1).is_none() && !cache.has(1));
    assert!(cache.get(0).is_some() && cache.get(2).is_some() && cache.get(3).is_some());
    // Two threads that miss the same region both read it, and both bring it.
    cache.put(3, &region);
    assert_eq!(shared.memory_used(), 3 * region.memory_size());
    assert!(cache.get(0).is_some() && cache.get(2).is_some() && cache.get(3).is_some());
    let none = RegionCache::new(0).for_output();
    none.put(0, &region);
    assert_eq!(none.memory_used(), 0);
}

#[test]
fn outputs_share_a_cache_and_not_their_regions() {
    let region = Arc::new(indexed(dense()).unwrap());
    let size = region.memory_size();
    let shared = RegionCache::new(3 * size);
    let (one, two) = (shared.for_output(), shared.for_output());
    one.put(7, &region);
    assert!(two.get(7).is_none());
    two.put(7, &region);
    two.put(8, &region);
    assert_eq!(
        (one.memory_used(), two.memory_used(), shared.memory_used()),
        (size, 2 * size, 3 * size)
    );
    two.put(9, &region);
    assert!(one.get(7).is_none(), "the oldest makes room, whose ever it is");
    assert_eq!((one.memory_used(), two.memory_used()), (0, 3 * size));
    one.put(7, &region);
    drop(two);
    assert_eq!((one.memory_used(), shared.memory_used()), (size, size));
    drop(one);
    assert_eq!(shared.memory_used(), 0);
}

fn paired_footer() -> Footer {
    let entry = |message_offset, data_offset, data_length| RegionEntry {
        message_offset,
        message_size: 80,
        flags: 0,
        data_offset,
        data_length,
    };
    Footer {
        regions: vec![entry(64, 64, 96), entry(168, 160, 24)],
        data_size: 184,
        statistics: Some(Statistics {
            plain: Some(vec![0; 5]),
            ..Statistics::default()
        }),
        properties: vec![
            Property {
                key: "a".into(),
                value: String::new(),
            },
            Property {
                key: "b".into(),
                value: String::new(),
            },
        ],
        created_by: None,
        dictionaries: Vec::new(),
        streams: None,
    }
}

#[test]
fn directories_of_pairs_are_checked() {
    assert!(check_footer(&paired_footer(), &header(), 272).is_ok());
    type Change = fn(&mut Footer);
    let changes: [Change; 13] = [
        |f| f.regions[0].flags = 1,
        |f| f.regions[0].message_offset = 56,
        |f| f.regions[0].message_offset = 65,
        |f| f.regions[1].message_offset = 160,
        |f| f.regions[1].message_offset = 176,
        |f| f.regions[1].message_offset = u64::MAX - 7,
        |f| f.regions[0].data_offset = 72,
        |f| f.regions[1].data_length = 16,
        |f| f.regions[1].data_length = u64::MAX - 7,
        |f| f.data_size = 192,
        |f| {
            f.statistics = Some(Statistics {
                stored: Some(vec![0; 4]),
                ..Statistics::default()
            })
        },
        |f| f.properties.swap(0, 1),
        |f| f.properties[1].key = "a".into(),
    ];
    for (at, change) in changes.iter().enumerate() {
        let mut footer = paired_footer();
        change(&mut footer);
        let error = check_footer(&footer, &header(), 272).expect_err(&format!("change {at}"));
        assert_eq!((error.code, error.offset), (ErrorCode::InconsistentIndex, Some(296)));
    }
}

#[test]
fn directories_of_single_files_are_checked() {
    let single = FileHeader {
        kind: FileKind::Single,
        ..header()
    };
    let entry = |message_offset, data_offset, data_length| RegionEntry {
        message_offset,
        message_size: 80,
        flags: 0,
        data_offset,
        data_length,
    };
    let check = |first: RegionEntry, second: RegionEntry, data_size| {
        let footer = Footer {
            regions: vec![first, second],
            data_size,
            ..Footer::default()
        };
        check_footer(&footer, &single, 400).is_ok()
    };
    assert!(check(entry(88, 64, 24), entry(224, 200, 24), 400));
    assert!(!check(entry(88, 64, 24), entry(224, 200, 24), 392));
    assert!(!check(entry(88, 64, 24), entry(216, 184, 32), 400));
    assert!(!check(entry(88, 64, 24), entry(224, 192, 24), 400));
    assert!(!check(entry(88, 56, 32), entry(224, 200, 24), 400));
}
