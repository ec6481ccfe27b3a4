//! Following growing files.

use crate::container::Container;
use crate::scratch;
use crate::seen::{Content, Fault, every, verdict};
use faro::{CheckLevel, CheckOptions, Files, Follower, Reader, ReaderOptions, check};
use std::collections::BTreeMap;

/// Checks the properties of `follow`: follows files while they grow.
pub fn follow(input: &[u8]) {
    let container = Container::sealed(input);
    let options = container.options();
    let mut growing = Growing::new(&container);
    let mut following = Following::default();
    for step in 0..4 {
        growing.step(step, &container);
        following.look(&growing.files, &options);
    }
    let finished_early = following.seen.1;
    growing.step(4, &container);
    following.look(&growing.files, &options);
    let files = growing.files;
    let mut at_once = Following::default();
    at_once.look(&files, &options);
    // A follower that has seen the file finished does not read further (FOL-5), even if it grows again.
    if !finished_early {
        assert_eq!(following.last, at_once.last, "step by step, and at once");
        assert_eq!(following.contents, at_once.contents, "step by step, and at once");
    }

    // A follower accepts a file that passes the check.
    let checked = verdict(
        check(
            &files,
            &CheckOptions::default()
                .level(CheckLevel::Checksums)
                .limits(options.limits.clone()),
        ),
        &files,
    );
    if let Ok(report) = checked {
        let regions = report.regions as usize;
        assert_eq!(following.last, Some(Ok((regions, true))));
        let reader = Reader::open(&files, options.clone()).expect("what was checked opens");
        for (partition, content) in &following.contents {
            let blocks = reader.partition(*partition).expect("a partition of the file");
            let read = Content::of(blocks, None, options.limits.max_plain_size, &files);
            assert_eq!(*content, read, "a follower's and a reader's partition {partition}");
        }
    }
}

/// The files while they grow.
pub(crate) struct Growing {
    pub files: Files,
    sizes: [usize; 2],
}

impl Growing {
    pub(crate) fn new(container: &Container) -> Self {
        let empty = Container {
            data: container.data.as_ref().map(|_| Vec::new()),
            index: Vec::new(),
            ..container.clone()
        };
        Growing {
            files: scratch::put(&empty),
            sizes: [0; 2],
        }
    }

    /// Steps 0 to 3 extend one file, step 4 writes both whole.
    pub(crate) fn step(&mut self, step: usize, container: &Container) {
        let bytes = [container.data.as_deref(), Some(container.index.as_slice())];
        let turn = if container.data.is_some() { step % 2 } else { 1 };
        for (at, bytes) in bytes.into_iter().enumerate() {
            let Some(bytes) = bytes else { continue };
            let size = match step {
                4 => bytes.len(),
                _ if at == turn => bytes.len().min(container.growth[step].into()),
                _ => 0,
            };
            if size > self.sizes[at] {
                self.sizes[at] = size;
                let path = match &self.files {
                    Files::Paired { data, .. } if at == 0 => data,
                    files => scratch::index(files),
                };
                scratch::write(path, &bytes[..size]);
            }
        }
    }
}

/// A follower, and its results so far.
#[derive(Default)]
struct Following {
    follower: Option<Follower>,
    /// The regions seen and whether the output is finished, or the fault.
    last: Option<Result<(usize, bool), Fault>>,
    seen: (usize, bool),
    contents: BTreeMap<u32, Content>,
}

impl Following {
    fn look(&mut self, files: &Files, options: &ReaderOptions) {
        if self.follower.is_none() {
            match verdict(Follower::open(files, options.clone()), files) {
                Ok(follower) => self.follower = Some(follower),
                Err(fault) => {
                    self.last = Some(Err(fault));
                    return;
                }
            }
        }
        let Some(follower) = &mut self.follower else { return };
        let said = verdict(follower.poll(), files).map(|progress| (progress.regions, progress.finished));
        let (regions, finished) = self.seen;
        assert!(follower.region_count() >= regions, "regions vanished");
        if finished {
            assert_eq!(said, Ok((regions, true)), "something came after the end");
        }
        if let Ok((regions, now_finished)) = said {
            assert_eq!(regions, follower.region_count());
            if now_finished && !finished {
                let reader = Reader::open(files, options.clone()).expect("a finished output opens");
                assert_eq!(reader.region_count(), regions);
            }
            self.seen.1 = now_finished;
        }
        self.seen.0 = follower.region_count();
        self.last = Some(said);
        for partition in every(follower.partitions()) {
            let blocks = follower.partition(partition).expect("a partition of the file");
            let content = Content::of(blocks, None, options.limits.max_plain_size, files);
            if let Some(before) = self.contents.get(&partition) {
                assert!(content.begins_with(before), "what was delivered changed");
            }
            self.contents.insert(partition, content);
        }
        // The byte map is returned, or refused with an allowed error.
        let _ = verdict(follower.byte_map(), files);
    }
}
