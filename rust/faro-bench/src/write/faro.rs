//! Faro's writer.

use super::Task;
use crate::outcome::{Outcome, Run, timed};
use faro::{Files, Writer, WriterOptions};
use std::fs;

/// Writes everything into one output, and removes it.
pub fn write(task: &Task<'_>) -> Outcome<Run> {
    let name = task.folder.join("faro");
    let options = WriterOptions::new(task.partitions)
        .buffer_size(task.buffer_mib << 20)
        .codec(task.codec);
    let mut writer = Writer::create(&name, options)?;
    let (seconds, summary) = timed(|| {
        task.feed(|partition, record| Ok(writer.write(partition, record)?))?;
        Ok(writer.finish()?)
    })?;
    drop(writer);
    let run = Run {
        stored_bytes: Some(summary.data_bytes),
        index_bytes: Some(summary.index_bytes),
        files: Some(2),
        ..Run::timed(seconds)
    };
    remove(&summary.files)?;
    Ok(run)
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
