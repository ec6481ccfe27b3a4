//! A whole shuffle: finding its outputs, summing them up, reading a partition from all of them.

use faro::shuffle::{Amount, OutputSums, Producer, Shuffle, find, is_folder, name};
use faro::{ErrorCode, Files, Layout, Reader, ReaderOptions, Writer, WriterOptions};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// A number that looks random.
fn mixed(seed: u64) -> u64 {
    let z = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (z ^ (z >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 20
}

fn writer(name: &Path, partitions: u32, producer: u64) -> Writer {
    fs::create_dir_all(name.parent().unwrap()).unwrap();
    Writer::create(name, WriterOptions::new(partitions).producer(producer)).unwrap()
}

/// A small output with a record for partition 1.
fn small(name: &Path, layout: Layout) -> Files {
    fs::create_dir_all(name.parent().unwrap()).unwrap();
    let mut writer = Writer::create(name, WriterOptions::new(2).layout(layout)).unwrap();
    writer.write(1, b"a record").unwrap();
    writer.finish().unwrap().files
}

fn shuffle(folder: &Path) -> Shuffle {
    let found = find([folder]);
    assert!(found.faults.is_empty(), "{:?}", found.faults);
    Shuffle::new(found.outputs, ReaderOptions::default())
}

/// The names of what is found, without the folder.
fn names(folder: &Path, paths: &[PathBuf]) -> Vec<String> {
    let found = find(paths);
    assert!(found.faults.is_empty(), "{:?}", found.faults);
    let short = |files: &Files| name(files).strip_prefix(folder).unwrap().to_str().unwrap().to_owned();
    found.outputs.iter().map(short).collect()
}

#[test]
fn each_output_is_found_once() {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path();
    for name in ["map-10", "map-2", "inner/deep/x", "inner/b.c", "a b\u{e9}\n,", "twin"] {
        small(&folder.join(name), Layout::Paired);
    }
    small(&folder.join("map-3"), Layout::Single);
    small(&folder.join("twin2"), Layout::Single);
    fs::rename(folder.join("twin2.faro"), folder.join("twin.faro")).unwrap();
    // Files of writers at work, of other programs, and of Spark's sort shuffle.
    fs::write(folder.join("map-4.data.0123abcd.tmp"), "temporary").unwrap();
    fs::write(folder.join("map-4.faro-lock"), "").unwrap();
    fs::write(folder.join("shuffle_0_0_0.data"), "rows").unwrap();
    fs::write(folder.join("shuffle_0_0_0.index"), [0; 16]).unwrap();
    fs::write(folder.join("empty.index"), "").unwrap();
    fs::write(folder.join("notes.txt"), "").unwrap();
    let all = [
        "a b\u{e9}\n,",
        "inner/b.c",
        "inner/deep/x",
        "map-2",
        "map-3.faro",
        "map-10",
        "twin",
        "twin.faro",
    ];
    assert_eq!(names(folder, &[folder.to_owned()]), all);
    assert_eq!(find([folder]).other_files, 6);

    let both = [
        folder.join("map-2.data"),
        folder.join("map-2.index"),
        folder.join("map-2"),
    ];
    assert_eq!(names(folder, &both), ["map-2"]);
    let again = [
        folder.join("inner"),
        folder.join("inner/deep/x.index"),
        folder.join("inner/../map-10"),
    ];
    assert_eq!(find(&again).outputs.len(), 3);
    let ambiguous = find([folder.join("twin")]);
    assert_eq!(ambiguous.faults[0].code, ErrorCode::InvalidArgument);
}

#[test]
fn a_pair_that_lost_a_file_is_found() {
    let place = tempfile::tempdir().unwrap();
    for (name, lost) in [("a", "a.index"), ("b", "b.data")] {
        small(&place.path().join(name), Layout::Paired);
        fs::remove_file(place.path().join(lost)).unwrap();
    }
    let sums = shuffle(place.path()).sum_up(|_| ());
    assert_eq!((sums.finished, sums.faults.len()), (0, 2));
    assert!(sums.faults.iter().all(|fault| fault.error.code == ErrorCode::Io));
}

#[test]
fn what_is_not_there_is_a_fault() {
    let place = tempfile::tempdir().unwrap();
    for missing in ["none", "none.faro", "none.data", "none.index", "none/"] {
        let found = find([place.path().join(missing)]);
        assert_eq!(
            (found.outputs.len(), found.faults[0].code),
            (0, ErrorCode::Io),
            "{missing}"
        );
    }
    let empty = find([place.path()]);
    assert!(empty.outputs.is_empty() && empty.faults.is_empty());
}

#[test]
fn an_output_comes_before_a_folder_of_its_name() {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("run");
    small(&folder, Layout::Paired);
    small(&folder.join("map"), Layout::Paired);
    assert!(!is_folder(&folder) && is_folder(place.path().join("run/")));
    assert_eq!(names(place.path(), std::slice::from_ref(&folder)), ["run"]);
    assert_eq!(names(place.path(), &[place.path().join("run/")]), ["run/map"]);
    // A folder may have an ending too.
    let ended = place.path().join("more.faro");
    small(&ended.join("map"), Layout::Single);
    assert_eq!(names(place.path(), &[ended]), ["more.faro/map.faro"]);
}

#[cfg(unix)]
#[test]
fn links_are_followed_once() {
    use std::os::unix::fs::symlink;
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("real");
    small(&folder.join("map"), Layout::Paired);
    symlink(&folder, folder.join("loop")).unwrap();
    symlink(place.path(), folder.join("up")).unwrap();
    symlink("nowhere", folder.join("gone.faro")).unwrap();
    symlink("itself", folder.join("itself")).unwrap();
    let found = find([&folder]);
    assert_eq!((found.outputs.len(), found.faults.len()), (2, 0), "{found:?}");
    let sums = Shuffle::new(found.outputs, ReaderOptions::default()).sum_up(|_| ());
    assert_eq!((sums.finished, sums.faults.len()), (1, 1));
}

#[cfg(unix)]
#[test]
fn a_folder_that_cannot_be_listed_is_a_fault() {
    let place = tempfile::tempdir().unwrap();
    small(&place.path().join("map"), Layout::Paired);
    // A path that is too long for the system, in a folder that exists.
    let mut deep = place.path().to_owned();
    let part = "x".repeat(200);
    let here = std::env::current_dir().unwrap();
    while deep.as_os_str().len() < 3900 {
        deep.push(&part);
    }
    fs::create_dir_all(&deep).unwrap();
    let status = std::process::Command::new("mkdir")
        .arg("-p")
        .arg(&part)
        .current_dir(&deep)
        .status()
        .unwrap();
    assert!(status.success() && std::env::current_dir().unwrap() == here);
    let found = find([place.path()]);
    assert_eq!(found.outputs.len(), 1);
    assert_eq!(
        found.faults.iter().map(|fault| fault.code).collect::<Vec<_>>(),
        [ErrorCode::Io]
    );
}

/// Outputs with random records, and what a model of a few lines counts of them.
fn random_outputs(folder: &Path, statistics: bool) -> (BTreeMap<u32, u64>, BTreeMap<u64, u64>) {
    let (mut of_partitions, mut of_producers) = (BTreeMap::new(), BTreeMap::new());
    for producer in 0..40 {
        let options = WriterOptions::new(7).producer(producer).statistics(statistics);
        let mut writer = Writer::create(folder.join(format!("map-{producer}")), options).unwrap();
        for number in 0..mixed(producer) % 60 {
            let seed = producer * 1000 + number;
            let record = vec![b'r'; (mixed(seed) % 300) as usize];
            match mixed(seed + 7) % 12 {
                0 => {
                    writer.broadcast(&record).unwrap();
                    (0..7).for_each(|p| *of_partitions.entry(p).or_default() += 1);
                    *of_producers.entry(producer).or_default() += 1;
                }
                1 => {
                    writer.multicast(&[2, 5], &record).unwrap();
                    [2, 5].iter().for_each(|p| *of_partitions.entry(*p).or_default() += 1);
                    *of_producers.entry(producer).or_default() += 2;
                }
                2 => writer.flush().unwrap(),
                choice => {
                    let partition = (choice % 4) as u32;
                    writer.write(partition, &record).unwrap();
                    *of_partitions.entry(partition).or_default() += 1;
                    *of_producers.entry(producer).or_default() += 1;
                }
            }
        }
        writer.finish().unwrap();
    }
    (of_partitions, of_producers)
}

/// The stored bytes of the blocks that a partition reads.
fn bytes_of(reader: &Reader, partition: u32) -> u64 {
    let blocks = reader.partition(partition).unwrap();
    blocks.map(|block| block.unwrap().header.size_in_file()).sum()
}

#[test]
fn sums_are_those_of_a_model() {
    let place = tempfile::tempdir().unwrap();
    let (of_partitions, of_producers) = random_outputs(place.path(), true);
    let shuffle = shuffle(place.path());
    let mut seen = Vec::new();
    let sums = shuffle.sum_up(|output| seen.push((output.output, output.sums.unwrap().header.producer)));
    assert_eq!(seen, (0..40).map(|at| (at as usize, at)).collect::<Vec<_>>());
    assert_eq!((sums.finished, sums.faults.len(), sums.partitions()), (40, 0, 0..7));
    assert_eq!(sums.records, Some(of_producers.values().sum()));

    let records = |(partition, amount): (u32, Amount)| (partition, amount.records);
    let each: BTreeMap<u32, u64> = sums.each_partition().map(records).collect();
    assert_eq!(each, of_partitions);
    for partition in 0..7 {
        let bytes = (0..40).map(|output| bytes_of(&shuffle.reader(output).unwrap(), partition));
        assert_eq!(sums.partition(partition).bytes, bytes.sum(), "partition {partition}");
        let read = shuffle
            .records(partition)
            .inspect(|record| assert!(record.is_ok()))
            .count() as u64;
        assert_eq!(sums.partition(partition).records, read);
    }
    for (producer, sums) in &sums.producers {
        let Producer::Number(number) = producer else {
            panic!("{producer:?}")
        };
        assert_eq!(sums.amount.records, of_producers.get(number).copied().unwrap_or(0));
        assert_eq!(sums.outputs, 1);
    }
    let largest = sums.largest_partitions(3);
    let mut sorted: Vec<u64> = (0..7).map(|p| sums.partition(p).bytes).collect();
    sorted.sort_unstable_by(|a, b| b.cmp(a));
    assert_eq!(
        largest.iter().map(|(_, amount)| amount.bytes).collect::<Vec<_>>(),
        sorted[..3]
    );
    let mean = sorted.iter().sum::<u64>() as f64 / 7.0;
    assert!((sums.partition_skew().unwrap() - sorted[0] as f64 / mean).abs() < 1e-9);
}

/// The same sums come from region messages, where outputs do not have statistics.
#[test]
fn statistics_and_region_messages_agree() {
    let (with, without) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    random_outputs(with.path(), true);
    random_outputs(without.path(), false);
    let options = ReaderOptions::default();
    for (with, without) in find([&with]).outputs.iter().zip(&find([&without]).outputs) {
        let reader = Reader::open(with, options.clone()).unwrap();
        let with = OutputSums::of_reader(&reader).unwrap();
        assert_eq!(reader.figures().regions_read, 0, "statistics are enough");
        let without = OutputSums::of(without, &options).unwrap();
        assert_eq!(without.records, None);
        assert_eq!((with.bytes, with.to_all.bytes), (without.bytes, without.to_all.bytes));
        for partition in 0..7 {
            assert_eq!(with.partition(partition).bytes, without.partition(partition).bytes);
        }
    }
    let sums = shuffle(without.path()).sum_up(|_| ());
    assert_eq!((sums.finished, sums.records), (40, None));
}

#[test]
fn one_bad_output_does_not_stop_the_rest() {
    let place = tempfile::tempdir().unwrap();
    for producer in 0..5 {
        let mut writer = writer(&place.path().join(format!("map-{producer}")), 3, producer);
        writer.write(1, format!("of {producer}").as_bytes()).unwrap();
        writer.finish().unwrap();
    }
    let cut = |name: &str, keep: usize| {
        let path = place.path().join(name);
        let bytes = fs::read(&path).unwrap();
        fs::write(&path, &bytes[..keep.min(bytes.len())]).unwrap();
    };
    cut("map-1.index", 100);
    cut("map-3.data", 70);
    let shuffle = shuffle(place.path());
    let mut good = Vec::new();
    let sums = shuffle.sum_up(|output| good.push(output.sums.is_ok()));
    assert_eq!(good, [true, false, true, false, true]);
    let faults: Vec<_> = sums
        .faults
        .iter()
        .map(|fault| (fault.output, fault.error.code))
        .collect();
    assert_eq!(faults, [(1, ErrorCode::Unfinished), (3, ErrorCode::Truncated)]);
    assert_eq!((sums.finished, sums.records), (3, Some(3)));
    // The reader's view says what is missing, and where, and goes on.
    let read: Vec<_> = shuffle
        .records(1)
        .map(|record| record.map_err(|error| error.code))
        .collect();
    let record = |output: usize| Ok((output, bytes::Bytes::from(format!("of {output}"))));
    let expected = [
        record(0),
        Err(ErrorCode::Unfinished),
        record(2),
        Err(ErrorCode::Truncated),
        record(4),
    ];
    assert_eq!(read, expected);
}

#[test]
fn outputs_may_have_different_partitions() {
    let place = tempfile::tempdir().unwrap();
    for (name, first, count) in [("a", 0, 2), ("b", 1, 4), ("c", 0, 1 << 28)] {
        // Statistics of 2^28 partitions would be too large for a message.
        let options = WriterOptions::new(count).first_partition(first).statistics(false);
        let mut writer = Writer::create(place.path().join(name), options).unwrap();
        writer.write(1, name.as_bytes()).unwrap();
        writer.write(first + count - 1, name.as_bytes()).unwrap();
        writer.finish().unwrap();
    }
    let shuffle = shuffle(place.path());
    let sums = shuffle.sum_up(|_| ());
    assert_eq!(
        sums.ranges.keys().copied().collect::<Vec<_>>(),
        [(0, 2), (0, 1 << 28), (1, 4)]
    );
    assert_eq!(sums.partitions(), 0..1 << 28);
    let read: Vec<u32> = sums.each_partition().map(|(partition, _)| partition).collect();
    assert_eq!(
        (read, sums.empty_partitions()),
        (vec![1, 4, (1 << 28) - 1], (1 << 28) - 3)
    );
    let outputs = |partition| {
        shuffle
            .partition(partition)
            .map(|block| block.unwrap().output)
            .collect::<Vec<_>>()
    };
    assert_eq!((outputs(1), outputs(4)), (vec![0, 1, 2], vec![1]));
    let beyond = shuffle.partition(1 << 28).next().unwrap().unwrap_err();
    assert_eq!(beyond.code, ErrorCode::InvalidArgument);
}

/// A broadcast in a file of 2^28 partitions is a few bytes in the file, and must be few in memory.
#[test]
fn claims_take_no_memory() {
    let place = tempfile::tempdir().unwrap();
    let options = WriterOptions::new(1 << 28).statistics(false);
    let mut writer = Writer::create(place.path().join("many"), options).unwrap();
    writer.broadcast(b"for all").unwrap();
    writer.write(77, b"for one").unwrap();
    writer.finish().unwrap();
    let sums = shuffle(place.path()).sum_up(|_| ());
    assert_eq!(sums.own.len(), 1);
    assert_eq!(sums.partition(1 << 27), sums.partition(0));
    assert!(sums.partition(0).bytes > 0 && sums.empty_partitions() == 0);
    let largest: Vec<u32> = sums
        .largest_partitions(5)
        .iter()
        .map(|(partition, _)| *partition)
        .collect();
    assert_eq!(largest, [77, 0]);
    assert!(sums.partition_skew().unwrap() > 1.0);
}

#[test]
fn selective_and_opaque_outputs_are_summed_up_too() {
    let place = tempfile::tempdir().unwrap();
    let options = WriterOptions::new(3).selective(true).framing(faro::Framing::Opaque);
    let mut writer = Writer::create(place.path().join("selective"), options).unwrap();
    let mut region = writer.region().unwrap();
    region.sequence(7).unwrap();
    region.block(Some(1), faro::block::DATA, b"seven", 0).unwrap();
    region.end().unwrap();
    writer.finish().unwrap();
    let shuffle = shuffle(place.path());
    let sums = shuffle.sum_up(|_| ());
    assert_eq!(sums.partition(1).bytes, bytes_of(&shuffle.reader(0).unwrap(), 1));
    assert_eq!(
        shuffle.records(1).next().unwrap().unwrap_err().code,
        ErrorCode::InvalidArgument
    );
}

/// `cargo test --release -p faro-format --test shuffle -- --ignored --nocapture`: makes outputs and sums them up.
#[test]
#[ignore = "makes 10,000 outputs"]
fn ten_thousand_outputs_take_seconds() {
    let place = tempfile::tempdir().unwrap();
    for producer in 0..10_000 {
        let mut writer = writer(&place.path().join(format!("map-{producer}")), 200, producer);
        for partition in 0..200 {
            writer.write(partition, &mixed(producer).to_le_bytes()).unwrap();
        }
        writer.finish().unwrap();
    }
    for round in ["first", "again"] {
        let begun = std::time::Instant::now();
        let shuffle = shuffle(place.path());
        let found = begun.elapsed();
        let sums = shuffle.sum_up(|_| ());
        println!("{round}: found in {found:.2?}, all in {:.2?}", begun.elapsed());
        assert_eq!((sums.finished, sums.records), (10_000, Some(2_000_000)));
    }
    let begun = std::time::Instant::now();
    assert_eq!(shuffle(place.path()).records(7).count(), 10_000);
    println!("partition 7 of all: {:.2?}", begun.elapsed());
}
