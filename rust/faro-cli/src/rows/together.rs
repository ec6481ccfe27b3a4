//! Outputs that are read together: copies, outputs of another shuffle, and rows that are not in their files.

use std::collections::BTreeMap;

use faro::{FileHeader, Files, Reader};

use super::packed::property;
use crate::failure::{Failure, Outcome};
use crate::folder;
use crate::streams::StreamsInfo;
use crate::units::{count, plural};

/// The blocks that are not in selective files, because they were consumed before.
#[derive(Default)]
pub(super) struct Gaps {
    outputs: u64,
    missing: u64,
    blocks: u64,
    /// Selective outputs that do not say it.
    unknown: u64,
}

impl Gaps {
    pub(super) fn add(&mut self, reader: &Reader) {
        match StreamsInfo::of(reader.header(), Some(reader.footer())) {
            Some(streams) if !streams.known => self.unknown += 1,
            Some(streams) if streams.missing > 0 => {
                self.outputs += 1;
                self.missing = self.missing.saturating_add(streams.missing);
                self.blocks = self.blocks.saturating_add(streams.blocks);
            }
            _ => {}
        }
    }

    pub(super) fn join(&mut self, other: &Gaps) {
        self.outputs += other.outputs;
        self.unknown += other.unknown;
        self.missing = self.missing.saturating_add(other.missing);
        self.blocks = self.blocks.saturating_add(other.blocks);
    }

    /// Says it on standard error, of one output or of some.
    pub(super) fn tell(&self, of: Option<usize>) {
        let whose = |outputs: u64| match of {
            None => String::new(),
            Some(all) => format!(" in {} of {}", count(outputs), plural(all as u64, "output")),
        };
        if self.missing > 0 {
            let (missing, blocks) = (count(self.missing), plural(self.blocks, "block"));
            let whose = whose(self.outputs);
            eprintln!("faro: with gaps{whose}: {missing} of {blocks} consumed before they were stored");
        }
        if self.unknown > 0 {
            eprintln!("faro: not known whether blocks are missing{}", whose(self.unknown));
        }
    }
}

/// Outputs that are to be read together.
#[derive(Default)]
pub(super) struct Seen {
    /// By `file_id` and first partition. Files of a merge have one `file_id`, and partitions of their own.
    outputs: BTreeMap<([u8; 16], u32), usize>,
    /// The number of partitions of the first output that is not merged, and that output.
    partitions: Option<(u32, usize)>,
    /// How the first output with such properties is partitioned, and that output.
    division: Option<(Division, usize)>,
    has_warned: bool,
}

/// How keys became partitions, as `faro pack` records it.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Division {
    method: String,
    bounds: String,
    /// The names of the key's columns.
    by: Vec<String>,
}

impl Division {
    pub(super) fn of(reader: &Reader) -> Option<Division> {
        let property = |key| property(reader, key).map(str::to_owned);
        // The types are left out: `faro pack` records those of text columns only.
        let name = |column: &str| column.split(':').next().unwrap_or_default().to_owned();
        let by = property("faro.pack.by").unwrap_or_default();
        Some(Division {
            method: property("faro.pack.method")?,
            bounds: property("faro.pack.bounds").unwrap_or_default(),
            by: by.split(',').map(name).collect(),
        })
    }
}

impl Seen {
    pub(super) fn check(
        &mut self,
        output: usize,
        header: &FileHeader,
        division: Option<Division>,
        outputs: &[Files],
    ) -> Outcome {
        if let Some(first) = self.outputs.insert((header.file_id, header.first_partition), output) {
            return Err(Failure::usage(format!(
                "{} is a copy of {}: rows would count twice, so move one of them out of the folder",
                folder::shown(&outputs[output]),
                folder::shown(&outputs[first])
            )));
        }
        if header.is_merged() || self.has_warned {
            return Ok(());
        }
        let (count, first) = *self.partitions.get_or_insert((header.partition_count, output));
        if count != header.partition_count {
            self.has_warned = true;
            eprintln!(
                "faro: {} has {}, but {} has {count}: are they of one shuffle?",
                folder::shown(&outputs[output]),
                plural(header.partition_count.into(), "partition"),
                folder::shown(&outputs[first]),
            );
            return Ok(());
        }
        if let Some(division) = division {
            let (known, first) = self.division.get_or_insert((division.clone(), output));
            if *known != division {
                self.has_warned = true;
                eprintln!(
                    "faro: {} is partitioned in another way than {}: are they of one shuffle?",
                    folder::shown(&outputs[output]),
                    folder::shown(&outputs[*first]),
                );
            }
        }
        Ok(())
    }
}
