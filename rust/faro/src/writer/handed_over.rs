//! A region that another thread writes while the caller fills a second sort buffer (the option `double_buffer`).

use super::executor::Executor;
use super::extents::write_region;
use super::own_thread::OwnThread;
use super::owner::MemberBits;
use super::region_builder::RegionBuilder;
use super::trace::{Parent, Span};
use crate::error::{Error, ErrorCode, Result};
use crate::sort_buffer::SortBuffer;
use crate::storage::publishing::Birth;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex, PoisonError};
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
    /// Whether another thread wrote it.
    pub elsewhere: bool,
}

/// The threads that write regions, and the region that was handed over to them, if there is one.
pub(super) struct HandedOver {
    region: Option<Region>,
    /// Dropped after the region, which its thread may have begun.
    executor: Arc<dyn Executor>,
    born: Birth,
}

/// A region that was handed over.
struct Region {
    /// Taken by the thread that writes it.
    full: Arc<Mutex<Option<Full>>>,
    /// Only to be used by one thread at a time, as the writer itself is.
    written: Mutex<Receiver<Written>>,
}

impl HandedOver {
    /// The engine's threads, or one of the writer's own; none if the system refuses one.
    pub(super) fn new(lent: Option<&Arc<dyn Executor>>) -> Option<HandedOver> {
        let executor = match lent {
            Some(lent) => lent.clone(),
            None => Arc::new(OwnThread::start()?),
        };
        Some(HandedOver {
            region: None,
            executor,
            born: Birth::here(),
        })
    }

    /// Hands a region over. [`HandedOver::wait`] returns it.
    pub(super) fn begin(&mut self, region: Full) {
        let full = Arc::new(Mutex::new(Some(region)));
        let (done, written) = channel();
        self.region = Some(Region {
            full: full.clone(),
            written: Mutex::new(written),
        });
        let parent = Parent::here();
        self.executor.execute(Box::new(move || {
            if let Some(region) = take(&full) {
                // No one waits for it if the writer was dropped.
                let written = parent.run(|| {
                    let mut written = write(region);
                    tell(&mut written.builder);
                    written
                });
                let _ = done.send(Written {
                    elsewhere: true,
                    ..written
                });
            }
        }));
    }

    /// Waits for the region that was handed over, or writes it if that has not begun.
    pub(super) fn wait(&mut self) -> Result<Written> {
        self.wait_or(write)
    }

    /// As [`HandedOver::wait`], for an output that is given up: writing that has not begun does not begin.
    pub(super) fn give_up(&mut self) -> Result<Written> {
        self.wait_or(|Full { builder, buffer }| Written {
            builder,
            buffer,
            result: Ok(()),
            time: Duration::ZERO,
            elsewhere: false,
        })
    }

    fn wait_or(&mut self, unbegun: impl FnOnce(Full) -> Written) -> Result<Written> {
        let Region { full, written } = self.region.take().ok_or_else(lost)?;
        if let Some(region) = take(&full) {
            return Ok(unbegun(region));
        }
        let written = written.into_inner().unwrap_or_else(PoisonError::into_inner);
        written.recv().map_err(|_| lost())
    }
}

impl Drop for HandedOver {
    fn drop(&mut self) {
        let Some(region) = self.region.take() else { return };
        if !self.born.is_here() {
            // A forked process has no such thread, which may have been in the middle of a call of the channel.
            std::mem::forget(region);
        } else if let Some(unwritten) = take(&region.full) {
            drop(unwritten);
        } else if let Ok(written) = region.written.into_inner() {
            // The files are removed when this returns, and not while they are written.
            drop(written.recv());
        }
    }
}

fn take(full: &Mutex<Option<Full>>) -> Option<Full> {
    full.lock().unwrap_or_else(PoisonError::into_inner).take()
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
        elsewhere: false,
        builder,
        buffer,
    }
}

/// Tells the listener about the region. A panic goes to the panic hook only: there is no call that it could leave.
fn tell(builder: &mut RegionBuilder) {
    let _ = catch_unwind(AssertUnwindSafe(|| builder.tell_regions()));
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
    Error::bare(ErrorCode::Io, "a region that is written", "the writing panicked")
}
