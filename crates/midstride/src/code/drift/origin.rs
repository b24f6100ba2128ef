//! What a citation is compared with: its anchor, the commit that wrote its line, or the commit that
//! the header names.

use super::code_state::{CodeCache, CodeState, PathContent, PathMatch};
use crate::sys::git::Repository;
use crate::workspace::project::StoredHandoff;
use midstride_core::handoff::anchor::{Anchor, AnchorKey, AnchorTarget, Anchors, CitedLines};
use midstride_core::handoff::citation::Citation;
use midstride_core::handoff::drift::{CitationDoubt, CitationOrigin};
use midstride_core::text::span::Span;
use std::cell::OnceCell;
use std::path::PathBuf;
use std::sync::Arc;

/// What stood at a place when it was cited, and how that is known.
pub(super) struct ResolvedOrigin {
    pub(super) origin: CitationOrigin,
    /// Where it was found.
    pub(super) path: String,
    /// The state it belongs to, where there is one to look into.
    pub(super) state: Option<CodeState>,
    pub(super) content: OriginContent,
}

/// What stood at a place.
pub(super) enum OriginContent {
    Missing,
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
enum LineAuthor {
    Commit(String),
    /// The oldest commit that is here, or one before it.
    ShallowBoundary(String),
    /// It is not committed yet.
    Uncommitted,
    /// The document is not tracked.
    Untracked,
}

/// Where the baselines of one document come from.
pub(super) struct OriginResolver<'d> {
    code: &'d CodeCache<'d>,
    shelved: &'d StoredHandoff,
    /// Where it lies.
    document: PathBuf,
    now: &'d CodeState,
    anchors: Anchors,
    /// The commit in the header, if it is here.
    header_commit: Option<Result<String, CitationDoubt>>,
    /// Asked for when a citation without an anchor needs it.
    blame: OnceCell<Vec<Option<String>>>,
}

impl<'d> OriginResolver<'d> {
    pub(super) fn new(
        code: &'d CodeCache<'d>,
        shelved: &'d StoredHandoff,
        now: &'d CodeState,
    ) -> Self {
        let header_commit = read_header_commit(code, shelved);
        let anchors = Anchors::from_document(&shelved.document);
        let document = code.project.root().path().join(&shelved.path);
        Self { code, shelved, document, now, anchors, header_commit, blame: OnceCell::new() }
    }

    pub(super) fn resolve(&self, key: &AnchorKey, citation: &Citation<'_>) -> ResolvedOrigin {
        match self.anchors.find(key) {
            Some(anchor) => self.resolve_from_anchor(anchor, citation),
            // Bare names that led nowhere have no anchors; who has others was written with them.
            None if citation.is_bare_name() && self.anchors.all().next().is_some() => {
                self.unknown(citation, CitationDoubt::NoOrigin)
            }
            None => self.resolve_from_history(citation),
        }
    }

    fn resolve_from_anchor(&self, anchor: &Anchor, citation: &Citation<'_>) -> ResolvedOrigin {
        let path = anchor.path.clone();
        let path = path.unwrap_or_else(|| self.code.path_from_top(citation.path));
        let was = match &anchor.target {
            AnchorTarget::Missing => OriginContent::Missing,
            AnchorTarget::Folder => OriginContent::Folder,
            AnchorTarget::File { blob, lines, has_twin } => {
                let (blob, had_twin) = (blob.clone(), *has_twin);
                OriginContent::File { blob, text: None, cited: *lines, had_twin }
            }
        };
        let ground = self.header_commit.clone().and_then(Result::ok).map(CodeState::Commit);
        ResolvedOrigin { origin: CitationOrigin::Anchor, path, state: ground, content: was }
    }

    fn resolve_from_history(&self, citation: &Citation<'_>) -> ResolvedOrigin {
        match (self.line_author(citation.written.at), &self.header_commit) {
            (LineAuthor::Commit(commit), _) => {
                self.resolve_from_commit(CitationOrigin::Blame(commit.clone()), &commit, citation)
            }
            // Newer than the commit that the header has named before.
            (LineAuthor::Uncommitted, _) if self.is_header_commit_committed() => {
                self.resolve_from_current_state(citation)
            }
            (_, Some(Ok(commit))) if !self.is_head(commit) => {
                self.resolve_from_commit(CitationOrigin::AtCommit(commit.clone()), commit, citation)
            }
            (LineAuthor::Uncommitted, _) | (_, Some(Ok(_))) => {
                self.resolve_from_current_state(citation)
            }
            (LineAuthor::ShallowBoundary(commit), _) => {
                self.unknown(citation, CitationDoubt::ShallowEnd(commit))
            }
            (LineAuthor::Untracked, Some(Err(doubt))) => self.unknown(citation, doubt.clone()),
            (LineAuthor::Untracked, None) => {
                self.unknown(citation, self.code.git_doubt().unwrap_or(CitationDoubt::NoOrigin))
            }
        }
    }

    /// Who wrote the line that something stands in.
    fn line_author(&self, at: Span) -> LineAuthor {
        let line = self.shelved.document.position(at.start).line;
        match self.blame.get_or_init(|| self.read_blame()).get(line - 1) {
            Some(Some(commit)) if self.code.shallow_boundary().contains(commit) => {
                LineAuthor::ShallowBoundary(commit.clone())
            }
            Some(Some(commit)) => LineAuthor::Commit(commit.clone()),
            Some(None) => LineAuthor::Uncommitted,
            None => LineAuthor::Untracked,
        }
    }

    /// Whether the line in the header that names a commit is committed itself.
    fn is_header_commit_committed(&self) -> bool {
        let named = self.shelved.document.header().and_then(|header| header.text("at_commit"));
        let writer = named.map(|named| self.line_author(named.at));
        matches!(writer, Some(LineAuthor::Commit(_) | LineAuthor::ShallowBoundary(_)))
    }

    fn read_blame(&self) -> Vec<Option<String>> {
        let project = self.code.project;
        let path = project.path_in_work_tree(self.shelved);
        // Git has nothing to tell about a document that it does not know.
        let listed = self.code.list_files(&CodeState::WorkTree);
        let is_tracked = |path: &PathBuf| path.to_str().is_some_and(|path| listed.is_tracked(path));
        let path = path.filter(is_tracked);
        project.repository().zip(path).map_or_else(Vec::new, |(repository, path)| {
            repository.blame_lines(&path, &self.shelved.bytes)
        })
    }

    fn is_head(&self, commit: &str) -> bool {
        let head = self.code.project.repository().and_then(Repository::head_commit);
        head.is_some_and(|head| head.starts_with(commit))
    }

    fn resolve_from_commit(
        &self,
        baseline: CitationOrigin,
        commit: &str,
        citation: &Citation<'_>,
    ) -> ResolvedOrigin {
        let ground = CodeState::Commit(commit.to_owned());
        let (path, was) = self.content_in(citation, &ground);
        ResolvedOrigin { origin: baseline, path, state: Some(ground), content: was }
    }

    /// What a citation leads to in some state, and where.
    fn content_in(&self, citation: &Citation<'_>, ground: &CodeState) -> (String, OriginContent) {
        let path = match self.code.resolve_path(&self.document, citation.path, ground) {
            PathMatch::Unique(path) => path,
            PathMatch::Ambiguous(files) => {
                let path = self.code.path_from_top(citation.path);
                return (path, OriginContent::Unknown(CitationDoubt::Ambiguous(files)));
            }
            PathMatch::Missing => self.code.path_from_top(citation.path),
        };
        match (origin_content(self.code.content_at(ground, &path), citation), self.code.git_doubt())
        {
            (OriginContent::Missing, Some(trouble)) => (path, OriginContent::Unknown(trouble)),
            (was, _) => (path, was),
        }
    }

    /// What is there now is what it says.
    fn resolve_from_current_state(&self, citation: &Citation<'_>) -> ResolvedOrigin {
        let (path, was) = self.content_in(citation, self.now);
        ResolvedOrigin { origin: CitationOrigin::JustWritten, path, state: None, content: was }
    }

    fn unknown(&self, citation: &Citation<'_>, doubt: CitationDoubt) -> ResolvedOrigin {
        let (path, _) = self.content_in(citation, self.now);
        ResolvedOrigin {
            origin: CitationOrigin::None,
            path,
            state: None,
            content: OriginContent::Unknown(doubt),
        }
    }
}

/// What was seen, as what stood there: lines that a file does not have were never there.
fn origin_content(looked: PathContent, citation: &Citation<'_>) -> OriginContent {
    match looked {
        PathContent::Missing => OriginContent::Missing,
        PathContent::Folder => OriginContent::Folder,
        PathContent::Unreadable(doubt) => OriginContent::Unknown(doubt),
        PathContent::File { text } => {
            let too_few = |last: usize| text.as_ref().is_some_and(|t| t.lines().count() < last);
            if citation.lines.is_some_and(|lines| too_few(lines.last)) {
                return OriginContent::Missing;
            }
            OriginContent::File { blob: None, text, cited: None, had_twin: false }
        }
    }
}

/// The commit that the header of a document names; an error where it is not here.
fn read_header_commit(
    grounds: &CodeCache<'_>,
    shelved: &StoredHandoff,
) -> Option<Result<String, CitationDoubt>> {
    let repository = grounds.project.repository()?;
    let named = shelved.document.header()?.text("at_commit")?.value.trim().to_lowercase();
    let is_id = (7..=64).contains(&named.len()) && named.bytes().all(|b| b.is_ascii_hexdigit());
    if !is_id {
        return None;
    }
    if grounds.has_commit(&named) {
        return Some(Ok(named));
    }
    Some(Err(match (grounds.git_doubt(), repository.is_shallow()) {
        (Some(trouble), _) => trouble,
        (None, true) => CitationDoubt::Shallow(named),
        (None, false) => CitationDoubt::MissingCommit(named),
    }))
}
