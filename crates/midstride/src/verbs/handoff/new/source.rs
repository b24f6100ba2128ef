//! Finds what a new handoff starts from: a handoff it builds on, or a note that becomes it.

use super::{ImportedNote, NewError, NewHandoff, derived_from, reference, stage_rule};
use crate::sys::files;
use crate::workspace::{FindError, StoredHandoff, Workspace};
use midstride_core::format::document::{Document, RedactedDocument};
use midstride_core::format::header::HandoffKind;
use midstride_core::format::stage::StageRule;
use midstride_core::handoff::note::{self, NoteFields};
use midstride_core::handoff::{Handoff, Location};
use midstride_core::text::edit::{Edit, HeaderPath};
use midstride_core::text::id::{HandoffId, HandoffKey};
use midstride_core::text::redact::Redaction;
use midstride_core::text::yaml::YamlData;
use std::path::{Path as FilePath, PathBuf};

/// What a new handoff starts from.
pub(super) enum HandoffSource {
    /// A handoff it builds on.
    Handoff(Box<StoredHandoff>),
    /// A note that becomes it.
    Note(Box<SourceNote>),
}

/// A note that becomes a handoff.
pub(super) struct SourceNote {
    /// Redacted, because the id is made from its title.
    document: Document,
    redacted: Vec<Redaction>,
    fields: NoteFields,
    /// The file name without extension.
    stem: String,
    path: PathBuf,
    /// The document in the project; `None` if the user named a file elsewhere.
    stored: Option<Box<StoredHandoff>>,
}

/// Finds the named source. A stage builds on it in any case; otherwise a note becomes the handoff.
pub(super) fn find_source(
    workspace: &Workspace,
    wanted: &NewHandoff,
) -> Result<Option<HandoffSource>, NewError> {
    let Some(name) = wanted.upstream.as_deref() else { return Ok(None) };
    if let Some(stage) = wanted.stage.as_deref() {
        let stored = find_upstream(workspace, name, stage_rule(workspace, stage)?)?;
        return Ok(Some(HandoffSource::Handoff(Box::new(stored))));
    }
    let note = match workspace.find(name) {
        Ok(stored) if stored.document.handoff_header().is_some() => {
            return Ok(Some(HandoffSource::Handoff(Box::new(stored))));
        }
        Ok(stored) => {
            let stored = Box::new(stored);
            let (document, whereabouts) = (stored.document.clone(), stored.location.clone());
            SourceNote::new(workspace, &document, &whereabouts, stored.path.clone(), Some(stored))?
        }
        Err(FindError::Outside(_)) => read_outside(workspace, name)?,
        Err(error) => {
            let folder = files::is_folder(&workspace.environment().folder.join(name));
            return Err(if folder { NewError::Folder(name.into()) } else { error.into() });
        }
    };
    if wanted.text.is_some() {
        return Err(NewError::TwoTexts(note.path));
    }
    Ok(Some(HandoffSource::Note(Box::new(note))))
}

/// The handoff to build on. If an id has several stages, picks the one this stage builds on.
pub(in crate::verbs) fn find_upstream(
    workspace: &Workspace,
    name: &str,
    rule: &StageRule,
) -> Result<StoredHandoff, FindError> {
    let stages = rule.upstream().iter();
    let mut of_stage = stages.filter_map(|stage| workspace.find(&format!("{name}/{stage}")).ok());
    of_stage.next().map_or_else(|| workspace.find(name), Ok)
}

/// The handoff a stage builds on, together with those of the other stages it builds on.
pub(super) fn with_siblings(
    workspace: &Workspace,
    first: Option<StoredHandoff>,
    rule: Option<&StageRule>,
) -> Vec<StoredHandoff> {
    let Some(first) = first else { return Vec::new() };
    let key = first.handoff(workspace).key();
    let others = rule.map(StageRule::upstream).unwrap_or_default().iter();
    let others = others.filter(|stage| key.stage.is_some() && key.stage.as_ref() != Some(stage));
    let others: Vec<StoredHandoff> = others
        .filter_map(|stage| {
            find_by_key(workspace, &HandoffKey { id: key.id.clone(), stage: Some(stage.clone()) })
        })
        .collect();
    std::iter::once(first).chain(others).collect()
}

/// The handoff with exactly this key.
pub(in crate::verbs) fn find_by_key(
    workspace: &Workspace,
    key: &HandoffKey,
) -> Option<StoredHandoff> {
    let found = workspace.find(&key.to_string()).ok()?;
    (found.handoff(workspace).key() == *key).then_some(found)
}

/// Reads a note outside the project. A handoff outside the project is refused.
fn read_outside(workspace: &Workspace, name: &str) -> Result<SourceNote, NewError> {
    let path = workspace.environment().folder.join(name);
    let document = Document::parse(&files::read_named(&path)?);
    if document.handoff_header().is_some() {
        return Err(FindError::Outside(name.to_owned()).into());
    }
    let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let whereabouts = Location { stem, stage: None };
    SourceNote::new(workspace, &document, &whereabouts, name.into(), None)
}

/// A reference to a path below the root, for a document at `place`. References resolve from the
/// document's own folder first, so a file with the same relative path there, even the document
/// itself, would match.
fn relative_reference(workspace: &Workspace, place: &FilePath, path: PathBuf) -> PathBuf {
    let Some(folder) = place.parent() else { return path };
    let nearer = folder.join(&path);
    if nearer == place || workspace.root().has_file(&nearer) {
        let root: PathBuf = folder.iter().map(|_| "..").collect();
        return root.join(path);
    }
    path
}

impl SourceNote {
    fn new(
        workspace: &Workspace,
        document: &Document,
        whereabouts: &Location,
        path: PathBuf,
        stored: Option<Box<StoredHandoff>>,
    ) -> Result<Self, NewError> {
        if !document.is_exact() {
            return Err(NewError::NotUtf8(path));
        }
        let RedactedDocument { document, redacted, .. } = workspace.redact(document)?;
        let fields = note::extract_for_adoption(&Handoff::new(
            &document,
            whereabouts,
            &workspace.settings().stages,
        ));
        Ok(Self { document, redacted, fields, stem: whereabouts.stem.clone(), path, stored })
    }

    /// Secrets that were redacted.
    pub(super) fn redacted(&self) -> &[Redaction] {
        &self.redacted
    }

    /// The id the note gives itself.
    pub(super) fn id(&self) -> Option<HandoffId> {
        HandoffId::parse(self.fields.text("id")?).ok()
    }

    /// Fills unset fields from the note. The file name is the last resort for the title.
    pub(super) fn complete(&self, wanted: &NewHandoff) -> NewHandoff {
        let own = || self.fields.text("title").map(str::to_owned);
        let title = wanted.title.clone().or_else(own).or_else(|| note::title_from_name(&self.stem));
        let kind = wanted.kind.or_else(|| HandoffKind::parse(self.fields.text("kind")?));
        NewHandoff { title, kind, ..wanted.clone() }
    }

    /// The text of the note below a header that references it, for a handoff at `place`.
    pub(super) fn to_handoff(
        &self,
        workspace: &Workspace,
        place: &FilePath,
        fields: Vec<(&'static str, YamlData)>,
        typed: &NewHandoff,
    ) -> Result<Document, NewError> {
        let handoff = self.document.with_header(&self.merge_fields(fields, typed))?;
        let Some(stored) = &self.stored else { return Ok(handoff) };
        let upstream = HeaderPath::field("dependencies").key("upstream");
        let named = reference(workspace, &stored.path, &stored.handoff(workspace).key());
        let artifact = relative_reference(workspace, place, named);
        let named = Edit::Append(upstream, derived_from(&artifact));
        Ok(handoff.edit(&[named])?.0)
    }

    /// Merges the header fields. The note's values override defaults, and typed values override the
    /// note's.
    fn merge_fields(
        &self,
        mut fields: Vec<(&'static str, YamlData)>,
        typed: &NewHandoff,
    ) -> Vec<(&'static str, YamlData)> {
        let own = &self.fields;
        // The id and the kind were already chosen with the note's values in mind.
        let is_fixed = |name: &str| matches!(name, "id" | "kind") || typed.specifies(name);
        // A note that does not say when and by whom it was written stays without that.
        let is_unknown = |name: &str| matches!(name, "at_commit" | "created" | "from");
        fields.retain(|(name, _)| is_fixed(name) || !(own.get(name).is_some() || is_unknown(name)));
        if own.get("context_summary").is_none() && !typed.specifies("context_summary") {
            let origin = format!("Made from the note `{}`.", self.path.display());
            fields.retain(|(name, _)| *name != "context_summary");
            fields.push(("context_summary", YamlData::Text(origin)));
        }
        fields.extend(own.fields.iter().filter(|(name, _)| !is_fixed(name)).cloned());
        fields
    }

    /// What to report about the note.
    pub(super) fn into_imported_note(self, typed: &NewHandoff) -> ImportedNote {
        let names = self.fields.fields.iter().map(|(name, _)| *name);
        let untyped = |name: &&'static str| !typed.specifies(name);
        ImportedNote {
            path: self.path,
            is_referenced: self.stored.is_some(),
            imported_fields: names.filter(untyped).collect(),
            skipped_fields: self.fields.unconverted.iter().copied().filter(untyped).collect(),
        }
    }
}
