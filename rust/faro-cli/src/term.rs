//! Output to a terminal: colours only where wanted, and no control characters from files (SEC-4).

use std::io::{self, IsTerminal, Write};

use clap::ValueEnum;

use crate::escape::escape_bytes;
use crate::failure::{Failure, Outcome};

/// When to use colours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    /// On a terminal, unless the environment has NO_COLOR
    #[default]
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

impl Color {
    /// Whether a stream gets colours, if it is a terminal or not.
    pub(crate) fn wanted(self, terminal: bool) -> bool {
        let forbidden = || {
            std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty())
                || std::env::var_os("TERM").is_some_and(|value| value == "dumb")
        };
        match self {
            Color::Always => true,
            Color::Never => false,
            Color::Auto => terminal && !forbidden(),
        }
    }
}

/// Colours, or none.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Style {
    on: bool,
}

impl Style {
    /// With colours if `on`.
    pub(crate) fn new(on: bool) -> Style {
        Style { on }
    }

    fn paint(self, code: &str, text: &str) -> String {
        if self.on {
            format!("\x1b[{code}m{text}\x1b[0m")
        } else {
            text.to_owned()
        }
    }

    pub(crate) fn bold(self, text: &str) -> String {
        self.paint("1", text)
    }

    pub(crate) fn dim(self, text: &str) -> String {
        self.paint("2", text)
    }

    pub(crate) fn red(self, text: &str) -> String {
        self.paint("1;31", text)
    }

    pub(crate) fn green(self, text: &str) -> String {
        self.paint("32", text)
    }

    pub(crate) fn yellow(self, text: &str) -> String {
        self.paint("33", text)
    }

    pub(crate) fn cyan(self, text: &str) -> String {
        self.paint("36", text)
    }
}

/// Standard output, buffered. It remembers a closed pipe, which is not an error.
pub(crate) struct Out {
    inner: Box<dyn Write + Send>,
    style: Style,
    terminal: bool,
    closed: bool,
}

impl Out {
    /// The process's standard output.
    pub(crate) fn stdout(color: Color) -> Out {
        let stdout = io::stdout();
        let terminal = stdout.is_terminal();
        let style = Style::new(color.wanted(terminal));
        Out {
            inner: Box::new(io::BufWriter::with_capacity(1 << 16, stdout)),
            style,
            terminal,
            closed: false,
        }
    }

    pub(crate) fn style(&self) -> Style {
        self.style
    }

    pub(crate) fn is_terminal(&self) -> bool {
        self.terminal
    }

    /// Whether the reader of the output has closed it.
    pub(crate) fn is_closed(&self) -> bool {
        self.closed
    }

    /// Prints a line of text that is safe already.
    pub(crate) fn line(&mut self, text: &str) -> Outcome {
        self.text(text)?;
        self.text("\n")
    }

    /// Prints text that is safe already.
    pub(crate) fn text(&mut self, text: &str) -> Outcome {
        self.write_all(text.as_bytes()).map_err(stdout_failure)
    }

    /// Prints bytes of a payload: unchanged, or escaped on a terminal.
    pub(crate) fn payload(&mut self, bytes: &[u8]) -> Outcome {
        if self.terminal {
            let safe = escape_bytes(bytes);
            return self.text(&safe);
        }
        self.write_all(bytes).map_err(stdout_failure)
    }

    /// Prints a report as indented JSON.
    pub(crate) fn json(&mut self, report: &impl serde::Serialize) -> Outcome {
        let text = serde_json::to_string_pretty(report).map_err(|e| stdout_failure(e.into()))?;
        self.line(&text)
    }

    /// Writes everything in the buffer.
    pub(crate) fn finish(&mut self) -> Outcome {
        self.flush().map_err(stdout_failure)
    }

    fn remember<T>(&mut self, result: io::Result<T>) -> io::Result<T> {
        if let Err(error) = &result {
            self.closed |= error.kind() == io::ErrorKind::BrokenPipe;
        }
        result
    }
}

impl Write for Out {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let result = self.inner.write(bytes);
        self.remember(result)
    }

    fn flush(&mut self) -> io::Result<()> {
        let result = self.inner.flush();
        self.remember(result)
    }
}

fn stdout_failure(source: io::Error) -> Failure {
    Failure::Environment {
        what: "standard output".to_owned(),
        source,
    }
}
