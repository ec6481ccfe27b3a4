//! Fragments and merged files: the blocks of many producers in one file, exactly once, with the producer of each block
//! (spec, FRG, MRG and NAM).
//!
//! A producer plans its pushes ([`PushPlan`]) and writes a [`fragment`](crate::Reader::fragment) of its output for each. A service checks it while it arrives and
//! appends it to a merged file: [`Merge`]. A reader of that file asks [`have`](crate::Reader::have) and
//! [`missing`](crate::Reader::missing), and gets from the producers' own outputs only what is missing:
//! [`with_originals`](crate::Reader::with_originals). For everything else a merged file is an output like any other.

mod fragment;
mod fragment_reader;
mod growing_file;
mod intake;
mod merged_file;
mod names;
mod options;
mod provenance;
mod push_plan;
mod pushes;
mod reading;
mod region_fragments;
mod resume;

pub use fragment::FragmentSummary;
pub use fragment_reader::{FragmentBlock, FragmentReader};
pub use names::{Names, merged_file_id, output_file_id};
pub use options::MergeOptions;
pub use provenance::{Expected, Have, Missing, PartitionRun};
pub use push_plan::{PlannedPush, PushPlan};
pub use pushes::{Begun, Merge, MergeSummary, Outcome, Push};
pub use reading::{MergedBlock, MergedReading};
