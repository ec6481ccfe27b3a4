//! The first records of partitions, as tables.

use arrow_array::RecordBatch;
use faro::{Framing, Reader};

use super::model::Preview;
use crate::escape::escape_bytes;
use crate::failure::Outcome;
use crate::pack::{RowFields, header_names};
use crate::rows::Packed;
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

/// Records as text; those of CSV and TSV with a cell for each field.
fn text(reader: &Reader, partition: u32, most: usize) -> Outcome<Table> {
    let packed = Packed::of(reader);
    let columns = match RowFields::new(&packed) {
        Some(_) => header_names(&packed)?,
        None => None,
    };
    let mut fields = RowFields::new(&packed);
    let mut split = |record: &[u8]| match fields.as_mut().map(|fields| fields.of(record)) {
        Some(Ok(found)) => found.into_iter().map(shown).collect(),
        // A record that is not of its format is shown as it is.
        _ => vec![shown(record)],
    };
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
