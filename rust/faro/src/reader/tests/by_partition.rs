//! Reading one partition after another delivers the same as reading each alone, faults included, for all sizes of
//! windows.

use crate::ByPartition;
use crate::error::{Error, ErrorCode, FileRole, Result};
use crate::{Block, Files, Reader, ReaderOptions};
use crate::{Codec, Framing, Layout, Writer, WriterOptions};
use proptest::prelude::*;
use std::collections::BTreeSet;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::Path;

/// The fields of a block that are compared.
type Seen = (u32, u64, Option<u32>, u32, u8, Vec<u8>, bool);
/// The blocks that were delivered, and the fault after them.
type Reading = (Vec<Seen>, Option<(ErrorCode, Option<u64>, Option<FileRole>)>);

#[derive(Clone, Debug)]
pub(super) enum Act {
    Write(u32, usize),
    Multicast(Vec<u32>, usize),
    Broadcast(usize),
    Event(u32),
    Flush,
}

pub(super) fn acts(partitions: u32) -> impl Strategy<Value = Vec<Act>> {
    let act = prop_oneof![
        12 => (0..partitions, 0..400usize).prop_map(|(partition, size)| Act::Write(partition, size)),
        1 => (prop::collection::btree_set(0..partitions, 1..=partitions.min(3) as usize), 1..300usize)
            .prop_map(|(to, size)| Act::Multicast(to.into_iter().collect(), size)),
        1 => (1..300usize).prop_map(Act::Broadcast),
        1 => (0..partitions).prop_map(Act::Event),
        2 => Just(Act::Flush),
    ];
    prop::collection::vec(act, 0..120)
}

pub(super) fn write(name: &Path, options: WriterOptions, acts: &[Act]) -> Files {
    unfinished(name, options, acts).finish().unwrap().files
}

/// The writer after the acts.
pub(super) fn unfinished(name: &Path, options: WriterOptions, acts: &[Act]) -> Writer {
    let mut writer = Writer::create(name, options).unwrap();
    for (number, act) in acts.iter().enumerate() {
        let bytes = |size: usize| vec![number as u8; size];
        match act {
            Act::Write(partition, size) => writer.write(*partition, &bytes(*size)).unwrap(),
            Act::Multicast(to, size) => writer.multicast(to, &bytes(*size)).unwrap(),
            Act::Broadcast(size) => writer.broadcast(&bytes(*size)).unwrap(),
            Act::Event(partition) => writer.write_event(*partition, 70, b"event").unwrap(),
            Act::Flush => writer.flush().unwrap(),
        }
    }
    writer
}

fn seen(partition: u32, block: &Block) -> Seen {
    (
        partition,
        block.offset,
        block.partition,
        block.region,
        block.kind(),
        block.payload.to_vec(),
        block.members.is_some(),
    )
}

fn fault(error: Error) -> Option<(ErrorCode, Option<u64>, Option<FileRole>)> {
    Some((error.code, error.offset, error.role))
}

fn one_by_one(reader: &Reader, partitions: Range<u32>) -> Reading {
    let mut found = Vec::new();
    for partition in partitions {
        for block in reader.partition(partition).unwrap() {
            match block {
                Ok(block) => found.push(seen(partition, &block)),
                Err(error) => return (found, fault(error)),
            }
        }
    }
    (found, None)
}

fn collect(blocks: impl Iterator<Item = Result<(u32, Block)>>) -> Reading {
    let (mut found, mut end) = (Vec::new(), None);
    for block in blocks {
        assert!(end.is_none(), "something after a fault");
        match block {
            Ok((partition, block)) => found.push(seen(partition, &block)),
            Err(error) => end = fault(error),
        }
    }
    (found, end)
}

fn collect_lent(mut blocks: ByPartition) -> Reading {
    let (mut found, mut end) = (Vec::new(), None);
    while let Some(block) = blocks.next_borrowed() {
        assert!(end.is_none(), "something after a fault");
        match block {
            Ok((partition, block)) => found.push((
                partition,
                block.offset(),
                block.partition(),
                block.region(),
                block.kind(),
                block.payload().to_vec(),
                block.members().is_some(),
            )),
            Err(error) => end = fault(error),
        }
    }
    (found, end)
}

fn agree(reader: &Reader, partitions: Range<u32>, few: usize, window: u64) {
    let expected = one_by_one(reader, partitions.clone());
    let reading = || ByPartition::with(reader.output().clone(), partitions.clone(), few, window);
    assert_eq!(collect(reading()), expected);
    assert_eq!(collect_lent(reading()), expected);
}

/// Maps numbers to partitions from 3 on, each once.
pub(super) fn some(numbers: &[u32], partitions: u32) -> Vec<u32> {
    let unique: BTreeSet<u32> = numbers.iter().map(|number| number % partitions + 3).collect();
    unique.into_iter().collect()
}

/// What the test does to a file after it is open.
#[derive(Clone, Debug)]
enum Harm {
    None,
    Flip { index: bool, at: f64, mask: u8 },
    Cut { at: f64 },
}

fn harm() -> impl Strategy<Value = Harm> {
    prop_oneof![
        1 => Just(Harm::None),
        3 => (prop::bool::weighted(0.2), 0.0..1.0f64, 1..=255u8).prop_map(|(index, at, mask)| Harm::Flip { index, at, mask }),
        1 => (0.0..1.0f64).prop_map(|at| Harm::Cut { at }),
    ]
}

fn apply(files: &Files, harm: &Harm) {
    let (data, index) = match files {
        Files::Single(path) => (path, path),
        Files::Paired { data, index } => (data, index),
    };
    let open = |path: &Path| std::fs::File::options().read(true).write(true).open(path).unwrap();
    match harm {
        Harm::None => {}
        Harm::Flip {
            index: in_index,
            at,
            mask,
        } => {
            let file = open(if *in_index { index } else { data });
            let size = file.metadata().unwrap().len();
            let at = 64 + ((size - 64) as f64 * at) as u64;
            let mut byte = [0];
            if file.read_at(&mut byte, at).unwrap() == 1 {
                file.write_all_at(&[byte[0] ^ mask], at).unwrap();
            }
        }
        Harm::Cut { at } => {
            let file = open(data);
            let size = file.metadata().unwrap().len();
            file.set_len(64 + ((size - 64) as f64 * at) as u64).unwrap();
        }
    }
}

/// The same acts in a file with partitions from 3 on.
pub(super) fn from_three_on(acts: Vec<Act>, partitions: u32) -> Vec<Act> {
    let within = |act| match act {
        Act::Write(partition, size) => Act::Write(partition % partitions + 3, size),
        Act::Multicast(to, size) => Act::Multicast(some(&to, partitions), size),
        Act::Event(partition) => Act::Event(partition % partitions + 3),
        other => other,
    };
    acts.into_iter().map(within).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn it_is_what_reading_one_by_one_is(
        partitions in 1..40u32,
        acts in acts(40),
        single in any::<bool>(),
        codec in prop::sample::select(vec![Codec::None, Codec::Lz4, Codec::Zstd]),
        few in 1..60usize,
        window in 1..20_000u64,
        cache in prop::sample::select(vec![0, 600, 64 << 20]),
        (from, to) in (0.0..1.0f64, 0.0..1.0f64),
        harm in harm(),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let options = WriterOptions::new(partitions)
            .first_partition(3)
            .layout(if single { Layout::Single } else { Layout::Paired })
            .codec(codec)
            .block_size(300);
        let acts = from_three_on(acts, partitions);
        let files = write(&folder.path().join("out"), options, &acts);
        let options = ReaderOptions { region_cache_bytes: cache, ..ReaderOptions::default() };
        let reader = Reader::open(&files, options).unwrap();
        apply(&files, &harm);
        let place = |at: f64| 3 + (f64::from(partitions) * at).round() as u32;
        let (from, to) = (place(from.min(to)), place(from.max(to)));
        agree(&reader, from..to, few, window);
        agree(&reader, reader.partitions(), few, window);
    }
}

#[test]
fn a_partition_that_no_window_holds_is_read_bit_by_bit() {
    let folder = tempfile::tempdir().unwrap();
    let options = WriterOptions::new(5).framing(Framing::Opaque).block_size(1000);
    let mut acts = vec![Act::Write(1, 700), Act::Write(2, 900), Act::Write(4, 10)];
    acts.extend((0..40).map(|_| Act::Write(3, 950)));
    let files = write(&folder.path().join("out"), options, &acts);
    let reader = Reader::open(&files, ReaderOptions::default()).unwrap();
    for window in [1, 800, 1_800, 4_000, 1 << 20] {
        agree(&reader, 0..5, 1 << 16, window);
    }
}

#[test]
fn ranges_that_the_file_does_not_have_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let files = write(
        &folder.path().join("out"),
        WriterOptions::new(5).first_partition(2),
        &[],
    );
    let reader = Reader::open(&files, ReaderOptions::default()).unwrap();
    #[allow(clippy::reversed_empty_ranges)]
    for refused in [0..3, 2..8, 4..3, 8..8] {
        assert_eq!(
            reader.by_partition(refused).err().map(|error| error.code),
            Some(ErrorCode::InvalidArgument)
        );
    }
    assert_eq!(reader.by_partition(7..7).unwrap().count(), 0);
    assert_eq!(reader.by_partition(2..7).unwrap().count(), 0);
}
