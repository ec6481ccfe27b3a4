//! Repairs, as dry runs and for real.

use crate::container::Container;
use crate::scratch;
use crate::seen::{Fault, assert_of_file, verdict};
use faro::{
    Action, CheckLevel, CheckOptions, ErrorCode, Files, Limits, Reader, ReaderOptions, RebuildOptions, RepairOptions,
    RepairReport, SharedPolicy, check, rebuild, repair as last_commit,
};

/// Checks the properties of `repair`: repairs the files as the mode says.
pub fn repair(input: &[u8]) {
    let container = Container::sealed(input);
    let files = scratch::put(&container);
    let limits = container.options().limits;
    let before = scratch::contents(&files);
    let mend = |dry| mend(&container, &files, &limits, dry);
    let dry = mend(true);
    assert_eq!(scratch::contents(&files), before, "a dry run changed something");
    if let Ok(report) = &dry
        && let Some(fault) = &report.fault
    {
        assert_of_file(fault, &files);
        assert!(fault.offset >= Some(report.data_kept), "{fault}");
    }
    let real = mend(false);
    assert_eq!(format!("{dry:?}"), format!("{real:?}"), "dry, and in earnest");
    let Ok(report) = real else {
        assert_eq!(scratch::contents(&files), before, "a refused repair changed something");
        return;
    };
    let opened = Reader::open(&files, ReaderOptions::default().limits(limits.clone()));
    let reader = opened.expect("what was repaired opens");
    assert_eq!(reader.region_count() as u64, report.regions);
    if report.action != Action::Nothing {
        let level = match report.action {
            Action::Rebuilt => CheckLevel::Checksums,
            _ => CheckLevel::Structure,
        };
        if let Err(error) = check(&files, &CheckOptions::default().level(level).limits(limits.clone())) {
            // An existing footer is kept, with statistics that were not compared. Neither were the runs of regions.
            let kept = reader.footer().statistics.is_some() || reader.header().is_merged();
            let allowed = kept && report.action == Action::LastCommit;
            assert!(allowed && error.code == ErrorCode::InconsistentIndex, "{error}");
            assert_of_file(&error, &files);
        }
    }
    let mended = scratch::contents(&files);
    sizes(&report, &before, &mended);
    let again = last_commit(&files, &RepairOptions::default().limits(limits.clone())).expect("what was repaired opens");
    assert_eq!((again.action, again.regions), (Action::Nothing, report.regions));
    assert_eq!(
        scratch::contents(&files),
        mended,
        "nothing to do, and something was done"
    );
}

/// The repair that an input selects.
pub(crate) fn asked(
    container: &Container,
    files: &Files,
    limits: &Limits,
    dry_run: bool,
) -> faro::Result<RepairReport> {
    if container.mode & 1 == 0 {
        return last_commit(files, &RepairOptions::default().limits(limits.clone()).dry_run(dry_run));
    }
    let shared = if container.mode & 2 == 0 {
        SharedPolicy::None
    } else {
        SharedPolicy::All
    };
    let options = RebuildOptions::default().shared(shared).dry_run(dry_run);
    rebuild(files, &options.limits(limits.clone()))
}

fn mend(container: &Container, files: &Files, limits: &Limits, dry_run: bool) -> Result<RepairReport, Fault> {
    match asked(container, files, limits, dry_run) {
        Err(error) if container.mode & 1 != 0 && error.code == ErrorCode::InvalidArgument => {
            let framing = container.data.as_ref().and_then(|data| data.get(11));
            assert!(framing.is_none_or(|framing| *framing == 2), "{error}");
            Err(Fault::from(&error))
        }
        result => verdict(result, files),
    }
}

/// Checks that kept bytes are unchanged, and that the counts are right.
fn sizes(report: &RepairReport, before: &[Vec<u8>], after: &[Vec<u8>]) {
    if let ([data, _], [mended, _]) = (before, after) {
        assert_eq!(report.data_kept + report.data_cut, data.len() as u64);
        assert_eq!(data[..report.data_kept as usize], **mended);
    }
    if report.action != Action::Rebuilt {
        let (index, mended) = (&before[before.len() - 1], &after[after.len() - 1]);
        assert_eq!(report.index_kept + report.index_cut, index.len() as u64);
        let kept = report.index_kept as usize;
        assert_eq!(index[..kept], mended[..kept]);
    }
}
