//! Ctrl-C and requests to terminate set a flag that long loops check, so that the command ends normally: writers that
//! are dropped remove their temporary files.

use std::io::{self, Read};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use crate::failure::{Failure, Outcome};

static INTERRUPTED: OnceLock<Arc<AtomicBool>> = OnceLock::new();

/// Makes the signals set the flag. A second signal ends the process at once.
#[cfg(not(target_os = "wasi"))]
pub(crate) fn install() -> Outcome {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    let flag = INTERRUPTED.get_or_init(Arc::default);
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        signal_hook::flag::register_conditional_shutdown(signal, 130, Arc::clone(flag))
            .and_then(|_| signal_hook::flag::register(signal, Arc::clone(flag)))
            .map_err(|source| Failure::Environment {
                what: "signal handlers".to_owned(),
                source,
            })?;
    }
    Ok(())
}

/// WebAssembly has no signals: a page that is closed ends all.
#[cfg(target_os = "wasi")]
pub(crate) fn install() -> Outcome {
    Ok(())
}

/// Whether the command was interrupted.
pub(crate) fn interrupted() -> bool {
    INTERRUPTED.get().is_some_and(|flag| flag.load(Ordering::Relaxed))
}

/// Fails if the command was interrupted.
pub(crate) fn check() -> Outcome {
    if interrupted() {
        Err(Failure::Interrupted)
    } else {
        Ok(())
    }
}

/// A pipe that is read in a separate thread, because a read that waits for input would not see the flag.
pub(crate) struct PatientPipe {
    chunks: Receiver<io::Result<Vec<u8>>>,
    current: Vec<u8>,
    used: usize,
}

impl PatientPipe {
    /// Reads `input` to its end in the background, a few chunks ahead.
    pub(crate) fn new(mut input: impl Read + Send + 'static) -> PatientPipe {
        let (sender, chunks) = sync_channel(4);
        std::thread::spawn(move || {
            loop {
                let mut chunk = vec![0; 1 << 18];
                let result = input.read(&mut chunk).map(|n| {
                    chunk.truncate(n);
                    chunk
                });
                let done = !matches!(&result, Ok(chunk) if !chunk.is_empty());
                // The receiver is gone when the command has failed.
                if sender.send(result).is_err() || done {
                    return;
                }
            }
        });
        PatientPipe {
            chunks,
            current: Vec::new(),
            used: 0,
        }
    }
}

impl Read for PatientPipe {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        while self.used == self.current.len() {
            match self.chunks.recv_timeout(Duration::from_millis(50)) {
                Ok(chunk) => {
                    self.current = chunk?;
                    self.used = 0;
                    if self.current.is_empty() {
                        return Ok(0);
                    }
                }
                Err(RecvTimeoutError::Disconnected) => return Ok(0),
                Err(RecvTimeoutError::Timeout) if interrupted() => return Err(io::Error::other("interrupted")),
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
        let n = into.len().min(self.current.len() - self.used);
        into[..n].copy_from_slice(&self.current[self.used..self.used + n]);
        self.used += n;
        Ok(n)
    }
}
