//! What a writer tells its listener, and what a follower sees at that moment.

mod common;
mod flawed;
mod script;

use common::{Place, check, options};
use faro::block::DATA;
use faro::hybrid::{HybridMemory, HybridMode, HybridOptions, HybridStore};
use faro::storage::MemoryDestination;
use faro::{
    Codec, Error, ErrorCode, Executor, Follower, Layout, Listener, ReaderOptions, StoredBlock, Writer, WriterOptions,
};
use flawed::{Flaw, Flawed};
use proptest::prelude::*;
use script::{call, fit, make};
use std::io::ErrorKind;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::Path;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

#[derive(Clone, Debug, PartialEq, Eq)]
enum News {
    Region(usize, u64),
    Finished(usize, u64),
    Fault(ErrorCode),
}

/// Writes down what it gets, and panics after that if a test says so.
#[derive(Default)]
struct Log {
    news: Mutex<Vec<(String, News)>>,
    panics: Mutex<bool>,
    /// Polled in each call.
    follower: Mutex<Option<Follower>>,
}

impl Log {
    fn new() -> Arc<Log> {
        Arc::default()
    }

    fn panicking() -> Arc<Log> {
        let log = Log::new();
        *log.panics.lock().unwrap() = true;
        log
    }

    fn told(&self, name: &Path, news: News) {
        let name = name.file_name().unwrap_or_default().to_string_lossy().into_owned();
        self.news.lock().unwrap().push((name, news));
        let panics = *self.panics.lock().unwrap();
        if panics {
            // No hook prints it.
            resume_unwind(Box::new("mine"));
        }
    }

    fn news(&self) -> Vec<News> {
        self.news.lock().unwrap().iter().map(|(_, news)| news.clone()).collect()
    }

    fn names(&self) -> Vec<String> {
        self.news.lock().unwrap().iter().map(|(name, _)| name.clone()).collect()
    }

    /// The numbers of the regions, if that is all.
    fn regions(&self) -> Vec<usize> {
        let number = |news| match news {
            News::Region(region, _) => region,
            other => panic!("{other:?}"),
        };
        self.news().into_iter().map(number).collect()
    }

    fn follow(&self, name: &Path, layout: Layout) {
        let files = match layout {
            Layout::Paired => faro::Files::paired(name),
            Layout::Single => faro::Files::single(name),
        };
        *self.follower.lock().unwrap() = Some(Follower::open(&files, ReaderOptions::default()).unwrap());
    }

    /// What the follower sees: the number of regions, and whether the file is finished.
    fn poll(&self) -> Option<(usize, bool)> {
        let mut follower = self.follower.lock().unwrap();
        let progress = follower.as_mut()?.poll().unwrap();
        Some((progress.regions, progress.finished))
    }
}

impl Listener for Log {
    fn region_written(&self, name: &Path, region: usize, bytes: u64) {
        if let Some((regions, _)) = self.poll() {
            // More, if the call has ended several.
            assert!(regions > region, "{region} of {regions}");
            let follower = self.follower.lock().unwrap();
            let seen = follower.as_ref().unwrap().region(region).unwrap();
            assert_eq!(seen.sequence() as usize, region);
        }
        self.told(name, News::Region(region, bytes));
    }

    fn finished(&self, name: &Path, regions: usize, bytes: u64) {
        if let Some(seen) = self.poll() {
            assert_eq!(seen, (regions, true));
        }
        self.told(name, News::Finished(regions, bytes));
    }

    fn fault(&self, fault: &Error) {
        self.told(Path::new(""), News::Fault(fault.code));
    }
}

/// What an engine's executor does with work.
#[derive(Clone, Copy, Debug)]
enum Does {
    Drops,
    RunsAtOnce,
    Runs,
}

impl Executor for Does {
    fn execute(&self, work: Box<dyn FnOnce() + Send>) {
        match self {
            Does::Drops => drop(work),
            Does::RunsAtOnce => work(),
            Does::Runs => drop(std::thread::spawn(work)),
        }
    }
}

fn buffers() -> impl Strategy<Value = Option<Option<Does>>> {
    prop_oneof![
        3 => Just(None),
        1 => Just(Some(None)),
        1 => Just(Some(Some(Does::Drops))),
        1 => Just(Some(Some(Does::RunsAtOnce))),
        1 => Just(Some(Some(Does::Runs))),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever ends a region, and whatever thread writes it: its news comes once, in order, when a follower sees it.
    #[test]
    fn each_region_is_told_once_and_a_follower_sees_it(
        written in script::options(),
        mut calls in prop::collection::vec(call(), 0..60),
        two_buffers in buffers(),
    ) {
        fit(&mut calls, &written);
        let (place, log) = (Place::new(), Log::new());
        let mut written = written.follow(true).listener(log.clone());
        if let Some(executor) = two_buffers {
            written = written.double_buffer(true);
            written.executor = executor.map(|does| Arc::new(does) as _);
        }
        let layout = written.layout.unwrap();
        let mut writer = Writer::create(place.name(), written.clone()).unwrap();
        log.follow(&place.name(), layout);
        for call in &calls {
            make(&mut writer, &written, std::slice::from_ref(call)).unwrap();
            if !written.double_buffer {
                prop_assert_eq!(log.regions().len() as u64, writer.figures().regions, "{:?}", call);
                prop_assert_eq!(log.poll(), Some((log.regions().len(), false)));
            }
        }
        let summary = writer.finish().unwrap();
        prop_assert_eq!(log.poll(), Some((summary.regions, true)));
        let reader = common::open(&summary.files).unwrap();
        let regions = reader.footer().regions.iter().enumerate();
        let mut expected: Vec<_> = regions.map(|(at, entry)| News::Region(at, entry.data_length)).collect();
        expected.push(News::Finished(summary.regions, summary.data_bytes + summary.index_bytes));
        prop_assert_eq!(log.news(), expected);
        let name = summary.files.paths()[0].1.file_name().unwrap().to_string_lossy().into_owned();
        prop_assert!(log.names().iter().all(|told| *told == name), "{:?}", log.names());
    }
}

/// The call that ends a region tells it, and no later one.
#[test]
fn all_ends_of_regions() {
    for layout in [Layout::Paired, Layout::Single] {
        let (place, log) = (Place::new(), Log::new());
        let written = options(layout, 3)
            .buffer_size(100)
            .follow(true)
            .selective(true)
            .dictionaries(true);
        let mut writer = Writer::create(place.name(), written.codec(Codec::Zstd).listener(log.clone())).unwrap();
        log.follow(&place.name(), layout);
        let told = |count: usize, what: &str| assert_eq!(log.regions(), (0..count).collect::<Vec<_>>(), "{what}");
        writer.write(0, &[1; 60]).unwrap();
        told(0, "in the buffer");
        writer.write(1, &[1; 60]).unwrap();
        told(1, "a full buffer");
        writer.write(2, &[1; 200]).unwrap();
        told(3, "a record that is larger than the buffer, after a region");
        writer.broadcast(b"to all").unwrap();
        writer.write(1, b"after it").unwrap();
        told(4, "the order of calls");
        writer.flush().unwrap();
        told(5, "flush");
        writer.flush().unwrap();
        told(5, "flush without records");
        writer.write(0, b"x").unwrap();
        let mut region = writer.region().unwrap();
        told(6, "region");
        region.block(Some(1), DATA, b"\x01\0\0\0y", 1).unwrap();
        region
            .stored_block(Some(2), StoredBlock::new(b"\x01\0\0\0z", 5))
            .unwrap();
        told(6, "blocks");
        region.end().unwrap();
        told(7, "the end of a region writer");
        drop(writer.region().unwrap());
        writer.region().unwrap().end().unwrap();
        told(7, "regions without blocks");
        writer.write(0, b"x").unwrap();
        writer.dictionary(&dictionary()).unwrap();
        told(8, "dictionary");
        writer.write(0, b"x").unwrap();
        writer.finish().unwrap();
        assert_eq!(log.news().len(), 10, "{:?}", log.news());
        assert!(matches!(log.news()[8..], [News::Region(8, _), News::Finished(9, _)]));
        assert_eq!(log.poll(), Some((9, true)));
    }
}

/// Bytes that look like a dictionary.
fn dictionary() -> Vec<u8> {
    [&[0x37, 0xA4, 0x30, 0xEC][..], &[7; 60]].concat()
}

struct Wake(Sender<usize>, Mutex<Receiver<()>>);

impl Listener for Wake {
    fn region_written(&self, _name: &Path, region: usize, _bytes: u64) {
        self.0.send(region).unwrap();
        self.1.lock().unwrap().recv_timeout(Duration::from_secs(60)).unwrap();
    }
}

/// The thread that writes a region tells it: a producer that pauses keeps no consumer waiting.
#[test]
fn a_region_of_another_thread_is_told_without_another_call() {
    let (place, (wake, woken), (go_on, goes_on)) = (Place::new(), channel(), channel());
    let written = options(Layout::Paired, 3)
        .buffer_size(100)
        .follow(true)
        .double_buffer(true);
    let written = written.listener(Arc::new(Wake(wake, Mutex::new(goes_on))));
    let mut writer = Writer::create(place.name(), written).unwrap();
    let mut follower = Follower::open(&place.output(Layout::Paired), ReaderOptions::default()).unwrap();
    writer.write(0, &[1; 60]).unwrap();
    // The listener does not return before this call does.
    writer.write(0, &[2; 60]).unwrap();
    assert_eq!(woken.recv_timeout(Duration::from_secs(60)), Ok(0));
    assert_eq!(follower.poll().unwrap().regions, 1);
    go_on.send(()).unwrap();
    go_on.send(()).unwrap();
    writer.finish().unwrap();
    assert_eq!(woken.try_iter().collect::<Vec<_>>(), [1]);
}

fn panics<T>(act: impl FnOnce() -> T) -> bool {
    catch_unwind(AssertUnwindSafe(act)).is_err_and(|cause| cause.downcast_ref() == Some(&"mine"))
}

/// What a listener panics with leaves the call, whose work is done.
#[test]
fn a_listener_that_panics_changes_nothing() {
    for layout in [Layout::Paired, Layout::Single] {
        let (place, log) = (Place::new(), Log::panicking());
        let written = options(layout, 3).buffer_size(100).listener(log.clone());
        let mut writer = Writer::create(place.name(), written).unwrap();
        writer.write(0, &[0; 60]).unwrap();
        assert!(panics(|| writer.write(0, &[1; 60])));
        assert!(panics(|| writer.write(0, &[2; 60])));
        assert!(panics(|| writer.flush()));
        // Two regions: what it missed comes with a later call.
        writer.write(0, &[3; 60]).unwrap();
        assert!(panics(|| writer.write(0, &[4; 200])));
        assert_eq!(log.regions(), [0, 1, 2, 3]);
        assert!(panics(|| writer.flush()));
        assert_eq!(log.regions(), [0, 1, 2, 3, 4]);
        writer.write(1, b"x").unwrap();
        // Its region is ended, and no other is begun.
        assert!(panics(|| drop(writer.region())));
        let mut region = writer.region().unwrap();
        region.block(Some(1), DATA, b"\x01\0\0\0y", 1).unwrap();
        assert!(panics(|| region.end()));
        writer.write(2, b"last").unwrap();
        assert!(panics(|| writer.finish_and_open(ReaderOptions::default())));
        assert_eq!(log.regions(), (0..8).collect::<Vec<_>>());
        *log.panics.lock().unwrap() = false;
        assert_eq!(writer.write(0, b"x").unwrap_err().code, ErrorCode::InvalidArgument);
        assert!(matches!(log.news()[8..], [News::Finished(8, _)]));
        drop(writer);
        let files = place.output(layout);
        assert_eq!(check(&files).unwrap().regions, 8);
        let reader = common::open(&files).unwrap();
        let first: Vec<_> = reader.records(0).unwrap().map(|record| record.unwrap()[0]).collect();
        assert_eq!(first, [0, 1, 2, 3, 4]);
    }
}

/// A panic in `finished` leaves `finish`; the output is published.
#[test]
fn a_panic_when_the_output_is_finished() {
    for opens in [false, true] {
        let (place, log) = (Place::new(), Log::panicking());
        let written = options(Layout::Paired, 3).listener(log.clone());
        let mut writer = Writer::create(place.name(), written).unwrap();
        assert!(panics(|| match opens {
            true => writer.finish_and_open(ReaderOptions::default()).map(drop),
            false => writer.finish().map(drop),
        }));
        assert!(matches!(log.news()[..], [News::Finished(0, _)]));
        writer.abort().unwrap();
        drop(writer);
        assert_eq!(check(&place.output(Layout::Paired)).unwrap().regions, 0);
    }
}

/// In a thread of the writer or of an executor, a panic goes to the panic hook only.
#[test]
fn a_panic_in_the_thread_that_writes() {
    for executor in [None, Some(Does::Runs), Some(Does::RunsAtOnce)] {
        let (place, log) = (Place::new(), Log::panicking());
        let mut written = options(Layout::Paired, 3)
            .buffer_size(100)
            .double_buffer(true)
            .listener(log.clone());
        written.executor = executor.map(|does| Arc::new(does) as _);
        let mut writer = Writer::create(place.name(), written).unwrap();
        for number in 0..5u8 {
            // An executor's thread may be late; the caller's thread tells the region then.
            let told = panics(|| writer.write(0, &[number; 60]).unwrap());
            assert!(!told || matches!(executor, Some(Does::Runs)));
        }
        while panics(|| writer.finish().unwrap()) && log.news().len() < 5 {}
        drop(writer);
        assert_eq!(check(&place.output(Layout::Paired)).unwrap().regions, 5);
        assert_eq!(log.regions(), [0, 1, 2, 3, 4]);
    }
}

/// The news of a fault comes once, after the regions that were committed before it.
#[test]
fn a_fault_is_told_once() {
    for panicking in [false, true] {
        let (place, log) = (Place::new(), Log::new());
        let written = options(Layout::Paired, 3).listener(log.clone());
        let mut writer = Writer::create(place.name(), written).unwrap();
        writer.write(0, b"x").unwrap();
        writer.flush().unwrap();
        *log.panics.lock().unwrap() = panicking;
        std::fs::write(place.name().with_extension("data"), b"another's").unwrap();
        assert_eq!(panics(|| writer.finish().unwrap_err()), panicking);
        *log.panics.lock().unwrap() = false;
        for result in [writer.finish().map(drop), writer.write(0, b"x"), writer.flush()] {
            assert_eq!(result.unwrap_err().code, ErrorCode::Io);
        }
        writer.abort().unwrap();
        drop(writer);
        assert!(matches!(
            log.news()[..],
            [News::Region(0, _), News::Fault(ErrorCode::Io)]
        ));
    }
}

/// The listener learns of the region that `finish` commits before it fails, too.
#[test]
fn finish_tells_its_region_before_its_fault() {
    let (place, log) = (Place::new(), Log::new());
    let mut writer = Writer::create(place.name(), options(Layout::Paired, 3).listener(log.clone())).unwrap();
    writer.write(0, b"x").unwrap();
    std::fs::write(place.name().with_extension("index"), b"another's").unwrap();
    writer.finish().unwrap_err();
    assert!(matches!(
        log.news()[..],
        [News::Region(0, _), News::Fault(ErrorCode::Io)]
    ));
}

/// Whichever call of the storage fails, and in whatever thread: one fault, or the end.
#[test]
fn every_failed_call_is_one_fault() {
    let write = |flawed: Flawed, options: WriterOptions| -> faro::Result<()> {
        let mut writer = Writer::create_in(flawed, options.buffer_size(60 << 10))?;
        for number in 0..300u32 {
            writer.write(number % 3, &[number as u8; 1036])?;
        }
        let mut region = writer.region()?;
        region.block(
            Some(0),
            DATA,
            &[b"\x00\0\x20\0"[..].to_vec(), vec![7; 2 << 20]].concat(),
            1,
        )?;
        region.end()?;
        drop(writer.region()?);
        writer.finish().map(drop)
    };
    for two_buffers in [false, true] {
        for at in 0.. {
            let flawed = Flawed::new(Some((at, Flaw::Refused(ErrorKind::StorageFull))));
            let log = Log::new();
            let written = options(Layout::Paired, 3)
                .double_buffer(two_buffers)
                .listener(log.clone());
            let done = write(flawed.clone(), written);
            let (calls, mut news) = (flawed.calls(), log.news());
            let last = news.pop();
            assert!(
                news.iter()
                    .enumerate()
                    .all(|(at, told)| matches!(told, News::Region(number, _) if *number == at))
            );
            if calls.len() <= at {
                done.unwrap();
                assert!(matches!(last, Some(News::Finished(..))), "{last:?}");
                assert!(at > 4, "{calls:?}");
                break;
            }
            done.unwrap_err();
            if !calls[at].starts_with("create") && !calls[at].starts_with("taken") {
                assert_eq!(last, Some(News::Fault(ErrorCode::Io)), "{two_buffers} {}", calls[at]);
            }
        }
    }
}

/// Regions that were given up, aborts and drops make no news.
#[test]
fn what_leaves_nothing_is_no_news() {
    let (place, log) = (Place::new(), Log::new());
    for aborts in [false, true] {
        let mut writer = Writer::create(place.name(), options(Layout::Paired, 3).listener(log.clone())).unwrap();
        let mut region = writer.region().unwrap();
        region.block(Some(1), DATA, b"\x01\0\0\0y", 1).unwrap();
        drop(region);
        writer.write(0, b"x").unwrap();
        if aborts {
            writer.abort().unwrap();
        }
    }
    assert_eq!(log.news(), []);
}

/// The listener learns that an output was published, though its reader cannot be opened.
#[test]
fn finished_is_told_though_the_reader_fails() {
    let sound = Flawed::new(None);
    let open = |flawed: &Flawed, log: &Arc<Log>| {
        let mut writer = Writer::create_in(flawed.clone(), options(Layout::Paired, 3).listener(log.clone())).unwrap();
        writer.write(0, b"x").unwrap();
        writer.finish_and_open(ReaderOptions::default()).map(drop)
    };
    open(&sound, &Log::new()).unwrap();
    let at = sound.calls().iter().position(|call| call.starts_with("open")).unwrap();
    let log = Log::new();
    open(&Flawed::new(Some((at, Flaw::Refused(ErrorKind::NotFound)))), &log).unwrap_err();
    assert!(
        matches!(log.news()[..], [News::Region(0, _), News::Finished(1, _)]),
        "{:?}",
        log.news()
    );
}

/// A refusal makes no news.
#[test]
fn refusals_are_no_news() {
    let log = Log::new();
    let written = options(Layout::Paired, 3).listener(log.clone());
    let mut writer = Writer::create_in(MemoryDestination::new("out"), written.clone()).unwrap();
    writer.write(9, b"x").unwrap_err();
    writer.dictionary(b"none").unwrap_err();
    writer.skip_to(0, 1).unwrap_err();
    assert_eq!(log.news(), []);
    assert!(format!("{written:?}").contains("listener: Some(Listener)"));
}

#[cfg(feature = "arrow")]
mod arrow_writer {
    use super::*;
    use arrow::array::{Int64Array, RecordBatch, StringArray};
    use faro::ArrowWriter;

    fn batch(rows: i64) -> RecordBatch {
        let column = Int64Array::from_iter_values(0..rows);
        RecordBatch::try_from_iter([("n", Arc::new(column) as _)]).unwrap()
    }

    /// A batch may end several regions. It is taken whole before a listener can panic.
    #[test]
    fn a_panic_leaves_no_half_of_a_batch() {
        let (place, log) = (Place::new(), Log::panicking());
        let written = WriterOptions::new(2)
            .buffer_size(20_000)
            .follow(true)
            .listener(log.clone());
        let mut writer = ArrowWriter::create(place.name(), batch(0).schema(), written).unwrap();
        let partitions: Vec<u32> = (0..5000).map(|row| row % 2).collect();
        assert!(panics(|| writer.write(&batch(5000), &partitions)));
        assert_eq!(log.regions(), [0]);
        assert!(panics(|| writer.broadcast(&batch(10))));
        *log.panics.lock().unwrap() = false;
        writer.flush().unwrap();
        writer.write(&batch(2), &[1, 1]).unwrap();
        *log.panics.lock().unwrap() = true;
        assert!(panics(|| writer.finish_and_open(ReaderOptions::default())));
        let told = log.regions();
        *log.panics.lock().unwrap() = false;
        writer.write(&batch(2), &[1, 1]).unwrap_err();
        writer.finish().unwrap_err();
        assert!(matches!(log.news().last(), Some(News::Finished(..))));
        let reader = common::open(&place.output(Layout::Paired)).unwrap();
        let rows = |at| {
            reader
                .batches(at)
                .unwrap()
                .map(|batch| batch.unwrap().num_rows())
                .sum::<usize>()
        };
        assert_eq!((rows(0), rows(1)), (2510, 2512));
        assert_eq!(told, (0..reader.region_count()).collect::<Vec<_>>());
    }

    #[test]
    fn a_follower_sees_each_region() {
        let (place, log) = (Place::new(), Log::new());
        let written = WriterOptions::new(2).follow(true).listener(log.clone());
        let mut writer = ArrowWriter::create(place.name(), batch(0).schema(), written).unwrap();
        log.follow(&place.name(), Layout::Paired);
        for number in 1..4 {
            writer.write(&batch(2), &[0, 1]).unwrap();
            writer.flush().unwrap();
            assert_eq!(log.regions().len(), number);
        }
        writer.write(&batch(2), &[0, 1]).unwrap();
        writer.finish().unwrap();
        assert_eq!(log.news().len(), 5);
        assert!(matches!(log.news()[4], News::Finished(4, _)));
    }

    /// Whichever call meets a failure tells the listener.
    #[test]
    fn a_fault() {
        let (place, log) = (Place::new(), Log::new());
        let written = WriterOptions::new(2).listener(log.clone());
        let mut writer = ArrowWriter::create(place.name(), batch(0).schema(), written).unwrap();
        let names = StringArray::from(vec!["x"]);
        let other = RecordBatch::try_from_iter([("s", Arc::new(names) as _)]).unwrap();
        writer.write(&other, &[0]).unwrap_err();
        assert_eq!(log.news(), [], "a refusal");
        writer.write(&batch(2), &[0, 1]).unwrap();
        std::fs::write(place.name().with_extension("data"), b"another's").unwrap();
        writer.finish().unwrap_err();
        writer.finish().unwrap_err();
        assert!(matches!(
            log.news()[..],
            [News::Region(0, _), News::Fault(ErrorCode::Io)]
        ));
    }
}

/// A store tells the regions of its image, and those that a selective store writes are the same again.
#[test]
fn a_hybrid_store_tells_each_region_once() {
    for mode in [HybridMode::Full, HybridMode::Selective] {
        let place = Place::new();
        let log = Log::new();
        let hybrid = HybridOptions::new(HybridMemory::new(1), mode);
        let mut store =
            HybridStore::create(place.name(), options(Layout::Paired, 2).listener(log.clone()), hybrid).unwrap();
        for region in 0..3 {
            store.write(0, &[0; 1000]).unwrap();
            store.flush().unwrap();
            assert_eq!(log.regions(), (0..=region).collect::<Vec<_>>());
        }
        store.finish().unwrap();
        assert!(
            matches!(log.news()[..], [_, _, _, News::Finished(3, _)]),
            "{:?}",
            log.news()
        );
    }
}
