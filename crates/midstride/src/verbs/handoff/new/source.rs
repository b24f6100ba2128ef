//! What a new handoff starts from: a handoff that it builds on, or a note that becomes it.

use super::{ImportedNote, NewError, NewHandoff, derived_from, reference, stage_rule};
use crate::sys::files;
use crate::workspace::project::{FindError, Project, StoredHandoff};
use midstride_core::format::document::Document;
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
    /// A handoff that it builds on.
    Handoff(Box<StoredHandoff>),
    /// A note that becomes it.
    Note(Box<SourceNote>),
}

/// A note that becomes a handoff.
pub(super) struct SourceNote {
    /// Without its secrets: an id is made of its title, and would spell one out.
    document: Document,
    redacted: Vec<Redaction>,
    fields: NoteFields,
    /// The name of its file.
    stem: String,
    path: PathBuf,
    /// Where it lies in the project; nothing where a person named a file elsewhere.
    stored: Option<Box<StoredHandoff>>,
}

/// Finds what is named. A stage builds on whatever it names; else a note becomes the handoff.
pub(super) fn find_source(
    project: &Project,
    wanted: &NewHandoff,
) -> Result<Option<HandoffSource>, NewError> {
    let Some(name) = wanted.upstream.as_deref() else { return Ok(None) };
    if let Some(stage) = wanted.stage.as_deref() {
        let shelved = find_upstream(project, name, stage_rule(project, stage)?)?;
        return Ok(Some(HandoffSource::Handoff(Box::new(shelved))));
    }
    let note = match project.find(name) {
        Ok(shelved) if shelved.document.handoff_header().is_some() => {
            return Ok(Some(HandoffSource::Handoff(Box::new(shelved))));
        }
        Ok(shelved) => {
            let shelved = Box::new(shelved);
            let (document, whereabouts) = (shelved.document.clone(), shelved.location.clone());
            SourceNote::new(project, &document, &whereabouts, shelved.path.clone(), Some(shelved))?
        }
        Err(FindError::Outside(_)) => read_outside(project, name)?,
        Err(error) => {
            let folder = files::is_folder(&project.environment().folder.join(name));
            return Err(if folder { NewError::Folder(name.into()) } else { error.into() });
        }
    };
    if wanted.text.is_some() {
        return Err(NewError::TwoTexts(note.path));
    }
    Ok(Some(HandoffSource::Note(Box::new(note))))
}

/// The handoff to build on. An id with several stages means the one that this stage builds on.
pub(in crate::verbs) fn find_upstream(
    project: &Project,
    name: &str,
    rule: &StageRule,
) -> Result<StoredHandoff, FindError> {
    let stages = rule.upstream().iter();
    let mut of_stage = stages.filter_map(|stage| project.find(&format!("{name}/{stage}")).ok());
    of_stage.next().map_or_else(|| project.find(name), Ok)
}

/// The handoff that a stage builds on, with those of the other stages that it builds on too.
pub(super) fn with_siblings(
    project: &Project,
    first: Option<StoredHandoff>,
    rule: Option<&StageRule>,
) -> Vec<StoredHandoff> {
    let Some(first) = first else { return Vec::new() };
    let key = first.handoff(project).key();
    let others = rule.map(StageRule::upstream).unwrap_or_default().iter();
    let others = others.filter(|stage| key.stage.is_some() && key.stage.as_ref() != Some(stage));
    let others: Vec<StoredHandoff> = others
        .filter_map(|stage| {
            find_by_key(project, &HandoffKey { id: key.id.clone(), stage: Some(stage.clone()) })
        })
        .collect();
    std::iter::once(first).chain(others).collect()
}

/// The handoff that has exactly this key.
pub(in crate::verbs) fn find_by_key(project: &Project, key: &HandoffKey) -> Option<StoredHandoff> {
    let found = project.find(&key.to_string()).ok()?;
    (found.handoff(project).key() == *key).then_some(found)
}

/// A file that a person named is read wherever it lies; a handoff stays in its project.
fn read_outside(project: &Project, name: &str) -> Result<SourceNote, NewError> {
    let path = project.environment().folder.join(name);
    let document = Document::parse(&files::read_named(&path)?);
    if document.handoff_header().is_some() {
        return Err(FindError::Outside(name.to_owned()).into());
    }
    let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let whereabouts = Location { stem, stage: None };
    SourceNote::new(project, &document, &whereabouts, name.into(), None)
}

/// A path below the root, for a document at this place. References count from its own folder first,
/// where a file of that name, and be it the document itself, would be meant.
fn relative_reference(project: &Project, place: &FilePath, path: PathBuf) -> PathBuf {
    let Some(folder) = place.parent() else { return path };
    let nearer = folder.join(&path);
    if nearer == place || project.root().has_file(&nearer) {
        let root: PathBuf = folder.iter().map(|_| "..").collect();
        return root.join(path);
    }
    path
}

impl SourceNote {
    fn new(
        project: &Project,
        document: &Document,
        whereabouts: &Location,
        path: PathBuf,
        shelved: Option<Box<StoredHandoff>>,
    ) -> Result<Self, NewError> {
        if !document.is_exact() {
            return Err(NewError::NotUtf8(path));
        }
        let (text, redacted) = project.clean(document.text());
        let document = Document::parse(text.as_str().as_bytes());
        let told =
            note::extract_fields(&Handoff::new(&document, whereabouts, &project.settings().stages));
        Ok(Self {
            document,
            redacted,
            fields: told,
            stem: whereabouts.stem.clone(),
            path,
            stored: shelved,
        })
    }

    /// Secrets that were taken out of it.
    pub(super) fn redacted(&self) -> &[Redaction] {
        &self.redacted
    }

    /// The id that it gives itself.
    pub(super) fn id(&self) -> Option<HandoffId> {
        HandoffId::parse(self.fields.text("id")?).ok()
    }

    /// What is wanted, completed by what the note tells; its file has a name where nothing else
    /// does.
    pub(super) fn complete(&self, wanted: &NewHandoff) -> NewHandoff {
        let own = || self.fields.text("title").map(str::to_owned);
        let title = wanted.title.clone().or_else(own).or_else(|| note::title_from_name(&self.stem));
        let kind = wanted.kind.or_else(|| HandoffKind::parse(self.fields.text("kind")?));
        NewHandoff { title, kind, ..wanted.clone() }
    }

    /// Its text under a header, which names it, for a handoff at this place.
    pub(super) fn to_handoff(
        &self,
        project: &Project,
        place: &FilePath,
        fields: Vec<(&'static str, YamlData)>,
        typed: &NewHandoff,
    ) -> Result<Document, NewError> {
        let handoff = self.document.with_header(&self.merge_fields(fields, typed))?;
        let Some(shelved) = &self.stored else { return Ok(handoff) };
        let upstream = HeaderPath::field("dependencies").key("upstream");
        let named = reference(project, &shelved.path, &shelved.handoff(project).key());
        let artifact = relative_reference(project, place, named);
        let named = Edit::Append(upstream, derived_from(&artifact));
        Ok(handoff.edit(&[named])?.0)
    }

    /// What a note tells counts more than what the program would put there, and less than what was
    /// typed.
    fn merge_fields(
        &self,
        mut fields: Vec<(&'static str, YamlData)>,
        typed: &NewHandoff,
    ) -> Vec<(&'static str, YamlData)> {
        let told = &self.fields;
        // The id and the kind were chosen with the note in view.
        let stands = |name: &str| matches!(name, "id" | "kind") || typed.specifies(name);
        // A note of last week was not written where the repository stands today.
        let is_late = |name: &str| name == "at_commit" && told.get("created").is_some();
        fields.retain(|(name, _)| stands(name) || !(told.get(name).is_some() || is_late(name)));
        fields.extend(told.fields.iter().filter(|(name, _)| !stands(name)).cloned());
        fields
    }

    /// What there is to say about it.
    pub(super) fn into_imported_note(self, typed: &NewHandoff) -> ImportedNote {
        let told = self.fields.fields.iter().map(|(name, _)| *name);
        let untyped = |name: &&'static str| !typed.specifies(name);
        ImportedNote {
            path: self.path,
            is_referenced: self.stored.is_some(),
            imported_fields: told.filter(untyped).collect(),
            skipped_fields: self.fields.unconverted.iter().copied().filter(untyped).collect(),
        }
    }
}
