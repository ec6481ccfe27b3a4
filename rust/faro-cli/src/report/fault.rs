//! A fault, as a page shows it.

use faro::{Error, ErrorCode, FileRole};

use super::model::Fault;
use super::wanted::Wanted;

/// The size of a header.
const HEADER: u64 = 64;
/// The size of a tail.
const TAIL: u64 = 24;

/// Describes an error of the library.
pub(super) fn of(error: &Error, wanted: &Wanted) -> Fault {
    let (chapter, clause) = clause(error);
    Fault {
        code: error.code.as_str().to_owned(),
        message: crate::failure::describe(error),
        clause,
        spec: wanted
            .spec
            .as_ref()
            .map(|base| format!("{}/{chapter}/#{clause}", base.trim_end_matches('/'))),
    }
}

/// The chapter and the clause that has the rule. Several clauses report some codes; then it is the one with the order of
/// the checks.
fn clause(error: &Error) -> (&'static str, &'static str) {
    let in_header = error.offset.is_some_and(|offset| offset < HEADER);
    match error.code {
        ErrorCode::NotFaro | ErrorCode::UnsupportedVersion | ErrorCode::MalformedHeader => ("header", "HDR-1"),
        ErrorCode::UnsupportedFeature | ErrorCode::Checksum if in_header => ("header", "HDR-1"),
        ErrorCode::Truncated if in_header => ("header", "HDR-1"),
        ErrorCode::Checksum if is_in_tail(error) => ("files", "OPN-2"),
        ErrorCode::UnsupportedFeature
        | ErrorCode::UnsupportedCodec
        | ErrorCode::MalformedBlock
        | ErrorCode::Checksum => ("block", "BLK-7"),
        ErrorCode::Unfinished => ("files", "OPN-3"),
        ErrorCode::MismatchedPair | ErrorCode::Truncated => ("files", "OPN-1"),
        // The library of Arrow refuses a schema that passes the checks of messages.
        ErrorCode::MalformedMessage if error.expected == "an Arrow schema" => ("index", "SCH-3"),
        ErrorCode::MalformedMessage => ("messages", "MSG-13"),
        ErrorCode::InconsistentIndex => ("reading", "CHK-1"),
        ErrorCode::LimitExceeded => ("limits", "LIM-1"),
        _ => ("errors", "ERR-1"),
    }
}

fn is_in_tail(error: &Error) -> bool {
    let size = error.file.as_ref().and_then(|file| file.metadata().ok());
    error.role != Some(FileRole::Data)
        && error.offset.is_some()
        && error.offset == size.and_then(|file| file.len().checked_sub(TAIL))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each address leads to a clause that the specification has.
    #[test]
    fn clauses_are_those_of_the_specification() {
        let spec = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../spec");
        let mut error = faro::Files::locate("no such output").unwrap_err();
        for code in ErrorCode::ALL {
            for offset in [None, Some(8), Some(4096)] {
                (error.code, error.offset) = (code, offset);
                let (chapter, clause) = clause(&error);
                let text = std::fs::read_to_string(spec.join(chapter).with_extension("md")).unwrap();
                let anchor = format!("<a id=\"{clause}\"></a>");
                let rule = text.split(&anchor).nth(1).unwrap();
                if !matches!(code, ErrorCode::Io | ErrorCode::InvalidArgument) {
                    let end = rule.find("<a id=").unwrap_or(rule.len());
                    // The first has the order of all checks, the second the limits themselves.
                    assert!(
                        rule[..end].contains(&format!("`{}`", code.as_str())) || matches!(clause, "CHK-1" | "LIM-1"),
                        "{clause} does not name {code:?}"
                    );
                }
            }
        }
    }
}
