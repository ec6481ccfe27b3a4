//! Repair at the last commit and rebuilding of a lost index (spec, REP); recovery and cleaning after a crash (spec,
//! PUB-7 to PUB-9).

mod clean;
mod cut;
mod last_commit;
mod rebuild;
mod recover;
mod remains;
mod report;

pub use clean::{CleanOptions, CleanReport, KeptFile, KeptReason, LeftFile, clean};
pub use last_commit::{RepairOptions, repair};
pub(crate) use last_commit::{check_schema_is_there, is_finished};
pub use rebuild::{RebuildOptions, SharedPolicy, rebuild};
pub use recover::{RecoverOptions, RecoverReport, recover};
pub use report::{Action, RepairReport};
