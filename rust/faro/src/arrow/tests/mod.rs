//! Tests of writing and reading batches.

mod bad_input;
mod shapes;

use super::ArrowWriter;
use crate::{Codec, ErrorCode, Files, Reader, ReaderOptions, Result, WriterOptions};
use arrow::array::AsArray;
use arrow::array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use arrow::datatypes::Int64Type;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tempfile::TempDir;

fn folder() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let name = folder.path().join("shuffle");
    (folder, name)
}

fn open(name: &Path) -> Reader {
    Reader::open(&Files::locate(name).unwrap(), ReaderOptions::default()).unwrap()
}

fn read(reader: &Reader, partition: u32) -> Vec<RecordBatch> {
    reader.batches(partition).unwrap().collect::<Result<_>>().unwrap()
}

/// Batches of one column of numbers.
fn numbers(values: impl IntoIterator<Item = i64>) -> RecordBatch {
    let values: ArrayRef = Arc::new(Int64Array::from_iter_values(values));
    RecordBatch::try_from_iter([("n", values)]).unwrap()
}

fn numbers_of(reader: &Reader, partition: u32) -> Vec<i64> {
    let batches = read(reader, partition);
    batches
        .iter()
        .flat_map(|batch| batch.column(0).as_primitive::<Int64Type>().values().to_vec())
        .collect()
}

#[test]
fn each_partition_reads_its_rows_in_order() {
    for codec in [Codec::None, Codec::Zstd] {
        for (count, rotation) in [(3, 2), (1000, 7)] {
            let (_folder, name) = folder();
            let mut options = WriterOptions::new(count);
            options.first_partition = 5;
            options.rotation = rotation;
            options.block_size = 1000;
            options.buffer_size = 40_000;
            options.codec = codec;
            let mut writer = ArrowWriter::create(&name, numbers([]).schema(), options).unwrap();
            for part in 0..40 {
                let batch = numbers(part * 250..(part + 1) * 250);
                let partitions: Vec<u32> = (0..250).map(|row| 5 + row * row % 3).collect();
                writer.write(&batch, &partitions).unwrap();
            }
            writer.property("k", "v").unwrap();
            let summary = writer.finish().unwrap();
            assert!(summary.regions > 1);
            assert_eq!(
                writer.write(&numbers([1]), &[5]).unwrap_err().code,
                ErrorCode::InvalidArgument
            );

            let reader = open(&name);
            assert_eq!(reader.arrow_schema().unwrap(), numbers([]).schema());
            assert_eq!(reader.footer().properties[0].value, "v");
            let records = reader.footer().statistics.as_ref().unwrap().records.clone().unwrap();
            for partition in 0..3 {
                let expected: Vec<i64> = (0..10_000)
                    .filter(|n| (n % 250) * (n % 250) % 3 == i64::from(partition))
                    .collect();
                assert_eq!(numbers_of(&reader, 5 + partition), expected);
                assert_eq!(records[partition as usize], expected.len() as u64);
            }
            crate::check(&Files::locate(&name).unwrap(), &crate::CheckOptions::default()).unwrap();
        }
    }
}

/// The reader has the schema and the rows. A limit that only the schema breaks is reported too.
#[test]
fn a_finished_output_is_handed_over() {
    for layout in [crate::Layout::Paired, crate::Layout::Single] {
        let (_folder, name) = folder();
        let write = |reading: ReaderOptions| {
            let options = WriterOptions::new(3).layout(layout).overwrite(true).statistics(false);
            let mut writer = ArrowWriter::create(&name, numbers([]).schema(), options).unwrap();
            writer.write(&numbers(0..90), &[0, 1, 2].repeat(30)).unwrap();
            let finished = writer.finish_and_open(reading);
            let again = writer.write(&numbers([1]), &[0]).unwrap_err();
            assert_eq!(again.code, ErrorCode::InvalidArgument);
            finished
        };
        let (summary, reader) = write(ReaderOptions::default()).unwrap();
        let by_name = open(&name);
        assert_eq!((summary.regions, summary.blocks), (1, 3));
        assert_eq!(reader.schema_message(), by_name.schema_message());
        assert_eq!(reader.arrow_schema().unwrap(), numbers([]).schema());
        for partition in 0..3 {
            assert_eq!(numbers_of(&reader, partition), numbers_of(&by_name, partition));
        }
        let small = ReaderOptions::default().limits(crate::Limits::default().max_message_size(150));
        let refused = write(small.clone()).unwrap_err();
        assert_eq!((refused.code, refused.offset), (ErrorCode::LimitExceeded, Some(64)));
        let by_name = Reader::open(&summary.files, small).unwrap_err();
        assert!(refused.to_string().starts_with(&by_name.to_string()), "{refused}");
    }
}

#[test]
fn blocks_come_near_the_block_size() {
    let (_folder, name) = folder();
    let mut options = WriterOptions::new(2);
    options.block_size = 8000;
    // Partition 0 has short rows, partition 1 long ones.
    let long = "x".repeat(500);
    let text: ArrayRef = Arc::new(StringArray::from_iter_values(
        (0..4000).map(|n| if n % 2 == 0 { "" } else { &long }),
    ));
    let batch = RecordBatch::try_from_iter([("text", text)]).unwrap();
    let mut writer = ArrowWriter::create(&name, batch.schema(), options).unwrap();
    writer
        .write(&batch, &(0..4000).map(|n| n % 2).collect::<Vec<_>>())
        .unwrap();
    writer.finish().unwrap();
    let reader = open(&name);
    for partition in 0..2 {
        let sizes: Vec<usize> = reader
            .partition(partition)
            .unwrap()
            .map(|block| block.unwrap().payload.len())
            .collect();
        let (_, whole) = sizes.split_last().unwrap();
        assert!(whole.iter().all(|size| (4000..17_000).contains(size)), "{sizes:?}");
    }
}

#[test]
fn shared_rows_keep_their_place() {
    for ordered in [true, false] {
        let (_folder, name) = folder();
        let mut options = WriterOptions::new(4);
        options.ordered = ordered;
        let mut writer = ArrowWriter::create(&name, numbers([]).schema(), options).unwrap();
        writer.broadcast(&numbers([1])).unwrap();
        writer.write(&numbers([2, 3]), &[0, 1]).unwrap();
        writer.multicast(&[3, 0, 0], &numbers([4])).unwrap();
        writer.multicast(&[0, 1, 2, 3], &numbers([5])).unwrap();
        writer.broadcast(&numbers([6])).unwrap();
        assert_eq!(
            writer.multicast(&[], &numbers([7])).unwrap_err().code,
            ErrorCode::InvalidArgument
        );
        assert_eq!(
            writer.multicast(&[4], &numbers([7])).unwrap_err().code,
            ErrorCode::InvalidArgument
        );
        writer.flush().unwrap();
        writer.finish().unwrap();
        let reader = open(&name);
        let mut all: Vec<_> = (0..4).map(|partition| numbers_of(&reader, partition)).collect();
        if !ordered {
            all.iter_mut().for_each(|numbers| numbers.sort_unstable());
        }
        assert_eq!(
            all,
            [vec![1, 2, 4, 5, 6], vec![1, 3, 5, 6], vec![1, 5, 6], vec![1, 4, 5, 6]]
        );
        assert_eq!(reader.region_count(), if ordered { 2 } else { 1 });
    }
}

#[test]
fn a_batch_that_is_refused_leaves_the_writer_as_it_was() {
    let (_folder, name) = folder();
    let mut options = WriterOptions::new(2);
    options.max_plain_size = 1000;
    let text = |values: &[&str]| {
        let values: ArrayRef = Arc::new(StringArray::from_iter_values(values));
        RecordBatch::try_from_iter([("text", values)]).unwrap()
    };
    let mut writer = ArrowWriter::create(&name, text(&[]).schema(), options).unwrap();
    let long = "x".repeat(1000);
    let code = |result: Result<()>| result.unwrap_err().code;
    assert_eq!(
        code(writer.write(&text(&["a", &long]), &[0, 1])),
        ErrorCode::LimitExceeded
    );
    assert_eq!(code(writer.broadcast(&text(&[&long]))), ErrorCode::LimitExceeded);
    assert_eq!(
        code(writer.write(&text(&["a", "b"]), &[0, 2])),
        ErrorCode::InvalidArgument
    );
    assert_eq!(code(writer.write(&text(&["a", "b"]), &[0])), ErrorCode::InvalidArgument);
    assert_eq!(code(writer.write(&numbers([1]), &[0])), ErrorCode::InvalidArgument);
    writer.write(&text(&[]), &[]).unwrap();
    // Too large for one block together, so there are several.
    writer.write(&text(&[&long[..400]; 5]), &[1; 5]).unwrap();
    writer.finish().unwrap();
    let batches = read(&open(&name), 1);
    assert!(batches.len() > 1);
    assert_eq!(batches.iter().map(RecordBatch::num_rows).sum::<usize>(), 5);
}

#[test]
fn an_aborted_writer_leaves_nothing() {
    let (folder, name) = folder();
    let mut writer = ArrowWriter::create(&name, numbers([]).schema(), WriterOptions::new(2)).unwrap();
    writer.write(&numbers([1]), &[1]).unwrap();
    writer.flush().unwrap();
    writer.abort().unwrap();
    writer.abort().unwrap();
    assert_eq!(writer.finish().unwrap_err().code, ErrorCode::InvalidArgument);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}
