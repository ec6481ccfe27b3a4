//! The inputs of `pack`: their formats, and their bytes.

use std::fs::File;
use std::io::{self, Cursor, Read, Seek};
use std::path::{Path, PathBuf};

use bytes::Bytes;
use clap::ValueEnum;
use indicatif::ProgressBar;

use super::compressed::{Compression, is_damage, plain_name};
use crate::failure::{Failure, Outcome};
use crate::signals::PatientPipe;

/// The formats that can be packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Comma-separated values; quoted fields may contain delimiters and line ends
    Csv,
    /// Tab-separated values, without quoting
    Tsv,
    /// JSON lines: one object on each line
    Jsonl,
    /// Apache Parquet
    Parquet,
    /// Apache Arrow IPC, file or stream
    Arrow,
}

impl Format {
    /// The name in the property `faro.pack.format`.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Format::Csv => "csv",
            Format::Tsv => "tsv",
            Format::Jsonl => "jsonl",
            Format::Parquet => "parquet",
            Format::Arrow => "arrow",
        }
    }

    /// Whether records are lines of text, not rows of batches.
    pub(crate) fn is_text(self) -> bool {
        matches!(self, Format::Csv | Format::Tsv | Format::Jsonl)
    }

    fn of_extension(path: &Path) -> Option<Format> {
        Some(
            match plain_name(path).extension()?.to_str()?.to_ascii_lowercase().as_str() {
                "csv" => Format::Csv,
                "tsv" | "tab" => Format::Tsv,
                "jsonl" | "ndjson" | "json" => Format::Jsonl,
                "parquet" | "pq" => Format::Parquet,
                "arrow" | "arrows" | "feather" | "ipc" => Format::Arrow,
                _ => return None,
            },
        )
    }

    fn of_content(start: &[u8]) -> Option<Format> {
        if start.starts_with(b"PAR1") {
            return Some(Format::Parquet);
        }
        let arrow = start.starts_with(ARROW_FILE) || start.starts_with(&[0xff; 4]);
        arrow.then_some(Format::Arrow)
    }
}

/// The first bytes of an Arrow IPC file; a stream begins with four bytes FF.
const ARROW_FILE: &[u8] = b"ARROW1";

/// What a path leads to.
enum Opened {
    File(File),
    Pipe(Box<dyn Read + Send>),
}

/// The content to read.
enum Content {
    File(File),
    /// A compressed file, from its beginning.
    Compressed(File, Compression),
    /// A stream that can be read once, without its first bytes.
    Pipe(Box<dyn Read + Send>),
}

/// An input that was opened and recognised.
pub(super) struct Source {
    /// Its name in messages.
    pub path: PathBuf,
    pub format: Format,
    /// The size of a regular file, in bytes.
    pub size: Option<u64>,
    /// The first plain bytes.
    start: Vec<u8>,
    content: Content,
}

/// Whether a path stands for standard input.
pub(super) fn is_stdin(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// The name of an input in messages.
fn named(path: &Path) -> PathBuf {
    if is_stdin(path) {
        PathBuf::from("standard input")
    } else {
        path.to_owned()
    }
}

/// A failure of reading: an error of the system, or damage of a compressed input.
pub(super) fn read_failure(path: &Path, error: io::Error) -> Failure {
    if is_damage(&error) {
        Failure::input(path, None, error.to_string())
    } else {
        Failure::file(path, error)
    }
}

impl Source {
    /// Opens an input. Its format is the caller's choice, else follows from its first bytes, else from its name. The
    /// first bytes also show whether it is compressed.
    pub(super) fn open(path: &Path, format: Option<Format>) -> Outcome<Source> {
        let opened = open(path)?;
        let size = match &opened {
            Opened::File(file) => file.metadata().ok().map(|metadata| metadata.len()),
            Opened::Pipe(_) => None,
        };
        let (start, content) = look_into(opened).map_err(|error| read_failure(&named(path), error))?;
        let format = format
            .or_else(|| Format::of_content(&start))
            .or_else(|| Format::of_extension(path));
        let Some(format) = format else {
            return Err(Failure::usage(format!(
                "cannot tell the format of {}; pass --format (csv, tsv, jsonl, parquet or arrow)",
                named(path).display()
            )));
        };
        Ok(Source {
            path: named(path),
            format,
            size,
            start,
            content,
        })
    }

    /// Whether it can be opened and read again from its beginning.
    pub(super) fn is_repeatable(&self) -> bool {
        !matches!(self.content, Content::Pipe(_))
    }

    /// Whether the content is an Arrow IPC file, not a stream.
    pub(super) fn is_arrow_file(&self) -> bool {
        self.start.starts_with(ARROW_FILE)
    }

    /// The plain bytes in order. The first bytes come together. Progress is in bytes of the input.
    pub(super) fn into_reader(self, progress: &ProgressBar) -> Outcome<Box<dyn Read + Send>> {
        let rest: Box<dyn Read + Send> = match self.content {
            Content::File(file) => return Ok(Box::new(progress.wrap_read(file))),
            Content::Compressed(file, compression) => {
                let failure = |error| read_failure(&self.path, error);
                let mut plain = compression.decoded(progress.wrap_read(file)).map_err(failure)?;
                let mut start = vec![0; self.start.len()];
                plain.read_exact(&mut start).map_err(failure)?;
                plain
            }
            Content::Pipe(pipe) => Box::new(progress.wrap_read(pipe)),
        };
        Ok(Box::new(Cursor::new(self.start).chain(rest)))
    }

    /// The bytes for reading at any position: a file, or the memory that a pipe or a compressed file was read into.
    pub(super) fn into_random_access(self) -> Outcome<RandomAccess> {
        if let Content::File(file) = self.content {
            return Ok(RandomAccess::File(file));
        }
        let path = self.path.clone();
        let mut all = Vec::new();
        let mut reader = self.into_reader(&ProgressBar::hidden())?;
        reader
            .read_to_end(&mut all)
            .map_err(|error| read_failure(&path, error))?;
        Ok(RandomAccess::Memory(all.into()))
    }
}

/// Bytes that can be read at any position.
pub(super) enum RandomAccess {
    File(File),
    Memory(Bytes),
}

fn open(path: &Path) -> Outcome<Opened> {
    if is_stdin(path) {
        return Ok(Opened::Pipe(Box::new(PatientPipe::new(io::stdin()))));
    }
    let failure = |source| Failure::file(path, source);
    let file = File::open(path).map_err(failure)?;
    let kind = file.metadata().map_err(failure)?.file_type();
    if kind.is_dir() {
        return Err(Failure::usage(format!(
            "{} is a directory: name its files",
            path.display()
        )));
    }
    Ok(if kind.is_file() {
        Opened::File(file)
    } else {
        Opened::Pipe(Box::new(PatientPipe::new(file)))
    })
}

/// Reads the first plain bytes. Returns them and the content to read: a file from its beginning, or a pipe after these
/// bytes.
fn look_into(opened: Opened) -> io::Result<(Vec<u8>, Content)> {
    match opened {
        Opened::File(mut file) => {
            let start = first_bytes(&mut file)?;
            file.rewind()?;
            let Some(compression) = Compression::of_content(&start) else {
                return Ok((start, Content::File(file)));
            };
            let plain = first_bytes(&mut compression.decoded(file.try_clone()?)?)?;
            // The two share one position.
            file.rewind()?;
            Ok((plain, Content::Compressed(file, compression)))
        }
        Opened::Pipe(mut pipe) => {
            let start = first_bytes(&mut pipe)?;
            let Some(compression) = Compression::of_content(&start) else {
                return Ok((start, Content::Pipe(pipe)));
            };
            let mut plain = compression.decoded(Cursor::new(start).chain(pipe))?;
            Ok((first_bytes(&mut plain)?, Content::Pipe(plain)))
        }
    }
}

/// Reads the first bytes of an input, at most eight.
fn first_bytes(input: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut start = Vec::new();
    input.take(8).read_to_end(&mut start)?;
    Ok(start)
}
