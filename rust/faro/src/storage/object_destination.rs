//! Outputs that are written to an object store.

use super::blocking_file::BlockingFile;
use super::destination::{Destination, NewFile};
use super::object_file::{ObjectFile, told};
use super::runtime::wait_for;
use super::stored_file::StoredFile;
use crate::bytes::FileHeader;
use crate::error::FileRole;
use object_store::path::Path as ObjectPath;
// From version 0.13 on, some calls are those of the trait `ObjectStoreExt`, which 0.12 does not have.
#[allow(unused_imports, clippy::wildcard_imports)]
use object_store::*;
use std::collections::VecDeque;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio::runtime::Handle;
use tokio::task::JoinHandle;
use uuid::Uuid;

/// The size of a part of an upload in bytes. Stores refuse parts below 5 MiB.
const PART: usize = 8 << 20;
/// How many parts are sent at the same time.
const IN_FLIGHT: usize = 4;

/// Writes an output to an object store, of the crate `object_store`. The runtime of tokio sends the requests, and the
/// writer's thread waits for them: it must be a thread that may block, not a task of a runtime. The runtime must have
/// threads of its own (`multi_thread`).
///
/// A file of at most 8 MiB is one request, which is refused if the name exists. A larger file is sent in parts under a
/// temporary name (`NAME.data.UUID.tmp`), and copied to its name inside the store. A store without a copy that is refused
/// when the name exists (S3 needs the setting `copy_if_not_exists`) is asked for the name before the copy: then of two
/// writers that publish large files of one name in the same moment, both may succeed, and readers may find a pair that
/// does not match. Give each attempt a name of its own. S3 copies at most 5 GB in one request, so a larger file cannot be
/// published there.
///
/// A large file takes up to 40 MiB: the part that is being filled, and 4 that are on their way. No budget is asked for
/// them.
///
/// A process that dies leaves no object under the names of the output. It may leave parts, and an object with a
/// temporary name, which a rule of the bucket should remove.
///
/// ```no_run
/// # fn store() -> std::sync::Arc<dyn object_store::ObjectStore> { unimplemented!() }
/// use faro::storage::ObjectDestination;
/// use faro::{Writer, WriterOptions};
///
/// let runtime = tokio::runtime::Runtime::new()?;
/// let destination = ObjectDestination::new(store(), "job-7/map-3.attempt-1", runtime.handle().clone());
/// let mut writer = Writer::create_in(destination, WriterOptions::new(100))?;
/// writer.write(7, b"a record")?;
/// writer.finish()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct ObjectDestination {
    store: Arc<dyn ObjectStore>,
    name: String,
    runtime: Handle,
}

impl ObjectDestination {
    /// The objects `name.data` and `name.index`, or `name.faro`. This sends no request.
    pub fn new(store: Arc<dyn ObjectStore>, name: impl Into<String>, runtime: Handle) -> ObjectDestination {
        ObjectDestination {
            store,
            name: name.into(),
            runtime,
        }
    }

    fn path(&self, role: FileRole) -> ObjectPath {
        let ending = match role {
            FileRole::Data => "data",
            FileRole::Index => "index",
            FileRole::Single => "faro",
            FileRole::Fragment => "fragment",
        };
        ObjectPath::from(format!("{}.{ending}", self.name))
    }
}

impl Destination for ObjectDestination {
    fn create(&mut self, role: FileRole) -> io::Result<Box<dyn NewFile>> {
        let path = self.path(role);
        Ok(Box::new(ObjectNewFile {
            name: PathBuf::from(path.as_ref()),
            temporary: ObjectPath::from(format!("{path}.{}.tmp", Uuid::new_v4().simple())),
            path,
            store: self.store.clone(),
            runtime: self.runtime.clone(),
            buffer: Vec::new(),
            upload: None,
            parts: VecDeque::new(),
            beginning: Vec::new(),
            size: 0,
            named: None,
        }))
    }

    fn taken(&self, role: FileRole) -> io::Result<Option<PathBuf>> {
        let path = self.path(role);
        wait_for(&self.runtime, async {
            match self.store.head(&path).await {
                Ok(_) => Ok(Some(PathBuf::from(path.as_ref()))),
                Err(Error::NotFound { .. }) => Ok(None),
                Err(error) => Err(told(error)),
            }
        })
    }
}

/// An object that is being written.
#[derive(Debug)]
struct ObjectNewFile {
    store: Arc<dyn ObjectStore>,
    runtime: Handle,
    name: PathBuf,
    path: ObjectPath,
    temporary: ObjectPath,
    /// What belongs to the next part.
    buffer: Vec<u8>,
    /// The upload in parts, once there is more than one part.
    upload: Option<Box<dyn MultipartUpload>>,
    parts: VecDeque<JoinHandle<Result<()>>>,
    /// The beginning of the file, with its header, and the size of the file: they tell the object from those of others.
    beginning: Vec<u8>,
    size: u64,
    /// The ETag of the object, if it is known, once the object may have its name.
    named: Option<Option<String>>,
}

impl ObjectNewFile {
    /// Sends what is in the buffer as a part, after those before it.
    fn send_part(&mut self) -> io::Result<()> {
        if self.upload.is_none() {
            let (store, at) = (self.store.clone(), self.temporary.clone());
            let begun = async { store.put_multipart_opts(&at, Default::default()).await.map_err(told) };
            self.upload = Some(wait_for(&self.runtime, begun)?);
        }
        let payload = PutPayload::from(std::mem::take(&mut self.buffer));
        if let Some(upload) = &mut self.upload {
            self.parts.push_back(self.runtime.spawn(upload.put_part(payload)));
        }
        self.wait_for_parts(IN_FLIGHT - 1)
    }

    /// Waits until at most this many parts are on their way.
    fn wait_for_parts(&mut self, left: usize) -> io::Result<()> {
        while self.parts.len() > left {
            if let Some(part) = self.parts.pop_front() {
                wait_for(&self.runtime, async { part.await?.map_err(told) })?;
            }
        }
        Ok(())
    }

    /// Publishes an object of one part.
    fn put(&mut self, replace: bool) -> io::Result<()> {
        let payload = PutPayload::from(std::mem::take(&mut self.buffer));
        let mode = if replace { PutMode::Overwrite } else { PutMode::Create };
        let put = async {
            self.store
                .put_opts(&self.path, payload, mode.into())
                .await
                .map_err(told)
        };
        // Whatever the answer is: it may be lost.
        let answer = wait_for(&self.runtime, put);
        self.named = Some(answer.as_ref().ok().and_then(|put| put.e_tag.clone()));
        answer.map(drop)
    }

    /// Publishes an object that was sent in parts.
    fn complete(&mut self, replace: bool) -> io::Result<()> {
        if !self.buffer.is_empty() {
            self.send_part()?;
        }
        self.wait_for_parts(0)?;
        let Some(mut upload) = self.upload.take() else {
            return Ok(());
        };
        let (store, from, to) = (self.store.clone(), self.temporary.clone(), self.path.clone());
        let mut named = None;
        let published = wait_for(&self.runtime, async {
            if let Err(error) = upload.complete().await {
                let _ = upload.abort().await;
                return Err(told(error));
            }
            named = Some(None);
            let copied = copy(&*store, &from, &to, replace).await;
            // If that fails, the temporary object stays, which no reader opens.
            let _ = store.delete(&from).await;
            copied.map_err(told)
        });
        self.named = named;
        published
    }

    /// Whether the object with our name is this file: it has the ETag that publishing returned, or else the size and the
    /// header with the `file_id`.
    async fn is_ours(&self, e_tag: Option<&str>) -> Result<bool> {
        let found = self.store.head(&self.path).await?;
        if let (Some(own), Some(found)) = (e_tag, &found.e_tag) {
            return Ok(own == found);
        }
        if found.size != self.size {
            return Ok(false);
        }
        let beginning = self.store.get_range(&self.path, 0..self.beginning.len() as u64).await?;
        Ok(beginning == self.beginning)
    }

    /// Gives up what was sent. In a task that must not wait, it is done in the background.
    fn give_up(&mut self) {
        self.buffer = Vec::new();
        for part in self.parts.drain(..) {
            part.abort();
        }
        if let Some(mut upload) = self.upload.take() {
            let aborted = async move {
                let _ = upload.abort().await;
            };
            match Handle::try_current() {
                Ok(_) => drop(self.runtime.spawn(aborted)),
                // If that fails, the parts stay, which no reader opens.
                Err(_) => drop(wait_for(&self.runtime, async {
                    aborted.await;
                    Ok(())
                })),
            }
        }
    }
}

/// Copies an object inside the store. Without `replace`, it fails when the name exists.
async fn copy(store: &dyn ObjectStore, from: &ObjectPath, to: &ObjectPath, replace: bool) -> Result<()> {
    if replace {
        return store.copy(from, to).await;
    }
    match store.copy_if_not_exists(from, to).await {
        Err(Error::NotSupported { .. } | Error::NotImplemented { .. }) => {}
        copied => return copied,
    }
    match store.head(to).await {
        Err(Error::NotFound { .. }) => store.copy(from, to).await,
        Err(error) => Err(error),
        Ok(_) => Err(Error::AlreadyExists {
            path: to.to_string(),
            source: "an object has the name".into(),
        }),
    }
}

impl NewFile for ObjectNewFile {
    fn name(&self) -> &Path {
        &self.name
    }

    fn append(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        let missing = FileHeader::SIZE - self.beginning.len();
        self.beginning.extend_from_slice(&bytes[..missing.min(bytes.len())]);
        self.size += bytes.len() as u64;
        loop {
            let room = PART - self.buffer.len();
            if bytes.len() <= room {
                self.buffer.extend_from_slice(bytes);
                return Ok(());
            }
            // The buffer is full and there is more: so the last part is never empty.
            let (now, rest) = bytes.split_at(room);
            self.buffer.extend_from_slice(now);
            self.send_part()?;
            bytes = rest;
        }
    }

    /// An object store keeps nothing of an object before it is published, so there is nothing to sync.
    fn sync(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn publish(&mut self, replace: bool) -> io::Result<()> {
        match self.upload {
            None => self.put(replace),
            Some(_) => self.complete(replace),
        }
    }

    fn remove(&mut self) -> io::Result<()> {
        self.give_up();
        let Some(e_tag) = &self.named else {
            return Ok(());
        };
        wait_for(&self.runtime, async {
            match self.is_ours(e_tag.as_deref()).await {
                Ok(true) => self.store.delete(&self.path).await.map_err(told),
                Ok(false) | Err(Error::NotFound { .. }) => Ok(()),
                Err(error) => Err(told(error)),
            }
        })?;
        self.named = None;
        Ok(())
    }

    fn open(&self) -> io::Result<Box<dyn StoredFile>> {
        let file = Arc::new(ObjectFile::new(self.store.clone(), self.path.clone()));
        Ok(Box::new(BlockingFile::new(file, self.runtime.clone())))
    }
}

impl Drop for ObjectNewFile {
    fn drop(&mut self) {
        self.give_up();
    }
}
