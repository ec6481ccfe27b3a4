//! A scheduler: few, long reads in the order of the file serve many consumers at once (docs/scheduler.md).
//!
//! With threads, and consumers used as iterators:
//!
//! ```
//! use faro::scheduler::{Scheduler, SchedulerOptions};
//! # fn main() -> faro::Result<()> {
//! # let folder = tempfile::tempdir().unwrap();
//! # let name = folder.path().join("shuffle");
//! # let mut writer = faro::Writer::create(&name, faro::WriterOptions::new(4))?;
//! # writer.write(2, b"a record")?;
//! # writer.write(1, b"another")?;
//! # writer.finish()?;
//! let reader = faro::Reader::open(&faro::Files::locate(&name)?, faro::ReaderOptions::default())?;
//! let scheduler = Scheduler::with_threads(SchedulerOptions::default(), 1)?;
//! let consumers = [scheduler.partition(&reader, 1)?, scheduler.partition(&reader, 2)?];
//! let sizes = consumers.map(|consumer| consumer.map(|block| block.unwrap().payload.len()).sum::<usize>());
//! assert_eq!(sizes, [11, 12]);
//! # Ok(()) }
//! ```
//!
//! Without threads, and consumers used in the tasks of an engine: a task polls its consumer, calls [`Scheduler::serve`]
//! once for each `Pending`, and runs again when the listener is called.
//!
//! ```
//! use faro::scheduler::{Scheduler, SchedulerOptions};
//! use std::{sync::mpsc, task::Poll};
//! # fn main() -> faro::Result<()> {
//! # let folder = tempfile::tempdir().unwrap();
//! # let name = folder.path().join("shuffle");
//! # let mut writer = faro::Writer::create(&name, faro::WriterOptions::new(4))?;
//! # writer.write(2, b"a record")?;
//! # writer.write(1, b"another")?;
//! # writer.finish()?;
//! # let reader = faro::Reader::open(&faro::Files::locate(&name)?, faro::ReaderOptions::default())?;
//! let scheduler = Scheduler::new(SchedulerOptions::default())?;
//! let (ready, tasks) = mpsc::channel();
//! let mut consumers = Vec::new();
//! for partition in 0..4 {
//!     let mut consumer = scheduler.partition(&reader, partition)?;
//!     let listener = ready.clone();
//!     consumer.on_ready(move || listener.send(partition as usize).unwrap());
//!     consumers.push(consumer);
//!     ready.send(partition as usize).unwrap();
//! }
//! let (mut bytes, mut ended) = (0, [false; 4]);
//! while ended.contains(&false) {
//!     // An engine would wait here until a listener makes a task run.
//!     let task = tasks.try_recv().unwrap();
//!     match consumers[task].poll() {
//!         Poll::Ready(Some(block)) => {
//!             bytes += block?.payload.len();
//!             ready.send(task).unwrap();
//!         }
//!         Poll::Ready(None) => ended[task] = true,
//!         Poll::Pending => { scheduler.serve(); }
//!     }
//! }
//! assert_eq!(bytes, 23);
//! # Ok(()) }
//! ```

mod budget;
mod consumer;
mod deliver;
mod figures;
mod granted;
mod grants;
mod growing;
mod growth;
mod guard;
mod handle;
mod held;
mod job;
mod options;
mod read_buffer;
mod shared;
mod state;
mod sync;
mod waiting;
mod watching;

#[cfg(test)]
#[allow(unreachable_pub)]
pub(crate) mod interleavings;
#[cfg(test)]
mod tests;

pub use consumer::Consumer;
pub use figures::SchedulerFigures;
pub use handle::Scheduler;
pub use options::SchedulerOptions;
