//! Which system calls a writer makes and in which order, and that it fails when any of them fails.

#![cfg(target_os = "linux")]

mod common;
mod recorder;

use common::{Place, check, options};
use faro::{
    Durability, Error, ErrorCode, Layout, Reader, ReaderOptions, RebuildOptions, RepairOptions, Result, Writer,
    WriterOptions, rebuild, repair,
};
use recorder::recorded;
use std::ops::Range;

const LAYOUTS: [Layout; 2] = [Layout::Paired, Layout::Single];

/// Two regions; `flush` closes one of them.
fn write_two_regions(writer: &mut Writer) -> Result<()> {
    writer.write(0, b"one")?;
    writer.flush()?;
    writer.write(1, b"two")?;
    writer.finish().map(|_| ())
}

/// The calls for a whole output. Consecutive writes count as one.
fn calls_of(options: WriterOptions) -> Vec<String> {
    let elsewhere = Place::new();
    // The first output of a process finds out whether the device has hard links.
    let first = Writer::create(elsewhere.name(), options.clone()).and_then(|mut first| write_two_regions(&mut first));
    first.unwrap();
    let place = Place::new();
    let write = || write_two_regions(&mut Writer::create(place.name(), options)?);
    let (result, mut calls) = recorded(0..0, write);
    result.unwrap();
    calls.dedup();
    // The folder has a random name.
    let folder = place.name().parent().unwrap().file_name().unwrap().to_owned();
    calls
        .iter()
        .map(|call| {
            call.replace(folder.to_str().unwrap(), "FOLDER")
                .replace(".30313233", "")
        })
        .collect()
}

#[test]
fn blocks_are_synced_before_their_message_and_files_before_their_names() {
    let durable = |layout| options(layout, 2).durability(Durability::Commit);
    let region = [
        "write out.data.tmp",
        "sync out.data.tmp",
        "write out.index.tmp",
        "sync out.index.tmp",
    ];
    let end = [
        "write out.index.tmp",
        "sync out.data.tmp",
        "sync out.index.tmp",
        "rename to free out.data",
        "rename to free out.index",
        "sync FOLDER",
    ];
    assert_eq!(calls_of(durable(Layout::Paired)), [&region[..], &region, &end].concat());
    let region = ["write out.faro.tmp", "sync out.faro.tmp"].repeat(2);
    let end = [
        "write out.faro.tmp",
        "sync out.faro.tmp",
        "rename to free out.faro",
        "sync FOLDER",
    ];
    assert_eq!(calls_of(durable(Layout::Single)), [&region[..], &region, &end].concat());
    // Files that may be followed have their final names already.
    let calls = calls_of(durable(Layout::Paired).follow(true));
    assert!(
        !calls
            .iter()
            .any(|call| call.starts_with("rename") || call.starts_with("link"))
    );
    assert_eq!(
        calls[calls.len() - 3..],
        ["sync out.data", "sync out.index", "sync FOLDER"]
    );
}

#[test]
fn without_durability_nothing_is_synced_and_data_gets_its_name_first() {
    let calls = calls_of(options(Layout::Paired, 2));
    let expected = [
        "write out.data.tmp",
        "write out.index.tmp",
        "rename to free out.data",
        "rename to free out.index",
    ];
    assert_eq!(calls, expected);
    assert_eq!(
        calls_of(options(Layout::Single, 2)),
        ["write out.faro.tmp", "rename to free out.faro"]
    );
    let replacing = calls_of(options(Layout::Paired, 2).overwrite(true));
    assert_eq!(replacing[2..], ["rename to out.data", "rename to out.index"]);
}

/// Writes while some calls fail; none if there are fewer calls.
fn fail_at(refused: Range<usize>, place: &Place, options: WriterOptions) -> Option<(Writer, Error)> {
    let mut writer = Writer::create(place.name(), options).unwrap();
    let (result, calls) = recorded(refused.clone(), || write_two_regions(&mut writer));
    match result {
        Err(error) => Some((writer, error)),
        Ok(()) => {
            assert!(
                calls.len() <= refused.start,
                "call {refused:?} failed without an error: {calls:?}"
            );
            None
        }
    }
}

#[test]
fn every_refused_call_fails_the_writer_for_good_and_leaves_nothing() {
    for layout in LAYOUTS {
        for durability in [Durability::None, Durability::Commit] {
            let mut failures = 0;
            loop {
                let place = Place::new();
                let options = options(layout, 2).durability(durability);
                let Some((mut writer, first)) = fail_at(failures..failures + 1, &place, options) else {
                    break;
                };
                assert_eq!(first.code, ErrorCode::Io);
                for again in [writer.write(0, b"x"), writer.flush(), writer.finish().map(|_| ())] {
                    assert_eq!(again.unwrap_err().to_string(), first.to_string());
                }
                // Both files have their final names only if just the sync of the folder is missing, and then they are
                // complete.
                let files = place.output(layout);
                match Reader::open(&files, ReaderOptions::default()) {
                    Ok(_) => assert_eq!(check(&files).unwrap().regions, 2),
                    Err(error) => assert_eq!(error.code, ErrorCode::Io),
                }
                if failures % 2 == 0 {
                    writer.abort().unwrap();
                    writer.abort().unwrap();
                }
                drop(writer);
                assert!(place.files().is_empty(), "{failures}: {:?}", place.files());
                failures += 1;
            }
            assert!(failures >= 2, "{failures}");
        }
    }
}

/// Readers use the final names. Whatever call fails, and even if the writer is dropped after that, the output looks
/// unfinished.
#[test]
fn a_failed_writer_that_others_follow_looks_unfinished_and_goes_when_it_is_aborted() {
    for (layout, durability) in [
        (Layout::Paired, Durability::None),
        (Layout::Single, Durability::None),
        (Layout::Paired, Durability::Commit),
        (Layout::Single, Durability::Commit),
    ] {
        let mut failures = 0;
        loop {
            let place = Place::new();
            let followed = options(layout, 2).durability(durability).follow(true);
            let Some((mut writer, first)) = fail_at(failures..failures + 1, &place, followed) else {
                break;
            };
            assert_eq!(first.code, ErrorCode::Io);
            let looks_unfinished = || {
                let opened = Reader::open(&place.output(layout), ReaderOptions::default());
                assert_eq!(opened.unwrap_err().code, ErrorCode::Unfinished, "call {failures}");
            };
            looks_unfinished();
            assert_eq!(writer.finish().unwrap_err().to_string(), first.to_string());
            looks_unfinished();
            if failures % 2 == 0 {
                writer.abort().unwrap();
                assert!(place.files().is_empty());
            } else {
                drop(writer);
                looks_unfinished();
                // All that was committed is still there.
                faro::repair(&place.output(layout), &faro::RepairOptions::default()).unwrap();
                check(&place.output(layout)).unwrap();
            }
            failures += 1;
        }
        let least = if durability == Durability::Commit { 6 } else { 2 };
        assert!(failures >= least, "{failures} calls");
    }
}

/// When even cutting off the tail fails, the file is removed.
#[test]
fn a_followed_file_whose_tail_cannot_be_taken_back_is_removed() {
    for layout in LAYOUTS {
        let followed = || options(layout, 2).durability(Durability::Commit).follow(true);
        let place = Place::new();
        let count = recorded(0..0, || {
            write_two_regions(&mut Writer::create(place.name(), followed()).unwrap())
        });
        // The calls for creating the files, which `fail_at` does not record.
        let made = recorded(0..0, || drop(Writer::create(Place::new().name(), followed()).unwrap()));
        let last = count.1.len() - made.1.len() - 1;
        let place = Place::new();
        let (writer, first) = fail_at(last..usize::MAX, &place, followed()).unwrap();
        assert_eq!(first.code, ErrorCode::Io);
        let opened = Reader::open(&place.output(layout), ReaderOptions::default());
        assert_eq!(opened.unwrap_err().code, ErrorCode::Io);
        drop(writer);
    }
}

#[test]
fn files_that_could_not_be_begun_are_not_left() {
    for layout in LAYOUTS {
        let followed = || options(layout, 2).follow(true);
        let files = if layout == Layout::Paired { 2 } else { 1 };
        for refused in 0..files {
            let place = Place::new();
            let made = recorded(refused..refused + 1, || Writer::create(place.name(), followed()));
            assert_eq!(made.0.err().unwrap().code, ErrorCode::Io);
            assert!(place.files().is_empty(), "{:?}", place.files());
        }
    }
}

/// A block of a region writer fails. Later steps, such as giving up the region, do not hide that.
#[test]
fn the_first_cause_counts() {
    for layout in LAYOUTS {
        let place = Place::new();
        let mut writer = Writer::create(place.name(), options(layout, 2)).unwrap();
        let mut region = writer.region().unwrap();
        let large = vec![7; 3 << 20];
        // The first call reserves space; its failure is not an error.
        let block = recorded(0..2, || region.block(Some(0), faro::block::DATA, &large, 1));
        let first = block.0.unwrap_err();
        assert_eq!(first.code, ErrorCode::Io);
        let given_up = recorded(0..usize::MAX, move || {
            let again = region.block(Some(9), faro::block::DATA, b"", 1).unwrap_err();
            drop(region);
            again
        });
        for again in [given_up.0, writer.flush().unwrap_err(), writer.finish().unwrap_err()] {
            assert_eq!(again.to_string(), first.to_string());
        }
        writer.abort().unwrap();
        writer.abort().unwrap();
        // After `abort`, the call is the fault (WRT-6).
        assert_eq!(writer.flush().unwrap_err().code, ErrorCode::InvalidArgument);
        assert!(place.files().is_empty());
    }
}

/// The calls of a repair, without writes.
fn mending<T>(refused: Range<usize>, act: impl FnOnce() -> Result<T>) -> (Result<T>, Vec<String>) {
    let (result, mut calls) = recorded(refused, act);
    calls.retain(|call| !call.starts_with("write"));
    (result, calls)
}

/// An output of a dead writer, with bytes after the last commit in both files.
fn torn(place: &Place) {
    let mut writer = Writer::create(place.name(), options(Layout::Paired, 2).follow(true)).unwrap();
    writer.write(0, b"one").unwrap();
    writer.flush().unwrap();
    std::mem::forget(writer);
    for file in ["out.data", "out.index"] {
        let path = place.name().with_file_name(file);
        let bytes = [std::fs::read(&path).unwrap(), vec![7; 8]].concat();
        std::fs::write(&path, bytes).unwrap();
    }
}

/// REP-10: data before index, everything before the call returns; and a rebuild that is refused anywhere can be run again.
#[test]
fn what_a_repair_did_is_on_the_device() {
    let files = |place: &Place| place.output(Layout::Paired);
    let place = Place::new();
    torn(&place);
    let (result, calls) = mending(0..0, || repair(&files(&place), &RepairOptions::default()));
    result.unwrap();
    assert_eq!(
        calls,
        ["cut out.data", "sync out.data", "cut out.index", "sync out.index"]
    );
    check(&files(&place)).unwrap();

    let rebuilt = |place: &Place| rebuild(&files(place), &RebuildOptions::default());
    let mut refusals = 0;
    loop {
        let place = Place::new();
        torn(&place);
        std::fs::write(
            place.name().with_file_name("out.index.rebuild.tmp"),
            b"an earlier rebuild's",
        )
        .unwrap();
        let (result, calls) = mending(refusals..refusals + 1, || rebuilt(&place));
        assert_eq!(place.files(), ["out.data", "out.index"]);
        if result.is_ok() {
            let synced: Vec<_> = calls.iter().filter(|call| !call.starts_with("cut")).collect();
            assert_eq!(
                synced[..3],
                ["sync out.index.rebuild.tmp", "sync out.data", "rename to out.index"]
            );
            assert_eq!(synced.len(), 4);
            break;
        }
        assert_eq!(result.unwrap_err().code, ErrorCode::Io);
        rebuilt(&place).unwrap();
        check(&files(&place)).unwrap();
        refusals += 1;
    }
    assert!(refusals >= 5, "{refusals}");
}
