//! Checks that a message is structurally valid (spec, MSG-1 to MSG-14), in one table-driven walk before any accessor
//! runs.
//!
//! The walk lists the *parts* that it visits: tables, vtables, vectors, strings. It stops as soon as their total size
//! exceeds that of the message, since then two of them overlap. So its time is linear in the size of the message.

use std::collections::HashSet;

/// The type of a field.
#[derive(Clone, Copy)]
pub(crate) enum Type {
    /// A scalar of this many bytes, aligned to its size.
    Scalar(usize),
    /// A vector of elements without offsets: element size and alignment.
    Vector(usize, usize),
    String,
    Table(&'static TableType),
    Tables(&'static TableType),
}

impl Type {
    /// Bytes in the table's inline part, which are also its alignment.
    fn inline_size(self) -> usize {
        match self {
            Type::Scalar(size) => size,
            _ => 4,
        }
    }
}

pub(crate) struct Field {
    pub of: Type,
    pub required: bool,
}

/// A table of the schema: its fields in the order of their ids.
pub(crate) struct TableType {
    pub name: &'static str,
    pub fields: &'static [Field],
}

/// The largest vtable, in bytes. The walk skips fields of a newer minor version (MSG-12).
pub(super) const LARGEST_VTABLE: usize = 132;

/// The fault of a message, as a text for people. All these faults have one code and offset (MSG-13).
type Verdict<T = ()> = Result<T, String>;

/// Checks that `message` is structurally valid and has this identifier and root.
pub(super) fn verify(message: &[u8], identifier: &[u8], root: &'static TableType, newer_minor: bool) -> Verdict {
    if message.len() < 8 {
        return Err(format!("{} bytes, too few for a message", message.len()));
    }
    if message[4..8] != *identifier {
        return Err(format!(
            "identifier {:02X?} in place of {identifier:02X?}",
            &message[4..8]
        ));
    }
    let mut verifier = Verifier {
        message,
        newer_minor,
        parts: vec![Part { start: 0, end: 8 }],
        total: 8,
        vtables: HashSet::new(),
        slack: Vec::new(),
    };
    let at = verifier.follow(0)?;
    verifier.table(at, root)?;
    verifier.check_parts()
}

struct Part {
    start: usize,
    end: usize,
}

struct Verifier<'a> {
    message: &'a [u8],
    newer_minor: bool,
    parts: Vec<Part>,
    /// Total size of all parts, with a shared vtable counted once.
    total: usize,
    vtables: HashSet<usize>,
    /// The present fields of the current table; reused for the next.
    slack: Vec<(usize, usize)>,
}

impl Verifier<'_> {
    /// Adds a part that is inside the message.
    fn part(&mut self, start: usize, end: usize) -> Verdict {
        self.total += end - start;
        if self.total > self.message.len() {
            return Err("parts that overlap".into());
        }
        self.parts.push(Part { start, end });
        Ok(())
    }

    fn u16_at(&self, at: usize) -> usize {
        usize::from(u16::from_le_bytes([self.message[at], self.message[at + 1]]))
    }

    /// The u32 at a position that may be outside the message.
    fn u32_at(&self, at: usize) -> Verdict<u32> {
        match self.message.get(at..).and_then(|rest| rest.first_chunk::<4>()) {
            Some(bytes) => Ok(u32::from_le_bytes(*bytes)),
            None => Err(format!("no 4 bytes at {at}")),
        }
    }

    /// Where the uoffset at `at` leads (MSG-1).
    fn follow(&self, at: usize) -> Verdict<usize> {
        let offset = self.u32_at(at)? as usize;
        if !at.is_multiple_of(4) || offset < 4 {
            return Err(format!("the offset {offset} at {at}"));
        }
        match at.checked_add(offset) {
            Some(target) if target % 4 == 0 && target < self.message.len() => Ok(target),
            _ => Err(format!("the offset {offset} at {at}, which leads astray")),
        }
    }

    /// MSG-3 to MSG-7 for a table, and for everything below it.
    fn table(&mut self, at: usize, of: &'static TableType) -> Verdict {
        let size = self.message.len();
        // Two's complement: the vtable may be before or after its table.
        let back = i64::from(self.u32_at(at)? as i32);
        let vtable = usize::try_from(at as i64 - back)
            .ok()
            .filter(|v| *v >= 8 && *v % 2 == 0 && *v + 4 <= size);
        let Some(vtable) = vtable else {
            return Err(format!("the vtable of {} at {at} is outside the message", of.name));
        };
        let vtable_size = self.u16_at(vtable);
        let most = if self.newer_minor {
            LARGEST_VTABLE
        } else {
            4 + 2 * of.fields.len()
        };
        if !vtable_size.is_multiple_of(2) || vtable_size < 4 || vtable_size > most || vtable + vtable_size > size {
            return Err(format!("a vtable of {vtable_size} bytes for {}", of.name));
        }
        let inline = self.u16_at(vtable + 2);
        if inline < 4 || at + inline > size {
            return Err(format!("{} inline bytes for {} at {at}", inline, of.name));
        }
        if self.vtables.insert(vtable) {
            self.part(vtable, vtable + vtable_size)?;
        }
        self.part(at, at + inline)?;
        let present = |verifier: &Self, id: usize| match 4 + 2 * id {
            entry if entry < vtable_size => verifier.u16_at(vtable + entry),
            _ => 0,
        };
        self.fields(at, inline, of, &present)?;
        for (id, field) in of.fields.iter().enumerate() {
            let offset = present(self, id);
            if offset != 0 {
                self.value(at + offset, field.of)?;
            } else if field.required {
                return Err(format!("{} without its required field {id}", of.name));
            }
        }
        Ok(())
    }

    /// The positions of the fields of one table (MSG-6), and the bytes that no field covers (MSG-11).
    fn fields(&mut self, at: usize, inline: usize, of: &TableType, present: &dyn Fn(&Self, usize) -> usize) -> Verdict {
        let mut covered = std::mem::take(&mut self.slack);
        covered.clear();
        covered.push((0, 4));
        for (id, field) in of.fields.iter().enumerate() {
            let (offset, length) = (present(self, id), field.of.inline_size());
            if offset == 0 {
                continue;
            }
            if offset < 4 || offset + length > inline || !(at + offset).is_multiple_of(length) {
                return Err(format!(
                    "field {id} of {} at {offset} of {inline} inline bytes",
                    of.name
                ));
            }
            covered.push((offset, offset + length));
        }
        covered.sort_unstable();
        covered.push((inline, inline));
        for pair in covered.windows(2) {
            let (end, next) = (pair[0].1, pair[1].0);
            if end > next {
                return Err(format!("fields of {} at {at} that overlap", of.name));
            }
            if !self.newer_minor && self.message[at + end..at + next].iter().any(|byte| *byte != 0) {
                return Err(format!(
                    "bytes between the fields of {} at {at} that are not zero",
                    of.name
                ));
            }
        }
        self.slack = covered;
        Ok(())
    }

    /// Checks what a present field leads to.
    fn value(&mut self, at: usize, of: Type) -> Verdict {
        match of {
            Type::Scalar(_) => Ok(()),
            Type::Vector(size, align) => {
                let vector = self.follow(at)?;
                self.vector(vector, size, align, 0).map(|_| ())
            }
            Type::String => {
                let string = self.follow(at)?;
                let end = self.vector(string, 1, 1, 1)?;
                if self.message[end] != 0 {
                    return Err(format!("the string at {string} without a zero byte after it"));
                }
                match std::str::from_utf8(&self.message[string + 4..end]) {
                    Ok(_) => Ok(()),
                    Err(error) => Err(format!("the string at {string}, which is not UTF-8: {error}")),
                }
            }
            Type::Table(table) => {
                let target = self.follow(at)?;
                self.table(target, table)
            }
            Type::Tables(table) => {
                let vector = self.follow(at)?;
                let end = self.vector(vector, 4, 4, 0)?;
                for element in (vector + 4..end).step_by(4) {
                    let target = self.follow(element)?;
                    self.table(target, table)?;
                }
                Ok(())
            }
        }
    }

    /// MSG-8: a vector, and the `after` bytes that belong to it after its elements. Returns where its elements end.
    fn vector(&mut self, at: usize, size: usize, align: usize, after: usize) -> Verdict<usize> {
        let count = self.u32_at(at)?;
        let first = at + 4;
        let end = u64::from(count) * size as u64 + first as u64;
        if end + after as u64 > self.message.len() as u64 {
            return Err(format!("{count} elements at {at}, more than the message has room for"));
        }
        if !first.is_multiple_of(align) {
            return Err(format!("the elements at {first}, not at a multiple of {align}"));
        }
        // It is inside the message, as checked above.
        let end = end as usize;
        self.part(at, end + after)?;
        Ok(end)
    }

    /// MSG-10 and MSG-11: parts do not overlap, gaps are short and zero.
    fn check_parts(mut self) -> Verdict {
        self.parts.sort_unstable_by_key(|part| part.start);
        self.parts.push(Part {
            start: self.message.len(),
            end: self.message.len(),
        });
        for pair in self.parts.windows(2) {
            let (end, next) = (pair[0].end, pair[1].start);
            if end > next {
                return Err(format!("parts that overlap at {next}"));
            }
            let gap = &self.message[end..next];
            if !self.newer_minor && (gap.len() > 7 || gap.iter().any(|byte| *byte != 0)) {
                return Err(format!(
                    "a gap of {} bytes at {end} that is too long or not zero",
                    gap.len()
                ));
            }
        }
        Ok(())
    }
}
