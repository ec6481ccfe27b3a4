//! Files with small blocks that are compressed with dictionaries (spec, DIC).

mod common;

use common::Place;
use faro::block::{BlockHeader, DATA, Seal};
use faro::{
    Action, ByteRangeKind, CheckLevel, CheckOptions, Codec, ErrorCode, FileRole, Files, Follower, Layout, Reader,
    ReaderOptions, RebuildOptions, RepairOptions, StoredBlock, Writer, WriterOptions, check, rebuild, repair,
};

const PARTITIONS: u32 = 400;

fn record(at: u32) -> String {
    let words = [
        "harbour", "lantern", "keeper", "northern", "signal", "weather", "island",
    ];
    let word = |n: u32| words[(n.wrapping_mul(2_654_435_761) >> 7) as usize % words.len()];
    format!(
        "{:08x} {} {} {}",
        at.wrapping_mul(97),
        word(at),
        word(at / 3),
        word(at ^ 5)
    )
}

fn options(layout: Layout) -> WriterOptions {
    WriterOptions::new(PARTITIONS)
        .layout(layout)
        .codec(Codec::Zstd)
        .dictionaries(true)
        .buffer_size(256 << 10)
}

fn write(place: &Place, options: WriterOptions) -> Files {
    filled(place, options).finish().unwrap().files
}

fn filled(place: &Place, options: WriterOptions) -> Writer {
    let mut writer = Writer::create(place.name(), options).unwrap();
    for at in 0..60_000 {
        writer.write(at % PARTITIONS, record(at).as_bytes()).unwrap();
    }
    writer
}

fn open(files: &Files) -> Reader {
    Reader::open(files, ReaderOptions::default()).unwrap()
}

fn assert_holds_all(reader: &Reader) {
    for partition in [0, 7, PARTITIONS - 1] {
        let found: Vec<_> = reader.records(partition).unwrap().map(Result::unwrap).collect();
        let expected = (partition..60_000).step_by(PARTITIONS as usize).map(record);
        assert!(expected.eq(found.iter().map(|bytes| String::from_utf8_lossy(bytes))));
    }
}

fn size(files: &Files) -> u64 {
    files
        .paths()
        .iter()
        .map(|(_, path)| path.metadata().unwrap().len())
        .sum()
}

#[test]
fn small_blocks_get_a_dictionary_and_give_their_records_back() {
    for layout in [Layout::Paired, Layout::Single] {
        let place = Place::new();
        let files = write(&place, options(layout));
        let reader = open(&files);
        assert!(reader.header().has_dictionaries() && reader.region_count() > 1);
        assert_eq!(reader.dictionaries().len(), 1);
        assert_eq!(reader.dictionaries()[0].offset, 64);
        assert!(reader.all().unwrap().all(|block| block.unwrap().header.dictionary == 1));
        assert_holds_all(&reader);
        check(&files, &CheckOptions::default()).unwrap();
        let ranges = reader.byte_map().unwrap();
        let dictionary = ranges
            .iter()
            .find(|range| range.what == ByteRangeKind::Dictionary)
            .unwrap();
        assert_eq!((dictionary.offset, dictionary.dictionary), (64, Some(1)));

        let plain = Place::new();
        let without = write(&plain, options(layout).dictionaries(false));
        assert!(!open(&without).header().has_dictionaries());
        assert!(
            size(&files) * 10 < size(&without) * 9,
            "{} {}",
            size(&files),
            size(&without)
        );
    }
}

#[test]
fn threads_share_a_reader_and_its_dictionary() {
    let place = Place::new();
    let reader = open(&write(&place, options(Layout::Paired)));
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| assert_holds_all(&reader));
        }
    });
}

#[test]
fn a_follower_sees_dictionaries_with_the_regions_after_them() {
    for layout in [Layout::Paired, Layout::Single] {
        let place = Place::new();
        let mut writer = Writer::create(place.name(), options(layout).follow(true)).unwrap();
        let files = match layout {
            Layout::Paired => Files::paired(place.name()),
            Layout::Single => Files::single(place.name()),
        };
        let mut follower = Follower::open(&files, ReaderOptions::default()).unwrap();
        let mut seen = 0;
        for at in 0..60_000 {
            writer.write(at % PARTITIONS, record(at).as_bytes()).unwrap();
            if at % 9_000 == 8_999 {
                let regions = follower.poll().unwrap().regions;
                assert_eq!(follower.dictionaries().len(), usize::from(regions > 0));
                for block in follower.partition_in(3, seen..regions).unwrap() {
                    assert_eq!(block.unwrap().header.dictionary, 1);
                }
                seen = regions;
            }
        }
        assert!(seen > 0);
        writer.finish().unwrap();
        assert!(follower.poll().unwrap().finished);
    }
}

#[test]
fn repair_and_rebuild_keep_dictionaries() {
    let place = Place::new();
    let files = write(&place, options(Layout::Paired));
    let Files::Paired { index, .. } = &files else {
        unreachable!()
    };
    std::fs::remove_file(index).unwrap();
    rebuild(&files, &RebuildOptions::default()).unwrap();
    assert_eq!(open(&files).dictionaries().len(), 1);
    assert_holds_all(&open(&files));
    check(&files, &CheckOptions::default()).unwrap();

    for layout in [Layout::Paired, Layout::Single] {
        let place = Place::new();
        let files = write(&place, options(layout));
        let (_, last) = *files.paths().last().unwrap();
        let length = last.metadata().unwrap().len();
        std::fs::OpenOptions::new()
            .write(true)
            .open(last)
            .unwrap()
            .set_len(length - 30)
            .unwrap();
        let report = repair(&files, &RepairOptions::default()).unwrap();
        assert_eq!(report.action, Action::LastCommit);
        assert_eq!(open(&files).dictionaries().len(), 1);
        assert_holds_all(&open(&files));
    }
}

/// A dictionary that decoders accept: trained by a writer, and read from its file.
fn some_dictionary() -> Vec<u8> {
    let place = Place::new();
    let files = write(&place, options(Layout::Paired));
    let entry = open(&files).dictionaries()[0];
    let data = std::fs::read(files.paths()[0].1).unwrap();
    data[88..88 + entry.size as usize].to_vec()
}

#[test]
fn stored_blocks_move_to_another_file_with_their_dictionary() {
    let source = Place::new();
    let reader = open(&write(&source, options(Layout::Paired)));
    let dictionary = some_dictionary();
    for layout in [Layout::Paired, Layout::Single] {
        let place = Place::new();
        let mut writer = Writer::create(place.name(), options(layout)).unwrap();
        // Another dictionary before it, so that the numbers differ.
        let mut other = dictionary.clone();
        *other.last_mut().unwrap() ^= 1;
        assert_eq!(writer.dictionary(&other).unwrap(), 1);
        let mut region = writer.region().unwrap();
        region.block(Some(0), DATA, b"given up", 1).unwrap();
        drop(region);
        assert_eq!(writer.dictionary(&dictionary).unwrap(), 2);
        assert_eq!(writer.dictionary(&other).unwrap(), 1);
        let data = std::fs::read(source.name().with_extension("data")).unwrap();
        let mut region = writer.region().unwrap();
        let mut moved = 0;
        for block in reader.partition_in(9, 0..1).unwrap() {
            let block = block.unwrap();
            let begin = block.offset as usize + BlockHeader::SIZE;
            let payload = &data[begin..begin + block.header.stored_size as usize];
            let stored = StoredBlock::new(payload, block.header.plain_size)
                .codec(block.header.codec)
                .records(1);
            region.stored_block(Some(9), stored.dictionary(2)).unwrap();
            moved += 1;
            assert_eq!(
                region.stored_block(Some(9), stored.dictionary(3)).unwrap_err().code,
                ErrorCode::InvalidArgument
            );
        }
        assert!(moved > 0);
        region.end().unwrap();
        // No region comes after this dictionary.
        let mut third = other.clone();
        third.push(0);
        assert_eq!(writer.dictionary(&third).unwrap(), 3);
        let files = writer.finish().unwrap().files;
        assert_eq!(open(&files).dictionaries().len(), 2);
        check(&files, &CheckOptions::default().level(CheckLevel::Checksums)).unwrap();
        let plain = |reader: &Reader| -> Vec<_> {
            reader
                .partition_in(9, 0..1)
                .unwrap()
                .map(|block| block.unwrap().payload)
                .collect()
        };
        assert_eq!(plain(&open(&files)), plain(&reader));
    }
}

#[test]
fn bytes_that_are_not_a_dictionary_are_refused() {
    let place = Place::new();
    let mut writer = Writer::create(place.name(), options(Layout::Paired)).unwrap();
    for bytes in [
        &b""[..],
        b"\x37\xA4\x30\xEC123",
        b"\x37\xA4\x30\xED1234",
        &[0x37; 1_048_577],
    ] {
        assert_eq!(writer.dictionary(bytes).unwrap_err().code, ErrorCode::InvalidArgument);
    }
    writer.finish().unwrap();
    let other = Place::new();
    let mut writer = Writer::create(other.name(), options(Layout::Paired).dictionaries(false)).unwrap();
    let error = writer.dictionary(b"\x37\xA4\x30\xEC1234").unwrap_err();
    assert_eq!(error.code, ErrorCode::InvalidArgument);
}

#[test]
fn faults_of_dictionaries_are_reported_when_a_block_needs_them() {
    let place = Place::new();
    let files = write(&place, options(Layout::Paired));
    let path = files.paths()[0].1.to_path_buf();
    let good = std::fs::read(&path).unwrap();
    let id: [u8; 16] = good[40..56].try_into().unwrap();
    let stored = u32::from_le_bytes(good[64..68].try_into().unwrap()) as usize;
    let fault = |change: &dyn Fn(&mut [u8]), reseal: bool| {
        let mut bytes = good.clone();
        change(&mut bytes[64..88 + stored]);
        if reseal {
            let header = BlockHeader::parse(&bytes[64..88].try_into().unwrap());
            let sealed = header.encode(Seal::new(&id), &bytes[88..88 + stored]);
            bytes[64..88].copy_from_slice(&sealed);
        }
        std::fs::write(&path, bytes).unwrap();
        let reader = open(&files);
        check(&files, &CheckOptions::default().level(CheckLevel::Structure)).ok();
        let error = reader.partition(3).unwrap().find_map(Result::err).unwrap();
        assert_eq!(error.role, Some(FileRole::Data));
        (error.code, error.offset.unwrap())
    };
    assert_eq!(fault(&|block| block[30] ^= 1, false), (ErrorCode::Checksum, 64));
    assert_eq!(fault(&|block| block[18] = 2, true), (ErrorCode::InconsistentIndex, 82));
    assert_eq!(fault(&|block| block[12] = 1, true), (ErrorCode::InconsistentIndex, 76));
    assert_eq!(fault(&|block| block[24] = 0, true), (ErrorCode::MalformedBlock, 88));
    // The decoder refuses its tables.
    assert_eq!(
        fault(&|block| block[32..64].fill(0xFF), true),
        (ErrorCode::MalformedBlock, 88)
    );
}

#[test]
fn a_region_without_blocks_leaves_no_dictionary() {
    let dictionary = some_dictionary();
    for layout in [Layout::Paired, Layout::Single] {
        let place = Place::new();
        let mut writer = Writer::create(place.name(), options(layout)).unwrap();
        assert_eq!(writer.dictionary(&dictionary).unwrap(), 1);
        writer.region().unwrap().end().unwrap();
        writer.write(0, b"the next region").unwrap();
        let files = writer.finish().unwrap().files;
        let entries = open(&files).dictionaries().to_vec();
        assert_eq!((entries.len(), entries[0].offset), (1, 64));
        check(&files, &CheckOptions::default()).unwrap();
    }
}

#[test]
fn a_rebuild_leaves_out_a_dictionary_that_no_region_follows() {
    let place = Place::new();
    let files = write(&place, options(Layout::Paired));
    let Files::Paired { data, index } = &files else {
        unreachable!()
    };
    let mut bytes = std::fs::read(data).unwrap();
    let size = bytes.len() as u64;
    let id: [u8; 16] = bytes[40..56].try_into().unwrap();
    let mut header = BlockHeader::parse(&bytes[64..88].try_into().unwrap());
    (header.sequence, header.dictionary) = (1, 2);
    let payload = bytes[88..88 + header.stored_size as usize].to_vec();
    bytes.extend_from_slice(&header.encode(Seal::new(&id), &payload));
    bytes.extend_from_slice(&payload);
    bytes.resize((bytes.len() + 7) & !7, 0);
    std::fs::write(data, bytes).unwrap();
    std::fs::remove_file(index).unwrap();
    rebuild(&files, &RebuildOptions::default()).unwrap();
    assert_eq!(data.metadata().unwrap().len(), size);
    assert_eq!(open(&files).dictionaries().len(), 1);
    assert_holds_all(&open(&files));
}

#[test]
fn a_reader_that_is_handed_over_reads_dictionaries() {
    for layout in [Layout::Paired, Layout::Single] {
        let place = Place::new();
        let (summary, reader) = filled(&place, options(layout))
            .finish_and_open(ReaderOptions::default())
            .unwrap();
        assert_eq!(reader.dictionaries(), open(&summary.files).dictionaries());
        let mut blocks = reader.partition(3).unwrap();
        assert!(blocks.all(|block| block.unwrap().header.dictionary == 1));
        assert_holds_all(&reader);
    }
}
