//! Decodes the programs of `merge`, and carries them out.

use crate::container::{Container, limits_of};
use crate::cursor::Cursor;
use crate::seal::seal_stream;
use crate::seen::Fault;
use faro::merge::{Begun, Merge, MergeOptions, Outcome, Push};
use faro::{Framing, Limits, Result};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// An input of `merge`. Its steps are not decoded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MergeInput {
    pub flags: u8,
    /// Partitions, numbers and sizes.
    pub numbers: [u8; 3],
    /// With framing arrow only.
    pub schema: Option<Vec<u8>>,
    pub fragments: Vec<Vec<u8>>,
    pub steps: Vec<u8>,
}

impl MergeInput {
    pub(crate) fn decode(input: &[u8]) -> Self {
        let mut cursor = Cursor::new(input);
        let flags = cursor.byte();
        let numbers = [(); 3].map(|()| cursor.byte());
        let sized = |cursor: &mut Cursor<'_>| {
            let size = cursor.number(2) as usize;
            cursor.take(size).to_vec()
        };
        let schema = (flags >> 4 & 3 == 2).then(|| sized(&mut cursor));
        let count = cursor.byte() % 9;
        let fragments = (0..count).map(|_| sized(&mut cursor)).collect();
        MergeInput {
            flags,
            numbers,
            schema,
            fragments,
            steps: cursor.rest().to_vec(),
        }
    }

    /// The bytes that decode to this input. At most 8 fragments fit.
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut bytes = vec![self.flags];
        bytes.extend(self.numbers);
        let sized = |bytes: &mut Vec<u8>, part: &[u8]| {
            let part = &part[..part.len().min(u16::MAX.into())];
            bytes.extend((part.len() as u16).to_le_bytes());
            bytes.extend(part);
        };
        if let Some(schema) = &self.schema {
            sized(&mut bytes, schema);
        }
        let fragments = &self.fragments[..self.fragments.len().min(8)];
        bytes.push(fragments.len() as u8);
        for fragment in fragments {
            sized(&mut bytes, fragment);
        }
        bytes.extend(&self.steps);
        bytes
    }
}

/// A step of a merge. A push is named by a number up to 16.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    Begin {
        push: u8,
        fragment: usize,
        is_other_producer: bool,
        is_other_generation: bool,
    },
    Write {
        push: u8,
        count: usize,
    },
    Commit {
        push: u8,
    },
    Abort {
        push: u8,
    },
    Flush,
    Finalize,
    Close,
    Resume,
}

/// What a step gave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    Begun,
    Taken,
    Outcome(Outcome),
    Done,
    Finalized { regions: u64, runs: u64 },
    Fault(Fault),
}

/// The options of a merge, and what is done with it.
#[derive(Clone, Debug)]
pub(crate) struct MergeProgram {
    pub options: MergeOptions,
    pub fragments: Vec<Vec<u8>>,
    pub steps: Vec<Step>,
}

/// The most steps: more would take too long.
const MOST_STEPS: usize = 100;
/// The push of the calls that have none.
const OWN_PUSH: u8 = 16;

impl MergeProgram {
    pub(crate) fn decode(input: &[u8]) -> Self {
        let input = MergeInput::decode(input);
        let options = options(&input);
        let mut fragments = input.fragments;
        if input.flags & Container::SEAL != 0 {
            fragments.iter_mut().for_each(|fragment| seal_stream(fragment));
        }
        let mut cursor = Cursor::new(&input.steps);
        let mut steps = Vec::new();
        let mut count = 0;
        while !cursor.is_empty() && count < MOST_STEPS {
            count += 1;
            step(&mut cursor, fragments.len(), &mut steps);
        }
        MergeProgram {
            options,
            fragments,
            steps,
        }
    }

    /// The fragment with this number; without fragments one without bytes.
    pub(crate) fn fragment(&self, number: usize) -> &[u8] {
        self.fragments.get(number).map_or(&[], Vec::as_slice)
    }

    /// Those of the options, except for what a merged file has more of than a fragment.
    pub(crate) fn limits(&self) -> Limits {
        let (limits, default) = (self.options.limits.clone(), Limits::default());
        limits
            .max_regions(default.max_regions)
            .max_message_size(default.max_message_size)
            .max_dictionaries(default.max_dictionaries)
    }

    /// The producer that pushes a fragment.
    pub(crate) fn producer(&self, fragment: usize) -> u64 {
        let bytes = self.fragment(fragment).iter().skip(24).take(8);
        bytes
            .enumerate()
            .fold(0, |sum, (at, byte)| sum | u64::from(*byte) << (8 * at))
    }
}

fn options(input: &MergeInput) -> MergeOptions {
    let [count, numbers, sizes] = input.numbers;
    let framing = match input.flags >> 4 & 3 {
        0 => Framing::Opaque,
        2 => Framing::Arrow,
        _ => Framing::Records,
    };
    let waiting = match sizes >> 4 {
        0 => 0,
        high => 16 << high,
    };
    MergeOptions::new(u32::from(count) + 1)
        .first_partition((numbers & 15).into())
        .generation((numbers >> 4).into())
        .framing(framing)
        .schema(input.schema.clone())
        .dictionaries(input.flags & 1 != 0)
        .file_id(Some([0x4D; 16]))
        .chunk_size(1 << (sizes & 15))
        .max_waiting(waiting)
        .limits(limits_of(input.flags))
}

fn step(cursor: &mut Cursor<'_>, fragments: usize, steps: &mut Vec<Step>) {
    let byte = cursor.byte();
    let (call, mut push) = (byte & 15, byte >> 4);
    if call <= 5 {
        if call <= 2 {
            push = OWN_PUSH;
        }
        steps.push(Step::Begin {
            push,
            fragment: usize::from(cursor.byte()) % fragments.max(1),
            is_other_producer: call == 4,
            is_other_generation: call == 5,
        });
    }
    let rest = Step::Write {
        push,
        count: usize::MAX,
    };
    match call {
        0..=2 | 7 => steps.extend([rest, Step::Commit { push }]),
        6 => steps.push(Step::Write {
            push,
            count: cursor.number(2) as usize,
        }),
        8 => steps.push(Step::Commit { push }),
        9 => steps.push(Step::Abort { push }),
        10 => steps.push(Step::Flush),
        11 => steps.push(Step::Finalize),
        12 => steps.push(Step::Close),
        13 => steps.push(Step::Resume),
        _ => {}
    }
}

/// A push, its fragment, and how many bytes of it were written.
struct Pushing {
    push: Box<Push>,
    fragment: usize,
    written: usize,
}

/// A merge that carries out a program.
struct Running<'a> {
    program: &'a MergeProgram,
    name: PathBuf,
    merge: Merge,
    is_open: bool,
    pushes: BTreeMap<u8, Pushing>,
}

/// Runs the steps in a folder. `see` gets each step and its answer.
///
/// # Errors
/// The fault of creating the merge.
pub(crate) fn carry_out(
    program: &MergeProgram,
    folder: &Path,
    mut see: impl FnMut(Step, Answer),
) -> std::result::Result<(), Fault> {
    let name = folder.join("x");
    let merge = Merge::create(&name, program.options.clone()).map_err(|error| Fault::from(&error))?;
    let mut running = Running {
        program,
        name,
        merge,
        is_open: true,
        pushes: BTreeMap::new(),
    };
    let mut carry_out = |step: Step, running: &mut Running<'_>| {
        if let Some(answer) = running.step(step) {
            let answer = answer.unwrap_or_else(|error| Answer::Fault(Fault::from(&error)));
            see(step, answer);
        }
    };
    for step in &program.steps {
        carry_out(*step, &mut running);
    }
    if running.is_open {
        carry_out(Step::Finalize, &mut running);
    }
    Ok(())
}

impl Running<'_> {
    /// Carries out a step; none if there is nothing to do.
    fn step(&mut self, step: Step) -> Option<Result<Answer>> {
        Some(match step {
            Step::Begin {
                push,
                fragment,
                is_other_producer,
                is_other_generation,
            } => {
                if let Some(mut before) = self.pushes.remove(&push) {
                    before.push.abort();
                }
                let producer = self.program.producer(fragment).wrapping_add(is_other_producer.into());
                let generation = self.program.options.generation + u64::from(is_other_generation);
                self.begin(push, fragment, producer, generation)
            }
            Step::Write { push, count } => {
                let pushing = self.pushes.get_mut(&push)?;
                let left = &self.program.fragment(pushing.fragment)[pushing.written..];
                let bytes = &left[..count.min(left.len())];
                pushing.written += bytes.len();
                let written = pushing.push.write(bytes);
                written.map(|refused| refused.map_or(Answer::Taken, Answer::Outcome))
            }
            Step::Commit { push } => self.pushes.get_mut(&push)?.push.commit().map(Answer::Outcome),
            Step::Abort { push } => {
                self.pushes.get_mut(&push)?.push.abort();
                Ok(Answer::Done)
            }
            Step::Flush => self.merge.flush().map(|()| Answer::Done),
            Step::Finalize => {
                self.is_open = false;
                self.merge.finalize().map(|summary| Answer::Finalized {
                    regions: summary.regions,
                    runs: summary.runs,
                })
            }
            Step::Close => {
                if !std::mem::take(&mut self.is_open) {
                    return None;
                }
                self.merge.close().map(|()| Answer::Done)
            }
            Step::Resume => self.resume(),
        })
    }

    fn begin(&mut self, push: u8, fragment: usize, producer: u64, generation: u64) -> Result<Answer> {
        Ok(match self.merge.begin(producer, generation)? {
            Begun::Open(open) => {
                let begun = Pushing {
                    push: open,
                    fragment,
                    written: 0,
                };
                self.pushes.insert(push, begun);
                Answer::Begun
            }
            Begun::Refused(outcome) => Answer::Outcome(outcome),
        })
    }

    fn resume(&mut self) -> Result<Answer> {
        if std::mem::take(&mut self.is_open) {
            self.merge.close()?;
        }
        self.merge = Merge::resume(&self.name, self.program.options.clone())?;
        self.is_open = true;
        Ok(Answer::Done)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_mean_steps() {
        let input = b"\x21\x04\x52\x33\x01\0s\x02\x01\0a\x02\0bc\x01\x03\x14\x01\x16\x02\0\x18\x19\x0A\x0D\x0F\x0B";
        let decoded = MergeInput::decode(input);
        assert_eq!(decoded.encode(), input);
        let program = MergeProgram::decode(input);
        let options = &program.options;
        assert_eq!(
            (options.partition_count, options.first_partition, options.generation),
            (5, 2, 5)
        );
        assert_eq!((options.chunk_size, options.max_waiting), (8, 128));
        assert_eq!(
            (options.framing, options.schema.as_deref()),
            (Framing::Arrow, Some(&b"s"[..]))
        );
        assert!(options.dictionaries);
        assert_eq!(program.fragments, [b"a".to_vec(), b"bc".to_vec()]);
        let begin = |push, is_other_producer| Step::Begin {
            push,
            fragment: 1,
            is_other_producer,
            is_other_generation: false,
        };
        let write = |push, count| Step::Write { push, count };
        let expected = [
            begin(16, false),
            write(16, usize::MAX),
            Step::Commit { push: 16 },
            begin(1, true),
            write(1, 2),
            Step::Commit { push: 1 },
            Step::Abort { push: 1 },
            Step::Flush,
            Step::Resume,
            Step::Finalize,
        ];
        assert_eq!(program.steps, expected);
    }
}
