//! Damage to outputs, and what readings of them deliver, as texts to compare.

// Each test file is a crate and uses only a part.
#![allow(dead_code)]

use faro::storage::{MemoryFile, StoredFile, StoredOutput};
use faro::{Block, Files, Result};
use proptest::prelude::*;
use std::path::Path;

/// What a test does to the bytes of an output. Positions are parts of a file.
#[derive(Clone, Debug)]
pub(crate) enum Harm {
    None,
    /// Changes bytes: in the first or the last file, at which position, by which mask.
    Flip(Vec<(bool, f64, u8)>),
    /// Cuts a file off.
    Cut(bool, f64),
    /// Appends to a file.
    Append(bool, Vec<u8>),
}

pub(crate) fn harm() -> impl Strategy<Value = Harm> {
    let flip = (any::<bool>(), 0.0..1.0f64, 1..=255u8);
    prop_oneof![
        2 => Just(Harm::None),
        4 => prop::collection::vec(flip, 1..4).prop_map(Harm::Flip),
        3 => (any::<bool>(), 0.0..1.0f64).prop_map(|(first, at)| Harm::Cut(first, at)),
        1 => (any::<bool>(), prop::collection::vec(any::<u8>(), 1..40)).prop_map(|(first, more)| Harm::Append(first, more)),
    ]
}

pub(crate) fn apply(files: &Files, harm: &Harm) {
    let paths = files.paths();
    let path = |first: bool| paths[if first { 0 } else { paths.len() - 1 }].1;
    let change = |first: bool, act: &dyn Fn(&mut Vec<u8>)| {
        let mut bytes = std::fs::read(path(first)).unwrap();
        act(&mut bytes);
        std::fs::write(path(first), bytes).unwrap();
    };
    match harm {
        Harm::None => {}
        Harm::Flip(flips) => flips.iter().for_each(|(first, at, mask)| {
            change(*first, &|bytes| {
                let at = (bytes.len() as f64 * at) as usize;
                bytes[at] ^= mask;
            });
        }),
        Harm::Cut(first, at) => change(*first, &|bytes| bytes.truncate((bytes.len() as f64 * at) as usize)),
        Harm::Append(first, more) => change(*first, &|bytes| bytes.extend_from_slice(more)),
    }
}

/// The files in memory, with their paths as names, so that errors have the same words.
pub(crate) fn in_memory<F: StoredFile + 'static>(files: &Files, make: impl Fn(MemoryFile) -> F) -> StoredOutput {
    let file = |path: &Path| make(MemoryFile::new(path, std::fs::read(path).unwrap()));
    match files {
        Files::Single(path) => StoredOutput::single(file(path)),
        Files::Paired { data, index } => StoredOutput::paired(file(data), file(index)),
    }
}

pub(crate) fn told<T: std::fmt::Debug>(result: Result<T>) -> String {
    result.map_or_else(
        |error| format!("{error}, role {:?}", error.role),
        |value| format!("{value:?}"),
    )
}

pub(crate) fn blocks(found: &mut Vec<String>, what: &str, blocks: Result<impl Iterator<Item = Result<Block>>>) {
    let blocks = match blocks {
        Ok(blocks) => blocks,
        Err(error) => return found.push(format!("{what}: {}", told::<()>(Err(error)))),
    };
    for block in blocks {
        let seen = |block: Block| {
            let Block {
                offset,
                partition,
                region,
                ..
            } = block;
            (offset, partition, region, block.kind(), block.payload)
        };
        found.push(format!("{what}: {}", told(block.map(seen))));
    }
}
