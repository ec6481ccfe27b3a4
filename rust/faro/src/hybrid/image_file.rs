//! A file of an image, for readers: its bytes are in memory, in a file, or nowhere any more.

use super::memory::HybridMemory;
use super::part::{Found, copy};
use super::sync::{Arc, AtomicU64, Mutex, Ordering};
use crate::storage::{LocalFile, StoredFile};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::PoisonError;

/// Which of the two files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Which {
    Data,
    Index,
}

#[derive(Debug)]
pub(super) struct ImageFile {
    memory: HybridMemory,
    store: u64,
    which: Which,
    path: PathBuf,
    /// What has the bytes that are not in memory, once they were asked for.
    stored: Mutex<Option<Arc<LocalFile>>>,
    from_memory: AtomicU64,
    from_file: AtomicU64,
}

impl ImageFile {
    pub(super) fn new(memory: &HybridMemory, store: u64, which: Which, path: PathBuf) -> Self {
        ImageFile {
            memory: memory.clone(),
            store,
            which,
            path,
            stored: Mutex::default(),
            from_memory: AtomicU64::new(0),
            from_file: AtomicU64::new(0),
        }
    }

    fn stored(&self) -> io::Result<Arc<LocalFile>> {
        let mut stored = self.stored.lock().unwrap_or_else(PoisonError::into_inner);
        match &*stored {
            Some(file) => Ok(Arc::clone(file)),
            None => Ok(Arc::clone(stored.insert(Arc::new(LocalFile::open(&self.path)?)))),
        }
    }

    /// The bytes that were read from memory, and those that were read from the file.
    pub(super) fn read_bytes_so_far(&self) -> (u64, u64) {
        let load = |count: &AtomicU64| count.load(Ordering::Relaxed);
        (load(&self.from_memory), load(&self.from_file))
    }
}

/// The reader of a store, and the store itself, use the same file.
#[derive(Clone, Debug)]
pub(super) struct SharedFile(pub Arc<ImageFile>);

impl StoredFile for SharedFile {
    fn name(&self) -> &Path {
        &self.0.path
    }

    fn size(&self) -> io::Result<u64> {
        let mut ledger = self.0.memory.lock();
        let (image, _) = ledger.image(self.0.store);
        Ok(match self.0.which {
            Which::Data => image.data.size,
            Which::Index => image.index.size,
        })
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        let file = &*self.0;
        let found = {
            let mut ledger = file.memory.lock();
            let (image, _) = ledger.image(file.store);
            match file.which {
                Which::Data => image.data.find(offset),
                Which::Index => image.index.find(offset),
            }
        };
        match found {
            Found::End => Ok(0),
            Found::Memory(chunks, from) => {
                let count = copy(&chunks, from, buffer);
                file.from_memory.fetch_add(count as u64, Ordering::Relaxed);
                Ok(count)
            }
            Found::File(at, most) => {
                let most = usize::try_from(most).unwrap_or(usize::MAX).min(buffer.len());
                let count = file.stored()?.read_at(at, &mut buffer[..most])?;
                file.from_file.fetch_add(count as u64, Ordering::Relaxed);
                Ok(count)
            }
            Found::Gone => Err(io::Error::other(format!(
                "the bytes at {offset} were delivered, and are not kept"
            ))),
        }
    }

    /// A reader copies what it asks for.
    fn read_bytes(&self) -> u64 {
        128 << 10
    }
}
