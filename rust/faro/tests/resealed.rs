//! Files with valid checksums and wrong content. Whatever a header, a block, a message or the tail contains, every way
//! of reading ends in a result or in an error of the closed set, without a crash.

mod common;

use common::{Place, write_sample};
use faro::block::BlockHeader;
use faro::{ByteRangeKind, Files, Follower, Layout, Limits, Lookup, Reader, ReaderOptions, RebuildOptions};
use std::path::Path;

/// CRC-32C bit by bit: slow and simple.
fn crc32c(parts: &[&[u8]]) -> u32 {
    let mut crc = !0u32;
    for byte in parts.iter().flat_map(|part| part.iter()) {
        crc ^= u32::from(*byte);
        for _ in 0..8 {
            crc = if crc & 1 != 0 {
                (crc >> 1) ^ 0x82F6_3B78
            } else {
                crc >> 1
            };
        }
    }
    !crc
}

/// A part of a file with a checksum.
struct Sealed {
    start: usize,
    end: usize,
    checksum: usize,
    /// Whether the checksum begins with the file id (BLK-9).
    is_block: bool,
}

impl Sealed {
    fn reseal(&self, file: &mut [u8]) {
        let id = if self.is_block { &file[40..56] } else { &[] };
        let checksum = crc32c(&[id, &file[self.start..self.checksum], &file[self.checksum + 4..self.end]]);
        file[self.checksum..self.checksum + 4].copy_from_slice(&checksum.to_le_bytes());
    }
}

/// The parts of one file with checksums; `file` has its bytes.
fn stretches(reader: &Reader, role: faro::FileRole, file: &[u8]) -> Vec<Sealed> {
    let mut sealed = Vec::new();
    for range in reader.byte_map().unwrap().iter().filter(|range| range.file == role) {
        let (mut start, end) = (range.offset as usize, (range.offset + range.length) as usize);
        let checksum = match range.what {
            ByteRangeKind::FileHeader => 60,
            ByteRangeKind::Tail => start + 12,
            _ => {
                while start < end {
                    let header = BlockHeader::parse(file[start..].first_chunk().unwrap());
                    sealed.push(Sealed {
                        start,
                        // The checksum does not cover the padding.
                        end: start + BlockHeader::SIZE + header.stored_size as usize,
                        checksum: start + 20,
                        is_block: true,
                    });
                    start += header.size_in_file() as usize;
                }
                continue;
            }
        };
        sealed.push(Sealed {
            start,
            end,
            checksum,
            is_block: false,
        });
    }
    sealed
}

/// Calls everything that reads, with small limits, so that a large size is a fault and takes no time.
fn read_every_way(files: &Files) {
    let limits = Limits::default()
        .max_block_size(1 << 16)
        .max_plain_size(1 << 16)
        .max_message_size(1 << 16);
    let options = ReaderOptions::default().limits(limits.clone());
    let checked = faro::check(files, &faro::CheckOptions::default().limits(limits.clone())).is_ok();
    if let Ok(reader) = Reader::open(files, options.clone()) {
        let read = reader.all().unwrap().all(|block| block.is_ok());
        assert!(read || !checked, "what passes the check can be read");
        let partitions = reader.partitions();
        // A damaged header may claim 2^28 partitions.
        for partition in partitions.clone().take(4).chain(partitions.end - 1..partitions.end) {
            let _ = reader.partition(partition).unwrap().count();
            let _ = reader.stored_bytes(partition);
        }
        let _ = reader.byte_map();
    }
    let direct = options.clone().lookup(Lookup::Direct);
    if let Ok(reader) = Reader::open(files, direct) {
        let partitions = reader.partitions();
        for partition in partitions.clone().take(4).chain(partitions.end - 1..partitions.end) {
            let _ = reader.partition(partition).unwrap().count();
            let _ = reader.stored_bytes(partition);
        }
    }
    if let Ok(mut follower) = Follower::open(files, options) {
        let _ = follower.poll();
        let _ = follower.byte_map();
        let _ = follower.range(follower.partitions()).unwrap().count();
    }
    let _ = faro::repair(
        files,
        &faro::RepairOptions::default().limits(limits.clone()).dry_run(true),
    );
    let _ = faro::rebuild(files, &RebuildOptions::default().dry_run(true).limits(limits.clone()));
}

fn change_everything(files: &Files, role: faro::FileRole, path: &Path) {
    let good = std::fs::read(path).unwrap();
    let reader = Reader::open(files, ReaderOptions::default()).unwrap();
    for stretch in stretches(&reader, role, &good) {
        for at in stretch.start..stretch.end {
            let byte = good[at];
            for value in [
                0,
                1,
                2,
                3,
                0x40,
                0x80,
                0xFF,
                byte ^ 1,
                byte.wrapping_add(8),
                byte.wrapping_sub(8),
            ] {
                if value == byte {
                    continue;
                }
                let mut bad = good.clone();
                bad[at] = value;
                stretch.reseal(&mut bad);
                std::fs::write(path, &bad).unwrap();
                read_every_way(files);
            }
        }
    }
    std::fs::write(path, &good).unwrap();
}

#[test]
fn resealed_changes_are_read_or_refused() {
    for layout in [Layout::Paired, Layout::Single] {
        let place = Place::new();
        let files = write_sample(&place.name(), layout);
        read_every_way(&files);
        for (role, path) in files.paths() {
            change_everything(&files, role, path);
        }
    }
}
