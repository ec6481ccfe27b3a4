//! Compares headers, footers and stored blocks.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;

use faro::block::BlockHeader;
use faro::{Extent, Files, Reader};

use super::difference::Difference;
use crate::failure::{Failure, Outcome};
use crate::positioned::FileExt;
use crate::view;

/// All differences except those of contents.
pub(super) fn compare([a, b]: [&Reader; 2], files: &[Files; 2]) -> Outcome<Vec<Difference>> {
    let mut found = Vec::new();
    let mut note = |what: &str, a: String, b: String| {
        if a != b {
            found.push(Difference::new(what, a, b));
        }
    };
    let layout = |files: &Files| {
        if matches!(files, Files::Single(_)) {
            "single"
        } else {
            "paired"
        }
        .to_owned()
    };
    note("layout", layout(&files[0]), layout(&files[1]));
    let (x, y) = (a.header(), b.header());
    note(
        "version_minor",
        x.version_minor.to_string(),
        y.version_minor.to_string(),
    );
    note("framing", x.framing.as_str().to_owned(), y.framing.as_str().to_owned());
    note(
        "partition_count",
        x.partition_count.to_string(),
        y.partition_count.to_string(),
    );
    note(
        "first_partition",
        x.first_partition.to_string(),
        y.first_partition.to_string(),
    );
    note(
        "reader_features",
        x.reader_features.to_string(),
        y.reader_features.to_string(),
    );
    note(
        "writer_features",
        x.writer_features.to_string(),
        y.writer_features.to_string(),
    );
    note("producer", x.producer.to_string(), y.producer.to_string());
    note("attempt", x.attempt.to_string(), y.attempt.to_string());
    let (x, y) = (a.footer(), b.footer());
    let shown = |text: &Option<String>| text.clone().unwrap_or_else(|| "absent".to_owned());
    note("created_by", shown(&x.created_by), shown(&y.created_by));
    let properties = |reader: &Reader| -> BTreeMap<String, String> {
        let all = reader.footer().properties.iter();
        all.map(|property| (property.key.clone(), property.value.clone()))
            .collect()
    };
    let (x, y) = (properties(a), properties(b));
    for key in x.keys().chain(y.keys().filter(|key| !x.contains_key(*key))) {
        note(
            &format!("property {key}"),
            shown(&x.get(key).cloned()),
            shown(&y.get(key).cloned()),
        );
    }
    if a.footer().statistics != b.footer().statistics {
        note("statistics", "these".to_owned(), "others".to_owned());
    }
    note("regions", a.region_count().to_string(), b.region_count().to_string());
    if let Some(difference) = first_region(a, b, files)? {
        found.push(difference);
    }
    Ok(found)
}

/// The first region whose extents or blocks differ.
fn first_region(a: &Reader, b: &Reader, files: &[Files; 2]) -> Outcome<Option<Difference>> {
    let opened = [blocks_of(&files[0])?, blocks_of(&files[1])?];
    for i in 0..a.region_count().min(b.region_count()) {
        let (x, y) = (a.region(i)?, b.region(i)?);
        let (m, n) = (x.extent().length, y.extent().length);
        if m != n {
            return Ok(Some(Difference::new(
                format!("region {i}"),
                format!("{m} bytes"),
                format!("{n} bytes"),
            )));
        }
        if let Some(at) = first_byte(&opened, [x.extent(), y.extent()])? {
            let place = |extent: Extent| format!("block bytes differ at offset {}", extent.offset + at);
            return Ok(Some(Difference::new(
                format!("region {i}"),
                place(x.extent()),
                place(y.extent()),
            )));
        }
        let slots = |region: &faro::RegionIndex| -> Vec<(u32, u64)> {
            region
                .slots()
                .map(|slot| (slot.partition, slot.extent.length))
                .collect()
        };
        let members = |region: &faro::RegionIndex| -> Vec<(u64, Vec<u32>)> {
            region
                .shared()
                .iter()
                .map(|one| (one.extent.length, one.members.iter().collect()))
                .collect()
        };
        if slots(&x) != slots(&y) || members(&x) != members(&y) {
            let name = format!("region {i}");
            return Ok(Some(Difference::new(
                name,
                "these extents and members",
                "others over the same bytes",
            )));
        }
    }
    Ok(None)
}

/// The file that holds the blocks.
fn blocks_of(files: &Files) -> Outcome<(File, &Path)> {
    let path = match files {
        Files::Single(path) => path,
        Files::Paired { data, .. } => data,
    };
    Ok((view::open(path)?.0, path))
}

/// The first byte that differs in extents of the same length, counted from their beginning. It does not compare the
/// checksums of blocks, which include the identity of the file; reading the contents verifies them.
fn first_byte(files: &[(File, &Path); 2], extents: [Extent; 2]) -> Outcome<Option<u64>> {
    const CHUNK: u64 = 1 << 20;
    const HEADER: u64 = BlockHeader::SIZE as u64;
    let (mut at, mut next_block) = (0, 0);
    while at < extents[0].length {
        let length = CHUNK.min(extents[0].length - at) as usize;
        let read = |i: usize| {
            let (file, path) = &files[i];
            let mut bytes = vec![0; length];
            let result = file.read_exact_at(&mut bytes, extents[i].offset + at);
            result.map(|()| bytes).map_err(|source| Failure::file(path, source))
        };
        let (mut x, mut y) = (read(0)?, read(1)?);
        let end = at + length as u64;
        while next_block + HEADER <= end {
            let start = (next_block - at) as usize;
            let checksum = start + BlockHeader::SIZE - 4..start + BlockHeader::SIZE;
            x[checksum.clone()].fill(0);
            y[checksum].fill(0);
            let Some(header) = x[start..].first_chunk() else { break };
            next_block += BlockHeader::parse(header).size_in_file();
        }
        // A header that the chunk has only in part is read again. Every extent ends with a whole block.
        let known = if next_block > at { next_block.min(end) } else { end };
        let compared = (known - at) as usize;
        if let Some(place) = x[..compared].iter().zip(&y).position(|(x, y)| x != y) {
            return Ok(Some(at + place as u64));
        }
        at = known;
    }
    Ok(None)
}
