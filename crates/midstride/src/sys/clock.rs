//! The clock: the only module that reads the current time.
#![expect(clippy::disallowed_methods, reason = "the one module for this")]

use jiff::Timestamp;
use std::time::{Duration, Instant};

/// The source of the current time.
#[derive(Clone, Copy, Debug)]
pub enum Clock {
    /// The system clock.
    System,
    /// A fixed time, for reproducible runs.
    Fixed(Timestamp),
}

impl Clock {
    /// The current time.
    pub fn now(self) -> Timestamp {
        match self {
            Self::System => Timestamp::now(),
            Self::Fixed(moment) => moment,
        }
    }
}

/// Measures elapsed time.
#[derive(Clone, Copy, Debug)]
pub struct Stopwatch(Instant);

impl Stopwatch {
    /// Starts the stopwatch.
    pub fn start() -> Self {
        Self(Instant::now())
    }

    /// The time since the start.
    pub fn elapsed(self) -> Duration {
        self.0.elapsed()
    }
}

/// The time at which an operation must be finished.
#[derive(Clone, Copy, Debug)]
pub struct Deadline(Instant);

impl Deadline {
    /// A deadline this far in the future.
    pub fn after(time: Duration) -> Self {
        Self(Instant::now() + time)
    }

    /// The time left until the deadline.
    pub fn remaining(self) -> Duration {
        self.0.saturating_duration_since(Instant::now())
    }

    /// Whether the deadline has passed.
    pub(crate) fn has_passed(self) -> bool {
        Instant::now() > self.0
    }
}
