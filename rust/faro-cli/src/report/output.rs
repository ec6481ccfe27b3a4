//! What a page shows of one output.

use std::path::Path;

use faro::{CheckOptions, FileRole, Files};

use super::heat::heat;
use super::model::Subject;
use super::wanted::Wanted;
use super::{blocks, bytes, fault, records};
use crate::commands::{info, layout};
use crate::failure::{Failure, Outcome};
use crate::units::{count, plural};
use crate::view::{self, Spread, View};

/// How many of the largest partitions have a bar, and how many of them show records.
const LARGEST: usize = 10;
const PREVIEWED: usize = 3;

/// Describes an output. Damage of its files is a part of the description; a name without files is a failure.
pub(super) fn subject(name: &Path, wanted: &Wanted) -> Outcome<Subject> {
    of_files(name.display().to_string(), &Files::locate(name)?, wanted)
}

/// The same of files that were found.
pub(super) fn of_files(name: String, files: &Files, wanted: &Wanted) -> Outcome<Subject> {
    let mut subject = Subject {
        name,
        ..Subject::default()
    };
    let mut found = check(files, wanted, &mut subject);
    match describe(files, wanted, &mut subject) {
        // No check delivers batches (SCH-3), and a lower level reads no blocks: the first fault is found here.
        Err(Failure::Faro(error)) if found.is_none() => {
            subject.fault = Some(fault::of(&error, wanted));
            subject.checked = None;
            found = Some(error);
        }
        // The check says why, if the files are damaged.
        Err(failure) if found.is_none() => return Err(failure),
        _ => {}
    }
    for (role, path) in view::paths(files) {
        let around = found
            .as_ref()
            .filter(|fault| fault.role == Some(role))
            .and_then(|fault| fault.offset);
        subject
            .bytes
            .extend(bytes::explain(path, role.as_str(), wanted, around)?);
    }
    subject.bytes_note = match &found {
        Some(_) => format!(
            "about {} bytes of each file, those around the fault",
            count(wanted.bytes)
        ),
        None => format!("about the first {} bytes of each file", count(wanted.bytes)),
    };
    Ok(subject)
}

/// Checks the output; returns the first fault.
fn check(files: &Files, wanted: &Wanted, subject: &mut Subject) -> Option<faro::Error> {
    let options = CheckOptions::default().level(wanted.level);
    match faro::check_with(files, &options, &mut |_, _| {}) {
        Ok(report) => {
            let regions = plural(report.regions, "region");
            let blocks = report
                .blocks
                .map_or_else(String::new, |blocks| format!(", {}", plural(blocks, "block")));
            subject.checked = Some(format!("OK: {regions}{blocks} checked"));
            None
        }
        Err(error) => {
            subject.fault = Some(fault::of(&error, wanted));
            Some(error)
        }
    }
}

fn describe(files: &Files, wanted: &Wanted, subject: &mut Subject) -> Outcome {
    let view = View::open(files)?;
    let info = info::describe(files, &view)?;
    subject.facts = facts(&info);
    subject.properties = info.properties.into_iter().collect();
    let spread = Spread::of(&view)?;
    let largest = spread.largest(LARGEST);
    subject.largest = largest
        .iter()
        .map(|(partition, bytes)| (partition.to_string(), *bytes))
        .collect();
    subject.heat = Some(heat(&layout::grid(&view)?));
    let parts = layout::parts(&view.byte_map()?);
    subject.sizes = parts
        .into_iter()
        .filter(|part| part.bytes > 0)
        .map(|part| (part.name.to_owned(), part.bytes))
        .collect();
    if let Some((_, path)) = view::paths(files)
        .into_iter()
        .find(|(role, _)| *role != FileRole::Index)
    {
        subject.blocks = Some(blocks::table(path, &view, wanted.blocks)?);
    }
    if let View::Finished(reader) = &view {
        let partitions: Vec<u32> = largest
            .iter()
            .take(PREVIEWED)
            .map(|(partition, _)| *partition)
            .collect();
        subject.records = records::previews(reader, &partitions, wanted.records)?;
    }
    Ok(())
}

fn facts(info: &info::Info) -> Vec<(String, String)> {
    let mut facts = Vec::new();
    let mut fact = |name: &str, value: String| facts.push((name.to_owned(), value));
    for file in &info.files {
        fact(file.role, format!("{} ({} bytes)", file.path, count(file.bytes)));
    }
    let header = &info.header;
    fact(
        "state",
        if info.finished {
            "finished"
        } else {
            "unfinished: no footer yet"
        }
        .to_owned(),
    );
    fact(
        "format",
        format!("Faro {}, {}, framing {}", header.version, info.layout, header.framing),
    );
    let producer = match header.producer {
        Some(producer) => format!("{producer}, attempt {}", header.attempt),
        None => format!("merged, generation {}", header.attempt),
    };
    fact("producer", producer);
    fact("file id", header.file_id.clone());
    if let Some(created_by) = &info.created_by {
        fact("created by", created_by.clone());
    }
    fact(
        "partitions",
        format!(
            "{}, from {} on, {} empty",
            count(header.partition_count.into()),
            header.first_partition,
            count(info.partitions.empty.into())
        ),
    );
    fact("records", info.records.map_or_else(|| "not counted".to_owned(), count));
    if let Some(streams) = &info.streams {
        fact("streams", streams.text());
    }
    fact("regions", count(info.regions.count));
    fact("blocks", count(info.blocks.count));
    let ratio = info
        .blocks
        .ratio
        .map_or_else(String::new, |ratio| format!(", ratio {ratio:.2}"));
    fact(
        "payload",
        format!(
            "{} bytes, {} as stored{ratio}",
            count(info.blocks.plain_bytes),
            count(info.blocks.stored_payload_bytes)
        ),
    );
    if let Some(skew) = info.partitions.skew {
        fact("skew", format!("the largest partition has {skew:.2} times the mean"));
    }
    facts
}
