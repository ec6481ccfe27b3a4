//! A shuffle that is merged: three producers push to two mergers, and every record is read once. See docs/merging.md.
//!
//! One push is cut on its way, and one producer is late. Their blocks come from their own outputs.

use faro::merge::{Begun, Expected, Merge, MergeOptions, Outcome, PushPlan};
use faro::{Files, Layout, Reader, ReaderOptions, Result, Writer, WriterOptions};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

const PARTITIONS: u32 = 8;
const PRODUCERS: u64 = 3;
const GENERATION: u64 = 0;

fn name(folder: &Path, producer: u64) -> PathBuf {
    folder.join(format!("map-{producer}"))
}

fn open(files: &Files) -> Result<Reader> {
    Reader::open(files, ReaderOptions::default())
}

/// Each producer writes its output as always.
fn produce(folder: &Path, producer: u64) -> Result<()> {
    let options = WriterOptions::new(PARTITIONS).producer(producer).layout(Layout::Paired);
    let mut writer = Writer::create(name(folder, producer), options)?;
    for partition in 0..PARTITIONS {
        writer.write(partition, format!("record of {producer}").as_bytes())?;
    }
    writer.finish()?;
    Ok(())
}

/// Then it pushes, and does not wait for anything: what is refused is read from its output.
fn push(output: &Reader, plan: &PushPlan, mergers: &[Merge], cut: bool) -> Result<()> {
    let producer = output.header().producer;
    let bytes: Vec<u64> = output
        .partitions()
        .map(|p| output.stored_bytes(p))
        .collect::<Result<_>>()?;
    for planned in plan.pushes(producer, &bytes)? {
        let mut fragment = Vec::new(); // as it goes over the network
        output.fragment(planned.partitions, None, &mut fragment)?;
        if cut {
            fragment.pop();
        }
        match receive(&mergers[planned.merger as usize], producer, &fragment) {
            Ok(outcome) => println!("producer {producer} to merger {}: {outcome}", planned.merger),
            Err(error) => println!("producer {producer} to merger {}: {}", planned.merger, error.code),
        }
    }
    Ok(())
}

/// The service: it keeps nothing of a push that is refused.
fn receive(merge: &Merge, producer: u64, fragment: &[u8]) -> Result<Outcome> {
    let mut push = match merge.begin(producer, GENERATION)? {
        Begun::Open(push) => push,
        Begun::Refused(outcome) => return Ok(outcome),
    };
    for piece in fragment.chunks(64) {
        if let Some(refused) = push.write(piece)? {
            return Ok(refused);
        }
    }
    push.commit()
}

fn main() -> Result<()> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let folder = folder.path();
    let plan = PushPlan::new(PARTITIONS, 2);
    let mut mergers = Vec::new();
    for merger in 0..plan.mergers {
        let partitions = plan.partitions(merger)?;
        let options = MergeOptions::new(partitions.end - partitions.start)
            .first_partition(partitions.start)
            .generation(GENERATION);
        mergers.push(Merge::create(folder.join(format!("merged-{merger}")), options)?);
    }
    for producer in 0..PRODUCERS {
        produce(folder, producer)?;
    }
    let output = |producer| open(&Files::paired(name(folder, producer)));
    push(&output(0)?, &plan, &mergers, false)?;
    push(&output(1)?, &plan, &mergers, true)?;
    let summaries = mergers.iter().map(Merge::finalize).collect::<Result<Vec<_>>>()?;
    push(&output(2)?, &plan, &mergers, false)?;

    // The driver knows which attempt of each producer counts.
    let expected: Vec<_> = (0..PRODUCERS)
        .map(|producer| Expected { producer, attempt: 0 })
        .collect();
    for partition in 0..PARTITIONS {
        let merged = open(&summaries[plan.merger(partition)? as usize].files)?;
        let original = |of: Expected| output(of.producer);
        let mut producers = BTreeSet::new();
        for block in merged.with_originals(partition, &expected, original)? {
            let block = block?;
            assert!(producers.insert(block.producer), "each block comes once");
            assert_eq!(block.is_original, block.producer != 0);
        }
        assert_eq!(producers.len() as u64, PRODUCERS);
    }
    println!("all records of {PRODUCERS} producers were read, each once");
    Ok(())
}
