//! Random histories of merges against a model of a few lines: after each, the file has exactly what the model says, each
//! block once, and nothing that was reported is lost (spec, MRG).
//!
//! `FARO_HISTORIES` says how many are drawn, `FARO_SEED` which one is the first.

use faro::merge::{Begun, Expected, Merge, MergeOptions, Outcome, Push};
use faro::{ErrorCode, FileRole, Files, Follower, Framing, Reader, ReaderOptions, Writer, WriterOptions, check};
use proptest::prelude::Rng as _;
use proptest::test_runner::{RngAlgorithm, TestRng};
use std::collections::BTreeMap;
use std::path::Path;

const PARTITIONS: u32 = 3;
const GENERATION: u64 = 9;
const PRODUCERS: u64 = 4;
const ATTEMPTS: u64 = 2;

struct Rng(TestRng);

impl Rng {
    fn new(seed: u64) -> Rng {
        let mut bytes = [0; 32];
        bytes[..8].copy_from_slice(&seed.to_le_bytes());
        Rng(TestRng::from_seed(RngAlgorithm::ChaCha, &bytes))
    }

    fn below(&mut self, most: u64) -> u64 {
        self.0.next_u64() % most
    }

    fn one_in(&mut self, count: u64) -> bool {
        self.below(count) == 0
    }
}

/// A producer's output, and what each partition reads from it.
struct Output {
    reader: Reader,
    blocks: Vec<Vec<Vec<u8>>>,
}

fn outputs(folder: &Path, rng: &mut Rng) -> BTreeMap<Expected, Output> {
    let mut found = BTreeMap::new();
    for producer in 0..PRODUCERS {
        for attempt in 0..ATTEMPTS {
            let name = folder.join(format!("map-{producer}-{attempt}"));
            let options = WriterOptions::new(PARTITIONS).producer(producer).attempt(attempt);
            let mut writer = Writer::create(&name, options.framing(Framing::Opaque).block_size(16)).unwrap();
            for number in 0..rng.below(14) {
                let record = format!("{producer}.{attempt}.{number}{}", "-".repeat(rng.below(40) as usize));
                match rng.below(8) {
                    0 => writer.broadcast(record.as_bytes()).unwrap(),
                    1 => writer.flush().unwrap(),
                    partition => writer.write(partition as u32 % PARTITIONS, record.as_bytes()).unwrap(),
                }
            }
            writer.finish().unwrap();
            let reader = Reader::open(&Files::paired(&name), ReaderOptions::default()).unwrap();
            let read = |partition| {
                let blocks = reader.partition(partition).unwrap();
                blocks.map(|block| block.unwrap().payload.to_vec()).collect()
            };
            let blocks = (0..PARTITIONS).map(read).collect();
            found.insert(Expected { producer, attempt }, Output { reader, blocks });
        }
    }
    found
}

/// What the file must have: the attempt of each producer, and how many blocks of each partition, with *last*.
#[derive(Clone, Debug, Default, PartialEq)]
struct Model {
    attempts: BTreeMap<u64, u64>,
    held: BTreeMap<(u64, u32), (u64, bool)>,
}

/// A fragment, and what it has.
struct Fragment {
    of: Expected,
    bytes: Vec<u8>,
    last: bool,
    /// The numbers of each partition's blocks.
    numbers: BTreeMap<u32, std::ops::Range<u64>>,
}

impl Model {
    /// What must come of a whole fragment.
    fn push(&mut self, fragment: &Fragment) -> Outcome {
        let Expected { producer, attempt } = fragment.of;
        if self.attempts.get(&producer).is_some_and(|known| *known != attempt) {
            return Outcome::OtherAttempt;
        }
        let mut after = self.clone();
        let mut is_new = false;
        for (partition, numbers) in &fragment.numbers {
            let (count, _) = self.held.get(&(producer, *partition)).copied().unwrap_or_default();
            if numbers.start > count {
                return Outcome::Gap;
            }
            if numbers.end > count {
                is_new = true;
                after.held.insert((producer, *partition), (numbers.end, fragment.last));
            }
        }
        if !is_new {
            return Outcome::Duplicate;
        }
        after.attempts.insert(producer, attempt);
        *self = after;
        Outcome::Merged
    }
}

fn fragment(outputs: &BTreeMap<Expected, Output>, rng: &mut Rng) -> Option<Fragment> {
    let of = Expected {
        producer: rng.below(PRODUCERS),
        attempt: u64::from(rng.one_in(4)),
    };
    let output = &outputs[&of];
    let mut bytes = Vec::new();
    let from = rng.below(PARTITIONS.into()) as u32;
    let mut numbers = BTreeMap::new();
    let summary = if rng.one_in(2) {
        let to = from + 1 + rng.below(u64::from(PARTITIONS - from)) as u32;
        for partition in from..to {
            numbers.insert(partition, 0..output.blocks[partition as usize].len() as u64);
        }
        output.reader.fragment(from..to, None, &mut bytes).unwrap()
    } else {
        let count = output.blocks[from as usize].len() as u64;
        let low = rng.below(count + 1);
        let high = low + rng.below(count + 2 - low);
        numbers.insert(from, low.min(count)..high.min(count));
        output
            .reader
            .fragment(from..from + 1, Some(low as u32..high as u32), &mut bytes)
            .unwrap()
    };
    numbers.retain(|_, range| !range.is_empty());
    let last = summary?.last;
    Some(Fragment {
        of,
        bytes,
        last,
        numbers,
    })
}

fn options(rng: &mut Rng) -> MergeOptions {
    let chunk = [1, 60, 200, 2 << 20][rng.below(4) as usize];
    MergeOptions::new(PARTITIONS)
        .framing(Framing::Opaque)
        .generation(GENERATION)
        .chunk_size(chunk)
}

fn begin(merge: &Merge, producer: u64) -> Box<Push> {
    match merge.begin(producer, GENERATION).unwrap() {
        Begun::Open(push) => push,
        Begun::Refused(outcome) => panic!("{outcome}"),
    }
}

/// Pushes in pieces; `between` is called after each.
fn push(merge: &Merge, fragment: &Fragment, bytes: &[u8], rng: &mut Rng) -> faro::Result<Outcome> {
    let mut push = begin(merge, fragment.of.producer);
    let mut rest = bytes;
    while !rest.is_empty() {
        let (piece, after) = rest.split_at(1 + rng.below(rest.len() as u64) as usize);
        if let Some(refused) = push.write(piece)? {
            return Ok(refused);
        }
        rest = after;
    }
    push.commit()
}

/// What the committed regions of a file have.
fn committed(files: &Files) -> Model {
    let mut follower = Follower::open(files, ReaderOptions::default()).unwrap();
    follower.poll().unwrap();
    let mut model = Model::default();
    for partition in 0..PARTITIONS {
        for have in follower.have(partition).unwrap() {
            model.attempts.insert(have.producer, have.attempt);
            model
                .held
                .insert((have.producer, partition), (have.blocks, have.is_complete));
        }
    }
    model
}

fn at_least(found: &Model, least: &Model) -> bool {
    least
        .held
        .iter()
        .all(|(key, (blocks, _))| found.held.get(key).is_some_and(|(have, _)| have >= blocks))
}

/// A history. Returns how many pushes were merged.
fn history(seed: u64, folder: &Path, outputs: &BTreeMap<Expected, Output>) -> u64 {
    let mut rng = Rng::new(seed);
    let name = folder.join(format!("merged-{seed}"));
    let files = Files::paired(&name);
    let mut merge = Merge::create(&name, options(&mut rng)).unwrap();
    let (mut model, mut safe, mut merged) = (Model::default(), Model::default(), 0);
    for _ in 0..rng.below(25) {
        match rng.below(20) {
            0 => {
                merge.flush().unwrap();
                safe = model.clone();
                assert_eq!(committed(&files), model, "seed {seed}");
            }
            // The process ends, with or without closing the files, and perhaps with a torn write at their ends.
            1 => {
                if rng.one_in(2) {
                    merge.close().unwrap();
                }
                drop(merge);
                if rng.one_in(2) {
                    tear(&files, &mut rng);
                }
                merge = Merge::resume(&name, options(&mut rng)).unwrap();
                let found = committed(&files);
                assert!(at_least(&found, &safe), "seed {seed}: {found:?} lacks some of {safe:?}");
                assert!(
                    at_least(&model, &found),
                    "seed {seed}: {found:?} is more than {model:?}"
                );
                (model, safe) = (found.clone(), found);
            }
            _ => {
                let Some(fragment) = fragment(outputs, &mut rng) else {
                    continue;
                };
                let mut bytes = fragment.bytes.clone();
                // A push of another producer that is given up in the middle, or waits.
                let mut other = begin(&merge, 77);
                if rng.one_in(4) {
                    let half = bytes.len() / 2;
                    let refused = other.write(&bytes[..half.min(40)]);
                    assert!(matches!(refused, Ok(None)), "{refused:?}");
                }
                drop(other);
                match rng.below(8) {
                    0 => {
                        let at = rng.below(bytes.len() as u64) as usize;
                        bytes[at] ^= 1 << rng.below(8);
                        let before = fragment.of;
                        let found = push(&merge, &fragment, &bytes, &mut rng);
                        // Damage is a fault, unless what comes before it is refused for another reason.
                        match found {
                            Err(fault) => assert_eq!(fault.role, Some(FileRole::Fragment), "seed {seed}: {fault}"),
                            Ok(Outcome::Gap | Outcome::OtherAttempt) => {}
                            Ok(other) => panic!("seed {seed}: {other} of a damaged fragment of {before:?}"),
                        }
                    }
                    1 => {
                        bytes.truncate(rng.below(bytes.len() as u64) as usize);
                        match push(&merge, &fragment, &bytes, &mut rng) {
                            Err(fault) => {
                                assert_eq!(fault.code, ErrorCode::Truncated, "seed {seed}: {fault}");
                                assert_eq!(fault.offset, Some(bytes.len() as u64), "seed {seed}: {fault}");
                            }
                            Ok(Outcome::Gap | Outcome::OtherAttempt) => {}
                            Ok(other) => panic!("seed {seed}: {other} of a cut fragment"),
                        }
                    }
                    _ => {
                        let expected = model.push(&fragment);
                        let found = push(&merge, &fragment, &bytes, &mut rng).unwrap();
                        assert_eq!(found, expected, "seed {seed}");
                        merged += u64::from(found == Outcome::Merged);
                    }
                }
            }
        }
    }
    let late = begin(&merge, 0);
    let summary = merge.finalize().unwrap();
    let mut late = late;
    assert_eq!(late.write(b"late").unwrap(), Some(Outcome::Late));
    assert_eq!(committed(&files), model, "seed {seed}");
    verify(&summary.files, &model, outputs, seed);
    for (_, path) in files.paths() {
        std::fs::remove_file(path).unwrap();
    }
    merged
}

/// Adds bytes to the ends of the files, or takes some of the last that are not committed.
fn tear(files: &Files, rng: &mut Rng) {
    for (role, path) in files.paths() {
        let mut bytes = std::fs::read(path).unwrap();
        match (role, rng.below(3)) {
            (FileRole::Data, 0) => bytes.extend((0..rng.below(50)).map(|byte| byte as u8)),
            // The first bytes of a region message.
            (FileRole::Index, 0) => {
                let head = [90, 0, 0, 0, 90, 0, 0, 0, 255, 255, 255, 255];
                bytes.extend(&head[..rng.below(12) as usize]);
            }
            (_, 1) => bytes.extend(vec![0; rng.below(100) as usize]),
            _ => {}
        }
        std::fs::write(path, bytes).unwrap();
    }
}

/// The file reads back as the model says, alone and with originals.
fn verify(files: &Files, model: &Model, outputs: &BTreeMap<Expected, Output>, seed: u64) {
    check(files, &faro::CheckOptions::default()).unwrap();
    let reader = Reader::open(files, ReaderOptions::default()).unwrap();
    let expected: Vec<Expected> = (0..PRODUCERS)
        .map(|producer| Expected {
            producer,
            attempt: model.attempts.get(&producer).copied().unwrap_or(0),
        })
        .collect();
    for partition in 0..PARTITIONS {
        // Each block is in the file once, under its producer and number.
        let mut blocks = reader.partition(partition).unwrap();
        for run in reader.runs(partition).unwrap() {
            let of = Expected {
                producer: run.run.producer,
                attempt: run.run.attempt,
            };
            let from = run.run.first_block as usize;
            for wanted in &outputs[&of].blocks[partition as usize][from..][..run.run.blocks as usize] {
                assert_eq!(blocks.next().unwrap().unwrap().payload, wanted[..], "seed {seed}");
            }
        }
        assert!(blocks.next().is_none(), "seed {seed}");
        for missing in reader.missing(partition, &expected).unwrap() {
            let (count, is_complete) = model
                .held
                .get(&(missing.producer, partition))
                .copied()
                .unwrap_or_default();
            assert!(!is_complete && missing.from == count, "seed {seed}");
        }
        let open = |of: Expected| Ok(outputs[&of].reader.clone());
        let mut found: BTreeMap<u64, Vec<Vec<u8>>> = BTreeMap::new();
        for block in reader.with_originals(partition, &expected, open).unwrap() {
            let block = block.unwrap();
            let of = found.entry(block.producer).or_default();
            assert_eq!(block.number, of.len() as u64, "seed {seed}");
            of.push(block.block.payload.to_vec());
        }
        for of in &expected {
            let wanted = &outputs[of].blocks[partition as usize];
            assert_eq!(found.get(&of.producer).unwrap_or(&Vec::new()), wanted, "seed {seed}");
        }
    }
}

fn number(variable: &str, default: u64) -> u64 {
    std::env::var(variable).map_or(default, |text| text.parse().unwrap())
}

#[test]
fn histories_agree_with_a_model() {
    let (count, first) = (number("FARO_HISTORIES", 400), number("FARO_SEED", 1));
    let mut merged = 0;
    for start in (first..first + count).step_by(200) {
        let folder = tempfile::tempdir().unwrap();
        let outputs = outputs(folder.path(), &mut Rng::new(start ^ 0xABCD));
        for seed in start..(start + 200).min(first + count) {
            merged += history(seed, folder.path(), &outputs);
        }
    }
    // So many that the histories are about something.
    assert!(merged > count, "{merged} pushes were merged in {count} histories");
}
