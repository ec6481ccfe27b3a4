//! Changes values of messages, and builds them canonically.

use super::rng::Rng;
use faro::message::{Footer, Property, Region, Run, SharedExtent, Statistics, Streams};

/// Changes one value of a message of this block kind, if it can be parsed.
pub(crate) fn change(kind: u8, message: &[u8], rng: &mut Rng) -> Option<Vec<u8>> {
    match kind {
        128 => {
            let mut region = Region::parse(message, u8::MAX, 0).ok()?;
            change_region(&mut region, rng);
            region.build().ok()
        }
        129 => {
            let mut footer = Footer::parse(message, u8::MAX, 0).ok()?;
            change_footer(&mut footer, rng);
            footer.build().ok()
        }
        _ => None,
    }
}

fn number(value: &mut u32, rng: &mut Rng) {
    *value = rng.tweak((*value).into()) as u32;
}

fn wide(value: &mut u64, rng: &mut Rng) {
    *value = rng.tweak(*value);
}

/// Changes, adds or removes an element.
fn numbers(values: &mut Vec<u32>, rng: &mut Rng) {
    let at = rng.below(values.len());
    match rng.below(5) {
        0 => values.push(rng.next() as u32 % 16),
        1 => drop(values.pop()),
        2 if values.len() > 1 => values.swap(0, at),
        _ => {
            if let Some(value) = values.get_mut(at) {
                number(value, rng);
            }
        }
    }
}

/// Makes a vector present or absent, or changes it.
fn optional(values: &mut Option<Vec<u32>>, rng: &mut Rng) {
    match values {
        Some(values) if !rng.one_in(4) => numbers(values, rng),
        Some(_) => *values = None,
        None => *values = Some((0..rng.below(4) as u32).collect()),
    }
}

fn change_region(region: &mut Region, rng: &mut Rng) {
    match rng.below(10) {
        0 => number(&mut region.sequence, rng),
        1 => wide(&mut region.data_offset, rng),
        2 => wide(&mut region.data_length, rng),
        3 => numbers(&mut region.offsets, rng),
        4 => number(&mut region.rotation, rng),
        5 => optional(&mut region.partitions, rng),
        6 => optional(&mut region.first_block, rng),
        7 => {
            let run = Run {
                producer: rng.next(),
                attempt: rng.next(),
                first_block: rng.below(4) as u32,
                blocks: 1 + rng.below(2) as u32,
                length: 3 + rng.below(8) as u32,
                flags: rng.below(2) as u32,
            };
            let runs = region.runs.get_or_insert_default();
            match runs.pop() {
                Some(mut last) if rng.one_in(2) => {
                    let value = [
                        &mut last.first_block,
                        &mut last.blocks,
                        &mut last.length,
                        &mut last.flags,
                    ];
                    number(value[rng.below(4)], rng);
                    runs.push(last);
                }
                _ => runs.extend([run; 2].into_iter().take(rng.below(3))),
            }
        }
        _ => shared(region, rng),
    }
}

fn shared(region: &mut Region, rng: &mut Rng) {
    let at = rng.below(region.shared.len());
    let Some(extent) = region.shared.get_mut(at) else {
        // The extent of the last slot becomes shared.
        if let [.., before, last] = region.offsets.as_mut_slice() {
            let mut extent = SharedExtent::default();
            extent.length = last.wrapping_sub(*before);
            *last = *before;
            region.shared.push(extent);
        }
        return;
    };
    match rng.below(6) {
        0 => number(&mut extent.length, rng),
        4 => number(&mut extent.first_block, rng),
        1 => extent.members = None,
        2 => extent.members = Some(vec![rng.next() as u8; rng.below(4)]),
        3 => {
            let again = extent.clone();
            region.shared.push(again);
        }
        _ => match &mut extent.members {
            Some(members) if !members.is_empty() => {
                let at = rng.below(members.len());
                members[at] ^= 1 << rng.below(8);
            }
            _ => extent.length = extent.length.wrapping_add(3),
        },
    }
}

fn change_footer(footer: &mut Footer, rng: &mut Rng) {
    let at = rng.below(footer.regions.len());
    match (rng.below(9), footer.regions.get_mut(at)) {
        (0, Some(entry)) => wide(&mut entry.message_offset, rng),
        (1, Some(entry)) => number(&mut entry.message_size, rng),
        (2, Some(entry)) => wide(&mut entry.data_offset, rng),
        (3, Some(entry)) => wide(&mut entry.data_length, rng),
        (4, Some(entry)) => match rng.below(3) {
            0 => number(&mut entry.flags, rng),
            1 => drop(footer.regions.pop()),
            _ => {
                let again = *entry;
                footer.regions.push(again);
            }
        },
        (5, _) => wide(&mut footer.data_size, rng),
        (6, _) => {
            let mut property = Property::default();
            property.key = rng.below(3).to_string();
            footer.properties.push(property);
        }
        (7, _) => match &mut footer.streams {
            Some(streams) if !rng.one_in(4) => change_streams(streams, rng),
            Some(_) => footer.streams = None,
            None => footer.streams = Some(Streams::default()),
        },
        _ => match &mut footer.statistics {
            Some(statistics) if !rng.one_in(4) => change_statistics(statistics, rng),
            Some(_) => footer.statistics = None,
            None => footer.statistics = Some(Statistics::default()),
        },
    }
}

fn change_streams(streams: &mut Streams, rng: &mut Rng) {
    let vector = match rng.below(4) {
        0 => return number(&mut streams.shared_next, rng),
        1 => return number(&mut streams.shared_missing, rng),
        2 => &mut streams.next,
        _ => &mut streams.missing,
    };
    match vector {
        Some(values) if !values.is_empty() && !rng.one_in(4) => {
            let at = rng.below(values.len());
            number(&mut values[at], rng);
        }
        Some(_) => *vector = None,
        None => *vector = Some(vec![rng.next() as u32; rng.below(5)]),
    }
}

fn change_statistics(statistics: &mut Statistics, rng: &mut Rng) {
    let vector = match rng.below(6) {
        0 => return wide(&mut statistics.stored_to_all, rng),
        1 => return wide(&mut statistics.plain_to_all, rng),
        2 => return wide(&mut statistics.records_to_all, rng),
        3 => &mut statistics.stored,
        4 => &mut statistics.plain,
        _ => &mut statistics.records,
    };
    match vector {
        Some(values) if !values.is_empty() && !rng.one_in(4) => {
            let at = rng.below(values.len());
            wide(&mut values[at], rng);
        }
        Some(_) => *vector = None,
        None => *vector = Some(vec![rng.next(); 1 + rng.below(4)]),
    }
}
