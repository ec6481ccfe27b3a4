//! The output that a command looks at.

use std::path::PathBuf;

use clap::Args;
use faro::Files;

use crate::failure::Outcome;

/// Names the files of one output.
#[derive(Args, Debug)]
pub struct Target {
    /// The output: NAME, or one of its files NAME.data, NAME.index, NAME.faro
    #[arg(value_name = "NAME")]
    pub name: PathBuf,

    /// The index file, when it is not called NAME.index; NAME is the data file then
    #[arg(long, value_name = "FILE")]
    pub index: Option<PathBuf>,
}

impl Target {
    /// The files, which need not be whole.
    pub fn files(&self) -> Outcome<Files> {
        match &self.index {
            Some(index) => Ok(Files::Paired {
                data: self.name.clone(),
                index: index.clone(),
            }),
            None => Ok(Files::locate(&self.name)?),
        }
    }
}
