//! How many of several outputs are OK.

use super::level::LevelName;
use super::verdict::Verdict;
use crate::failure::Outcome;
use crate::term::Out;
use crate::units::{count, plural};

/// What was checked so far.
#[derive(Default)]
pub(super) struct Sum {
    pub outputs: u64,
    pub good: u64,
    regions: u64,
    blocks: u64,
}

impl Sum {
    pub(super) fn add(&mut self, verdict: &Verdict) {
        self.outputs += 1;
        self.good += u64::from(verdict.ok);
        self.regions += verdict.regions.unwrap_or(0);
        self.blocks += verdict.blocks.unwrap_or(0);
    }

    /// Prints one line.
    pub(super) fn print(&self, level: LevelName, out: &mut Out) -> Outcome {
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
