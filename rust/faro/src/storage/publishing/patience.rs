//! Waiting for other processes.

use std::time::{Duration, Instant};

const SHORTEST_PAUSE: Duration = Duration::from_millis(1);
const LONGEST_PAUSE: Duration = Duration::from_millis(20);

/// Waits in short steps until a time limit.
pub(super) struct Patience {
    end: Instant,
    pause: Duration,
}

impl Patience {
    pub(super) fn new(time: Duration) -> Patience {
        Patience {
            end: Instant::now() + time,
            pause: SHORTEST_PAUSE,
        }
    }

    pub(super) fn end(&self) -> Instant {
        self.end
    }

    /// Waits a moment; returns false at once after the time limit.
    pub(super) fn wait(&mut self) -> bool {
        if Instant::now() >= self.end {
            return false;
        }
        std::thread::sleep(self.pause);
        self.pause = (2 * self.pause).min(LONGEST_PAUSE);
        true
    }
}
