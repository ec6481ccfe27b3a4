//! Brings the bytes that openings and feeds want.

// Each test file is a crate and uses only a part.
#![allow(dead_code)]

use faro::feed::{Feed, FeedOptions, FeedReader, Opening, Wanted};
use faro::{Block, FileRole, Files, Result};
use std::collections::HashMap;
use std::ops::Range;
use std::task::Poll;

/// How bytes are brought.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Manner {
    /// As they are wanted.
    Whole,
    /// In pieces, in any order, some of them twice, and more than was wanted; by a seed.
    Wild(u64),
}

/// The files of an output in memory, and what was fetched of them.
pub(crate) struct Bringer {
    files: Files,
    bytes: HashMap<FileRole, Vec<u8>>,
    manner: Manner,
    /// What is on its way.
    coming: Vec<(FileRole, Range<u64>)>,
    pub(crate) requests: usize,
    /// How many times something was wanted.
    pub(crate) rounds: usize,
    /// The most bytes that were on their way at once.
    pub(crate) most_open: u64,
}

impl Bringer {
    pub(crate) fn new(files: &Files, manner: Manner) -> Self {
        let paths = files.paths();
        let bytes = paths.iter().map(|(role, path)| (*role, std::fs::read(path).unwrap()));
        Bringer {
            files: files.clone(),
            bytes: bytes.collect(),
            manner,
            coming: Vec::new(),
            requests: 0,
            rounds: 0,
            most_open: 0,
        }
    }

    pub(crate) fn size(&self, role: FileRole) -> u64 {
        self.bytes[&role].len() as u64
    }

    pub(crate) fn cut(&mut self, role: FileRole, size: usize) {
        self.bytes.get_mut(&role).unwrap().truncate(size);
    }

    pub(crate) fn bytes(&self, role: FileRole, range: Range<u64>) -> Vec<u8> {
        self.bytes[&role][range.start as usize..range.end as usize].to_vec()
    }

    pub(crate) fn range(&self, wanted: &Wanted) -> Range<u64> {
        wanted.range.within(self.size(wanted.role))
    }

    /// A number that looks random, below `below`.
    fn random(&mut self, below: u64) -> u64 {
        let Manner::Wild(seed) = &mut self.manner else { return 0 };
        *seed = seed.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = *seed;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (z ^ (z >> 31)) % below.max(1)
    }

    /// Notes what is wanted, in pieces if it is to be brought so.
    fn note(&mut self, wanted: Vec<Wanted>) {
        self.requests += wanted.len();
        self.rounds += usize::from(!wanted.is_empty());
        for wanted in wanted {
            let range = self.range(&wanted);
            let mut at = range.start;
            loop {
                let end = match self.manner {
                    Manner::Whole => range.end,
                    Manner::Wild(_) => range.end.min(at + 1 + self.random(400)),
                };
                self.coming.push((wanted.role, at..end));
                at = end;
                if at >= range.end {
                    break;
                }
            }
        }
        let open = self.coming.iter().map(|(_, range)| range.end - range.start).sum();
        self.most_open = self.most_open.max(open);
    }

    /// Brings one piece, or none when nothing is on its way.
    fn bring(&mut self, mut take: impl FnMut(FileRole, u64, Vec<u8>, u64) -> Result<()>) -> bool {
        if self.coming.is_empty() {
            return false;
        }
        let next = self.random(self.coming.len() as u64) as usize;
        let (role, mut range) = match self.random(5) {
            4 => self.coming[next].clone(),
            _ => self.coming.remove(next),
        };
        let size = self.size(role);
        if self.random(3) == 2 {
            range = range.start.saturating_sub(self.random(50))..(range.end + self.random(50)).min(size);
        }
        // The file may have shrunk since the bytes were wanted.
        let range = range.start.min(size)..range.end.min(size);
        take(role, range.start, self.bytes(role, range), size).unwrap();
        true
    }

    /// Opens the output.
    pub(crate) fn open(&mut self, options: &FeedOptions) -> Result<FeedReader> {
        self.coming.clear();
        let mut opening = match &self.files {
            Files::Single(path) => Opening::single(path, options.clone())?,
            Files::Paired { data, index } => Opening::paired(data, index, options.clone())?,
        };
        loop {
            if self.random(2) == 0 {
                self.note(opening.wanted());
            }
            if let Poll::Ready(result) = opening.poll() {
                return result;
            }
            self.note(opening.wanted());
            assert!(
                self.bring(|role, at, bytes, size| opening.bring(role, at, bytes, size)),
                "nothing is wanted"
            );
        }
    }

    /// Brings all that a feed wants now. Returns whether it wanted something.
    pub(crate) fn bring_wanted(&mut self, feed: &mut Feed) -> bool {
        self.note(feed.wanted());
        let is_wanted = !self.coming.is_empty();
        while self.bring(|role, at, bytes, size| feed.bring(role, at, bytes, size)) {}
        is_wanted
    }

    /// The blocks of a feed, and its fault.
    pub(crate) fn read(&mut self, mut feed: Feed) -> Vec<Result<Block>> {
        self.coming.clear();
        let mut found = Vec::new();
        loop {
            if self.random(2) == 1 {
                self.note(feed.wanted());
            }
            match feed.poll() {
                Poll::Ready(Some(block)) => found.push(block),
                Poll::Ready(None) => return found,
                Poll::Pending => {
                    self.note(feed.wanted());
                    assert!(
                        self.bring(|role, at, bytes, size| feed.bring(role, at, bytes, size)),
                        "nothing is wanted"
                    );
                }
            }
        }
    }
}
