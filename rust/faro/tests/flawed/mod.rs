//! A destination in memory whose calls fail or panic as a test says.

// Each test file is a crate and uses only a part.
#![allow(dead_code)]

use faro::FileRole;
use faro::storage::{Destination, MemoryDestination, NewFile, StoredFile};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

/// What happens to a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flaw {
    /// It fails before it did anything.
    Refused(ErrorKind),
    /// It does its work and fails all the same.
    DoneAndFailed,
    /// It panics before it did anything.
    Panic,
}

/// The calls so far, and the one that goes wrong.
#[derive(Debug)]
struct Log {
    calls: Vec<String>,
    flaw: Option<(usize, Flaw)>,
}

#[derive(Clone, Debug)]
pub(crate) struct Flawed {
    pub memory: MemoryDestination,
    log: Arc<Mutex<Log>>,
}

impl Flawed {
    /// Call number `at` has this flaw.
    pub(crate) fn new(flaw: Option<(usize, Flaw)>) -> Flawed {
        let calls = Vec::new();
        Flawed {
            memory: MemoryDestination::new("out"),
            log: Arc::new(Mutex::new(Log { calls, flaw })),
        }
    }

    /// The calls so far, `remove` left out.
    pub(crate) fn calls(&self) -> Vec<String> {
        self.log.lock().unwrap().calls.clone()
    }

    fn call<T>(&self, call: String, act: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
        let flaw = {
            let mut log = self.log.lock().unwrap();
            log.calls.push(call.clone());
            log.flaw.filter(|(at, _)| *at == log.calls.len() - 1)
        };
        match flaw {
            None => act(),
            Some((_, Flaw::Refused(kind))) => Err(kind.into()),
            Some((_, Flaw::DoneAndFailed)) => act().and(Err(ErrorKind::TimedOut.into())),
            Some((_, Flaw::Panic)) => panic!("{call}: a flaw of the test"),
        }
    }
}

impl Destination for Flawed {
    fn create(&mut self, role: FileRole) -> io::Result<Box<dyn NewFile>> {
        let mut memory = self.memory.clone();
        let file = self.call(format!("create {}", role.as_str()), || memory.create(role))?;
        let flawed = self.clone();
        Ok(Box::new(FlawedFile { file, role, flawed }))
    }

    fn taken(&self, role: FileRole) -> io::Result<Option<PathBuf>> {
        self.call(format!("taken {}", role.as_str()), || self.memory.taken(role))
    }
}

#[derive(Debug)]
struct FlawedFile {
    file: Box<dyn NewFile>,
    role: FileRole,
    flawed: Flawed,
}

impl FlawedFile {
    fn call<T>(&mut self, call: &str, act: impl FnOnce(&mut dyn NewFile) -> io::Result<T>) -> io::Result<T> {
        let call = format!("{call} {}", self.role.as_str());
        self.flawed.call(call, || act(&mut *self.file))
    }
}

impl NewFile for FlawedFile {
    fn name(&self) -> &Path {
        self.file.name()
    }

    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.call("append", |file| file.append(bytes))
    }

    fn sync(&mut self) -> io::Result<()> {
        self.call("sync", |file| file.sync())
    }

    fn publish(&mut self, replace: bool) -> io::Result<()> {
        self.call("publish", |file| file.publish(replace))
    }

    fn remove(&mut self) -> io::Result<()> {
        self.file.remove()
    }

    fn open(&self) -> io::Result<Box<dyn StoredFile>> {
        self.flawed
            .call(format!("open {}", self.role.as_str()), || self.file.open())
    }
}
