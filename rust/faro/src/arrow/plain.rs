//! Columns in the form for blocks: with unpacked dictionaries (spec, FRM-3), and without memory of other rows.

use super::ipc::refused;
use crate::error::{Error, Result};
use arrow::array::AsArray;
use arrow::array::{
    Array, ArrayRef, FixedSizeListArray, GenericListArray, GenericListViewArray, MapArray, OffsetSizeTrait,
    RecordBatch, RecordBatchOptions, StructArray, UInt64Array,
};
use arrow::buffer::OffsetBuffer;
use arrow::datatypes::{BinaryViewType, StringViewType};
use arrow::datatypes::{DataType, Field, FieldRef, Fields, Schema, SchemaRef};
use arrow::error::ArrowError;
use std::sync::Arc;

/// How columns are rewritten.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Rewrite {
    /// Replaces dictionaries by their values.
    Unpack,
    /// Drops buffers that views do not point into.
    Compact,
}

impl Rewrite {
    fn concerns(self, data_type: &DataType) -> bool {
        match data_type {
            DataType::Dictionary(_, values) => self == Rewrite::Unpack || self.concerns(values),
            DataType::Utf8View | DataType::BinaryView => self == Rewrite::Compact,
            DataType::List(field)
            | DataType::LargeList(field)
            | DataType::FixedSizeList(field, _)
            | DataType::ListView(field)
            | DataType::LargeListView(field)
            | DataType::Map(field, _) => self.concerns(field.data_type()),
            DataType::RunEndEncoded(_, values) => self.concerns(values.data_type()),
            DataType::Struct(fields) => fields.iter().any(|field| self.concerns(field.data_type())),
            DataType::Union(fields, _) => fields.iter().any(|(_, field)| self.concerns(field.data_type())),
            _ => false,
        }
    }

    /// Applies the rewrite to a batch; `schema` is the schema of the result.
    pub(super) fn apply(self, batch: &RecordBatch, schema: &SchemaRef) -> Result<RecordBatch> {
        let columns = batch
            .columns()
            .iter()
            .map(|column| self.column(column))
            .collect::<Result<_>>()?;
        with_columns(schema, columns, batch.num_rows())
    }

    fn column(self, array: &ArrayRef) -> Result<ArrayRef> {
        if !self.concerns(array.data_type()) {
            return Ok(array.clone());
        }
        let made: std::result::Result<ArrayRef, ArrowError> = match array.data_type() {
            DataType::Dictionary(..) => {
                let dictionary = array.as_any_dictionary();
                let values = arrow::compute::take(dictionary.values(), dictionary.keys(), None);
                return self.column(&values.map_err(refused)?);
            }
            DataType::Utf8View => Ok(Arc::new(array.as_byte_view::<StringViewType>().gc())),
            DataType::BinaryView => Ok(Arc::new(array.as_byte_view::<BinaryViewType>().gc())),
            DataType::Struct(fields) => {
                let columns = array.as_struct().columns().iter().map(|column| self.column(column));
                let columns = columns.collect::<Result<_>>()?;
                let made = StructArray::try_new(self.fields(fields)?, columns, array.nulls().cloned());
                made.map(|made| Arc::new(made) as _)
            }
            DataType::List(field) => self.list::<i32>(array, field)?,
            DataType::LargeList(field) => self.list::<i64>(array, field)?,
            DataType::ListView(field) => self.list_view::<i32>(array, field)?,
            DataType::LargeListView(field) => self.list_view::<i64>(array, field)?,
            DataType::FixedSizeList(field, size) => {
                let values = self.column(array.as_fixed_size_list().values())?;
                FixedSizeListArray::try_new(self.field(field)?, *size, values, array.nulls().cloned())
                    .map(|made| Arc::new(made) as _)
            }
            DataType::Map(field, ordered) => {
                let map = array.as_map();
                let (offsets, entries) = rebased(map.offsets(), &(Arc::new(map.entries().clone()) as ArrayRef));
                let entries = self.column(&entries)?.as_struct().clone();
                MapArray::try_new(self.field(field)?, offsets, entries, map.nulls().cloned(), *ordered)
                    .map(|made| Arc::new(made) as _)
            }
            // Views inside these types stay as they are, which only costs space in the file.
            other if self == Rewrite::Unpack => return Err(no_dictionary_in(other)),
            _ => Ok(array.clone()),
        };
        made.map_err(refused)
    }

    fn list<O: OffsetSizeTrait>(
        self,
        array: &ArrayRef,
        field: &FieldRef,
    ) -> Result<std::result::Result<ArrayRef, ArrowError>> {
        let list = array.as_list::<O>();
        let (offsets, values) = rebased(list.offsets(), list.values());
        let values = self.column(&values)?;
        let made = GenericListArray::try_new(self.field(field)?, offsets, values, list.nulls().cloned());
        Ok(made.map(|made| Arc::new(made) as _))
    }

    fn list_view<O: OffsetSizeTrait>(
        self,
        array: &ArrayRef,
        field: &FieldRef,
    ) -> Result<std::result::Result<ArrayRef, ArrowError>> {
        let list = array.as_list_view::<O>();
        let values = self.column(list.values())?;
        let (offsets, sizes) = (list.offsets().clone(), list.sizes().clone());
        let made = GenericListViewArray::try_new(self.field(field)?, offsets, sizes, values, list.nulls().cloned());
        Ok(made.map(|made| Arc::new(made) as _))
    }

    fn fields(self, fields: &Fields) -> Result<Fields> {
        fields.iter().map(|field| self.field(field)).collect()
    }

    fn field(self, field: &FieldRef) -> Result<FieldRef> {
        if self == Rewrite::Compact || !self.concerns(field.data_type()) {
            return Ok(field.clone());
        }
        let data_type = unpacked_type(field.data_type())?;
        Ok(Arc::new(Field::clone(field).with_data_type(data_type)))
    }
}

/// Offsets that begin at 0, and the part of the values that they cover.
fn rebased<O: OffsetSizeTrait>(offsets: &OffsetBuffer<O>, values: &ArrayRef) -> (OffsetBuffer<O>, ArrayRef) {
    let (first, last) = (offsets[0], offsets[offsets.len() - 1]);
    let values = values.slice(first.as_usize(), (last - first).as_usize());
    (
        OffsetBuffer::new(offsets.iter().map(|offset| *offset - first).collect()),
        values,
    )
}

fn no_dictionary_in(data_type: &DataType) -> Error {
    Error::argument(
        "dictionaries in structs, lists and maps at most",
        format!("one in {data_type}"),
    )
}

fn unpacked_type(data_type: &DataType) -> Result<DataType> {
    let rewrite = Rewrite::Unpack;
    Ok(match data_type {
        other if !rewrite.concerns(other) => other.clone(),
        DataType::Dictionary(_, values) => unpacked_type(values)?,
        DataType::List(field) => DataType::List(rewrite.field(field)?),
        DataType::LargeList(field) => DataType::LargeList(rewrite.field(field)?),
        DataType::ListView(field) => DataType::ListView(rewrite.field(field)?),
        DataType::LargeListView(field) => DataType::LargeListView(rewrite.field(field)?),
        DataType::FixedSizeList(field, size) => DataType::FixedSizeList(rewrite.field(field)?, *size),
        DataType::Map(field, ordered) => DataType::Map(rewrite.field(field)?, *ordered),
        DataType::Struct(fields) => DataType::Struct(rewrite.fields(fields)?),
        other => return Err(no_dictionary_in(other)),
    })
}

/// The schema of a file with batches of `schema`: the same without dictionaries.
pub(super) fn unpacked_schema(schema: &Schema) -> Result<SchemaRef> {
    let fields = Rewrite::Unpack.fields(schema.fields())?;
    Ok(Arc::new(Schema::new_with_metadata(fields, schema.metadata().clone())))
}

/// A batch with these columns, of which there may be none.
pub(super) fn with_columns(schema: &SchemaRef, columns: Vec<ArrayRef>, rows: usize) -> Result<RecordBatch> {
    let options = RecordBatchOptions::new().with_row_count(Some(rows));
    RecordBatch::try_new_with_options(schema.clone(), columns, &options).map_err(refused)
}

/// The size of a batch's rows in bytes, without other bytes in its buffers.
pub(super) fn size_of(batch: &RecordBatch) -> u64 {
    batch.columns().iter().map(|column| array_size(column)).sum()
}

fn array_size(array: &dyn Array) -> u64 {
    let bitmap = if array.nulls().is_some() {
        array.len().div_ceil(8) as u64
    } else {
        0
    };
    match array.data_type() {
        DataType::Struct(_) => {
            bitmap
                + array
                    .as_struct()
                    .columns()
                    .iter()
                    .map(|column| array_size(column))
                    .sum::<u64>()
        }
        DataType::List(_) => bitmap + list_size(array.as_list::<i32>().offsets(), array.as_list::<i32>().values()),
        DataType::LargeList(_) => bitmap + list_size(array.as_list::<i64>().offsets(), array.as_list::<i64>().values()),
        DataType::FixedSizeList(..) => bitmap + array_size(array.as_fixed_size_list().values()),
        DataType::Map(..) => {
            let map = array.as_map();
            bitmap + list_size(map.offsets(), &(Arc::new(map.entries().clone()) as ArrayRef))
        }
        _ => match array.to_data().get_slice_memory_size() {
            Ok(size) => size as u64,
            Err(_) => array.get_array_memory_size() as u64,
        },
    }
}

fn list_size<O: OffsetSizeTrait>(offsets: &OffsetBuffer<O>, values: &ArrayRef) -> u64 {
    let (first, last) = (offsets[0].as_usize(), offsets[offsets.len() - 1].as_usize());
    std::mem::size_of_val::<[O]>(offsets) as u64 + array_size(&values.slice(first, last - first))
}

/// The same batch, copied if it is a slice of a much larger one.
pub(super) fn detached(batch: RecordBatch) -> Result<RecordBatch> {
    if batch.get_array_memory_size() as u64 <= 2 * size_of(&batch) + (64 << 10) {
        return Ok(batch);
    }
    let all = UInt64Array::from_iter_values(0..batch.num_rows() as u64);
    let taken = batch
        .columns()
        .iter()
        .map(|column| arrow::compute::take(column, &all, None));
    let columns = taken.collect::<std::result::Result<_, _>>().map_err(refused)?;
    with_columns(&batch.schema(), columns, batch.num_rows())
}
