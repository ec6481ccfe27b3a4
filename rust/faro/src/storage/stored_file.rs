//! What a reader asks of the place where a file is (docs/storage.md).

use std::fmt::Debug;
use std::io;
use std::path::Path;
use std::sync::Arc;

/// A finished file that is read by position, wherever its bytes are: on a disk, in memory, in an object store.
///
/// A reader relies on these promises. [`check_stored_file`](super::check_stored_file) tests most of them.
///
/// - Reads change no common position. Any number of threads may read at the same time.
/// - The bytes are always those of the file that was opened. If its content can be replaced under the same name, the
///   implementation notices that and fails.
/// - A failure is an [`io::Error`]. The reader reports it as [`ErrorCode::Io`](crate::ErrorCode::Io) with the role and
///   the name of the file, except [`io::ErrorKind::Interrupted`]: it reads again then.
/// - Dropping the file closes it.
///
/// ```
/// use faro::storage::{StoredFile, check_stored_file};
/// use std::{io, path::Path};
///
/// /// A file in an array.
/// #[derive(Debug)]
/// struct Fixed(&'static [u8]);
///
/// impl StoredFile for Fixed {
///     fn name(&self) -> &Path {
///         Path::new("fixed")
///     }
///
///     fn size(&self) -> io::Result<u64> {
///         Ok(self.0.len() as u64)
///     }
///
///     fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
///         let from = usize::try_from(offset).unwrap_or(usize::MAX).min(self.0.len());
///         let count = buffer.len().min(self.0.len() - from);
///         buffer[..count].copy_from_slice(&self.0[from..from + count]);
///         Ok(count)
///     }
/// }
///
/// check_stored_file(&Fixed(b"some bytes"), b"some bytes").unwrap();
/// ```
pub trait StoredFile: Debug + Send + Sync {
    /// The name that errors show to people. It need not be the path of a file.
    fn name(&self) -> &Path;

    /// The size in bytes. That of a finished file does not change.
    ///
    /// # Errors
    /// Those of the storage.
    fn size(&self) -> io::Result<u64>;

    /// Reads bytes from `offset` on into the beginning of `buffer`, and returns how many.
    ///
    /// Below the size, that is at least 1 and at most the length of `buffer`; the reader reads on when it is less. At
    /// or after the end, and with an empty buffer, it is 0. What is in the rest of `buffer` has no meaning.
    ///
    /// # Errors
    /// Those of the storage. A position after the end is not an error.
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize>;

    /// Reads several ranges: fills each until its buffer is full or the file ends. They may be in any order, overlap,
    /// be empty, or be after the end.
    ///
    /// The default reads one after another. An implementation may read them at the same time, or join neighbours.
    ///
    /// # Errors
    /// The error of any range. Nothing is known of any of the ranges then; the reader reads each again, alone.
    fn read_ranges(&self, ranges: &mut [RangeRead<'_>]) -> io::Result<()> {
        ranges.iter_mut().try_for_each(|range| range.fill_from(self))
    }

    /// How many neighbouring bytes a reader should ask for at once, 4 MiB by default. A storage where each read has a
    /// high cost says more. A reader asks for more if it needs more, and for less at the end of what it wants; it takes
    /// at most 64 MiB of this as one read.
    fn read_bytes(&self) -> u64 {
        4 << 20
    }

    /// Names the content, if the storage can: two files with the same name and the same version have the same bytes.
    fn version(&self) -> Option<String> {
        None
    }
}

/// A range of a file that [`StoredFile::read_ranges`] reads, and what it has read of it.
#[derive(Debug)]
pub struct RangeRead<'a> {
    offset: u64,
    buffer: &'a mut [u8],
    filled: usize,
}

impl<'a> RangeRead<'a> {
    /// A range from `offset` on, as long as `buffer`, with nothing read yet.
    pub fn new(offset: u64, buffer: &'a mut [u8]) -> Self {
        RangeRead {
            offset,
            buffer,
            filled: 0,
        }
    }

    /// Where the range begins in the file, in bytes.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// The length of the range in bytes: that of its buffer.
    pub fn length(&self) -> usize {
        self.buffer.len()
    }

    /// The bytes of the range; the first [`RangeRead::filled`] are read.
    pub fn buffer(&mut self) -> &mut [u8] {
        self.buffer
    }

    /// How many bytes are read. It is less than the length of the buffer only if the file ends before.
    pub fn filled(&self) -> usize {
        self.filled
    }

    /// Says how many bytes are read: at most the length of the buffer, or the reader fails.
    pub fn set_filled(&mut self, filled: usize) {
        self.filled = filled;
    }

    /// Fills the range with [`StoredFile::read_at`], as often as needed. It begins anew, whatever was filled before.
    ///
    /// # Errors
    /// The first error of a read.
    pub fn fill_from<F: StoredFile + ?Sized>(&mut self, file: &F) -> io::Result<()> {
        self.filled = read_full(self.offset, self.buffer, |offset, rest| file.read_at(offset, rest))?;
        Ok(())
    }

    /// Whether it says that it has more bytes than it has room for.
    pub(super) fn is_overfull(&self) -> bool {
        self.filled > self.buffer.len()
    }
}

/// Reads until `buffer` is full or the file ends, and returns how many bytes it read. Interrupted reads are repeated.
pub(super) fn read_full(
    offset: u64,
    buffer: &mut [u8],
    mut read_at: impl FnMut(u64, &mut [u8]) -> io::Result<usize>,
) -> io::Result<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        let rest = &mut buffer[filled..];
        let most = rest.len();
        match read_at(offset.saturating_add(filled as u64), rest) {
            Ok(0) => break,
            // The count comes from the caller's code: a wrong one must not become a panic of the reader.
            Ok(count) if count > most => return Err(overfull()),
            Ok(count) => filled += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

/// The error of a storage that returns more bytes than it was asked for.
pub(super) fn overfull() -> io::Error {
    io::Error::new(
        io::ErrorKind::InvalidData,
        "the storage returned more bytes than it was asked for",
    )
}

/// Pointers to files are files, so that a cache can share them.
macro_rules! forward {
    ($pointer:ident) => {
        impl<F: StoredFile + ?Sized> StoredFile for $pointer<F> {
            fn name(&self) -> &Path {
                (**self).name()
            }

            fn size(&self) -> io::Result<u64> {
                (**self).size()
            }

            fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
                (**self).read_at(offset, buffer)
            }

            fn read_ranges(&self, ranges: &mut [RangeRead<'_>]) -> io::Result<()> {
                (**self).read_ranges(ranges)
            }

            fn read_bytes(&self) -> u64 {
                (**self).read_bytes()
            }

            fn version(&self) -> Option<String> {
                (**self).version()
            }
        }
    };
}

forward!(Arc);
forward!(Box);
