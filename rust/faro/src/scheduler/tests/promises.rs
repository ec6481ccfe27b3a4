//! What callers rely on: sizes out of range are refused, polls read nothing, each `Pending` needs one step, and the
//! scheduler can be dropped anywhere.

use super::common::{collect, hook, in_time, options, patience, reader, text, write};
use crate::error::ErrorCode;
use crate::reader::{Lookup, ReaderOptions};
use crate::scheduler::{Consumer, Scheduler, SchedulerOptions};
use crate::storage::seam::{Call, Verdict};
use crate::{Codec, Layout, Reader, Writer, WriterOptions};
use std::collections::VecDeque;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, Weak};
use std::task::Poll;

#[test]
fn sizes_with_which_it_would_not_end_are_refused() {
    let good = SchedulerOptions::default;
    let allowed = [
        good().gap_bytes(0),
        good().gap_bytes(1 << 30),
        good().read_bytes(4_096),
        good().read_bytes(1 << 30),
        good().budget_bytes(4_096),
        good().budget_bytes(1 << 40),
    ];
    for options in allowed {
        assert!(Scheduler::new(options.clone()).is_ok(), "{options:?}");
        assert!(Scheduler::with_threads(options, 1).is_ok());
    }
    let refused = [
        (good().gap_bytes((1 << 30) + 1), "gap_bytes"),
        (good().gap_bytes(u64::MAX), "gap_bytes"),
        (good().read_bytes(0), "read_bytes"),
        (good().read_bytes(4_095), "read_bytes"),
        (good().read_bytes((1 << 30) + 1), "read_bytes"),
        (good().budget_bytes(0), "budget_bytes"),
        (good().budget_bytes(4_095), "budget_bytes"),
        (good().budget_bytes((1 << 40) + 1), "budget_bytes"),
    ];
    for (options, name) in refused {
        for made in [Scheduler::new(options.clone()), Scheduler::with_threads(options, 1)] {
            let error = made.err().unwrap();
            assert_eq!(error.code, ErrorCode::InvalidArgument);
            assert!(error.expected.starts_with(name), "{error}");
        }
    }
}

/// Small blocks that are compressed with dictionaries, in several regions.
fn with_dictionaries(name: &Path) -> Reader {
    let options = WriterOptions::new(8)
        .codec(Codec::Zstd)
        .dictionaries(true)
        .block_size(900)
        .buffer_size(256 << 10);
    let mut writer = Writer::create(name, options).unwrap();
    for at in 0..40_000 {
        writer.write(at % 8, text(at).as_bytes()).unwrap();
    }
    let files = writer.finish().unwrap().files;
    // Without a cache, regions of the index are read each time.
    let options = ReaderOptions {
        region_cache_bytes: 0,
        lookup: Lookup::Direct,
        ..ReaderOptions::default()
    };
    Reader::open(&files, options).unwrap()
}

#[test]
fn opening_and_polling_read_nothing_and_take_no_memory() {
    let folder = tempfile::tempdir().unwrap();
    let reader = with_dictionaries(&folder.path().join("one"));
    assert!(!reader.dictionaries().is_empty() && reader.region_count() > 4);
    let expected: Vec<_> = (0..8).map(|p| collect(reader.partition(p).unwrap())).collect();
    // Another reader, which has not read a dictionary.
    let reader = with_dictionaries(&folder.path().join("other"));
    let me = std::thread::current().id();
    let (here, elsewhere) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let (counted_here, counted_elsewhere) = (here.clone(), elsewhere.clone());
    hook(&reader, move |call| {
        if let Call::Read(..) = call {
            let is_here = std::thread::current().id() == me;
            let count = if is_here { &counted_here } else { &counted_elsewhere };
            count.fetch_add(1, Ordering::Relaxed);
        }
        Verdict::Go
    });
    let scheduler = Scheduler::new(options(0, 8_192, 100_000)).unwrap();
    let mut consumers: Vec<Consumer> = (0..8).map(|p| scheduler.partition(&reader, p).unwrap()).collect();
    assert_eq!(here.load(Ordering::Relaxed), 0);
    let mut found: Vec<Vec<_>> = consumers.iter().map(|_| Vec::new()).collect();
    let mut left: VecDeque<usize> = (0..8).collect();
    while let Some(at) = left.pop_front() {
        match consumers[at].poll() {
            Poll::Ready(None) => continue,
            Poll::Ready(Some(block)) => found[at].push(block),
            Poll::Pending => std::thread::scope(|scope| {
                scope.spawn(|| scheduler.serve());
            }),
        }
        left.push_back(at);
    }
    for (found, expected) in found.into_iter().zip(expected) {
        let found = collect(found.into_iter());
        assert!(found.1.is_none() && found == expected);
    }
    assert_eq!(here.load(Ordering::Relaxed), 0);
    assert!(elsewhere.load(Ordering::Relaxed) > reader.region_count() * 8);
}

/// What happens between a `Pending` and `on_ready` is not lost: a future sets its listener after its poll.
#[test]
fn a_listener_that_comes_late_is_called_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let files = write(&folder.path().join("late"), 4, 3, Codec::None, Layout::Single);
    let reader = reader(&files);
    let scheduler = Scheduler::new(SchedulerOptions::default()).unwrap();
    let mut consumer = scheduler.partition(&reader, 1).unwrap();
    let calls = Arc::new(AtomicUsize::new(0));
    let listener = |calls: &Arc<AtomicUsize>| {
        let calls = calls.clone();
        move || {
            calls.fetch_add(1, Ordering::Relaxed);
        }
    };
    // Before the first poll there is nothing to tell.
    while scheduler.serve() {}
    consumer.on_ready(listener(&calls));
    assert_eq!(calls.load(Ordering::Relaxed), 0);
    drop(consumer);

    let mut consumer = scheduler.partition(&reader, 2).unwrap();
    assert!(consumer.poll().is_pending());
    while scheduler.serve() {}
    consumer.on_ready(listener(&calls));
    assert_eq!(calls.load(Ordering::Relaxed), 1);
    consumer.on_ready(listener(&calls));
    assert_eq!(calls.load(Ordering::Relaxed), 1, "told once");
    while scheduler.serve() {}
    assert!(matches!(consumer.poll(), Poll::Ready(Some(Ok(_)))));
}

/// Polls consumers as the tasks of an engine do, with one call of `serve` for each `Pending`. Returns how many are left
/// when no task is made to run.
fn run_tasks(scheduler: &Scheduler, consumers: Vec<Consumer>, mut leaves: impl FnMut(usize) -> bool) -> usize {
    let queue: Arc<Mutex<VecDeque<usize>>> = Arc::default();
    let mut tasks: Vec<Option<Consumer>> = consumers.into_iter().map(Some).collect();
    let told: Vec<_> = tasks.iter().map(|_| Arc::new(AtomicBool::new(true))).collect();
    for (at, consumer) in tasks.iter_mut().flatten().enumerate() {
        let (queue, told) = (queue.clone(), told[at].clone());
        consumer.on_ready(move || {
            if !told.swap(true, Ordering::Relaxed) {
                queue.lock().unwrap().push_back(at);
            }
        });
    }
    queue.lock().unwrap().extend(0..tasks.len());
    loop {
        let next = queue.lock().unwrap().pop_front();
        let Some(at) = next else {
            return tasks.iter().flatten().count();
        };
        told[at].store(false, Ordering::Relaxed);
        let Some(consumer) = &mut tasks[at] else {
            continue;
        };
        match consumer.poll() {
            Poll::Pending => drop(scheduler.serve()),
            Poll::Ready(Some(block)) => {
                block.unwrap();
                if leaves(at) {
                    tasks[at] = None;
                } else if !told[at].swap(true, Ordering::Relaxed) {
                    queue.lock().unwrap().push_back(at);
                }
            }
            Poll::Ready(None) => tasks[at] = None,
        }
    }
}

#[test]
fn one_step_for_each_pending_is_enough() {
    in_time(|| {
        let folder = tempfile::tempdir().unwrap();
        let files = write(&folder.path().join("out"), 64, 40, Codec::None, Layout::Paired);
        let reader = reader(&files);
        for budget in [4_096, 128 << 10, 1 << 20, 64 << 20] {
            for read in [4_096, 1 << 20] {
                let open = |scheduler: &Scheduler| (0..64).map(|p| scheduler.partition(&reader, p).unwrap()).collect();
                let scheduler = Scheduler::new(options(64 << 10, read, budget)).unwrap();
                assert_eq!(run_tasks(&scheduler, open(&scheduler), |_| false), 0, "of 64, {budget}");
                // Every third consumer leaves after its first block.
                assert_eq!(run_tasks(&scheduler, open(&scheduler), |at| at % 3 == 0), 0, "{budget}");
                assert_eq!(scheduler.figures().held_bytes, 0);
            }
        }
    });
}

#[test]
fn consumers_that_are_polled_end_without_their_scheduler() {
    in_time(|| {
        let folder = tempfile::tempdir().unwrap();
        let files = write(&folder.path().join("out"), 5, 9, Codec::None, Layout::Single);
        let reader = reader(&files);
        for threads in [0, 2] {
            let scheduler = match threads {
                0 => Scheduler::new(options(0, 4_096, 4_096)).unwrap(),
                threads => Scheduler::with_threads(options(0, 4_096, 4_096), threads).unwrap(),
            };
            let mut consumers: Vec<_> = (0..5).map(|p| scheduler.partition(&reader, p).unwrap()).collect();
            let told = Arc::new(AtomicUsize::new(0));
            let count = told.clone();
            consumers[0].on_ready(move || {
                count.fetch_add(1, Ordering::Relaxed);
            });
            let last = loop {
                match consumers[0].poll() {
                    Poll::Ready(Some(_)) => {}
                    other => break other,
                }
            };
            drop(scheduler);
            if last.is_pending() {
                let told = told.load(Ordering::Relaxed);
                assert!(told > 0, "it waits for a step that no thread makes");
            }
            for consumer in &mut consumers[1..] {
                let found = std::iter::from_fn(|| match consumer.poll() {
                    Poll::Ready(item) => item,
                    Poll::Pending => panic!("no other thread is there"),
                });
                assert!(collect(found).1.is_none());
            }
        }
    });
}

/// Waits until the threads of a scheduler have ended.
fn wait_until_gone<T>(shared: &Weak<T>) {
    patience("threads are left over", || shared.strong_count() == 0);
}

#[test]
fn the_last_scheduler_may_be_dropped_in_a_listener() {
    in_time(|| {
        let folder = tempfile::tempdir().unwrap();
        let files = write(&folder.path().join("out"), 3, 9, Codec::None, Layout::Single);
        let reader = reader(&files);
        for threads in 0..4 {
            let make = || match threads {
                0 => Scheduler::new(options(0, 4_096, 4_096)).unwrap(),
                threads => Scheduler::with_threads(options(0, 4_096, 4_096), threads).unwrap(),
            };
            // The listener drops it.
            let scheduler = Arc::new(make());
            let shared = Arc::downgrade(&scheduler.shared);
            let mut consumers: Vec<_> = (0..3).map(|p| scheduler.partition(&reader, p).unwrap()).collect();
            let slot = Arc::new(Mutex::new(Some(scheduler)));
            let panicked = Arc::new(AtomicBool::new(false));
            for consumer in &mut consumers {
                let (slot, panicked) = (slot.clone(), panicked.clone());
                consumer.on_ready(move || {
                    let gone = slot.lock().unwrap().take();
                    let drop = std::panic::AssertUnwindSafe(|| drop(gone));
                    if std::panic::catch_unwind(drop).is_err() {
                        panicked.store(true, Ordering::Relaxed);
                    }
                });
            }
            for (partition, consumer) in (0..3).zip(consumers) {
                assert_eq!(collect(consumer), collect(reader.partition(partition).unwrap()));
            }
            assert!(slot.lock().unwrap().is_none() && !panicked.load(Ordering::Relaxed));
            wait_until_gone(&shared);
            // The listener owns the scheduler. It is dropped when the consumer ends, or gets another listener.
            for replaces in [false, true] {
                let scheduler = make();
                let shared = Arc::downgrade(&scheduler.shared);
                let mut consumer = scheduler.partition(&reader, 1).unwrap();
                consumer.on_ready(move || {
                    scheduler.figures();
                });
                if replaces {
                    consumer.on_ready(|| ());
                }
                assert_eq!(collect(consumer), collect(reader.partition(1).unwrap()));
                wait_until_gone(&shared);
            }
        }
    });
}

#[test]
fn a_poisoned_lock_ends_all_with_the_cause() {
    in_time(|| {
        let folder = tempfile::tempdir().unwrap();
        let files = write(&folder.path().join("out"), 3, 60, Codec::None, Layout::Single);
        let reader = reader(&files);
        for threads in 0..3 {
            let scheduler = match threads {
                0 => Scheduler::new(options(0, 4_096, 4_096)).unwrap(),
                threads => Scheduler::with_threads(options(0, 4_096, 4_096), threads).unwrap(),
            };
            let consumers: Vec<_> = (0..3).map(|p| scheduler.partition(&reader, p).unwrap()).collect();
            let poison = std::panic::AssertUnwindSafe(|| {
                let _state = scheduler.shared.lock();
                std::panic::resume_unwind(Box::new("in the middle of a change"));
            });
            assert!(std::panic::catch_unwind(poison).is_err());
            for consumer in consumers {
                assert_eq!(collect(consumer).1.map(|fault| fault.0), Some(ErrorCode::Io));
            }
            // A consumer that comes later gets the fault too.
            let fault = collect(scheduler.partition(&reader, 0).unwrap());
            assert_eq!(fault, (Vec::new(), Some((ErrorCode::Io, None, None))));
        }
    });
}

// Without overflow checks the step below does not panic.
#[cfg(debug_assertions)]
#[test]
fn a_step_that_is_not_finished_ends_all_with_the_cause() {
    use crate::Extent;
    use crate::plan::{Part, SweepRead};
    use crate::scheduler::job::{Job, ReadJob};
    use crate::scheduler::read_buffer::ReadBuffer;
    in_time(|| {
        let folder = tempfile::tempdir().unwrap();
        let files = write(&folder.path().join("out"), 3, 60, Codec::None, Layout::Single);
        let reader = reader(&files);
        for threads in 0..3 {
            let scheduler = match threads {
                0 => Scheduler::new(options(0, 4_096, 4_096)).unwrap(),
                threads => Scheduler::with_threads(options(0, 4_096, 4_096), threads).unwrap(),
            };
            let consumers: Vec<_> = (0..3).map(|p| scheduler.partition(&reader, p).unwrap()).collect();
            // An impossible plan: its parts begin before it.
            let part = Part {
                consumer: 0,
                extent: Extent { offset: 64, length: 8 },
            };
            let read = SweepRead {
                extent: Extent { offset: 128, length: 8 },
                parts: vec![part, part],
            };
            let opened = reader.output().opened.clone();
            let job = Job::Read(ReadJob {
                file: 0,
                opened,
                read,
                buffer: ReadBuffer::default(),
            });
            let step = std::panic::AssertUnwindSafe(|| scheduler.shared.step(job));
            assert!(std::panic::catch_unwind(step).is_err());
            for consumer in consumers {
                assert_eq!(collect(consumer).1.map(|fault| fault.0), Some(ErrorCode::Io));
            }
        }
    });
}
