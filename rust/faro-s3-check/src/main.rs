//! A testee whose outputs are in a server of S3. It writes with an `ObjectDestination`. Partitions and ranges are read by
//! an `AsyncReader`, all else by a `Reader` over `BlockingFile`.

use faro::feed::FeedOptions;
use faro::message::{DictionaryEntry, Footer};
use faro::storage::{
    AsyncStoredFile, AsyncStoredOutput, BlockingFile, ObjectDestination, ObjectFile, StoredFile, StoredOutput,
};
use faro::{
    AsyncBlocks, AsyncReader, CheckOptions, CheckReport, FileHeader, FileRole, Files, Reader, ReaderOptions,
    RegionIndex, Writer, WriterOptions,
};
use faro_testee::{Blocks, Failure, Local, NewOutput, Output, Storage, name_and_layout, path_of, run};
use object_store::path::Path as Key;
use object_store::{ObjectStore, ObjectStoreExt};
use std::cell::Cell;
use std::io;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use tokio::runtime::{Builder, Runtime};

fn main() -> io::Result<()> {
    let Some(store) = faro_s3_check::bucket() else {
        let message = format!(
            "{} is not set: the address of a server of S3 with a bucket `faro`",
            faro_s3_check::ENDPOINT
        );
        return Err(io::Error::new(io::ErrorKind::NotFound, message));
    };
    run(Box::new(S3 {
        store,
        runtime: Arc::new(Builder::new_multi_thread().worker_threads(1).enable_all().build()?),
        outputs: Cell::new(0),
    }))
}

/// Objects of a bucket. Each request has a folder of its own.
#[derive(Debug)]
struct S3 {
    store: Arc<dyn ObjectStore>,
    runtime: Arc<Runtime>,
    /// How many folders there were.
    outputs: Cell<u64>,
}

impl S3 {
    /// A new folder. Other testees may use the same bucket.
    fn folder(&self) -> String {
        self.outputs.set(self.outputs.get() + 1);
        format!("{}/{}", std::process::id(), self.outputs.get())
    }

    /// Puts a local file into the bucket.
    fn put(&self, path: &Path, key: &Key) -> io::Result<()> {
        let bytes = std::fs::read(path)?;
        self.runtime.block_on(self.store.put(key, bytes.into()))?;
        Ok(())
    }

    /// Copies the files to the bucket. One that cannot be read is missing there, which is the same error.
    fn copy_in(&self, files: &Files) -> Vec<Arc<dyn AsyncStoredFile>> {
        let folder = self.folder();
        let copy = |(role, path): (FileRole, &Path)| -> Arc<dyn AsyncStoredFile> {
            let key = Key::from(format!("{folder}/{role}"));
            if path.is_file()
                && let Err(error) = self.put(path, &key)
            {
                eprintln!("{}: {error}", path.display());
            }
            Arc::new(ObjectFile::new(self.store.clone(), key))
        };
        files.paths().into_iter().map(copy).collect()
    }

    fn blocking(&self, objects: &[Arc<dyn AsyncStoredFile>]) -> StoredOutput {
        let file = |object: &Arc<dyn AsyncStoredFile>| -> Box<dyn StoredFile> {
            Box::new(BlockingFile::new(object.clone(), self.runtime.handle().clone()))
        };
        match objects {
            [data, index] => StoredOutput::paired(file(data), file(index)),
            objects => StoredOutput::single(file(&objects[0])),
        }
    }
}

impl Storage for S3 {
    fn create(&self, path: &Path, mut options: WriterOptions) -> Result<NewOutput, Failure> {
        if options.follow {
            return Local.create(path, options);
        }
        let name = name_and_layout(path, &mut options)?;
        let to = format!("{}/out", self.folder());
        let key = |to: &str, role| {
            let path = path_of(Path::new(to), role);
            Key::from(path.to_string_lossy().as_ref())
        };
        for role in [FileRole::Data, FileRole::Index, FileRole::Single] {
            let there = path_of(&name, role);
            if there.is_file() {
                let put = self.put(&there, &key(&to, role));
                put.map_err(|error| Failure::Unsupported(format!("a copy of {}: {error}", there.display())))?;
            }
        }
        let destination = ObjectDestination::new(self.store.clone(), &*to, self.runtime.handle().clone());
        let writer = Writer::create_in(destination, options)?;
        let (store, runtime) = (self.store.clone(), self.runtime.clone());
        Ok(NewOutput::new(writer, move |role| {
            let key = key(&to, role);
            let bytes = runtime.block_on(async { store.get(&key).await?.bytes().await })?;
            std::fs::write(path_of(&name, role), bytes)
        }))
    }

    fn open(&self, files: &Files, options: ReaderOptions) -> faro::Result<Reader> {
        Reader::open_stored(self.blocking(&self.copy_in(files)), options)
    }

    fn open_output(&self, files: &Files, options: ReaderOptions) -> faro::Result<Box<dyn Output>> {
        let objects = self.copy_in(files);
        let stored = match &objects[..] {
            [data, index] => AsyncStoredOutput::paired(data.clone(), index.clone()),
            objects => AsyncStoredOutput::single(objects[0].clone()),
        };
        // Small sizes, so that the small outputs of cases take several requests.
        let sizes = FeedOptions::default()
            .small_bytes(64)
            .read_bytes(4096)
            .ahead_bytes(4096);
        let streams = self
            .runtime
            .block_on(AsyncReader::open(stored, sizes.reader(options.clone())))?;
        let reader = Reader::open_stored(self.blocking(&objects), options)?;
        Ok(Box::new(Streamed {
            runtime: self.runtime.clone(),
            streams,
            reader,
        }))
    }

    fn check(&self, files: &Files, options: &CheckOptions) -> faro::Result<CheckReport> {
        faro::check_stored(&self.blocking(&self.copy_in(files)), options)
    }
}

/// An output that an `AsyncReader` reads. `Reader` answers what that has no call for.
struct Streamed {
    runtime: Arc<Runtime>,
    streams: AsyncReader,
    reader: Reader,
}

impl Streamed {
    fn blocks(&self, mut blocks: AsyncBlocks) -> Blocks<'_> {
        Box::new(std::iter::from_fn(move || self.runtime.block_on(blocks.next())))
    }
}

impl Output for Streamed {
    fn header(&self) -> &FileHeader {
        self.streams.header()
    }

    fn footer(&self) -> Option<&Footer> {
        Some(self.streams.footer())
    }

    fn dictionaries(&self) -> &[DictionaryEntry] {
        self.streams.feeds().dictionaries()
    }

    fn regions(&self) -> usize {
        self.streams.feeds().region_count()
    }

    fn region(&self, number: usize) -> faro::Result<Arc<RegionIndex>> {
        self.reader.region(number)
    }

    fn stored_bytes(&self, partition: u32) -> faro::Result<u64> {
        self.reader.stored_bytes(partition)
    }

    fn partition(&self, partition: u32) -> faro::Result<Blocks<'_>> {
        Ok(self.blocks(self.streams.partition(partition)?))
    }

    fn range(&self, partitions: Range<u32>) -> faro::Result<Blocks<'_>> {
        Ok(self.blocks(self.streams.range(partitions)?))
    }
}
