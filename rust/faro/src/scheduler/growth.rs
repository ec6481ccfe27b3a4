//! What the steps know of an output that is still written (docs/scheduler.md, rule 8).

use super::job::Found;
use crate::error::Result;
use crate::reader::OpenOutput;

/// What the steps know of an output that a consumer watches.
pub(super) struct Growth {
    /// The output with the regions that were seen so far.
    pub output: OpenOutput,
    /// Present if there will be no more regions; it may be the fault that comes after them.
    pub end: Option<Result<()>>,
    /// Whether all extents of the regions seen so far were found, so that there is nothing to find.
    pub is_waiting: bool,
}

impl Growth {
    pub(super) fn new(output: OpenOutput) -> Self {
        Growth {
            output,
            end: None,
            is_waiting: false,
        }
    }

    /// Corrects the result of a step that knew fewer regions: what ends there may go on.
    pub(super) fn correct(&mut self, found: &mut Found) {
        let is_behind = found.finder.output.region_count() < self.output.region_count();
        if is_behind {
            found.finder.go_on(&self.output);
        }
        if matches!(found.end, Some(Ok(()))) {
            found.end = if is_behind { None } else { self.end.clone() };
            self.is_waiting = !is_behind && self.end.is_none();
        }
    }
}
