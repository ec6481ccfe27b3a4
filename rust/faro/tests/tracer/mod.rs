//! Lists the system calls of a piece of code. It runs in a forked process, which this process traces (`ptrace`). So no
//! call escapes, whichever way the library makes it.

use libc::{c_int, c_long, c_void, pid_t};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// The name of a call that concerns files; none for memory, random numbers, clocks and signals.
fn name_of(number: c_long, arguments: [u64; 6]) -> Option<String> {
    Some(match number {
        // Without optimization, the standard library looks at each descriptor before it closes it.
        libc::SYS_fcntl if arguments[1] == libc::F_GETFD as u64 => return None,
        libc::SYS_mmap
        | libc::SYS_munmap
        | libc::SYS_mremap
        | libc::SYS_mprotect
        | libc::SYS_madvise
        | libc::SYS_brk
        | libc::SYS_getrandom
        | libc::SYS_futex
        | libc::SYS_gettid
        | libc::SYS_getpid
        | libc::SYS_tgkill
        | libc::SYS_clock_gettime => return None,
        libc::SYS_statx => "statx".into(),
        libc::SYS_openat => "openat".into(),
        libc::SYS_fcntl => "fcntl".into(),
        libc::SYS_write => "write".into(),
        libc::SYS_pread64 => "pread64".into(),
        libc::SYS_renameat2 => "renameat2".into(),
        libc::SYS_linkat => "linkat".into(),
        libc::SYS_close => "close".into(),
        #[cfg(target_arch = "x86_64")]
        libc::SYS_unlink => "unlink".into(),
        libc::SYS_unlinkat => "unlink".into(),
        other => format!("call {other}"),
    })
}

fn ptrace(request: libc::c_uint, process: pid_t, address: usize, data: *mut c_void) -> c_long {
    // SAFETY: the requests of this module take numbers, or write into the memory that the caller owns.
    unsafe { libc::ptrace(request, process, address as *mut c_void, data) }
}

/// Waits until the process stops or ends; returns its status.
fn status_of(process: pid_t) -> c_int {
    let mut status = 0;
    // SAFETY: the status is a local variable.
    assert_eq!(unsafe { libc::waitpid(process, &raw mut status, 0) }, process);
    status
}

/// Runs code in a forked process, and returns its calls that concern files, in their order.
pub(crate) fn calls_of(act: impl FnOnce()) -> Vec<String> {
    // SAFETY: the child runs only `act`, and ends without returning to the test harness.
    let child = unsafe { libc::fork() };
    if child == 0 {
        ptrace(libc::PTRACE_TRACEME, 0, 0, std::ptr::null_mut());
        // SAFETY: signals to itself; the first and the last tell the parent where the code begins and ends.
        unsafe { libc::raise(libc::SIGSTOP) };
        let good = catch_unwind(AssertUnwindSafe(act)).is_ok();
        // SAFETY: as above; then the process ends.
        unsafe {
            libc::raise(libc::SIGSTOP);
            libc::_exit(if good { 0 } else { 1 });
        }
    }
    let first = status_of(child);
    assert!(libc::WIFSTOPPED(first), "the process cannot be traced");
    let options = libc::PTRACE_O_TRACESYSGOOD as usize;
    ptrace(libc::PTRACE_SETOPTIONS, child, 0, options as *mut c_void);
    let mut calls = Vec::new();
    loop {
        ptrace(libc::PTRACE_SYSCALL, child, 0, std::ptr::null_mut());
        let status = status_of(child);
        assert!(libc::WIFSTOPPED(status), "the process ended early");
        // With the option, stops at system calls differ from signals.
        if libc::WSTOPSIG(status) != libc::SIGTRAP | 0x80 {
            break;
        }
        // SAFETY: zeros are a valid value of this struct of numbers.
        let mut info: libc::ptrace_syscall_info = unsafe { std::mem::zeroed() };
        let size = size_of_val(&info);
        assert!(ptrace(libc::PTRACE_GET_SYSCALL_INFO, child, size, (&raw mut info).cast()) > 0);
        if info.op == libc::PTRACE_SYSCALL_INFO_ENTRY {
            // SAFETY: at an entry the union has the entry.
            let entry = unsafe { info.u.entry };
            calls.extend(name_of(entry.nr as c_long, entry.args));
        }
    }
    ptrace(libc::PTRACE_CONT, child, 0, std::ptr::null_mut());
    let last = status_of(child);
    assert!(
        libc::WIFEXITED(last) && libc::WEXITSTATUS(last) == 0,
        "the code panicked"
    );
    calls
}
