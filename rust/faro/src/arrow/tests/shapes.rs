//! Columns of all shapes come back unchanged, dictionaries as their values.

use super::{folder, open, read};
use crate::arrow::ArrowWriter;
use crate::{ErrorCode, WriterOptions};
use arrow::array::AsArray;
use arrow::array::builder::{ListBuilder, MapBuilder, StringBuilder, StringDictionaryBuilder};
use arrow::array::{
    Array, ArrayRef, BinaryArray, BooleanArray, DictionaryArray, FixedSizeListArray, Float64Array, Int32Array,
    NullArray, RecordBatch, RunArray, StringArray, StringViewArray, StructArray, UInt64Array, UnionArray,
};
use arrow::datatypes::{DataType, Field, UnionFields, UnionMode};
use arrow::datatypes::{Int8Type, Int32Type};
use std::sync::Arc;

const ROWS: usize = 300;

fn words() -> impl Iterator<Item = Option<&'static str>> {
    (0..ROWS).map(|n| (n % 5 != 3).then_some(["", "of", "a text that does not fit into a view", "four"][n % 4]))
}

fn dictionary() -> DictionaryArray<Int8Type> {
    words().collect()
}

fn list() -> ArrayRef {
    let mut list = ListBuilder::new(StringDictionaryBuilder::<Int8Type>::new());
    for (n, word) in words().enumerate() {
        for _ in 0..n % 3 {
            list.values().append_option(word);
        }
        list.append(n % 7 != 0);
    }
    Arc::new(list.finish())
}

fn map() -> ArrayRef {
    let mut map = MapBuilder::new(None, StringBuilder::new(), StringDictionaryBuilder::<Int8Type>::new());
    for (n, word) in words().enumerate() {
        for key in 0..n % 3 {
            map.keys().append_value(key.to_string());
            map.values().append_option(word);
        }
        map.append(true).unwrap();
    }
    Arc::new(map.finish())
}

fn union() -> ArrayRef {
    let fields = [
        Field::new("i", DataType::Int32, true),
        Field::new("s", DataType::Utf8, true),
    ];
    let children: Vec<ArrayRef> = vec![
        Arc::new(Int32Array::from_iter_values(0..ROWS as i32)),
        Arc::new(words().collect::<StringArray>()),
    ];
    let ids = (0..ROWS).map(|n| (n % 2) as i8).collect();
    let fields = UnionFields::try_new([0, 1], fields).unwrap();
    Arc::new(UnionArray::try_new(fields, ids, None, children).unwrap())
}

/// A column of each shape.
pub(super) fn batch() -> RecordBatch {
    let numbers = || Int32Array::from_iter((0..ROWS as i32).map(|n| (n % 4 != 0).then_some(n)));
    let dictionary_field = Arc::new(Field::new("d", dictionary().data_type().clone(), true));
    let structure = StructArray::from(vec![
        (dictionary_field, Arc::new(dictionary()) as ArrayRef),
        (Arc::new(Field::new("n", DataType::Int32, true)), Arc::new(numbers())),
    ]);
    let pairs = Arc::new(Int32Array::from_iter_values(0..2 * ROWS as i32));
    let pair_field = Arc::new(Field::new("p", DataType::Int32, false));
    let run_ends = Int32Array::from_iter_values((1..=ROWS as i32 / 3).map(|n| 3 * n));
    let run_values = StringArray::from_iter_values((0..ROWS / 3).map(|n| n.to_string()));
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("row", Arc::new(UInt64Array::from_iter_values(0..ROWS as u64))),
        ("number", Arc::new(numbers())),
        (
            "real",
            Arc::new(Float64Array::from_iter_values((0..ROWS).map(|n| n as f64 / 3.0))),
        ),
        (
            "bool",
            Arc::new((0..ROWS).map(|n| Some(n % 3 == 0)).collect::<BooleanArray>()),
        ),
        ("text", Arc::new(words().collect::<StringArray>())),
        (
            "bytes",
            Arc::new(words().map(|word| word.map(str::as_bytes)).collect::<BinaryArray>()),
        ),
        ("view", Arc::new(words().collect::<StringViewArray>())),
        ("null", Arc::new(NullArray::new(ROWS))),
        ("dictionary", Arc::new(dictionary())),
        ("struct", Arc::new(structure)),
        ("list", list()),
        ("map", map()),
        (
            "pair",
            Arc::new(FixedSizeListArray::try_new(pair_field, 2, pairs, None).unwrap()),
        ),
        ("union", union()),
        ("runs", Arc::new(RunArray::try_new(&run_ends, &run_values).unwrap())),
    ];
    RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(name, column)| (name, column, true))).unwrap()
}

/// The values of a row, column by column, for all types.
fn values(batch: &RecordBatch, row: usize) -> Vec<String> {
    batch.columns().iter().map(|column| value(column, row)).collect()
}

fn value(column: &dyn Array, row: usize) -> String {
    if let Some(dictionary) = column.as_any_dictionary_opt() {
        let key = dictionary.normalized_keys();
        return if dictionary.is_null(row) {
            "null".into()
        } else {
            value(dictionary.values(), key[row])
        };
    }
    let each = |values: ArrayRef| {
        (0..values.len())
            .map(|at| value(&values, at))
            .collect::<Vec<_>>()
            .join(",")
    };
    match column.data_type() {
        _ if column.is_null(row) => "null".into(),
        DataType::RunEndEncoded(..) => {
            let runs = column.as_run::<Int32Type>();
            value(runs.values(), runs.get_physical_index(row))
        }
        DataType::Struct(_) => column
            .as_struct()
            .columns()
            .iter()
            .map(|column| value(column, row))
            .collect::<Vec<_>>()
            .join(";"),
        DataType::List(_) => each(column.as_list::<i32>().value(row)),
        DataType::Map(..) => each(Arc::new(column.as_map().value(row))),
        DataType::Union(_, UnionMode::Sparse) => each(column.as_union().value(row)),
        _ => format!("{:?}", column.slice(row, 1)),
    }
}

#[test]
fn all_shapes_come_back() {
    let batch = batch();
    let (_folder, name) = folder();
    let mut options = WriterOptions::new(3);
    options.block_size = 3000;
    options.buffer_size = 20_000;
    let mut writer = ArrowWriter::create(&name, batch.schema(), options).unwrap();
    let partition_of = |row: usize| (row % 7 % 3) as u32;
    // In slices with shared buffers.
    for at in (0..ROWS).step_by(50) {
        writer
            .write(
                &batch.slice(at, 50),
                &(at..at + 50).map(partition_of).collect::<Vec<_>>(),
            )
            .unwrap();
    }
    writer.broadcast(&batch.slice(10, 20)).unwrap();
    writer.finish().unwrap();
    let reader = open(&name);
    let schema = reader.arrow_schema().unwrap();
    assert_eq!(
        *schema.field_with_name("dictionary").unwrap().data_type(),
        DataType::Utf8
    );
    assert!(!format!("{schema:?}").contains("Dictionary"));
    for partition in 0..3 {
        let expected: Vec<_> = (0..ROWS)
            .filter(|row| partition_of(*row) == partition)
            .chain(10..30)
            .collect();
        let batches = read(&reader, partition);
        assert!(batches.len() > 2);
        let found: Vec<_> = batches
            .iter()
            .flat_map(|batch| (0..batch.num_rows()).map(move |row| values(batch, row)))
            .collect();
        assert_eq!(found.len(), expected.len());
        for (found, row) in found.iter().zip(expected) {
            assert_eq!(*found, values(&batch, row));
        }
    }
}

#[test]
fn views_take_no_bytes_along_that_they_do_not_show() {
    let long = "z".repeat(1000);
    let views: ArrayRef = Arc::new(StringViewArray::from_iter_values(
        (0..1000).map(|n| format!("{n}{long}")),
    ));
    let batch = RecordBatch::try_from_iter([("view", views)]).unwrap();
    let (_folder, name) = folder();
    let mut writer = ArrowWriter::create(&name, batch.schema(), WriterOptions::new(100)).unwrap();
    writer
        .write(&batch, &(0..1000).map(|row| row % 100).collect::<Vec<_>>())
        .unwrap();
    let summary = writer.finish().unwrap();
    assert!(
        (1_000_000..1_300_000).contains(&summary.data_bytes),
        "{}",
        summary.data_bytes
    );
}

#[test]
fn a_dictionary_in_a_union_is_refused() {
    let fields = UnionFields::try_new([0], [Field::new("d", dictionary().data_type().clone(), true)]).unwrap();
    let ids = [0; ROWS].into_iter().collect();
    let union: ArrayRef = Arc::new(UnionArray::try_new(fields, ids, None, vec![Arc::new(dictionary())]).unwrap());
    let batch = RecordBatch::try_from_iter([("u", union)]).unwrap();
    let (_folder, name) = folder();
    let Err(error) = ArrowWriter::create(&name, batch.schema(), WriterOptions::new(1)) else {
        panic!("a writer was made");
    };
    assert_eq!(error.code, ErrorCode::InvalidArgument);
}
