//! Faro's writer.

use super::Task;
use crate::outcome::{Outcome, Run, timed};
use faro::{Files, Reader, ReaderOptions, Summary, Writer, WriterOptions};
use std::fs;

/// The threads of a writer.
#[derive(Clone, Copy)]
pub(super) struct Threads {
    /// How many compress.
    pub compress: usize,
    /// Whether another one writes a full sort buffer while the caller fills the next.
    pub double_buffer: bool,
}

/// Only the caller's.
pub(super) const ALONE: Threads = Threads {
    compress: 1,
    double_buffer: false,
};

/// Writes all records to one output, and removes it.
pub(super) fn write(task: &Task<'_>, threads: Threads) -> Outcome<Run> {
    let (seconds, summary) = written(task, threads)?;
    if task.verify {
        verify(task, &summary.files)?;
    }
    remove(&summary.files)?;
    Ok(Run {
        stored_bytes: Some(summary.data_bytes),
        index_bytes: Some(summary.index_bytes),
        files: Some(2),
        ..Run::timed(seconds)
    })
}

/// Writes all records to one output.
pub(super) fn written(task: &Task<'_>, threads: Threads) -> Outcome<(f64, Summary)> {
    let name = task.folder.join("faro");
    let options = WriterOptions::new(task.partitions)
        .buffer_size(task.buffer_mib << 20)
        .codec(task.codec)
        .compress_threads(threads.compress)
        .double_buffer(threads.double_buffer);
    let mut writer = Writer::create(&name, options)?;
    timed(|| {
        task.feed(|partition, record| Ok(writer.write(partition, record)?))?;
        Ok(writer.finish()?)
    })
}

/// Reads all records, and compares them with those written.
pub(super) fn verify(task: &Task<'_>, files: &Files) -> Outcome<()> {
    let reader = Reader::open(files, ReaderOptions::default())?;
    let mut expected = vec![Vec::new(); task.partitions as usize];
    task.feed(|partition, record| {
        expected[partition as usize].push(record.to_vec());
        Ok(())
    })?;
    for (partition, expected) in (0..).zip(expected) {
        let mut expected = expected.into_iter();
        for block in reader.partition(partition)? {
            for record in block?.record_slices()? {
                if expected.next().as_deref() != Some(record) {
                    return Err(format!("partition {partition} holds another record than it was given").into());
                }
            }
        }
        if expected.next().is_some() {
            return Err(format!("partition {partition} holds fewer records than it was given").into());
        }
    }
    Ok(())
}

fn remove(files: &Files) -> Outcome<()> {
    match files {
        Files::Single(path) => fs::remove_file(path)?,
        Files::Paired { data, index } => {
            fs::remove_file(data)?;
            fs::remove_file(index)?;
        }
    }
    Ok(())
}
