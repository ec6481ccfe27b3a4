//! The rules of docs/scheduler.md, one by one.

use super::common::{Reading, collect, data, options, patience, reader, write};
use crate::error::{ErrorCode, FileRole};
use crate::scheduler::job::{Done, Outcome};
use crate::scheduler::state::State;
use crate::scheduler::{Consumer, Scheduler, SchedulerOptions};
use crate::{Codec, Layout, Reader, Result, Writer, WriterOptions};
use bytes::Bytes;
use proptest::prelude::*;
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier};
use std::task::Poll;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn consumers_get_what_readers_give(
        (partitions, regions) in (1..9u32, 0..6u32),
        codec in prop::sample::select(vec![Codec::None, Codec::Lz4, Codec::Zstd]),
        single in any::<bool>(),
        (gap, read, budget) in (0..3000u64, 4096..20_000u64, 4096..60_000u64),
        threads in 0..3usize,
        order in prop::collection::vec(any::<prop::sample::Index>(), 0..200),
        flip in prop::option::of((0.0..1.0f64, 1..=255u8)),
        cut in prop::option::weighted(0.2, 0.0..1.0f64),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let layout = if single { Layout::Single } else { Layout::Paired };
        let files = write(&folder.path().join("out"), partitions, regions, codec, layout);
        let reader = reader(&files);
        let file = data(&files);
        let size = file.metadata().unwrap().len();
        let inside = |at: f64| 64 + ((size - 64) as f64 * at) as u64;
        if let (Some((at, mask)), None) = (flip, cut) {
            let mut byte = [0];
            if file.read_at(&mut byte, inside(at)).unwrap() == 1 {
                file.write_all_at(&[byte[0] ^ mask], inside(at)).unwrap();
            }
        }
        if let Some(at) = cut {
            file.set_len(inside(at)).unwrap();
        }
        let options = options(gap, read, budget);
        let scheduler = match threads {
            0 => Scheduler::new(options).unwrap(),
            threads => Scheduler::with_threads(options, threads).unwrap(),
        };
        let mut expected: Vec<Reading> = (0..partitions).map(|p| collect(reader.partition(p).unwrap())).collect();
        expected.push(collect(reader.range(0..partitions).unwrap()));
        let mut consumers: Vec<Consumer> =
            (0..partitions).map(|p| scheduler.partition(&reader, p).unwrap()).collect();
        consumers.push(scheduler.range(&reader, 0..partitions).unwrap());
        // Take turns first, then one after the other.
        let mut items: Vec<Vec<Result<crate::Block>>> = consumers.iter().map(|_| Vec::new()).collect();
        for turn in order {
            let at = turn.index(consumers.len());
            items[at].extend(consumers[at].next());
        }
        for ((consumer, items), expected) in consumers.into_iter().zip(items).zip(expected) {
            let found = collect(items.into_iter().chain(consumer));
            prop_assert_eq!(found.1, expected.1);
            // If the file has shrunk, some blocks may or may not be delivered (BLK-8).
            let count = if cut.is_some() { found.0.len().min(expected.0.len()) } else { usize::MAX };
            prop_assert!(found.0.iter().take(count).eq(expected.0.iter().take(count)), "other blocks");
        }
        // A read for a consumer with an earlier fault may be under way. It ends with the threads.
        let shared = scheduler.shared.clone();
        drop(scheduler);
        prop_assert_eq!(shared.lock().figures.held_bytes, 0);
    }
}

/// Serves until no step can be made; returns the number of reads.
fn serve_all(scheduler: &Scheduler) -> u64 {
    let before = scheduler.figures().reads;
    while scheduler.serve() {}
    scheduler.figures().reads - before
}

/// How much a consumer delivers without waiting.
fn polled(consumer: &mut Consumer) -> u64 {
    let next = || match consumer.poll() {
        Poll::Ready(Some(block)) => Some(block.unwrap().payload.len() as u64),
        _ => None,
    };
    std::iter::from_fn(next).sum()
}

#[test]
fn many_small_requests_are_few_reads_in_order() {
    let folder = tempfile::tempdir().unwrap();
    let files = write(&folder.path().join("out"), 200, 10, Codec::None, Layout::Paired);
    let reader = reader(&files);
    let size = data(&files).metadata().unwrap().len();
    let scheduler = Scheduler::new(SchedulerOptions::default()).unwrap();
    // Opened in the wrong order.
    let consumers: Vec<_> = (0..200)
        .rev()
        .map(|p| scheduler.partition(&reader, p).unwrap())
        .collect();
    for (partition, consumer) in (0..200).rev().zip(consumers) {
        assert_eq!(collect(consumer), collect(reader.partition(partition).unwrap()));
    }
    let figures = scheduler.figures();
    // The whole file is read in reads of 4 MiB, instead of some 4,000 reads.
    assert!(figures.reads <= 2 + size / (4 << 20), "{figures:?}");
    assert!(
        figures.read_bytes <= size && figures.given_bytes >= size - 64,
        "{figures:?}"
    );
    assert_eq!(figures.seek_bytes, 64);
}

#[test]
fn a_slow_consumer_does_not_stall_others_and_the_budget_holds() {
    let folder = tempfile::tempdir().unwrap();
    let files = write(&folder.path().join("out"), 10, 60, Codec::None, Layout::Paired);
    let reader = reader(&files);
    let budget = 50_000;
    let scheduler = Scheduler::new(options(64 << 10, 1 << 20, budget)).unwrap();
    // Alone, it fills the whole budget and takes nothing.
    let mut slow = scheduler.partition(&reader, 0).unwrap();
    serve_all(&scheduler);
    let held = scheduler.figures().held_bytes;
    assert!(held > budget / 2 && held <= budget, "{held}");
    // When others come, its excess is taken back for them.
    let mut others: Vec<_> = (1..10).map(|p| scheduler.partition(&reader, p).unwrap()).collect();
    let mut bytes = vec![0; others.len()];
    loop {
        let served = serve_all(&scheduler);
        let taken: u64 = others
            .iter_mut()
            .zip(&mut bytes)
            .map(|(other, bytes)| {
                let more = polled(other);
                *bytes += more;
                more
            })
            .sum();
        if served + taken == 0 {
            break;
        }
    }
    for (partition, bytes) in (1..10).zip(bytes) {
        let expected = collect(reader.partition(partition).unwrap()).0;
        assert_eq!(bytes, expected.iter().map(|block| block.3.len() as u64).sum::<u64>());
    }
    let figures = scheduler.figures();
    assert!(
        figures.reclaimed_bytes > 0 && figures.most_held_bytes <= budget,
        "{figures:?}"
    );
    drop(others);
    assert_eq!(collect(&mut slow), collect(reader.partition(0).unwrap()));
    assert_eq!(scheduler.figures().held_bytes, 0);
}

#[test]
fn a_consumer_with_a_fault_releases_bytes_that_others_need() {
    let folder = tempfile::tempdir().unwrap();
    let files = write(&folder.path().join("out"), 10, 60, Codec::None, Layout::Paired);
    let reader = reader(&files);
    // The file is cut in the twentieth of sixty regions.
    let size = data(&files).metadata().unwrap().len();
    data(&files).set_len(size / 3).unwrap();
    let scheduler = Scheduler::new(options(0, 1 << 20, 60_000)).unwrap();
    // Alone, it fills more than its later share, and gets the fault.
    let slow = scheduler.partition(&reader, 0).unwrap();
    serve_all(&scheduler);
    let held = scheduler.figures().held_bytes;
    // Others come, and all are served before one of them takes anything.
    let others: Vec<_> = (1..10).map(|p| scheduler.partition(&reader, p).unwrap()).collect();
    serve_all(&scheduler);
    assert!(held > 60_000 / 2 && scheduler.figures().held_bytes > 50_000);
    for (partition, mut other) in (1..10).zip(others).rev() {
        let mut found = Vec::new();
        loop {
            match other.poll() {
                Poll::Ready(None) => break,
                Poll::Ready(Some(block)) => found.push(block),
                Poll::Pending => assert!(
                    scheduler.serve(),
                    "{partition} waits without a cause, {:?}",
                    scheduler.figures()
                ),
            }
        }
        let (found, expected) = (
            collect(found.into_iter()),
            collect(reader.partition(partition).unwrap()),
        );
        assert_eq!(found.1, expected.1);
        assert!(found.0 == expected.0, "{partition}");
    }
    let (found, expected) = (collect(slow), collect(reader.partition(0).unwrap()));
    assert_eq!(found.1, expected.1);
    assert!(found.0 == expected.0);
    assert_eq!(scheduler.figures().held_bytes, 0);
}

#[test]
fn a_share_is_filled_again_from_half_on() {
    let folder = tempfile::tempdir().unwrap();
    let mut writer = Writer::create(folder.path().join("out"), WriterOptions::new(2)).unwrap();
    for _ in 0..8 {
        // An extent of 1,024 bytes, with others between, so that no two are neighbours.
        writer.write(0, &[1; 996]).unwrap();
        writer.write(1, &[2; 5000]).unwrap();
        writer.flush().unwrap();
    }
    let reader = reader(&writer.finish().unwrap().files);
    let scheduler = Scheduler::new(options(0, 1 << 20, 4 << 10)).unwrap();
    let mut consumer = scheduler.partition(&reader, 0).unwrap();
    assert_eq!(serve_all(&scheduler), 4);
    let mut poll = || matches!(consumer.poll(), Poll::Ready(Some(Ok(_))));
    assert!(poll());
    assert_eq!(serve_all(&scheduler), 0, "three quarters are enough for now");
    assert!(poll());
    assert_eq!(serve_all(&scheduler), 2);
    assert!(poll());
    assert_eq!(serve_all(&scheduler), 0);
    assert_eq!(std::iter::from_fn(|| consumer.next()).count(), 5);
}

#[test]
fn a_request_waits_for_one_sweep_at_most() {
    // Requests that keep coming ahead of the sweep do not delay a request that it has passed.
    let folder = tempfile::tempdir().unwrap();
    let files = write(&folder.path().join("out"), 4, 300, Codec::None, Layout::Paired);
    let reader = reader(&files);
    let scheduler = Scheduler::new(options(0, 4_096, 1 << 20)).unwrap();
    let mut ahead: Vec<_> = (1..4).map(|p| scheduler.partition(&reader, p).unwrap()).collect();
    assert!(scheduler.serve() && scheduler.serve());
    let mut passed = scheduler.partition(&reader, 0).unwrap();
    let sweep = data(&files).metadata().unwrap().len() / 300;
    for reads in 0.. {
        if polled(&mut passed) > 0 {
            break;
        }
        assert!(reads < sweep, "it starves");
        assert!(scheduler.serve());
        for consumer in &mut ahead {
            if polled(consumer) == 0 && matches!(consumer.poll(), Poll::Ready(None)) {
                let partition = 1 + reads as u32 % 3;
                *consumer = scheduler.partition(&reader, partition).unwrap();
            }
        }
    }
}

#[test]
fn a_consumer_that_leaves_withdraws_its_requests() {
    let folder = tempfile::tempdir().unwrap();
    let files = write(&folder.path().join("out"), 5, 20, Codec::None, Layout::Paired);
    let reader = reader(&files);
    let scheduler = Scheduler::new(SchedulerOptions::default()).unwrap();
    drop(scheduler.partition(&reader, 1).unwrap());
    assert_eq!(serve_all(&scheduler), 0);
    let mut half = scheduler.partition(&reader, 2).unwrap();
    assert!(scheduler.serve());
    assert!(half.next().is_some());
    drop(half);
    assert_eq!((serve_all(&scheduler), scheduler.figures().held_bytes), (0, 0));
    // It leaves while a read for it is under way, between planning and handing out.
    let output = reader.output();
    let mut state = State::default();
    let all = SchedulerOptions::default();
    let extents = [reader.region(0).unwrap().own_extent(3).unwrap()];
    let (gone, _) = state.open(output, 3..4, None);
    let (stays, _) = state.open(output, 3..4, None);
    for id in [gone, stays] {
        state.ask(id, extents.into_iter());
    }
    let job = state.plan_read(&all).unwrap();
    assert_eq!(job.read.parts.len(), 2);
    state.close(gone);
    let outcome: Outcome = job
        .read
        .parts
        .iter()
        .map(|part| Ok(Bytes::from(vec![0; part.extent.length as usize])))
        .collect();
    let (_, freed) = state.deliver(Done::Read(job, outcome));
    drop(freed);
    assert!(state.take(gone).is_none() && state.take(stays).is_some());
    assert_eq!(state.figures.held_bytes, 0);
    assert!(state.plan_read(&all).is_none());
}

#[test]
fn faults_belong_to_the_consumers_that_meet_them() {
    let folder = tempfile::tempdir().unwrap();
    let files = write(&folder.path().join("out"), 6, 4, Codec::None, Layout::Paired);
    let reader = reader(&files);
    let expected: Vec<Reading> = (0..6).map(|p| collect(reader.partition(p).unwrap())).collect();
    let broken = reader.region(2).unwrap().own_extent(3).unwrap();
    data(&files).write_all_at(b"~~~~", broken.offset + 40).unwrap();
    let scheduler = Scheduler::with_threads(SchedulerOptions::default(), 2).unwrap();
    let consumers: Vec<_> = (0..6).map(|p| scheduler.partition(&reader, p).unwrap()).collect();
    for (partition, (consumer, expected)) in consumers.into_iter().zip(expected).enumerate() {
        let (found, fault) = collect(consumer);
        if partition == 3 {
            assert_eq!(
                fault,
                Some((ErrorCode::Checksum, Some(broken.offset), Some(FileRole::Data)))
            );
            assert!(!found.is_empty() && expected.0.starts_with(&found));
        } else {
            assert_eq!((found, fault), expected);
        }
    }
}

#[test]
fn a_listener_that_panics_stops_no_consumer() {
    let folder = tempfile::tempdir().unwrap();
    // Each has more than its share, so something is left to be read when the listeners are set.
    let files = write(&folder.path().join("out"), 3, 8, Codec::None, Layout::Single);
    let reader = reader(&files);
    let scheduler = Scheduler::with_threads(options(0, 4_096, 10_000), 1).unwrap();
    let mut consumers: Vec<_> = (0..3).map(|p| scheduler.partition(&reader, p).unwrap()).collect();
    let (calls, told) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    for (number, consumer) in consumers.iter_mut().enumerate() {
        let (calls, told) = (calls.clone(), told.clone());
        consumer.on_ready(move || {
            // A panic must not print here.
            calls.fetch_add(1, Ordering::Relaxed);
            if number == 0 {
                std::panic::resume_unwind(Box::new("a listener"));
            }
            told.fetch_add(1, Ordering::Relaxed);
        });
    }
    for (partition, consumer) in (0..3).zip(consumers) {
        assert_eq!(collect(consumer), collect(reader.partition(partition).unwrap()));
    }
    drop(scheduler);
    assert!(calls.load(Ordering::Relaxed) > told.load(Ordering::Relaxed));
    // In the caller's thread, the panic reaches the caller after all listeners were called.
    let scheduler = Scheduler::new(options(64 << 10, 1 << 20, 100_000)).unwrap();
    let mut consumers: Vec<_> = (0..3).map(|p| scheduler.partition(&reader, p).unwrap()).collect();
    let told = Arc::new(AtomicUsize::new(0));
    for consumer in &mut consumers {
        let told = told.clone();
        consumer.on_ready(move || {
            told.fetch_add(1, Ordering::Relaxed);
            std::panic::resume_unwind(Box::new("a listener"));
        });
    }
    let all = std::panic::AssertUnwindSafe(|| while scheduler.serve() {});
    assert!(std::panic::catch_unwind(all).is_err());
    assert!(told.load(Ordering::Relaxed) >= 3);
}

#[test]
fn many_threads_read_at_once_and_leave_as_they_like() {
    let folder = tempfile::tempdir().unwrap();
    let outputs: Vec<Reader> = (0..3)
        .map(|n| {
            reader(&write(
                &folder.path().join(format!("{n}")),
                7,
                8,
                Codec::Lz4,
                Layout::Single,
            ))
        })
        .collect();
    let expected: Vec<Reading> = (0..7).map(|p| collect(outputs[0].partition(p).unwrap())).collect();
    for threads in 0..3 {
        let options = options(4_000, 30_000, 50_000);
        let scheduler = match threads {
            0 => Scheduler::new(options).unwrap(),
            threads => Scheduler::with_threads(options, threads).unwrap(),
        };
        let told = Arc::new(AtomicUsize::new(0));
        let start = Barrier::new(6);
        std::thread::scope(|scope| {
            for number in 0..6 {
                let (scheduler, outputs, expected, start, told) = (&scheduler, &outputs, &expected, &start, &told);
                scope.spawn(move || {
                    start.wait();
                    for turn in 0..12usize {
                        let partition = (turn * 5 + number) % 7;
                        let mut consumer = scheduler.partition(&outputs[turn % 3], partition as u32).unwrap();
                        let told = told.clone();
                        consumer.on_ready(move || {
                            told.fetch_add(1, Ordering::Relaxed);
                        });
                        if turn % 4 == 3 {
                            consumer.by_ref().take(number).for_each(|block| drop(block.unwrap()));
                        } else {
                            assert_eq!(collect(consumer), expected[partition]);
                        }
                    }
                });
            }
        });
        assert!(told.load(Ordering::Relaxed) > 0);
        // A read for a consumer that left may be under way.
        patience("bytes of no consumer are held", || scheduler.figures().held_bytes == 0);
        assert!(scheduler.figures().most_held_bytes <= 50_000);
        // A consumer outlives its scheduler.
        let left = scheduler.partition(&outputs[1], 4).unwrap();
        drop(scheduler);
        assert_eq!(collect(left), expected[4]);
    }
}
