//! The limits of the machine.

use super::Task;
use crate::outcome::{Outcome, Run, timed};
use rustix::fs::FallocateFlags;
use std::fs::{self, File};
use std::hint::black_box;
use std::io::Write;
use std::path::Path;

/// The size of a raw write: the best from 64 KiB to 4 MiB.
const PIECE: usize = 1 << 20;
const AHEAD: u64 = 16 << 20;

/// How a file grows.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Room {
    /// With each write.
    Found,
    /// Space for 16 MiB is reserved ahead, without changing the file's size.
    Ahead,
}

/// Writes `size` bytes to a new file, and removes it.
pub(crate) fn raw_write(folder: &Path, size: u64, room: Room) -> Outcome<Run> {
    let path = folder.join("raw");
    let bytes = vec![b'x'; PIECE];
    let mut file = File::create_new(&path)?;
    let (seconds, ()) = timed(|| {
        let (mut written, mut there) = (0, 0);
        while written < size {
            let now = (size - written).min(PIECE as u64);
            if room == Room::Ahead && written + now > there {
                rustix::fs::fallocate(&file, FallocateFlags::KEEP_SIZE, there, AHEAD)?;
                there += AHEAD;
            }
            file.write_all(&bytes[..now as usize])?;
            written += now;
        }
        if there > written {
            file.set_len(written)?;
        }
        Ok(())
    })?;
    fs::remove_file(path)?;
    Ok(Run {
        stored_bytes: Some(size),
        files: Some(1),
        ..Run::timed(seconds)
    })
}

/// Copies the same number of bytes from memory to memory, with more memory than the caches have.
pub(crate) fn memcpy(task: &Task<'_>) -> Outcome<Run> {
    let size = task.plain_bytes.min(128 << 20) as usize;
    let from = vec![1u8; size];
    let mut to = vec![2u8; size];
    let (seconds, ()) = timed(|| {
        let mut left = task.plain_bytes;
        while left > 0 {
            let now = left.min(size as u64);
            to[..now as usize].copy_from_slice(black_box(&from[..now as usize]));
            black_box(&mut to);
            left -= now;
        }
        Ok(())
    })?;
    Ok(Run::timed(seconds))
}
