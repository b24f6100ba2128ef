//! Command lines: what an agent typed into a shell, taken apart into the commands that ran.
//!
//! A line is split into simple commands. For each one it is known whether the exit status of the line
//! says something about it; where it does not, the output of known tools may.

mod kinds;
mod lex;
mod line;
mod wrapper;

pub use kinds::{CheckKind, CheckResult, EffectKind, EffectResult};
pub use line::{Line, Simple, Tells};

#[cfg(test)]
mod tests;
