//! `faro dump`: shows the bytes of files and what they mean, also in damaged files.

mod fields;
mod message;
mod note;
mod print;
mod schema;
mod walk;

pub(crate) use fields::MAGIC;

use std::ops::Range;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use faro::{FileRole, Files, Reader, ReaderOptions};

use crate::escape::escape;
use crate::failure::{Failure, Outcome};
use crate::positioned::FileExt;
use crate::target::Target;
use crate::term::Out;
use crate::view;
use walk::Walk;

/// Show the bytes of files in hexadecimal, and what each of them means
#[derive(Args, Debug)]
#[command(after_long_help = "\
With --annotate every field of headers, blocks, messages and the tail has a row: offset, bytes, name, value. Damaged \
and unfinished files are shown too; checksums are computed and compared.

NAME may be an output or any one file; --file selects one file of an output.

Examples:
  faro dump --annotate shuffle
  faro dump --annotate --region 0 --partition 3 shuffle
  faro dump --offset 4096 --length 64 shuffle.data
  faro dump --annotate --format markdown tiny > tiny.md")]
pub(crate) struct DumpArgs {
    #[command(flatten)]
    target: Target,

    /// Explain the bytes
    #[arg(short, long)]
    annotate: bool,

    /// Show only one file of the output
    #[arg(long, value_enum, value_name = "FILE")]
    file: Option<Which>,

    /// Start at this byte; with --annotate, at the header or block with this byte
    #[arg(long, value_name = "N", default_value_t = 0)]
    offset: u64,

    /// Show this many bytes
    #[arg(long, value_name = "N")]
    length: Option<u64>,

    /// Show only this region: its blocks and its message
    #[arg(long, value_name = "N")]
    region: Option<u32>,

    /// Show only what this partition reads
    #[arg(long, value_name = "N")]
    partition: Option<u32>,

    /// How many bytes of each payload and elements of each vector to show; 0 shows all
    #[arg(long, value_name = "N", default_value_t = 64)]
    limit: usize,

    /// The output format
    #[arg(long, value_enum, value_name = "FORMAT", default_value = "text")]
    format: Format,
}

/// One file of an output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Which {
    Data,
    Index,
}

/// How a dump is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// For people
    Text,
    /// A heading and a code block for each file
    Markdown,
    /// For programs; always annotated
    Json,
}

/// Runs the command.
pub(crate) fn run(args: &DumpArgs, out: &mut Out) -> Outcome {
    let paths = paths(args)?;
    let many = paths.len() > 1;
    let selected = selected(args)?;
    let mut reports = Vec::new();
    for (role, path) in &paths {
        let chosen = selected.as_ref().map(|all| ranges_of(all, *role));
        if chosen.as_ref().is_some_and(Vec::is_empty) {
            continue;
        }
        match args.format {
            Format::Json => reports.push(json(args, path, chosen)?),
            Format::Markdown => {
                let (_, size) = view::open(path)?;
                out.line(&format!("### `{}` ({size} bytes)\n\n```text", file_name(path)))?;
                dump(args, path, chosen, out)?;
                out.line("```\n")?;
            }
            Format::Text => {
                if many || args.annotate {
                    let (_, size) = view::open(path)?;
                    let title = format!("{}: {size} bytes", escape(&path.display().to_string()));
                    out.line(&out.style().green(&title))?;
                    out.line("")?;
                }
                dump(args, path, chosen, out)?;
            }
        }
    }
    if args.format == Format::Json {
        out.json(&serde_json::json!({ "files": reports }))?;
    }
    Ok(())
}

fn file_name(path: &Path) -> String {
    path.file_name()
        .map_or_else(String::new, |name| escape(&name.to_string_lossy()))
}

/// The files to show: those of the output, or the one file that was named.
fn paths(args: &DumpArgs) -> Outcome<Vec<(Option<FileRole>, PathBuf)>> {
    let name = &args.target.name;
    let extension = name.extension().and_then(|extension| extension.to_str());
    let of_output = matches!(extension, Some("data" | "index")) && (args.region.is_some() || args.partition.is_some());
    if args.target.index.is_none() && name.is_file() && !of_output {
        return Ok(vec![(None, name.clone())]);
    }
    let files = args.target.files()?;
    let wanted = |role: FileRole| match args.file {
        None => true,
        Some(Which::Data) => role != FileRole::Index,
        Some(Which::Index) => role != FileRole::Data,
    };
    let paths = view::paths(&files).into_iter().filter(|(role, _)| wanted(*role));
    Ok(paths.map(|(role, path)| (Some(role), path.to_owned())).collect())
}

type Ranges = Vec<(FileRole, Range<u64>)>;

/// The bytes of the selected region and partition; none for all bytes.
fn selected(args: &DumpArgs) -> Outcome<Option<Ranges>> {
    if args.region.is_none() && args.partition.is_none() {
        return Ok(None);
    }
    let files = args.target.files()?;
    let reader = Reader::open(&files, ReaderOptions::default())?;
    let (data, index) = match files {
        Files::Single(_) => (FileRole::Single, FileRole::Single),
        Files::Paired { .. } => (FileRole::Data, FileRole::Index),
    };
    if let Some(region) = args.region.filter(|region| *region as usize >= reader.region_count()) {
        let count = reader.region_count();
        return Err(Failure::usage(format!(
            "there is no region {region}: the file has {count}"
        )));
    }
    if let Some(partition) = args
        .partition
        .filter(|partition| !reader.partitions().contains(partition))
    {
        return Err(Failure::usage(format!("there is no partition {partition} in the file")));
    }
    let mut ranges = Ranges::new();
    for (i, entry) in reader.footer().regions.iter().enumerate() {
        if args.region.is_some_and(|region| region as usize != i) {
            continue;
        }
        let region = reader.region(i)?;
        match args.partition {
            Some(partition) => {
                let extents = region.extents_of(partition);
                ranges.extend(extents.map(|extent| (data, extent.offset..extent.end())));
            }
            None => ranges.push((data, region.extent().offset..region.extent().end())),
        }
        if args.region.is_some() {
            ranges.push((
                index,
                entry.message_offset..entry.message_offset + 24 + u64::from(entry.message_size),
            ));
        }
    }
    Ok(Some(ranges))
}

fn ranges_of(all: &Ranges, role: Option<FileRole>) -> Vec<Range<u64>> {
    let of_role = all.iter().filter(|(of, _)| Some(*of) == role || role.is_none());
    of_role.map(|(_, range)| range.clone()).collect()
}

/// Whether a part of a file is selected.
fn is_wanted(args: &DumpArgs, chosen: Option<&[Range<u64>]>, part: &Range<u64>) -> bool {
    let overlaps = |range: &Range<u64>| range.start < part.end && part.start < range.end;
    let end = args
        .length
        .map_or(u64::MAX, |length| args.offset.saturating_add(length));
    overlaps(&(args.offset..end)) && chosen.is_none_or(|ranges| ranges.iter().any(overlaps))
}

fn dump(args: &DumpArgs, path: &Path, chosen: Option<Vec<Range<u64>>>, out: &mut Out) -> Outcome {
    if !args.annotate {
        return plain(args, path, chosen, out);
    }
    let limits = print::Limits { payload: limit(args) };
    sections(args, path, chosen, |section| print::section(&section, limits, out))
}

fn limit(args: &DumpArgs) -> usize {
    if args.limit == 0 { usize::MAX } else { args.limit }
}

fn sections(
    args: &DumpArgs,
    path: &Path,
    chosen: Option<Vec<Range<u64>>>,
    each: impl FnMut(note::Section) -> Outcome,
) -> Outcome {
    let (file, size) = view::open(path)?;
    let walk = Walk {
        file: &file,
        size,
        limit: limit(args),
    };
    let wanted = |part: &Range<u64>| is_wanted(args, chosen.as_deref(), part);
    walk.run(wanted, |source| Failure::file(path, source), each)
}

fn json(args: &DumpArgs, path: &Path, chosen: Option<Vec<Range<u64>>>) -> Outcome<serde_json::Value> {
    let (_, size) = view::open(path)?;
    let mut all = Vec::new();
    sections(args, path, chosen, |section| {
        all.push(section);
        Ok(())
    })?;
    Ok(serde_json::json!({ "file": path.display().to_string(), "bytes": size, "sections": all }))
}

/// A field of a file, for other commands.
pub(crate) struct Row<'a> {
    pub section: &'a str,
    pub offset: u64,
    pub bytes: &'a [u8],
    pub name: &'a str,
    pub value: &'a str,
    /// Whether the bytes are of a payload, or not known to be of anything else.
    pub payload: bool,
}

/// The elements of a vector that other commands see one by one.
const ELEMENTS: usize = 64;

/// Passes the fields of all headers, blocks and messages with bytes in a range of a file to `each`, in order.
pub(crate) fn rows(path: &Path, range: Range<u64>, mut each: impl FnMut(Row<'_>) -> Outcome) -> Outcome {
    let (file, size) = view::open(path)?;
    let walk = Walk {
        file: &file,
        size,
        limit: ELEMENTS,
    };
    let overlaps = |part: &Range<u64>| range.start < part.end && part.start < range.end;
    walk.run(
        overlaps,
        |source| Failure::file(path, source),
        |section| {
            for note in &section.notes {
                if overlaps(&(note.offset..note.offset + note.length)) {
                    each(Row {
                        section: &section.title,
                        offset: note.offset,
                        bytes: section.bytes_of(note),
                        name: &note.name,
                        value: &note.value,
                        payload: note.payload,
                    })?;
                }
            }
            Ok(())
        },
    )
}

/// Prints exactly the selected bytes, without their meaning.
fn plain(args: &DumpArgs, path: &Path, chosen: Option<Vec<Range<u64>>>, out: &mut Out) -> Outcome {
    let (file, size) = view::open(path)?;
    let end = args
        .length
        .map_or(size, |length| args.offset.saturating_add(length))
        .min(size);
    for range in chosen.unwrap_or_else(|| vec![Range { start: 0, end: size }]) {
        let (mut at, end) = (range.start.max(args.offset), range.end.min(end));
        while at < end {
            let mut bytes = vec![0; (end - at).min(1 << 16) as usize];
            file.read_exact_at(&mut bytes, at)
                .map_err(|source| Failure::file(path, source))?;
            print::plain(at, &bytes, out)?;
            at += bytes.len() as u64;
        }
    }
    Ok(())
}
