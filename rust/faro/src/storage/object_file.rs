//! Objects of an object store.

use super::async_file::{AsyncRead, AsyncStoredFile};
use super::file_range::FileRange;
use bytes::Bytes;
use object_store::path::Path as ObjectPath;
use object_store::{GetOptions, GetRange, ObjectMeta, ObjectStore};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// An object of an object store, of the crate `object_store`.
///
/// Each read is one request. The first says which content the object has; all later requests have the condition
/// `If-Match` with its ETag, so an object that is replaced is `io`. Without an ETag, the time of the change and the size
/// are compared.
///
/// ```
/// use faro::storage::{AsyncStoredOutput, ObjectFile};
/// use object_store::{ObjectStore, memory::InMemory, path::Path};
/// use std::sync::Arc;
///
/// let store: Arc<dyn ObjectStore> = Arc::new(InMemory::new());
/// let file = |path: &str| Arc::new(ObjectFile::new(store.clone(), Path::from(path)));
/// let output = AsyncStoredOutput::paired(file("job-7/orders.data"), file("job-7/orders.index"));
/// ```
#[derive(Debug)]
pub struct ObjectFile {
    store: Arc<dyn ObjectStore>,
    path: ObjectPath,
    name: PathBuf,
    /// The content, once a request has told it.
    content: Mutex<Option<Content>>,
}

/// What names the content of an object.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Content {
    size: u64,
    e_tag: Option<String>,
    /// The time of the change, without an ETag.
    modified: Option<String>,
}

impl Content {
    fn of(meta: &ObjectMeta) -> Self {
        Content {
            size: meta.size,
            modified: meta.e_tag.is_none().then(|| meta.last_modified.to_rfc3339()),
            e_tag: meta.e_tag.clone(),
        }
    }
}

impl ObjectFile {
    /// The object at a path. This sends no request.
    pub fn new(store: Arc<dyn ObjectStore>, path: ObjectPath) -> ObjectFile {
        ObjectFile {
            store,
            name: PathBuf::from(path.as_ref()),
            path,
            content: Mutex::new(None),
        }
    }

    /// Sends a request, and checks that the content is the same as before.
    async fn get(&self, range: Option<GetRange>) -> object_store::Result<io::Result<(Bytes, u64)>> {
        let known = self.content.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let is_head = range.is_none();
        let options = GetOptions {
            range,
            head: is_head,
            if_match: known.and_then(|content| content.e_tag),
            ..GetOptions::default()
        };
        let answer = self.store.get_opts(&self.path, options).await?;
        let found = Content::of(&answer.meta);
        let (size, range) = (found.size, answer.range.clone());
        let first = self
            .content
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .get_or_insert(found.clone())
            .clone();
        if first != found {
            return Ok(Err(io::Error::other("the object was replaced while it was read")));
        }
        if is_head {
            return Ok(Ok((Bytes::new(), size)));
        }
        let bytes = answer.bytes().await?;
        if bytes.len() as u64 != range.end - range.start {
            let text = format!(
                "the store returned {} bytes of {}",
                bytes.len(),
                range.end - range.start
            );
            return Ok(Err(io::Error::new(io::ErrorKind::UnexpectedEof, text)));
        }
        Ok(Ok((bytes, size)))
    }

    async fn read_range(&self, range: FileRange) -> io::Result<(Bytes, u64)> {
        let asked = match &range {
            FileRange::Bounded(range) => GetRange::Bounded(range.clone()),
            FileRange::Suffix(length) => GetRange::Suffix(*length),
        };
        let error = match self.get(Some(asked)).await {
            Ok(result) => return result,
            Err(error) => error,
        };
        if matches!(
            error,
            object_store::Error::NotFound { .. } | object_store::Error::Precondition { .. }
        ) {
            return Err(told(error));
        }
        // A store may refuse a range that is empty or after the end, and some know no ranges at the end.
        let Ok(Ok((_, size))) = self.get(None).await else {
            return Err(told(error));
        };
        let inside = range.within(size);
        match range {
            _ if inside.is_empty() => Ok((Bytes::new(), size)),
            FileRange::Suffix(_) => self.get(Some(GetRange::Bounded(inside))).await.map_err(told)?,
            FileRange::Bounded(_) => Err(told(error)),
        }
    }
}

/// The error of the language for one of a store.
pub(super) fn told(error: object_store::Error) -> io::Error {
    let kind = match &error {
        object_store::Error::NotFound { .. } => io::ErrorKind::NotFound,
        object_store::Error::AlreadyExists { .. } => io::ErrorKind::AlreadyExists,
        _ => io::ErrorKind::Other,
    };
    io::Error::new(kind, error)
}

impl AsyncStoredFile for ObjectFile {
    fn name(&self) -> &Path {
        &self.name
    }

    fn read(self: Arc<Self>, range: FileRange) -> AsyncRead {
        Box::pin(async move { self.read_range(range).await })
    }
}
