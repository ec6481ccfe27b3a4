//! Locks and threads of the standard library. The tests of interleavings replace this module.

pub(super) use std::sync::{Arc, Condvar, Mutex, MutexGuard};
pub(super) use std::thread::{Builder, JoinHandle, current};
