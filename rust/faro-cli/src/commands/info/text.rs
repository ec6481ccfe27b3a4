//! The report for people.

use super::report::{HeaderInfo, Info};
use crate::escape::escape;
use crate::failure::Outcome;
use crate::term::{Out, Style};
use crate::units::{self, count, size};

/// Prints a title and its text.
pub(super) fn entry(out: &mut Out, style: Style, title: &str, text: &str) -> Outcome {
    out.line(format!("{}  {text}", style.bold(&format!("{title:<11}"))).trim_end())
}

/// What a reader has to understand, and what writers have to know that change the file (VER-3, VER-4).
fn features(header: &HeaderInfo) -> String {
    let known = [(1, "selective (sequences may have gaps)"), (2, "dictionaries")];
    let mut names: Vec<_> = known
        .into_iter()
        .filter(|(bit, _)| header.reader_features & bit != 0)
        .map(|(_, name)| name.to_owned())
        .collect();
    if header.writer_features != 0 {
        names.push(format!("writer features {:#x}", header.writer_features));
    }
    names.join(", ")
}

pub(super) fn print(info: &Info, out: &mut Out) -> Outcome {
    let style = out.style();
    for file in &info.files {
        entry(
            out,
            style,
            file.role,
            &format!("{}  {}", escape(&file.path), style.dim(&size(file.bytes))),
        )?;
    }
    let state = if info.finished {
        style.green("finished")
    } else {
        style.yellow("unfinished: no footer yet")
    };
    let header = &info.header;
    entry(out, style, "state", &state)?;
    entry(
        out,
        style,
        "format",
        &format!("Faro {}, {}, framing {}", header.version, info.layout, header.framing),
    )?;
    entry(
        out,
        style,
        "producer",
        &match header.producer {
            None => format!("merged, generation {}", header.attempt),
            Some(producer) => format!("{producer}, attempt {}", header.attempt),
        },
    )?;
    entry(out, style, "file id", &header.file_id)?;
    if header.reader_features != 0 || header.writer_features != 0 {
        entry(out, style, "features", &features(header))?;
    }
    if let Some(dictionaries) = &info.dictionaries {
        let text = format!("{}, {} bytes", dictionaries.count, dictionaries.bytes);
        entry(out, style, "dictionaries", &text)?;
    }
    if let Some(created_by) = &info.created_by {
        entry(out, style, "created by", &escape(created_by))?;
    }
    print_contents(info, out, style)?;
    if let Some(schema) = &info.schema {
        let mut title = "schema";
        for column in schema {
            let nullable = if column.nullable { "" } else { ", not null" };
            entry(
                out,
                style,
                title,
                &format!("{}: {}{nullable}", escape(&column.name), escape(&column.r#type)),
            )?;
            title = "";
        }
    }
    let mut title = "properties";
    for (key, value) in &info.properties {
        entry(out, style, title, &format!("{} = {}", escape(key), escape(value)))?;
        title = "";
    }
    Ok(())
}

fn print_contents(info: &Info, out: &mut Out, style: Style) -> Outcome {
    let regions = &info.regions;
    let mut text = format!("{}, {} of blocks", count(regions.count), size(regions.bytes));
    if regions.sparse > 0 {
        text.push_str(&format!(", {} sparse", count(regions.sparse)));
    }
    if regions.shared_extents > 0 {
        let extents = units::plural(regions.shared_extents, "shared extent");
        text.push_str(&format!(", {extents} of {}", size(regions.shared_bytes)));
    }
    if regions.uncommitted_bytes > 0 {
        text.push_str(&format!("; {} after the last commit", size(regions.uncommitted_bytes)));
    }
    entry(out, style, "regions", &text)?;
    if let Some(runs) = &regions.runs {
        let (runs, producers) = (
            units::plural(runs.count, "run"),
            units::plural(runs.producers, "producer"),
        );
        entry(out, style, "runs", &format!("{runs} of {producers}"))?;
    }
    let blocks = &info.blocks;
    let mut text = format!(
        "{}{}",
        if blocks.complete { "" } else { "the first " },
        count(blocks.count)
    );
    for (codec, part) in &blocks.codecs {
        text.push_str(&format!(", {} {codec}", count(part.blocks)));
    }
    if let Some(ratio) = blocks.ratio {
        let (plain, stored) = (size(blocks.plain_bytes), size(blocks.stored_payload_bytes));
        text.push_str(&format!("; {plain} as {stored}, ratio {ratio:.2}"));
    }
    entry(out, style, "blocks", &text)?;
    if let Some(records) = info.records {
        entry(out, style, "records", &count(records))?;
    }
    if let Some(streams) = &info.streams {
        entry(out, style, "streams", &streams.text())?;
    }
    print_partitions(info, out, style)
}

fn print_partitions(info: &Info, out: &mut Out, style: Style) -> Outcome {
    let (header, partitions) = (&info.header, &info.partitions);
    let mut text = count(header.partition_count.into());
    if header.first_partition > 0 {
        text.push_str(&format!(" from {} on", header.first_partition));
    }
    text.push_str(&format!(", {} empty", count(partitions.empty.into())));
    entry(out, style, "partitions", &text)?;
    let text = format!(
        "least {}, median {}, mean {}, 99% below {}, most {}",
        size(partitions.min_bytes),
        size(partitions.median_bytes),
        size(partitions.mean_bytes as u64),
        size(partitions.p99_bytes),
        size(partitions.max_bytes)
    );
    entry(out, style, "stored", &text)?;
    if let Some(skew) = partitions.skew {
        let largest: Vec<String> = partitions
            .largest
            .iter()
            .map(|one| format!("{} ({})", one.partition, size(one.bytes)))
            .collect();
        let text = format!("{skew:.2} times the mean; largest: {}", largest.join(", "));
        entry(out, style, "skew", &if skew > 3.0 { style.yellow(&text) } else { text })?;
    }
    let Some(each) = &partitions.each else { return Ok(()) };
    let mut title = "each";
    for one in each {
        let records = one
            .records
            .map(|n| format!("{:>14} records", count(n)))
            .unwrap_or_default();
        let missing = one
            .missing
            .map(|missing| match missing {
                0 => "  complete".into(),
                _ => format!("  {} missing", units::plural(missing.into(), "block")),
            })
            .unwrap_or_default();
        entry(
            out,
            style,
            title,
            &format!("{:>9}  {:>10}{records}{missing}", one.partition, size(one.bytes)),
        )?;
        title = "";
    }
    Ok(())
}
