//! The three structs outside messages: file header, block header, tail.

use super::note::{Section, number};
use crate::checksum::crc32c;
use crate::pack::hex;
use faro::block;

/// The first bytes of every file.
pub(crate) const MAGIC: [u8; 8] = *b"\x89FARO\r\n\x1a";
/// The size of a file header, in bytes.
pub(super) const HEADER: usize = 64;
/// The size of a block header, in bytes.
pub(super) const BLOCK: usize = 24;
/// The size of a tail, in bytes.
pub(super) const TAIL: usize = 24;

const FILE_FIELDS: [(usize, usize, &str); 13] = [
    (0, 8, "magic"),
    (8, 1, "kind"),
    (9, 1, "version_major"),
    (10, 1, "version_minor"),
    (11, 1, "framing"),
    (12, 4, "partition_count"),
    (16, 4, "reader_features"),
    (20, 4, "writer_features"),
    (24, 8, "producer"),
    (32, 8, "attempt"),
    (40, 16, "file_id"),
    (56, 4, "first_partition"),
    (60, 4, "checksum"),
];

/// Notes the fields of a file header, which may be incomplete.
pub(super) fn file_header(section: &mut Section) {
    let bytes = section.bytes.clone();
    for (at, size, name) in FILE_FIELDS {
        if at + size > bytes.len() {
            section.note(at, bytes.len() - at, "cut short", format!("{name} and what follows it"));
            return;
        }
        let value = number(&bytes, at, size.min(8));
        let text = match name {
            "magic" => verdict(
                bytes[..8] == MAGIC,
                "\\x89FARO\\r\\n\\x1a".to_owned(),
                "not the magic of Faro",
            ),
            "kind" => named(
                value,
                &[
                    (1, "data"),
                    (2, "index"),
                    (3, "single"),
                    (4, "manifest"),
                    (5, "fragment"),
                ],
            ),
            "framing" => named(value, &[(0, "opaque"), (1, "records"), (2, "arrow")]),
            "reader_features" => named(
                value,
                &[
                    (0, "none"),
                    (1, "selective"),
                    (2, "dictionaries"),
                    (3, "selective, dictionaries"),
                ],
            ),
            "writer_features" => named(value, &[(0, "none")]),
            "producer" if value == u64::MAX => "all ones: a merged file".to_owned(),
            "file_id" => {
                uuid::Uuid::from_slice(&bytes[at..at + size]).map_or_else(|_| String::new(), |id| id.to_string())
            }
            "checksum" => checksum(value, crc32c(&[&bytes[..60]])),
            _ => value.to_string(),
        };
        section.note(at, size, name, text);
    }
}

/// Notes the fields of the block header at the start of a section with a whole block, in the file with this id.
pub(super) fn block_header(section: &mut Section, file_id: &[u8], stored: usize) {
    let bytes = section.bytes.clone();
    let computed = crc32c(&[file_id, &bytes[..20], &bytes[BLOCK..BLOCK + stored]]);
    let partition = match number(&bytes, 8, 4) as u32 {
        u32::MAX => "none: shared or metadata".to_owned(),
        partition => partition.to_string(),
    };
    section.note(0, 4, "stored_size", number(&bytes, 0, 4).to_string());
    section.note(4, 4, "plain_size", number(&bytes, 4, 4).to_string());
    section.note(8, 4, "partition", partition);
    section.note(12, 4, "sequence", number(&bytes, 12, 4).to_string());
    section.note(16, 1, "kind", kind_name(bytes[16]));
    section.note(
        17,
        1,
        "codec",
        named(u64::from(bytes[17]), &[(0, "none"), (1, "LZ4"), (2, "Zstandard")]),
    );
    section.note(18, 2, "dictionary", number(&bytes, 18, 2).to_string());
    section.note(20, 4, "checksum", checksum(number(&bytes, 20, 4), computed));
}

/// The fields of a tail.
pub(super) fn tail(section: &mut Section) {
    let bytes = section.bytes.clone();
    section.note(0, 8, "footer_offset", number(&bytes, 0, 8).to_string());
    section.note(8, 4, "footer_size", number(&bytes, 8, 4).to_string());
    section.note(
        12,
        4,
        "checksum",
        checksum(number(&bytes, 12, 4), crc32c(&[&bytes[..12], &bytes[16..]])),
    );
    section.note(16, 8, "magic", "the file magic, each byte complemented");
}

/// Whether these bytes are the last of a finished file.
pub(super) fn is_tail(bytes: &[u8]) -> bool {
    bytes.len() == TAIL && bytes[16..].iter().zip(MAGIC).all(|(a, b)| *a == !b)
}

/// The name of a block kind.
pub(super) fn kind_name(kind: u8) -> String {
    let name = match kind {
        block::DATA => "data",
        block::EVENT => "event",
        64..=127 => "event of the application",
        block::REGION => "region message",
        block::FOOTER => "footer message",
        block::SCHEMA => "schema message",
        block::DICTIONARY => "dictionary",
        2..=63 => "reserved",
        132..=191 => "reserved metadata",
        192.. => "metadata that may be skipped",
    };
    format!("{kind}: {name}")
}

fn named(value: u64, names: &[(u64, &str)]) -> String {
    match names.iter().find(|(known, _)| *known == value) {
        Some((_, name)) => format!("{value}: {name}"),
        None => format!("{value}: unknown"),
    }
}

fn verdict(good: bool, then: String, otherwise: &str) -> String {
    if good { then } else { otherwise.to_owned() }
}

fn checksum(stored: u64, computed: u32) -> String {
    if stored == u64::from(computed) {
        "matches".to_owned()
    } else {
        format!("does not match: the bytes have {}", hex(&computed.to_le_bytes()))
    }
}
