//! Interrupts SQLite when a time is up.

use rusqlite::Connection;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

/// Runs queries on a connection and interrupts them when their time is up.
pub(super) fn with_timeout<T>(
    connection: &Connection,
    time: Duration,
    work: impl FnOnce() -> T,
) -> T {
    let interrupt = connection.get_interrupt_handle();
    let (done, waiting) = channel::<()>();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            if waiting.recv_timeout(time) == Err(RecvTimeoutError::Timeout) {
                interrupt.interrupt();
            }
        });
        let result = work();
        drop(done);
        result
    })
}
