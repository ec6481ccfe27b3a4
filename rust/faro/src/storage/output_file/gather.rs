//! Writes of bytes from where they are, without a copy in the file's buffer.

use super::{OutputFile, PIECE, Place};
use crate::error::Result;
use std::io::{self, ErrorKind, IoSlice, Write};
use std::time::Instant;

/// Writes end at multiples of it in the file, in bytes. So much stays in the processor's cache from its checksum to here.
pub(crate) const GATHERED: u64 = 256 << 10;

impl OutputFile {
    /// Whether [`OutputFile::gather`] may be called. Otherwise bytes go through the buffer.
    pub(crate) fn gathers(&self) -> bool {
        matches!(self.place, Place::Local(_)) && !self.held
    }

    /// Writes the buffer and then bytes of the slices, which have `total` in all, up to the last multiple of
    /// [`GATHERED`] in the file. Returns how many bytes of the slices it wrote.
    pub(crate) fn gather<'a>(&mut self, total: usize, slices: impl Iterator<Item = &'a [u8]>) -> Result<usize> {
        let end = (self.offset() + total as u64) / GATHERED * GATHERED;
        let Some(taken) = end.checked_sub(self.offset()).filter(|taken| *taken > 0) else {
            return Ok(0);
        };
        let start = Instant::now();
        if end >= PIECE {
            self.reserve(PIECE.max(end - self.written));
        }
        let mut left = taken as usize;
        let mut all = vec![IoSlice::new(&self.buffer)];
        for slice in slices {
            let now = left.min(slice.len());
            all.push(IoSlice::new(&slice[..now]));
            left -= now;
            if left == 0 {
                break;
            }
        }
        let written = self.file().and_then(|mut file| write_all(&mut file, &mut all));
        drop(all);
        self.calls.write_time += start.elapsed();
        written.map_err(|error| self.io("write the file", error))?;
        self.calls.bytes += end - self.written;
        self.written = end;
        self.buffer.clear();
        Ok(taken as usize)
    }
}

/// Writes all bytes, however few each call takes.
fn write_all(to: &mut impl Write, mut slices: &mut [IoSlice<'_>]) -> io::Result<()> {
    // Empty slices at the front would look like a call that takes nothing.
    IoSlice::advance_slices(&mut slices, 0);
    while !slices.is_empty() {
        match to.write_vectored(slices) {
            Ok(0) => return Err(ErrorKind::WriteZero.into()),
            Ok(count) => IoSlice::advance_slices(&mut slices, count),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Takes a few bytes at a time, and is interrupted before each.
    struct Few {
        taken: Vec<u8>,
        calls: usize,
        most: usize,
    }

    impl Write for Few {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.calls += 1;
            if self.calls % 2 == 1 && self.most > 0 {
                return Err(ErrorKind::Interrupted.into());
            }
            let now = self.most.min(bytes.len());
            self.taken.extend_from_slice(&bytes[..now]);
            Ok(now)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn calls_that_take_few_bytes_are_repeated() {
        let parts: [&[u8]; 5] = [b"", b"first", b"", b"second", b"3"];
        for most in 1..8 {
            let mut few = Few {
                taken: Vec::new(),
                calls: 0,
                most,
            };
            let mut slices: Vec<_> = parts.iter().map(|part| IoSlice::new(part)).collect();
            write_all(&mut few, &mut slices).unwrap();
            assert_eq!(few.taken, parts.concat());
        }
    }

    #[test]
    fn a_call_that_takes_nothing_is_an_error() {
        let mut few = Few {
            taken: Vec::new(),
            calls: 0,
            most: 0,
        };
        let error = write_all(&mut few, &mut [IoSlice::new(b"bytes")]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::WriteZero);
    }
}
