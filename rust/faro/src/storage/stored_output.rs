//! The stored file or files of one output.

use super::stored_file::StoredFile;
use std::sync::Arc;

/// The file or files of one finished output, in any storage. Cloning it is cheap: clones share the files.
///
/// ```
/// use faro::storage::{MemoryFile, StoredOutput};
/// # fn main() -> faro::Result<()> {
/// # let folder = tempfile::tempdir().unwrap();
/// # let name = folder.path().join("shuffle");
/// # let mut writer = faro::Writer::create(&name, faro::WriterOptions::new(4).layout(faro::Layout::Single))?;
/// # writer.write(2, b"a record")?;
/// # writer.finish()?;
/// # let bytes = std::fs::read(folder.path().join("shuffle.faro")).unwrap();
/// let output = StoredOutput::single(MemoryFile::new("shuffle", bytes));
/// let reader = faro::Reader::open_stored(output, faro::ReaderOptions::default())?;
/// assert_eq!(reader.records(2)?.collect::<faro::Result<Vec<_>>>()?, ["a record"]);
/// # Ok(()) }
/// ```
#[derive(Clone, Debug)]
pub struct StoredOutput {
    /// The index file, or the single file.
    pub(crate) index: Arc<dyn StoredFile>,
    /// The data file of a pair.
    pub(crate) data: Option<Arc<dyn StoredFile>>,
}

impl StoredOutput {
    /// A data file and its index file (FIL-1).
    pub fn paired(data: impl StoredFile + 'static, index: impl StoredFile + 'static) -> StoredOutput {
        StoredOutput {
            index: Arc::new(index),
            data: Some(Arc::new(data)),
        }
    }

    /// Data and index in one file (FIL-2).
    pub fn single(file: impl StoredFile + 'static) -> StoredOutput {
        StoredOutput {
            index: Arc::new(file),
            data: None,
        }
    }
}
