//! `growth`: time and memory as one parameter grows and the others stay: partitions, data, records, regions, threads.

use crate::data::{Kind, Partitions, Records};
use crate::outcome::{Outcome, Run, timed};
use crate::results::{Case, Destination, Results};
use crate::rounds::{self, Subject};
use crate::write::limits::{self, Room};
use faro::{Codec, Files, Reader, ReaderOptions, Writer, WriterOptions};
use serde_json::json;
use std::fs;
use std::path::Path;

/// The arguments of `growth`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Repetitions after the first, which is not measured
    #[arg(long, default_value_t = 2)]
    rounds: usize,
    /// A short run of a second or two, to see that it works
    #[arg(long)]
    quick: bool,
    #[command(flatten)]
    to: Destination,
    /// Only these curves: partitions, data_mib, record_bytes, regions, threads
    #[arg(long, value_delimiter = ',')]
    curve: Vec<String>,
}

/// The parameters of a measurement.
#[derive(Clone, Copy)]
struct Point {
    partitions: u32,
    data_mib: u64,
    record_bytes: usize,
    /// How many regions `flush` closes, in addition to those that a full sort buffer closes.
    regions: u64,
    codec: Codec,
    /// Threads that compress.
    threads: usize,
}

const BUFFER_MIB: u64 = 16;
const POINT: Point = Point {
    partitions: 1_000,
    data_mib: 256,
    record_bytes: 100,
    regions: 16,
    codec: Codec::None,
    threads: 1,
};

fn curves() -> [(&'static str, Vec<Point>); 5] {
    let partitions = [1, 10, 100, 1_000, 10_000, 100_000];
    let data = [256, 512, 1_024, 2_048, 4_096, 8_192];
    let lengths = [16, 64, 256, 1_024, 4_096, 16_384, 65_536];
    let regions = [16, 32, 64, 128, 256, 512, 1_024];
    [
        (
            "partitions",
            partitions.map(|partitions| Point { partitions, ..POINT }).to_vec(),
        ),
        (
            "data_mib",
            data.map(|data_mib| Point {
                data_mib,
                regions: data_mib / BUFFER_MIB,
                ..POINT
            })
            .to_vec(),
        ),
        (
            "record_bytes",
            lengths.map(|record_bytes| Point { record_bytes, ..POINT }).to_vec(),
        ),
        ("regions", regions.map(|regions| Point { regions, ..POINT }).to_vec()),
        (
            "threads",
            [1, 2]
                .map(|threads| Point {
                    threads,
                    codec: Codec::Zstd,
                    ..POINT
                })
                .to_vec(),
        ),
    ]
}

impl Point {
    fn value(&self, curve: &str) -> u64 {
        match curve {
            "partitions" => u64::from(self.partitions),
            "data_mib" => self.data_mib,
            "record_bytes" => self.record_bytes as u64,
            "threads" => self.threads as u64,
            _ => self.regions,
        }
    }
}

/// Runs the subcommand.
pub(crate) fn run(args: &Args) -> Outcome<()> {
    let mut results = Results::new("growth", args.to.out.as_deref())?;
    for (curve, points) in curves() {
        if !args.curve.is_empty() && !args.curve.iter().any(|name| name == curve) {
            continue;
        }
        let (points, rounds) = if args.quick {
            let small = points.into_iter().take(2);
            (small.map(|point| Point { data_mib: 32, ..point }).collect(), 1)
        } else {
            (points, args.rounds)
        };
        for point in points {
            measure(curve, point, &args.to.dir, rounds, &mut results)?;
        }
    }
    Ok(())
}

fn measure(curve: &str, point: Point, dir: &Path, rounds: usize, results: &mut Results) -> Outcome<()> {
    let records = Records::make(Kind::Text, point.record_bytes)?;
    let (count, plain_bytes) = records.enough_for(point.data_mib << 20);
    let scratch = tempfile::tempdir_in(dir)?;
    let name = scratch.path().join("faro");
    let mut case = Case::new();
    case.insert("curve".into(), curve.into());
    case.insert(curve.into(), point.value(curve).into());
    let mut subjects = vec![
        Subject::new("faro", || write(&name, point, &records, count)),
        Subject::new("faro-read", || read(&name, count)),
    ];
    if curve == "data_mib" {
        // For comparison: a curve that bends here bends in Faro's writes too.
        subjects.push(Subject::new("raw-write-preallocated", || {
            limits::raw_write(scratch.path(), plain_bytes, Room::Ahead)
        }));
    }
    // The file must exist, whichever subject is first.
    write(&name, point, &records, count)?;
    rounds::run(&mut subjects, rounds, &case, plain_bytes, results)
}

/// Runs code and records its peak memory beyond what was in use before. The harness makes the allocator return large
/// pieces at once; otherwise kept pieces would count as in use before.
fn watched<T>(act: impl FnOnce() -> Outcome<T>) -> Outcome<(Run, T)> {
    // Reset the peak of the process (Linux, proc(5)).
    fs::write("/proc/self/clear_refs", "5")?;
    let before = memory("VmRSS:")?;
    let (seconds, result) = timed(act)?;
    let mut run = Run::timed(seconds);
    let peak = memory("VmHWM:")?.saturating_sub(before);
    run.figures.insert("peak_bytes".into(), peak.into());
    Ok((run, result))
}

fn memory(name: &str) -> Outcome<u64> {
    let status = fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix(name));
    let kibibytes = line
        .and_then(|rest| rest.trim().strip_suffix("kB"))
        .ok_or("no such memory in /proc")?;
    Ok(kibibytes.trim().parse::<u64>()? << 10)
}

fn write(name: &Path, point: Point, records: &Records, count: usize) -> Outcome<Run> {
    for (_, path) in Files::paired(name).paths() {
        // Free the pages of an old file outside the measurement.
        if path.exists() {
            fs::remove_file(path)?;
        }
    }
    let (mut run, summary) = watched(|| {
        let options = WriterOptions::new(point.partitions)
            .buffer_size(BUFFER_MIB << 20)
            .codec(point.codec)
            .compress_threads(point.threads);
        let mut writer = Writer::create(name, options)?;
        let mut partitions = Partitions::new(Kind::Text, point.partitions);
        let stretch = count.div_ceil(point.regions as usize);
        for at in 0..count {
            if at > 0 && at % stretch == 0 {
                writer.flush()?;
            }
            writer.write(partitions.next(), records.get(at))?;
        }
        Ok(writer.finish()?)
    })?;
    run.stored_bytes = Some(summary.data_bytes);
    run.index_bytes = Some(summary.index_bytes);
    run.files = Some(2);
    Ok(run)
}

/// Reads every record, verified, one partition after another.
fn read(name: &Path, count: usize) -> Outcome<Run> {
    let (mut run, (records, regions)) = watched(|| {
        let reader = Reader::open(&Files::paired(name), ReaderOptions::default())?;
        let mut records = 0;
        for item in reader.by_partition(reader.partitions())? {
            records += item?.1.record_slices()?.count();
        }
        Ok((records, reader.region_count()))
    })?;
    if records != count {
        return Err(format!("{records} records came back of {count}").into());
    }
    run.figures.insert("regions".into(), json!(regions));
    Ok(run)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_peak_is_what_was_in_use_together() {
        // Other tests of this process take and free some MiB meanwhile.
        let (run, filled) =
            watched(|| Ok(vec![1u8; 256 << 20].iter().map(|byte| u64::from(*byte)).sum::<u64>())).unwrap();
        assert_eq!(filled, 256 << 20);
        let peak = run.figures["peak_bytes"].as_u64().unwrap();
        assert!((192 << 20..512 << 20).contains(&peak), "{peak}");
    }

    #[test]
    fn what_grows_is_what_is_told_and_records_come_back() {
        let folder = tempfile::tempdir().unwrap();
        let name = folder.path().join("faro");
        let records = Records::make(Kind::Text, 100).unwrap();
        let point = Point {
            data_mib: 1,
            regions: 8,
            ..POINT
        };
        let written = write(&name, point, &records, 10_000).unwrap();
        assert!(written.stored_bytes.unwrap() > 10_000 * 104);
        assert!(written.figures.contains_key("peak_bytes"));
        let run = read(&name, 10_000).unwrap();
        assert_eq!(run.figures["regions"], json!(8));
        assert!(read(&name, 9_999).is_err());
        for (curve, points) in curves() {
            assert!(
                points
                    .windows(2)
                    .all(|pair| pair[0].value(curve) < pair[1].value(curve))
            );
        }
    }
}
