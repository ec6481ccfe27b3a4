//! `faro layout --totals`: the bytes of each kind.

use std::collections::BTreeMap;

use faro::{ByteRange, ByteRangeKind};

use super::rows::{print_rows, titled};
use crate::failure::Outcome;
use crate::term::Out;
use crate::units::{count, plural, size};

/// How many ranges there are, and their bytes.
#[derive(Clone, Copy, Default)]
struct Sum {
    count: u64,
    bytes: u64,
}

impl Sum {
    fn add(&mut self, other: Sum) {
        self.count += other.count;
        self.bytes += other.bytes;
    }
}

/// The sums over the ranges of one output, or of many.
#[derive(Default)]
pub(super) struct Totals {
    kinds: BTreeMap<ByteRangeKind, Sum>,
    blocks: u64,
    block_headers: u64,
    padding: u64,
}

impl Totals {
    /// The sums of one output.
    pub(super) fn of(ranges: &[ByteRange]) -> Totals {
        let mut totals = Totals::default();
        for range in ranges {
            totals.kinds.entry(range.what).or_default().add(Sum {
                count: 1,
                bytes: range.length,
            });
            totals.blocks += range.blocks.count;
            totals.block_headers += range.blocks.headers;
            totals.padding += range.blocks.padding;
        }
        totals
    }

    /// Adds those of another output.
    pub(super) fn add(&mut self, other: &Totals) {
        for (kind, sum) in &other.kinds {
            self.kinds.entry(*kind).or_default().add(*sum);
        }
        self.blocks += other.blocks;
        self.block_headers += other.block_headers;
        self.padding += other.padding;
    }

    /// A line for each kind, one for all, and one about blocks.
    pub(super) fn print(&self, out: &mut Out) -> Outcome {
        let mut all = Sum::default();
        self.kinds.values().for_each(|sum| all.add(*sum));
        let mut rows = titled(&["what", "count", "bytes", "", "share"]);
        let kinds = self.kinds.iter().map(|(kind, sum)| (kind.as_str(), sum));
        for (what, sum) in kinds.chain([("every byte", &all)]) {
            rows.add_row([
                what.to_owned(),
                count(sum.count),
                count(sum.bytes),
                size(sum.bytes),
                format!("{:.2}%", sum.bytes as f64 * 100.0 / all.bytes.max(1) as f64),
            ]);
        }
        print_rows(&rows, out)?;
        out.line(&format!(
            "\n{}: {} of block headers, {} of padding",
            plural(self.blocks, "block"),
            size(self.block_headers),
            size(self.padding)
        ))
    }
}
