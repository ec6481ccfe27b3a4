//! Finds the outputs in folders.

use super::natural;
use crate::bytes::{FileHeader, FileKind};
use crate::error::{Error, ErrorCode, Result};
use crate::storage::{Files, with_extension};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf, is_separator};

/// What [`find`] found.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Found {
    /// The outputs, each once. They are sorted by their names as people read them: `map-2` before `map-10`.
    pub outputs: Vec<Files>,
    /// Folders that could not be listed, and paths that lead to no output: `io`, or `invalid-argument` for a path that
    /// cannot be the NAME of one output.
    pub faults: Vec<Error>,
    /// The number of other files in the folders: those of other programs, and those that writers have not published.
    pub other_files: u64,
}

/// Finds outputs by their paths. A path is a folder, which is searched with all folders in it, or what
/// [`Files::locate`] takes: the NAME of an output or one of its files. `x.data` and `x.index` are one output.
///
/// In a folder, `NAME.faro` is an output, and so are `NAME.data` and `NAME.index` if one of them begins as a Faro file
/// does; the other may be missing, which opening it reports. Temporary files and locks of writers are skipped, and so are
/// files of fragments. Symbolic links are followed, and no folder is searched twice.
pub fn find<P: AsRef<Path>>(paths: impl IntoIterator<Item = P>) -> Found {
    let mut search = Search::default();
    for path in paths {
        search.add(path.as_ref());
    }
    let mut outputs: Vec<Files> = search.outputs.into_values().collect();
    outputs.sort_by(|a, b| natural::compare(a.first().1, b.first().1));
    Found {
        outputs,
        faults: search.faults,
        other_files: search.other_files,
    }
}

/// Whether [`find`] searches a path as a folder. A path without a separator at its end is rather an output of that name,
/// if there is one.
pub fn is_folder(path: impl AsRef<Path>) -> bool {
    let path = path.as_ref();
    let ends = |byte: &u8| is_separator(char::from(*byte));
    path.is_dir() && (path.as_os_str().as_encoded_bytes().last().is_some_and(ends) || !is_output(path))
}

/// Whether files of an output have this name.
fn is_output(path: &Path) -> bool {
    let there = |files: Files| {
        files
            .paths()
            .iter()
            .any(|(_, path)| path.symlink_metadata().is_ok() && !path.is_dir())
    };
    Files::locate(path).is_ok_and(there)
}

/// The name of an output, which opens it: the path of a single file, and that of a pair without `.data`.
pub fn name(files: &Files) -> PathBuf {
    match files {
        Files::Single(path) => path.clone(),
        Files::Paired { data, .. } if data.extension() == Some(OsStr::new("data")) => data.with_extension(""),
        Files::Paired { data, .. } => data.clone(),
    }
}

#[derive(Default)]
struct Search {
    /// By folder, as the system knows it, and the name in it.
    outputs: BTreeMap<(PathBuf, OsString), Files>,
    faults: Vec<Error>,
    other_files: u64,
    /// The folders that were searched, as the system knows them.
    searched: BTreeSet<PathBuf>,
}

/// The error for a NAME with an ending, if there is none of its files. [`Files::locate`] does not look.
fn missing(files: &Files) -> Option<Error> {
    let mut errors = files.paths().into_iter().map(|(_, path)| path.symlink_metadata().err());
    let (role, path) = files.first();
    let first = errors.next().flatten()?;
    let all = errors.all(|error| error.is_some());
    all.then(|| Error::io("open the output", path, Some(role), first))
}

/// Which files of a pair are in a folder.
#[derive(Default)]
struct Pair {
    data: bool,
    index: bool,
}

impl Search {
    fn add(&mut self, path: &Path) {
        if is_folder(path) {
            return self.search(path.to_owned());
        }
        let located = Files::locate(path).and_then(|files| match missing(&files) {
            Some(error) => Err(error),
            None => Ok(files),
        });
        match located {
            Ok(files) => self.insert(files),
            Err(error) => self.faults.push(error),
        }
    }

    fn insert(&mut self, files: Files) {
        let (_, path) = files.first();
        let folder = match path.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        };
        let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
        let name = path.file_name().unwrap_or_default().to_owned();
        self.outputs.entry((folder, name)).or_insert(files);
    }

    /// Searches a folder and all folders in it.
    fn search(&mut self, folder: PathBuf) {
        let mut waiting = vec![folder];
        while let Some(folder) = waiting.pop() {
            match self.list(&folder) {
                Ok(inner) => waiting.extend(inner),
                Err(error) => self.faults.push(error),
            }
        }
    }

    /// Adds the outputs of a folder; returns the folders in it.
    fn list(&mut self, folder: &Path) -> Result<Vec<PathBuf>> {
        let failure = |error| Error::io("list the folder", folder, None, error);
        let known = folder.canonicalize().map_err(failure)?;
        if !self.searched.insert(known.clone()) {
            return Ok(Vec::new());
        }
        let mut folders = Vec::new();
        let mut pairs: BTreeMap<OsString, Pair> = BTreeMap::new();
        for entry in std::fs::read_dir(folder).map_err(failure)? {
            let entry = entry.map_err(failure)?;
            let (path, kind) = (entry.path(), entry.file_type().map_err(failure)?);
            if kind.is_dir() || (kind.is_symlink() && path.is_dir()) {
                folders.push(path);
                continue;
            }
            let stem = path.file_stem().unwrap_or_default().to_owned();
            match path.extension().and_then(OsStr::to_str) {
                Some("faro") => {
                    self.outputs
                        .entry((known.clone(), entry.file_name()))
                        .or_insert(Files::Single(path));
                }
                Some("data") => pairs.entry(stem).or_default().data = true,
                Some("index") => pairs.entry(stem).or_default().index = true,
                _ => self.other_files += 1,
            }
        }
        for (stem, pair) in pairs {
            let files = Files::paired(folder.join(&stem));
            if is_pair(&files, &pair) {
                let name = with_extension(Path::new(&stem), "data").into_os_string();
                self.outputs.entry((known.clone(), name)).or_insert(files);
            } else {
                self.other_files += u64::from(pair.data) + u64::from(pair.index);
            }
        }
        Ok(folders)
    }
}

/// Whether one of the files begins as an index or data file of Faro. The index is usually enough.
fn is_pair(files: &Files, pair: &Pair) -> bool {
    let Files::Paired { data, index } = files else {
        return false;
    };
    let begins = |path: &Path, kind: FileKind| path.is_file() && begins_as(path, kind);
    pair.index && begins(index, FileKind::Index) || pair.data && begins(data, FileKind::Data)
}

/// Whether a file begins with a header of this kind. One that is damaged counts, and so does a file that cannot be read:
/// opening the output reports it.
fn begins_as(path: &Path, kind: FileKind) -> bool {
    let mut begin = Vec::with_capacity(FileHeader::SIZE);
    let read = File::open(path).and_then(|file| file.take(FileHeader::SIZE as u64).read_to_end(&mut begin));
    match (read, FileHeader::parse(&begin)) {
        (Ok(0), _) => false,
        (Ok(_), Ok(header)) => header.kind == kind,
        (Ok(_), Err(error)) => error.code != ErrorCode::NotFaro,
        (Err(_), _) => true,
    }
}
