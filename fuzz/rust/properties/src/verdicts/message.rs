//! The lines of `message`: its fields.

use super::{Transcript, sum};
use faro::Result;
use faro::message::{Footer, Region, Schema, Statistics, Streams};

pub(super) fn message(input: &[u8], lines: &mut Transcript) {
    let (first, message) = input.split_first().unwrap_or((&0, &[]));
    let newer = first >> 7;
    let fields: Result<Vec<String>> = match (first & 0x7F) % 3 {
        0 => Region::parse(message, newer, 0).map(region),
        1 => Footer::parse(message, newer, 0).map(footer),
        _ => Schema::parse(message, newer, 0).map(|schema| vec![format!("arrow {}", bytes(&schema.arrow))]),
    };
    match fields {
        Ok(fields) => fields.iter().for_each(|field| lines.line(field)),
        Err(_) => {
            lines.line("refused");
            lines.note("malformed-message@-:-".into());
        }
    }
}

fn bytes(bytes: &[u8]) -> String {
    format!("{}:{}", bytes.len(), sum(bytes))
}

/// A vector with elements of N bytes.
fn vector<T, const N: usize>(values: &[T], encode: impl Fn(&T) -> [u8; N]) -> String {
    let bytes: Vec<u8> = values.iter().flat_map(encode).collect();
    format!("{}:{}", values.len(), sum(&bytes))
}

fn absent<T>(values: Option<&T>, present: impl Fn(&T) -> String) -> String {
    values.map_or_else(|| "-".into(), present)
}

fn numbers(values: &[u32]) -> String {
    vector(values, |value| value.to_le_bytes())
}

fn region(region: Region) -> Vec<String> {
    let mut lines = vec![
        format!("sequence {}", region.sequence),
        format!("data_offset {}", region.data_offset),
        format!("data_length {}", region.data_length),
        format!("offsets {}", numbers(&region.offsets)),
        format!("rotation {}", region.rotation),
        format!(
            "partitions {}",
            absent(region.partitions.as_ref(), |values| numbers(values))
        ),
    ];
    for extent in &region.shared {
        let members = absent(extent.members.as_ref(), |members| bytes(members));
        lines.push(format!("shared {} {members} {}", extent.length, extent.first_block));
    }
    let runs = absent(region.runs.as_ref(), |runs| {
        vector(runs, |run| {
            let mut bytes = [0; 32];
            bytes[..8].copy_from_slice(&run.producer.to_le_bytes());
            bytes[8..16].copy_from_slice(&run.attempt.to_le_bytes());
            bytes[16..20].copy_from_slice(&run.first_block.to_le_bytes());
            bytes[20..24].copy_from_slice(&run.blocks.to_le_bytes());
            bytes[24..28].copy_from_slice(&run.length.to_le_bytes());
            bytes[28..].copy_from_slice(&run.flags.to_le_bytes());
            bytes
        })
    });
    lines.push(format!("runs {runs}"));
    lines.push(format!(
        "first_block {}",
        absent(region.first_block.as_ref(), |values| numbers(values))
    ));
    lines
}

fn footer(footer: Footer) -> Vec<String> {
    let regions = vector(&footer.regions, |entry| {
        let mut bytes = [0; 32];
        bytes[..8].copy_from_slice(&entry.message_offset.to_le_bytes());
        bytes[8..12].copy_from_slice(&entry.message_size.to_le_bytes());
        bytes[12..16].copy_from_slice(&entry.flags.to_le_bytes());
        bytes[16..24].copy_from_slice(&entry.data_offset.to_le_bytes());
        bytes[24..].copy_from_slice(&entry.data_length.to_le_bytes());
        bytes
    });
    let mut lines = vec![
        format!("regions {regions}"),
        format!("data_size {}", footer.data_size),
        format!("statistics {}", absent(footer.statistics.as_ref(), statistics)),
    ];
    for property in &footer.properties {
        lines.push(format!("property {} {}", text(&property.key), text(&property.value)));
    }
    lines.push(format!(
        "created_by {}",
        absent(footer.created_by.as_ref(), |name| text(name))
    ));
    let dictionaries = vector(&footer.dictionaries, |entry| {
        let mut bytes = [0; 16];
        bytes[..8].copy_from_slice(&entry.offset.to_le_bytes());
        bytes[8..12].copy_from_slice(&entry.size.to_le_bytes());
        bytes[12..].copy_from_slice(&entry.reserved.to_le_bytes());
        bytes
    });
    lines.push(format!("dictionaries {dictionaries}"));
    lines.push(format!("streams {}", absent(footer.streams.as_ref(), streams)));
    lines
}

fn streams(found: &Streams) -> String {
    let values = |values: &Option<Vec<u32>>| absent(values.as_ref(), |values| numbers(values));
    let vectors = format!("{} {}", values(&found.next), values(&found.missing));
    format!("{vectors} {} {}", found.shared_next, found.shared_missing)
}

fn statistics(found: &Statistics) -> String {
    let values =
        |values: &Option<Vec<u64>>| absent(values.as_ref(), |values| vector(values, |value| value.to_le_bytes()));
    let vectors = format!(
        "{} {} {}",
        values(&found.stored),
        values(&found.plain),
        values(&found.records)
    );
    format!(
        "{vectors} {} {} {}",
        found.stored_to_all, found.plain_to_all, found.records_to_all
    )
}

fn text(text: &str) -> String {
    match text {
        "" => "\"\"".into(),
        text => text.bytes().map(|byte| format!("{byte:02x}")).collect(),
    }
}
