//! REG-8: the runs of merged files.

use super::*;
use crate::message::Run;

fn merged() -> FileHeader {
    FileHeader {
        producer: u64::MAX,
        ..header()
    }
}

/// A region of a merged file: extents of 3, 9 and 16 units, the second with two runs.
fn with_runs() -> Region {
    let run = |producer, first_block, blocks, length| Run {
        producer,
        attempt: producer << 33,
        first_block,
        blocks,
        length,
        flags: Run::LAST,
    };
    Region {
        data_length: 8 * 28,
        offsets: vec![0, 3, 3, 12, 28, 28],
        shared: vec![],
        runs: Some(vec![
            run(1, 0, 1, 3),
            run(1, 0, 2, 6),
            run(2, u32::MAX, 1, 3),
            run(u64::MAX, 7, 5, 16),
        ]),
        ..dense()
    }
}

/// The runs of a region after a change of them, and whether REG-8 allows them.
fn runs_are_allowed(change: impl FnOnce(&mut Vec<Run>)) -> bool {
    let mut region = with_runs();
    change(region.runs.get_or_insert_default());
    is_allowed(region, &merged())
}

fn is_allowed(region: Region, header: &FileHeader) -> bool {
    let bounds = DataBounds {
        offset: 64,
        later: false,
        end: None,
    };
    match RegionIndex::new(region, header, 1, &bounds, 88) {
        Ok(_) => true,
        Err(error) => {
            assert_eq!((error.code, error.offset), (ErrorCode::InconsistentIndex, Some(88)));
            false
        }
    }
}

#[test]
fn only_merged_files_have_runs() {
    assert!(is_allowed(with_runs(), &merged()));
    for producer in [0, 1, u64::MAX - 1] {
        let header = FileHeader { producer, ..header() };
        assert!(!is_allowed(with_runs(), &header));
    }
    // A rebuilt file has none (REP-8).
    let without = Region {
        runs: None,
        ..with_runs()
    };
    assert!(is_allowed(without, &merged()));
}

#[test]
fn a_region_with_runs_has_no_shared_extent() {
    assert!(is_allowed(dense(), &merged()));
    let region = with_runs();
    let shared = SharedExtent {
        length: 3,
        members: Some(vec![]),
        first_block: 0,
    };
    for runs in [region.runs.clone(), Some(vec![])] {
        let region = Region {
            data_length: region.data_length + 24,
            shared: vec![shared.clone()],
            runs,
            ..region.clone()
        };
        assert!(!is_allowed(region, &merged()));
    }
}

#[test]
fn runs_tile_the_own_extents() {
    assert!(runs_are_allowed(|_| ()));
    assert!(!runs_are_allowed(|runs| runs.clear()));
    for at in 0..4 {
        assert!(!runs_are_allowed(|runs| _ = runs.remove(at)));
        assert!(!runs_are_allowed(|runs| runs.insert(at, runs[at])));
        assert!(!runs_are_allowed(|runs| runs[at].length += 1));
        assert!(!runs_are_allowed(|runs| runs[at].length = u32::MAX));
    }
    // A run more, after the last extent.
    assert!(!runs_are_allowed(|runs| runs.push(runs[0])));
}

#[test]
fn a_run_is_inside_one_extent() {
    // All runs together have the same length, and the third ends in the next extent.
    assert!(!runs_are_allowed(|runs| {
        runs[2].length += 3;
        runs[3].length -= 3;
        runs[3].blocks = 1;
    }));
    // One run for two extents.
    assert!(!runs_are_allowed(|runs| {
        runs[0].length += 9;
        runs.drain(1..3);
    }));
    // Two runs of one extent.
    assert!(runs_are_allowed(|runs| {
        runs[1].length += 3;
        runs.remove(2);
    }));
}

#[test]
fn the_blocks_of_a_run_have_room_in_it() {
    for (at, most) in [(0, 1), (1, 2), (2, 1), (3, 5)] {
        assert!(!runs_are_allowed(|runs| runs[at].blocks = 0));
        assert!(runs_are_allowed(|runs| runs[at].blocks = 1));
        assert!(runs_are_allowed(|runs| runs[at].blocks = most));
        assert!(!runs_are_allowed(|runs| runs[at].blocks = most + 1));
        assert!(!runs_are_allowed(|runs| runs[at].blocks = u32::MAX));
    }
}

#[test]
fn the_numbers_of_blocks_end_at_32_bits() {
    assert!(runs_are_allowed(|runs| runs[3].first_block = u32::MAX - 4));
    assert!(!runs_are_allowed(|runs| runs[3].first_block = u32::MAX - 3));
    assert!(!runs_are_allowed(|runs| runs[3].first_block = u32::MAX));
}

#[test]
fn a_run_has_one_flag() {
    assert!(runs_are_allowed(|runs| runs[1].flags = 0));
    for bit in 1..32 {
        assert!(!runs_are_allowed(|runs| runs[1].flags |= 1 << bit));
    }
}
