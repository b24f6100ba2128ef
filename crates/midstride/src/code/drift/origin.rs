//! Finds the origin of a citation, which the current code is compared with: its anchor, the commit
//! that wrote its line, or the commit in the header.

use crate::code::code_state::{CodeCache, CodeState, PathContent, PathMatch};
use crate::sys::git::Repository;
use crate::workspace::StoredHandoff;
use midstride_core::handoff::anchor::{Anchor, AnchorKey, AnchorTarget, Anchors, CitedLines};
use midstride_core::handoff::citation::Citation;
use midstride_core::handoff::code_text::CodeText;
use midstride_core::handoff::drift::{CitationDoubt, CitationOrigin, StatementWords};
use midstride_core::text::id::{BlobHash, CommitId};
use midstride_core::text::span::Span;
use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;

/// How many parents of a commit are searched for a file.
const PARENTS_MAX: usize = 2;
/// How many older versions of a file are searched for an identifier.
const OLDER_VERSIONS_MAX: usize = 30;

/// What was at a place when it was cited, and how that is known.
pub(super) struct ResolvedOrigin {
    pub(super) origin: CitationOrigin,
    /// The path at that time.
    pub(super) path: String,
    /// The state of the code it comes from, if it can be read.
    pub(super) state: Option<CodeState>,
    /// Whether the version was chosen because it fits what the statement names.
    pub(super) is_chosen: bool,
    pub(super) content: OriginContent,
}

/// What was at a place.
pub(super) enum OriginContent {
    Missing,
    Folder,
    File {
        blob: Option<BlobHash>,
        text: Option<Arc<CodeText>>,
        cited: Option<CitedLines>,
        /// Whether other lines of the file had the same text.
        had_twin: bool,
    },
    Unknown(CitationDoubt),
}

/// Who wrote a line of a document, according to git blame.
enum LineAuthor {
    Commit(CommitId),
    /// The oldest commit of a shallow clone; the line may be older.
    ShallowBoundary(CommitId),
    /// It is not committed yet.
    Uncommitted,
    /// The document is not tracked.
    Untracked,
    /// Git blame failed.
    Unknown(CitationDoubt),
}

/// The commit in the header of a document.
enum HeaderCommit {
    /// The header names none.
    Missing,
    /// It is in this repository.
    Known(CommitId),
    /// It cannot be used, for this reason.
    Unusable(CitationDoubt),
}

/// Resolves the origins of the citations of one document.
pub(super) struct OriginResolver<'d> {
    code: &'d CodeCache<'d>,
    shelved: &'d StoredHandoff,
    /// The path of the document.
    document: PathBuf,
    now: &'d CodeState,
    anchors: Anchors,
    header_commit: HeaderCommit,
    /// Read when the first citation without an anchor needs it.
    blame: OnceCell<Result<Vec<Option<CommitId>>, CitationDoubt>>,
    /// The last commit before the date of the document, for a newest commit.
    dated: RefCell<HashMap<String, Option<CommitId>>>,
    statements: RefCell<HashMap<Span, Rc<StatementWords<'d>>>>,
}

impl<'d> OriginResolver<'d> {
    pub(super) fn new(
        code: &'d CodeCache<'d>,
        shelved: &'d StoredHandoff,
        now: &'d CodeState,
    ) -> Self {
        let header_commit = HeaderCommit::read(code, shelved);
        let anchors = Anchors::from_document(&shelved.document);
        let document = code.workspace.root().path().join(&shelved.path);
        let (blame, dated, statements) = (OnceCell::new(), RefCell::default(), RefCell::default());
        Self { code, shelved, document, now, anchors, header_commit, blame, dated, statements }
    }

    /// The words of the statement around a citation.
    fn statement(&self, citation: &Citation<'_>) -> Rc<StatementWords<'d>> {
        let text = self.shelved.document.text();
        let new = || Rc::new(StatementWords::new(citation.statement.slice(text)));
        Rc::clone(self.statements.borrow_mut().entry(citation.statement).or_insert_with(new))
    }

    pub(super) fn resolve(&self, key: &AnchorKey, citation: &Citation<'_>) -> ResolvedOrigin {
        match self.anchors.find(key) {
            Some(anchor) => self.resolve_from_anchor(anchor, citation),
            // Bare names that matched no file get no anchor. If the document has other anchors,
            // this is one.
            None if citation.is_bare_name() && self.anchors.all().next().is_some() => {
                self.unknown(citation, CitationDoubt::NoOrigin)
            }
            None => self.resolve_from_history(citation),
        }
    }

    fn resolve_from_anchor(&self, anchor: &Anchor, citation: &Citation<'_>) -> ResolvedOrigin {
        let path = anchor.path.clone();
        let path = path.unwrap_or_else(|| self.code.path_from_top(&citation.path));
        let was = match &anchor.target {
            AnchorTarget::Missing => OriginContent::Missing,
            AnchorTarget::Folder => OriginContent::Folder,
            AnchorTarget::File { blob, lines, has_twin } => {
                let (blob, had_twin) = (blob.clone(), *has_twin);
                OriginContent::File { blob, text: None, cited: *lines, had_twin }
            }
        };
        let state = match &self.header_commit {
            HeaderCommit::Known(commit) => Some(CodeState::Commit(commit.clone())),
            HeaderCommit::Unusable(_) | HeaderCommit::Missing => None,
        };
        ResolvedOrigin {
            origin: CitationOrigin::Anchor,
            path,
            state,
            is_chosen: false,
            content: was,
        }
    }

    fn resolve_from_history(&self, citation: &Citation<'_>) -> ResolvedOrigin {
        match (self.line_author(citation.written.at), &self.header_commit) {
            (LineAuthor::Commit(commit), _) => {
                self.resolve_from_commit(CitationOrigin::Blame(commit.clone()), &commit, citation)
            }
            // The line is newer than the commit in the header.
            (LineAuthor::Uncommitted, _) if self.is_header_commit_committed() => {
                self.resolve_from_current_state(citation)
            }
            (_, HeaderCommit::Known(commit)) if !self.is_head(commit) => {
                self.resolve_from_commit(CitationOrigin::AtCommit(commit.clone()), commit, citation)
            }
            (LineAuthor::Uncommitted, _) | (_, HeaderCommit::Known(_)) => {
                self.resolve_from_current_state(citation)
            }
            (LineAuthor::ShallowBoundary(commit), _) => {
                self.unknown(citation, CitationDoubt::ShallowEnd(commit))
            }
            (LineAuthor::Untracked, HeaderCommit::Unusable(doubt)) => {
                self.unknown(citation, doubt.clone())
            }
            (LineAuthor::Untracked, HeaderCommit::Missing) => {
                let doubt = self.code.git_doubt().unwrap_or(CitationDoubt::NoOrigin);
                let tip = match self.now {
                    CodeState::Commit(commit) => commit.as_str(),
                    CodeState::WorkTree => "HEAD",
                };
                self.find_by_date(citation, tip).unwrap_or_else(|| self.unknown(citation, doubt))
            }
            (LineAuthor::Unknown(doubt), _) => self.unknown(citation, doubt),
        }
    }

    /// Who wrote the line at a position.
    fn line_author(&self, at: Span) -> LineAuthor {
        let line = self.shelved.document.position(at.start).line;
        let blame = match self.blame.get_or_init(|| self.read_blame()) {
            Ok(blame) => blame,
            Err(doubt) => return LineAuthor::Unknown(doubt.clone()),
        };
        match blame.get(line - 1) {
            Some(Some(commit)) if self.code.shallow_boundary().contains(commit) => {
                LineAuthor::ShallowBoundary(commit.clone())
            }
            Some(Some(commit)) => LineAuthor::Commit(commit.clone()),
            Some(None) => LineAuthor::Uncommitted,
            None => LineAuthor::Untracked,
        }
    }

    /// Whether the header line with the commit is committed itself.
    fn is_header_commit_committed(&self) -> bool {
        let named = self.shelved.document.header().and_then(|header| header.text("at_commit"));
        let writer = named.map(|named| self.line_author(named.at));
        matches!(writer, Some(LineAuthor::Commit(_) | LineAuthor::ShallowBoundary(_)))
    }

    fn read_blame(&self) -> Result<Vec<Option<CommitId>>, CitationDoubt> {
        let workspace = self.code.workspace;
        let path = workspace.path_in_work_tree(self.shelved);
        // Git blame needs a tracked document.
        let listed = self.code.list_files(&CodeState::WorkTree);
        let is_tracked = |path: &PathBuf| path.to_str().is_some_and(|path| listed.is_tracked(path));
        let path = path.filter(is_tracked);
        let Some((repository, path)) = workspace.repository().zip(path) else {
            return Ok(Vec::new());
        };
        let blamed = repository.blame_lines(&path, &self.shelved.bytes);
        blamed.map_err(|error| CitationDoubt::Git(error.to_string()))
    }

    /// The origin of a path at the date of the document, for a document that was committed later
    /// or not at all. `None` if the path did not exist then, or the statement says that it is gone.
    fn find_by_date(&self, citation: &Citation<'_>, tip: &str) -> Option<ResolvedOrigin> {
        if self.statement(citation).says_removed() {
            return None;
        }
        let mut dated = self.dated.borrow_mut();
        let commit = dated.entry(tip.to_owned()).or_insert_with(|| self.commit_at_date(tip));
        let commit = commit.clone()?;
        let state = CodeState::Commit(commit.clone());
        let (path, _) = self.content_in(citation, &state);
        let content = match self.code.content_at(&state, &path) {
            PathContent::Folder => OriginContent::Folder,
            PathContent::File { text } => {
                OriginContent::File { blob: None, text, cited: None, had_twin: false }
            }
            PathContent::Missing | PathContent::Unreadable(_) => return None,
        };
        let origin = CitationOrigin::Dated(commit);
        Some(ResolvedOrigin { origin, path, state: Some(state), is_chosen: false, content })
    }

    fn commit_at_date(&self, tip: &str) -> Option<CommitId> {
        let handoff = self.shelved.handoff(self.code.workspace);
        let time = handoff.changed().or_else(|| handoff.time_from_name())?;
        self.code.workspace.repository()?.commit_before(time.latest(), tip)
    }

    fn is_head(&self, commit: &CommitId) -> bool {
        let head = self.code.workspace.repository().and_then(Repository::head_commit);
        head.is_some_and(|head| head.starts_with(commit.as_str()))
    }

    fn resolve_from_commit(
        &self,
        origin: CitationOrigin,
        commit: &CommitId,
        citation: &Citation<'_>,
    ) -> ResolvedOrigin {
        let state = CodeState::Commit(commit.clone());
        let (path, was) = self.content_in(citation, &state);
        let found = match &was {
            OriginContent::Missing
                if !citation.is_in_code() && !self.code.content_at(&state, &path).exists() =>
            {
                let in_parents = self.find_in_parents(&origin, commit, citation);
                in_parents.or_else(|| self.find_by_date(citation, commit.as_str()))
            }
            OriginContent::File { text: Some(text), .. } => {
                self.find_older_version(&origin, commit, citation, (&path, text))
            }
            OriginContent::Missing
            | OriginContent::Folder
            | OriginContent::File { .. }
            | OriginContent::Unknown(_) => None,
        };
        found.unwrap_or(ResolvedOrigin {
            origin,
            path,
            state: Some(state),
            is_chosen: false,
            content: was,
        })
    }

    /// The origin in a parent of the commit that added the citation, if that very commit deleted
    /// the file and the statement does not say so.
    fn find_in_parents(
        &self,
        origin: &CitationOrigin,
        commit: &CommitId,
        citation: &Citation<'_>,
    ) -> Option<ResolvedOrigin> {
        let is_blamed = matches!(origin, CitationOrigin::Blame(_));
        if !is_blamed || self.statement(citation).says_removed() {
            return None;
        }
        let parents = (1..=PARENTS_MAX).map(|number| CommitId::new(format!("{commit}^{number}")));
        parents.take_while(|parent| self.code.has_commit(parent)).find_map(|parent| {
            let state = CodeState::Commit(parent);
            let (path, content) = self.content_in(citation, &state);
            let exists = matches!(content, OriginContent::Folder | OriginContent::File { .. });
            let (origin, state) = (origin.clone(), Some(state));
            exists.then_some(ResolvedOrigin { origin, path, state, is_chosen: false, content })
        })
    }

    /// The older version of a file that the author saw: its cited lines have an identifier that the
    /// statement names, and in the version of the commit they have none.
    fn find_older_version(
        &self,
        origin: &CitationOrigin,
        commit: &CommitId,
        citation: &Citation<'_>,
        (path, text): (&str, &CodeText),
    ) -> Option<ResolvedOrigin> {
        let lines = citation.lines?;
        let statement = self.statement(citation);
        let is_named = |text: &CodeText| statement.names_any_in(text.slice(lines));
        if statement.identifiers().is_empty() || is_named(text) {
            return None;
        }
        let older = self.code.commits_that_changed(commit, path).into_iter().skip(1);
        older.take(OLDER_VERSIONS_MAX).find_map(|older| {
            let state = CodeState::Commit(older.clone());
            let PathContent::File { text: Some(text) } = self.code.content_at(&state, path) else {
                return None;
            };
            let origin = match matches!(origin, CitationOrigin::AtCommit(_)) {
                true => CitationOrigin::AtCommit(older),
                false => CitationOrigin::Blame(older),
            };
            is_named(&text).then(|| ResolvedOrigin {
                origin,
                path: path.to_owned(),
                state: Some(state),
                is_chosen: true,
                content: OriginContent::File {
                    blob: None,
                    text: Some(text),
                    cited: None,
                    had_twin: false,
                },
            })
        })
    }

    /// What a citation refers to in a state of the code, and its path.
    fn content_in(&self, citation: &Citation<'_>, state: &CodeState) -> (String, OriginContent) {
        let statement = self.statement(citation);
        let path = match self.code.resolve_citation(&self.document, citation, &statement, state) {
            PathMatch::Unique(path) => path,
            PathMatch::Ambiguous(files) => {
                let path = self.code.path_from_top(&citation.path);
                let doubt = CitationDoubt::Ambiguous(files.len());
                return (path, OriginContent::Unknown(doubt));
            }
            PathMatch::Missing => self.code.path_from_top(&citation.path),
        };
        match (origin_content(self.code.content_at(state, &path), citation), self.code.git_doubt())
        {
            (OriginContent::Missing, Some(trouble)) => (path, OriginContent::Unknown(trouble)),
            (was, _) => (path, was),
        }
    }

    /// The line was just written, so the current code is its origin.
    fn resolve_from_current_state(&self, citation: &Citation<'_>) -> ResolvedOrigin {
        let (path, was) = self.content_in(citation, self.now);
        ResolvedOrigin {
            origin: CitationOrigin::JustWritten,
            path,
            state: None,
            is_chosen: false,
            content: was,
        }
    }

    fn unknown(&self, citation: &Citation<'_>, doubt: CitationDoubt) -> ResolvedOrigin {
        let (path, now) = self.content_in(citation, self.now);
        let content = match now {
            OriginContent::Unknown(CitationDoubt::Ambiguous(files)) => {
                OriginContent::Unknown(CitationDoubt::Ambiguous(files))
            }
            OriginContent::Missing
            | OriginContent::Folder
            | OriginContent::File { .. }
            | OriginContent::Unknown(_) => OriginContent::Unknown(doubt),
        };
        ResolvedOrigin {
            origin: CitationOrigin::None,
            path,
            state: None,
            is_chosen: false,
            content,
        }
    }
}

/// Converts current content to origin content: lines beyond the end of a file never existed.
fn origin_content(content: PathContent, citation: &Citation<'_>) -> OriginContent {
    match content {
        PathContent::Missing => OriginContent::Missing,
        PathContent::Folder => OriginContent::Folder,
        PathContent::Unreadable(doubt) => OriginContent::Unknown(doubt),
        PathContent::File { text } => {
            let too_few = |last: usize| text.as_ref().is_some_and(|text| text.line_count() < last);
            if citation.lines.is_some_and(|lines| too_few(lines.last)) {
                return OriginContent::Missing;
            }
            OriginContent::File { blob: None, text, cited: None, had_twin: false }
        }
    }
}

impl HeaderCommit {
    fn read(code: &CodeCache<'_>, stored: &StoredHandoff) -> Self {
        let Some(repository) = code.workspace.repository() else { return Self::Missing };
        let named = stored.document.header().and_then(|header| header.text("at_commit"));
        let named = named.map(|named| named.value.trim().to_lowercase());
        let is_id = |named: &String| {
            (7..=64).contains(&named.len()) && named.bytes().all(|b| b.is_ascii_hexdigit())
        };
        let Some(named) = named.filter(is_id).map(CommitId::new) else { return Self::Missing };
        if code.has_commit(&named) {
            return Self::Known(named);
        }
        Self::Unusable(match (code.git_doubt(), repository.is_shallow()) {
            (Some(trouble), _) => trouble,
            (None, true) => CitationDoubt::Shallow(named),
            (None, false) => CitationDoubt::MissingCommit(named),
        })
    }
}
