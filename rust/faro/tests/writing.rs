//! Calls in valid and invalid states, failures, and what stays in the folder.

mod common;

use common::{Place, check, code, content, contents, fill_sample, open, options, write_sample};
use faro::block::{DATA, EVENT};
use faro::{
    Codec, Durability, ErrorCode, Files, Follower, Framing, Layout, ReaderOptions, StoredBlock, StreamCounts, To,
    Writer, WriterOptions,
};

const LAYOUTS: [Layout; 2] = [Layout::Paired, Layout::Single];

#[test]
fn nothing_is_visible_before_finish() {
    for layout in LAYOUTS {
        let place = Place::new();
        let mut writer = Writer::create(place.name(), options(layout, 3).first_partition(5)).unwrap();
        fill_sample(&mut writer);
        assert!(
            place.files().iter().all(|name| name.ends_with(".30313233.tmp")),
            "{:?}",
            place.files()
        );
        let summary = writer.finish().unwrap();
        let expected: &[&str] = if layout == Layout::Paired {
            &["out.data", "out.index"]
        } else {
            &["out.faro"]
        };
        assert_eq!(place.files(), expected);
        assert_eq!(summary.regions, 3);
        let bytes: u64 = summary
            .files
            .paths()
            .iter()
            .map(|(_, path)| path.metadata().unwrap().len())
            .sum();
        assert_eq!(summary.data_bytes + summary.index_bytes, bytes);
    }
}

#[test]
fn abort_and_drop_leave_nothing() {
    for layout in LAYOUTS {
        for aborted in [true, false] {
            let place = Place::new();
            let mut writer = Writer::create(place.name(), options(layout, 3).first_partition(5)).unwrap();
            fill_sample(&mut writer);
            if aborted {
                writer.abort().unwrap();
                writer.abort().unwrap();
                assert_eq!(code(writer.write(5, b"late")), ErrorCode::InvalidArgument);
            } else {
                drop(writer);
            }
            assert!(place.files().is_empty());
        }
    }
}

#[test]
fn followed_files_go_when_they_are_aborted_and_stay_when_the_writer_is_dropped() {
    let place = Place::new();
    let mut writer = Writer::create(place.name(), options(Layout::Paired, 3).follow(true)).unwrap();
    assert_eq!(place.files(), ["out.data", "out.index"]);
    writer.abort().unwrap();
    assert!(place.files().is_empty());
    drop(Writer::create(place.name(), options(Layout::Paired, 3).follow(true)).unwrap());
    assert_eq!(place.files(), ["out.data", "out.index"]);
}

/// WRT-6: a file that has its final name is not removed without the publishing lock.
#[test]
fn followed_files_stay_if_the_lock_cannot_be_taken() {
    for layout in LAYOUTS {
        let place = Place::new();
        let mut writer = Writer::create(place.name(), options(layout, 3).follow(true)).unwrap();
        let before = place.files();
        let lock = place.name().with_extension("faro-lock");
        std::fs::create_dir(&lock).unwrap();
        writer.abort().unwrap();
        drop(writer);
        std::fs::remove_dir(&lock).unwrap();
        assert_eq!(place.files(), before);
    }
}

#[test]
fn existing_files_are_refused_unless_overwritten() {
    for layout in LAYOUTS {
        let place = Place::new();
        let files = write_sample(&place.name(), layout);
        let before = std::fs::read(common::index_path(&files)).unwrap();
        for follow in [false, true] {
            assert_eq!(
                code(Writer::create(place.name(), options(layout, 1).follow(follow))),
                ErrorCode::Io
            );
        }
        assert_eq!(std::fs::read(common::index_path(&files)).unwrap(), before);
        for follow in [false, true] {
            let again = options(layout, 1).overwrite(true).follow(follow);
            Writer::create(place.name(), again).unwrap().finish().unwrap();
            assert_eq!(open(&files).unwrap().region_count(), 0);
        }
    }
}

#[test]
fn a_file_that_appears_meanwhile_is_not_replaced() {
    let place = Place::new();
    let mut writer = Writer::create(place.name(), options(Layout::Single, 1)).unwrap();
    std::fs::write(common::index_path(&Files::single(place.name())), "mine").unwrap();
    assert_eq!(code(writer.finish()), ErrorCode::Io);
    assert_eq!(code(writer.write(0, b"")), ErrorCode::Io);
    drop(writer);
    assert_eq!(place.files(), ["out.faro"]);
    assert_eq!(
        std::fs::read(common::index_path(&Files::single(place.name()))).unwrap(),
        b"mine"
    );
}

#[test]
fn a_failed_writer_repeats_its_first_error() {
    let place = Place::new();
    // A folder has the final name of the data file, so `finish` fails while renaming.
    let mut writer = Writer::create(place.name(), options(Layout::Paired, 2).overwrite(true)).unwrap();
    std::fs::create_dir_all(place.name().with_extension("data").join("x")).unwrap();
    writer.write(0, b"a").unwrap();
    let first = writer.finish().unwrap_err();
    assert_eq!(first.code, ErrorCode::Io);
    for error in [
        writer.write(0, b"b").unwrap_err(),
        writer.write(9, b"the argument is invalid, too").unwrap_err(),
        writer.flush().unwrap_err(),
        writer.property("k", "v").unwrap_err(),
        writer.finish().unwrap_err(),
        writer.region().err().unwrap(),
    ] {
        assert_eq!(error.to_string(), first.to_string());
    }
    writer.abort().unwrap();
    assert_eq!(place.files(), ["out.data"]);
}

#[test]
fn mistakes_change_nothing() {
    let place = Place::new();
    let mut writer = Writer::create(place.name(), options(Layout::Single, 3).first_partition(5)).unwrap();
    fill_sample(&mut writer);
    for result in [
        writer.write(4, b"x"),
        writer.write(8, b"x"),
        writer.multicast(&[], b"x"),
        writer.multicast(&[5, 8], b"x"),
        writer.write_event(5, DATA, b"x"),
        writer.write_event(5, 2, b"x"),
        writer.broadcast_event(128, b"x"),
        writer.put(To::All, 63, b"x", 1),
    ] {
        assert_eq!(code(result), ErrorCode::InvalidArgument);
    }
    writer.property("key", "value").unwrap();
    assert_eq!(code(writer.property("key", "other")), ErrorCode::InvalidArgument);
    let files = writer.finish().unwrap().files;
    assert_eq!(code(writer.finish()), ErrorCode::InvalidArgument);
    assert_eq!(code(writer.write(5, b"x")), ErrorCode::InvalidArgument);
    writer.abort().unwrap();
    let other = Place::new();
    let expected = write_sample(&other.name(), Layout::Single);
    assert_eq!(
        std::fs::read(common::index_path(&files)).unwrap(),
        std::fs::read(common::index_path(&expected)).unwrap()
    );
}

#[test]
fn options_out_of_range_are_refused() {
    let place = Place::new();
    let base = || options(Layout::Paired, 4);
    for bad in [
        WriterOptions::new(0),
        WriterOptions::new((1 << 28) + 1),
        base().first_partition((1 << 28) - 3),
        base().block_size(0),
        base().block_size((1 << 26) + 1),
        base().buffer_size(0),
        base().buffer_size((1 << 33) + 1),
        base().level(0),
        base().level(20),
        base().rotation(4),
        base().max_plain_size(0),
        base().framing(Framing::Arrow),
        base().schema(Some(vec![0; 16])),
    ] {
        assert_eq!(code(Writer::create(place.name(), bad)), ErrorCode::InvalidArgument);
    }
    assert!(place.files().is_empty());
}

#[test]
fn too_large_records_are_refused_and_the_writer_goes_on() {
    let place = Place::new();
    let mut writer = Writer::create(place.name(), options(Layout::Paired, 1).max_plain_size(20)).unwrap();
    writer.write(0, &[1; 16]).unwrap();
    let error = writer.write(0, &[2; 17]).unwrap_err();
    assert_eq!(
        (error.code, error.file, error.offset),
        (ErrorCode::LimitExceeded, None, None)
    );
    writer.write_event(0, EVENT, &[3; 20]).unwrap();
    assert_eq!(code(writer.write_event(0, EVENT, &[4; 21])), ErrorCode::LimitExceeded);
    let files = writer.finish().unwrap().files;
    let records: Vec<_> = open(&files).unwrap().records(0).unwrap().map(Result::unwrap).collect();
    assert_eq!(records, [vec![1; 16]]);
}

#[test]
fn an_oversized_record_has_a_region_of_its_own() {
    for framing in [Framing::Records, Framing::Opaque] {
        let place = Place::new();
        let small = options(Layout::Paired, 2)
            .buffer_size(40)
            .framing(framing)
            .block_size(32);
        let mut writer = Writer::create(place.name(), small).unwrap();
        writer.write(0, b"before").unwrap();
        writer.write(0, &[7; 100]).unwrap();
        writer.write(0, b"after").unwrap();
        let summary = writer.finish().unwrap();
        assert_eq!(summary.regions, 3);
        check(&summary.files).unwrap();
    }
}

#[test]
fn durable_files_are_the_same() {
    for layout in LAYOUTS {
        let place = Place::new();
        let durable = options(layout, 3).first_partition(5).durability(Durability::Commit);
        let mut writer = Writer::create(place.name(), durable).unwrap();
        fill_sample(&mut writer);
        writer.property("key", "value").unwrap();
        let files = writer.finish().unwrap().files;
        let other = Place::new();
        let expected = write_sample(&other.name(), layout);
        for ((_, path), (_, expected)) in files.paths().into_iter().zip(expected.paths()) {
            assert_eq!(std::fs::read(path).unwrap(), std::fs::read(expected).unwrap());
        }
    }
}

#[test]
fn producers_and_attempts_have_64_bits() {
    for (layout, number) in LAYOUTS.into_iter().cycle().zip([(1 << 32) + 7, 1 << 63, u64::MAX]) {
        let place = Place::new();
        let wide = options(layout, 3).producer(number - 1).attempt(number);
        let mut writer = Writer::create(place.name(), wide).unwrap();
        writer.write(1, b"one").unwrap();
        let files = writer.finish().unwrap().files;
        check(&files).unwrap();
        let header = open(&files).unwrap().header().clone();
        assert_eq!((header.producer, header.attempt), (number - 1, number));
    }
}

#[test]
fn the_region_writer_takes_blocks_in_slot_order() {
    let place = Place::new();
    let rotated = options(Layout::Paired, 4).rotation(2).framing(Framing::Opaque);
    let mut writer = Writer::create(place.name(), rotated).unwrap();
    let mut region = writer.region().unwrap();
    assert_eq!(code(region.block(None, DATA, b"x", 0)), ErrorCode::InvalidArgument);
    region.block(Some(3), DATA, b"three", 1).unwrap();
    region.block(Some(3), EVENT, b"", 0).unwrap();
    assert_eq!(code(region.block(Some(2), DATA, b"x", 0)), ErrorCode::InvalidArgument);
    let stored = |kind, codec, plain_size, stored, dictionary| {
        let block = StoredBlock::new(stored, plain_size).kind(kind).codec(codec);
        block.records(9).dictionary(dictionary)
    };
    region
        .stored_block(Some(0), stored(DATA, 1, 100, b"not looked at", 0))
        .unwrap();
    for (kind, codec, plain, payload, dictionary) in [
        (DATA, 3, 9, &b"x"[..], 0),
        (EVENT, 1, 9, b"x", 0),
        (DATA, 0, 9, b"x", 0),
        (DATA, 2, 1, b"x", 0),
        (DATA, 0, 0, b"", 0),
        (2, 0, 1, b"x", 0),
        (DATA, 2, 9, b"x", 1),
    ] {
        assert_eq!(
            code(region.stored_block(Some(0), stored(kind, codec, plain, payload, dictionary))),
            ErrorCode::InvalidArgument
        );
    }
    assert_eq!(code(region.shared(Some(&[4]))), ErrorCode::InvalidArgument);
    region.shared(None).unwrap();
    region.block(None, DATA, b"all", 1).unwrap();
    assert_eq!(code(region.block(Some(1), DATA, b"x", 0)), ErrorCode::InvalidArgument);
    region.shared(Some(&[1, 1])).unwrap();
    region.block(None, EVENT, b"one", 0).unwrap();
    region.end().unwrap();
    let reader = open(&writer.finish().unwrap().files).unwrap();
    assert_eq!(
        content(reader.partition(3).unwrap()).unwrap(),
        [(DATA, b"three".to_vec()), (EVENT, vec![]), (DATA, b"all".to_vec())]
    );
    assert_eq!(
        content(reader.partition(1).unwrap()).unwrap(),
        [(DATA, b"all".to_vec()), (EVENT, b"one".to_vec())]
    );
    assert_eq!(code(content(reader.partition(0).unwrap())), ErrorCode::MalformedBlock);
    let region = reader.region(0).unwrap();
    assert!(!region.is_sparse() && region.rotation() == 2);
    let statistics = reader.footer().statistics.as_ref().unwrap();
    assert_eq!(statistics.records, Some(vec![9, 0, 0, 1]));
    assert_eq!((statistics.records_to_all, statistics.plain_to_all), (1, 3));
}

#[test]
fn a_region_that_is_given_up_leaves_no_trace() {
    for layout in LAYOUTS {
        for follow in [false, true] {
            let write = |give_up: bool| {
                let place = Place::new();
                let mut writer = Writer::create(place.name(), options(layout, 2).follow(follow)).unwrap();
                writer.write(0, b"before").unwrap();
                writer.broadcast(b"to all").unwrap();
                if give_up {
                    let mut region = writer.region().unwrap();
                    // More than is held back in memory.
                    for _ in 0..5 {
                        region.block(Some(1), DATA, &[1; 500_000], 1).unwrap();
                    }
                    region.shared(None).unwrap();
                    region.block(None, DATA, b"shared", 1).unwrap();
                    drop(region);
                } else {
                    writer.flush().unwrap();
                }
                writer.write(1, b"after").unwrap();
                writer.broadcast(b"again").unwrap();
                let files = writer.finish().unwrap().files;
                let bytes: Vec<_> = files
                    .paths()
                    .iter()
                    .map(|(_, path)| std::fs::read(path).unwrap())
                    .collect();
                check(&files).unwrap();
                bytes
            };
            assert_eq!(write(true), write(false));
        }
    }
}

/// A broadcast record takes a short path after another broadcast, and not after a multicast.
#[test]
fn broadcasts_go_to_all_whatever_came_before() {
    for ordered in [true, false] {
        let place = Place::new();
        let mut writer = Writer::create(place.name(), options(Layout::Single, 3).ordered(ordered)).unwrap();
        for name in [b"a", b"b", b"c"] {
            writer.multicast(&[0, 1], name).unwrap();
            writer.broadcast(name).unwrap();
            writer.broadcast(name).unwrap();
        }
        let reader = open(&writer.finish().unwrap().files).unwrap();
        // A record of one byte takes five.
        let counts: Vec<usize> = contents(&reader)
            .unwrap()
            .iter()
            .map(|blocks| blocks.iter().map(|(_, payload)| payload.len() / 5).sum())
            .collect();
        assert_eq!(counts, [9, 9, 6], "ordered: {ordered}");
    }
}

#[test]
fn compressed_files_hold_the_same() {
    let text = b"the same words, the same words, the same words, the same words".as_slice();
    let write = |codec| {
        let place = Place::new();
        let compressed = options(Layout::Single, 2).codec(codec).level(3);
        let mut writer = Writer::create(place.name(), compressed).unwrap();
        for _ in 0..1000 {
            writer.write(0, text).unwrap();
            writer.write(1, b"").unwrap();
        }
        let summary = writer.finish().unwrap();
        check(&summary.files).unwrap();
        (contents(&open(&summary.files).unwrap()).unwrap(), summary.data_bytes)
    };
    let (plain, size) = write(Codec::None);
    for codec in [Codec::Lz4, Codec::Zstd] {
        let (compressed, compressed_size) = write(codec);
        assert_eq!(compressed, plain);
        assert!(compressed_size * 5 < size);
    }
}

#[test]
fn many_partitions_cost_nothing_while_they_are_empty() {
    let place = Place::new();
    let many = options(Layout::Paired, 1 << 28).statistics(false);
    let mut writer = Writer::create(place.name(), many).unwrap();
    writer.write((1 << 28) - 1, b"last").unwrap();
    writer.broadcast(b"all").unwrap();
    let summary = writer.finish().unwrap();
    assert!(summary.index_bytes < 500);
    let reader = open(&summary.files).unwrap();
    assert_eq!(reader.records((1 << 28) - 1).unwrap().count(), 2);
    assert_eq!(reader.stored_bytes(0).unwrap(), 32);
    check(&summary.files).unwrap();
}

#[test]
fn readers_and_writers_go_to_other_threads() {
    fn send<T: Send>() {}
    fn send_and_sync<T: Send + Sync>() {}
    send_and_sync::<faro::Reader>();
    send::<faro::Blocks>();
    send::<faro::Records>();
    send::<Writer>();
    send::<Follower>();
    let place = Place::new();
    let files = write_sample(&place.name(), Layout::Single);
    let reader = faro::Reader::open(&files, ReaderOptions::default()).unwrap();
    let expected = contents(&reader).unwrap();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| assert_eq!(contents(&reader).unwrap(), expected));
        }
    });
}

#[test]
fn blocks_are_counted_without_the_gaps_between_them() {
    let place = Place::new();
    let mut writer = Writer::create(place.name(), options(Layout::Single, 3).selective(true)).unwrap();
    let mut region = writer.region().unwrap();
    region.sequence(7).unwrap();
    region.block(Some(1), EVENT, b"seven", 0).unwrap();
    region.sequence(90).unwrap();
    region.block(Some(1), EVENT, b"ninety", 0).unwrap();
    region.shared(None).unwrap();
    region.sequence(3).unwrap();
    region.block(None, EVENT, b"three", 0).unwrap();
    // A refused block leaves the wanted sequence for the next one.
    region.sequence(2).unwrap();
    assert_eq!(code(region.block(None, EVENT, b"two", 0)), ErrorCode::InvalidArgument);
    region.sequence(4).unwrap();
    region.block(None, EVENT, b"four", 0).unwrap();
    region.end().unwrap();
    let mut given_up = writer.region().unwrap();
    given_up.sequence(1000).unwrap();
    given_up.block(Some(1), EVENT, b"nothing of it stays", 0).unwrap();
    drop(given_up);
    let mut region = writer.region().unwrap();
    region.sequence(91).unwrap();
    region.block(Some(1), EVENT, b"ninety-one", 0).unwrap();
    region.end().unwrap();
    assert_eq!(writer.figures().blocks, 5);
    writer.skip_to(2, 6).unwrap();
    writer.skip_shared_to(8).unwrap();
    let summary = writer.finish().unwrap();
    assert_eq!(summary.blocks, 5);
    let reader = open(&summary.files).unwrap();
    let counts = |stream: StreamCounts| (stream.next, stream.missing);
    let own = |partition| reader.stream(partition).unwrap().map(counts);
    assert_eq!((own(0), own(1), own(2)), (Some((0, 0)), Some((92, 89)), Some((6, 6))));
    assert_eq!(reader.shared_stream().map(counts), Some((8, 6)));
    assert_eq!(code(reader.stream(3)), ErrorCode::InvalidArgument);
    let sequences: Vec<_> = reader
        .partition(1)
        .unwrap()
        .map(|block| block.unwrap().header.sequence)
        .collect();
    assert_eq!(sequences, [7, 90, 3, 4, 91]);
    check(&summary.files).unwrap();
}
