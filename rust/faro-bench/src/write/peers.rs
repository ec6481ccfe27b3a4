//! Peers that write partitioned records: one file for each partition, each with a buffer.

use super::Task;
use crate::outcome::{Outcome, Run, timed};
use arrow_array::{ArrayRef, BinaryArray, RecordBatch, builder::BinaryBuilder};
use arrow_schema::{DataType, Field, Schema};
use std::fs::{self, File};
use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;

/// A file for each partition, with a share of the sort buffer's memory as its buffer.
pub(super) fn hash_files(task: &Task<'_>) -> Outcome<Run> {
    let share = share(task).max(256);
    let mut files = Vec::with_capacity(task.partitions as usize);
    for partition in 0..task.partitions {
        files.push((File::create_new(path(task, partition))?, Vec::with_capacity(share)));
    }
    let (seconds, ()) = timed(|| {
        task.feed(|partition, record| {
            let (file, buffer) = &mut files[partition as usize];
            if buffer.len() + 4 + record.len() > share {
                file.write_all(buffer)?;
                buffer.clear();
            }
            buffer.extend_from_slice(&(record.len() as u32).to_le_bytes());
            buffer.extend_from_slice(record);
            Ok(())
        })?;
        for (file, buffer) in &mut files {
            file.write_all(buffer)?;
        }
        Ok(())
    })?;
    drop(files);
    finish(task, seconds)
}

/// A file of Arrow record batches for each partition.
pub(super) fn arrow_ipc(task: &Task<'_>) -> Outcome<Run> {
    let create = |file, schema: &Arc<Schema>| Ok(arrow_ipc::writer::FileWriter::try_new(file, schema)?);
    let write = |writer: &mut arrow_ipc::writer::FileWriter<File>, batch: &RecordBatch| Ok(writer.write(batch)?);
    batches(task, create, write, |mut writer| Ok(writer.finish()?))
}

/// A Parquet file for each partition, without compression and dictionaries.
pub(super) fn parquet(task: &Task<'_>) -> Outcome<Run> {
    use parquet::arrow::ArrowWriter;
    use parquet::file::properties::WriterProperties;
    let properties = WriterProperties::builder().set_dictionary_enabled(false).build();
    let create = |file, schema: &Arc<Schema>| Ok(ArrowWriter::try_new(file, schema.clone(), Some(properties.clone()))?);
    let write = |writer: &mut ArrowWriter<File>, batch: &RecordBatch| {
        writer.write(batch)?;
        // The memory stays within the buffer that all subjects have.
        Ok(writer.flush()?)
    };
    batches(task, create, write, |writer| {
        writer.close()?;
        Ok(())
    })
}

fn batches<W>(
    task: &Task<'_>,
    create: impl Fn(File, &Arc<Schema>) -> Outcome<W>,
    write: impl Fn(&mut W, &RecordBatch) -> Outcome<()>,
    finish_one: impl Fn(W) -> Outcome<()>,
) -> Outcome<Run> {
    let schema = Arc::new(Schema::new(vec![Field::new("record", DataType::Binary, false)]));
    let share = share(task).max(4096);
    let mut writers = Vec::with_capacity(task.partitions as usize);
    for partition in 0..task.partitions {
        let file = File::create_new(path(task, partition))?;
        writers.push((
            create(file, &schema)?,
            BinaryBuilder::with_capacity(share / 64, share),
            0,
        ));
    }
    let batch = |builder: &mut BinaryBuilder| -> Outcome<RecordBatch> {
        let records: BinaryArray = builder.finish();
        Ok(RecordBatch::try_new(
            schema.clone(),
            vec![Arc::new(records) as ArrayRef],
        )?)
    };
    let (seconds, ()) = timed(|| {
        task.feed(|partition, record| {
            let (writer, builder, size) = &mut writers[partition as usize];
            if *size + 4 + record.len() > share {
                write(writer, &batch(builder)?)?;
                *size = 0;
            }
            *size += 4 + record.len();
            builder.append_value(record);
            Ok(())
        })?;
        for (mut writer, mut builder, size) in writers {
            if size > 0 {
                write(&mut writer, &batch(&mut builder)?)?;
            }
            finish_one(writer)?;
        }
        Ok(())
    })?;
    finish(task, seconds)
}

/// A partition's share of the sort buffer's memory.
fn share(task: &Task<'_>) -> usize {
    ((task.buffer_mib << 20) / u64::from(task.partitions)) as usize
}

fn path(task: &Task<'_>, partition: u32) -> PathBuf {
    task.folder.join(format!("p{partition}"))
}

/// Adds up the sizes of the files, and removes them.
fn finish(task: &Task<'_>, seconds: f64) -> Outcome<Run> {
    let mut stored = 0;
    for partition in 0..task.partitions {
        stored += fs::metadata(path(task, partition))?.len();
        fs::remove_file(path(task, partition))?;
    }
    Ok(Run {
        stored_bytes: Some(stored),
        files: Some(task.partitions.into()),
        ..Run::timed(seconds)
    })
}
