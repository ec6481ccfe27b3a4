//! Outputs that are written to object stores, and read by readers that wait.
#![cfg(all(feature = "object_store", feature = "tokio"))]

use faro::storage::{
    AsyncStoredFile, BlockingFile, Destination, ObjectDestination, ObjectFile, StoredOutput, check_destination,
    check_stored_file,
};
use faro::{ErrorCode, FileRole, Layout, Reader, ReaderOptions, Writer, WriterOptions};
use futures_core::stream::BoxStream;
use object_store::local::LocalFileSystem;
use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::{
    CopyOptions, GetOptions, GetResult, ListResult, MultipartUpload, ObjectMeta, ObjectStore, ObjectStoreExt,
    PutMultipartOptions, PutOptions, PutPayload, PutResult,
};
use std::io;
use std::sync::Arc;
use tokio::runtime::{Builder, Runtime};

fn runtime() -> Runtime {
    Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap()
}

fn path(name: &str, role: FileRole) -> Path {
    let ending = match role {
        FileRole::Data => "data",
        FileRole::Index => "index",
        _ => "faro",
    };
    Path::from(format!("{name}.{ending}"))
}

fn get(runtime: &Runtime, store: &Arc<dyn ObjectStore>, at: &Path) -> io::Result<Option<Vec<u8>>> {
    runtime.block_on(async {
        match store.get(at).await {
            Ok(found) => Ok(Some(found.bytes().await?.to_vec())),
            Err(object_store::Error::NotFound { .. }) => Ok(None),
            Err(error) => Err(error.into()),
        }
    })
}

/// The names of all objects, in order.
fn names(runtime: &Runtime, store: &Arc<dyn ObjectStore>) -> Vec<String> {
    let listed = runtime.block_on(store.list_with_delimiter(None)).unwrap();
    let mut names: Vec<_> = listed
        .objects
        .into_iter()
        .map(|object| object.location.to_string())
        .collect();
    names.sort();
    names
}

fn stores() -> (tempfile::TempDir, Vec<Arc<dyn ObjectStore>>) {
    let folder = tempfile::tempdir().unwrap();
    let local = LocalFileSystem::new_with_prefix(folder.path()).unwrap();
    (folder, vec![Arc::new(InMemory::new()), Arc::new(local)])
}

fn file(runtime: &Runtime, store: &Arc<dyn ObjectStore>, at: Path) -> BlockingFile {
    let file: Arc<dyn AsyncStoredFile> = Arc::new(ObjectFile::new(store.clone(), at));
    BlockingFile::new(file, runtime.handle().clone())
}

#[test]
fn the_kits_find_that_promises_are_kept() {
    let runtime = runtime();
    let (_folder, stores) = stores();
    for store in stores {
        let fresh = |place: usize| ObjectDestination::new(store.clone(), format!("p{place}"), runtime.handle().clone());
        let find = |place: usize, role| get(&runtime, &store, &path(&format!("p{place}"), role));
        check_destination(fresh, Some(&find)).unwrap();
        let left = names(&runtime, &store);
        assert!(!left.iter().any(|name| name.ends_with(".tmp")), "{left:?}");

        let bytes: Vec<u8> = (0..200_000u32).flat_map(u32::to_le_bytes).collect();
        runtime
            .block_on(store.put(&Path::from("kit"), bytes.clone().into()))
            .unwrap();
        check_stored_file(&file(&runtime, &store, Path::from("kit")), &bytes).unwrap();
    }
}

/// Writes some 20 MB, so that the data file is sent in parts.
fn write_large(writer: &mut Writer, last: &[u8]) {
    let mut record = vec![0; 1000];
    for number in 0..20_000u32 {
        record[..4].copy_from_slice(&number.to_le_bytes());
        writer.write(number % 7, &record).unwrap();
    }
    writer.write(0, last).unwrap();
}

#[test]
fn a_large_output_is_the_same_as_a_local_one() {
    let runtime = runtime();
    let (_folder, stores) = stores();
    let local = tempfile::tempdir().unwrap();
    for (at, store) in stores.into_iter().enumerate() {
        for layout in [Layout::Paired, Layout::Single] {
            let options = WriterOptions::new(7)
                .layout(layout)
                .file_id(Some([5; 16]))
                .buffer_size(4 << 20);
            let name = format!("{at}-{layout:?}");
            let mut expected = Writer::create(local.path().join(&name), options.clone()).unwrap();
            write_large(&mut expected, b"the last");
            let files = expected.finish().unwrap().files;

            let destination = ObjectDestination::new(store.clone(), &*name, runtime.handle().clone());
            let mut writer = Writer::create_in(destination.clone(), options.clone()).unwrap();
            // Another one that finds the name free when it begins.
            let other = options.clone().file_id(Some([6; 16]));
            let mut second = Writer::create_in(destination.clone(), other.clone()).unwrap();
            write_large(&mut writer, b"the last");
            let (_, reader) = writer.finish_and_open(ReaderOptions::default()).unwrap();
            assert_eq!(reader.records(0).unwrap().last().unwrap().unwrap(), "the last");
            for (role, local) in files.paths() {
                let found = get(&runtime, &store, &path(&name, role)).unwrap().unwrap();
                assert!(found == std::fs::read(local).unwrap(), "{role:?} of {name}");
            }
            let before = names(&runtime, &store);
            assert!(!before.iter().any(|name| name.ends_with(".tmp")), "{before:?}");

            // It is refused when it finishes, and a third when it begins; the first output stays.
            write_large(&mut second, b"of the second");
            let error = second.finish().unwrap_err();
            assert_eq!(error.code, ErrorCode::Io);
            assert!(error.to_string().contains("exists"), "{error}");
            drop(second);
            let error = Writer::create_in(destination, other).err().unwrap();
            assert!(error.to_string().contains("exists"), "{error}");
            assert_eq!(names(&runtime, &store), before);
            let open = |role| file(&runtime, &store, path(&name, role));
            let output = match layout {
                Layout::Single => StoredOutput::single(open(FileRole::Single)),
                _ => StoredOutput::paired(open(FileRole::Data), open(FileRole::Index)),
            };
            let reader = Reader::open_stored(output, ReaderOptions::default()).unwrap();
            assert_eq!(reader.records(0).unwrap().last().unwrap().unwrap(), "the last");
        }
    }
}

#[test]
fn an_output_that_is_given_up_leaves_nothing() {
    let runtime = runtime();
    let (_folder, stores) = stores();
    for store in stores {
        let destination = ObjectDestination::new(store.clone(), "given-up", runtime.handle().clone());
        let options = WriterOptions::new(7).buffer_size(4 << 20);
        let mut writer = Writer::create_in(destination.clone(), options.clone()).unwrap();
        write_large(&mut writer, b"");
        writer.abort().unwrap();
        drop(writer);
        let mut writer = Writer::create_in(destination, options).unwrap();
        write_large(&mut writer, b"");
        drop(writer);
        assert_eq!(names(&runtime, &store), [""; 0]);
    }
}

#[test]
fn a_call_from_a_task_of_the_runtime_fails_and_does_not_panic() {
    let runtime = runtime();
    let store: Arc<dyn ObjectStore> = Arc::new(InMemory::new());
    let mut destination = ObjectDestination::new(store.clone(), "task", runtime.handle().clone());
    runtime.block_on(async {
        let mut new = destination.create(FileRole::Single).unwrap();
        new.append(b"bytes").unwrap();
        let error = new.publish(false).unwrap_err();
        assert!(error.to_string().contains("spawn_blocking"), "{error}");
        new.append(&vec![1; 9 << 20]).unwrap_err();
        drop(new);
    });
    assert_eq!(names(&runtime, &store), [""; 0]);
}

#[test]
fn a_thread_of_spawn_blocking_may_write_and_read() {
    let runtime = runtime();
    let store: Arc<dyn ObjectStore> = Arc::new(InMemory::new());
    let (destination, handle) = (
        ObjectDestination::new(store.clone(), "blocking", runtime.handle().clone()),
        runtime.handle().clone(),
    );
    let task = runtime.spawn_blocking(move || {
        let mut writer = Writer::create_in(destination, WriterOptions::new(7).layout(Layout::Single)).unwrap();
        writer.write(3, b"a record").unwrap();
        writer.finish().unwrap();
        let at = path("blocking", FileRole::Single);
        let file: Arc<dyn AsyncStoredFile> = Arc::new(ObjectFile::new(store, at));
        let output = StoredOutput::single(Box::new(BlockingFile::new(file, handle)));
        let reader = Reader::open_stored(output, ReaderOptions::default()).unwrap();
        reader.records(3).unwrap().count()
    });
    assert_eq!(runtime.block_on(task).unwrap(), 1);
}

#[test]
fn a_runtime_that_nobody_runs_is_refused() {
    let runtime = Builder::new_current_thread().enable_all().build().unwrap();
    let store: Arc<dyn ObjectStore> = Arc::new(InMemory::new());
    let mut destination = ObjectDestination::new(store, "one", runtime.handle().clone());
    let mut new = destination.create(FileRole::Single).unwrap();
    new.append(b"bytes").unwrap();
    let error = new.publish(false).unwrap_err();
    assert!(error.to_string().contains("threads of its own"), "{error}");
}

/// A store that does what it is asked to, and loses the answers to requests that give an object a final name.
#[derive(Debug)]
struct Losing(InMemory);

impl std::fmt::Display for Losing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a store that loses answers")
    }
}

fn lost<T>(answer: object_store::Result<T>) -> object_store::Result<T> {
    answer.and(Err(object_store::Error::Generic {
        store: "losing",
        source: "the answer is lost".into(),
    }))
}

#[async_trait::async_trait]
impl ObjectStore for Losing {
    async fn put_opts(&self, to: &Path, bytes: PutPayload, options: PutOptions) -> object_store::Result<PutResult> {
        lost(self.0.put_opts(to, bytes, options).await)
    }

    async fn put_multipart_opts(
        &self,
        to: &Path,
        options: PutMultipartOptions,
    ) -> object_store::Result<Box<dyn MultipartUpload>> {
        self.0.put_multipart_opts(to, options).await
    }

    async fn get_opts(&self, from: &Path, options: GetOptions) -> object_store::Result<GetResult> {
        self.0.get_opts(from, options).await
    }

    fn delete_stream(
        &self,
        names: BoxStream<'static, object_store::Result<Path>>,
    ) -> BoxStream<'static, object_store::Result<Path>> {
        self.0.delete_stream(names)
    }

    fn list(&self, under: Option<&Path>) -> BoxStream<'static, object_store::Result<ObjectMeta>> {
        self.0.list(under)
    }

    async fn list_with_delimiter(&self, under: Option<&Path>) -> object_store::Result<ListResult> {
        self.0.list_with_delimiter(under).await
    }

    async fn copy_opts(&self, from: &Path, to: &Path, options: CopyOptions) -> object_store::Result<()> {
        lost(self.0.copy_opts(from, to, options).await)
    }
}

/// What a failed writer has put under a final name does not stay, even if it does not know that it is there.
#[test]
fn an_object_whose_answer_was_lost_is_removed() {
    let runtime = runtime();
    let store: Arc<dyn ObjectStore> = Arc::new(Losing(InMemory::new()));
    for (layout, large) in [
        (Layout::Single, false),
        (Layout::Single, true),
        (Layout::Paired, false),
        (Layout::Paired, true),
    ] {
        let destination = ObjectDestination::new(store.clone(), "lost", runtime.handle().clone());
        let options = WriterOptions::new(7).layout(layout).buffer_size(4 << 20);
        let mut writer = Writer::create_in(destination, options).unwrap();
        match large {
            true => write_large(&mut writer, b""),
            false => writer.write(3, b"a record").unwrap(),
        }
        let error = writer.finish().unwrap_err();
        assert_eq!(error.code, ErrorCode::Io, "{error}");
        drop(writer);
        assert_eq!(names(&runtime, &store), [""; 0], "{layout:?}, {large}");
    }
    // The object of another writer stays.
    let other = path("lost", FileRole::Single);
    runtime.block_on(async { drop(store.put(&other, vec![7; 200].into()).await) });
    let destination = ObjectDestination::new(store.clone(), "lost", runtime.handle().clone());
    let mut new = destination.clone().create(FileRole::Single).unwrap();
    new.append(&[8; 200]).unwrap();
    new.publish(false).unwrap_err();
    new.remove().unwrap();
    assert_eq!(get(&runtime, &store, &other).unwrap(), Some(vec![7; 200]));
}
