//! What a page is to show, and making it.

use std::path::PathBuf;

use clap::Args;

use super::model::Report;
use super::wanted::Wanted;
use super::{output, shuffle};
use crate::commands::check::LevelName;
use crate::failure::{Failure, Outcome};

/// What a page is to show.
#[derive(Args, Debug)]
pub(crate) struct ShownArgs {
    /// The outputs: NAME, one of its files NAME.data, NAME.index, NAME.faro, or a folder of many outputs
    #[arg(required = true, value_name = "NAME")]
    names: Vec<PathBuf>,

    /// How much to check
    #[arg(short, long, value_enum, value_name = "LEVEL", default_value = "decode")]
    level: LevelName,

    /// How many records of each of the three largest partitions to show; with 0, no bytes of payloads either
    #[arg(long, value_name = "N", default_value_t = 20)]
    records: usize,

    /// How many blocks to show
    #[arg(long, value_name = "N", default_value_t = 2_000)]
    blocks: usize,

    /// How many bytes of each file to explain
    #[arg(long, value_name = "N", default_value_t = 4_096)]
    bytes: u64,

    /// The address of the specification's pages, for links to clauses, such as `https://example.org/spec`
    #[arg(long, value_name = "URL")]
    spec: Option<String>,
}

impl ShownArgs {
    /// Reads the outputs, as they are now.
    pub(super) fn report(&self) -> Outcome<Report> {
        if let Some(address) = self.spec.as_ref().filter(|address| !is_address(address)) {
            return Err(Failure::usage(format!(
                "\"{address}\" is not an address of http or https"
            )));
        }
        let wanted = Wanted {
            level: self.level.level(),
            records: self.records,
            blocks: self.blocks,
            bytes: self.bytes,
            spec: self.spec.clone(),
        };
        let mut subjects = Vec::new();
        for name in &self.names {
            if faro::shuffle::is_folder(name) {
                subjects.extend(shuffle::subjects(name, &wanted)?);
            } else {
                subjects.push(output::subject(name, &wanted)?);
            }
        }
        Ok(Report {
            version: 1,
            title: match &self.names[..] {
                [one] => format!("Faro: {}", one.display()),
                several => format!("Faro: {} names", several.len()),
            },
            made: format!("made by faro {}", env!("CARGO_PKG_VERSION")),
            subjects,
        })
    }
}

/// Only such an address becomes a link: others could run a script.
fn is_address(text: &str) -> bool {
    text.starts_with("https://") || text.starts_with("http://")
}
