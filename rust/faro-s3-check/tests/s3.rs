//! Outputs in a server of S3. `make conformance-stores` runs this; without a server the tests say that they were skipped.

use faro::feed::FeedOptions;
use faro::storage::{AsyncStoredFile, AsyncStoredOutput, ObjectDestination, ObjectFile};
use faro::{AsyncReader, ErrorCode, Files, Layout, Lookup, Reader, ReaderOptions, Writer, WriterOptions};
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt};
use std::sync::Arc;

async fn put(store: &Arc<dyn ObjectStore>, files: &Files, name: &str) -> AsyncStoredOutput {
    let mut objects: Vec<Arc<dyn AsyncStoredFile>> = Vec::new();
    for (role, path) in files.paths() {
        let at = Path::from(format!("{name}.{role}"));
        store.put(&at, std::fs::read(path).unwrap().into()).await.unwrap();
        objects.push(Arc::new(ObjectFile::new(store.clone(), at)));
    }
    match &objects[..] {
        [single] => AsyncStoredOutput::single(single.clone()),
        [data, index] => AsyncStoredOutput::paired(data.clone(), index.clone()),
        _ => panic!("other files"),
    }
}

/// The server's bucket; none if there is no server.
fn server() -> Option<Arc<dyn ObjectStore>> {
    let bucket = faro_s3_check::bucket();
    if bucket.is_none() {
        println!(
            "skipped: {} is not set: the address of a server of S3 with a bucket `faro`",
            faro_s3_check::ENDPOINT
        );
    }
    bucket
}

#[test]
fn a_server_of_s3_is_written_to() {
    let Some(store) = server() else { return };
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .unwrap();
    // One request for each file, and parts.
    for (name, count) in [("small", 10u32), ("large", 200_000)] {
        for layout in [Layout::Paired, Layout::Single] {
            let name = format!("written-{name}-{layout:?}");
            let write = |last: &[u8]| {
                let to = ObjectDestination::new(store.clone(), &*name, runtime.handle().clone());
                let mut writer = Writer::create_in(to, WriterOptions::new(3).layout(layout).buffer_size(1 << 20))?;
                for record in 0..count {
                    writer.write(record % 3, &record.to_le_bytes().repeat(25))?;
                }
                writer.write(0, last)?;
                writer.finish_and_open(ReaderOptions::default())
            };
            let (_, reader) = write(b"the first").unwrap();
            let records = (0..3).map(|at| reader.records(at).unwrap().map(Result::unwrap).count());
            assert_eq!(records.sum::<usize>(), count as usize + 1);
            assert_eq!(reader.records(0).unwrap().last().unwrap().unwrap(), "the first");
            let error = write(b"the second").unwrap_err();
            assert_eq!(error.code, ErrorCode::Io, "{error}");
            assert_eq!(reader.records(0).unwrap().last().unwrap().unwrap(), "the first");
        }
    }
    let left = runtime.block_on(store.list_with_delimiter(None)).unwrap().objects;
    let left: Vec<_> = left.iter().map(|object| object.location.to_string()).collect();
    assert!(!left.iter().any(|name| name.ends_with(".tmp")), "{left:?}");
    println!("written to the server");
}

#[test]
fn a_server_of_s3_is_read_as_local_files_are() {
    let Some(store) = server() else { return };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    for (layout, lookup) in [
        (Layout::Paired, Lookup::Full),
        (Layout::Single, Lookup::Full),
        (Layout::Paired, Lookup::Direct),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let options = WriterOptions::new(3).layout(layout).buffer_size(1 << 20);
        let mut writer = Writer::create(folder.path().join("out"), options).unwrap();
        for record in 0..20_000u32 {
            writer.write(record % 3, &record.to_le_bytes().repeat(100)).unwrap();
        }
        writer.broadcast(b"for all").unwrap();
        let files = writer.finish().unwrap().files;
        let local = Reader::open(&files, ReaderOptions::default()).unwrap();
        runtime.block_on(async {
            let output = put(&store, &files, "orders").await;
            // Small sizes, so that all kinds of requests are made.
            let options = FeedOptions::default().small_bytes(64).read_bytes(64 << 10);
            let options = options.reader(ReaderOptions::default().lookup(lookup));
            let reader = AsyncReader::open(output, options).await.unwrap();
            for partition in reader.partitions() {
                let mut stream = reader.partition(partition).unwrap();
                for expected in local.partition(partition).unwrap() {
                    let found = stream.next().await.unwrap().unwrap();
                    assert_eq!(found.payload, expected.unwrap().payload);
                }
                assert!(stream.next().await.is_none());
            }
            // The same bytes have the same ETag; others must not be mixed with them.
            let mut stream = reader.partition(0).unwrap();
            let at = Path::from(if layout == Layout::Single {
                "orders.single"
            } else {
                "orders.data"
            });
            store.put(&at, vec![0; 9_000_000].into()).await.unwrap();
            let error = stream.next().await.unwrap().unwrap_err();
            assert_eq!(error.code, ErrorCode::Io, "{error}");
        });
    }
    println!("read from the server");
}
