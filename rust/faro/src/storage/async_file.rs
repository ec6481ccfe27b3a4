//! What an asynchronous reader asks of the place where a file is (docs/storage.md).

use super::file_range::FileRange;
use bytes::Bytes;
use std::fmt::Debug;
use std::io;
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;

/// A read of an [`AsyncStoredFile`]: the bytes, and the size of the file. Dropping it cancels the read, or lets it end
/// without a receiver.
pub type AsyncRead = Pin<Box<dyn Future<Output = io::Result<(Bytes, u64)>> + Send>>;

/// A finished file whose bytes come asynchronously, for [`AsyncReader`](crate::AsyncReader). No executor is assumed: the
/// futures are polled wherever the reader's futures and streams are polled.
///
/// A reader relies on these promises.
///
/// - A read returns the bytes of [`FileRange::within`] its range, from the first on: at least one if there are any, and
///   never more. The reader asks again for the rest. With them it returns the size of the file.
/// - Several reads may be in progress at the same time.
/// - The bytes are always those of the same content. If it can be replaced under the same name, the implementation
///   notices that and fails.
/// - A failure is an [`io::Error`]. The reader reports it as [`ErrorCode::Io`](crate::ErrorCode::Io) with the role and
///   the name of the file. It does not try again.
///
/// ```
/// use bytes::Bytes;
/// use faro::storage::{AsyncRead, AsyncStoredFile, FileRange};
/// use std::{path::Path, sync::Arc};
///
/// /// A file in memory, which is always ready.
/// #[derive(Debug)]
/// struct Ready(Bytes);
///
/// impl AsyncStoredFile for Ready {
///     fn name(&self) -> &Path {
///         Path::new("ready")
///     }
///
///     fn read(self: Arc<Self>, range: FileRange) -> AsyncRead {
///         let size = self.0.len() as u64;
///         let range = range.within(size);
///         let bytes = self.0.slice(range.start as usize..range.end as usize);
///         Box::pin(async move { Ok((bytes, size)) })
///     }
/// }
/// ```
pub trait AsyncStoredFile: Debug + Send + Sync {
    /// The name that errors show to people. It need not be the path of a file.
    fn name(&self) -> &Path;

    /// Begins to read a range.
    fn read(self: Arc<Self>, range: FileRange) -> AsyncRead;
}

/// The file or files of one finished output, whose bytes come asynchronously. Clones share the files.
#[derive(Clone, Debug)]
pub struct AsyncStoredOutput {
    /// The index file, or the single file.
    pub(crate) index: Arc<dyn AsyncStoredFile>,
    /// The data file of a pair.
    pub(crate) data: Option<Arc<dyn AsyncStoredFile>>,
}

impl AsyncStoredOutput {
    /// A data file and its index file (FIL-1).
    pub fn paired(data: Arc<dyn AsyncStoredFile>, index: Arc<dyn AsyncStoredFile>) -> AsyncStoredOutput {
        AsyncStoredOutput {
            index,
            data: Some(data),
        }
    }

    /// Data and index in one file (FIL-2).
    pub fn single(file: Arc<dyn AsyncStoredFile>) -> AsyncStoredOutput {
        AsyncStoredOutput {
            index: file,
            data: None,
        }
    }
}
