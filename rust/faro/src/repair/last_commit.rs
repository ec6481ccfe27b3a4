//! Repairs an output to its last commit (spec, REP-1 to REP-4).

use super::cut::{cut_and_append, footer};
use super::report::{Action, RepairReport};
use crate::block::{self, BlockHeader};
use crate::bytes::{FileHeader, Framing};
use crate::bytes::{Tail, pad8};
use crate::error::{Error, ErrorCode, FileRole, Result};
use crate::follow::{Purpose, next_block};
use crate::follow::{Step, Walk};
use crate::limits::Limits;
use crate::reader::{OpenFiles, open_files};
use crate::storage::Files;
use crate::writer::append_metadata;

/// The options of [`repair`].
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct RepairOptions {
    /// What is taken from the files at most.
    pub limits: Limits,
    /// Whether to report only, and change nothing.
    pub dry_run: bool,
}

impl RepairOptions {
    /// Sets `limits`.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Sets `dry_run`.
    #[must_use]
    pub fn dry_run(mut self, dry_run: bool) -> Self {
        self.dry_run = dry_run;
        self
    }
}

/// Finishes an unfinished output at its last commit: the result holds exactly the committed regions (REP-1 to REP-4).
/// With `dry_run` it changes nothing and reports what it would do.
///
/// No writer may be at work on the files.
///
/// # Errors
/// `unsupported-feature` for a writer feature that this library does not know (HDR-4); any fault that an interrupted
/// writer cannot cause, as a follower reports it; `io`. The files are unchanged then, except after `io` on writing.
pub fn repair(files: &Files, options: &RepairOptions) -> Result<RepairReport> {
    let limits = &options.limits;
    let open = open_files(files)?;
    open.header
        .check_writer_features()
        .map_err(|error| open.index.blame(error))?;
    let size = open.index.size()?;
    if let Some(regions) = is_finished(&open, limits, size)? {
        return report(Action::Nothing, regions, &open, size, open.data_size()?);
    }
    if open.header.framing == Framing::Arrow {
        check_schema_is_there(&open, limits, size)?;
        open.read_schema(limits, size)?;
    }
    let mut walk = Walk::new(Purpose::Repair);
    let step = walk.run(&open, limits, size)?;
    let plan = match (&walk.footer, step) {
        (Some((footer, tail)), Step::Footer) => {
            let end = tail.footer_offset + BlockHeader::SIZE as u64 + pad8(tail.footer_size);
            // A valid tail is not counted as cut, nor written again.
            let is_right = size - end == Tail::SIZE as u64
                && open.index.read_vec(end, Tail::SIZE)?.as_slice() == tail.encode().as_slice();
            Plan {
                index_end: if is_right { size } else { end },
                after: if is_right { Vec::new() } else { tail.encode().to_vec() },
                data_end: footer.data_size,
            }
        }
        _ => plan_last_commit(&walk, &open)?,
    };
    let outcome = report(
        Action::LastCommit,
        walk.regions.len() as u64,
        &open,
        plan.index_end,
        plan.data_end,
    )?;
    if !options.dry_run {
        for (role, path) in files.paths() {
            match role {
                FileRole::Data => cut_and_append(path, role, plan.data_end, &[])?,
                FileRole::Index | FileRole::Single | FileRole::Fragment => {
                    cut_and_append(path, role, plan.index_end, &plan.after)?
                }
            }
        }
    }
    Ok(outcome)
}

/// A file with framing arrow has a schema block (FOL-1).
pub(crate) fn check_schema_is_there(open: &OpenFiles, limits: &Limits, size: u64) -> Result<()> {
    let at = FileHeader::SIZE as u64;
    match next_block(&open.index, at, size, Purpose::Repair, |_| open.schema_context(limits))? {
        Some(_) => Ok(()),
        None => Err(open.index.blame(Error::at(
            ErrorCode::Unfinished,
            size,
            "a schema block",
            "none: nothing can be read without it",
        ))),
    }
}

/// Where the files are cut, and the bytes to append to the index or single file.
struct Plan {
    index_end: u64,
    after: Vec<u8>,
    data_end: u64,
}

/// REP-3.
fn plan_last_commit(walk: &Walk, open: &OpenFiles) -> Result<Plan> {
    let index_end = walk.metadata_end();
    let data_size = if open.data.is_some() {
        walk.data_end()
    } else {
        index_end
    };
    let message = footer(
        walk.regions.clone(),
        walk.dictionaries.clone(),
        data_size,
        "last-commit",
    )
    .build()?;
    let sequence = u32::try_from(walk.metadata_blocks())
        .map_err(|_| Error::bare(ErrorCode::LimitExceeded, "fewer than 2^32 metadata blocks", "more"))?;
    let mut after = Vec::new();
    append_metadata(&mut after, open.seal, block::FOOTER, sequence, &message);
    after.extend_from_slice(
        &Tail {
            footer_offset: index_end,
            footer_size: message.len() as u32,
        }
        .encode(),
    );
    Ok(Plan {
        index_end,
        after,
        data_end: walk.data_end(),
    })
}

/// The number of regions of an output that opens as it is; none if it does not (REP-4).
pub(crate) fn is_finished(open: &OpenFiles, limits: &Limits, size: u64) -> Result<Option<u64>> {
    let opened = open.read_footer(limits).and_then(|found| {
        open.read_schema(limits, size.saturating_sub(Tail::SIZE as u64))
            .map(|_| found.footer.regions.len() as u64)
    });
    match opened {
        Ok(regions) => Ok(Some(regions)),
        Err(error) if error.code == ErrorCode::Io => Err(error),
        // The walk finds any other fault, or that the output can be repaired.
        Err(_) => Ok(None),
    }
}

fn report(action: Action, regions: u64, open: &OpenFiles, index_end: u64, data_end: u64) -> Result<RepairReport> {
    let is_pair = open.data.is_some();
    Ok(RepairReport {
        action,
        regions,
        blocks: None,
        data_kept: if is_pair { data_end } else { 0 },
        data_cut: if is_pair {
            open.data_size()?.saturating_sub(data_end)
        } else {
            0
        },
        fault: None,
        index_kept: index_end,
        index_cut: open.index.size()?.saturating_sub(index_end),
        orphaned: 0,
        lost: match action {
            Action::Nothing => &[],
            _ => &[
                "what was not committed",
                "statistics and properties, unless the footer had been written",
            ],
        },
    })
}
