//! A whole shuffle: the outputs of many producers, taken together.
//!
//! [`find`] lists the outputs in folders. A [`Shuffle`] reads one partition from all of them and sums them up, from their
//! footers alone where these have statistics. One damaged output does not stop the rest.
//!
//! ```
//! use faro::shuffle::{Shuffle, find};
//! # fn main() -> faro::Result<()> {
//! # let folder = tempfile::tempdir().unwrap();
//! # for producer in 0..3 {
//! #     let name = folder.path().join(format!("map-{producer}"));
//! #     let mut writer = faro::Writer::create(&name, faro::WriterOptions::new(4).producer(producer))?;
//! #     writer.write(2, b"a record")?;
//! #     writer.finish()?;
//! # }
//! # let folder = folder.path();
//! let found = find([folder]);
//! assert!(found.faults.is_empty());
//! let shuffle = Shuffle::new(found.outputs, faro::ReaderOptions::default());
//!
//! let sums = shuffle.sum_up(|_| ());
//! assert_eq!((sums.finished, sums.records), (3, Some(3)));
//! assert_eq!(sums.largest_partitions(1)[0].0, 2);
//!
//! for record in shuffle.records(2) {
//!     let (output, record) = record?;
//!     println!("{} bytes of {}", record.len(), faro::shuffle::name(&shuffle.outputs()[output]).display());
//! }
//! # Ok(()) }
//! ```

mod blocks;
mod find;
mod in_order;
mod natural;
mod output_sums;
mod outputs;
mod records;
mod summing;
mod sums;

pub use blocks::{ShuffleBlock, ShuffleBlocks};
pub use find::{Found, find, is_folder, name};
pub use in_order::in_order;
pub use output_sums::{Amount, OutputSums};
pub use outputs::Shuffle;
pub use records::ShuffleRecords;
pub use summing::SummedOutput;
pub use sums::{Fault, Producer, ProducerSums, ShuffleSums};
