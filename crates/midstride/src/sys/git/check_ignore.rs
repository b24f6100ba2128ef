//! Asks which paths git ignores, through one `git check-ignore` process.

use super::run::GitReach;
use super::{GitError, Repository};
use crate::sys::process::Conversation;
use std::io::{self, BufRead as _};

/// A running `git check-ignore` process.
#[derive(Debug)]
pub(crate) struct IgnoreReader(Conversation);

impl IgnoreReader {
    /// Whether git ignores a path below the working tree.
    pub(crate) fn is_ignored(&mut self, path: &str) -> io::Result<bool> {
        // A path with a line break would be read as two requests.
        if path.contains('\n') {
            return Ok(false);
        }
        self.0.ask(format!("{path}\n").as_bytes())?;
        let mut answer = String::new();
        if self.0.answers.read_line(&mut answer)? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        // `<source>:<line>:<pattern>\t<path>`, with empty parts if no pattern matches. A pattern
        // with `!` includes the path again.
        let pattern = answer.split('\t').next().unwrap_or_default().splitn(3, ':').nth(2);
        Ok(pattern.is_some_and(|pattern| !pattern.is_empty() && !pattern.starts_with('!')))
    }
}

impl Repository {
    /// Starts the process.
    pub(crate) fn ignore_reader(&self) -> Result<IgnoreReader, GitError> {
        let asked = ["check-ignore", "--stdin", "--verbose", "--non-matching", "--no-index"];
        let mut git = self.command(GitReach::Local, &asked)?;
        Conversation::start(&mut git).map(IgnoreReader).map_err(GitError::NotStarted)
    }
}
