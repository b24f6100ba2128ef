//! What a citation is compared with: its anchor, the commit that wrote its line, or the commit that
//! the header names.

use super::ground::{Ground, Grounds, Look};
use crate::git::Repository;
use crate::project::Shelved;
use midstride_core::anchor::{Anchor, Anchors, CitedLines, Key, Stood};
use midstride_core::citation::Citation;
use midstride_core::drift::{Baseline, Doubt};
use midstride_core::span::Span;
use std::cell::OnceCell;
use std::path::PathBuf;
use std::sync::Arc;

/// What stood at a place when it was cited, and how that is known.
pub(super) struct Base {
    pub(super) baseline: Baseline,
    /// Where it was found.
    pub(super) path: String,
    /// The state it belongs to, where there is one to look into.
    pub(super) ground: Option<Ground>,
    pub(super) was: Was,
}

/// What stood at a place.
pub(super) enum Was {
    Nothing,
    Folder,
    File { blob: Option<String>, text: Option<Arc<str>>, cited: Option<CitedLines> },
    Unknown(Doubt),
}

/// Who wrote a line of a document.
enum Writer {
    Commit(String),
    /// The oldest commit that is here, or one before it.
    AtEndOf(String),
    /// It is not committed yet.
    Nobody,
    /// The document is not tracked.
    Unknown,
}

/// Where the baselines of one document come from.
pub(super) struct Baselines<'d> {
    grounds: &'d Grounds<'d>,
    shelved: &'d Shelved,
    /// Where it lies.
    document: PathBuf,
    now: &'d Ground,
    anchors: Anchors,
    /// The commit in the header, if it is here.
    at_commit: Option<Result<String, Doubt>>,
    /// Asked for when a citation without an anchor needs it.
    writers: OnceCell<Vec<Option<String>>>,
}

impl<'d> Baselines<'d> {
    pub(super) fn of(grounds: &'d Grounds<'d>, shelved: &'d Shelved, now: &'d Ground) -> Self {
        let at_commit = at_commit(grounds, shelved);
        let anchors = Anchors::of(&shelved.document);
        let document = grounds.project.root().path().join(&shelved.path);
        Self { grounds, shelved, document, now, anchors, at_commit, writers: OnceCell::new() }
    }

    pub(super) fn of_citation(&self, key: &Key, citation: &Citation<'_>) -> Base {
        match self.anchors.find(key) {
            Some(anchor) => self.by_anchor(anchor, citation),
            None => self.by_history(citation),
        }
    }

    fn by_anchor(&self, anchor: &Anchor, citation: &Citation<'_>) -> Base {
        let path = anchor.path.clone();
        let path = path.unwrap_or_else(|| self.grounds.below_top(citation.path));
        let was = match &anchor.stood {
            Stood::Nothing => Was::Nothing,
            Stood::Folder => Was::Folder,
            Stood::File { blob, lines } => {
                Was::File { blob: blob.clone(), text: None, cited: *lines }
            }
        };
        let ground = self.at_commit.clone().and_then(Result::ok).map(Ground::Commit);
        Base { baseline: Baseline::Anchor, path, ground, was }
    }

    fn by_history(&self, citation: &Citation<'_>) -> Base {
        match (self.writer_of(citation.written.at), &self.at_commit) {
            (Writer::Commit(commit), _) => {
                self.at(Baseline::Blame(commit.clone()), &commit, citation)
            }
            // Newer than the commit that the header has named before.
            (Writer::Nobody, _) if self.is_named_before() => self.just_written(citation),
            (_, Some(Ok(commit))) if !self.is_head(commit) => {
                self.at(Baseline::AtCommit(commit.clone()), commit, citation)
            }
            (Writer::Nobody, _) | (_, Some(Ok(_))) => self.just_written(citation),
            (Writer::AtEndOf(commit), _) => self.unknown(citation, Doubt::ShallowEnd(commit)),
            (Writer::Unknown, Some(Err(doubt))) => self.unknown(citation, doubt.clone()),
            (Writer::Unknown, None) => self.unknown(citation, Doubt::NoBaseline),
        }
    }

    /// Who wrote the line that something stands in.
    fn writer_of(&self, at: Span) -> Writer {
        let line = self.shelved.document.position(at.start).line;
        match self.writers.get_or_init(|| self.writers()).get(line - 1) {
            Some(Some(commit)) if self.grounds.oldest_here().contains(commit) => {
                Writer::AtEndOf(commit.clone())
            }
            Some(Some(commit)) => Writer::Commit(commit.clone()),
            Some(None) => Writer::Nobody,
            None => Writer::Unknown,
        }
    }

    /// Whether the line in the header that names a commit is committed itself.
    fn is_named_before(&self) -> bool {
        let named = self.shelved.document.header().and_then(|header| header.text("at_commit"));
        let writer = named.map(|named| self.writer_of(named.at));
        matches!(writer, Some(Writer::Commit(_) | Writer::AtEndOf(_)))
    }

    fn writers(&self) -> Vec<Option<String>> {
        let project = self.grounds.project;
        let path = project.path_in_work_tree(self.shelved);
        project.repository().zip(path).map_or_else(Vec::new, |(repository, path)| {
            repository.writers_of_lines(&path, &self.shelved.bytes)
        })
    }

    fn is_head(&self, commit: &str) -> bool {
        let head = self.grounds.project.repository().and_then(Repository::head_commit);
        head.is_some_and(|head| head.starts_with(commit))
    }

    fn at(&self, baseline: Baseline, commit: &str, citation: &Citation<'_>) -> Base {
        let ground = Ground::Commit(commit.to_owned());
        let path = self.grounds.resolve(&self.document, citation.path, &ground);
        let looked = path.as_deref().map(|path| self.grounds.look(&ground, path));
        let path = path.unwrap_or_else(|| self.grounds.below_top(citation.path));
        let was = was(looked, citation);
        Base { baseline, path, ground: Some(ground), was }
    }

    /// What is there now is what it says.
    fn just_written(&self, citation: &Citation<'_>) -> Base {
        let path = self.grounds.resolve(&self.document, citation.path, self.now);
        let looked = path.as_deref().map(|path| self.grounds.look(self.now, path));
        let path = path.unwrap_or_else(|| self.grounds.below_top(citation.path));
        let was = was(looked, citation);
        Base { baseline: Baseline::JustWritten, path, ground: None, was }
    }

    fn unknown(&self, citation: &Citation<'_>, doubt: Doubt) -> Base {
        let path = self.grounds.resolve(&self.document, citation.path, self.now);
        let path = path.unwrap_or_else(|| self.grounds.below_top(citation.path));
        Base { baseline: Baseline::None, path, ground: None, was: Was::Unknown(doubt) }
    }
}

/// What was seen, as what stood there: lines that a file does not have were never there.
fn was(looked: Option<Look>, citation: &Citation<'_>) -> Was {
    match looked {
        None | Some(Look::Nothing) => Was::Nothing,
        Some(Look::Folder) => Was::Folder,
        Some(Look::Hidden(doubt)) => Was::Unknown(doubt),
        Some(Look::File { text }) => {
            let too_few = |last: usize| text.as_ref().is_some_and(|t| t.lines().count() < last);
            if citation.lines.is_some_and(|lines| too_few(lines.last)) {
                return Was::Nothing;
            }
            Was::File { blob: None, text, cited: None }
        }
    }
}

/// The commit that the header of a document names; an error where it is not here.
fn at_commit(grounds: &Grounds<'_>, shelved: &Shelved) -> Option<Result<String, Doubt>> {
    let repository = grounds.project.repository()?;
    let named = shelved.document.header()?.text("at_commit")?.value.trim().to_lowercase();
    let is_id = (7..=64).contains(&named.len()) && named.bytes().all(|b| b.is_ascii_hexdigit());
    if !is_id {
        return None;
    }
    if grounds.has_commit(&named) {
        return Some(Ok(named));
    }
    Some(Err(match repository.is_shallow() {
        true => Doubt::Shallow(named),
        false => Doubt::LostCommit(named),
    }))
}
