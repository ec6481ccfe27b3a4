//! The files of a writer in a storage (docs/storage.md).

use super::names::{check_not_taken, refused};
use super::options::WriterOptions;
use crate::bytes::FileKind;
use crate::error::{Error, FileRole, Result};
use crate::storage::{Destination, Files, Layout, OutputFile};
use std::path::Path;

/// With the option `single_below`, the files of both layouts must be free.
pub(super) const BOTH: [FileRole; 3] = [FileRole::Data, FileRole::Index, FileRole::Single];

/// WRT-4: the names of this layout are free, unless they may be replaced.
pub(super) fn check_roles(storage: &dyn Destination, layout: Layout, options: &WriterOptions) -> Result<()> {
    match (options.overwrite, layout) {
        (true, _) => Ok(()),
        (false, Layout::Paired) => check_not_taken(storage, &BOTH[..2]),
        (false, Layout::Single) => check_not_taken(storage, &BOTH[2..]),
    }
}

/// Makes the files, data first: the index or single file, the data file of a pair, and their names.
pub(super) fn make(
    storage: &mut dyn Destination,
    layout: Layout,
    options: &WriterOptions,
    file_id: [u8; 16],
) -> Result<(OutputFile, Option<OutputFile>, Files)> {
    let mut create = |role, kind| -> Result<OutputFile> {
        let made = storage.create(role);
        // Without a file there is no name for the error.
        let file = made.map_err(|error| Error {
            file: None,
            ..refused(Path::new(""), role, error)
        })?;
        let mut file = OutputFile::stored(file, role);
        file.buffer().extend_from_slice(&options.header(kind, file_id).encode());
        Ok(file)
    };
    let (index, data) = match layout {
        Layout::Single => (create(FileRole::Single, FileKind::Single)?, None),
        Layout::Paired => {
            let data = create(FileRole::Data, FileKind::Data)?;
            (create(FileRole::Index, FileKind::Index)?, Some(data))
        }
    };
    let name = |file: &OutputFile| file.path().to_path_buf();
    let files = match &data {
        None => Files::Single(name(&index)),
        Some(data) => Files::Paired {
            data: name(data),
            index: name(&index),
        },
    };
    Ok((index, data, files))
}
