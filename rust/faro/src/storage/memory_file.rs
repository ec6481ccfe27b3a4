//! A file in memory.

use super::stored_file::StoredFile;
use bytes::Bytes;
use std::io;
use std::path::{Path, PathBuf};

/// A file in memory. Cloning it is cheap: clones share the bytes.
#[derive(Clone)]
pub struct MemoryFile {
    name: PathBuf,
    bytes: Bytes,
}

impl MemoryFile {
    /// A file of these bytes. Errors show `name`.
    pub fn new(name: impl Into<PathBuf>, bytes: impl Into<Bytes>) -> MemoryFile {
        MemoryFile {
            name: name.into(),
            bytes: bytes.into(),
        }
    }

    /// The bytes of the file, shared.
    pub fn bytes(&self) -> Bytes {
        self.bytes.clone()
    }
}

impl StoredFile for MemoryFile {
    fn name(&self) -> &Path {
        &self.name
    }

    fn size(&self) -> io::Result<u64> {
        Ok(self.bytes.len() as u64)
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        let from = usize::try_from(offset).map_or(self.bytes.len(), |offset| offset.min(self.bytes.len()));
        let rest = &self.bytes[from..];
        let count = rest.len().min(buffer.len());
        buffer[..count].copy_from_slice(&rest[..count]);
        Ok(count)
    }

    /// Reads cost little; few bytes stay in the processor's cache.
    fn read_bytes(&self) -> u64 {
        256 << 10
    }
}

/// Shows the size in place of the bytes, which may be many.
impl std::fmt::Debug for MemoryFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("MemoryFile")
            .field("name", &self.name)
            .field("size", &self.bytes.len())
            .finish()
    }
}
