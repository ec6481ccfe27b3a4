//! Assigns inputs to outputs.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use faro::{Files, Layout};

use super::args::PackArgs;
use super::compressed::plain_name;
use super::source::is_stdin;
use crate::failure::{Failure, Outcome};

/// An input and the name of its output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Job {
    pub input: PathBuf,
    pub base: PathBuf,
    pub producer: u64,
}

impl Job {
    /// The files that the output will have.
    pub(super) fn files(&self, single: bool) -> Outcome<Files> {
        Ok(Files::to_write(&self.base, single.then_some(Layout::Single))?)
    }
}

/// Pairs inputs and outputs, and refuses what would fail before anything is written.
pub(super) fn plan(args: &PackArgs) -> Outcome<Vec<Job>> {
    let bases = bases(args)?;
    if args.file_id.is_some() && args.inputs.len() > 1 {
        return Err(Failure::usage(
            "--file-id is for one output, and several inputs make several",
        ));
    }
    if args.inputs.iter().filter(|input| is_stdin(input)).count() > 1 {
        return Err(Failure::usage("standard input can be read only once"));
    }
    let last = args.inputs.len() as u64 - 1;
    if args.producer.checked_add(last).is_none() {
        return Err(Failure::usage("the producers' numbers end at 18446744073709551615"));
    }
    let jobs: Vec<Job> = args
        .inputs
        .iter()
        .zip(bases)
        .zip(args.producer..=args.producer + last)
        .map(|((input, base), producer)| Job {
            input: input.clone(),
            base,
            producer,
        })
        .collect();
    let mut seen = BTreeMap::new();
    for job in &jobs {
        for (_, file) in job.files(args.single)?.paths() {
            if let Some(other) = seen.insert(file.to_path_buf(), &job.input) {
                let (a, b, base) = (other.display(), job.input.display(), job.base.display());
                return Err(Failure::usage(format!("{a} and {b} would both become {base}")));
            }
            if !args.force && file.exists() {
                let source = std::io::Error::other("exists already; --force replaces it");
                return Err(Failure::file(file, source));
            }
        }
    }
    Ok(jobs)
}

fn bases(args: &PackArgs) -> Outcome<Vec<PathBuf>> {
    match args.output.as_slice() {
        [one] if is_directory(one) => args.inputs.iter().map(|input| in_directory(one, input)).collect(),
        outputs if outputs.len() == args.inputs.len() => Ok(outputs.to_vec()),
        [_] => Err(Failure::usage(
            "several inputs become several outputs: give -o a directory that exists, or -o once for each input",
        )),
        outputs => Err(Failure::usage(format!(
            "{} inputs and {} outputs: give -o a directory, or -o once for each input",
            args.inputs.len(),
            outputs.len()
        ))),
    }
}

fn is_directory(path: &Path) -> bool {
    path.is_dir() || path.as_os_str().as_encoded_bytes().ends_with(b"/")
}

fn in_directory(directory: &Path, input: &Path) -> Outcome<PathBuf> {
    if !directory.is_dir() {
        return Err(Failure::file(directory, std::io::ErrorKind::NotFound.into()));
    }
    match plain_name(input).file_stem() {
        Some(stem) if !is_stdin(input) => Ok(directory.join(stem)),
        _ => Err(Failure::usage(
            "standard input has no name: give -o a NAME, not a directory",
        )),
    }
}
