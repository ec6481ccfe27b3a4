//! The report over many outputs, for people.

use super::text::entry;
use super::total_report::{BadOutput, PartitionsInfo, ProducerInfo, ProducersInfo, Total};
use crate::escape::escape;
use crate::failure::Outcome;
use crate::term::{Out, Style};
use crate::units::{count, plural, size};

pub(super) fn print(total: &Total, out: &mut Out) -> Outcome {
    let style = out.style();
    print_outputs(total, out, style)?;
    if total.outputs.finished > 0 {
        print_sums(total, out, style)?;
    }
    print_each(&total.partitions, total.records.is_some(), out, style)?;
    print_bad("unfinished", &total.unfinished, out, style)?;
    print_bad("damaged", &total.damaged, out, style)?;
    let mut title = "not found";
    for fault in &total.not_found {
        entry(out, style, title, &style.red(&escape(&fault.line())))?;
        title = "";
    }
    Ok(())
}

fn print_outputs(total: &Total, out: &mut Out, style: Style) -> Outcome {
    let outputs = &total.outputs;
    let mut text = format!("{}, {} finished", count(outputs.count), count(outputs.finished));
    if outputs.unfinished > 0 {
        let unfinished = format!("{} unfinished", count(outputs.unfinished));
        text.push_str(&format!(", {}", style.yellow(&unfinished)));
    }
    if outputs.damaged > 0 {
        let damaged = format!("{} damaged", count(outputs.damaged));
        text.push_str(&format!(", {}", style.red(&damaged)));
    }
    if outputs.other_files > 0 {
        text.push_str(&format!("; {}", plural(outputs.other_files, "other file")));
    }
    entry(out, style, "outputs", &text)
}

fn print_sums(total: &Total, out: &mut Out, style: Style) -> Outcome {
    entry(out, style, "stored", &format!("{} of blocks", size(total.bytes)))?;
    let records = total
        .records
        .map_or_else(|| "not known: an output does not have statistics".to_owned(), count);
    entry(out, style, "records", &records)?;
    print_producers(&total.producers, out, style)?;
    print_partitions(&total.partitions, out, style)
}

fn print_producers(producers: &ProducersInfo, out: &mut Out, style: Style) -> Outcome {
    let mut text = count(producers.count);
    if producers.merged > 0 {
        text.push_str(&format!(
            ", and merged files of {}",
            plural(producers.merged, "generation")
        ));
    }
    text.push_str(&format!(
        "; stored: least {}, median {}, mean {}, most {}",
        size(producers.least_bytes),
        size(producers.median_bytes),
        size(producers.mean_bytes as u64),
        size(producers.most_bytes)
    ));
    entry(out, style, "producers", &text)?;
    if producers.with_several_attempts > 0 {
        let text = format!(
            "{} with several attempts, which all count",
            plural(producers.with_several_attempts, "producer")
        );
        entry(out, style, "", &style.yellow(&text))?;
    }
    if producers.copies > 0 {
        let verb = if producers.copies == 1 {
            "is a copy"
        } else {
            "are copies"
        };
        let text = format!("{} {verb} of others, and count too", plural(producers.copies, "output"));
        entry(out, style, "", &style.yellow(&text))?;
    }
    let largest: Vec<String> = producers
        .largest
        .iter()
        .map(|one| format!("{} ({})", named(one), size(one.bytes)))
        .collect();
    print_skew(producers.skew, &largest, out, style)
}

fn named(producer: &ProducerInfo) -> String {
    match (producer.producer, producer.generation) {
        (Some(number), _) => number.to_string(),
        (None, generation) => format!("merged, generation {}", generation.unwrap_or(0)),
    }
}

fn print_partitions(partitions: &PartitionsInfo, out: &mut Out, style: Style) -> Outcome {
    let mut text = count(partitions.count.into());
    if partitions.first > 0 {
        text.push_str(&format!(" from {} on", partitions.first));
    }
    text.push_str(&format!(
        ", {} empty; stored: mean {}, most {}",
        count(partitions.empty.into()),
        size(partitions.mean_bytes as u64),
        size(partitions.most_bytes)
    ));
    entry(out, style, "partitions", &text)?;
    if partitions.ranges.len() > 1 {
        let ranges: Vec<String> = partitions
            .ranges
            .iter()
            .take(5)
            .map(|range| {
                let from = match range.first {
                    0 => String::new(),
                    first => format!(" from {first} on"),
                };
                format!(
                    "{} with {}{from}",
                    plural(range.outputs, "output"),
                    count(range.count.into())
                )
            })
            .collect();
        let more = if partitions.ranges.len() > 5 { ", ..." } else { "" };
        let text = format!("the outputs have different partitions: {}{more}", ranges.join(", "));
        entry(out, style, "", &style.yellow(&text))?;
    }
    let largest: Vec<String> = partitions
        .largest
        .iter()
        .map(|one| format!("{} ({})", one.partition, size(one.bytes)))
        .collect();
    print_skew(partitions.skew, &largest, out, style)
}

fn print_skew(skew: Option<f64>, largest: &[String], out: &mut Out, style: Style) -> Outcome {
    let Some(skew) = skew else { return Ok(()) };
    let text = format!("{skew:.2} times the mean; largest: {}", largest.join(", "));
    entry(
        out,
        style,
        "  skew",
        &if skew > 3.0 { style.yellow(&text) } else { text },
    )
}

fn print_each(partitions: &PartitionsInfo, counted: bool, out: &mut Out, style: Style) -> Outcome {
    let mut title = "each";
    for one in partitions.each.iter().flatten() {
        let records = one
            .records
            .filter(|_| counted)
            .map(|n| format!("{:>14} records", count(n)))
            .unwrap_or_default();
        entry(
            out,
            style,
            title,
            &format!("{:>9}  {:>10}{records}", one.partition, size(one.bytes)),
        )?;
        title = "";
    }
    Ok(())
}

fn print_bad(title: &str, outputs: &[BadOutput], out: &mut Out, style: Style) -> Outcome {
    let mut title = title;
    for bad in outputs {
        let text = format!("{}: {}", escape(&bad.name), escape(&bad.error.line()));
        entry(out, style, title, &text)?;
        title = "";
    }
    Ok(())
}
