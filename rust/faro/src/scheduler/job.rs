//! The work of a step, without a lock: it reads bytes, or finds extents.

use super::guard::{Payload, caught};
use super::read_buffer::ReadBuffer;
use super::sync::Arc;
use crate::error::Result;
use crate::index::Extent;
use crate::plan::SweepRead;
use crate::reader::trace::Span;
use crate::reader::{Extents, OpenExtent, OpenOutput, Opened};
use bytes::Bytes;

/// The most regions that a step visits, since other consumers wait for it.
const REGIONS: usize = 64;

/// The work of a step.
pub(super) enum Job {
    Read(ReadJob),
    Find(FindJob),
}

/// A read of a file.
pub(super) struct ReadJob {
    pub file: usize,
    pub opened: Arc<Opened>,
    pub read: SweepRead,
    /// For a read of several parts.
    pub buffer: ReadBuffer,
}

/// What a consumer needs from the index before it can continue.
pub(super) struct FindJob {
    pub consumer: u64,
    pub finder: Box<Finder>,
    /// The most extents to find.
    pub count: usize,
    /// The dictionary of the next block.
    pub dictionary: Option<u16>,
}

/// Finds the extents of a consumer.
pub(super) struct Finder {
    pub output: OpenOutput,
    pub extents: Extents,
}

/// The results for the parts of a read, in their order.
pub(super) type Outcome = Vec<Result<Bytes>>;

/// The result of a step.
pub(super) enum Done {
    Read(ReadJob, Outcome),
    Find(Box<Found>),
}

/// The result of finding for a consumer.
pub(super) struct Found {
    pub consumer: u64,
    pub finder: Box<Finder>,
    pub extents: Vec<OpenExtent>,
    /// Requested extents that the step did not reach.
    pub left: usize,
    /// Present if there are no more extents; it may be a fault that comes after them.
    pub end: Option<Result<()>>,
    /// Present if the dictionary is there; or the fault.
    pub dictionary: Option<Result<()>>,
}

impl Job {
    /// Asks for the memory that makes the work faster. Returns the panic of the budget.
    pub(super) fn ask(&mut self) -> Option<Payload> {
        match self {
            Job::Read(job) if job.read.parts.len() > 1 => job.buffer.ask(job.read.extent.length),
            _ => None,
        }
    }

    /// Does the work. A panic becomes a fault.
    pub(super) fn run(self) -> Done {
        match self {
            Job::Read(mut job) => {
                let outcome = job.run();
                Done::Read(job, outcome)
            }
            Job::Find(job) => Done::Find(Box::new(job.run())),
        }
    }
}

impl ReadJob {
    /// Reads through a buffer. If the read fails, the buffer was refused, or the file has shrunk, each part is read alone,
    /// so that only the parts that cannot be read fail.
    fn run(&mut self) -> Outcome {
        let (read, parts) = (self.read.extent, &self.read.parts);
        let source = self.opened.files.data_file();
        let _span = Span::read(source, &self.read);
        let alone = |extent: Extent| {
            caught(|| {
                let bytes = source.read_vec(extent.offset, extent.length as usize)?;
                Ok(Bytes::from(bytes))
            })
        };
        if let [part] = parts.as_slice() {
            return vec![alone(part.extent)];
        }
        let buffer = &mut self.buffer;
        let got = caught(|| buffer.fill(source, read.offset, read.length as usize)).unwrap_or(0);
        let part = |part: &crate::plan::Part| {
            let from = (part.extent.offset - read.offset) as usize;
            let to = from + part.extent.length as usize;
            if to <= got {
                // Copy the part, so that a consumer that keeps it does not keep the memory of others.
                return caught(|| {
                    let mut bytes = source.room(to - from)?;
                    bytes.extend_from_slice(&buffer.bytes()[from..to]);
                    Ok(Bytes::from(bytes))
                });
            }
            alone(part.extent)
        };
        parts.iter().map(part).collect()
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
    /// Goes on with the regions that the output has now.
    pub(super) fn go_on(&mut self, output: &OpenOutput) {
        self.extents.go_on(output.region_count());
        self.output = output.clone();
    }

    /// Finds at most `count` extents, in a limited number of regions; returns whether there are no more.
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
