//! Measures the Rust library, its peers, and the limits of the machine. bench/README.md describes the data and the
//! results. Each module is a subcommand, or code that several share.
//!
//! Whole passes of all subjects take turns, so that subjects are measured under the same conditions. Tools for micro
//! benchmarks measure one subject after another.

mod broadcast;
mod data;
mod growth;
mod index;
mod memory;
mod merge;
mod outcome;
mod page_cache;
mod read;
mod results;
mod rounds;
mod scheduler;
mod small_blocks;
mod tiny_outputs;
mod write;

use clap::{Parser, Subcommand};
use std::process::ExitCode;

/// Benchmarks of the Rust library.
#[derive(Parser)]
#[command(version)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// The peak memory of a writer
    Memory(memory::Args),
    /// Records for all partitions, compared with the same records for one
    Broadcast(broadcast::Args),
    /// Time and memory as partitions, data, records or regions grow
    Growth(growth::Args),
    /// The size of the index, and the time to open it
    Index(index::Args),
    /// Writing, compared with a file for each partition and with the limits of the machine
    Write(write::Args),
    /// Reading in the order of the file and of partitions, compared with the copy alone and the codec alone
    Read(read::Args),
    /// Many consumers at once, compared with each reading alone
    Scheduler(scheduler::Args),
    /// Blocks of some hundred bytes, with and without a dictionary
    SmallBlocks(small_blocks::Args),
    /// Blocks of many producers into one file, compared with reading, checksums and writing alone
    Merge(merge::Args),
    /// Outputs of 100 bytes, created, read and removed, compared with plain files
    TinyOutputs(tiny_outputs::Args),
}

fn main() -> ExitCode {
    let result = match Cli::parse().command {
        Command::Memory(args) => memory::run(&args),
        Command::Broadcast(args) => broadcast::run(&args),
        Command::Growth(args) => growth::run(&args),
        Command::Index(args) => index::run(&args),
        Command::Write(args) => write::run(&args),
        Command::Read(args) => read::run(&args),
        Command::Scheduler(args) => scheduler::run(&args),
        Command::SmallBlocks(args) => small_blocks::run(&args),
        Command::Merge(args) => merge::run(&args),
        Command::TinyOutputs(args) => tiny_outputs::run(&args),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("faro-bench: {error}");
            ExitCode::FAILURE
        }
    }
}
