//! The test kit for storage: right implementations pass, and each wrong one fails, with the promise that it breaks.

mod stored;

use faro::storage::{LocalFile, MemoryFile, StoredFile, check_stored_file};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use stored::{OddFile, ShortFile};

fn bytes(length: usize) -> Vec<u8> {
    (0..length).map(|at| (at * 31 + at / 251) as u8).collect()
}

/// Sizes around what the kit distinguishes.
const SIZES: [usize; 8] = [0, 1, 2, 7, 100, 4096, 10_000, 200_001];

fn memory(bytes: &[u8]) -> MemoryFile {
    MemoryFile::new("odd", bytes.to_vec())
}

#[test]
fn local_files_keep_the_promises() {
    let folder = tempfile::tempdir().unwrap();
    for size in SIZES {
        let (path, bytes) = (folder.path().join(size.to_string()), bytes(size));
        std::fs::write(&path, &bytes).unwrap();
        let file = LocalFile::open(&path).unwrap();
        check_stored_file(&file, &bytes).unwrap();
        assert_eq!(file.name(), path);
        assert_eq!(file.version(), None);
    }
}

#[test]
fn files_in_memory_keep_the_promises() {
    for size in SIZES {
        let bytes = bytes(size);
        check_stored_file(&memory(&bytes), &bytes).unwrap();
        check_stored_file(&Arc::new(memory(&bytes)), &bytes).unwrap();
        check_stored_file(&(Box::new(memory(&bytes)) as Box<dyn StoredFile>), &bytes).unwrap();
    }
}

#[test]
fn pointers_to_files_are_files() {
    let odd = || OddFile::new(memory(b"bytes"));
    let pointers: [Box<dyn StoredFile>; 2] = [Box::new(Box::new(odd())), Box::new(Arc::new(odd()))];
    for file in pointers {
        check_stored_file(&file, b"bytes").unwrap();
        assert_eq!(file.name(), std::path::Path::new("odd"));
        assert_eq!(file.version().as_deref(), Some("odd"));
    }
}

#[test]
fn short_and_interrupted_reads_are_allowed() {
    for size in [0, 1, 7, 100, 4096] {
        for seed in 0..3 {
            let bytes = bytes(size);
            check_stored_file(&ShortFile::new(memory(&bytes), seed), &bytes).unwrap();
        }
    }
}

/// Runs the kit on a wrong file; it must name the promise, and say what it saw.
fn breaks(promise: u8, says: &str, file: impl Fn(MemoryFile) -> OddFile) {
    for size in [7, 100, 4096, 70_000] {
        let bytes = bytes(size);
        let broken = check_stored_file(&file(memory(&bytes)), &bytes).unwrap_err();
        assert_eq!(broken.promise, promise, "{broken}");
        let text = broken.to_string();
        assert!(
            text.contains(says) && text.contains(&format!("promise {promise}")),
            "{text}"
        );
    }
}

#[test]
fn another_size_is_found() {
    for (has, should) in [(100, 99), (100, 101), (0, 1), (1, 0)] {
        let broken = check_stored_file(&memory(&bytes(has)), &bytes(should)).unwrap_err();
        assert_eq!(broken.promise, 1, "{broken}");
        assert!(broken.what.contains(&format!("a size of {has} bytes")), "{broken}");
    }
}

#[test]
fn more_bytes_than_asked_for_are_found() {
    breaks(2, "too many", |file| {
        OddFile::new(file).read_at(|file, offset, buffer| {
            let read = file.read_at(offset, buffer)?;
            // It claims the rest of what it has fetched.
            Ok(if read == buffer.len() && read > 0 {
                read + 1
            } else {
                read
            })
        })
    });
    breaks(2, "more than there are", |file| {
        OddFile::new(file).read_at(|file, offset, buffer| file.read_at(offset, buffer).map(|_| buffer.len()))
    });
}

#[test]
fn no_bytes_before_the_end_are_found() {
    breaks(2, "returns none", |file| {
        OddFile::new(file).read_at(|file, offset, buffer| match offset + 1 == file.size()? {
            true => Ok(0),
            false => file.read_at(offset, buffer),
        })
    });
}

#[test]
fn wrong_bytes_are_found() {
    // One byte, in the middle.
    breaks(2, "at offset", |file| {
        OddFile::new(file).read_at(|file, offset, buffer| {
            let (read, wrong) = (file.read_at(offset, buffer)?, file.size()? / 2);
            if (offset..offset + read as u64).contains(&wrong) {
                buffer[(wrong - offset) as usize] ^= 4;
            }
            Ok(read)
        })
    });
    // Bytes that were counted and not written.
    breaks(2, "at offset", |file| {
        OddFile::new(file).read_at(|file, offset, buffer| {
            let mut copy = vec![0; buffer.len()];
            file.read_at(offset, &mut copy)
        })
    });
}

#[test]
fn an_error_after_the_end_is_found() {
    for at_the_end in [true, false] {
        breaks(2, "fails", move |file| {
            OddFile::new(file).read_at(move |file, offset, buffer| match offset.cmp(&file.size()?) {
                std::cmp::Ordering::Less => file.read_at(offset, buffer),
                std::cmp::Ordering::Equal if !at_the_end => Ok(0),
                _ => Err(io::ErrorKind::UnexpectedEof.into()),
            })
        });
    }
}

#[test]
fn a_shared_position_is_found() {
    breaks(3, "threads at once", |file| {
        let position = AtomicU64::new(0);
        OddFile::new(file).read_at(move |file, offset, buffer| {
            position.store(offset, Ordering::SeqCst);
            // As between the two system calls of a seek and a read.
            std::thread::yield_now();
            file.read_at(position.load(Ordering::SeqCst), buffer)
        })
    });
}

#[test]
fn wrong_ranges_are_found() {
    let missing = |number: usize| {
        move |file: MemoryFile| {
            OddFile::new(file).read_ranges(move |file, ranges| {
                let mut others = ranges.iter_mut().enumerate().filter(|(at, _)| *at != number);
                others.try_for_each(|(_, range)| range.fill_from(file))
            })
        }
    };
    breaks(4, "number 0", missing(0));
    breaks(4, "number 6", missing(6));
    breaks(4, "ends after 1 bytes", |file| {
        OddFile::new(file).read_ranges(|file, ranges| {
            for range in ranges {
                let (offset, most) = (range.offset(), range.length().min(1));
                let read = file.read_at(offset, &mut range.buffer()[..most])?;
                range.set_filled(read);
            }
            Ok(())
        })
    });
    breaks(4, "ends after", |file| {
        OddFile::new(file).read_ranges(|file, ranges| {
            for range in ranges {
                range.fill_from(file)?;
                range.set_filled(range.filled() + 1);
            }
            Ok(())
        })
    });
    breaks(4, "fails", |file| {
        OddFile::new(file).read_ranges(|file, ranges| {
            let end = file.size()?;
            match ranges.iter().any(|range| range.offset() > end) {
                true => Err(io::ErrorKind::InvalidInput.into()),
                false => ranges.iter_mut().try_for_each(|range| range.fill_from(file)),
            }
        })
    });
    // Two ranges that are the same get the bytes of the first only.
    breaks(4, "at offset", |file| {
        OddFile::new(file).read_ranges(|file, ranges| {
            let mut seen = std::collections::BTreeSet::new();
            for range in ranges {
                match seen.insert(range.offset()) {
                    true => range.fill_from(file)?,
                    false => {
                        let there = file.size()?.saturating_sub(range.offset()) as usize;
                        range.set_filled(there.min(range.length()));
                    }
                }
            }
            Ok(())
        })
    });
}
