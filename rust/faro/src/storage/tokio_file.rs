//! Local files that are read by the threads of tokio.

use super::async_file::{AsyncRead, AsyncStoredFile, AsyncStoredOutput};
use super::file_range::FileRange;
use super::files::Files;
use super::local_file::LocalFile;
use super::stored_file::{RangeRead, StoredFile};
use crate::error::{Error, FileRole, Result};
use bytes::Bytes;
use std::io;
use std::path::Path;
use std::sync::Arc;
use tokio::task::spawn_blocking;

/// A local file that is read by the threads of tokio that may block. Its reads must be polled inside a runtime of tokio.
#[derive(Debug)]
pub struct TokioFile(Arc<LocalFile>);

impl TokioFile {
    /// Opens a local file.
    ///
    /// # Errors
    /// Those of [`LocalFile::open`].
    pub async fn open(path: impl AsRef<Path>) -> io::Result<TokioFile> {
        let path = path.as_ref().to_path_buf();
        let file = spawn_blocking(move || LocalFile::open(path)).await??;
        Ok(TokioFile(Arc::new(file)))
    }
}

impl AsyncStoredFile for TokioFile {
    fn name(&self) -> &Path {
        self.0.name()
    }

    fn read(self: Arc<Self>, range: FileRange) -> AsyncRead {
        let file = self.0.clone();
        Box::pin(async move { spawn_blocking(move || read(&file, &range)).await? })
    }
}

fn read(file: &LocalFile, range: &FileRange) -> io::Result<(Bytes, u64)> {
    let size = file.size()?;
    let range = range.within(size);
    let length = usize::try_from(range.end - range.start).map_err(|_| io::ErrorKind::OutOfMemory)?;
    let mut bytes = Vec::new();
    bytes
        .try_reserve_exact(length)
        .map_err(|_| io::ErrorKind::OutOfMemory)?;
    bytes.resize(length, 0);
    let mut read = RangeRead::new(range.start, &mut bytes);
    read.fill_from(file)?;
    let filled = read.filled();
    bytes.truncate(filled);
    // A file that shrank meanwhile ends where the bytes end.
    let size = if filled < length {
        range.start + filled as u64
    } else {
        size
    };
    Ok((Bytes::from(bytes), size))
}

impl AsyncStoredOutput {
    /// Opens local files, which the threads of tokio read ([`TokioFile`]).
    ///
    /// # Errors
    /// `io` for a file that cannot be opened.
    pub async fn open_local(files: &Files) -> Result<AsyncStoredOutput> {
        Ok(match files {
            Files::Single(path) => AsyncStoredOutput::single(open(FileRole::Single, path).await?),
            Files::Paired { data, index } => {
                let index = open(FileRole::Index, index).await?;
                AsyncStoredOutput::paired(open(FileRole::Data, data).await?, index)
            }
        })
    }
}

async fn open(role: FileRole, path: &Path) -> Result<Arc<dyn AsyncStoredFile>> {
    match TokioFile::open(path).await {
        Ok(file) => Ok(Arc::new(file)),
        Err(error) => Err(Error::io("open the file", path, Some(role), error)),
    }
}
