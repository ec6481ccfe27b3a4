//! The driver of the job: starts attempts, keeps what they made, and decides what runs again.

use super::data::{MAPS, PARTITIONS, Totals};
use super::map_task::{self, Written};
use super::memory::{EngineMemory, Share};
use super::pool::Pool;
use super::reduce_task::{Failure, ReduceTask, Source};
use faro::scheduler::{Scheduler, SchedulerFigures, SchedulerOptions};
use faro::{ErrorFamily, Files, Reader, ReaderOptions, RegionCache, Summary};
use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

pub(crate) type Fallible<T> = Result<T, Box<dyn Error>>;

const THREADS: usize = 3;
/// The most attempts of one task.
const MOST_ATTEMPTS: u32 = 4;
/// A task that reports nothing for so long has been lost.
const PATIENCE: Duration = Duration::from_secs(60);

/// The report of a task.
enum Event {
    Map(Source, faro::Result<Box<Written>>),
    Reduce(u32, Result<Totals, Failure>),
}

#[derive(Default)]
struct Map {
    attempts: u32,
    output: Option<Output>,
}

/// The output of the attempt that was the first to finish.
struct Output {
    attempt: u32,
    summary: Summary,
    reader: Reader,
}

/// A reduce that has no result yet.
#[derive(Default)]
struct Reduce {
    attempts: u32,
    task: Option<Arc<ReduceTask>>,
}

/// What happened in a job.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) spills: u64,
    /// Outputs of attempts that another attempt had overtaken.
    pub(crate) losers: u32,
    pub(crate) damaged: u32,
    pub(crate) repeated_reduces: u32,
}

pub(crate) struct Driver {
    folder: PathBuf,
    pool: Pool,
    memory: Arc<EngineMemory>,
    /// The budget of all that reads.
    reading: Arc<Share>,
    scheduler: Arc<Scheduler>,
    regions: RegionCache,
    sender: Sender<Event>,
    events: Receiver<Event>,
    maps: Vec<Map>,
    running_maps: usize,
    reduces: BTreeMap<u32, Reduce>,
    /// Reduces that start when each map has an output.
    to_start: BTreeSet<u32>,
    results: BTreeMap<u32, Totals>,
    counts: Counts,
}

impl Driver {
    pub(crate) fn new(folder: &Path) -> faro::Result<Driver> {
        let (sender, events) = channel();
        // The working memory of a writer, and the step in which its sort buffer asks for more.
        let least = map_task::options().working_memory() + (1 << 20);
        // Each reduce has a consumer for each map, which must have 4 KiB. All else only makes reading faster.
        let reading_least = u64::from(PARTITIONS * MAPS) * (4 << 10);
        let memory = EngineMemory::new(THREADS as u64, least, reading_least, 2 << 20);
        let reading = memory.for_reading();
        let options = SchedulerOptions::default().memory_budget(reading.clone());
        Ok(Driver {
            folder: folder.to_path_buf(),
            pool: Pool::new(THREADS),
            memory,
            scheduler: Arc::new(Scheduler::new(options)?),
            regions: RegionCache::with_budget(16 << 20, reading.clone()),
            reading,
            sender,
            events,
            maps: (0..MAPS).map(|_| Map::default()).collect(),
            running_maps: 0,
            reduces: BTreeMap::new(),
            to_start: BTreeSet::new(),
            results: BTreeMap::new(),
            counts: Counts::default(),
        })
    }

    /// Starts the next attempt of a map. More than one may run at a time.
    pub(crate) fn start_map(&mut self, map: u32) -> Fallible<()> {
        let attempt = self.maps[map as usize].attempts + 1;
        if attempt > MOST_ATTEMPTS {
            return Err(format!("map {map} failed {MOST_ATTEMPTS} times").into());
        }
        self.maps[map as usize].attempts = attempt;
        self.running_maps += 1;
        let (folder, memory, sender) = (self.folder.clone(), self.memory.clone(), self.sender.clone());
        self.pool.jobs().submit(move || {
            let result = map_task::run(&folder, map, attempt, memory.for_task());
            let _ = sender.send(Event::Map(Source { map, attempt }, result.map(Box::new)));
        });
        Ok(())
    }

    /// Waits until no map runs. Each has an output then.
    pub(crate) fn wait_for_maps(&mut self) -> Fallible<()> {
        while self.running_maps > 0 {
            self.step()?;
        }
        Ok(())
    }

    /// Starts all reduces, those with the most bytes first, since they take longest.
    pub(crate) fn start_reduces(&mut self) -> Fallible<()> {
        let sizes = self.partition_sizes();
        let mut partitions: Vec<u32> = (0..PARTITIONS).collect();
        partitions.sort_by_key(|partition| std::cmp::Reverse(sizes[*partition as usize]));
        for partition in partitions {
            self.reduces.insert(partition, Reduce::default());
            self.start_reduce(partition)?;
        }
        Ok(())
    }

    /// The stored bytes of each partition in all outputs, which [`faro::Writer::finish`] told without a read.
    fn partition_sizes(&self) -> Vec<u64> {
        let mut sizes = vec![0; PARTITIONS as usize];
        let outputs = self.maps.iter().filter_map(|map| map.output.as_ref());
        for statistics in outputs.filter_map(|output| output.summary.statistics.as_ref()) {
            for (size, stored) in sizes.iter_mut().zip(statistics.stored.iter().flatten()) {
                *size += stored;
            }
        }
        sizes
    }

    /// Ends a reduce without a result.
    pub(crate) fn cancel(&mut self, partition: u32) {
        self.to_start.remove(&partition);
        if let Some(task) = self.reduces.remove(&partition).and_then(|reduce| reduce.task) {
            task.cancel();
        }
    }

    /// Waits until each reduce has a result, except those that were cancelled.
    pub(crate) fn wait_for_reduces(&mut self) -> Fallible<BTreeMap<u32, Totals>> {
        while !self.reduces.is_empty() || self.running_maps > 0 {
            self.step()?;
        }
        Ok(std::mem::take(&mut self.results))
    }

    fn step(&mut self) -> Fallible<()> {
        match self.events.recv_timeout(PATIENCE)? {
            Event::Map(source, result) => {
                self.running_maps -= 1;
                self.map_ended(source, result)?;
            }
            Event::Reduce(partition, result) => self.reduce_ended(partition, result)?,
        }
        if self.maps.iter().all(|map| map.output.is_some()) {
            for partition in std::mem::take(&mut self.to_start) {
                self.start_reduce(partition)?;
            }
        }
        Ok(())
    }

    fn map_ended(&mut self, source: Source, result: faro::Result<Box<Written>>) -> Fallible<()> {
        let is_late = self.maps[source.map as usize].output.is_some();
        match result {
            Ok(written) if is_late => {
                self.counts.losers += 1;
                remove(&written.summary.files)?;
            }
            Ok(written) => {
                let Written { summary, figures } = *written;
                self.counts.spills += figures.spills;
                let options = ReaderOptions::default()
                    .region_cache(self.regions.clone())
                    .memory_budget(self.reading.clone());
                self.maps[source.map as usize].output = Some(Output {
                    attempt: source.attempt,
                    reader: Reader::open(&summary.files, options)?,
                    summary,
                });
            }
            Err(_) if is_late => {}
            // The system failed a writer, which has removed its files. Another attempt may succeed.
            Err(error) if error.code.family() == ErrorFamily::Environment => self.start_map(source.map)?,
            Err(error) => return Err(error.into()),
        }
        Ok(())
    }

    fn start_reduce(&mut self, partition: u32) -> Fallible<()> {
        let Some(reduce) = self.reduces.get_mut(&partition) else {
            return Ok(());
        };
        reduce.attempts += 1;
        if reduce.attempts > MOST_ATTEMPTS {
            return Err(format!("the reduce of partition {partition} failed {MOST_ATTEMPTS} times").into());
        }
        let outputs: Vec<_> = (0..)
            .zip(&self.maps)
            .filter_map(|(map, state)| {
                let output = state.output.as_ref()?;
                let attempt = output.attempt;
                Some((Source { map, attempt }, output.reader.clone()))
            })
            .collect();
        let sender = self.sender.clone();
        let report = move |result| drop(sender.send(Event::Reduce(partition, result)));
        let (scheduler, jobs) = (self.scheduler.clone(), self.pool.jobs().clone());
        match ReduceTask::new(partition, &outputs, scheduler, jobs, Box::new(report)) {
            Ok(task) => {
                task.wake();
                reduce.task = Some(task);
            }
            // Others have the memory now: what they read ahead, too. This one starts when one of them has ended. The first
            // is never refused, since it needs less than the least of all reading.
            Err(error) if error.code.family() == ErrorFamily::Environment => {
                reduce.attempts -= 1;
                self.to_start.insert(partition);
            }
            Err(error) => return Err(error.into()),
        }
        Ok(())
    }

    fn reduce_ended(&mut self, partition: u32, result: Result<Totals, Failure>) -> Fallible<()> {
        // One that was cancelled may have ended at the same time.
        if !self.reduces.contains_key(&partition) {
            return Ok(());
        }
        let Failure { source, error } = match result {
            Ok(totals) => {
                self.reduces.remove(&partition);
                self.results.insert(partition, totals);
                return Ok(());
            }
            Err(failure) => failure,
        };
        match error.code.family() {
            // The bytes of the output are wrong: its producer writes them again.
            ErrorFamily::File => self.replace_output(source)?,
            // The system failed: the same bytes may be read at another time.
            ErrorFamily::Environment => {}
            // Running again changes nothing.
            ErrorFamily::Limit | ErrorFamily::Caller => return Err(error.into()),
        }
        self.counts.repeated_reduces += 1;
        self.to_start.insert(partition);
        Ok(())
    }

    /// Removes a damaged output, and runs its map again. Several reduces may report the same output.
    fn replace_output(&mut self, source: Source) -> Fallible<()> {
        let output = &mut self.maps[source.map as usize].output;
        // Local files that are open stay readable, for the reduces that have found no damage in their partitions.
        if let Some(damaged) = output.take_if(|output| output.attempt == source.attempt) {
            self.counts.damaged += 1;
            remove(&damaged.summary.files)?;
            self.start_map(source.map)?;
        }
        Ok(())
    }

    /// The files and the reader of a map that has ended.
    pub(crate) fn output(&self, map: u32) -> Option<(&Files, &Reader)> {
        let output = self.maps[map as usize].output.as_ref()?;
        Some((&output.summary.files, &output.reader))
    }

    /// Removes all outputs, at the end of the job.
    pub(crate) fn remove_outputs(&mut self) -> Fallible<()> {
        for output in self.maps.iter_mut().filter_map(|map| map.output.take()) {
            remove(&output.summary.files)?;
        }
        Ok(())
    }

    pub(crate) fn counts(&self) -> Counts {
        self.counts
    }

    pub(crate) fn memory(&self) -> &EngineMemory {
        &self.memory
    }

    pub(crate) fn scheduler_figures(&self) -> SchedulerFigures {
        self.scheduler.figures()
    }
}

fn remove(files: &Files) -> std::io::Result<()> {
    files
        .paths()
        .into_iter()
        .try_for_each(|(_, path)| std::fs::remove_file(path))
}
