//! Messages alone.

use faro::message::{Footer, Region, Schema};
use faro::{ErrorCode, Result};
use std::fmt::Debug;

/// The offset that the parser gets for the message.
const AT: u64 = 4120;

/// Checks the properties of `message`: parses a message, and builds it again.
pub fn message(input: &[u8]) {
    let (first, message) = input.split_first().unwrap_or((&0, &[]));
    let newer = first >> 7;
    match (first & 0x7F) % 3 {
        0 => judge(message, newer, Region::parse, normal_region, |region| region.build()),
        1 => judge(message, newer, Footer::parse, normal_footer, |footer| footer.build()),
        _ => judge(message, newer, Schema::parse, |schema| schema, |schema| schema.build()),
    }
}

/// `newer` is the minor version; `normal` drops what canonical bytes leave out.
fn judge<T: PartialEq + Debug>(
    message: &[u8],
    newer: u8,
    parse: fn(&[u8], u8, u64) -> Result<T>,
    normal: fn(T) -> T,
    build: fn(&T) -> Result<Vec<u8>>,
) {
    let parsed = |minor| parse(message, minor, AT).map_err(|error| (error.code, error.offset));
    let (this, next) = (parsed(0), parsed(1));
    assert_eq!(if newer == 0 { &this } else { &next }, &parsed(newer), "twice the same");
    for refused in [&this, &next] {
        if let Err(fault) = refused {
            assert_eq!(*fault, (ErrorCode::MalformedMessage, Some(AT)));
        }
    }
    let Ok(next) = next else {
        assert!(this.is_err(), "minor 1 refuses what minor 0 takes");
        return;
    };
    if let Ok(this) = this {
        assert_eq!(this, next, "minor 0 and minor 1 read it otherwise");
    }
    let value = normal(next);
    let bytes = build(&value).expect("what was read can be built");
    let back = parse(&bytes, 0, AT).expect("what was built can be read");
    assert_eq!(normal(back), value, "built, and read again");
}

/// Vectors without elements count as absent (CAN-3).
fn filled<T>(vector: Option<Vec<T>>) -> Option<Vec<T>> {
    vector.filter(|vector| !vector.is_empty())
}

fn normal_region(mut region: Region) -> Region {
    region.runs = filled(region.runs);
    region.first_block = filled(region.first_block);
    region
}

fn normal_footer(mut footer: Footer) -> Footer {
    let values = |vector: Option<Vec<u64>>| vector.filter(|vector| vector.iter().any(|value| *value != 0));
    if let Some(statistics) = &mut footer.statistics {
        for vector in [&mut statistics.stored, &mut statistics.plain, &mut statistics.records] {
            *vector = values(vector.take());
        }
    }
    if let Some(streams) = &mut footer.streams {
        for vector in [&mut streams.next, &mut streams.missing] {
            *vector = vector.take().filter(|vector| vector.iter().any(|value| *value != 0));
        }
    }
    footer
}
