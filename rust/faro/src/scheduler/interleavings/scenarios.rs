//! The scenarios: what threads do at the same time.

use super::guard::drop_payload;
use super::sync::{Arc, Condvar, Mutex};
use super::{Consumer, Scheduler, SchedulerOptions, explore};
use crate::error::{ErrorCode, Result};
use crate::reader::{Block, Reader, ReaderOptions};
use crate::scheduler::tests::common::{Reading, collect, hook};
use crate::storage::Files;
use crate::storage::seam::{Call, Verdict};
use crate::{Follower, Writer, WriterOptions};
use shuttle::rand::{Rng, thread_rng};
use shuttle::thread;
use std::collections::VecDeque;
use std::io::ErrorKind;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Poll;

pub(super) const PARTITIONS: u32 = 3;

/// An output of some blocks, made once.
struct Output {
    files: Files,
    expected: Vec<Reading>,
    _folder: tempfile::TempDir,
}

fn output() -> &'static Output {
    static OUTPUT: OnceLock<Output> = OnceLock::new();
    OUTPUT.get_or_init(|| {
        let folder = tempfile::tempdir().unwrap();
        let options = WriterOptions::new(PARTITIONS).block_size(3_000);
        let mut writer = Writer::create(folder.path().join("out"), options).unwrap();
        for region in 0..3u8 {
            for partition in 0..PARTITIONS {
                for record in 0..3 {
                    writer.write(partition, &[region * 9 + record; 1_900]).unwrap();
                }
            }
            writer.broadcast(&[region; 100]).unwrap();
            writer.flush().unwrap();
        }
        let files = writer.finish().unwrap().files;
        let reader = Reader::open(&files, ReaderOptions::default()).unwrap();
        Output {
            expected: (0..PARTITIONS).map(|p| collect(reader.partition(p).unwrap())).collect(),
            files,
            _folder: folder,
        }
    })
}

pub(super) fn open() -> Reader {
    Reader::open(&output().files, ReaderOptions::default()).unwrap()
}

fn options() -> SchedulerOptions {
    SchedulerOptions::default()
        .gap_bytes(0)
        .read_bytes(4_096)
        .budget_bytes(4_096)
}

fn with_threads(threads: usize) -> Scheduler {
    match threads {
        0 => Scheduler::new(options()).unwrap(),
        threads => Scheduler::with_threads(options(), threads).unwrap(),
    }
}

fn consumers(scheduler: &Scheduler, reader: &Reader) -> Vec<Consumer> {
    (0..PARTITIONS)
        .map(|p| scheduler.partition(reader, p).unwrap())
        .collect()
}

/// Calls again after a listener's panic.
pub(super) fn undaunted<T>(mut ask: impl FnMut() -> T) -> T {
    loop {
        match catch_unwind(AssertUnwindSafe(&mut ask)) {
            Ok(found) => return found,
            Err(payload) => drop_payload(payload),
        }
    }
}

/// Waits for consumers, each in a thread; returns what each got.
pub(super) fn wait_for(consumers: Vec<Consumer>) -> Vec<Reading> {
    let waits: Vec<_> = consumers
        .into_iter()
        .map(|mut consumer| thread::spawn(move || collect(std::iter::from_fn(|| undaunted(|| consumer.next())))))
        .collect();
    waits.into_iter().map(|wait| wait.join().unwrap()).collect()
}

pub(super) fn assert_all(found: Vec<Reading>) {
    assert!(found == output().expected, "other blocks");
}

/// Checks that each has all blocks, or those before a fault; returns the number of faults.
fn faults(found: &[Reading]) -> usize {
    for (found, expected) in found.iter().zip(&output().expected) {
        assert!(expected.0.starts_with(&found.0), "other blocks");
        match &found.1 {
            Some(fault) => assert_eq!(fault.0, ErrorCode::Io),
            None => assert_eq!(found.0.len(), expected.0.len(), "blocks are missing"),
        }
    }
    found.iter().filter(|found| found.1.is_some()).count()
}

/// The tasks that are ready to run, for some threads.
#[derive(Default)]
struct Queue {
    state: Mutex<(VecDeque<usize>, usize)>,
    changed: Condvar,
}

impl Queue {
    fn push(&self, task: usize) {
        self.state.lock().unwrap().0.push_back(task);
        self.changed.notify_one();
    }

    /// The next task; none when all have ended.
    fn pop(&self) -> Option<usize> {
        let mut state = self.state.lock().unwrap();
        loop {
            if state.1 == 0 {
                return None;
            }
            match state.0.pop_front() {
                Some(task) => return Some(task),
                None => state = self.changed.wait(state).unwrap(),
            }
        }
    }

    fn end(&self) {
        self.state.lock().unwrap().1 -= 1;
        self.changed.notify_all();
    }
}

/// A consumer, until its end, and the blocks that it delivered.
struct Task {
    consumer: Option<Consumer>,
    found: Vec<Result<Block>>,
}

/// What the threads of an executor share.
struct Executor {
    queue: Arc<Queue>,
    tasks: Vec<Mutex<Task>>,
    scheduler: Mutex<Option<Arc<Scheduler>>>,
    /// The number of blocks delivered so far, and the number at which the scheduler is dropped.
    given: AtomicUsize,
    drop_at: Option<usize>,
}

impl Executor {
    fn run(&self) {
        while let Some(at) = self.queue.pop() {
            let mut task = self.tasks[at].lock().unwrap();
            let Some(consumer) = &mut task.consumer else {
                continue;
            };
            match undaunted(|| consumer.poll()) {
                Poll::Ready(Some(block)) => {
                    task.found.push(block);
                    drop(task);
                    if Some(self.given.fetch_add(1, Ordering::Relaxed)) == self.drop_at {
                        let gone = self.scheduler.lock().unwrap().take();
                        drop(gone);
                    }
                    self.queue.push(at);
                }
                Poll::Ready(None) => {
                    let ended = task.consumer.take();
                    drop(task);
                    drop(ended);
                    self.queue.end();
                }
                Poll::Pending => {
                    drop(task);
                    let scheduler = self.scheduler.lock().unwrap().clone();
                    // One step, or none when the scheduler has threads.
                    undaunted(|| scheduler.as_ref().map(|scheduler| scheduler.serve()));
                }
            }
        }
    }
}

/// Polls consumers in two threads after their listeners were called; returns what each got.
fn poll_all(scheduler: Scheduler, reader: &Reader, drop_at: Option<usize>) -> Vec<Reading> {
    let queue = Arc::new(Queue::default());
    queue.state.lock().unwrap().1 = PARTITIONS as usize;
    let mut tasks = Vec::new();
    for (at, mut consumer) in consumers(&scheduler, reader).into_iter().enumerate() {
        let told = queue.clone();
        consumer.on_ready(move || told.push(at));
        queue.push(at);
        tasks.push(Mutex::new(Task {
            consumer: Some(consumer),
            found: Vec::new(),
        }));
    }
    let executor = Arc::new(Executor {
        queue,
        tasks,
        scheduler: Mutex::new(Some(Arc::new(scheduler))),
        given: AtomicUsize::new(0),
        drop_at,
    });
    let threads = [(); 2].map(|()| {
        let executor = executor.clone();
        thread::spawn(move || executor.run())
    });
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    let found = |task: &Mutex<Task>| collect(std::mem::take(&mut task.lock().unwrap().found).into_iter());
    executor.tasks.iter().map(found).collect()
}

/// Makes one read fail, drawn at random from those after the file was opened.
fn fail_a_read(reader: &Reader) {
    let (turn, way) = (thread_rng().gen_range(0..12), thread_rng().gen_range(0..3));
    let calls = AtomicUsize::new(0);
    hook(reader, move |call| {
        if !matches!(call, Call::Read(..)) || calls.fetch_add(1, Ordering::Relaxed) != turn {
            return Verdict::Go;
        }
        match way {
            0 => Verdict::Refused(ErrorKind::Other.into()),
            1 => Verdict::Short(7),
            _ => resume_unwind(Box::new("in a read")),
        }
    });
}

#[test]
fn threads_read_and_consumers_wait() {
    explore(|| {
        for threads in [1, 2] {
            let (reader, scheduler) = (open(), with_threads(threads));
            assert_all(wait_for(consumers(&scheduler, &reader)));
        }
    });
}

#[test]
fn consumers_that_wait_serve_themselves() {
    explore(|| {
        let (reader, scheduler) = (open(), with_threads(0));
        assert_all(wait_for(consumers(&scheduler, &reader)));
    });
}

#[test]
fn one_step_for_each_pending() {
    // Also together with threads of the scheduler.
    explore(|| {
        let threads = thread_rng().gen_range(0..3);
        assert_all(poll_all(with_threads(threads), &open(), None));
    });
}

#[test]
fn threads_read_and_listeners_tell() {
    explore(|| {
        let reader = open();
        // The threads alone make the steps.
        let scheduler = with_threads(2);
        let queue = Arc::new(Queue::default());
        queue.state.lock().unwrap().1 = PARTITIONS as usize;
        let mut found: Vec<Vec<Result<Block>>> = (0..PARTITIONS).map(|_| Vec::new()).collect();
        let mut consumers = consumers(&scheduler, &reader);
        for (at, consumer) in consumers.iter_mut().enumerate() {
            let told = queue.clone();
            consumer.on_ready(move || told.push(at));
            queue.push(at);
        }
        let mut ended = [false; PARTITIONS as usize];
        while let Some(at) = queue.pop() {
            while let (false, Poll::Ready(next)) = (ended[at], consumers[at].poll()) {
                match next {
                    Some(block) => found[at].push(block),
                    None => {
                        ended[at] = true;
                        queue.end();
                    }
                }
            }
        }
        assert_all(found.into_iter().map(|found| collect(found.into_iter())).collect());
    });
}

#[test]
fn the_scheduler_is_dropped_while_consumers_wait() {
    explore(|| {
        let reader = open();
        let scheduler = with_threads(thread_rng().gen_range(0..3));
        let consumers = consumers(&scheduler, &reader);
        let gone = thread::spawn(move || drop(scheduler));
        assert_all(wait_for(consumers));
        gone.join().unwrap();
    });
}

#[test]
fn the_scheduler_is_dropped_while_consumers_are_polled() {
    explore(|| {
        let (threads, at) = (thread_rng().gen_range(0..3), thread_rng().gen_range(0..20));
        assert_all(poll_all(with_threads(threads), &open(), Some(at)));
    });
}

#[test]
fn the_scheduler_is_dropped_in_a_listener() {
    explore(|| {
        let reader = open();
        let scheduler = Arc::new(with_threads(thread_rng().gen_range(0..3)));
        let mut consumers = consumers(&scheduler, &reader);
        let slot = Arc::new(Mutex::new(Some(scheduler)));
        for consumer in &mut consumers {
            let slot = slot.clone();
            consumer.on_ready(move || {
                let gone = slot.lock().unwrap().take();
                drop(gone);
            });
        }
        assert_all(wait_for(consumers));
    });
}

#[test]
fn a_read_fails() {
    explore(|| {
        let reader = open();
        let scheduler = with_threads(thread_rng().gen_range(0..3));
        let consumers = consumers(&scheduler, &reader);
        fail_a_read(&reader);
        faults(&wait_for(consumers));
    });
}

#[test]
fn a_file_that_fails_is_the_fault_of_all() {
    explore(|| {
        let reader = open();
        let scheduler = with_threads(thread_rng().gen_range(0..3));
        let consumers = consumers(&scheduler, &reader);
        hook(&reader, |call| match call {
            Call::Read(crate::FileRole::Data, _) => Verdict::Refused(ErrorKind::Other.into()),
            _ => Verdict::Go,
        });
        assert_eq!(faults(&wait_for(consumers)), PARTITIONS as usize, "a fault is lost");
    });
}

#[test]
fn consumers_leave_and_listeners_panic() {
    explore(|| {
        let (reader, scheduler) = (open(), with_threads(thread_rng().gen_range(0..3)));
        let mut consumers = consumers(&scheduler, &reader);
        for consumer in &mut consumers {
            consumer.on_ready(|| resume_unwind(Box::new("in a listener")));
        }
        let mut leaves = scheduler.partition(&reader, 1).unwrap();
        let left = thread::spawn(move || {
            for _ in 0..thread_rng().gen_range(0..4) {
                undaunted(|| leaves.next());
            }
        });
        assert_all(wait_for(consumers));
        left.join().unwrap();
        // A read for the consumer that left may be under way. It ends with the threads.
        let shared = scheduler.shared.clone();
        drop(scheduler);
        assert_eq!(shared.lock().figures.held_bytes, 0);
    });
}

/// Watches of an output that grows while they wait, each in a thread. What ends them is drawn.
#[test]
fn watches_wait_for_regions() {
    explore(|| {
        let folder = tempfile::tempdir().unwrap();
        let name = folder.path().join("out");
        let options = WriterOptions::new(PARTITIONS).follow(true);
        let mut writer = Writer::create(&name, options).unwrap();
        let mut follower = Follower::open(&Files::paired(&name), ReaderOptions::default()).unwrap();
        let scheduler = with_threads(thread_rng().gen_range(0..3));
        let watches: Vec<_> = (0..PARTITIONS)
            .map(|p| scheduler.watch(&follower, p).unwrap())
            .collect();
        let waits: Vec<_> = watches
            .into_iter()
            .map(|watch| thread::spawn(move || collect(watch)))
            .collect();
        for region in 0..2 {
            for partition in 0..PARTITIONS {
                writer.write(partition, &[region; 5_000]).unwrap();
            }
            writer.flush().unwrap();
            scheduler.follow(&mut follower).unwrap();
        }
        let fault = match thread_rng().gen_range(0..3) {
            0 => {
                writer.finish().unwrap();
                scheduler.follow(&mut follower).unwrap();
                None
            }
            1 => {
                scheduler.give_up(&follower);
                Some(ErrorCode::Unfinished)
            }
            _ => {
                drop(scheduler);
                Some(ErrorCode::Io)
            }
        };
        for (partition, wait) in waits.into_iter().enumerate() {
            let (found, end) = wait.join().unwrap();
            assert!(
                found == collect(follower.partition(partition as u32).unwrap()).0,
                "other blocks"
            );
            assert_eq!(end.map(|end| end.0), fault);
        }
    });
}
