//! What a citation is compared with: its anchor, the commit that wrote its line, or the commit that
//! the header names.

use super::ground::{Ground, Grounds, Look, Meant};
use crate::sys::git::Repository;
use crate::workspace::project::Shelved;
use midstride_core::handoff::anchor::{Anchor, AnchorKey, AnchorTarget, Anchors, CitedLines};
use midstride_core::handoff::citation::Citation;
use midstride_core::handoff::drift::{CitationDoubt, CitationOrigin};
use midstride_core::text::span::Span;
use std::cell::OnceCell;
use std::path::PathBuf;
use std::sync::Arc;

/// What stood at a place when it was cited, and how that is known.
pub(super) struct Base {
    pub(super) baseline: CitationOrigin,
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
    File {
        blob: Option<String>,
        text: Option<Arc<str>>,
        cited: Option<CitedLines>,
        /// Whether other lines of the file said the same.
        had_twin: bool,
    },
    Unknown(CitationDoubt),
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
    at_commit: Option<Result<String, CitationDoubt>>,
    /// Asked for when a citation without an anchor needs it.
    writers: OnceCell<Vec<Option<String>>>,
}

impl<'d> Baselines<'d> {
    pub(super) fn of(grounds: &'d Grounds<'d>, shelved: &'d Shelved, now: &'d Ground) -> Self {
        let at_commit = at_commit(grounds, shelved);
        let anchors = Anchors::from_document(&shelved.document);
        let document = grounds.project.root().path().join(&shelved.path);
        Self { grounds, shelved, document, now, anchors, at_commit, writers: OnceCell::new() }
    }

    pub(super) fn of_citation(&self, key: &AnchorKey, citation: &Citation<'_>) -> Base {
        match self.anchors.find(key) {
            Some(anchor) => self.by_anchor(anchor, citation),
            // Bare names that led nowhere have no anchors; who has others was written with them.
            None if citation.is_bare_name() && self.anchors.all().next().is_some() => {
                self.unknown(citation, CitationDoubt::NoOrigin)
            }
            None => self.by_history(citation),
        }
    }

    fn by_anchor(&self, anchor: &Anchor, citation: &Citation<'_>) -> Base {
        let path = anchor.path.clone();
        let path = path.unwrap_or_else(|| self.grounds.below_top(citation.path));
        let was = match &anchor.target {
            AnchorTarget::Missing => Was::Nothing,
            AnchorTarget::Folder => Was::Folder,
            AnchorTarget::File { blob, lines, has_twin } => {
                let (blob, had_twin) = (blob.clone(), *has_twin);
                Was::File { blob, text: None, cited: *lines, had_twin }
            }
        };
        let ground = self.at_commit.clone().and_then(Result::ok).map(Ground::Commit);
        Base { baseline: CitationOrigin::Anchor, path, ground, was }
    }

    fn by_history(&self, citation: &Citation<'_>) -> Base {
        match (self.writer_of(citation.written.at), &self.at_commit) {
            (Writer::Commit(commit), _) => {
                self.at(CitationOrigin::Blame(commit.clone()), &commit, citation)
            }
            // Newer than the commit that the header has named before.
            (Writer::Nobody, _) if self.is_named_before() => self.just_written(citation),
            (_, Some(Ok(commit))) if !self.is_head(commit) => {
                self.at(CitationOrigin::AtCommit(commit.clone()), commit, citation)
            }
            (Writer::Nobody, _) | (_, Some(Ok(_))) => self.just_written(citation),
            (Writer::AtEndOf(commit), _) => {
                self.unknown(citation, CitationDoubt::ShallowEnd(commit))
            }
            (Writer::Unknown, Some(Err(doubt))) => self.unknown(citation, doubt.clone()),
            (Writer::Unknown, None) => {
                self.unknown(citation, self.grounds.trouble().unwrap_or(CitationDoubt::NoOrigin))
            }
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
        // Git has nothing to tell about a document that it does not know.
        let listed = self.grounds.listed(&Ground::WorkTree);
        let is_tracked = |path: &PathBuf| path.to_str().is_some_and(|path| listed.is_tracked(path));
        let path = path.filter(is_tracked);
        project.repository().zip(path).map_or_else(Vec::new, |(repository, path)| {
            repository.writers_of_lines(&path, &self.shelved.bytes)
        })
    }

    fn is_head(&self, commit: &str) -> bool {
        let head = self.grounds.project.repository().and_then(Repository::head_commit);
        head.is_some_and(|head| head.starts_with(commit))
    }

    fn at(&self, baseline: CitationOrigin, commit: &str, citation: &Citation<'_>) -> Base {
        let ground = Ground::Commit(commit.to_owned());
        let (path, was) = self.seen(citation, &ground);
        Base { baseline, path, ground: Some(ground), was }
    }

    /// What a citation leads to in some state, and where.
    fn seen(&self, citation: &Citation<'_>, ground: &Ground) -> (String, Was) {
        let path = match self.grounds.meant(&self.document, citation.path, ground) {
            Meant::At(path) => path,
            Meant::Several(files) => {
                let path = self.grounds.below_top(citation.path);
                return (path, Was::Unknown(CitationDoubt::Ambiguous(files)));
            }
            Meant::Nothing => self.grounds.below_top(citation.path),
        };
        match (was(self.grounds.look(ground, &path), citation), self.grounds.trouble()) {
            (Was::Nothing, Some(trouble)) => (path, Was::Unknown(trouble)),
            (was, _) => (path, was),
        }
    }

    /// What is there now is what it says.
    fn just_written(&self, citation: &Citation<'_>) -> Base {
        let (path, was) = self.seen(citation, self.now);
        Base { baseline: CitationOrigin::JustWritten, path, ground: None, was }
    }

    fn unknown(&self, citation: &Citation<'_>, doubt: CitationDoubt) -> Base {
        let (path, _) = self.seen(citation, self.now);
        Base { baseline: CitationOrigin::None, path, ground: None, was: Was::Unknown(doubt) }
    }
}

/// What was seen, as what stood there: lines that a file does not have were never there.
fn was(looked: Look, citation: &Citation<'_>) -> Was {
    match looked {
        Look::Nothing => Was::Nothing,
        Look::Folder => Was::Folder,
        Look::Hidden(doubt) => Was::Unknown(doubt),
        Look::File { text } => {
            let too_few = |last: usize| text.as_ref().is_some_and(|t| t.lines().count() < last);
            if citation.lines.is_some_and(|lines| too_few(lines.last)) {
                return Was::Nothing;
            }
            Was::File { blob: None, text, cited: None, had_twin: false }
        }
    }
}

/// The commit that the header of a document names; an error where it is not here.
fn at_commit(grounds: &Grounds<'_>, shelved: &Shelved) -> Option<Result<String, CitationDoubt>> {
    let repository = grounds.project.repository()?;
    let named = shelved.document.header()?.text("at_commit")?.value.trim().to_lowercase();
    let is_id = (7..=64).contains(&named.len()) && named.bytes().all(|b| b.is_ascii_hexdigit());
    if !is_id {
        return None;
    }
    if grounds.has_commit(&named) {
        return Some(Ok(named));
    }
    Some(Err(match (grounds.trouble(), repository.is_shallow()) {
        (Some(trouble), _) => trouble,
        (None, true) => CitationDoubt::Shallow(named),
        (None, false) => CitationDoubt::MissingCommit(named),
    }))
}
