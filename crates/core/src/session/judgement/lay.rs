//! Laying judgement over a handoff, and facts below it.

use super::{Judgement, body};
use crate::format::document::{Document, EditRefused};
use crate::format::header::{BootKind, HANDOFF, Header};
use crate::format::insert::{self, Insert, Kind};
use crate::format::section::Meaning;
use crate::format::shape::{self, identity};
use crate::format::stage::Stages;
use crate::handoff::{Handoff, Whereabouts};
use crate::session::checkpoint::refreshed;
use crate::text::edit::{Edit, Path};
use crate::text::yaml::{Data, Node};

/// The parts of a state, in the order in which they are written.
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

/// What a session did, as a handoff has it.
#[derive(Clone, Debug)]
pub struct Facts {
    /// The value of `state`.
    pub state: Data,
    /// What it did, in Markdown.
    pub page: String,
    /// What a session that takes it over does first.
    pub boot: Vec<(BootKind, String)>,
    /// Tasks that are over, and are restored by nobody.
    pub ended_tasks: Vec<String>,
    /// The title, where nobody gives it one.
    pub title: Option<String>,
}

impl Judgement {
    /// A new handoff: three sections, with the facts and what the author says. The fields in `blank`
    /// are left to whoever files it.
    pub fn skeleton(&self, facts: &Facts, blank: &[&str]) -> Result<Document, EditRefused> {
        let title = self.title.clone().or_else(|| facts.title.clone());
        let said = [
            ("title", title.map_or(Data::Null, Data::Text)),
            ("context_summary", self.summary.clone().map_or(Data::Null, Data::Text)),
        ];
        let blank = blank.iter().map(|name| (*name, Data::Null));
        let fields: Vec<(&str, Data)> = said.into_iter().chain(blank).collect();
        let empty = Document::compose(&fields, "## Context\n\n## Continuation\n");
        self.lay(&empty, facts)
    }

    /// A handoff with newer facts, and with what the author says now.
    pub fn lay(&self, document: &Document, facts: &Facts) -> Result<Document, EditRefused> {
        let out = edited(document, &self.scalars(document))?;
        let out = self
            .entries
            .iter()
            .try_fold(out, |out, (field, entry)| edited(&out, &entry_edits(&out, field, entry)))?;
        let mut boot: Vec<&(BootKind, String)> = self.boot.iter().chain(&facts.boot).collect();
        boot.sort_by_key(|(kind, _)| BootKind::ALL.iter().position(|other| other == kind));
        let out = boot
            .into_iter()
            .try_fold(out, |out, (kind, text)| edited(&out, &boot_edit(&out, *kind, text)))?;
        let out = facts.ended_tasks.iter().try_fold(out, |out, task| {
            let edit = without_task(&out, task);
            edited(&out, edit.as_slice())
        })?;
        let out = edited(&out, &self.state_edits(&out, facts))?;
        self.lay_body(&out, facts)
    }

    fn scalars(&self, document: &Document) -> Vec<Edit> {
        let fields = document.handoff_header().map(Header::fields);
        let there = |name: &str| fields.and_then(|fields| fields.get(name));
        let own = [("title", &self.title), ("context_summary", &self.summary)];
        let own = own.into_iter().filter_map(|(name, text)| Some((name, text.as_deref()?)));
        let changed = |name: &str, text: &str| {
            there(name).and_then(Node::text).is_none_or(|old| old.value.trim() != text.trim())
        };
        let own = own
            .filter(|(name, text)| changed(name, text))
            .map(|(name, text)| Edit::Set(Path::field(name), Data::text(text)));
        // What has no place of its own is written where nothing is said yet.
        let others = self.fields.iter().filter(|(name, _)| there(name).is_none_or(Node::is_blank));
        own.chain(others.map(|(name, value)| Edit::Set(Path::field(name), value.clone()))).collect()
    }

    fn state_edits(&self, document: &Document, facts: &Facts) -> Vec<Edit> {
        let fields = document.handoff_header().map(Header::fields);
        let before = fields.and_then(|fields| fields.get("state")).filter(|node| !node.is_blank());
        let before = before.map_or_else(|| Data::Map(Vec::new()), Node::data);
        let mut state = refreshed(&before, &facts.state);
        if let Some(given) = &self.state {
            state = over(&state, given);
        }
        state = over(&state, &self.own_state(document));
        let (Data::Map(old), Data::Map(new)) = (&before, state) else { return Vec::new() };
        if old.is_empty() {
            return vec![Edit::Set(Path::field("state"), in_order(new))];
        }
        let same = |key: &str, value: &Data| old.iter().any(|(k, v)| k == key && v.same(value));
        let gone = old.iter().filter(|(key, _)| !new.iter().any(|(other, _)| other == key));
        let gone = gone.map(|(key, _)| Edit::Remove(Path::field("state").key(key)));
        let changed = new.iter().filter(|(key, value)| !same(key, value));
        let changed =
            changed.map(|(key, value)| Edit::Set(Path::field("state").key(key), value.clone()));
        gone.chain(changed).collect()
    }

    /// The parts of the state that an author says.
    fn own_state(&self, document: &Document) -> Data {
        let text =
            |name: &'static str, text: &Option<String>| text.clone().map(|t| (name, Data::Text(t)));
        let map = |name: &'static str, parts: Vec<(&'static str, Data)>| {
            (!parts.is_empty()).then(|| (name, Data::map(parts)))
        };
        let (whereabouts, stages) = (Whereabouts::default(), Stages::shipped());
        let boot = Handoff::of(document, &whereabouts, &stages).boot();
        let texts = |name: &'static str, kind| {
            let texts: Vec<&str> = boot.of(kind).collect();
            (!texts.is_empty()).then(|| (name, Data::texts(texts)))
        };
        let workflow = [text("pattern", &self.pattern), text("waiting_for", &self.waiting_for)];
        let parts = [
            map("identity", text("role", &self.role).into_iter().collect()),
            map("skill_stack", texts("constraints", BootKind::Constraint).into_iter().collect()),
            map("workflow", workflow.into_iter().flatten().collect()),
            map("documents", texts("must_read", BootKind::Read).into_iter().collect()),
        ];
        Data::map(parts.into_iter().flatten())
    }

    fn lay_body(&self, document: &Document, facts: &Facts) -> Result<Document, EditRefused> {
        let mut out = body::section_about(document, Meaning::Summary, "Context")?;
        out = body::section_about(&out, Meaning::Continuation, Meaning::Continuation.heading())?;
        if let Some(text) = &self.body {
            out = body::lay(&out, text)?;
        }
        out = with_boot(&out)?;
        out = put_in(&out, Kind::Facts, &facts.page, Meaning::Summary)?;
        if !self.next.is_empty() {
            let numbered =
                (1..).zip(&self.next).map(|(number, step)| format!("{number}. {step}\n"));
            out = put_in(&out, Kind::Next, &numbered.collect::<String>(), Meaning::Continuation)?;
        }
        Ok(out)
    }
}

/// A new state, in the order in which it is read; nobody has judged it yet.
fn in_order(mut state: Vec<(String, Data)>) -> Data {
    state.push(("quality_gates".to_owned(), Data::text("not judged")));
    let rank = |key: &str| PARTS.iter().position(|part| *part == key).unwrap_or(PARTS.len());
    state.sort_by_key(|(key, _)| rank(key));
    Data::Map(state)
}

fn edited(document: &Document, edits: &[Edit]) -> Result<Document, EditRefused> {
    document.edit(edits).map(|(document, _)| document)
}

/// An insert in the section of a meaning, behind what the author says there.
fn put_in(
    document: &Document,
    kind: Kind,
    text: &str,
    meaning: Meaning,
) -> Result<Document, EditRefused> {
    let section = body::about(document, meaning);
    let place = section.map_or(document.body().end, |section| body::end_of(document, &section));
    edited(document, &insert::put(document, kind, text, place))
}

/// What a session does first, on top of the body, as the header has it.
fn with_boot(document: &Document) -> Result<Document, EditRefused> {
    let (whereabouts, stages) = (Whereabouts::default(), Stages::shipped());
    let boot = Handoff::of(document, &whereabouts, &stages).boot();
    let line = |(kind, text): (BootKind, &str)| match kind {
        BootKind::Skill => format!("- Load the skill `{text}`.\n"),
        BootKind::Read => format!("- Read `{text}`.\n"),
        BootKind::Task => format!("- Restore the task: {text}\n"),
        BootKind::Constraint => format!("- Keep to this: {text}\n"),
    };
    let lines: String =
        boot.actions.iter().map(|action| line((action.kind, action.text.value.trim()))).collect();
    if lines.is_empty() && Insert::of(document, Kind::Boot).is_none() {
        return Ok(document.clone());
    }
    let lines = if lines.is_empty() { "- Nothing.\n".to_owned() } else { lines };
    let top = document.body().start;
    edited(document, &insert::put(document, Kind::Boot, &format!("## Boot\n\n{lines}"), top))
}

/// One value laid over another: mappings key by key, lists entry by entry.
fn over(under: &Data, upper: &Data) -> Data {
    match (under, upper) {
        (Data::Map(below), Data::Map(above)) => {
            let mut out = below.clone();
            for (key, value) in above {
                match out.iter_mut().find(|(other, _)| other == key) {
                    Some((_, old)) => *old = over(old, value),
                    None => out.push((key.clone(), value.clone())),
                }
            }
            Data::Map(out)
        }
        (Data::List(below), Data::List(above)) => {
            let is_new = |item: &&Data| !below.iter().any(|other| other.same(item));
            Data::List(below.iter().chain(above.iter().filter(is_new)).cloned().collect())
        }
        (_, upper) => upper.clone(),
    }
}

/// The edits that bring an entry into a list: it is added, or what it says more is.
fn entry_edits(document: &Document, field: &str, entry: &Data) -> Vec<Edit> {
    let kind = HANDOFF.field(field).map(|field| &field.kind);
    let path = Path::field(field);
    let fields = document.handoff_header().map(Header::fields);
    let items = fields.and_then(|fields| fields.get(field)).map(Node::items).unwrap_or_default();
    let entry = whole(kind, entry);
    let wanted = identity(kind, &entry);
    let there = items.iter().position(|item| identity(kind, &whole(kind, &item.data())) == wanted);
    let Some(index) = there else { return vec![Edit::Append(path, entry)] };
    let (item, place) = (items[index].data(), path.item(index));
    let (Data::Map(old), Data::Map(new)) = (&item, &entry) else {
        let says_more = matches!(&entry, Data::Map(parts) if parts.len() > 1);
        return if says_more { vec![Edit::Set(place, entry)] } else { Vec::new() };
    };
    let told =
        |key: &str, value: &Data| old.iter().any(|(k, v)| k == key && said(v) == said(value));
    let more = new.iter().filter(|(key, value)| !told(key, value));
    more.map(|(key, value)| Edit::Set(place.clone().key(key), value.clone())).collect()
}

/// What a value says, however its lines are broken.
fn said(value: &Data) -> String {
    identity(None, value)
}

/// An entry with its main text in its place, where a plain text stands for it.
fn whole(kind: Option<&shape::Kind>, entry: &Data) -> Data {
    match (kind, entry) {
        (Some(shape::Kind::List(shape::Kind::Map(shape))), Data::Text(_) | Data::Bare(_)) => {
            shape.main.map_or_else(|| entry.clone(), |main| Data::map([(main, entry.clone())]))
        }
        _ => entry.clone(),
    }
}

fn boot_edit(document: &Document, kind: BootKind, text: &str) -> Vec<Edit> {
    let fields = document.handoff_header().map(Header::fields);
    let list = fields.and_then(|fields| fields.get("boot")?.get(kind.key()));
    let items = list.map(Node::items).unwrap_or_default();
    let there =
        items.iter().filter_map(|item| item.text()).any(|one| one.value.trim() == text.trim());
    let append = || Edit::Append(Path::field("boot").key(kind.key()), Data::text(text.trim()));
    if there { Vec::new() } else { vec![append()] }
}

/// Takes a task that is over out of what is restored.
fn without_task(document: &Document, task: &str) -> Option<Edit> {
    let fields = document.handoff_header().map(Header::fields);
    let list = fields.and_then(|fields| fields.get("boot")?.get(BootKind::Task.key()));
    let items = list.map(Node::items).unwrap_or_default();
    let is_it = |item: &Node| item.text().is_some_and(|text| text.value.trim() == task.trim());
    let index = items.iter().position(|item| is_it(item))?;
    Some(Edit::Remove(Path::field("boot").key(BootKind::Task.key()).item(index)))
}
