//! Parses git commands and git's output.

use super::check_output::output_lines;
use super::line::{ShellLine, SimpleCommand, join_folder};
use crate::text::id::CommitId;
use std::borrow::Cow;

/// A git command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct GitCommand<'s> {
    /// The subcommand.
    pub verb: &'s str,
    /// The arguments after it.
    pub args: &'s [String],
    /// The folder it works in, if the line says so.
    pub folder: Option<String>,
}

impl<'s> GitCommand<'s> {
    /// Parses a simple command as a git command.
    pub(crate) fn from_command(command: &'s SimpleCommand) -> Option<Self> {
        if command.program() != "git" {
            return None;
        }
        let mut folder = command.folder.clone();
        let args = command.args();
        let mut at = 0;
        while let Some(arg) = args.get(at) {
            match arg.as_str() {
                "-C" => {
                    let to = args.get(at + 1)?;
                    folder = Some(join_folder(folder.as_deref(), to));
                    at += 2;
                }
                "-c" | "--git-dir" | "--work-tree" => at += 2,
                option if option.starts_with('-') => at += 1,
                verb => return Some(Self { verb, args: &args[at + 1..], folder }),
            }
        }
        None
    }

    /// Whether an argument is given verbatim.
    pub(crate) fn has(&self, arg: &str) -> bool {
        self.args.iter().any(|given| given == arg)
    }

    /// Whether one of the options is given.
    pub(crate) fn has_any(&self, options: &[&str]) -> bool {
        options.iter().any(|option| self.has(option))
    }

    /// Returns the arguments that are not options.
    pub(crate) fn operands(&self) -> impl Iterator<Item = &'s str> {
        self.args.iter().map(String::as_str).filter(|arg| !arg.starts_with('-'))
    }

    /// Whether it continues, skips, or aborts an operation that stopped on conflicts.
    fn is_conflict_continuation(&self) -> bool {
        matches!(self.verb, "merge" | "rebase" | "cherry-pick" | "revert" | "am")
            && self.has_any(&["--continue", "--abort", "--skip", "--quit"])
    }

    /// Whether it continues, aborts, or discards an operation that stopped on conflicts.
    pub(crate) fn ends_conflicts(&self) -> bool {
        self.is_conflict_continuation()
            || (self.verb == "reset" && self.has_any(&["--hard", "--merge"]))
    }

    /// Whether it can stop on conflicts.
    pub(crate) fn can_conflict(&self) -> bool {
        let is_stash = self.verb == "stash"
            && self.args.first().is_some_and(|arg| matches!(arg.as_str(), "pop" | "apply"));
        is_stash
            || matches!(self.verb, "merge" | "rebase" | "cherry-pick" | "pull" | "revert" | "am")
    }

    /// Whether a commit is given a message rather than keeping its existing one.
    pub(crate) fn has_message(&self) -> bool {
        let gives = |arg: &String| match arg.strip_prefix("--") {
            Some(long) => ["message", "file", "reuse-message", "template", "fixup", "squash"]
                .iter()
                .any(|name| long.starts_with(name)),
            None => arg.starts_with('-') && arg.ends_with(['m', 'F', 'C', 'c']),
        };
        self.args.iter().any(gives)
    }
}

/// A commit shown in git's output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PrintedCommit {
    /// The branch; `None` for a detached `HEAD`.
    pub branch: Option<String>,
    /// Its id, possibly abbreviated.
    pub id: CommitId,
    /// Its subject.
    pub subject: String,
    /// The number of files it changed.
    pub files: Option<u64>,
}

/// Returns the commits that an output shows: `[main 1a2b3c4] Fix the cache`.
pub(crate) fn printed_commits(output: &str) -> Vec<PrintedCommit> {
    let mut found: Vec<PrintedCommit> = Vec::new();
    for line in output_lines(output) {
        if let Some(one) = printed_commit(line.trim()) {
            found.push(one);
        } else if let (Some(files), Some(last)) = (files_changed(&line), found.last_mut()) {
            last.files.get_or_insert(files);
        }
    }
    found
}

fn printed_commit(line: &str) -> Option<PrintedCommit> {
    let (inside, subject) = line.strip_prefix('[')?.split_once("] ")?;
    let (name, id) = inside.rsplit_once(' ')?;
    if !is_id(id) || subject.is_empty() {
        return None;
    }
    let name = name.strip_suffix(" (root-commit)").unwrap_or(name);
    if name.contains(' ') && name != "detached HEAD" {
        return None;
    }
    let branch = (name != "detached HEAD").then(|| name.to_owned());
    Some(PrintedCommit { branch, id: CommitId::new(id), subject: subject.to_owned(), files: None })
}

/// Returns the count from a line such as ` 3 files changed, 10 insertions(+)`.
pub(crate) fn files_changed(line: &str) -> Option<u64> {
    let (number, rest) = line.trim_start().split_once(' ')?;
    let number = number.parse().ok()?;
    (rest.starts_with("file changed") || rest.starts_with("files changed")).then_some(number)
}

/// Whether a word is an object id or an abbreviation of one.
pub fn is_id(word: &str) -> bool {
    (7..=40).contains(&word.len())
        && word.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'a'..=b'f'))
}

/// A commit message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CommitMessage {
    /// Its first line.
    pub subject: String,
    /// The text after it, without trailers.
    pub body: Option<String>,
}

/// Returns the message that the command line gives to a commit.
pub(crate) fn commit_message(
    command: &SimpleCommand,
    git: &GitCommand<'_>,
    line: &ShellLine,
) -> Option<CommitMessage> {
    let mut args = git.args.iter();
    // Each `-m` is a paragraph.
    let mut paragraphs: Vec<String> = Vec::new();
    while let Some(arg) = args.next() {
        let is_short = arg.starts_with('-') && !arg.starts_with("--");
        if arg == "--message" || (is_short && arg.ends_with('m')) {
            paragraphs.extend(args.next().cloned());
        } else if let Some(given) = arg.strip_prefix("--message=") {
            paragraphs.push(given.to_owned());
        } else {
            let file = match arg.strip_prefix("--file=") {
                Some(file) => Some(file),
                None if arg == "--file" || (is_short && arg.ends_with('F')) => {
                    args.next().map(String::as_str)
                }
                None => None,
            };
            paragraphs.extend(file.and_then(|file| file_text(command, file, line)));
        }
    }
    // A message with several lines is a heredoc. In a single line, the value of a shell variable is
    // not known.
    let first = paragraphs.first()?.trim();
    let is_known = !first.contains(['$', '`']) || first.contains('\n');
    let message = paragraphs.join("\n\n");
    let (subject, rest) = message.trim().split_once('\n').unwrap_or((message.trim(), ""));
    let message = CommitMessage { subject: subject.trim().to_owned(), body: message_body(rest) };
    (is_known && !message.subject.is_empty()).then_some(message)
}

/// Returns the message body without trailers: who signed it and which tool helped says nothing
/// about the change.
fn message_body(text: &str) -> Option<String> {
    let mut lines: Vec<&str> = text.trim().lines().map(str::trim_end).collect();
    // A line in the same paragraph as a signature is a trailer too.
    let last = lines.iter().rposition(|line| line.is_empty()).map_or(0, |at| at + 1);
    let is_signed = lines[last..].iter().any(|line| is_trailer(line));
    let has_name = |line: &str| {
        let name = line.split_once(": ").map_or("", |(name, _)| name);
        is_signed && !name.is_empty() && !name.contains(' ')
    };
    let is_last = |count: usize| count > last;
    while lines.last().is_some_and(|line| {
        line.is_empty() || is_trailer(line) || is_last(lines.len()) && has_name(line)
    }) {
        lines.pop();
    }
    let text = lines.join("\n");
    // The value of a shell substitution is not known.
    (!text.is_empty() && !text.contains("$(")).then_some(text)
}

/// Whether a line is a trailer: `Co-authored-by: A <a@example.org>`, `Change-Id: I12`, "Generated
/// with [a tool]".
fn is_trailer(line: &str) -> bool {
    let name = line.split_once(": ").map_or("", |(name, _)| name).to_ascii_lowercase();
    let is_signed = name.ends_with("-by") && !name.contains(' ');
    is_signed
        || matches!(name.as_str(), "change-id" | "claude-session")
        || line.contains("Generated with [")
}

/// Returns the text of a file written on the same line, or of standard input.
pub(super) fn file_text(command: &SimpleCommand, file: &str, line: &ShellLine) -> Option<String> {
    if file == "-" || file == "/dev/stdin" {
        return command.stdin.clone();
    }
    let writes = |one: &&SimpleCommand| one.output_to.as_deref() == Some(file);
    line.commands.iter().filter(writes).find_map(|one| one.stdin.clone())
}

/// A ref that a push changed, or failed to change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PushedRef {
    /// The local ref.
    pub local: String,
    /// The remote ref.
    pub remote: String,
    /// The commit that the remote ref points to now.
    pub id: Option<CommitId>,
    /// Whether the push of this ref succeeded.
    pub is_done: bool,
    /// Whether it is a tag.
    pub is_tag: bool,
}

/// Returns the refs that the output of a push shows.
pub(crate) fn pushed_refs(output: &str) -> Vec<PushedRef> {
    output_lines(output).filter_map(|line| pushed_ref(&line)).collect()
}

fn pushed_ref(line: &str) -> Option<PushedRef> {
    let (left, right) = line.split_once(" -> ")?;
    let left = left.trim_start();
    let is_done = !left.starts_with('!');
    let left = left.trim_start_matches(['*', '+', '!', '=', '-']).trim_start();
    let (what, local) = match left.strip_prefix('[') {
        Some(rest) => rest.split_once(']')?,
        None => left.split_once(char::is_whitespace)?,
    };
    let (_, id) = what.rsplit_once("..").unwrap_or(("", ""));
    let is_moved = is_id(id) && what.contains("..");
    let is_named = matches!(
        what,
        "new branch"
            | "new tag"
            | "new reference"
            | "rejected"
            | "remote rejected"
            | "up to date"
            | "remote failure"
            | "no match"
    );
    let remote = right.split_whitespace().next()?;
    // A fetch prints the same lines, with the name of the remote before the branch.
    if !(is_moved || is_named) || (is_fetched(line, remote, local.trim())) {
        return None;
    }
    Some(PushedRef {
        local: local.trim().to_owned(),
        remote: remote.to_owned(),
        id: is_moved.then(|| CommitId::new(id)),
        is_done,
        is_tag: what == "new tag",
    })
}

fn is_fetched(line: &str, remote: &str, local: &str) -> bool {
    line.contains("FETCH_HEAD") || remote.ends_with(&format!("/{local}")) && remote != local
}

/// Returns the commits that a log shows, each id with its subject: `1a2b3c4 (HEAD -> main) Fix the
/// cache`.
pub(crate) fn logged_commits(output: &str) -> Vec<(CommitId, String)> {
    let mut found = Vec::new();
    let mut whole: Option<CommitId> = None;
    for line in output_lines(output) {
        if let Some(rest) = line.strip_prefix("commit ") {
            whole = rest.split_whitespace().next().filter(|id| is_id(id)).map(CommitId::new);
            continue;
        }
        if let Some(subject) = line.strip_prefix("    ")
            && let Some(id) = whole.take()
        {
            found.push((id, subject.trim().to_owned()));
            continue;
        }
        let Some((id, rest)) = line.trim_start_matches(['*', '|', ' ']).split_once(' ') else {
            continue;
        };
        if !is_id(id) {
            continue;
        }
        let subject = match rest.strip_prefix('(').and_then(|rest| rest.split_once(") ")) {
            Some((_, subject)) => subject,
            None => rest,
        };
        found.push((CommitId::new(id), subject.trim().to_owned()));
    }
    found
}

/// Returns the lines that report conflicts; empty if nothing conflicted.
pub fn conflicts(output: &str) -> Vec<String> {
    const LINES_MAX: usize = 3;
    let is_one = |line: &Cow<'_, str>| {
        line.starts_with("CONFLICT (")
            || line.starts_with("Automatic merge failed")
            || line.contains("could not apply ")
            || line.starts_with("Patch failed at ")
    };
    let mut found: Vec<String> = output_lines(output).filter(is_one).map(Cow::into_owned).collect();
    if found.iter().any(|line| line.starts_with("CONFLICT")) {
        found.retain(|line| line.starts_with("CONFLICT"));
    }
    found.truncate(LINES_MAX);
    found
}
