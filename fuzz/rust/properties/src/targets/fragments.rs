//! Reading a stream of fragments.

use crate::container::{Container, limits_of};
use crate::seal::{crc32c, seal_stream};
use crate::seen::{Fault, assert_of_fragment};
use faro::merge::{FragmentBlock, FragmentReader};
use faro::{FileHeader, Limits};
use std::io::Read;

/// What is known of one fragment of a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fragment {
    pub header: FileHeader,
    pub schema: Option<Vec<u8>>,
    pub blocks: Vec<FragmentBlock>,
    /// The size and a checksum of each plain payload, since few bytes can decode to many; or why it does not decode.
    pub plain: Vec<Result<(usize, u32), Fault>>,
    /// Absent if a fault came first.
    pub is_last: Option<bool>,
}

/// The fragments up to the first fault, and the fault.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Stream {
    pub fragments: Vec<Fragment>,
    pub fault: Option<Fault>,
}

impl Stream {
    pub(crate) fn read(from: impl Read, size: usize, limits: Limits) -> Self {
        let most = limits.max_plain_size;
        let mut reader = FragmentReader::new(from, limits);
        let mut stream = Stream::default();
        let error = loop {
            let header = match reader.next_fragment() {
                Ok(Some(header)) => header,
                Ok(None) => return stream,
                Err(error) => break error,
            };
            let mut fragment = Fragment {
                header,
                schema: None,
                blocks: Vec::new(),
                plain: Vec::new(),
                is_last: None,
            };
            let ended = loop {
                let block = match reader.next_block() {
                    Ok(Some(block)) => block,
                    Ok(None) => break Ok(()),
                    Err(error) => break Err(error),
                };
                let plain = reader.decode(&block).map_err(|error| {
                    assert_of_fragment(&error, size);
                    Fault::from(&error)
                });
                if let Ok(plain) = &plain {
                    assert_eq!(plain.len(), block.header.plain_size as usize);
                    assert!(plain.len() as u64 <= most);
                }
                fragment.plain.push(plain.map(|plain| (plain.len(), crc32c(&[&plain]))));
                fragment.blocks.push(block);
            };
            fragment.schema = reader.schema_message().map(<[u8]>::to_vec);
            fragment.is_last = reader.is_last();
            assert_eq!(fragment.is_last.is_some(), ended.is_ok(), "the end, or a fault");
            fragment.assert_in_order();
            stream.fragments.push(fragment);
            if let Err(error) = ended {
                break error;
            }
        };
        assert_of_fragment(&error, size);
        stream.fault = Some(Fault::from(&error));
        stream
    }
}

impl Fragment {
    /// FRG-2: partitions ascend, and the numbers of one are consecutive.
    fn assert_in_order(&self) {
        let partitions = self.header.partitions();
        assert!(
            self.blocks
                .iter()
                .all(|block| partitions.contains(&block.header.partition))
        );
        for two in self.blocks.windows(2) {
            let [before, after] = [&two[0].header, &two[1].header];
            assert!(
                before.partition < after.partition
                    || (before.partition == after.partition && before.sequence + 1 == after.sequence),
                "{before:?} before {after:?}"
            );
        }
    }
}

/// Gives a few bytes at once.
struct Slow<'a>(&'a [u8]);

impl Read for Slow<'_> {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        let few = into.len().min(7);
        self.0.read(&mut into[..few])
    }
}

/// The limits and the stream of an input.
pub(crate) fn split(input: &[u8]) -> (Limits, Vec<u8>) {
    let (flags, stream) = input.split_first().unwrap_or((&0, &[]));
    let mut stream = stream.to_vec();
    if flags & Container::SEAL != 0 {
        seal_stream(&mut stream);
    }
    (limits_of(*flags), stream)
}

/// Checks the properties of `fragments`.
pub fn fragments(input: &[u8]) {
    let (limits, stream) = split(input);
    let whole = Stream::read(&stream[..], stream.len(), limits.clone());
    let slow = Stream::read(Slow(&stream), stream.len(), limits);
    assert_eq!(whole, slow, "at once, and in small pieces");
}
