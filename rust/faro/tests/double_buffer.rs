//! A thread writes a full sort buffer while the caller fills another: faults, and ends of all kinds. That the files are the
//! same is a property in `slots.rs`.

mod budget;
mod common;
mod flawed;

use budget::Limited;
use common::{Place, in_fork, options};
use faro::storage::MemoryDestination;
use faro::{ErrorCode, Executor, Layout, Reader, ReaderOptions, Result, Writer, WriterOptions};
use flawed::{Flaw, Flawed};
use std::io::ErrorKind;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex};

fn two_buffers() -> WriterOptions {
    options(Layout::Paired, 5).buffer_size(1 << 20).double_buffer(true)
}

/// Records of about `mib` MiB.
fn fill(writer: &mut Writer, mib: u32) -> Result<()> {
    for number in 0..mib * 1000 {
        writer.write(number % 5, &[number as u8; 1036])?;
    }
    Ok(())
}

#[test]
fn a_fault_of_the_thread_is_that_of_a_later_call_and_final() {
    let sound = Flawed::new(None);
    let mut writer = Writer::create_in(sound.clone(), two_buffers()).unwrap();
    fill(&mut writer, 40).unwrap();
    writer.finish().unwrap();
    let calls = sound.calls();
    let appends: Vec<usize> = (0..calls.len()).filter(|at| calls[*at].contains("append")).collect();
    assert!(appends.len() > 4, "{calls:?}");
    // The thread makes all of them but the last.
    for at in [appends[0], appends[1], appends[appends.len() / 2]] {
        for flaw in [Flaw::Refused(ErrorKind::StorageFull), Flaw::Panic] {
            let flawed = Flawed::new(Some((at, flaw)));
            let mut writer = Writer::create_in(flawed.clone(), two_buffers()).unwrap();
            let first = fill(&mut writer, 40).and_then(|()| writer.flush()).unwrap_err();
            assert_eq!(first.code, ErrorCode::Io, "{at} {flaw:?}");
            assert_eq!(writer.write(0, b"x").unwrap_err().to_string(), first.to_string());
            assert_eq!(writer.finish().unwrap_err().to_string(), first.to_string());
            drop(writer);
            assert!(!flawed.calls().iter().any(|call| call.starts_with("publish")));
        }
    }
}

#[test]
fn whatever_ends_a_writer_waits_for_the_thread() {
    for end in [
        |writer: Writer| drop(writer),
        |mut writer: Writer| writer.abort().unwrap(),
    ] {
        let place = Place::new();
        let mut writer = Writer::create(place.name(), two_buffers()).unwrap();
        fill(&mut writer, 3).unwrap();
        end(writer);
        assert!(place.files().is_empty());
    }
}

/// A flush is complete when it returns, and gives the memory of both buffers back.
#[test]
fn a_flush_waits_and_gives_both_buffers_back() {
    let budget = Limited::new(u64::MAX);
    let memory = MemoryDestination::new("out");
    let options = two_buffers().memory_budget(budget.clone());
    let working = options.working_memory();
    let mut writer = Writer::create_in(memory, options).unwrap();
    fill(&mut writer, 5).unwrap();
    assert_eq!(writer.memory_used(), working + (2 << 20));
    writer.flush().unwrap();
    assert_eq!(writer.memory_used(), working);
    let figures = writer.figures();
    assert_eq!((figures.regions, figures.records, figures.spills), (5, 5000, 4));
    let (_, reader) = writer.finish_and_open(ReaderOptions::default()).unwrap();
    assert_eq!(records(&reader), 5000);
    assert_eq!(budget.held(), 0);
}

/// A budget grants the second buffer whole or not at all: part of one would make regions shorter. The
/// writer asks once.
#[test]
fn a_budget_for_one_buffer_and_a_half_makes_the_same_regions() {
    let options = two_buffers().buffer_size(4 << 20);
    for (mib, double_buffered) in [(4, 0), (6, 0), (8, 4)] {
        let budget = Limited::new(options.working_memory() + (mib << 20));
        let with_budget = options.clone().memory_budget(budget.clone());
        let mut writer = Writer::create_in(MemoryDestination::new("out"), with_budget).unwrap();
        fill(&mut writer, 20).unwrap();
        let (summary, reader) = writer.finish_and_open(ReaderOptions::default()).unwrap();
        assert_eq!((summary.regions, records(&reader)), (5, 20_000), "{mib}");
        let figures = writer.figures();
        assert!(figures.double_buffered <= double_buffered, "{figures:?}");
        assert_eq!(figures.memory_refusals, u64::from(double_buffered == 0), "{mib}");
        assert_eq!(budget.held(), 0);
    }
}

/// A writer that failed holds no memory, whether it is dropped or not.
#[test]
fn a_fault_gives_the_memory_back() {
    let sound = Flawed::new(None);
    let mut writer = Writer::create_in(sound.clone(), two_buffers()).unwrap();
    fill(&mut writer, 40).unwrap();
    let first = sound.calls().iter().position(|call| call.contains("append")).unwrap();
    drop(writer);
    for double_buffer in [false, true] {
        let budget = Limited::new(u64::MAX);
        let flawed = Flawed::new(Some((first, Flaw::Refused(ErrorKind::StorageFull))));
        let options = two_buffers().double_buffer(double_buffer).memory_budget(budget.clone());
        let mut writer = Writer::create_in(flawed, options).unwrap();
        let first = fill(&mut writer, 40).and_then(|()| writer.flush()).unwrap_err();
        assert_eq!((writer.memory_used(), budget.held()), (0, 0), "{double_buffer}");
        assert_eq!(writer.finish().unwrap_err().to_string(), first.to_string());
    }
}

fn records(reader: &Reader) -> usize {
    (0..5).map(|at| reader.records(at).unwrap().count()).sum()
}

/// What an engine's executor does with work.
#[derive(Clone, Copy, Debug)]
enum Does {
    Drops,
    RunsAtOnce,
    /// After the writer has ended.
    IsLate,
    Runs,
}

struct Engine {
    does: Does,
    work: Mutex<Vec<Box<dyn FnOnce() + Send>>>,
}

impl Executor for Engine {
    fn execute(&self, work: Box<dyn FnOnce() + Send>) {
        match self.does {
            Does::Drops => drop(work),
            Does::RunsAtOnce => work(),
            Does::IsLate => self.work.lock().unwrap().push(work),
            Does::Runs => drop(std::thread::spawn(work)),
        }
    }
}

/// Whatever the executor does with its work, the output is whole, and no one waits for work that does not begin.
#[test]
fn an_executor_may_be_late_or_lose_work() {
    for does in [Does::Drops, Does::RunsAtOnce, Does::IsLate, Does::Runs] {
        let engine = Arc::new(Engine {
            does,
            work: Mutex::default(),
        });
        let options = two_buffers().executor(engine.clone());
        let mut writer = Writer::create_in(MemoryDestination::new("out"), options.clone()).unwrap();
        fill(&mut writer, 5).unwrap();
        let (summary, reader) = writer.finish_and_open(ReaderOptions::default()).unwrap();
        assert_eq!((summary.regions, records(&reader)), (5, 5000), "{does:?}");
        match does {
            Does::Drops | Does::IsLate => assert_eq!(writer.figures().double_buffered, 0, "{does:?}"),
            Does::RunsAtOnce => assert_eq!(writer.figures().double_buffered, 4),
            Does::Runs => {}
        }
        let late = std::mem::take(&mut *engine.work.lock().unwrap());
        assert_eq!(late.len(), if matches!(does, Does::IsLate) { 4 } else { 0 });
        late.into_iter().for_each(|work| work());

        let place = Place::new();
        let mut writer = Writer::create(place.name(), options).unwrap();
        fill(&mut writer, 3).unwrap();
        drop(writer);
        assert!(place.files().is_empty(), "{does:?}");
        std::mem::take(&mut *engine.work.lock().unwrap())
            .into_iter()
            .for_each(|work| work());
        assert!(place.files().is_empty(), "{does:?}");
    }
}

/// An aborted writer does not write what its executor has not begun.
#[test]
fn abort_writes_nothing_more() {
    let engine = Arc::new(Engine {
        does: Does::IsLate,
        work: Mutex::default(),
    });
    let sound = Flawed::new(None);
    let mut writer = Writer::create_in(sound.clone(), two_buffers().executor(engine.clone())).unwrap();
    // The first region is written when the second is full, which then waits.
    fill(&mut writer, 3).unwrap();
    let before = (sound.calls(), writer.figures().regions);
    writer.abort().unwrap();
    assert_eq!((sound.calls(), writer.figures().regions), before);
    assert_eq!(writer.memory_used(), 0);
}

/// WRT-11: a forked copy has no such thread, and waits for none.
#[test]
#[cfg(unix)]
fn a_forked_copy_waits_for_nothing() {
    let place = Place::new();
    let mut writer = Some(Writer::create(place.name(), two_buffers()).unwrap());
    fill(writer.as_mut().unwrap(), 3).unwrap();
    assert!(in_fork(|| {
        let refused = writer.as_mut().unwrap().write(0, b"x").is_err();
        drop(writer.take());
        refused
    }));
    writer.unwrap().finish().unwrap();
    assert_eq!(place.files().len(), 2);
}

/// A storage that panics in the caller's thread: the writer has failed, and publishes nothing.
#[test]
fn a_panic_in_the_callers_thread_is_final_too() {
    let sound = Flawed::new(None);
    let mut writer = Writer::create_in(sound.clone(), two_buffers()).unwrap();
    fill(&mut writer, 40).unwrap();
    let first = sound.calls().iter().position(|call| call.contains("append")).unwrap();
    drop(writer);
    let flawed = Flawed::new(Some((first, Flaw::Panic)));
    let mut writer = Writer::create_in(flawed.clone(), two_buffers().double_buffer(false)).unwrap();
    let filled = catch_unwind(AssertUnwindSafe(|| fill(&mut writer, 40)));
    assert!(filled.is_err());
    assert_eq!(writer.finish().unwrap_err().code, ErrorCode::Io);
    assert!(!flawed.calls().iter().any(|call| call.starts_with("publish")));
}
