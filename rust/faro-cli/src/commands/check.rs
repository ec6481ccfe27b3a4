//! `faro check`: checks that files are complete and consistent.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use faro::{CheckLevel, Files, Reader, ReaderOptions};
use serde::Serialize;

use super::fragments::{self, is_fragments};
use super::originals::{Comparison, compare};
use super::streams::StreamsInfo;
use crate::escape::escape;
use crate::failure::{Failure, Outcome, code_of, hint_of};
use crate::term::Out;
use crate::units;

/// Check that files are complete, undamaged and consistent
#[derive(Args, Debug)]
#[command(after_long_help = "\
For each output the first fault is shown, in the order of the specification: its code, file and byte offset, what was \
expected there and what was found. All outputs are checked; the exit code is that of the worst.

Of a file of fragments, as map tasks of Spark leave for its shuffle service, every block is verified at each level.

Examples:
  faro check shuffle
  faro check --level structure /data/shuffles/*.index
  faro check --json shuffle
  faro check merged --originals map-*.index   # prove a merged file against what it was made of")]
pub(crate) struct CheckArgs {
    /// The outputs: NAME, or one of its files NAME.data, NAME.index, NAME.faro
    #[arg(required = true, value_name = "NAME")]
    names: Vec<PathBuf>,

    /// How much to check
    #[arg(short, long, value_enum, value_name = "LEVEL", default_value = "decode")]
    level: LevelName,

    /// Compare a merged file block by block with the outputs that it was made of, which are named after this
    #[arg(long, value_name = "NAME", num_args = 1..)]
    originals: Vec<PathBuf>,

    /// Print nothing, only set the exit code
    #[arg(short, long)]
    quiet: bool,

    /// Print the results as JSON
    #[arg(long)]
    json: bool,
}

/// The levels of the specification's CHK-1; each includes the one before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LevelName {
    /// Headers, tail, footer and all region messages: reads no data
    Structure,
    /// Also the checksum and header of every block
    Checksums,
    /// Also the content of blocks: decompression, framing, statistics
    Decode,
}

/// The result for one output.
#[derive(Debug, Serialize)]
struct Verdict {
    name: String,
    ok: bool,
    level: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    regions: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fragments: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    blocks: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    streams: Option<StreamsInfo>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<Fault>,
    #[serde(skip_serializing_if = "Option::is_none")]
    originals: Option<Comparison>,
}

/// An error of the library for programs.
#[derive(Debug, Serialize)]
pub(crate) struct Fault {
    code: &'static str,
    file: Option<String>,
    role: Option<&'static str>,
    offset: Option<u64>,
    expected: String,
    found: String,
}

impl Fault {
    pub(crate) fn of(error: &faro::Error) -> Fault {
        Fault {
            code: error.code.as_str(),
            file: error.file.as_ref().map(|file| file.display().to_string()),
            role: error.role.map(faro::FileRole::as_str),
            offset: error.offset,
            expected: error.expected.clone(),
            found: error.found.clone(),
        }
    }
}

/// The exit code if a merged file differs from its originals: it is damaged.
const DIFFERENT: u8 = 4;

/// Runs the command.
pub(crate) fn run(args: &CheckArgs, out: &mut Out) -> Outcome {
    let mut worst = 0;
    let mut verdicts = Vec::new();
    for name in &args.names {
        let result = check(args, name);
        if let Err(error) = &result {
            worst = worst.max(code_of(error));
        }
        let mut verdict = verdict(args, name, &result);
        if result.is_ok() && !args.originals.is_empty() {
            let merged = Reader::open(&Files::locate(name)?, ReaderOptions::default())?;
            let found = compare(&merged, &args.originals)?;
            if !found.differences.is_empty() {
                verdict.ok = false;
                worst = worst.max(DIFFERENT);
            }
            verdict.originals = Some(found);
        }
        if !args.quiet && !args.json {
            print(&verdict, &result, out)?;
        }
        verdicts.push(verdict);
    }
    if args.json && !args.quiet {
        out.json(&serde_json::json!({ "outputs": verdicts }))?;
    }
    if worst == 0 { Ok(()) } else { Err(Failure::Shown(worst)) }
}

/// What an output has that passed.
struct Passed {
    regions: Option<u64>,
    fragments: Option<u64>,
    blocks: Option<u64>,
    streams: Option<StreamsInfo>,
}

fn check(args: &CheckArgs, name: &std::path::Path) -> faro::Result<Passed> {
    if is_fragments(name) {
        let found = fragments::read(name, args.level == LevelName::Decode)?;
        return Ok(Passed {
            regions: None,
            fragments: Some(found.fragments),
            blocks: Some(found.blocks),
            streams: None,
        });
    }
    let files = Files::locate(name)?;
    let report = check_output(args, name, &files)?;
    let reader = Reader::open(&files, ReaderOptions::default())?;
    Ok(Passed {
        regions: Some(report.regions),
        fragments: None,
        blocks: report.blocks,
        streams: StreamsInfo::of(reader.header(), Some(reader.footer())),
    })
}

fn check_output(args: &CheckArgs, name: &std::path::Path, files: &Files) -> faro::Result<faro::CheckReport> {
    let level = match args.level {
        LevelName::Structure => CheckLevel::Structure,
        LevelName::Checksums => CheckLevel::Checksums,
        LevelName::Decode => CheckLevel::Decode,
    };
    let progress = crate::progress::bytes(Some(0), &name.display().to_string());
    let report = faro::check_with(
        files,
        &faro::CheckOptions::default().level(level),
        &mut |done, total| {
            progress.set_length(total);
            progress.set_position(done);
        },
    );
    progress.finish_and_clear();
    report
}

fn verdict(args: &CheckArgs, name: &std::path::Path, result: &faro::Result<Passed>) -> Verdict {
    let level = match args.level {
        LevelName::Structure => "structure",
        LevelName::Checksums => "checksums",
        LevelName::Decode => "decode",
    };
    let report = result.as_ref().ok();
    Verdict {
        name: name.display().to_string(),
        ok: report.is_some(),
        level,
        regions: report.and_then(|report| report.regions),
        fragments: report.and_then(|report| report.fragments),
        blocks: report.and_then(|report| report.blocks),
        streams: report.and_then(|report| report.streams.clone()),
        error: result.as_ref().err().map(Fault::of),
        originals: None,
    }
}

fn print(verdict: &Verdict, result: &faro::Result<Passed>, out: &mut Out) -> Outcome {
    let style = out.style();
    let name = escape(&verdict.name);
    let Err(error) = result else {
        let mut counts = match verdict.fragments {
            Some(fragments) => units::plural(fragments, "fragment"),
            None => units::plural(verdict.regions.unwrap_or(0), "region"),
        };
        if let Some(blocks) = verdict.blocks {
            counts = format!("{counts}, {}", units::plural(blocks, "block"));
        }
        out.line(&format!("{name}: {} ({}: {counts})", style.green("OK"), verdict.level))?;
        if let Some(streams) = &verdict.streams {
            out.line(&format!("  streams   {}", streams.text()))?;
        }
        return verdict
            .originals
            .as_ref()
            .map_or(Ok(()), |found| print_originals(found, out));
    };
    out.line(&format!("{name}: {}", style.red(error.code.as_str())))?;
    if let Some(file) = &error.file {
        out.line(&format!("  file      {}", escape(&file.display().to_string())))?;
    }
    if let Some(offset) = error.offset {
        out.line(&format!("  offset    {offset}"))?;
    }
    out.line(&format!("  expected  {}", escape(&error.expected)))?;
    out.line(&format!("  found     {}", escape(&error.found)))?;
    match hint_of(error) {
        Some(hint) => out.line(&format!("  hint      {}", escape(&hint))),
        None => Ok(()),
    }
}

fn print_originals(found: &Comparison, out: &mut Out) -> Outcome {
    let style = out.style();
    let (blocks, producers) = (
        units::plural(found.blocks, "block"),
        units::plural(found.producers, "producer"),
    );
    let verdict = match found.differences.is_empty() {
        true => style.green("OK"),
        false => style.red("different"),
    };
    out.line(&format!("  originals {verdict} ({blocks} of {producers} are the same)"))?;
    if found.missing > 0 {
        let missing = units::plural(found.missing, "block");
        out.line(&format!(
            "  missing   {missing} of the originals are not in the merged file"
        ))?;
    }
    found
        .differences
        .iter()
        .try_for_each(|what| out.line(&format!("  {}", escape(what))))
}
