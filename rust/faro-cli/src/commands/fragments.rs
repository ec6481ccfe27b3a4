//! Files of fragments, one after another (FRG-5): what a push carries, and what Spark's shuffle service serves.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use faro::merge::FragmentReader;
use faro::{Error, Limits};
use serde::Serialize;

use crate::dump::MAGIC;
use crate::escape::escape;
use crate::failure::Outcome;
use crate::term::Out;
use crate::units::{self, count, size};

/// The kind of a fragment in a file header, and where it is, after the magic.
const KIND: u8 = 5;
const KIND_OFFSET: usize = 8;
/// The bytes of the block that ends a fragment (FRG-3).
const END: u64 = 40;

/// What a file of fragments has.
#[derive(Debug, Default, Serialize)]
pub(super) struct Fragments {
    /// As of an output: the report is one of its own.
    pub layout: &'static str,
    pub bytes: u64,
    pub fragments: u64,
    pub producers: usize,
    /// Those with blocks.
    pub partitions: usize,
    pub blocks: u64,
    /// The payloads of all blocks, before compression.
    pub plain_bytes: u64,
    /// All blocks, with headers and padding.
    pub stored_bytes: u64,
    /// Fragments after whose end their partitions have further blocks in the output.
    pub unfinished: u64,
}

/// Prints what a file of fragments has.
pub(super) fn print(path: &Path, found: &Fragments, out: &mut Out) -> Outcome {
    let style = out.style();
    let mut entry = |title: &str, text: String| out.line(&format!("{}  {text}", style.bold(&format!("{title:<11}"))));
    let name = escape(&path.display().to_string());
    entry("fragments", format!("{name}  {}", size(found.bytes)))?;
    let last = match found.unfinished {
        0 => String::new(),
        more => format!("; {} before the last blocks of their partitions", count(more)),
    };
    let (of, producers) = (units::plural(found.fragments, "fragment"), found.producers as u64);
    entry(
        "count",
        format!("{of} of {}{last}", units::plural(producers, "producer")),
    )?;
    let (plain, stored) = (size(found.plain_bytes), size(found.stored_bytes));
    entry("blocks", format!("{}; {plain} as {stored}", count(found.blocks)))?;
    entry("partitions", format!("{} with blocks", count(found.partitions as u64)))
}

/// A file, or the error of opening it, which the first read returns.
struct Opened(io::Result<File>);

impl Read for Opened {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        match &mut self.0 {
            Ok(file) => file.read(into),
            Err(error) => Err(io::Error::new(error.kind(), error.to_string())),
        }
    }
}

/// Whether a file begins with a fragment. One that cannot be read is reported by those that need it.
pub(super) fn is_fragments(path: &Path) -> bool {
    let mut begin = [0; KIND_OFFSET + 1];
    // A pipe would wait for its writer.
    path.is_file()
        && File::open(path).is_ok_and(|mut file| file.read_exact(&mut begin).is_ok())
        && begin.starts_with(&MAGIC)
        && begin[KIND_OFFSET] == KIND
}

/// Checks all fragments of a file (FRG-4), with `decode` also what their blocks decode to. Offsets in errors count from
/// the beginning of the file.
pub(super) fn read(path: &Path, decode: bool) -> faro::Result<Fragments> {
    let mut reader = FragmentReader::new(Opened(File::open(path)), Limits::default());
    let mut found = Fragments::default();
    let mut start = 0;
    let mut end = 0;
    let (mut producers, mut partitions) = (BTreeSet::new(), BTreeSet::new());
    let located = |start: u64| {
        move |mut error: Error| {
            error.offset = error.offset.map(|offset| start + offset);
            error.file = Some(path.to_owned());
            error
        }
    };
    while let Some(header) = reader.next_fragment().map_err(located(start))? {
        found.fragments += 1;
        producers.insert((header.producer, header.attempt));
        while let Some(block) = reader.next_block().map_err(located(start))? {
            if decode {
                reader.decode(&block).map_err(located(start))?;
            }
            partitions.insert(block.header.partition);
            found.blocks += 1;
            found.plain_bytes += u64::from(block.header.plain_size);
            found.stored_bytes += block.header.size_in_file();
            end = block.offset + block.header.size_in_file();
        }
        found.unfinished += u64::from(reader.is_last() == Some(false));
        start += end + END;
    }
    found.layout = "fragments";
    found.bytes = start;
    found.producers = producers.len();
    found.partitions = partitions.len();
    Ok(found)
}
