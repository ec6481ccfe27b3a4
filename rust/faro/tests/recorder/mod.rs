//! Defines the functions of the C library that the standard library calls. The linker prefers these. On a thread that
//! records, they note the call or make it fail; then they pass it on to the kernel.

// Each test file is a crate and uses only a part.
#![allow(dead_code)]

use libc::{c_char, c_int, c_uint, c_void, size_t, ssize_t};
use std::cell::RefCell;
use std::ffi::{CStr, OsStr};
use std::ops::Range;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

#[derive(Default)]
struct Recorder {
    calls: Vec<String>,
    /// Reads and openings, which are not among the calls and do not fail.
    reads: Vec<String>,
    /// The calls that fail, counted from 0.
    refused: Range<usize>,
}

thread_local! {
    static RECORDER: RefCell<Option<Recorder>> = const { RefCell::new(None) };
}

/// Notes a call; returns whether it may proceed.
fn admit(call: &str, path: &Path) -> bool {
    let judge = |recorder: &RefCell<Option<Recorder>>| {
        let mut recorder = recorder.borrow_mut();
        let Some(recorder) = recorder.as_mut() else {
            return true;
        };
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        recorder.calls.push(format!("{call} {name}"));
        !recorder.refused.contains(&(recorder.calls.len() - 1))
    };
    // The test harness also writes while threads end.
    let admitted = RECORDER.try_with(judge).unwrap_or(true);
    if !admitted {
        // SAFETY: the address is that of the calling thread's errno.
        unsafe { *libc::__errno_location() = libc::EIO };
    }
    admitted
}

/// Notes a read or an opening.
fn note_read(call: &str, path: impl FnOnce() -> PathBuf) {
    let note = |recorder: &RefCell<Option<Recorder>>| {
        if let Some(recorder) = recorder.borrow_mut().as_mut() {
            let path = path();
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            recorder.reads.push(format!("{call} {name}"));
        }
    };
    // As above.
    let _ = RECORDER.try_with(note);
}

fn path_of(descriptor: c_int) -> PathBuf {
    std::fs::read_link(format!("/proc/self/fd/{descriptor}")).unwrap_or_default()
}

fn admit_descriptor(call: &str, descriptor: c_int) -> bool {
    let recording = RECORDER.try_with(|recorder| recorder.borrow().is_some());
    let path = match recording {
        Ok(true) => path_of(descriptor),
        _ => return true,
    };
    admit(call, &path)
}

// SAFETY: as below.
#[unsafe(no_mangle)]
extern "C" fn fallocate64(descriptor: c_int, mode: c_int, offset: i64, length: i64) -> c_int {
    if !admit_descriptor("room for", descriptor) {
        return -1;
    }
    // SAFETY: the caller's arguments, as they came.
    unsafe { libc::syscall(libc::SYS_fallocate, descriptor, mode, offset, length) as c_int }
}

// SAFETY: it has the name and the signature of the C library's function and does the same.
#[unsafe(no_mangle)]
extern "C" fn write(descriptor: c_int, bytes: *const c_void, count: size_t) -> ssize_t {
    if !admit_descriptor("write", descriptor) {
        return -1;
    }
    // SAFETY: the caller's arguments, as they came.
    unsafe { libc::syscall(libc::SYS_write, descriptor, bytes, count) as ssize_t }
}

// SAFETY: as above.
#[unsafe(no_mangle)]
extern "C" fn fdatasync(descriptor: c_int) -> c_int {
    // The device is not synced, which would take time: the test checks only that the call is made.
    if admit_descriptor("sync", descriptor) { 0 } else { -1 }
}

// SAFETY: as above.
#[unsafe(no_mangle)]
extern "C" fn fsync(descriptor: c_int) -> c_int {
    if admit_descriptor("sync", descriptor) { 0 } else { -1 }
}

// SAFETY: as above.
#[unsafe(no_mangle)]
extern "C" fn ftruncate64(descriptor: c_int, length: i64) -> c_int {
    if !admit_descriptor("cut", descriptor) {
        return -1;
    }
    // SAFETY: the caller's arguments, as they came.
    unsafe { libc::syscall(libc::SYS_ftruncate, descriptor, length) as c_int }
}

// SAFETY: as above; both are texts that end with a zero, as `rename` demands of its caller.
#[unsafe(no_mangle)]
unsafe extern "C" fn rename(from: *const c_char, to: *const c_char) -> c_int {
    // SAFETY: see above.
    let path = unsafe { CStr::from_ptr(to) };
    if !admit("rename to", Path::new(OsStr::from_bytes(path.to_bytes()))) {
        return -1;
    }
    // SAFETY: the caller's arguments, as they came.
    unsafe { libc::syscall(libc::SYS_renameat2, libc::AT_FDCWD, from, libc::AT_FDCWD, to, 0) as c_int }
}

// SAFETY: as above.
#[unsafe(no_mangle)]
unsafe extern "C" fn renameat2(a: c_int, from: *const c_char, b: c_int, to: *const c_char, flags: c_uint) -> c_int {
    // SAFETY: see above.
    let path = unsafe { CStr::from_ptr(to) };
    let path = Path::new(OsStr::from_bytes(path.to_bytes()));
    let call = match flags {
        libc::RENAME_NOREPLACE => "rename to free",
        _ => "rename to",
    };
    if !admit(call, path) {
        return -1;
    }
    // SAFETY: the caller's arguments, as they came.
    unsafe { libc::syscall(libc::SYS_renameat2, a, from, b, to, flags) as c_int }
}

// SAFETY: as above.
#[unsafe(no_mangle)]
unsafe extern "C" fn linkat(a: c_int, from: *const c_char, b: c_int, to: *const c_char, flags: c_int) -> c_int {
    // SAFETY: see above.
    let path = unsafe { CStr::from_ptr(to) };
    if !admit("link to", Path::new(OsStr::from_bytes(path.to_bytes()))) {
        return -1;
    }
    // SAFETY: the caller's arguments, as they came.
    unsafe { libc::syscall(libc::SYS_linkat, a, from, b, to, flags) as c_int }
}

// SAFETY: as above.
#[unsafe(no_mangle)]
extern "C" fn pread64(descriptor: c_int, bytes: *mut c_void, count: size_t, offset: i64) -> ssize_t {
    note_read("read", || path_of(descriptor));
    // SAFETY: the caller's arguments, as they came.
    unsafe { libc::syscall(libc::SYS_pread64, descriptor, bytes, count, offset) as ssize_t }
}

// SAFETY: as above. The C library's function takes the mode as a variable argument, which is passed in the same way.
#[unsafe(no_mangle)]
unsafe extern "C" fn open64(path: *const c_char, flags: c_int, mode: c_uint) -> c_int {
    // SAFETY: see above.
    let name = unsafe { CStr::from_ptr(path) };
    note_read("open", || PathBuf::from(OsStr::from_bytes(name.to_bytes())));
    // SAFETY: the caller's arguments, as they came.
    unsafe { libc::syscall(libc::SYS_openat, libc::AT_FDCWD, path, flags, mode) as c_int }
}

fn recording<T>(refused: Range<usize>, act: impl FnOnce() -> T) -> (T, Recorder) {
    let recorder = Recorder {
        refused,
        ..Recorder::default()
    };
    RECORDER.set(Some(recorder));
    let result = act();
    (result, RECORDER.take().unwrap())
}

/// Runs code while this thread's calls are recorded.
pub(crate) fn recorded<T>(refused: Range<usize>, act: impl FnOnce() -> T) -> (T, Vec<String>) {
    let (result, recorder) = recording(refused, act);
    (result, recorder.calls)
}

/// Runs code and returns which files this thread opened and read meanwhile.
pub(crate) fn reads_of<T>(act: impl FnOnce() -> T) -> (T, Vec<String>) {
    let (result, recorder) = recording(0..0, act);
    (result, recorder.reads)
}
