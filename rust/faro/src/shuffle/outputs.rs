//! A shuffle: its outputs, and the readers that are open.

use crate::error::{Error, Result};
use crate::index::RegionCache;
use crate::reader::{Reader, ReaderOptions};
use crate::storage::Files;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// How many readers stay open for the next partition. Each has one or two files open, and systems allow some 1,000.
const KEPT_READERS: usize = 128;

/// The outputs of many producers, read together. It opens outputs when they are needed, and keeps the first 128 open.
/// Regions of all of them share one cache.
#[derive(Debug)]
pub struct Shuffle {
    outputs: Vec<Files>,
    options: ReaderOptions,
    kept: Mutex<Vec<Option<Reader>>>,
}

impl Shuffle {
    /// A shuffle of these outputs, as [`super::find`] lists them. Nothing is opened.
    pub fn new(outputs: Vec<Files>, options: ReaderOptions) -> Self {
        let cache = options
            .region_cache
            .clone()
            .unwrap_or_else(|| match &options.memory_budget {
                Some(budget) => RegionCache::with_budget(options.region_cache_bytes, budget.clone()),
                None => RegionCache::new(options.region_cache_bytes),
            });
        Shuffle {
            kept: Mutex::new(vec![None; outputs.len().min(KEPT_READERS)]),
            options: options.region_cache(cache),
            outputs,
        }
    }

    /// The outputs, in the order in which they are read.
    pub fn outputs(&self) -> &[Files] {
        &self.outputs
    }

    /// A reader of the output at a position in [`Shuffle::outputs`].
    ///
    /// # Errors
    /// `invalid-argument` for a position that there is not; those of [`Reader::open`].
    pub fn reader(&self, output: usize) -> Result<Reader> {
        if let Some(Some(reader)) = self.kept().get(output) {
            return Ok(reader.clone());
        }
        let Some(files) = self.outputs.get(output) else {
            let expected = format!("an output below {}", self.outputs.len());
            return Err(Error::argument(expected, output.to_string()));
        };
        let reader = Reader::open(files, self.options.clone())?;
        if let Some(place) = self.kept().get_mut(output) {
            *place = Some(reader.clone());
        }
        Ok(reader)
    }

    fn kept(&self) -> MutexGuard<'_, Vec<Option<Reader>>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The options for a reader of an output that is read once: what is kept of it would be in the way.
    pub(super) fn options_once(&self) -> ReaderOptions {
        ReaderOptions {
            region_cache: None,
            region_cache_bytes: 0,
            ..self.options.clone()
        }
    }
}
