//! Highlights of the agent's own words: its reports, and the statements in them. All of it is
//! quoted.

use super::{Highlight, HighlightKind, HighlightReader, SessionEnding};
use crate::session::checkpoint::first_line::request_line;
use crate::session::report::{self, ItemKind, Report, ReportItem, SummaryItem, SummaryKind};
use crate::session::{
    AgentMessage, PlanDocument, PlanState, Provenance, Request, Turn, TurnStart, intent::is_trivial,
};
use std::collections::HashSet;

/// How many bytes of reports are parsed for statements, newest first. Older ones say little about
/// the current state.
const READ_BYTES_MAX: usize = 64 << 10;
/// How many bytes of reports are kept in full, newest first.
const KEPT_BYTES_MAX: usize = 48 << 10;
/// The maximum number of statements taken from a summary.
const SUMMARY_ITEMS_MAX: usize = 80;
/// A shorter text is not a report, unless it is the last one.
const REPORT_CHARACTERS_MIN: usize = 160;
/// The maximum number of statements of one kind.
const STATEMENTS_MAX: usize = 40;

/// The state of a goal taken from a summary.
pub(crate) const FROM_SUMMARY: &str = "from the summary";

/// The state of a statement made before files were changed or committed.
pub(crate) const BEFORE_EDITS: &str = "before later edits";

/// The state of a plan after which commands ran.
const BEFORE_COMMANDS: &str = "before later commands";

/// The state of a text that replaces the report of an unfinished turn.
pub(crate) const NO_REPORT: &str = "in an unfinished turn";

/// The agent's statements, by kind.
#[derive(Default)]
pub(super) struct AgentStatements {
    pub(super) plan: Vec<Highlight>,
    pub(super) status: Vec<Highlight>,
    pub(super) unchecked: Vec<Highlight>,
    pub(super) open: Vec<Highlight>,
    pub(super) dead_ends: Vec<Highlight>,
    pub(super) findings: Vec<Highlight>,
    pub(super) summary: Vec<Highlight>,
    pub(super) reports: Vec<Highlight>,
    pub(super) remarks: Vec<Highlight>,
}

impl HighlightReader<'_> {
    /// The messages of current turns, newest first, each with whether it is the last of its turn.
    fn agent_texts(&self) -> impl Iterator<Item = (&Turn, &AgentMessage, bool)> {
        let turns = self.checkpoint.session.turns.items.iter().rev();
        turns.filter(|turn| self.is_current(&turn.seen)).flat_map(|turn| {
            let last = turn.said.len().saturating_sub(1);
            let messages = turn.said.iter().enumerate().rev();
            messages.map(move |(at, message)| (turn, message, at == last))
        })
    }

    /// The question that the agent ended with, if the user has not replied.
    pub(super) fn question(&self) -> Option<Highlight> {
        let message = self.turns().last()?.said.last()?;
        let question = report::question(&message.text)?;
        Some(Highlight::new(HighlightKind::Question, &question).with_seen(&message.seen))
    }

    pub(super) fn statements(&self, ending: SessionEnding) -> AgentStatements {
        let mut found = AgentStatements::default();
        let mut reports: Vec<(usize, Report, &AgentMessage, bool)> = Vec::new();
        let (mut read, mut kept, mut turns) = (0, 0, HashSet::new());
        for (turn, message, is_last) in self.agent_texts() {
            read += message.text.len();
            if read > READ_BYTES_MAX {
                break;
            }
            turns.insert(turn.seen.number);
            let reading = report::parse_report(&message.text);
            let is_report = reading.is_report;
            let is_status = is_last && turn.start == TurnStart::User && is_report;
            // A statement before later edits and commits is not a status.
            if is_status
                && found.status.is_empty()
                && self.first_change_after(&message.seen).is_none()
            {
                found.status.extend(status(&reading, message));
            }
            let is_first = found.reports.is_empty();
            let is_long = message.text.chars().count() >= REPORT_CHARACTERS_MIN;
            kept += message.text.len();
            let item = |kind| Highlight::new(kind, &message.text).with_seen(&message.seen);
            // An unfinished turn has no report, so its longer messages are used instead.
            let is_now = turns.len() == 1 && ending.is_open();
            match is_first || is_long && (is_last || is_report || is_now) {
                _ if kept > KEPT_BYTES_MAX => {}
                true => {
                    let report =
                        item(HighlightKind::Report).with_detail(self.request_for_turn(turn));
                    found.reports.push(if is_now { report.with_state(NO_REPORT) } else { report });
                }
                // "Now let me run the tests." says nothing after they ran.
                false if reading.items.is_empty() && report::only_announces(&message.text) => {}
                false => found.remarks.push(item(HighlightKind::Remark)),
            }
            reports.push((turns.len() - 1, reading, message, is_last));
        }
        if ending.is_open() {
            found.plan.extend(self.stated_plan());
        }
        let ranked =
            report::rank(reports.iter().map(|(turns_ago, report, ..)| (*turns_ago, report)));
        for (position, item) in ranked {
            let (turns_ago, _, message, is_last) = &reports[position];
            // Work that was missing then may be done now.
            let is_newest = *is_last && *turns_ago == 0;
            let is_lack = !is_newest && report::states_missing_work(&item.text);
            if is_lack && self.first_change_after(&message.seen).is_some() {
                continue;
            }
            // An open item in a remark may be done by the end of its turn, and one mentioned in
            // passing a few turns later.
            let is_listed =
                item.heading.is_some() && !self.is_addressed_later(&item.text, &message.seen);
            let is_open = *is_last && (*turns_ago == 0 || is_listed);
            let item = highlight_from_item(item, is_open, *is_last, &message.seen);
            let is_changed = self.first_change_after(&message.seen).is_some();
            let is_old = |item: &Highlight| is_changed && item.kind == HighlightKind::Finding;
            found.add(item.map(|item| match is_old(&item) {
                true => item.with_state(BEFORE_EDITS),
                false => item,
            }));
        }
        let (plan, summary): (Vec<Highlight>, Vec<Highlight>) =
            self.summary_items().into_iter().partition(|one| one.kind == HighlightKind::StatedPlan);
        found.plan.extend(plan.into_iter().take(1));
        found.summary = summary;
        found
    }

    /// The goal according to the newest summary, for a session whose own requests have none.
    pub(super) fn summarized_goal(&self) -> Option<Highlight> {
        const ITEMS_MAX: usize = 4;
        let summary = self.checkpoint.session.summary.as_ref()?;
        let items = report::parse_summary(&summary.text).items.into_iter();
        let goals = items.filter(|item| item.kind == SummaryKind::Goal).map(|item| item.text);
        let text = goals.take(ITEMS_MAX).collect::<Vec<_>>().join("\n");
        let item = Highlight::new(HighlightKind::Goal, &text).with_seen(&summary.seen);
        (!text.is_empty()).then(|| item.with_state(FROM_SUMMARY))
    }

    /// The request of a turn in one line. None if it is a single trivial word.
    fn request_for_turn(&self, turn: &Turn) -> Option<String> {
        let (request, _) = self.requests().find(|(one, _)| one.seen == turn.seen)?;
        let line = request_line(&request.text);
        (line.contains(' ') || !request.trivial).then_some(line)
    }

    /// What the agent said it would do next, in an unfinished turn.
    fn stated_plan(&self) -> Option<Highlight> {
        let session = &self.checkpoint.session;
        let turn = session.turns.last()?;
        // A statement before other calls may be done by now.
        let (message, before) = turn.said.split_last()?;
        let plan = report::stated_plan(&message.text)?;
        if self.is_carried_out(&plan, message) || self.is_overruled(message) {
            return None;
        }
        let has_ended = |seen: &Provenance| {
            let later = session.commands.iter().rev();
            let mut later = later.take_while(|command| command.seen.number > seen.number);
            later.any(|command| command.ended.is_some())
        };
        let item = |plan: &str, message: &AgentMessage| {
            let item = Highlight::new(HighlightKind::StatedPlan, plan).with_seen(&message.seen);
            match self.first_change_after(&message.seen) {
                Some(_) => item.with_state(BEFORE_EDITS),
                None if has_ended(&message.seen) => item.with_state(BEFORE_COMMANDS),
                None => item,
            }
        };
        let is_whole = plan.contains('\n') || !report::refers_back(&plan);
        // "Now apply the fixes." needs the list that it refers to, as long as nothing on it is
        // done.
        let listed = before.iter().rev().filter(|_| !is_whole).find_map(|listed| {
            let plan = report::stated_plan(&listed.text).filter(|plan| plan.contains('\n'))?;
            let is_now =
                self.first_change_after(&listed.seen).is_none_or(|at| at > message.seen.number);
            is_now.then(|| item(&plan, listed))
        });
        listed.or_else(|| Some(item(&plan, message)))
    }

    /// Whether a plan was carried out: a later push if it mentions one, otherwise a later commit or
    /// outside effect.
    fn is_carried_out(&self, plan: &str, message: &AgentMessage) -> bool {
        let is_later = |seen: &Provenance| seen.number > message.seen.number;
        let session = &self.checkpoint.session;
        let mut commits = session.commits.iter();
        if report::has_word(plan, "push") {
            return commits.any(|one| one.pushed.as_ref().is_some_and(|to| is_later(&to.seen)));
        }
        commits.any(|one| is_later(&one.seen))
            || session.effects.iter().any(|one| is_later(&one.seen))
    }

    /// Whether the user later said something, rejected a call, or decided on a plan.
    fn is_overruled(&self, message: &AgentMessage) -> bool {
        let is_later = |seen: &Provenance| seen.number > message.seen.number;
        let is_heard = |(one, _): (&Request, bool)| {
            is_later(&one.seen) && (one.correction.is_some() || !one.trivial)
        };
        let session = &self.checkpoint.session;
        let is_decided = |plan: &PlanDocument| {
            matches!(plan.state, PlanState::Approved | PlanState::Rejected) && is_later(&plan.seen)
        };
        self.requests().any(is_heard)
            || session.rejections.iter().any(|one| is_later(&one.seen))
            || session.plans.iter().any(is_decided)
    }

    /// Whether later work addresses an open item: a command, a commit message, a changed file or a
    /// later message has half of its identifiers. For an item without identifiers, any later commit
    /// counts.
    fn is_addressed_later(&self, text: &str, seen: &Provenance) -> bool {
        let session = &self.checkpoint.session;
        let is_later = |other: &Provenance| other.number > seen.number;
        let names = report::identifiers(text);
        let commits = || session.commits.iter().filter(|commit| is_later(&commit.seen));
        if names.is_empty() {
            return commits().next().is_some();
        }
        let has_names = |text: &str| {
            let found = names.iter().filter(|name| report::has_word(text, name)).count();
            found * 2 >= names.len()
        };
        let commands = session.commands.iter().filter(|command| is_later(&command.seen));
        let agent_messages = session.turns.items.iter().flat_map(|turn| &turn.said);
        let changed = session.files.changed();
        let changed = changed.filter(|(_, file)| file.changed.iter().any(is_later));
        let messages = || commits().flat_map(|one| [one.subject.as_deref(), one.body.as_deref()]);
        { commands }.any(|command| has_names(&command.text))
            || messages().flatten().any(has_names)
            || { agent_messages }.any(|message| is_later(&message.seen) && has_names(&message.text))
            || { changed }.any(|(path, _)| has_names(path))
    }

    /// The first later record that changed a file or made a commit.
    fn first_change_after(&self, seen: &Provenance) -> Option<u64> {
        let session = &self.checkpoint.session;
        let edits = session.files.changed().flat_map(|(_, file)| &file.changed);
        let all = edits.chain(session.commits.iter().map(|commit| &commit.seen));
        all.map(|later| later.number).filter(|number| *number > seen.number).min()
    }

    /// The statements of the newest summary, best first. Before any later work, all of them count;
    /// after it, what the summary calls pending, current or next may be done.
    fn summary_items(&self) -> Vec<Highlight> {
        let Some(summary) = &self.checkpoint.session.summary else { return Vec::new() };
        let is_last = self.is_last(&summary.seen);
        let lasts = |kind: SummaryKind| match kind {
            SummaryKind::Decision
            | SummaryKind::Finding
            | SummaryKind::Error
            | SummaryKind::Constraint => true,
            SummaryKind::UserMessage
            | SummaryKind::Goal
            | SummaryKind::Done
            | SummaryKind::Current
            | SummaryKind::Pending
            | SummaryKind::Next
            | SummaryKind::Concept
            | SummaryKind::File => is_last,
        };
        let mut items = report::parse_summary(&summary.text).items;
        items.sort_by_key(|item| std::cmp::Reverse(item.weight));
        let is_said =
            |item: &SummaryItem| item.kind != SummaryKind::UserMessage || !is_trivial(&item.text);
        let items =
            items.into_iter().filter(|item| lasts(item.kind) && is_said(item)).map(|item| {
                let is_next = item.kind == SummaryKind::Next;
                let kind = if is_next { HighlightKind::StatedPlan } else { HighlightKind::Summary };
                let highlight = Highlight::new(kind, &item.text).with_seen(&summary.seen);
                Highlight { weight: u8::from(is_last), ..highlight }
            });
        items.take(SUMMARY_ITEMS_MAX).collect()
    }

    /// Whether the agent wrote no message and ran no command after a record.
    fn is_last(&self, seen: &Provenance) -> bool {
        let session = &self.checkpoint.session;
        let message = session.turns.last().and_then(|turn| turn.said.last());
        let did = session.commands.iter().next_back().map(|command| &command.seen);
        let later = [message.map(|message| &message.seen), did].into_iter().flatten();
        { later }.all(|later| later.number < seen.number)
    }
}

fn status(reading: &Report, message: &AgentMessage) -> Option<Highlight> {
    /// Shorter ones say nothing: "Done.", "Clean."
    const CHARACTERS_MIN: usize = 24;
    let status = reading.status.as_deref()?;
    let says = |status: &&str| status.chars().count() >= CHARACTERS_MIN && !status.ends_with(':');
    let status = Some(status.trim_end()).filter(says)?;
    Some(Highlight::new(HighlightKind::Status, status).with_seen(&message.seen))
}

/// Converts a report item. None if later records show what was planned or done.
fn highlight_from_item(
    item: &ReportItem,
    is_open: bool,
    is_report: bool,
    seen: &Provenance,
) -> Option<Highlight> {
    let kind = match item.kind {
        // It may be done by now.
        ItemKind::OpenItem if !is_open => return None,
        ItemKind::Finding | ItemKind::Cause => HighlightKind::Finding,
        ItemKind::Decision => HighlightKind::Decision,
        ItemKind::DeadEnd => HighlightKind::DeadEnd,
        ItemKind::OpenItem => HighlightKind::OpenItem,
        ItemKind::Unchecked => HighlightKind::Unchecked,
        // Later records show what a remark calls done.
        ItemKind::Done if is_report => HighlightKind::Finding,
        ItemKind::Plan | ItemKind::Done => return None,
    };
    let highlight = Highlight::new(kind, &item.text).with_seen(seen);
    Some(Highlight { weight: item.weight, ..highlight })
}

impl AgentStatements {
    /// Adds a statement to its list, each text once.
    fn add(&mut self, item: Option<Highlight>) {
        let Some(mut item) = item else { return };
        let lists = [
            (HighlightKind::Unchecked, &mut self.unchecked),
            (HighlightKind::OpenItem, &mut self.open),
            (HighlightKind::DeadEnd, &mut self.dead_ends),
        ];
        let own = lists.into_iter().find(|(kind, _)| *kind == item.kind).map(|(_, list)| list);
        let list = own.unwrap_or(&mut self.findings);
        // Findings and decisions share a list, whose order is their rank.
        let rank = STATEMENTS_MAX.saturating_sub(list.len());
        item.weight = u8::try_from(rank).unwrap_or(u8::MAX);
        let is_known = list.iter().any(|known| known.text == item.text);
        if !is_known && list.len() < STATEMENTS_MAX {
            list.push(item);
        }
    }
}
