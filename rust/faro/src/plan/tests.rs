//! The promises of planning, for all requests.

use crate::index::Extent;
use crate::plan::{Admitted, Sweep, SweepRead, reads};
use proptest::prelude::*;
use std::collections::{BTreeMap, VecDeque};

fn extents() -> impl Strategy<Value = Vec<Extent>> {
    let extent = (0..3000u64, 0..300u64).prop_map(|(offset, length)| Extent { offset, length });
    prop::collection::vec(extent, 0..60)
}

proptest! {
    #[test]
    fn each_extent_is_in_one_read_and_neighbours_share_one(
        wanted in extents(), gap in 0..100u64, most in 1..2000u64,
    ) {
        let planned = reads(&wanted, gap, most);
        let mut seen = vec![0; wanted.len()];
        for read in &planned {
            prop_assert!(read.wanted.len() == 1 || read.extent.length <= most.max(300));
            let mut end = read.extent.offset;
            for at in &read.wanted {
                seen[*at] += 1;
                let extent = wanted[*at];
                prop_assert!(extent.offset >= read.extent.offset && extent.end() <= read.extent.end());
                prop_assert!(extent.offset <= end + gap, "a gap that is too long");
                end = end.max(extent.end());
            }
            prop_assert_eq!(end, read.extent.end());
        }
        for (extent, seen) in wanted.iter().zip(seen) {
            prop_assert_eq!(seen, u32::from(extent.length > 0));
        }
        for pair in planned.windows(2) {
            prop_assert!(pair[0].extent.offset <= pair[1].extent.offset);
            let (first, next) = (pair[0].extent, wanted[pair[1].wanted[0]]);
            let near = next.offset <= first.end() + gap && next.end() - first.offset <= most;
            prop_assert!(!near && next.end() > first.end(), "{pair:?} could have been one");
        }
    }

    /// Consumers with lists of requests, some of which are sometimes not admitted.
    #[test]
    fn a_sweep_serves_everybody_in_order_within_one_round(
        lists in prop::collection::vec(extents(), 1..8),
        refusals in prop::collection::vec(any::<bool>(), 1..20),
        (gap, most) in (0..100u64, 1..800u64),
    ) {
        let mut waiting: BTreeMap<u64, VecDeque<Extent>> = BTreeMap::new();
        let mut sweep = Sweep::default();
        let mut left = 0;
        for (consumer, list) in lists.iter().enumerate() {
            let list: VecDeque<Extent> = list.iter().copied().filter(|extent| extent.length > 0).collect();
            left += list.iter().map(|extent| extent.length).sum::<u64>();
            if let Some(first) = list.front() {
                sweep.insert(consumer as u64, *first);
            }
            waiting.insert(consumer as u64, list);
        }
        let (mut refusals, mut turns) = (refusals.into_iter().cycle(), 0);
        // For each consumer, how often the sweep has started again since its current request.
        let mut rounds: BTreeMap<u64, (u64, u32)> = BTreeMap::new();
        while left > 0 {
            turns += 1;
            let refuses = turns % 3 == 0;
            let head = sweep.head();
            let mut admitted: Vec<(u64, Extent)> = Vec::new();
            let read = sweep.next_read(gap, most, |consumer, extent| {
                if refuses && refusals.next().unwrap() {
                    return None;
                }
                let list = waiting.get_mut(&consumer).unwrap();
                assert_eq!(list[0].offset, extent.offset, "not its first request");
                list[0].offset += extent.length;
                list[0].length -= extent.length;
                if list[0].length == 0 {
                    list.pop_front();
                }
                admitted.push((consumer, extent));
                Some(Admitted { length: extent.length, next: list.front().copied() })
            });
            let Some(SweepRead { extent: read, parts }) = read else {
                prop_assert!(refuses);
                continue;
            };
            prop_assert_eq!(parts.iter().map(|part| (part.consumer, part.extent)).collect::<Vec<_>>(), admitted);
            prop_assert!(read.length <= most);
            for part in &parts {
                left -= part.extent.length;
                prop_assert!(part.extent.offset >= read.offset && part.extent.end() <= read.end());
            }
            let begins_anew = read.offset < head;
            for (consumer, list) in &waiting {
                let Some(first) = list.front() else { continue };
                let entry = rounds.entry(*consumer).or_insert((first.offset, 0));
                if entry.0 != first.offset {
                    *entry = (first.offset, 0);
                }
                entry.1 += u32::from(begins_anew);
                // Requests are refused at most once in three turns. Otherwise one round is enough.
                prop_assert!(entry.1 <= 2 + turns / 3, "a request waited for {} rounds", entry.1);
            }
        }
        prop_assert!(sweep.is_empty());
    }
}

/// A request that the sweep has passed is served when the sweep starts again, whatever others request ahead of it.
#[test]
fn a_request_that_the_sweep_has_passed_waits_for_its_rest_only() {
    let extent = |offset| Extent { offset, length: 10 };
    let everything = |_, extent: Extent| {
        Some(Admitted {
            length: extent.length,
            next: None,
        })
    };
    let mut sweep = Sweep::default();
    sweep.insert(0, extent(500));
    assert_eq!(sweep.next_read(0, 100, everything).unwrap().extent, extent(500));
    sweep.insert(1, extent(100));
    for at in (600..1000).step_by(100) {
        // Another consumer requests again and again, ahead of the sweep.
        sweep.insert(2, extent(at));
        assert_eq!(sweep.next_read(0, 100, everything).unwrap().extent, extent(at));
    }
    sweep.insert(2, extent(0));
    sweep.insert(3, extent(700));
    let served: Vec<u64> = std::iter::from_fn(|| sweep.next_read(0, 100, everything))
        .map(|read| read.extent.offset)
        .collect();
    assert_eq!(served, [0, 100, 700]);
}
