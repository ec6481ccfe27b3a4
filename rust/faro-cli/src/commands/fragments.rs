//! Files of fragments, one after another (FRG-5): what a push carries, and what Spark's shuffle service serves.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use faro::merge::FragmentReader;
use faro::{Error, Framing, Limits};
use serde::Serialize;

use crate::dump::MAGIC;
use crate::escape::escape;
use crate::failure::{Failure, Outcome};
use crate::partitions::Selection;
use crate::rows::raw;
use crate::term::Out;
use crate::units::{self, count, size};

/// The kind of a fragment in a file header, and where it is, after the magic.
const KIND: u8 = 5;
const KIND_OFFSET: usize = 8;
/// The bytes of the block that ends a fragment (FRG-3).
const END: u64 = 40;
/// The bytes of a fragment's file header, after which a fragment without blocks has its end.
const HEADER: u64 = 64;

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

/// Names the file and the place in it, where an error has the place in a fragment that begins at `start`.
fn located(path: &Path, start: u64) -> impl Fn(Error) -> Error {
    move |mut error| {
        error.offset = error.offset.map(|offset| start + offset);
        error.file = Some(path.to_owned());
        error
    }
}

/// Prints the plain payloads of the selected partitions, or of all, as they come in the file. Returns the number of
/// events, which are not printed.
///
/// # Errors
/// A usage error if no fragment has any partition of a selection, which is known at the end only; and if payloads are not
/// opaque, unless they are wanted `as_they_are`.
pub(super) fn cat(path: &Path, selections: &[Selection], as_they_are: bool, out: &mut Out) -> Outcome<u64> {
    let out = raw(out)?;
    let mut reader = FragmentReader::new(Opened(File::open(path)), Limits::default());
    let mut missing: Vec<&Selection> = selections.iter().collect();
    let (mut start, mut events) = (0, 0);
    while let Some(header) = reader.next_fragment().map_err(located(path, start))? {
        let mut end = HEADER;
        if header.framing != Framing::Opaque && !as_they_are {
            let message =
                "fragments have no properties that name a format: only --raw prints payloads that are not opaque";
            return Err(Failure::usage(message));
        }
        let has = header.first_partition..header.first_partition.saturating_add(header.partition_count);
        missing.retain(|selection| !selection.overlaps(&has));
        while let Some(block) = reader.next_block().map_err(located(path, start))? {
            end = block.offset + block.header.size_in_file();
            if !selections.is_empty() && !selections.iter().any(|selection| selection.has(block.header.partition)) {
                continue;
            }
            if block.header.kind == faro::block::DATA {
                out.payload(&reader.decode(&block).map_err(located(path, start))?)?;
            } else {
                events += 1;
            }
        }
        start += end + END;
    }
    match missing.first() {
        Some(selection) => Err(Failure::usage(format!("no fragment has a partition {selection}"))),
        None => Ok(events),
    }
}

/// Checks all fragments of a file (FRG-4), with `decode` also what their blocks decode to. Offsets in errors count from
/// the beginning of the file.
pub(super) fn read(path: &Path, decode: bool) -> faro::Result<Fragments> {
    let mut reader = FragmentReader::new(Opened(File::open(path)), Limits::default());
    let mut found = Fragments::default();
    let mut start = 0;
    let (mut producers, mut partitions) = (BTreeSet::new(), BTreeSet::new());
    let located = |start| located(path, start);
    while let Some(header) = reader.next_fragment().map_err(located(start))? {
        let mut end = HEADER;
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
