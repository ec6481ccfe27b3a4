//! `faro check`: checks that files are complete and consistent.

mod level;
mod sum;
mod verdict;
mod whole;

use std::path::{Path, PathBuf};

use clap::Args;
use faro::{Files, Reader, ReaderOptions};

use super::fragments::{self, is_fragments};
use super::originals::compare;
use crate::failure::{Failure, Outcome, code_of};
use crate::folder;
use crate::term::Out;
pub(crate) use level::LevelName;
use sum::Sum;
use verdict::{Passed, check_output, print, verdict};
use whole::Showing;

/// Check that files are complete, undamaged and consistent
#[derive(Args, Debug)]
#[command(after_long_help = "\
For each output the first fault is shown, in the order of the specification: its code, file and byte offset, what was \
expected there and what was found. All outputs are checked; the exit code is that of the worst.

Of several outputs, the last line says how many are OK. Of a folder, all outputs in it and in the folders in it are \
checked, in a few threads, and only those that are not OK are printed; --verbose prints all.

Of a file of fragments, as map tasks of Spark leave for its shuffle service, every block is verified at each level.

Examples:
  faro check shuffle
  faro check --level structure /data/shuffles/*.index
  faro check shuffles/
  faro check --json shuffle
  faro check merged --originals map-*.index   # prove a merged file against what it was made of")]
pub(crate) struct CheckArgs {
    /// The outputs: NAME, or one of its files NAME.data, NAME.index, NAME.faro. Or folders: all outputs in them
    #[arg(required = true, value_name = "NAME|DIR")]
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

    /// Also print the outputs of folders that are OK
    #[arg(short, long, conflicts_with_all = ["quiet", "json"])]
    verbose: bool,

    /// Print the results as JSON
    #[arg(long)]
    json: bool,
}

/// The exit code if a merged file differs from its originals: it is damaged.
const DIFFERENT: u8 = 4;

/// Runs the command.
pub(crate) fn run(args: &CheckArgs, out: &mut Out) -> Outcome {
    if folder::any(&args.names) {
        if !args.originals.is_empty() {
            return Err(Failure::usage("--originals is for one merged file, not for a folder"));
        }
        let showing = match (args.quiet, args.json, args.verbose) {
            (true, ..) => Showing::Nothing,
            (_, true, _) => Showing::Json,
            (.., true) => Showing::All,
            _ => Showing::Faults,
        };
        return whole::run(&args.names, args.level, showing, out);
    }
    let mut worst = 0;
    let (mut sum, mut verdicts) = (Sum::default(), Vec::new());
    for name in &args.names {
        let result = check(args, name);
        if let Err(error) = &result {
            worst = worst.max(code_of(error));
        }
        let mut verdict = verdict(args.level, name, &result);
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
        sum.add(&verdict);
        verdicts.push(verdict);
    }
    if args.names.len() > 1 && !args.quiet && !args.json {
        sum.print(args.level, out)?;
    }
    if args.json && !args.quiet {
        out.json(&serde_json::json!({ "outputs": verdicts }))?;
    }
    if worst == 0 { Ok(()) } else { Err(Failure::Shown(worst)) }
}

fn check(args: &CheckArgs, name: &Path) -> faro::Result<Passed> {
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
    let progress = crate::progress::bytes(Some(0), &name.display().to_string());
    let result = check_output(args.level, &files, &mut |done, total| {
        progress.set_length(total);
        progress.set_position(done);
    });
    progress.finish_and_clear();
    result
}
