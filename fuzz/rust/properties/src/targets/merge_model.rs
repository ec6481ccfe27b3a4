//! A model of a merge: what each step must give, and what the file has in the end (MRG-2, MRG-5 to MRG-7).

use super::fragments::{Fragment, Stream};
use super::merge_program::{Answer, MergeProgram, Step};
use crate::seen::Fault;
use faro::merge::Outcome;
use faro::{ErrorCode, FileRole, Files, Follower, ReaderOptions};
use std::collections::BTreeMap;

/// What the file has of a producer in a partition.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Held {
    pub blocks: u32,
    pub is_complete: bool,
}

/// The kind of a block, and its plain payload as in [`Fragment::plain`], if it decodes.
pub(crate) type Piece = (u8, Option<(usize, u32)>);

/// The content of the file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Merged {
    /// By partition and producer.
    pub held: BTreeMap<(u32, u64), Held>,
    pub attempts: BTreeMap<u64, u64>,
    /// By partition.
    pub pieces: BTreeMap<u32, Vec<Piece>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Open,
    Closed,
    Finished,
}

struct Pushed {
    fragment: usize,
    producer: u64,
    written: usize,
    /// Bytes that wait for the turn.
    waiting: usize,
    is_over: bool,
    /// Whether the merge that it began in was closed since.
    is_late: bool,
}

pub(crate) struct Model<'a> {
    program: &'a MergeProgram,
    /// The fragments that a reader of fragments accepts.
    accepted: Vec<Option<Fragment>>,
    state: State,
    turn: Option<u8>,
    pushes: BTreeMap<u8, Pushed>,
    pub merged: Merged,
}

impl<'a> Model<'a> {
    pub(super) fn new(program: &'a MergeProgram) -> Self {
        let accepted = |bytes: &Vec<u8>| {
            let stream = Stream::read(&bytes[..], bytes.len(), program.options.limits.clone());
            let [fragment] = <[Fragment; 1]>::try_from(stream.fragments).ok()?;
            stream.fault.is_none().then_some(fragment)
        };
        Model {
            program,
            accepted: program.fragments.iter().map(accepted).collect(),
            state: State::Open,
            turn: None,
            pushes: BTreeMap::new(),
            merged: Merged::default(),
        }
    }

    pub(super) fn is_finished(&self) -> bool {
        self.state == State::Finished
    }

    /// Checks the answer of a step.
    pub(super) fn step(&mut self, step: Step, answer: Answer, files: &Files) {
        match step {
            Step::Begin {
                push,
                fragment,
                is_other_producer,
                is_other_generation,
            } => {
                self.release(push);
                self.pushes.remove(&push);
                let producer = self.program.producer(fragment).wrapping_add(is_other_producer.into());
                let expected = if producer == u64::MAX {
                    ARGUMENT
                } else if self.state != State::Open {
                    Answer::Outcome(Outcome::Late)
                } else if is_other_generation {
                    Answer::Outcome(Outcome::Stale)
                } else {
                    let begun = Pushed {
                        fragment,
                        producer,
                        written: 0,
                        waiting: 0,
                        is_over: false,
                        is_late: false,
                    };
                    self.pushes.insert(push, begun);
                    Answer::Begun
                };
                assert_eq!(answer, expected);
            }
            Step::Write { push, count } => self.write(push, count, answer),
            Step::Commit { push } => self.commit(push, answer),
            Step::Abort { push } => {
                self.release(push);
                assert_eq!(answer, Answer::Done);
            }
            Step::Flush => {
                assert_eq!(answer, self.if_open(Answer::Done));
                if self.state == State::Open {
                    assert_eq!(self.in_regions(files), self.merged);
                }
            }
            Step::Finalize => match answer {
                Answer::Finalized { regions, runs } => {
                    assert_eq!(self.state, State::Open);
                    assert!(runs >= regions && runs >= self.merged.held.len() as u64);
                    self.end(State::Finished);
                }
                _ => assert_eq!(answer, self.if_open(Answer::Done)),
            },
            Step::Close => {
                assert_eq!((self.state, answer), (State::Open, Answer::Done));
                self.end(State::Closed);
                self.merged = self.in_regions(files);
            }
            Step::Resume => self.resume(answer, files),
        }
    }

    /// The beginning of what was merged that is in regions.
    fn in_regions(&self, files: &Files) -> Merged {
        let options = ReaderOptions::default().limits(self.program.limits());
        let mut follower = Follower::open(files, options).expect("what is being merged opens");
        follower.poll().expect("what is being merged is followed");
        let mut found = Merged::default();
        for partition in follower.partitions() {
            let mut count = 0;
            for have in follower.have(partition).expect("a partition of a merged file") {
                let held = Held {
                    blocks: have.blocks as u32,
                    is_complete: have.is_complete,
                };
                let merged = self.merged.held[&(partition, have.producer)];
                assert!(held == merged || (held.blocks < merged.blocks && !held.is_complete));
                assert_eq!(have.attempt, self.merged.attempts[&have.producer]);
                found.held.insert((partition, have.producer), held);
                found.attempts.insert(have.producer, have.attempt);
                count += have.blocks as usize;
            }
            if count > 0 {
                let pieces = self.merged.pieces[&partition][..count].to_vec();
                found.pieces.insert(partition, pieces);
            }
        }
        found
    }

    fn if_open(&self, answer: Answer) -> Answer {
        if self.state == State::Open { answer } else { ARGUMENT }
    }

    fn end(&mut self, state: State) {
        self.state = state;
        self.turn = None;
        for pushed in self.pushes.values_mut() {
            pushed.is_late = true;
        }
    }

    fn resume(&mut self, answer: Answer, files: &Files) {
        if self.state == State::Finished {
            let codes = [ErrorCode::InvalidArgument, ErrorCode::LimitExceeded];
            assert!(codes.iter().any(|code| is_fault(answer, *code)), "{answer:?}");
            return;
        }
        self.end(State::Closed);
        self.merged = self.in_regions(files);
        match answer {
            Answer::Done => self.state = State::Open,
            _ => assert!(is_fault(answer, ErrorCode::LimitExceeded), "{answer:?}"),
        }
    }

    /// Ends a push, if it is there.
    fn release(&mut self, push: u8) {
        if let Some(pushed) = self.pushes.get_mut(&push) {
            pushed.is_over = true;
            pushed.waiting = 0;
            if self.turn == Some(push) && !pushed.is_late {
                self.turn = None;
            }
        }
    }

    /// What a push gives that is over, or whose merge is; none if it goes on.
    fn ended(&self, push: u8) -> Option<Answer> {
        let pushed = &self.pushes[&push];
        match (pushed.is_over, pushed.is_late) {
            (true, _) => Some(ARGUMENT),
            (_, true) => Some(Answer::Outcome(Outcome::Late)),
            _ => None,
        }
    }

    fn write(&mut self, push: u8, count: usize, answer: Answer) {
        let waiting: usize = self.pushes.values().map(|pushed| pushed.waiting).sum();
        let ended = self.ended(push);
        let pushed = self.pushes.get_mut(&push).expect("a push that is there");
        let bytes = count.min(self.program.fragment(pushed.fragment).len() - pushed.written);
        pushed.written += bytes;
        if let Some(ended) = ended {
            assert_eq!(answer, ended);
            return self.release(push);
        }
        if self.turn.is_some_and(|turn| turn != push) {
            if (waiting + bytes) as u64 <= self.program.options.max_waiting {
                pushed.waiting += bytes;
                return assert_eq!(answer, Answer::Taken);
            }
            assert_eq!(answer, Answer::Outcome(Outcome::Collision));
            return self.release(push);
        }
        pushed.waiting = 0;
        self.turn = Some(push);
        if answer != Answer::Taken {
            self.refused(push, answer);
        }
    }

    fn commit(&mut self, push: u8, answer: Answer) {
        if let Some(ended) = self.ended(push) {
            assert_eq!(answer, ended);
            return self.release(push);
        }
        if self.turn.is_some_and(|turn| turn != push) {
            assert_eq!(answer, Answer::Outcome(Outcome::Collision));
            return self.release(push);
        }
        let Answer::Outcome(Outcome::Merged | Outcome::Duplicate) = answer else {
            return self.refused(push, answer);
        };
        let pushed = &self.pushes[&push];
        assert_eq!(pushed.written, self.program.fragment(pushed.fragment).len());
        let mut merged = self.merged.clone();
        assert_eq!(answer, self.expected(push, &mut merged).expect("an accepted fragment"));
        self.merged = merged;
        self.turn = Some(push);
        self.release(push);
    }

    /// A refusal that comes from what the fragment says.
    fn refused(&mut self, push: u8, answer: Answer) {
        let pushed = &self.pushes[&push];
        let size = self.program.fragment(pushed.fragment).len();
        match answer {
            Answer::Outcome(Outcome::Gap | Outcome::OtherAttempt) => {}
            Answer::Fault(fault) => assert!(
                fault.role == Some(FileRole::Fragment) && fault.offset.is_some_and(|offset| offset <= size as u64),
                "{fault:?}"
            ),
            _ => panic!("{answer:?}"),
        }
        let is_cut = pushed.written < size && is_fault(answer, ErrorCode::Truncated);
        if let Some(expected) = self.expected(push, &mut self.merged.clone()).filter(|_| !is_cut) {
            assert_eq!(answer, expected);
        }
        self.turn = Some(push);
        self.release(push);
    }

    /// What a push gives that has the turn and all bytes of a fragment that is accepted; `merged` changes accordingly.
    fn expected(&self, push: u8, merged: &mut Merged) -> Option<Answer> {
        let pushed = &self.pushes[&push];
        let fragment = self.accepted.get(pushed.fragment)?.as_ref()?;
        let (header, options) = (&fragment.header, &self.program.options);
        let fault = |code, offset| {
            Some(Answer::Fault(Fault {
                code,
                role: Some(FileRole::Fragment),
                offset: Some(offset),
            }))
        };
        let end = options.first_partition + options.partition_count;
        let is_inside = header.first_partition >= options.first_partition && header.partitions().end <= end;
        for (is_right, offset) in [
            (header.producer == pushed.producer, 24),
            (header.framing == options.framing, 11),
            (is_inside, 56),
            (options.dictionaries || !header.has_dictionaries(), 16),
        ] {
            if !is_right {
                return fault(ErrorCode::MismatchedPair, offset);
            }
        }
        if *merged.attempts.entry(header.producer).or_insert(header.attempt) != header.attempt {
            return Some(Answer::Outcome(Outcome::OtherAttempt));
        }
        if fragment.schema != options.schema {
            return fault(ErrorCode::MismatchedPair, 88);
        }
        let mut last = BTreeMap::new();
        for (block, plain) in fragment.blocks.iter().zip(&fragment.plain) {
            let (partition, number) = (block.header.partition, block.header.sequence);
            let held = merged.held.entry((partition, header.producer)).or_default();
            if number < held.blocks {
                continue;
            }
            if held.is_complete {
                return fault(ErrorCode::InconsistentIndex, block.offset + 12);
            }
            if number > held.blocks {
                return Some(Answer::Outcome(Outcome::Gap));
            }
            held.blocks += 1;
            last.insert(partition, fragment.is_last == Some(true));
            let piece = (block.header.kind, plain.ok());
            merged.pieces.entry(partition).or_default().push(piece);
        }
        let is_new = !last.is_empty();
        for (partition, is_last) in last {
            let held = merged.held.entry((partition, header.producer)).or_default();
            held.is_complete = is_last;
        }
        if !is_new {
            *merged = self.merged.clone();
        }
        Some(Answer::Outcome(if is_new {
            Outcome::Merged
        } else {
            Outcome::Duplicate
        }))
    }
}

const ARGUMENT: Answer = Answer::Fault(Fault {
    code: ErrorCode::InvalidArgument,
    role: None,
    offset: None,
});

fn is_fault(answer: Answer, wanted: ErrorCode) -> bool {
    matches!(answer, Answer::Fault(Fault { code, .. }) if code == wanted)
}
