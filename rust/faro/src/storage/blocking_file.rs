//! Asynchronous files for readers that wait.

use super::async_file::AsyncStoredFile;
use super::file_range::FileRange;
use super::runtime::wait_for;
use super::stored_file::{RangeRead, StoredFile};
use bytes::Bytes;
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::runtime::Handle;

/// How many bytes at the end come with the size, as when an [`Opening`](crate::feed::Opening) asks for them.
const END_BYTES: u64 = 64 << 10;

/// An [`AsyncStoredFile`] for readers, checks and schedulers that wait for their reads. The runtime of tokio makes the
/// reads, several ranges at the same time. Its threads must not call this: a read from one of them fails with `io`.
#[derive(Debug)]
pub struct BlockingFile {
    file: Arc<dyn AsyncStoredFile>,
    runtime: Handle,
    /// The size, and the last bytes, which came with it.
    end: Mutex<Option<(u64, Bytes)>>,
}

impl BlockingFile {
    /// A file whose reads run in this runtime. This reads nothing.
    pub fn new(file: Arc<dyn AsyncStoredFile>, runtime: Handle) -> BlockingFile {
        BlockingFile {
            file,
            runtime,
            end: Mutex::default(),
        }
    }

    /// The size of the file, and its last bytes.
    fn end(&self) -> io::Result<(u64, Bytes)> {
        let mut end = self.end.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(end) = &*end {
            return Ok(end.clone());
        }
        let (bytes, size) = self.fetch(FileRange::Suffix(END_BYTES))?;
        // A short answer begins at the start of the range, and so does not reach the end.
        let from = size.saturating_sub(END_BYTES);
        let whole = from + bytes.len() as u64 == size;
        let found = (size, if whole { bytes } else { Bytes::new() });
        *end = Some(found.clone());
        Ok(found)
    }

    fn fetch(&self, range: FileRange) -> io::Result<(Bytes, u64)> {
        wait_for(&self.runtime, self.file.clone().read(range))
    }
}

impl StoredFile for BlockingFile {
    fn name(&self) -> &Path {
        self.file.name()
    }

    fn size(&self) -> io::Result<u64> {
        Ok(self.end()?.0)
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        let (size, last) = self.end()?;
        let length = size.saturating_sub(offset).min(buffer.len() as u64);
        if length == 0 {
            return Ok(0);
        }
        let last_from = size - last.len() as u64;
        let bytes = match offset.checked_sub(last_from) {
            Some(from) => last.slice(from as usize..),
            None => self.fetch(FileRange::Bounded(offset..offset + length))?.0,
        };
        let count = bytes.len().min(length as usize);
        buffer[..count].copy_from_slice(&bytes[..count]);
        Ok(count)
    }

    fn read_ranges(&self, ranges: &mut [RangeRead<'_>]) -> io::Result<()> {
        let size = self.size()?;
        let mut reads = Vec::with_capacity(ranges.len());
        for range in &*ranges {
            let end = range.offset().saturating_add(range.length() as u64).min(size);
            let asked = range.offset().min(end)..end;
            reads.push((!asked.is_empty()).then(|| {
                let file = self.file.clone();
                self.runtime.spawn(file.read(FileRange::Bounded(asked)))
            }));
        }
        for (range, read) in ranges.iter_mut().zip(reads) {
            let Some(read) = read else {
                range.set_filled(0);
                continue;
            };
            let (bytes, _) = wait_for(&self.runtime, async { read.await? })?;
            let count = bytes.len().min(range.length());
            range.buffer()[..count].copy_from_slice(&bytes[..count]);
            // A read may return less than was asked for.
            let mut filled = count;
            while filled < range.length() && range.offset() + (filled as u64) < size {
                let offset = range.offset() + filled as u64;
                match self.read_at(offset, &mut range.buffer()[filled..])? {
                    0 => break,
                    more => filled += more,
                }
            }
            range.set_filled(filled);
        }
        Ok(())
    }

    fn read_bytes(&self) -> u64 {
        8 << 20
    }
}
