//! Files that are read from the disk, and not from memory.

use crate::outcome::Outcome;
use faro::Files;
use std::fs::File;
use std::os::fd::AsRawFd;

/// Removes the files from the page cache. Their bytes must be on the disk first.
pub(crate) fn forget(files: &Files) -> Outcome<()> {
    for (_, path) in files.paths() {
        let file = File::open(path)?;
        file.sync_all()?;
        // SAFETY: the descriptor is open, and the call does not touch memory of this program.
        let failed = unsafe { libc::posix_fadvise(file.as_raw_fd(), 0, 0, libc::POSIX_FADV_DONTNEED) };
        if failed != 0 {
            return Err(std::io::Error::from_raw_os_error(failed).into());
        }
    }
    Ok(())
}
