//! The reads of an opening or of a feed that are in progress.

use crate::error::{Error, ErrorCode, FileRole};
use crate::feed::Wanted;
use crate::storage::{AsyncRead, AsyncStoredOutput, FileRange};
use bytes::Bytes;
use std::collections::VecDeque;
use std::io;
use std::task::{Context, Poll};

/// The most reads that are in progress at once.
const MOST: usize = 16;

/// The reads in progress, and those that wait for their turn. Dropping it cancels them.
#[derive(Default)]
pub(super) struct InFlight {
    waiting: VecDeque<Wanted>,
    reads: Vec<(Wanted, AsyncRead)>,
}

/// The result of a read: the offset of the bytes, the bytes, and the size of the file.
pub(super) type Brought = io::Result<(u64, Bytes, u64)>;

impl InFlight {
    pub(super) fn add(&mut self, wanted: Vec<Wanted>) {
        self.waiting.extend(wanted);
    }

    pub(super) fn is_idle(&self) -> bool {
        self.waiting.is_empty() && self.reads.is_empty()
    }

    /// Begins reads, polls all, and hands over what they brought. Returns whether any has ended.
    pub(super) fn poll(
        &mut self,
        files: &AsyncStoredOutput,
        context: &mut Context<'_>,
        mut take: impl FnMut(&Wanted, Brought),
    ) -> bool {
        let (mut any, mut at) = (false, 0);
        loop {
            while self.reads.len() < MOST
                && let Some(wanted) = self.waiting.pop_front()
            {
                let file = match (wanted.role, &files.data) {
                    (FileRole::Data, Some(data)) => data,
                    _ => &files.index,
                };
                let read = file.clone().read(wanted.range.clone());
                self.reads.push((wanted, read));
            }
            let Some((_, read)) = self.reads.get_mut(at) else {
                return any;
            };
            let Poll::Ready(result) = read.as_mut().poll(context) else {
                at += 1;
                continue;
            };
            // The last one takes its place, and is polled next, if only once more than needed.
            let (wanted, _) = self.reads.swap_remove(at);
            any = true;
            match result.and_then(|(bytes, size)| placed(&wanted, bytes, size)) {
                Ok((offset, bytes, size)) => {
                    let (end, all) = (offset + bytes.len() as u64, wanted.range.within(size).end);
                    take(&wanted, Ok((offset, bytes, size)));
                    if end < all {
                        let range = FileRange::Bounded(end..all);
                        self.waiting.push_front(Wanted { range, ..wanted });
                    }
                }
                Err(error) => take(&wanted, Err(error)),
            }
        }
    }
}

/// The bytes of a read with their offset, if the file keeps what it promises.
fn placed(wanted: &Wanted, bytes: Bytes, size: u64) -> Brought {
    let range = wanted.range.within(size);
    let length = range.end - range.start;
    let broken = |what| Err(io::Error::new(io::ErrorKind::InvalidData, what));
    match bytes.len() as u64 {
        more if more > length => broken("the storage returned more bytes than it was asked for"),
        0 if length > 0 => broken("the storage returned no bytes inside the file"),
        _ => Ok((range.start, bytes, size)),
    }
}

/// The error in the place of waiting for ever.
pub(super) fn forgotten() -> Error {
    Error::bare(
        ErrorCode::Io,
        "a read in progress",
        "bytes that are missing and that no read brings",
    )
}
