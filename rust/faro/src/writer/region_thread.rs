//! A thread that writes a region while the caller fills another sort buffer (the option `double_buffer`).

use super::extents::write_region;
use super::owner::MemberBits;
use super::region_builder::RegionBuilder;
use super::trace::Span;
use crate::error::{Error, ErrorCode, Result};
use crate::sort_buffer::SortBuffer;
use crate::storage::publishing::Birth;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

/// What the thread gets: a full sort buffer, and what writes it.
pub(super) struct Full {
    pub builder: RegionBuilder,
    pub buffer: SortBuffer<MemberBits>,
}

/// What comes back: the same, the buffer empty, and how it went.
pub(super) struct Written {
    pub builder: RegionBuilder,
    pub buffer: SortBuffer<MemberBits>,
    pub result: Result<()>,
    pub time: Duration,
}

/// The thread. It lives until this is dropped, and has at most one region.
pub(super) struct RegionThread {
    /// Present until this is dropped.
    link: Option<Link>,
    born: Birth,
}

struct Link {
    regions: Sender<Full>,
    /// Only to be used by one thread at a time, as the writer itself is.
    written: Mutex<Receiver<Written>>,
    thread: JoinHandle<()>,
}

impl RegionThread {
    /// Starts the thread; none if the system refuses one.
    pub(super) fn start() -> Option<RegionThread> {
        let (regions, full) = channel::<Full>();
        let (done, written) = channel();
        let work = move || {
            while let Ok(region) = full.recv() {
                if done.send(write(region)).is_err() {
                    return;
                }
            }
        };
        let thread = Builder::new().name("faro-region".into()).spawn(work).ok()?;
        Some(RegionThread {
            link: Some(Link {
                regions,
                written: Mutex::new(written),
                thread,
            }),
            born: Birth::here(),
        })
    }

    /// Hands a region over. [`RegionThread::wait`] returns it.
    pub(super) fn hand_over(&self, region: Full) -> Result<()> {
        match &self.link {
            Some(link) if link.regions.send(region).is_ok() => Ok(()),
            _ => Err(lost()),
        }
    }

    /// Waits for the region that was handed over.
    pub(super) fn wait(&mut self) -> Result<Written> {
        let link = self.link.as_mut().ok_or_else(lost)?;
        let written = link.written.get_mut().unwrap_or_else(PoisonError::into_inner);
        written.recv().map_err(|_| lost())
    }
}

impl Drop for RegionThread {
    fn drop(&mut self) {
        let Some(link) = self.link.take() else { return };
        if self.born.is_here() {
            drop(link.regions);
            let _ = link.thread.join();
        } else {
            // A forked process has no such thread, which may have been in the middle of a call of the channel.
            std::mem::forget(link);
        }
    }
}

/// Writes a region. A panic becomes an error, so that no one waits for the region in vain.
fn write(region: Full) -> Written {
    let Full {
        mut builder,
        mut buffer,
    } = region;
    let begun = Instant::now();
    let caught = catch_unwind(AssertUnwindSafe(|| write_traced(&mut builder, &mut buffer)));
    Written {
        result: caught.unwrap_or_else(|_| Err(lost())),
        time: begun.elapsed(),
        builder,
        buffer,
    }
}

/// Writes the region that a sort buffer holds, in a span, and empties the buffer.
pub(super) fn write_traced(builder: &mut RegionBuilder, buffer: &mut SortBuffer<MemberBits>) -> Result<()> {
    let (span, before) = (Span::write_region(builder.files()), builder.counts());
    let written = write_region(builder, buffer);
    buffer.clear();
    let after = builder.counts();
    span.ends_with(after.0, after.1 - before.1);
    written
}

pub(super) fn lost() -> Error {
    Error::bare(ErrorCode::Io, "a thread that writes a region", "it panicked")
}
