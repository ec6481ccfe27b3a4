//! The output to read: small blocks with a dictionary, and a block that is larger than a share.

use crate::reader::ReaderOptions;
use crate::scheduler::tests::common::{Reading, collect, text};
use crate::storage::Files;
use crate::{Codec, Reader, Writer, WriterOptions};

/// The files, and their contents.
pub(super) struct Output {
    folder: tempfile::TempDir,
    pub files: Files,
    pub expected: Vec<Reading>,
}

pub(super) const PARTITIONS: u32 = 200;
pub(super) const READ: [u32; 3] = [0, 7, 199];

impl Output {
    pub(super) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let options = WriterOptions::new(PARTITIONS)
            .codec(Codec::Zstd)
            .dictionaries(true)
            .buffer_size(256 << 10);
        let mut writer = Writer::create(folder.path().join("out"), options).unwrap();
        for at in 0..30_000 {
            writer.write(at % PARTITIONS, text(at).as_bytes()).unwrap();
        }
        let mut state = 1u64;
        let noise: Vec<u8> = std::iter::repeat_with(|| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 56) as u8
        })
        .take(20_000)
        .collect();
        writer.write(7, &noise).unwrap();
        let files = writer.finish().unwrap().files;
        let reader = Reader::open(&files, ReaderOptions::default()).unwrap();
        assert!(!reader.dictionaries().is_empty() && reader.region_count() > 2);
        Output {
            expected: READ.map(|p| collect(reader.partition(p).unwrap())).to_vec(),
            folder,
            files,
        }
    }

    /// A copy that may be cut.
    pub(super) fn copy(&self) -> Files {
        let name = self.folder.path().join("copy");
        let copy = Files::paired(&name);
        for ((_, from), (_, to)) in self.files.paths().iter().zip(copy.paths()) {
            std::fs::copy(from, to).unwrap();
        }
        copy
    }
}
