//! `scheduler`: many consumers at once, compared with each reading alone.

mod model;
mod real;

use crate::outcome::Outcome;
use crate::results::{Destination, Results};

/// The arguments of `scheduler`.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    to: Destination,
    /// Repetitions after the first, which is not measured
    #[arg(long, default_value_t = 3)]
    rounds: usize,
    /// Very small sizes, to see that it works
    #[arg(long)]
    quick: bool,
}

/// Runs the subcommand.
pub(crate) fn run(args: &Args) -> Outcome<()> {
    let mut results = Results::new("scheduler", args.to.out.as_deref())?;
    model::run(args.quick, &mut results)?;
    let (partitions, bytes) = if args.quick { (50, 4 << 20) } else { (1_000, 256 << 20) };
    real::run(&args.to.dir, partitions, bytes, args.rounds, &mut results)
}
