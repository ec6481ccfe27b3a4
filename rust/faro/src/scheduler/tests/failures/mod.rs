//! Nothing waits for ever. Everything that a caller or the system provides fails, at each call in turn and in each way;
//! every consumer ends with its data or with the cause.

mod output;
mod world;

use super::common::{collect, hook, options, patience};
use crate::error::{ErrorCode, FileRole};
use crate::reader::ReaderOptions;
use crate::scheduler::{Scheduler, SchedulerOptions};
use crate::storage::seam::{Call, Verdict};
use crate::{Error, Reader};
use output::{Output, READ};
use std::io::{self, ErrorKind};
use std::sync::atomic::{AtomicBool, AtomicUsize};
use std::sync::{Arc, Mutex, mpsc};
use world::{Failure, MODES, Mode, PANICS, PATIENCE, Site, World, drop_scheduler, failures, poll_all};

/// One run; returns whether the failure happened.
fn run(output: &Output, mode: Mode, site: Site, failure: Failure, turn: usize) -> bool {
    let files = match failure {
        Failure::Cut => output.copy(),
        _ => output.files.clone(),
    };
    let reader = Reader::open(&files, ReaderOptions::default()).unwrap();
    let options = options(0, 8_192, 12_288);
    let scheduler = match mode {
        Mode::Wait(threads) | Mode::Poll(threads) => Scheduler::with_threads(options, threads),
        Mode::ByHand | Mode::Themselves => Scheduler::new(options),
    };
    let scheduler = Arc::new(scheduler.unwrap());
    let shared = Arc::downgrade(&scheduler.shared);
    let (sender, told) = mpsc::channel();
    let world = Arc::new(World {
        site,
        turn,
        failure,
        calls: AtomicUsize::new(0),
        failed: Mutex::new(None),
        scheduler: Mutex::new(Some(scheduler.clone())),
        consumers: READ.map(|_| Mutex::new(None)).into(),
        leaves: AtomicBool::new(false),
        gone: sender.clone(),
        files,
    });
    let hooked = world.clone();
    hook(&reader, move |call| match call {
        Call::Read(role, _) => hooked.called(Site::Read, Some(role)),
        Call::Memory(_) => hooked.called(Site::Memory, None),
    });
    for (at, partition) in READ.into_iter().enumerate() {
        let mut consumer = scheduler.partition(&reader, partition).unwrap();
        let (sender, world_of) = (sender.clone(), world.clone());
        consumer.on_ready(move || {
            let _ = sender.send(at);
            world_of.called(Site::Listener, None);
        });
        *world.consumers[at].lock().unwrap() = Some(consumer);
    }
    drop(scheduler);
    let found = match mode {
        Mode::Poll(_) => poll_all(&world, &told, false),
        Mode::ByHand => poll_all(&world, &told, true),
        Mode::Wait(_) | Mode::Themselves => std::thread::scope(|scope| {
            let world = &world;
            let waits: Vec<_> = (0..READ.len())
                .map(|at| scope.spawn(move || world.wait_for(at)))
                .collect();
            waits.into_iter().map(|wait| wait.join().unwrap()).collect()
        }),
    };
    let failed = *world.failed.lock().unwrap();
    let mut faults = 0;
    for (at, (found, expected)) in found.into_iter().zip(&output.expected).enumerate() {
        let Some(found) = found else {
            assert!(at == 0 && failure == Failure::DropConsumer && failed.is_some());
            continue;
        };
        if let Some(Err(error)) = found.last() {
            faults += 1;
            check_cause(failure, error);
        }
        let (blocks, fault) = collect(found.into_iter());
        assert!(expected.0.starts_with(&blocks), "other blocks");
        assert!(
            fault.is_some() || blocks.len() == expected.0.len(),
            "blocks are missing"
        );
    }
    let is_fault =
        matches!(failure, Failure::Refused(kind) if kind != ErrorKind::Interrupted) || PANICS.contains(&failure);
    // A read of the index is for one consumer alone.
    if is_fault && failed == Some(Some(FileRole::Index)) {
        assert_eq!(faults, 1, "a fault is lost");
    }
    drop_scheduler(&world);
    world
        .consumers
        .iter()
        .for_each(|consumer| *consumer.lock().unwrap() = None);
    patience("threads are left over", || shared.strong_count() == 0);
    hook(&reader, |_| Verdict::Go);
    failed.is_some()
}

/// Checks that a fault is the one that was caused.
fn check_cause(failure: Failure, error: &Error) {
    match failure {
        Failure::Refused(kind) if kind != ErrorKind::Interrupted => {
            assert_eq!(error.code, ErrorCode::Io);
            assert_eq!(error.source.as_ref().map(|source| source.kind()), Some(kind));
        }
        Failure::PanicStr | Failure::PanicString => {
            assert_eq!((error.code, error.found.as_str()), (ErrorCode::Io, "a text"))
        }
        Failure::PanicAny | Failure::PanicTwice => {
            assert_eq!((error.code, error.found.as_str()), (ErrorCode::Io, "a panic"))
        }
        Failure::Short(0) | Failure::Cut => assert_eq!(error.code, ErrorCode::Truncated),
        _ => panic!("a fault of nothing: {error}"),
    }
}

/// Causes each failure at each call in turn, until a run has no more calls.
fn fail_everywhere(site: Site) {
    let output = Arc::new(Output::new());
    for mode in MODES {
        for failure in failures(site) {
            for turn in 1.. {
                let (done, ended) = mpsc::channel();
                let shared = output.clone();
                let run = std::thread::spawn(move || done.send(run(&shared, mode, site, failure, turn)));
                let what = format!("{failure:?} in {site:?} {turn}, {mode:?}");
                match ended.recv_timeout(PATIENCE) {
                    Ok(failed) => {
                        run.join().unwrap().unwrap();
                        if !failed {
                            assert!(turn > 3, "{what}: there were no calls");
                            break;
                        }
                    }
                    Err(mpsc::RecvTimeoutError::Disconnected) => panic!("{what}"),
                    Err(mpsc::RecvTimeoutError::Timeout) => panic!("{what}: it waits for ever"),
                }
            }
        }
    }
}

#[test]
fn whatever_fails_in_a_read_everyone_ends() {
    fail_everywhere(Site::Read);
}

#[test]
fn whatever_fails_when_memory_is_taken_everyone_ends() {
    fail_everywhere(Site::Memory);
}

#[test]
fn whatever_fails_in_a_listener_everyone_ends() {
    fail_everywhere(Site::Listener);
}

#[test]
fn all_consumers_end_when_one_leaves_while_a_block_is_polled() {
    fail_everywhere(Site::Asking);
}

#[test]
fn a_thread_that_cannot_be_made_leaves_none_of_the_others() {
    for turn in 0..4 {
        for kind in [ErrorKind::WouldBlock, ErrorKind::OutOfMemory] {
            let alive = Arc::new(());
            let mut made = 0;
            let spawn = |work: Box<dyn FnOnce() + Send>| {
                if made == turn {
                    return Err(io::Error::from(kind));
                }
                made += 1;
                let alive = alive.clone();
                std::thread::Builder::new().spawn(move || {
                    work();
                    drop(alive);
                })
            };
            let error = Scheduler::with_spawner(SchedulerOptions::default(), 4, spawn)
                .err()
                .unwrap();
            assert_eq!((error.code, error.source.unwrap().kind()), (ErrorCode::Io, kind));
            assert_eq!(made, turn);
            assert_eq!(Arc::strong_count(&alive), 1, "threads are left over");
        }
    }
}
