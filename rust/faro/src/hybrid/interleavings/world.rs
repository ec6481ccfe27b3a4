//! Stores, what is written to them, and threads that read it.

use super::pool::Running;
use super::sync::{Arc, Condvar, Mutex};
use super::{HybridConsumer, HybridMemory, HybridMode, HybridOptions, HybridStore};
use crate::block::BlockHeader;
use crate::check::{CheckOptions, check};
use crate::error::{Error, Result};
use crate::reader::{Block, Reader, ReaderOptions};
use crate::storage::Files;
use crate::writer::WriterOptions;
use shuttle::rand::{Rng, thread_rng};
use shuttle::thread::{self, JoinHandle};
use std::path::PathBuf;
use std::time::Duration;

/// One consumer for each.
pub(super) const PARTITIONS: u32 = 2;

/// A record for one partition, or for all, and whether a flush follows.
pub(super) struct Step {
    pub to: Option<u32>,
    record: u8,
    pub flushes: bool,
}

/// A few records of different sizes, drawn. Their first byte is their number.
pub(super) fn script() -> Vec<Step> {
    let step = |record| Step {
        to: Some(thread_rng().gen_range(0..=PARTITIONS)).filter(|to| *to < PARTITIONS),
        record,
        flushes: thread_rng().gen_bool(0.5),
    };
    (0..thread_rng().gen_range(3..9)).map(step).collect()
}

impl Step {
    fn length(&self) -> usize {
        1 + usize::from(self.record) * 11 % 70
    }
}

/// The most bytes of a region.
pub(super) fn largest(script: &[Step]) -> u64 {
    // A block for each record, which has its length before it.
    let bytes = |step: &Step| (BlockHeader::SIZE + (4 + step.length()).next_multiple_of(8)) as u64;
    let regions = script.split_inclusive(|step| step.flushes);
    regions.map(|steps| steps.iter().map(bytes).sum()).max().unwrap_or(0)
}

/// The most bytes of the messages of a script's regions: a store that is read keeps them (HYB-6).
pub(super) fn messages(script: &[Step]) -> u64 {
    const LARGEST: u64 = 160;
    script.split_inclusive(|step| step.flushes).count() as u64 * LARGEST
}

pub(super) fn write(store: &mut HybridStore, step: &Step) -> Result<()> {
    let record = vec![step.record; step.length()];
    match step.to {
        Some(partition) => store.write(partition, &record)?,
        None => store.broadcast(&record)?,
    }
    if step.flushes { store.flush() } else { Ok(()) }
}

pub(super) fn write_all(store: &mut HybridStore, script: &[Step]) -> Result<()> {
    script.iter().try_for_each(|step| write(store, step))?;
    store.finish()
}

/// The records of a partition.
pub(super) fn expected(script: &[Step], partition: u32) -> Vec<u8> {
    let reads = |step: &&Step| step.to.is_none_or(|to| to == partition);
    script.iter().filter(reads).map(|step| step.record).collect()
}

/// Where the files of stores are, and the memory that the stores share.
pub(super) struct World {
    folder: tempfile::TempDir,
    pub memory: HybridMemory,
    pub pool: Running,
}

impl World {
    pub(super) fn new(bytes: u64, pool: Running) -> Self {
        World {
            folder: tempfile::tempdir().unwrap(),
            memory: HybridMemory::new(bytes),
            pool,
        }
    }

    fn name(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// A store with small blocks. Its regions end for consumers that wait with the next record, or never.
    pub(super) fn store(&self, name: &str, mode: HybridMode) -> HybridStore {
        let mut options = HybridOptions::new(self.memory.clone(), mode);
        options.executor = self.pool.executor();
        options.delay = if thread_rng().gen_bool(0.5) {
            Duration::ZERO
        } else {
            Duration::MAX
        };
        let writing = WriterOptions::new(PARTITIONS).block_size(40);
        HybridStore::create(self.name(name), writing, options).unwrap()
    }

    /// Whether the files of a store exist: both or none.
    pub(super) fn has_files(&self, name: &str) -> bool {
        let [data, index] = ["data", "index"].map(|ending| self.name(name).with_extension(ending).exists());
        assert_eq!(data, index, "one file");
        data
    }

    /// Checks the files of a store that was closed. Those of a full store have all records.
    pub(super) fn check_files(&self, name: &str, mode: HybridMode, script: &[Step]) {
        if !self.has_files(name) {
            assert_eq!(mode, HybridMode::Selective, "no files");
            return;
        }
        let files = Files::paired(self.name(name));
        check(&files, &CheckOptions::default()).unwrap();
        if mode == HybridMode::Full {
            let reader = Reader::open(&files, ReaderOptions::default()).unwrap();
            for partition in 0..PARTITIONS {
                let mut found = Vec::new();
                for block in reader.partition(partition).unwrap() {
                    take(&block.unwrap(), &mut found);
                }
                assert_eq!(found, expected(script, partition), "in the files");
            }
        }
    }

    /// Waits until the threads have no work. No region is about to leave then, if no producer is in a call.
    pub(super) fn rest(&self) {
        self.pool.rest();
        let ledger = self.memory.lock();
        assert_eq!((ledger.counts.leaving, ledger.counts.spills), (0, 0));
    }

    /// Ends the threads, after the stores. The memory has nothing left.
    pub(super) fn end(mut self) {
        assert_eq!(self.memory.used(), 0);
        self.rest();
        self.pool.end();
    }
}

pub(super) fn mode() -> HybridMode {
    if thread_rng().gen_bool(0.5) {
        HybridMode::Full
    } else {
        HybridMode::Selective
    }
}

/// Wakes a consumer that waits.
#[derive(Default)]
pub(super) struct Bell {
    rung: Mutex<bool>,
    changed: Condvar,
}

impl Bell {
    pub(super) fn listener(self: &Arc<Self>) -> Arc<dyn Fn() + Send + Sync> {
        let bell = Arc::clone(self);
        Arc::new(move || {
            *bell.rung.lock().unwrap() = true;
            bell.changed.notify_one();
        })
    }

    pub(super) fn wait(&self) {
        let mut rung = self.rung.lock().unwrap();
        while !std::mem::take(&mut *rung) {
            rung = self.changed.wait(rung).unwrap();
        }
    }
}

/// Adds the numbers of a block's records.
pub(super) fn take(block: &Block, found: &mut Vec<u8>) {
    found.extend(block.record_slices().unwrap().map(|record| record[0]));
}

/// What a consumer got: records, and the error after them.
pub(super) type Reading = (Vec<u8>, Option<Error>);

/// Reads to the end or to an error. `each` is called with each block's records.
fn read(mut consumer: HybridConsumer, bell: &Bell, each: impl Fn(&[u8])) -> Reading {
    let mut found = Vec::new();
    loop {
        match consumer.next_block() {
            Some(Ok(block)) => {
                let before = found.len();
                take(&block, &mut found);
                each(&found[before..]);
            }
            Some(Err(error)) => {
                assert_eq!(consumer.next_block().unwrap().unwrap_err().code, error.code);
                return (found, Some(error));
            }
            None if consumer.is_finished() => return (found, None),
            None => bell.wait(),
        }
    }
}

/// A thread that reads a partition, and waits with a listener.
pub(super) fn reads(store: &HybridStore, partition: u32) -> JoinHandle<Reading> {
    reads_and(store, partition, |_| {})
}

/// The same; it calls this with each block's records.
pub(super) fn reads_and(
    store: &HybridStore,
    partition: u32,
    each: impl Fn(&[u8]) + Send + 'static,
) -> JoinHandle<Reading> {
    let bell = Arc::new(Bell::default());
    let consumer = store.open(partition, Some(bell.listener())).unwrap();
    thread::spawn(move || read(consumer, &bell, each))
}

/// A thread for each partition.
pub(super) fn all_read(store: &HybridStore) -> Vec<JoinHandle<Reading>> {
    (0..PARTITIONS).map(|partition| reads(store, partition)).collect()
}

/// Waits for consumers, which get everything.
pub(super) fn assert_all(script: &[Step], readings: Vec<JoinHandle<Reading>>) {
    for (partition, reading) in (0..).zip(readings) {
        let (found, error) = reading.join().unwrap();
        assert!(error.is_none(), "{error:?}");
        assert_eq!(found, expected(script, partition), "partition {partition}");
    }
}

/// Waits for a consumer of a store that ended early, which gets everything, or something and an error.
pub(super) fn assert_some(script: &[Step], partition: u32, reading: JoinHandle<Reading>) -> Option<Error> {
    let (found, error) = reading.join().unwrap();
    let all = expected(script, partition);
    assert!(all.starts_with(&found), "partition {partition}: {found:?}");
    assert!(error.is_some() || found == all, "partition {partition}: {found:?}");
    error
}
