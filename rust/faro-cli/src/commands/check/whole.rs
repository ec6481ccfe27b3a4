//! `faro check DIR`: checks all outputs of folders.

use std::ops::ControlFlow;
use std::path::PathBuf;

use faro::Files;
use faro::shuffle::{find, in_order, name};

use super::level::LevelName;
use super::sum::Sum;
use super::verdict::{Passed, Verdict, check_output, print, verdict};
use crate::commands::fault::Fault;
use crate::escape::escape;
use crate::failure::{Failure, Outcome, code_of};
use crate::folder;
use crate::term::Out;

/// What is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Showing {
    Nothing,
    Faults,
    All,
    Json,
}

/// Checks all outputs, in a few threads, and prints in their order those that are not OK.
pub(super) fn run(names: &[PathBuf], level: LevelName, showing: Showing, out: &mut Out) -> Outcome {
    let found = find(names);
    folder::check_any(names, &found)?;
    let progress = crate::progress::outputs(found.outputs.len(), "checking");
    let work = |files: &Files| check_output(level, files, &mut |_, _| ());
    let mut verdicts = Verdicts {
        level,
        showing,
        sum: Sum::default(),
        worst: 0,
        all: Vec::new(),
    };
    let mut printed = Ok(());
    in_order(&found.outputs, work, |at, result| {
        progress.inc(1);
        let files = &found.outputs[at];
        printed = progress.suspend(|| verdicts.take(files, &result, out));
        match printed {
            Ok(()) => ControlFlow::Continue(()),
            Err(_) => ControlFlow::Break(()),
        }
    });
    progress.finish_and_clear();
    printed?;
    let faults: Vec<Fault> = found.faults.iter().map(Fault::of).collect();
    let worst = found.faults.iter().map(code_of).fold(verdicts.worst, u8::max);
    match showing {
        Showing::Nothing => {}
        Showing::Json => out.json(&serde_json::json!({
            "checked": verdicts.sum.outputs,
            "ok": verdicts.sum.good,
            "outputs": verdicts.all,
            "not_found": faults,
        }))?,
        Showing::Faults | Showing::All => {
            let style = out.style();
            faults
                .iter()
                .try_for_each(|fault| out.line(&style.red(&escape(&fault.line()))))?;
            verdicts.sum.print(level, out)?;
        }
    }
    match worst {
        0 => Ok(()),
        worst => Err(Failure::Shown(worst)),
    }
}

/// What happens with the verdicts.
struct Verdicts {
    level: LevelName,
    showing: Showing,
    sum: Sum,
    worst: u8,
    /// For programs.
    all: Vec<Verdict>,
}

impl Verdicts {
    fn take(&mut self, files: &Files, result: &faro::Result<Passed>, out: &mut Out) -> Outcome {
        let verdict = verdict(self.level, &name(files), result);
        self.sum.add(&verdict);
        if let Err(error) = result {
            self.worst = self.worst.max(code_of(error));
        }
        match self.showing {
            Showing::Json => self.all.push(verdict),
            Showing::Faults if result.is_ok() => {}
            Showing::Faults | Showing::All => {
                print(&verdict, result, out)?;
                // The next fault may be far away.
                out.finish()?;
            }
            Showing::Nothing => {}
        }
        Ok(())
    }
}
