//! Where outputs are for writing, reading and checking. The protocol names local files: a storage copies the files that it
//! reads or checks from there before each request, and those that it wrote to there when the output is finished.

use crate::output::Output;
use crate::protocol::Failure;
use faro::{CheckOptions, CheckReport, FileRole, Files, Layout, Reader, ReaderOptions, Writer, WriterOptions};
use std::fmt::Debug;
use std::io;
use std::path::{Path, PathBuf};

/// Where outputs are.
pub trait Storage: Debug {
    /// Creates a writer. What may be followed is always local.
    ///
    /// # Errors
    /// Those of the writer.
    fn create(&self, path: &Path, options: WriterOptions) -> Result<NewOutput, Failure>;

    /// Opens a reader.
    ///
    /// # Errors
    /// Those of the reader.
    fn open(&self, files: &Files, options: ReaderOptions) -> faro::Result<Reader>;

    /// Opens an output whose partitions and ranges are read alone; by default with [`Storage::open`].
    ///
    /// # Errors
    /// Those of opening.
    fn open_output(&self, files: &Files, options: ReaderOptions) -> faro::Result<Box<dyn Output>> {
        Ok(Box::new(self.open(files, options)?))
    }

    /// Checks an output.
    ///
    /// # Errors
    /// Those of the check.
    fn check(&self, files: &Files, options: &CheckOptions) -> faro::Result<CheckReport>;
}

/// Files at their paths.
#[derive(Clone, Copy, Debug)]
pub struct Local;

impl Storage for Local {
    fn create(&self, path: &Path, options: WriterOptions) -> Result<NewOutput, Failure> {
        Ok(NewOutput::new(Writer::create(path, options)?, |_| Ok(())))
    }

    fn open(&self, files: &Files, options: ReaderOptions) -> faro::Result<Reader> {
        Reader::open(files, options)
    }

    fn check(&self, files: &Files, options: &CheckOptions) -> faro::Result<CheckReport> {
        faro::check(files, options)
    }
}

/// Copies the finished file with a role to its path.
type CopyOut = dyn Fn(FileRole) -> io::Result<()>;

/// A writer, and what copies its files to their paths.
pub struct NewOutput {
    pub(crate) writer: Writer,
    copy: Box<CopyOut>,
}

impl NewOutput {
    /// A writer. When its output is finished, `copy` copies each of its files to its path.
    pub fn new(writer: Writer, copy: impl Fn(FileRole) -> io::Result<()> + 'static) -> NewOutput {
        NewOutput {
            writer,
            copy: Box::new(copy),
        }
    }

    /// Finishes the output.
    pub(crate) fn finish(&mut self) -> Result<(), Failure> {
        let summary = self.writer.finish()?;
        for (role, path) in summary.files.paths() {
            (self.copy)(role)
                .map_err(|error| Failure::Unsupported(format!("a copy of {}: {error}", path.display())))?;
        }
        Ok(())
    }
}

/// The path of an output without the endings. The layout that the path asks for becomes an option, since a storage has
/// other names.
///
/// # Errors
/// `invalid-argument` for a path that cannot have this layout.
pub fn name_and_layout(path: &Path, options: &mut WriterOptions) -> Result<PathBuf, Failure> {
    if options.single_below > 0 {
        // A NAME with an ending has only one layout, which this refuses.
        Files::to_write(path, Some(Layout::Single))?;
        Files::to_write(path, Some(Layout::Paired))?;
    } else {
        options.layout = Some(match Files::to_write(path, options.layout)? {
            Files::Single(_) => Layout::Single,
            Files::Paired { .. } => Layout::Paired,
        });
    }
    Ok(match Files::to_write(path, None)? {
        Files::Single(file) | Files::Paired { data: file, .. } => file.with_extension(""),
    })
}

/// The path of a file of an output, from the path without endings.
pub fn path_of(name: &Path, role: FileRole) -> PathBuf {
    let files = match role {
        FileRole::Single => Files::single(name),
        _ => Files::paired(name),
    };
    let paths = files.paths();
    let found = paths.iter().find(|(of, _)| *of == role);
    found.map_or_else(|| name.to_path_buf(), |(_, path)| path.to_path_buf())
}
