use super::*;

type Buffer = SortBuffer<&'static str>;

/// A buffer with memory for its whole capacity.
fn buffer_of(partition_count: u32, capacity: u64, counted: bool) -> Buffer {
    let mut buffer = Buffer::new(partition_count, capacity, counted);
    buffer.grant(capacity);
    buffer
}

fn text(pushed: Pushed<'_>) -> String {
    match pushed {
        Pushed::Data(bytes, _) => String::from_utf8_lossy(bytes).into_owned(),
        Pushed::Event(kind, bytes) => format!("{kind}:{}", String::from_utf8_lossy(bytes)),
        Pushed::Nothing(_) => unreachable!("nothing is packed for it"),
    }
}

fn own(buffer: &mut Buffer, first: u32) -> Vec<(u32, Vec<String>)> {
    let mut found: Vec<(u32, Vec<String>)> = Vec::new();
    let mut begin = 0;
    loop {
        let length = buffer.sort_from(begin, first);
        if length == 0 {
            return found;
        }
        let (places, by_partition) = buffer.window();
        assert_eq!(places.len(), length);
        for records in by_partition {
            let places = &places[records.begin as usize..records.end as usize];
            let texts = places.iter().map(|place| text(buffer.packed.record(*place)));
            match found.last_mut() {
                Some((at, all)) if *at == records.at => all.extend(texts),
                _ => found.push((records.at, texts.collect())),
            }
        }
        begin += length;
    }
}

#[test]
fn both_ways_of_sorting_are_stable_and_begin_where_they_are_told() {
    for partition_count in [4, 1000] {
        let mut buffer = buffer_of(partition_count, 1000, false);
        for round in 0..2 {
            for (at, text) in [(3, "a"), (0, "b"), (3, "c"), (1, ""), (0, "d")] {
                buffer.push_own(at, &Pushed::Data(text.as_bytes(), 1), 13);
            }
            buffer.push_own(0, &Pushed::Event(64, b"e"), 13);
            assert_eq!(buffer.own_partitions(), if partition_count == 4 { 3 } else { 6 });
            let all = [(0, vec!["b", "d", "64:e"]), (1, vec![""]), (3, vec!["a", "c"])];
            let expected: Vec<_> = all
                .iter()
                .cycle()
                .skip(round)
                .take(3)
                .map(|(at, texts)| (*at, texts.iter().map(|text| (*text).to_string()).collect()))
                .collect();
            assert_eq!(own(&mut buffer, round as u32), expected);
            buffer.clear();
            assert!(buffer.is_empty() && own(&mut buffer, 0).is_empty());
            assert_eq!(buffer.own_partitions(), 0);
        }
    }
}

#[test]
fn windows_have_what_partitions_leave() {
    for (partitions, mib) in [(0, 7), (1, 7), (10_000, 7), (60_000, 5), (100_000, 4), (u32::MAX, 4)] {
        assert_eq!((4 * window(partitions)).div_ceil(1 << 20), mib, "{partitions}");
    }
}

/// More records than one window; some partitions continue in the next window.
#[test]
fn windows_join_where_one_ended() {
    let mut buffer = buffer_of(3, 1 << 40, false);
    let window = window(3);
    let count = window as u32 + 70_000;
    for number in 0..count {
        buffer.push_plain((number % 5).min(2), &number.to_le_bytes(), 16);
    }
    let mut found: Vec<(u32, u32)> = Vec::new();
    let mut begin = 0;
    for expected in [window, 70_000, 0] {
        let length = buffer.sort_from(begin, 1);
        assert_eq!(length, expected);
        if length > 0 {
            let (places, by_partition) = buffer.window();
            for records in by_partition {
                for place in &places[records.begin as usize..records.end as usize] {
                    let framed = buffer.packed.framed(*place).unwrap();
                    found.push((
                        (records.at + 2) % 3,
                        u32::from_le_bytes(framed[4..].try_into().unwrap()),
                    ));
                }
            }
        }
        begin += length;
    }
    assert_eq!(found.len(), count as usize);
    assert!(found.is_sorted());
    assert!(found.iter().all(|(slot, number)| (slot + 1) % 3 == (number % 5).min(2)));
}

/// Threads get whole partitions: as many as fit into a window, or one larger partition alone.
#[test]
fn windows_of_whole_partitions_end_where_one_ends() {
    let mut buffer = buffer_of(4, 1 << 40, false);
    buffer.sort_whole_partitions();
    let window = window(4);
    let counts = [window / 2, window + 5, 3, window / 4];
    for (at, count) in counts.into_iter().enumerate() {
        for number in 0..count as u32 {
            buffer.push_plain(at as u32, &number.to_le_bytes(), 16);
        }
    }
    let mut begin = 0;
    for partitions in [&[3, 0][..], &[1], &[2]] {
        let length = buffer.sort_from(begin, 3);
        let (places, by_partition) = buffer.window();
        assert_eq!(places.len(), length);
        assert_eq!(
            by_partition.iter().map(|records| records.at).collect::<Vec<_>>(),
            partitions
        );
        for records in by_partition {
            assert_eq!((records.end - records.begin) as usize, counts[records.at as usize]);
            let last = buffer.packed.framed(places[records.end as usize - 1]).unwrap();
            assert_eq!(last[4..], (counts[records.at as usize] as u32 - 1).to_le_bytes());
        }
        begin += length;
    }
    assert_eq!(buffer.sort_from(begin, 3), 0);
}

#[test]
fn groups_follow_the_order_if_it_is_kept() {
    for (ordered, expected) in [(true, vec!["x", "y", "x"]), (false, vec!["x", "y"])] {
        let mut buffer = buffer_of(1, 1000, false);
        for members in ["x", "x", "y", "x"] {
            buffer.push_shared(&members, ordered, &Pushed::Data(b"r", 1), 13);
        }
        assert_eq!(
            buffer.shared().map(|(group, _)| group.members).collect::<Vec<_>>(),
            expected
        );
    }
}

#[test]
fn charges_and_counts() {
    let mut buffer = buffer_of(1, 30, true);
    assert!(buffer.has_room(30) && !buffer.has_room(31) && !buffer.has_room(u64::MAX));
    buffer.push_own(0, &Pushed::Data(b"abc", 77), 15);
    assert!(buffer.has_room(15) && !buffer.has_room(16));
    assert_eq!(buffer.sort_from(0, 0), 1);
    assert_eq!(buffer.packed.record(buffer.window().0[0]), Pushed::Data(b"abc", 77));
}

/// In the largest buffers records begin at multiples of 4, so that places fit into 32 bits.
#[test]
fn places_of_large_buffers_count_in_fours() {
    let mut buffer = buffer_of(1, 1 << 33, false);
    for text in ["a", "bcdef", "", "g"] {
        buffer.push_plain(0, text.as_bytes(), 20);
    }
    buffer.push_own(0, &Pushed::Event(1, b"h"), 20);
    buffer.sort_from(0, 0);
    assert_eq!(buffer.window().0, [0, 2, 5, 6, 8]);
    assert_eq!(own(&mut buffer, 0)[0].1, ["a", "bcdef", "", "g", "1:h"]);
}
