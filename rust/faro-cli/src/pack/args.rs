//! The arguments of `pack`.

use std::fmt;
use std::path::PathBuf;

use clap::{ArgAction, Args};
use uuid::Uuid;

use super::key_type::KeyType;
use super::source::Format;
use crate::units::parse_size;

/// Write the rows of files to shuffle files, partitioned by a key
#[derive(Args, Debug)]
#[command(after_long_help = "\
Text inputs (CSV, TSV, JSON lines) become files with the framing `records`: each record has the bytes of one line \
without its line end, or of one CSV record with the line ends in its quoted fields. Empty lines are left out. The \
header line is kept as a property, from which `faro cat` restores it. Parquet and Arrow inputs become files with the \
framing `arrow`.

Several inputs make several outputs: if -o is a directory, one in it for each input, with the name of the input; or \
pass -o once for each input. Their producers have numbers from --producer on. With --range, all have the same bounds.

Examples:
  faro pack orders.csv -o shuffle --by customer
  faro pack orders.csv -o shuffle --by customer:int,day --partitions 200 --codec zstd:3
  faro pack part-*.parquet -o shuffles/ --by user_id --codec lz4
  faro pack events.jsonl -o events --by /user/id --range --partitions 16
  faro pack readings.tsv -o readings --by 2:float --no-header --bounds 0,10.5,99
  zcat orders.csv.gz | faro pack - --format csv -o shuffle --by customer --single")]
pub(crate) struct PackArgs {
    /// Files to read: CSV, TSV, JSON lines, Parquet, Arrow IPC; `-` is standard input
    #[arg(required = true, value_name = "INPUT")]
    pub inputs: Vec<PathBuf>,

    /// What to write: NAME.data and NAME.index (or NAME.faro); a directory for several inputs
    #[arg(short, long, required = true, value_name = "NAME", action = ArgAction::Append)]
    pub output: Vec<PathBuf>,

    /// The columns of the key, by name, by number from 1, or for JSON by pointer (/user/id); for text formats with a
    /// type: `text` (the default for CSV and TSV), `int`, `float`, `bool`, `decimal(SCALE)`, `date`, `timestamp`,
    /// `timestamptz`
    #[arg(short, long, required = true, value_name = "COLUMN[:TYPE]", value_delimiter = ',', value_parser = parse_by)]
    pub by: Vec<By>,

    /// Partition by a hash of the key (XXH64, see KEY in the specification): the default
    #[arg(long, conflicts_with_all = ["range", "bounds"])]
    pub hash: bool,

    /// Partition by ranges of the key, with bounds from a sample of the inputs
    #[arg(long)]
    pub range: bool,

    /// Partition by ranges with these bounds: ascending values of the column's type (12.50, 2024-01-31,
    /// 2024-01-31T12:30:00Z, true, 00ff), each the first of its partition; or @FILE with one JSON value, or list of
    /// values for several columns, on each line
    #[arg(long, value_name = "V,V,...|@FILE", allow_hyphen_values = true)]
    pub bounds: Option<String>,

    /// The number of partitions [default: 64, or as many as the bounds make]
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1 << 28))]
    pub partitions: Option<u32>,

    /// Size of the sort buffer, at least 64KiB; when it is full, a region is written
    #[arg(long, value_name = "SIZE", default_value = "64MiB", value_parser = parse_memory)]
    pub memory: u64,

    /// Compression of blocks: none, lz4, zstd, or zstd:LEVEL from 1 to 19
    #[arg(long, value_name = "CODEC", default_value = "none", value_parser = parse_codec)]
    pub codec: Compression,

    /// Target for the plain bytes of a block, 1KiB to 64MiB
    #[arg(long, value_name = "SIZE", default_value = "64KiB", value_parser = parse_block_size)]
    pub block_size: u32,

    /// Write one file, NAME.faro, instead of NAME.data and NAME.index
    #[arg(long)]
    pub single: bool,

    /// Allow records of a partition to change their order where that makes better files
    #[arg(long)]
    pub unordered: bool,

    /// Identity of the output, a UUID [default: a random one]
    #[arg(long, value_name = "UUID")]
    pub file_id: Option<Uuid>,

    /// Number of the producer in the file; further inputs get the next numbers
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub producer: u64,

    /// Number of the producer's attempt
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub attempt: u64,

    /// The partition with the first extent in each region
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub rotation: u32,

    /// The format of all inputs; by default it follows from their first bytes or their names
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub format: Option<Format>,

    /// Delimiter of CSV or TSV fields: one ASCII character, or \t
    #[arg(long, value_name = "CHAR", value_parser = parse_delimiter)]
    pub delimiter: Option<u8>,

    /// The first line of CSV and TSV is a header: the default
    #[arg(long, conflicts_with = "no_header")]
    pub header: bool,

    /// The first line of CSV and TSV is a record, and columns have numbers from 1
    #[arg(long)]
    pub no_header: bool,

    /// Sync the files to the device before they get their final names
    #[arg(long)]
    pub sync: bool,

    /// Replace files that exist
    #[arg(short, long)]
    pub force: bool,

    /// Print what was written as JSON
    #[arg(long)]
    pub json: bool,
}

/// A column of the key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct By {
    pub name: String,
    pub kind: Option<KeyType>,
}

impl By {
    /// Reads the columns of a key as `pack` records them.
    pub(crate) fn parse_all(text: &str) -> Result<Vec<By>, String> {
        text.split(',').map(parse_by).collect()
    }
}

impl fmt::Display for By {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        self.kind.map_or(Ok(()), |kind| write!(f, ":{kind}"))
    }
}

/// Reads a column of `--by`.
pub(crate) fn parse_by(text: &str) -> Result<By, String> {
    let typed = text
        .rsplit_once(':')
        .and_then(|(name, kind)| KeyType::of_name(kind).map(|kind| (name, kind)));
    let (name, kind) = typed.map_or((text, None), |(name, kind)| (name, Some(kind)));
    if name.is_empty() {
        return Err("a column needs a name".to_owned());
    }
    Ok(By {
        name: name.to_owned(),
        kind,
    })
}

/// A smaller buffer makes thousands of regions; usually a unit was forgotten.
fn parse_memory(text: &str) -> Result<u64, String> {
    let size = parse_size(text)?;
    at_least(size, text, 64 << 10, "64KiB", "MiB").map(|()| size)
}

fn parse_block_size(text: &str) -> Result<u32, String> {
    let size = parse_size(text)?;
    at_least(size, text, 1 << 10, "1KiB", "KiB")?;
    u32::try_from(size)
        .ok()
        .filter(|size| *size <= 64 << 20)
        .ok_or_else(|| "blocks have at most 64MiB".to_owned())
}

fn at_least(size: u64, text: &str, least: u64, shown: &str, unit: &str) -> Result<(), String> {
    if size >= least {
        return Ok(());
    }
    let meant = match text.trim().parse::<u64>() {
        Ok(number) => format!("; for {number} {unit} write {number}{unit}"),
        Err(_) => String::new(),
    };
    Err(format!("{size} bytes are too few: the least is {shown}{meant}"))
}

/// A codec and its level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Compression {
    pub codec: faro::Codec,
    pub level: i32,
}

fn parse_codec(text: &str) -> Result<Compression, String> {
    let known = |codec, level| Ok(Compression { codec, level });
    match text.split_once(':') {
        None => match text {
            "none" => known(faro::Codec::None, 1),
            "lz4" => known(faro::Codec::Lz4, 1),
            "zstd" => known(faro::Codec::Zstd, 1),
            _ => Err("use none, lz4, zstd or zstd:LEVEL".to_owned()),
        },
        Some(("zstd", level)) => match level.parse() {
            Ok(level @ 1..=19) => known(faro::Codec::Zstd, level),
            _ => Err("the level of zstd is 1 to 19".to_owned()),
        },
        Some(_) => Err("only zstd has levels: zstd:LEVEL".to_owned()),
    }
}

fn parse_delimiter(text: &str) -> Result<u8, String> {
    match text.as_bytes() {
        b"\\t" => Ok(b'\t'),
        &[byte] if byte.is_ascii() && !matches!(byte, b'"' | b'\n' | b'\r') => Ok(byte),
        _ => Err("a delimiter is one ASCII character, no quote and no line end".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_columns_with_and_without_types() {
        let by = |name: &str, kind| {
            Ok(By {
                name: name.to_owned(),
                kind,
            })
        };
        assert_eq!(parse_by("id:int"), by("id", Some(KeyType::Int)));
        assert_eq!(parse_by("p:decimal(2)"), by("p", Some(KeyType::Decimal(2))));
        assert_eq!(parse_by("p:decimal(999)"), by("p:decimal(999)", None));
        assert_eq!(parse_by("a:b"), by("a:b", None));
        assert!(parse_by(":int").is_err());
    }

    #[test]
    fn reads_codecs() {
        assert_eq!(parse_codec("zstd:19").map(|c| c.level), Ok(19));
        assert!(parse_codec("zstd:20").is_err());
        assert!(parse_codec("lz4:3").is_err());
        assert!(parse_codec("gzip").is_err());
    }
}
