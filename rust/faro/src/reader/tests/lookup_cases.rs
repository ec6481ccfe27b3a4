//! Direct lookup in the files of the conformance cases: it finds each violation on its way, and reads what full lookup
//! reads.

use super::lookup::{blocks, messages, open};
use crate::error::ErrorCode;
use crate::{Files, Lookup};
use std::path::{Path, PathBuf};

/// The files of the conformance cases.
fn conformance_files(folder: &str) -> Vec<PathBuf> {
    let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance/cases");
    let entries = std::fs::read_dir(cases.join(folder)).unwrap();
    entries.map(|entry| entry.unwrap().path()).collect()
}

/// Whether direct lookup of each partition finds a fault at the first byte of a message.
fn faults(path: &Path) -> Vec<bool> {
    // Only single files, so that the names of the cases are unique.
    let Ok(reader) = open(&Files::Single(path.to_path_buf()), Lookup::Direct) else {
        return Vec::new();
    };
    let starts: Vec<u64> = messages(&reader).iter().map(|(offset, _)| *offset).collect();
    let is_fault = |partition| match blocks(&reader, partition) {
        Err(error) => error.code == ErrorCode::InconsistentIndex && starts.contains(&error.offset.unwrap()),
        Ok(_) => false,
    };
    reader.partitions().map(is_fault).collect()
}

fn faults_of_cases(prefix: &str) -> Vec<(String, Vec<bool>)> {
    let named = conformance_files("invalid").into_iter().filter_map(|path| {
        let name = path.file_name()?.to_str()?.to_string();
        name.starts_with(prefix).then(|| (name, faults(&path)))
    });
    named.filter(|(_, faults)| !faults.is_empty()).collect()
}

/// The rules of LKP-2, each with conformance cases that break it on the way to every partition.
#[test]
fn followed_parts_are_checked() {
    for prefix in [
        "msg-1-region-offsets-",
        "msg-1-region-root-",
        "msg-1-region-shared-",
        "msg-2-region-",
        "msg-3-region-",
        "msg-4-region-",
        "msg-5-region-",
        "msg-6-region-root-field-",
        "msg-6-region-root-shared-0-field-0-",
        "msg-6-region-u64-misaligned",
        "msg-7-region-",
        "msg-8-region-offsets-",
        "msg-8-region-shared-",
        "msg-12-region-vtable-134-of-minor-1",
        "reg-2-",
        "reg-3-",
        "reg-11-",
        "lkp-2-offsets-last",
        "lkp-2-partitions-most",
        "lkp-2-shared-",
    ] {
        let cases = faults_of_cases(prefix);
        assert!(!cases.is_empty(), "{prefix}");
        for (name, faults) in cases {
            assert!(faults.iter().all(|is_fault| *is_fault), "{name}: {faults:?}");
        }
    }
}

/// Faults on the way to some partitions are found by those only, and faults on no way by none.
#[test]
fn parts_that_are_not_followed_are_skipped() {
    for prefix in [
        "reg-4-offsets-descend",
        "reg-4-offsets-empty",
        "reg-4-offsets-less",
        "reg-4-offsets-mo",
        "reg-4-partitions-short",
        "reg-5-partitions-",
        "reg-5-rotation-most",
        "reg-5-rotation.",
        "reg-5-sparse-",
        "reg-6-",
        "reg-7-members-long",
        "reg-7-members-short",
        "reg-9-first-block-absent",
        "reg-9-first-block-long",
        "reg-9-first-block-short",
    ] {
        let cases = faults_of_cases(prefix);
        assert!(!cases.is_empty(), "{prefix}");
        for (name, faults) in cases {
            assert!(faults.contains(&true), "{name}");
        }
    }
    // Where partition 3 begins, partition 2 ends.
    let cases = faults_of_cases("lkp-2-offsets-most");
    assert!(!cases.is_empty());
    for (name, faults) in cases {
        assert_eq!(faults, [false, false, true, true], "{name}");
    }
    for prefix in [
        "reg-4-offsets-first",
        "reg-5-rotation-sparse",
        "reg-7-members-bit",
        "reg-8-",
    ] {
        let cases = faults_of_cases(prefix);
        assert!(!cases.is_empty(), "{prefix}");
        for (name, faults) in cases {
            assert!(!faults.contains(&true), "{name}: {faults:?}");
        }
    }
}

/// Files of every kind, also selective ones and those of a newer minor version. In a valid file, direct lookup reads
/// what full lookup reads; in an invalid file, it never reads anything else.
#[test]
fn the_files_of_the_conformance_cases_are_read_as_by_full_lookup() {
    let mut compared = 0;
    for folder in ["valid", "invalid"] {
        for path in conformance_files(folder) {
            let files = match path.extension().and_then(|extension| extension.to_str()) {
                Some("faro") => Files::Single(path.clone()),
                Some("index") => Files::paired(path.with_extension("")),
                _ => continue,
            };
            let Ok(full) = open(&files, Lookup::Full) else { continue };
            let direct = open(&files, Lookup::Direct).unwrap();
            let partitions = full.partitions();
            for partition in partitions.clone().take(40).chain([partitions.end - 1]) {
                let Ok(expected) = blocks(&full, partition) else {
                    continue;
                };
                match blocks(&direct, partition) {
                    Ok(found) => assert_eq!(found, expected, "{} {partition}", path.display()),
                    Err(error) => assert!(folder == "invalid", "{} {partition}: {error}", path.display()),
                }
                compared += 1;
            }
        }
    }
    assert!(compared > 500, "{compared} partitions");
}
