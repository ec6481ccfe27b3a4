//! Files in storage that reads in its own way.

// Each test file is a crate and uses only a part.
#![allow(dead_code)]

use faro::storage::{MemoryFile, RangeRead, StoredFile};
use std::fmt;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

/// The next number of a sequence that looks random, from 0 on and below `below`.
fn random(state: &AtomicU64, below: u64) -> u64 {
    let mut z = state.fetch_add(0x9E37_79B9_7F4A_7C15, Ordering::Relaxed);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    (z ^ (z >> 31)) % below
}

/// A file in memory whose reads are as short as the contract allows, and are interrupted now and then.
#[derive(Debug)]
pub(crate) struct ShortFile {
    file: MemoryFile,
    state: AtomicU64,
}

impl ShortFile {
    pub(crate) fn new(file: MemoryFile, seed: u64) -> Self {
        ShortFile {
            file,
            state: AtomicU64::new(seed),
        }
    }
}

impl StoredFile for ShortFile {
    fn name(&self) -> &Path {
        self.file.name()
    }

    fn size(&self) -> io::Result<u64> {
        self.file.size()
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        if random(&self.state, 8) == 0 {
            return Err(io::ErrorKind::Interrupted.into());
        }
        // The rest of the buffer has no meaning, so it may change.
        buffer.fill(0x5A);
        let most = match random(&self.state, 4) {
            0 => 1,
            _ => 1 + random(&self.state, buffer.len().max(1) as u64) as usize,
        };
        let length = buffer.len().min(most);
        self.file.read_at(offset, &mut buffer[..length])
    }
}

type ReadAt = dyn Fn(&MemoryFile, u64, &mut [u8]) -> io::Result<usize> + Send + Sync;
type ReadRanges = dyn Fn(&MemoryFile, &mut [RangeRead<'_>]) -> io::Result<()> + Send + Sync;

/// A file in memory with reads of the test.
pub(crate) struct OddFile {
    file: MemoryFile,
    read_at: Box<ReadAt>,
    read_ranges: Option<Box<ReadRanges>>,
}

impl OddFile {
    /// A file that reads as it should.
    pub(crate) fn new(file: MemoryFile) -> Self {
        OddFile {
            file,
            read_at: Box::new(|file, offset, buffer| file.read_at(offset, buffer)),
            read_ranges: None,
        }
    }

    pub(crate) fn read_at(
        mut self,
        read_at: impl Fn(&MemoryFile, u64, &mut [u8]) -> io::Result<usize> + Send + Sync + 'static,
    ) -> Self {
        self.read_at = Box::new(read_at);
        self
    }

    pub(crate) fn read_ranges(
        mut self,
        read_ranges: impl Fn(&MemoryFile, &mut [RangeRead<'_>]) -> io::Result<()> + Send + Sync + 'static,
    ) -> Self {
        self.read_ranges = Some(Box::new(read_ranges));
        self
    }
}

impl fmt::Debug for OddFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("OddFile")
    }
}

impl StoredFile for OddFile {
    fn name(&self) -> &Path {
        self.file.name()
    }

    fn size(&self) -> io::Result<u64> {
        self.file.size()
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        (self.read_at)(&self.file, offset, buffer)
    }

    fn read_ranges(&self, ranges: &mut [RangeRead<'_>]) -> io::Result<()> {
        match &self.read_ranges {
            Some(read_ranges) => read_ranges(&self.file, ranges),
            None => ranges.iter_mut().try_for_each(|range| range.fill_from(self)),
        }
    }

    fn version(&self) -> Option<String> {
        Some("odd".into())
    }
}
