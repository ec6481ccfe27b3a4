//! The lines of results (bench/README.md).

use crate::outcome::{Outcome, Run};
use serde::Serialize;
use serde_json::{Map, Value};
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

/// The parameters of a case. Subjects with equal cases are compared.
pub(crate) type Case = Map<String, Value>;

/// The folder of a subcommand, and the file for its results.
#[derive(clap::Args)]
pub(crate) struct Destination {
    /// An existing folder for the files of the benchmark, which are removed again
    #[arg(long, default_value = ".")]
    pub dir: PathBuf,
    /// The file that results are appended to
    #[arg(long)]
    pub out: Option<PathBuf>,
}

/// One subject's measurements of one case.
#[derive(Serialize)]
struct Line<'a> {
    part: &'a str,
    language: &'static str,
    subject: &'a str,
    case: &'a Case,
    seconds: Vec<f64>,
    plain_bytes: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    stored_bytes: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    index_bytes: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    files: Option<u64>,
    #[serde(skip_serializing_if = "Map::is_empty")]
    figures: &'a Map<String, Value>,
}

/// Appends lines to a file, and prints them in short form.
pub(crate) struct Results {
    part: &'static str,
    file: Option<File>,
}

impl Results {
    /// Results of a part, appended to a file if there is one.
    pub(crate) fn new(part: &'static str, out: Option<&Path>) -> Outcome<Self> {
        let file = match out {
            Some(path) => Some(OpenOptions::new().create(true).append(true).open(path)?),
            None => None,
        };
        Ok(Results { part, file })
    }

    /// Adds the repetitions of a subject. Sizes and figures are those of the last one.
    pub(crate) fn add(&mut self, subject: &str, case: &Case, plain_bytes: u64, runs: &[Run]) -> Outcome<()> {
        let last = runs.last().ok_or("a subject without repetitions")?;
        let seconds: Vec<f64> = runs.iter().map(|run| run.seconds).collect();
        report(subject, case, plain_bytes, &seconds, last);
        let line = Line {
            part: self.part,
            language: "rust",
            subject,
            case,
            seconds,
            plain_bytes,
            stored_bytes: last.stored_bytes,
            index_bytes: last.index_bytes,
            files: last.files,
            figures: &last.figures,
        };
        if let Some(file) = &mut self.file {
            writeln!(file, "{}", serde_json::to_string(&line)?)?;
        }
        Ok(())
    }
}

/// The median of some numbers.
pub(crate) fn median(numbers: &[f64]) -> f64 {
    let mut sorted = numbers.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    match sorted.len() {
        0 => f64::NAN,
        length if length % 2 == 1 => sorted[middle],
        _ => (sorted[middle - 1] + sorted[middle]) / 2.0,
    }
}

fn report(subject: &str, case: &Case, plain_bytes: u64, seconds: &[f64], last: &Run) {
    let case: Vec<String> = case.iter().map(|(key, value)| format!("{key}={value}")).collect();
    let speed = |seconds: f64| plain_bytes as f64 / seconds / 1e6;
    let all: Vec<f64> = seconds.iter().map(|seconds| speed(*seconds)).collect();
    let (least, most) = all.iter().fold((f64::INFINITY, 0.0f64), |(least, most), speed| {
        (least.min(*speed), most.max(*speed))
    });
    println!(
        "{} {subject:<22} {:8.0} MB/s ({least:.0} to {most:.0}){}{}",
        case.join(" "),
        median(&all),
        last.stored_bytes
            .map(|bytes| format!(" stored {bytes}"))
            .unwrap_or_default(),
        last.index_bytes
            .map(|bytes| format!(" index {bytes}"))
            .unwrap_or_default(),
    );
    if !last.figures.is_empty() {
        println!("    {}", Value::Object(last.figures.clone()));
    }
}

#[cfg(test)]
mod tests {
    use super::median;

    #[test]
    fn the_middle_is_one_number_or_between_two() {
        assert_eq!(median(&[3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), 2.5);
        assert!(median(&[]).is_nan());
    }
}
