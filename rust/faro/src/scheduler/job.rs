//! What a step does while no lock is held: reads bytes, or looks up extents.

use super::guard::caught;
use super::sync::Arc;
use crate::error::Result;
use crate::index::Extent;
use crate::plan::SweepRead;
use crate::reader::{Extents, OpenExtent, OpenOutput, Opened};
use bytes::Bytes;

/// Regions of the index that a step goes through at most: others wait for it.
const REGIONS: usize = 64;

/// What a step is to do.
pub(super) enum Job {
    Read(ReadJob),
    Find(FindJob),
}

/// A read to be done, and by which handle.
pub(super) struct ReadJob {
    pub file: usize,
    pub opened: Arc<Opened>,
    pub read: SweepRead,
}

/// What a consumer wants to know of the index before it can go on.
pub(super) struct FindJob {
    pub consumer: u64,
    pub finder: Box<Finder>,
    /// Most extents.
    pub count: usize,
    /// The dictionary of the block that is next.
    pub dictionary: Option<u16>,
}

/// Where a consumer's extents come from.
pub(super) struct Finder {
    pub output: OpenOutput,
    pub extents: Extents,
}

/// What came of the parts of a read, in its order.
pub(super) type Outcome = Vec<Result<Bytes>>;

/// What a step has done.
pub(super) enum Done {
    Read(ReadJob, Outcome),
    Find(Box<Found>),
}

/// What was found for a consumer.
pub(super) struct Found {
    pub consumer: u64,
    pub finder: Box<Finder>,
    pub extents: Vec<OpenExtent>,
    /// Extents that were asked for and not reached.
    pub left: usize,
    /// That there are no more, or the fault that comes after them.
    pub end: Option<Result<()>>,
    /// That the dictionary is there.
    pub dictionary: Option<Result<()>>,
}

impl Job {
    /// Does it, whatever the files do.
    pub(super) fn run(self, buffer: &mut Vec<u8>) -> Done {
        match self {
            Job::Read(job) => {
                let outcome = job.run(buffer);
                Done::Read(job, outcome)
            }
            Job::Find(job) => Done::Find(Box::new(job.run())),
        }
    }
}

impl ReadJob {
    /// Reads by way of a buffer. A read that is refused, or meets the end of a file that shrank, is the fault of those
    /// whose bytes cannot be had alone either.
    fn run(&self, buffer: &mut Vec<u8>) -> Outcome {
        let (read, parts) = (self.read.extent, &self.read.parts);
        let source = self.opened.files.data_file();
        let alone = |extent: Extent| {
            caught(|| {
                let bytes = source.read_vec(extent.offset, extent.length as usize)?;
                Ok(Bytes::from(bytes))
            })
        };
        if let [part] = parts.as_slice() {
            return vec![alone(part.extent)];
        }
        let got = caught(|| self.fill(buffer)).unwrap_or(0);
        let part = |part: &crate::plan::Part| {
            let from = (part.extent.offset - read.offset) as usize;
            let to = from + part.extent.length as usize;
            if to <= got {
                // Copied, so that what one keeps does not keep what others gave back.
                return caught(|| {
                    let mut bytes = source.room(to - from)?;
                    bytes.extend_from_slice(&buffer[from..to]);
                    Ok(Bytes::from(bytes))
                });
            }
            alone(part.extent)
        };
        parts.iter().map(part).collect()
    }

    /// Reads all at once; how many bytes it got.
    fn fill(&self, buffer: &mut Vec<u8>) -> Result<usize> {
        let source = self.opened.files.data_file();
        let length = self.read.extent.length as usize;
        if buffer.len() < length {
            *buffer = source.room(length)?;
            buffer.resize(length, 0);
        }
        source.read_up_to(self.read.extent.offset, &mut buffer[..length])
    }
}

impl FindJob {
    fn run(self) -> Found {
        let FindJob {
            consumer,
            mut finder,
            count,
            dictionary,
        } = self;
        let dictionary = dictionary.map(|number| caught(|| finder.output.dictionary(number).map(|_| ())));
        let mut extents = Vec::new();
        let end = caught(|| Ok(finder.find(count, &mut extents)?.then_some(())));
        Found {
            consumer,
            finder,
            left: count - extents.len(),
            extents,
            end: end.transpose(),
            dictionary,
        }
    }
}

impl Finder {
    /// Finds at most so many extents, in some regions; whether there are no more.
    fn find(&mut self, count: usize, found: &mut Vec<OpenExtent>) -> Result<bool> {
        let mut regions = 0;
        while found.len() < count && regions < REGIONS {
            let mut extent = OpenExtent::NONE;
            match self.extents.turn(&self.output, &mut extent)? {
                Some(true) => found.push(extent),
                Some(false) => return Ok(true),
                None => regions += 1,
            }
        }
        Ok(false)
    }
}
