//! Helpers for several tests.

// Each test file is a crate and uses only a part.
#![allow(dead_code)]

use faro::{Codec, ErrorCode, Files, Layout, Reader, ReaderOptions, Result, Writer, WriterOptions};
use std::path::{Path, PathBuf};

/// A folder for one test, and a name in it.
pub(crate) struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    pub(crate) fn new() -> Self {
        Place {
            folder: tempfile::tempdir().unwrap(),
        }
    }

    pub(crate) fn name(&self) -> PathBuf {
        self.folder.path().join("out")
    }

    /// The names of all files, sorted.
    pub(crate) fn files(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.folder.path()).unwrap();
        let mut names: Vec<_> = entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    /// The final files of a layout.
    pub(crate) fn output(&self, layout: Layout) -> Files {
        match layout {
            Layout::Paired => Files::paired(self.name()),
            Layout::Single => Files::single(self.name()),
        }
    }
}

pub(crate) fn index_path(files: &Files) -> &Path {
    match files {
        Files::Single(path) => path,
        Files::Paired { index, .. } => index,
    }
}

pub(crate) fn open(files: &Files) -> Result<Reader> {
    Reader::open(files, ReaderOptions::default())
}

pub(crate) fn check(files: &Files) -> Result<faro::CheckReport> {
    faro::check(files, &faro::CheckOptions::default())
}

/// Small options with a fixed file id, so that every byte is the same each time.
pub(crate) fn options(layout: Layout, partitions: u32) -> WriterOptions {
    WriterOptions::new(partitions)
        .layout(layout)
        .file_id(Some(*b"0123456789abcdef"))
}

/// A small output with everything in it: own, broadcast and multicast records, events, three regions, statistics, a
/// property.
pub(crate) fn write_sample(name: &Path, layout: Layout) -> Files {
    let mut writer = Writer::create(name, options(layout, 3).first_partition(5)).unwrap();
    fill_sample(&mut writer);
    writer.property("key", "value").unwrap();
    writer.finish().unwrap().files
}

pub(crate) fn fill_sample(writer: &mut Writer) {
    writer.write(6, b"one").unwrap();
    writer.write(5, b"two").unwrap();
    writer.write_event(6, 64, b"!").unwrap();
    writer.broadcast(b"all").unwrap();
    writer.flush().unwrap();
    writer.multicast(&[7, 5], b"some").unwrap();
    writer.write(6, b"").unwrap();
}

/// Every block of a partition: kind and plain payload.
pub(crate) type Content = Vec<(u8, Vec<u8>)>;

pub(crate) fn content(blocks: impl Iterator<Item = Result<faro::Block>>) -> Result<Content> {
    blocks
        .map(|block| block.map(|block| (block.kind(), block.payload.to_vec())))
        .collect()
}

/// What every partition reads.
pub(crate) fn contents(reader: &Reader) -> Result<Vec<Content>> {
    reader
        .partitions()
        .map(|partition| content(reader.partition(partition)?))
        .collect()
}

/// Opens an output and reads everything.
pub(crate) fn read_all(files: &Files) -> Result<usize> {
    let reader = open(files)?;
    reader.all()?.try_fold(0, |count, block| block.map(|_| count + 1))
}

pub(crate) fn code<T>(result: Result<T>) -> ErrorCode {
    match result {
        Ok(_) => panic!("an error was expected"),
        Err(error) => error.code,
    }
}

/// Whether an error is the refusal of a budget.
pub(crate) fn is_out_of_memory(error: &faro::Error) -> bool {
    let source = error.source.as_ref().map(|source| source.kind());
    error.code == ErrorCode::Io && source == Some(std::io::ErrorKind::OutOfMemory)
}

/// Runs code that must not wait for ever.
pub(crate) fn in_time(what: impl FnOnce() + Send + 'static) {
    let (done, ended) = std::sync::mpsc::channel();
    let run = std::thread::spawn(move || {
        what();
        done.send(()).unwrap();
    });
    match ended.recv_timeout(std::time::Duration::from_secs(60)) {
        Err(std::sync::mpsc::RecvTimeoutError::Timeout) => panic!("it waits for ever"),
        _ => run.join().unwrap(),
    }
}

/// Runs code in a forked process; returns whether it returned true.
#[cfg(unix)]
pub(crate) fn in_fork(act: impl FnOnce() -> bool) -> bool {
    // SAFETY: the child runs only `act`, and ends without returning to the test harness.
    let child = unsafe { libc::fork() };
    if child == 0 {
        let good = std::panic::catch_unwind(std::panic::AssertUnwindSafe(act)).unwrap_or(false);
        // SAFETY: it ends the process.
        unsafe { libc::_exit(if good { 0 } else { 1 }) };
    }
    let mut status = 0;
    // SAFETY: the child belongs to this process, and the status is a local variable.
    assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
    status == 0
}

/// Small blocks that are compressed with a dictionary.
pub(crate) fn with_dictionary(place: &Place) -> Files {
    let options = options(Layout::Single, 8)
        .codec(Codec::Zstd)
        .dictionaries(true)
        .buffer_size(600 << 10)
        .block_size(1000);
    let mut writer = Writer::create(place.name(), options).unwrap();
    for record in 0..20_000u32 {
        let text = format!("a record like others, {record}");
        writer.write(record % 8, text.as_bytes()).unwrap();
    }
    let files = writer.finish().unwrap().files;
    let reader = open(&files).unwrap();
    assert!(!reader.dictionaries().is_empty() && reader.region_count() > 1);
    files
}
