//! What an output of a few records costs: its system calls.

#![cfg(all(target_os = "linux", target_env = "gnu"))]

mod common;
mod tracer;

use common::{Place, options};
use faro::{Layout, ReaderOptions, Writer};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// From `create` to removed: 100 bytes for two partitions, both read through the reader that finishing returns.
fn one_output(name: &Path, layout: Layout) {
    let mut writer = Writer::create(name, options(layout, 2)).unwrap();
    writer.write(0, &[1; 50]).unwrap();
    writer.write(1, &[2; 50]).unwrap();
    let (summary, reader) = writer.finish_and_open(ReaderOptions::default()).unwrap();
    for partition in 0..2 {
        let read = reader.records(partition).unwrap();
        assert_eq!(read.map(|record| record.unwrap().len()).sum::<usize>(), 50);
    }
    drop(reader);
    for (_, path) in summary.files.paths() {
        std::fs::remove_file(path).unwrap();
    }
}

/// A file is looked at before it is closed while the process writes another one (PUB-6), as the other test would.
static ALONE: Mutex<()> = Mutex::new(());

fn calls_of(layout: Layout) -> Vec<String> {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let place = Place::new();
    let name = place.name();
    // The first output pays for what a process does once.
    one_output(&name, layout);
    let calls = tracer::calls_of(|| one_output(&name, layout));
    assert!(place.files().is_empty());
    calls
}

/// | call | why |
/// |---|---|
/// | `statx` of NAME.faro | a writer is refused if the name is taken when it is made (WRT-4) |
/// | `openat` of the temporary name | it fails if the name exists (PUB-2) |
/// | `statx` of the file | the list of this process's own files has its number (PUB-6) |
/// | `fcntl` | the record lock (PUB-6) |
/// | `statx` of the temporary name | whether the file was removed before it was locked (PUB-6) |
/// | `write` | header, blocks, region message, footer and tail at once |
/// | `renameat2` | the final name, if it is free (PUB-3). A file system without it takes a link and an unlink |
/// | `fcntl` | the record lock is given back, since the reader keeps the descriptor (PUB-6) |
/// | 2 × `pread64` | the partitions |
/// | `close` | the end of the reader |
/// | `unlink` | the caller removes the output |
#[test]
fn a_single_file_costs_twelve_calls() {
    let expected = "statx openat statx fcntl statx write renameat2 fcntl pread64 pread64 close unlink";
    assert_eq!(calls_of(Layout::Single).join(" "), expected);
}

/// A pair costs each of these for both files, except the reads. In addition, the writer looks once more whether the
/// name of the index is free, and asks for the number of the data file, which it takes back if the index is refused.
#[test]
fn a_pair_costs_twenty_four_calls() {
    let calls = calls_of(Layout::Paired);
    assert_eq!(calls.len(), 24, "{calls:?}");
}
