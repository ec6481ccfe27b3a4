//! `tiny-outputs`: outputs of 100 bytes for two partitions, from their creation to their removal, compared with a plain
//! file without checks.

use crate::outcome::{Outcome, Run, timed};
use crate::results::{Case, Destination, Results, median};
use crate::rounds::{self, Subject};
use faro::{Layout, ReaderOptions, Writer, WriterOptions};
use serde_json::json;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::Path;

/// The arguments of `tiny-outputs`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Outputs in each repetition
    #[arg(long, default_value_t = 20_000)]
    outputs: u32,
    /// Repetitions after the first, which is not measured
    #[arg(long, default_value_t = 7)]
    rounds: usize,
    /// A short run of a second or two, to see that it works
    #[arg(long)]
    quick: bool,
    #[command(flatten)]
    to: Destination,
}

/// The bytes of each of the two partitions.
const HALF: usize = 50;

/// Runs the subcommand.
pub(crate) fn run(args: &Args) -> Outcome<()> {
    let mut results = Results::new("tiny-outputs", args.to.out.as_deref())?;
    let (outputs, rounds) = if args.quick {
        (500, 1)
    } else {
        (args.outputs, args.rounds)
    };
    let scratch = tempfile::tempdir_in(&args.to.dir)?;
    let name = scratch.path().join("out");
    let seconds: RefCell<BTreeMap<&str, Vec<f64>>> = RefCell::default();
    let repeated = |subject: &'static str, one: fn(&Path) -> Outcome<()>| {
        let (name, seconds) = (&name, &seconds);
        Subject::new(subject, move || {
            let (taken, ()) = timed(|| (0..outputs).try_for_each(|_| one(name)))?;
            seconds.borrow_mut().entry(subject).or_default().push(taken);
            let mut run = Run::timed(taken);
            let microseconds = taken / f64::from(outputs) * 1e6;
            run.figures.insert("microseconds_each".into(), microseconds.into());
            Ok(run)
        })
    };
    let mut subjects = [
        repeated("faro-single", |name| faro_output(name, Layout::Single)),
        repeated("faro-pair", |name| faro_output(name, Layout::Paired)),
        repeated("plain-file", plain_file),
    ];
    let case: Case = json!({ "outputs": outputs, "output_bytes": 2 * HALF, "partitions": 2 })
        .as_object()
        .cloned()
        .unwrap_or_default();
    let plain_bytes = u64::from(outputs) * 2 * HALF as u64;
    rounds::run(&mut subjects, rounds, &case, plain_bytes, &mut results)?;
    report(&seconds.borrow());
    Ok(())
}

/// Prints how many times the plain file's time the others take: in each round, then the median and the spread.
fn report(seconds: &BTreeMap<&str, Vec<f64>>) {
    let Some(plain) = seconds.get("plain-file") else { return };
    for (subject, own) in seconds {
        // The first round is not measured.
        let ratios: Vec<f64> = own.iter().zip(plain).skip(1).map(|(own, plain)| own / plain).collect();
        let least = ratios.iter().copied().fold(f64::INFINITY, f64::min);
        let most = ratios.iter().copied().fold(0.0, f64::max);
        let middle = median(&ratios);
        println!("{subject:<12} {middle:.2} times the plain file ({least:.2} to {most:.2})");
    }
}

/// Written, read through the reader that finishing returns, and removed.
fn faro_output(name: &Path, layout: Layout) -> Outcome<()> {
    let mut writer = Writer::create(name, WriterOptions::new(2).layout(layout))?;
    for partition in 0..2 {
        writer.write(partition, &[partition as u8; HALF])?;
    }
    let (summary, reader) = writer.finish_and_open(ReaderOptions::default())?;
    for partition in 0..2 {
        let mut bytes = 0;
        for record in reader.records(partition)? {
            bytes += record?.len();
        }
        check(bytes)?;
    }
    drop(reader);
    for (_, path) in summary.files.paths() {
        fs::remove_file(path)?;
    }
    Ok(())
}

/// The least that a file costs which gets its name when it is complete: no checksums, no index, no lock.
fn plain_file(name: &Path) -> Outcome<()> {
    let temporary = name.with_extension("tmp");
    let mut file = File::create_new(&temporary)?;
    let mut bytes = [0u8; 2 * HALF];
    bytes[HALF..].fill(1);
    file.write_all(&bytes)?;
    drop(file);
    fs::rename(&temporary, name)?;
    let mut file = File::open(name)?;
    for _ in 0..2 {
        let mut half = [0u8; HALF];
        file.read_exact(&mut half)?;
        check(half.len())?;
    }
    drop(file);
    fs::remove_file(name)?;
    Ok(())
}

fn check(bytes: usize) -> Outcome<()> {
    match bytes {
        HALF => Ok(()),
        other => Err(format!("{other} bytes came back of {HALF}").into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_stays_and_everything_comes_back() {
        let folder = tempfile::tempdir().unwrap();
        let name = folder.path().join("out");
        for _ in 0..2 {
            faro_output(&name, Layout::Single).unwrap();
            faro_output(&name, Layout::Paired).unwrap();
            plain_file(&name).unwrap();
            assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
        }
        assert!(check(HALF - 1).is_err());
    }
}
