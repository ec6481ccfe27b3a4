//! Finds the files that unfinished writers of a NAME left, grouped by writer (spec, PUB-8, steps 2 to 5).

use crate::bytes::FileHeader;
use crate::error::{Error, ErrorCode, FileRole, Result};
use crate::reader::read_header;
use crate::storage::Files;
use crate::storage::InputFile;
use crate::storage::Layout;
use crate::storage::publishing::{Locked, is_living, key_of, lock_file};
use std::fs::OpenOptions;
use std::path::{Path, PathBuf};

/// The digits X of a temporary name `FINAL.X.tmp`, if it is one.
pub(super) fn digits<'n>(name: &'n str, last: &str) -> Option<&'n str> {
    let x = name.strip_prefix(last)?.strip_prefix('.')?.strip_suffix(".tmp")?;
    is_x(x).then_some(x)
}

/// Whether a text is the first 8 digits of a file_id, as in the names of files.
pub(super) fn is_x(text: &str) -> bool {
    text.len() == 8 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// The first 8 digits of the file_id in a header.
fn x_of(header: &FileHeader) -> String {
    header.file_id[..4].iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A file that a writer left.
#[derive(Clone, Debug)]
pub(super) struct Remain {
    pub role: FileRole,
    /// Its current path.
    pub path: PathBuf,
    /// The final name that it should get.
    pub last: PathBuf,
    /// A temporary name that the file has in addition to its final name (PUB-7).
    pub second: Option<PathBuf>,
    /// Its header, if it begins with one.
    pub header: Option<FileHeader>,
}

impl Remain {
    fn new(role: FileRole, path: PathBuf, last: &Path) -> Remain {
        let header = InputFile::open(&path, role)
            .and_then(|source| read_header(&source))
            .ok();
        Remain {
            role,
            path,
            last: last.to_path_buf(),
            second: None,
            header,
        }
    }

    pub(super) fn is_last(&self) -> bool {
        self.path == self.last
    }
}

/// The files that one writer left.
#[derive(Clone, Debug)]
pub(super) struct Group {
    /// The first 8 hexadecimal digits of the output's file_id; none if no file has it.
    pub x: Option<String>,
    pub layout: Layout,
    /// At most one for each role.
    pub files: Vec<Remain>,
}

impl Group {
    pub(super) fn file(&self, role: FileRole) -> Option<&Remain> {
        self.files.iter().find(|file| file.role == role)
    }

    /// Step 3: without the header of the data or single file, nothing can be saved.
    fn counts(&self) -> bool {
        let first = match self.layout {
            Layout::Paired => FileRole::Data,
            Layout::Single => FileRole::Single,
        };
        self.file(first).is_some_and(|file| file.header.is_some())
    }
}

/// The groups of an output's files.
pub(super) fn collect(stem: &Path, layouts: &[Layout]) -> Result<Vec<Group>> {
    let folder = match stem.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let list = || -> std::io::Result<Vec<String>> {
        let entries = std::fs::read_dir(folder)?;
        let names = entries.map(|entry| Ok(entry?.file_name().into_string().unwrap_or_default()));
        names.collect()
    };
    let mut names = list().map_err(|error| Error::io("list the folder", folder, None, error))?;
    names.sort();
    let mut groups = Vec::new();
    for layout in layouts {
        let files = match layout {
            Layout::Paired => Files::paired(stem),
            Layout::Single => Files::single(stem),
        };
        for (role, last) in files.paths() {
            let last_name = last.file_name().unwrap_or_default().to_string_lossy();
            for name in &names {
                if let Some(x) = digits(name, &last_name) {
                    let file = Remain::new(role, last.with_file_name(name), last);
                    add(&mut groups, Some(x.to_owned()), *layout, file);
                }
            }
        }
        // A file with a final name joins the temporary files with the same file_id.
        for (role, last) in files.paths() {
            if last.symlink_metadata().is_ok() {
                let file = Remain::new(role, last.to_path_buf(), last);
                let x = file.header.as_ref().map(x_of);
                add(&mut groups, x, *layout, file);
            }
        }
    }
    Ok(groups)
}

fn add(groups: &mut Vec<Group>, x: Option<String>, layout: Layout, file: Remain) {
    let group = match groups.iter_mut().find(|group| group.x == x && group.layout == layout) {
        Some(group) => group,
        None => {
            groups.push(Group {
                x,
                layout,
                files: Vec::new(),
            });
            groups.last_mut().expect("one was pushed")
        }
    };
    match group.files.iter_mut().find(|other| other.role == file.role) {
        None => group.files.push(file),
        // If one file has two names, the final name counts. Of two files, the unfinished one counts.
        Some(other) if key_of(&other.path).is_some() && key_of(&other.path) == key_of(&file.path) => {
            let second = std::mem::replace(other, file).path;
            other.second = Some(second);
        }
        Some(_) => {}
    }
}

/// The group to repair; none if nothing can be saved (steps 3 to 5).
pub(super) fn choose(groups: Vec<Group>, x: Option<&str>, name: &Path) -> Result<Option<Group>> {
    let mut groups = groups;
    groups.retain(|group| x.is_none() || group.x.as_deref() == x);
    let nothing = |expected: String, found: String| Error {
        file: Some(name.to_path_buf()),
        ..Error::bare(ErrorCode::Io, expected, found)
    };
    if groups.is_empty() {
        let named = x.map(|x| format!(" of file_id {x}")).unwrap_or_default();
        return Err(nothing(
            format!("files{named} that a writer left unfinished"),
            "none".into(),
        ));
    }
    groups.retain(Group::counts);
    let all = groups.clone();
    let mut dead = Vec::new();
    for group in groups {
        if !is_written(&group) {
            dead.push(group);
        }
    }
    let shown = |groups: &[Group]| {
        let shown = groups.iter().filter_map(|group| group.x.clone());
        shown.collect::<Vec<_>>().join(", ")
    };
    match dead.len() {
        0 if all.is_empty() => Ok(None),
        0 => Err(nothing(
            "files of a writer that has ended".into(),
            format!("those of a living writer, file_id {}", shown(&all)),
        )),
        1 => Ok(dead.pop()),
        _ => Err(Error::argument(
            "what one writer left; name one by its file_id",
            format!("{} writers' files, file_id {}", dead.len(), shown(&dead)),
        )),
    }
}

/// Whether a file of the group belongs to a living writer (PUB-6).
fn is_written(group: &Group) -> bool {
    let names = group
        .files
        .iter()
        .flat_map(|file| file.second.iter().chain([&file.path]));
    let mut names = names.collect::<Vec<_>>();
    names.dedup();
    names.into_iter().any(|path| is_written_to(path))
}

/// Whether a file belongs to a living writer. If that cannot be determined, the answer is no: repairing the file will
/// fail.
pub(super) fn is_written_to(path: &Path) -> bool {
    let Ok(metadata) = path.symlink_metadata() else {
        return false;
    };
    if is_living(&metadata) {
        return true;
    }
    let asked = OpenOptions::new()
        .write(true)
        .open(path)
        .and_then(|file| lock_file(&file));
    matches!(asked, Ok(Locked::Elsewhere))
}
