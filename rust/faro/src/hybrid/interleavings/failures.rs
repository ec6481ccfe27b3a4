//! The scenarios in which a spill fails.

use super::explore;
use super::pool::Running;
use super::sync::Arc;
use super::world::{PARTITIONS, World, all_read, assert_some, mode, script, write_all};
use crate::error::{Error, ErrorCode};
use shuttle::rand::{Rng, thread_rng};
use shuttle::thread;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Whether it is the error of the spill that failed.
fn is_the_cause(error: &Error) -> bool {
    let text = error.to_string();
    error.code == ErrorCode::Io
        && (text.contains("a test refused it") || text.contains("the executor dropped the work"))
}

/// Writes to a store that is read at the same time, and whose spill of this number fails. Returns whether one failed.
fn write_and_read(world: &World, name: &str, refused: Option<usize>) -> bool {
    let (mode, script) = (mode(), script());
    let mut store = world.store(name, mode);
    let spills = AtomicUsize::new(0);
    let refuses = move || Some(spills.fetch_add(1, Ordering::Relaxed)) == refused;
    assert!(store.spiller.refuses.set(Box::new(refuses)).is_ok());
    let readings = all_read(&store);
    let written = write_all(&mut store, &script);
    let readings = (0..).zip(readings);
    let mut errors: Vec<_> = readings
        .filter_map(|(at, reading)| assert_some(&script, at, reading))
        .collect();
    // A call that is refused, even if the store has not failed.
    let later = store.open(PARTITIONS, None).unwrap_err();
    let failed = later.code == ErrorCode::Io;
    assert!(failed || errors.is_empty() && written.is_ok(), "{errors:?} {written:?}");
    errors.extend(written.err());
    errors.extend(failed.then_some(later));
    assert!(errors.iter().all(is_the_cause), "{errors:?}");
    assert!(!failed || store.figures().in_memory == 0);
    store.close();
    match failed {
        true => assert!(!world.has_files(name)),
        false => world.check_files(name, mode, &script),
    }
    failed
}

/// A store that fails, and one that shares the memory.
fn fails(threads: usize, drops: Option<usize>, refused: Option<usize>) {
    let bytes = thread_rng().gen_range(0..3) * 100;
    let world = Arc::new(World::new(bytes, Running::new(threads, drops)));
    let other = Arc::clone(&world);
    let other = thread::spawn(move || write_and_read(&other, "other", None));
    write_and_read(&world, "s", refused);
    assert!(!other.join().unwrap() || drops.is_some(), "the other store failed");
    Arc::into_inner(world).unwrap().end();
}

#[test]
fn a_write_fails() {
    explore(|| fails(thread_rng().gen_range(0..2), None, Some(thread_rng().gen_range(0..4))));
}

#[test]
fn work_is_dropped() {
    explore(|| fails(1, Some(thread_rng().gen_range(0..2)), None));
}

/// Consumers that wait learn it, and nothing waits for the write.
#[test]
fn a_write_panics() {
    explore(|| {
        let (world, script) = (World::new(0, Running::new(0, None)), script());
        let mut store = world.store("s", mode());
        // Without the message of a panic.
        let panics = || -> bool { resume_unwind(Box::new("a test panics")) };
        assert!(store.spiller.refuses.set(Box::new(panics)).is_ok());
        let readings = all_read(&store);
        let written = catch_unwind(AssertUnwindSafe(|| write_all(&mut store, &script)));
        let failed = store.open(PARTITIONS, None).unwrap_err().code == ErrorCode::Io;
        // A selective store whose blocks were all delivered in time writes nothing.
        assert!(failed == written.is_err());
        for (at, reading) in (0..).zip(readings) {
            let error = assert_some(&script, at, reading);
            assert!(error.is_none_or(|error| failed && error.to_string().contains("it panicked")));
        }
        assert!(!failed || store.figures().in_memory == 0);
        store.close();
        assert!(!failed || !world.has_files("s"));
        world.end();
    });
}
