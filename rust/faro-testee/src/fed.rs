//! Outputs in memory that are opened and read by feeds.

use crate::memory::{Memory, copy};
use crate::output::{Blocks, Output};
use crate::protocol::Failure;
use crate::storage::{NewOutput, Storage};
use faro::feed::{Feed, FeedOptions, FeedReader, Opening, Wanted};
use faro::message::{DictionaryEntry, Footer};
use faro::storage::{RangeRead, StoredFile};
use faro::{CheckOptions, CheckReport, FileHeader, FileRole, Files, Reader, ReaderOptions, RegionIndex, WriterOptions};
use std::io;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::task::Poll;

/// The files, by their roles.
type Stored = Vec<(FileRole, Box<dyn StoredFile>)>;

/// Files in memory; feeds open outputs, and read partitions and ranges.
#[derive(Clone, Copy, Debug)]
pub struct Feeds;

impl Storage for Feeds {
    fn create(&self, path: &Path, options: WriterOptions) -> Result<NewOutput, Failure> {
        Memory.create(path, options)
    }

    fn open(&self, files: &Files, options: ReaderOptions) -> faro::Result<Reader> {
        Memory.open(files, options)
    }

    fn open_output(&self, files: &Files, options: ReaderOptions) -> faro::Result<Box<dyn Output>> {
        Ok(Box::new(Fed::open(files, options)?))
    }

    fn check(&self, files: &Files, options: &CheckOptions) -> faro::Result<CheckReport> {
        Memory.check(files, options)
    }
}

/// An output that feeds read. `Reader` answers what feeds have no call for.
struct Fed {
    files: Stored,
    fed: FeedReader,
    reader: Reader,
}

impl Fed {
    /// Opens an output by an opening, and a second time by a reader.
    fn open(files: &Files, options: ReaderOptions) -> faro::Result<Fed> {
        let stored: Stored = files
            .paths()
            .into_iter()
            .map(|(role, path)| (role, copy(path)))
            .collect();
        // Small sizes, so that the small outputs of cases take several requests.
        let sizes = FeedOptions::default()
            .small_bytes(64)
            .read_bytes(4096)
            .ahead_bytes(4096);
        let sizes = sizes.reader(options.clone());
        let mut opening = match files {
            Files::Single(path) => Opening::single(path, sizes)?,
            Files::Paired { data, index } => Opening::paired(data, index, sizes)?,
        };
        let fed = loop {
            match opening.poll() {
                Poll::Ready(fed) => break fed?,
                Poll::Pending => {
                    for wanted in opening.wanted() {
                        match fetch(&stored, &wanted) {
                            Ok((at, bytes, size)) => opening.bring(wanted.role, at, bytes, size)?,
                            Err(error) => opening.fail(&wanted, &error)?,
                        }
                    }
                }
            }
        };
        let reader = Memory.open(files, options)?;
        Ok(Fed {
            files: stored,
            fed,
            reader,
        })
    }

    fn blocks(&self, mut feed: Feed) -> Blocks<'_> {
        Box::new(std::iter::from_fn(move || {
            loop {
                match feed.poll() {
                    Poll::Ready(item) => return item,
                    Poll::Pending => {
                        for wanted in feed.wanted() {
                            let brought = match fetch(&self.files, &wanted) {
                                Ok((at, bytes, size)) => feed.bring(wanted.role, at, bytes, size),
                                Err(error) => feed.fail(&wanted, &error),
                            };
                            if let Err(error) = brought {
                                return Some(Err(error));
                            }
                        }
                    }
                }
            }
        }))
    }
}

/// The wanted bytes, where they begin, and the size of their file.
fn fetch(files: &Stored, wanted: &Wanted) -> io::Result<(u64, Vec<u8>, u64)> {
    let file = files.iter().find(|(role, _)| *role == wanted.role);
    let (_, file) = file.ok_or(io::ErrorKind::NotFound)?;
    let size = file.size()?;
    let range = wanted.range.within(size);
    let mut bytes = vec![0; (range.end - range.start) as usize];
    file.read_ranges(&mut [RangeRead::new(range.start, &mut bytes)])?;
    Ok((range.start, bytes, size))
}

impl Output for Fed {
    fn header(&self) -> &FileHeader {
        self.fed.header()
    }

    fn footer(&self) -> Option<&Footer> {
        Some(self.fed.footer())
    }

    fn dictionaries(&self) -> &[DictionaryEntry] {
        self.fed.dictionaries()
    }

    fn regions(&self) -> usize {
        self.fed.region_count()
    }

    fn region(&self, number: usize) -> faro::Result<Arc<RegionIndex>> {
        self.reader.region(number)
    }

    fn stored_bytes(&self, partition: u32) -> faro::Result<u64> {
        match self.fed.stored_bytes(partition)? {
            Some(bytes) => Ok(bytes),
            None => self.reader.stored_bytes(partition),
        }
    }

    fn partition(&self, partition: u32) -> faro::Result<Blocks<'_>> {
        Ok(self.blocks(self.fed.partition(partition)?))
    }

    fn range(&self, partitions: Range<u32>) -> faro::Result<Blocks<'_>> {
        Ok(self.blocks(self.fed.range(partitions)?))
    }
}
