//! Inputs of `pack`: what they are, and their bytes.

use std::fs::File;
use std::io::{self, Cursor, Read, Seek};
use std::path::{Path, PathBuf};

use bytes::Bytes;
use clap::ValueEnum;

use crate::failure::{Failure, Outcome};
use crate::signals::PatientPipe;

/// The formats that can be packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Comma-separated values; quoted fields may hold delimiters and line ends
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
    /// The name that the property `faro.pack.format` has.
    pub fn name(self) -> &'static str {
        match self {
            Format::Csv => "csv",
            Format::Tsv => "tsv",
            Format::Jsonl => "jsonl",
            Format::Parquet => "parquet",
            Format::Arrow => "arrow",
        }
    }

    /// Whether records are lines of text, not rows of batches.
    pub fn is_text(self) -> bool {
        matches!(self, Format::Csv | Format::Tsv | Format::Jsonl)
    }

    fn of_extension(path: &Path) -> Option<Format> {
        Some(match path.extension()?.to_str()?.to_ascii_lowercase().as_str() {
            "csv" => Format::Csv,
            "tsv" | "tab" => Format::Tsv,
            "jsonl" | "ndjson" | "json" => Format::Jsonl,
            "parquet" | "pq" => Format::Parquet,
            "arrow" | "arrows" | "feather" | "ipc" => Format::Arrow,
            _ => return None,
        })
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

enum Content {
    File(File),
    Pipe(Box<dyn Read + Send>),
}

/// An input that was opened and recognised.
pub struct Source {
    pub path: PathBuf,
    pub format: Format,
    /// Bytes of a regular file.
    pub size: Option<u64>,
    start: Vec<u8>,
    content: Content,
}

/// Whether a path stands for standard input.
pub fn is_stdin(path: &Path) -> bool {
    path.as_os_str() == "-"
}

impl Source {
    /// Opens an input; its format is what the caller says, else what its first bytes say, else its name.
    pub fn open(path: &Path, format: Option<Format>) -> Outcome<Source> {
        let mut content = open_content(path)?;
        let start = content.peek().map_err(|source| Failure::file(path, source))?;
        let format = format
            .or_else(|| Format::of_content(&start))
            .or_else(|| Format::of_extension(path));
        let Some(format) = format else {
            let name = if is_stdin(path) {
                "standard input".to_owned()
            } else {
                path.display().to_string()
            };
            return Err(Failure::usage(format!(
                "what format has {name}? Say --format csv, tsv, jsonl, ..."
            )));
        };
        let size = match &content {
            Content::File(file) => file.metadata().ok().map(|metadata| metadata.len()),
            Content::Pipe(_) => None,
        };
        Ok(Source {
            path: path.to_owned(),
            format,
            size,
            start,
            content,
        })
    }

    /// Whether it can be opened and read once more from its beginning.
    pub fn is_repeatable(&self) -> bool {
        matches!(self.content, Content::File(_))
    }

    /// Whether the content is an Arrow IPC file, not a stream.
    pub fn is_arrow_file(&self) -> bool {
        self.start.starts_with(ARROW_FILE)
    }

    /// The bytes in order.
    pub fn into_reader(self) -> Box<dyn Read + Send> {
        match self.content {
            Content::File(file) => Box::new(file),
            Content::Pipe(pipe) => Box::new(Cursor::new(self.start).chain(pipe)),
        }
    }

    /// The bytes at any place: a file, or the memory that a pipe was read into.
    pub fn into_random_access(self) -> Outcome<RandomAccess> {
        match self.content {
            Content::File(file) => Ok(RandomAccess::File(file)),
            Content::Pipe(mut pipe) => {
                let mut all = self.start;
                pipe.read_to_end(&mut all)
                    .map_err(|source| Failure::file(&self.path, source))?;
                Ok(RandomAccess::Memory(all.into()))
            }
        }
    }
}

/// Bytes that can be read at any place.
pub enum RandomAccess {
    File(File),
    Memory(Bytes),
}

fn open_content(path: &Path) -> Outcome<Content> {
    if is_stdin(path) {
        return Ok(Content::Pipe(Box::new(PatientPipe::new(io::stdin()))));
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
        Content::File(file)
    } else {
        Content::Pipe(Box::new(PatientPipe::new(file)))
    })
}

impl Content {
    /// The first bytes, at most eight. They stay to be read in a file; a pipe has them no more.
    fn peek(&mut self) -> io::Result<Vec<u8>> {
        let mut start = Vec::new();
        match self {
            Content::File(file) => {
                file.take(8).read_to_end(&mut start)?;
                file.rewind()?;
            }
            Content::Pipe(pipe) => {
                pipe.take(8).read_to_end(&mut start)?;
            }
        }
        Ok(start)
    }
}
