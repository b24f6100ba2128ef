//! Creates a handoff. The program provides identity, path and skeleton, the author the rest.

mod source;

use crate::code::anchoring::AnchorScope;
use crate::store::Store;
use crate::sys::files::{FileError, FileProblem, Lock, Root};
use crate::sys::git::Repository;
use crate::sys::ids::{new_uid, next_feature};
use crate::verbs::task::TaskError;
use crate::verbs::task::transfer::{TaskSnapshot, open_tasks};
use crate::workspace::folder::{FolderLayout, HandoffFolder};
use crate::workspace::{Catalog, FindError, SetupMode, StoredHandoff, Workspace};
use midstride_core::format::document::{
    Document, DocumentEditError, FORMAT_VERSION, RedactedDocument,
};
use midstride_core::format::finding::Code;
use midstride_core::format::header::HandoffKind;
use midstride_core::format::skeleton::skeleton;
use midstride_core::format::stage::StageRule;
use midstride_core::session::author_notes::AuthorNotes;
use midstride_core::text::edit::{Edit, HeaderPath};
use midstride_core::text::id::{
    FeatureNumber, HandoffId, HandoffIdError, HandoffKey, nearest_match,
};
use midstride_core::text::redact::Redaction;
use midstride_core::text::time;
use midstride_core::text::yaml::{YamlData, YamlNode};
use source::HandoffSource;
pub(in crate::verbs) use source::{find_by_key, find_upstream};
use std::path::PathBuf;

/// What the author specifies for a new handoff.
#[derive(Clone, Debug, Default)]
pub struct NewHandoff {
    /// The title, in one line.
    pub title: Option<String>,
    /// The id. If not set, it is made from the title.
    pub id: Option<String>,
    /// The kind.
    pub kind: Option<HandoffKind>,
    /// The pipeline stage the document belongs to.
    pub stage: Option<String>,
    /// One line that helps a later session find it.
    pub description: Option<String>,
    /// One to three sentences.
    pub summary: Option<String>,
    /// The author.
    pub by: Option<String>,
    /// The recipients.
    pub to: Vec<String>,
    /// What it builds on: a path or an id. A note becomes the handoff itself, unless a stage is
    /// created.
    pub upstream: Option<String>,
    /// The text, with or without a header.
    pub text: Option<String>,
    /// Entries to add to the header.
    pub entries: AuthorNotes,
    /// Whether to store it in the private folder.
    pub private: Option<bool>,
}

impl NewHandoff {
    /// Whether the author specifies a field of the header.
    fn specifies(&self, field: &str) -> bool {
        match field {
            "title" => self.title.is_some(),
            "id" => self.id.is_some(),
            "kind" => self.kind.is_some(),
            "description" => self.description.is_some(),
            "context_summary" => self.summary.is_some(),
            "from" => self.by.is_some(),
            "to" => !self.to.is_empty(),
            _ => false,
        }
    }
}

/// A new handoff, and what it builds on.
#[derive(Debug)]
pub struct CreatedHandoff {
    /// The document.
    pub stored: StoredHandoff,
    /// The id that its title gives, if another handoff has it.
    pub taken_id: Option<HandoffId>,
    /// The handoffs it builds on, starting with the one that was named.
    pub upstream: Vec<StoredHandoff>,
    /// The note it was made from.
    pub origin: Option<ImportedNote>,
    /// Secrets that were not written.
    pub redacted: Vec<Redaction>,
    /// The open tasks stored in a session handoff, or why it has none.
    pub task_snapshot: Result<TaskSnapshot, TaskError>,
}

/// The note a handoff was made from. The note itself is unchanged.
#[derive(Debug)]
pub struct ImportedNote {
    /// Its path, as the user would type it.
    pub path: PathBuf,
    /// Whether the handoff references it as upstream. Only notes inside the project are, because
    /// others do not have the rest.
    pub is_referenced: bool,
    /// The header fields that were read from it.
    pub imported_fields: Vec<&'static str>,
    /// Fields that could not be converted. They remain in its text.
    pub skipped_fields: Vec<&'static str>,
}

/// Why no handoff was created.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NewError {
    /// The project is not set up.
    #[error("this project is not set up")]
    NotSetUp,
    /// Neither a title nor an id is given.
    #[error("a handoff needs a title or an id")]
    Nameless,
    /// The id cannot be used.
    #[error("`{id}` is not a valid id: {why}")]
    BadId {
        /// The id.
        id: String,
        /// The reason.
        why: HandoffIdError,
    },
    /// The id contains a secret, which would end up in the file name.
    #[error("the id contains a secret, which would end up in the file name: {0}")]
    SecretId(std::borrow::Cow<'static, str>),
    /// The stage is not defined.
    #[error("there is no stage `{stage}`")]
    UnknownStage {
        /// The stage.
        stage: String,
        /// The stage that may have been meant.
        nearest: Option<String>,
        /// All stages.
        known: Vec<String>,
    },
    /// A handoff with this name exists.
    #[error("handoff `{key}` already exists: `{}`", path.display())]
    Exists {
        /// The name.
        key: HandoffKey,
        /// Its path.
        path: PathBuf,
    },
    /// What it builds on was not found.
    #[error(transparent)]
    Upstream(#[from] FindError),
    /// The text is given twice.
    #[error("the text was given twice; `{}` already provides it", .0.display())]
    TwoTexts(PathBuf),
    /// The note is not UTF-8.
    #[error("`{}` is not UTF-8", .0.display())]
    NotUtf8(PathBuf),
    /// The path of the note is a folder.
    #[error("`{}` is a folder", .0.display())]
    Folder(PathBuf),
    /// The text has a header that cannot be completed.
    #[error("cannot complete the given header: {0}")]
    Header(#[from] DocumentEditError),
    /// A committed handoff in a project that commits nothing.
    #[error("this project has no committed folder")]
    CommitsNothing,
    /// A file could not be written.
    #[error(transparent)]
    File(#[from] FileError),
}

/// Creates a handoff.
///
/// ```
/// use midstride::verbs::{self, NewHandoff};
/// use std::path::Path;
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
/// assert_eq!(created.stored.path, Path::new(".midstride/handoffs/search-slow.md"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn new(store: &Store, wanted: &NewHandoff) -> Result<CreatedHandoff, NewError> {
    let workspace = store.workspace();
    let private_project = match workspace.setup() {
        SetupMode::NotSetUp => return Err(NewError::NotSetUp),
        SetupMode::Private if wanted.private == Some(false) => {
            return Err(NewError::CommitsNothing);
        }
        SetupMode::Private => true,
        SetupMode::Committed => false,
    };
    let given = wanted.text.as_ref().map(|text| Document::parse(text.as_bytes()));
    let typed = &complete_from_header(wanted, given.as_ref());
    refuse_secret(workspace, typed.id.as_deref())?;
    let (note, upstream) = match source::find_source(workspace, typed)? {
        Some(HandoffSource::Note(note)) => (Some(note), None),
        Some(HandoffSource::Handoff(stored)) => (None, Some(*stored)),
        None => (None, None),
    };
    let given_title = wanted.title.as_deref();
    let wanted = note.as_ref().map_or_else(|| typed.clone(), |note| note.complete(typed));
    let wanted = &with_clean_title(workspace, wanted);
    let kind = match (&wanted.stage, wanted.kind) {
        (Some(_), _) => HandoffKind::Stage,
        (None, kind) => kind.unwrap_or(HandoffKind::Investigation),
    };
    let rule = wanted.stage.as_deref().map(|stage| stage_rule(workspace, stage)).transpose()?;
    let upstream = source::with_siblings(workspace, upstream, rule);
    let private = private_project || wanted.private.unwrap_or(kind == HandoffKind::Session);
    let private_root = workspace.make_private()?;
    // Two concurrent calls must not get the same number or name.
    let _lock = Lock::acquire(&private_root, "new")?;
    let own_id = note.as_ref().and_then(|note| note.id());
    let ChosenId { id, taken } = match own_id.filter(|_| wanted.id.is_none()) {
        Some(id) => free_id(workspace, id)?,
        None => choose_id(workspace, wanted, kind, upstream.first(), &private_root)?,
    };
    let key = HandoffKey { id: id.to_string(), stage: wanted.stage.clone() };
    let folder = choose_folder(workspace, private, kind);
    let path = choose_path(folder, &key, rule, wanted, upstream.first());
    refuse_taken(workspace, &key)?;
    let mut fields = header_fields(workspace, wanted, kind, &key, rule, &upstream)?;
    // If the author lists tasks, that list counts.
    let lists_tasks = given.as_ref().is_some_and(|given| existing_state(given, "tasks").is_some());
    let carries = match kind {
        HandoffKind::Session if !lists_tasks => open_tasks(store),
        HandoffKind::Session | HandoffKind::Investigation | HandoffKind::Stage => {
            Ok(TaskSnapshot::default())
        }
    };
    let state = carries.as_ref().ok().and_then(|carries| carries.state.clone());
    fields.extend(state.map(|state| ("state", state)));
    let document = match &note {
        Some(note) => note.to_handoff(workspace, &path, fields, typed)?,
        None => compose(given.as_ref(), &fields, kind)?,
    };
    let (document, _) = document.edit(&wanted.entries.entry_edits(&document))?;
    let root = folder.root()?;
    let RedactedDocument { document: clean, mut redacted, .. } = workspace.redact(&document)?;
    let document = anchor_citations(workspace, &root.path().join(&path), &clean)?;
    let RedactedDocument { text, redacted: late, .. } = workspace.redact(&document)?;
    redacted.extend(late);
    redacted.extend(note.iter().flat_map(|note| note.redacted()).cloned());
    redacted.extend(given_title.map(|title| workspace.clean(title).1).unwrap_or_default());
    root.create(&path, text.as_str().as_bytes()).map_err(|error| match error {
        FileError { problem: FileProblem::Exists, path } => {
            NewError::Exists { key: key.clone(), path }
        }
        other => other.into(),
    })?;
    let place = workspace.place_of_path(&root.path().join(&path));
    let place = place.ok_or(FileError { path, problem: FileProblem::NotFound })?;
    let origin = note.map(|note| note.into_imported_note(typed));
    Ok(CreatedHandoff {
        stored: workspace.read(&place)?,
        taken_id: taken,
        upstream,
        origin,
        redacted,
        task_snapshot: carries,
    })
}

/// Whether the check still asks for a text: a required field or a section is empty or missing, or
/// a placeholder is left.
pub fn lacks_text(workspace: &Workspace, stored: &StoredHandoff) -> bool {
    const ASKS_FOR_TEXT: [Code; 6] = [
        Code::UntouchedDraft,
        Code::MissingField,
        Code::EmptyField,
        Code::MissingSection,
        Code::EmptySection,
        Code::Placeholder,
    ];
    let checked = Catalog::new(workspace).check(stored);
    checked.findings.iter().any(|finding| ASKS_FOR_TEXT.contains(&finding.code))
}

/// Anchors the citations of a document to the current code.
fn anchor_citations(
    workspace: &Workspace,
    path: &std::path::Path,
    document: &Document,
) -> Result<Document, NewError> {
    let edit = workspace.anchor_edit(path, None, document, AnchorScope::ChangedStatements);
    Ok(document.edit(edit.as_slice())?.0)
}

/// Fills unset fields from the header of a given text.
fn complete_from_header(wanted: &NewHandoff, given: Option<&Document>) -> NewHandoff {
    let header = given.and_then(Document::handoff_header);
    let header_text = |name: &str| {
        let text = header.and_then(|header| header.text(name));
        text.map(|text| text.value.trim().to_owned())
    };
    let filled = |text: &Option<String>| text.clone().filter(|text| !text.trim().is_empty());
    NewHandoff {
        title: filled(&wanted.title).or_else(|| header_text("title")),
        id: filled(&wanted.id).or_else(|| header_text("id")),
        stage: filled(&wanted.stage).or_else(|| header_text("stage")),
        to: wanted.to.iter().filter(|to| !to.trim().is_empty()).cloned().collect(),
        ..wanted.clone()
    }
}

/// Refuses an id that contains a secret. An id is written exactly as typed, never redacted.
fn refuse_secret(workspace: &Workspace, id: Option<&str>) -> Result<(), NewError> {
    let secret = id.and_then(|id| workspace.clean(id).1.into_iter().next());
    secret.map_or(Ok(()), |secret| Err(NewError::SecretId(secret.kind)))
}

/// Redacts the title, because the id and the file name are made from it.
fn with_clean_title(workspace: &Workspace, wanted: NewHandoff) -> NewHandoff {
    let title = wanted.title.map(|title| workspace.clean(&title).0.as_str().to_owned());
    NewHandoff { title, ..wanted }
}

/// The rule for a stage.
pub(in crate::verbs) fn stage_rule<'p>(
    workspace: &'p Workspace,
    stage: &str,
) -> Result<&'p StageRule, NewError> {
    let stages = &workspace.settings().stages;
    stages.stages.get(stage).ok_or_else(|| NewError::UnknownStage {
        stage: stage.to_owned(),
        nearest: nearest_match(stage, stages.names()).map(str::to_owned),
        known: stages.names().map(str::to_owned).collect(),
    })
}

/// The id of a new handoff.
struct ChosenId {
    id: HandoffId,
    /// The id that it replaces, because another handoff has that one.
    taken: Option<HandoffId>,
}

impl From<HandoffId> for ChosenId {
    fn from(id: HandoffId) -> Self {
        Self { id, taken: None }
    }
}

/// The given id, or else the upstream's id, the next number, or an id made from the title.
fn choose_id(
    workspace: &Workspace,
    wanted: &NewHandoff,
    kind: HandoffKind,
    upstream: Option<&StoredHandoff>,
    private: &Root,
) -> Result<ChosenId, NewError> {
    if let Some(id) = &wanted.id {
        let bad = |why| NewError::BadId { id: id.clone(), why };
        return HandoffId::parse(id).map(ChosenId::from).map_err(bad);
    }
    if kind == HandoffKind::Stage {
        let inherited = upstream.map(|stored| stored.handoff(workspace).id().to_owned());
        if let Some(id) = inherited.and_then(|id| HandoffId::parse(&id).ok()) {
            return Ok(id.into());
        }
        return Ok(next_number(workspace, private)?.id().into());
    }
    let title = wanted.title.as_deref().ok_or(NewError::Nameless)?;
    let day = workspace.environment().clock.now().strftime("handoff-%Y-%m-%d").to_string();
    let base = HandoffId::from_title(title).or_else(|| HandoffId::parse(&day).ok());
    free_id(workspace, base.ok_or(NewError::Nameless)?)
}

/// The id, with a number appended if it is taken.
fn free_id(workspace: &Workspace, base: HandoffId) -> Result<ChosenId, NewError> {
    let free = |id: &HandoffId| {
        let key = HandoffKey { id: id.to_string(), stage: None };
        refuse_taken(workspace, &key).is_ok()
    };
    if free(&base) {
        return Ok(base.into());
    }
    let mut numbered = (2..1000).filter_map(|number| base.numbered(number));
    let id = numbered.find(free).ok_or(NewError::Nameless)?;
    Ok(ChosenId { id, taken: Some(base) })
}

/// The next feature number. The last one is stored where all worktrees share it, because documents
/// in another worktree are not visible here.
fn next_number(workspace: &Workspace, private: &Root) -> Result<FeatureNumber, FileError> {
    let file = std::path::Path::new("last-feature");
    let noted = match private.read(file) {
        Ok(bytes) => FeatureNumber::parse(String::from_utf8_lossy(&bytes).trim()),
        Err(FileError { problem: FileProblem::NotFound, .. }) => None,
        Err(error) => return Err(error),
    };
    let documents = workspace.read_all().into_iter().filter_map(Result::ok);
    let names: Vec<String> = documents
        .flat_map(|stored| {
            let parts = stored.path.iter().map(|part| part.to_string_lossy().into_owned());
            parts.chain([stored.handoff(workspace).id().to_owned()]).collect::<Vec<_>>()
        })
        .chain(noted.map(|number| number.to_string()))
        .collect();
    let next = next_feature(&names);
    private.put(file, format!("{next}\n").as_bytes())?;
    Ok(next)
}

/// The folder for the handoff. A stage goes into the pipeline's folder if there is one.
fn choose_folder(workspace: &Workspace, is_private: bool, kind: HandoffKind) -> &HandoffFolder {
    if is_private {
        return workspace.private_folder();
    }
    let in_use = |folder: &&HandoffFolder| {
        let has_folder = |base| folder.root().is_ok_and(|root| root.has_folder(base));
        folder.reference_base().is_some_and(has_folder)
    };
    let pipeline = workspace.folders().iter().find(in_use);
    pipeline.filter(|_| kind == HandoffKind::Stage).unwrap_or(workspace.committed_folder())
}

fn choose_path(
    handoff_folder: &HandoffFolder,
    key: &HandoffKey,
    rule: Option<&StageRule>,
    wanted: &NewHandoff,
    upstream: Option<&StoredHandoff>,
) -> PathBuf {
    let folder = rule.and_then(|rule| rule.folder.as_deref());
    match (handoff_folder.layout(), folder) {
        (FolderLayout::Pipeline, Some(folder)) => {
            let titled = wanted.title.as_deref().and_then(HandoffId::from_title);
            let alike = upstream.and_then(|upstream| name_after_id(upstream, &key.id));
            let name = titled.as_ref().map(HandoffId::as_str).or(alike);
            handoff_folder.pipeline_path(folder, &key.id, name)
        }
        _ => handoff_folder.path_of(key),
    }
}

/// The files of one feature have the same name: `feat-042-snapshots.md` in every folder.
fn name_after_id<'s>(upstream: &'s StoredHandoff, id: &str) -> Option<&'s str> {
    upstream.path.file_stem()?.to_str()?.strip_prefix(id)?.strip_prefix('-')
}

/// Refuses a name that is taken in any folder.
fn refuse_taken(workspace: &Workspace, key: &HandoffKey) -> Result<(), NewError> {
    let taken = existing_path(workspace, key)?;
    taken.map_or(Ok(()), |path| Err(NewError::Exists { key: key.clone(), path }))
}

/// The path of the handoff with this name, in any folder.
pub(in crate::verbs) fn existing_path(
    workspace: &Workspace,
    key: &HandoffKey,
) -> Result<Option<PathBuf>, FileError> {
    match workspace.find(&key.to_string()) {
        Ok(found) => Ok((found.handoff(workspace).key() == *key).then_some(found.path)),
        Err(FindError::Several { candidates, .. }) => {
            let exact = candidates.into_iter().find(|(other, _)| other == key);
            Ok(exact.map(|(_, path)| path))
        }
        Err(FindError::File(error @ FileError { problem: FileProblem::IsFolder, .. })) => {
            Err(error)
        }
        Err(_) => Ok(None),
    }
}

/// The header: known values, and blank required fields for the author to fill.
fn header_fields(
    workspace: &Workspace,
    wanted: &NewHandoff,
    kind: HandoffKind,
    key: &HandoffKey,
    rule: Option<&StageRule>,
    upstream: &[StoredHandoff],
) -> Result<Vec<(&'static str, YamlData)>, FileError> {
    let now = workspace.environment().clock.now();
    let by = wanted.by.clone().or_else(|| rule?.from.clone());
    let to = match rule {
        Some(rule) if wanted.to.is_empty() => rule.to().to_vec(),
        Some(_) | None => wanted.to.clone(),
    };
    let repository = workspace.repository();
    let commit = repository.map(Repository::read_head_commit).transpose()?.flatten();
    let text = |text: &Option<String>| text.clone().map(YamlData::Text);
    // All stages of one feature share its title.
    let first = upstream.first().filter(|_| rule.is_some());
    let inherited = first.and_then(|first| first.handoff(workspace).title());
    let title = wanted.title.clone().or_else(|| inherited.map(str::to_owned));
    let builds_on = |stored: &StoredHandoff| {
        derived_from(&reference(workspace, &stored.path, &stored.handoff(workspace).key()))
    };
    let builds_on: Vec<YamlData> = upstream.iter().map(builds_on).collect();
    let builds_on =
        (!builds_on.is_empty()).then(|| YamlData::map([("upstream", YamlData::List(builds_on))]));
    let known = [
        ("format", Some(YamlData::Bare(FORMAT_VERSION.to_string()))),
        ("id", Some(YamlData::text(&key.id))),
        ("uid", Some(YamlData::Text(new_uid(now)))),
        ("title", text(&title)),
        ("description", text(&wanted.description)),
        ("kind", Some(YamlData::Bare(kind.word().to_owned()))),
        ("stage", text(&key.stage)),
        ("status", Some(YamlData::Bare("planned".to_owned()))),
        ("from", Some(YamlData::Text(workspace.environment().author(by.as_deref())))),
        ("to", (!to.is_empty()).then(|| YamlData::texts(to))),
        ("created", Some(YamlData::Bare(time::format_time(now)))),
        ("at_commit", commit.map(|commit| YamlData::text(commit.as_str()))),
        ("context_summary", Some(text(&wanted.summary).unwrap_or(YamlData::Null))),
        ("dependencies", builds_on),
    ];
    let known: Vec<(&str, YamlData)> =
        known.into_iter().filter_map(|(k, v)| Some((k, v?))).collect();
    let asked = ["decisions_made", "open_questions", "assumptions"]
        .into_iter()
        .filter(|name| rule.is_some_and(|rule| rule.requires().iter().any(|field| field == name)));
    let lists = asked.map(|name| (name, YamlData::List(Vec::new())));
    let names = workspace.settings().stages.capabilities();
    let decides = |rule: &&StageRule| rule.decides_capabilities() && !names.is_empty();
    let capabilities = rule.filter(decides).map(|_| {
        let undecided =
            || YamlData::map([("applies", YamlData::Null), ("rationale", YamlData::Null)]);
        (
            "platform_capabilities",
            YamlData::map(names.iter().map(|name| (name.as_str(), undecided()))),
        )
    });
    Ok(known.into_iter().chain(lists).chain(capabilities).collect())
}

/// How other documents reference a document.
pub(in crate::verbs) fn reference(
    workspace: &Workspace,
    path: &std::path::Path,
    key: &HandoffKey,
) -> PathBuf {
    // A committed path is the same for everyone. A private document is referenced by its id.
    let private = workspace.root().path().join(path).starts_with(workspace.private_path());
    let everybodys = path.is_relative() && !private;
    if everybodys { path.to_owned() } else { key.to_string().into() }
}

/// An entry of `dependencies.upstream`.
fn derived_from(artifact: &std::path::Path) -> YamlData {
    YamlData::map([
        ("artifact", YamlData::Text(artifact.display().to_string())),
        ("relationship", YamlData::Bare("derived_from".to_owned())),
    ])
}

fn compose(
    given: Option<&Document>,
    fields: &[(&'static str, YamlData)],
    kind: HandoffKind,
) -> Result<Document, NewError> {
    let Some(given) = given else {
        return Ok(Document::compose(fields, skeleton(kind)));
    };
    let Some(header) = given.handoff_header() else {
        return Ok(given.with_header(fields)?);
    };
    // The author's own header is completed, never overwritten, except for fields given as
    // arguments.
    let typed = |name: &str| matches!(name, "id" | "kind" | "stage");
    let missing = |name: &str| header.fields().get(name).is_none_or(YamlNode::is_blank);
    // The state of a session has parts. Those the author omitted are filled in.
    let state = fields.iter().filter(|(name, _)| *name == "state" && !missing(name));
    let parts = state.flat_map(|(_, value)| match value {
        YamlData::Map(entries) => entries.as_slice(),
        YamlData::Null | YamlData::Text(_) | YamlData::Bare(_) | YamlData::List(_) => &[],
    });
    let parts = parts.filter(|(key, _)| existing_state(given, key).is_none());
    let parts = parts.map(|(k, v)| Edit::Set(HeaderPath::field("state").key(k), v.clone()));
    let edits: Vec<Edit> = fields
        .iter()
        .filter(|(name, value)| (missing(name) && *value != YamlData::Null) || typed(name))
        .map(|(name, value)| Edit::Set(HeaderPath::field(name), value.clone()))
        .chain(parts)
        .collect();
    Ok(given.edit(&edits)?.0)
}

/// A part of the session state that a text already has.
fn existing_state<'d>(given: &'d Document, part: &str) -> Option<&'d YamlNode> {
    given.handoff_header()?.fields().get("state")?.get(part)
}
