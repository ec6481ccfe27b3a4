//! Pages of the documentation: their commands are run, and the output is compared.

use std::path::{Path, PathBuf};

/// A command of a page, and the output that the page shows.
pub(crate) struct Example {
    pub command: String,
    pub printed: String,
    /// The lines of the output in the page, from the first to the one after the last.
    lines: (usize, usize),
}

/// A page. Its examples are the lines that begin with four spaces; their commands begin with `$ ` after these.
pub(crate) struct Page {
    path: PathBuf,
    text: String,
}

impl Page {
    /// A page in docs/.
    pub(crate) fn open(name: &str) -> Page {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(name);
        let text = std::fs::read_to_string(&path).unwrap();
        Page { path, text }
    }

    pub(crate) fn examples(&self) -> Vec<Example> {
        let mut found: Vec<Example> = Vec::new();
        let mut fenced = false;
        for (number, line) in self.text.lines().enumerate() {
            fenced ^= line.starts_with("```");
            let Some(line) = line.strip_prefix("    ").filter(|_| !fenced) else {
                continue;
            };
            if let Some(command) = line.strip_prefix("$ ") {
                found.push(Example {
                    command: command.to_owned(),
                    printed: String::new(),
                    lines: (number + 1, number + 1),
                });
                continue;
            }
            let example = found.last_mut().expect("a command before what it prints");
            // Empty lines do not end the output.
            for _ in example.lines.1..number {
                example.printed.push('\n');
            }
            example.printed.push_str(line);
            example.printed.push('\n');
            example.lines.1 = number + 1;
        }
        found
    }

    /// Rewrites the page with the real output of the commands, for the examples in `printed`.
    pub(crate) fn update(&self, printed: &[(Example, String)]) {
        let mut lines: Vec<String> = self.text.lines().map(str::to_owned).collect();
        for (example, got) in printed.iter().rev() {
            let indented = got.lines().map(|line| match line {
                "" => String::new(),
                line => format!("    {line}"),
            });
            lines.splice(example.lines.0..example.lines.1, indented);
        }
        std::fs::write(&self.path, lines.join("\n") + "\n").unwrap();
    }
}
