//! A kept text that is to be forgotten, and what is left of it.

use super::{count, one_line, shell_path, shell_word, shown_path, tame};
use midstride::store::tombstone::{Tombstone, Was};
use midstride::sys::git::{Left, LogEntry};
use midstride::verbs::{Forgotten, KeptText};
use midstride::workspace::project::Project;
use serde::Serialize;

/// How much of a text is shown; never more than half of it.
const WIDTH: usize = 60;
/// How much of an id tells it from all others, in a line.
const ID_LENGTH: usize = 12;

#[derive(Serialize)]
pub(crate) struct TombstoneJson {
    hash: String,
    what: Option<&'static str>,
    of: Option<String>,
    at: String,
    by: String,
    reason: Option<String>,
}

pub(crate) fn json(tombstone: &Tombstone) -> TombstoneJson {
    TombstoneJson {
        hash: tombstone.hash.clone(),
        what: tombstone.was.map(Was::word),
        of: tombstone.of.clone(),
        at: tombstone.at.to_string(),
        by: tombstone.by.clone(),
        reason: tombstone.reason.clone(),
    }
}

#[derive(Serialize)]
pub(crate) struct ForgottenJson {
    #[serde(flatten)]
    tombstone: TombstoneJson,
    names: Vec<String>,
    new: bool,
    left: &'static str,
    commits: Vec<CommitJson>,
    staged: Vec<String>,
    documents: Vec<String>,
    handoffs: Vec<String>,
    transcript: Option<String>,
    others: Vec<String>,
    elsewhere: bool,
}

#[derive(Serialize)]
struct CommitJson {
    commit: String,
    subject: String,
    paths: Vec<String>,
}

pub(crate) fn forgotten_json(text: &KeptText, done: &Forgotten) -> ForgottenJson {
    let commit = |entry: &LogEntry| CommitJson {
        commit: entry.commit.clone(),
        subject: entry.subject.clone(),
        paths: entry.paths.clone(),
    };
    ForgottenJson {
        tombstone: json(&done.tombstone),
        names: text.names.clone(),
        new: done.is_new,
        left: match done.left {
            Left::Nothing => "nothing",
            Left::Packed => "packed",
            Left::Reached => "reached",
        },
        commits: done.commits.iter().map(commit).collect(),
        staged: done.staged.clone(),
        documents: text.documents.iter().map(|path| path.display().to_string()).collect(),
        handoffs: text.handoffs.iter().map(|path| path.display().to_string()).collect(),
        transcript: text.transcript.as_ref().map(|path| path.display().to_string()),
        others: text.others.clone(),
        elsewhere: done.is_elsewhere,
    }
}

/// A tombstone in a line.
pub(crate) fn tombstone(tombstone: &Tombstone) -> String {
    let of = tombstone.of.as_deref().map(|of| format!(" of {of}")).unwrap_or_default();
    let id = short(&tombstone.hash);
    let was = tombstone.was.map_or("text", Was::word);
    tame(&format!("{was}{of} ({id}), {tombstone}"))
}

/// What a text is, and what would happen to it.
pub(crate) fn kept(text: &KeptText) -> String {
    let when = match (text.at, text.was) {
        (Some(at), Was::Revision) => format!(", replaced {}", at.strftime("%Y-%m-%d %H:%M")),
        (Some(at), _) => format!(", taken {}", at.strftime("%Y-%m-%d %H:%M")),
        (None, _) => String::new(),
    };
    let length = match text.bytes {
        Some(bytes) => format!(", {}", count(bytes, "byte")),
        None if text.tombstone.is_some() => String::new(),
        None => ", not on this machine".to_owned(),
    };
    let mut out = format!("{}{when}{length}\n  {}\n", tame(&text.called()), text.hash);
    if let Some(beginning) = &text.beginning {
        let width = WIDTH.min(text.bytes.unwrap_or_default() / 2);
        out.push_str(&format!("  {}\n", one_line(beginning, width)));
    }
    out
}

/// What happens to it.
pub(crate) fn plan(text: &KeptText) -> String {
    let gone = match text.was {
        Was::Revision => "Its text is removed for good; the history goes on naming it",
        Was::Checkpoint | Was::Blob => "Its text is removed for good, also from the ledger",
    };
    let told = if text.is_shared { ", and `midstride sync` tells others" } else { "" };
    format!("{gone}. A tombstone stays{told}.")
}

/// What still has the text, with what to do about it: a message and hints each.
pub(crate) fn still(
    project: &Project,
    text: &KeptText,
    done: &Forgotten,
) -> Vec<(String, Vec<String>)> {
    let mut found = Vec::new();
    if done.left == Left::Reached {
        found.push((
            "git still has it, which midstride does not touch".to_owned(),
            reached(done).into_iter().chain([REWRITE.to_owned()]).collect(),
        ));
    }
    if done.left == Left::Packed {
        let hint = "`git gc --prune=now` writes the pack anew without it".to_owned();
        found.push((
            "it still lies in a pack of git, where nothing leads to it".to_owned(),
            vec![hint],
        ));
    }
    for path in &text.documents {
        let name = text.of.as_deref().map_or_else(|| shell_path(path), shell_word);
        found.push((
            format!("`{}` itself still says it", shown_path(project, path)),
            vec![format!("take it out: midstride edit {name}")],
        ));
    }
    for path in &text.handoffs {
        found.push((
            format!("`{}` has facts of this session, and may say it", shown_path(project, path)),
            vec![format!("look, and take it out: midstride edit {}", shell_path(path))],
        ));
    }
    if let Some(path) = &text.transcript {
        found.push((
            format!("the transcript `{}` still says it", path.display()),
            vec![
                "what is captured from it again says it too, unless a rule `[[redact]]` in \
                 `.midstride/config.toml` takes it out"
                    .to_owned(),
                "looking at the session reads it as well, and keeps what it read: once the transcript \
                 is gone, forget it once more"
                    .to_owned(),
            ],
        ));
    }
    found
}

const REWRITE: &str =
    "change the secret where it is used; only rewriting the history takes it out of git";

/// Where git has it.
fn reached(done: &Forgotten) -> Vec<String> {
    let commit = |entry: &LogEntry| {
        let id = short(&entry.commit);
        format!("{id}  {}  {}", entry.paths.join(", "), one_line(&entry.subject, WIDTH))
    };
    let staged = done.staged.iter().map(|path| format!("staged: {path}"));
    let all: Vec<String> = done.commits.iter().map(commit).chain(staged).collect();
    if all.is_empty() { vec!["a stash, a tag or a log of git leads to it".to_owned()] } else { all }
}

/// Other kept texts that may say the same.
pub(crate) fn others(text: &KeptText) -> Option<String> {
    let names: Vec<String> = match text.was {
        Was::Revision => text.others.iter().map(|name| shell_word(name)).collect(),
        Was::Checkpoint | Was::Blob => text.others.iter().map(|hash| short(hash)).collect(),
    };
    if names.is_empty() {
        return None;
    }
    Some(format!("Kept besides, and may say it too: midstride forget {}", names.join(" ")))
}

fn short(id: &str) -> String {
    id.chars().take(ID_LENGTH).collect()
}
