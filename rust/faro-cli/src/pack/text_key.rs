//! The key of records of CSV or TSV: columns with their types.

use faro::key::KeyValue;

use super::json_key::JsonKey;
use super::key_type::KeyType;
use super::records::{Fields, Record};

/// The columns of the key in a record.
#[derive(Debug)]
pub(super) enum TextKey {
    Columns(Vec<Column>),
    Json(JsonKey),
}

/// A column of the key, counted from 0.
#[derive(Clone, Copy, Debug)]
pub(super) struct Column {
    pub position: usize,
    pub kind: KeyType,
}

impl TextKey {
    /// Finds the key of a record, and passes it to `then`. The caller adds the line to the text of a failure.
    pub(super) fn with<T>(
        &mut self,
        record: &Record<'_>,
        then: impl FnOnce(&[KeyValue<'_>]) -> T,
    ) -> Result<T, String> {
        match self {
            TextKey::Columns(columns) => {
                let values = columns.iter().map(|column| value(record.fields, *column));
                Ok(then(&values.collect::<Result<Vec<_>, _>>()?))
            }
            TextKey::Json(key) => key.with(record.bytes, then),
        }
    }

    /// The types of the key's values.
    pub(super) fn types(&self) -> Vec<Option<KeyType>> {
        match self {
            TextKey::Columns(columns) => columns.iter().map(|column| Some(column.kind)).collect(),
            TextKey::Json(key) => key.types(),
        }
    }
}

fn value(fields: Fields<'_>, column: Column) -> Result<KeyValue<'_>, String> {
    let number = column.position + 1;
    let field = fields.get(column.position);
    let field = field.ok_or_else(|| format!("there is no column {number}: the record has {}", fields.count()))?;
    let text = std::str::from_utf8(field)
        .map_err(|_| format!("column {number}: the key is not UTF-8: convert the file, for example with iconv"))?;
    column.kind.field(text)
}

#[cfg(test)]
mod tests {
    use super::super::records::{Records, Splitting};
    use super::*;

    fn column(record: &[u8], position: usize, kind: KeyType) -> Result<String, String> {
        let mut records = Records::new(record, Splitting::QuotedFields(b','));
        let record = records.next().unwrap().unwrap();
        TextKey::Columns(vec![Column { position, kind }]).with(&record, |key| format!("{:?}", key[0]))
    }

    #[test]
    fn takes_columns_by_their_type() {
        assert_eq!(column(b"a,\"7\"", 1, KeyType::Text).unwrap(), "Text(\"7\")");
        assert_eq!(column(b"a, 7", 1, KeyType::Int).unwrap(), "Int(7)");
        assert!(
            column(b"a,x", 1, KeyType::Float(64))
                .unwrap_err()
                .contains("not a float")
        );
        assert!(
            column(b"a,x", 2, KeyType::Text)
                .unwrap_err()
                .contains("no column 3: the record has 2")
        );
        assert!(column(b"a,\xff", 1, KeyType::Text).unwrap_err().contains("iconv"));
    }
}
