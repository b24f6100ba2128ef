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

pub use check::Check;

pub(crate) use check::Relation;
pub(crate) use check_results::{LineStatus, check_results};
pub(in crate::session) use effect::mcp_tool_name;
pub(crate) use effect::{CommandEffect, command_effect, effect_result, unchecked_boxes_in};
pub use effect::{tool_effect_action, url};
pub(crate) use failure_lines::failure_lines;
pub(crate) use files::{FileStep, file_step};
pub(crate) use git::{
    GitCommand, PrintedCommit, PushedRef, commit_message, files_changed, logged_commits,
    printed_commits, pushed_refs,
};
pub use git::{conflicts, is_id};
pub use interest::{is_of_interest, may_change};
pub use kinds::{CheckKind, CheckResult, EffectKind, EffectResult};
pub use line::join_folder;
pub(crate) use line::{ShellLine, SimpleCommand};

#[cfg(test)]
mod tests;
