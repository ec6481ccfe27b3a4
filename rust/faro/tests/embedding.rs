//! The example of an engine: its results are those of a model, whatever goes wrong, and nothing is left.

#[path = "../examples/executor/main.rs"]
#[allow(dead_code)]
mod example;

use example::data::{MAPS, PARTITIONS, Totals, model};
use std::collections::BTreeMap;

#[test]
fn an_engine_gets_the_results_of_the_model() {
    let folder = tempfile::tempdir().unwrap();
    let outcome = example::run(folder.path()).unwrap();

    let mut expected: BTreeMap<u32, Totals> = (0..).zip(model()).collect();
    expected.remove(&example::CANCELLED);
    assert_eq!(outcome.results, expected);
    assert_eq!(outcome.results.len(), PARTITIONS as usize - 1);

    let counts = outcome.counts;
    // No map's records fit into the memory that a task can get.
    assert_eq!((counts.losers, counts.damaged, counts.repeated_reduces), (1, 1, 1));
    assert!(counts.spills >= u64::from(MAPS), "{} spills", counts.spills);
    let (limit, most, left) = outcome.memory;
    assert!(most <= limit && most > limit / 3, "{most} of {limit}");
    assert_eq!((left, outcome.figures.held_bytes, outcome.cleaned), (0, 0, 1));
    assert_eq!(folder.path().read_dir().unwrap().count(), 0);
}
