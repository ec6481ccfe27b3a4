//! The formats in which rows are printed.

use clap::ValueEnum;

/// The output formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum As {
    /// Comma-separated values
    Csv,
    /// Tab-separated values
    Tsv,
    /// JSON lines
    Jsonl,
    /// Each record and a line end
    Lines,
    /// Arrow IPC stream
    Arrow,
    /// Apache Parquet
    Parquet,
}

impl As {
    /// The name of the format, as on the command line.
    pub(crate) fn name(self) -> String {
        self.to_possible_value()
            .map_or_else(String::new, |value| value.get_name().to_owned())
    }
}
