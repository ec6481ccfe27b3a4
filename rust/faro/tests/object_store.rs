//! Outputs in object stores: the same blocks and faults, few requests, and no mixture of two contents.
#![cfg(feature = "object_store")]

mod common;
mod harm;

use common::{Place, write_sample};
use faro::feed::FeedOptions;
use faro::storage::{AsyncStoredFile, AsyncStoredOutput, FileRange, ObjectFile};
use faro::{AsyncReader, ErrorCode, FileRole, Files, Layout, Reader, ReaderOptions, Writer, WriterOptions};
use futures_core::stream::BoxStream;
use harm::{blocks, in_memory, told};
use object_store::local::LocalFileSystem;
use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::{
    CopyOptions, GetOptions, GetRange, GetResult, ListResult, MultipartUpload, ObjectMeta, ObjectStore, ObjectStoreExt,
    PutMultipartOptions, PutOptions, PutPayload, PutResult, Result,
};
use std::fmt;
use std::sync::{Arc, Mutex};
use tokio::runtime::{Builder, Runtime};

/// A store that notes the requests for objects.
#[derive(Debug)]
struct Counting {
    store: InMemory,
    requests: Mutex<Vec<GetOptions>>,
    /// Whether it refuses ranges at the end, as some stores do.
    no_suffix: bool,
    /// Whether it ignores conditions, as some stores do.
    no_conditions: bool,
}

impl Counting {
    fn new(no_suffix: bool) -> Arc<Counting> {
        Arc::new(Counting {
            store: InMemory::new(),
            requests: Mutex::default(),
            no_suffix,
            no_conditions: no_suffix,
        })
    }

    fn take(&self) -> Vec<GetOptions> {
        std::mem::take(&mut self.requests.lock().unwrap())
    }
}

impl fmt::Display for Counting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Counting")
    }
}

#[async_trait::async_trait]
impl ObjectStore for Counting {
    async fn put_opts(&self, at: &Path, payload: PutPayload, options: PutOptions) -> Result<PutResult> {
        self.store.put_opts(at, payload, options).await
    }

    async fn put_multipart_opts(&self, at: &Path, options: PutMultipartOptions) -> Result<Box<dyn MultipartUpload>> {
        self.store.put_multipart_opts(at, options).await
    }

    async fn get_opts(&self, at: &Path, mut options: GetOptions) -> Result<GetResult> {
        self.requests.lock().unwrap().push(options.clone());
        if self.no_suffix && matches!(options.range, Some(GetRange::Suffix(_))) {
            return Err(object_store::Error::NotSupported {
                source: "no ranges at the end".into(),
            });
        }
        if self.no_conditions {
            options.if_match = None;
        }
        self.store.get_opts(at, options).await
    }

    fn delete_stream(&self, at: BoxStream<'static, Result<Path>>) -> BoxStream<'static, Result<Path>> {
        self.store.delete_stream(at)
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        self.store.list(prefix)
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        self.store.list_with_delimiter(prefix).await
    }

    async fn copy_opts(&self, from: &Path, to: &Path, options: CopyOptions) -> Result<()> {
        self.store.copy_opts(from, to, options).await
    }
}

fn runtime() -> Runtime {
    Builder::new_current_thread().build().unwrap()
}

/// Puts the files of an output into a store.
async fn put(store: &Arc<dyn ObjectStore>, files: &Files) -> AsyncStoredOutput {
    let mut objects: Vec<Arc<dyn AsyncStoredFile>> = Vec::new();
    for (role, path) in files.paths() {
        let at = Path::from(format!("job/orders.{role}"));
        store.put(&at, std::fs::read(path).unwrap().into()).await.unwrap();
        objects.push(Arc::new(ObjectFile::new(store.clone(), at)));
    }
    match (&files, &objects[..]) {
        (Files::Single(_), [single]) => AsyncStoredOutput::single(single.clone()),
        (Files::Paired { .. }, [data, index]) => AsyncStoredOutput::paired(data.clone(), index.clone()),
        _ => panic!("other files"),
    }
}

async fn read(reader: &AsyncReader) -> Vec<String> {
    let mut found = Vec::new();
    for partition in reader.partitions() {
        let mut delivered = Vec::new();
        let mut stream = reader.partition(partition).unwrap();
        while let Some(block) = stream.next().await {
            delivered.push(block);
        }
        blocks(&mut found, "", Ok(delivered.into_iter()));
    }
    found
}

#[test]
fn stores_are_read_as_memory_is() {
    let folder = tempfile::tempdir().unwrap();
    let local = LocalFileSystem::new_with_prefix(folder.path()).unwrap();
    let stores: [Arc<dyn ObjectStore>; 4] = [
        Arc::new(InMemory::new()),
        Arc::new(local),
        Counting::new(false),
        Counting::new(true),
    ];
    for store in stores {
        for layout in [Layout::Paired, Layout::Single] {
            let place = Place::new();
            let files = write_sample(&place.name(), layout);
            let mut expected = Vec::new();
            let reader = Reader::open_stored(in_memory(&files, |file| file), ReaderOptions::default()).unwrap();
            for partition in reader.partitions() {
                blocks(&mut expected, "", reader.partition(partition));
            }
            runtime().block_on(async {
                let output = put(&store, &files).await;
                let options = FeedOptions::default().small_bytes(64);
                let reader = AsyncReader::open(output, options).await.unwrap();
                assert_eq!(read(&reader).await, expected, "{store}, {layout:?}");
            });
        }
    }
}

#[test]
fn requests_are_few_and_carry_the_first_etag() {
    let place = Place::new();
    let mut writer = Writer::create(place.name(), WriterOptions::new(2)).unwrap();
    (0..20_000u32).for_each(|record| writer.write(1, &record.to_le_bytes().repeat(250)).unwrap());
    let files = writer.finish().unwrap().files;
    let counting = Counting::new(false);
    let store: Arc<dyn ObjectStore> = counting.clone();
    runtime().block_on(async {
        let output = put(&store, &files).await;
        let reader = AsyncReader::open(output, FeedOptions::default()).await.unwrap();
        let opening = counting.take();
        assert_eq!(opening.len(), 2, "{opening:?}");
        assert!(opening.iter().all(|request| request.if_match.is_none()));
        let mut bytes = 0;
        let mut stream = reader.partition(1).unwrap();
        while let Some(block) = stream.next().await {
            bytes += block.unwrap().payload.len();
        }
        assert_eq!(bytes, 20_000 * 1004);
        let reading = counting.take();
        assert_eq!(reading.len(), 3, "20 MB are 3 times 8 MiB: {reading:?}");
        assert!(reading.iter().all(|request| request.if_match.is_some()));
    });
}

#[test]
fn an_object_that_is_replaced_is_an_error() {
    let place = Place::new();
    let files = write_sample(&place.name(), Layout::Paired);
    let store: Arc<dyn ObjectStore> = Arc::new(InMemory::new());
    runtime().block_on(async {
        let output = put(&store, &files).await;
        let reader = AsyncReader::open(output, FeedOptions::default()).await.unwrap();
        put(&store, &files).await;
        let error = reader.partition(6).unwrap().next().await.unwrap().unwrap_err();
        assert_eq!((error.code, error.role), (ErrorCode::Io, Some(FileRole::Data)));
        // Two requests at the same time, before any ETag is known; or a store that ignores the condition.
        let store: Arc<dyn ObjectStore> = Counting::new(true);
        put(&store, &files).await;
        let at = Path::from("job/orders.data");
        let file = Arc::new(ObjectFile::new(store.clone(), at.clone()));
        let first = file.clone().read(FileRange::Bounded(4..8));
        let second = file.clone().read(FileRange::Bounded(0..4));
        first.await.unwrap();
        store.put(&at, "other".into()).await.unwrap();
        assert!(second.await.unwrap_err().to_string().contains("replaced"));
    });
}

#[test]
fn objects_that_are_missing_or_empty_are_told() {
    let store: Arc<dyn ObjectStore> = Arc::new(InMemory::new());
    runtime().block_on(async {
        let file = || Arc::new(ObjectFile::new(store.clone(), Path::from("a/b")));
        let error = AsyncReader::open(AsyncStoredOutput::single(file()), FeedOptions::default())
            .await
            .unwrap_err();
        assert_eq!((error.code, error.role), (ErrorCode::Io, Some(FileRole::Single)));
        assert_eq!(error.source.as_ref().unwrap().kind(), std::io::ErrorKind::NotFound);
        assert_eq!(error.file.as_deref(), Some(std::path::Path::new("a/b")));
        store.put(&Path::from("a/b"), "".into()).await.unwrap();
        let result = AsyncReader::open(AsyncStoredOutput::single(file()), FeedOptions::default()).await;
        assert!(told(result.map(drop)).contains("truncated"));
        store.put(&Path::from("a/b"), "12345".into()).await.unwrap();
        for (range, expected) in [(5..9, ""), (3..9, "45"), (7..8, ""), (2..2, "")] {
            let (bytes, size) = file().read(FileRange::Bounded(range)).await.unwrap();
            assert_eq!((&bytes[..], size), (expected.as_bytes(), 5));
        }
    });
}
