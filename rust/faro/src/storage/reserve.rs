//! Space on the device, reserved ahead of writing.

#![allow(unsafe_code)]

/// Reserves space on the device for bytes of a file without changing its size. After a failure other than
/// `Unsupported`, part of it may be reserved.
#[cfg(target_os = "linux")]
pub(crate) fn reserve_space(file: &std::fs::File, offset: u64, length: u64) -> std::io::Result<()> {
    use std::os::fd::AsRawFd;
    let (Ok(offset), Ok(length)) = (i64::try_from(offset), i64::try_from(length)) else {
        return Err(std::io::ErrorKind::Unsupported.into());
    };
    // SAFETY: the descriptor is open while the file is borrowed, and no memory is passed.
    let done = unsafe { libc::fallocate64(file.as_raw_fd(), libc::FALLOC_FL_KEEP_SIZE, offset, length) };
    if done == 0 {
        Ok(())
    } else {
        Err(std::io::Error::last_os_error())
    }
}

/// Other systems have no such call.
#[cfg(not(target_os = "linux"))]
pub(crate) fn reserve_space(_file: &std::fs::File, _offset: u64, _length: u64) -> std::io::Result<()> {
    Err(std::io::ErrorKind::Unsupported.into())
}
