//! The files of a writer: names, publication, removal (spec, WRT-4 to WRT-6).

use super::append::AppendFile;
use super::options::{Durability, Layout, WriterOptions};
use crate::error::{Error, Result, Role};
use crate::header::FileKind;
use crate::reader::{Files, with_extension};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

/// One file, or a data and an index file, that are appended to.
#[derive(Debug)]
pub(crate) struct Output {
    /// The index file or the single file.
    index: AppendFile,
    data: Option<AppendFile>,
    files: Files,
    durability: Durability,
    overwrite: bool,
    /// Others may read what was written.
    follow: bool,
}

impl Output {
    /// Creates the files, their headers waiting in the buffers.
    pub(crate) fn create(base: &Path, options: &WriterOptions, file_id: [u8; 16]) -> Result<Self> {
        let files = match options.layout {
            Layout::Paired => Files::paired(base),
            Layout::Single => Files::single(base),
        };
        let create = |path: &Path, role, kind| -> Result<AppendFile> {
            check_free(path, role, options.overwrite)?;
            let path = if options.follow {
                if options.overwrite {
                    remove_existing(path, role)?;
                }
                path.to_path_buf()
            } else {
                temporary(path, &file_id)
            };
            let mut file = AppendFile::create(path, role)?;
            if !options.follow {
                file.ask_for_room();
            }
            file.buffer().extend_from_slice(&options.header(kind, file_id).encode());
            Ok(file)
        };
        let (index, data) = match &files {
            Files::Single(path) => (create(path, Role::Single, FileKind::Single)?, None),
            Files::Paired { data, index } => {
                check_free(index, Role::Index, options.overwrite)?;
                let data = create(data, Role::Data, FileKind::Data)?;
                (create(index, Role::Index, FileKind::Index)?, Some(data))
            }
        };
        let (durability, overwrite, follow) = (options.durability, options.overwrite, options.follow);
        Ok(Output {
            index,
            data,
            files,
            durability,
            overwrite,
            follow,
        })
    }

    /// Shows the files to those who follow them, once all is there that they begin with. From now on the files are not
    /// taken away when the writer is dropped, only when it is aborted.
    pub(crate) fn show(&mut self) -> Result<()> {
        if self.follow {
            self.flush()?;
            self.keep(true);
        }
        Ok(())
    }

    /// The file that partition blocks go to.
    pub(crate) fn blocks(&mut self) -> &mut AppendFile {
        self.data.as_mut().unwrap_or(&mut self.index)
    }

    /// The file that metadata blocks go to.
    pub(crate) fn metadata(&mut self) -> &mut AppendFile {
        &mut self.index
    }

    pub(crate) fn files(&self) -> &Files {
        &self.files
    }

    pub(crate) fn is_single(&self) -> bool {
        self.data.is_none()
    }

    /// Bytes of the data file (0 in a single output) and of the index or single file.
    pub(crate) fn sizes(&self) -> (u64, u64) {
        (self.data.as_ref().map_or(0, AppendFile::offset), self.index.offset())
    }

    /// Keeps a region's bytes back until it is committed, where others would see them go again.
    pub(crate) fn hold_region(&mut self, held: bool) {
        if self.follow && self.is_single() {
            self.index.hold(held);
        }
    }

    /// A region's blocks are complete: with durability, and before others are told, they are written first (WRT-5).
    pub(crate) fn blocks_are_complete(&mut self) -> Result<()> {
        if self.durability == Durability::Commit {
            self.blocks().flush()?;
            self.blocks().sync()?;
        }
        Ok(())
    }

    /// A region's message is complete.
    pub(crate) fn message_is_complete(&mut self) -> Result<()> {
        if self.follow || self.durability == Durability::Commit || self.index.is_full() {
            self.flush()?;
        }
        if self.durability == Durability::Commit {
            self.index.sync()?;
        }
        Ok(())
    }

    /// Writes all that waits: blocks first.
    fn flush(&mut self) -> Result<()> {
        if let Some(data) = &mut self.data {
            data.flush()?;
            // The index must not want for what its data has too much.
            data.give_room_back();
        }
        self.index.flush()
    }

    /// Publishes the files, whose bytes are complete. `tail` is where the tail begins.
    pub(crate) fn publish(&mut self, tail: u64) -> Result<()> {
        self.try_to_publish().inspect_err(|_| {
            if self.follow {
                self.index.take_back(tail);
            }
        })
    }

    fn try_to_publish(&mut self) -> Result<()> {
        self.flush()?;
        self.index.give_room_back();
        let durable = self.durability == Durability::Commit;
        if durable {
            if let Some(data) = &mut self.data {
                data.sync()?;
            }
            self.index.sync()?;
        }
        if !self.follow {
            self.rename()?;
        }
        if durable {
            sync_folder(self.final_path())?;
        }
        self.keep(true);
        Ok(())
    }

    fn rename(&mut self) -> Result<()> {
        match (&self.files, &mut self.data) {
            (
                Files::Paired {
                    data: data_path,
                    index: index_path,
                },
                Some(data),
            ) => {
                check_free(data_path, Role::Data, self.overwrite)?;
                check_free(index_path, Role::Index, self.overwrite)?;
                data.rename(data_path)?;
                self.index.rename(index_path)
            }
            (Files::Single(path), _) => {
                check_free(path, Role::Single, self.overwrite)?;
                self.index.rename(path)
            }
            (Files::Paired { index, .. }, None) => self.index.rename(index),
        }
    }

    fn final_path(&self) -> &Path {
        match &self.files {
            Files::Single(path) => path,
            Files::Paired { index, .. } => index,
        }
    }

    /// Removes the files, under whatever names they have. Those that cannot be removed stay.
    pub(crate) fn discard(&mut self) {
        self.index.discard();
        if let Some(data) = &mut self.data {
            data.discard();
        }
    }

    /// Whether the files outlive this.
    pub(crate) fn keep(&mut self, keep: bool) {
        self.index.keep(keep);
        if let Some(data) = &mut self.data {
            data.keep(keep);
        }
    }
}

/// WRT-4: the final name, a dot, the first 8 hexadecimal digits of the file id, `.tmp`.
fn temporary(path: &Path, file_id: &[u8; 16]) -> PathBuf {
    let [a, b, c, d, ..] = file_id;
    with_extension(path, &format!("{a:02x}{b:02x}{c:02x}{d:02x}.tmp"))
}

fn check_free(path: &Path, role: Role, overwrite: bool) -> Result<()> {
    if overwrite || path.symlink_metadata().is_err() {
        return Ok(());
    }
    let error = io::Error::new(
        io::ErrorKind::AlreadyExists,
        "it exists already, and overwrite was not asked for",
    );
    Err(Error::io("create the file", path, Some(role), error))
}

fn remove_existing(path: &Path, role: Role) -> Result<()> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(Error::io("replace the file", path, Some(role), error))
        }
        _ => Ok(()),
    }
}

/// Makes the names of new files durable.
pub(crate) fn sync_folder(file: &Path) -> Result<()> {
    let folder = match file.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let synced = File::open(folder).and_then(|folder| folder.sync_all());
    match synced {
        // Windows does not open folders, and has no need to.
        Err(error) if cfg!(unix) => Err(Error::io("sync the folder", folder, None, error)),
        _ => Ok(()),
    }
}
