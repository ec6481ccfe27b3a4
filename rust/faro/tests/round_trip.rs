//! Random scripts of calls, written and read back, and compared with a small model.

mod common;
mod script;

use common::{Content, Place, check, content, contents, open};
use faro::block::DATA;
use faro::{ByteRangeKind, Files, Follower, Framing, Reader, ReaderOptions};
use proptest::prelude::*;
use script::{Call, call, fit, options, write};

/// What a partition must read, call by call: kind and bytes.
fn model(calls: &[Call], partition: u32) -> Content {
    let mut content = Vec::new();
    for call in calls {
        match call {
            Call::Put { to, kind, bytes } if to.reads(partition) => content.push((*kind, bytes.clone())),
            Call::Region {
                own,
                shared,
                given_up: false,
            } => {
                let own = own.iter().filter(|(owner, _)| *owner == partition);
                content.extend(own.map(|(_, bytes)| (DATA, bytes.clone())));
                if let Some((members, bytes)) = shared
                    && members.as_ref().is_none_or(|members| members.contains(&partition))
                {
                    content.push((DATA, bytes.clone()));
                }
            }
            _ => {}
        }
    }
    content
}

/// Brings the blocks that were read and the model into the same form: records and events or, with framing opaque,
/// events and the bytes between them.
fn normal(content: Content, framing: Framing, is_model: bool) -> Content {
    let mut out: Content = Vec::new();
    for (kind, bytes) in content {
        match (framing, kind) {
            (Framing::Opaque, DATA) => match out.last_mut() {
                Some((DATA, run)) => run.extend_from_slice(&bytes),
                _ if bytes.is_empty() => {}
                _ => out.push((DATA, bytes)),
            },
            (_, DATA) if !is_model => {
                let mut rest = &bytes[..];
                while let Some((length, behind)) = rest.split_first_chunk::<4>() {
                    let (record, left) = behind.split_at(u32::from_le_bytes(*length) as usize);
                    out.push((DATA, record.to_vec()));
                    rest = left;
                }
            }
            _ => out.push((kind, bytes)),
        }
    }
    out
}

/// The content without its order: the events, and the records or bytes.
fn unordered(content: Content) -> (Content, Vec<u8>) {
    let (data, mut events): (Content, Content) = content.into_iter().partition(|(kind, _)| *kind == DATA);
    events.sort();
    let mut bytes: Vec<u8> = data.into_iter().flat_map(|(_, bytes)| bytes).collect();
    bytes.sort_unstable();
    (events, bytes)
}

fn statistics_fit(reader: &Reader, contents: &[Content]) {
    let statistics = reader.footer().statistics.as_ref().unwrap();
    for (at, content) in contents.iter().enumerate() {
        let partition = reader.partitions().start + at as u32;
        let plain: usize = content
            .iter()
            .filter(|(kind, _)| *kind == DATA)
            .map(|(_, bytes)| bytes.len())
            .sum();
        let counted = statistics.plain.as_ref().map_or(0, |plain| plain[at]) + statistics.plain_to_all;
        assert_eq!(counted, plain as u64);
        let stored: u64 = (0..reader.region_count())
            .map(|number| reader.region(number).unwrap().stored_bytes(partition))
            .sum();
        assert_eq!(reader.stored_bytes(partition).unwrap(), stored);
    }
}

/// A range reads what each of its partitions reads.
fn ranges_fit(reader: &Reader, contents: &[Content], from: u32, to: u32) {
    let mut found = vec![Content::new(); contents.len()];
    let first = reader.partitions().start;
    for block in reader.range(from..to).unwrap() {
        let block = block.unwrap();
        for partition in from..to {
            let member = block
                .members
                .as_ref()
                .is_some_and(|members| members.contains(partition));
            if block.partition == Some(partition) || member {
                found[(partition - first) as usize].push((block.kind(), block.payload.to_vec()));
            }
        }
    }
    for partition in from..to {
        let at = (partition - first) as usize;
        assert_eq!(found[at], contents[at]);
    }
}

fn every_byte_is_in_one_range(reader: &Reader, files: &Files) {
    let ranges = reader.byte_map().unwrap();
    for (role, path) in files.paths() {
        let mut end = 0;
        for range in ranges.iter().filter(|range| range.file == role) {
            assert_eq!(range.offset, end);
            end += range.length;
        }
        assert_eq!(end, path.metadata().unwrap().len());
    }
    let extents = ranges
        .iter()
        .filter(|range| matches!(range.what, ByteRangeKind::OwnExtent | ByteRangeKind::SharedExtent));
    let blocks: u64 = extents.map(|range| range.blocks.count).sum();
    assert_eq!(blocks, reader.all().unwrap().count() as u64);
    let mut follower = Follower::open(files, ReaderOptions::default()).unwrap();
    follower.poll().unwrap();
    assert_eq!(follower.byte_map().unwrap(), ranges);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn written_records_are_read(
        options in options(),
        mut calls in prop::collection::vec(call(), 0..60),
        range in any::<(u32, u32)>(),
    ) {
        fit(&mut calls, &options);
        let place = Place::new();
        let files = write(&place.name(), &options, &calls).unwrap();
        let report = check(&files).unwrap();
        let reader = open(&files).unwrap();
        prop_assert_eq!(report.regions, reader.region_count() as u64);
        let contents = contents(&reader).unwrap();
        for (partition, found) in reader.partitions().zip(&contents) {
            let found = normal(found.clone(), options.framing, false);
            let expected = normal(model(&calls, partition), options.framing, true);
            if options.ordered {
                prop_assert_eq!(found, expected);
            } else {
                prop_assert_eq!(unordered(found), unordered(expected));
            }
            if options.framing == Framing::Records {
                let records = reader.records(partition).unwrap().map(Result::unwrap).count();
                let expected = model(&calls, partition).iter().filter(|(kind, _)| *kind == DATA).count();
                prop_assert_eq!(records, expected);
                let blocks = reader.partition(partition).unwrap().map(Result::unwrap);
                let slices = blocks.map(|block| block.record_slices().unwrap().count()).sum::<usize>();
                prop_assert_eq!(slices, expected);
            }
        }
        statistics_fit(&reader, &contents);
        let from = options.first_partition + range.0 % options.partition_count;
        let to = from + range.1 % (options.first_partition + options.partition_count - from + 1);
        ranges_fit(&reader, &contents, from, to);
        every_byte_is_in_one_range(&reader, &files);
        prop_assert_eq!(content(reader.partition_in(from, 0..0).unwrap()).unwrap(), Content::new());
    }
}
