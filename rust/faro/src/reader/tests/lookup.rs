//! Direct lookup finds what full lookup finds, reads little, and survives any message.

use super::by_partition::{Act, acts, from_three_on, write};
use crate::block::BlockHeader;
use crate::error::{ErrorCode, Result};
use crate::{Files, Lookup, Reader, ReaderOptions};
use crate::{Follower, Layout, WriterOptions};
use proptest::prelude::*;
use std::os::unix::fs::FileExt;
use std::path::Path;

/// What a partition reads: the offset, partition, region and payload of each block.
pub(super) type Blocks = Vec<(u64, Option<u32>, u32, Vec<u8>)>;

pub(super) fn open(files: &Files, lookup: Lookup) -> Result<Reader> {
    let options = ReaderOptions {
        lookup,
        ..ReaderOptions::default()
    };
    Reader::open(files, options)
}

pub(super) fn blocks(reader: &Reader, partition: u32) -> Result<Blocks> {
    let of = |block: crate::Block| (block.offset, block.partition, block.region, block.payload.to_vec());
    reader.partition(partition)?.map(|block| block.map(of)).collect()
}

fn index(files: &Files) -> &Path {
    match files {
        Files::Single(path) => path,
        Files::Paired { index, .. } => index,
    }
}

/// The offset and size of each region message.
pub(super) fn messages(reader: &Reader) -> Vec<(u64, u64)> {
    let entries = reader.footer().regions.iter();
    let place = |entry: &crate::message::RegionEntry| {
        let offset = entry.message_offset + BlockHeader::SIZE as u64;
        (offset, u64::from(entry.message_size))
    };
    entries.map(place).collect()
}

/// How many bytes of the index file reading one partition takes, after opening.
fn cost(reader: &Reader, partition: u32) -> u64 {
    let before = reader.output().index_file().calls().bytes();
    reader
        .partition(partition)
        .unwrap()
        .for_each(|block| drop(block.unwrap()));
    reader.output().index_file().calls().bytes() - before
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn it_finds_what_full_lookup_finds(
        partitions in 1..40u32,
        acts in acts(40),
        single in any::<bool>(),
        statistics in any::<bool>(),
        rotation in any::<u32>(),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let options = WriterOptions::new(partitions)
            .first_partition(3)
            .layout(if single { Layout::Single } else { Layout::Paired })
            .rotation(rotation % partitions)
            .statistics(statistics)
            .block_size(300);
        let acts = from_three_on(acts, partitions);
        let files = write(&folder.path().join("out"), options, &acts);
        let (full, direct) = (open(&files, Lookup::Full).unwrap(), open(&files, Lookup::Direct).unwrap());
        for partition in full.partitions() {
            prop_assert_eq!(blocks(&direct, partition).unwrap(), blocks(&full, partition).unwrap());
            prop_assert_eq!(direct.stored_bytes(partition).unwrap(), full.stored_bytes(partition).unwrap());
            let records = |reader: &Reader| reader.records(partition).unwrap().collect::<Result<Vec<_>>>().unwrap();
            prop_assert_eq!(records(&direct), records(&full));
        }
    }

    /// No message causes a panic. Without statistics, wrong blocks may go unnoticed.
    #[test]
    fn it_survives_any_bytes(
        statistics in any::<bool>(),
        changes in prop::collection::vec((0.0..1.0f64, prop_oneof![any::<u8>(), Just(0), Just(4), Just(255)]), 1..40),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let files = small(folder.path(), statistics);
        let places = messages(&open(&files, Lookup::Full).unwrap());
        let file = std::fs::File::options().write(true).open(index(&files)).unwrap();
        for (number, (at, value)) in changes.iter().enumerate() {
            let (offset, size) = places[number % places.len()];
            file.write_all_at(&[*value], offset + (size as f64 * at) as u64).unwrap();
        }
        let reader = open(&files, Lookup::Direct).unwrap();
        for partition in reader.partitions() {
            let _ = blocks(&reader, partition);
            let _ = reader.stored_bytes(partition);
        }
    }
}

/// Dense and sparse regions with shared extents for all partitions, some, and one.
fn small(folder: &Path, statistics: bool) -> Files {
    let options = WriterOptions::new(11)
        .first_partition(3)
        .statistics(statistics)
        .rotation(4);
    let mut acts: Vec<Act> = (3..14)
        .map(|partition| Act::Write(partition, 5 * partition as usize))
        .collect();
    acts.extend([
        Act::Multicast(vec![4, 9], 20),
        Act::Broadcast(30),
        Act::Multicast(vec![3, 12, 13], 60),
        Act::Flush,
    ]);
    acts.extend([
        Act::Write(4, 9),
        Act::Write(7, 9),
        Act::Write(13, 40),
        Act::Multicast(vec![7], 20),
        Act::Flush,
    ]);
    acts.extend([Act::Broadcast(9), Act::Flush, Act::Write(8, 1), Act::Flush]);
    write(&folder.join("out"), options, &acts)
}

/// Changes each byte of each message: each bit, and all bits. The same blocks come, or an error.
#[test]
fn damage_never_gives_other_blocks_when_there_are_statistics() {
    let folder = tempfile::tempdir().unwrap();
    let files = small(folder.path(), true);
    let reader = open(&files, Lookup::Direct).unwrap();
    let sound: Vec<Blocks> = reader
        .partitions()
        .map(|partition| blocks(&reader, partition).unwrap())
        .collect();
    assert!(reader.region(0).unwrap().shared().len() == 3 && reader.region(1).unwrap().is_sparse());
    let file = std::fs::File::options()
        .read(true)
        .write(true)
        .open(index(&files))
        .unwrap();
    let mut refused = 0;
    for (offset, size) in messages(&reader) {
        for at in offset..offset + size {
            let mut byte = [0];
            file.read_exact_at(&mut byte, at).unwrap();
            let flips = (0..8).map(|bit| byte[0] ^ 1 << bit);
            for value in flips.chain([0, 255, byte[0].wrapping_add(1)]) {
                file.write_all_at(&[value], at).unwrap();
                for (partition, sound) in reader.partitions().zip(&sound) {
                    match blocks(&reader, partition) {
                        Ok(found) => assert_eq!(&found, sound, "byte {at} is {value}, partition {partition}"),
                        Err(_) => refused += 1,
                    }
                }
            }
            file.write_all_at(&byte, at).unwrap();
        }
    }
    assert!(refused > 1000);
    assert!(
        reader
            .partitions()
            .zip(&sound)
            .all(|(partition, sound)| &blocks(&reader, partition).unwrap() == sound)
    );
}

#[test]
fn a_few_pieces_of_a_dense_message_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let options = WriterOptions::new(100_000).rotation(70_001);
    let mut acts: Vec<Act> = (0..100_000).map(|partition| Act::Write(partition, 1)).collect();
    acts.extend([Act::Broadcast(10), Act::Multicast(vec![5, 99_999], 10)]);
    let files = write(&folder.path().join("out"), options, &acts);
    let reader = open(&files, Lookup::Direct).unwrap();
    let [(_, size)] = messages(&reader)[..] else {
        panic!("one region")
    };
    assert!(size > 400_000 && !open(&files, Lookup::Full).unwrap().region(0).unwrap().is_sparse());
    for partition in [0, 5, 63, 64, 70_000, 70_001, 99_999] {
        let cost = cost(&reader, partition);
        assert!(cost < 2 << 10, "{cost} bytes for partition {partition}");
    }
}

#[test]
fn a_piece_of_a_sparse_message_is_read_for_each_halving() {
    let folder = tempfile::tempdir().unwrap();
    let options = WriterOptions::new(1 << 20);
    let acts: Vec<Act> = (0..1 << 15).map(|number| Act::Write(17 * number, 1)).collect();
    let files = write(&folder.path().join("out"), options, &acts);
    let reader = open(&files, Lookup::Direct).unwrap();
    let [(_, size)] = messages(&reader)[..] else {
        panic!("one region")
    };
    assert!(size > 2 << 17 && open(&files, Lookup::Full).unwrap().region(0).unwrap().is_sparse());
    for partition in [0, 1, 17, 17 * 16_384, 17 * 16_384 + 1, 17 * 32_767, (1 << 20) - 1] {
        let cost = cost(&reader, partition);
        assert!(cost <= (15 + 6) * 256, "{cost} bytes for partition {partition}");
    }
}

/// A fault in the last region comes before the first block (LKP-3).
#[test]
fn all_regions_are_looked_up_before_the_first_block() {
    let folder = tempfile::tempdir().unwrap();
    let files = small(folder.path(), false);
    let reader = open(&files, Lookup::Direct).unwrap();
    let (offset, _) = *messages(&reader).last().unwrap();
    let file = std::fs::File::options().write(true).open(index(&files)).unwrap();
    file.write_all_at(b"FRFT", offset + 4).unwrap();
    let mut reading = reader.partition(3).unwrap();
    let error = reading.next().unwrap().unwrap_err();
    assert_eq!((error.code, error.offset), (ErrorCode::InconsistentIndex, Some(offset)));
    assert!(reading.next().is_none());
    assert_eq!(reader.stored_bytes(3).unwrap_err().offset, Some(offset));
    // A full lookup finds the fault where it is.
    let full = open(&files, Lookup::Full).unwrap();
    assert!(full.partition(3).unwrap().next().unwrap().is_ok());
}

/// A table that two elements lead to would be the same extent twice: its first block does not ascend.
#[test]
fn a_table_is_not_met_with_twice() {
    let folder = tempfile::tempdir().unwrap();
    let options = WriterOptions::new(4).statistics(false);
    let acts = [Act::Broadcast(10), Act::Multicast(vec![1, 2], 10)];
    let files = write(&folder.path().join("out"), options, &acts);
    let reader = open(&files, Lookup::Direct).unwrap();
    let (offset, size) = messages(&reader)[0];
    let file = std::fs::File::options()
        .read(true)
        .write(true)
        .open(index(&files))
        .unwrap();
    let mut bytes = vec![0; size as usize];
    file.read_exact_at(&mut bytes, offset).unwrap();
    let (words, _) = bytes.as_chunks::<4>();
    let word = |at: usize| u32::from_le_bytes(words[at]);
    // The vector of two uoffsets: a count of 2, and two offsets that lead to positions after it.
    let leads = |at: usize| word(at) % 4 == 0 && word(at) >= 8 && u64::from(word(at)) + 4 * at as u64 <= size - 4;
    let vector = (2..words.len() - 2)
        .find(|at| word(*at) == 2 && leads(at + 1) && leads(at + 2))
        .unwrap();
    file.write_all_at(&(word(vector + 1) - 4).to_le_bytes(), offset + 4 * (vector as u64 + 2))
        .unwrap();
    let error = blocks(&reader, 1).unwrap_err();
    assert_eq!((error.code, error.offset), (ErrorCode::InconsistentIndex, Some(offset)));
    assert!(error.found.contains("whose first block is 0"), "{}", error.found);
}

#[test]
fn partitions_that_the_file_does_not_have_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let files = small(folder.path(), true);
    let reader = open(&files, Lookup::Direct).unwrap();
    for partition in [0, 2, 14, u32::MAX] {
        assert_eq!(
            reader.partition(partition).err().unwrap().code,
            ErrorCode::InvalidArgument
        );
        assert_eq!(
            reader.stored_bytes(partition).unwrap_err().code,
            ErrorCode::InvalidArgument
        );
    }
}

#[test]
fn a_follower_reads_messages_whole() {
    let folder = tempfile::tempdir().unwrap();
    let files = small(folder.path(), true);
    let (at, _) = messages(&open(&files, Lookup::Full).unwrap())[0];
    let options = ReaderOptions {
        lookup: Lookup::Direct,
        ..ReaderOptions::default()
    };
    let mut follower = Follower::open(&files, options.clone()).unwrap();
    assert!(follower.poll().unwrap().finished);
    // The message's checksum, which direct lookup does not verify.
    let file = std::fs::File::options().write(true).open(index(&files)).unwrap();
    file.write_all_at(&[0x55; 4], at - 4).unwrap();
    let mut follower = Follower::open(&files, options).unwrap();
    assert_eq!(follower.poll().unwrap_err().code, ErrorCode::Checksum);
}
