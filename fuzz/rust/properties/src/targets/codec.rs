//! Decoding compressed payloads.

use crate::cursor::Cursor;
use crate::scratch;
use crate::seal::{crc32c, seal};
use crate::seen::{Content, verdict};
use faro::message::{Footer, Region, RegionEntry};
use faro::{
    CheckOptions, ErrorCode, FileHeader, FileKind, FileRole, Files, Framing, Limits, Reader, ReaderOptions, check,
};
use std::io::Read;

/// The properties of `codec_lz4`.
pub fn codec_lz4(input: &[u8]) {
    decode(input, 1);
}

/// The properties of `codec_zstd`.
pub fn codec_zstd(input: &[u8]) {
    decode(input, 2);
}

/// The offset of the block's payload.
const PAYLOAD: u64 = 64 + 24;

fn decode(input: &[u8], codec: u8) {
    let mut cursor = Cursor::new(input);
    let plain_size = cursor.number(3) & 0x1_FFFF;
    let stored = cursor.rest();
    let files = Files::single(scratch::path("x"));
    scratch::write(scratch::index(&files), &file(codec, plain_size, stored));
    let limits = Limits::default().max_window_size(1 << 20);
    let options = ReaderOptions::default().limits(limits.clone());
    let reader = Reader::open(&files, options).expect("a file around a block");
    let once = || {
        let blocks = reader.partition(0).expect("the file's partition");
        Content::of(blocks, None, plain_size.into(), &files)
    };
    let content = once();
    assert_eq!(content, once(), "twice the same");
    let checked = verdict(check(&files, &CheckOptions::default().limits(limits.clone())), &files);
    match content.fault {
        None => {
            assert_eq!(content.blocks.len(), 1);
            assert_eq!(content.blocks[0].size, plain_size as usize);
            if let Some(other) = second_opinion(codec, stored, plain_size as usize) {
                assert_eq!(
                    content.blocks[0].checksum,
                    crc32c(&[&other]),
                    "what another decoder makes of it"
                );
            }
            assert_eq!(checked.map(|report| report.blocks), Ok(Some(1)));
        }
        Some(fault) => {
            assert_eq!(checked.map(drop), Err(fault));
            assert_eq!(fault.role, Some(FileRole::Single));
            let may_be = if stored.len() >= plain_size as usize {
                (ErrorCode::MalformedBlock, Some(64 + 4))
            } else if codec == 2 && fault.code == ErrorCode::LimitExceeded {
                (ErrorCode::LimitExceeded, Some(PAYLOAD))
            } else {
                (ErrorCode::MalformedBlock, Some(PAYLOAD))
            };
            assert_eq!((fault.code, fault.offset), may_be);
        }
    }
}

/// The result of a decoder by other authors; none if it refuses the payload, which may differ (COD-2, COD-4).
fn second_opinion(codec: u8, stored: &[u8], plain_size: usize) -> Option<Vec<u8>> {
    if codec == 1 {
        return lz4_flex::block::decompress(stored, plain_size).ok();
    }
    let frame = [b"\x28\xB5\x2F\xFD", stored].concat();
    let mut plain = Vec::with_capacity(plain_size);
    let decoder = ruzstd::decoding::StreamingDecoder::new(frame.as_slice()).ok()?;
    // If the payload has one byte more, the results differ.
    decoder.take(plain_size as u64 + 1).read_to_end(&mut plain).ok()?;
    Some(plain)
}

/// A single file with one partition, which has only this block.
pub(crate) fn file(codec: u8, plain_size: u32, stored: &[u8]) -> Vec<u8> {
    let header = FileHeader {
        kind: FileKind::Single,
        version_minor: 0,
        framing: Framing::Opaque,
        partition_count: 1,
        reader_features: 0,
        writer_features: 0,
        producer: 0,
        attempt: 0,
        first_partition: 0,
        file_id: [0x46; 16],
    };
    let mut file = header.encode().to_vec();
    block(&mut file, [plain_size, 0, 0], 0, codec, stored);
    let message_offset = file.len() as u64;
    let (data_offset, data_length) = (64, message_offset - 64);
    let mut region = Region::default();
    (region.data_offset, region.data_length) = (data_offset, data_length);
    region.offsets = vec![0, (data_length / 8) as u32];
    let message = region.build().expect("a region message");
    block(&mut file, [message.len() as u32, u32::MAX, 0], 128, 0, &message);
    let footer_offset = file.len() as u64;
    let mut footer = Footer::default();
    footer.data_size = footer_offset;
    footer.regions.push(RegionEntry {
        message_offset,
        message_size: message.len() as u32,
        flags: 0,
        data_offset,
        data_length,
    });
    let message = footer.build().expect("a footer message");
    block(&mut file, [message.len() as u32, u32::MAX, 1], 129, 0, &message);
    file.extend_from_slice(&footer_offset.to_le_bytes());
    file.extend_from_slice(&(message.len() as u32).to_le_bytes());
    file.extend_from_slice(&[0; 4]);
    file.extend(faro_magic().map(|byte| !byte));
    seal(&mut file);
    file
}

fn faro_magic() -> [u8; 8] {
    *b"\x89FARO\r\n\x1A"
}

/// Appends a block without a valid checksum; `fields` are plain_size, partition and sequence.
fn block(file: &mut Vec<u8>, fields: [u32; 3], kind: u8, codec: u8, stored: &[u8]) {
    file.extend_from_slice(&(stored.len() as u32).to_le_bytes());
    file.extend(fields.iter().flat_map(|field| field.to_le_bytes()));
    file.extend_from_slice(&[kind, codec, 0, 0, 0, 0, 0, 0]);
    file.extend_from_slice(stored);
    file.resize(file.len().next_multiple_of(8), 0);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_payload_that_decodes_is_reached() {
        // 8 literals, then a match of 4 + 15 + 73 bytes at offset 8, then 5 literals.
        let lz4 = [b"\x8Fabcdefgh\x08\x00\x49".as_slice(), b"\x50zyxwv"].concat();
        let files = Files::single(scratch::path("x"));
        scratch::write(scratch::index(&files), &file(1, 8 + 92 + 5, &lz4));
        let report = check(&files, &CheckOptions::default()).unwrap();
        assert_eq!(report.blocks, Some(1));
        codec_lz4(&[&[105, 0, 0], lz4.as_slice()].concat());
        codec_lz4(&[&[104, 0, 0], lz4.as_slice()].concat());
        codec_zstd(b"");
        assert_eq!(second_opinion(1, &lz4, 105).map(|plain| plain.len()), Some(105));
        let zstd = [b"\x00\x58\x0B\x00\x00".as_slice(), b"a"].concat();
        assert_eq!(second_opinion(2, &zstd, 1), Some(b"a".to_vec()));
    }
}
