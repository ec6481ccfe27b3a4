//! Opening an output asynchronously.

use super::blocks::AsyncBlocks;
use super::in_flight::{InFlight, forgotten};
use crate::bytes::FileHeader;
use crate::error::Result;
use crate::feed::{FeedOptions, FeedReader, Opening};
use crate::message::Footer;
use crate::reader::ReaderFigures;
use crate::storage::AsyncStoredOutput;
use std::future::poll_fn;
use std::ops::Range;
use std::task::Poll;

/// A finished output, open for asynchronous reading with any executor. Cloning it is cheap, and any number of streams
/// may read from it at once.
///
/// ```
/// # use bytes::Bytes;
/// # use faro::storage::{AsyncRead, AsyncStoredFile, FileRange};
/// # use std::{future::Future, path::Path, pin::pin, sync::Arc, task::{Context, Poll, Waker}};
/// # #[derive(Debug)]
/// # struct Ready(Bytes);
/// # impl AsyncStoredFile for Ready {
/// #     fn name(&self) -> &Path { Path::new("ready") }
/// #     fn read(self: Arc<Self>, range: FileRange) -> AsyncRead {
/// #         let size = self.0.len() as u64;
/// #         let range = range.within(size);
/// #         let bytes = self.0.slice(range.start as usize..range.end as usize);
/// #         Box::pin(async move { Ok((bytes, size)) })
/// #     }
/// # }
/// use faro::storage::AsyncStoredOutput;
/// use faro::AsyncReader;
///
/// async fn payloads(output: AsyncStoredOutput) -> faro::Result<u64> {
///     let reader = AsyncReader::open(output, Default::default()).await?;
///     let mut blocks = reader.partition(2)?;
///     let mut bytes = 0;
///     while let Some(block) = blocks.next().await {
///         bytes += block?.payload.len() as u64;
///     }
///     Ok(bytes)
/// }
/// # let folder = tempfile::tempdir().unwrap();
/// # let name = folder.path().join("shuffle");
/// # let mut writer = faro::Writer::create(&name, faro::WriterOptions::new(4).layout(faro::Layout::Single)).unwrap();
/// # writer.write(2, b"a record").unwrap();
/// # writer.finish().unwrap();
/// # let bytes = std::fs::read(folder.path().join("shuffle.faro")).unwrap();
/// # let output = AsyncStoredOutput::single(Arc::new(Ready(bytes.into())));
/// # let Poll::Ready(bytes) = pin!(payloads(output)).poll(&mut Context::from_waker(Waker::noop())) else { panic!() };
/// # assert_eq!(bytes.unwrap(), 12);
/// ```
#[derive(Clone, Debug)]
pub struct AsyncReader {
    feeds: FeedReader,
    files: AsyncStoredOutput,
}

impl AsyncReader {
    /// Opens a finished output, with the checks and errors of [`Reader::open_stored`](crate::Reader::open_stored), and
    /// the requests of [`Opening`]. Dropping the future cancels its reads.
    ///
    /// # Errors
    /// The first check of OPN-1 that fails; `io` for what the storage refuses; `invalid-argument` for sizes that
    /// [`FeedOptions`] does not allow.
    pub async fn open(files: AsyncStoredOutput, options: FeedOptions) -> Result<AsyncReader> {
        let index = files.index.name();
        let mut opening = match &files.data {
            None => Opening::single(index, options)?,
            Some(data) => Opening::paired(data.name(), index, options)?,
        };
        let mut reads = InFlight::default();
        let feeds = poll_fn(|context| {
            loop {
                if let Poll::Ready(result) = opening.poll() {
                    return Poll::Ready(result);
                }
                reads.add(opening.wanted());
                if reads.is_idle() {
                    return Poll::Ready(Err(forgotten()));
                }
                let mut refused = Ok(());
                let any = reads.poll(&files, context, |wanted, brought| {
                    let taken = match brought {
                        Ok((offset, bytes, size)) => opening.bring(wanted.role, offset, bytes, size),
                        Err(error) => opening.fail(wanted, &error),
                    };
                    refused = std::mem::replace(&mut refused, Ok(())).and(taken);
                });
                match refused {
                    Err(error) => return Poll::Ready(Err(error)),
                    Ok(()) if !any => return Poll::Pending,
                    Ok(()) => {}
                }
            }
        })
        .await?;
        Ok(AsyncReader { feeds, files })
    }

    /// The open output: its dictionaries, its schema message, and feeds for bytes that come otherwise.
    pub fn feeds(&self) -> &FeedReader {
        &self.feeds
    }

    /// The header of the index (or single) file.
    pub fn header(&self) -> &FileHeader {
        self.feeds.header()
    }

    /// The footer: directory, statistics and properties.
    pub fn footer(&self) -> &Footer {
        self.feeds.footer()
    }

    /// The numbers of the file's partitions.
    pub fn partitions(&self) -> Range<u32> {
        self.feeds.partitions()
    }

    /// What its streams have delivered so far, and what is kept for all of them, as [`FeedReader::figures`].
    pub fn figures(&self) -> ReaderFigures {
        self.feeds.figures()
    }

    /// The blocks of a partition, region by region (PRT-1).
    ///
    /// # Errors
    /// `invalid-argument` for a partition that the file does not have. The stream returns the faults of PRT-3.
    pub fn partition(&self, partition: u32) -> Result<AsyncBlocks> {
        Ok(AsyncBlocks::new(self.feeds.partition(partition)?, self.files.clone()))
    }

    /// The blocks of a range of partitions, region by region (PRT-5).
    ///
    /// # Errors
    /// `invalid-argument` for partitions that the file does not have.
    pub fn range(&self, partitions: Range<u32>) -> Result<AsyncBlocks> {
        Ok(AsyncBlocks::new(self.feeds.range(partitions)?, self.files.clone()))
    }
}
