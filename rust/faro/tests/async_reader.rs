//! Asynchronous readers deliver what readers deliver, with any executor, and cancel what is dropped.
#![cfg(feature = "async")]

mod common;
mod harm;
mod script;

use bytes::Bytes;
use common::Place;
use faro::feed::FeedOptions;
use faro::storage::{AsyncRead, AsyncStoredFile, AsyncStoredOutput, FileRange};
use faro::{AsyncReader, ErrorCode, FileRole, Files, Layout, Lookup, Reader, ReaderOptions, Writer, WriterOptions};
use harm::{apply, blocks, harm, in_memory, told};
use proptest::prelude::*;
use script::{call, fit, options, write};
use std::io;
use std::path::{Path, PathBuf};
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Condvar, Mutex};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};

/// An executor in ten lines.
fn block_on<T>(future: impl Future<Output = T>) -> T {
    struct Unpark(Thread);
    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut future = pin!(future);
    loop {
        match future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(value) => return value,
            Poll::Pending => thread::park(),
        }
    }
}

/// A read that a thread of the pool does.
struct Job {
    file: Arc<PoolFile>,
    range: FileRange,
    slot: Arc<Mutex<Slot>>,
}

#[derive(Default)]
struct Slot {
    result: Option<io::Result<(Bytes, u64)>>,
    waker: Option<Waker>,
}

/// The receiving end of a read. It counts itself.
struct Receive(Arc<Mutex<Slot>>, Arc<AtomicUsize>);

impl Future for Receive {
    type Output = io::Result<(Bytes, u64)>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let mut slot = self.0.lock().unwrap();
        slot.waker = Some(context.waker().clone());
        slot.result.take().map_or(Poll::Pending, Poll::Ready)
    }
}

impl Drop for Receive {
    fn drop(&mut self) {
        self.1.fetch_sub(1, Ordering::SeqCst);
    }
}

/// What a read of some bytes returns.
type Answer = dyn Fn(Bytes, u64) -> io::Result<(Bytes, u64)> + Send + Sync;

/// A file in memory that the threads of a pool read.
struct PoolFile {
    name: PathBuf,
    bytes: Bytes,
    jobs: Mutex<Sender<Job>>,
    /// Reads that are not dropped, and the most of them at once.
    open: Arc<AtomicUsize>,
    most: AtomicUsize,
    reads: AtomicUsize,
    answer: Box<Answer>,
}

impl std::fmt::Debug for PoolFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("PoolFile")
    }
}

impl AsyncStoredFile for PoolFile {
    fn name(&self) -> &Path {
        &self.name
    }

    fn read(self: Arc<Self>, range: FileRange) -> AsyncRead {
        let slot = Arc::default();
        self.reads.fetch_add(1, Ordering::SeqCst);
        let open = self.open.fetch_add(1, Ordering::SeqCst) + 1;
        self.most.fetch_max(open, Ordering::SeqCst);
        let receive = Receive(Arc::clone(&slot), self.open.clone());
        let job = Job {
            file: self.clone(),
            range,
            slot,
        };
        self.jobs.lock().unwrap().send(job).unwrap();
        Box::pin(receive)
    }
}

/// A pool of plain threads. It ends with the last file.
fn pool(threads: usize) -> Sender<Job> {
    let (jobs, work) = channel::<Job>();
    let work: Arc<Mutex<Receiver<Job>>> = Arc::new(Mutex::new(work));
    for _ in 0..threads {
        let work = work.clone();
        thread::spawn(move || {
            loop {
                let Ok(job) = work.lock().unwrap().recv() else { return };
                let size = job.file.bytes.len() as u64;
                let range = job.range.within(size);
                let bytes = job.file.bytes.slice(range.start as usize..range.end as usize);
                let result = (job.file.answer)(bytes, size);
                let mut slot = job.slot.lock().unwrap();
                slot.result = Some(result);
                if let Some(waker) = slot.waker.take() {
                    waker.wake();
                }
            }
        });
    }
    jobs
}

fn pool_file(
    path: &Path,
    jobs: &Sender<Job>,
    answer: impl Fn(Bytes, u64) -> io::Result<(Bytes, u64)> + Send + Sync + 'static,
) -> Arc<PoolFile> {
    Arc::new(PoolFile {
        name: path.to_path_buf(),
        bytes: std::fs::read(path).unwrap().into(),
        jobs: Mutex::new(jobs.clone()),
        open: Arc::default(),
        most: AtomicUsize::new(0),
        reads: AtomicUsize::new(0),
        answer: Box::new(answer),
    })
}

/// The output, and the file with its blocks.
fn output(
    files: &Files,
    answer: impl Fn(Bytes, u64) -> io::Result<(Bytes, u64)> + Clone + Send + Sync + 'static,
) -> (AsyncStoredOutput, Arc<PoolFile>) {
    output_of(&pool(2), files, answer)
}

fn output_of(
    jobs: &Sender<Job>,
    files: &Files,
    answer: impl Fn(Bytes, u64) -> io::Result<(Bytes, u64)> + Clone + Send + Sync + 'static,
) -> (AsyncStoredOutput, Arc<PoolFile>) {
    match files {
        Files::Single(path) => {
            let file = pool_file(path, jobs, answer);
            (AsyncStoredOutput::single(file.clone()), file)
        }
        Files::Paired { data, index } => {
            let data = pool_file(data, jobs, answer.clone());
            (
                AsyncStoredOutput::paired(data.clone(), pool_file(index, jobs, answer)),
                data,
            )
        }
    }
}

async fn read_all(output: AsyncStoredOutput, options: FeedOptions) -> Vec<String> {
    let mut found = Vec::new();
    let reader = match AsyncReader::open(output, options).await {
        Ok(reader) => reader,
        Err(error) => return vec![told::<()>(Err(error))],
    };
    found.push(told(Ok((reader.header(), reader.footer()))));
    for partition in reader.partitions() {
        let mut delivered = Vec::new();
        let mut stream = reader.partition(partition).unwrap();
        while let Some(block) = stream.next().await {
            delivered.push(block);
        }
        assert!(stream.next().await.is_none());
        blocks(&mut found, "partition", Ok(delivered.into_iter()));
    }
    found
}

fn expected(files: &Files, options: ReaderOptions) -> Vec<String> {
    let mut found = Vec::new();
    let reader = match Reader::open_stored(in_memory(files, |file| file), options) {
        Ok(reader) => reader,
        Err(error) => return vec![told::<()>(Err(error))],
    };
    found.push(told(Ok((reader.header(), reader.footer()))));
    for partition in reader.partitions() {
        blocks(&mut found, "partition", reader.partition(partition));
    }
    found
}

/// Returns only the first bytes of what was asked for.
fn short(bytes: Bytes, size: u64) -> io::Result<(Bytes, u64)> {
    Ok((bytes.slice(..bytes.len().div_ceil(3)), size))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn asynchronous_readers_read_as_readers_do(
        options in options(),
        mut calls in prop::collection::vec(call(), 0..60),
        harm in harm(),
        is_direct in any::<bool>(),
        small in prop_oneof![Just(64u64), Just(1 << 20)],
    ) {
        let place = Place::new();
        fit(&mut calls, &options);
        let files = write(&place.name(), &options, &calls).unwrap();
        apply(&files, &harm);
        let lookup = if is_direct { Lookup::Direct } else { Lookup::Full };
        let options = ReaderOptions::default().lookup(lookup);
        let expected = expected(&files, options.clone());
        let options = FeedOptions::default().reader(options).small_bytes(small).gap_bytes(0).read_bytes(4096);
        let found = block_on(read_all(output(&files, |bytes, size| Ok((bytes, size))).0, options.clone()));
        prop_assert_eq!(&found, &expected);
        let found = block_on(read_all(output(&files, short).0, options));
        prop_assert_eq!(&found, &expected);
    }
}

fn large(place: &Place) -> Files {
    let mut writer = Writer::create(place.name(), WriterOptions::new(2).layout(Layout::Paired)).unwrap();
    for record in 0..20_000u32 {
        writer.write(record % 2, &[record as u8; 1000]).unwrap();
    }
    writer.finish().unwrap().files
}

#[test]
fn dropping_a_stream_cancels_its_reads() {
    let place = Place::new();
    let files = large(&place);
    // The fourth read of the data and those after it wait, so that some are under way when the stream is dropped.
    let (answers, gate) = (
        Arc::new(AtomicUsize::new(0)),
        Arc::new((Mutex::new(false), Condvar::new())),
    );
    let opening = gate.clone();
    // One thread answers in the order of the reads, so the first block does not wait.
    let (output, data) = output_of(&pool(1), &files, move |bytes, size| {
        if size > 1 << 20 && answers.fetch_add(1, Ordering::SeqCst) >= 3 {
            let is_open = gate.0.lock().unwrap();
            drop(gate.1.wait_while(is_open, |is_open| !*is_open).unwrap());
        }
        Ok((bytes, size))
    });
    let options = FeedOptions::default().read_bytes(64 << 10).ahead_bytes(4 << 20);
    block_on(async {
        let reader = AsyncReader::open(output, options).await.unwrap();
        let mut stream = reader.partition(0).unwrap();
        stream.next().await.unwrap().unwrap();
        assert!(data.open.load(Ordering::SeqCst) > 0, "it reads ahead");
        drop(stream);
        assert_eq!(data.open.load(Ordering::SeqCst), 0);
        *opening.0.lock().unwrap() = true;
        opening.1.notify_all();
        let read_before = reader.figures().plain_bytes;
        assert!(read_before > 0 && reader.figures().reads == 0);
        let mut stream = reader.partition(0).unwrap();
        let mut bytes = 0;
        while let Some(block) = stream.next().await {
            bytes += block.unwrap().payload.len();
        }
        assert_eq!(bytes, 10_000 * 1004);
        assert_eq!(reader.figures().plain_bytes, read_before + bytes as u64);
        assert_eq!(data.most.load(Ordering::SeqCst), 16);
        assert_eq!(data.open.load(Ordering::SeqCst), 0);
        drop(reader);
    });
    assert_eq!(Arc::strong_count(&data), 1, "no file is kept");
}

#[test]
fn a_stream_goes_from_thread_to_thread() {
    use futures_core::Stream;
    let place = Place::new();
    let files = large(&place);
    let (output, _) = output(&files, |bytes, size| Ok((bytes, size)));
    let reader = block_on(AsyncReader::open(output, FeedOptions::default())).unwrap();
    let mut stream = reader.range(reader.partitions()).unwrap();
    let mut bytes = 0;
    loop {
        // Each item on another thread.
        let (item, after) = thread::spawn(move || {
            let item = block_on(std::future::poll_fn(|context| Pin::new(&mut stream).poll_next(context)));
            (item, stream)
        })
        .join()
        .unwrap();
        stream = after;
        match item {
            Some(block) => bytes += block.unwrap().payload.len(),
            None => break,
        }
    }
    assert_eq!(bytes, 20_000 * 1004);
}

#[test]
fn a_storage_that_breaks_its_promises_is_an_error() {
    let place = Place::new();
    let files = large(&place);
    let more = |bytes: Bytes, size| Ok((Bytes::from([&bytes[..], b"x"].concat()), size));
    let none = |_, size| Ok((Bytes::new(), size));
    let away = |_, _| Err(io::Error::other("the storage is away"));
    let interrupted = |_, _| Err(io::ErrorKind::Interrupted.into());
    let told = |result: Result<AsyncReader, faro::Error>| {
        let error = result.unwrap_err();
        assert_eq!((error.code, error.role), (ErrorCode::Io, Some(FileRole::Index)));
        error.found
    };
    let options = FeedOptions::default;
    assert!(told(block_on(AsyncReader::open(output(&files, more).0, options()))).contains("more bytes"));
    assert!(told(block_on(AsyncReader::open(output(&files, none).0, options()))).contains("no bytes"));
    assert!(told(block_on(AsyncReader::open(output(&files, away).0, options()))).contains("away"));
    told(block_on(AsyncReader::open(output(&files, interrupted).0, options())));
    // After the opening.
    // The second read of blocks fails; it may do so before the first read has ended.
    let later = |bytes: Bytes, size| match bytes.len() {
        4_000_000.. => {
            thread::sleep(std::time::Duration::from_millis(50));
            Ok((bytes, size))
        }
        1_000_000.. => Err(io::Error::other("the storage is away")),
        _ => Ok((bytes, size)),
    };
    block_on(async {
        let reader = AsyncReader::open(output(&files, later).0, options()).await.unwrap();
        let mut stream = reader.partition(0).unwrap();
        let mut last = None;
        let mut delivered = 0;
        while let Some(block) = stream.next().await {
            delivered += u32::from(block.is_ok());
            last = Some(block);
        }
        assert!(delivered > 10, "what was read before is delivered");
        let error = last.unwrap().unwrap_err();
        assert_eq!(
            (error.code, error.role, error.found.as_str()),
            (ErrorCode::Io, Some(FileRole::Data), "the storage is away")
        );
    });
}

#[cfg(feature = "tokio")]
#[path = "../examples/tokio_partition.rs"]
#[allow(dead_code)]
mod tokio_partition;

#[cfg(feature = "tokio")]
#[test]
fn tokio_reads_local_files() {
    use faro::storage::TokioFile;
    for layout in [Layout::Paired, Layout::Single] {
        let place = Place::new();
        let files = common::write_sample(&place.name(), layout);
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let found = runtime.block_on(async {
            let output = AsyncStoredOutput::open_local(&files).await.unwrap();
            read_all(output, FeedOptions::default()).await
        });
        assert_eq!(found, expected(&files, ReaderOptions::default()));
        let (blocks, bytes) = runtime
            .block_on(tokio_partition::read(place.name().to_str().unwrap(), 6))
            .unwrap();
        assert!(blocks > 2 && bytes > 10);
        let missing = Files::single(place.name().with_extension("other"));
        let error = runtime.block_on(AsyncStoredOutput::open_local(&missing)).unwrap_err();
        assert_eq!((error.code, error.role), (ErrorCode::Io, Some(FileRole::Single)));
        runtime.block_on(async {
            let path = files.paths()[0].1.to_path_buf();
            let file = Arc::new(TokioFile::open(&path).await.unwrap());
            let bytes = std::fs::read(&path).unwrap();
            let size = bytes.len() as u64;
            for range in [
                FileRange::Bounded(3..9),
                FileRange::Suffix(5),
                FileRange::Bounded(size - 1..size + 9),
                FileRange::Bounded(size..size + 1),
            ] {
                let at = range.within(size);
                let (found, told) = file.clone().read(range).await.unwrap();
                assert_eq!((&found[..], told), (&bytes[at.start as usize..at.end as usize], size));
            }
        });
    }
}
