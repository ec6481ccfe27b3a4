//! Opening an output whose bytes the caller brings.

use super::files::Files;
use super::incoming::Wanted;
use super::{FeedOptions, FeedReader};
use crate::bytes::FileHeader;
use crate::error::{FileRole, Result};
use crate::reader::Reader;
use crate::reader::trace::fault;
use crate::storage::is_missing;
use bytes::Bytes;
use std::io;
use std::path::PathBuf;
use std::task::Poll;

/// The least size of a request, and the last bytes of a single file that are asked for first. Such a file may be all
/// data, so that more of it would be of no use.
const LEAST: u64 = 64 << 10;

/// Opens an output whose bytes the caller brings: OPN-1, in the same steps and with the same errors as
/// [`Reader::open_stored`].
///
/// The caller fetches what [`Opening::wanted`] returns, brings it, and polls. A pair whose index has at most 1 MiB
/// ([`FeedOptions::small_bytes`]) takes two requests, both at once: the end of the index, and the header of the data
/// file. A single file takes one request up to 64 KiB, and two up to 1 MiB and usually above it.
#[derive(Debug)]
pub struct Opening {
    files: Files,
    options: FeedOptions,
}

impl Opening {
    /// Opens a data file and its index file (FIL-1). Errors show their names.
    ///
    /// # Errors
    /// `invalid-argument` for sizes that [`FeedOptions`] does not allow.
    pub fn paired(data: impl Into<PathBuf>, index: impl Into<PathBuf>, options: FeedOptions) -> Result<Self> {
        options.check()?;
        let mut files = Files::paired(data.into(), index.into());
        files.index.want_suffix(options.small_bytes);
        files.data().want(0..FileHeader::SIZE as u64);
        Ok(Opening { files, options })
    }

    /// Opens a single file (FIL-2). Errors show its name.
    ///
    /// # Errors
    /// `invalid-argument` for sizes that [`FeedOptions`] does not allow.
    pub fn single(name: impl Into<PathBuf>, options: FeedOptions) -> Result<Self> {
        options.check()?;
        let mut files = Files::single(name.into());
        files.index.want_suffix(LEAST.min(options.small_bytes));
        Ok(Opening { files, options })
    }

    /// The bytes that are wanted and were not returned before. They can all be fetched at the same time.
    pub fn wanted(&mut self) -> Vec<Wanted> {
        self.files.tell(&self.options)
    }

    /// All bytes that are wanted and were not brought, for a caller that gave up some requests.
    pub fn missing(&self) -> Vec<Wanted> {
        self.files.missing()
    }

    /// Brings bytes of a file from `offset` on; `size` is the size of the file. Bytes that are not wanted are dropped:
    /// those of a gap, and those that were brought before.
    ///
    /// # Errors
    /// `invalid-argument` for bytes outside of the file, and for a file that the output does not have. Nothing is taken
    /// then.
    pub fn bring(&mut self, role: FileRole, offset: u64, bytes: impl Into<Bytes>, size: u64) -> Result<()> {
        self.files.bring(role, offset, &bytes.into(), size)
    }

    /// Says that wanted bytes do not come. When they are needed, [`Opening::poll`] returns `io` with this error.
    ///
    /// # Errors
    /// `invalid-argument` for a file that the output does not have.
    pub fn fail(&mut self, wanted: &Wanted, error: &io::Error) -> Result<()> {
        self.files.fail(wanted, error)
    }

    /// The reader, when all of its bytes are there; `Pending` when bytes have to be brought first. A call after that
    /// returns the same again.
    ///
    /// # Errors
    /// The first check of OPN-1 that fails; `unfinished` for a file without a tail; `io` after [`Opening::fail`].
    pub fn poll(&mut self) -> Poll<Result<FeedReader>> {
        match Reader::open_untraced(self.files.stored(), self.options.reader.clone()) {
            Ok(reader) => Poll::Ready(Ok(FeedReader::new(&reader, self.files.fork(), self.options.clone()))),
            Err(error) if is_missing(&error) => {
                self.want_missed();
                Poll::Pending
            }
            Err(error) => {
                fault(&error);
                Poll::Ready(Err(error))
            }
        }
    }

    /// Wants what the last attempt has missed.
    fn want_missed(&mut self) {
        let small = self.options.small_bytes;
        let least = LEAST.min(small);
        for incoming in self.files.all() {
            let missed = incoming.file.take_missed();
            if incoming.waits_for_suffix() {
                continue;
            }
            let is_small = incoming.file.known_size().is_some_and(|size| size <= small);
            for range in missed {
                // A request that is on its way needs no longer one beside it.
                if incoming.is_coming(&range) {
                    continue;
                }
                match is_small {
                    true => incoming.want(0..small),
                    false => incoming.want(range.start..range.end.max(range.start.saturating_add(least))),
                }
            }
        }
    }
}
