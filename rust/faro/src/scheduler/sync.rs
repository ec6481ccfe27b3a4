//! Locks and threads: the standard library's. The tests of interleavings have others of the same names.

pub(super) use std::sync::{Arc, Condvar, Mutex, MutexGuard};
pub(super) use std::thread::{Builder, JoinHandle, current};
