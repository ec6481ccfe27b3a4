//! One run: what fails in it, and its consumers.

use crate::error::FileRole;
use crate::scheduler::guard::drop_payload;
use crate::scheduler::{Consumer, Scheduler};
use crate::storage::Files;
use crate::storage::seam::Verdict;
use crate::{Block, Result};
use std::io::ErrorKind;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::task::Poll;
use std::time::Duration;

/// The most time for a run, which takes some milliseconds.
pub(super) const PATIENCE: Duration = Duration::from_secs(60);

/// The call that fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Site {
    Read,
    Memory,
    Listener,
    /// The caller itself, when it polls or waits for a block.
    Asking,
}

/// How the call fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Failure {
    Refused(ErrorKind),
    Short(usize),
    PanicStr,
    PanicString,
    PanicAny,
    /// It panics, and the payload panics when it is dropped.
    PanicTwice,
    /// It drops another consumer.
    DropConsumer,
    DropScheduler,
    /// It truncates the data file to nothing.
    Cut,
}

pub(super) const PANICS: [Failure; 4] = [
    Failure::PanicStr,
    Failure::PanicString,
    Failure::PanicAny,
    Failure::PanicTwice,
];
pub(super) const DROPS: [Failure; 2] = [Failure::DropConsumer, Failure::DropScheduler];

pub(super) fn failures(site: Site) -> Vec<Failure> {
    let mut failures = DROPS.to_vec();
    if site != Site::Asking {
        failures.extend(PANICS);
    }
    match site {
        Site::Read => failures.extend([
            Failure::Refused(ErrorKind::Other),
            Failure::Refused(ErrorKind::PermissionDenied),
            Failure::Refused(ErrorKind::UnexpectedEof),
            Failure::Refused(ErrorKind::Interrupted),
            Failure::Short(0),
            Failure::Short(1),
            Failure::Cut,
        ]),
        Site::Memory => failures.push(Failure::Refused(ErrorKind::OutOfMemory)),
        Site::Listener | Site::Asking => {}
    }
    failures
}

/// Who makes the steps, and how the consumers are used.
#[derive(Clone, Copy, Debug)]
pub(super) enum Mode {
    /// Threads of the scheduler, and consumers used as iterators.
    Wait(usize),
    /// Threads of the scheduler, and consumers that are polled after their listeners were called.
    Poll(usize),
    /// The caller makes a step for each `Pending`.
    ByHand,
    /// Consumers used as iterators make the steps.
    Themselves,
}

pub(super) const MODES: [Mode; 6] = [
    Mode::Wait(1),
    Mode::Wait(3),
    Mode::Poll(1),
    Mode::Poll(3),
    Mode::ByHand,
    Mode::Themselves,
];

pub(super) struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        resume_unwind(Box::new("again"));
    }
}

/// One run: what fails in it, and what it can drop.
pub(super) struct World {
    pub site: Site,
    /// The number of the call that fails, from 1 on.
    pub turn: usize,
    pub failure: Failure,
    pub calls: AtomicUsize,
    /// Whether the failure happened, and in which file.
    pub failed: Mutex<Option<Option<FileRole>>>,
    pub scheduler: Mutex<Option<Arc<Scheduler>>>,
    pub consumers: Vec<Mutex<Option<Consumer>>>,
    /// Whether the first consumer is to be dropped as soon as it is not in use.
    pub leaves: AtomicBool,
    /// Reports that a consumer was dropped.
    pub gone: mpsc::Sender<usize>,
    pub files: Files,
}

impl World {
    pub(super) fn called(&self, site: Site, role: Option<FileRole>) -> Verdict {
        if site != self.site || self.calls.fetch_add(1, Ordering::Relaxed) + 1 != self.turn {
            return Verdict::Go;
        }
        *self.failed.lock().unwrap() = Some(role);
        match self.failure {
            Failure::Refused(kind) => return Verdict::Refused(kind.into()),
            Failure::Short(most) => return Verdict::Short(most),
            Failure::PanicStr => resume_unwind(Box::new("a text")),
            Failure::PanicString => resume_unwind(Box::new("a text".to_string())),
            Failure::PanicAny => resume_unwind(Box::new(7)),
            Failure::PanicTwice => resume_unwind(Box::new(Bomb)),
            Failure::DropConsumer => match self.consumers[0].try_lock() {
                Ok(mut first) => {
                    drop(first.take());
                    // The thread that drops it expects nothing.
                    let _ = self.gone.send(0);
                }
                Err(_) => self.leaves.store(true, Ordering::Relaxed),
            },
            Failure::DropScheduler => drop_scheduler(self),
            Failure::Cut => {
                let (Files::Paired { data, .. } | Files::Single(data)) = &self.files;
                let file = std::fs::File::options().write(true).open(data).unwrap();
                file.set_len(0).unwrap();
            }
        }
        Verdict::Go
    }

    /// Polls a consumer or waits for it; none when it was dropped.
    fn ask(&self, at: usize, waits: bool) -> Option<Poll<Option<Result<Block>>>> {
        self.called(Site::Asking, None);
        let mut consumer = self.consumers[at].lock().unwrap();
        if at == 0 && self.leaves.load(Ordering::Relaxed) {
            *consumer = None;
        }
        loop {
            let asked = catch_unwind(AssertUnwindSafe(|| {
                let consumer = consumer.as_mut()?;
                Some(match waits {
                    true => Poll::Ready(consumer.next()),
                    false => consumer.poll(),
                })
            }));
            match asked {
                Ok(found) => return found,
                // The panic of a listener: the consumer goes on.
                Err(payload) => drop_payload(payload),
            }
        }
    }

    /// All blocks of a consumer used as an iterator; none when it was dropped.
    pub(super) fn wait_for(&self, at: usize) -> Option<Vec<Result<Block>>> {
        let mut found = Vec::new();
        loop {
            match self.ask(at, true)? {
                Poll::Ready(Some(block)) => found.push(block),
                _ => return Some(found),
            }
        }
    }
}

pub(super) fn drop_scheduler(world: &World) {
    let gone = world.scheduler.lock().unwrap().take();
    drop(gone);
}

/// Polls consumers when their listeners are called, with a step for each `Pending` if `serves`.
pub(super) fn poll_all(world: &World, told: &mpsc::Receiver<usize>, serves: bool) -> Vec<Option<Vec<Result<Block>>>> {
    let mut found: Vec<Option<Vec<_>>> = world.consumers.iter().map(|_| Some(Vec::new())).collect();
    let mut left: Vec<usize> = (0..found.len()).collect();
    let mut again: Vec<usize> = left.clone();
    while !left.is_empty() {
        // Without threads, no other thread can notify, so there is nothing to wait for.
        let patience = if serves { Duration::ZERO } else { PATIENCE };
        let at = again
            .pop()
            .unwrap_or_else(|| told.recv_timeout(patience).expect("a consumer that gets the error"));
        if !left.contains(&at) {
            continue;
        }
        match world.ask(at, false) {
            Some(Poll::Ready(Some(block))) => {
                found[at].as_mut().unwrap().push(block);
                again.push(at);
            }
            Some(Poll::Ready(None)) => left.retain(|other| *other != at),
            Some(Poll::Pending) if serves => {
                let scheduler = world.scheduler.lock().unwrap().clone();
                if let Err(payload) = catch_unwind(AssertUnwindSafe(|| scheduler.map(|scheduler| scheduler.serve()))) {
                    drop_payload(payload);
                }
            }
            Some(Poll::Pending) => {}
            None => {
                found[at] = None;
                left.retain(|other| *other != at);
            }
        }
    }
    found
}
