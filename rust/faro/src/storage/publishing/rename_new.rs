//! A rename that fails when the name exists (spec, PUB-3).

#![allow(unsafe_code)]

use std::io;
use std::path::Path;

/// Renames a file in one step, and never replaces another: the call fails with `AlreadyExists` then. The error is
/// `Unsupported` where the system or the file system has no such rename; nothing has happened in that case.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
pub(super) fn rename_new(from: &Path, to: &Path) -> io::Result<()> {
    use std::ffi::CString;
    use std::os::unix::ffi::OsStrExt;
    let text = |path: &Path| CString::new(path.as_os_str().as_bytes());
    let (from, to) = (text(from)?, text(to)?);
    let (from, to, here) = (from.as_ptr(), to.as_ptr(), libc::AT_FDCWD);
    // SAFETY: both are texts that end with a zero, and live until the call returns.
    let done = unsafe { libc::renameat2(here, from, here, to, libc::RENAME_NOREPLACE) };
    if done == 0 {
        return Ok(());
    }
    let error = io::Error::last_os_error();
    match error.raw_os_error() {
        // A file system without the flag says EINVAL; a sandbox that does not know the call says EPERM or ENOSYS.
        Some(libc::EINVAL | libc::ENOSYS | libc::EPERM | libc::EOPNOTSUPP) => Err(io::ErrorKind::Unsupported.into()),
        _ => Err(error),
    }
}

/// Other systems take the hard link, which does the same in two calls.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub(super) fn rename_new(_: &Path, _: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}
