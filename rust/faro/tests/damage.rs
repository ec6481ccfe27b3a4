//! Every changed byte and every cut of a file is reported.

mod common;

use common::{Place, check, code, open, read_all, write_sample};
use faro::{ErrorCode, FileHeader, FileKind, Files, Follower, Layout, ReaderOptions, RebuildOptions, rebuild};
use std::fs::OpenOptions;
use std::os::unix::fs::FileExt;
use std::path::Path;

fn paths(files: &Files) -> Vec<&Path> {
    files.paths().into_iter().map(|(_, path)| path).collect()
}

fn every_change_is_reported(layout: Layout) {
    let place = Place::new();
    let files = write_sample(&place.name(), layout);
    assert_eq!(check(&files).unwrap().regions, 3);
    for path in paths(&files) {
        let good = std::fs::read(path).unwrap();
        let file = OpenOptions::new().write(true).open(path).unwrap();
        for (at, byte) in good.iter().enumerate() {
            for change in 1..=255 {
                file.write_all_at(&[byte ^ change], at as u64).unwrap();
                let read = read_all(&files).expect_err("reading a changed file");
                assert!(read.offset.is_some() && read.file.is_some(), "{read}");
                // A check opens the files in the same way first, so some values of each byte are enough.
                if change.is_power_of_two() {
                    check(&files).expect_err("checking a changed file");
                }
            }
            file.write_all_at(&[*byte], at as u64).unwrap();
        }
    }
    check(&files).unwrap();
}

#[test]
fn every_change_of_a_pair_is_reported() {
    every_change_is_reported(Layout::Paired);
}

#[test]
fn every_change_of_a_single_file_is_reported() {
    every_change_is_reported(Layout::Single);
}

#[test]
fn every_cut_is_reported() {
    for layout in [Layout::Paired, Layout::Single] {
        let place = Place::new();
        let files = write_sample(&place.name(), layout);
        for path in paths(&files) {
            let good = std::fs::read(path).unwrap();
            let is_data = path.extension().is_some_and(|extension| extension == "data");
            for length in 0..good.len() {
                std::fs::write(path, &good[..length]).unwrap();
                let expected = if is_data || length < 64 {
                    ErrorCode::Truncated
                } else {
                    ErrorCode::Unfinished
                };
                let error = open(&files).expect_err("opening a cut file");
                assert_eq!((error.code, error.offset), (expected, Some(length as u64)), "{error}");
            }
            std::fs::write(path, &good).unwrap();
        }
        check(&files).unwrap();
    }
}

#[test]
fn every_longer_file_is_reported() {
    for layout in [Layout::Paired, Layout::Single] {
        let place = Place::new();
        let files = write_sample(&place.name(), layout);
        for path in paths(&files) {
            let good = std::fs::read(path).unwrap();
            for more in 1..40 {
                std::fs::write(path, [&good[..], &vec![0; more]].concat()).unwrap();
                assert!(matches!(
                    code(open(&files)),
                    ErrorCode::Unfinished | ErrorCode::InconsistentIndex
                ));
            }
            std::fs::write(path, &good).unwrap();
        }
    }
}

#[test]
fn files_of_two_outputs_are_no_pair() {
    let (one, two) = (Place::new(), Place::new());
    write_sample(&one.name(), Layout::Paired);
    let mut writer = faro::Writer::create(two.name(), faro::WriterOptions::new(3).first_partition(5)).unwrap();
    common::fill_sample(&mut writer);
    writer.finish().unwrap();
    let (Files::Paired { data, .. }, Files::Paired { index, .. }) =
        (Files::paired(one.name()), Files::paired(two.name()))
    else {
        unreachable!()
    };
    assert_eq!(
        code(open(&Files::Paired {
            data: data.clone(),
            index: index.clone()
        })),
        ErrorCode::MismatchedPair
    );
    assert_eq!(
        code(open(&Files::Paired {
            data: index.clone(),
            index: data.clone()
        })),
        ErrorCode::MismatchedPair
    );
    assert_eq!(code(open(&Files::Single(data))), ErrorCode::MismatchedPair);
    assert_eq!(code(open(&Files::Single(two.name()))), ErrorCode::Io);
}

#[test]
fn a_fragment_is_no_output() {
    for layout in [Layout::Paired, Layout::Single] {
        let place = Place::new();
        let files = write_sample(&place.name(), layout);
        for (role, path) in files.paths() {
            let good = std::fs::read(path).unwrap();
            let header = FileHeader {
                kind: FileKind::Fragment,
                ..FileHeader::parse(&good).unwrap()
            };
            std::fs::write(path, [&header.encode()[..], &good[64..]].concat()).unwrap();
            let expected = (ErrorCode::MismatchedPair, Some(8), Some(role));
            let refused = |error: faro::Error| {
                assert_eq!((error.code, error.offset, error.role), expected, "{error}");
            };
            refused(open(&files).unwrap_err());
            refused(check(&files).unwrap_err());
            refused(Follower::open(&files, ReaderOptions::default()).err().unwrap());
            if role == faro::FileRole::Data {
                refused(rebuild(&files, &RebuildOptions::default()).unwrap_err());
            }
            std::fs::write(path, &good).unwrap();
        }
        check(&files).unwrap();
    }
}
