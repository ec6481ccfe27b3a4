//! Consumers of an output that is still written (docs/scheduler.md, rule 8).

use super::Scheduler;
use super::consumer::Consumer;
use super::job::Found;
use super::state::State;
use super::waiting::Waiting;
use crate::error::{Error, ErrorCode, Result};
use crate::follow::{Follower, Progress};
use crate::reader::OpenOutput;
use std::sync::Arc;

/// What the steps know of an output that a consumer watches.
pub(super) struct Growth {
    /// The output with the regions that were seen so far.
    pub output: OpenOutput,
    /// Present if there will be no more regions; it may be the fault that comes after them.
    end: Option<Result<()>>,
    /// Whether all extents of the regions seen so far were found, so that there is nothing to find.
    pub is_waiting: bool,
}

impl Growth {
    pub(super) fn new(output: OpenOutput) -> Self {
        Growth {
            output,
            end: None,
            is_waiting: false,
        }
    }

    /// Corrects the result of a step that knew fewer regions: what ends there may go on.
    pub(super) fn correct(&mut self, found: &mut Found) {
        let is_behind = found.finder.output.region_count() < self.output.region_count();
        if is_behind {
            found.finder.go_on(&self.output);
        }
        if matches!(found.end, Some(Ok(()))) {
            found.end = if is_behind { None } else { self.end.clone() };
            self.is_waiting = !is_behind && self.end.is_none();
        }
    }
}

impl State {
    /// Tells the consumers of an output which regions it has now, and whether more will come.
    pub(super) fn output_grew(&mut self, output: &OpenOutput, end: Option<&Result<()>>) {
        let file = Arc::as_ptr(&output.opened) as usize;
        self.go_on(|consumer| consumer.file == file, Some(output), end);
    }

    /// Ends all consumers of outputs that are still written, after the regions seen so far: nothing can tell them of more.
    pub(super) fn end_watches(&mut self) {
        let gone = Error::bare(ErrorCode::Io, "a scheduler that follows the output", "it was dropped");
        self.go_on(|_| true, None, Some(&Err(gone)));
    }

    fn go_on(&mut self, is_meant: impl Fn(&Waiting) -> bool, output: Option<&OpenOutput>, end: Option<&Result<()>>) {
        let mut grown = Vec::new();
        for (id, consumer) in self.consumers.iter_mut().filter(|(_, consumer)| is_meant(consumer)) {
            // The first end stays.
            let Some(growth) = consumer.growth.as_mut().filter(|growth| growth.end.is_none()) else {
                continue;
            };
            growth.end = end.cloned();
            growth.is_waiting = false;
            if let Some(output) = output {
                growth.output = output.clone();
                if let Some(finder) = &mut consumer.finder {
                    finder.go_on(output);
                }
            }
            grown.push(*id);
        }
        for id in grown {
            self.enqueue(id);
        }
    }
}

impl Scheduler {
    /// Opens a consumer of a partition of an output that is still written: its blocks from the first region on, as its
    /// regions come (FOL-7). It reads nothing yet. It goes on with each [`Scheduler::follow`] that finds regions, and
    /// ends when one finds that the output is finished. If the scheduler is dropped before, it ends with `io` after the
    /// regions seen so far.
    ///
    /// ```
    /// use faro::scheduler::{Scheduler, SchedulerOptions};
    /// # fn main() -> faro::Result<()> {
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let name = folder.path().join("shuffle");
    /// let mut writer = faro::Writer::create(&name, faro::WriterOptions::new(4).follow(true))?;
    /// let mut follower = faro::Follower::open(&faro::Files::paired(&name), faro::ReaderOptions::default())?;
    /// let scheduler = Scheduler::with_threads(SchedulerOptions::default(), 1)?;
    /// let consumer = scheduler.watch(&follower, 2)?;
    /// let reading = std::thread::spawn(move || consumer.map(|block| block.unwrap().payload.len()).sum::<usize>());
    ///
    /// writer.write(2, b"a record")?;
    /// writer.flush()?;
    /// scheduler.follow(&mut follower)?;
    /// writer.write(2, b"another")?;
    /// writer.finish()?;
    /// assert!(scheduler.follow(&mut follower)?.finished);
    /// assert_eq!(reading.join().unwrap(), 23);
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// As [`Scheduler::partition`].
    pub fn watch(&self, follower: &Follower, partition: u32) -> Result<Consumer> {
        let output = follower.output();
        output.check_partition(partition)?;
        let growth = (!follower.is_finished()).then(|| Growth::new(output.clone()));
        Consumer::new(self.shared.clone(), output.clone(), partition..partition + 1, growth)
    }

    /// Polls a follower, and gives what it found to all consumers that watch its output. If the output is finished,
    /// they end after it. If the poll fails, they end too, with its error, after the regions before it.
    ///
    /// # Errors
    /// As [`Follower::poll`].
    pub fn follow(&self, follower: &mut Follower) -> Result<Progress> {
        let progress = follower.poll();
        let end = match &progress {
            Ok(progress) => progress.finished.then_some(Ok(())),
            Err(error) => Some(Err(error.clone())),
        };
        self.shared.output_grew(follower.output(), end.as_ref());
        progress
    }

    /// Ends the consumers that watch an output, because its writer is dead: after the regions seen so far they get
    /// `unfinished`. A follower cannot know that (FOL-6).
    pub fn give_up(&self, follower: &Follower) {
        self.shared
            .output_grew(follower.output(), Some(&Err(follower.given_up())));
    }
}
