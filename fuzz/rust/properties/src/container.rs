//! Decodes inputs that are files.

use crate::cursor::Cursor;
use crate::seal::seal;
use faro::{Limits, ReaderOptions};

/// An input of a target that takes files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Container {
    /// Flags: which limits, whether a pair, whether the files are sealed before use.
    pub flags: u8,
    /// A byte that each target uses in its own way.
    pub mode: u8,
    /// The sizes of the files while they grow, for `follow`.
    pub growth: [u16; 4],
    /// The data file; absent in a single output.
    pub data: Option<Vec<u8>>,
    /// The index or single file.
    pub index: Vec<u8>,
}

impl Container {
    /// Bytes before the files.
    pub const HEAD: usize = 13;
    /// Flag: a pair.
    pub const PAIR: u8 = 1;
    /// Flag: the files are sealed before use.
    pub const SEAL: u8 = 8;

    /// Splits an input. Any bytes are an input.
    pub fn decode(input: &[u8]) -> Self {
        let mut cursor = Cursor::new(input);
        let (flags, mode) = (cursor.byte(), cursor.byte());
        let first = cursor.number(3) as usize;
        let growth = [(); 4].map(|()| cursor.number(2) as u16);
        let data = (flags & Self::PAIR != 0).then(|| cursor.take(first).to_vec());
        let index = cursor.rest().to_vec();
        Container {
            flags,
            mode,
            growth,
            data,
            index,
        }
    }

    /// The bytes that decode to this container.
    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = vec![self.flags, self.mode];
        let first = self.data.as_ref().map_or(0, Vec::len) as u32;
        bytes.extend_from_slice(&first.to_le_bytes()[..3]);
        bytes.extend(self.growth.iter().flat_map(|size| size.to_le_bytes()));
        bytes.extend(self.data.iter().flatten());
        bytes.extend_from_slice(&self.index);
        bytes
    }

    /// Decodes an input, and seals the files if the flag is set.
    pub fn sealed(input: &[u8]) -> Self {
        let mut container = Self::decode(input);
        if container.flags & Self::SEAL != 0 {
            container.data.iter_mut().for_each(|data| seal(data));
            seal(&mut container.index);
        }
        container
    }

    /// The options for reading the files.
    pub fn options(&self) -> ReaderOptions {
        ReaderOptions::default()
            .limits(limits_of(self.flags))
            .verify(self.flags & 6 != 6)
    }
}

/// The limits for these flags.
pub fn limits_of(flags: u8) -> Limits {
    match flags >> 1 & 3 {
        1 => Limits::default()
            .max_block_size(256)
            .max_plain_size(512)
            .max_message_size(512)
            .max_regions(2)
            .max_dictionary_size(64)
            .max_dictionaries(1)
            .max_window_size(1024),
        2 => Limits::default().max_plain_size(1 << 20),
        _ => Limits::default()
            .max_block_size(1 << 20)
            .max_plain_size(1 << 17)
            .max_message_size(1 << 20)
            .max_regions(4096)
            .max_dictionary_size(1 << 17)
            .max_dictionaries(4)
            .max_window_size(1 << 17),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encoded_containers_are_decoded() {
        for data in [None, Some(b"data".to_vec())] {
            let flags = if data.is_some() { 0x0F } else { 0x0E };
            let container = Container {
                flags,
                mode: 3,
                growth: [1, 2, 3, 0x400],
                data,
                index: b"index".to_vec(),
            };
            assert_eq!(Container::decode(&container.encode()), container);
            assert!(!container.options().verify);
        }
    }

    #[test]
    fn a_first_size_beyond_the_end_takes_all() {
        let container = Container::decode(b"\x01\0\xFF\xFF\xFF\0\0\0\0\0\0\0\0abc");
        assert_eq!(container.data.as_deref(), Some(&b"abc"[..]));
        assert_eq!(container.index, b"");
        assert_eq!(Container::decode(b""), Container::decode(&[0; 13]));
    }
}
