//! The tables of `schema/faro.fbs`, as the verifier walks them.

use super::verify::{Field, TableType, Type};

const fn optional(of: Type) -> Field {
    Field { of, required: false }
}

const fn required(of: Type) -> Field {
    Field { of, required: true }
}

const UINT: Type = Type::Scalar(4);
const ULONG: Type = Type::Scalar(8);
const UBYTES: Type = Type::Vector(1, 1);
const UINTS: Type = Type::Vector(4, 4);
const ULONGS: Type = Type::Vector(8, 8);

pub(crate) static SHARED_EXTENT: TableType = TableType {
    name: "SharedExtent",
    fields: &[optional(UINT), optional(UBYTES), optional(UINT)],
};

pub(crate) static REGION: TableType = TableType {
    name: "Region",
    fields: &[
        optional(UINT),
        optional(ULONG),
        optional(ULONG),
        required(UINTS),
        optional(UINT),
        optional(UINTS),
        optional(Type::Tables(&SHARED_EXTENT)),
        optional(Type::Vector(32, 8)),
        optional(UINTS),
    ],
};

static STATISTICS: TableType = TableType {
    name: "Statistics",
    fields: &[
        optional(ULONGS),
        optional(ULONGS),
        optional(ULONGS),
        optional(ULONG),
        optional(ULONG),
        optional(ULONG),
    ],
};

static STREAMS: TableType = TableType {
    name: "Streams",
    fields: &[optional(UINTS), optional(UINTS), optional(UINT), optional(UINT)],
};

static PROPERTY: TableType = TableType {
    name: "Property",
    fields: &[required(Type::String), required(Type::String)],
};

pub(super) static FOOTER: TableType = TableType {
    name: "Footer",
    fields: &[
        optional(Type::Vector(32, 8)),
        optional(ULONG),
        optional(Type::Table(&STATISTICS)),
        optional(Type::Tables(&PROPERTY)),
        optional(Type::String),
        optional(Type::Vector(16, 8)),
        optional(Type::Table(&STREAMS)),
    ],
};

pub(super) static SCHEMA: TableType = TableType {
    name: "Schema",
    fields: &[required(UBYTES)],
};
