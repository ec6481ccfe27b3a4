//! The result for one output.

use std::path::Path;

use faro::{Files, Reader, ReaderOptions};
use serde::Serialize;

use super::level::LevelName;
use crate::commands::fault::Fault;
use crate::commands::originals::Comparison;
use crate::escape::escape;
use crate::failure::{Outcome, hint_of};
use crate::streams::{Gaps, StreamsInfo};
use crate::term::Out;
use crate::units;

/// The result for one output.
#[derive(Debug, Serialize)]
pub(super) struct Verdict {
    name: String,
    pub ok: bool,
    level: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub regions: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fragments: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blocks: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    streams: Option<StreamsInfo>,
    /// The partitions of `streams` that miss blocks.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    gaps: Vec<Gaps>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<Fault>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub originals: Option<Comparison>,
}

/// What an output has that passed.
pub(super) struct Passed {
    pub regions: Option<u64>,
    pub fragments: Option<u64>,
    pub blocks: Option<u64>,
    pub streams: Option<StreamsInfo>,
}

/// Checks an output. `progress` gets the bytes that are done, and all bytes.
pub(super) fn check_output(
    level: LevelName,
    files: &Files,
    progress: &mut dyn FnMut(u64, u64),
) -> faro::Result<Passed> {
    let options = faro::CheckOptions::default().level(level.level());
    let report = faro::check_with(files, &options, progress)?;
    let reader = Reader::open(files, ReaderOptions::default())?;
    Ok(Passed {
        regions: Some(report.regions),
        fragments: None,
        blocks: report.blocks,
        streams: StreamsInfo::of(reader.header(), Some(reader.footer())),
    })
}

/// The verdict on an output.
pub(super) fn verdict(level: LevelName, name: &Path, result: &faro::Result<Passed>) -> Verdict {
    let report = result.as_ref().ok();
    let streams = report.and_then(|report| report.streams.clone());
    Verdict {
        name: name.display().to_string(),
        ok: report.is_some(),
        level: level.name(),
        regions: report.and_then(|report| report.regions),
        fragments: report.and_then(|report| report.fragments),
        blocks: report.and_then(|report| report.blocks),
        gaps: streams.as_ref().map_or_else(Vec::new, |streams| streams.gaps.clone()),
        streams,
        error: result.as_ref().err().map(Fault::of),
        originals: None,
    }
}

/// Prints a verdict for people.
pub(super) fn print(verdict: &Verdict, result: &faro::Result<Passed>, out: &mut Out) -> Outcome {
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
        print_gaps(&verdict.gaps, out)?;
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

/// How many partitions a line names.
const NAMED: usize = 10;

fn print_gaps(gaps: &[Gaps], out: &mut Out) -> Outcome {
    if gaps.is_empty() {
        return Ok(());
    }
    let text = |gaps: &Gaps| format!("{} ({})", gaps.partition, units::plural(gaps.missing.into(), "block"));
    let mut named: Vec<String> = gaps.iter().take(NAMED).map(text).collect();
    if gaps.len() > NAMED {
        named.push(format!("and {} more: faro info --partitions", gaps.len() - NAMED));
    }
    out.line(&format!("  gaps      {}", named.join(", ")))
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
