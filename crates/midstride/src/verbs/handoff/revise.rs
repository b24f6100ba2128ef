//! Replaces the text of a handoff, with the reason in its history.

use crate::journal::{JournalError, RecordedRevision, RevisionInfo};
use crate::store::Store;
use crate::store::revisions::RevisionError;
use crate::sys::files::ScratchFolder;
use crate::workspace::{Catalog, StoredHandoff, Workspace};
use midstride_core::format::document::{Document, DocumentEditError};
use midstride_core::format::finding::{Code, Finding, Severity};
use midstride_core::format::header::{RevisionVerb, Status};
use midstride_core::handoff::Handoff;
use midstride_core::handoff::merge;
use midstride_core::session::author_notes::AuthorNotes;
use midstride_core::text::edit::{Edit, HeaderPath};
use midstride_core::text::redact::Redaction;
use midstride_core::text::yaml::YamlNode;
use std::path::PathBuf;

/// The result of a revision.
#[derive(Debug)]
pub enum ReviseOutcome {
    /// The text did not change.
    Unchanged,
    /// The document has the new text.
    Recorded(RecordedRevision),
}

/// Why the text was not replaced.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReviseError {
    /// The same places changed since the new text was started.
    #[error(
        "{}, and both versions edit the same parts: {}",
        changed_since(key, *begun),
        places.join("; ")
    )]
    Conflict {
        /// The handoff.
        key: String,
        /// The revision the new text was started from, if it is an earlier one.
        begun: Option<usize>,
        /// The places both changed.
        places: Vec<String>,
        /// The path of a merged text with conflict markers.
        kept: PathBuf,
        /// Secrets that were not written to it.
        redacted: Vec<Redaction>,
    },
    /// The text belongs to another handoff.
    #[error("the text belongs to another handoff: {why}")]
    OtherHandoff {
        /// The handoff that was to be revised.
        key: String,
        /// How the texts differ.
        why: String,
    },
    /// The header of the new text is broken.
    #[error(
        "`{key}` was not changed, because the new text's header cannot be read: line {line}: {why}"
    )]
    Header {
        /// The handoff.
        key: String,
        /// What is wrong with the header of the new text.
        why: String,
        /// The line of the header.
        line: usize,
        /// How to fix it.
        fix: &'static str,
    },
    /// The new text is empty.
    #[error("the new text for `{0}` is empty")]
    Empty(String),
    /// It could not be recorded.
    #[error(transparent)]
    Journal(#[from] JournalError),
}

fn changed_since(key: &str, begun: Option<usize>) -> String {
    match begun {
        Some(number) => {
            format!("the new text is based on `{key}@{number}`, but `{key}` has changed since")
        }
        None => format!("`{key}` changed in the meantime"),
    }
}

/// Replaces the text of a handoff. A text without a header replaces only the body. Changes made
/// since the text was started are merged in. A text the handoff had before is restored exactly.
///
/// ```
/// use midstride::journal::RevisionInfo;
/// use midstride::verbs::{self, NewHandoff, ReviseOutcome};
/// # use midstride::store::Store;
/// # use midstride::store::ledger::WaitPolicy;
/// # use midstride::sys::clock::Clock;
/// # use midstride::sys::env::{Invoker, Environment, UserName, Variables};
/// # use midstride::workspace::Workspace;
/// # let project = tempfile::tempdir()?;
/// # let environment = Environment {
/// #     folder: project.path().to_owned(),
/// #     home: None,
/// #     state: None,
/// #     variables: Variables::NONE,
/// #     editor: None,
/// #     user: UserName::given("ada"),
/// #     invoker: Invoker::User,
/// #     session: None,
/// #     clock: Clock::Fixed("2026-03-21T17:24:00Z".parse()?),
/// # };
/// # verbs::init(&Workspace::discover(environment.clone())?, false, None)?;
/// # let store = Store::new(Workspace::discover(environment)?, WaitPolicy::Command);
///
/// let wanted = NewHandoff { title: Some("Search is slow".to_owned()), ..NewHandoff::default() };
/// let created = verbs::new(&store, &wanted)?;
/// let body = "## Diagnosis\n\nEvery query rebuilds the index.\n";
/// let change = RevisionInfo::by_text("found the cause", None);
/// let outcome = verbs::revise(&store, &created.stored, body, &change)?;
/// assert!(matches!(outcome, ReviseOutcome::Recorded(recorded) if recorded.revision == 2));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn revise(
    store: &Store,
    stored: &StoredHandoff,
    text: &str,
    change: &RevisionInfo,
) -> Result<ReviseOutcome, ReviseError> {
    let next = next_document(store, stored, text)?;
    record_if_changed(store, stored, next, change)
}

/// The revision that adds these entries, if the author gives no reason.
pub fn addition_info(entries: &AuthorNotes, by: Option<String>) -> RevisionInfo {
    let reason = format!("added to {}", entries.entry_fields().join(", "));
    RevisionInfo::by_verb(RevisionVerb::Edit, reason, by)
}

/// Adds entries to the header, and replaces the text first if there is a new one.
pub fn revise_with_entries(
    store: &Store,
    stored: &StoredHandoff,
    text: Option<&str>,
    entries: &AuthorNotes,
    change: &RevisionInfo,
) -> Result<ReviseOutcome, ReviseError> {
    let next = match text {
        Some(text) => next_document(store, stored, text)?,
        None => stored.document.clone(),
    };
    if !entries.is_empty() && next.handoff_header().is_none() {
        return Err(JournalError::NoHeader(stored.path.clone()).into());
    }
    let (next, _) = next.edit(&entries.entry_edits(&next)).map_err(JournalError::from)?;
    record_if_changed(store, stored, next, change)
}

/// Like [`revise`], for a text edited in place of the document, which may rename it.
pub(in crate::verbs) fn revise_in_place(
    store: &Store,
    stored: &StoredHandoff,
    text: &str,
    change: &RevisionInfo,
) -> Result<ReviseOutcome, ReviseError> {
    let (given, restored) = parse_given(store, stored, text)?;
    record_if_changed(store, stored, merge_with_current(store, stored, given, restored)?, change)
}

fn record_if_changed(
    store: &Store,
    stored: &StoredHandoff,
    next: Document,
    change: &RevisionInfo,
) -> Result<ReviseOutcome, ReviseError> {
    if next.text() == stored.document.text() {
        return Ok(ReviseOutcome::Unchanged);
    }
    record_merged(store, stored, next, change).map(ReviseOutcome::Recorded)
}

/// The document that results from applying a new text to the current handoff.
pub(in crate::verbs) fn next_document(
    store: &Store,
    stored: &StoredHandoff,
    text: &str,
) -> Result<Document, ReviseError> {
    let workspace = store.workspace();
    let (given, restored) = parse_given(store, stored, text)?;
    if !restored {
        refuse_other_name(&stored.handoff(workspace), &given)?;
    }
    merge_with_current(store, stored, given, restored)
}

/// Parses a given text into a document. Also returns whether the handoff had exactly this text
/// before.
fn parse_given(
    store: &Store,
    stored: &StoredHandoff,
    text: &str,
) -> Result<(Document, bool), ReviseError> {
    let workspace = store.workspace();
    let handoff = stored.handoff(workspace);
    if text.trim().is_empty() {
        return Err(ReviseError::Empty(handoff.key().to_string()));
    }
    let restored = store.had_text(stored, &workspace.clean(text).0);
    // Without front matter, the text is a body. Parsing it alone would only find a header section.
    let whole = Document::has_front_matter(text).then(|| Document::parse(text.as_bytes()));
    if let Some(whole) = whole.as_ref().filter(|_| !restored) {
        refuse_broken_header(&handoff, whole)?;
    }
    let is_body = whole.as_ref().is_none_or(|whole| whole.handoff_header().is_none());
    let given = match whole.filter(|_| !is_body) {
        Some(whole) => whole,
        None => with_body(&stored.document, text).map_err(JournalError::from)?,
    };
    if is_body && !restored && given.has_header_section() {
        return Err(no_handoff_key_error(handoff.key().to_string()));
    }
    refuse_other_uid(&handoff, &given)?;
    Ok((given, restored))
}

/// Refuses a text with a broken header, unless the document is broken in the same way. Then the
/// text may be a step toward fixing it.
fn refuse_broken_header(now: &Handoff<'_>, given: &Document) -> Result<(), ReviseError> {
    const BROKEN: [Code; 3] = [Code::HeaderNotClosed, Code::Syntax, Code::HeaderTooLarge];
    let key = now.key().to_string();
    let has = |code: Code| now.document().findings().iter().any(|finding| finding.code == code);
    let is_broken = |finding: &&Finding| BROKEN.contains(&finding.code) && !has(finding.code);
    if let Some(finding) = given.findings().iter().find(is_broken) {
        let line = given.position(finding.at.start).line;
        let (why, fix) = (finding.message.clone(), finding.code.rule().fix);
        return Err(ReviseError::Header { key, why, line, fix });
    }
    // A header without `handoff:` would become part of the body, below the existing header.
    if given.header().is_some() && given.handoff_header().is_none() {
        return Err(no_handoff_key_error(key));
    }
    Ok(())
}

fn no_handoff_key_error(key: String) -> ReviseError {
    ReviseError::Header {
        key,
        why: "it has no `handoff:`".to_owned(),
        line: 1,
        fix: "put the header's values under `handoff:`, or omit the header to replace only the \
             body",
    }
}

/// What a new text changed about a handoff.
#[derive(Debug)]
pub struct RevisionEffects {
    /// The handoff with the new text.
    pub after: StoredHandoff,
    /// The findings, other than hints, that the old text did not have.
    pub findings: Vec<Finding>,
    /// The status, if the handoff was closed before and still is.
    pub closed: Option<Status>,
}

/// Compares a handoff with its recorded revision.
pub fn revision_effects(
    workspace: &Workspace,
    before: &StoredHandoff,
    recorded: &RecordedRevision,
) -> RevisionEffects {
    let after = before.with_document(Document::clone(&recorded.document));
    let had = Catalog::new(workspace).check(before).findings;
    // These name all empty parts in one message, so filling one in changes the message.
    let is_grouped = |code| matches!(code, Code::EmptySection | Code::UntouchedDraft);
    let is_same = |old: &Finding, new: &Finding| {
        old.code == new.code && (old.message == new.message || is_grouped(new.code))
    };
    let is_new = |finding: &Finding| !had.iter().any(|old| is_same(old, finding));
    let mut findings = Catalog::new(workspace).check(&after).findings;
    findings.retain(|finding| finding.severity() != Severity::Hint && is_new(finding));
    let status = after.handoff(workspace).status();
    let was_open = before.handoff(workspace).status().is_open();
    let closed = (!was_open && !status.is_open()).then_some(status);
    RevisionEffects { after, findings, closed }
}

/// Refuses a text with the uid of another handoff.
fn refuse_other_uid(now: &Handoff<'_>, given: &Document) -> Result<(), ReviseError> {
    match (now.uid(), header_text(given, "uid")) {
        (Some(own), Some(given)) if own.as_str() != given => Err(other_uid_error(now)),
        _ => Ok(()),
    }
}

/// Refuses a text with the name of another handoff, unless both have the same uid.
fn refuse_other_name(now: &Handoff<'_>, given: &Document) -> Result<(), ReviseError> {
    if now.uid().is_some() && header_text(given, "uid").is_some() {
        return Ok(());
    }
    let key = now.key();
    let own = [("id", Some(key.id.as_str())), ("stage", key.stage.as_deref())];
    for (field, own) in own {
        let given = header_text(given, field);
        if let Some(given) = given.filter(|given| Some(*given) != own.map(str::trim)) {
            let why = match own {
                Some(own) => format!("its {field} is `{given}`, not `{own}`"),
                None => format!("its {field} is `{given}`, but `{key}` has none"),
            };
            return Err(ReviseError::OtherHandoff { key: key.to_string(), why });
        }
    }
    Ok(())
}

fn header_text<'d>(document: &'d Document, field: &str) -> Option<&'d str> {
    document.handoff_header()?.text(field).map(|text| text.value.trim())
}

fn other_uid_error(now: &Handoff<'_>) -> ReviseError {
    let key = now.key().to_string();
    ReviseError::OtherHandoff { why: format!("its uid does not match `{key}`"), key }
}

/// Merges the given document with changes made since it was started.
fn merge_with_current(
    store: &Store,
    stored: &StoredHandoff,
    given: Document,
    restored: bool,
) -> Result<Document, ReviseError> {
    let workspace = store.workspace();
    let given = match restored {
        true => given,
        false => keep_missing_fields(&stored.document, given).map_err(JournalError::from)?,
    };
    let base = if restored { None } else { base_revision(store, stored, &given)? };
    let next = match base {
        Some((number, base)) => merge_concurrent(workspace, (&base, Some(number)), stored, &given)?,
        None => given,
    };
    Ok(keep_reviews(&stored.handoff(workspace), next).map_err(JournalError::from)?)
}

/// A header without a uid was not started from the document. Fields it does not name keep their
/// value, the status above all.
fn keep_missing_fields(now: &Document, next: Document) -> Result<Document, DocumentEditError> {
    // These are preserved when a text is recorded.
    const EXCLUDED_FIELDS: [&str; 3] = ["uid", "revisions", "reviews"];
    let (Some(own), Some(given)) = (now.handoff_header(), next.handoff_header()) else {
        return Ok(next);
    };
    if own.text("uid").is_none() || given.text("uid").is_some() {
        return Ok(next);
    }
    let is_missing =
        |key: &str| !EXCLUDED_FIELDS.contains(&key) && given.fields().get(key).is_none();
    let missing = own.fields().entries().iter().filter(|entry| is_missing(&entry.key.value));
    let edits: Vec<Edit> = missing
        .map(|entry| Edit::Set(HeaderPath::field(&entry.key.value), entry.node.data()))
        .collect();
    if edits.is_empty() {
        return Ok(next);
    }
    next.edit(&edits).map(|(next, _)| next)
}

/// Keeps the reviews of the current document if a rewritten text omits them.
fn keep_reviews(now: &Handoff<'_>, next: Document) -> Result<Document, DocumentEditError> {
    let count = |node: Option<&YamlNode>| node.map_or(0, |node| node.items().len());
    let brought = next.handoff_header().and_then(|header| header.fields().get("reviews"));
    let Some(reviews) = now.node("reviews").filter(|own| count(Some(own)) > count(brought)) else {
        return Ok(next);
    };
    let edit = Edit::Set(HeaderPath::field("reviews"), reviews.data());
    next.edit(&[edit]).map(|(next, _)| next)
}

/// Records a text. Concurrent changes are merged in.
pub(in crate::verbs) fn record_merged(
    store: &Store,
    stored: &StoredHandoff,
    mut next: Document,
    change: &RevisionInfo,
) -> Result<RecordedRevision, ReviseError> {
    let workspace = store.workspace();
    let mut base: Option<Document> = None;
    store.record_with_retry(stored, |now| {
        if let Some(base) = base.replace(now.document.clone()) {
            next = merge_concurrent(workspace, (&base, None), now, &next)?;
        }
        Ok(store.record(now, &next, change, &|_| ()))
    })
}

/// Puts a new body into a document.
fn with_body(document: &Document, text: &str) -> Result<Document, DocumentEditError> {
    let body = format!("\n{}", text.trim_start_matches(['\r', '\n']).replace("\r\n", "\n"));
    let body = body.replace('\n', document.line_break());
    document.edit(&[Edit::Body(document.body(), body)]).map(|(next, _)| next)
}

/// The older revision a new text was started from, with its number, if the text's history is behind
/// the document's.
fn base_revision(
    store: &Store,
    stored: &StoredHandoff,
    next: &Document,
) -> Result<Option<(usize, Document)>, JournalError> {
    let workspace = store.workspace();
    let now = stored.handoff(workspace);
    let next = Handoff::new(next, &stored.location, &workspace.settings().stages);
    let (known, all) = (next.replaced_texts(), now.replaced_texts());
    let values =
        |texts: &[Option<midstride_core::text::span::Spanned<&str>>]| -> Vec<Option<String>> {
            texts.iter().map(|text| text.map(|text| text.value.trim().to_owned())).collect()
        };
    let behind = known.len() < all.len() && values(&all[..known.len()]) == values(&known);
    // A text of this handoff without any history was started from the first revision.
    let is_ours = next.uid().is_some();
    if !behind || !is_ours {
        return Ok(None);
    }
    let number = known.len() + 1;
    match store.revision_text(stored, number) {
        Ok(text) => Ok(Some((number, Document::parse(&text)))),
        Err(RevisionError::NotLocal { .. } | RevisionError::Forgotten { .. }) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Merges the new text with what changed in the document meanwhile.
fn merge_concurrent(
    workspace: &Workspace,
    (base, begun): (&Document, Option<usize>),
    now: &StoredHandoff,
    next: &Document,
) -> Result<Document, ReviseError> {
    let key = now.handoff(workspace).key().to_string();
    let merged = merge::merge(Some(base), &now.document, next, None)
        .map_err(|_| other_uid_error(&now.handoff(workspace)))?;
    if merged.conflicts.is_empty() {
        return Ok(Document::parse(merged.text.as_bytes()));
    }
    let scratch = ScratchFolder::new("midstride-merge").map_err(JournalError::from)?;
    let name = now.path.file_name().unwrap_or_default();
    let (text, redacted) = workspace.clean(&merged.text);
    let kept = scratch.write(name, text.as_str().as_bytes()).map_err(JournalError::from)?;
    let places = merged.conflicts.iter().map(|place| workspace.clean(place).0.as_str().to_owned());
    Err(ReviseError::Conflict { key, begun, places: places.collect(), kept, redacted })
}
