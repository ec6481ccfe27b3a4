//! `faro clean`: removes what dead writers left in folders.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use faro::{CleanOptions, CleanReport, KeptReason, LeftFile};
use serde_json::json;

use crate::escape::escape;
use crate::failure::Outcome;
use crate::term::Out;
use crate::units;

/// Remove the temporary files that dead writers left
#[derive(Args, Debug)]
#[command(after_long_help = "\
This removes temporary files (such as NAME.data.1234abcd.tmp) and lock files that have not changed for some time and \
that no living writer has locked. It never removes files with final names, or files in subfolders of DIR. The files of \
a dead writer may hold most of its output: to keep it, run `faro repair NAME` first.

Examples:
  faro clean /data/shuffles --dry-run
  faro clean /data/shuffles --older-than 10m")]
pub(crate) struct CleanArgs {
    /// The folders to clean
    #[arg(required = true, value_name = "DIR")]
    folders: Vec<PathBuf>,

    /// Remove only files that have not changed for this long: 90s, 10m, 2h, 1d
    #[arg(long, value_name = "TIME", default_value = "1h", value_parser = parse_age)]
    older_than: Duration,

    /// Print what would be removed, and remove nothing
    #[arg(short = 'n', long)]
    dry_run: bool,

    /// Print the report as JSON
    #[arg(long)]
    json: bool,
}

fn parse_age(text: &str) -> Result<Duration, String> {
    humantime::parse_duration(text).map_err(|_| "write a time as 90s, 10m, 2h or 1d".to_owned())
}

/// Runs the command.
pub(crate) fn run(args: &CleanArgs, out: &mut Out) -> Outcome {
    let options = CleanOptions::default()
        .older_than(args.older_than)
        .dry_run(args.dry_run);
    let mut reports = Vec::new();
    for folder in &args.folders {
        reports.push((folder.as_path(), faro::clean(folder, &options)?));
    }
    if args.json {
        let folders: Vec<_> = reports
            .iter()
            .map(|(folder, report)| of_folder(folder, report))
            .collect();
        return out.json(&json!({ "dry_run": args.dry_run, "folders": folders }));
    }
    let (mut removed, mut bytes, mut kept) = (0, 0, 0);
    for (folder, report) in &reports {
        let said = if args.dry_run { "would remove" } else { "removed" };
        for file in &report.removed {
            line(out, said, folder, file, &age(file.age))?;
            bytes += file.size;
        }
        for kept in &report.kept {
            let file = &kept.file;
            let why = match kept.reason {
                KeptReason::Young => format!("changed {} ago", age(file.age)),
                KeptReason::Living => "its writer is alive".to_owned(),
                other => other.as_str().to_owned(),
            };
            line(out, "kept", folder, file, &why)?;
        }
        removed += report.removed.len() as u64;
        kept += report.kept.len() as u64;
    }
    let verb = if args.dry_run { "to remove" } else { "removed" };
    let files = units::plural(removed, "file");
    out.line(&format!(
        "{files} {verb}, {}; {} kept",
        units::size(bytes),
        units::count(kept)
    ))
}

fn line(out: &mut Out, said: &str, folder: &Path, file: &LeftFile, why: &str) -> Outcome {
    let path = folder.join(&file.name).display().to_string();
    out.line(&format!(
        "{said:<12}  {}  {}, {why}",
        escape(&path),
        units::size(file.size)
    ))
}

/// An age in its largest units: `3h 12m`.
fn age(age: Duration) -> String {
    let whole = Duration::from_secs(age.as_secs());
    let text = humantime::format_duration(whole).to_string();
    text.split(' ').take(2).collect::<Vec<_>>().join(" ")
}

fn of_folder(folder: &Path, report: &CleanReport) -> serde_json::Value {
    let file = |file: &LeftFile| json!({ "name": file.name, "size": file.size, "age_seconds": file.age.as_secs() });
    let kept: Vec<_> = report
        .kept
        .iter()
        .map(|kept| {
            let mut fields = file(&kept.file);
            fields["reason"] = kept.reason.as_str().into();
            fields
        })
        .collect();
    json!({
        "folder": folder.display().to_string(),
        "removed": report.removed.iter().map(file).collect::<Vec<_>>(),
        "kept": kept,
    })
}
