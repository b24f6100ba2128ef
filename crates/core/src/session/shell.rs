//! Command lines: what an agent typed into a shell, taken apart into the commands that ran.
//!
//! A line is split into simple commands. For each one it is known whether the exit status of the line
//! says something about it; where it does not, the output of known tools may.

mod check;
mod effect;
mod files;
mod git;
mod interest;
mod kinds;
mod lex;
mod line;
mod marks;
mod options;
mod ran;
mod why;
mod wrapper;

pub use check::{Check, Relation};
pub use effect::{Outside, effect_result, outside, outside_action, unchecked, url};
pub use files::{FileStep, file_step};
pub use git::{
    Git, Made, Message, PushedRef, conflicts, files_changed, is_id, logged, made, message, pushed,
};
pub use interest::{is_of_interest, may_change};
pub use kinds::{CheckKind, CheckResult, EffectKind, EffectResult};
pub use lex::Errors;
pub use line::{Line, Simple, Tells, join};
pub use ran::{Checked, Ended, checks};
pub use why::why;

#[cfg(test)]
mod tests;
