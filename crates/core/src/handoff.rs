//! A document seen as a handoff: every field with its default, wherever it was written.

use crate::document::Document;
use crate::header::{
    Assumption, Boot, Capability, Decision, Dependencies, Deviation, HandoffKind, Header, Lenient,
    Measurement, Proof, Question, Recovery, Resolution, Review, Revision, Status, WrongTurn,
};
use crate::id::{FeatureNumber, HandoffKey};
use crate::insert;
use crate::section::Meaning;
use crate::span::{At, Span};
use crate::stage::Stages;
use crate::time::Time;
use crate::yaml::Node;
use std::collections::HashSet;

/// What the place of a document tells about it.
#[derive(Clone, Debug, Default)]
pub struct Whereabouts {
    /// The name of the file without its ending.
    pub stem: String,
    /// The stage of the pipeline folder it lies in.
    pub stage: Option<String>,
}

/// A document seen as a handoff. It borrows; nothing is copied.
#[derive(Clone, Copy, Debug)]
pub struct Handoff<'d> {
    document: &'d Document,
    whereabouts: &'d Whereabouts,
    stages: &'d Stages,
}

impl<'d> Handoff<'d> {
    /// Sees a document as a handoff.
    pub fn of(document: &'d Document, whereabouts: &'d Whereabouts, stages: &'d Stages) -> Self {
        Self { document, whereabouts, stages }
    }

    /// The document itself.
    pub fn document(&self) -> &'d Document {
        self.document
    }

    /// The header, wherever it was found.
    pub fn header(&self) -> Option<&'d Header> {
        self.document.header()
    }

    /// Whether it has a handoff header, rather than being somebody's note.
    pub fn is_handoff(&self) -> bool {
        self.document.handoff_header().is_some()
    }

    /// Whether it says where its life stands: every handoff does, a note with a header may.
    pub fn has_status(&self) -> bool {
        self.is_handoff() || self.text("status").is_some()
    }

    fn text(&self, name: &str) -> Option<At<&'d str>> {
        self.header().and_then(|header| header.text(name))
    }

    fn list<T: Lenient<'d>>(&self, name: &str) -> Vec<T> {
        self.header().map(|header| header.list(name)).unwrap_or_default()
    }

    /// The id that is written, or the name of the file.
    pub fn id(&self) -> &'d str {
        self.text("id").map_or(self.whereabouts.stem.as_str(), |id| id.value)
    }

    /// The id together with the stage.
    pub fn key(&self) -> HandoffKey {
        HandoffKey { id: self.id().to_owned(), stage: self.stage().map(str::to_owned) }
    }

    /// The uid.
    pub fn uid(&self) -> Option<At<&'d str>> {
        self.text("uid")
    }

    /// The title that is written, else the first heading.
    pub fn title(&self) -> Option<&'d str> {
        let heading = || {
            let top = self.document.sections().iter().find(|section| section.level == 1);
            top.map(|section| section.title.value.as_str())
        };
        self.text("title").map(|title| title.value).or_else(heading)
    }

    /// One line by which a later session finds it.
    pub fn description(&self) -> Option<&'d str> {
        self.text("description").map(|text| text.value)
    }

    /// The status; a handoff that says none is planned.
    pub fn status(&self) -> Status {
        self.text("status").and_then(|text| Status::read(text.value)).unwrap_or(Status::Planned)
    }

    /// The stage that is written, else the one of its folder, else the one its author writes.
    pub fn stage(&self) -> Option<&'d str> {
        if let Some(stage) = self.text("stage") {
            return Some(stage.value);
        }
        let kind = self.text("kind").and_then(|text| HandoffKind::read(text.value));
        let may_be_stage = kind.is_none_or(|kind| kind == HandoffKind::Stage);
        if !may_be_stage || !self.is_handoff() {
            return None;
        }
        self.whereabouts.stage.as_deref().or_else(|| self.stage_of_author())
    }

    fn stage_of_author(&self) -> Option<&'d str> {
        FeatureNumber::parse(self.id())?;
        self.stages.of_agent(self.text("from")?.value)
    }

    /// The kind that is written, else the one that follows from the stage.
    pub fn kind(&self) -> HandoffKind {
        let written = self.text("kind").and_then(|text| HandoffKind::read(text.value));
        written.unwrap_or(match self.stage() {
            Some(_) => HandoffKind::Stage,
            None => HandoffKind::Investigation,
        })
    }

    /// Who wrote it.
    pub fn from(&self) -> Option<&'d str> {
        self.text("from").map(|text| text.value)
    }

    /// Who takes it over.
    pub fn to(&self) -> Vec<At<&'d str>> {
        self.list("to")
    }

    /// When it was captured; older documents say it in a line of their text.
    pub fn created(&self) -> Option<Time> {
        let stamped = || self.document.stamps().into_iter().find(|s| s.captured).map(|s| s.time);
        self.text("created").or_else(stamped).and_then(|text| Time::read(text.value))
    }

    /// When it was last changed: the latest time any revision or older field tells.
    pub fn changed(&self) -> Option<Time> {
        let revised = self.revisions().into_iter().filter_map(|revision| revision.time);
        revised
            .chain(self.text("updated"))
            .filter_map(|text| Time::read(text.value))
            .chain(self.created())
            .max_by_key(|time| time.moment)
    }

    /// One to three sentences for whoever comes next.
    pub fn summary(&self) -> Option<&'d str> {
        let section = || {
            let mut about = self.document.sections_about(Meaning::Summary);
            let own = about.next()?.own;
            // What midstride writes behind it is no part of it.
            let unsaid = insert::unsaid(self.document).into_iter();
            let ends = unsaid.map(|part| part.start).filter(|start| *start >= own.start);
            let end = ends.chain([own.end]).min()?.min(own.end);
            Some(Span::new(own.start, end).of(self.document.text()).trim())
        };
        let written = self.text("context_summary").map(|text| text.value.trim());
        written.or_else(section).filter(|text| !text.is_empty())
    }

    /// What was decided.
    pub fn decisions(&self) -> Vec<Decision<'d>> {
        self.list("decisions_made")
    }

    /// What is not known yet.
    pub fn questions(&self) -> Vec<Question<'d>> {
        self.list("open_questions")
    }

    /// The questions without an answer, each with its number; none once the handoff has ended.
    pub fn open_questions(&self) -> Vec<(usize, Question<'d>)> {
        if !self.status().is_open() {
            return Vec::new();
        }
        let numbered = (1..).zip(self.questions());
        numbered.filter(|(_, question)| question.answer.is_none()).collect()
    }

    /// What is taken for granted.
    pub fn assumptions(&self) -> Vec<Assumption<'d>> {
        self.list("assumptions")
    }

    /// What was tried and was wrong.
    pub fn wrong_turns(&self) -> Vec<WrongTurn<'d>> {
        self.list("wrong_turns")
    }

    /// What will bite.
    pub fn landmines(&self) -> Vec<At<&'d str>> {
        self.list("landmines")
    }

    /// Claims and the commands that show them again, each with its number: what says nothing is
    /// counted and left out.
    pub fn proofs(&self) -> Vec<(usize, Proof<'d>)> {
        let items = self.header().and_then(|header| header.get("proofs")).map(Node::items);
        let numbered = (1..).zip(items.unwrap_or_default());
        numbered.filter_map(|(number, item)| Some((number, Proof::read(item)?))).collect()
    }

    /// Numbers before and after.
    pub fn measurements(&self) -> Vec<Measurement<'d>> {
        self.list("measurements")
    }

    /// Sections of the design that this carries out.
    pub fn implements(&self) -> Vec<At<&'d str>> {
        self.list("implements")
    }

    /// Departures from the design.
    pub fn deviations(&self) -> Vec<Deviation<'d>> {
        self.list("deviations")
    }

    /// Who called it into question, and what came of it.
    pub fn reviews(&self) -> Vec<Review<'d>> {
        self.list("reviews")
    }

    /// What changed, when and why; older documents say it in lines of their text.
    pub fn revisions(&self) -> Vec<Revision<'d>> {
        let written = self.list("revisions");
        if !written.is_empty() {
            return written;
        }
        let revised = self.document.stamps().into_iter().filter(|stamp| !stamp.captured);
        revised
            .map(|s| Revision {
                at: s.line,
                time: Some(s.time),
                by: None,
                verb: None,
                reason: s.reason,
            })
            .collect()
    }

    /// The texts it had before, oldest first: the id of each, where it was kept.
    pub fn replaced_texts(&self) -> Vec<Option<At<&'d str>>> {
        let entries = self.revision_nodes();
        let said = |index: usize, key| entries[index].get(key).and_then(Node::text);
        let mut seen = HashSet::new();
        let mut texts: Vec<Option<At<&'d str>>> = Vec::new();
        for index in 0..entries.len() {
            // Behind a merge the entry before says what it made; else the next one says what it
            // found. Where two found the same text, the first was not the one before the second.
            let made = index.checked_sub(1).and_then(|before| said(before, "made"));
            let was = said(index, "was");
            let found = was.filter(|was| seen.insert(was.value.trim()));
            texts.push(made.or(found));
        }
        texts
    }

    /// The ids of all texts that its history names, as replaced or as made.
    pub fn named_texts(&self) -> HashSet<&'d str> {
        let said = |entry: &'d Node, key| entry.get(key).and_then(Node::text);
        let named = |entry: &&'d Node| [said(entry, "was"), said(entry, "made")];
        let entries = self.revision_nodes();
        entries.iter().flat_map(named).flatten().map(|text| text.value.trim()).collect()
    }

    /// The entries of its history as they are written; entry `n`, from one, made text `n + 1`.
    pub fn revision_nodes(&self) -> Vec<&'d Node> {
        let revisions = self.header().and_then(|header| header.fields().get("revisions"));
        revisions.map(Node::items).unwrap_or_default()
    }

    /// What it builds on and what builds on it.
    pub fn dependencies(&self) -> Dependencies<'d> {
        let node = self.header().and_then(|header| header.get("dependencies"));
        node.and_then(Dependencies::read).unwrap_or_default()
    }

    /// The decision on a capability.
    pub fn capability(&self, name: &str) -> Option<Capability<'d>> {
        let node = self.header()?.get("platform_capabilities")?.get(name)?;
        Capability::read(node)
    }

    /// What a session does first.
    pub fn boot(&self) -> Boot<'d> {
        let node = self.header().and_then(|header| header.get("boot"));
        node.and_then(Boot::read).unwrap_or_default()
    }

    /// How it ended.
    pub fn resolution(&self) -> Option<Resolution<'d>> {
        self.header()?.get("resolution").and_then(Resolution::read)
    }

    /// The handoff that took its place.
    pub fn superseded_by(&self) -> Option<At<&'d str>> {
        self.text("superseded_by")
    }

    /// The session whose work it hands over, where it names one.
    pub fn recovery(&self) -> Option<Recovery> {
        self.node("state.recovery").and_then(Recovery::read)
    }

    /// The node of a field, where a dot leads into it.
    pub fn node(&self, path: &str) -> Option<&'d Node> {
        let mut parts = path.split('.');
        let first = self.header()?.fields().get(parts.next()?)?;
        parts.try_fold(first, |node, key| node.get(key))
    }
}
