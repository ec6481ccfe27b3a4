//! The ops about fragments and merged files.

use crate::payload::{Payload, from_hex, to_hex};
use crate::protocol::{Answer, Failure, Fault, LimitFields, Paths, invalid_argument};
use crate::read::header;
use crate::write::{bytes, number, word};
use faro::merge::{Begun, Expected, FragmentReader, Merge, MergeOptions, Outcome, Push, PushPlan};
use faro::merge::{Names, merged_file_id, output_file_id};
use faro::{Durability, Framing, Reader, ReaderOptions};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::path::PathBuf;

/// The request `fragment`.
#[derive(Debug, Deserialize)]
pub(crate) struct MakeFragment {
    #[serde(flatten)]
    paths: Paths,
    #[serde(default)]
    limits: LimitFields,
    /// The first, and how many.
    partitions: [u32; 2],
    numbers: Option<[u32; 2]>,
    path: PathBuf,
}

pub(crate) fn fragment(request: MakeFragment) -> Answer {
    let reader = open(request.paths, &request.limits)?;
    let [first, count] = request.partitions;
    let numbers = request.numbers.map(|[from, to]| from..to);
    let mut made = Vec::new();
    let Some(summary) = reader.fragment(first..first.saturating_add(count), numbers, &mut made)? else {
        return Ok(json!({ "blocks": 0, "length": 0, "last": false }));
    };
    write_file(&request.path, &made)?;
    Ok(json!({ "blocks": summary.blocks, "length": summary.length, "last": summary.last }))
}

/// The names of a shuffle.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ShuffleNames {
    application: String,
    shuffle: String,
}

impl From<ShuffleNames> for Names {
    fn from(names: ShuffleNames) -> Self {
        Names::new(names.application, names.shuffle)
    }
}

/// The request `region_fragments`.
#[derive(Debug, Deserialize)]
pub(crate) struct MakeRegionFragments {
    #[serde(flatten)]
    paths: Paths,
    #[serde(default)]
    limits: LimitFields,
    region: usize,
    names: ShuffleNames,
    path: PathBuf,
}

pub(crate) fn region_fragments(request: MakeRegionFragments) -> Answer {
    let reader = open(request.paths, &request.limits)?;
    let mut made = Vec::new();
    let length = reader.region_fragments(request.region, &request.names.into(), &mut made)?;
    write_file(&request.path, &made)?;
    Ok(json!({ "length": length }))
}

/// The request `fragments`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ReadFragments {
    fragment: PathBuf,
    #[serde(default)]
    limits: LimitFields,
}

pub(crate) fn fragments(request: ReadFragments) -> Answer {
    let file = File::open(&request.fragment).map_err(|error| Failure::Unsupported(error.to_string()))?;
    let mut fragments = FragmentReader::new(file, request.limits.limits());
    let mut found = Vec::new();
    while let Some(of) = fragments.next_fragment()? {
        let mut partitions: BTreeMap<u32, (u32, u64, Sha256)> = BTreeMap::new();
        let mut blocks = 0;
        while let Some(block) = fragments.next_block()? {
            let plain = fragments.decode(&block)?;
            let partition = partitions
                .entry(block.header.partition)
                .or_insert_with(|| (block.header.sequence, 0, Sha256::new()));
            partition.1 += 1;
            partition.2.update([block.header.kind]);
            partition.2.update(block.header.plain_size.to_le_bytes());
            partition.2.update(plain);
            blocks += 1;
        }
        let partitions = partitions.into_iter().map(|(partition, (first, blocks, hash))| {
            let part = json!({ "first": first, "blocks": blocks, "sha256": to_hex(&hash.finalize()) });
            (partition.to_string(), part)
        });
        found.push(json!({
            "header": header(&of),
            "blocks": blocks,
            "last": fragments.is_last(),
            "partitions": partitions.collect::<Map<_, _>>(),
        }));
    }
    Ok(json!({ "fragments": found }))
}

/// The request `merge`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct MakeMerge {
    path: PathBuf,
    mode: String,
    options: Options,
    #[serde(default)]
    limits: LimitFields,
    fragments: Vec<PathBuf>,
    steps: Vec<Step>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Options {
    partition_count: i64,
    first_partition: Option<i64>,
    framing: Option<String>,
    file_id: Option<String>,
    generation: Option<String>,
    names: Option<ShuffleNames>,
    schema: Option<Payload>,
    dictionaries: Option<bool>,
    chunk_size: Option<i64>,
    max_waiting: Option<i64>,
    durability: Option<String>,
    created_by: Option<String>,
    properties: Option<BTreeMap<String, String>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Step {
    call: String,
    push: Option<String>,
    producer: Option<String>,
    generation: Option<String>,
    fragment: Option<usize>,
    from: Option<usize>,
    to: Option<usize>,
}

fn options(from: Options, limits: &LimitFields) -> Result<MergeOptions, Failure> {
    let mut options = MergeOptions::new(number("a partition_count of 32 bits", from.partition_count)?);
    options.limits = limits.limits();
    if let Some(first) = from.first_partition {
        options.first_partition = number("first_partition", first)?;
    }
    if let Some(framing) = from.framing {
        let known = [Framing::Opaque, Framing::Records, Framing::Arrow].map(|framing| (framing.as_str(), framing));
        options.framing = word("framing", &framing, &known)?;
    }
    if let Some(id) = from.file_id {
        let id = from_hex(&id).and_then(|id| id.try_into().ok());
        options.file_id = Some(id.ok_or_else(|| Failure::Unsupported("a file_id of another form".into()))?);
    }
    if let Some(generation) = from.generation {
        options.generation = u64_of("generation", &generation)?;
    }
    if let Some(size) = from.chunk_size {
        options.chunk_size = number("chunk_size", size)?;
    }
    if let Some(size) = from.max_waiting {
        options.max_waiting = number("max_waiting", size)?;
    }
    if let Some(durability) = from.durability {
        let known = [("none", Durability::None), ("commit", Durability::Commit)];
        options.durability = word("durability", &durability, &known)?;
    }
    options.names = from.names.map(Names::from);
    options.schema = from.schema.as_ref().map(bytes).transpose()?;
    options.dictionaries = from.dictionaries.unwrap_or_default();
    options.created_by = from.created_by;
    options.properties = from.properties.unwrap_or_default();
    Ok(options)
}

pub(crate) fn merge(request: MakeMerge) -> Answer {
    let options = options(request.options, &request.limits)?;
    let merge = match request.mode.as_str() {
        "create" => Merge::create(&request.path, options)?,
        "resume" => Merge::resume(&request.path, options)?,
        other => return Err(Failure::Unsupported(format!("the mode {other:?}"))),
    };
    let read = |path: &PathBuf| std::fs::read(path).map_err(|error| Failure::Unsupported(error.to_string()));
    let fragments = request.fragments.iter().map(read).collect::<Result<Vec<_>, _>>()?;
    let mut pushes = HashMap::new();
    let mut answers = Vec::new();
    for step in request.steps {
        answers.push(match take(&merge, &mut pushes, &fragments, step) {
            Ok(answer) => answer,
            Err(Failure::Refused(error)) => json!({ "error": error }),
            Err(unsupported) => return Err(unsupported),
        });
    }
    drop(pushes);
    // It may be finalized, closed or removed already.
    let _ = merge.close();
    Ok(json!({ "steps": answers }))
}

fn take(merge: &Merge, pushes: &mut HashMap<String, Box<Push>>, fragments: &[Vec<u8>], step: Step) -> Answer {
    let outcome = |outcome: &str| Ok(json!({ "outcome": outcome }));
    let name = step.push.clone().unwrap_or_default();
    let open = |pushes: &mut HashMap<String, Box<Push>>| match pushes.remove(&name) {
        Some(push) => Ok(push),
        None => Err(invalid_argument("a push that was begun", &name)),
    };
    match step.call.as_str() {
        "begin" => {
            let producer = u64_of("producer", &step.producer.unwrap_or_default())?;
            let generation = u64_of("generation", &step.generation.unwrap_or_default())?;
            match merge.begin(producer, generation)? {
                Begun::Open(push) => {
                    pushes.insert(name, push);
                    outcome("open")
                }
                Begun::Refused(refused) => outcome(refused.as_str()),
            }
        }
        "write" => {
            let whole = step.fragment.and_then(|at| fragments.get(at));
            let whole = whole.ok_or_else(|| Failure::Unsupported("no such fragment".into()))?;
            let range = step.from.unwrap_or(0)..step.to.unwrap_or(whole.len());
            let part = whole
                .get(range)
                .ok_or_else(|| Failure::Unsupported("no such bytes".into()))?;
            let mut push = open(pushes)?;
            let written = push.write(part);
            pushes.insert(name, push);
            outcome(written?.map_or("taken", Outcome::as_str))
        }
        "commit" => {
            let mut push = open(pushes)?;
            let committed = push.commit();
            pushes.insert(name, push);
            outcome(committed?.as_str())
        }
        "abort" => {
            let mut push = open(pushes)?;
            push.abort();
            pushes.insert(name, push);
            outcome("done")
        }
        "flush" => merge.flush().map_err(Failure::from).and_then(|()| outcome("done")),
        "release" => merge.release().map_err(Failure::from).and_then(|()| outcome("done")),
        "close" => merge.close().map_err(Failure::from).and_then(|()| outcome("done")),
        "remove" => merge.remove().map_err(Failure::from).and_then(|()| outcome("done")),
        "finalize" => {
            let summary = merge.finalize()?;
            Ok(json!({ "outcome": "finalized", "runs": summary.runs }))
        }
        other => Err(Failure::Unsupported(format!("the call {other:?}"))),
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Named {
    producer: String,
    attempt: String,
}

fn expected(named: &[Named]) -> Result<Vec<Expected>, Failure> {
    let of = |named: &Named| {
        Ok(Expected {
            producer: u64_of("producer", &named.producer)?,
            attempt: u64_of("attempt", &named.attempt)?,
        })
    };
    named.iter().map(of).collect()
}

/// The request `provenance`.
#[derive(Debug, Deserialize)]
pub(crate) struct Provenance {
    #[serde(flatten)]
    paths: Paths,
    #[serde(default)]
    limits: LimitFields,
    partitions: Vec<u32>,
    expected: Vec<Named>,
}

pub(crate) fn provenance(request: Provenance) -> Answer {
    let reader = open(request.paths, &request.limits)?;
    let expected = expected(&request.expected)?;
    let mut partitions = Map::new();
    for partition in request.partitions {
        let runs: Vec<Value> = reader
            .runs(partition)?
            .iter()
            .map(|found| {
                let run = &found.run;
                json!({
                    "region": found.region, "producer": run.producer.to_string(), "attempt": run.attempt.to_string(),
                    "first_block": run.first_block, "blocks": run.blocks, "length": 8 * u64::from(run.length),
                    "last": run.flags == 1,
                })
            })
            .collect();
        let have: Vec<Value> = reader
            .have(partition)?
            .iter()
            .map(|have| {
                json!({
                    "producer": have.producer.to_string(), "attempt": have.attempt.to_string(),
                    "blocks": have.blocks, "last": have.is_complete,
                })
            })
            .collect();
        let missing: Vec<Value> = reader
            .missing(partition, &expected)?
            .iter()
            .map(|missing| {
                json!({
                    "producer": missing.producer.to_string(), "attempt": missing.attempt.to_string(),
                    "from": missing.from,
                })
            })
            .collect();
        partitions.insert(
            partition.to_string(),
            json!({ "runs": runs, "have": have, "missing": missing }),
        );
    }
    Ok(json!({ "partitions": partitions }))
}

/// The request `read_merged`.
#[derive(Debug, Deserialize)]
pub(crate) struct ReadMerged {
    #[serde(flatten)]
    paths: Paths,
    #[serde(default)]
    limits: LimitFields,
    partition: u32,
    expected: Vec<Named>,
    originals: HashMap<String, Paths>,
}

pub(crate) fn read_merged(request: ReadMerged) -> Answer {
    let reader = open(request.paths, &request.limits)?;
    let expected = expected(&request.expected)?;
    let mut originals = HashMap::new();
    for (producer, paths) in request.originals {
        originals.insert(u64_of("producer", &producer)?, paths.files()?);
    }
    let options = ReaderOptions::default().limits(request.limits.limits());
    let mut is_missing = None;
    let mut hash = Sha256::new();
    let (mut blocks, mut from_originals) = (0u64, 0u64);
    let open = |of: Expected| match originals.get(&of.producer) {
        Some(files) => Reader::open(files, options.clone()),
        None => {
            is_missing = Some(of.producer);
            // The reading ends with any error, and the answer names the producer.
            Reader::open(&faro::Files::single(""), options.clone())
        }
    };
    let mut reading = reader.with_originals(request.partition, &expected, open)?;
    let mut fault = None;
    for found in reading.by_ref() {
        let found = match found {
            Ok(found) => found,
            Err(error) => {
                fault = Some(error);
                break;
            }
        };
        blocks += 1;
        from_originals += u64::from(found.is_original);
        hash.update(found.producer.to_le_bytes());
        hash.update((found.number as u32).to_le_bytes());
        hash.update([found.block.kind()]);
        hash.update(found.block.header.plain_size.to_le_bytes());
        hash.update(&found.block.payload);
    }
    let faults: Vec<Fault> = reading.faults().iter().cloned().map(Fault::from).collect();
    drop(reading);
    if let Some(producer) = is_missing {
        return Err(invalid_argument("the original of a producer", producer));
    }
    if let Some(error) = fault {
        return Err(error.into());
    }
    Ok(json!({
        "blocks": blocks, "from_originals": from_originals, "faults": faults, "sha256": to_hex(&hash.finalize()),
    }))
}

/// The request `file_id`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FileId {
    names: FileIdNames,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct FileIdNames {
    application: String,
    shuffle: String,
    producer: Option<String>,
    attempt: Option<String>,
    generation: Option<String>,
    first_partition: Option<u32>,
}

pub(crate) fn file_id(FileId { names }: FileId) -> Answer {
    let id = match (
        &names.producer,
        &names.attempt,
        &names.generation,
        names.first_partition,
    ) {
        (Some(producer), Some(attempt), None, None) => output_file_id(
            &names.application,
            &names.shuffle,
            u64_of("producer", producer)?,
            u64_of("attempt", attempt)?,
        ),
        (None, None, Some(generation), Some(first)) => merged_file_id(
            &names.application,
            &names.shuffle,
            u64_of("generation", generation)?,
            first,
        ),
        _ => return Err(Failure::Unsupported("other names".into())),
    };
    Ok(json!({ "file_id": to_hex(&id) }))
}

/// The request `plan_pushes`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PlanPushes {
    options: PlanOptions,
    producers: Vec<ProducerBytes>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct PlanOptions {
    partition_count: u32,
    #[serde(default)]
    first_partition: u32,
    mergers: u32,
    push_size: Option<u64>,
    largest_partition: Option<u64>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ProducerBytes {
    producer: String,
    bytes: Vec<u64>,
}

pub(crate) fn plan_pushes(PlanPushes { options, producers }: PlanPushes) -> Answer {
    let mut plan = PushPlan::new(options.partition_count, options.mergers).first_partition(options.first_partition);
    plan.push_size = options.push_size.unwrap_or(plan.push_size);
    plan.largest_partition = options.largest_partition.unwrap_or(plan.largest_partition);
    let mut pushes = Map::new();
    for ProducerBytes { producer, bytes } in producers {
        let found = plan.pushes(u64_of("producer", &producer)?, &bytes)?;
        let found = found
            .iter()
            .map(|push| json!([push.merger, push.partitions.start, push.partitions.len(), push.bytes]));
        pushes.insert(producer, found.collect());
    }
    let mut mergers = Vec::new();
    for merger in 0..options.mergers {
        let partitions = plan.partitions(merger)?;
        for partition in partitions.clone() {
            assert_eq!(plan.merger(partition)?, merger, "the merger of partition {partition}");
        }
        mergers.push(json!([partitions.start, partitions.len()]));
    }
    Ok(json!({ "mergers": mergers, "pushes": pushes }))
}

fn open(paths: Paths, limits: &LimitFields) -> Result<Reader, Failure> {
    let options = ReaderOptions::default().limits(limits.limits());
    Ok(Reader::open(&paths.files()?, options)?)
}

fn u64_of(what: &str, digits: &str) -> Result<u64, Failure> {
    digits
        .parse()
        .map_err(|_| invalid_argument(&format!("{what} of 64 bits"), digits))
}

fn write_file(path: &PathBuf, bytes: &[u8]) -> Result<(), Failure> {
    std::fs::write(path, bytes).map_err(|error| Failure::Unsupported(error.to_string()))
}
