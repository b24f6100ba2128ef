//! Give a handoff its next text, with the reason in its history.

use crate::journal::{JournalError, RecordedRevision, RevisionInfo};
use crate::store::revisions::RevisionError;
use crate::sys::files::{FileError, ScratchFolder};
use crate::workspace::project::{Project, StoredHandoff};
use midstride_core::format::document::{Document, DocumentEditError};
use midstride_core::format::finding::{Code, Finding, Severity};
use midstride_core::handoff::Handoff;
use midstride_core::handoff::merge;
use midstride_core::text::edit::{Edit, HeaderPath};
use midstride_core::text::redact::Redaction;
use midstride_core::text::yaml::YamlNode;
use std::path::PathBuf;

/// What came of it.
#[derive(Debug)]
pub enum ReviseOutcome {
    /// The text is the one that was there.
    Unchanged,
    /// The document has the new text.
    Recorded(RecordedRevision),
}

/// Why a handoff keeps its text.
#[derive(Debug, thiserror::Error)]
pub enum ReviseError {
    /// The same places were changed since the text was begun.
    #[error("{}, in the same places: {}", changed_since(key, *begun), places.join("; "))]
    Conflict {
        /// The handoff.
        key: String,
        /// The number of the text that the new one was begun from, where that is an earlier one.
        begun: Option<usize>,
        /// Where both changed it.
        places: Vec<String>,
        /// Both texts in one, with markers.
        kept: PathBuf,
        /// Secrets that were not written there.
        redacted: Vec<Redaction>,
    },
    /// The text belongs to another handoff.
    #[error("the text is of another handoff: {why}")]
    OtherHandoff {
        /// The handoff that keeps its text.
        key: String,
        /// How one can tell.
        why: String,
    },
    /// Nobody could read its header any more.
    #[error("`{key}` keeps its text, the header of the new one cannot be read: line {line}: {why}")]
    Header {
        /// The handoff.
        key: String,
        /// What is wrong with the header of the new text.
        why: String,
        /// In which line of it.
        line: usize,
        /// What to do about it.
        fix: &'static str,
    },
    /// Nothing would be left of it.
    #[error("the new text of `{0}` is empty")]
    Empty(String),
    /// It could not be recorded.
    #[error(transparent)]
    Journal(#[from] JournalError),
}

fn changed_since(key: &str, begun: Option<usize>) -> String {
    match begun {
        Some(number) => {
            format!("the text was begun from `{key}@{number}`, and `{key}` has changed since")
        }
        None => format!("somebody else changed `{key}` meanwhile"),
    }
}

/// Puts a new text in the place of a handoff. A text without a header replaces the body only. What
/// was changed since the text was begun is merged in; a text that the handoff had before takes its
/// place as it was.
pub fn revise(
    project: &Project,
    shelved: &StoredHandoff,
    text: &str,
    change: &RevisionInfo,
) -> Result<ReviseOutcome, ReviseError> {
    let next = next_document(project, shelved, text)?;
    record_if_changed(project, shelved, next, change)
}

/// The same with a text that was made in the place of the document: it may rename it.
pub(in crate::verbs) fn revise_in_place(
    project: &Project,
    shelved: &StoredHandoff,
    text: &str,
    change: &RevisionInfo,
) -> Result<ReviseOutcome, ReviseError> {
    let (given, restored) = parse_given(project, shelved, text)?;
    record_if_changed(
        project,
        shelved,
        merge_with_current(project, shelved, given, restored)?,
        change,
    )
}

fn record_if_changed(
    project: &Project,
    shelved: &StoredHandoff,
    next: Document,
    change: &RevisionInfo,
) -> Result<ReviseOutcome, ReviseError> {
    if next.text() == shelved.document.text() {
        return Ok(ReviseOutcome::Unchanged);
    }
    record_merged(project, shelved, next, change).map(ReviseOutcome::Recorded)
}

/// The document that a new text makes of a handoff as it is now.
pub(in crate::verbs) fn next_document(
    project: &Project,
    shelved: &StoredHandoff,
    text: &str,
) -> Result<Document, ReviseError> {
    let (given, restored) = parse_given(project, shelved, text)?;
    if !restored {
        refuse_other_name(&shelved.handoff(project), &given)?;
    }
    merge_with_current(project, shelved, given, restored)
}

/// The document that a text stands for, and whether the handoff had exactly this text before.
fn parse_given(
    project: &Project,
    shelved: &StoredHandoff,
    text: &str,
) -> Result<(Document, bool), ReviseError> {
    let handoff = shelved.handoff(project);
    if text.trim().is_empty() {
        return Err(ReviseError::Empty(handoff.key().to_string()));
    }
    let restored = project.had_text(shelved, &project.clean(text).0).map_err(JournalError::from)?;
    if !restored {
        refuse_broken_header(&handoff, &Document::parse(text.as_bytes()))?;
    }
    let given = parse_text(&shelved.document, text).map_err(JournalError::from)?;
    refuse_other_uid(&handoff, &given)?;
    Ok((given, restored))
}

/// Refuses a text whose header nobody can read as it is meant, unless the document has the same
/// trouble: then it may be on its way out of it.
fn refuse_broken_header(now: &Handoff<'_>, given: &Document) -> Result<(), ReviseError> {
    const BROKEN: [Code; 3] = [Code::HeaderNotClosed, Code::Syntax, Code::HeaderTooLarge];
    let key = now.key().to_string();
    let has = |code: Code| now.document().findings().iter().any(|finding| finding.code == code);
    let is_broken = |finding: &&Finding| BROKEN.contains(&finding.code) && !has(finding.code);
    if let Some(finding) = given.findings().iter().find(is_broken) {
        let line = given.position(finding.at.start).line;
        let (why, mend) = (finding.message.clone(), finding.code.rule().fix);
        return Err(ReviseError::Header { key, why, line, fix: mend });
    }
    // It would become the beginning of the body, below the header that is there.
    if given.header().is_some() && given.handoff_header().is_none() {
        return Err(ReviseError::Header {
            key,
            why: "it has no `handoff:`".to_owned(),
            line: 1,
            fix: "put its values below `handoff:`, or leave the header out to replace the body",
        });
    }
    Ok(())
}

/// What is wrong with a handoff since it was revised: errors and warnings that it did not have
/// before. Comes with the document that they are about.
pub fn findings_since(
    project: &Project,
    before: &StoredHandoff,
) -> Result<(StoredHandoff, Vec<Finding>), FileError> {
    let after = project.reread(before)?;
    let had = project.check(before).findings;
    let is_new = |finding: &Finding| {
        !had.iter().any(|old| old.code == finding.code && old.message == finding.message)
    };
    let mut findings = project.check(&after).findings;
    findings.retain(|finding| finding.severity() != Severity::Advice && is_new(finding));
    Ok((after, findings))
}

/// Refuses a text that says it is of another handoff.
fn refuse_other_uid(now: &Handoff<'_>, given: &Document) -> Result<(), ReviseError> {
    match (now.uid(), header_text(given, "uid")) {
        (Some(own), Some(given)) if own.value.trim() != given => Err(other_uid_error(now)),
        _ => Ok(()),
    }
}

/// Refuses a text that goes by the name of another handoff, unless its uid is the one of this.
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
                None => format!("its {field} is `{given}`, and `{key}` has none"),
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
    ReviseError::OtherHandoff { why: format!("its uid is not the one of `{key}`"), key }
}

/// The given document together with what happened since it was begun.
fn merge_with_current(
    project: &Project,
    shelved: &StoredHandoff,
    given: Document,
    restored: bool,
) -> Result<Document, ReviseError> {
    let given = match restored {
        true => given,
        false => keep_missing_fields(&shelved.document, given).map_err(JournalError::from)?,
    };
    let base = if restored { None } else { base_revision(project, shelved, &given)? };
    let next = match base {
        Some((number, base)) => merge_concurrent(project, (&base, Some(number)), shelved, &given)?,
        None => given,
    };
    Ok(keep_reviews(&shelved.handoff(project), next).map_err(JournalError::from)?)
}

/// A header without a uid was not begun from the document: what it does not name stays as it is, above
/// all where the handoff stands in its life.
fn keep_missing_fields(now: &Document, next: Document) -> Result<Document, DocumentEditError> {
    // These are carried over when a text is recorded.
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

/// A text that somebody wrote anew does not take away who challenged the one before.
fn keep_reviews(now: &Handoff<'_>, next: Document) -> Result<Document, DocumentEditError> {
    let count = |node: Option<&YamlNode>| node.map_or(0, |node| node.items().len());
    let brought = next.handoff_header().and_then(|header| header.fields().get("reviews"));
    let Some(reviews) = now.node("reviews").filter(|own| count(Some(own)) > count(brought)) else {
        return Ok(next);
    };
    let edit = Edit::Set(HeaderPath::field("reviews"), reviews.data());
    next.edit(&[edit]).map(|(next, _)| next)
}

/// Records a text; whoever was faster is merged in.
pub(in crate::verbs) fn record_merged(
    project: &Project,
    shelved: &StoredHandoff,
    mut next: Document,
    change: &RevisionInfo,
) -> Result<RecordedRevision, ReviseError> {
    let mut base: Option<Document> = None;
    project.record_with_retry(shelved, |now| {
        if let Some(base) = base.replace(now.document.clone()) {
            next = merge_concurrent(project, (&base, None), now, &next)?;
        }
        Ok(project.record(now, &next, change, &|_| ()))
    })
}

/// A whole document, or the document with a new body.
fn parse_text(document: &Document, text: &str) -> Result<Document, DocumentEditError> {
    let given = Document::parse(text.as_bytes());
    if given.handoff_header().is_some() {
        return Ok(given);
    }
    let body = format!("\n{}", text.trim_start_matches(['\r', '\n']).replace("\r\n", "\n"));
    let body = body.replace('\n', document.line_break());
    document.edit(&[Edit::Body(document.body(), body)]).map(|(next, _)| next)
}

/// The older text that a new one was begun from, with its number, where its history is behind the
/// document's.
fn base_revision(
    project: &Project,
    shelved: &StoredHandoff,
    next: &Document,
) -> Result<Option<(usize, Document)>, JournalError> {
    let now = shelved.handoff(project);
    let next = Handoff::new(next, &shelved.location, &project.settings().stages);
    let (known, all) = (next.replaced_texts(), now.replaced_texts());
    let values =
        |texts: &[Option<midstride_core::text::span::Spanned<&str>>]| -> Vec<Option<String>> {
            texts.iter().map(|text| text.map(|text| text.value.trim().to_owned())).collect()
        };
    let behind = known.len() < all.len() && values(&all[..known.len()]) == values(&known);
    // Without any history in it, a text of this handoff was begun from the first one.
    let is_ours = next.uid().is_some();
    if !behind || !is_ours {
        return Ok(None);
    }
    let number = known.len() + 1;
    match project.revision_text(shelved, number) {
        Ok(text) => Ok(Some((number, Document::parse(&text)))),
        Err(RevisionError::NotLocal { .. } | RevisionError::Forgotten { .. }) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// The new text together with what became of the old one meanwhile.
fn merge_concurrent(
    project: &Project,
    (base, begun): (&Document, Option<usize>),
    now: &StoredHandoff,
    next: &Document,
) -> Result<Document, ReviseError> {
    let key = now.handoff(project).key().to_string();
    let merged = merge::merge(Some(base), &now.document, next, None)
        .map_err(|_| other_uid_error(&now.handoff(project)))?;
    if merged.conflicts.is_empty() {
        return Ok(Document::parse(merged.text.as_bytes()));
    }
    let scratch = ScratchFolder::new("midstride-merge").map_err(JournalError::from)?;
    let name = now.path.file_name().unwrap_or_default();
    let (text, redacted) = project.clean(&merged.text);
    let kept = scratch.write(name, text.as_str().as_bytes()).map_err(JournalError::from)?;
    let places = merged.conflicts.iter().map(|place| project.clean(place).0.as_str().to_owned());
    Err(ReviseError::Conflict { key, begun, places: places.collect(), kept, redacted })
}
