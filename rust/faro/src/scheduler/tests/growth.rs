//! Consumers of outputs that are still written (rule 8).

use super::common::{Reading, collect, options};
use crate::error::{ErrorCode, Result};
use crate::reader::{Block, ReaderOptions};
use crate::scheduler::{Consumer, Scheduler};
use crate::{Codec, Files, Follower, Layout, Writer, WriterOptions};
use proptest::prelude::*;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::task::Poll;
use tempfile::TempDir;

const PARTITIONS: u32 = 3;

#[derive(Clone, Debug)]
enum Step {
    Write(u32, u16),
    Broadcast(u16),
    Multicast(u16),
    Flush,
    /// In selective outputs: the next blocks of this partition, or the next shared ones, were consumed from memory.
    Skip(Option<u32>),
    Follow,
    /// Another watch of this partition begins.
    Watch(u32),
    /// A watch is polled so often.
    Poll(prop::sample::Index, usize),
    Leave(prop::sample::Index),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => (0..PARTITIONS, 0..3_000u16).prop_map(|(partition, size)| Step::Write(partition, size)),
        1 => (0..900u16).prop_map(Step::Broadcast),
        1 => (0..900u16).prop_map(Step::Multicast),
        3 => Just(Step::Flush),
        2 => prop::option::of(0..PARTITIONS).prop_map(Step::Skip),
        3 => Just(Step::Follow),
        1 => (0..PARTITIONS).prop_map(Step::Watch),
        4 => (any::<prop::sample::Index>(), 1..8usize).prop_map(|(which, times)| Step::Poll(which, times)),
        1 => any::<prop::sample::Index>().prop_map(Step::Leave),
    ]
}

struct Watch {
    partition: u32,
    consumer: Consumer,
    found: Vec<Result<Block>>,
}

impl Watch {
    fn open(scheduler: &Scheduler, follower: &Follower, partition: u32) -> Self {
        Watch {
            partition,
            consumer: scheduler.watch(follower, partition).unwrap(),
            found: Vec::new(),
        }
    }

    fn poll(&mut self, scheduler: &Scheduler, times: usize) {
        for _ in 0..times {
            match self.consumer.poll() {
                Poll::Ready(Some(block)) => self.found.push(block),
                Poll::Ready(None) => return,
                Poll::Pending => drop(scheduler.serve()),
            }
        }
    }

    fn rest(self) -> Reading {
        collect(self.found.into_iter().chain(self.consumer))
    }
}

fn open(folder: &TempDir, layout: Layout, codec: Codec, selective: bool) -> (Writer, Follower) {
    let name = folder.path().join("out");
    let options = WriterOptions::new(PARTITIONS)
        .layout(layout)
        .codec(codec)
        .block_size(900)
        .selective(selective)
        .follow(true);
    let writer = Writer::create(&name, options).unwrap();
    let files = match layout {
        Layout::Single => Files::single(&name),
        _ => Files::paired(&name),
    };
    (writer, Follower::open(&files, ReaderOptions::default()).unwrap())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(120))]

    #[test]
    fn watches_get_what_a_reading_of_the_whole_gives(
        steps in prop::collection::vec(step(), 0..80),
        single in any::<bool>(),
        selective in any::<bool>(),
        codec in prop::sample::select(vec![Codec::None, Codec::Lz4]),
        budget in 4096..60_000u64,
        threads in 0..3usize,
        ending in 0..3u8,
    ) {
        let folder = tempfile::tempdir().unwrap();
        let layout = if single { Layout::Single } else { Layout::Paired };
        let (mut writer, mut follower) = open(&folder, layout, codec, selective);
        let options = options(500, 4096, budget);
        let scheduler = match threads {
            0 => Scheduler::new(options).unwrap(),
            threads => Scheduler::with_threads(options, threads).unwrap(),
        };
        let mut watches: Vec<Watch> =
            (0..PARTITIONS).map(|partition| Watch::open(&scheduler, &follower, partition)).collect();
        let mut next = 0;
        for step in steps {
            match step {
                Step::Write(partition, size) => {
                    writer.write(partition, &vec![size as u8; size.into()]).unwrap();
                }
                Step::Broadcast(size) => writer.broadcast(&vec![size as u8; size.into()]).unwrap(),
                Step::Multicast(size) => writer.multicast(&[0, 2], &vec![size as u8; size.into()]).unwrap(),
                Step::Flush => writer.flush().unwrap(),
                Step::Skip(partition) if selective => {
                    writer.flush().unwrap();
                    // Between two skips there are fewer blocks.
                    next += 1_000;
                    match partition {
                        Some(partition) => writer.skip_to(partition, next).unwrap(),
                        None => writer.skip_shared_to(next).unwrap(),
                    }
                }
                Step::Follow => prop_assert!(!scheduler.follow(&mut follower).unwrap().finished),
                Step::Watch(partition) => watches.push(Watch::open(&scheduler, &follower, partition)),
                Step::Poll(which, times) if !watches.is_empty() => {
                    let at = which.index(watches.len());
                    watches[at].poll(&scheduler, times);
                }
                Step::Leave(which) if watches.len() > 3 => drop(watches.remove(which.index(watches.len()))),
                Step::Poll(..) | Step::Leave(_) | Step::Skip(_) => {}
            }
        }
        let mut fault = None;
        match ending {
            0 => {
                writer.finish().unwrap();
                prop_assert!(scheduler.follow(&mut follower).unwrap().finished);
            }
            1 => {
                scheduler.give_up(&follower);
                fault = Some(ErrorCode::Unfinished);
            }
            _ => {
                drop(scheduler);
                fault = Some(ErrorCode::Io);
            }
        }
        for watch in watches {
            let partition = watch.partition;
            let expected = collect(follower.partition(partition).unwrap());
            let found = watch.rest();
            prop_assert_eq!(&found.0, &expected.0);
            prop_assert_eq!(found.1.map(|fault| fault.0), fault);
        }
    }
}

#[test]
fn a_poll_that_fails_ends_the_watches_after_the_regions_before() {
    let folder = tempfile::tempdir().unwrap();
    let (mut writer, mut follower) = open(&folder, Layout::Paired, Codec::None, false);
    let scheduler = Scheduler::with_threads(options(0, 4096, 50_000), 1).unwrap();
    let waiting = scheduler.watch(&follower, 1).unwrap();
    let (sent, ended) = mpsc::channel();
    let thread = std::thread::spawn(move || sent.send(collect(waiting)));
    writer.write(1, b"before").unwrap();
    writer.flush().unwrap();
    let before = std::fs::metadata(folder.path().join("out.index")).unwrap().len();
    writer.write(1, b"damaged").unwrap();
    writer.flush().unwrap();
    let index = std::fs::File::options()
        .write(true)
        .open(folder.path().join("out.index"))
        .unwrap();
    // The header of the second region's message; its context does not allow another sequence.
    std::os::unix::fs::FileExt::write_all_at(&index, &[0xFF; 64], before).unwrap();
    let error = scheduler.follow(&mut follower).unwrap_err();
    let late = collect(scheduler.watch(&follower, 1).unwrap().take(1));
    let (found, fault) = ended.recv_timeout(std::time::Duration::from_secs(60)).unwrap();
    thread.join().unwrap().unwrap();
    assert_eq!((found.len(), fault), (1, Some((error.code, error.offset, error.role))));
    assert_eq!(late.0, found);
}

#[test]
fn listeners_tell_of_regions_and_of_the_end() {
    let folder = tempfile::tempdir().unwrap();
    let (mut writer, mut follower) = open(&folder, Layout::Single, Codec::None, false);
    let scheduler = Scheduler::new(options(0, 4096, 50_000)).unwrap();
    let mut watch = scheduler.watch(&follower, 1).unwrap();
    let told = Arc::new(AtomicUsize::new(0));
    let tells = told.clone();
    watch.on_ready(move || {
        tells.fetch_add(1, Ordering::Relaxed);
    });
    let news = || told.swap(0, Ordering::Relaxed) > 0;
    while watch.poll().is_pending() && scheduler.serve() {}
    news();
    // A region without data for the partition.
    for record in [0, 1] {
        assert!(watch.poll().is_pending());
        writer.write(record, b"a record").unwrap();
        writer.flush().unwrap();
        scheduler.follow(&mut follower).unwrap();
        assert!(news(), "the caller has to serve");
        while scheduler.serve() {}
    }
    assert!(news());
    assert!(matches!(watch.poll(), Poll::Ready(Some(Ok(_)))));
    assert!(watch.poll().is_pending());
    while scheduler.serve() {}
    // Without regions there is nothing to do: a watch that waits makes no steps.
    assert!(watch.poll().is_pending() && !scheduler.serve());
    writer.finish().unwrap();
    scheduler.follow(&mut follower).unwrap();
    while scheduler.serve() {}
    assert!(news());
    assert!(matches!(watch.poll(), Poll::Ready(None)));
}
