//! The clock: the only place that asks what time it is.
#![expect(clippy::disallowed_methods, reason = "this is the door")]

use jiff::Timestamp;
use std::time::{Duration, Instant};

/// What tells the time.
#[derive(Clone, Copy, Debug)]
pub enum Clock {
    /// The machine.
    System,
    /// A moment that does not move, so that a run can be repeated.
    Fixed(Timestamp),
}

impl Clock {
    /// The time now.
    pub fn now(self) -> Timestamp {
        match self {
            Self::System => Timestamp::now(),
            Self::Fixed(moment) => moment,
        }
    }
}

/// Tells how long something takes.
#[derive(Clone, Copy, Debug)]
pub struct Stopwatch(Instant);

impl Stopwatch {
    /// Starts now.
    pub fn start() -> Self {
        Self(Instant::now())
    }

    /// The time since.
    pub fn elapsed(self) -> Duration {
        self.0.elapsed()
    }
}

/// A moment after which nobody waits any longer.
#[derive(Clone, Copy, Debug)]
pub struct Deadline(Instant);

impl Deadline {
    /// So long from now.
    pub fn after(time: Duration) -> Self {
        Self(Instant::now() + time)
    }

    /// How long it is until then.
    pub fn remaining(self) -> Duration {
        self.0.saturating_duration_since(Instant::now())
    }

    /// Whether it is over.
    pub fn has_passed(self) -> bool {
        Instant::now() > self.0
    }
}
