//! Waiting for what other processes do.

use std::time::{Duration, Instant};

const SHORTEST_PAUSE: Duration = Duration::from_millis(1);
const LONGEST_PAUSE: Duration = Duration::from_millis(20);

/// Waits a moment, again and again, until the time is out.
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

    /// Waits a moment; false at once if the time is out.
    pub(super) fn wait(&mut self) -> bool {
        if Instant::now() >= self.end {
            return false;
        }
        std::thread::sleep(self.pause);
        self.pause = (2 * self.pause).min(LONGEST_PAUSE);
        true
    }
}
