//! The files of a full store: the image itself, byte for byte (spec, HYB-4).

use super::image::Image;
use super::part::Location;
use crate::error::{FileRole, Result};
use crate::storage::OutputFile;
use bytes::Bytes;
use std::path::PathBuf;

#[derive(Debug)]
pub(super) struct FullFiles {
    paths: (PathBuf, PathBuf),
    /// Whether the files may replace others.
    replaces: bool,
    data: Option<OutputFile>,
    index: Option<OutputFile>,
    finished: bool,
}

impl FullFiles {
    pub(super) fn new(data: PathBuf, index: PathBuf, replaces: bool) -> Self {
        FullFiles {
            paths: (data, index),
            replaces,
            data: None,
            index: None,
            finished: false,
        }
    }

    /// The files, which are made if they were not.
    fn files(&mut self) -> Result<(&mut OutputFile, &mut OutputFile)> {
        if self.data.is_none() {
            self.data = Some(OutputFile::create(self.paths.0.clone(), FileRole::Data, self.replaces)?);
        }
        if self.index.is_none() {
            self.index = Some(OutputFile::create(
                self.paths.1.clone(),
                FileRole::Index,
                self.replaces,
            )?);
        }
        match (&mut self.data, &mut self.index) {
            (Some(data), Some(index)) => Ok((data, index)),
            _ => unreachable!("both were just made"),
        }
    }

    /// Writes a region, and tells the image where it is.
    pub(super) fn write(&mut self, image: &Image, number: usize) -> Result<()> {
        let (header, beginning, blocks, message, bytes) = image.with(|state, _| {
            let region = &state.regions[number];
            let chunks =
                |part: Option<&super::part::Part>| part.and_then(|part| part.chunks.clone()).unwrap_or_default();
            let blocks = chunks(state.data.get(region.data));
            let message = chunks(state.index.get(region.index));
            (state.header(), state.beginning(), blocks, message, region.bytes)
        });
        let (data, index) = self.files()?;
        if number == 0 {
            append(data, &[header])?;
            append(index, &beginning)?;
        }
        append(data, &blocks)?;
        data.flush()?;
        append(index, &message)?;
        index.flush()?;
        image.with(|state, counts| state.wrote(number, Location::Same, Some(Location::Same), bytes, counts));
        Ok(())
    }

    /// Writes what is after the last region, and ends the files. If that fails, it removes them.
    pub(super) fn finish(&mut self, image: &Image) -> Result<()> {
        self.try_to_finish(image).inspect_err(|_| self.remove())
    }

    fn try_to_finish(&mut self, image: &Image) -> Result<()> {
        let (header, footer) = image.with(|state, _| (state.header(), state.footer()));
        let (data, index) = self.files()?;
        if data.offset() == 0 {
            append(data, &[header])?;
        }
        data.flush()?;
        append(index, &footer)?;
        index.flush()?;
        for file in [data, index] {
            file.finish();
            file.close();
        }
        self.finished = true;
        Ok(())
    }

    /// Removes the files. The index goes first, because it is the commit.
    pub(super) fn remove(&mut self) {
        if std::mem::take(&mut self.finished) {
            // What cannot be removed stays, finished as it is (WRT-6).
            let _ = std::fs::remove_file(&self.paths.1);
            let _ = std::fs::remove_file(&self.paths.0);
            return;
        }
        for file in [&mut self.index, &mut self.data].into_iter().flatten() {
            file.discard();
        }
    }
}

fn append(file: &mut OutputFile, chunks: &[Bytes]) -> Result<()> {
    for chunk in chunks {
        file.buffer().extend_from_slice(chunk);
        file.write_pieces()?;
    }
    Ok(())
}
