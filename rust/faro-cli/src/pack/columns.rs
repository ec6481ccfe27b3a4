//! The key columns of Arrow batches.

use arrow_array::cast::AsArray;
use arrow_array::types::*;
use arrow_array::{Array, ArrayRef, BooleanArray, RecordBatch};
use arrow_schema::{DataType, Schema};
use faro::key::KeyValue;

use super::args::By;
use super::key_type::KeyType;

type Getter<'a> = Box<dyn Fn(usize) -> KeyValue<'a> + 'a>;

/// One key column of a batch.
pub(super) struct KeyColumn<'a> {
    array: &'a dyn Array,
    get: Getter<'a>,
}

impl<'a> KeyColumn<'a> {
    /// The value of a row.
    pub(super) fn value(&self, row: usize) -> KeyValue<'a> {
        if self.array.is_null(row) {
            KeyValue::Null
        } else {
            (self.get)(row)
        }
    }
}

/// The positions of the key's columns.
pub(super) fn find(schema: &Schema, by: &[By]) -> Result<Vec<usize>, String> {
    let names: Vec<&str> = schema.fields().iter().map(|field| field.name().as_str()).collect();
    let find = |by: &By| {
        if let Some(kind) = by.kind {
            return Err(format!(
                "the columns have their types: write --by {} without \":{kind}\"",
                by.name
            ));
        }
        let position = position(&names, &by.name)?;
        let data_type = schema.field(position).data_type();
        match KeyType::of_arrow(data_type) {
            Some(_) => Ok(position),
            None => Err(format!(
                "column \"{}\" has the type {data_type}, which cannot be a key",
                by.name
            )),
        }
    };
    by.iter().map(find).collect()
}

/// The position of a column, by its name or its number from 1.
pub(super) fn position<T: AsRef<str>>(names: &[T], name: &str) -> Result<usize, String> {
    let mut called = names.iter().enumerate().filter(|(_, known)| known.as_ref() == name);
    match (called.next(), called.next()) {
        (Some((position, _)), None) => Ok(position),
        (Some((first, _)), Some((second, _))) => Err(format!(
            "columns {} and {} are both called \"{name}\": name one by its number",
            first + 1,
            second + 1
        )),
        (None, _) => number(name, names.len()).ok_or_else(|| no_such_column(name, names)),
    }
}

/// A column number counted from 1, as a position.
pub(super) fn number(text: &str, columns: usize) -> Option<usize> {
    text.parse::<usize>()
        .ok()
        .filter(|n| (1..=columns).contains(n))
        .map(|n| n - 1)
}

/// The message for a column that is not there.
fn no_such_column<T: AsRef<str>>(name: &str, known: &[T]) -> String {
    let is_known = |name: &str| known.iter().any(|known| known.as_ref() == name);
    let typed = name.rsplit_once(':').filter(|(name, _)| is_known(name));
    let types = typed.map_or_else(String::new, |(_, kind)| {
        format!("; \"{kind}\" is not a type: {}", super::key_type::NAMES)
    });
    format!("there is no column \"{name}\"{types}; the columns are: {}", list(known))
}

/// The first twenty names, separated by commas.
pub(super) fn list<T: AsRef<str>>(names: &[T]) -> String {
    let mut list = names.iter().take(20).map(AsRef::as_ref).collect::<Vec<_>>().join(", ");
    if names.len() > 20 {
        list.push_str(", ...");
    }
    list
}

/// The key columns of a batch, at the positions from [`find`].
pub(super) fn of_batch<'a>(batch: &'a RecordBatch, positions: &[usize]) -> Vec<KeyColumn<'a>> {
    let column = |&position: &usize| {
        let array = batch.column(position);
        KeyColumn {
            array: array.as_ref(),
            get: getter(array),
        }
    };
    positions.iter().map(column).collect()
}

/// Integers of any width, and types that are stored as integers.
macro_rules! integers {
    ($array:expr, $type:ty) => {{
        let values = $array.as_primitive::<$type>().values();
        Box::new(move |row| KeyValue::Int(i64::from(values[row])))
    }};
}

fn getter(array: &ArrayRef) -> Getter<'_> {
    use arrow_schema::TimeUnit::*;
    match array.data_type() {
        DataType::Boolean => {
            let values: &BooleanArray = array.as_boolean();
            Box::new(move |row| KeyValue::Bool(values.value(row)))
        }
        DataType::Int8 => integers!(array, Int8Type),
        DataType::Int16 => integers!(array, Int16Type),
        DataType::Int32 => integers!(array, Int32Type),
        DataType::Int64 => integers!(array, Int64Type),
        DataType::UInt8 => integers!(array, UInt8Type),
        DataType::UInt16 => integers!(array, UInt16Type),
        DataType::UInt32 => integers!(array, UInt32Type),
        DataType::UInt64 => {
            let values = array.as_primitive::<UInt64Type>().values();
            Box::new(move |row| i64::try_from(values[row]).map_or(KeyValue::UInt(values[row]), KeyValue::Int))
        }
        DataType::Date32 => integers!(array, Date32Type),
        DataType::Date64 => integers!(array, Date64Type),
        DataType::Time32(Second) => integers!(array, Time32SecondType),
        DataType::Time32(_) => integers!(array, Time32MillisecondType),
        DataType::Time64(Microsecond) => integers!(array, Time64MicrosecondType),
        DataType::Time64(_) => integers!(array, Time64NanosecondType),
        DataType::Timestamp(Second, _) => integers!(array, TimestampSecondType),
        DataType::Timestamp(Millisecond, _) => integers!(array, TimestampMillisecondType),
        DataType::Timestamp(Microsecond, _) => integers!(array, TimestampMicrosecondType),
        DataType::Timestamp(Nanosecond, _) => integers!(array, TimestampNanosecondType),
        DataType::Duration(Second) => integers!(array, DurationSecondType),
        DataType::Duration(Millisecond) => integers!(array, DurationMillisecondType),
        DataType::Duration(Microsecond) => integers!(array, DurationMicrosecondType),
        DataType::Duration(Nanosecond) => integers!(array, DurationNanosecondType),
        _ => other_getter(array),
    }
}

fn other_getter(array: &ArrayRef) -> Getter<'_> {
    match array.data_type() {
        DataType::Float16 => {
            let values = array.as_primitive::<Float16Type>().values();
            Box::new(move |row| KeyValue::Float(values[row].to_f64()))
        }
        DataType::Float32 => {
            let values = array.as_primitive::<Float32Type>().values();
            Box::new(move |row| KeyValue::Float(f64::from(values[row])))
        }
        DataType::Float64 => {
            let values = array.as_primitive::<Float64Type>().values();
            Box::new(move |row| KeyValue::Float(values[row]))
        }
        DataType::Utf8 => Box::new(|row| KeyValue::Text(array.as_string::<i32>().value(row))),
        DataType::LargeUtf8 => Box::new(|row| KeyValue::Text(array.as_string::<i64>().value(row))),
        DataType::Utf8View => Box::new(|row| KeyValue::Text(array.as_string_view().value(row))),
        DataType::Binary => Box::new(|row| KeyValue::Binary(array.as_binary::<i32>().value(row))),
        DataType::LargeBinary => Box::new(|row| KeyValue::Binary(array.as_binary::<i64>().value(row))),
        DataType::BinaryView => Box::new(|row| KeyValue::Binary(array.as_binary_view().value(row))),
        DataType::FixedSizeBinary(_) => Box::new(|row| KeyValue::Binary(array.as_fixed_size_binary().value(row))),
        &DataType::Decimal32(_, scale) => {
            let values = array.as_primitive::<Decimal32Type>().values();
            Box::new(move |row| KeyValue::Decimal(i128::from(values[row]), scale))
        }
        &DataType::Decimal64(_, scale) => {
            let values = array.as_primitive::<Decimal64Type>().values();
            Box::new(move |row| KeyValue::Decimal(i128::from(values[row]), scale))
        }
        &DataType::Decimal128(_, scale) => {
            let values = array.as_primitive::<Decimal128Type>().values();
            Box::new(move |row| KeyValue::Decimal(values[row], scale))
        }
        DataType::Dictionary(..) => {
            let dictionary = array.as_any_dictionary();
            // Without values, every key is null, and there is nothing to normalize.
            let keys = if dictionary.values().is_empty() {
                Vec::new()
            } else {
                dictionary.normalized_keys()
            };
            let values = KeyColumn {
                array: dictionary.values().as_ref(),
                get: getter(dictionary.values()),
            };
            Box::new(move |row| values.value(keys[row]))
        }
        // The type null: `find` accepts no other.
        _ => Box::new(|_| KeyValue::Null),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::{Decimal128Array, DictionaryArray, Int8Array, StringArray, TimestampSecondArray, UInt64Array};
    use arrow_schema::Field;

    use super::*;

    fn by(name: &str) -> By {
        By {
            name: name.to_owned(),
            kind: None,
        }
    }

    fn values(array: ArrayRef) -> Vec<String> {
        let schema = Schema::new(vec![Field::new("k", array.data_type().clone(), true)]);
        let positions = find(&schema, &[by("k")]).unwrap();
        let batch = RecordBatch::try_new(Arc::new(schema), vec![array]).unwrap();
        let columns = of_batch(&batch, &positions);
        (0..batch.num_rows())
            .map(|row| format!("{:?}", columns[0].value(row)))
            .collect()
    }

    #[test]
    fn widens_and_keeps_nulls() {
        assert_eq!(
            values(Arc::new(Int8Array::from(vec![Some(-1), None]))),
            ["Int(-1)", "Null"]
        );
        assert_eq!(
            values(Arc::new(UInt64Array::from(vec![5, u64::MAX]))),
            ["Int(5)", "UInt(18446744073709551615)"]
        );
        assert_eq!(values(Arc::new(TimestampSecondArray::from(vec![7]))), ["Int(7)"]);
        assert_eq!(values(Arc::new(Decimal128Array::from(vec![150]))), ["Decimal(150, 10)"]);
        let names: ArrayRef = Arc::new(StringArray::from(vec![Some("a"), None]));
        let dictionary = DictionaryArray::<Int8Type>::new(Int8Array::from(vec![Some(1), None, Some(0)]), names);
        assert_eq!(values(Arc::new(dictionary)), ["Null", "Null", "Text(\"a\")"]);
        let dictionary: DictionaryArray<Int8Type> = [Some("a"), None, Some("a")].into_iter().collect();
        assert_eq!(values(Arc::new(dictionary)), ["Text(\"a\")", "Null", "Text(\"a\")"]);
    }

    #[test]
    fn finds_columns_by_name_and_number() {
        let nested = DataType::List(Arc::new(Field::new("item", DataType::Int8, true)));
        let schema = Schema::new(vec![
            Field::new("a", DataType::Int8, true),
            Field::new("b", nested, true),
            Field::new("c", DataType::Int8, true),
            Field::new("c", DataType::Int8, true),
        ]);
        let find = |name: &str| find(&schema, &[by(name)]);
        assert_eq!([find("a"), find("1")], [Ok(vec![0]), Ok(vec![0])]);
        assert!(find("b").unwrap_err().contains("cannot be a key"));
        assert!(find("5").unwrap_err().contains("the columns are: a, b, c, c"));
        assert!(find("c").unwrap_err().contains("columns 3 and 4 are both called"));
        assert!(
            find("a:integer")
                .unwrap_err()
                .contains("\"integer\" is not a type: text, int")
        );
    }
}
