//! Names, and several writers of one name (spec, PUB-1 to PUB-6, WRT-10 to WRT-12).

mod common;

#[cfg(unix)]
use common::in_fork;
use common::{Place, check, code, contents, open, options};
use faro::{ErrorCode, Files, Layout, Reader, ReaderOptions, Writer, WriterOptions};
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};

const LAYOUTS: [Layout; 2] = [Layout::Paired, Layout::Single];

#[test]
fn the_ending_of_a_name_says_the_layout() {
    for (name, files) in [
        ("a.faro", &["a.faro"][..]),
        ("a.data", &["a.data", "a.index"]),
        ("a.index", &["a.data", "a.index"]),
        ("a.b", &["a.b.data", "a.b.index"]),
    ] {
        let place = Place::new();
        let path = place.name().with_file_name(name);
        Writer::create(&path, WriterOptions::new(1)).unwrap().finish().unwrap();
        assert_eq!(place.files(), files);
        assert_eq!(Files::locate(&path).unwrap(), Files::to_write(&path, None).unwrap());
    }
}

#[test]
fn a_layout_that_contradicts_the_ending_is_refused() {
    let place = Place::new();
    for (name, layout) in [
        ("a.faro", Layout::Paired),
        ("a.data", Layout::Single),
        ("a.index", Layout::Single),
    ] {
        let path = place.name().with_file_name(name);
        let options = WriterOptions::new(1).layout(layout);
        assert_eq!(code(Writer::create(path, options)), ErrorCode::InvalidArgument);
    }
    assert_eq!(
        code(Writer::create("..", WriterOptions::new(1))),
        ErrorCode::InvalidArgument
    );
    assert!(place.files().is_empty());
}

#[test]
fn a_region_that_was_forgotten_lets_nothing_be_published() {
    for layout in LAYOUTS {
        for aborted in [false, true] {
            let place = Place::new();
            let mut writer = Writer::create(place.name(), options(layout, 2)).unwrap();
            let mut region = writer.region().unwrap();
            region.block(Some(0), 0, b"\x01\0\0\0x", 1).unwrap();
            std::mem::forget(region);
            let refused = [
                writer.write(0, b"x"),
                writer.broadcast(b"x"),
                writer.multicast(&[1], b"x"),
                writer.write_event(0, 1, b"x"),
                writer.flush(),
                writer.region().map(drop),
                writer.property("key", "value"),
                writer.finish().map(drop),
            ];
            for call in refused {
                assert_eq!(code(call), ErrorCode::InvalidArgument);
            }
            if aborted {
                writer.abort().unwrap();
            }
            drop(writer);
            assert!(place.files().is_empty());
        }
    }
}

#[test]
fn after_a_region_writer_calls_are_taken_again() {
    let place = Place::new();
    let mut writer = Writer::create(place.name(), options(Layout::Paired, 2)).unwrap();
    writer.region().unwrap().end().unwrap();
    drop(writer.region().unwrap());
    writer.write(1, b"x").unwrap();
    let files = writer.finish().unwrap().files;
    assert_eq!(open(&files).unwrap().region_count(), 1);
}

#[cfg(unix)]
#[test]
fn a_forked_process_cannot_touch_the_files() {
    for layout in LAYOUTS {
        for follow in [false, true] {
            let place = Place::new();
            let mut writer = Writer::create(place.name(), options(layout, 2).follow(follow)).unwrap();
            writer.write(0, b"before").unwrap();
            let before = place.files();
            assert!(in_fork(|| {
                let refused = [
                    writer.write(0, b"x"),
                    writer.broadcast(b"x"),
                    writer.flush(),
                    writer.abort(),
                    writer.finish().map(drop),
                ];
                refused.into_iter().all(|call| code(call) == ErrorCode::InvalidArgument)
            }));
            assert_eq!(place.files(), before);
            writer.write(1, b"after").unwrap();
            let files = writer.finish().unwrap().files;
            assert!(in_fork(|| {
                drop(writer);
                true
            }));
            assert_eq!(contents(&open(&files).unwrap()).unwrap().len(), 2);
        }
    }
}

#[cfg(unix)]
#[test]
fn a_writer_that_a_forked_process_drops_goes_on_in_its_own() {
    let place = Place::new();
    let mut writer = Some(Writer::create(place.name(), options(Layout::Paired, 2)).unwrap());
    assert!(in_fork(|| {
        writer = None;
        true
    }));
    let mut writer = writer.unwrap();
    writer.write(1, b"after").unwrap();
    check(&writer.finish().unwrap().files).unwrap();
}

/// WRT-12: after the writer died, all that was committed is found.
#[test]
fn committed_regions_reach_the_temporary_files() {
    for layout in LAYOUTS {
        let place = Place::new();
        let mut writer = Writer::create(place.name(), options(layout, 2)).unwrap();
        for _ in 0..3 {
            writer.write(0, &[7; 700_000]).unwrap();
            writer.flush().unwrap();
        }
        let copies = Place::new();
        for name in place.files() {
            let last = name.replace(".30313233.tmp", "");
            let (from, to) = (place.name().with_file_name(&name), copies.name().with_file_name(last));
            std::fs::copy(from, to).unwrap();
        }
        let report = faro::repair(&copies.output(layout), &faro::RepairOptions::default()).unwrap();
        assert_eq!(report.regions, 2, "the third region alone is below 1 MiB");
        writer.abort().unwrap();
    }
}

/// A pseudo-random number from a seed.
fn draw(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mixed = (*state ^ (*state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB) >> 33
}

/// The record of writer `number`, which a reader sees whole or not at all.
fn record(number: u64) -> Vec<u8> {
    vec![number as u8; 10 + number as usize]
}

/// The number of the writer of an output that is read whole; none if it was refused for an allowed reason.
fn seen(files: &Files, followed: bool) -> Option<u64> {
    let reader = match Reader::open(files, ReaderOptions::default()) {
        Ok(reader) => reader,
        Err(error) => {
            let unfinished = [ErrorCode::Unfinished, ErrorCode::Truncated].contains(&error.code) && followed;
            assert!(
                [ErrorCode::Io, ErrorCode::MismatchedPair].contains(&error.code) || unfinished,
                "{error}"
            );
            return None;
        }
    };
    let number = reader.header().producer;
    let content = contents(&reader).unwrap();
    for blocks in content {
        let framed = [&(record(number).len() as u32).to_le_bytes()[..], &record(number)].concat();
        assert_eq!(blocks, [(0, framed)], "a mixture");
    }
    Some(number)
}

#[test]
fn what_is_visible_is_one_whole_output_of_one_writer() {
    for seed in 0..60 {
        let mut state = seed;
        let layout = LAYOUTS[(draw(&mut state) % 2) as usize];
        let followed = draw(&mut state).is_multiple_of(4);
        let place = Place::new();
        let files = place.output(layout);
        let writers: Vec<_> = (0..4)
            .map(|number| {
                let options = WriterOptions::new(2)
                    .layout(layout)
                    .producer(number)
                    .overwrite(draw(&mut state).is_multiple_of(2))
                    .follow(followed && draw(&mut state).is_multiple_of(2));
                (options, !draw(&mut state).is_multiple_of(5))
            })
            .collect();
        let (start, ended) = (Barrier::new(5), AtomicBool::new(false));
        let results = std::thread::scope(|scope| {
            let (start, ended, place, files) = (&start, &ended, &place, &files);
            let threads: Vec<_> = writers
                .iter()
                .map(|(options, finishes)| {
                    scope.spawn(move || {
                        start.wait();
                        let mut writer = Writer::create(place.name(), options.clone())?;
                        for partition in 0..2 {
                            writer.write(partition, &record(options.producer))?;
                        }
                        match finishes {
                            true => writer.finish().map(|_| true),
                            false => writer.abort().map(|()| false),
                        }
                    })
                })
                .collect();
            scope.spawn(move || {
                start.wait();
                while !ended.load(Ordering::Relaxed) {
                    seen(files, followed);
                }
            });
            let joined: Vec<_> = threads.into_iter().map(|thread| thread.join()).collect();
            // Also if a writer panicked: this thread waits for the reader.
            ended.store(true, Ordering::Relaxed);
            joined.into_iter().map(|result| result.unwrap()).collect::<Vec<_>>()
        });
        let mut winners = Vec::new();
        for ((options, _), result) in writers.iter().zip(&results) {
            match result {
                Ok(true) => winners.push(options),
                Ok(false) => {}
                Err(error) => {
                    assert_eq!(error.code, ErrorCode::Io, "seed {seed}: {error}");
                    assert!(!options.overwrite, "seed {seed}: {error}");
                }
            }
        }
        let modest = winners.iter().filter(|options| !options.overwrite).count();
        assert!(
            modest <= 1 || followed,
            "seed {seed}: {modest} succeeded without overwrite"
        );
        let last = seen(&files, false);
        if !followed {
            let over: Vec<_> = winners.iter().filter(|options| options.overwrite).collect();
            let expected: Vec<u64> = match over.is_empty() {
                true => winners.iter().map(|options| options.producer).collect(),
                false => over.iter().map(|options| options.producer).collect(),
            };
            assert_eq!(last.is_some(), !expected.is_empty(), "seed {seed}");
            assert!(
                last.is_none_or(|last| expected.contains(&last)),
                "seed {seed}: {last:?}"
            );
        }
        let expected = place
            .files()
            .iter()
            .all(|name| !name.contains("tmp") && !name.contains("lock"));
        assert!(expected, "seed {seed}: {:?}", place.files());
    }
}

/// Finding 18: all writers are ready to finish at the same moment.
#[test]
fn of_writers_that_do_not_overwrite_one_succeeds() {
    for round in 0..300 {
        let layout = LAYOUTS[round % 2];
        let place = Place::new();
        let start = Barrier::new(3);
        let succeeded: Vec<u64> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..3)
                .map(|number| {
                    let (start, place) = (&start, &place);
                    scope.spawn(move || {
                        let options = WriterOptions::new(2).layout(layout).producer(number);
                        let mut writer = Writer::create(place.name(), options).unwrap();
                        for partition in 0..2 {
                            writer.write(partition, &record(number)).unwrap();
                        }
                        start.wait();
                        writer.finish().is_ok().then_some(number)
                    })
                })
                .collect();
            threads
                .into_iter()
                .filter_map(|thread| thread.join().unwrap())
                .collect()
        });
        assert_eq!(succeeded.len(), 1, "round {round}: {succeeded:?}");
        assert_eq!(seen(&place.output(layout), false), Some(succeeded[0]));
        assert_eq!(place.files().len(), place.output(layout).paths().len());
    }
}

#[cfg(target_os = "linux")]
#[test]
fn readers_of_a_file_that_is_written_here_use_few_descriptors() {
    let place = Place::new();
    let mut writer = Writer::create(place.name(), WriterOptions::new(2).layout(Layout::Single).follow(true)).unwrap();
    writer.write(0, b"a").unwrap();
    writer.flush().unwrap();
    let files = place.output(Layout::Single);
    let descriptors = || std::fs::read_dir("/proc/self/fd").unwrap().count();
    let before = descriptors();
    for _ in 0..500 {
        assert_eq!(
            Reader::open(&files, ReaderOptions::default()).unwrap_err().code,
            ErrorCode::Unfinished
        );
    }
    // Other tests run at the same time.
    assert!(descriptors() < before + 200, "{} after {before}", descriptors());
    writer.finish().unwrap();
    assert!(Reader::open(&files, ReaderOptions::default()).is_ok());
}
