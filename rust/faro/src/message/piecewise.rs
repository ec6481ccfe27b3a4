//! A message of the index that is read by position, piece by piece. Only the parts that are followed are checked (spec,
//! LKP-2): uoffsets, tables, fields and vectors by MSG-1 to MSG-6 and MSG-8, except whether parts overlap.
//!
//! Every position is compared with the size of the message, and its alignment checked, before it is read.

use super::verify::{LARGEST_VTABLE, TableType};
use crate::error::{Error, ErrorCode};
use crate::storage::InputFile;

/// The size of a piece in bytes. Values are aligned and have at most 8 bytes, so none crosses from one piece to the
/// next.
pub(crate) const PIECE: usize = 256;
/// How many pieces are kept: for a table and its vtable, the vector before it and the part after it, and some more.
const KEPT: usize = 6;

/// Why a message cannot be followed.
#[derive(Debug)]
pub(crate) enum Fault {
    /// The fault of the message, as a text for people.
    Broken(String),
    /// The file could not be read.
    Unread(Error),
}

impl Fault {
    /// The error for the fault: a fault of the message is `inconsistent-index` at its first byte (LKP-2).
    pub(crate) fn at(self, source: &InputFile, offset: u64) -> Error {
        match self {
            Fault::Unread(error) => error,
            Fault::Broken(found) => {
                let expected = "a region message that leads to a partition's extents";
                source.blame(Error::at(ErrorCode::InconsistentIndex, offset, expected, found))
            }
        }
    }
}

/// The result of following a message.
pub(crate) type Followed<T> = std::result::Result<T, Fault>;

/// A fault of a message.
pub(crate) fn broken<T>(found: impl Into<String>) -> Followed<T> {
    Err(Fault::Broken(found.into()))
}

/// Bytes of a message that were read.
#[derive(Clone, Copy)]
struct Piece {
    /// The number of the piece in the message; none before the first read.
    number: Option<u64>,
    /// When it was used last.
    used: u64,
    bytes: [u8; PIECE],
}

/// A message in a file, and the pieces of it that were used last.
pub(crate) struct Piecewise<'a> {
    source: &'a InputFile,
    /// Where it begins in the file.
    start: u64,
    /// Its size in bytes.
    size: u64,
    /// Whether the file's minor version is above this library's (MSG-12).
    newer_minor: bool,
    pieces: [Piece; KEPT],
    clock: u64,
}

/// A table with a vtable inside the message.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Table {
    at: u64,
    inline: u64,
    vtable: u64,
    vtable_size: u64,
}

/// A vector inside the message.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Elements {
    /// Where the first element begins.
    first: u64,
    /// The number of elements.
    pub count: u64,
    /// The size of an element, in bytes.
    size: u64,
}

impl<'a> Piecewise<'a> {
    /// The message of `size` bytes at `start` of a file. It reads nothing yet. `first` is its first piece, if that was
    /// read before: [`PIECE`] bytes, or all of a smaller message.
    pub(crate) fn new(source: &'a InputFile, start: u64, size: u32, newer_minor: bool, first: Option<&[u8]>) -> Self {
        let empty = Piece {
            number: None,
            used: 0,
            bytes: [0; PIECE],
        };
        let mut pieces = [empty; KEPT];
        if let Some(first) = first {
            pieces[0].number = Some(0);
            pieces[0].bytes[..first.len()].copy_from_slice(first);
        }
        Piecewise {
            source,
            start,
            size: size.into(),
            newer_minor,
            pieces,
            clock: 0,
        }
    }

    /// The root table (MSG-2).
    pub(crate) fn root(&mut self, identifier: &str, of: &'static TableType) -> Followed<Table> {
        if self.size < 8 {
            return broken(format!("{} bytes, too few for a message", self.size));
        }
        let found: [u8; 4] = self.bytes(4)?;
        if found != identifier.as_bytes() {
            return broken(format!("identifier {found:02X?} in place of {identifier:?}"));
        }
        self.table(0, of)
    }

    /// The table that the uoffset at `at` leads to (MSG-1, MSG-3 to MSG-5).
    fn table(&mut self, at: u64, of: &'static TableType) -> Followed<Table> {
        let at = self.follow(at)?;
        // Two's complement: the vtable may be before or after its table.
        let back = i64::from(self.u32(at)? as i32);
        // Positions are below 2^32.
        let vtable = match u64::try_from(at as i64 - back) {
            Ok(vtable) if vtable >= 8 && vtable % 2 == 0 && vtable + 4 <= self.size => vtable,
            _ => return broken(format!("the vtable of {} at {at} is outside the message", of.name)),
        };
        let vtable_size = u64::from(self.u16(vtable)?);
        let most = match self.newer_minor {
            true => LARGEST_VTABLE,
            false => 4 + 2 * of.fields.len(),
        } as u64;
        if !(4..=most).contains(&vtable_size) || vtable_size % 2 != 0 || vtable + vtable_size > self.size {
            return broken(format!("a vtable of {vtable_size} bytes for {} at {at}", of.name));
        }
        let inline = u64::from(self.u16(vtable + 2)?);
        if inline < 4 || at + inline > self.size {
            return broken(format!("{inline} inline bytes for {} at {at}", of.name));
        }
        Ok(Table {
            at,
            inline,
            vtable,
            vtable_size,
        })
    }

    /// The position of a field of `size` bytes, aligned to its size; none when the field is absent (MSG-6).
    fn field(&mut self, table: &Table, id: u64, size: u64) -> Followed<Option<u64>> {
        let entry = 4 + 2 * id;
        if entry >= table.vtable_size {
            return Ok(None);
        }
        let offset = u64::from(self.u16(table.vtable + entry)?);
        if offset == 0 {
            return Ok(None);
        }
        if offset < 4 || offset + size > table.inline || !(table.at + offset).is_multiple_of(size) {
            let Table { at, inline, .. } = table;
            return broken(format!("field {id} of the table at {at} at {offset} of {inline} bytes"));
        }
        Ok(Some(table.at + offset))
    }

    /// A field that is a u32, 0 when it is absent.
    pub(crate) fn u32_field(&mut self, table: &Table, id: u64) -> Followed<u32> {
        match self.field(table, id, 4)? {
            Some(at) => self.u32(at),
            None => Ok(0),
        }
    }

    /// A field that is a u64, 0 when it is absent.
    pub(crate) fn u64_field(&mut self, table: &Table, id: u64) -> Followed<u64> {
        match self.field(table, id, 8)? {
            Some(at) => Ok(u64::from_le_bytes(self.bytes(at)?)),
            None => Ok(0),
        }
    }

    /// A field that is a vector of elements of `size` bytes, which is their alignment too; at most 4 (MSG-8).
    pub(crate) fn vector_field(&mut self, table: &Table, id: u64, size: u64) -> Followed<Option<Elements>> {
        let Some(field) = self.field(table, id, 4)? else {
            return Ok(None);
        };
        let at = self.follow(field)?;
        let (count, first) = (u64::from(self.u32(at)?), at + 4);
        // The count is at a multiple of 4 (MSG-1), and so are the elements after it.
        if first + count * size > self.size {
            return broken(format!(
                "{count} elements at {first}, more than the message has room for"
            ));
        }
        Ok(Some(Elements { first, count, size }))
    }

    /// An element of a vector of u32.
    pub(crate) fn u32_element(&mut self, vector: &Elements, number: u64) -> Followed<u32> {
        let at = Self::element(vector, number)?;
        self.u32(at)
    }

    /// An element of a vector of bytes.
    pub(crate) fn byte_element(&mut self, vector: &Elements, number: u64) -> Followed<u8> {
        let at = Self::element(vector, number)?;
        self.bytes(at).map(|[byte]| byte)
    }

    /// The table that an element of a vector of tables leads to.
    pub(crate) fn table_element(&mut self, vector: &Elements, number: u64, of: &'static TableType) -> Followed<Table> {
        let at = Self::element(vector, number)?;
        self.table(at, of)
    }

    /// The position of an element, if the vector has it.
    fn element(vector: &Elements, number: u64) -> Followed<u64> {
        match number < vector.count {
            true => Ok(vector.first + number * vector.size),
            false => broken(format!("{} elements, where number {number} is wanted", vector.count)),
        }
    }

    /// Where the uoffset at `at` leads (MSG-1).
    fn follow(&mut self, at: u64) -> Followed<u64> {
        let offset = u64::from(self.u32(at)?);
        let target = at + offset;
        if offset < 4 || !target.is_multiple_of(4) || target >= self.size {
            return broken(format!("the offset {offset} at {at}, which leads astray"));
        }
        Ok(target)
    }

    fn u16(&mut self, at: u64) -> Followed<u16> {
        self.bytes(at).map(u16::from_le_bytes)
    }

    fn u32(&mut self, at: u64) -> Followed<u32> {
        self.bytes(at).map(u32::from_le_bytes)
    }

    /// The bytes of a value at a position inside the message. The position must be a multiple of N.
    fn bytes<const N: usize>(&mut self, at: u64) -> Followed<[u8; N]> {
        if !at.is_multiple_of(N as u64) || at + N as u64 > self.size {
            return broken(format!("no {N} bytes at {at} of {}", self.size));
        }
        let within = (at % PIECE as u64) as usize;
        let piece = self.piece(at / PIECE as u64)?;
        // This does not fail: no value crosses the end of its piece.
        match piece[within..].first_chunk() {
            Some(bytes) => Ok(*bytes),
            None => broken(format!("no {N} bytes at {at}")),
        }
    }

    /// A piece of the message. If it is not kept, it replaces the piece that was used least recently.
    fn piece(&mut self, number: u64) -> Followed<&[u8; PIECE]> {
        self.clock += 1;
        let kept = self.pieces.iter().position(|piece| piece.number == Some(number));
        let oldest = || (0..KEPT).min_by_key(|at| self.pieces[*at].used).unwrap_or(0);
        let at = kept.unwrap_or_else(oldest);
        let piece = &mut self.pieces[at];
        if kept.is_none() {
            let from = number * PIECE as u64;
            let length = (self.size - from).min(PIECE as u64) as usize;
            piece.number = None;
            self.source
                .read_exact(self.start + from, &mut piece.bytes[..length])
                .map_err(Fault::Unread)?;
            piece.number = Some(number);
        }
        piece.used = self.clock;
        Ok(&piece.bytes)
    }
}
