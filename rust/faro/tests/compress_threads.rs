//! Several threads make the same file as one, and a fault in one of them is the writer's error.

mod common;
#[cfg(target_os = "linux")]
mod recorder;

use common::{Place, check, options};
use faro::{Codec, ErrorCode, Files, Framing, Layout, Result, Writer, WriterOptions};

/// A pseudo-random number.
fn mixed(number: u64) -> u64 {
    let z = number.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (z ^ (z >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9) >> 32
}

/// Records of many lengths, events among them, some for several partitions.
fn write(writer: &mut Writer, partitions: u32, records: u64) -> Result<()> {
    let text = b"some words that repeat, some words that do not, and some more of both ".repeat(60);
    for number in 0..records {
        let drawn = mixed(number);
        let partition = (drawn % u64::from(partitions)) as u32;
        let length = match drawn % 97 {
            0 => 4000,
            1 => 0,
            other => other as usize,
        };
        let mut record = number.to_le_bytes().to_vec();
        record.extend_from_slice(&text[..length]);
        match drawn % 1009 {
            7 => writer.write_event(partition, 70, &record)?,
            8 if partitions > 1 => writer.multicast(&[0, partition], &record)?,
            9 => writer.broadcast(&record)?,
            10 => writer.write(partition, b"")?,
            _ => writer.write(partition, &record)?,
        }
    }
    writer.finish().map(|_| ())
}

fn bytes(place: &Place) -> Vec<Vec<u8>> {
    let Files::Paired { data, index } = place.output(Layout::Paired) else {
        unreachable!("a pair was asked for")
    };
    [data, index].map(|path| std::fs::read(path).unwrap()).to_vec()
}

fn written(options: WriterOptions, records: u64) -> Vec<Vec<u8>> {
    let place = Place::new();
    let partitions = options.partition_count;
    write(&mut Writer::create(place.name(), options).unwrap(), partitions, records).unwrap();
    check(&place.output(Layout::Paired)).unwrap();
    bytes(&place)
}

#[test]
fn threads_make_the_same_bytes() {
    for (codec, dictionaries) in [
        (Codec::None, false),
        (Codec::Lz4, false),
        (Codec::Zstd, false),
        (Codec::Zstd, true),
    ] {
        for framing in [Framing::Records, Framing::Opaque] {
            for (partitions, block_size, rotation) in [(1, 1000, 0), (3, 65_536, 2), (700, 65_536, 41)] {
                let options = options(Layout::Paired, partitions)
                    .framing(framing)
                    .codec(codec)
                    .dictionaries(dictionaries)
                    .rotation(rotation)
                    .ordered(false)
                    .block_size(block_size)
                    .buffer_size(2 << 20);
                let one = written(options.clone(), 40_000);
                for threads in [2, 3] {
                    let several = written(options.clone().compress_threads(threads), 40_000);
                    assert!(one == several, "{codec:?} {framing:?} {partitions} {threads}");
                }
            }
        }
    }
}

#[test]
fn as_many_as_are_sorted_by_one_at_a_time_and_more() {
    let options = options(Layout::Paired, 2).buffer_size(64 << 20);
    let written = |threads| {
        let place = Place::new();
        let mut writer = Writer::create(place.name(), options.clone().compress_threads(threads)).unwrap();
        for number in 0..(2 << 20) + 1000u32 {
            writer.write(number % 2, &number.to_le_bytes()).unwrap();
        }
        assert_eq!(writer.finish().unwrap().regions, 1);
        check(&place.output(Layout::Paired)).unwrap();
        bytes(&place)
    };
    assert!(written(1) == written(2));
}

#[test]
fn counts_of_threads_are_checked() {
    for threads in [0, 65] {
        let place = Place::new();
        let refused = Writer::create(place.name(), options(Layout::Paired, 1).compress_threads(threads));
        assert_eq!(refused.err().unwrap().code, ErrorCode::InvalidArgument);
    }
}

/// The disk fails in the middle of a region: the writer fails as with one thread, nothing hangs, and nothing is left.
#[cfg(target_os = "linux")]
mod refused {
    use super::*;

    #[test]
    fn a_refused_write_is_the_writers_error() {
        let options = || options(Layout::Paired, 50).buffer_size(4 << 20).compress_threads(2);
        let place = Place::new();
        let mut writer = Writer::create(place.name(), options()).unwrap();
        let (all, calls) = recorder::recorded(0..0, || write(&mut writer, 50, 100_000));
        all.unwrap();
        assert!(calls.len() > 8, "{calls:?}");
        let writes: Vec<usize> = (0..calls.len()).filter(|at| calls[*at].starts_with("write")).collect();
        for refused in [writes[0], writes[1], writes[writes.len() / 2], writes[writes.len() - 1]] {
            let place = Place::new();
            let mut writer = Writer::create(place.name(), options()).unwrap();
            let refusal = recorder::recorded(refused..refused + 1, || write(&mut writer, 50, 100_000));
            let first = refusal.0.unwrap_err();
            assert_eq!(first.code, ErrorCode::Io, "{refused}");
            assert_eq!(writer.flush().unwrap_err().to_string(), first.to_string());
            drop(writer);
            assert!(place.files().is_empty());
        }
    }
}
