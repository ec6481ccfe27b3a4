//! What the footer of a selective file says of its streams: complete, or with gaps.

use crate::units::{count, plural};
use faro::FileHeader;
use faro::message::{Footer, Streams};
use serde::Serialize;

/// The own blocks of a partition that are not in a selective file.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Gaps {
    pub partition: u32,
    pub missing: u32,
}

/// The blocks that all streams of a selective file had, and those that are not in it.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct StreamsInfo {
    /// Whether the footer says it; a repaired file does not.
    pub known: bool,
    pub blocks: u64,
    pub missing: u64,
    /// The partitions whose own stream has gaps.
    partitions_with_gaps: u64,
    shared_missing: u32,
    /// The partitions that miss blocks, ascending.
    #[serde(skip)]
    pub gaps: Vec<Gaps>,
}

impl StreamsInfo {
    /// None for files that are not selective, and for unfinished ones.
    pub(crate) fn of(header: &FileHeader, footer: Option<&Footer>) -> Option<StreamsInfo> {
        let footer = footer.filter(|_| header.is_selective())?;
        let nothing = Streams::default();
        let streams = footer.streams.as_ref().unwrap_or(&nothing);
        let sum = |values: &Option<Vec<u32>>| values.iter().flatten().map(|value| u64::from(*value)).sum::<u64>();
        let each = streams.missing.iter().flatten().enumerate();
        let gaps: Vec<Gaps> = each
            .filter(|(_, missing)| **missing > 0)
            .map(|(index, missing)| Gaps {
                partition: header.first_partition + index as u32,
                missing: *missing,
            })
            .collect();
        Some(StreamsInfo {
            known: footer.streams.is_some(),
            blocks: sum(&streams.next) + u64::from(streams.shared_next),
            missing: sum(&streams.missing) + u64::from(streams.shared_missing),
            partitions_with_gaps: gaps.len() as u64,
            shared_missing: streams.shared_missing,
            gaps,
        })
    }

    /// Whether blocks are missing, or may be.
    pub(crate) fn may_have_gaps(&self) -> bool {
        !self.known || self.missing > 0
    }

    /// One line for people.
    pub(crate) fn text(&self) -> String {
        if !self.known {
            return "not known whether blocks are missing".into();
        }
        if self.missing == 0 {
            return "complete".into();
        }
        let mut whose = Vec::new();
        if self.partitions_with_gaps > 0 {
            whose.push(format!("of {}", plural(self.partitions_with_gaps, "partition")));
        }
        if self.shared_missing > 0 {
            whose.push(format!("{} shared", count(self.shared_missing.into())));
        }
        format!(
            "with gaps: {} of {} consumed before they were stored ({})",
            count(self.missing),
            plural(self.blocks, "block"),
            whose.join(", ")
        )
    }
}
