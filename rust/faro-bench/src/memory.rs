//! `memory`: the peak memory of a writer, in addition to its sort buffer. Each case is measured in a separate process.

use crate::data::{Kind, Partitions, Records};
use crate::outcome::{Outcome, Run, timed};
use crate::results::{Case, Destination, Results};
use faro::{Codec, Writer, WriterOptions};
use serde_json::json;
use std::path::Path;
use std::process::Command;

/// What is written.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Counts of partitions
    #[arg(long, value_delimiter = ',', default_values_t = [64, 1_000, 10_000, 100_000])]
    partitions: Vec<u32>,
    /// Sizes of the sort buffer in MiB
    #[arg(long, value_delimiter = ',', default_values_t = [16, 128])]
    buffer_mib: Vec<u64>,
    /// Lengths of the records
    #[arg(long, value_delimiter = ',', default_values_t = [16, 100, 1024])]
    record_bytes: Vec<usize>,
    /// Threads that compress; with more than one, LZ4 is the codec
    #[arg(long, value_delimiter = ',', default_values_t = [1, 2])]
    threads: Vec<usize>,
    /// A short run of a second or two, to see that it works
    #[arg(long)]
    quick: bool,
    #[command(flatten)]
    to: Destination,
    /// One case, in this process: its figures go to standard output
    #[arg(long, hide = true)]
    alone: bool,
}

/// Runs the subcommand.
pub(crate) fn run(args: &Args) -> Outcome<()> {
    if args.alone {
        return alone(args);
    }
    let mut results = Results::new("memory", args.to.out.as_deref())?;
    let (partitions, buffers, lengths, threads) = if args.quick {
        (&[64, 1_000][..], &[16][..], &[100][..], &[1, 2][..])
    } else {
        (
            &args.partitions[..],
            &args.buffer_mib[..],
            &args.record_bytes[..],
            &args.threads[..],
        )
    };
    for length in lengths {
        for partitions in partitions {
            for buffer_mib in buffers {
                for threads in threads {
                    let found = in_a_process(args, *length, *partitions, *buffer_mib, *threads)?;
                    let over = found.peak.saturating_sub(found.before + (buffer_mib << 20));
                    let case = json!({
                        "data": "text",
                        "record_bytes": length,
                        "partitions": partitions,
                        "buffer_mib": buffer_mib,
                        "codec": codec(*threads).as_str(),
                        "threads": threads,
                        "plain_bytes": found.plain_bytes,
                    });
                    let figures = json!({
                        "peak_bytes": found.peak,
                        "before_bytes": found.before,
                        "above_buffer_bytes": over,
                    });
                    let run = Run {
                        figures: figures.as_object().cloned().unwrap_or_default(),
                        ..Run::timed(found.seconds)
                    };
                    let case: Case = case.as_object().cloned().unwrap_or_default();
                    results.add("faro", &case, found.plain_bytes, &[run])?;
                }
            }
        }
    }
    Ok(())
}

fn codec(threads: usize) -> Codec {
    if threads > 1 { Codec::Lz4 } else { Codec::None }
}

/// The figures of a process: its memory before it wrote and at its peak, and what it wrote.
struct Found {
    before: u64,
    peak: u64,
    seconds: f64,
    plain_bytes: u64,
}

fn in_a_process(args: &Args, length: usize, partitions: u32, buffer_mib: u64, threads: usize) -> Outcome<Found> {
    let mut command = Command::new(std::env::current_exe()?);
    command.arg("memory").arg("--alone").arg("--dir").arg(&args.to.dir);
    command.arg("--record-bytes").arg(length.to_string());
    command.arg("--partitions").arg(partitions.to_string());
    command.arg("--buffer-mib").arg(buffer_mib.to_string());
    command.arg("--threads").arg(threads.to_string());
    let output = command.output()?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into());
    }
    let text = String::from_utf8(output.stdout)?;
    let [before, peak, seconds, plain] = text.split_whitespace().collect::<Vec<_>>()[..] else {
        return Err(format!("four numbers were expected: {text}").into());
    };
    Ok(Found {
        before: before.parse()?,
        peak: peak.parse()?,
        seconds: seconds.parse()?,
        plain_bytes: plain.parse()?,
    })
}

fn alone(args: &Args) -> Outcome<()> {
    let one = |numbers: &[u64]| numbers.first().copied().ok_or("a case");
    let partitions = *args.partitions.first().ok_or("a case")?;
    let buffer_mib = one(&args.buffer_mib)?;
    let threads = *args.threads.first().ok_or("a case")?;
    let records = Records::make(Kind::Text, *args.record_bytes.first().ok_or("a case")?)?;
    // Three regions and a part, so that memory kept from one region to the next shows.
    let (count, plain_bytes) = records.enough_for((buffer_mib << 20) * 5 / 2);
    let folder = tempfile::tempdir_in(&args.to.dir)?;
    let options = WriterOptions::new(partitions)
        .buffer_size(buffer_mib << 20)
        .codec(codec(threads))
        .compress_threads(threads);
    let before = memory("VmRSS:")?;
    let (seconds, ()) = timed(|| {
        let mut writer = Writer::create(folder.path().join("out"), options)?;
        let mut drawn = Partitions::new(Kind::Text, partitions);
        for number in 0..count {
            writer.write(drawn.next(), records.get(number))?;
        }
        writer.finish()?;
        Ok(())
    })?;
    println!("{before} {} {seconds} {plain_bytes}", memory("VmHWM:")?);
    Ok(())
}

/// The memory of this process in bytes, by a line of the system's report.
fn memory(line: &str) -> Outcome<u64> {
    let status = std::fs::read_to_string(Path::new("/proc/self/status"))?;
    let found = status.lines().find_map(|text| text.strip_prefix(line));
    let kib = found
        .and_then(|text| text.split_whitespace().next())
        .ok_or("no such line")?;
    Ok(kib.parse::<u64>()? << 10)
}
