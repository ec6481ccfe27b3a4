//! Records of text formats: one after another, each with the bytes of its line but for the line end.

use std::io::{self, Read};

/// Where a record of a text format ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Splitting {
    /// At every line end.
    Lines,
    /// At the line ends outside of quoted fields, fields being parted by this byte.
    Quoted(u8),
}

/// The largest record: what a block may hold (LIM-1), so that a quote that is never closed cannot fill the memory.
pub const MAX_RECORD: usize = 64 << 20;

/// A record and the line it begins on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record<'a> {
    pub bytes: &'a [u8],
    pub line: u64,
    /// Whether its line ended with carriage return and line feed.
    pub crlf: bool,
}

/// What keeps a text from being split.
#[derive(Debug)]
pub enum SplitError {
    Io(io::Error),
    /// The record that begins on this line is longer than a record can be.
    TooLong {
        line: u64,
    },
    /// The input ends inside the quoted field of the record that begins on this line.
    OpenQuote {
        line: u64,
    },
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    FieldStart,
    Field,
    Quoted,
    /// Behind a quote in a quoted field: its end, or the first of two quotes.
    Quote,
}

/// Reads records, with a buffer that grows to the largest of them.
pub struct Records<R> {
    input: R,
    splitting: Splitting,
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    ended: bool,
    line: u64,
}

impl<R: Read> Records<R> {
    pub fn new(input: R, splitting: Splitting) -> Records<R> {
        Records {
            input,
            splitting,
            buffer: vec![0; 1 << 18],
            start: 0,
            end: 0,
            ended: false,
            line: 1,
        }
    }

    /// The next record that is not an empty line, or nothing at the end.
    pub fn next(&mut self) -> Result<Option<Record<'_>>, SplitError> {
        loop {
            let line = self.line;
            let Some((length, with_end)) = self.find_end()? else {
                return Ok(None);
            };
            let start = self.start;
            self.start += with_end;
            let crlf = length + 2 == with_end;
            if length > 0 {
                return Ok(Some(Record {
                    bytes: &self.buffer[start..start + length],
                    line,
                    crlf,
                }));
            }
        }
    }

    /// Length of the record at `start` without and with its line end.
    fn find_end(&mut self) -> Result<Option<(usize, usize)>, SplitError> {
        let first_line = self.line;
        let mut state = State::FieldStart;
        let mut at = 0;
        loop {
            let window = &self.buffer[self.start..self.end];
            if let Some(n) = self.splitting.scan(&window[at..], &mut state, &mut self.line) {
                let newline = at + n;
                let crlf = newline > 0 && window[newline - 1] == b'\r';
                return Ok(Some((newline - usize::from(crlf), newline + 1)));
            }
            at = window.len();
            if at > MAX_RECORD {
                return Err(SplitError::TooLong { line: first_line });
            }
            if self.ended {
                if state == State::Quoted {
                    return Err(SplitError::OpenQuote { line: first_line });
                }
                // The last line may lack its end.
                return Ok((at > 0).then_some((at, at)));
            }
            self.fill().map_err(SplitError::Io)?;
        }
    }

    fn fill(&mut self) -> io::Result<()> {
        if self.start > 0 {
            self.buffer.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.start = 0;
        }
        if self.end == self.buffer.len() {
            self.buffer.resize(self.buffer.len() * 2, 0);
        }
        loop {
            match self.input.read(&mut self.buffer[self.end..]) {
                Ok(n) => {
                    self.end += n;
                    self.ended = n == 0;
                    return Ok(());
                }
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err(e),
            }
        }
    }
}

impl Splitting {
    /// The position of the line feed that ends the record, if it is in `bytes`; `state` goes on in the next ones.
    fn scan(self, bytes: &[u8], state: &mut State, line: &mut u64) -> Option<usize> {
        let Splitting::Quoted(delimiter) = self else {
            let found = bytes.iter().position(|&b| b == b'\n');
            *line += u64::from(found.is_some());
            return found;
        };
        for (i, &byte) in bytes.iter().enumerate() {
            if byte == b'\n' {
                *line += 1;
            }
            *state = match (*state, byte) {
                (State::Quoted, b'"') => State::Quote,
                (State::Quoted, _) => State::Quoted,
                (State::Quote, b'"') => State::Quoted,
                (_, b'\n') => return Some(i),
                (State::FieldStart, b'"') => State::Quoted,
                (_, b) if b == delimiter => State::FieldStart,
                _ => State::Field,
            };
        }
        None
    }
}

/// The fields of a record as they stand between the delimiters, quotes resolved.
pub fn fields(record: &[u8], splitting: Splitting, delimiter: u8) -> Fields<'_> {
    Fields {
        rest: Some(record),
        quoted: splitting != Splitting::Lines,
        delimiter,
    }
}

/// Iterates over the fields of one record.
pub struct Fields<'a> {
    rest: Option<&'a [u8]>,
    quoted: bool,
    delimiter: u8,
}

impl<'a> Iterator for Fields<'a> {
    type Item = std::borrow::Cow<'a, [u8]>;

    fn next(&mut self) -> Option<Self::Item> {
        let rest = self.rest?;
        if self.quoted && rest.first() == Some(&b'"') {
            let mut value = Vec::new();
            let mut at = 1;
            // Up to the closing quote, two quotes being one.
            while at < rest.len() {
                if rest[at] == b'"' {
                    if rest.get(at + 1) != Some(&b'"') {
                        at += 1;
                        break;
                    }
                    at += 1;
                }
                value.push(rest[at]);
                at += 1;
            }
            // What stands between the closing quote and the delimiter belongs to the field, as other readers have it.
            let tail = self.take_to_delimiter(&rest[at..]);
            value.extend_from_slice(tail);
            return Some(value.into());
        }
        Some(self.take_to_delimiter(rest).into())
    }
}

impl<'a> Fields<'a> {
    fn take_to_delimiter(&mut self, rest: &'a [u8]) -> &'a [u8] {
        match rest.iter().position(|&b| b == self.delimiter) {
            Some(at) => {
                self.rest = Some(&rest[at + 1..]);
                &rest[..at]
            }
            None => {
                self.rest = None;
                rest
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives its bytes one at a time, so that every state crosses a refill.
    struct Trickle<'a>(&'a [u8]);

    impl Read for Trickle<'_> {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            let n = self.0.len().min(into.len()).min(1);
            into[..n].copy_from_slice(&self.0[..n]);
            self.0 = &self.0[n..];
            Ok(n)
        }
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
        let csv = Splitting::Quoted(b',');
        assert_eq!(split("a,\"b\nc\"\nd", csv), pairs(&[("a,\"b\nc\"", 1), ("d", 3)]));
        assert_eq!(
            split("a,\"b\"\"\n\"\nd\n", csv),
            pairs(&[("a,\"b\"\"\n\"", 1), ("d", 3)])
        );
        // A quote inside of an unquoted field is a character like any other.
        assert_eq!(split("6\" pipe,x\ny\n", csv), pairs(&[("6\" pipe,x", 1), ("y", 2)]));
    }

    #[test]
    fn refuses_an_open_quote() {
        let mut records = Records::new("x\n\"a\nb".as_bytes(), Splitting::Quoted(b','));
        assert!(records.next().unwrap().is_some());
        assert!(matches!(records.next(), Err(SplitError::OpenQuote { line: 2 })));
    }

    #[test]
    fn resolves_quotes_in_fields() {
        let all = |record: &str| -> Vec<String> {
            fields(record.as_bytes(), Splitting::Quoted(b','), b',')
                .map(|f| String::from_utf8(f.into_owned()).unwrap())
                .collect()
        };
        assert_eq!(all("a,\"b,\"\"c\"\"\",d"), ["a", "b,\"c\"", "d"]);
        assert_eq!(all("a,,"), ["a", "", ""]);
        assert_eq!(all("\"a\"x,b"), ["ax", "b"]);
    }
}
