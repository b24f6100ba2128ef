//! Reads a document as a handoff: every field, with defaults and fallbacks.

use crate::format::document::Document;
use crate::format::generated_section;
use crate::format::header::{
    Assumption, Capability, Decision, Dependencies, Dependency, Deviation, FromYaml, HandoffKind,
    Header, HeaderLocation, Measurement, Proof, Question, Recovery, Resolution, Review, Revision,
    StartupEntries, Status, WrongTurn,
};
use crate::format::section::SectionMeaning;
use crate::format::stage::{StageRule, Stages, verdict};
use crate::handoff::topic::{self, BodyTopics, StatusLine};
use crate::text::id::{FeatureNumber, HandoffKey, Uid};
use crate::text::span::{Span, Spanned};
use crate::text::time::Time;
use crate::text::yaml::YamlNode;
use std::collections::HashSet;

/// What a document's path says about it.
#[derive(Clone, Debug, Default)]
pub struct Location {
    /// The file name without its extension.
    pub stem: String,
    /// The stage of the pipeline folder that contains it.
    pub stage: Option<String>,
}

/// A document read as a handoff. It only borrows; fields are read on access.
#[derive(Clone, Copy, Debug)]
pub struct Handoff<'d> {
    document: &'d Document,
    location: &'d Location,
    stages: &'d Stages,
}

impl<'d> Handoff<'d> {
    /// Reads a document as a handoff.
    ///
    /// ```
    /// use midstride_core::format::document::Document;
    /// use midstride_core::format::stage::Stages;
    /// use midstride_core::handoff::{Handoff, Location};
    ///
    /// let document = Document::parse(b"---\nhandoff:\n  id: search-lag\n  status: planned\n---\n");
    /// let (location, stages) = (Location::default(), Stages::shipped());
    /// let handoff = Handoff::new(&document, &location, &stages);
    /// assert_eq!(handoff.id(), "search-lag");
    /// assert!(handoff.is_open());
    /// ```
    pub fn new(document: &'d Document, location: &'d Location, stages: &'d Stages) -> Self {
        Self { document, location, stages }
    }

    /// The underlying document.
    pub fn document(&self) -> &'d Document {
        self.document
    }

    /// The header, wherever in the document it is.
    pub fn header(&self) -> Option<&'d Header> {
        self.document.header()
    }

    /// Whether it has a handoff header. Otherwise it is a note.
    pub fn is_handoff(&self) -> bool {
        self.document.handoff_header().is_some()
    }

    /// Whether its header is a `## Handoff` section.
    fn has_section_header(&self) -> bool {
        self.header().is_some_and(|header| header.location == HeaderLocation::Section)
    }

    /// Whether it has a status. Every handoff does, a note may.
    pub fn has_status(&self) -> bool {
        self.is_handoff() || self.text("status").is_some() || self.body_status().is_some()
    }

    /// The status line in the body.
    pub fn status_line(&self) -> Option<StatusLine<'d>> {
        topic::find_status_line(self.document)
    }

    /// The date that a note states in its first lines: `**Date:** 2026-05-15`.
    pub fn stated_date(&self) -> Option<Time> {
        let value =
            topic::find_labeled(self.document, &["date", "written", "created", "last updated"])?;
        let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | ':' | '+');
        Time::parse(value.split(|c| !is_part(c)).find(|word| !word.is_empty())?)
    }

    /// The author that a note states in its first lines: `**From:** Leah`.
    pub fn stated_author(&self) -> Option<&'d str> {
        const WORDS_MAX: usize = 5;
        let value = topic::find_labeled(self.document, &["from", "author", "written by", "by"])?;
        (value.split_whitespace().count() <= WORDS_MAX).then_some(value)
    }

    /// Whether the handoff was made from another document, and is not a stage.
    pub fn is_adopted(&self) -> bool {
        let upstream = self.dependencies().upstream;
        self.stage().is_none() && upstream.iter().any(Dependency::is_origin)
    }

    fn body_status(&self) -> Option<Status> {
        self.status_line().and_then(|line| line.status)
    }

    /// Whether the work is open. A note without a status counts as open if it describes ongoing
    /// work or if its file name says it is a handoff.
    ///
    /// Some tools write `status: complete` into the header of every note they finish writing. That
    /// is about the note, so next steps in it are still open.
    pub fn is_open(&self) -> bool {
        if self.is_handoff() {
            return self.status().is_open();
        }
        match (self.has_status(), self.is_marked_complete()) {
            (true, true) => {
                let body = self.body_status();
                body.is_none_or(Status::is_open)
                    && BodyTopics::from_document(self.document).has_next_steps()
            }
            (true, false) => self.status().is_open(),
            (false, _) => {
                self.is_named_handoff() || BodyTopics::from_document(self.document).has_work()
            }
        }
    }

    /// Whether another tool's header says `complete`.
    fn is_marked_complete(&self) -> bool {
        let is_foreign =
            self.header().is_some_and(|header| header.location == HeaderLocation::Foreign);
        let status = self.text("status").map(|text| text.value.trim().to_lowercase());
        is_foreign && matches!(status.as_deref(), Some("complete" | "completed"))
    }

    /// Whether the file name says that it is for the next session.
    fn is_named_handoff(&self) -> bool {
        let name = self.location.stem.to_lowercase().replace(['-', '_', ' '], "");
        ["handoff", "nextsession", "continuehere"].iter().any(|word| name.contains(word))
    }

    fn text(&self, name: &str) -> Option<Spanned<&'d str>> {
        self.header().and_then(|header| header.text(name))
    }

    fn list<T: FromYaml<'d>>(&self, name: &str) -> Vec<T> {
        self.header().map(|header| header.list(name)).unwrap_or_default()
    }

    /// The written id, or else the file name. In a pipeline, a file such as `feat-042-search.md`
    /// belongs to feature `feat-042`.
    pub fn id(&self) -> &'d str {
        let stem = self.location.stem.as_str();
        let feature = || {
            let is_stage = self.is_handoff() || self.has_section_header();
            let is_stage = is_stage && self.location.stage.is_some();
            FeatureNumber::prefix(stem).filter(|_| is_stage)
        };
        self.text("id").map(|id| id.value).or_else(feature).unwrap_or(stem)
    }

    /// The id with the stage.
    pub fn key(&self) -> HandoffKey {
        HandoffKey { id: self.id().to_owned(), stage: self.stage().map(str::to_owned) }
    }

    /// The uid.
    pub fn uid(&self) -> Option<Uid> {
        Uid::parse(self.written_uid()?.value)
    }

    /// The uid as the header writes it, with the whitespace around it.
    pub fn written_uid(&self) -> Option<Spanned<&'d str>> {
        self.text("uid")
    }

    /// The written title, or else the first heading.
    pub fn title(&self) -> Option<&'d str> {
        let heading = || {
            let top = self.document.sections().iter().find(|section| section.level == 1);
            top.map(|section| section.title.value.as_str())
        };
        self.text("title").map(|title| title.value).or_else(heading)
    }

    /// A one-line description for finding it later.
    pub fn description(&self) -> Option<&'d str> {
        self.text("description").map(|text| text.value)
    }

    /// The status in the header, or else in the body. The default is planned.
    pub fn status(&self) -> Status {
        let written = self.text("status").and_then(|text| Status::parse(text.value));
        written.or_else(|| self.body_status()).unwrap_or(Status::Planned)
    }

    /// The stage: as written, or else from its folder, or else from its author. In a project
    /// without a pipeline only an explicit stage counts, because other tools use `stage` and `from`
    /// differently.
    pub fn stage(&self) -> Option<&'d str> {
        let kind = self.text("kind").and_then(|text| HandoffKind::parse(text.value));
        let may_be_stage = kind.is_none_or(|kind| kind == HandoffKind::Stage);
        let has_pipeline = self.stages.has_pipeline || self.location.stage.is_some();
        if let Some(stage) = self.text("stage").map(|text| text.value) {
            let is_explicit = kind == Some(HandoffKind::Stage)
                || (may_be_stage && self.is_handoff() && self.stages.stages.contains_key(stage));
            return Some(stage).filter(|_| has_pipeline || is_explicit);
        }
        if !may_be_stage || !(self.is_handoff() || self.has_section_header()) {
            return None;
        }
        self.location.stage.as_deref().or_else(|| self.author_stage())
    }

    fn author_stage(&self) -> Option<&'d str> {
        FeatureNumber::parse(self.id()).filter(|_| self.stages.has_pipeline)?;
        self.stages.stage_of_agent(self.text("from")?.value)
    }

    /// The rule of its stage.
    pub fn stage_rule(&self) -> Option<&'d StageRule> {
        self.stages.stages.get(self.stage()?)
    }

    /// Why a review blocks: its verdict, or an open blocking question. `None` if it does not block
    /// or is not a review.
    pub(crate) fn review_block_reason(&self) -> Option<String> {
        self.stage_rule().filter(|rule| rule.gives_verdict())?;
        let blocked =
            verdict::last_verdict(&self.decisions()).filter(|(verdict, _)| verdict.blocks());
        if let Some((_, decision)) = blocked {
            return Some(decision.trim().to_owned());
        }
        let (number, question) = (1..).zip(self.questions()).find(|(_, one)| one.blocks())?;
        let text = question.question.map_or("(no text)", |text| text.value.trim());
        Some(format!("q{number} is open: {text}"))
    }

    /// The written kind, or else the one implied by the stage.
    pub fn kind(&self) -> HandoffKind {
        let written = self.text("kind").and_then(|text| HandoffKind::parse(text.value));
        written.unwrap_or(match self.stage() {
            Some(_) => HandoffKind::Stage,
            None => HandoffKind::Investigation,
        })
    }

    /// Who wrote it.
    pub fn from(&self) -> Option<&'d str> {
        self.text("from").map(|text| text.value)
    }

    /// Who should pick it up.
    pub fn to(&self) -> Vec<Spanned<&'d str>> {
        self.list("to")
    }

    /// When it was captured. Older documents have a `Captured:` line in the text.
    pub fn created(&self) -> Option<Time> {
        let stamped = || self.document.stamps().into_iter().find(|s| s.is_capture).map(|s| s.time);
        self.text("created").or_else(stamped).and_then(|text| Time::parse(text.value))
    }

    /// When it was last changed: the latest of all recorded times.
    pub fn changed(&self) -> Option<Time> {
        let revised = self.revisions().into_iter().filter_map(|revision| revision.time);
        revised
            .chain(self.text("updated"))
            .filter_map(|text| Time::parse(text.value))
            .chain(self.created())
            .max_by_key(|time| time.moment)
    }

    /// The date, and the time if there is one, in the file name: `2026-03-21_17-24-05_search-lag`.
    pub fn time_from_name(&self) -> Option<Time> {
        let name = self.location.stem.as_str();
        let is_day = |at: usize| {
            let day = name.get(at..at + 10)?;
            let alone = !name[..at].ends_with(|c: char| c.is_ascii_digit());
            Some((day, name.get(at + 10..)?)).filter(|_| alone)
        };
        let (day, rest) = (0..name.len()).filter_map(is_day).find(|(day, _)| {
            day.bytes().enumerate().all(|(at, byte)| match at {
                4 | 7 => byte == b'-',
                _ => byte.is_ascii_digit(),
            })
        })?;
        let clock = rest.get(1..9).filter(|_| rest.starts_with(['_', 'T', '-']));
        let clock = clock.map(|clock| clock.replace(['-', '_', '.'], ":"));
        let exact = clock.and_then(|clock| Time::parse(&format!("{day}T{clock}Z")));
        exact.or_else(|| Time::parse(day))
    }

    /// The summary: the header field, or else the summary section.
    pub fn summary(&self) -> Option<&'d str> {
        let section = || {
            let mut about = self.document.sections_about(SectionMeaning::Summary);
            let own = about.next()?.own;
            // Generated sections are not part of the summary.
            let generated = generated_section::generated_spans(self.document).into_iter();
            let ends = generated.map(|part| part.start).filter(|start| *start >= own.start);
            let end = ends.chain([own.end]).min()?.min(own.end);
            Some(Span::new(own.start, end).slice(self.document.text()).trim())
        };
        let written = self.text("context_summary").map(|text| text.value.trim());
        written.or_else(section).filter(|text| !text.is_empty())
    }

    /// The decisions.
    pub fn decisions(&self) -> Vec<Decision<'d>> {
        self.list("decisions_made")
    }

    /// The questions, answered or not.
    pub fn questions(&self) -> Vec<Question<'d>> {
        self.list("open_questions")
    }

    /// The unanswered questions, each with its number; empty once the handoff is closed.
    pub fn open_questions(&self) -> Vec<(usize, Question<'d>)> {
        if !self.status().is_open() {
            return Vec::new();
        }
        let numbered = (1..).zip(self.questions());
        numbered.filter(|(_, question)| question.answer.is_none()).collect()
    }

    /// The assumptions.
    pub fn assumptions(&self) -> Vec<Assumption<'d>> {
        self.list("assumptions")
    }

    /// The wrong turns.
    pub fn wrong_turns(&self) -> Vec<WrongTurn<'d>> {
        self.list("wrong_turns")
    }

    /// The landmines.
    pub fn landmines(&self) -> Vec<Spanned<&'d str>> {
        self.list("landmines")
    }

    /// The proofs, each with its number. Empty entries are counted but omitted.
    pub fn proofs(&self) -> Vec<(usize, Proof<'d>)> {
        let items = self.header().and_then(|header| header.get("proofs")).map(YamlNode::items);
        let numbered = (1..).zip(items.unwrap_or_default());
        numbered.filter_map(|(number, item)| Some((number, Proof::read(item)?))).collect()
    }

    /// The measurements.
    pub fn measurements(&self) -> Vec<Measurement<'d>> {
        self.list("measurements")
    }

    /// The design sections that this implements.
    pub fn implements(&self) -> Vec<Spanned<&'d str>> {
        self.list("implements")
    }

    /// The deviations from the design.
    pub fn deviations(&self) -> Vec<Deviation<'d>> {
        self.list("deviations")
    }

    /// The reviews.
    pub fn reviews(&self) -> Vec<Review<'d>> {
        self.list("reviews")
    }

    /// The revisions. Older documents have `Revised:` lines in the text.
    pub fn revisions(&self) -> Vec<Revision<'d>> {
        let written = self.list("revisions");
        if !written.is_empty() {
            return written;
        }
        let revised = self.document.stamps().into_iter().filter(|stamp| !stamp.is_capture);
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

    /// The ids of its earlier texts, oldest first; `None` for a text that was not kept.
    pub fn replaced_texts(&self) -> Vec<Option<Spanned<&'d str>>> {
        let entries = self.revision_nodes();
        let field = |index: usize, key| entries[index].get(key).and_then(YamlNode::text);
        let mut seen = HashSet::new();
        let mut texts: Vec<Option<Spanned<&'d str>>> = Vec::new();
        for index in 0..entries.len() {
            // After a merge, the previous entry's `made` names this text; otherwise this entry's
            // `was` does. If two entries have the same `was`, only the first one counts.
            let made = index.checked_sub(1).and_then(|before| field(before, "made"));
            let was = field(index, "was");
            let found = was.filter(|was| seen.insert(was.value.trim()));
            texts.push(made.or(found));
        }
        texts
    }

    /// The ids of all texts in its history, from both `was` and `made`.
    pub fn named_texts(&self) -> HashSet<&'d str> {
        let field = |entry: &'d YamlNode, key| entry.get(key).and_then(YamlNode::text);
        let named = |entry: &&'d YamlNode| [field(entry, "was"), field(entry, "made")];
        let entries = self.revision_nodes();
        entries.iter().flat_map(named).flatten().map(|text| text.value.trim()).collect()
    }

    /// The history entries as written. Entry `n`, counted from one, made revision `n + 1`.
    pub fn revision_nodes(&self) -> Vec<&'d YamlNode> {
        let revisions = self.header().and_then(|header| header.fields().get("revisions"));
        revisions.map(YamlNode::items).unwrap_or_default()
    }

    /// Its upstream and downstream dependencies.
    pub fn dependencies(&self) -> Dependencies<'d> {
        let node = self.header().and_then(|header| header.get("dependencies"));
        node.and_then(Dependencies::read).unwrap_or_default()
    }

    /// The decision about a platform capability.
    pub(crate) fn capability(&self, name: &str) -> Option<Capability<'d>> {
        let node = self.header()?.get("platform_capabilities")?.get(name)?;
        Capability::read(node)
    }

    /// The startup steps.
    pub(crate) fn startup_steps(&self) -> StartupEntries<'d> {
        let node = self.header().and_then(|header| header.get("boot"));
        node.and_then(StartupEntries::read).unwrap_or_default()
    }

    /// How it was closed.
    pub fn resolution(&self) -> Option<Resolution<'d>> {
        self.header()?.get("resolution").and_then(Resolution::read)
    }

    /// The handoff that replaces it.
    pub fn superseded_by(&self) -> Option<Spanned<&'d str>> {
        self.text("superseded_by")
    }

    /// The session whose work it hands over, if it names one.
    pub fn recovery(&self) -> Option<Recovery> {
        self.node("state.recovery").and_then(Recovery::read)
    }

    /// The node of a field. Dots in the path lead into nested fields.
    pub fn node(&self, path: &str) -> Option<&'d YamlNode> {
        let mut parts = path.split('.');
        let first = self.header()?.fields().get(parts.next()?)?;
        parts.try_fold(first, |node, key| node.get(key))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_name_can_contain_a_date() {
        let check = |stem: &str, expected: Option<&str>| {
            let document = Document::parse(b"");
            let location = Location { stem: stem.to_owned(), stage: None };
            let stages = Stages::shipped();
            let time = Handoff::new(&document, &location, &stages).time_from_name();
            assert_eq!(time.map(|time| time.moment.to_string()).as_deref(), expected, "{stem}");
        };
        check("2026-03-21_17-24-05_search-lag", Some("2026-03-21T17:24:05Z"));
        check("2026-03-21-search-lag", Some("2026-03-21T00:00:00Z"));
        check("SESSION_HANDOFF_2026-03-21", Some("2026-03-21T00:00:00Z"));
        check("12026-03-21", None);
        check("2026-13-41", None);
        check("größe", None);
    }

    #[test]
    fn a_pipeline_document_has_its_stage_and_id_from_its_path() {
        let check = |text: &str, expected: &str| {
            let document = Document::parse(text.as_bytes());
            let stem = "feat-001-event-pipeline".to_owned();
            let location = Location { stem, stage: Some("spec".to_owned()) };
            let stages = Stages::shipped();
            assert_eq!(Handoff::new(&document, &location, &stages).key().to_string(), expected);
        };
        check("# Spec\n\n## Handoff\n\n- **From**: product-planner\n", "feat-001/spec");
        check("# Spec\n\n## Handoff\n\n- **Id**: feat-002\n", "feat-002/spec");
        check("---\nhandoff:\n  from: product-planner\n---\n", "feat-001/spec");
        // A note of another kind is no stage.
        check("# Notes\n", "feat-001-event-pipeline");
    }

    #[test]
    fn a_note_with_work_is_open_unless_its_status_says_otherwise() {
        let check = |text: &str, status: Option<Status>, is_open: bool| {
            let document = Document::parse(text.as_bytes());
            let (location, stages) = (Location::default(), Stages::shipped());
            let handoff = Handoff::new(&document, &location, &stages);
            let found = handoff.has_status().then(|| handoff.status());
            assert_eq!((found, handoff.is_open()), (status, is_open), "{text}");
        };
        let next = "\n## Next steps\n\n- a\n";
        let complete = Some(Status::Resolved);
        check(&format!("# T\n{next}"), None, true);
        check("# T\n\n## Current state\n\nIt works.\n", None, true);
        check("# T\n\nHow the parser works.\n", None, false);
        check(&format!("# T\n\n**Status**: ✅ Complete\n{next}"), complete, false);
        check("# T\n\nStatus: in progress\n", Some(Status::InProgress), true);
        check(&format!("---\nstatus: complete\ntopic: t\n---\n# T\n{next}"), complete, true);
        check("---\nstatus: complete\ntopic: t\n---\n# T\n\nAll of it.\n", complete, false);
        check(&format!("---\nstatus: done\ntopic: t\n---\n# T\n{next}"), complete, false);
        let both = "---\nstatus: complete\ntopic: t\n---\n# T\n\nStatus: done\n";
        check(&format!("{both}{next}"), complete, false);
        check("---\nhandoff:\n  id: a\n---\nStatus: done\n", complete, false);
        check("---\nhandoff:\n  status: planned\n---\nStatus: done\n", Some(Status::Planned), true);
    }
}
