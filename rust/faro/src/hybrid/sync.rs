//! Locks and counters of the standard library. The tests of interleavings replace this module.

pub(super) use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
pub(super) use std::sync::{Arc, Condvar, Mutex, MutexGuard, Weak};
