//! The scenarios in which nothing fails.

use super::pool::Running;
use super::progress::Progress;
use super::sync::{Arc, Mutex};
use super::world::{
    Bell, PARTITIONS, Step, World, all_read, assert_all, assert_some, expected, largest, messages, mode, reads,
    reads_and, script, take, write, write_all,
};
use super::{HybridMode, HybridPosition, HybridStore, explore};
use crate::error::ErrorCode;
use shuttle::rand::{Rng, thread_rng};
use shuttle::sync::mpsc::channel;
use shuttle::thread;

/// So little that regions leave.
fn little() -> u64 {
    thread_rng().gen_range(0..4) * 100
}

#[test]
fn consumers_wait_and_memory_is_ample() {
    explore(|| {
        let world = World::new(1 << 20, Running::new(0, None));
        let mut store = world.store("s", HybridMode::Selective);
        let script = script();
        let readings = all_read(&store);
        write_all(&mut store, &script).unwrap();
        assert_all(&script, readings);
        // What each partition has delivered is gone.
        assert_eq!(world.memory.used(), 0);
        store.close();
        assert!(!world.has_files("s"));
        world.end();
    });
}

#[test]
fn a_thread_spills() {
    explore(|| {
        let world = World::new(little(), Running::new(1, None));
        let mode = mode();
        let mut store = world.store("s", mode);
        let script = script();
        let later = thread_rng().gen_bool(0.5);
        let mut readings = vec![reads(&store, 0)];
        readings.extend((!later).then(|| reads(&store, 1)));
        for step in &script {
            write(&mut store, step).unwrap();
            if thread_rng().gen_bool(0.3) {
                world.rest();
            }
        }
        store.finish().unwrap();
        readings.extend(later.then(|| reads(&store, 1)));
        assert_all(&script, readings);
        store.close();
        world.check_files("s", mode, &script);
        world.end();
    });
}

#[test]
fn a_producer_waits_for_what_it_flushed() {
    explore(|| {
        let world = World::new(little(), Running::new(thread_rng().gen_range(0..2), None));
        let mut store = world.store("s", mode());
        let (delivers, delivered) = channel();
        let readings = (0..PARTITIONS).map(|partition| {
            let delivers = delivers.clone();
            reads_and(&store, partition, move |records| {
                delivers.send(records.len() as u32).unwrap()
            })
        });
        let readings = readings.collect();
        let (script, mut missing) = (script(), 0);
        for step in &script {
            write(&mut store, step).unwrap();
            missing += if step.to.is_none() { PARTITIONS } else { 1 };
            while step.flushes && missing > 0 {
                missing -= delivered.recv().unwrap();
            }
        }
        store.finish().unwrap();
        assert_all(&script, readings);
        store.release();
        world.end();
    });
}

#[test]
fn what_was_delivered_is_not_wanted() {
    explore(|| {
        let progress = Arc::new(Progress::default());
        progress.delivered(false, 0);
        let reading = Arc::clone(&progress);
        let reading = thread::spawn(move || reading.move_to(1));
        assert!(progress.wanted(0, false) > 0);
        reading.join().unwrap();
    });
}

/// A reading that is given up at times. Another one goes on where it was, or begins again.
fn read_again(store: &Mutex<HybridStore>, partition: u32) -> Vec<u8> {
    let (mut found, mut position) = (Vec::new(), HybridPosition::default());
    loop {
        let bell = Arc::new(Bell::default());
        let opened = store
            .lock()
            .unwrap()
            .open_at(partition, position, Some(bell.listener()));
        let mut consumer = opened.unwrap();
        while thread_rng().gen_bool(0.8) {
            match consumer.next_block() {
                Some(block) => take(&block.unwrap(), &mut found),
                None if consumer.is_finished() => return found,
                None => bell.wait(),
            }
        }
        position = consumer.position();
        if thread_rng().gen_bool(0.3) {
            (found, position) = (Vec::new(), HybridPosition::default());
        }
    }
}

#[test]
fn consumers_of_a_full_store_begin_again() {
    explore(|| {
        let world = World::new(little(), Running::new(thread_rng().gen_range(0..2), None));
        let script = script();
        let store = Arc::new(Mutex::new(world.store("s", HybridMode::Full)));
        let readings: Vec<_> = (0..PARTITIONS)
            .map(|partition| {
                let store = Arc::clone(&store);
                thread::spawn(move || read_again(&store, partition))
            })
            .collect();
        for step in &script {
            write(&mut store.lock().unwrap(), step).unwrap();
        }
        store.lock().unwrap().finish().unwrap();
        for (partition, reading) in (0..).zip(readings) {
            assert_eq!(reading.join().unwrap(), expected(&script, partition));
        }
        drop(store);
        world.check_files("s", HybridMode::Full, &script);
        world.end();
    });
}

#[test]
fn a_store_is_released_while_it_is_written_and_read() {
    explore(|| {
        let world = World::new(little(), Running::new(thread_rng().gen_range(0..2), None));
        let script = script();
        let store = world.store("s", mode());
        let readings = all_read(&store);
        let store = Arc::new(Mutex::new(Some(store)));
        let released = Arc::clone(&store);
        let releases = thread::spawn(move || {
            let store = released.lock().unwrap().take();
            store.unwrap().release();
        });
        for step in &script {
            match &mut *store.lock().unwrap() {
                Some(store) => write(store, step).unwrap(),
                None => break,
            }
        }
        if let Some(store) = &mut *store.lock().unwrap() {
            store.finish().unwrap();
        }
        for (partition, reading) in (0..).zip(readings) {
            let error = assert_some(&script, partition, reading);
            assert!(error.is_none_or(|error| error.code == ErrorCode::InvalidArgument));
        }
        releases.join().unwrap();
        assert!(!world.has_files("s"));
        world.end();
    });
}

/// Writes to a store that is read at the same time, one partition of it after that. Between its calls, at most this
/// number of bytes is in memory.
fn write_and_read(world: &World, name: &str, script: &[Step], most: u64) {
    let mode = mode();
    let mut store = world.store(name, mode);
    let reading = reads(&store, 0);
    for step in script {
        write(&mut store, step).unwrap();
        let used = world.memory.used();
        assert!(used <= most, "{used} bytes and not {most} are in memory");
    }
    store.finish().unwrap();
    assert_all(script, vec![reading, reads(&store, 1)]);
    store.close();
    world.check_files(name, mode, script);
}

#[test]
fn two_stores_spill_each_other() {
    explore(|| {
        let world = Arc::new(World::new(little(), Running::new(thread_rng().gen_range(0..3), None)));
        let scripts = [script(), script()];
        // A region of each store, and messages (HYB-6).
        let beside = scripts
            .iter()
            .map(|script| largest(script) + messages(script))
            .sum::<u64>();
        let most = world.memory.bytes() + beside;
        let mut name = 0;
        let stores = scripts.map(|script| {
            name += 1;
            let (world, name) = (Arc::clone(&world), name.to_string());
            thread::spawn(move || write_and_read(&world, &name, &script, most))
        });
        stores.into_iter().for_each(|store| store.join().unwrap());
        Arc::into_inner(world).unwrap().end();
    });
}
