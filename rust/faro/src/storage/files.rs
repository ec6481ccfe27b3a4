//! The files of an output (spec, FIL-1 to FIL-3).

use crate::error::{Error, ErrorCode, FileRole, Result};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// Whether an output is two files or one. FIL-1 and FIL-2 define these two; version 1 of the format has no other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Layout {
    /// `NAME.data` and `NAME.index`.
    Paired,
    /// `NAME.faro`.
    Single,
}

/// The file or files of one output (FIL-1, FIL-2).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Files {
    /// Data and index in one file.
    Single(PathBuf),
    /// A data file and its index file.
    Paired {
        /// The data file.
        data: PathBuf,
        /// The index file.
        index: PathBuf,
    },
}

impl Files {
    /// The pair `NAME.data` and `NAME.index`.
    pub fn paired(name: impl AsRef<Path>) -> Files {
        Files::Paired {
            data: with_extension(name.as_ref(), "data"),
            index: with_extension(name.as_ref(), "index"),
        }
    }

    /// The single file `NAME.faro`.
    pub fn single(name: impl AsRef<Path>) -> Files {
        Files::Single(with_extension(name.as_ref(), "faro"))
    }

    /// The files with their roles, in the order in which a writer commits them: data first.
    pub fn paths(&self) -> Vec<(FileRole, &Path)> {
        match self {
            Files::Single(path) => vec![(FileRole::Single, path)],
            Files::Paired { data, index } => vec![(FileRole::Data, data), (FileRole::Index, index)],
        }
    }

    /// The files of an output to be written (PUB-1). Without a layout, the ending of the name decides.
    ///
    /// # Errors
    /// `invalid-argument` when the ending of the name contradicts the layout, and for a path that is not a
    /// NAME, such as `..`.
    pub fn to_write(name: impl AsRef<Path>, layout: Option<Layout>) -> Result<Files> {
        let name = name.as_ref();
        let (stem, said) = Files::split(name)?;
        match (layout, said) {
            (Some(wanted), Some(said)) if wanted != said => Err(Error::argument(
                format!("a NAME that fits the layout {wanted:?}"),
                name.display().to_string(),
            )),
            (wanted, said) => Ok(match wanted.or(said) {
                Some(Layout::Single) => Files::single(stem),
                _ => Files::paired(stem),
            }),
        }
    }

    /// A NAME without its ending, and the layout that the ending stands for (PUB-1).
    pub(crate) fn split(name: &Path) -> Result<(PathBuf, Option<Layout>)> {
        let refused = || Error::argument("the NAME of an output", name.display().to_string());
        let last = last_part(name).ok_or_else(refused)?;
        let whole = name.with_file_name(last);
        let layout = match last.as_encoded_bytes() {
            b".faro" | b".data" | b".index" => return Err(refused()),
            _ => match whole.extension().and_then(|extension| extension.to_str()) {
                Some("faro") => Some(Layout::Single),
                Some("data" | "index") => Some(Layout::Paired),
                _ => return Ok((whole, None)),
            },
        };
        let stem = whole.with_extension("");
        last_part(&stem).ok_or_else(refused)?;
        Ok((stem, layout))
    }

    /// The data or single file.
    pub(crate) fn first(&self) -> (FileRole, &Path) {
        match self {
            Files::Single(path) => (FileRole::Single, path),
            Files::Paired { data, .. } => (FileRole::Data, data),
        }
    }

    /// Finds the files of an output that exists. The path is `NAME.faro`, `NAME.data` or `NAME.index` (either means
    /// both), the name of any other file, or `NAME` alone. The headers say what the files are (FIL-4).
    ///
    /// # Errors
    /// `io` when there is no output `NAME`; `invalid-argument` when there are two, a single file and a pair, and for
    /// a path that is not a NAME.
    pub fn locate(path: impl AsRef<Path>) -> Result<Files> {
        let (stem, layout) = Files::split(path.as_ref())?;
        match layout {
            Some(Layout::Single) => return Ok(Files::single(stem)),
            Some(Layout::Paired) => return Ok(Files::paired(stem)),
            None => {}
        }
        let path = stem.as_path();
        let (single, paired) = (with_extension(path, "faro"), Files::paired(path));
        // A link that leads nowhere counts too; opening it reports the error.
        let exists = |path: &Path| path.symlink_metadata().is_ok();
        let pair_exists = matches!(&paired, Files::Paired { data, index } if exists(data) || exists(index));
        match (exists(&single), pair_exists) {
            (true, true) => Err(Error::argument(
                "the name of one output",
                format!("{}.faro and {}.index", path.display(), path.display()),
            )),
            (true, false) => Ok(Files::Single(single)),
            (false, true) => Ok(paired),
            (false, false) if path.is_file() => Ok(Files::Single(path.to_path_buf())),
            (false, false) => {
                let name = path.display();
                let expected = format!("an output: {name}.faro, or {name}.data and {name}.index");
                Err(Error {
                    file: Some(path.to_path_buf()),
                    ..Error::bare(ErrorCode::Io, expected, "none of these files")
                })
            }
        }
    }
}

/// The last part of a path, unless it is `.` or `..`. `Path::file_name` ignores a final `.`.
fn last_part(path: &Path) -> Option<&OsStr> {
    let text = path.as_os_str().as_encoded_bytes();
    let separator = |byte: &u8| std::path::is_separator(char::from(*byte));
    let end = text.iter().rposition(|byte| !separator(byte))?;
    let begin = text[..end].iter().rposition(separator).map_or(0, |at| at + 1);
    (&text[begin..=end] != b".").then(|| path.file_name()).flatten()
}

/// `NAME`, a dot, and the extension. Unlike `Path::with_extension`, it keeps a dot in NAME.
pub(crate) fn with_extension(name: &Path, extension: &str) -> PathBuf {
    let mut text = OsString::from(name);
    text.push(".");
    text.push(extension);
    PathBuf::from(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_mean_files() {
        let folder = tempfile::tempdir().unwrap();
        let name = folder.path().join("a.b");
        let located = |path: &Path| Files::locate(path);
        assert_eq!(located(&name).unwrap_err().code, ErrorCode::Io);
        std::fs::write(with_extension(&name, "index"), "").unwrap();
        let pair = Files::paired(&name);
        assert_eq!(located(&name).unwrap(), pair);
        assert_eq!(located(&folder.path().join("a.b.data")).unwrap(), pair);
        std::fs::write(with_extension(&name, "faro"), "").unwrap();
        assert_eq!(located(&name).unwrap_err().code, ErrorCode::InvalidArgument);
        assert_eq!(located(&folder.path().join("a.b.faro")).unwrap(), Files::single(&name));
        let plain = folder.path().join("plain");
        std::fs::write(&plain, "").unwrap();
        assert_eq!(located(&plain).unwrap(), Files::Single(plain));
    }

    #[cfg(unix)]
    #[test]
    fn a_link_that_leads_nowhere_is_a_file() {
        let folder = tempfile::tempdir().unwrap();
        let name = folder.path().join("a");
        std::fs::write(with_extension(&name, "index"), "").unwrap();
        std::os::unix::fs::symlink("nowhere", with_extension(&name, "faro")).unwrap();
        assert_eq!(Files::locate(&name).unwrap_err().code, ErrorCode::InvalidArgument);
    }

    #[test]
    fn separators_at_the_end_are_not_part_of_a_name() {
        for (given, files) in [
            ("f/a/", Files::paired("f/a")),
            ("a//", Files::paired("a")),
            ("f/a.faro/", Files::single("f/a")),
            ("..a", Files::paired("..a")),
        ] {
            assert_eq!(Files::to_write(given, None).unwrap(), files, "{given}");
        }
    }

    #[test]
    fn some_paths_are_not_names() {
        for given in [
            "",
            "/",
            ".",
            "..",
            "f/.",
            "f/..",
            "f/./",
            ".faro",
            "f/.data",
            ".index",
            "..faro",
            "f/...data",
        ] {
            for found in [Files::to_write(given, None), Files::locate(given)] {
                assert_eq!(found.unwrap_err().code, ErrorCode::InvalidArgument, "{given}");
            }
        }
    }
}
