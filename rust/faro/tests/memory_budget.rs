//! What a writer asks of a budget, and that it gives all of it back.

mod budget;
mod common;
mod flawed;
mod script;

use budget::{Flaw, Limited};
use common::{Place, check, code, contents, is_out_of_memory, open, options};
use faro::{ErrorCode, Layout, MemoryBudget, ReaderOptions, Result, Writer, WriterOptions};
use proptest::prelude::*;
use script::{call, fit, make, unfinished};
use std::io::ErrorKind;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

const MIB: u64 = 1 << 20;

fn with(budget: &Arc<Limited>, buffer_size: u64) -> WriterOptions {
    options(Layout::Single, 4)
        .buffer_size(buffer_size)
        .memory_budget(budget.clone())
}

/// Records, events, shared records and a region writer.
fn write_some(writer: &mut Writer) -> Result<()> {
    for number in 0..3000u32 {
        retried(writer, |writer| writer.write(number % 4, &[1; 1000]))?;
    }
    for number in 0..3000u32 {
        retried(writer, |writer| writer.write_event(number % 4, 64, b"x"))?;
    }
    retried(writer, |writer| writer.broadcast(&[2; 5000]))?;
    retried(writer, |writer| writer.region().map(drop))?;
    retried(writer, |writer| writer.write(3, &[3; 100]))
}

/// A call that is refused memory may be repeated.
fn retried(writer: &mut Writer, call: impl Fn(&mut Writer) -> Result<()>) -> Result<()> {
    match call(writer) {
        Err(error) if is_out_of_memory(&error) => call(writer),
        done => done,
    }
}

#[test]
fn grants_are_asked_in_steps_and_given_back() {
    let budget = Limited::new(u64::MAX);
    let place = Place::new();
    let options = with(&budget, 8 * MIB);
    let working = options.working_memory();
    let mut writer = Writer::create(place.name(), options).unwrap();
    assert_eq!((writer.memory_used(), budget.calls()), (0, 0));
    writer.write(0, b"x").unwrap();
    assert_eq!(writer.memory_used(), working + MIB);
    for _ in 0..3000 {
        writer.write(0, &[1; 1000]).unwrap();
    }
    assert_eq!(writer.memory_used(), working + 4 * MIB);
    writer.flush().unwrap();
    assert_eq!(writer.memory_used(), working);
    for _ in 0..30_000 {
        writer.write(0, &[1; 1000]).unwrap();
        assert_eq!(writer.memory_used(), budget.held());
    }
    assert_eq!(writer.memory_used(), working + 8 * MIB);
    assert_eq!(budget.most(), working + 8 * MIB);
    // The buffer was filled three times, and kept its memory: nothing was asked for meanwhile.
    assert_eq!(budget.calls(), 1 + 3 + 4);
    writer.finish().unwrap();
    assert_eq!((writer.memory_used(), budget.held()), (0, 0));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// A budget that grants all changes nothing in the files.
    #[test]
    fn a_large_budget_changes_nothing(written in script::options(), mut calls in prop::collection::vec(call(), 0..60)) {
        fit(&mut calls, &written);
        let written = written.follow(false).file_id(Some([7; 16]));
        let budget = Limited::new(u64::MAX);
        let bytes = |options: &WriterOptions| {
            let place = Place::new();
            let mut writer = unfinished(&place.name(), options, &calls).unwrap();
            let paths = writer.finish().unwrap().files;
            paths.paths().iter().map(|(_, path)| std::fs::read(path).unwrap()).collect::<Vec<_>>()
        };
        prop_assert_eq!(bytes(&written.clone().memory_budget(budget.clone())), bytes(&written));
        prop_assert_eq!(budget.held(), 0);
    }

    /// Whatever call the budget refuses: the records are the same, and all is given back.
    #[test]
    fn refusals_only_end_regions(
        written in script::options(),
        mut calls in prop::collection::vec(call(), 0..40),
        at in 0usize..12,
    ) {
        fit(&mut calls, &written);
        let budget = Limited::with_flaw(u64::MAX, Some((at, Flaw::RefusesOne)));
        let read = |options: &WriterOptions| {
            let place = Place::new();
            let mut writer = Writer::create(place.name(), options.clone()).unwrap();
            for call in &calls {
                let one = std::slice::from_ref(call);
                retried(&mut writer, |writer| make(writer, options, one)).unwrap();
            }
            let files = writer.finish().unwrap().files;
            check(&files).unwrap();
            let reader = open(&files).unwrap();
            let sums = reader.footer().statistics.clone().unwrap();
            (sums.records, sums.plain)
        };
        prop_assert_eq!(read(&written.clone().memory_budget(budget.clone())), read(&written));
        prop_assert_eq!(budget.held(), 0);
    }
}

/// The n-th call refused, for every n: the first record is refused, or a region ends; nothing is lost.
#[test]
fn a_refusal_at_any_call_spills_or_refuses_the_record() {
    let place = Place::new();
    let mut plain = Writer::create(place.name(), options(Layout::Single, 4).buffer_size(4 * MIB)).unwrap();
    write_some(&mut plain).unwrap();
    let files = plain.finish().unwrap().files;
    let count = |files: &faro::Files| {
        let partitions = contents(&open(files).unwrap()).unwrap().into_iter();
        partitions
            .map(|blocks| blocks.iter().map(|(_, bytes)| bytes.len()).sum())
            .collect::<Vec<usize>>()
    };
    let expected = count(&files);
    for at in 0.. {
        let budget = Limited::with_flaw(u64::MAX, Some((at, Flaw::RefusesOne)));
        let place = Place::new();
        let mut writer = Writer::create(place.name(), with(&budget, 4 * MIB)).unwrap();
        write_some(&mut writer).unwrap();
        let calls = budget.calls();
        let files = writer.finish().unwrap().files;
        assert_eq!(count(&files), expected, "{at}");
        assert_eq!(budget.held(), 0, "{at}");
        if at >= calls {
            assert!(at >= 6, "{at}");
            break;
        }
    }
}

/// From the n-th call on all is refused: the call fails, the writer stays as it was, and what it took is finished.
#[test]
fn a_budget_that_is_used_up_refuses_the_record() {
    for at in 0..8 {
        let budget = Limited::with_flaw(u64::MAX, Some((at, Flaw::RefusesFrom)));
        let place = Place::new();
        let mut writer = Writer::create(place.name(), with(&budget, 64 * MIB)).unwrap();
        let mut taken = 0;
        let error = loop {
            match writer.write(0, &[1; 1000]) {
                Ok(()) => taken += 1,
                Err(error) => break error,
            }
            assert!(taken < 1_000_000, "nothing is refused");
        };
        assert!(is_out_of_memory(&error), "{error}");
        assert!(is_out_of_memory(&writer.write(0, &[1; 1000]).unwrap_err()));
        assert!(is_out_of_memory(&writer.write_event(0, 64, b"x").unwrap_err()));
        assert!(budget.refusals() > 0);
        assert_eq!(writer.figures().memory_refusals, budget.refusals());
        let working = with(&budget, 64 * MIB).working_memory();
        assert_eq!(budget.held(), if at == 0 { 0 } else { working });
        // What needs no memory works, and bad arguments are what they were.
        assert_eq!(code(writer.write(9, b"x")), ErrorCode::InvalidArgument);
        writer.property("a", "b").unwrap();
        writer.flush().unwrap();
        assert_eq!(writer.region().is_ok(), at > 0);
        let files = writer.finish().unwrap().files;
        assert_eq!(open(&files).unwrap().records(0).unwrap().count(), taken);
        assert_eq!(taken > 0, at > 1);
        assert_eq!(budget.held(), 0);
    }
}

/// The sum of grants is 0 after every kind of end.
#[test]
fn everything_is_given_back_at_the_end() {
    type End = fn(Writer);
    let ends: [(&str, End); 6] = [
        ("finished", |mut w| drop(w.finish().unwrap())),
        ("opened", |mut w| {
            drop(w.finish_and_open(faro::ReaderOptions::default()).unwrap())
        }),
        ("aborted", |mut w| w.abort().unwrap()),
        ("dropped", |w| drop(w)),
        ("aborted twice", |mut w| {
            w.abort().unwrap();
            w.abort().unwrap();
        }),
        ("with a region open", |mut w| std::mem::forget(w.region().unwrap())),
    ];
    for (what, end) in ends {
        let budget = Limited::new(u64::MAX);
        let place = Place::new();
        let mut writer = Writer::create(place.name(), with(&budget, 4 * MIB)).unwrap();
        write_some(&mut writer).unwrap();
        assert!(budget.held() > MIB);
        end(writer);
        assert_eq!(budget.held(), 0, "{what}");
    }
    // While the writer is not dropped, too.
    for finishes in [false, true] {
        let budget = Limited::new(u64::MAX);
        let place = Place::new();
        let mut writer = Writer::create(place.name(), with(&budget, 4 * MIB)).unwrap();
        write_some(&mut writer).unwrap();
        if finishes {
            writer.finish().unwrap();
        } else {
            writer.abort().unwrap();
        }
        assert_eq!((budget.held(), writer.memory_used()), (0, 0));
    }
    // When a call of the storage fails.
    for at in 0..3 {
        let refused = flawed::Flawed::new(Some((at, flawed::Flaw::Refused(ErrorKind::Other))));
        let budget = Limited::new(u64::MAX);
        if let Ok(mut writer) = Writer::create_in(refused, with(&budget, MIB)) {
            let written = write_some(&mut writer).and_then(|()| writer.finish().map(drop));
            assert!(written.is_err());
            assert_eq!(writer.memory_used(), budget.held());
        }
        assert_eq!(budget.held(), 0);
    }
}

/// A budget that panics changes neither the writer nor what is held.
#[test]
fn a_panic_of_the_budget_leaves_the_writer_as_it_was() {
    for at in 0..5 {
        let budget = Limited::with_flaw(u64::MAX, Some((at, Flaw::Panics)));
        let place = Place::new();
        let mut writer = Writer::create(place.name(), with(&budget, 4 * MIB)).unwrap();
        let mut panics = 0;
        for number in 0..5000u32 {
            let mut write = || writer.write(number % 4, &[1; 1000]).unwrap();
            if catch_unwind(AssertUnwindSafe(&mut write)).is_err() {
                panics += 1;
                write();
            }
        }
        assert_eq!(panics, usize::from(at < 4));
        let files = writer.finish().unwrap().files;
        let reader = open(&files).unwrap();
        let count: usize = (0..4).map(|partition| reader.records(partition).unwrap().count()).sum();
        assert_eq!(count, 5000);
        assert_eq!(budget.held(), 0);
    }
}

/// How long a record may be refused.
const PATIENCE: Duration = Duration::from_secs(30);

/// Several writers share a budget that is too small for all of them.
#[test]
fn writers_that_share_a_budget_stay_below_its_limit() {
    let one = with(&Limited::new(0), 64 * MIB).working_memory();
    let budget = Limited::new(4 * one + 10 * MIB);
    std::thread::scope(|scope| {
        for thread in 0..4u8 {
            let budget = budget.clone();
            scope.spawn(move || {
                let place = Place::new();
                let mut writer = Writer::create(place.name(), with(&budget, 64 * MIB)).unwrap();
                for number in 0..40_000u32 {
                    let begun = Instant::now();
                    while let Err(error) = writer.write(number % 4, &[thread; 500]) {
                        assert!(is_out_of_memory(&error), "{error}");
                        // The others end, and give their memory back, long before.
                        assert!(begun.elapsed() < PATIENCE, "record {number} is refused for ever");
                        std::thread::yield_now();
                    }
                }
                let files = writer.finish().unwrap().files;
                let reader = open(&files).unwrap();
                assert_eq!(reader.records(0).unwrap().count(), 10_000);
            });
        }
    });
    assert_eq!(budget.held(), 0);
    assert!(budget.most() > 4 * one + 6 * MIB);
    assert!(!budget.try_grow(u64::MAX / 2));
}

/// Rows of batches are asked for. A refused batch is not taken, and can be written again.
#[cfg(feature = "arrow")]
#[test]
fn an_arrow_writer_asks_for_its_rows() {
    use arrow::array::{Int64Array, RecordBatch};
    use faro::ArrowWriter;

    let batch = |from: i64| {
        let column = Int64Array::from_iter_values(from..from + 1000);
        RecordBatch::try_from_iter([("n", Arc::new(column) as _)]).unwrap()
    };
    let partitions: Vec<u32> = (0..1000).map(|row| row % 4).collect();
    let write = |budget: &Arc<Limited>| {
        let place = Place::new();
        let options = WriterOptions::new(4).buffer_size(70_000).memory_budget(budget.clone());
        let mut writer = ArrowWriter::create(place.name(), batch(0).schema(), options).unwrap();
        let mut refusals = 0;
        for number in 0..10 {
            // The last is larger than the buffer.
            let (batch, partitions) = match number {
                9 => {
                    let large: Vec<_> = (0..6).map(|at| batch(9000 + 1000 * at)).collect();
                    let large = arrow::compute::concat_batches(&large[0].schema(), &large).unwrap();
                    (large, partitions.repeat(6))
                }
                number => (batch(1000 * number), partitions.clone()),
            };
            while let Err(error) = writer.write(&batch, &partitions) {
                assert!(is_out_of_memory(&error), "{error}");
                refusals += 1;
                assert!(refusals < 100);
            }
            if number == 5 {
                writer.flush().unwrap();
            }
        }
        let (_, reader) = writer.finish_and_open(ReaderOptions::default()).unwrap();
        assert_eq!(budget.held(), 0);
        let mut rows = Vec::new();
        for partition in reader.partitions() {
            for batch in reader.batches(partition).unwrap() {
                let batch = batch.unwrap();
                let column = batch.column(0).as_any().downcast_ref::<Int64Array>().unwrap();
                rows.extend_from_slice(column.values());
            }
        }
        rows.sort_unstable();
        assert_eq!(rows, (0..15_000).collect::<Vec<_>>());
        refusals
    };
    let counting = Limited::new(u64::MAX);
    assert_eq!(write(&counting), 0);
    assert!(counting.most() > 70_000);
    let mut refused = 0;
    for at in 0..counting.calls() {
        refused += write(&Limited::with_flaw(u64::MAX, Some((at, Flaw::RefusesOne))));
    }
    assert!(refused > 0);
}
