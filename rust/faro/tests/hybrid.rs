//! Hybrid stores (spec, HYB), compared with an ordinary writer that gets the same calls.

mod common;

use common::{Place, code, options};
use faro::hybrid::{HybridConsumer, HybridMemory, HybridMode, HybridOptions, HybridPosition, HybridStore};
use faro::{
    Block, Codec, Durability, ErrorCode, Executor, Files, Framing, Layout, Reader, ReaderOptions, To, Writer,
    WriterOptions,
};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

#[derive(Clone, Debug)]
enum Step {
    Write(u32, u16),
    Event(u32, u16),
    Broadcast(u16),
    Multicast(u16),
    Flush,
    /// The consumer of this partition takes at most this number of blocks.
    Take(u32, usize),
    /// Another consumer of a full store goes on where this one is.
    Reopen(u32),
}

const PARTITIONS: u32 = 8;

fn step() -> impl Strategy<Value = Step> {
    let partition = 0..PARTITIONS;
    prop_oneof![
        4 => (partition.clone(), 0..400u16).prop_map(|(partition, length)| Step::Write(partition, length)),
        1 => (partition.clone(), 0..90u16).prop_map(|(partition, length)| Step::Event(partition, length)),
        1 => (0..200u16).prop_map(Step::Broadcast),
        1 => (0..200u16).prop_map(Step::Multicast),
        3 => Just(Step::Flush),
        4 => (partition.clone(), 0..6usize).prop_map(|(partition, most)| Step::Take(partition, most)),
        1 => partition.prop_map(Step::Reopen),
    ]
}

type Seen = (bool, u32, u8, Vec<u8>);

fn seen(block: &Block) -> Seen {
    (
        block.partition.is_none(),
        block.header.sequence,
        block.kind(),
        block.payload.to_vec(),
    )
}

fn take(consumer: &mut HybridConsumer, most: usize, found: &mut Vec<Seen>) {
    for block in std::iter::from_fn(|| consumer.next_block()).take(most) {
        found.push(seen(&block.unwrap()));
    }
}

fn read(reader: &Reader, partition: u32) -> Vec<Seen> {
    reader
        .partition(partition)
        .unwrap()
        .map(|block| seen(&block.unwrap()))
        .collect()
}

fn mode() -> impl Strategy<Value = HybridMode> {
    prop_oneof![Just(HybridMode::Full), Just(HybridMode::Selective)]
}

/// How many are drawn: a sample, unless FARO_INTERLEAVINGS says otherwise.
fn interleavings() -> u32 {
    let wanted = std::env::var("FARO_INTERLEAVINGS").ok();
    wanted.and_then(|count| count.parse().ok()).unwrap_or(1_000)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: interleavings(), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn consumers_read_what_a_writer_writes_in_any_interleaving(
        steps in prop::collection::vec(step(), 0..60),
        mode in mode(),
        bytes in prop_oneof![Just(0), 1..1_500u64, Just(1 << 20)],
        codec in prop_oneof![Just(Codec::None), Just(Codec::Lz4)],
        rotation in prop_oneof![Just(0), 0..PARTITIONS],
        ordered in any::<bool>(),
    ) {
        let place = Place::new();
        let plain = place.name().with_extension("plain");
        let writing = options(Layout::Paired, PARTITIONS).block_size(64).buffer_size(1_000).codec(codec)
            .rotation(rotation).ordered(ordered).first_partition(7).file_id(Some([9; 16]));
        let memory = HybridMemory::new(bytes);
        let mut writer = Writer::create(&plain, writing.clone()).unwrap();
        // Regions end as the writer's, and not because a consumer waits.
        let hybrid = HybridOptions::new(memory.clone(), mode).delay(Duration::MAX);
        let mut store = HybridStore::create(place.name(), writing, hybrid).unwrap();
        let mut consumers = BTreeMap::new();
        let mut found = vec![Vec::new(); PARTITIONS as usize];
        for step in steps {
            let record = |length: u16| vec![length as u8; length.into()];
            let put = |writer: &mut Writer, store: &mut HybridStore, to: To<'_>, kind, length| {
                writer.put(to, kind, &record(length), 1).unwrap();
                store.put(to, kind, &record(length), 1).unwrap();
            };
            match step {
                Step::Write(partition, length) => {
                    writer.write(7 + partition, &record(length)).unwrap();
                    store.write(7 + partition, &record(length)).unwrap();
                }
                Step::Event(partition, length) => put(&mut writer, &mut store, To::One(7 + partition), 70, length),
                Step::Broadcast(length) => put(&mut writer, &mut store, To::All, 0, length),
                Step::Multicast(length) => put(&mut writer, &mut store, To::These(&[7, 12]), 0, length),
                Step::Flush => {
                    writer.flush().unwrap();
                    store.flush().unwrap();
                }
                Step::Take(partition, most) => {
                    let consumer = consumers.entry(partition).or_insert_with(|| store.open(7 + partition, None).unwrap());
                    take(consumer, most, &mut found[partition as usize]);
                }
                Step::Reopen(partition) if mode == HybridMode::Full => {
                    let from = consumers.get(&partition).map_or(HybridPosition::default(), HybridConsumer::position);
                    consumers.insert(partition, store.open_at(7 + partition, from, None).unwrap());
                }
                Step::Reopen(_) => {}
            }
            let in_memory = store.figures().in_memory;
            prop_assert!(in_memory <= bytes + 2_000);
            // Messages are counted too.
            prop_assert!(memory.used() > in_memory || in_memory == 0);
        }
        writer.finish().unwrap();
        store.finish().unwrap();
        let made = mode == HybridMode::Full || store.figures().written > 0;
        prop_assert_eq!(place.output(Layout::Paired).paths()[0].1.exists(), made);
        let all = Reader::open(&Files::paired(&plain), ReaderOptions::default()).unwrap();
        for partition in 0..PARTITIONS {
            let consumer = consumers.entry(partition).or_insert_with(|| store.open(7 + partition, None).unwrap());
            let found = &mut found[partition as usize];
            take(consumer, usize::MAX, found);
            prop_assert!(consumer.is_finished());
            prop_assert_eq!(&read(&all, 7 + partition), found);
        }
        drop(consumers);
        store.close();
        prop_assert_eq!(memory.used(), 0);
        match mode {
            HybridMode::Full => {
                for ((_, plain), (_, stored)) in Files::paired(&plain).paths().iter().zip(place.output(Layout::Paired).paths()) {
                    prop_assert!(std::fs::read(plain).unwrap() == std::fs::read(stored).unwrap());
                }
            }
            HybridMode::Selective if made => check_selective(&place.output(Layout::Paired), &all),
            HybridMode::Selective => prop_assert!(!place.output(Layout::Paired).paths()[1].1.exists()),
        }
    }
}

/// The files have a part of the blocks, and say how many are missing.
fn check_selective(files: &Files, all: &Reader) {
    common::check(files).unwrap();
    let some = Reader::open(files, ReaderOptions::default()).unwrap();
    assert_eq!(some.header().file_id, all.header().file_id);
    for partition in all.partitions() {
        let (whole, part) = (read(all, partition), read(&some, partition));
        assert!(part.iter().all(|block| whole.contains(block)));
        let own = |blocks: &[Seen]| blocks.iter().filter(|block| !block.0).count() as u32;
        let stream = some.stream(partition).unwrap().unwrap();
        assert_eq!((stream.next, stream.missing), (own(&whole), own(&whole) - own(&part)));
    }
}

fn store_of(place: &Place, bytes: u64, mode: HybridMode) -> HybridStore {
    let options = HybridOptions::new(HybridMemory::new(bytes), mode);
    HybridStore::create(place.name(), WriterOptions::new(3), options).unwrap()
}

#[test]
fn options_that_a_store_cannot_have_are_refused() {
    let place = Place::new();
    let create = |name: &std::path::Path, writing| {
        let options = HybridOptions::new(HybridMemory::new(0), HybridMode::Full);
        code(HybridStore::create(name, writing, options).map(|_| ()))
    };
    let plain = || WriterOptions::new(1);
    let refused = [
        plain().layout(Layout::Single),
        plain().single_below(10),
        plain().durability(Durability::Commit),
        plain().selective(true),
        plain().dictionaries(true),
        WriterOptions::new(0),
    ];
    for writing in refused {
        assert_eq!(create(&place.name(), writing), ErrorCode::InvalidArgument);
    }
    assert_eq!(
        create(&place.name().with_extension("faro"), plain()),
        ErrorCode::InvalidArgument
    );
}

#[test]
fn a_partition_of_a_selective_store_is_opened_once() {
    let place = Place::new();
    let store = store_of(&place, 0, HybridMode::Selective);
    drop(store.open(1, None).unwrap());
    assert_eq!(code(store.open(1, None).map(|_| ())), ErrorCode::InvalidArgument);
    assert_eq!(code(store.open(3, None).map(|_| ())), ErrorCode::InvalidArgument);
    let later = HybridPosition {
        region: 1,
        ..HybridPosition::default()
    };
    assert_eq!(
        code(store.open_at(2, later, None).map(|_| ())),
        ErrorCode::InvalidArgument
    );
}

#[test]
fn a_store_that_is_not_finished_leaves_nothing_and_its_consumers_fail() {
    for mode in [HybridMode::Full, HybridMode::Selective] {
        let place = Place::new();
        let mut store = store_of(&place, 0, mode);
        store.write(0, &[1; 100]).unwrap();
        store.flush().unwrap();
        let files = place.output(Layout::Paired);
        assert!(files.paths().iter().all(|(_, path)| path.exists()));
        let mut consumer = store.open(0, None).unwrap();
        drop(store);
        assert!(files.paths().iter().all(|(_, path)| !path.exists()));
        assert_eq!(
            consumer.next_block().unwrap().unwrap_err().code,
            ErrorCode::InvalidArgument
        );
    }
}

#[test]
fn release_removes_finished_files() {
    for mode in [HybridMode::Full, HybridMode::Selective] {
        let place = Place::new();
        let mut store = store_of(&place, 0, mode);
        store.write(0, &[1; 100]).unwrap();
        store.finish().unwrap();
        let files = place.output(Layout::Paired);
        assert!(files.paths().iter().all(|(_, path)| path.exists()));
        store.release();
        assert!(files.paths().iter().all(|(_, path)| !path.exists()));
    }
}

#[test]
fn a_consumer_that_waits_is_told_when_the_files_cannot_be_finished() {
    let place = Place::new();
    let name = place.name().join("no folder").join("s");
    let options = HybridOptions::new(HybridMemory::new(1 << 20), HybridMode::Full);
    let mut store = HybridStore::create(name, WriterOptions::new(2), options).unwrap();
    let (wakes, woken) = waker();
    let mut consumer = store.open(0, Some(wakes)).unwrap();
    assert!(consumer.next_block().is_none());
    assert_eq!(code(store.finish()), ErrorCode::Io);
    assert!(woken.try_recv().is_ok());
    assert_eq!(consumer.next_block().unwrap().unwrap_err().code, ErrorCode::Io);
}

#[test]
fn a_failed_spill_is_told_to_everyone() {
    for mode in [HybridMode::Full, HybridMode::Selective] {
        let place = Place::new();
        let memory = HybridMemory::new(0);
        let options = HybridOptions::new(memory.clone(), mode);
        let name = place.name().join("no folder").join("s");
        let mut store = HybridStore::create(name, WriterOptions::new(2), options).unwrap();
        let (wakes, woken) = waker();
        let mut consumer = store.open(0, Some(wakes)).unwrap();
        assert!(consumer.next_block().is_none());
        store.write(0, &[1; 100]).unwrap();
        assert_eq!(code(store.flush()), ErrorCode::Io);
        assert!(woken.try_recv().is_ok());
        assert_eq!(consumer.next_block().unwrap().unwrap_err().code, ErrorCode::Io);
        assert_eq!(code(store.write(0, &[1; 100])), ErrorCode::Io);
        assert_eq!(code(store.finish()), ErrorCode::Io);
        assert_eq!(memory.used(), 0);
    }
}

#[test]
fn a_waiting_consumer_ends_the_region() {
    let place = Place::new();
    let options = HybridOptions::new(HybridMemory::new(1 << 20), HybridMode::Selective).delay(Duration::MAX);
    let mut store = HybridStore::create(place.name(), WriterOptions::new(2), options).unwrap();
    let (wakes, woken) = waker();
    let mut consumer = store.open(0, Some(wakes)).unwrap();
    store.write(0, &[1; 40_000]).unwrap();
    assert_eq!(store.figures().regions, 0);
    assert!(consumer.next_block().is_none());
    store.write(0, &[1]).unwrap();
    assert_eq!(store.figures().regions, 1);
    assert_eq!(woken.try_iter().count(), 1);
    assert!(consumer.next_block().is_some());
    while consumer.next_block().is_some() {}
    store.write(0, &[1; 1_000]).unwrap();
    assert_eq!(store.figures().regions, 1);
}

#[test]
fn the_region_ends_after_the_delay_if_a_consumer_waits() {
    let place = Place::new();
    let delay = Duration::from_millis(300);
    let options = HybridOptions::new(HybridMemory::new(1 << 20), HybridMode::Full).delay(delay);
    let mut store = HybridStore::create(place.name(), WriterOptions::new(2), options).unwrap();
    let mut consumer = store.open(0, None).unwrap();
    let begin = Instant::now();
    assert!(consumer.next_block().is_none());
    store.write(1, b"not yet").unwrap();
    let regions = store.figures().regions;
    assert!(regions == 0 || begin.elapsed() >= delay);
    thread::sleep(delay);
    store.write(1, b"now").unwrap();
    assert_eq!(store.figures().regions, 1);
    // The consumer has not asked for more.
    thread::sleep(delay);
    store.write(1, b"no consumer waits for more").unwrap();
    assert_eq!(store.figures().regions, 1);
}

/// A listener that was called under the lock of the memory would wait for ever.
#[test]
fn listeners_may_use_the_memory() {
    let (done, ended) = channel();
    thread::spawn(move || {
        for abandoned in [false, true] {
            let place = Place::new();
            let memory = HybridMemory::new(1 << 20);
            let options = HybridOptions::new(memory.clone(), HybridMode::Full).delay(Duration::MAX);
            let mut store = HybridStore::create(place.name(), WriterOptions::new(2), options).unwrap();
            let (sender, woken) = channel();
            let sender = Mutex::new(sender);
            let wake = move || sender.lock().unwrap().send(memory.used()).unwrap();
            let mut consumer = store.open(0, Some(Arc::new(wake))).unwrap();
            assert!(consumer.next_block().is_none());
            store.write(0, &[1; 40_000]).unwrap();
            assert_eq!(woken.try_iter().count(), 1);
            assert!(consumer.next_block().is_some());
            while consumer.next_block().is_some() {}
            if abandoned {
                store.release();
            } else {
                store.finish().unwrap();
            }
            assert_eq!(woken.try_iter().count(), 1);
        }
        done.send(()).unwrap();
    });
    ended.recv_timeout(Duration::from_secs(60)).unwrap();
}

fn waker() -> (Arc<dyn Fn() + Send + Sync>, Receiver<()>) {
    let (sender, receiver) = channel();
    let sender = Mutex::new(sender);
    let wake = move || {
        let _ = sender.lock().unwrap().send(());
    };
    (Arc::new(wake), receiver)
}

/// One thread for the spills of all stores.
struct OneThread(Mutex<Sender<Box<dyn FnOnce() + Send>>>);

impl Executor for OneThread {
    fn execute(&self, work: Box<dyn FnOnce() + Send>) {
        let _ = self.0.lock().unwrap().send(work);
    }
}

fn one_thread() -> Arc<dyn Executor> {
    let (sender, receiver) = channel::<Box<dyn FnOnce() + Send>>();
    std::thread::spawn(move || {
        for work in receiver {
            work();
        }
    });
    Arc::new(OneThread(Mutex::new(sender)))
}

/// Drops all work.
struct Drops;

impl Executor for Drops {
    fn execute(&self, _: Box<dyn FnOnce() + Send>) {}
}

#[test]
fn an_executor_that_drops_work_fails_the_store() {
    let place = Place::new();
    let options = HybridOptions::new(HybridMemory::new(0), HybridMode::Full).executor(Arc::new(Drops));
    let mut store = HybridStore::create(place.name(), WriterOptions::new(2), options).unwrap();
    store.write(0, &[1; 100]).unwrap();
    assert_eq!(code(store.flush()), ErrorCode::Io);
}

/// One producer, a thread for each consumer, spills in another: all at once, many times.
#[test]
fn threads_read_what_is_written() {
    let executor = one_thread();
    let mut written = 0;
    for round in 0..150_u32 {
        for mode in [HybridMode::Full, HybridMode::Selective] {
            let place = Place::new();
            let memory = HybridMemory::new(u64::from(round % 30) * 1_000);
            let options = HybridOptions::new(memory.clone(), mode)
                .executor(Arc::clone(&executor))
                .delay(Duration::from_nanos(1));
            let writing = WriterOptions::new(3)
                .framing(Framing::Records)
                .ordered(true)
                .block_size(20 + round * 3)
                .buffer_size(1 + u64::from(round) * 30);
            let mut store = HybridStore::create(place.name(), writing, options).unwrap();
            let readers: Vec<_> = (0..3)
                .map(|partition| {
                    let (wakes, woken) = waker();
                    let consumer = store.open(partition, Some(wakes)).unwrap();
                    std::thread::spawn(move || numbers(consumer, &woken))
                })
                .collect();
            let mut expected = vec![Vec::new(); 3];
            for number in 0..600_u32 {
                let mut record = number.to_le_bytes().to_vec();
                record.resize(4 + (number * 7 % 90) as usize, 0);
                let partition = number * 5 % 7;
                if partition < 3 {
                    store.write(partition, &record).unwrap();
                    expected[partition as usize].push(number);
                } else if partition == 3 {
                    store.broadcast(&record).unwrap();
                    expected.iter_mut().for_each(|numbers| numbers.push(number));
                }
            }
            store.finish().unwrap();
            for (expected, reader) in expected.iter().zip(readers) {
                assert_eq!(*expected, reader.join().unwrap(), "round {round} {mode:?}");
            }
            written += store.figures().written;
            store.release();
            assert_eq!(memory.used(), 0);
        }
    }
    assert!(written > 0);
}

fn numbers(mut consumer: HybridConsumer, woken: &Receiver<()>) -> Vec<u32> {
    let mut numbers = Vec::new();
    loop {
        while let Some(block) = consumer.next_block() {
            for record in block.unwrap().record_slices().unwrap() {
                numbers.push(u32::from_le_bytes(record[..4].try_into().unwrap()));
            }
        }
        if consumer.is_finished() {
            return numbers;
        }
        woken.recv_timeout(Duration::from_secs(30)).expect("a wake-up was lost");
    }
}

/// Keeps its work.
#[derive(Default)]
struct Keeps(Mutex<Vec<Box<dyn FnOnce() + Send>>>);

impl Executor for Keeps {
    fn execute(&self, work: Box<dyn FnOnce() + Send>) {
        self.0.lock().unwrap().push(work);
    }
}

/// A store may end in a thread of its executor, which has no other.
#[test]
fn work_that_has_not_begun_is_taken_back() {
    for mode in [HybridMode::Full, HybridMode::Selective] {
        let place = Place::new();
        let executor = Arc::new(Keeps::default());
        let memory = HybridMemory::new(450);
        let options = HybridOptions::new(memory.clone(), mode).executor(Arc::clone(&executor) as Arc<dyn Executor>);
        let mut store = HybridStore::create(place.name(), WriterOptions::new(2), options).unwrap();
        store.write(0, &[1; 230]).unwrap();
        store.flush().unwrap();
        assert_eq!(executor.0.lock().unwrap().len(), 1);
        store.finish().unwrap();
        store.close();
        assert_eq!(memory.used(), 0);
        for work in executor.0.lock().unwrap().drain(..) {
            work();
        }
        assert_eq!(
            place.output(Layout::Paired).paths()[1].1.exists(),
            mode == HybridMode::Full
        );
    }
}

/// The writer's own thread may be in the middle of a region then.
#[test]
fn a_store_that_is_closed_early_gives_its_memory_back() {
    let record = vec![1; 64 << 10];
    for round in 0..40 {
        let place = Place::new();
        let memory = HybridMemory::new(1 << 30);
        let writing = WriterOptions::new(2).buffer_size(4 << 20).double_buffer(true);
        let options = HybridOptions::new(memory.clone(), HybridMode::Selective);
        let mut store = HybridStore::create(place.name(), writing, options).unwrap();
        for n in 0..60 + round {
            store.write(n % 2, &record).unwrap();
        }
        store.close();
        assert_eq!(memory.used(), 0);
    }
}

#[test]
fn names_that_exist() {
    let place = Place::new();
    let files = place.output(Layout::Paired);
    std::fs::write(files.paths()[1].1, b"").unwrap();
    let options = |mode| HybridOptions::new(HybridMemory::new(0), mode);
    let full = HybridStore::create(place.name(), WriterOptions::new(2), options(HybridMode::Full));
    assert_eq!(code(full.map(|_| ())), ErrorCode::Io);
    // It may need no file.
    let mut store = HybridStore::create(place.name(), WriterOptions::new(2), options(HybridMode::Selective)).unwrap();
    store.write(0, &[1; 100]).unwrap();
    assert_eq!(code(store.flush()), ErrorCode::Io);
    store.release();
    assert_eq!(place.files(), ["out.index"]);
}
