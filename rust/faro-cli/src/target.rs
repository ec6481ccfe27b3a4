//! The output that a command reads.

use std::path::PathBuf;

use clap::Args;
use faro::Files;

use crate::failure::Outcome;

/// Names the files of one output.
#[derive(Args, Debug)]
pub(crate) struct Target {
    /// The output: NAME, or one of its files NAME.data, NAME.index, NAME.faro
    #[arg(value_name = "NAME")]
    pub name: PathBuf,

    /// The index file, when it is not called NAME.index; NAME is the data file then
    #[arg(long, value_name = "FILE")]
    pub index: Option<PathBuf>,
}

impl Target {
    /// The files, if their names do not follow NAME: an index with another name, or a single file without an ending.
    pub(crate) fn named_otherwise(&self) -> Option<Files> {
        let is_plain = || {
            let ending = self.name.extension().and_then(|extension| extension.to_str());
            self.name.is_file() && !matches!(ending, Some("faro" | "data" | "index"))
        };
        match &self.index {
            Some(index) => Some(Files::Paired {
                data: self.name.clone(),
                index: index.clone(),
            }),
            None => is_plain().then(|| Files::Single(self.name.clone())),
        }
    }

    /// The files, which may be incomplete.
    pub(crate) fn files(&self) -> Outcome<Files> {
        match &self.index {
            Some(index) => Ok(Files::Paired {
                data: self.name.clone(),
                index: index.clone(),
            }),
            None => Ok(Files::locate(&self.name)?),
        }
    }
}
