//! Faults and contents that are compared.

use crate::seal::crc32c;
use faro::{Blocks, Error, ErrorCode, FileRole, Files, Result};
use std::ops::Range;

/// The parts of an error except its texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    pub code: ErrorCode,
    pub role: Option<FileRole>,
    pub offset: Option<u64>,
}

impl From<&Error> for Fault {
    fn from(error: &Error) -> Self {
        Fault {
            code: error.code,
            role: error.role,
            offset: error.offset,
        }
    }
}

/// Checks that a hostile file may cause an error: it is neither `io` nor `invalid-argument`, and has a file and an
/// offset inside it.
pub(crate) fn assert_of_file(error: &Error, files: &Files) {
    assert!(
        !matches!(error.code, ErrorCode::Io | ErrorCode::InvalidArgument),
        "{error}"
    );
    let size = crate::scratch::sizes(files)
        .into_iter()
        .find_map(|(role, size)| (Some(role) == error.role).then_some(size));
    match (size, error.offset) {
        (Some(size), Some(offset)) => assert!(offset <= size, "beyond the file's {size} bytes: {error}"),
        _ => panic!("without file and offset: {error}"),
    }
}

/// Checks that a hostile fragment may cause an error.
pub(crate) fn assert_of_fragment(error: &Error, size: usize) {
    assert!(
        error.role == Some(FileRole::Fragment) && error.offset.is_some_and(|offset| offset <= size as u64),
        "beyond the {size} bytes, or not of a fragment: {error}"
    );
    assert!(
        !matches!(error.code, ErrorCode::Io | ErrorCode::InvalidArgument),
        "{error}"
    );
}

/// A result without the text of its error, which was checked.
pub(crate) fn verdict<T>(result: Result<T>, files: &Files) -> std::result::Result<T, Fault> {
    result.map_err(|error| {
        assert_of_file(&error, files);
        Fault::from(&error)
    })
}

/// A block as a reader delivers it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Seen {
    pub offset: u64,
    pub kind: u8,
    pub size: usize,
    /// A checksum instead of the payload, since few bytes can decode to many.
    pub checksum: u32,
}

/// The blocks up to the first fault, and the fault.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Content {
    pub blocks: Vec<Seen>,
    pub fault: Option<Fault>,
}

impl Content {
    /// Reads blocks; `wanted` selects the blocks of one partition.
    pub(crate) fn of(blocks: Blocks, wanted: Option<u32>, max_plain_size: u64, files: &Files) -> Self {
        let mut content = Content::default();
        for block in blocks {
            assert_eq!(content.fault, None, "a block after a fault");
            let block = match block {
                Ok(block) => block,
                Err(error) => {
                    assert_of_file(&error, files);
                    content.fault = Some(Fault::from(&error));
                    continue;
                }
            };
            assert_eq!(block.payload.len(), block.header.plain_size as usize);
            assert!(block.payload.len() as u64 <= max_plain_size);
            let is_wanted = wanted.is_none_or(|wanted| match (&block.partition, &block.members) {
                (Some(partition), _) => *partition == wanted,
                (None, Some(members)) => members.contains(wanted),
                (None, None) => panic!("a block that is neither own nor shared"),
            });
            if is_wanted {
                content.blocks.push(Seen {
                    offset: block.offset,
                    kind: block.kind(),
                    size: block.payload.len(),
                    checksum: crc32c(&[&block.payload]),
                });
            }
        }
        content
    }

    /// Whether it begins with the blocks of `before`.
    pub(crate) fn begins_with(&self, before: &Content) -> bool {
        self.blocks.starts_with(&before.blocks)
    }
}

/// The partitions that are read: all, or the first and last of many.
pub(crate) fn every(partitions: Range<u32>) -> Vec<u32> {
    if partitions.len() <= 16 {
        return partitions.collect();
    }
    let (first, last) = (partitions.start, partitions.end);
    (first..first + 8).chain(last - 8..last).collect()
}
