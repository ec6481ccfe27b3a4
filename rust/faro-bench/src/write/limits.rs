//! What the machine does at most.

use super::Task;
use crate::outcome::{Outcome, Run, timed};
use std::fs::{self, File};
use std::hint::black_box;
use std::io::Write;

const PIECE: usize = 1 << 20;

/// The same count of bytes to a new file.
pub fn raw_write(task: &Task<'_>) -> Outcome<Run> {
    let path = task.folder.join("raw");
    let piece = vec![b'x'; PIECE];
    let mut file = File::create_new(&path)?;
    let (seconds, ()) = timed(|| {
        let mut left = task.plain_bytes;
        while left > 0 {
            let now = left.min(PIECE as u64);
            file.write_all(&piece[..now as usize])?;
            left -= now;
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
