//! Merges author notes and session facts into a handoff.

use super::{AuthorNotes, body};
use crate::format::document::{Document, DocumentEditError};
use crate::format::generated_section::{self, GeneratedSection, GeneratedSectionKind};
use crate::format::header::{HANDOFF, Header, StartupKind};
use crate::format::section::SectionMeaning;
use crate::format::shape::{self, item_identity};
use crate::format::stage::Stages;
use crate::handoff::{Handoff, Location};
use crate::session::checkpoint::refresh_state;
use crate::text::edit::{Edit, HeaderPath};
use crate::text::yaml::{YamlData, YamlNode};

/// The parts of `state`, in the order in which they are written.
const PARTS: [&str; 13] = [
    "identity",
    "skill_stack",
    "subagents",
    "workflow",
    "goals",
    "tasks",
    "documents",
    "decisions",
    "conversation",
    "artifacts",
    "quality_gates",
    "environment",
    "recovery",
];

/// The facts of a session, as a handoff stores them.
#[derive(Clone, Debug)]
pub struct SessionFacts {
    /// The value of `state`.
    pub state: YamlData,
    /// What the session did, in Markdown.
    pub page: String,
    /// Startup steps for the session that resumes this one.
    pub boot: Vec<(StartupKind, String)>,
    /// Tasks that are over and must not be restored.
    pub ended_tasks: Vec<String>,
    /// The title to use when the author gives none.
    pub title: Option<String>,
}

impl AuthorNotes {
    /// Creates a new handoff with three sections, the facts and the notes. The fields in `blank`
    /// stay empty for the caller to fill in.
    pub fn new_document(
        &self,
        facts: &SessionFacts,
        blank: &[&str],
    ) -> Result<Document, DocumentEditError> {
        let title = self.title.clone().or_else(|| facts.title.clone());
        let given = [
            ("title", title.map_or(YamlData::Null, YamlData::Text)),
            ("context_summary", self.summary.clone().map_or(YamlData::Null, YamlData::Text)),
        ];
        let blank = blank.iter().map(|name| (*name, YamlData::Null));
        let fields: Vec<(&str, YamlData)> = given.into_iter().chain(blank).collect();
        let empty = Document::compose(&fields, "## Context\n\n## Continuation\n");
        self.merge_into_document(&empty, facts)
    }

    /// Updates a handoff with newer facts and the current notes.
    pub fn merge_into_document(
        &self,
        document: &Document,
        facts: &SessionFacts,
    ) -> Result<Document, DocumentEditError> {
        let out = apply_edits(document, &self.scalar_edits(document))?;
        let out = self.entries.iter().try_fold(out, |out, (field, entry)| {
            apply_edits(&out, &entry_edits(&out, field, entry))
        })?;
        let mut boot: Vec<&(StartupKind, String)> = self.boot.iter().chain(&facts.boot).collect();
        boot.sort_by_key(|(kind, _)| StartupKind::ALL.iter().position(|other| other == kind));
        let out = boot.into_iter().try_fold(out, |out, (kind, text)| {
            apply_edits(&out, &startup_step_edit(&out, *kind, text))
        })?;
        let out = facts.ended_tasks.iter().try_fold(out, |out, task| {
            let edit = remove_task_edit(&out, task);
            apply_edits(&out, edit.as_slice())
        })?;
        let out = apply_edits(&out, &self.state_edits(&out, facts))?;
        self.merge_into_body(&out, facts)
    }

    /// The edits that add the entries to a handoff, and nothing else. An entry that the handoff has
    /// gets its new details. If two entries are the same, the first one counts.
    pub fn entry_edits(&self, document: &Document) -> Vec<Edit> {
        let identity = |(field, entry): &(String, YamlData)| {
            let kind = HANDOFF.field(field).map(|field| &field.kind);
            (field.clone(), item_identity(kind, &full_entry(kind, entry)))
        };
        let is_first = |(at, entry): &(usize, &(String, YamlData))| {
            !self.entries[..*at].iter().any(|earlier| identity(earlier) == identity(entry))
        };
        let entries = self.entries.iter().enumerate().filter(is_first);
        entries.flat_map(|(_, (field, entry))| entry_edits(document, field, entry)).collect()
    }

    fn scalar_edits(&self, document: &Document) -> Vec<Edit> {
        let fields = document.handoff_header().map(Header::fields);
        let there = |name: &str| fields.and_then(|fields| fields.get(name));
        let own = [("title", &self.title), ("context_summary", &self.summary)];
        let own = own.into_iter().filter_map(|(name, text)| Some((name, text.as_deref()?)));
        let changed = |name: &str, text: &str| {
            there(name).and_then(YamlNode::text).is_none_or(|old| old.value.trim() != text.trim())
        };
        let own = own
            .filter(|(name, text)| changed(name, text))
            .map(|(name, text)| Edit::Set(HeaderPath::field(name), YamlData::text(text)));
        // Other fields are written only where the header has no value yet.
        let others =
            self.fields.iter().filter(|(name, _)| there(name).is_none_or(YamlNode::is_blank));
        own.chain(others.map(|(name, value)| Edit::Set(HeaderPath::field(name), value.clone())))
            .collect()
    }

    fn state_edits(&self, document: &Document, facts: &SessionFacts) -> Vec<Edit> {
        let fields = document.handoff_header().map(Header::fields);
        let before = fields.and_then(|fields| fields.get("state")).filter(|node| !node.is_blank());
        let before = before.map_or_else(|| YamlData::Map(Vec::new()), YamlNode::data);
        let mut state = refresh_state(&before, &facts.state);
        if let Some(given) = &self.state {
            state = merge_data(&state, given);
        }
        state = merge_data(&state, &self.own_state(document));
        let (YamlData::Map(old), YamlData::Map(new)) = (&before, state) else { return Vec::new() };
        if old.is_empty() {
            return vec![Edit::Set(HeaderPath::field("state"), ordered_state(new))];
        }
        let same = |key: &str, value: &YamlData| {
            old.iter().any(|(k, v)| k == key && v.is_equivalent_to(value))
        };
        let removed = old.iter().filter(|(key, _)| !new.iter().any(|(other, _)| other == key));
        let removed = removed.map(|(key, _)| Edit::Remove(HeaderPath::field("state").key(key)));
        let changed = new.iter().filter(|(key, value)| !same(key, value));
        let changed = changed
            .map(|(key, value)| Edit::Set(HeaderPath::field("state").key(key), value.clone()));
        removed.chain(changed).collect()
    }

    /// The parts of `state` that come from the author.
    fn own_state(&self, document: &Document) -> YamlData {
        let text = |name: &'static str, text: &Option<String>| {
            text.clone().map(|t| (name, YamlData::Text(t)))
        };
        let map = |name: &'static str, parts: Vec<(&'static str, YamlData)>| {
            (!parts.is_empty()).then(|| (name, YamlData::map(parts)))
        };
        let (location, stages) = (Location::default(), Stages::shipped());
        let boot = Handoff::new(document, &location, &stages).startup_steps();
        let texts = |name: &'static str, kind| {
            let texts: Vec<&str> = boot.texts_of_kind(kind).collect();
            (!texts.is_empty()).then(|| (name, YamlData::texts(texts)))
        };
        let workflow = [text("pattern", &self.pattern), text("waiting_for", &self.waiting_for)];
        let parts = [
            map("identity", text("role", &self.role).into_iter().collect()),
            map("skill_stack", texts("constraints", StartupKind::Constraint).into_iter().collect()),
            map("workflow", workflow.into_iter().flatten().collect()),
            map("documents", texts("must_read", StartupKind::Read).into_iter().collect()),
        ];
        YamlData::map(parts.into_iter().flatten())
    }

    fn merge_into_body(
        &self,
        document: &Document,
        facts: &SessionFacts,
    ) -> Result<Document, DocumentEditError> {
        let mut out = body::ensure_section(document, SectionMeaning::Summary, "Context")?;
        out = body::ensure_section(
            &out,
            SectionMeaning::Continuation,
            SectionMeaning::Continuation.heading(),
        )?;
        if let Some(text) = &self.body {
            out = body::merge_text(&out, text)?;
        }
        out = with_startup_section(&out)?;
        out = put_generated_section(
            &out,
            GeneratedSectionKind::Facts,
            &facts.page,
            SectionMeaning::Summary,
        )?;
        if !self.next.is_empty() {
            let numbered =
                (1..).zip(&self.next).map(|(number, step)| format!("{number}. {step}\n"));
            out = put_generated_section(
                &out,
                GeneratedSectionKind::Next,
                &numbered.collect::<String>(),
                SectionMeaning::Continuation,
            )?;
        }
        Ok(out)
    }
}

/// A new state in the documented order, marked as not checked yet.
fn ordered_state(mut state: Vec<(String, YamlData)>) -> YamlData {
    state.push(("quality_gates".to_owned(), YamlData::text("not judged")));
    let rank = |key: &str| PARTS.iter().position(|part| *part == key).unwrap_or(PARTS.len());
    state.sort_by_key(|(key, _)| rank(key));
    YamlData::Map(state)
}

fn apply_edits(document: &Document, edits: &[Edit]) -> Result<Document, DocumentEditError> {
    document.edit(edits).map(|(document, _)| document)
}

/// Puts a generated section into the section with this meaning, after the author's text.
fn put_generated_section(
    document: &Document,
    kind: GeneratedSectionKind,
    text: &str,
    meaning: SectionMeaning,
) -> Result<Document, DocumentEditError> {
    let section = body::author_section(document, meaning);
    let place = section
        .map_or(document.body().end, |section| body::section_insert_position(document, &section));
    apply_edits(document, &generated_section::update_edits(document, kind, text, place))
}

/// Puts the startup steps of the header at the top of the body.
fn with_startup_section(document: &Document) -> Result<Document, DocumentEditError> {
    let (location, stages) = (Location::default(), Stages::shipped());
    let boot = Handoff::new(document, &location, &stages).startup_steps();
    let line = |(kind, text): (StartupKind, &str)| match kind {
        StartupKind::Skill => format!("- Load the skill `{text}`.\n"),
        StartupKind::Read => format!("- Read `{text}`.\n"),
        StartupKind::Task => format!("- Restore the task: {text}\n"),
        StartupKind::Constraint => format!("- Keep to this: {text}\n"),
    };
    let lines: String =
        boot.entries.iter().map(|action| line((action.kind, action.text.value.trim()))).collect();
    if lines.is_empty() && GeneratedSection::find(document, GeneratedSectionKind::Boot).is_none() {
        return Ok(document.clone());
    }
    let lines = if lines.is_empty() { "- Nothing.\n".to_owned() } else { lines };
    let top = document.body().start;
    apply_edits(
        document,
        &generated_section::update_edits(
            document,
            GeneratedSectionKind::Boot,
            &format!("## Boot\n\n{lines}"),
            top,
        ),
    )
}

/// Merges one value over another: mappings key by key, lists entry by entry.
fn merge_data(under: &YamlData, upper: &YamlData) -> YamlData {
    match (under, upper) {
        (YamlData::Map(below), YamlData::Map(above)) => {
            let mut out = below.clone();
            for (key, value) in above {
                match out.iter_mut().find(|(other, _)| other == key) {
                    Some((_, old)) => *old = merge_data(old, value),
                    None => out.push((key.clone(), value.clone())),
                }
            }
            YamlData::Map(out)
        }
        (YamlData::List(below), YamlData::List(above)) => {
            let is_new = |item: &&YamlData| !below.iter().any(|other| other.is_equivalent_to(item));
            YamlData::List(below.iter().chain(above.iter().filter(is_new)).cloned().collect())
        }
        (_, upper) => upper.clone(),
    }
}

/// The edits that add an entry to a list, or add its new details to an existing entry.
fn entry_edits(document: &Document, field: &str, entry: &YamlData) -> Vec<Edit> {
    let kind = HANDOFF.field(field).map(|field| &field.kind);
    let path = HeaderPath::field(field);
    let fields = document.handoff_header().map(Header::fields);
    let items =
        fields.and_then(|fields| fields.get(field)).map(YamlNode::items).unwrap_or_default();
    let entry = full_entry(kind, entry);
    let wanted = item_identity(kind, &entry);
    let there = items
        .iter()
        .position(|item| item_identity(kind, &full_entry(kind, &item.data())) == wanted);
    let Some(index) = there else { return vec![Edit::Append(path, entry)] };
    let (item, place) = (items[index].data(), path.item(index));
    let (YamlData::Map(old), YamlData::Map(new)) = (&item, &entry) else {
        let says_more = matches!(&entry, YamlData::Map(parts) if parts.len() > 1);
        return if says_more { vec![Edit::Set(place, entry)] } else { Vec::new() };
    };
    let is_known = |key: &str, value: &YamlData| {
        old.iter().any(|(k, v)| k == key && normalized_text(v) == normalized_text(value))
    };
    let more = new.iter().filter(|(key, value)| !is_known(key, value));
    more.map(|(key, value)| Edit::Set(place.clone().key(key), value.clone())).collect()
}

/// The text of a value, regardless of line breaks.
fn normalized_text(value: &YamlData) -> String {
    item_identity(None, value)
}

/// Expands a plain text to a mapping with that text under the main key.
fn full_entry(kind: Option<&shape::FieldKind>, entry: &YamlData) -> YamlData {
    match (kind, entry) {
        (
            Some(shape::FieldKind::List(shape::FieldKind::Map(shape))),
            YamlData::Text(_) | YamlData::Bare(_),
        ) => shape
            .shorthand
            .map_or_else(|| entry.clone(), |main| YamlData::map([(main, entry.clone())])),
        _ => entry.clone(),
    }
}

fn startup_step_edit(document: &Document, kind: StartupKind, text: &str) -> Vec<Edit> {
    let fields = document.handoff_header().map(Header::fields);
    let list = fields.and_then(|fields| fields.get("boot")?.get(kind.key()));
    let items = list.map(YamlNode::items).unwrap_or_default();
    let there =
        items.iter().filter_map(|item| item.text()).any(|one| one.value.trim() == text.trim());
    let append =
        || Edit::Append(HeaderPath::field("boot").key(kind.key()), YamlData::text(text.trim()));
    if there { Vec::new() } else { vec![append()] }
}

/// The edit that removes a finished task from the tasks to restore.
fn remove_task_edit(document: &Document, task: &str) -> Option<Edit> {
    let fields = document.handoff_header().map(Header::fields);
    let list = fields.and_then(|fields| fields.get("boot")?.get(StartupKind::Task.key()));
    let items = list.map(YamlNode::items).unwrap_or_default();
    let is_it = |item: &YamlNode| item.text().is_some_and(|text| text.value.trim() == task.trim());
    let index = items.iter().position(|item| is_it(item))?;
    Some(Edit::Remove(HeaderPath::field("boot").key(StartupKind::Task.key()).item(index)))
}
