//! Reading without I/O: the caller brings the bytes (docs/storage.md).
//!
//! An [`Opening`] opens an output, and gives a [`FeedReader`]. A [`Feed`] delivers the blocks of a partition or range.
//! Both say which bytes they want, take them in any order and in any pieces, and never read or wait. The
//! checks, their order and the errors are those of [`Reader`](crate::Reader).
//!
//! ```
//! use faro::feed::{FeedOptions, Opening, Wanted};
//! use faro::{FileRole, Result};
//! use std::task::Poll;
//!
//! /// Fetches wanted bytes; an engine would do it with its own I/O, all at the same time.
//! fn fetch(file: &[u8], wanted: &Wanted) -> (u64, Vec<u8>) {
//!     let range = wanted.range.within(file.len() as u64);
//!     (range.start, file[range.start as usize..range.end as usize].to_vec())
//! }
//!
//! # fn main() -> Result<()> {
//! # let folder = tempfile::tempdir().unwrap();
//! # let name = folder.path().join("shuffle");
//! # let mut writer = faro::Writer::create(&name, faro::WriterOptions::new(4).layout(faro::Layout::Single))?;
//! # writer.write(2, b"a record")?;
//! # writer.finish()?;
//! # let file = std::fs::read(folder.path().join("shuffle.faro")).unwrap();
//! let size = file.len() as u64;
//! let mut opening = Opening::single("shuffle", FeedOptions::default())?;
//! let reader = loop {
//!     match opening.poll() {
//!         Poll::Ready(reader) => break reader?,
//!         Poll::Pending => {
//!             for wanted in opening.wanted() {
//!                 let (offset, bytes) = fetch(&file, &wanted);
//!                 opening.bring(wanted.role, offset, bytes, size)?;
//!             }
//!         }
//!     }
//! };
//! let mut feed = reader.partition(2)?;
//! let mut payloads = Vec::new();
//! loop {
//!     match feed.poll() {
//!         Poll::Ready(Some(block)) => payloads.push(block?.payload),
//!         Poll::Ready(None) => break,
//!         Poll::Pending => {
//!             for wanted in feed.wanted() {
//!                 let (offset, bytes) = fetch(&file, &wanted);
//!                 feed.bring(wanted.role, offset, bytes, size)?;
//!             }
//!         }
//!     }
//! }
//! assert_eq!(payloads, ["\x08\0\0\0a record"]);
//! # Ok(()) }
//! ```

mod ahead;
mod feed_reader;
mod files;
mod incoming;
mod opening;
mod options;
mod partition_feed;
mod ranges;
mod supply;

pub use feed_reader::FeedReader;
pub use incoming::Wanted;
pub use opening::Opening;
pub use options::FeedOptions;
pub use partition_feed::Feed;
