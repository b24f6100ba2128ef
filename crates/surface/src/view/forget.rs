//! Renders `midstride forget`: the stored text to delete, and the copies that remain.

use super::{count, display_path, one_line, sanitize, shell_path, shell_word};
use crate::json::{JsonItem, JsonList};
use midstride::store::tombstone::{Tombstone, TombstoneKind};
use midstride::sys::git::{LogEntry, RemovalOutcome};
use midstride::verbs::{CapturedSession, ForgetOutcome, KeptText};
use midstride::workspace::Workspace;
use midstride_core::session::short_id;
use midstride_core::text::id::{BlobHash, CommitId};
use serde::Serialize;
use std::collections::BTreeSet;
use std::path::PathBuf;
use unicode_width::UnicodeWidthStr as _;

/// The maximum width of a preview; a preview never shows more than half of the text.
const WIDTH: usize = 60;
/// How many sessions of a project are listed.
const SESSIONS_SHOWN_MAX: usize = 5;
/// The number of characters of a hash that are shown.
const ID_LENGTH: usize = 12;

#[derive(Serialize)]
pub(crate) struct TombstoneJson {
    hash: BlobHash,
    what: Option<&'static str>,
    of: Option<String>,
    at: String,
    by: String,
    /// The remote that proposes it.
    from: Option<String>,
    reason: Option<String>,
}

pub(crate) fn json(tombstone: &Tombstone) -> TombstoneJson {
    TombstoneJson {
        hash: tombstone.hash.clone(),
        what: tombstone.kind.map(TombstoneKind::word),
        of: tombstone.owner.clone(),
        at: tombstone.forgotten_at.to_string(),
        by: tombstone.forgotten_by.clone(),
        from: tombstone.received_from.clone(),
        reason: tombstone.reason.clone(),
    }
}

/// A text that another clone forgot.
#[derive(Serialize)]
pub struct ProposalJson {
    #[serde(flatten)]
    tombstone: TombstoneJson,
    names: Vec<String>,
    here: bool,
}

impl JsonItem for ProposalJson {
    const LIST_SCHEMA: &'static str = "forget-proposals/1";
}

/// The JSON for a text that another clone forgot.
pub fn proposal_json(text: &KeptText, proposal: &Tombstone) -> ProposalJson {
    let (names, here) = (text.names.clone(), text.bytes.is_some());
    ProposalJson { tombstone: json(proposal), names, here }
}

/// A forgotten text, and the copies that remain.
#[derive(Serialize)]
pub struct ForgetJson {
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

impl JsonItem for ForgetJson {
    const LIST_SCHEMA: &'static str = "forgotten-texts/1";
}

#[derive(Serialize)]
struct CommitJson {
    commit: CommitId,
    subject: String,
    paths: Vec<String>,
}

/// The JSON for a forgotten text.
pub fn forget_json(text: &KeptText, done: &ForgetOutcome) -> ForgetJson {
    let commit = |entry: &LogEntry| CommitJson {
        commit: entry.commit.clone(),
        subject: entry.subject.clone(),
        paths: entry.paths.clone(),
    };
    ForgetJson {
        tombstone: json(&done.tombstone),
        names: text.names.clone(),
        new: done.is_new,
        left: match done.removal {
            RemovalOutcome::Removed => "nothing",
            RemovalOutcome::Packed => "packed",
            RemovalOutcome::Referenced => "reached",
            RemovalOutcome::NotOurs => "not-ours",
        },
        commits: done.commits.iter().map(commit).collect(),
        staged: done.staged.clone(),
        documents: text.documents.iter().map(|path| path.display().to_string()).collect(),
        handoffs: text.handoffs.iter().map(|path| path.display().to_string()).collect(),
        transcript: text.transcript.as_ref().map(|path| path.display().to_string()),
        others: text.others.clone(),
        elsewhere: done.may_remain_elsewhere,
    }
}

/// A tombstone in one line.
pub fn tombstone_line(tombstone: &Tombstone) -> String {
    let of = tombstone.owner.as_deref().map(|of| format!(" of {of}")).unwrap_or_default();
    let id = short_hash(tombstone.hash.as_str());
    let was = tombstone.kind.map_or("item", TombstoneKind::word);
    sanitize(&format!("{was}{of} ({id}), {tombstone}"))
}

/// Describes a stored text.
pub fn stored_text(text: &KeptText) -> String {
    let when = match (text.at, text.kind) {
        (Some(at), TombstoneKind::Revision) => {
            format!(", replaced {}", at.strftime("%Y-%m-%d %H:%M"))
        }
        (Some(at), _) => format!(", taken {}", at.strftime("%Y-%m-%d %H:%M")),
        (None, _) => String::new(),
    };
    let length = match text.bytes {
        Some(bytes) => format!(", {}", count(bytes, "byte")),
        None if text.tombstone.is_some() => String::new(),
        None => ", not on this machine".to_owned(),
    };
    let mut out = format!("{}{when}{length}\n  {}\n", sanitize(&text.describe()), text.hash);
    if let Some(beginning) = &text.preview {
        let width = WIDTH.min(text.bytes.unwrap_or_default() / 2);
        out.push_str(&format!("  {}\n", one_line(beginning, width)));
    }
    out
}

/// What `midstride forget` will do to the text.
pub fn plan(text: &KeptText) -> String {
    let gone = match text.kind {
        TombstoneKind::Revision => {
            "Its text will be permanently deleted; the history will still list it"
        }
        TombstoneKind::Checkpoint | TombstoneKind::Blob => {
            "Its text will be permanently deleted, including from the ledger"
        }
    };
    let sync_note = if text.is_shared {
        ", and `midstride sync` will propose the deletion to other clones"
    } else {
        ""
    };
    format!("{gone}. A tombstone will remain{sync_note}.")
}

/// The places that still have the text: a message and hints for each.
pub fn remaining_copies(
    workspace: &Workspace,
    text: &KeptText,
    done: &ForgetOutcome,
) -> Vec<(String, Vec<String>)> {
    let mut found = Vec::new();
    if done.removal == RemovalOutcome::Referenced {
        found.push((
            "git still references it; midstride does not change that".to_owned(),
            git_references(done).into_iter().chain([REWRITE_HINT.to_owned()]).collect(),
        ));
    }
    if done.removal == RemovalOutcome::NotOurs {
        let message =
            "git has a copy that midstride did not store, so that copy is kept".to_owned();
        found.push((message, git_references(done)));
    }
    if done.removal == RemovalOutcome::Packed {
        let hint = "`git gc --prune=now` rewrites the pack without it".to_owned();
        found.push(("it is still in a git pack, as an unreachable object".to_owned(), vec![hint]));
    }
    for path in &text.documents {
        let name = text.owner.as_deref().map_or_else(|| shell_path(path), shell_word);
        found.push((
            format!("`{}` itself still contains it", display_path(workspace, path)),
            vec![format!("remove it: midstride edit {name}")],
        ));
    }
    for path in &text.handoffs {
        found.push((
            format!(
                "`{}` contains facts from this session and may contain it",
                display_path(workspace, path)
            ),
            vec![format!("if it does, remove it: midstride edit {}", shell_path(path))],
        ));
    }
    if let Some(path) = &text.transcript {
        found.push((
            format!("the transcript `{}` still contains it", path.display()),
            vec![
                "capturing it again stores the text again, unless a `[[redact]]` rule in `.midstride/config.toml` removes it"
                    .to_owned(),
                "showing the session also stores the text again; after you delete the transcript, forget the text once more"
                    .to_owned(),
            ],
        ));
    }
    found
}

const REWRITE_HINT: &str = "rotate the secret; only rewriting the history removes it from git";

/// The git commits and staged files that contain the text.
fn git_references(done: &ForgetOutcome) -> Vec<String> {
    let commit = |entry: &LogEntry| {
        let id = short_hash(entry.commit.as_str());
        format!("{id}  {}  {}", entry.paths.join(", "), one_line(&entry.subject, WIDTH))
    };
    let staged = done.staged.iter().map(|path| format!("staged: {path}"));
    let all: Vec<String> = done.commits.iter().map(commit).chain(staged).collect();
    if all.is_empty() { vec!["a stash, a tag or a reflog references it".to_owned()] } else { all }
}

/// Other stored texts that may contain the same content.
pub fn related_texts(text: &KeptText) -> Option<String> {
    let names: Vec<String> = match text.kind {
        TombstoneKind::Revision => text.others.iter().map(|name| shell_word(name)).collect(),
        TombstoneKind::Checkpoint | TombstoneKind::Blob => {
            text.others.iter().map(|hash| short_hash(hash)).collect()
        }
    };
    if names.is_empty() {
        return None;
    }
    Some(format!(
        "Other stored copies may contain it too. To remove them: midstride forget {}",
        names.join(" ")
    ))
}

fn short_hash(id: &str) -> String {
    id.chars().take(ID_LENGTH).collect()
}

/// The sessions that would be deleted in a project.
pub fn sessions_text(
    workspace: &Workspace,
    sessions: &[CapturedSession],
    terminal: Option<usize>,
) -> String {
    let folder = sanitize(&workspace.root().path().display().to_string());
    let width = terminal.map_or(usize::MAX, |width| width.max(WIDTH));
    let line = |one: &CapturedSession| {
        let start =
            format!("  {}  {}  ", one.ended.strftime("%Y-%m-%d"), short_id(one.session.as_str()));
        let about_width = width.saturating_sub(start.width()).min(WIDTH);
        let about = one.about.as_deref().map(|about| one_line(about, about_width));
        format!("{start}{}\n", sanitize(&about.unwrap_or_default()))
    };
    let lines: String = sessions.iter().take(SESSIONS_SHOWN_MAX).map(line).collect();
    let more = sessions.len().saturating_sub(SESSIONS_SHOWN_MAX);
    let more = if more > 0 { format!("  and {more} more\n") } else { String::new() };
    format!("{folder}\n{lines}{more}")
}

/// What deleting sessions does not reach.
pub fn unreachable<'s>(sessions: impl Iterator<Item = &'s CapturedSession> + Clone) -> Vec<String> {
    let transcripts = sessions.clone().filter(|one| one.transcript().is_some()).count();
    let handoffs: BTreeSet<&PathBuf> = sessions.flat_map(CapturedSession::handoffs).collect();
    let mut lines = Vec::new();
    if transcripts > 0 {
        let transcripts = count(transcripts, "transcript");
        lines.push(format!("Not deleted: {transcripts} kept by the clients themselves"));
    }
    if !handoffs.is_empty() {
        let handoffs = count(handoffs.len(), "handoff");
        lines.push(format!("Not deleted: {handoffs} made from these sessions"));
    }
    lines.push("Not deleted: tasks that `midstride sync` sent to a remote, and backups".to_owned());
    lines
}

/// A deleted session.
#[derive(Serialize)]
pub struct DeletedSessionJson {
    client: String,
    session: String,
    at: String,
    ended: String,
    bytes: usize,
    transcript: Option<String>,
}

impl JsonItem for DeletedSessionJson {
    const LIST_SCHEMA: &'static str = "deleted-sessions/1";
}

/// The JSON for deleted sessions.
pub fn sessions_json<'s>(
    sessions: impl Iterator<Item = &'s CapturedSession>,
) -> JsonList<DeletedSessionJson> {
    let one = |one: &CapturedSession| DeletedSessionJson {
        client: one.client.clone(),
        session: one.session.to_string(),
        at: one.at.to_string(),
        ended: one.ended.to_string(),
        bytes: one.bytes,
        transcript: one.transcript().map(|path| path.display().to_string()),
    };
    sessions.map(one).collect()
}
