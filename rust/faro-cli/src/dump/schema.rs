//! The tables of schema/faro.fbs, for annotations.

use faro::block;

/// The type of a field.
#[derive(Clone, Copy, Debug)]
pub(super) enum Type {
    U32,
    U64,
    Text,
    /// A vector of numbers of this many bytes.
    Numbers(usize),
    /// A vector of structs of this many bytes, with the positions, sizes and names of their members.
    Structs(usize, &'static [(usize, usize, &'static str)]),
    Table(&'static Table),
    Tables(&'static Table),
}

/// A table: its name and fields in the order of their ids.
#[derive(Debug)]
pub(super) struct Table {
    pub name: &'static str,
    pub fields: &'static [(&'static str, Type)],
}

/// The root table of a metadata block of this kind.
pub(super) fn root(kind: u8) -> Option<&'static Table> {
    match kind {
        block::REGION => Some(&REGION),
        block::FOOTER => Some(&FOOTER),
        block::SCHEMA => Some(&SCHEMA),
        _ => None,
    }
}

static SHARED_EXTENT: Table = Table {
    name: "SharedExtent",
    fields: &[
        ("length", Type::U32),
        ("members", Type::Numbers(1)),
        ("first_block", Type::U32),
    ],
};

static REGION: Table = Table {
    name: "Region",
    fields: &[
        ("sequence", Type::U32),
        ("data_offset", Type::U64),
        ("data_length", Type::U64),
        ("offsets", Type::Numbers(4)),
        ("rotation", Type::U32),
        ("partitions", Type::Numbers(4)),
        ("shared", Type::Tables(&SHARED_EXTENT)),
        (
            "runs",
            Type::Structs(
                32,
                &[
                    (0, 8, "producer"),
                    (8, 8, "attempt"),
                    (16, 4, "first_block"),
                    (20, 4, "blocks"),
                    (24, 4, "length"),
                    (28, 4, "flags"),
                ],
            ),
        ),
        ("first_block", Type::Numbers(4)),
    ],
};

static STATISTICS: Table = Table {
    name: "Statistics",
    fields: &[
        ("stored", Type::Numbers(8)),
        ("plain", Type::Numbers(8)),
        ("records", Type::Numbers(8)),
        ("stored_to_all", Type::U64),
        ("plain_to_all", Type::U64),
        ("records_to_all", Type::U64),
    ],
};

static STREAMS: Table = Table {
    name: "Streams",
    fields: &[
        ("next", Type::Numbers(4)),
        ("missing", Type::Numbers(4)),
        ("shared_next", Type::U32),
        ("shared_missing", Type::U32),
    ],
};

static PROPERTY: Table = Table {
    name: "Property",
    fields: &[("key", Type::Text), ("value", Type::Text)],
};

static FOOTER: Table = Table {
    name: "Footer",
    fields: &[
        (
            "regions",
            Type::Structs(
                32,
                &[
                    (0, 8, "message_offset"),
                    (8, 4, "message_size"),
                    (12, 4, "flags"),
                    (16, 8, "data_offset"),
                    (24, 8, "data_length"),
                ],
            ),
        ),
        ("data_size", Type::U64),
        ("statistics", Type::Table(&STATISTICS)),
        ("properties", Type::Tables(&PROPERTY)),
        ("created_by", Type::Text),
        (
            "dictionaries",
            Type::Structs(16, &[(0, 8, "offset"), (8, 4, "size"), (12, 4, "reserved")]),
        ),
        ("streams", Type::Table(&STREAMS)),
    ],
};

static SCHEMA: Table = Table {
    name: "Schema",
    fields: &[("arrow", Type::Numbers(1))],
};
