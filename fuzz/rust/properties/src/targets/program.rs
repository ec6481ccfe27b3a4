//! Decodes the programs of `script`.

use crate::cursor::Cursor;
use faro::{Codec, Framing, Layout, WriterOptions};

/// The partitions that a record is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Whom {
    One(u32),
    All,
    These(Vec<u32>),
}

/// An item of a region writer: a block, or the beginning of a shared extent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Item {
    Block {
        partition: u32,
        kind: u8,
        payload: Vec<u8>,
        records: u64,
    },
    /// A shared extent for all, or for the file's first partition.
    Shared { all: bool },
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Call {
    Put { whom: Whom, kind: u8, payload: Vec<u8> },
    Flush,
    Property { key: String, value: String },
    Region(Vec<Item>),
    Finish,
    Abort,
}

/// A writer's options and its calls.
#[derive(Clone, Debug)]
pub(crate) struct Program {
    pub options: WriterOptions,
    pub calls: Vec<Call>,
}

/// The most calls: more would take too long.
const MOST_CALLS: usize = 200;

impl Program {
    pub(crate) fn decode(input: &[u8]) -> Self {
        let mut cursor = Cursor::new(input);
        let options = options(&mut cursor);
        let mut program = Program {
            options,
            calls: Vec::new(),
        };
        let mut count = 0;
        while !cursor.is_empty() && count < MOST_CALLS {
            count += 1;
            let call = program.call(&mut cursor);
            program.calls.extend(call);
        }
        if !program
            .calls
            .iter()
            .any(|call| matches!(call, Call::Finish | Call::Abort))
        {
            program.calls.push(Call::Finish);
        }
        program
    }

    fn partition(&self, cursor: &mut Cursor<'_>) -> u32 {
        self.options.first_partition + u32::from(cursor.byte())
    }

    fn call(&self, cursor: &mut Cursor<'_>) -> Option<Call> {
        let byte = cursor.byte();
        let (call, h) = (byte & 15, byte >> 4);
        let event = match h {
            0 => 1,
            15 => 2,
            _ => 64 + h,
        };
        let times = usize::from(h) + 1;
        let kind = if matches!(call, 3 | 5 | 7) { event } else { 0 };
        let whom = match call {
            0..=3 => Whom::One(self.partition(cursor)),
            4 | 5 => Whom::All,
            6 | 7 => {
                let count = cursor.byte() % 9;
                Whom::These((0..count).map(|_| self.partition(cursor)).collect())
            }
            8 => return Some(Call::Flush),
            9 => {
                let value = payload(cursor, 1).iter().map(|byte| format!("{byte:02x}")).collect();
                return Some(Call::Property {
                    key: format!("k{h}"),
                    value,
                });
            }
            10 => {
                let count = cursor.byte() % 9;
                return Some(Call::Region((0..count).map(|_| self.item(cursor, h)).collect()));
            }
            11 => return Some(Call::Finish),
            12 => return Some(Call::Abort),
            _ => return None,
        };
        let payload = payload(cursor, times);
        Some(Call::Put { whom, kind, payload })
    }

    fn item(&self, cursor: &mut Cursor<'_>, h: u8) -> Item {
        let q = cursor.byte();
        let mut payload = payload(cursor, usize::from(h) + 1);
        if q >= 254 {
            return Item::Shared { all: q == 254 };
        }
        let kind = u8::from(q >= 250);
        let mut records = h;
        if kind == 0 && self.options.framing == Framing::Records {
            records = 1;
            let length = (payload.len() as u32).to_le_bytes();
            payload.splice(0..0, length);
        }
        Item::Block {
            partition: self.options.first_partition + u32::from(q),
            kind,
            payload,
            records: records.into(),
        }
    }
}

fn payload(cursor: &mut Cursor<'_>, times: usize) -> Vec<u8> {
    let length = cursor.byte();
    cursor.take(length.into()).repeat(times)
}

fn options(cursor: &mut Cursor<'_>) -> WriterOptions {
    let (flags, count, numbers, sizes) = (cursor.byte(), cursor.byte(), cursor.byte(), cursor.byte());
    let partition_count = u32::from(count) + 1;
    let options = WriterOptions::new(partition_count)
        .layout(if flags & 1 == 0 { Layout::Paired } else { Layout::Single })
        .framing(if flags & 2 == 0 {
            Framing::Opaque
        } else {
            Framing::Records
        })
        .codec([Codec::None, Codec::Lz4, Codec::Zstd, Codec::None][usize::from(flags >> 3 & 3)])
        .ordered(flags & 0x20 == 0)
        .statistics(flags & 0x40 == 0)
        .follow(flags & 0x80 != 0)
        .file_id(Some([0x46; 16]))
        .first_partition((numbers & 15).into())
        .rotation(u32::from(numbers >> 4) % partition_count)
        .block_size(16 << (sizes & 7))
        .buffer_size(64 << (sizes >> 4 & 7));
    match sizes & 8 {
        0 => options,
        _ => options.max_plain_size(256),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_mean_calls() {
        let program = Program::decode(b"\x03\x04\x12\x00\x10\x01\x02ab\x08\xA9\x01\xFF\x0A\x02\xFE\x00\x07\x01c");
        assert_eq!(
            (program.options.partition_count, program.options.first_partition),
            (5, 2)
        );
        assert_eq!(program.options.rotation, 1);
        let expected = [
            Call::Put {
                whom: Whom::One(3),
                kind: 0,
                payload: b"abab".to_vec(),
            },
            Call::Flush,
            Call::Property {
                key: "k10".into(),
                value: "ff".into(),
            },
            Call::Region(vec![
                Item::Shared { all: true },
                Item::Block {
                    partition: 9,
                    kind: 0,
                    payload: b"\x01\0\0\0c".to_vec(),
                    records: 1,
                },
            ]),
            Call::Finish,
        ];
        assert_eq!(program.calls, expected);
    }
}
