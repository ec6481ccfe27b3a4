//! Reads the records of text formats one after another, each with the bytes of its line without the line end.
//!
//! The crate csv-core finds the records and fields of CSV and TSV. It returns how many bytes it took, so the records
//! keep their exact bytes.

use std::io::{self, BufRead, BufReader, Read};

use csv_core::{ReadRecordResult, Reader, ReaderBuilder, Terminator};

/// How a text format is split.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Splitting {
    /// At every line end; records have no fields.
    Lines,
    /// At every line end, into fields that this byte separates.
    Fields(u8),
    /// At line ends outside quoted fields, into fields that this byte separates.
    QuotedFields(u8),
}

/// The largest record: the largest block (LIM-1). It keeps a quote that is never closed from filling the memory.
pub(super) const MAX_RECORD: usize = 64 << 20;

/// A record and the line it begins on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Record<'a> {
    pub bytes: &'a [u8],
    pub line: u64,
    /// Whether its line ended with carriage return and line feed.
    pub crlf: bool,
    pub fields: Fields<'a>,
}

/// The fields of a record, quotes resolved.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fields<'a> {
    text: &'a [u8],
    ends: &'a [usize],
    /// Bytes at the end of the last field that belong to the line end.
    trailing: usize,
}

impl<'a> Fields<'a> {
    pub(super) fn count(self) -> usize {
        self.ends.len()
    }

    /// A field by its number from 0.
    pub(super) fn get(self, number: usize) -> Option<&'a [u8]> {
        let start = number.checked_sub(1).map_or(0, |before| self.ends[before]);
        let trailing = if number + 1 == self.count() { self.trailing } else { 0 };
        self.ends.get(number).map(|end| &self.text[start..end - trailing])
    }

    pub(super) fn iter(self) -> impl Iterator<Item = &'a [u8]> {
        (0..self.count()).filter_map(move |number| self.get(number))
    }
}

/// Why a text cannot be split.
#[derive(Debug)]
pub(super) enum SplitError {
    Io(io::Error),
    /// The record that begins on this line is too long.
    TooLong {
        line: u64,
    },
    /// The input ends inside the quoted field of the record that begins on this line.
    OpenQuote {
        line: u64,
    },
}

/// Reads records, with buffers that grow to the largest record.
pub(super) struct Records<R> {
    input: BufReader<R>,
    splitter: Splitter,
    /// The record with its line end.
    raw: Vec<u8>,
}

enum Splitter {
    /// At line ends, with the number of the next line.
    Lines(u64),
    Fields(Box<Parser>),
}

/// The parser, and buffers for the fields: their text, and where each ends.
struct Parser {
    csv: Reader,
    text: Vec<u8>,
    ends: Vec<usize>,
}

impl<R: Read> Records<R> {
    /// The records of an input. Its first bytes must come together, since csv-core looks for a byte order mark there
    /// only.
    pub(super) fn new(input: R, splitting: Splitting) -> Records<R> {
        Records {
            input: BufReader::with_capacity(1 << 18, input),
            splitter: match splitting {
                Splitting::Lines => Splitter::Lines(1),
                Splitting::Fields(delimiter) => Splitter::Fields(Parser::new(delimiter, false)),
                Splitting::QuotedFields(delimiter) => Splitter::Fields(Parser::new(delimiter, true)),
            },
            raw: Vec::new(),
        }
    }

    /// The next record that is not an empty line; none at the end.
    pub(super) fn next(&mut self) -> Result<Option<Record<'_>>, SplitError> {
        loop {
            self.raw.clear();
            let (line, count) = match &mut self.splitter {
                Splitter::Lines(next) => (read_line(&mut self.input, &mut self.raw, next)?, 0),
                Splitter::Fields(parser) => parser.read(&mut self.input, &mut self.raw)?,
            };
            let (length, trailing) = match self.raw.as_slice() {
                [] => return Ok(None),
                [.., b'\r', b'\n'] => (self.raw.len() - 2, 1),
                [.., b'\n'] => (self.raw.len() - 1, 0),
                all => (all.len(), 0),
            };
            if length == 0 {
                continue;
            }
            let (text, ends): (&[u8], &[usize]) = match &self.splitter {
                Splitter::Lines(_) => (&[], &[]),
                Splitter::Fields(parser) => (&parser.text, &parser.ends[..count]),
            };
            return Ok(Some(Record {
                bytes: &self.raw[..length],
                line,
                crlf: trailing > 0,
                fields: Fields { text, ends, trailing },
            }));
        }
    }
}

/// Reads one line into `raw`, or nothing at the end; returns its number.
fn read_line(input: &mut impl BufRead, raw: &mut Vec<u8>, next: &mut u64) -> Result<u64, SplitError> {
    let line = *next;
    let mut limited = input.take(MAX_RECORD as u64 + 1);
    limited.read_until(b'\n', raw).map_err(SplitError::Io)?;
    if raw.len() > MAX_RECORD {
        return Err(SplitError::TooLong { line });
    }
    *next += 1;
    Ok(line)
}

impl Parser {
    fn new(delimiter: u8, quoting: bool) -> Box<Parser> {
        let mut builder = ReaderBuilder::new();
        // A carriage return alone does not end a record: `cat` would print a line feed for it.
        builder.terminator(Terminator::Any(b'\n'));
        Box::new(Parser {
            csv: builder.delimiter(delimiter).quoting(quoting).build(),
            text: vec![0; 1 << 10],
            ends: vec![0; 1 << 4],
        })
    }

    /// Reads one record into `raw`, or nothing at the end; returns the line on which it begins, and its number of
    /// fields.
    fn read(&mut self, input: &mut impl BufRead, raw: &mut Vec<u8>) -> Result<(u64, usize), SplitError> {
        let mut line = self.csv.line();
        let (mut length, mut count) = (0, 0);
        loop {
            let bytes = match input.fill_buf() {
                Ok(bytes) => bytes,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(SplitError::Io(error)),
            };
            let at_end = bytes.is_empty();
            // The last line may lack its line end. With one, its record is complete unless a quote is open.
            let bytes = if at_end { b"\n" } else { bytes };
            let (text, ends) = (&mut self.text[length..], &mut self.ends[count..]);
            let (result, taken, written, found) = self.csv.read_record(bytes, text, ends);
            (length, count) = (length + written, count + found);
            if !at_end {
                // The parser skips empty lines before a record.
                let is_empty = |byte: &&u8| raw.is_empty() && **byte == b'\n';
                let empty = bytes[..taken].iter().take_while(is_empty).count();
                line += empty as u64;
                raw.extend_from_slice(&bytes[empty..taken]);
                input.consume(taken);
            }
            if raw.len() > MAX_RECORD {
                return Err(SplitError::TooLong { line });
            }
            match result {
                ReadRecordResult::Record => return Ok((line, count)),
                ReadRecordResult::OutputFull => self.text.resize(self.text.len() * 2, 0),
                ReadRecordResult::OutputEndsFull => self.ends.resize(self.ends.len() * 2, 0),
                ReadRecordResult::InputEmpty if !at_end => {}
                // The end, or an input that is only a byte order mark.
                ReadRecordResult::InputEmpty | ReadRecordResult::End if is_empty_text(raw) => {
                    raw.clear();
                    return Ok((line, 0));
                }
                ReadRecordResult::InputEmpty | ReadRecordResult::End => return Err(SplitError::OpenQuote { line }),
            }
        }
    }
}

/// Splits records that were found before into their fields, one after another.
pub(super) struct FieldSplitter {
    parser: Option<Box<Parser>>,
    raw: Vec<u8>,
}

impl FieldSplitter {
    pub(super) fn new(splitting: Splitting) -> FieldSplitter {
        FieldSplitter {
            parser: match splitting {
                Splitting::Lines => None,
                Splitting::Fields(delimiter) => Some(Parser::new(delimiter, false)),
                Splitting::QuotedFields(delimiter) => Some(Parser::new(delimiter, true)),
            },
            raw: Vec::new(),
        }
    }

    /// The fields of a record, which has no line end.
    pub(super) fn split<'a>(&'a mut self, bytes: &'a [u8]) -> Result<Record<'a>, String> {
        let (mut text, mut ends): (&[u8], &[usize]) = (&[], &[]);
        if let Some(parser) = &mut self.parser {
            self.raw.clear();
            let mut rest = bytes;
            let (_, count) = parser
                .read(&mut rest, &mut self.raw)
                .map_err(|_| "a record that is not whole: it has an open quote, or is too long".to_owned())?;
            if !rest.is_empty() {
                return Err("a record of several lines".to_owned());
            }
            (text, ends) = (&parser.text, &parser.ends[..count]);
        }
        Ok(Record {
            bytes,
            line: 0,
            crlf: false,
            fields: Fields {
                text,
                ends,
                trailing: 0,
            },
        })
    }
}

/// Whether there are only empty lines, perhaps after a byte order mark.
fn is_empty_text(raw: &[u8]) -> bool {
    let text = raw.strip_prefix("\u{feff}".as_bytes()).unwrap_or(raw);
    text.iter().all(|byte| *byte == b'\n')
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns its bytes one at a time, so that every state occurs at a refill.
    struct Trickle<'a>(&'a [u8]);

    impl Read for Trickle<'_> {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            let n = self.0.len().min(into.len()).min(1);
            into[..n].copy_from_slice(&self.0[..n]);
            self.0 = &self.0[n..];
            Ok(n)
        }
    }

    #[test]
    fn records_that_were_found_are_split_again() {
        let mut splitter = FieldSplitter::new(Splitting::QuotedFields(b','));
        let mut fields = |record: &str| {
            let record = splitter.split(record.as_bytes())?;
            let texts = record
                .fields
                .iter()
                .map(|field| String::from_utf8(field.to_vec()).unwrap());
            Ok::<_, String>(texts.collect::<Vec<_>>())
        };
        assert_eq!(fields("a,\"b,\n\"\"c\"\"\",").unwrap(), ["a", "b,\n\"c\"", ""]);
        assert_eq!(fields("x").unwrap(), ["x"]);
        assert!(fields("a\nb").is_err());
        assert_eq!(fields("d,e").unwrap(), ["d", "e"]);
        assert!(fields("\"open").is_err());
    }

    fn split(text: &str, splitting: Splitting) -> Vec<(String, u64)> {
        let mut records = Records::new(Trickle(text.as_bytes()), splitting);
        let mut all = Vec::new();
        while let Some(record) = records.next().unwrap() {
            all.push((String::from_utf8(record.bytes.to_vec()).unwrap(), record.line));
        }
        all
    }

    fn pairs(expected: &[(&str, u64)]) -> Vec<(String, u64)> {
        expected.iter().map(|(text, line)| (text.to_string(), *line)).collect()
    }

    #[test]
    fn splits_lines() {
        assert_eq!(
            split("a\r\nb\n\nc", Splitting::Lines),
            pairs(&[("a", 1), ("b", 2), ("c", 4)])
        );
        assert_eq!(split("", Splitting::Lines), pairs(&[]));
        assert_eq!(split("\"a\nb\"\n", Splitting::Lines), pairs(&[("\"a", 1), ("b\"", 2)]));
    }

    #[test]
    fn keeps_newlines_in_quotes() {
        let csv = Splitting::QuotedFields(b',');
        assert_eq!(split("a,\"b\nc\"\nd", csv), pairs(&[("a,\"b\nc\"", 1), ("d", 3)]));
        assert_eq!(
            split("a,\"b\"\"\n\"\nd\n", csv),
            pairs(&[("a,\"b\"\"\n\"", 1), ("d", 3)])
        );
        // A quote inside an unquoted field is an ordinary character.
        assert_eq!(split("6\" pipe,x\ny\n", csv), pairs(&[("6\" pipe,x", 1), ("y", 2)]));
    }

    #[test]
    fn refuses_an_open_quote() {
        let mut records = Records::new("x\n\"a\nb".as_bytes(), Splitting::QuotedFields(b','));
        assert!(records.next().unwrap().is_some());
        assert!(matches!(records.next(), Err(SplitError::OpenQuote { line: 2 })));
    }

    /// The records with their fields, and whether each line ended with carriage return and line feed.
    fn all_fields(text: &str, splitting: Splitting) -> Vec<(Vec<String>, bool)> {
        let mut records = Records::new(Trickle(text.as_bytes()), splitting);
        let mut all = Vec::new();
        while let Some(record) = records.next().unwrap() {
            let fields = record.fields.iter();
            let fields = fields.map(|field| String::from_utf8(field.to_vec()).unwrap());
            all.push((fields.collect(), record.crlf));
        }
        all
    }

    fn fields(text: &str, splitting: Splitting) -> Vec<String> {
        let mut all = all_fields(text, splitting);
        assert_eq!(all.len(), 1);
        all.remove(0).0
    }

    #[test]
    fn resolves_quotes_in_fields() {
        let csv = Splitting::QuotedFields(b',');
        assert_eq!(fields("a,\"b,\"\"c\"\"\",d", csv), ["a", "b,\"c\"", "d"]);
        assert_eq!(fields("a,,", csv), ["a", "", ""]);
        assert_eq!(fields("\"a\"x,b", csv), ["ax", "b"]);
        assert_eq!(fields("\"a\tb\"\t\"", Splitting::Fields(b'\t')), ["\"a", "b\"", "\""]);
        assert_eq!(fields("a,b", Splitting::Lines), [""; 0]);
        let wide = vec!["x".repeat(100); 100];
        assert_eq!(fields(&wide.join(","), csv), wide);
    }

    #[test]
    fn the_line_end_is_no_part_of_the_last_field() {
        let csv = Splitting::QuotedFields(b',');
        let text = "a,b\r\n\r\na,\"b\"\r\na,\r\n\"a\r\n\",b\n\n\na,b\r";
        let expected = [
            (vec!["a", "b"], true),
            (vec!["a", "b"], true),
            (vec!["a", ""], true),
            (vec!["a\r\n", "b"], false),
            (vec!["a", "b\r"], false),
        ];
        let expected = expected.map(|(fields, crlf)| (fields.into_iter().map(str::to_owned).collect(), crlf));
        assert_eq!(all_fields(text, csv), expected);
        let records = [("a,b", 1), ("a,\"b\"", 3), ("a,", 4), ("\"a\r\n\",b", 5), ("a,b\r", 9)];
        assert_eq!(split(text, csv), pairs(&records));
    }

    #[test]
    fn a_byte_order_mark_is_no_part_of_a_field() {
        let csv = Splitting::QuotedFields(b',');
        let mut records = Records::new("\u{feff}\"a\nb\",c\n".as_bytes(), csv);
        let record = records.next().unwrap().unwrap();
        assert_eq!(record.bytes, "\u{feff}\"a\nb\",c".as_bytes());
        assert_eq!(record.fields.get(0), Some(&b"a\nb"[..]));
        assert!(records.next().unwrap().is_none());
        for empty in ["", "\n\n", "\u{feff}", "\u{feff}\n"] {
            assert!(Records::new(empty.as_bytes(), csv).next().unwrap().is_none());
        }
    }
}
