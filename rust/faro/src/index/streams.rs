//! What the footer says of one stream (spec, FTR-8).

use crate::bytes::FileHeader;
use crate::message::Footer;

/// How many blocks a stream of a `selective` file had, and how many of them are not in the file: the own blocks of a
/// partition, or the shared blocks. They are a hint until a check has compared them with the file (FTR-6).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct StreamCounts {
    /// The blocks that the stream had: the sequence number that its next block would have had.
    pub next: u32,
    /// The blocks that are not in the file, since they were consumed before they were stored.
    pub missing: u32,
}

impl StreamCounts {
    /// The counts of a partition's own stream; none when the footer has no streams.
    pub(crate) fn of_partition(footer: &Footer, header: &FileHeader, partition: u32) -> Option<Self> {
        let streams = footer.streams.as_ref()?;
        let at = (partition - header.first_partition) as usize;
        let value = |vector: &Option<Vec<u32>>| vector.as_ref().and_then(|vector| vector.get(at)).copied().unwrap_or(0);
        Some(StreamCounts {
            next: value(&streams.next),
            missing: value(&streams.missing),
        })
    }

    /// The counts of the shared stream; none when the footer has no streams.
    pub(crate) fn of_shared(footer: &Footer) -> Option<Self> {
        let streams = footer.streams.as_ref()?;
        Some(StreamCounts {
            next: streams.shared_next,
            missing: streams.shared_missing,
        })
    }
}
