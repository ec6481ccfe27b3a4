//! Repetitions in turns: in each round every subject runs once, and the first one changes.

use crate::outcome::{Outcome, Run};
use crate::results::{Case, Results};

/// How often a subject that writes new files runs each repetition, see [`Subject::writing`].
pub(crate) const IN_A_ROW: usize = 3;

/// Something to measure.
pub(crate) struct Subject<'a> {
    /// Its name in the results.
    pub name: String,
    /// One repetition.
    pub run: Box<dyn FnMut() -> Outcome<Run> + 'a>,
    /// Whether it writes new files, see [`Subject::writing`].
    writes: bool,
}

impl<'a> Subject<'a> {
    /// A subject with this name.
    pub(crate) fn new(name: impl Into<String>, run: impl FnMut() -> Outcome<Run> + 'a) -> Self {
        Subject {
            name: name.into(),
            run: Box::new(run),
            writes: false,
        }
    }

    /// A subject that writes new files. The host of a virtual machine may have taken back free memory, and the first
    /// write to it waits for the host, ten times as long as the write takes. So each repetition runs three times in a
    /// row, and the fastest counts: it reuses pages of an earlier run.
    pub(crate) fn writing(name: impl Into<String>, run: impl FnMut() -> Outcome<Run> + 'a) -> Self {
        Subject {
            writes: true,
            ..Subject::new(name, run)
        }
    }
}

/// Runs all subjects of a case `rounds` times after one pass that is not measured, and adds their results.
pub(crate) fn run(
    subjects: &mut [Subject<'_>],
    rounds: usize,
    case: &Case,
    plain_bytes: u64,
    results: &mut Results,
) -> Outcome<()> {
    let mut runs: Vec<Vec<Run>> = subjects.iter().map(|_| Vec::new()).collect();
    for round in 0..=rounds {
        for turn in 0..subjects.len() {
            let at = (turn + round) % subjects.len();
            let subject = &mut subjects[at];
            let mut run = || (subject.run)().map_err(|error| format!("{}: {error}", subject.name));
            let mut best = run()?;
            // In the first pass, memory and page cache are cold.
            if round == 0 {
                continue;
            }
            for _ in 1..if subject.writes { IN_A_ROW } else { 1 } {
                let again = run()?;
                if again.seconds < best.seconds {
                    best = again;
                }
            }
            runs[at].push(best);
        }
    }
    for (subject, runs) in subjects.iter().zip(&runs) {
        results.add(&subject.name, case, plain_bytes, runs)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;

    #[test]
    fn subjects_take_turns_after_a_pass_that_is_not_measured() {
        let order = RefCell::new(String::new());
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("out.json");
        let mut results = Results::new("write", Some(&out)).unwrap();
        let subject = |name: &'static str| {
            let order = &order;
            Subject::new(name, move || {
                order.borrow_mut().push_str(name);
                Ok(Run::timed(order.borrow().len() as f64))
            })
        };
        let mut subjects = [subject("a"), subject("b")];
        run(&mut subjects, 3, &Case::new(), 10, &mut results).unwrap();
        assert_eq!(order.borrow().as_str(), "abbaabba");
        let lines = std::fs::read_to_string(out).unwrap();
        let seconds: Vec<serde_json::Value> = lines
            .lines()
            .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap()["seconds"].clone())
            .collect();
        assert_eq!(
            seconds,
            [serde_json::json!([4.0, 5.0, 8.0]), serde_json::json!([3.0, 6.0, 7.0])]
        );
        order.borrow_mut().clear();
        subjects[1].writes = true;
        run(&mut subjects, 2, &Case::new(), 10, &mut results).unwrap();
        assert_eq!(order.borrow().as_str(), "abbbbaabbb");
    }

    #[test]
    fn the_fastest_of_three_passes_counts_for_a_subject_that_writes() {
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("out.json");
        let mut results = Results::new("write", Some(&out)).unwrap();
        let mut seconds = [9.0, 5.0, 2.0, 3.0, 4.0, 7.0, 1.0].into_iter();
        let mut subjects = [Subject::writing("a", || Ok(Run::timed(seconds.next().unwrap())))];
        run(&mut subjects, 2, &Case::new(), 10, &mut results).unwrap();
        let line: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(out).unwrap()).unwrap();
        assert_eq!(line["seconds"], serde_json::json!([2.0, 1.0]));
    }
}
