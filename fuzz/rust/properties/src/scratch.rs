//! The folder for the files of an input. libFuzzer ends its processes without destructors, so its caller provides a
//! folder for temporary files and removes it afterwards.

use crate::container::Container;
use faro::{FileRole, Files};
use std::path::{Path, PathBuf};
use tempfile::TempDir;

thread_local! {
    static FOLDER: TempDir = tempfile::tempdir().expect("a folder for temporary files");
}

/// The path of a name in the folder.
pub(crate) fn path(name: &str) -> PathBuf {
    FOLDER.with(|folder| folder.path().join(name))
}

pub(crate) fn write(path: &Path, bytes: &[u8]) {
    std::fs::write(path, bytes).expect("the folder for temporary files takes files");
}

pub(crate) fn read(path: &Path) -> Vec<u8> {
    std::fs::read(path).expect("a file that was written is there")
}

/// Writes the files of an input.
pub(crate) fn put(container: &Container) -> Files {
    let files = place(container);
    if let (Files::Paired { data: path, .. }, Some(data)) = (&files, &container.data) {
        write(path, data);
    }
    write(index(&files), &container.index);
    files
}

/// The paths of the files of an input.
pub(crate) fn place(container: &Container) -> Files {
    match container.data {
        Some(_) => Files::paired(path("x")),
        None => Files::single(path("x")),
    }
}

/// The index or single file.
pub(crate) fn index(files: &Files) -> &Path {
    match files {
        Files::Single(path) => path,
        Files::Paired { index, .. } => index,
    }
}

/// The size of each file now.
pub(crate) fn sizes(files: &Files) -> Vec<(FileRole, u64)> {
    let size = |path: &Path| std::fs::metadata(path).map_or(0, |metadata| metadata.len());
    files
        .paths()
        .into_iter()
        .map(|(role, path)| (role, size(path)))
        .collect()
}

/// The bytes of each file now.
pub(crate) fn contents(files: &Files) -> Vec<Vec<u8>> {
    files.paths().into_iter().map(|(_, path)| read(path)).collect()
}

/// A folder without files in the folder.
pub(crate) fn empty_folder(name: &str) -> PathBuf {
    let folder = path(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir(&folder).expect("a folder in a folder of ours");
    folder
}

/// The files of a folder, by name.
pub(crate) fn listing(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let entries = std::fs::read_dir(folder).expect("a folder that was made");
    let mut files: Vec<_> = entries
        .map(|entry| {
            let entry = entry.expect("an entry of a folder");
            (entry.file_name().to_string_lossy().into_owned(), read(&entry.path()))
        })
        .collect();
    files.sort();
    files
}
