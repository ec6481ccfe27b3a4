//! A system that returns fewer bytes than requested, interrupts reads, or fails in the middle of reading.
//!
//! The test defines the function of the C library that the standard library calls for reads. The linker prefers this
//! one.

#![cfg(all(target_os = "linux", target_pointer_width = "64"))]

mod common;

use common::{Content, Place, check, contents, fill_sample, index_path, open, options, write_sample};
use faro::{ErrorCode, Files, Follower, Layout, ReaderOptions, Result, Writer};
use libc::{c_int, c_void, off_t, size_t, ssize_t};
use std::cell::Cell;

const LAYOUTS: [Layout; 2] = [Layout::Paired, Layout::Single];

/// How reads behave on this thread.
#[derive(Clone, Copy)]
struct Mode {
    /// The most bytes that one read returns.
    most: usize,
    /// Whether every other read is interrupted.
    interrupted: bool,
    /// The number of the read that fails, from 0 on.
    fails: usize,
    reads: usize,
}

const PLAIN: Mode = Mode {
    most: usize::MAX,
    interrupted: false,
    fails: usize::MAX,
    reads: 0,
};

thread_local! {
    static MODE: Cell<Mode> = const { Cell::new(PLAIN) };
}

fn refuse(code: c_int) -> ssize_t {
    // SAFETY: the address is that of the calling thread's errno.
    unsafe { *libc::__errno_location() = code };
    -1
}

// SAFETY: it has the name and the signature of the C library's function and does the same, perhaps for fewer bytes.
#[unsafe(no_mangle)]
extern "C" fn pread64(descriptor: c_int, bytes: *mut c_void, count: size_t, offset: off_t) -> ssize_t {
    let mut mode = MODE.get();
    let number = mode.reads;
    mode.reads += 1;
    MODE.set(mode);
    if number == mode.fails {
        return refuse(libc::EIO);
    }
    if mode.interrupted && number.is_multiple_of(2) {
        return refuse(libc::EINTR);
    }
    // SAFETY: the caller's arguments, and at most as many bytes as it has room for.
    unsafe { libc::syscall(libc::SYS_pread64, descriptor, bytes, count.min(mode.most), offset) as ssize_t }
}

/// Runs code while this thread's reads behave that way; returns also how many there were.
fn reading<T>(mode: Mode, act: impl FnOnce() -> T) -> (T, usize) {
    MODE.set(mode);
    let result = act();
    (result, MODE.replace(PLAIN).reads)
}

/// What every partition reads, with a reader and with a follower, and the counts of a check.
fn read_every_way(files: &Files) -> Result<(Vec<Content>, usize, u64)> {
    let mut follower = Follower::open(files, ReaderOptions::default())?;
    let followed = follower.poll()?;
    assert!(followed.finished);
    let regions = check(files)?.regions;
    Ok((contents(&open(files)?)?, followed.regions, regions))
}

#[test]
fn short_and_interrupted_reads_are_read_on() {
    for layout in LAYOUTS {
        let place = Place::new();
        let files = write_sample(&place.name(), layout);
        let (expected, plain_reads) = reading(PLAIN, || read_every_way(&files).unwrap());
        assert!(plain_reads > 10, "the function above is not the one that reads");
        for most in [1, 2, 3, 7, 64, 1000] {
            for interrupted in [false, true] {
                let mode = Mode {
                    most,
                    interrupted,
                    ..PLAIN
                };
                assert_eq!(reading(mode, || read_every_way(&files).unwrap()).0, expected);
            }
        }
    }
}

#[test]
fn every_read_that_fails_is_told_and_the_reader_outlives_it() {
    for layout in LAYOUTS {
        let place = Place::new();
        let files = write_sample(&place.name(), layout);
        let uncached = ReaderOptions::default().region_cache_bytes(0);
        let reader = faro::Reader::open(&files, uncached).unwrap();
        let expected = contents(&reader).unwrap();
        let is_told = |result: Result<()>| {
            let error = result.unwrap_err();
            assert_eq!(error.code, ErrorCode::Io);
            assert!(
                error.file.is_some() && error.role.is_some() && error.source.is_some(),
                "{error}"
            );
        };
        let every = |act: &dyn Fn() -> Result<()>| {
            let reads = reading(PLAIN, || act().unwrap()).1;
            for fails in 0..reads {
                is_told(reading(Mode { fails, ..PLAIN }, act).0);
                assert_eq!(contents(&reader).unwrap(), expected);
            }
            reads
        };
        assert!(every(&|| contents(&reader).map(drop)) > 10);
        assert!(every(&|| read_every_way(&files).map(drop)) > 10);
        assert!(every(&|| faro::repair(&files, &faro::RepairOptions::default().dry_run(true)).map(drop)) > 2);
    }
}

#[test]
fn a_repair_with_short_reads_is_the_same() {
    for layout in LAYOUTS {
        let unfinished = |place: &Place| {
            let mut writer = Writer::create(place.name(), options(layout, 3).first_partition(5).follow(true)).unwrap();
            fill_sample(&mut writer);
            writer.flush().unwrap();
            drop(writer);
            place.output(layout)
        };
        let (place, other) = (Place::new(), Place::new());
        let (files, expected) = (unfinished(&place), unfinished(&other));
        let report = faro::repair(&expected, &faro::RepairOptions::default()).unwrap();
        let mode = Mode {
            most: 5,
            interrupted: true,
            ..PLAIN
        };
        let found = reading(mode, || faro::repair(&files, &faro::RepairOptions::default()).unwrap()).0;
        assert_eq!(format!("{found:?}"), format!("{report:?}"));
        assert_eq!(
            std::fs::read(index_path(&files)).unwrap(),
            std::fs::read(index_path(&expected)).unwrap()
        );
    }
}
