//! What the properties of an output say of its rows.

use clap::ValueEnum;
use faro::{Framing, Reader};

use super::format::As;

/// The value of a property that `pack` wrote.
pub(crate) fn property<'a>(reader: &'a Reader, key: &str) -> Option<&'a str> {
    let properties = &reader.footer().properties;
    let found = properties.iter().find(|property| property.key == key);
    found.map(|property| property.value.as_str())
}

/// What an output says of its rows. Outputs of one shuffle have the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Packed {
    pub framing: Framing,
    /// What was packed, if `pack` wrote the output.
    pub format: Option<As>,
    /// The header line of CSV and TSV.
    pub header: Option<String>,
    pub delimiter: Option<u8>,
    pub crlf: bool,
    /// The Arrow schema, as it is stored.
    pub schema: Option<Vec<u8>>,
}

impl Packed {
    pub(crate) fn of(reader: &Reader) -> Packed {
        let format = property(reader, "faro.pack.format");
        let delimiter = property(reader, "faro.pack.delimiter").map(str::as_bytes);
        Packed {
            framing: reader.header().framing,
            format: format.and_then(|format| As::from_str(format, false).ok()),
            header: property(reader, "faro.pack.header").map(str::to_owned),
            delimiter: delimiter.and_then(|delimiter| delimiter.first().copied()),
            crlf: property(reader, "faro.pack.line_end") == Some("crlf"),
            schema: reader.schema_message().map(<[u8]>::to_vec),
        }
    }

    /// The line end of the text that was packed.
    pub(crate) fn line_end(&self) -> &'static [u8] {
        if self.crlf { b"\r\n" } else { b"\n" }
    }
}
