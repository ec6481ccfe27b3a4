//! Which partitions a producer pushes together, to which merger, and in which order (spec, PSH).

use crate::bytes::MAX_PARTITIONS;
use crate::error::{Error, Result};
use std::ops::Range;
use xxhash_rust::xxh64::xxh64;

/// How the producers of a shuffle push their outputs to its mergers. `with` methods set the fields.
///
/// ```
/// # fn main() -> faro::Result<()> {
/// # let folder = tempfile::tempdir().unwrap();
/// # let name = folder.path().join("output");
/// # let mut writer = faro::Writer::create(&name, faro::WriterOptions::new(8))?;
/// # writer.write(5, b"a record")?;
/// # writer.finish()?;
/// # let reader = faro::Reader::open(&faro::Files::locate(&name)?, faro::ReaderOptions::default())?;
/// use faro::merge::PushPlan;
/// let plan = PushPlan::new(8, 2);
/// let bytes = reader.partitions().map(|partition| reader.stored_bytes(partition)).collect::<faro::Result<Vec<_>>>()?;
/// for push in plan.pushes(7, &bytes)? {
///     let mut fragment = Vec::new();
///     reader.fragment(push.partitions, None, &mut fragment)?;
///     // Send it to the merger with the number push.merger.
/// #   assert_eq!(push.merger, 1);
/// }
/// # Ok(()) }
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct PushPlan {
    /// The number of partitions, 1 to 2^28.
    pub partition_count: u32,
    /// The number of the first partition; default 0.
    pub first_partition: u32,
    /// How many mergers there are, at least 1.
    pub mergers: u32,
    /// Bytes of a push, at most, except if it is of one partition; default 3 MiB.
    pub push_size: u64,
    /// Bytes of a partition that is pushed, at most; default 1 MiB.
    pub largest_partition: u64,
}

/// One push of a [`PushPlan`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PlannedPush {
    /// The number of the merger that gets it.
    pub merger: u32,
    /// What it is of, for [`crate::Reader::fragment`].
    pub partitions: Range<u32>,
    /// The bytes of these partitions in the output.
    pub bytes: u64,
}

impl PushPlan {
    /// The defaults for this many partitions and mergers.
    pub fn new(partition_count: u32, mergers: u32) -> Self {
        PushPlan {
            partition_count,
            first_partition: 0,
            mergers,
            push_size: 3 << 20,
            largest_partition: 1 << 20,
        }
    }

    /// Sets `first_partition`.
    #[must_use]
    pub fn first_partition(mut self, first_partition: u32) -> Self {
        self.first_partition = first_partition;
        self
    }

    /// Sets `push_size`.
    #[must_use]
    pub fn push_size(mut self, push_size: u64) -> Self {
        self.push_size = push_size;
        self
    }

    /// Sets `largest_partition`.
    #[must_use]
    pub fn largest_partition(mut self, largest_partition: u64) -> Self {
        self.largest_partition = largest_partition;
        self
    }

    /// The merger of a partition (PSH-1).
    ///
    /// # Errors
    /// `invalid-argument` for a partition that the shuffle does not have, or fields out of range.
    pub fn merger(&self, partition: u32) -> Result<u32> {
        let all = self.check()?;
        if !all.contains(&partition) {
            let expected = format!("a partition from {} to {}", all.start, all.end - 1);
            return Err(Error::argument(expected, partition.to_string()));
        }
        Ok(self.merger_of(partition))
    }

    /// The partitions of a merger, none for some if there are more mergers than partitions (PSH-1).
    ///
    /// # Errors
    /// `invalid-argument` for a merger that the shuffle does not have, or fields out of range.
    pub fn partitions(&self, merger: u32) -> Result<Range<u32>> {
        self.check()?;
        if merger >= self.mergers {
            let expected = format!("a merger from 0 to {}", self.mergers - 1);
            return Err(Error::argument(expected, merger.to_string()));
        }
        let (count, mergers) = (u64::from(self.partition_count), u64::from(self.mergers));
        // At most partition_count, so it fits.
        let start = |merger: u64| self.first_partition + (merger * count).div_ceil(mergers) as u32;
        Ok(start(merger.into())..start(u64::from(merger) + 1))
    }

    /// The pushes of a producer, in the order in which it makes them (PSH-2, PSH-3). `bytes` has those of each partition
    /// in its output, from the first partition ([`crate::Reader::stored_bytes`]).
    ///
    /// # Errors
    /// `invalid-argument` for `bytes` of another number of partitions, or fields out of range.
    pub fn pushes(&self, producer: u64, bytes: &[u64]) -> Result<Vec<PlannedPush>> {
        let all = self.check()?;
        if bytes.len() != all.len() {
            let expected = format!("bytes of {} partitions", all.len());
            return Err(Error::argument(expected, bytes.len().to_string()));
        }
        let mut pushes: Vec<PlannedPush> = Vec::new();
        let mut joins = false;
        for (partition, &bytes) in all.zip(bytes) {
            if bytes == 0 {
                continue;
            }
            if bytes > self.largest_partition {
                joins = false;
                continue;
            }
            let merger = self.merger_of(partition);
            match pushes.last_mut().filter(|open| joins && open.merger == merger) {
                Some(open) if bytes <= self.push_size.saturating_sub(open.bytes) => {
                    open.partitions.end = partition + 1;
                    open.bytes += bytes;
                }
                _ => pushes.push(PlannedPush {
                    merger,
                    partitions: partition..partition + 1,
                    bytes,
                }),
            }
            joins = true;
        }
        pushes.sort_by_cached_key(|push| (place(producer, push.partitions.start), push.partitions.start));
        Ok(pushes)
    }

    /// The partitions, if the fields are in range.
    fn check(&self) -> Result<Range<u32>> {
        let count = u64::from(self.partition_count);
        if !(1..=u64::from(MAX_PARTITIONS)).contains(&count) {
            return Err(Error::argument("a partition_count of 1 to 2^28", count.to_string()));
        }
        let end = u64::from(self.first_partition) + count;
        if end > u64::from(MAX_PARTITIONS) {
            return Err(Error::argument("partition numbers below 2^28", (end - 1).to_string()));
        }
        if self.mergers == 0 {
            return Err(Error::argument("at least 1 merger", "0"));
        }
        Ok(self.first_partition..self.first_partition + self.partition_count)
    }

    fn merger_of(&self, partition: u32) -> u32 {
        let place = u64::from(partition - self.first_partition);
        // Below mergers, so it fits.
        (place * u64::from(self.mergers) / u64::from(self.partition_count)) as u32
    }
}

/// What the pushes of a producer are ordered by (PSH-3).
fn place(producer: u64, first_partition: u32) -> u64 {
    let mut key = [0; 12];
    key[..8].copy_from_slice(&producer.to_le_bytes());
    key[8..].copy_from_slice(&first_partition.to_le_bytes());
    xxh64(&key, 0)
}
