//! Text inputs: records with their keys, and the header line.

use std::io::Read;
use std::path::{Path, PathBuf};

use indicatif::ProgressBar;

use super::args::{By, PackArgs};
use super::columns;
use super::records::{Record, Records, SplitError, Splitting};
use super::source::{Format, Source};
use super::text_key::TextKey;
use crate::failure::{Failure, Outcome};

/// What must be kept so that the text can be restored from its records.
#[derive(Clone, Debug, Default)]
pub struct TextShape {
    /// The header line without its line end, and the delimiter of the fields.
    pub header: Option<String>,
    pub delimiter: Option<u8>,
    /// Whether the first line ended with carriage return and line feed.
    pub crlf: bool,
}

/// A text input that is ready to be read.
pub struct TextInput {
    path: PathBuf,
    records: Records<Box<dyn Read + Send>>,
    key: TextKey,
    pub shape: TextShape,
}

impl TextInput {
    /// Reads the header, if there is one, and finds the key's columns in it.
    pub fn open(source: Source, args: &PackArgs, progress: &ProgressBar) -> Outcome<TextInput> {
        let (path, format) = (source.path.clone(), source.format);
        let delimiter = delimiter(args, format);
        let splitting = match format {
            Format::Csv => Splitting::QuotedFields(delimiter),
            Format::Tsv => Splitting::Fields(delimiter),
            _ => Splitting::Lines,
        };
        let reader: Box<dyn Read + Send> = Box::new(progress.wrap_read(source.into_reader()));
        let mut records = Records::new(reader, splitting);
        let mut shape = TextShape::default();
        let key = if format == Format::Jsonl {
            TextKey::Json {
                names: args.by.iter().map(json_name).collect::<Outcome<_>>()?,
            }
        } else {
            shape.delimiter = Some(delimiter);
            let mut names = None;
            if !args.no_header
                && let Some(header) = read_header(&path, &mut records)?
            {
                shape.crlf = header.crlf;
                shape.header = Some(header.line);
                names = Some(header.names);
            }
            TextKey::Columns(find_columns(names.as_deref(), args)?)
        };
        Ok(TextInput {
            path,
            records,
            key,
            shape,
        })
    }

    /// Hands the next record and what `then` makes of it on; nothing at the end.
    pub fn next<T>(&mut self, then: impl FnOnce(&[faro::key::KeyValue<'_>]) -> T) -> Outcome<Option<(Record<'_>, T)>> {
        let Some(record) = self.records.next().map_err(|error| split_failure(&self.path, error))? else {
            return Ok(None);
        };
        let made = self.key.with(&record, then);
        let made = made.map_err(|what| Failure::input(&self.path, format!("line {}", record.line), what))?;
        Ok(Some((record, made)))
    }
}

fn delimiter(args: &PackArgs, format: Format) -> u8 {
    args.delimiter
        .unwrap_or(if format == Format::Tsv { b'\t' } else { b',' })
}

fn json_name(by: &By) -> Outcome<String> {
    match by.kind {
        None => Ok(by.name.clone()),
        Some(_) => Err(Failure::usage(
            "JSON values are what they are: --by takes no type for them",
        )),
    }
}

struct Header {
    line: String,
    crlf: bool,
    names: Vec<String>,
}

fn read_header(path: &Path, records: &mut Records<Box<dyn Read + Send>>) -> Outcome<Option<Header>> {
    let Some(record) = records.next().map_err(|error| split_failure(path, error))? else {
        return Ok(None);
    };
    let text = std::str::from_utf8(record.bytes);
    let text =
        text.map_err(|_| Failure::input(path, "line 1".to_owned(), "the header is not UTF-8: use --no-header"))?;
    let names = record.fields.iter();
    Ok(Some(Header {
        line: text.to_owned(),
        crlf: record.crlf,
        names: names.map(|name| String::from_utf8_lossy(name).into_owned()).collect(),
    }))
}

fn find_columns(names: Option<&[String]>, args: &PackArgs) -> Outcome<Vec<(usize, super::text_key::Kind)>> {
    let find = |by: &By| {
        let column = match names {
            Some(names) => {
                let known: Vec<&str> = names.iter().map(String::as_str).collect();
                let position = known.iter().position(|name| *name == by.name);
                let position = position.or_else(|| columns::number(&by.name, known.len()));
                position.ok_or_else(|| Failure::usage(columns::no_such_column(&by.name, &known)))?
            }
            // An empty input has neither columns nor records: any column will do.
            None if !args.no_header => 0,
            None => columns::number(&by.name, usize::MAX).ok_or_else(|| {
                Failure::usage(format!(
                    "without a header columns have numbers from 1: \"{}\" is none",
                    by.name
                ))
            })?,
        };
        Ok((column, by.kind.unwrap_or(super::text_key::Kind::Text)))
    };
    args.by.iter().map(find).collect()
}

fn split_failure(path: &Path, error: SplitError) -> Failure {
    let at = |line: u64, what: &str| Failure::input(path, format!("line {line}"), what);
    match error {
        SplitError::Io(source) => Failure::file(path, source),
        SplitError::TooLong { line } => at(line, "the record that begins here is longer than 64 MiB"),
        SplitError::OpenQuote { line } => at(line, "the record that begins here has a quote that is never closed"),
    }
}
