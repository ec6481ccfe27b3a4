//! Exclusive record locks on whole files (spec, PUB-5 and PUB-6).

use std::fs::File;
use std::io;

/// The result of trying to take a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Locked {
    /// This process has it.
    #[cfg_attr(not(unix), allow(dead_code, reason = "there are no record locks"))]
    Here,
    /// Another process has it.
    #[cfg_attr(not(unix), allow(dead_code, reason = "there are no record locks"))]
    Elsewhere,
    /// The system has no record locks for this file.
    Unsupported,
}

/// Tries to take the lock, without waiting. The file must be open for writing.
#[cfg(unix)]
pub(crate) fn lock_file(file: &File) -> io::Result<Locked> {
    use rustix::fs::{FlockOperation, fcntl_lock};
    use rustix::io::Errno;
    loop {
        return match fcntl_lock(file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(Locked::Here),
            Err(Errno::INTR) => continue,
            Err(Errno::AGAIN | Errno::ACCESS) => Ok(Locked::Elsewhere),
            Err(Errno::NOLCK | Errno::OPNOTSUPP | Errno::NOSYS | Errno::INVAL) => Ok(Locked::Unsupported),
            Err(error) => Err(error.into()),
        };
    }
}

/// Releases the lock. If that fails, closing the file releases it.
#[cfg(unix)]
pub(crate) fn unlock_file(file: &File) {
    let _ = rustix::fs::fcntl_lock(file, rustix::fs::FlockOperation::NonBlockingUnlock);
}

#[cfg(not(unix))]
pub(crate) fn lock_file(_: &File) -> io::Result<Locked> {
    Ok(Locked::Unsupported)
}

#[cfg(not(unix))]
pub(crate) fn unlock_file(_: &File) {}
