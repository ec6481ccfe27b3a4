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

/// Names an output, or a folder of outputs.
#[derive(Args, Clone, Debug)]
pub(crate) struct AnyTarget {
    /// The output: NAME, or one of its files NAME.data, NAME.index, NAME.faro. Or a folder: all outputs in it
    #[arg(value_name = "NAME|DIR")]
    pub name: PathBuf,

    /// The index file, when it is not called NAME.index; NAME is the data file then
    #[arg(long, value_name = "FILE")]
    pub index: Option<PathBuf>,
}

impl AnyTarget {
    /// Whether it names a folder of outputs.
    pub(crate) fn is_folder(&self) -> bool {
        self.index.is_none() && faro::shuffle::is_folder(&self.name)
    }

    /// The one output.
    pub(crate) fn one(&self) -> Target {
        Target {
            name: self.name.clone(),
            index: self.index.clone(),
        }
    }

    /// The files of the one output, or those of all outputs in the folder.
    pub(crate) fn outputs(&self) -> Outcome<Vec<Files>> {
        match self.is_folder() {
            true => crate::folder::outputs(std::slice::from_ref(&self.name)),
            false => Ok(vec![self.one().files()?]),
        }
    }
}
