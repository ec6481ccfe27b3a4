//! A test kit for implementations of [`StoredFile`].

use super::stored_file::{RangeRead, StoredFile, read_full};
use std::collections::BTreeSet;
use std::fmt;
use std::io;
use std::ops::Range;
use std::sync::Barrier;

/// How many threads read at the same time, and how often each reads.
const THREADS: u64 = 4;
const READS: u64 = 200;

/// A promise that a [`StoredFile`] or a [`NewFile`](super::NewFile) does not keep.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BrokenPromise {
    /// What should keep the promise: `a stored file` or `a new file`.
    pub of: &'static str,
    /// The number of the promise in docs/storage.md: of a stored file 1 size, 2 read, 3 no position, 4 ranges; of a new
    /// file 1 name, 2 append, 3 sync, 4 publish, 5 remove, 6 open, 7 closing.
    pub promise: u8,
    /// What was done, what was expected and what was found, as a text for people.
    pub what: String,
}

impl fmt::Display for BrokenPromise {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "promise {} of {} is broken: {}", self.promise, self.of, self.what)
    }
}

impl std::error::Error for BrokenPromise {}

type Kept = Result<(), BrokenPromise>;

fn broken(promise: u8, what: String) -> Kept {
    let of = "a stored file";
    Err(BrokenPromise { of, promise, what })
}

/// Checks that a file keeps the promises 1 to 4 of docs/storage.md: its size; reads of many lengths at many offsets,
/// at, before and after the end; reads of several threads at once; ranges that overlap, are empty, or are after the
/// end. `bytes` is what the file has. It makes some thousands of reads of up to 1 MiB; a file of some thousand bytes is
/// large enough.
///
/// Short reads and [`io::ErrorKind::Interrupted`] are allowed, as for a reader.
///
/// ```
/// use faro::storage::{MemoryFile, check_stored_file};
///
/// let file = MemoryFile::new("x", "some bytes");
/// check_stored_file(&file, b"some bytes")?;
/// let broken = check_stored_file(&file, b"some byte").unwrap_err();
/// assert_eq!(broken.promise, 1);
/// # Ok::<(), faro::storage::BrokenPromise>(())
/// ```
///
/// # Errors
/// The first promise that is not kept.
pub fn check_stored_file(file: &dyn StoredFile, bytes: &[u8]) -> Result<(), BrokenPromise> {
    let kit = Kit { file, bytes };
    kit.size()?;
    let (offsets, lengths) = (kit.offsets(), kit.lengths());
    for offset in &offsets {
        for length in &lengths {
            kit.read(*offset, *length)?;
            kit.read_on(*offset, *length)?;
        }
    }
    kit.ranges(&[])?;
    for offset in &offsets {
        for length in &lengths {
            kit.ranges(&[(*offset, *length)])?;
        }
    }
    kit.sets_of_ranges()?;
    kit.at_once()?;
    kit.size()
}

/// A file, and the bytes that it should have.
struct Kit<'a> {
    file: &'a dyn StoredFile,
    bytes: &'a [u8],
}

impl<'a> Kit<'a> {
    fn end(&self) -> u64 {
        self.bytes.len() as u64
    }

    /// Offsets at the beginning, in the middle, around the end, and far after it.
    fn offsets(&self) -> BTreeSet<u64> {
        let end = self.end();
        let near = [0, 1, 7, 64, 4096].into_iter();
        near.clone()
            .chain(near.clone().map(|before| end.saturating_sub(before)))
            .chain(near.map(|after| end + after))
            .chain([end / 3, end / 2, i64::MAX as u64 - 10, i64::MAX as u64, u64::MAX])
            .collect()
    }

    /// Lengths from none to more than the whole file, but of large files at most some 1 MiB.
    fn lengths(&self) -> BTreeSet<usize> {
        let whole = self.bytes.len().min(1 << 20);
        [
            0,
            1,
            2,
            7,
            8,
            64,
            255,
            4096,
            70_000,
            whole / 2,
            whole,
            whole + 1,
            whole + 100,
        ]
        .into_iter()
        .filter(|length| *length <= whole + 100)
        .collect()
    }

    /// The bytes that a range should have.
    fn wanted(&self, offset: u64, length: usize) -> &'a [u8] {
        let place = |at: u64| at.min(self.end()) as usize;
        &self.bytes[place(offset)..place(offset.saturating_add(length as u64))]
    }

    /// A buffer that has none of the bytes that should be read.
    fn buffer(&self, offset: u64, length: usize) -> Vec<u8> {
        let mut buffer: Vec<u8> = self.wanted(offset, length).iter().map(|byte| !byte).collect();
        buffer.resize(length, 0xA5);
        buffer
    }

    fn size(&self) -> Kept {
        match self.file.size() {
            Ok(size) if size == self.end() => Ok(()),
            Ok(size) => broken(1, format!("a size of {size} bytes, of a file of {}", self.end())),
            Err(error) => broken(1, format!("no size: {error}")),
        }
    }

    /// One read, repeated if it is interrupted.
    fn read(&self, offset: u64, length: usize) -> Kept {
        let mut buffer = self.buffer(offset, length);
        let found = loop {
            match self.file.read_at(offset, &mut buffer) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                other => break other,
            }
        };
        let wanted = self.wanted(offset, length);
        let what = || {
            format!(
                "a read of {length} bytes at {offset}, of a file of {} bytes,",
                self.end()
            )
        };
        match found {
            Err(error) => broken(2, format!("{} fails: {error}", what())),
            Ok(count) if count > length => broken(2, format!("{} returns {count} bytes, too many", what())),
            Ok(count) if count > wanted.len() => {
                broken(2, format!("{} returns {count} bytes, more than there are", what()))
            }
            Ok(0) if !wanted.is_empty() => broken(2, format!("{} returns none", what())),
            Ok(count) => self.same(2, offset, &buffer[..count], what),
        }
    }

    /// Reads that are repeated until the buffer is full or the file ends.
    fn read_on(&self, offset: u64, length: usize) -> Kept {
        let mut buffer = self.buffer(offset, length);
        let what = || {
            format!(
                "reading on from {offset}, for {length} bytes of a file of {},",
                self.end()
            )
        };
        match read_full(offset, &mut buffer, |at, rest| self.file.read_at(at, rest)) {
            Err(error) => broken(2, format!("{} fails: {error}", what())),
            Ok(count) => self.whole(2, offset, &buffer, count, what),
        }
    }

    /// Whether `count` is all of a range that there is, and its bytes are right.
    fn whole(&self, promise: u8, offset: u64, buffer: &[u8], count: usize, what: impl Fn() -> String) -> Kept {
        let wanted = self.wanted(offset, buffer.len());
        if count != wanted.len() {
            return broken(
                promise,
                format!("{} ends after {count} bytes, not {}", what(), wanted.len()),
            );
        }
        self.same(promise, offset, &buffer[..count], what)
    }

    /// Whether bytes are those from `offset` on.
    fn same(&self, promise: u8, offset: u64, found: &[u8], what: impl Fn() -> String) -> Kept {
        let wanted = self.wanted(offset, found.len());
        match wanted.iter().zip(found).position(|(wanted, found)| wanted != found) {
            None => Ok(()),
            Some(at) => {
                let (byte, right) = (found[at], wanted[at]);
                let place = offset + at as u64;
                broken(
                    promise,
                    format!("{} has {byte:#04x} at offset {place}, not {right:#04x}", what()),
                )
            }
        }
    }

    /// One call for several ranges.
    fn ranges(&self, places: &[(u64, usize)]) -> Kept {
        let mut buffers: Vec<_> = places.iter().map(|(at, length)| self.buffer(*at, *length)).collect();
        let mut ranges: Vec<_> = places
            .iter()
            .zip(&mut buffers)
            .map(|((offset, _), buffer)| RangeRead::new(*offset, buffer))
            .collect();
        let result = loop {
            match self.file.read_ranges(&mut ranges) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                other => break other,
            }
        };
        let of = format!(
            "of {} ranges read at once, of a file of {} bytes",
            places.len(),
            self.end()
        );
        if let Err(error) = result {
            return broken(4, format!("one {of}, fails: {error}"));
        }
        let counts: Vec<usize> = ranges.iter().map(RangeRead::filled).collect();
        for (number, (buffer, count)) in buffers.iter().zip(counts).enumerate() {
            let (offset, length) = places[number];
            let what = || format!("number {number} {of}, from {offset} for {length} bytes,");
            self.whole(4, offset, buffer, count, what)?;
        }
        Ok(())
    }

    /// Ranges in and out of order, that overlap, are the same, leave gaps, are empty or after the end.
    fn sets_of_ranges(&self) -> Kept {
        let end = self.end();
        let part = (self.bytes.len() / 7).clamp(1, 10_000);
        let neighbours: Vec<(u64, usize)> = (0..7).map(|at| (at * part as u64, part)).collect();
        let backwards: Vec<_> = neighbours.iter().rev().copied().collect();
        let gaps: Vec<_> = (0..7).map(|at| (at * part as u64, part.div_ceil(2))).collect();
        let overlapping: Vec<_> = (0..7).map(|at| (at * part as u64 / 2, part)).collect();
        let same = vec![(end / 3, part); 3];
        let empty = vec![(0, 0), (end / 2, 0), (end, 0), (end + 9, 0), (u64::MAX, 0)];
        let before_end = end.saturating_sub(part as u64 / 2);
        let after_the_end = vec![
            (0, part),
            (end, part),
            (before_end, part),
            (end + 9, part),
            (u64::MAX, part),
            (1, part),
        ];
        let many: Vec<_> = (0..200).map(|at| (at * 37 % (end + 1), 1 + at as usize % 9)).collect();
        for places in [
            neighbours,
            backwards,
            gaps,
            overlapping,
            same,
            empty,
            after_the_end,
            many,
        ] {
            self.ranges(&places)?;
        }
        Ok(())
    }

    /// Threads that read different parts at the same time.
    fn at_once(&self) -> Kept {
        let barrier = Barrier::new(THREADS as usize);
        let run = |thread: u64| {
            barrier.wait();
            for turn in 0..READS {
                let offset = (thread * 7919 + turn * 104_729) % (self.end() + 1);
                let length = 1 + (thread * 31 + turn * 17) as usize % 600;
                self.read(offset, length)?;
                self.read_on(offset, length)?;
                if turn % 8 == thread {
                    self.ranges(&[(offset, length), (offset / 2, length)])?;
                }
            }
            Ok(())
        };
        std::thread::scope(|scope| {
            let run = &run;
            let threads: Range<u64> = 0..THREADS;
            let threads: Vec<_> = threads.map(|thread| scope.spawn(move || run(thread))).collect();
            // One thread alone found nothing wrong, so it is a matter of many.
            let shared = |broken: BrokenPromise| BrokenPromise {
                of: "a stored file",
                promise: 3,
                what: format!("with {THREADS} threads at once, {}", broken.what),
            };
            let results = threads.into_iter().map(|thread| match thread.join() {
                Ok(result) => result.map_err(shared),
                Err(panic) => std::panic::resume_unwind(panic),
            });
            results.collect()
        })
    }
}
