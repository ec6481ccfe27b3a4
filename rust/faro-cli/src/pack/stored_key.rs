//! The keys of rows in an output that `pack` wrote.

use faro::key::KeyValue;
use faro::{BatchDecoder, Block, Framing, Reader};

use super::args::By;
use super::columns;
use super::json_key::JsonKey;
use super::key_type::KeyType;
use super::records::{FieldSplitter, Splitting};
use super::text_key::{Column, TextKey};
use crate::failure::{Failure, Outcome};
use crate::rows::{As, Packed, property};

/// The columns of the key, as `pack` recorded them; none in an output of another writer.
pub(crate) fn by_of(reader: &Reader) -> Outcome<Option<Vec<By>>> {
    let by = property(reader, "faro.pack.by").map(By::parse_all);
    by.transpose()
        .map_err(|what| Failure::usage(format!("faro.pack.by: {what}")))
}

/// How the text of an output is split.
fn splitting(packed: &Packed) -> Outcome<Splitting> {
    match packed.format {
        Some(As::Csv) => Ok(Splitting::QuotedFields(packed.delimiter.unwrap_or(b','))),
        Some(As::Tsv) => Ok(Splitting::Fields(packed.delimiter.unwrap_or(b'\t'))),
        Some(As::Jsonl) => Ok(Splitting::Lines),
        _ => Err(Failure::usage(
            "the records have no columns that are known: `faro pack` did not write them",
        )),
    }
}

/// The names in the header line of CSV or TSV.
pub(crate) fn header_names(packed: &Packed) -> Outcome<Option<Vec<String>>> {
    let Some(header) = &packed.header else { return Ok(None) };
    let mut fields = RowFields(FieldSplitter::new(splitting(packed)?));
    let names = fields.of(header.as_bytes()).map_err(Failure::usage)?;
    let names = names.into_iter().map(|name| String::from_utf8_lossy(name).into_owned());
    Ok(Some(names.collect()))
}

/// Splits the records of CSV and TSV into fields.
pub(crate) struct RowFields(FieldSplitter);

impl RowFields {
    /// None if the records have no fields.
    pub(crate) fn new(packed: &Packed) -> Option<RowFields> {
        match splitting(packed) {
            Ok(fields @ (Splitting::QuotedFields(_) | Splitting::Fields(_))) => {
                Some(RowFields(FieldSplitter::new(fields)))
            }
            _ => None,
        }
    }

    /// The fields of a record; what is wrong with it otherwise.
    pub(crate) fn of<'a>(&'a mut self, record: &'a [u8]) -> Result<Vec<&'a [u8]>, String> {
        Ok(self.0.split(record)?.fields.iter().collect())
    }
}

/// Finds the keys of the rows of an output, block by block.
pub(crate) struct StoredKey(Kind);

enum Kind {
    Text {
        splitter: FieldSplitter,
        key: TextKey,
    },
    Arrow {
        decoder: Box<BatchDecoder>,
        positions: Vec<usize>,
    },
}

impl StoredKey {
    /// The key of these columns.
    pub(crate) fn of(reader: &Reader, by: &[By]) -> Outcome<StoredKey> {
        match reader.header().framing {
            Framing::Arrow => {
                let decoder = Box::new(reader.batch_decoder()?);
                let positions = columns::find(decoder.schema(), by).map_err(Failure::usage)?;
                Ok(StoredKey(Kind::Arrow { decoder, positions }))
            }
            Framing::Records => {
                let packed = Packed::of(reader);
                Ok(StoredKey(Kind::Text {
                    splitter: FieldSplitter::new(splitting(&packed)?),
                    key: text_key(&packed, by)?,
                }))
            }
            _ => Err(Failure::usage("the payload is opaque: it has no columns")),
        }
    }

    /// The types of the key's values; none for a JSON value whose type was not named.
    pub(crate) fn types(&self) -> Vec<Option<KeyType>> {
        match &self.0 {
            Kind::Text { key, .. } => key.types(),
            Kind::Arrow { decoder, positions } => {
                let kind = |&position: &usize| KeyType::of_arrow(decoder.schema().field(position).data_type());
                positions.iter().map(kind).collect()
            }
        }
    }

    /// Passes the key of each row of a data block to `take`, with the bytes of the row: those of its record, or its share
    /// of the batch.
    pub(crate) fn each(&mut self, block: &Block, mut take: impl FnMut(&[KeyValue<'_>], u64)) -> Outcome {
        match &mut self.0 {
            Kind::Text { splitter, key } => {
                for bytes in block.record_slices()? {
                    let found = splitter
                        .split(bytes)
                        .and_then(|record| key.with(&record, |key| take(key, bytes.len() as u64)));
                    found.map_err(|what| Failure::usage(format!("block at {}: {what}", block.offset)))?;
                }
            }
            Kind::Arrow { decoder, positions } => {
                let batch = decoder.decode(block)?;
                let columns = columns::of_batch(&batch, positions);
                let (rows, bytes) = (batch.num_rows() as u64, block.payload.len() as u64);
                let mut key = Vec::with_capacity(columns.len());
                for row in 0..batch.num_rows() {
                    key.clear();
                    key.extend(columns.iter().map(|column| column.value(row)));
                    // The shares are whole numbers, and together all bytes.
                    let until = |row: u64| (u128::from(bytes) * u128::from(row) / u128::from(rows)) as u64;
                    take(&key, until(row as u64 + 1) - until(row as u64));
                }
            }
        }
        Ok(())
    }

    /// A value of the key that no record so far has, and the names that exist instead: most likely a name was mistyped.
    pub(crate) fn missing(&self) -> Option<String> {
        let Kind::Text {
            key: TextKey::Json(key),
            ..
        } = &self.0
        else {
            return None;
        };
        let missing = key
            .missing()
            .into_iter()
            .find(|missing| missing.count == missing.records)?;
        let names = columns::list(&missing.names);
        Some(format!("no record has \"{}\"; names that exist: {names}", missing.name))
    }
}

fn text_key(packed: &Packed, by: &[By]) -> Outcome<TextKey> {
    if packed.format == Some(As::Jsonl) {
        return JsonKey::new(by, false).map(TextKey::Json).map_err(Failure::usage);
    }
    let names = header_names(packed)?;
    let column = |by: &By| {
        let position = match &names {
            Some(names) => columns::position(names, &by.name)?,
            None => columns::number(&by.name, usize::MAX).ok_or_else(|| {
                format!(
                    "without a header, columns have numbers from 1, not names such as \"{}\"",
                    by.name
                )
            })?,
        };
        let kind = by.kind.unwrap_or(KeyType::Text);
        Ok(Column { position, kind })
    };
    let columns = by.iter().map(column).collect::<Result<_, String>>();
    columns.map(TextKey::Columns).map_err(Failure::usage)
}
