//! `faro check DIR`: checks all outputs of folders.

use std::ops::ControlFlow;
use std::path::PathBuf;

use faro::Files;
use faro::shuffle::{find, in_order, name};

use super::level::LevelName;
use super::verdict::{Passed, Verdict, check_output, print, verdict};
use crate::commands::fault::Fault;
use crate::escape::escape;
use crate::failure::{Failure, Outcome, code_of};
use crate::folder;
use crate::term::Out;
use crate::units::{count, plural};

/// What is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Showing {
    Nothing,
    Faults,
    All,
    Json,
}

/// What was checked so far.
#[derive(Default)]
struct Sum {
    outputs: u64,
    good: u64,
    regions: u64,
    blocks: u64,
    worst: u8,
    verdicts: Vec<Verdict>,
}

/// Checks all outputs, in a few threads, and prints in their order those that are not OK.
pub(super) fn run(names: &[PathBuf], level: LevelName, showing: Showing, out: &mut Out) -> Outcome {
    let found = find(names);
    folder::check_any(names, &found)?;
    let progress = crate::progress::outputs(found.outputs.len(), "checking");
    let work = |files: &Files| check_output(level, files, &mut |_, _| ());
    let mut sum = Sum::default();
    let mut printed = Ok(());
    in_order(&found.outputs, work, |at, result| {
        progress.inc(1);
        let files = &found.outputs[at];
        printed = progress.suspend(|| sum.take(files, level, showing, &result, out));
        match printed {
            Ok(()) => ControlFlow::Continue(()),
            Err(_) => ControlFlow::Break(()),
        }
    });
    progress.finish_and_clear();
    printed?;
    let faults: Vec<Fault> = found.faults.iter().map(Fault::of).collect();
    sum.worst = found.faults.iter().map(code_of).fold(sum.worst, u8::max);
    match showing {
        Showing::Nothing => {}
        Showing::Json => out.json(&serde_json::json!({
            "checked": sum.outputs,
            "ok": sum.good,
            "outputs": sum.verdicts,
            "not_found": faults,
        }))?,
        Showing::Faults | Showing::All => {
            let style = out.style();
            faults
                .iter()
                .try_for_each(|fault| out.line(&style.red(&escape(&fault.line()))))?;
            sum.print(level, out)?;
        }
    }
    match sum.worst {
        0 => Ok(()),
        worst => Err(Failure::Shown(worst)),
    }
}

impl Sum {
    fn take(
        &mut self,
        files: &Files,
        level: LevelName,
        showing: Showing,
        result: &faro::Result<Passed>,
        out: &mut Out,
    ) -> Outcome {
        self.outputs += 1;
        match result {
            Ok(passed) => {
                self.good += 1;
                self.regions += passed.regions.unwrap_or(0);
                self.blocks += passed.blocks.unwrap_or(0);
            }
            Err(error) => self.worst = self.worst.max(code_of(error)),
        }
        let verdict = || verdict(level, &name(files), result);
        match showing {
            Showing::Json => self.verdicts.push(verdict()),
            Showing::Faults if result.is_ok() => {}
            Showing::Faults | Showing::All => {
                print(&verdict(), result, out)?;
                // The next fault may be far away.
                out.finish()?;
            }
            Showing::Nothing => {}
        }
        Ok(())
    }

    fn print(&self, level: LevelName, out: &mut Out) -> Outcome {
        let style = out.style();
        let mut counts = plural(self.regions, "region");
        if self.blocks > 0 {
            counts = format!("{counts}, {}", plural(self.blocks, "block"));
        }
        let outputs = plural(self.outputs, "output");
        let text = match self.outputs - self.good {
            0 => format!("{outputs}: {}", style.green("all OK")),
            bad => {
                let bad = format!("{} not OK", count(bad));
                format!("{outputs}: {} OK, {}", count(self.good), style.red(&bad))
            }
        };
        out.line(&format!("{text} ({}: {counts})", level.name()))
    }
}
