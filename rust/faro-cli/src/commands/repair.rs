//! `faro repair`: finishes an output at its last commit, or rebuilds a lost index.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use faro::{
    Action, Files, Reader, ReaderOptions, RebuildOptions, RecoverOptions, RecoverReport, RepairOptions, RepairReport,
    SharedPolicy,
};

use super::fault::Fault;
use crate::escape::escape;
use crate::failure::{Failure, Outcome, describe};
use crate::target::Target;
use crate::term::Out;
use crate::units;

/// Finish an unfinished output at its last commit, or rebuild a lost index
#[derive(Args, Debug)]
#[command(after_long_help = "\
Without --rebuild: the output of a dead writer is finished with exactly the committed regions; everything after the \
last commit is cut off. Its files are found by their final names, and by the temporary names that a writer uses until \
it has finished; an index that does not exist is rebuilt, as with --rebuild. A finished output does not change.

With --rebuild: the index, lost or damaged, is rebuilt from the blocks of the data file. What only the index had is \
lost: statistics, properties, and which partitions read shared blocks. The data file is cut off at the first block \
that is not whole, and every block after it is lost; --dry-run says how much, and which fault the block has.

Examples:
  faro repair shuffle --dry-run
  faro repair shuffle
  faro repair shuffle --file-id 1a2b3c4d
  faro repair shuffle --rebuild
  faro repair shuffle.data --rebuild --shared all")]
pub(crate) struct RepairArgs {
    #[command(flatten)]
    target: Target,

    /// Rebuild the index from the data file
    #[arg(long)]
    rebuild: bool,

    /// The output to repair, if several writers left one: the first 8 digits of its file id, as in temporary names
    #[arg(long, value_name = "DIGITS", conflicts_with = "rebuild")]
    file_id: Option<String>,

    /// Replace another output that has the final names
    #[arg(short, long, conflicts_with = "rebuild")]
    force: bool,

    /// If the index is rebuilt: which partitions read shared blocks
    #[arg(long, value_enum, value_name = "WHO", default_value = "none")]
    shared: Shared,

    /// If the index is rebuilt for Arrow batches: where to take the schema from, another output of the same shuffle or
    /// an Arrow IPC stream
    #[arg(long, value_name = "NAME|FILE")]
    schema: Option<PathBuf>,

    /// Print what would be done, and change nothing
    #[arg(short = 'n', long)]
    dry_run: bool,

    /// Print the report as JSON
    #[arg(long)]
    json: bool,
}

/// Which partitions read the shared blocks of a rebuilt file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Shared {
    /// None: the bytes stay in the file
    None,
    /// Every partition
    All,
}

/// Runs the command.
pub(crate) fn run(args: &RepairArgs, out: &mut Out) -> Outcome {
    let shared = match args.shared {
        Shared::None => SharedPolicy::None,
        Shared::All => SharedPolicy::All,
    };
    let schema = args.schema.as_deref().map(schema_message).transpose()?;
    let recovered = if args.rebuild {
        let options = RebuildOptions::default()
            .shared(shared)
            .dry_run(args.dry_run)
            .schema(schema);
        Recovered::of(faro::rebuild(&args.target.files()?, &options)?)
    } else if let Some(files) = args.target.named_otherwise() {
        Recovered::of(faro::repair(&files, &RepairOptions::default().dry_run(args.dry_run))?)
    } else {
        let mut options = RecoverOptions::default()
            .overwrite(args.force)
            .dry_run(args.dry_run)
            .shared(shared)
            .schema(schema);
        options.file_id = args.file_id.clone();
        faro::recover(&args.target.name, &options)?.into()
    };
    if args.json {
        let repair = recovered.repair.as_ref();
        return out.json(&serde_json::json!({
            "action": recovered.action.as_str(),
            "dry_run": args.dry_run,
            "file_id": recovered.file_id,
            "found": recovered.found.iter().map(|path| path.display().to_string()).collect::<Vec<_>>(),
            "regions": recovered.regions,
            "blocks": repair.and_then(|report| report.blocks),
            "data_kept": repair.map_or(0, |report| report.data_kept),
            "data_cut": repair.map_or(0, |report| report.data_cut),
            "fault": repair.and_then(|report| report.fault.as_ref()).map(Fault::of),
            "index_kept": repair.map_or(0, |report| report.index_kept),
            "index_cut": repair.map_or(0, |report| report.index_cut),
            "orphaned": repair.map_or(0, |report| report.orphaned),
            "lost": repair.map_or(&[][..], |report| report.lost),
        }));
    }
    print(args, &recovered, out)
}

/// The result, for files that were found or given.
struct Recovered {
    action: Action,
    file_id: Option<String>,
    regions: u64,
    found: Vec<PathBuf>,
    repair: Option<RepairReport>,
}

impl Recovered {
    fn of(report: RepairReport) -> Recovered {
        Recovered {
            action: report.action,
            file_id: None,
            regions: report.regions,
            found: Vec::new(),
            repair: Some(report),
        }
    }
}

impl From<RecoverReport> for Recovered {
    fn from(report: RecoverReport) -> Recovered {
        Recovered {
            action: report.action,
            file_id: report.file_id,
            regions: report.regions,
            found: report.found,
            repair: report.repair,
        }
    }
}

/// The encapsulated schema message of another output, or the first message of an Arrow IPC stream.
fn schema_message(path: &Path) -> Outcome<Vec<u8>> {
    let stream = std::fs::read(path).ok().filter(|bytes| bytes.starts_with(&[0xff; 4]));
    let Some(mut bytes) = stream else {
        let reader = Reader::open(&Files::locate(path)?, ReaderOptions::default())?;
        let message = reader.schema_message().map(<[u8]>::to_vec);
        return message.ok_or_else(|| Failure::usage(format!("{} has no Arrow schema", path.display())));
    };
    let length = bytes.get(4..8).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]));
    let end = length
        .and_then(|length| (length as usize).checked_add(8))
        .filter(|end| *end <= bytes.len());
    let end = end.ok_or_else(|| Failure::input(path, None, "no whole Arrow schema message"))?;
    bytes.truncate(end);
    Ok(bytes)
}

fn print(args: &RepairArgs, recovered: &Recovered, out: &mut Out) -> Outcome {
    let style = out.style();
    let (done, cut) = if args.dry_run {
        ("would be", "would be cut off")
    } else {
        ("was", "were cut off")
    };
    let what = match recovered.action {
        Action::Nothing => return out.line(&style.green("nothing to do: the output is finished")),
        Action::NothingSaved => {
            return out.line("nothing can be saved: no file begins with a header; `faro clean` removes what is left");
        }
        Action::LastCommit => format!("the output {done} cut at its last commit and finished"),
        Action::Rebuilt => format!("the index {done} rebuilt"),
        Action::Published => format!("the output is whole, and {done} given its names"),
        other => other.as_str().to_owned(),
    };
    for path in &recovered.found {
        out.line(&format!("found {}", escape(&path.display().to_string())))?;
    }
    out.line(&style.bold(&what))?;
    let Some(report) = &recovered.repair else { return Ok(()) };
    print_report(report, cut, out)
}

fn print_report(report: &RepairReport, cut: &str, out: &mut Out) -> Outcome {
    let mut kept = units::plural(report.regions, "region");
    if let Some(blocks) = report.blocks {
        kept = format!("{kept}, {}", units::plural(blocks, "block"));
    }
    out.line(&format!("  kept     {kept}"))?;
    for (name, kept, lost) in [
        ("data", report.data_kept, report.data_cut),
        ("index", report.index_kept, report.index_cut),
    ] {
        if kept + lost > 0 {
            let cut_off = if lost > 0 {
                format!(", {} {cut}", units::count(lost))
            } else {
                String::new()
            };
            out.line(&format!("  {name:<7}  {} bytes kept{cut_off}", units::count(kept)))?;
        }
    }
    if let Some(fault) = &report.fault {
        out.line(&format!("  fault    {}", escape(&describe(fault))))?;
    }
    if report.orphaned > 0 {
        let blocks = units::plural(report.orphaned, "shared block");
        out.line(&format!(
            "  orphans  {blocks} that no partition reads; --shared all gives them to every partition"
        ))?;
    }
    for lost in report.lost {
        out.line(&format!("  lost     {}", escape(lost)))?;
    }
    Ok(())
}
