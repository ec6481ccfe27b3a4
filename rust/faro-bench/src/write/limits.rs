//! What the machine does at most.

use super::Task;
use crate::outcome::{Outcome, Run, timed};
use rustix::fs::FallocateFlags;
use std::fs::{self, File};
use std::hint::black_box;
use std::io::Write;
use std::path::Path;

/// Bytes of a raw write: among 64 KiB to 4 MiB the best.
const PIECE: usize = 1 << 20;
const AHEAD: u64 = 16 << 20;

/// How a file grows.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Room {
    /// As it is written.
    Found,
    /// Room for 16 MiB more is asked for ahead, without a change of the file's size.
    Ahead,
}

/// So many bytes to a new file, which is removed again.
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

/// The same count of bytes from memory to memory, larger than caches.
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
