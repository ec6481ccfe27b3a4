//! Records in slots and buckets make the same files as packed records, and take no more memory. Without a codec, several
//! threads ask for packed records; with one, they ask for them with many partitions.

mod common;

use common::{Place, check, options};
use faro::storage::MemoryDestination;
use faro::{Block, Codec, Files, Layout, Reader, ReaderOptions, Result, Writer, WriterOptions};
use proptest::prelude::*;

/// Records as a sequence of random numbers; what is rare comes late, when slots are in use.
#[derive(Clone, Debug)]
struct Records {
    seed: u64,
    count: u64,
    /// Lengths are below this one, or with `long` now and then up to 20 times as much.
    length: u64,
    long: bool,
    events: bool,
    shared: bool,
    flushes: bool,
    /// Whether one partition gets most records.
    skewed: bool,
    /// Whether all bytes are random.
    noise: bool,
}

/// A pseudo-random number.
fn mixed(number: u64) -> u64 {
    let z = number.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let z = (z ^ (z >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z ^ (z >> 32)
}

fn write(writer: &mut Writer, partitions: u32, records: &Records) -> Result<()> {
    let bytes = |period: u64| -> Vec<u8> {
        (0..records.length * 20 + 1)
            .map(|at| mixed(at % period) as u8)
            .collect()
    };
    let (noise, pattern) = (bytes(u64::MAX), bytes(37));
    for number in 0..records.count {
        let drawn = mixed(records.seed ^ number);
        let late = number > records.count / 2;
        let partition = match records.skewed && drawn & 7 != 0 {
            true => 0,
            false => (drawn >> 8) as u32 % partitions,
        };
        let mut length = (drawn >> 40) % records.length;
        if records.long && drawn >> 3 & 31 == 0 {
            length *= 20;
        }
        // Some blocks are not smaller when they are compressed.
        let bytes = if records.noise || drawn >> 20 & 3 == 0 {
            &noise
        } else {
            &pattern
        };
        let record = &bytes[..length as usize];
        match drawn >> 16 & 1023 {
            0 if late && records.events => writer.write_event(partition, 70, record)?,
            1 if late && records.shared => writer.broadcast(record)?,
            2 if late && records.shared => writer.multicast(&[partition, partitions - 1], record)?,
            3 if records.flushes => writer.flush()?,
            _ => writer.write(partition, record)?,
        }
    }
    Ok(())
}

fn bytes_of(files: &Files) -> Vec<Vec<u8>> {
    let paths = match files {
        Files::Paired { data, index } => vec![data, index],
        Files::Single(path) => vec![path],
    };
    paths.iter().map(|path| std::fs::read(path).unwrap()).collect()
}

fn written(options: &WriterOptions, records: &Records) -> Vec<Vec<u8>> {
    let place = Place::new();
    let mut writer = Writer::create(place.name(), options.clone()).unwrap();
    write(&mut writer, options.partition_count, records).unwrap();
    let files = writer.finish().unwrap().files;
    check(&files).unwrap();
    bytes_of(&files)
}

/// All blocks of a writer in memory, by partition: kinds and plain payloads.
fn read_back(options: &WriterOptions, records: &Records) -> Vec<Vec<(u8, Vec<u8>)>> {
    let partitions = options.partition_count;
    let mut writer = Writer::create_in(MemoryDestination::new("slots"), options.clone()).unwrap();
    write(&mut writer, partitions, records).unwrap();
    let (_, reader): (_, Reader) = writer.finish_and_open(ReaderOptions::default()).unwrap();
    let block = |block: Result<Block>| block.map(|block| (block.kind(), block.payload.to_vec())).unwrap();
    (0..partitions)
        .map(|at| reader.partition(at).unwrap().map(block).collect())
        .collect()
}

prop_compose! {
    fn records()(
        seed: u64,
        count in 1u64..6000,
        length in prop_oneof![1u64..20, 20u64..300],
        long: bool,
        events: bool,
        shared: bool,
        flushes: bool,
        skewed: bool,
        noise: bool,
    ) -> Records {
        Records { seed, count, length, long, events, shared, flushes, skewed, noise }
    }
}

prop_compose! {
    fn writers()(
        partitions in prop_oneof![1u32..5, 5u32..300, 300u32..5000],
        block_size in prop_oneof![1u32..300, 300u32..70_000],
        buffer_size in prop_oneof![1000u64..100_000, 100_000u64..3_000_000],
        rotation: u32,
        ordered: bool,
        follow: bool,
        codec in prop_oneof![Just(Codec::None), Just(Codec::Lz4), Just(Codec::Zstd)],
        dictionaries: bool,
    ) -> WriterOptions {
        options(Layout::Paired, partitions)
            .block_size(block_size)
            .buffer_size(buffer_size)
            .rotation(rotation % partitions)
            .ordered(ordered)
            .follow(follow)
            .codec(codec)
            .dictionaries(dictionaries)
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn files_are_the_same(options in writers(), threads in 1usize..4, records in records()) {
        let packed = written(&options.clone().compress_threads(2), &records);
        prop_assert!(written(&options, &records) == packed);
        let two_buffers = options.double_buffer(true).compress_threads(threads);
        prop_assert!(written(&two_buffers, &records) == packed);
    }

    /// Whatever the codec and the threads, blocks end where those of packed records end.
    #[test]
    fn storages_get_the_same_blocks(options in writers(), threads in 1usize..4, records in records()) {
        let options = options.follow(false).compress_threads(threads);
        let packed = options.clone().codec(Codec::None).compress_threads(2);
        prop_assert!(read_back(&options, &records) == read_back(&packed, &records));
    }
}

/// Several regions of a large buffer, whose writes come from the slots.
#[test]
fn large_regions_are_the_same() {
    for (codec, partitions, length, block_size) in [
        (Codec::None, 64, 200, 65_536),
        (Codec::None, 1000, 40, 65_536),
        (Codec::None, 3, 9000, 4096),
        (Codec::None, 5000, 60, 65_536),
        // Each block in one slot, in several, in buckets.
        (Codec::Lz4, 20, 200, 65_536),
        (Codec::Lz4, 20, 20_000, 65_536),
        (Codec::Lz4, 64, 200, 65_536),
        (Codec::Lz4, 5000, 60, 65_536),
        (Codec::Zstd, 20, 200, 65_537),
        (Codec::Zstd, 5000, 60, 1000),
    ] {
        let options = options(Layout::Paired, partitions)
            .codec(codec)
            .buffer_size(6 << 20)
            .block_size(block_size);
        let records = Records {
            seed: 7,
            count: (16 << 20) / (length / 2 + 12),
            length,
            long: false,
            events: false,
            shared: false,
            flushes: false,
            skewed: false,
            noise: false,
        };
        let packed = written(&options.clone().compress_threads(2), &records);
        assert!(written(&options, &records) == packed, "{codec:?} {partitions} {length}");
    }
}
