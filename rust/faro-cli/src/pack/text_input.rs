//! Text inputs: the records with their keys, and the header line.

use std::io::Read;
use std::path::{Path, PathBuf};

use indicatif::ProgressBar;

use super::args::{By, PackArgs};
use super::columns;
use super::json_key::{JsonKey, Missing};
use super::key_type::KeyType;
use super::records::{Record, Records, SplitError, Splitting};
use super::source::{Format, Source, read_failure};
use super::text_key::{Column, TextKey};
use crate::failure::{Failure, Outcome};

/// What is kept to restore the text from its records.
#[derive(Clone, Debug, Default)]
pub(super) struct TextShape {
    /// The header line without its line end, and the delimiter of the fields.
    pub header: Option<String>,
    pub delimiter: Option<u8>,
    /// Whether the first line ended with carriage return and line feed.
    pub crlf: bool,
}

/// A text input that is ready to be read.
pub(super) struct TextInput {
    pub path: PathBuf,
    pub format: Format,
    records: Records<Box<dyn Read + Send>>,
    pub key: TextKey,
    pub shape: TextShape,
    /// The number of fields of each record, from the header or the first record; none for JSON lines.
    fields: Option<usize>,
}

impl TextInput {
    /// Reads the header, if there is one, and finds the key's columns in it.
    pub(super) fn open(source: Source, args: &PackArgs, progress: &ProgressBar) -> Outcome<TextInput> {
        let (path, format) = (source.path.clone(), source.format);
        let delimiter = delimiter(args, format);
        let splitting = match format {
            Format::Csv => Splitting::QuotedFields(delimiter),
            Format::Tsv => Splitting::Fields(delimiter),
            _ => Splitting::Lines,
        };
        let mut records = Records::new(source.into_reader(progress)?, splitting);
        let mut shape = TextShape::default();
        let mut fields = None;
        let key = if format == Format::Jsonl {
            let alike = args.range || args.bounds.is_some();
            TextKey::Json(JsonKey::new(&args.by, alike).map_err(Failure::usage)?)
        } else {
            shape.delimiter = Some(delimiter);
            let mut names = None;
            if !args.no_header
                && let Some(header) = read_header(&path, &mut records)?
            {
                shape.crlf = header.crlf;
                shape.header = Some(header.line);
                fields = Some(header.names.len());
                names = Some(header.names);
            }
            let columns = find_columns(names.as_deref(), args);
            TextKey::Columns(columns.map_err(|what| Failure::usage(format!("{}: {what}", path.display())))?)
        };
        Ok(TextInput {
            path,
            format,
            records,
            key,
            shape,
            fields,
        })
    }

    /// Requires these types of JSON values for which the caller named none.
    pub(super) fn expect(&mut self, types: &[KeyType]) {
        if let TextKey::Json(key) = &mut self.key {
            key.expect(types);
        }
    }

    /// The values of the key that the records so far lack; an error if no record has one.
    pub(super) fn missing(&self) -> Outcome<Vec<Missing>> {
        let missing = match &self.key {
            TextKey::Json(key) => key.missing(),
            TextKey::Columns(_) => Vec::new(),
        };
        match missing.iter().find(|missing| missing.count == missing.records) {
            Some(Missing { name, names, .. }) => Err(Failure::usage(format!(
                "{}: no record has \"{name}\"; names that exist: {}",
                self.path.display(),
                columns::list(names)
            ))),
            None => Ok(missing),
        }
    }

    /// The next record, with the result of `then`; none at the end.
    pub(super) fn next<T>(
        &mut self,
        then: impl FnOnce(&[faro::key::KeyValue<'_>]) -> T,
    ) -> Outcome<Option<(Record<'_>, T)>> {
        let Some(record) = self.records.next().map_err(|error| split_failure(&self.path, error))? else {
            return Ok(None);
        };
        let made = whole(&record, &mut self.fields).and_then(|()| self.key.with(&record, then));
        let made = made.map_err(|what| Failure::input(&self.path, format!("line {}", record.line), what))?;
        Ok(Some((record, made)))
    }
}

/// Refuses a record of CSV or TSV that is probably wrong: with more or fewer fields than the others, or with a NUL.
fn whole(record: &Record<'_>, fields: &mut Option<usize>) -> Result<(), String> {
    let count = record.fields.count();
    if count == 0 {
        return Ok(());
    }
    let expected = *fields.get_or_insert(count);
    if count != expected {
        return Err(format!(
            "{}, where the first line has {expected}: correct the line, or see --delimiter and --format",
            crate::units::plural(count as u64, "field")
        ));
    }
    if record.bytes.contains(&0) {
        return Err(
            "a NUL, which text does not have: is the file UTF-16? Convert it, for example with iconv".to_owned(),
        );
    }
    Ok(())
}

fn delimiter(args: &PackArgs, format: Format) -> u8 {
    args.delimiter
        .unwrap_or(if format == Format::Tsv { b'\t' } else { b',' })
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
    let text = text.map_err(|_| {
        let what = "the header is not UTF-8: convert the file, for example with iconv, or pass --no-header";
        Failure::input(path, format!("line {}", record.line), what)
    })?;
    let names = record.fields.iter();
    Ok(Some(Header {
        line: text.to_owned(),
        crlf: record.crlf,
        names: names.map(|name| String::from_utf8_lossy(name).into_owned()).collect(),
    }))
}

fn find_columns(names: Option<&[String]>, args: &PackArgs) -> Result<Vec<Column>, String> {
    let find = |by: &By| {
        let position = match names {
            Some(names) => columns::position(names, &by.name)?,
            // An empty input has neither columns nor records: any column will do.
            None if !args.no_header => 0,
            None => columns::number(&by.name, usize::MAX).ok_or_else(|| {
                format!(
                    "without a header columns have numbers from 1: \"{}\" is not a number",
                    by.name
                )
            })?,
        };
        Ok(Column {
            position,
            kind: by.kind.unwrap_or(KeyType::Text),
        })
    };
    args.by.iter().map(find).collect()
}

fn split_failure(path: &Path, error: SplitError) -> Failure {
    let at = |line: u64, what: &str| Failure::input(path, format!("line {line}"), what);
    match error {
        SplitError::Io(error) => read_failure(path, error),
        SplitError::TooLong { line } => at(line, "the record that begins here is longer than 64 MiB"),
        SplitError::OpenQuote { line } => at(line, "the record that begins here has a quote that is never closed"),
    }
}
