//! Outputs to read, and what readers deliver from them.

use crate::error::{ErrorCode, FileRole};
use crate::reader::{Reader, ReaderOptions};
use crate::scheduler::SchedulerOptions;
use crate::storage::Files;
use crate::storage::seam::{Call, Hook, Verdict};
use crate::{Codec, Layout, Result, Writer, WriterOptions};
use std::path::Path;
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

/// Blocks with the values that distinguish them, and the fault after them.
pub(crate) type Reading = (
    Vec<(u64, Option<u32>, u8, Vec<u8>)>,
    Option<(ErrorCode, Option<u64>, Option<FileRole>)>,
);

pub(crate) fn collect(blocks: impl Iterator<Item = Result<crate::Block>>) -> Reading {
    let (mut found, mut fault) = (Vec::new(), None);
    for block in blocks {
        assert!(fault.is_none(), "something after a fault");
        match block {
            Ok(block) => found.push((block.offset, block.partition, block.kind(), block.payload.to_vec())),
            Err(error) => fault = Some((error.code, error.offset, error.role)),
        }
    }
    (found, fault)
}

pub(crate) fn options(gap_bytes: u64, read_bytes: u64, budget_bytes: u64) -> SchedulerOptions {
    SchedulerOptions::default()
        .gap_bytes(gap_bytes)
        .read_bytes(read_bytes)
        .budget_bytes(budget_bytes)
}

/// Regions with own, multicast and broadcast records of many sizes.
pub(crate) fn write(name: &Path, partitions: u32, regions: u32, codec: Codec, layout: Layout) -> Files {
    let options = WriterOptions::new(partitions)
        .codec(codec)
        .layout(layout)
        .block_size(900);
    let mut writer = Writer::create(name, options).unwrap();
    for region in 0..regions {
        for record in 0..partitions * 5 {
            let size = (record * 37 + region * 11) as usize % 700;
            let bytes = vec![(record + region) as u8; size];
            writer.write((record * 7 + region) % partitions, &bytes).unwrap();
        }
        writer.multicast(&[region % partitions], b"to one").unwrap();
        writer.broadcast(b"to all").unwrap();
        writer.flush().unwrap();
    }
    writer.finish().unwrap().files
}

pub(crate) fn reader(files: &Files) -> Reader {
    Reader::open(files, ReaderOptions::default()).unwrap()
}

pub(crate) fn data(files: &Files) -> std::fs::File {
    let path = match files {
        Files::Single(path) => path,
        Files::Paired { data, .. } => data,
    };
    std::fs::File::options().read(true).write(true).open(path).unwrap()
}

/// Sets a hook on both files.
pub(crate) fn hook(reader: &Reader, hook: impl Fn(Call) -> Verdict + Send + Sync + 'static) {
    let hook: Hook = Arc::new(hook);
    let files = &reader.output().opened.files;
    files.index.seam.set(Some(hook.clone()));
    if let Some(data) = &files.data {
        data.seam.set(Some(hook));
    }
}

/// Records that dictionaries compress well.
pub(crate) fn text(at: u32) -> String {
    let words = ["harbour", "lantern", "keeper", "northern", "signal", "weather"];
    let word = |n: u32| words[(n.wrapping_mul(2_654_435_761) >> 7) as usize % words.len()];
    format!("{:08x} {} {}", at.wrapping_mul(97), word(at), word(at / 3))
}

/// Waits until a condition holds; fails after a time limit.
pub(crate) fn patience(what: &str, mut holds: impl FnMut() -> bool) {
    let end = Instant::now() + Duration::from_secs(60);
    while !holds() {
        assert!(Instant::now() < end, "{what}");
        std::thread::yield_now();
    }
}

/// Runs code that must not wait for ever.
pub(crate) fn in_time(what: impl FnOnce() + Send + 'static) {
    let (done, ended) = mpsc::channel();
    let run = std::thread::spawn(move || {
        what();
        done.send(()).unwrap();
    });
    match ended.recv_timeout(Duration::from_secs(60)) {
        Err(mpsc::RecvTimeoutError::Timeout) => panic!("it waits for ever"),
        _ => run.join().unwrap(),
    }
}
