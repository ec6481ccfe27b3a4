//! A fault, as a page shows it.

use super::model::Fault;
use super::wanted::Wanted;

/// Describes an error of the library. ERR-1 has the meaning of each code.
pub(super) fn of(error: &faro::Error, wanted: &Wanted) -> Fault {
    Fault {
        code: error.code.as_str().to_owned(),
        message: crate::failure::describe(error),
        clause: "ERR-1",
        spec: wanted
            .spec
            .as_ref()
            .map(|base| format!("{}/errors/#ERR-1", base.trim_end_matches('/'))),
    }
}
