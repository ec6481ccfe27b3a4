//! The commands `verdicts CORPUS` and `transcript TARGET FILE` of `fuzz/VERDICTS.md`.

use faro_fuzz_properties::TARGETS;
use faro_fuzz_properties::pack::inputs;
use faro_fuzz_properties::verdicts::{Transcript, sum, verdict};
use std::io::ErrorKind;
use std::path::Path;
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
        let inputs = match inputs(corpus, target) {
            Err(error) if error.kind() == ErrorKind::NotFound => Vec::new(),
            inputs => inputs?,
        };
        for input in inputs {
            let verdict = verdict(target, &input).ok_or("no such target")?;
            println!("{target} {} {verdict}", sum(&input));
        }
    }
    Ok(())
}
