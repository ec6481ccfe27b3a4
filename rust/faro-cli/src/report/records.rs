//! The first records of partitions, as tables.

use arrow_array::RecordBatch;
use faro::{Framing, Reader};

use super::model::Preview;
use crate::escape::escape_bytes;
use crate::failure::Outcome;
use crate::units::count;

/// The bytes of a value that are shown.
const SHOWN: usize = 200;

/// The first records of some partitions; nothing of payloads that are opaque.
pub(super) fn previews(reader: &Reader, partitions: &[u32], most: usize) -> Outcome<Vec<Preview>> {
    if most == 0 {
        return Ok(Vec::new());
    }
    let mut found = Vec::new();
    for &partition in partitions {
        let (columns, rows) = match reader.header().framing {
            Framing::Records => text(reader, partition, most)?,
            Framing::Arrow => arrow(reader, partition, most)?,
            _ => return Ok(found),
        };
        let note = format!("the first {} records", count(rows.len() as u64));
        found.push(Preview {
            partition,
            note,
            columns,
            rows,
        });
    }
    Ok(found)
}

type Table = (Vec<String>, Vec<Vec<String>>);

fn property<'a>(reader: &'a Reader, key: &str) -> Option<&'a str> {
    let properties = &reader.footer().properties;
    properties
        .iter()
        .find(|one| one.key == key)
        .map(|one| one.value.as_str())
}

/// Records as text; those of CSV and TSV with a cell for each field.
fn text(reader: &Reader, partition: u32, most: usize) -> Outcome<Table> {
    let delimiter = match property(reader, "faro.pack.format") {
        Some("csv") => property(reader, "faro.pack.delimiter")
            .and_then(|text| text.bytes().next())
            .or(Some(b',')),
        Some("tsv") => Some(b'\t'),
        _ => None,
    };
    let split = |record: &[u8]| match delimiter {
        Some(delimiter) => fields(record, delimiter),
        None => vec![shown(record)],
    };
    let columns = property(reader, "faro.pack.header").map(|header| split(header.as_bytes()));
    let mut rows = Vec::new();
    'blocks: for block in reader.partition(partition)? {
        let block = block?;
        if block.kind() != faro::block::DATA {
            continue;
        }
        for record in block.record_slices()? {
            if rows.len() == most {
                break 'blocks;
            }
            rows.push(split(record));
        }
    }
    let width = rows.iter().map(Vec::len).max().unwrap_or(1);
    let columns = columns.unwrap_or_else(|| match width {
        1 => vec!["record".to_owned()],
        _ => (0..width).map(|at| format!("field {at}")).collect(),
    });
    Ok((columns, rows))
}

/// The fields of one record of CSV or TSV.
fn fields(record: &[u8], delimiter: u8) -> Vec<String> {
    let mut reader = csv_core::ReaderBuilder::new().delimiter(delimiter).build();
    let mut out = vec![0; record.len() + 1];
    let mut ends = vec![0; record.len() + 2];
    // All of the record, and then its end, which ends its last field.
    let (_, _, wrote, some) = reader.read_record(record, &mut out, &mut ends);
    let (_, _, more, last) = reader.read_record(&[], &mut out[wrote..], &mut ends[some..]);
    let ends = &ends[..some + last];
    let _ = more;
    let mut from = 0;
    ends.iter()
        .map(|end| {
            let field = shown(out.get(from..*end).unwrap_or_default());
            from = *end;
            field
        })
        .collect()
}

fn shown(bytes: &[u8]) -> String {
    let text = escape_bytes(&bytes[..bytes.len().min(SHOWN)]);
    if bytes.len() > SHOWN {
        format!("{text}…")
    } else {
        text
    }
}

/// Rows of Arrow batches, with values as the command's CSV has them.
fn arrow(reader: &Reader, partition: u32, most: usize) -> Outcome<Table> {
    let decoder = reader.batch_decoder()?;
    let columns: Vec<String> = decoder
        .schema()
        .fields()
        .iter()
        .map(|field| field.name().clone())
        .collect();
    let mut rows = Vec::new();
    for block in reader.partition(partition)? {
        let block = block?;
        if block.kind() != faro::block::DATA {
            continue;
        }
        let batch = decoder.decode(&block)?;
        let wanted = batch.num_rows().min(most - rows.len());
        rows.extend(values(&batch.slice(0, wanted)));
        if rows.len() == most {
            break;
        }
    }
    Ok((columns, rows))
}

fn values(batch: &RecordBatch) -> Vec<Vec<String>> {
    let options = arrow_cast::display::FormatOptions::default().with_null("null");
    let formatters: Vec<_> = batch
        .columns()
        .iter()
        .map(|column| arrow_cast::display::ArrayFormatter::try_new(column, &options).ok())
        .collect();
    let value = |formatter: &Option<arrow_cast::display::ArrayFormatter<'_>>, row| match formatter {
        Some(formatter) => formatter
            .value(row)
            .try_to_string()
            .map_or_else(|error| error.to_string(), |text| shown(text.as_bytes())),
        None => "?".to_owned(),
    };
    (0..batch.num_rows())
        .map(|row| formatters.iter().map(|formatter| value(formatter, row)).collect())
        .collect()
}
