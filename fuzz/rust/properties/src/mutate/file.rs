//! A file as a list of blocks, which can be moved, with the references to them corrected.

use crate::seal::{blocks, has_tail};
use faro::message::{Footer, Region, RegionEntry};

/// A block: its header, its payload and the bytes after it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Block {
    pub header: [u8; 24],
    pub payload: Vec<u8>,
    pub padding: Vec<u8>,
}

impl Block {
    pub(super) fn kind(&self) -> u8 {
        self.header[16]
    }

    pub(super) fn size(&self) -> usize {
        24 + self.payload.len() + self.padding.len()
    }

    /// Sets the payload, and its sizes in the header.
    pub(super) fn set_payload(&mut self, payload: Vec<u8>) {
        let size = (payload.len() as u32).to_le_bytes();
        self.header[0..4].copy_from_slice(&size);
        if self.header[17] == 0 {
            self.header[4..8].copy_from_slice(&size);
        }
        self.padding = vec![0; payload.len().next_multiple_of(8) - payload.len()];
        self.payload = payload;
    }
}

/// A file that was split into blocks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct File {
    pub head: Vec<u8>,
    pub blocks: Vec<Block>,
    /// The bytes between the last block and the tail.
    pub rest: Vec<u8>,
    pub tail: Vec<u8>,
}

impl File {
    pub(super) fn parse(bytes: &[u8]) -> Self {
        if bytes.len() < 64 {
            return File {
                head: bytes.to_vec(),
                ..File::default()
            };
        }
        let end = bytes.len() - if has_tail(bytes) { 24 } else { 0 };
        let mut file = File {
            head: bytes[..64].to_vec(),
            tail: bytes[end..].to_vec(),
            ..File::default()
        };
        let mut reached = 64;
        for (at, payload_end) in blocks(bytes) {
            let mut header = [0; 24];
            header.copy_from_slice(&bytes[at..at + 24]);
            let block_end = payload_end.next_multiple_of(8).min(end);
            file.blocks.push(Block {
                header,
                payload: bytes[at + 24..payload_end].to_vec(),
                padding: bytes[payload_end..block_end].to_vec(),
            });
            reached = block_end;
        }
        file.rest = bytes[reached..end].to_vec();
        file
    }

    pub(super) fn bytes(&self) -> Vec<u8> {
        let mut bytes = self.head.clone();
        for block in &self.blocks {
            bytes.extend_from_slice(&block.header);
            bytes.extend_from_slice(&block.payload);
            bytes.extend_from_slice(&block.padding);
        }
        bytes.extend_from_slice(&self.rest);
        bytes.extend_from_slice(&self.tail);
        bytes
    }

    /// Corrects region messages, directory and tail for the current positions of the blocks. `data_end` is the size of
    /// a pair's data file; without it the blocks are in this file.
    pub(super) fn lay_out(&mut self, data_end: Option<u64>) {
        let mut entries: Vec<RegionEntry> = Vec::new();
        let regions = self.blocks.iter().filter(|block| block.kind() == 128).count();
        let (mut at, mut data_at, mut sequence) = (64, 64, 0u32);
        let mut footer_at = None;
        for block in &mut self.blocks {
            let here = at;
            if block.kind() < 128 {
                at += block.size() as u64;
                continue;
            }
            block.header[12..16].copy_from_slice(&sequence.to_le_bytes());
            sequence += 1;
            if block.kind() == 128 {
                if let Ok(mut region) = Region::parse(&block.payload, u8::MAX, 0) {
                    let length = match data_end {
                        None => here - data_at,
                        Some(end) if entries.len() + 1 == regions => end.saturating_sub(data_at),
                        Some(_) => region.data_length,
                    };
                    place(&mut region, entries.len() as u32, data_at, length);
                    block.set_payload(region.build().unwrap_or_default());
                    entries.push(RegionEntry {
                        message_offset: here,
                        message_size: block.payload.len() as u32,
                        flags: 0,
                        data_offset: data_at,
                        data_length: length,
                    });
                    data_at = data_at.saturating_add(length);
                }
            } else if block.kind() == 129 {
                if let Ok(mut footer) = Footer::parse(&block.payload, u8::MAX, 0) {
                    footer.regions = entries.clone();
                    footer.data_size = if data_end.is_some() { data_at } else { here };
                    block.set_payload(footer.build().unwrap_or_default());
                }
                footer_at = Some((here, block.payload.len() as u32));
            }
            at += block.size() as u64;
            if data_end.is_none() {
                data_at = at;
            }
        }
        if let (Some((offset, size)), 24) = (footer_at, self.tail.len()) {
            self.tail[..8].copy_from_slice(&offset.to_le_bytes());
            self.tail[8..12].copy_from_slice(&size.to_le_bytes());
        }
    }
}

/// Moves a region. Its last extent takes the change of its length.
fn place(region: &mut Region, sequence: u32, data_offset: u64, data_length: u64) {
    let more = (data_length / 8) as u32;
    let less = (region.data_length / 8) as u32;
    let move_by = |value: &mut u32| *value = value.wrapping_add(more).wrapping_sub(less);
    match region.shared.last_mut() {
        Some(extent) => move_by(&mut extent.length),
        None => {
            let end = region.offsets.last().copied().unwrap_or(0);
            // In dense regions the last slots may be empty: all offsets at the old end move to the new end.
            for offset in region.offsets.iter_mut().skip(1).filter(|offset| **offset == end) {
                move_by(offset);
            }
        }
    }
    region.sequence = sequence;
    region.data_offset = data_offset;
    region.data_length = data_length;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seal::seal;
    use faro::{CheckOptions, Files, Layout, Writer, WriterOptions, check};

    fn written(layout: Layout) -> (tempfile::TempDir, Files) {
        let folder = tempfile::tempdir().unwrap();
        let options = WriterOptions::new(3).layout(layout).statistics(false);
        let mut writer = Writer::create(folder.path().join("x"), options).unwrap();
        for partition in [1, 2, 0] {
            writer.write(partition, b"abc").unwrap();
            writer.flush().unwrap();
        }
        writer.broadcast(b"defg").unwrap();
        let files = writer.finish().unwrap().files;
        (folder, files)
    }

    #[test]
    fn parsed_files_are_composed() {
        let (_folder, files) = written(Layout::Single);
        let bytes = std::fs::read(files.paths()[0].1).unwrap();
        for end in [bytes.len(), bytes.len() - 1, 100, 64, 63, 0] {
            assert_eq!(File::parse(&bytes[..end]).bytes(), &bytes[..end]);
        }
        let mut file = File::parse(&bytes);
        assert_eq!(file.blocks.len(), 9);
        file.lay_out(None);
        assert_eq!(file.bytes(), bytes, "what fits stays");
    }

    #[test]
    fn what_moved_is_found_again() {
        let (_folder, files) = written(Layout::Single);
        let path = files.paths()[0].1;
        let mut file = File::parse(&std::fs::read(path).unwrap());
        let longer = file.blocks[0].payload.repeat(5);
        file.blocks[0].set_payload(longer);
        file.blocks.drain(2..4);
        file.lay_out(None);
        let mut bytes = file.bytes();
        seal(&mut bytes);
        std::fs::write(path, bytes).unwrap();
        let report = check(&files, &CheckOptions::default()).unwrap();
        assert_eq!((report.regions, report.blocks), (3, Some(3)));
    }

    #[test]
    fn the_index_follows_a_data_file_that_grew() {
        let (_folder, files) = written(Layout::Paired);
        let paths = files.paths();
        let mut data = File::parse(&std::fs::read(paths[0].1).unwrap());
        let last = data.blocks.last_mut().unwrap();
        last.set_payload(b"\x08\0\0\0abcdefgh".to_vec());
        let mut index = File::parse(&std::fs::read(paths[1].1).unwrap());
        let mut bytes = data.bytes();
        index.lay_out(Some(bytes.len() as u64));
        seal(&mut bytes);
        std::fs::write(paths[0].1, bytes).unwrap();
        let mut bytes = index.bytes();
        seal(&mut bytes);
        std::fs::write(paths[1].1, bytes).unwrap();
        check(&files, &CheckOptions::default()).unwrap();
    }
}
