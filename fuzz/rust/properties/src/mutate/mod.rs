//! Mutators that know the structure: they change fields, blocks and messages, and usually correct the references. A
//! flag of an input says that its files are sealed before use. These mutators usually set it; otherwise all inputs
//! would end at the first checksum.

mod file;
mod fragments;
mod rng;
mod values;

use crate::container::Container;
use file::File;
pub use fragments::{fragments, merge};
use rng::Rng;

/// libFuzzer's mutation of `data[..size]`, which returns the new size.
pub type Default = fn(data: &mut [u8], size: usize, max_size: usize) -> usize;

/// Mutates an input of the targets that take files.
pub fn files(data: &mut [u8], size: usize, max_size: usize, seed: u32, default: Default) -> usize {
    let mut rng = Rng::new(seed);
    if rng.one_in(4) {
        let size = default(data, size, max_size);
        if size > 0 && !rng.one_in(8) {
            data[0] |= Container::SEAL;
        }
        return size;
    }
    let mut container = Container::decode(&data[..size]);
    for _ in 0..=rng.below(3) {
        change_container(&mut container, &mut rng);
    }
    match rng.one_in(16) {
        true => container.flags &= !Container::SEAL,
        false => container.flags |= Container::SEAL,
    }
    put(data, max_size, &container.encode())
}

/// Mutates an input of `header_block`: a byte, and a data file.
pub fn data_file(data: &mut [u8], size: usize, max_size: usize, seed: u32, default: Default) -> usize {
    let mut rng = Rng::new(seed);
    if size == 0 || rng.one_in(3) {
        return default(data, size, max_size);
    }
    let mut file = File::parse(&data[1..size]);
    let flags = data[0] & !Container::SEAL | if rng.one_in(16) { 0 } else { Container::SEAL };
    change_file(&mut file, None, &mut rng);
    put(data, max_size, &[&[flags], file.bytes().as_slice()].concat())
}

/// Mutates an input of `message`.
pub fn message(data: &mut [u8], size: usize, max_size: usize, seed: u32, default: Default) -> usize {
    let mut rng = Rng::new(seed);
    if size < 9 || rng.one_in(3) {
        return default(data, size, max_size);
    }
    let kind = 128 + (data[0] & 0x7F) % 3;
    if rng.one_in(2)
        && let Some(changed) = values::change(kind, &data[1..size], &mut rng)
    {
        return put(data, max_size, &[&data[..1], &changed].concat());
    }
    // Offsets have 4 bytes, or 2 in vtables.
    for _ in 0..=rng.below(3) {
        let width = if rng.one_in(2) { 4 } else { 2 };
        let at = 1 + rng.below((size - 1) / width) * width;
        rng.tweak_at(&mut data[..size], at, width);
    }
    size
}

/// Copies as much of `bytes` as there is room for.
fn put(data: &mut [u8], max_size: usize, bytes: &[u8]) -> usize {
    let size = bytes.len().min(max_size);
    data[..size].copy_from_slice(&bytes[..size]);
    size
}

fn change_container(container: &mut Container, rng: &mut Rng) {
    match rng.below(16) {
        0 => container.mode = rng.next() as u8 & 3,
        1 => container.flags ^= 2 << rng.below(2),
        2 => {
            let at = rng.below(4);
            container.growth[at] = boundary(container, at, rng);
        }
        3 if rng.one_in(4) => {
            if let Some(data) = &mut container.data {
                std::mem::swap(data, &mut container.index);
            }
        }
        4..=7 if container.data.is_some() => {
            let data = container.data.get_or_insert_default();
            let mut file = File::parse(data);
            change_file(&mut file, None, rng);
            *data = file.bytes();
            if rng.one_in(2) {
                let mut index = File::parse(&container.index);
                index.lay_out(Some(data.len() as u64));
                container.index = index.bytes();
            }
        }
        _ => {
            let mut file = File::parse(&container.index);
            let moved = change_file(&mut file, container.data.as_deref(), rng);
            if moved && !rng.one_in(4) {
                file.lay_out(container.data.as_ref().map(|data| data.len() as u64));
            }
            container.index = file.bytes();
        }
    }
}

/// A size at or near the beginning of a block.
fn boundary(container: &Container, step: usize, rng: &mut Rng) -> u16 {
    let bytes = match &container.data {
        Some(data) if step.is_multiple_of(2) => data,
        _ => &container.index,
    };
    let starts = if bytes.len() < 64 {
        Vec::new()
    } else {
        crate::seal::blocks(bytes)
    };
    let at = starts.get(rng.below(starts.len())).map_or(64, |(at, _)| *at);
    let off = [0, 0, 1, 8, 20, 24, 23, bytes.len()][rng.below(8)];
    (at + off) as u16
}

const HEADER_FIELDS: [(usize, usize); 11] = [
    (8, 1),
    (9, 1),
    (10, 1),
    (11, 1),
    (12, 4),
    (16, 4),
    (20, 4),
    (24, 8),
    (32, 8),
    (40, 8),
    (56, 4),
];
const BLOCK_FIELDS: [(usize, usize); 7] = [(0, 4), (4, 4), (8, 4), (12, 4), (16, 1), (17, 1), (18, 2)];

/// Changes a file; returns whether blocks moved.
fn change_file(file: &mut File, other: Option<&[u8]>, rng: &mut Rng) -> bool {
    let count = file.blocks.len();
    let at = rng.below(count);
    if count == 0 || rng.one_in(12) {
        let (field, size) = HEADER_FIELDS[rng.below(HEADER_FIELDS.len())];
        rng.tweak_at(&mut file.head, field, size);
        return false;
    }
    match rng.below(16) {
        0 | 1 => {
            let (field, size) = BLOCK_FIELDS[rng.below(BLOCK_FIELDS.len())];
            rng.tweak_at(&mut file.blocks[at].header, field, size);
            false
        }
        2 | 3 => {
            let payload = &mut file.blocks[at].payload;
            let size = [1, 2, 4, 8][rng.below(4)];
            let place = rng.below(payload.len() / size) * size;
            rng.tweak_at(payload, place, size);
            false
        }
        4 => {
            let mut payload = file.blocks[at].payload.clone();
            let size = [0, 1, 8, payload.len() / 2, payload.len() + 1, payload.len() + 8][rng.below(6)];
            payload.resize(size, rng.next() as u8);
            file.blocks[at].set_payload(payload);
            true
        }
        5 => {
            file.blocks.swap(at, rng.below(count));
            true
        }
        6 => {
            file.blocks.remove(at);
            true
        }
        7 => {
            let mut again = file.blocks[at].clone();
            if rng.one_in(2) {
                rng.tweak_at(&mut again.header, 12, 4);
            }
            file.blocks.insert(at + rng.below(2), again);
            true
        }
        8 => {
            if let Some(byte) = file.blocks[at].padding.last_mut() {
                *byte = rng.next() as u8;
            }
            false
        }
        9 => {
            file.tail.clear();
            file.blocks.truncate(at + 1);
            let last = &mut file.blocks[at].payload;
            last.truncate(rng.below(last.len() + 1));
            false
        }
        10 => {
            let size = [1, 8, 24, 100][rng.below(4)];
            file.rest.resize(file.rest.len() + size, rng.next() as u8 & 0x81);
            false
        }
        11 => {
            let other = other.map(File::parse).unwrap_or_else(|| file.clone());
            if let Some(block) = other.blocks.get(rng.below(other.blocks.len())) {
                file.blocks.insert(at, block.clone());
            }
            true
        }
        12 => {
            let tail = &mut file.tail;
            rng.tweak_at(tail, [0, 8][at % 2], [8, 4][at % 2]);
            false
        }
        _ => change_message(file, rng),
    }
}

/// Changes a value of one of the messages.
fn change_message(file: &mut File, rng: &mut Rng) -> bool {
    let messages: Vec<usize> = (0..file.blocks.len())
        .filter(|at| file.blocks[*at].kind() >= 128)
        .collect();
    let Some(at) = messages.get(rng.below(messages.len())) else {
        return false;
    };
    let block = &mut file.blocks[*at];
    if let Some(changed) = values::change(block.kind(), &block.payload, rng) {
        let moved = changed.len() != block.payload.len();
        block.set_payload(changed);
        return moved;
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scratch;
    use faro::{CheckOptions, ErrorCode, Layout, Writer, WriterOptions, check};
    use std::collections::BTreeMap;

    fn written(layout: Layout) -> Container {
        let name = scratch::path("mutated");
        let options = WriterOptions::new(4).layout(layout).overwrite(true);
        let mut writer = Writer::create(&name, options).unwrap();
        for partition in [1, 3, 0] {
            writer.write(partition, b"abcdefgh").unwrap();
            writer.broadcast(b"for all").unwrap();
        }
        let mut contents = scratch::contents(&writer.finish().unwrap().files);
        Container {
            flags: if layout == Layout::Paired { Container::PAIR } else { 0 },
            mode: 0,
            growth: [0; 4],
            index: contents.pop().unwrap(),
            data: contents.pop(),
        }
    }

    /// The results of a check for many mutations of an output.
    fn verdicts(layout: Layout) -> BTreeMap<String, usize> {
        let input = written(layout).encode();
        let mut verdicts = BTreeMap::new();
        for seed in 0..1500 {
            let mut data = input.clone();
            data.resize(8192, 0);
            let size = files(&mut data, input.len(), 8192, seed, |data, size, _| {
                data[size / 2] ^= 1;
                size
            });
            let container = Container::sealed(&data[..size]);
            let said = check(
                &scratch::put(&container),
                &CheckOptions::default().limits(container.options().limits.clone()),
            );
            let said = said.map_or_else(|error| error.code.as_str().into(), |_| "whole".into());
            *verdicts.entry(said).or_default() += 1;
        }
        verdicts
    }

    #[test]
    fn mutations_reach_the_checks_after_the_checksums() {
        for layout in [Layout::Single, Layout::Paired] {
            let verdicts = verdicts(layout);
            let count = |code: ErrorCode| verdicts.get(code.as_str()).copied().unwrap_or(0);
            assert!(count(ErrorCode::Checksum) < 300, "{verdicts:?}");
            for code in [
                ErrorCode::MalformedBlock,
                ErrorCode::MalformedMessage,
                ErrorCode::InconsistentIndex,
            ] {
                assert!(count(code) > 15, "{code}: {verdicts:?}");
            }
            assert!(verdicts["whole"] > 100, "{verdicts:?}");
        }
    }

    #[test]
    fn what_does_not_fit_is_cut() {
        let input = written(Layout::Single).encode();
        for seed in 0..500 {
            let mut data = input.clone();
            let size = data.len();
            assert!(files(&mut data, size, size, seed, |_, size, _| size) <= size);
            assert!(data_file(&mut data, size, size, seed, |_, size, _| size) <= size);
            assert!(message(&mut data, size, size, seed, |_, size, _| size) <= size);
            assert!(fragments(&mut data, size, size, seed, |_, size, _| size) <= size);
            assert!(merge(&mut data, size, size, seed, |_, size, _| size) <= size);
        }
    }
}
