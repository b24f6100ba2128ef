//! The clock: the only place that asks what time it is.
#![expect(clippy::disallowed_methods, reason = "this is the door")]

use jiff::Timestamp;

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
