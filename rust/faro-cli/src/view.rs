//! An output to inspect, finished or not.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use faro::message::{DictionaryEntry, Footer};
use faro::{ByteRange, ErrorCode, FileHeader, FileRole, Files, Follower, Reader, ReaderOptions, RegionIndex};

use crate::failure::{Failure, Outcome};

/// An open output.
pub(crate) enum View {
    Finished(Box<Reader>),
    /// An unfinished output, with its committed regions.
    Unfinished(Box<Follower>),
}

impl View {
    /// Opens an output. Of an unfinished output, the committed part is shown.
    pub(crate) fn open(files: &Files) -> Outcome<View> {
        match Reader::open(files, ReaderOptions::default()) {
            Ok(reader) => Ok(View::Finished(Box::new(reader))),
            Err(error) if error.code == ErrorCode::Unfinished => {
                let mut follower = Follower::open(files, ReaderOptions::default())?;
                follower.poll()?;
                Ok(View::Unfinished(Box::new(follower)))
            }
            Err(error) => Err(error.into()),
        }
    }

    pub(crate) fn is_finished(&self) -> bool {
        matches!(self, View::Finished(_))
    }

    pub(crate) fn header(&self) -> &FileHeader {
        match self {
            View::Finished(reader) => reader.header(),
            View::Unfinished(follower) => follower.header(),
        }
    }

    pub(crate) fn footer(&self) -> Option<&Footer> {
        match self {
            View::Finished(reader) => Some(reader.footer()),
            View::Unfinished(_) => None,
        }
    }

    pub(crate) fn dictionaries(&self) -> &[DictionaryEntry] {
        match self {
            View::Finished(reader) => reader.dictionaries(),
            View::Unfinished(follower) => follower.dictionaries(),
        }
    }

    pub(crate) fn region_count(&self) -> usize {
        match self {
            View::Finished(reader) => reader.region_count(),
            View::Unfinished(follower) => follower.region_count(),
        }
    }

    pub(crate) fn region(&self, i: usize) -> faro::Result<Arc<RegionIndex>> {
        match self {
            View::Finished(reader) => reader.region(i),
            View::Unfinished(follower) => follower.region(i),
        }
    }

    /// What each byte of the files is.
    pub(crate) fn byte_map(&self) -> faro::Result<Vec<ByteRange>> {
        match self {
            View::Finished(reader) => reader.byte_map(),
            View::Unfinished(follower) => follower.byte_map(),
        }
    }

    /// All committed regions in order.
    pub(crate) fn regions(&self) -> impl Iterator<Item = faro::Result<Arc<RegionIndex>>> + '_ {
        (0..self.region_count()).map(|i| self.region(i))
    }
}

/// The files of an output with their roles; the file with the blocks first.
pub(crate) fn paths(files: &Files) -> Vec<(FileRole, &Path)> {
    match files {
        Files::Single(path) => vec![(FileRole::Single, path)],
        Files::Paired { data, index } => vec![(FileRole::Data, data), (FileRole::Index, index)],
    }
}

/// Opens a file and returns its size.
pub(crate) fn open(path: &Path) -> Outcome<(File, u64)> {
    let opened = File::open(path).and_then(|file| file.metadata().map(|metadata| (file, metadata.len())));
    opened.map_err(|source| Failure::file(path, source))
}

/// The distribution of stored bytes over partitions: what each reads, with shared extents.
#[derive(Clone, Debug, Default)]
pub(crate) struct Spread {
    /// Bytes that every partition reads.
    to_all: u64,
    /// Other bytes, by partition, only for partitions that have any: a file may claim 2^28 partitions.
    more: BTreeMap<u32, u64>,
    partitions: u32,
    first: u32,
}

impl Spread {
    /// Adds up all regions.
    pub(crate) fn of(view: &View) -> Outcome<Spread> {
        let header = view.header();
        let (partitions, first) = (header.partition_count, header.first_partition);
        let mut spread = Spread {
            partitions,
            first,
            ..Spread::default()
        };
        for region in view.regions() {
            let region = region?;
            for slot in region.slots().filter(|slot| slot.extent.length > 0) {
                *spread.more.entry(slot.partition).or_default() += slot.extent.length;
            }
            for extent in region.shared() {
                if extent.members.is_all() {
                    spread.to_all += extent.extent.length;
                    continue;
                }
                for partition in extent.members.iter() {
                    *spread.more.entry(partition).or_default() += extent.extent.length;
                }
            }
        }
        Ok(spread)
    }

    /// The number of partitions that read nothing.
    pub(crate) fn empty(&self) -> u32 {
        if self.to_all > 0 {
            0
        } else {
            self.partitions - self.more.len() as u32
        }
    }

    /// The bytes that all partitions read together. Shared bytes count for each reader.
    pub(crate) fn total(&self) -> u128 {
        let more: u128 = self.more.values().map(|bytes| u128::from(*bytes)).sum();
        u128::from(self.to_all) * u128::from(self.partitions) + more
    }

    pub(crate) fn mean(&self) -> f64 {
        self.total() as f64 / f64::from(self.partitions)
    }

    /// A quantile: this share of the partitions reads at most that many bytes.
    pub(crate) fn quantile(&self, share: f64) -> u64 {
        let mut sizes: Vec<u64> = self.more.values().copied().collect();
        sizes.sort_unstable();
        let nothing = u64::from(self.partitions) - sizes.len() as u64;
        let rank = (share * f64::from(self.partitions - 1)).round() as u64;
        self.to_all
            + rank
                .checked_sub(nothing)
                .and_then(|i| sizes.get(i as usize))
                .copied()
                .unwrap_or(0)
    }

    /// The partitions that read anything, in order, and their bytes.
    pub(crate) fn each(&self) -> impl Iterator<Item = (u32, u64)> + '_ {
        let all = (self.to_all > 0).then(|| self.first..self.first + self.partitions);
        let few = self.more.keys().copied().filter(|_| self.to_all == 0);
        let more = |partition| self.more.get(&partition).copied().unwrap_or(0);
        all.into_iter()
            .flatten()
            .chain(few)
            .map(move |partition| (partition, self.to_all + more(partition)))
    }

    /// The partitions that read most, the largest first.
    pub(crate) fn largest(&self, most: usize) -> Vec<(u32, u64)> {
        let mut all: Vec<(u32, u64)> = self.more.iter().map(|(p, bytes)| (*p, self.to_all + bytes)).collect();
        all.sort_by_key(|(partition, bytes)| (std::cmp::Reverse(*bytes), *partition));
        all.truncate(most);
        if all.is_empty() && self.to_all > 0 {
            all.push((self.first, self.to_all));
        }
        all
    }
}
