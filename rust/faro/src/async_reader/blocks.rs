//! The blocks of a partition or range, as a stream.

use super::in_flight::{InFlight, forgotten};
use crate::error::Result;
use crate::feed::Feed;
use crate::reader::Block;
use crate::storage::AsyncStoredOutput;
use futures_core::Stream;
use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll};

/// How many bytes of blocks are delivered until the next reads are begun.
const PUMP: u64 = 256 << 10;

/// A stream of the blocks of a partition or range, in the order of PRT-1 or PRT-5. It ends after the first error. It
/// reads ahead, as much as [`FeedOptions::ahead_bytes`](crate::feed::FeedOptions::ahead_bytes) says, with at most 16
/// reads at once. Dropping it cancels them.
///
/// Blocks are checked and decoded where the stream is polled.
pub struct AsyncBlocks {
    feed: Feed,
    files: AsyncStoredOutput,
    reads: InFlight,
    /// The bytes that were delivered since reads were begun and polled.
    delivered: u64,
}

impl AsyncBlocks {
    pub(super) fn new(feed: Feed, files: AsyncStoredOutput) -> Self {
        AsyncBlocks {
            feed,
            files,
            reads: InFlight::default(),
            delivered: 0,
        }
    }

    /// The next block; none at the end. The future may be dropped: nothing is lost.
    ///
    /// # Errors
    /// The first fault of PRT-3; `io` for what the storage refuses. Nothing follows an error.
    pub async fn next(&mut self) -> Option<Result<Block>> {
        poll_fn(|context| self.poll(context)).await
    }

    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<Block>>> {
        if self.delivered >= PUMP
            && let Err(error) = self.pump(context)
        {
            return self.end(Some(Err(error)));
        }
        loop {
            match self.feed.poll() {
                Poll::Ready(Some(Ok(block))) => {
                    self.delivered += block.header.size_in_file();
                    return Poll::Ready(Some(Ok(block)));
                }
                Poll::Ready(last) => return self.end(last),
                Poll::Pending => {}
            }
            match self.pump(context) {
                Ok(true) => {}
                Ok(false) if self.reads.is_idle() => return self.end(Some(Err(forgotten()))),
                Ok(false) => return Poll::Pending,
                Err(error) => return self.end(Some(Err(error))),
            }
        }
    }

    /// Begins and polls reads, and brings their bytes. Returns whether any has ended.
    fn pump(&mut self, context: &mut Context<'_>) -> Result<bool> {
        self.delivered = 0;
        self.reads.add(self.feed.wanted());
        let (feed, mut refused) = (&mut self.feed, Ok(()));
        let any = self.reads.poll(&self.files, context, |wanted, brought| {
            let taken = match brought {
                Ok((offset, bytes, size)) => feed.bring(wanted.role, offset, bytes, size),
                Err(error) => feed.fail(wanted, &error),
            };
            refused = std::mem::replace(&mut refused, Ok(())).and(taken);
        });
        refused.map(|()| any)
    }

    /// Cancels the reads.
    fn end(&mut self, last: Option<Result<Block>>) -> Poll<Option<Result<Block>>> {
        self.feed.end();
        self.reads = InFlight::default();
        Poll::Ready(last)
    }
}

impl Stream for AsyncBlocks {
    type Item = Result<Block>;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Block>>> {
        self.get_mut().poll(context)
    }
}
