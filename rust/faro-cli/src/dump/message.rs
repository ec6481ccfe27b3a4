//! Annotates a FlatBuffers message. It trusts nothing: a note says when something leads out of the message or overlaps
//! another part, and those bytes are not explained.

use std::collections::BTreeMap;

use super::note::number;
use super::schema::{Table, Type};
use crate::escape::escape;

/// A note at a position in the message.
pub(super) struct Part {
    pub length: usize,
    pub name: String,
    pub value: String,
}

struct Annotator<'a> {
    bytes: &'a [u8],
    /// The offset of the message in its file. Notes show offsets in the file.
    base: u64,
    parts: BTreeMap<usize, Part>,
    /// How many elements of a vector are explained one by one.
    limit: usize,
}

/// The parts of a message by their position. Together they tile it.
pub(super) fn annotate(bytes: &[u8], base: u64, root: &'static Table, limit: usize) -> BTreeMap<usize, Part> {
    let mut annotator = Annotator {
        bytes,
        base,
        parts: BTreeMap::new(),
        limit,
    };
    if bytes.len() >= 8 {
        let table = annotator.reference(0, "root table", root.name);
        let identifier = String::from_utf8_lossy(&bytes[4..8]).into_owned();
        annotator.add(4, 4, "identifier", escape(&format!("\"{identifier}\"")));
        if let Some(position) = table {
            annotator.table(position, root, root.name);
        }
    }
    annotator.fill();
    annotator.parts
}

impl Annotator<'_> {
    /// Adds a part, unless it extends beyond the message or overlaps another part.
    fn add(&mut self, at: usize, length: usize, name: impl Into<String>, value: impl Into<String>) -> bool {
        let free = |end: usize| {
            let before = self.parts.range(..end).next_back();
            before.is_none_or(|(other, part)| other + part.length <= at)
        };
        let Some(end) = at.checked_add(length).filter(|end| *end <= self.bytes.len()) else {
            return false;
        };
        if length == 0 || !free(end) {
            return length == 0;
        }
        self.parts.insert(
            at,
            Part {
                length,
                name: name.into(),
                value: value.into(),
            },
        );
        true
    }

    /// Reads and notes a uoffset, and returns its target; none if that is outside the message.
    fn reference(&mut self, at: usize, name: &str, what: &str) -> Option<usize> {
        let distance = number(self.bytes, at, 4) as usize;
        let target = at + distance;
        let inside = distance >= 4 && target + 4 <= self.bytes.len();
        let value = if inside {
            format!("+{distance} -> {what} at {}", self.base + target as u64)
        } else {
            format!("+{distance}: leads nowhere")
        };
        (self.add(at, 4, name, value) && inside).then_some(target)
    }

    fn table(&mut self, position: usize, table: &'static Table, name: &str) {
        let distance = number(self.bytes, position, 4) as u32 as i32;
        let vtable = position as i64 - i64::from(distance);
        let value = format!(
            "{} -> its vtable at {}",
            -i64::from(distance),
            self.base as i64 + vtable
        );
        if !self.add(position, 4, format!("{name}: table {}", table.name), value) {
            return;
        }
        let Some(vtable) = usize::try_from(vtable).ok().filter(|at| at + 4 <= self.bytes.len()) else {
            return;
        };
        let fields = self.vtable(vtable, table);
        for (id, field) in fields.into_iter().enumerate() {
            let (Some((field_name, field_type)), true) = (table.fields.get(id), field > 0) else {
                continue;
            };
            self.field(position + field, *field_type, &format!("{name}.{field_name}"));
        }
    }

    /// Explains a vtable, unless another table has done so, and returns the positions of the fields in the table.
    fn vtable(&mut self, at: usize, table: &'static Table) -> Vec<usize> {
        let size = number(self.bytes, at, 2) as usize;
        if size < 4 || at + size > self.bytes.len() {
            self.add(at, 4, format!("vtable of {}", table.name), "its size does not fit");
            return Vec::new();
        }
        let places: Vec<usize> = (4..size - 1)
            .step_by(2)
            .map(|entry| number(self.bytes, at + entry, 2) as usize)
            .collect();
        if self.add(
            at,
            2,
            format!("vtable of {}", table.name),
            format!("{size} bytes, {} fields", places.len()),
        ) {
            let inline = number(self.bytes, at + 2, 2);
            self.add(at + 2, 2, "  table size", inline.to_string());
            for (id, place) in places.iter().enumerate() {
                let name = table.fields.get(id).map_or("unknown", |(name, _)| name);
                let value = if *place == 0 {
                    "absent".to_owned()
                } else {
                    format!("at +{place}")
                };
                self.add(at + 4 + 2 * id, 2, format!("  {name}"), value);
            }
        }
        places
    }

    fn field(&mut self, at: usize, field_type: Type, name: &str) {
        let size = if matches!(field_type, Type::U64) { 8 } else { 4 };
        if at + size > self.bytes.len() {
            return;
        }
        let value = number(self.bytes, at, size);
        match field_type {
            Type::U32 | Type::U64 => {
                self.add(at, size, name, value.to_string());
            }
            Type::Table(table) => {
                if let Some(target) = self.reference(at, name, table.name) {
                    self.table(target, table, name);
                }
            }
            Type::Text | Type::Numbers(_) | Type::Structs(..) | Type::Tables(_) => {
                let what = if matches!(field_type, Type::Text) {
                    "string"
                } else {
                    "vector"
                };
                if let Some(target) = self.reference(at, name, what) {
                    self.vector(target, field_type, name);
                }
            }
        }
    }

    fn vector(&mut self, at: usize, field_type: Type, name: &str) {
        let count = number(self.bytes, at, 4) as usize;
        let size = match field_type {
            Type::Numbers(size) | Type::Structs(size, _) => size,
            Type::Text => 1,
            _ => 4,
        };
        let start = at + 4;
        let fits = count
            .checked_mul(size)
            .is_some_and(|length| length <= self.bytes.len() - start);
        let unit = if matches!(field_type, Type::Text) {
            "bytes"
        } else {
            "elements"
        };
        let value = if fits {
            format!("{count} {unit}")
        } else {
            format!("{count} {unit}: too many")
        };
        if !self.add(at, 4, format!("{name}: count"), value) || !fits {
            return;
        }
        match field_type {
            Type::Text => self.text(start, count, name),
            // A byte is eight partitions of a set, or a part of an Arrow schema: one note for all says more than a row
            // for each.
            Type::Numbers(1) => {
                self.add(
                    start,
                    count,
                    name,
                    if name.ends_with("members") {
                        members(&self.bytes[start..start + count])
                    } else {
                        String::new()
                    },
                );
            }
            Type::Numbers(_) => self.elements(start, count, size, name, |annotator, at, name| {
                annotator.add(at, size, name, number(annotator.bytes, at, size).to_string());
            }),
            Type::Structs(_, members) => self.elements(start, count, size, name, |annotator, at, name| {
                for (place, length, member) in members {
                    let value = number(annotator.bytes, at + place, *length);
                    annotator.add(at + place, *length, format!("{name}.{member}"), value.to_string());
                }
            }),
            Type::Tables(table) => self.elements(start, count, size, name, |annotator, at, name| {
                if let Some(target) = annotator.reference(at, name, table.name) {
                    annotator.table(target, table, name);
                }
            }),
            Type::U32 | Type::U64 | Type::Table(_) => {}
        }
    }

    /// Explains the first elements one by one and the others together.
    fn elements(
        &mut self,
        start: usize,
        count: usize,
        size: usize,
        name: &str,
        explain: impl Fn(&mut Self, usize, &str),
    ) {
        let shown = count.min(self.limit);
        for i in 0..shown {
            explain(self, start + i * size, &format!("{name}[{i}]"));
        }
        let more = count - shown;
        self.add(
            start + shown * size,
            more * size,
            format!("{name}[{shown}..]"),
            format!("{more} more elements"),
        );
    }

    fn text(&mut self, start: usize, count: usize, name: &str) {
        let text = String::from_utf8_lossy(&self.bytes[start..start + count]);
        let value = format!("\"{}\"", escape(&text));
        self.add(start, count, name, value);
        self.add(start + count, 1, "  end of the string", "");
    }

    /// Explains the rest: zeros between parts, and bytes that no part covers.
    fn fill(&mut self) {
        let mut gaps = Vec::new();
        let mut at = 0;
        for (start, part) in &self.parts {
            gaps.push((at, *start));
            at = start + part.length;
        }
        gaps.push((at, self.bytes.len()));
        for (start, end) in gaps.into_iter().filter(|(start, end)| start < end) {
            let zero = end - start <= 7 && self.bytes[start..end].iter().all(|byte| *byte == 0);
            let name = if zero { "  padding" } else { "  not explained" };
            self.parts.insert(
                start,
                Part {
                    length: end - start,
                    name: name.to_owned(),
                    value: String::new(),
                },
            );
        }
    }
}

/// The first members of a bit set, as differences from the first partition.
fn members(bits: &[u8]) -> String {
    let all = (0..bits.len() * 8).filter(|bit| bits[bit / 8] >> (bit % 8) & 1 == 1);
    let first: Vec<String> = all.clone().take(12).map(|bit| bit.to_string()).collect();
    let more = if all.count() > 12 { ", ..." } else { "" };
    format!("first_partition + {{{}{more}}}", first.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dump::schema::root;
    use faro::block::REGION;
    use faro::message::{Region, Run};

    #[test]
    fn each_member_of_a_run_is_explained() {
        let run = Run {
            producer: u64::MAX - 1,
            attempt: 1 << 63,
            first_block: 4,
            blocks: 5,
            length: 60,
            flags: 1,
        };
        let mut region = Region::default();
        region.offsets = vec![0, 120];
        region.runs = Some(vec![run; 2]);
        let message = region.build().unwrap();
        let parts = annotate(&message, 88, root(REGION).unwrap(), 8);
        assert!(parts.values().all(|part| part.name != "  not explained"));
        let of_runs: Vec<(&str, &str)> = parts
            .values()
            .filter_map(|part| Some((part.name.strip_prefix("Region.runs[1].")?, part.value.as_str())))
            .collect();
        let expected = [
            ("producer", "18446744073709551614"),
            ("attempt", "9223372036854775808"),
            ("first_block", "4"),
            ("blocks", "5"),
            ("length", "60"),
            ("flags", "1"),
        ];
        assert_eq!(of_runs, expected);
    }
}
