//! The files of a writer: names, publication, removal (spec, WRT-4 to WRT-6, PUB-2 to PUB-4).

use super::names::{check_both_free, check_free, check_not_taken, refused, sync_folder, temporary};
use super::options::{Durability, WriterOptions};
use super::stored;
use crate::bytes::FileKind;
use crate::error::{Error, FileRole, Result};
use crate::storage::publishing::{Naming, PublishingLock, Replace, give_names, lock_path};
use crate::storage::{Destination, Files, InputFile, Layout, OutputFile, with_extension};
use std::path::{Path, PathBuf};

/// Where an output is made.
#[derive(Debug)]
pub(crate) enum Target {
    /// Local files, by NAME.
    Name(PathBuf),
    /// A storage.
    Storage(Box<dyn Destination>),
}

/// After this many bytes of blocks, the blocks and their region messages are written (WRT-12).
const SHOWN_EVERY: u64 = 1 << 20;

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
    /// Whether the files are in a storage, which cannot take back what was appended.
    stored: bool,
    /// Present while the layout is not decided, and no file exists (WRT-13).
    undecided: Option<Target>,
    /// What must be free too when the files get their names (WRT-13).
    rival: Option<Rival>,
}

/// A single file that must not exist when a pair gets its names.
#[derive(Debug)]
enum Rival {
    Name(PathBuf),
    Storage(Box<dyn Destination>),
}

impl Output {
    /// Creates the files, with their headers in the buffers; with the option `single_below`, only looks at the names.
    pub(crate) fn create(target: Target, options: &WriterOptions, file_id: [u8; 16]) -> Result<Self> {
        let decided = options.single_below == 0;
        let (target, files) = match target {
            Target::Storage(mut storage) => {
                if decided {
                    let layout = options.layout.unwrap_or(Layout::Paired);
                    stored::check_roles(&*storage, layout, options)?;
                    return Output::in_storage(&mut *storage, layout, options, file_id);
                }
                check_not_taken(&*storage, &stored::BOTH)?;
                (Target::Storage(storage), Files::Single(PathBuf::new()))
            }
            Target::Name(base) => {
                if decided {
                    return Output::of_files(Files::to_write(base, options.layout)?, options, file_id);
                }
                let (stem, layout) = Files::split(&base)?;
                if layout.is_some() {
                    let expected = "with the option single_below, a NAME without the ending of a layout";
                    return Err(Error::argument(expected, base.display().to_string()));
                }
                check_both_free(&stem)?;
                let files = Files::single(&stem);
                (Target::Name(stem), files)
            }
        };
        let index = OutputFile::none(files.first().1.to_path_buf(), FileRole::Single);
        let mut output = Output::new(index, None, files, options);
        output.undecided = Some(target);
        Ok(output)
    }

    /// Whether the layout is not decided.
    pub(crate) fn is_undecided(&self) -> bool {
        self.undecided.is_some()
    }

    /// Creates the files of this layout, if none was decided before.
    pub(crate) fn decide(&mut self, layout: Layout, options: &WriterOptions, file_id: [u8; 16]) -> Result<()> {
        if let Some(Target::Storage(_)) = &self.undecided {
            return self.decide_in_storage(layout, options, file_id);
        }
        let Some(Target::Name(stem)) = &self.undecided else {
            return Ok(());
        };
        check_both_free(stem)?;
        let files = match layout {
            Layout::Single => Files::single(stem),
            Layout::Paired => Files::paired(stem),
        };
        let mut decided = Output::of_files(files, options, file_id)?;
        // A single file is published in the same call.
        decided.rival = (layout == Layout::Paired).then(|| Rival::Name(with_extension(stem, "faro")));
        *self = decided;
        Ok(())
    }

    fn decide_in_storage(&mut self, layout: Layout, options: &WriterOptions, file_id: [u8; 16]) -> Result<()> {
        // It stays undecided if that fails.
        let Some(Target::Storage(storage)) = &mut self.undecided else {
            return Ok(());
        };
        check_not_taken(&**storage, &stored::BOTH)?;
        let mut decided = Output::in_storage(&mut **storage, layout, options, file_id)?;
        if let (Layout::Paired, Some(Target::Storage(storage))) = (layout, self.undecided.take()) {
            decided.rival = Some(Rival::Storage(storage));
        }
        *self = decided;
        Ok(())
    }

    /// Makes the files in a storage.
    fn in_storage(
        storage: &mut dyn Destination,
        layout: Layout,
        options: &WriterOptions,
        file_id: [u8; 16],
    ) -> Result<Self> {
        let (index, data, files) = stored::make(storage, layout, options, file_id)?;
        let mut output = Output::new(index, data, files, options);
        output.stored = true;
        Ok(output)
    }

    fn new(index: OutputFile, data: Option<OutputFile>, files: Files, options: &WriterOptions) -> Self {
        Output {
            index,
            data,
            files,
            durability: options.durability,
            overwrite: options.overwrite,
            follow: options.follow,
            shown: 0,
            named: false,
            stored: false,
            undecided: None,
            rival: None,
        }
    }

    fn of_files(files: Files, options: &WriterOptions, file_id: [u8; 16]) -> Result<Self> {
        let replaces = options.follow && options.overwrite;
        let last = files.first();
        let lock = || PublishingLock::take(&lock_path(last.1)).map_err(|error| refused(last.1, last.0, error));
        // PUB-4: without the lock, two writers that replace the same pair could mix their files.
        let _lock = if replaces { Some(lock()?) } else { None };
        // WRT-4: if both names of a pair exist, the error has that of the data file, which comes first.
        for (role, path) in files.paths() {
            check_free(path, role, options.overwrite)?;
        }
        let create = |path: &Path, role, kind| -> Result<OutputFile> {
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
        Ok(Output::new(index, data, files, options))
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

    /// The files that are written: one or two.
    pub(super) fn files_in_use(&self) -> impl Iterator<Item = &OutputFile> {
        self.data.iter().chain([&self.index])
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

    /// Holds back the bytes of a region until it is committed, if followers could see them vanish, or the storage could
    /// not take them back.
    pub(crate) fn hold_region(&mut self, held: bool) {
        if self.stored || self.follow && self.is_single() {
            self.blocks().hold(held);
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
        if self.follow || self.durability == Durability::Commit {
            self.flush()?;
        } else if self.stored {
            // No one sees the files yet, so large pieces are all that counts.
            self.blocks().write_pieces()?;
            self.index.write_pieces()?;
        } else if self.index.is_full() {
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
            if self.follow && !self.stored {
                let _lock = self.lock_to_remove();
                self.index.take_back(tail);
            } else if self.stored {
                // A file that was refused may have its name all the same. The index goes first: without it, the data
                // file is not an output.
                self.discard();
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
        if self.stored {
            self.publish_stored()?;
        } else if !self.follow {
            self.give_names()?;
        }
        if durable && !self.stored {
            sync_folder(self.final_path())?;
        }
        self.index.finish();
        if let Some(data) = &mut self.data {
            data.finish();
        }
        Ok(())
    }

    /// Publishes files in a storage (PUB-10): the data file first, so that the index commits both.
    fn publish_stored(&mut self) -> Result<()> {
        if let Some(Rival::Storage(storage)) = &self.rival {
            check_not_taken(&**storage, &[FileRole::Single])?;
        }
        for file in self.data.iter_mut().chain([&mut self.index]) {
            file.publish(self.overwrite)
                .map_err(|error| refused(file.path(), file.role(), error))?;
        }
        Ok(())
    }

    fn give_names(&mut self) -> Result<()> {
        let paths = self.files.paths();
        let mut own: Vec<&mut OutputFile> = self.data.iter_mut().chain([&mut self.index]).collect();
        if let Files::Paired { data, index } = &self.files {
            // The names are given only if they are free. But the data file should not get its name for a moment when
            // that of the index is taken; and if both are, the error has the data file's (WRT-4).
            if let Err(error) = check_free(index, FileRole::Index, self.overwrite) {
                check_free(data, FileRole::Data, self.overwrite)?;
                return Err(error);
            }
        }
        if let Some(Rival::Name(single)) = &self.rival {
            check_free(single, FileRole::Single, false)?;
        }
        let names: Vec<_> = std::iter::zip(&own, &paths)
            .map(|(file, (_, last))| Naming {
                temporary: file.path(),
                last,
                device: file.device(),
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
        self.forget_storage();
        self.index.close();
        if let Some(data) = &mut self.data {
            data.close();
        }
    }

    /// Drops the storage, which is not used any more.
    fn forget_storage(&mut self) {
        (self.undecided, self.rival) = (None, None);
    }

    /// Hands the finished files over to a reader: the index or single file, and the data file of a pair.
    pub(crate) fn hand_over(&mut self) -> Result<(InputFile, Option<InputFile>)> {
        self.forget_storage();
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
        self.forget_storage();
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
