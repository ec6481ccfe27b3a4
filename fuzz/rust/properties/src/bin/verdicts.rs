//! The commands `verdicts CORPUS` and `transcript TARGET FILE` of `fuzz/VERDICTS.md`.

use faro_fuzz_properties::TARGETS;
use faro_fuzz_properties::verdicts::{Transcript, verdict};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let printed = match arguments[..] {
        ["verdicts", corpus] => verdicts(Path::new(corpus)),
        ["transcript", target, file] => transcript(target, file),
        _ => Err("verdicts CORPUS | transcript TARGET FILE".into()),
    };
    match printed {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(2)
        }
    }
}

type Printed = Result<(), Box<dyn std::error::Error>>;

fn transcript(target: &str, file: &str) -> Printed {
    let transcript = Transcript::of(target, &std::fs::read(file)?).ok_or("no such target")?;
    print!("{}", transcript.text());
    Ok(())
}

fn verdicts(corpus: &Path) -> Printed {
    let mut names = TARGETS.map(|(name, _)| name);
    names.sort_unstable();
    for target in names {
        for path in entries(&corpus.join(target))? {
            let name = path.file_name().ok_or("an entry without a name")?.to_string_lossy();
            let verdict = verdict(target, &std::fs::read(&path)?).ok_or("no such target")?;
            println!("{target} {name} {verdict}");
        }
    }
    Ok(())
}

/// The files of a folder by name; none if the folder is missing.
fn entries(folder: &Path) -> std::io::Result<Vec<PathBuf>> {
    if !folder.is_dir() {
        return Ok(Vec::new());
    }
    let mut paths = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        paths.push(entry?.path());
    }
    paths.retain(|path| path.is_file());
    paths.sort();
    Ok(paths)
}
