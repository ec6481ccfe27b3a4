//! Compares the contents of partitions, regardless of blocks.

use arrow_array::RecordBatch;
use bytes::{Buf, Bytes};
use faro::{Framing, Reader};
use serde::Serialize;

use crate::failure::{Failure, Outcome};

/// The result.
#[derive(Debug, Serialize)]
pub(super) struct Content {
    /// Partitions that either output has.
    pub partitions: u32,
    pub different: Vec<PartitionDifference>,
}

impl Content {
    pub(super) fn is_equal(&self) -> bool {
        self.different.is_empty()
    }
}

/// A partition with different contents, and the first difference.
#[derive(Debug, Serialize)]
pub(super) struct PartitionDifference {
    pub partition: u32,
    pub what: String,
}

/// Compares all partitions.
pub(super) fn compare(a: &Reader, b: &Reader) -> Outcome<Content> {
    let (x, y) = (a.header().framing, b.header().framing);
    if x != y {
        let what = format!(
            "contents with framing {} and {} cannot be compared",
            x.as_str(),
            y.as_str()
        );
        return Err(Failure::usage(what));
    }
    let (first, second) = (a.partitions(), b.partitions());
    let all = first.start.min(second.start)..first.end.max(second.end);
    let mut content = Content {
        partitions: all.end - all.start,
        different: Vec::new(),
    };
    for partition in all {
        let what = match (first.contains(&partition), second.contains(&partition)) {
            (true, true) => compare_partition(a, b, partition)?,
            (true, false) => only_in(a, "first", partition)?,
            (false, true) => only_in(b, "second", partition)?,
            (false, false) => None,
        };
        content
            .different
            .extend(what.map(|what| PartitionDifference { partition, what }));
    }
    Ok(content)
}

fn only_in(reader: &Reader, which: &str, partition: u32) -> Outcome<Option<String>> {
    let bytes = reader.stored_bytes(partition)?;
    Ok((bytes > 0).then(|| format!("only in the {which}")))
}

/// An item that a reader of a partition gets.
#[derive(Debug, PartialEq)]
enum Item {
    Bytes(Bytes),
    Event(u8, Bytes),
}

/// Reads the items of a partition. Bytes between events are one stream.
struct Items {
    blocks: faro::Blocks,
    rest: Bytes,
}

impl Items {
    fn new(reader: &Reader, partition: u32) -> Outcome<Items> {
        Ok(Items {
            blocks: reader.partition(partition)?,
            rest: Bytes::new(),
        })
    }

    /// The next item. Bytes come as many as a block has left.
    fn next(&mut self) -> Outcome<Option<Item>> {
        if !self.rest.is_empty() {
            return Ok(Some(Item::Bytes(std::mem::take(&mut self.rest))));
        }
        let Some(block) = self.blocks.next() else {
            return Ok(None);
        };
        let block = block?;
        let event = faro::block::is_event_kind(block.kind());
        Ok(Some(if event {
            Item::Event(block.kind(), block.payload)
        } else {
            Item::Bytes(block.payload)
        }))
    }

    fn put_back(&mut self, bytes: Bytes) {
        self.rest = bytes;
    }
}

fn compare_partition(a: &Reader, b: &Reader, partition: u32) -> Outcome<Option<String>> {
    if a.header().framing == Framing::Arrow {
        return compare_rows(a, b, partition);
    }
    let (mut x, mut y) = (Items::new(a, partition)?, Items::new(b, partition)?);
    let mut offset = 0u64;
    let records = a.header().framing == Framing::Records;
    let differ = loop {
        match (x.next()?, y.next()?) {
            (None, None) => return Ok(None),
            (Some(Item::Bytes(mut p)), Some(Item::Bytes(mut q))) => {
                let least = p.len().min(q.len());
                let common = if p[..least] == q[..least] {
                    least
                } else {
                    p.iter().zip(&q).take_while(|(p, q)| p == q).count()
                };
                offset += common as u64;
                p.advance(common);
                q.advance(common);
                if !p.is_empty() && !q.is_empty() {
                    break format!("bytes differ at {offset}");
                }
                x.put_back(p);
                y.put_back(q);
            }
            (Some(p), Some(q)) if p == q => {}
            (None, _) => break format!("the first ends after {offset} bytes"),
            (_, None) => break format!("the second ends after {offset} bytes"),
            _ => break format!("events differ after {offset} bytes"),
        }
    };
    Ok(Some(if records {
        first_record(a, b, partition)?.unwrap_or(differ)
    } else {
        differ
    }))
}

/// The first record that differs.
fn first_record(a: &Reader, b: &Reader, partition: u32) -> Outcome<Option<String>> {
    let (mut x, mut y) = (a.records(partition)?, b.records(partition)?);
    for i in 0u64.. {
        match (x.next().transpose()?, y.next().transpose()?) {
            (None, None) => return Ok(None),
            (Some(p), Some(q)) if p == q => {}
            (Some(_), Some(_)) => return Ok(Some(format!("record {i} differs"))),
            (None, _) => return Ok(Some(format!("the first ends after {i} records"))),
            (_, None) => return Ok(Some(format!("the second ends after {i} records"))),
        }
    }
    Ok(None)
}

/// Compares rows in runs that are as long as both batches allow.
fn compare_rows(a: &Reader, b: &Reader, partition: u32) -> Outcome<Option<String>> {
    let (first, second) = (a.arrow_schema()?, b.arrow_schema()?);
    if first.fields() != second.fields() {
        return Ok(Some("the schemas differ".to_owned()));
    }
    let (mut x, mut y) = (a.batches(partition)?, b.batches(partition)?);
    let empty = || RecordBatch::new_empty(first.clone());
    let (mut p, mut q) = (empty(), empty());
    let mut row = 0u64;
    loop {
        while p.num_rows() == 0 {
            let Some(batch) = x.next() else { break };
            p = batch?;
        }
        while q.num_rows() == 0 {
            let Some(batch) = y.next() else { break };
            q = batch?;
        }
        match (p.num_rows(), q.num_rows()) {
            (0, 0) => return Ok(None),
            (0, _) => return Ok(Some(format!("the first ends after {row} rows"))),
            (_, 0) => return Ok(Some(format!("the second ends after {row} rows"))),
            (m, n) => {
                let common = m.min(n);
                if p.slice(0, common).columns() != q.slice(0, common).columns() {
                    let same = (0..common)
                        .take_while(|i| p.slice(*i, 1).columns() == q.slice(*i, 1).columns())
                        .count();
                    return Ok(Some(format!("row {} differs", row + same as u64)));
                }
                row += common as u64;
                p = p.slice(common, m - common);
                q = q.slice(common, n - common);
            }
        }
    }
}
