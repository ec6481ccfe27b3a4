//! A small engine with a shuffle in Faro (docs/embedding.md): `cargo run --example executor [FOLDER]`. The maps and
//! reduces of a job run on one executor, and things go wrong on purpose.

pub(crate) mod data;
mod driver;
mod map_task;
mod memory;
mod pool;
mod reduce_task;

use data::{PARTITIONS, Totals};
use driver::{Counts, Driver, Fallible};
use faro::block::BlockHeader;
use faro::scheduler::SchedulerFigures;
use faro::{CleanOptions, FileRole, clean};
use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::time::Duration;

/// The map that runs twice at the same time.
const SLOW_MAP: u32 = 5;
/// The map whose output is damaged, and the partition in which it is.
const DAMAGED: (u32, u32) = (2, 3);
/// The reduce that is cancelled.
pub(crate) const CANCELLED: u32 = 7;

/// What the job did.
pub(crate) struct Outcome {
    pub(crate) results: BTreeMap<u32, Totals>,
    pub(crate) counts: Counts,
    /// The limit of the memory, the most that was held, and what is held at the end, in bytes.
    pub(crate) memory: (u64, u64, u64),
    pub(crate) figures: SchedulerFigures,
    /// The files of dead writers that were removed.
    pub(crate) cleaned: usize,
}

/// Runs the job in an empty folder, and leaves it empty.
pub(crate) fn run(folder: &Path) -> Fallible<Outcome> {
    // An earlier process of the engine was killed here, and left a file.
    fs::write(folder.join("map-0.attempt-0.data.0badcafe.tmp"), [])?;

    let mut driver = Driver::new(folder)?;
    for map in 0..data::MAPS {
        driver.start_map(map)?;
    }
    driver.start_map(SLOW_MAP)?;
    driver.wait_for_maps()?;
    damage(&driver, DAMAGED.0, DAMAGED.1)?;
    driver.start_reduces()?;
    driver.cancel(CANCELLED);
    let results = driver.wait_for_reduces()?;

    driver.remove_outputs()?;
    // No other engine writes to the folder, so no file is too young. The files of living writers are kept.
    let report = clean(folder, &CleanOptions::default().older_than(Duration::ZERO))?;
    let memory = driver.memory();
    Ok(Outcome {
        results,
        counts: driver.counts(),
        memory: (memory.limit(), memory.most_held(), memory.held()),
        figures: driver.scheduler_figures(),
        cleaned: report.removed.len(),
    })
}

/// Flips a byte in the first block of a partition, as a bad disk may do.
fn damage(driver: &Driver, map: u32, partition: u32) -> Fallible<()> {
    let (files, reader) = driver.output(map).ok_or("a map without an output")?;
    let block = reader.partition(partition)?.next().ok_or("an empty partition")??;
    let paths = files.paths();
    let (_, path) = paths
        .iter()
        .find(|(role, _)| *role != FileRole::Index)
        .ok_or("no data")?;
    let mut file = OpenOptions::new().read(true).write(true).open(path)?;
    let at = SeekFrom::Start(block.offset + BlockHeader::SIZE as u64);
    let mut byte = [0];
    file.seek(at)?;
    file.read_exact(&mut byte)?;
    file.seek(at)?;
    file.write_all(&[!byte[0]])?;
    Ok(())
}

fn main() -> Fallible<()> {
    let folder = match std::env::args_os().nth(1) {
        Some(folder) => folder.into(),
        None => std::env::temp_dir().join(format!("faro-executor-{}", std::process::id())),
    };
    fs::create_dir_all(&folder)?;
    let outcome = run(&folder)?;
    // It fails if anything is left in it.
    fs::remove_dir(&folder)?;

    let mut expected: BTreeMap<u32, Totals> = (0..).zip(data::model()).collect();
    expected.remove(&CANCELLED);
    if outcome.results != expected {
        return Err("the results are not those of the model".into());
    }
    let (counts, figures, (limit, most, _)) = (outcome.counts, outcome.figures, outcome.memory);
    println!(
        "results     {} of {PARTITIONS} partitions, 1 cancelled, as the model",
        expected.len()
    );
    println!(
        "maps        {} spills, {} overtaken, {} damaged",
        counts.spills, counts.losers, counts.damaged
    );
    println!("reduces     {} repeated", counts.repeated_reduces);
    println!("memory      at most {most} of {limit} bytes");
    println!(
        "scheduler   {} requests in {} reads, {} bytes",
        figures.requests, figures.reads, figures.read_bytes
    );
    println!("left files  {} removed", outcome.cleaned);
    Ok(())
}
