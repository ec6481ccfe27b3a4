//! Mutators of streams of fragments, and of programs that push them.

use super::file::File;
use super::rng::Rng;
use super::{Default, change_file, put};
use crate::container::Container;
use crate::seal::fragment_end;
use crate::targets::merge_program::MergeInput;

/// The kind of the block that ends a fragment.
const END_BLOCK: u8 = 132;

/// Mutates an input of `fragments`.
pub fn fragments(data: &mut [u8], size: usize, max_size: usize, seed: u32, default: Default) -> usize {
    let mut rng = Rng::new(seed);
    if size == 0 || rng.one_in(4) {
        return default(data, size, max_size);
    }
    let flags = change_flags(data[0], &mut rng);
    let mut fragments = split(&data[1..size]);
    let at = rng.below(fragments.len());
    match rng.below(8) {
        0 if fragments.len() > 1 => drop(fragments.remove(at)),
        1 if !fragments.is_empty() => fragments.insert(at, fragments[at].clone()),
        _ => {
            if let Some(fragment) = fragments.get_mut(at) {
                change_fragment(fragment, &mut rng);
            }
        }
    }
    put(data, max_size, &[&[flags], fragments.concat().as_slice()].concat())
}

/// Mutates an input of `merge`.
pub fn merge(data: &mut [u8], size: usize, max_size: usize, seed: u32, default: Default) -> usize {
    let mut rng = Rng::new(seed);
    if rng.one_in(4) {
        return default(data, size, max_size);
    }
    let mut input = MergeInput::decode(&data[..size]);
    input.flags = change_flags(input.flags, &mut rng);
    for _ in 0..=rng.below(3) {
        change_input(&mut input, &mut rng);
    }
    put(data, max_size, &input.encode())
}

fn change_flags(flags: u8, rng: &mut Rng) -> u8 {
    let flags = if rng.one_in(16) {
        flags ^ (2 << rng.below(2))
    } else {
        flags
    };
    match rng.one_in(16) {
        true => flags & !Container::SEAL,
        false => flags | Container::SEAL,
    }
}

fn change_input(input: &mut MergeInput, rng: &mut Rng) {
    let at = rng.below(input.fragments.len());
    match rng.below(12) {
        0 => {
            let number = rng.below(3);
            rng.tweak_at(&mut input.numbers, number, 1);
        }
        1 => input.flags ^= 1 << [0, 4, 5][rng.below(3)],
        2 if !input.fragments.is_empty() => input.fragments.insert(at, input.fragments[at].clone()),
        3 if input.fragments.len() > 1 => drop(input.fragments.remove(at)),
        4..=6 => {
            if let Some(fragment) = input.fragments.get_mut(at) {
                change_fragment(fragment, rng);
            }
        }
        _ => change_steps(&mut input.steps, rng),
    }
}

/// Inserts a step, or removes or changes a byte.
fn change_steps(steps: &mut Vec<u8>, rng: &mut Rng) {
    let at = rng.below(steps.len() + 1);
    match rng.below(4) {
        0 if at < steps.len() => drop(steps.remove(at)),
        1 if at < steps.len() => steps[at] = rng.next() as u8,
        _ => {
            // Few pushes, so that they meet.
            let (call, push) = (rng.below(14) as u8, rng.below(3) as u8);
            let step = match call {
                0..=5 => vec![call | push << 4, rng.below(8) as u8],
                6 => vec![call | push << 4, rng.next() as u8, rng.below(2) as u8],
                _ => vec![call | push << 4],
            };
            steps.splice(at..at, step);
        }
    }
}

fn split(mut stream: &[u8]) -> Vec<Vec<u8>> {
    let mut fragments = Vec::new();
    while stream.len() >= 64 {
        let (fragment, rest) = stream.split_at(fragment_end(stream));
        fragments.push(fragment.to_vec());
        stream = rest;
    }
    if !stream.is_empty() {
        fragments.push(stream.to_vec());
    }
    fragments
}

/// Changes the header or a block of a fragment. The end block mostly follows.
fn change_fragment(fragment: &mut Vec<u8>, rng: &mut Rng) {
    if fragment.len() < 64 {
        return;
    }
    let mut file = File::parse(fragment);
    match rng.below(4) {
        // Another producer or attempt.
        0 => {
            let field = [24, 32][rng.below(2)];
            file.head[field..field + 8].copy_from_slice(&(rng.below(3) as u64).to_le_bytes());
        }
        1 => renumber(&mut file, rng),
        _ => drop(change_file(&mut file, None, rng)),
    }
    if !rng.one_in(8) {
        end(&mut file, rng);
    }
    *fragment = file.bytes();
    if rng.one_in(16) {
        fragment.truncate(rng.below(fragment.len()));
    }
}

/// Moves the numbers of a fragment's blocks on or back.
fn renumber(file: &mut File, rng: &mut Rng) {
    let by = [1, u32::MAX, rng.below(5) as u32][rng.below(3)];
    for block in file.blocks.iter_mut().filter(|block| block.kind() < 128) {
        let mut number = [0; 4];
        number.copy_from_slice(&block.header[12..16]);
        let moved = u32::from_le_bytes(number).wrapping_add(by);
        block.header[12..16].copy_from_slice(&moved.to_le_bytes());
    }
}

/// Corrects what the end block says.
fn end(file: &mut File, rng: &mut Rng) {
    let (mut length, mut blocks) = (file.head.len(), 0u32);
    for block in &mut file.blocks {
        if block.kind() == END_BLOCK && block.payload.len() == 16 {
            block.payload[..8].copy_from_slice(&(length as u64).to_le_bytes());
            block.payload[8..12].copy_from_slice(&blocks.to_le_bytes());
            if rng.one_in(8) {
                block.payload[12] ^= 1;
            }
        }
        length += block.size();
        blocks += u32::from(block.kind() < 128);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scratch;
    use crate::seal::seal_stream;
    use crate::targets::merge_program::{Answer, MergeProgram, carry_out};
    use faro::merge::FragmentReader;
    use faro::{Files, Limits, Reader, ReaderOptions, Writer, WriterOptions};
    use std::collections::BTreeMap;

    /// Two fragments of an output: partitions 0 and 1, and partition 2.
    fn stream() -> Vec<u8> {
        let name = scratch::path("pushed");
        let options = WriterOptions::new(3).overwrite(true).block_size(16);
        let mut writer = Writer::create(&name, options).unwrap();
        for partition in [0, 1, 2, 2, 1, 0] {
            writer.write(partition, b"a record").unwrap();
            writer.flush().unwrap();
        }
        writer.finish().unwrap();
        let reader = Reader::open(&Files::paired(&name), ReaderOptions::default()).unwrap();
        let mut stream = Vec::new();
        reader.fragment(0..2, None, &mut stream).unwrap();
        reader.fragment(2..3, None, &mut stream).unwrap();
        stream
    }

    #[test]
    fn what_was_written_is_sealed_already() {
        let stream = stream();
        let mut broken = stream.clone();
        let second = fragment_end(&stream);
        for at in [60, 84, second + 60, second + 84] {
            broken[at] ^= 1;
        }
        assert_ne!(broken, stream);
        seal_stream(&mut broken);
        assert_eq!(broken, stream);
        assert_eq!(split(&stream).concat(), stream);
        assert_eq!(split(&stream).len(), 2);
    }

    #[test]
    fn mutations_reach_the_checks_after_the_checksums() {
        let input = [&[Container::SEAL], stream().as_slice()].concat();
        let mut found = BTreeMap::new();
        for seed in 0..2000 {
            let mut data = input.clone();
            data.resize(8192, 0);
            let size = fragments(&mut data, input.len(), 8192, seed, |data, size, _| {
                data[size / 2] ^= 1;
                size
            });
            let (limits, stream) = crate::targets::fragments::split(&data[..size]);
            let said = read(&stream, limits);
            *found.entry(said).or_insert(0) += 1;
        }
        for code in ["whole", "malformed-block", "inconsistent-index", "truncated"] {
            assert!(found.get(code).is_some_and(|count| *count > 30), "{code}: {found:?}");
        }
        assert!(found.get("checksum").is_none_or(|count| *count < 300), "{found:?}");
    }

    fn read(stream: &[u8], limits: Limits) -> &'static str {
        let mut reader = FragmentReader::new(stream, limits);
        loop {
            match reader.next_fragment() {
                Ok(Some(_)) => {}
                Ok(None) => return "whole",
                Err(error) => return error.code.as_str(),
            }
        }
    }

    #[test]
    fn mutated_programs_merge_and_are_refused() {
        let stream = stream();
        let base = MergeInput {
            flags: 0x18,
            numbers: [2, 0, 0x11],
            schema: None,
            fragments: split(&stream),
            steps: vec![0, 0, 0, 1],
        };
        let mut input = base.clone();
        let mut found = BTreeMap::new();
        for seed in 0..2000 {
            let mut data = input.encode();
            let size = data.len();
            data.resize(8192, 0);
            let size = merge(&mut data, size, 8192, seed, |_, size, _| size);
            let program = MergeProgram::decode(&data[..size]);
            let _ = carry_out(&program, &scratch::empty_folder("mutated"), |_, answer| {
                let said = match answer {
                    Answer::Outcome(outcome) => outcome.as_str(),
                    Answer::Fault(fault) => fault.code.as_str(),
                    _ => "done",
                };
                *found.entry(said).or_insert(0) += 1;
            });
            // A few mutations, one after another.
            input = match seed % 6 {
                5 => base.clone(),
                _ => MergeInput::decode(&data[..size]),
            };
        }
        let outcomes = [
            "merged",
            "duplicate",
            "late",
            "stale",
            "other-attempt",
            "gap",
            "collision",
        ];
        for said in outcomes
            .iter()
            .chain(&["malformed-block", "mismatched-pair", "invalid-argument"])
        {
            assert!(found.contains_key(said), "{said}: {found:?}");
        }
    }
}
