//! Proves a merged file against the outputs that it was made of.

use std::collections::BTreeMap;
use std::path::PathBuf;

use faro::{Block, Blocks, Files, Reader, ReaderOptions};
use serde::Serialize;

use crate::failure::{Failure, Outcome};

/// What a merged file has of its originals.
#[derive(Debug, Default, Serialize)]
pub(super) struct Comparison {
    /// Blocks that are those of their originals.
    pub blocks: u64,
    /// How many producers have blocks in the merged file.
    pub producers: u64,
    /// Blocks of the originals that the merged file does not have.
    pub missing: u64,
    /// What differs, for people; empty if the merged file is right.
    pub differences: Vec<String>,
}

/// The most differences that are listed.
const LISTED: usize = 20;

/// Compares each block of a merged file with the block of its number in the output of its producer and attempt.
pub(super) fn compare(merged: &Reader, names: &[PathBuf]) -> Outcome<Comparison> {
    if !merged.header().is_merged() {
        return Err(Failure::usage("--originals is for merged files"));
    }
    let mut originals: BTreeMap<(u64, u64), Reader> = BTreeMap::new();
    for name in names {
        let reader = Reader::open(&Files::locate(name)?, ReaderOptions::default())?;
        let key = (reader.header().producer, reader.header().attempt);
        if originals.insert(key, reader).is_some() {
            let (producer, attempt) = key;
            return Err(Failure::usage(format!(
                "two outputs of producer {producer}, attempt {attempt}"
            )));
        }
    }
    let mut found = Comparison::default();
    let mut producers = std::collections::BTreeSet::new();
    for partition in merged.header().partitions() {
        let mut blocks = merged.partition(partition)?;
        let mut open: BTreeMap<(u64, u64), Blocks> = BTreeMap::new();
        for placed in merged.runs(partition)? {
            let run = placed.run;
            let key = (run.producer, run.attempt);
            producers.insert(run.producer);
            let Some(original) = originals.get(&key) else {
                let (producer, attempt) = key;
                found.differs(format!("no original of producer {producer}, attempt {attempt}"));
                blocks
                    .by_ref()
                    .take(run.blocks as usize)
                    .try_for_each(|block| block.map(drop))?;
                continue;
            };
            if !original.header().partitions().contains(&partition) {
                found.differs(format!(
                    "the original of producer {} has no partition {partition}",
                    run.producer
                ));
                blocks
                    .by_ref()
                    .take(run.blocks as usize)
                    .try_for_each(|block| block.map(drop))?;
                continue;
            }
            let theirs = match open.entry(key) {
                std::collections::btree_map::Entry::Occupied(entry) => entry.into_mut(),
                std::collections::btree_map::Entry::Vacant(entry) => entry.insert(original.partition(partition)?),
            };
            for number in u64::from(run.first_block)..u64::from(run.first_block) + u64::from(run.blocks) {
                let mine = blocks.next().transpose()?;
                match (mine, theirs.next().transpose()?) {
                    (Some(mine), Some(other)) if same(&mine, &other) => found.blocks += 1,
                    (None, _) => found.differs(format!("partition {partition} ends before its runs do")),
                    (_, other) => {
                        let what = if other.is_some() { "differs from" } else { "is not in" };
                        let producer = run.producer;
                        found.differs(format!(
                            "partition {partition}: block {number} {what} producer {producer}'s"
                        ));
                    }
                }
            }
        }
        for (key, original) in &originals {
            if original.header().partitions().contains(&partition) {
                let rest = match open.remove(key) {
                    Some(rest) => rest,
                    None => original.partition(partition)?,
                };
                for block in rest {
                    block?;
                    found.missing += 1;
                }
            }
        }
    }
    found.producers = producers.len() as u64;
    Ok(found)
}

impl Comparison {
    fn differs(&mut self, what: String) {
        if self.differences.len() < LISTED && !self.differences.contains(&what) {
            self.differences.push(what);
        }
    }
}

/// Kind, codec and plain payload are what a reader gets of a block.
fn same(mine: &Block, other: &Block) -> bool {
    mine.header.kind == other.header.kind
        && mine.header.codec == other.header.codec
        && mine.header.stored_size == other.header.stored_size
        && mine.payload == other.payload
}
