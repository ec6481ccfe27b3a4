//! `faro layout DIR`: a picture of all outputs of a shuffle, by partitions.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::path::Path;

use faro::shuffle::{OutputSums, Producer, Shuffle, ShuffleSums, in_order, name};
use faro::{Files, Reader, ReaderOptions};
use serde::Serialize;

use super::totals::Totals;
use crate::failure::Outcome;
use crate::folder;
use crate::picture::{self, Grid, RegionShare, Room, RowNames, SharedShare};
use crate::replace::replace;
use crate::term::Out;
use crate::units::{count, plural, size};

/// An output for programs.
#[derive(Serialize)]
struct OutputInfo {
    name: String,
    /// None for a merged file.
    producer: Option<u64>,
    attempt: u64,
    bytes: u64,
    /// What every partition reads.
    bytes_to_all: u64,
    /// What partitions read besides that: the number of each, and its bytes.
    partitions: Vec<(u32, u64)>,
}

/// How the picture is shown.
pub(super) enum Form<'a> {
    Text,
    Json,
    Svg(&'a Path),
}

/// Shows all outputs in a folder. Those that are unfinished or damaged are left out and reported.
pub(super) fn run(target: &Path, form: &Form<'_>, out: &mut Out) -> Outcome {
    let shuffle = Shuffle::new(folder::outputs(&[target])?, ReaderOptions::default());
    let progress = crate::progress::outputs(shuffle.outputs().len(), "adding up");
    let sums = shuffle.sum_up_regions(|_| progress.inc(1));
    progress.finish_and_clear();
    let bad: BTreeSet<usize> = sums.faults.iter().map(|fault| fault.output).collect();
    let outputs = shuffle.outputs().iter().enumerate();
    let good: Vec<&Files> = outputs
        .filter(|(at, _)| !bad.contains(at))
        .map(|(_, files)| files)
        .collect();
    match form {
        Form::Json => json(&good, &sums, out)?,
        Form::Text => text(&grid(Room::TEXT, &good, &sums)?, out)?,
        Form::Svg(path) => {
            let title = target.file_name().unwrap_or(target.as_os_str()).to_string_lossy();
            let svg = picture::svg(&title, &grid(Room::PICTURE, &good, &sums)?, &[]);
            write(path, &svg, out)?;
        }
    }
    out.finish()?;
    folder::left_out(sums.faults.iter().map(|fault| &fault.error))
}

/// Adds up the bytes of each kind in all outputs of a folder. It reads the headers of all blocks.
pub(super) fn totals(target: &Path, out: &mut Out) -> Outcome {
    let outputs = folder::outputs(&[target])?;
    let progress = crate::progress::outputs(outputs.len(), "adding up");
    let one = |files: &Files| Ok(Totals::of(&Reader::open(files, ReaderOptions::default())?.byte_map()?));
    let (mut all, mut faults) = (Totals::default(), Vec::new());
    in_order(&outputs, one, |_, totals: faro::Result<Totals>| {
        progress.inc(1);
        match totals {
            Ok(totals) => all.add(&totals),
            Err(error) => faults.push(error),
        }
        ControlFlow::Continue(())
    });
    progress.finish_and_clear();
    let read = match faults.len() {
        0 => String::new(),
        faults => format!("{} of ", count((outputs.len() - faults) as u64)),
    };
    out.line(&format!("{read}{}\n", plural(outputs.len() as u64, "output")))?;
    all.print(out)?;
    out.finish()?;
    folder::left_out(&faults)
}

/// Writes a picture to a file; `-` is standard output.
pub(super) fn write(path: &Path, svg: &str, out: &mut Out) -> Outcome {
    if path.as_os_str() == "-" {
        return out.text(svg);
    }
    replace(path, svg)
}

/// From the region messages: statistics are a hint, and the picture shows what is there.
fn sums_of(files: &Files) -> faro::Result<OutputSums> {
    OutputSums::of_regions(&Reader::open(files, ReaderOptions::default())?)
}

/// The figures of a picture for a page.
pub(crate) fn grid_of_all(outputs: &[&Files], sums: &ShuffleSums) -> Outcome<Grid> {
    grid(Room::PICTURE, outputs, sums)
}

fn grid(room: Room, outputs: &[&Files], sums: &ShuffleSums) -> Outcome<Grid> {
    let partitions = sums.partitions();
    let first = partitions.start;
    let mut producers = Vec::with_capacity(outputs.len());
    let grid = Grid::within(room, first, partitions.end - first, outputs.len(), |at| {
        let own = sums_of(outputs[at])?;
        producers.push(Producer::of(&own.header));
        let share = |(partition, amount): &(u32, faro::shuffle::Amount)| (partition - first, amount.bytes);
        let shared = (own.to_all.bytes > 0).then(|| SharedShare {
            bytes: own.to_all.bytes,
            members: (own.header.partitions() != partitions)
                .then(|| own.header.partitions().map(|partition| partition - first).collect()),
        });
        Ok::<_, faro::Error>(RegionShare {
            own: own
                .partitions
                .iter()
                .map(share)
                .filter(|(_, bytes)| *bytes > 0)
                .collect(),
            shared: shared.into_iter().collect(),
        })
    })?;
    let numbers: Option<Vec<u64>> = producers
        .iter()
        .map(|producer| match producer {
            Producer::Number(number) => Some(*number),
            Producer::Merged(_) => None,
        })
        .collect();
    // Where several outputs are of one producer, its number would not tell them apart.
    let numbers = numbers.filter(|numbers| numbers.iter().collect::<BTreeSet<_>>().len() == numbers.len());
    Ok(grid.named(RowNames {
        word: if numbers.is_some() { "producer" } else { "output" },
        numbers,
        linear: true,
    }))
}

fn text(grid: &Grid, out: &mut Out) -> Outcome {
    let outputs = plural(grid.regions as u64, "output");
    let partitions = plural(grid.partitions.into(), "partition");
    out.line(&format!(
        "{outputs} for {partitions}, {} of blocks",
        size(grid.own + grid.shared)
    ))?;
    if grid.own > 0 {
        let (partition, bytes) = grid.heaviest;
        let times = bytes as f64 / grid.mean();
        out.line(&format!(
            "largest: partition {partition} with {}, {times:.2} times the mean",
            size(bytes)
        ))?;
    }
    out.line("")?;
    picture::lines(grid)
        .iter()
        .try_for_each(|line| out.line(line.trim_end()))
}

/// Prints output by output: together they may be large.
fn json(outputs: &[&Files], sums: &ShuffleSums, out: &mut Out) -> Outcome {
    let partitions = sums.partitions();
    let (first, count) = (partitions.start, partitions.end - partitions.start);
    out.text(&format!(
        "{{\n  \"first_partition\": {first},\n  \"partition_count\": {count},\n  \"outputs\": ["
    ))?;
    for (number, files) in outputs.iter().enumerate() {
        let own = sums_of(files)?;
        let info = OutputInfo {
            name: name(files).display().to_string(),
            producer: match Producer::of(&own.header) {
                Producer::Number(number) => Some(number),
                Producer::Merged(_) => None,
            },
            attempt: own.header.attempt,
            bytes: own.bytes,
            bytes_to_all: own.to_all.bytes,
            partitions: own
                .partitions
                .iter()
                .map(|(partition, amount)| (*partition, amount.bytes))
                .collect(),
        };
        let line = serde_json::to_string(&info).unwrap_or_default();
        out.text(&format!("{}\n    {line}", if number > 0 { "," } else { "" }))?;
    }
    out.line("\n  ]\n}")
}
