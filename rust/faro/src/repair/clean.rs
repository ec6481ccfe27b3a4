//! Removes what dead writers left in a folder (spec, PUB-9).

use super::remains::{digits, is_x};
use crate::bytes::FileHeader;
use crate::error::{Error, Result};
use crate::storage::publishing::{Locked, PublishingLock, is_living, key_of, key_of_metadata, lock_file};
use std::fs::{File, Metadata, OpenOptions};
use std::io::Read;
use std::path::Path;
use std::time::{Duration, SystemTime};

/// The options of [`clean`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CleanOptions {
    /// How long a file must be unchanged before it is removed; one hour by default. On systems without record locks,
    /// only this protects the files of living writers.
    pub older_than: Duration,
    /// Whether to report only, and remove nothing.
    pub dry_run: bool,
}

impl Default for CleanOptions {
    fn default() -> Self {
        CleanOptions {
            older_than: Duration::from_secs(3600),
            dry_run: false,
        }
    }
}

impl CleanOptions {
    /// Sets `older_than`.
    #[must_use]
    pub fn older_than(mut self, older_than: Duration) -> Self {
        self.older_than = older_than;
        self
    }

    /// Sets `dry_run`.
    #[must_use]
    pub fn dry_run(mut self, dry_run: bool) -> Self {
        self.dry_run = dry_run;
        self
    }
}

/// What [`clean`] did, or with `dry_run` would have done. Both lists are sorted by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CleanReport {
    /// The files that were removed.
    pub removed: Vec<LeftFile>,
    /// The files that look like a dead writer's and were kept.
    pub kept: Vec<KeptFile>,
}

/// A file that a writer left in the folder.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LeftFile {
    /// Its name in the folder.
    pub name: String,
    /// Its size in bytes.
    pub size: u64,
    /// The time since its last change.
    pub age: Duration,
}

/// A file that looks like one of a dead writer, and was kept.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct KeptFile {
    /// The file.
    pub file: LeftFile,
    /// Why it was kept.
    pub reason: KeptReason,
}

/// Why a file was kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum KeptReason {
    /// It was changed less than [`CleanOptions::older_than`] ago.
    Young,
    /// Its writer is alive, or may be.
    Living,
}

impl KeptReason {
    /// The reason as the conformance protocol spells it.
    pub const fn as_str(self) -> &'static str {
        match self {
            KeptReason::Young => "young",
            KeptReason::Living => "living",
        }
    }
}

/// Removes the temporary files and locks that dead writers left in a folder, not in its subfolders (PUB-9). It never
/// removes a file with a final name; [`crate::recover`] repairs those.
///
/// # Errors
/// `io` when the folder cannot be listed, or a file that a dead writer left cannot be removed.
pub fn clean(folder: impl AsRef<Path>, options: &CleanOptions) -> Result<CleanReport> {
    let folder = folder.as_ref();
    let list = || -> std::io::Result<Vec<String>> {
        let entries = std::fs::read_dir(folder)?;
        let names = entries.map(|entry| Ok(entry?.file_name().into_string().unwrap_or_default()));
        names.collect()
    };
    let mut names = list().map_err(|error| Error::io("list the folder", folder, None, error))?;
    names.sort();
    let now = SystemTime::now();
    let mut report = CleanReport::default();
    for name in names {
        let (Some(kind), path) = (Kind::of(&name), folder.join(&name)) else {
            continue;
        };
        let Ok(metadata) = path.symlink_metadata() else {
            continue;
        };
        if !metadata.is_file() || !kind.fits(&path, &metadata) {
            continue;
        }
        let changed = metadata.modified().unwrap_or(now);
        let file = LeftFile {
            name,
            size: metadata.len(),
            age: now.duration_since(changed).unwrap_or_default(),
        };
        if file.age < options.older_than {
            let reason = KeptReason::Young;
            report.kept.push(KeptFile { file, reason });
        } else if remove(&path, kind, &metadata, options.dry_run)? {
            report.removed.push(file);
        } else {
            let reason = KeptReason::Living;
            report.kept.push(KeptFile { file, reason });
        }
    }
    Ok(report)
}

/// What a file is, by its name (rule 1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// A temporary file of the writer with a file_id that begins with these digits.
    Temporary([u8; 4]),
    Rebuilt,
    Lock,
}

impl Kind {
    fn of(name: &str) -> Option<Kind> {
        if name.ends_with(".faro-lock") {
            return Some(Kind::Lock);
        }
        if name.ends_with(".index.rebuild.tmp") {
            return Some(Kind::Rebuilt);
        }
        let (last, x) = name.strip_suffix(".tmp")?.rsplit_once('.')?;
        let ending = Path::new(last).extension()?.to_str()?;
        if !matches!(ending, "data" | "index" | "faro") || !is_x(x) || digits(name, last).is_none() {
            return None;
        }
        u32::from_str_radix(x, 16)
            .ok()
            .map(|x| Kind::Temporary(x.to_be_bytes()))
    }

    /// Rule 2.
    fn fits(self, path: &Path, metadata: &Metadata) -> bool {
        let (expected, size) = match self {
            Kind::Lock => return metadata.len() == 0,
            Kind::Temporary(x) => (Some(x), metadata.len()),
            Kind::Rebuilt => (None, metadata.len()),
        };
        if size < FileHeader::SIZE as u64 {
            return true;
        }
        // Do not open a file that this process is writing: closing it would release its lock.
        if is_living(metadata) {
            return true;
        }
        let mut start = [0; FileHeader::SIZE];
        let read = File::open(path).and_then(|mut file| file.read_exact(&mut start));
        read.is_ok() && FileHeader::looks_like(&start, expected)
    }
}

/// Removes a file unless its writer is alive, and holds its lock meanwhile (rule 4). Returns whether it removed it.
fn remove(path: &Path, kind: Kind, metadata: &Metadata, dry_run: bool) -> Result<bool> {
    let refused = |error| Error::io("remove the file", path, None, error);
    if kind == Kind::Lock {
        return Ok(match PublishingLock::take_within(path, Duration::ZERO) {
            Ok(lock) if dry_run => {
                lock.leave();
                true
            }
            Ok(lock) => {
                drop(lock);
                true
            }
            Err(_) => false,
        });
    }
    if is_living(metadata) {
        return Ok(false);
    }
    let file = OpenOptions::new().write(true).open(path);
    let locked = file.and_then(|file| lock_file(&file).map(|locked| (file, locked)));
    match locked {
        Ok((_file, Locked::Here | Locked::Unsupported)) => {
            if !dry_run && key_of(path) == key_of_metadata(metadata) {
                std::fs::remove_file(path).map_err(refused)?;
            }
            Ok(true)
        }
        Ok((_, Locked::Elsewhere)) | Err(_) => Ok(false),
    }
}
