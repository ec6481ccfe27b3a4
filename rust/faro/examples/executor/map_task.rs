//! A map task: one attempt to write the output of a map.

use super::data::{PARTITIONS, encode, rows};
use super::memory::Share;
use faro::{Codec, Summary, Writer, WriterFigures, WriterOptions};
use std::path::Path;
use std::sync::Arc;

/// An attempt has a name of its own, so attempts that run at the same time never meet.
pub(crate) fn name(map: u32, attempt: u32) -> String {
    format!("map-{map}.attempt-{attempt}")
}

/// What the driver learns about a finished attempt.
pub(crate) struct Written {
    pub(crate) summary: Summary,
    pub(crate) figures: WriterFigures,
}

/// The options of all maps. The memory that a writer needs follows from them.
pub(crate) fn options() -> WriterOptions {
    WriterOptions::new(PARTITIONS).buffer_size(4 << 20).codec(Codec::Lz4)
}

/// Writes the output. When this fails, the writer is dropped, and removes what it has written.
pub(crate) fn run(folder: &Path, map: u32, attempt: u32, memory: Arc<Share>) -> faro::Result<Written> {
    let options = options()
        .producer(map.into())
        .attempt(attempt.into())
        .memory_budget(memory);
    let mut writer = Writer::create(folder.join(name(map, attempt)), options)?;
    for (partition, value) in rows(map) {
        writer.write(partition, &encode(value))?;
    }
    let summary = writer.finish()?;
    Ok(Written {
        summary,
        figures: writer.figures(),
    })
}
