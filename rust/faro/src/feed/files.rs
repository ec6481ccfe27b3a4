//! The file or files of an output whose bytes the caller brings.

use super::FeedOptions;
use super::incoming::{Incoming, Wanted};
use crate::error::{Error, FileRole, Result};
use crate::storage::{BroughtFile, StoredOutput};
use bytes::Bytes;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

/// The files: the index or single file, and the data file of a pair.
#[derive(Debug)]
pub(super) struct Files {
    pub index: Incoming,
    /// None for a single file, whose blocks are in `index`.
    data: Option<Incoming>,
}

impl Files {
    pub(super) fn single(name: PathBuf) -> Self {
        let file = Arc::new(BroughtFile::new(name));
        Files {
            index: Incoming::new(FileRole::Single, file),
            data: None,
        }
    }

    pub(super) fn paired(data: PathBuf, index: PathBuf) -> Self {
        let incoming = |role, name| Incoming::new(role, Arc::new(BroughtFile::new(name)));
        Files {
            index: incoming(FileRole::Index, index),
            data: Some(incoming(FileRole::Data, data)),
        }
    }

    /// Files that have the same bytes, and take their own from now on.
    pub(super) fn fork(&self) -> Self {
        let fork = |incoming: &Incoming| Incoming::new(incoming.role, Arc::new(incoming.file.fork()));
        Files {
            index: fork(&self.index),
            data: self.data.as_ref().map(fork),
        }
    }

    /// The files as a reader takes them.
    pub(super) fn stored(&self) -> StoredOutput {
        let index = self.index.file.clone();
        match &self.data {
            None => StoredOutput::single(index),
            Some(data) => StoredOutput::paired(data.file.clone(), index),
        }
    }

    /// The file with the blocks of partitions.
    pub(super) fn data(&mut self) -> &mut Incoming {
        self.data.as_mut().unwrap_or(&mut self.index)
    }

    pub(super) fn all(&mut self) -> impl Iterator<Item = &mut Incoming> {
        std::iter::once(&mut self.index).chain(&mut self.data)
    }

    pub(super) fn tell(&mut self, options: &FeedOptions) -> Vec<Wanted> {
        let mut wanted = Vec::new();
        self.all().for_each(|incoming| incoming.tell(options, &mut wanted));
        wanted
    }

    pub(super) fn missing(&self) -> Vec<Wanted> {
        let mut wanted = Vec::new();
        self.index.missing(&mut wanted);
        if let Some(data) = &self.data {
            data.missing(&mut wanted);
        }
        wanted
    }

    pub(super) fn bring(&mut self, role: FileRole, offset: u64, bytes: &Bytes, size: u64) -> Result<()> {
        self.of(role)?.bring(offset, bytes, size)
    }

    pub(super) fn fail(&mut self, wanted: &Wanted, error: &io::Error) -> Result<()> {
        self.of(wanted.role)?.fail(&wanted.range, error);
        Ok(())
    }

    fn of(&mut self, role: FileRole) -> Result<&mut Incoming> {
        let roles: Vec<_> = self.all().map(|incoming| incoming.role.as_str()).collect();
        let found = self.all().find(|incoming| incoming.role == role);
        found.ok_or_else(|| {
            Error::argument(
                format!("a file of the output: {}", roles.join(" or ")),
                role.to_string(),
            )
        })
    }

    /// How many bytes are there.
    pub(super) fn held(&self) -> u64 {
        let files = std::iter::once(&self.index).chain(&self.data);
        files
            .map(|incoming| incoming.file.with_pieces(|pieces| pieces.held()))
            .sum()
    }

    pub(super) fn close(&mut self) {
        self.all().for_each(Incoming::close);
    }
}
