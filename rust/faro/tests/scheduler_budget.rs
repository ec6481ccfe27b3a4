//! What a scheduler asks of a budget, what it does when it refuses, and that it gives all of it back.

mod budget;
mod common;

use budget::{Flaw, Limited, Probing};
use common::{Content, Place, content, is_out_of_memory, options};
use faro::scheduler::{Consumer, Scheduler, SchedulerOptions};
use faro::{Codec, ErrorCode, Files, Layout, MemoryBudget, Reader, Result, Writer};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::Poll;
use std::time::{Duration, Instant};

const PARTITIONS: u32 = 8;
const LEAST: u64 = 4 << 10;

fn write(place: &Place) -> Files {
    let options = options(Layout::Paired, PARTITIONS).codec(Codec::Lz4).block_size(9_000);
    let mut writer = Writer::create(place.name(), options).unwrap();
    for region in 0..6u32 {
        for record in 0..300u32 {
            let bytes: Vec<u8> = (0..700).map(|at| (at * at * (record + region) / 7) as u8).collect();
            writer.write(record % PARTITIONS, &bytes).unwrap();
        }
        writer.broadcast(&[region as u8; 3_000]).unwrap();
        writer.flush().unwrap();
    }
    writer.finish().unwrap().files
}

fn sizes() -> SchedulerOptions {
    SchedulerOptions::default()
        .gap_bytes(8 << 10)
        .read_bytes(64 << 10)
        .budget_bytes(300 << 10)
}

fn expected(reader: &Reader) -> Vec<Content> {
    reader
        .partitions()
        .map(|partition| content(reader.partition(partition).unwrap()).unwrap())
        .collect()
}

fn open_all(scheduler: &Scheduler, reader: &Reader) -> Result<Vec<Consumer>> {
    reader
        .partitions()
        .map(|partition| scheduler.partition(reader, partition))
        .collect()
}

/// Polls in turn, with one step for each `Pending`.
fn poll_all(scheduler: &Scheduler, consumers: Vec<Consumer>) -> Vec<Content> {
    let mut found = vec![Content::new(); consumers.len()];
    let mut left: Vec<_> = consumers.into_iter().enumerate().collect();
    let end = Instant::now() + Duration::from_secs(60);
    while !left.is_empty() {
        left.retain_mut(|(at, consumer)| match consumer.poll() {
            Poll::Ready(Some(block)) => {
                let block = block.unwrap();
                found[*at].push((block.kind(), block.payload.to_vec()));
                true
            }
            Poll::Ready(None) => false,
            Poll::Pending => {
                scheduler.serve();
                true
            }
        });
        assert!(Instant::now() < end, "it waits for ever");
    }
    found
}

/// Reads each consumer in a thread that waits.
fn wait_all(consumers: Vec<Consumer>) -> Vec<Content> {
    std::thread::scope(|scope| {
        let threads: Vec<_> = consumers
            .into_iter()
            .map(|consumer| scope.spawn(|| content(consumer).unwrap()))
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

/// One or all requests refused, from the n-th on, for every n: opening fails, or the blocks are the same.
#[test]
fn refusals_change_no_block() {
    let place = Place::new();
    let reader = common::open(&write(&place)).unwrap();
    let expected = expected(&reader);
    for flaw in [Flaw::RefusesOne, Flaw::RefusesFrom] {
        for at in 0.. {
            let budget = Limited::with_flaw(u64::MAX, Some((at, flaw)));
            let scheduler = Scheduler::new(sizes().memory_budget(budget.clone())).unwrap();
            match open_all(&scheduler, &reader) {
                Ok(consumers) => assert!(poll_all(&scheduler, consumers) == expected, "{at}: other blocks"),
                Err(error) => {
                    assert!(at < PARTITIONS as usize && is_out_of_memory(&error), "{at}: {error}");
                    // The call may be repeated.
                    assert_eq!(scheduler.partition(&reader, 0).is_ok(), flaw == Flaw::RefusesOne);
                }
            }
            // The scheduler lives on, without consumers.
            assert_eq!(budget.held(), 0, "{at}");
            if at >= budget.calls() {
                assert!(at > PARTITIONS as usize + 1, "nothing is asked for");
                break;
            }
        }
    }
}

/// A limit is kept; the least shares are enough.
#[test]
fn a_limit_is_kept() {
    common::in_time(|| {
        let place = Place::new();
        let reader = common::open(&write(&place)).unwrap();
        let expected = expected(&reader);
        let least = u64::from(PARTITIONS) * LEAST;
        for limit in [least, least + 5_000, 100_000, 1 << 20] {
            for threads in 0..3 {
                let budget = Limited::new(limit);
                let options = sizes().memory_budget(budget.clone());
                let scheduler = match threads {
                    0 => Scheduler::new(options).unwrap(),
                    threads => Scheduler::with_threads(options, threads).unwrap(),
                };
                // The buffer of a read may take the memory for a consumer, until the read has ended.
                let consumers = reader.partitions().map(|partition| {
                    loop {
                        match scheduler.partition(&reader, partition) {
                            Ok(consumer) => break consumer,
                            Err(error) => assert!(threads > 0 && is_out_of_memory(&error), "{error}"),
                        }
                        std::thread::yield_now();
                    }
                });
                let consumers: Vec<_> = consumers.collect();
                if limit == least {
                    let refused = scheduler.partition(&reader, 0).err().unwrap();
                    assert!(is_out_of_memory(&refused), "{refused}");
                }
                assert!(wait_all(consumers) == expected, "{limit}, {threads}: other blocks");
                let most_held = scheduler.figures().most_held_bytes;
                assert!(
                    most_held <= budget.most() && budget.most() <= limit,
                    "{most_held} of {limit}"
                );
                // A step for a consumer that has left may end later.
                drop(scheduler);
                assert_eq!(budget.held(), 0);
            }
        }
    });
}

/// A budget that grants all reads as no budget does, and the scheduler asks for no more than its options say.
#[test]
fn a_large_budget_changes_no_read() {
    let place = Place::new();
    let reader = common::open(&write(&place)).unwrap();
    let figures = |options: SchedulerOptions| {
        let scheduler = Scheduler::new(options).unwrap();
        poll_all(&scheduler, open_all(&scheduler, &reader).unwrap());
        scheduler.figures()
    };
    let budget = Limited::new(u64::MAX);
    let (without, with) = (figures(sizes()), figures(sizes().memory_budget(budget.clone())));
    assert!(
        with.reads <= without.reads + 2,
        "{} and {} reads",
        with.reads,
        without.reads
    );
    assert_eq!(with.given_bytes, without.given_bytes);
    assert!(budget.most() > sizes().read_bytes);
    // What is read and not taken, and the buffer of one thread.
    assert!(budget.most() <= sizes().budget_bytes + sizes().read_bytes + sizes().gap_bytes);
    let little = Limited::new(u64::from(PARTITIONS) * LEAST);
    let refused = figures(sizes().memory_budget(little.clone()));
    assert!(little.refusals() > 0 && with.memory_refusals == 0);
    assert_eq!(refused.memory_refusals, little.refusals());
    assert!(
        refused.reads > 2 * without.reads,
        "{} and {}",
        refused.reads,
        without.reads
    );
}

/// Memory that a budget refused is asked for again when it is there.
#[test]
fn more_is_asked_for_later() {
    let place = Place::new();
    let reader = common::open(&write(&place)).unwrap();
    let budget = Limited::new(100 << 10);
    assert!(budget.try_grow(100 << 10));
    budget.shrink(LEAST);
    let scheduler = Scheduler::new(sizes().memory_budget(budget.clone())).unwrap();
    let mut consumer = scheduler.range(&reader, 0..PARTITIONS).unwrap();
    for _ in 0..3 {
        consumer.next().unwrap().unwrap();
    }
    assert_eq!(scheduler.figures().most_held_bytes, LEAST);
    budget.shrink((100 << 10) - LEAST);
    assert!(consumer.all(|block| block.is_ok()));
    assert!(scheduler.figures().most_held_bytes > 8 * LEAST);
    assert_eq!(budget.held(), 0);
}

/// What a consumer does not need any more is given back when it is closed, the rest when the last is.
#[test]
fn closing_gives_back() {
    let place = Place::new();
    let reader = common::open(&write(&place)).unwrap();
    let budget = Limited::new(u64::MAX);
    let scheduler = Scheduler::new(sizes().memory_budget(budget.clone())).unwrap();
    let mut consumers = open_all(&scheduler, &reader).unwrap();
    assert_eq!(budget.held(), u64::from(PARTITIONS) * LEAST);
    for consumer in &mut consumers {
        consumer.next().unwrap().unwrap();
    }
    // Beside the bytes, the buffer for reads of several parts.
    let held = scheduler.figures().held_bytes;
    assert!(held > 0 && budget.held() > held.max(u64::from(PARTITIONS) * LEAST));
    let mut buffers = Vec::new();
    while let Some(consumer) = consumers.pop() {
        drop(consumer);
        let least = consumers.len() as u64 * LEAST;
        buffers.push(budget.held() - scheduler.figures().held_bytes.max(least));
    }
    assert_eq!((buffers.pop(), budget.held()), (Some(0), 0));
    let one = buffers[0];
    assert!(one > 0 && one <= sizes().read_bytes + sizes().gap_bytes, "{one}");
    assert!(buffers.iter().all(|buffer| *buffer == one), "{buffers:?}");
}

/// A budget that asks the scheduler for its figures, in the middle of each call: no lock is held.
#[test]
fn no_lock_is_held_while_the_budget_is_called() {
    common::in_time(|| {
        let place = Place::new();
        let reader = common::open(&write(&place)).unwrap();
        for threads in 0..3 {
            let budget = Probing::new(200 << 10);
            let options = sizes().memory_budget(budget.clone());
            let scheduler = Arc::new(match threads {
                0 => Scheduler::new(options).unwrap(),
                threads => Scheduler::with_threads(options, threads).unwrap(),
            });
            let probed = Arc::downgrade(&scheduler);
            budget.set(move || {
                if let Some(scheduler) = probed.upgrade() {
                    assert!(scheduler.figures().held_bytes <= 300 << 10);
                }
            });
            assert!(wait_all(open_all(&scheduler, &reader).unwrap()) == expected(&reader));
            assert!(budget.probes() > 2 * PARTITIONS as usize);
            budget.unset();
            drop(scheduler);
            assert_eq!(budget.held(), 0);
        }
    });
}

/// A panic of the budget comes out of the call that asked, after the step, and no block is lost.
#[test]
fn a_panic_of_the_budget_is_passed_on() {
    let place = Place::new();
    let reader = common::open(&write(&place)).unwrap();
    let expected = expected(&reader);
    for at in 0.. {
        let budget = Limited::with_flaw(u64::MAX, Some((at, Flaw::Panics)));
        let scheduler = Scheduler::new(sizes().memory_budget(budget.clone())).unwrap();
        let mut panics = 0;
        let mut undaunted = |mut call: Box<dyn FnMut() + '_>| {
            while catch_unwind(AssertUnwindSafe(&mut call)).is_err() {
                panics += 1;
            }
        };
        let mut found = Vec::new();
        let mut consumers = Vec::new();
        for partition in reader.partitions() {
            undaunted(Box::new(|| {
                consumers.push(scheduler.partition(&reader, partition).unwrap());
            }));
        }
        for mut consumer in consumers {
            let mut content = Content::new();
            undaunted(Box::new(|| {
                for block in consumer.by_ref() {
                    let block = block.unwrap();
                    content.push((block.kind(), block.payload.to_vec()));
                }
            }));
            found.push(content);
        }
        assert!(found == expected, "{at}: other blocks");
        assert_eq!(panics, usize::from(at < budget.calls()), "{at}");
        // The scheduler asks again.
        assert!(
            scheduler.figures().most_held_bytes > 2 * LEAST * u64::from(PARTITIONS),
            "{at}"
        );
        assert_eq!(budget.held(), 0, "{at}");
        if panics == 0 {
            break;
        }
    }
}

/// A budget that panics when it is given back memory.
struct Brittle {
    held: AtomicU64,
    calls: AtomicU64,
    at: u64,
}

impl MemoryBudget for Brittle {
    fn try_grow(&self, bytes: u64) -> bool {
        self.held.fetch_add(bytes, Ordering::Relaxed);
        true
    }

    fn shrink(&self, bytes: u64) {
        self.held.fetch_sub(bytes, Ordering::Relaxed);
        if self.calls.fetch_add(1, Ordering::Relaxed) == self.at {
            panic!("a flaw of the test");
        }
    }
}

#[test]
fn a_panic_while_memory_is_given_back_ends_no_other_reading() {
    let place = Place::new();
    let reader = common::open(&write(&place)).unwrap();
    let expected = expected(&reader);
    for at in 0..4 {
        let budget = Arc::new(Brittle {
            held: AtomicU64::new(0),
            calls: AtomicU64::new(0),
            at,
        });
        let scheduler = Scheduler::new(sizes().memory_budget(budget.clone())).unwrap();
        let mut panics = 0;
        for (mut consumer, expected) in open_all(&scheduler, &reader).unwrap().into_iter().zip(&expected) {
            let mut found = Content::new();
            let read = catch_unwind(AssertUnwindSafe(|| {
                for block in consumer.by_ref() {
                    let block = block.unwrap();
                    found.push((block.kind(), block.payload.to_vec()));
                }
            }));
            panics += u64::from(read.is_err());
            assert!(found == *expected, "{at}: other blocks");
        }
        assert_eq!((panics, budget.held.load(Ordering::Relaxed)), (1, 0), "{at}");
    }
}

/// Dictionaries need the reader's budget; a refusal ends the consumers that need it.
#[test]
fn a_refused_dictionary_is_a_fault() {
    let place = Place::new();
    let options = options(Layout::Single, 2)
        .codec(Codec::Zstd)
        .dictionaries(true)
        .block_size(1000);
    let mut writer = Writer::create(place.name(), options).unwrap();
    for record in 0..20_000u32 {
        let text = format!("a record like others, {record}");
        writer.write(record % 2, text.as_bytes()).unwrap();
    }
    let files = writer.finish().unwrap().files;
    let (of_reader, of_scheduler) = (Limited::new(10_000), Limited::new(u64::MAX));
    let reader = faro::ReaderOptions::default().memory_budget(of_reader.clone());
    let reader = Reader::open(&files, reader).unwrap();
    let scheduler = Scheduler::new(sizes().memory_budget(of_scheduler.clone())).unwrap();
    let mut consumers = [0, 1].map(|partition| scheduler.partition(&reader, partition).unwrap());
    for consumer in &mut consumers {
        let fault = consumer.find_map(|block| block.err()).unwrap();
        assert!(fault.code == ErrorCode::Io && is_out_of_memory(&fault), "{fault}");
        assert!(consumer.next().is_none());
    }
    assert_eq!(of_scheduler.held(), 0);
    assert_eq!(of_reader.held(), reader.memory_used());
}

/// When the budget refuses more, consumers that read ahead spare the least share of a new one.
#[test]
fn a_new_consumer_takes_what_others_spare() {
    let place = Place::new();
    let reader = common::open(&write(&place)).unwrap();
    let budget = Limited::with_flaw(u64::MAX, Some((2, Flaw::RefusesFrom)));
    let scheduler = Scheduler::new(sizes().memory_budget(budget.clone())).unwrap();
    let mut consumers = vec![scheduler.partition(&reader, 0).unwrap()];
    while scheduler.serve() {}
    let most = budget.held() / LEAST;
    assert!(most > 2);
    while (consumers.len() as u64) < most {
        consumers.push(scheduler.partition(&reader, 0).unwrap());
    }
    let refused = scheduler.partition(&reader, 0).err().unwrap();
    assert!(is_out_of_memory(&refused), "{refused}");
    let expected = content(reader.partition(0).unwrap()).unwrap();
    for found in poll_all(&scheduler, consumers) {
        assert!(found == expected, "other blocks");
    }
    assert_eq!(budget.held(), 0);
}
