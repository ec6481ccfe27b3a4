//! Nothing waits for ever: whatever a caller or the system provides fails, at each call in turn, in each way that it can,
//! and every consumer ends with its data or with the cause.

use super::common::{Reading, collect, hook, options, patience, text};
use crate::error::{Code, Role};
use crate::reader::{Files, ReaderOptions};
use crate::scheduler::guard::drop_payload;
use crate::scheduler::{Consumer, Scheduler, SchedulerOptions};
use crate::source::seam::{Call, Verdict};
use crate::{Block, Codec, Error, Reader, Result, Writer, WriterOptions};
use std::io::{self, ErrorKind};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::task::Poll;
use std::time::Duration;

/// How long a run may take: a run takes some milliseconds.
const PATIENCE: Duration = Duration::from_secs(60);

/// What is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Read,
    Memory,
    Listener,
    /// The caller itself, when it asks for a block.
    Asking,
}

/// What it does instead of what it is to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Failure {
    Refused(ErrorKind),
    Short(usize),
    PanicStr,
    PanicString,
    PanicAny,
    /// What the panic leaves panics when it is dropped.
    PanicTwice,
    /// Another consumer goes.
    DropConsumer,
    DropScheduler,
    /// The data file is empty from now on.
    Cut,
}

const PANICS: [Failure; 4] = [
    Failure::PanicStr,
    Failure::PanicString,
    Failure::PanicAny,
    Failure::PanicTwice,
];
const DROPS: [Failure; 2] = [Failure::DropConsumer, Failure::DropScheduler];

fn failures(place: Place) -> Vec<Failure> {
    let mut failures = DROPS.to_vec();
    if place != Place::Asking {
        failures.extend(PANICS);
    }
    match place {
        Place::Read => failures.extend([
            Failure::Refused(ErrorKind::Other),
            Failure::Refused(ErrorKind::PermissionDenied),
            Failure::Refused(ErrorKind::UnexpectedEof),
            Failure::Refused(ErrorKind::Interrupted),
            Failure::Short(0),
            Failure::Short(1),
            Failure::Cut,
        ]),
        Place::Memory => failures.push(Failure::Refused(ErrorKind::OutOfMemory)),
        Place::Listener | Place::Asking => {}
    }
    failures
}

/// Who makes the steps, and how consumers are asked.
#[derive(Clone, Copy, Debug)]
enum Mode {
    /// Threads of the scheduler's own, and consumers that are waited for.
    Wait(usize),
    /// Threads of the scheduler's own, and consumers that are polled when their listeners say so.
    Poll(usize),
    /// A step for each `Pending`.
    ByHand,
    /// Consumers that are waited for serve themselves.
    Themselves,
}

const MODES: [Mode; 6] = [
    Mode::Wait(1),
    Mode::Wait(3),
    Mode::Poll(1),
    Mode::Poll(3),
    Mode::ByHand,
    Mode::Themselves,
];

struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        resume_unwind(Box::new("again"));
    }
}

/// One run: what fails in it, and what there is to be dropped.
struct World {
    place: Place,
    /// Which call fails, counted from 1.
    turn: usize,
    failure: Failure,
    calls: AtomicUsize,
    /// Whether it failed, and in which file.
    failed: Mutex<Option<Option<Role>>>,
    scheduler: Mutex<Option<Arc<Scheduler>>>,
    consumers: Vec<Mutex<Option<Consumer>>>,
    /// Whether the first consumer is to go as soon as it is not being asked.
    leaves: AtomicBool,
    /// Tells that a consumer was dropped.
    gone: mpsc::Sender<usize>,
    files: Files,
}

impl World {
    fn called(&self, place: Place, role: Option<Role>) -> Verdict {
        if place != self.place || self.calls.fetch_add(1, Ordering::Relaxed) + 1 != self.turn {
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
                    // Whoever drops it knows that nothing comes.
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

    /// Asks a consumer; nothing when it is gone.
    fn ask(&self, at: usize, waits: bool) -> Option<Poll<Option<Result<Block>>>> {
        self.called(Place::Asking, None);
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

    /// All that a consumer that is waited for gives; nothing when it was dropped.
    fn wait_for(&self, at: usize) -> Option<Vec<Result<Block>>> {
        let mut found = Vec::new();
        loop {
            match self.ask(at, true)? {
                Poll::Ready(Some(block)) => found.push(block),
                _ => return Some(found),
            }
        }
    }
}

fn drop_scheduler(world: &World) {
    let gone = world.scheduler.lock().unwrap().take();
    drop(gone);
}

/// Polls consumers when they are told, with a step for each `Pending` if there is a scheduler to make it.
fn poll_all(world: &World, told: &mpsc::Receiver<usize>, serves: bool) -> Vec<Option<Vec<Result<Block>>>> {
    let mut found: Vec<Option<Vec<_>>> = world.consumers.iter().map(|_| Some(Vec::new())).collect();
    let mut left: Vec<usize> = (0..found.len()).collect();
    let mut again: Vec<usize> = left.clone();
    while !left.is_empty() {
        // By hand no other thread tells: what is not told by now never is.
        let patience = if serves { Duration::ZERO } else { PATIENCE };
        let at = again
            .pop()
            .unwrap_or_else(|| told.recv_timeout(patience).expect("a consumer that is told"));
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

/// What is read: small blocks with a dictionary, and one that is larger than a share.
struct Output {
    folder: tempfile::TempDir,
    files: Files,
    expected: Vec<Reading>,
}

const PARTITIONS: u32 = 200;
const READ: [u32; 3] = [0, 7, 199];

impl Output {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let options = WriterOptions::new(PARTITIONS)
            .codec(Codec::Zstd)
            .dictionaries(true)
            .buffer_size(256 << 10);
        let mut writer = Writer::create(folder.path().join("out"), options).unwrap();
        for at in 0..30_000 {
            writer.write(at % PARTITIONS, text(at).as_bytes()).unwrap();
        }
        let mut state = 1u64;
        let noise: Vec<u8> = std::iter::repeat_with(|| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 56) as u8
        })
        .take(20_000)
        .collect();
        writer.write(7, &noise).unwrap();
        let files = writer.finish().unwrap().files;
        let reader = Reader::open(&files, ReaderOptions::default()).unwrap();
        assert!(!reader.dictionaries().is_empty() && reader.region_count() > 2);
        Output {
            expected: READ.map(|p| collect(reader.partition(p).unwrap())).to_vec(),
            folder,
            files,
        }
    }

    /// A copy that may be cut.
    fn copy(&self) -> Files {
        let name = self.folder.path().join("copy");
        let copy = Files::paired(&name);
        for ((_, from), (_, to)) in self.files.paths().iter().zip(copy.paths()) {
            std::fs::copy(from, to).unwrap();
        }
        copy
    }
}

/// One run; whether the failure came.
fn run(output: &Output, mode: Mode, place: Place, failure: Failure, turn: usize) -> bool {
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
        place,
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
        Call::Read(role, _) => hooked.called(Place::Read, Some(role)),
        Call::Memory(_) => hooked.called(Place::Memory, None),
    });
    for (at, partition) in READ.into_iter().enumerate() {
        let mut consumer = scheduler.partition(&reader, partition).unwrap();
        let (sender, world_of) = (sender.clone(), world.clone());
        consumer.on_ready(move || {
            let _ = sender.send(at);
            world_of.called(Place::Listener, None);
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
    // What is read from the index is read for one consumer alone.
    if is_fault && failed == Some(Some(Role::Index)) {
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

/// Says that a fault is the one that was made.
fn check_cause(failure: Failure, error: &Error) {
    match failure {
        Failure::Refused(kind) if kind != ErrorKind::Interrupted => {
            assert_eq!(error.code, Code::Io);
            assert_eq!(error.source.as_ref().map(|source| source.kind()), Some(kind));
        }
        Failure::PanicStr | Failure::PanicString => {
            assert_eq!((error.code, error.found.as_str()), (Code::Io, "a text"))
        }
        Failure::PanicAny | Failure::PanicTwice => {
            assert_eq!((error.code, error.found.as_str()), (Code::Io, "a panic"))
        }
        Failure::Short(0) | Failure::Cut => assert_eq!(error.code, Code::Truncated),
        _ => panic!("a fault of nothing: {error}"),
    }
}

/// Each failure at each call in turn, until a run has no more calls.
fn fail_everywhere(place: Place) {
    let output = Arc::new(Output::new());
    for mode in MODES {
        for failure in failures(place) {
            for turn in 1.. {
                let (done, ended) = mpsc::channel();
                let shared = output.clone();
                let run = std::thread::spawn(move || done.send(run(&shared, mode, place, failure, turn)));
                let what = format!("{failure:?} in {place:?} {turn}, {mode:?}");
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
    fail_everywhere(Place::Read);
}

#[test]
fn whatever_fails_when_memory_is_taken_everyone_ends() {
    fail_everywhere(Place::Memory);
}

#[test]
fn whatever_fails_in_a_listener_everyone_ends() {
    fail_everywhere(Place::Listener);
}

#[test]
fn whoever_leaves_when_a_block_is_asked_for_everyone_ends() {
    fail_everywhere(Place::Asking);
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
            assert_eq!((error.code, error.source.unwrap().kind()), (Code::Io, kind));
            assert_eq!(made, turn);
            assert_eq!(Arc::strong_count(&alive), 1, "threads are left over");
        }
    }
}
