//! In the place of Zstandard in a library without the feature `zstd`. Its types have no values: writers and readers
//! refuse the codec before they get here.

use super::trained::Trained;
use crate::error::{Error, ErrorCode, Result};
use std::sync::Arc;

#[derive(Debug)]
pub(crate) enum Digest {}

impl Digest {
    pub(crate) fn new(_: &[u8]) -> Option<Self> {
        None
    }

    pub(crate) fn memory_size(&self) -> u64 {
        match *self {}
    }
}

pub(super) enum ZstdEncoder {}

impl ZstdEncoder {
    pub(super) fn new(_: i32, _: Option<&Trained>) -> Result<Self> {
        Err(missing())
    }

    pub(super) fn compress(&mut self, _: &mut [u8], _: &[u8]) -> Option<usize> {
        match *self {}
    }
}

pub(super) enum ZstdDecoder {}

impl ZstdDecoder {
    pub(super) fn new(_: u64) -> Result<Self> {
        Err(missing())
    }

    pub(super) fn choose(&mut self, _: u16, _: impl FnOnce(u16) -> Result<Arc<Digest>>) -> Result<()> {
        match *self {}
    }

    pub(super) fn decode(&mut self, _: &[u8], _: &mut [u8]) -> Result<std::result::Result<usize, String>> {
        match *self {}
    }
}

pub(super) fn check_frame(_: &[u8], _: u32, _: u64, _: u64) -> Result<()> {
    Err(missing())
}

pub(crate) fn train_dictionary(_: usize, _: &[u8], _: &[usize]) -> Option<Vec<u8>> {
    None
}

fn missing() -> Error {
    Error::bare(ErrorCode::UnsupportedCodec, "the feature zstd", "a library without it")
}
