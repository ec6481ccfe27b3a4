//! Corrects the checksums of a file, so that a change is read and not just refused.

use crc_fast::{CrcAlgorithm, Digest};

/// The kind of the block that ends a fragment.
const END_BLOCK: u8 = 132;
const TAIL_MAGIC: [u8; 8] = [0x76, 0xB9, 0xBE, 0xAD, 0xB0, 0xF2, 0xF5, 0xE5];

/// CRC-32C of the concatenated parts.
pub fn crc32c(parts: &[&[u8]]) -> u32 {
    let mut digest = Digest::new(CrcAlgorithm::Crc32Iscsi);
    for part in parts {
        digest.update(part);
    }
    digest.finalize() as u32
}

pub(crate) fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

/// Whether the file ends with the magic of a tail.
pub(crate) fn has_tail(file: &[u8]) -> bool {
    file.len() >= 88 && file.ends_with(&TAIL_MAGIC)
}

/// The checksum of the block that begins with `header` (BLK-9).
pub(crate) fn block_checksum(file_id: &[u8], header: &[u8], stored: &[u8]) -> u32 {
    crc32c(&[file_id, &header[..20], stored])
}

/// Where each block begins and ends without padding, as far as the sizes lead.
pub(crate) fn blocks(file: &[u8]) -> Vec<(usize, usize)> {
    blocks_before(file, file.len() - if has_tail(file) { 24 } else { 0 })
}

fn blocks_before(file: &[u8], end: usize) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    let mut at = 64;
    while at + 24 <= end {
        let stored = u32_at(file, at) as usize;
        if stored > end - at - 24 {
            break;
        }
        found.push((at, at + 24 + stored));
        at += 24 + stored.next_multiple_of(8);
    }
    found
}

/// Corrects the checksums of header, blocks and tail, as far as these exist.
pub fn seal(file: &mut [u8]) {
    if file.len() < 64 {
        return;
    }
    let checksum = crc32c(&[&file[..60]]);
    file[60..64].copy_from_slice(&checksum.to_le_bytes());
    let end = file.len() - if has_tail(file) { 24 } else { 0 };
    seal_blocks(file, end);
    if has_tail(file) {
        let tail = file.len() - 24;
        let checksum = crc32c(&[&file[tail..tail + 12], &file[tail + 16..]]);
        file[tail + 12..tail + 16].copy_from_slice(&checksum.to_le_bytes());
    }
}

fn seal_blocks(file: &mut [u8], end: usize) {
    for (at, end) in blocks_before(file, end) {
        let checksum = block_checksum(&file[40..56], &file[at..], &file[at + 24..end]);
        file[at + 20..at + 24].copy_from_slice(&checksum.to_le_bytes());
    }
}

/// Corrects the checksums of a stream of fragments.
pub(crate) fn seal_stream(mut stream: &mut [u8]) {
    while stream.len() >= 64 {
        let (fragment, rest) = stream.split_at_mut(fragment_end(stream));
        let checksum = crc32c(&[&fragment[..60]]);
        fragment[60..64].copy_from_slice(&checksum.to_le_bytes());
        seal_blocks(fragment, fragment.len());
        stream = rest;
    }
}

/// Where the first fragment of a stream ends, which has 64 bytes: with its end block, or with the stream.
pub(crate) fn fragment_end(stream: &[u8]) -> usize {
    blocks_before(stream, stream.len())
        .into_iter()
        .find(|(at, _)| stream[at + 16] == END_BLOCK)
        .map_or(stream.len(), |(_, end)| end.next_multiple_of(8).min(stream.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_writer_wrote_is_sealed_already() {
        let folder = tempfile::tempdir().unwrap();
        let options = faro::WriterOptions::new(3).layout(faro::Layout::Single);
        let mut writer = faro::Writer::create(folder.path().join("x"), options).unwrap();
        writer.write(1, b"abc").unwrap();
        writer.broadcast(b"defg").unwrap();
        writer.finish().unwrap();
        let file = std::fs::read(folder.path().join("x.faro")).unwrap();
        let mut broken = file.clone();
        assert_eq!(blocks(&file).len(), 4);
        for at in blocks(&file).iter().map(|(at, _)| at + 20).chain([60, file.len() - 12]) {
            broken[at] ^= 1;
        }
        assert_ne!(broken, file);
        seal(&mut broken);
        assert_eq!(broken, file);
    }

    #[test]
    fn a_size_that_leads_astray_ends_the_walk() {
        let mut file = vec![0; 64 + 24];
        file[64] = 1;
        assert!(blocks(&file).is_empty());
        seal(&mut file[..30]);
        assert_eq!(crc32c(&[b"1234", b"56789"]), 0xE306_9283);
    }
}
