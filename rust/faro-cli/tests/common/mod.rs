//! Runs the command in a temporary directory.

// Each test file is a crate and uses only a part.
#![allow(dead_code)]

pub(crate) mod page;
pub(crate) mod tables;

use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

/// A directory for one test.
pub(crate) struct Folder(pub tempfile::TempDir);

impl Folder {
    pub(crate) fn new() -> Folder {
        Folder(tempfile::tempdir().unwrap())
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        std::fs::write(self.path(name), content).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path(name)).unwrap()
    }

    /// The command, to be run in this directory.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_faro"));
        command
            .args(args)
            .current_dir(self.0.path())
            .stdin(Stdio::null())
            .env_remove("NO_COLOR");
        command
    }

    pub(crate) fn run(&self, args: &[&str]) -> Output {
        self.command(args).output().unwrap()
    }

    /// Runs the command, which must succeed, and returns its output.
    pub(crate) fn ok(&self, args: &[&str]) -> Vec<u8> {
        let output = self.run(args);
        assert!(
            output.status.success(),
            "{args:?}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        output.stdout
    }

    pub(crate) fn text(&self, args: &[&str]) -> String {
        String::from_utf8(self.ok(args)).unwrap()
    }

    /// Runs the command, which must end with this exit code, and returns its error message.
    pub(crate) fn fails(&self, code: i32, args: &[&str]) -> String {
        let output = self.run(args);
        let complaint = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(code), "{args:?}: {complaint}");
        complaint
    }

    pub(crate) fn json(&self, args: &[&str]) -> serde_json::Value {
        serde_json::from_slice(&self.ok(args)).unwrap()
    }

    /// The names of the files in the directory, sorted.
    pub(crate) fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.0.path()).unwrap();
        let mut names: Vec<String> = entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }
}
