//! Recovers the output of a dead writer (spec, PUB-8).

use super::last_commit::{RepairOptions, repair};
use super::rebuild::{RebuildOptions, SharedPolicy, rebuild_as};
use super::remains::{Group, Remain, choose, collect, is_x};
use super::report::{Action, RepairReport};
use crate::error::{Error, FileRole, Result};
use crate::limits::Limits;
use crate::reader::{Reader, ReaderOptions};
use crate::storage::Layout;
use crate::storage::publishing::{Naming, Replace, give_names, lock_path};
use crate::storage::{Files, with_extension};
use crate::writer::sync_folder;
use std::fs::File;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// The options of [`recover`].
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct RecoverOptions {
    /// What is taken from the files at most.
    pub limits: Limits,
    /// The first 8 hexadecimal digits of the file_id of the output to recover; needed only if several writers left
    /// files.
    pub file_id: Option<String>,
    /// Whether another output with the final names may be replaced.
    pub overwrite: bool,
    /// Whether to report only, and change nothing.
    pub dry_run: bool,
    /// Which partitions read shared blocks, if the index must be rebuilt.
    pub shared: SharedPolicy,
    /// The schema message, if the index must be rebuilt and the framing is arrow.
    pub schema: Option<Vec<u8>>,
}

impl RecoverOptions {
    /// Sets `limits`.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Sets `file_id`.
    #[must_use]
    pub fn file_id(mut self, file_id: impl Into<String>) -> Self {
        self.file_id = Some(file_id.into());
        self
    }

    /// Sets `overwrite`.
    #[must_use]
    pub fn overwrite(mut self, overwrite: bool) -> Self {
        self.overwrite = overwrite;
        self
    }

    /// Sets `dry_run`.
    #[must_use]
    pub fn dry_run(mut self, dry_run: bool) -> Self {
        self.dry_run = dry_run;
        self
    }

    /// Sets `shared`.
    #[must_use]
    pub fn shared(mut self, shared: SharedPolicy) -> Self {
        self.shared = shared;
        self
    }

    /// Sets `schema`.
    #[must_use]
    pub fn schema(mut self, schema: Option<Vec<u8>>) -> Self {
        self.schema = schema;
        self
    }
}

/// What [`recover`] did, or with `dry_run` would have done.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct RecoverReport {
    /// What was done.
    pub action: Action,
    /// The first 8 hexadecimal digits of the output's file_id; none with [`Action::Nothing`] and
    /// [`Action::NothingSaved`].
    pub file_id: Option<String>,
    /// The number of regions of the output now.
    pub regions: u64,
    /// The report of the repair; none if none was needed.
    pub repair: Option<RepairReport>,
    /// The files that were found and used, with the names that they had.
    pub found: Vec<PathBuf>,
}

impl RecoverReport {
    fn without(action: Action, regions: u64) -> RecoverReport {
        RecoverReport {
            action,
            file_id: None,
            regions,
            repair: None,
            found: Vec::new(),
        }
    }
}

/// Finishes what a dead writer left, and gives it its final names (PUB-8). `name` is the output's NAME (PUB-1). If it
/// has none of the endings, files of both layouts are searched.
///
/// # Errors
/// `io` when there are no files, when their writer is alive, or when another output has the final names;
/// `invalid-argument` when several writers left files: the error names the file_id of each; and the errors of
/// [`repair`] and [`crate::rebuild`]. The files are unchanged then, except after `io` on writing.
///
/// ```no_run
/// use faro::{RecoverOptions, recover};
/// let report = recover("shuffle/map-7", &RecoverOptions::default())?;
/// println!("{}: {} regions", report.action.as_str(), report.regions);
/// # Ok::<(), faro::Error>(())
/// ```
pub fn recover(name: impl AsRef<Path>, options: &RecoverOptions) -> Result<RecoverReport> {
    let limits = &options.limits;
    let name = name.as_ref();
    if let Some(x) = options.file_id.as_ref().filter(|x| !is_x(x)) {
        return Err(Error::argument(
            "a file_id of 8 hexadecimal digits in lower case",
            format!("{x:?}"),
        ));
    }
    let (stem, layout) = Files::split(name)?;
    let layouts = match &layout {
        Some(layout) => std::slice::from_ref(layout),
        None => &[Layout::Single, Layout::Paired],
    };
    for layout in layouts {
        if let Some(regions) = opens(&stem, *layout, limits) {
            return Ok(RecoverReport::without(Action::Nothing, regions));
        }
    }
    match choose(collect(&stem, layouts)?, options.file_id.as_deref(), name)? {
        Some(group) => Recovery::new(group, &stem).run(options),
        None => Ok(RecoverReport::without(Action::NothingSaved, 0)),
    }
}

/// The number of regions of the output with the final names, if it opens (step 1).
fn opens(stem: &Path, layout: Layout, limits: &Limits) -> Option<u64> {
    let files = match layout {
        Layout::Paired => Files::paired(stem),
        Layout::Single => Files::single(stem),
    };
    if files
        .paths()
        .iter()
        .any(|(_, path)| super::remains::is_written_to(path))
    {
        return None;
    }
    let options = ReaderOptions {
        limits: limits.clone(),
        ..ReaderOptions::default()
    };
    Some(Reader::open(&files, options).ok()?.region_count() as u64)
}

/// Steps 6 to 8, of one group.
struct Recovery {
    group: Group,
    /// The data and index file, or the single file. The index may be missing.
    files: Vec<Remain>,
    rebuilds: bool,
}

impl Recovery {
    fn new(group: Group, stem: &Path) -> Recovery {
        let roles: &[FileRole] = match group.layout {
            Layout::Paired => &[FileRole::Data, FileRole::Index],
            Layout::Single => &[FileRole::Single],
        };
        let mut files: Vec<_> = roles.iter().filter_map(|role| group.file(*role).cloned()).collect();
        let headed = |file: &&Remain| file.header.is_some();
        let rebuilds = group.layout == Layout::Paired && group.file(FileRole::Index).filter(headed).is_none();
        if rebuilds {
            let last = with_extension(stem, "index");
            let x = group.x.as_deref().unwrap_or_default();
            files.truncate(1);
            files.push(Remain {
                role: FileRole::Index,
                path: with_extension(&last, &format!("{x}.tmp")),
                last,
                second: None,
                header: None,
            });
        }
        Recovery { group, files, rebuilds }
    }

    fn run(&self, options: &RecoverOptions) -> Result<RecoverReport> {
        self.check_free(options.overwrite)?;
        let repaired = self.repair(options)?;
        let unnamed: Vec<_> = self.files.iter().filter(|file| !file.is_last()).collect();
        if !options.dry_run {
            self.publish(&unnamed, options.overwrite)?;
        }
        let action = match repaired.action {
            Action::Nothing if !unnamed.is_empty() => Action::Published,
            action => action,
        };
        Ok(RecoverReport {
            action,
            file_id: self.group.x.clone(),
            regions: repaired.regions,
            repair: Some(repaired),
            found: self.group.files.iter().map(|file| file.path.clone()).collect(),
        })
    }

    /// Whether a file may get its final name although another file has it (step 6).
    fn may_replace(&self, file: &Remain, overwrite: bool) -> bool {
        overwrite || (file.role == FileRole::Index && self.files[0].is_last())
    }

    fn check_free(&self, overwrite: bool) -> Result<()> {
        for file in self.files.iter().filter(|file| !file.is_last()) {
            if file.last.symlink_metadata().is_ok() && !self.may_replace(file, overwrite) {
                let error = std::io::Error::new(ErrorKind::AlreadyExists, "another file has this name");
                return Err(Error::io("give the file its name", &file.last, Some(file.role), error));
            }
        }
        Ok(())
    }

    /// Repairs the files, with the names that they have (step 7).
    fn repair(&self, options: &RecoverOptions) -> Result<RepairReport> {
        let files = match &self.files[..] {
            [data, index] => Files::Paired {
                data: data.path.clone(),
                index: index.path.clone(),
            },
            [single, ..] => Files::Single(single.path.clone()),
            [] => return Err(Error::argument("files to repair", "none")),
        };
        if !self.rebuilds {
            let repair_options = RepairOptions::default().limits(options.limits.clone());
            return repair(&files, &repair_options.dry_run(options.dry_run));
        }
        let rebuild = RebuildOptions {
            limits: options.limits.clone(),
            shared: options.shared,
            dry_run: options.dry_run,
            schema: options.schema.clone(),
        };
        rebuild_as(&files, &with_extension(&self.files[1].last, "rebuild.tmp"), &rebuild)
    }

    /// Syncs the files to the device and gives them their names (step 8).
    fn publish(&self, unnamed: &[&Remain], overwrite: bool) -> Result<()> {
        for file in unnamed {
            let synced = File::open(&file.path).and_then(|open| open.sync_all());
            synced.map_err(|error| Error::io("sync the file", &file.path, Some(file.role), error))?;
        }
        let names: Vec<_> = unnamed
            .iter()
            .map(|file| Naming {
                temporary: &file.path,
                last: &file.last,
                device: None,
            })
            .collect();
        let replace = match self.group.layout {
            Layout::Single if overwrite => Replace::Single,
            Layout::Paired if overwrite || self.files[0].is_last() => Replace::Pair,
            _ => Replace::Nothing,
        };
        if !names.is_empty() {
            give_names(&names, &lock_path(&self.files[0].last), replace).map_err(|(at, error)| {
                let file = unnamed[at];
                Error::io("give the file its name", &file.last, Some(file.role), error)
            })?;
        }
        for second in self.files.iter().filter_map(|file| file.second.as_ref()) {
            // `clean` removes a second name that stays.
            let _ = std::fs::remove_file(second);
        }
        sync_folder(&self.files[0].last)
    }
}
