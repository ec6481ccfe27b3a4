//! The calls of an engine for outputs that are still written.

use super::Scheduler;
use super::consumer::Consumer;
use super::growth::Growth;
use crate::error::Result;
use crate::follow::{Follower, Progress};

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
