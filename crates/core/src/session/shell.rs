//! Parses the command lines an agent runs in a shell into simple commands.
//!
//! For each command, the parser records whether the exit status of the line says something about
//! it. Where it does not, the output of known tools may.

mod check;
mod check_output;
mod check_results;
mod effect;
mod failure_lines;
mod files;
mod git;
mod interest;
mod kinds;
mod lex;
mod line;
mod options;
mod wrapper;

pub use check::{Check, Relation};
pub use check_results::{CheckedCommand, LineStatus, check_results};
pub use effect::{
    CommandEffect, command_effect, effect_result, tool_effect_action, unchecked_boxes_in, url,
};
pub use failure_lines::failure_lines;
pub use files::{FileStep, file_step};
pub use git::{
    CommitMessage, GitCommand, PrintedCommit, PushedRef, commit_message, conflicts, files_changed,
    is_id, logged_commits, printed_commits, pushed_refs,
};
pub use interest::{is_of_interest, may_change};
pub use kinds::{CheckKind, CheckResult, EffectKind, EffectResult};
pub use lex::StderrTarget;
pub use line::{ShellLine, SimpleCommand, StatusImplication, join_folder};

#[cfg(test)]
mod tests;
