//! The blocks of an output, each with the result of its checksum.

use std::path::Path;

use faro::block::{ANY_PARTITION, BlockHeader, Seal};

use super::model::{Rows, Value};
use crate::failure::{Failure, Outcome};
use crate::positioned::FileExt;
use crate::units::count;
use crate::view::{self, View};

const COLUMNS: [&str; 9] = [
    "offset",
    "region",
    "partition",
    "kind",
    "codec",
    "sequence",
    "stored bytes",
    "plain bytes",
    "checksum",
];

/// The first blocks of the committed regions.
pub(super) fn table(path: &Path, view: &View, most: usize) -> Outcome<Rows> {
    let (file, size) = view::open(path)?;
    let seal = Seal::new(&view.header().file_id);
    let mut rows = Vec::new();
    let mut is_cut = false;
    'regions: for (number, region) in view.regions().enumerate() {
        let extent = region?.extent();
        let mut at = extent.offset;
        while at < extent.end() && at < size {
            if rows.len() == most {
                is_cut = true;
                break 'regions;
            }
            let mut bytes = [0; BlockHeader::SIZE];
            file.read_exact_at(&mut bytes, at)
                .map_err(|source| Failure::file(path, source))?;
            let header = BlockHeader::parse(&bytes);
            let end = at.saturating_add(header.size_in_file());
            if end > extent.end() || u64::from(header.stored_size) > faro::Limits::default().max_block_size {
                // The sizes of a damaged header lead nowhere.
                rows.push(row(at, number, &header, "its size is wrong"));
                break;
            }
            let mut stored = vec![0; header.stored_size as usize];
            file.read_exact_at(&mut stored, at + BlockHeader::SIZE as u64)
                .map_err(|source| Failure::file(path, source))?;
            let is_right = bytes
                .first_chunk()
                .is_some_and(|checked| seal.checksum(checked, &stored) == header.checksum);
            rows.push(row(at, number, &header, if is_right { "right" } else { "WRONG" }));
            at = end;
        }
    }
    let note = if is_cut {
        format!("the first {} blocks", count(rows.len() as u64))
    } else {
        format!("all {} blocks", count(rows.len() as u64))
    };
    Ok(Rows {
        note,
        columns: COLUMNS.to_vec(),
        rows,
    })
}

fn row(at: u64, region: usize, header: &BlockHeader, checksum: &str) -> Vec<Value> {
    let partition = match header.partition {
        ANY_PARTITION => "shared".to_owned(),
        partition => partition.to_string(),
    };
    let codec = match header.codec {
        0 => "none".to_owned(),
        1 => "lz4".to_owned(),
        2 => "zstd".to_owned(),
        other => format!("unknown {other}"),
    };
    let kind = if header.kind == 0 {
        "data".to_owned()
    } else {
        format!("event {}", header.kind)
    };
    vec![
        Value::Number(at),
        Value::Number(region as u64),
        Value::Text(partition),
        Value::Text(kind),
        Value::Text(codec),
        Value::Number(header.sequence.into()),
        Value::Number(header.stored_size.into()),
        Value::Number(header.plain_size.into()),
        Value::Text(checksum.to_owned()),
    ]
}
