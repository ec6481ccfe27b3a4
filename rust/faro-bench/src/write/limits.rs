//! What the machine does at most.

use super::Task;
use crate::outcome::{Outcome, Run, timed};
use rustix::fs::FallocateFlags;
use std::fs::{self, File};
use std::hint::black_box;
use std::io::Write;

const AHEAD: u64 = 16 << 20;

/// How a file grows.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Room {
    /// As it is written.
    Found,
    /// Room for 16 MiB more is asked for ahead, without a change of the file's size.
    Ahead,
}

/// The same count of bytes to a new file, in pieces of so many bytes.
pub fn raw_write(task: &Task<'_>, piece: usize, room: Room) -> Outcome<Run> {
    let path = task.folder.join("raw");
    let bytes = vec![b'x'; piece];
    let mut file = File::create_new(&path)?;
    let (seconds, ()) = timed(|| {
        let (mut written, mut there) = (0, 0);
        while written < task.plain_bytes {
            let now = (task.plain_bytes - written).min(piece as u64);
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
        stored_bytes: Some(task.plain_bytes),
        files: Some(1),
        ..Run::timed(seconds)
    })
}

/// The same count of bytes from memory to memory, larger than caches.
pub fn memcpy(task: &Task<'_>) -> Outcome<Run> {
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
