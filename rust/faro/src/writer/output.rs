//! The files of a writer: names, publication, removal (spec, WRT-4 to WRT-6, PUB-2 to PUB-4).

use super::options::{Durability, WriterOptions};
use crate::bytes::FileKind;
use crate::error::{Error, FileRole, Result};
use crate::storage::publishing::{Naming, PublishingLock, Replace, give_names, lock_path};
use crate::storage::{Files, InputFile, OutputFile, with_extension};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

/// The files of an output: one, or a data and an index file.
#[derive(Debug)]
pub(crate) struct Output {
    /// The index file or the single file.
    index: OutputFile,
    data: Option<OutputFile>,
    files: Files,
    durability: Durability,
    overwrite: bool,
    /// Whether readers may follow the files.
    follow: bool,
    /// The end of the blocks that were written with their region messages, which `recover` can find.
    shown: u64,
    /// Whether `finish` has given the files their final names.
    named: bool,
}

impl Output {
    /// Creates the files, with their headers in the buffers.
    pub(crate) fn create(base: &Path, options: &WriterOptions, file_id: [u8; 16]) -> Result<Self> {
        let files = Files::to_write(base, options.layout)?;
        let replaces = options.follow && options.overwrite;
        let last = files.first();
        let lock = || PublishingLock::take(&lock_path(last.1)).map_err(|error| refused(last.1, last.0, error));
        // PUB-4: without the lock, two writers that replace the same pair could mix their files.
        let _lock = if replaces { Some(lock()?) } else { None };
        let create = |path: &Path, role, kind| -> Result<OutputFile> {
            check_free(path, role, options.overwrite)?;
            let path = match options.follow {
                true => path.to_path_buf(),
                false => temporary(path, &file_id),
            };
            let mut file = OutputFile::create(path, role, replaces)?;
            if !options.follow {
                file.reserve_ahead();
            }
            file.buffer().extend_from_slice(&options.header(kind, file_id).encode());
            Ok(file)
        };
        let (index, data) = match &files {
            Files::Single(path) => (create(path, FileRole::Single, FileKind::Single)?, None),
            Files::Paired { data, index } => {
                // ERR-2: if both names exist, the error has that of the data file.
                check_free(data, FileRole::Data, options.overwrite)?;
                check_free(index, FileRole::Index, options.overwrite)?;
                let mut data = create(data, FileRole::Data, FileKind::Data)?;
                match create(index, FileRole::Index, FileKind::Index) {
                    Ok(index) => (index, Some(data)),
                    Err(error) => {
                        let _lock = if options.follow && !replaces { lock().ok() } else { None };
                        data.discard();
                        return Err(error);
                    }
                }
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
            shown: 0,
            named: false,
        })
    }

    /// Shows the files to followers, once their headers and the schema are written. From now on, dropping the writer
    /// does not remove the files; aborting it does.
    pub(crate) fn show(&mut self) -> Result<()> {
        if self.follow {
            self.flush()?;
            self.keep(true);
        }
        Ok(())
    }

    /// The file for partition blocks.
    pub(crate) fn blocks(&mut self) -> &mut OutputFile {
        self.data.as_mut().unwrap_or(&mut self.index)
    }

    /// The file for metadata blocks.
    pub(crate) fn metadata(&mut self) -> &mut OutputFile {
        &mut self.index
    }

    pub(crate) fn files(&self) -> &Files {
        &self.files
    }

    pub(crate) fn is_single(&self) -> bool {
        self.data.is_none()
    }

    /// The sizes of the data file of a pair, and of the index or single file, in bytes.
    pub(crate) fn sizes(&self) -> (Option<u64>, u64) {
        (self.data.as_ref().map(OutputFile::offset), self.index.offset())
    }

    /// Holds back the bytes of a region until it is committed, if followers could see them vanish.
    pub(crate) fn hold_region(&mut self, held: bool) {
        if self.follow && self.is_single() {
            self.index.hold(held);
        }
    }

    /// Called when the blocks of a region are complete. With durability, or with followers, they are written before the
    /// message (WRT-5).
    pub(crate) fn blocks_are_complete(&mut self) -> Result<()> {
        if self.durability == Durability::Commit {
            self.blocks().flush()?;
            self.blocks().sync()?;
        }
        Ok(())
    }

    /// Called when the message of a region is complete.
    pub(crate) fn message_is_complete(&mut self) -> Result<()> {
        let end = self.blocks().offset();
        if self.follow || self.durability == Durability::Commit || self.index.is_full() {
            self.flush()?;
        } else if end - self.shown >= SHOWN_EVERY {
            // WRT-12: regions reach the files soon, so that `recover` finds them.
            if let Some(data) = &mut self.data {
                data.flush()?;
            }
            self.index.flush()?;
            self.shown = end;
        }
        if self.durability == Durability::Commit {
            self.index.sync()?;
        }
        Ok(())
    }

    /// Writes all buffers, blocks first.
    fn flush(&mut self) -> Result<()> {
        if let Some(data) = &mut self.data {
            data.flush()?;
            // The index must not lack space that the data file has reserved and does not need.
            data.release_reserved();
        }
        self.index.flush()
    }

    /// Publishes the files, which are complete. `tail` is where the tail begins.
    pub(crate) fn publish(&mut self, tail: u64) -> Result<()> {
        self.try_to_publish().inspect_err(|_| {
            if self.follow {
                let _lock = self.lock_to_remove();
                self.index.take_back(tail);
            }
        })
    }

    fn try_to_publish(&mut self) -> Result<()> {
        self.flush()?;
        self.index.release_reserved();
        let durable = self.durability == Durability::Commit;
        if durable {
            if let Some(data) = &mut self.data {
                data.sync()?;
            }
            self.index.sync()?;
        }
        if !self.follow {
            self.give_names()?;
        }
        if durable {
            sync_folder(self.final_path())?;
        }
        self.index.finish();
        if let Some(data) = &mut self.data {
            data.finish();
        }
        Ok(())
    }

    fn give_names(&mut self) -> Result<()> {
        let paths = self.files.paths();
        let mut own: Vec<&mut OutputFile> = self.data.iter_mut().chain([&mut self.index]).collect();
        for (role, path) in &paths {
            check_free(path, *role, self.overwrite)?;
        }
        let names: Vec<_> = std::iter::zip(&own, &paths)
            .map(|(file, (_, last))| Naming {
                temporary: file.path(),
                last,
            })
            .collect();
        let replace = match (self.overwrite, &self.files) {
            (false, _) => Replace::Nothing,
            (true, Files::Single(_)) => Replace::Single,
            (true, Files::Paired { .. }) => Replace::Pair,
        };
        give_names(&names, &lock_path(paths[0].1), replace).map_err(|(at, error)| {
            let (role, path) = paths[at];
            refused(path, role, error)
        })?;
        for (file, (_, last)) in std::iter::zip(&mut own, &paths) {
            file.is_now(last);
        }
        self.named = true;
        Ok(())
    }

    /// Closes the files, which are finished.
    pub(crate) fn close(&mut self) {
        self.index.close();
        if let Some(data) = &mut self.data {
            data.close();
        }
    }

    /// Hands the finished files over to a reader: the index or single file, and the data file of a pair.
    pub(crate) fn hand_over(&mut self) -> Result<(InputFile, Option<InputFile>)> {
        let data = self.data.as_mut().map(OutputFile::hand_over).transpose()?;
        Ok((self.index.hand_over()?, data))
    }

    /// PUB-4: removing a file with a final name waits for writers that are publishing.
    fn lock_to_remove(&self) -> std::io::Result<Option<PublishingLock>> {
        let needed = self.follow || self.named;
        needed
            .then(|| PublishingLock::take(&lock_path(self.final_path())))
            .transpose()
    }

    fn final_path(&self) -> &Path {
        match &self.files {
            Files::Single(path) => path,
            Files::Paired { index, .. } => index,
        }
    }

    /// Removes the files, whatever names they have. Files that cannot be removed stay.
    pub(crate) fn discard(&mut self) {
        let Ok(_lock) = self.lock_to_remove() else {
            // WRT-6: without the lock, files with final names stay.
            self.keep(true);
            return;
        };
        self.index.discard();
        if let Some(data) = &mut self.data {
            data.discard();
        }
    }

    /// Sets whether the files stay when this is dropped.
    pub(crate) fn keep(&mut self, keep: bool) {
        self.index.keep(keep);
        if let Some(data) = &mut self.data {
            data.keep(keep);
        }
    }
}

impl Drop for Output {
    fn drop(&mut self) {
        // Remove a followed output with the lock, before dropping its files does so without it.
        if !self.index.is_kept() {
            self.discard();
        }
    }
}

/// The temporary name (PUB-2): the final name, a dot, the first 8 hexadecimal digits of the file id, `.tmp`.
fn temporary(path: &Path, file_id: &[u8; 16]) -> PathBuf {
    let [a, b, c, d, ..] = file_id;
    with_extension(path, &format!("{a:02x}{b:02x}{c:02x}{d:02x}.tmp"))
}

fn check_free(path: &Path, role: FileRole, overwrite: bool) -> Result<()> {
    if overwrite || path.symlink_metadata().is_err() {
        return Ok(());
    }
    Err(exists(path, role))
}

/// The error for a file that did not get its final name.
fn refused(path: &Path, role: FileRole, error: io::Error) -> Error {
    match error.kind() {
        io::ErrorKind::AlreadyExists => exists(path, role),
        _ => Error::io("give the file its name", path, Some(role), error),
    }
}

fn exists(path: &Path, role: FileRole) -> Error {
    let error = io::Error::new(
        io::ErrorKind::AlreadyExists,
        "a file that exists, without the option overwrite",
    );
    Error::io("create the file", path, Some(role), error)
}

/// After this many bytes of blocks, the blocks and their region messages are written (WRT-12).
const SHOWN_EVERY: u64 = 1 << 20;

/// Syncs the folder of a file, to make the names of new files durable.
pub(crate) fn sync_folder(file: &Path) -> Result<()> {
    let folder = match file.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let synced = File::open(folder).and_then(|folder| folder.sync_all());
    match synced {
        // Windows cannot open folders, and need not.
        Err(error) if cfg!(unix) => Err(Error::io("sync the folder", folder, None, error)),
        _ => Ok(()),
    }
}
