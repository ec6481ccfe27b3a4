//! What a page shows of a whole shuffle: the outputs of many producers in a folder.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::path::Path;

use faro::shuffle::{Producer, Shuffle, ShuffleSums, in_order, name};
use faro::{CheckOptions, Files, ReaderOptions};

use super::heat::heat;
use super::model::{Fault, Rows, Subject, Value};
use super::wanted::Wanted;
use super::{fault, output};
use crate::commands::layout;
use crate::failure::Outcome;
use crate::folder;
use crate::units::{count, plural};

/// How many of the largest partitions have a bar.
const LARGEST: usize = 20;
/// How many damaged outputs have a part of their own.
const DAMAGED: usize = 20;
const COLUMNS: [&str; 5] = ["output", "producer", "attempt", "bytes", "records"];

/// Describes all outputs in a folder, and after that each of those that are damaged.
pub(super) fn subjects(of: &Path, wanted: &Wanted) -> Outcome<Vec<Subject>> {
    let shuffle = Shuffle::new(folder::outputs(&[of])?, ReaderOptions::default());
    let progress = crate::progress::outputs(shuffle.outputs().len(), "adding up");
    let mut rows = Vec::new();
    let sums = shuffle.sum_up(|one| {
        if let Ok(own) = one.sums {
            let producer = match Producer::of(&own.header) {
                Producer::Number(number) => number.to_string(),
                Producer::Merged(_) => "merged".to_owned(),
            };
            rows.push(vec![
                Value::Text(name(one.files).display().to_string()),
                Value::Text(producer),
                Value::Text(own.header.attempt.to_string()),
                Value::Number(own.bytes),
                own.records
                    .map_or_else(|| Value::Text("not counted".to_owned()), Value::Number),
            ]);
        }
        progress.inc(1);
    });
    progress.finish_and_clear();
    let checking = crate::progress::outputs(shuffle.outputs().len(), "checking");
    let mut faults: BTreeMap<usize, faro::Error> = sums
        .faults
        .iter()
        .map(|fault| (fault.output, fault.error.clone()))
        .collect();
    let options = CheckOptions::default().level(wanted.level);
    let check = |files: &Files| faro::check_with(files, &options, &mut |_, _| {}).map(|_| ());
    in_order(shuffle.outputs(), check, |output, checked| {
        if let Err(error) = checked {
            // The reason why it could not be summed up stays.
            faults.entry(output).or_insert(error);
        }
        checking.inc(1);
        ControlFlow::Continue(())
    });
    checking.finish_and_clear();
    let summed: BTreeSet<usize> = sums.faults.iter().map(|fault| fault.output).collect();
    let outputs = shuffle.outputs().iter().enumerate();
    let good: Vec<&Files> = outputs
        .filter(|(at, _)| !summed.contains(at))
        .map(|(_, files)| files)
        .collect();
    let largest = sums.largest_partitions(LARGEST);
    let mut subjects = vec![Subject {
        name: of.display().to_string(),
        fault: first_fault(&faults, wanted),
        checked: Some(format!(
            "OK: {} checked",
            plural(shuffle.outputs().len() as u64, "output")
        )),
        facts: facts(&sums, faults.len()),
        heat: match good.is_empty() {
            true => None,
            false => Some(heat(&layout::grid_of_all(&good, &sums)?)),
        },
        largest: largest
            .iter()
            .map(|(partition, amount)| (partition.to_string(), amount.bytes))
            .collect(),
        outputs: Some(Rows {
            note: format!("all {} outputs", count(rows.len() as u64)),
            columns: COLUMNS.to_vec(),
            rows,
        }),
        ..Subject::default()
    }];
    for (&at, error) in faults.iter().take(DAMAGED) {
        let files = &shuffle.outputs()[at];
        let shown = name(files).display().to_string();
        // A file of it may be missing.
        let subject = output::of_files(shown.clone(), files, wanted).unwrap_or_default();
        subjects.push(Subject {
            name: shown,
            fault: Some(fault::of(error, wanted)),
            ..subject
        });
    }
    Ok(subjects)
}

fn first_fault(faults: &BTreeMap<usize, faro::Error>, wanted: &Wanted) -> Option<Fault> {
    let mut found = fault::of(faults.values().next()?, wanted);
    if faults.len() > 1 {
        let more = plural(faults.len() as u64 - 1, "output");
        found.message = format!("{}; and {more} more with a fault", found.message);
    }
    Some(found)
}

fn facts(sums: &ShuffleSums, faults: usize) -> Vec<(String, String)> {
    let partitions = sums.partitions();
    let mut facts = vec![
        (
            "outputs".to_owned(),
            format!(
                "{} summed up, {} with a fault",
                count(sums.finished),
                count(faults as u64)
            ),
        ),
        ("producers".to_owned(), plural(sums.producers.len() as u64, "producer")),
        (
            "partitions".to_owned(),
            format!(
                "{} to {}, {} empty",
                partitions.start,
                partitions.end.saturating_sub(1),
                count(sums.empty_partitions().into())
            ),
        ),
        ("blocks".to_owned(), format!("{} bytes", count(sums.bytes))),
        (
            "records".to_owned(),
            sums.records.map_or_else(|| "not counted".to_owned(), count),
        ),
    ];
    let skews = [
        ("partitions", sums.partition_skew()),
        ("producers", sums.producer_skew()),
    ];
    facts.extend(skews.into_iter().filter_map(|(of, skew)| {
        Some((
            format!("skew of {of}"),
            format!("the largest has {:.2} times the mean", skew?),
        ))
    }));
    facts
}
