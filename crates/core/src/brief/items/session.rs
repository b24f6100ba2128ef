//! Builds briefing items from a captured session: an earlier one, or the current one before its
//! context was replaced.

use super::{ItemSource, is_newer};
use crate::brief::unsettled::UnsettledItem;
use crate::brief::{BriefItem, Headline, ItemForm, ItemRank, excerpt, quote};
use crate::session::checkpoint::{
    BEFORE_EDITS, FROM_SUMMARY, Highlight, HighlightKind as Kind, NO_EDITS_SINCE, NO_REPORT,
    SessionEnding, SessionSummary, request_line,
};
use crate::session::report::{ELLIPSIS, has_word, identifiers, only_says_done, without_lead_in};
use crate::session::short_id;
use jiff::Timestamp;
use std::borrow::Cow;
use std::cmp::Reverse;

/// Number of corrections that rank as constraints.
const CORRECTIONS_FIRST: usize = 3;
/// Number of statements of one kind that rank above the reports they come from.
const STATEMENTS_FIRST: usize = 8;
/// Maximum number of unsettled items listed. More are counted.
const UNSETTLED_MAX: usize = 32;
/// Maximum number of file names in one line.
const FILES_PER_LINE: usize = 10;
/// Maximum length of a line that several folders share.
const FILES_LENGTH_MAX: usize = 120;
/// Maximum number of pending tasks in one line.
const WAITING_PER_LINE: usize = 4;
/// Maximum length of a command among others in a generated line.
const COMMAND_LENGTH_MAX: usize = 64;
/// Maximum length of a subject, title or command in a generated line.
const PART_LENGTH_MAX: usize = 110;

/// The items of a session of the client with this product name: everything that its summary lists.
pub fn session_items(summary: &SessionSummary, client_title: &str) -> Vec<BriefItem> {
    SessionItemBuilder::new(summary).collect(client_title)
}

/// What other sessions left open, each with the handle that dismisses it. `page_ended` is when the
/// session ended that the page is about.
pub fn unsettled_items(
    unsettled: &[UnsettledItem],
    more: usize,
    page_ended: Option<Timestamp>,
) -> Vec<BriefItem> {
    const EARLIER: &str = "Open from earlier sessions";
    const NEWER: &str = "Open from newer sessions";
    let line = |heading, origin: &ItemSource, text: String| BriefItem {
        form: ItemForm::Line,
        is_page_subject: true,
        ..origin.item(ItemRank::Task, heading, text)
    };
    let mut items: Vec<BriefItem> = Vec::new();
    let origin = ItemSource::new("other sessions".to_owned(), &["midstride", "session", "list"]);
    let more = more + unsettled.len().saturating_sub(UNSETTLED_MAX);
    for one in unsettled.iter().take(UNSETTLED_MAX) {
        let what = one.item.kind.word();
        let day = one.ended.map(|ended| format!(", {}", ended.strftime("%Y-%m-%d")));
        let text = quote::inline(&one.item.text, PART_LENGTH_MAX);
        let (handle, session) = (&one.handle, short_id(one.session.as_str()));
        let why = one.item.detail.as_deref().filter(|_| one.item.kind == Kind::Failed);
        let why = why.map(|why| format!(": {}", quote::inline(why, PART_LENGTH_MAX)));
        let (why, day) = (why.unwrap_or_default(), day.unwrap_or_default());
        let text = format!("{handle} {what} {text}{why} ({session}{day})");
        let heading = if is_newer(one.ended, page_ended) { NEWER } else { EARLIER };
        items.push(line(heading, &origin, text));
    }
    if more > 0 {
        let text = format!("{more} older (listed by midstride dismiss)");
        items.push(BriefItem { count: more, unbriefed: more, ..line(EARLIER, &origin, text) });
    }
    items
}

/// What other sessions did outside the repository, so that it is not repeated, and their last
/// reports. `page_ended` is when the session ended that the page is about.
pub fn earlier_session_items<'g>(
    sessions: impl IntoIterator<Item = &'g SessionSummary>,
    page_ended: Option<Timestamp>,
) -> Vec<BriefItem> {
    let mut items = Vec::new();
    for summary in sessions {
        let (did, said) = match is_newer(summary.ended, page_ended) {
            true => {
                ("Done outside the repository by newer sessions", "Report from a newer session")
            }
            false => (
                "Done outside the repository by earlier sessions",
                "Report from an earlier session",
            ),
        };
        let session = SessionItemBuilder::new(summary);
        let short = short_id(summary.session.as_str());
        for (text, count) in session.effect_lines() {
            let text = format!("{text} ({short})");
            let item = session.origin.item(ItemRank::Task, did, text);
            items.push(BriefItem { form: ItemForm::Line, is_page_subject: true, count, ..item });
        }
        if let Some(report) = summary.of_kind(Kind::Report).next() {
            let text = without_lead_in(&report.text);
            let item = session.origin.item(ItemRank::Rest, said, text);
            let at = summary.ended.map(|ended| format!(", {}", ended.strftime("%Y-%m-%d %H:%M")));
            let remark = Some(format!("{short}{}", at.unwrap_or_default()));
            items.push(BriefItem { place: place(report), remark, is_page_subject: true, ..item });
        }
    }
    items
}

/// The sessions among which the session of a page is the last one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SessionScope {
    /// The sessions on the branch that is checked out.
    Branch,
    /// The sessions in the current working tree.
    WorkTree,
    /// The sessions in the current folder.
    Folder,
}

/// Names in the items of a session among which sessions it is the last one, and the newest one of
/// the repository in one line. `branch` is the branch that is checked out.
pub fn mark_newer_session(
    items: &mut Vec<BriefItem>,
    scope: SessionScope,
    (newest, client_title): (&SessionSummary, &str),
    branch: Option<&str>,
) {
    let Some(at) = items.iter().position(|item| item.rank == ItemRank::Source) else { return };
    items[at].heading = match scope {
        SessionScope::Branch => "Last session on this branch",
        SessionScope::WorkTree => "Last session in this working tree",
        SessionScope::Folder => "Last session in this folder",
    };
    let short = short_id(newest.session.as_str());
    let mut parts = vec![format!("{client_title} {short}")];
    parts.extend(span(newest.began, newest.ended));
    let other = newest.branch.as_deref().filter(|theirs| Some(*theirs) != branch);
    parts.extend(other.map(|other| format!("on branch {}", quote::code(other, PART_LENGTH_MAX))));
    let title = newest.title().map(|title| quote::inline(&title, PART_LENGTH_MAX));
    let title = title.map(|title| format!(": {title}")).unwrap_or_default();
    let show = ["midstride", "session", "show", short];
    let origin = ItemSource::new(format!("session {short}"), &show);
    let text = format!("{}{title}", parts.join(", "));
    let line = origin.item(ItemRank::Source, "Newest session", text);
    items.insert(at + 1, BriefItem { form: ItemForm::Line, is_page_subject: true, ..line });
}

/// The headline of a session, for the line shown to the user.
pub fn headline(summary: &SessionSummary) -> Headline {
    let count = |kind: Kind| summary.of_kind(kind).count();
    let mut state = vec![ending_word(summary.ending).to_owned()];
    state.retain(|word| !word.is_empty());
    let counted = [
        (Kind::Failed, "open failure"),
        (Kind::Task, "open task"),
        (Kind::Unchecked, "unchecked item"),
    ];
    for (kind, noun) in counted {
        match count(kind) {
            0 => {}
            1 => state.push(format!("1 {noun}")),
            more => state.push(format!("{more} {noun}s")),
        }
    }
    state.extend(summary.of_kind(Kind::Effect).filter_map(pull_request).take(1));
    let name = short_id(summary.session.as_str()).to_owned();
    Headline { name, title: summary.title(), state }
}

/// The next step of a session, and where it comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NextStep<'g> {
    /// The highlight that names it.
    pub highlight: &'g Highlight,
    /// Whose it is, such as `the agent's plan`.
    pub source: &'static str,
}

/// The next step of a session, if its last request was not answered.
pub fn next_step(summary: &SessionSummary) -> Option<NextStep<'_>> {
    let first = |kind: Kind, source| Some((summary.of_kind(kind).next()?, source));
    let in_progress = |one: &&Highlight| one.state.as_deref() == Some("in progress");
    let task = || Some((summary.of_kind(Kind::Task).find(in_progress)?, "the task in progress"));
    let (highlight, source) = match summary.ending {
        SessionEnding::Asked => first(Kind::Question, "the agent's question, unanswered"),
        SessionEnding::MidTurn | SessionEnding::Interrupted | SessionEnding::Failed => {
            first(Kind::StatedPlan, "the agent's plan")
                .or_else(task)
                .or_else(|| first(Kind::OpenRequest, "the user's request, unfinished"))
        }
        SessionEnding::Unknown | SessionEnding::Nothing | SessionEnding::Completed => None,
    }?;
    Some(NextStep { highlight, source })
}

fn ending_word(ending: SessionEnding) -> &'static str {
    match ending {
        SessionEnding::Completed => "done",
        SessionEnding::Asked => "waiting for an answer",
        SessionEnding::MidTurn => "stopped mid-turn",
        SessionEnding::Interrupted => "interrupted",
        SessionEnding::Failed => "stopped by an API error",
        SessionEnding::Unknown | SessionEnding::Nothing => "",
    }
}

/// The number of a pull request, as `PR #201`, from its address.
fn pull_request(effect: &Highlight) -> Option<String> {
    let (_, rest) = effect.detail.as_deref()?.split_once("/pull/")?;
    let number: String = rest.chars().take_while(char::is_ascii_digit).collect();
    (!number.is_empty()).then(|| format!("PR #{number}"))
}

/// Builds the items of one session.
struct SessionItemBuilder<'g> {
    summary: &'g SessionSummary,
    origin: ItemSource,
    items: Vec<BriefItem>,
}

impl<'g> SessionItemBuilder<'g> {
    fn new(summary: &'g SessionSummary) -> Self {
        let short = short_id(summary.session.as_str());
        let show = ["midstride", "session", "show", short];
        let origin = ItemSource::new(format!("session {short}"), &show);
        Self { summary, origin, items: Vec::with_capacity(summary.items.len() + 4) }
    }

    fn collect(mut self, client_title: &str) -> Vec<BriefItem> {
        self.add_source(client_title);
        self.add_quotes(Kind::Instruction, ItemRank::Instruction, "The user's instruction");
        self.add_goal();
        self.add_status();
        self.add_next_step();
        self.add_quotes(Kind::Queued, ItemRank::NextAction, "Queued prompt, not processed");
        self.add_corrections();
        self.add_statements(Kind::DeadEnd, ItemRank::WrongTurn, "Tried and abandoned");
        self.add_paths(Kind::Reverted, ItemRank::WrongTurn, "Reverted change");
        self.add_paths(Kind::Missing, ItemRank::Landmine, "Missing file");
        self.add_failures();
        self.add_tasks();
        self.add_agents();
        self.add_quotes(Kind::Unchecked, ItemRank::Task, "Unchecked");
        self.add_statements(Kind::OpenItem, ItemRank::Task, "Left open");
        self.add_answers();
        self.add_findings();
        self.add_summary();
        self.add_paths(Kind::Plan, ItemRank::Read, "Plan document");
        self.add_reports();
        self.add_commit_messages();
        self.add_remarks();
        self.add_fixed_failures();
        self.add_mcp_calls();
        self.add_changed_files();
        self.add_answered_requests();
        self.add_quotes(Kind::TakenBack, ItemRank::Rest, "The user rewound past this");
        self.add_unlisted_counts();
        self.items
    }

    fn of_kind(&self, kind: Kind) -> Vec<&'g Highlight> {
        self.summary.of_kind(kind).collect()
    }

    fn push(&mut self, item: BriefItem) {
        self.items.push(BriefItem { is_page_subject: true, ..item });
    }

    fn add_line(&mut self, rank: ItemRank, heading: &'static str, text: String) {
        let item = BriefItem { form: ItemForm::Line, ..self.origin.item(rank, heading, text) };
        self.push(item);
    }

    fn add_quote(&mut self, rank: ItemRank, heading: &'static str, one: &Highlight) {
        let item = self.origin.item(rank, heading, one.text.clone());
        let remark = one.state.clone();
        self.push(BriefItem { place: place(one), remark, ..item });
    }

    /// Adds a quote of the agent.
    fn add_agent_quote(&mut self, rank: ItemRank, heading: &'static str, one: &Highlight) {
        let item = self.origin.item(rank, heading, one.text.clone());
        self.push(BriefItem { place: place(one), remark: Some("the agent".to_owned()), ..item });
    }

    /// Adds each highlight of a kind as a quote.
    fn add_quotes(&mut self, kind: Kind, rank: ItemRank, heading: &'static str) {
        for one in self.of_kind(kind) {
            self.add_quote(rank, heading, one);
        }
    }

    /// Adds statements of the agent. Only the first few rank high; the reports contain the others.
    fn add_statements(&mut self, kind: Kind, rank: ItemRank, heading: &'static str) {
        for (at, one) in self.of_kind(kind).into_iter().enumerate() {
            let rank = if at < STATEMENTS_FIRST { rank } else { ItemRank::Rest };
            self.add_agent_quote(rank, heading, one);
        }
    }

    /// Adds what the newest summary says. Highlights with a weight rank as decisions.
    fn add_summary(&mut self) {
        for one in self.of_kind(Kind::Summary) {
            let rank = if one.weight > 0 { ItemRank::Decision } else { ItemRank::Rest };
            let item = self.origin.item(rank, "From the summary", one.text.clone());
            self.push(BriefItem { place: place(one), ..item });
        }
    }

    /// Adds what the agent found out and decided, highest weight first.
    fn add_findings(&mut self) {
        let mut found = self.of_kind(Kind::Finding);
        found.extend(self.of_kind(Kind::Decision));
        // "Created pull request #12" is redundant if the status already names the pull request.
        let is_redundant =
            |one: &Highlight| !identifiers(&one.text).is_empty() && self.names_all_of(&one.text);
        found.sort_by_key(|one| (is_redundant(one), Reverse(one.weight)));
        // All findings share one heading: a second one would cost the space of a finding.
        let is_old = |one: &&Highlight| one.state.as_deref() == Some(BEFORE_EDITS);
        let remark = found.iter().any(is_old).then(|| "at the time".to_owned());
        for (at, one) in found.into_iter().enumerate() {
            let rank = if at < STATEMENTS_FIRST { ItemRank::Decision } else { ItemRank::File };
            let item = self.origin.item(rank, "The agent's findings", one.text.clone());
            self.push(BriefItem { place: place(one), remark: remark.clone(), ..item });
        }
    }

    /// Adds paths, one per line.
    fn add_paths(&mut self, kind: Kind, rank: ItemRank, heading: &'static str) {
        for one in self.of_kind(kind) {
            let state = one.state.as_ref().map(|state| format!(", {state}"));
            let text = quote::code(&one.text, usize::MAX);
            self.add_line(rank, heading, format!("{text}{}", state.unwrap_or_default()));
        }
    }

    /// Adds the line that names the session, its time span and how it ended.
    fn add_source(&mut self, client_title: &str) {
        let summary = self.summary;
        let mut parts = vec![format!("{client_title} {}", short_id(summary.session.as_str()))];
        parts.extend(span(summary.began, summary.ended));
        let running = self.of_kind(Kind::Running);
        let running = running.first().map(|one| quote::code(&one.text, PART_LENGTH_MAX));
        let ending = match (summary.ending, running) {
            (SessionEnding::Asked, _) => "ended with a question to the user".to_owned(),
            (SessionEnding::MidTurn, Some(running)) => {
                format!("stopped in the middle of a turn while {running} was running")
            }
            (SessionEnding::MidTurn, None) => "stopped in the middle of a turn".to_owned(),
            (SessionEnding::Interrupted, _) => "the user interrupted the last turn".to_owned(),
            (SessionEnding::Failed, _) => "stopped mid-turn by an API error".to_owned(),
            // For a completed session, the status line says that no request is open.
            (SessionEnding::Completed | SessionEnding::Unknown | SessionEnding::Nothing, _) => {
                String::new()
            }
        };
        parts.push(ending);
        parts.retain(|part| !part.is_empty());
        self.add_line(ItemRank::Source, "Last session", parts.join(", "));
    }

    fn add_goal(&mut self) {
        for one in self.of_kind(Kind::Goal) {
            let document = document_goal(&one.text);
            let is_beginning = document.is_some();
            let text = document.unwrap_or_else(|| one.text.clone());
            let item = self.origin.item(ItemRank::Goal, "Goal", text);
            let remark = Some(match one.state.as_deref() {
                Some(FROM_SUMMARY) => FROM_SUMMARY.to_owned(),
                Some(state) => format!("the user, {state}"),
                None => "the user".to_owned(),
            });
            self.push(BriefItem { place: place(one), remark, is_beginning, ..item });
        }
    }

    /// Adds the state in one line, then commits, effects and checks, one line each.
    fn add_status(&mut self) {
        let state = self.state_line();
        if !state.is_empty() {
            self.add_line(ItemRank::Status, "Status", state);
        }
        // The state line covers this if all commits share the same state.
        let commits = self.of_kind(Kind::Commit);
        let is_mixed = commits.iter().any(|one| one.state != commits[0].state);
        for one in commits {
            let id = one.detail.as_deref().unwrap_or("commit");
            let state = one.state.as_ref().filter(|_| is_mixed).map(|state| format!(" ({state})"));
            let subject = subject(&one.text, self.summary.branch.as_deref());
            let subject = quote::inline(&subject, PART_LENGTH_MAX);
            let text = format!("{} {subject}{}", quote::label(id), state.unwrap_or_default());
            self.add_line(ItemRank::Status, "Status", text);
        }
        self.add_effects();
        self.add_checks();
        for one in self.of_kind(Kind::Status) {
            if !self.is_redundant_status(one) {
                self.add_agent_quote(ItemRank::Status, "Status", one);
            }
        }
    }

    /// Whether a closing statement of the agent only says that all is done, such as "All done,
    /// pushed.", and names nothing beyond the status lines. Those lines are proven, and the report
    /// has the rest.
    fn is_redundant_status(&self, statement: &Highlight) -> bool {
        // What the statement calls open is listed separately.
        let open = self.summary.of_kind(Kind::OpenItem);
        let rest = open.fold(statement.text.clone(), |text, one| text.replace(&one.text, ""));
        matches!(self.summary.ending, SessionEnding::Completed | SessionEnding::Unknown)
            && self.status_lines().count() > 1
            && only_says_done(&rest)
            && self.names_all_of(&rest)
    }

    /// The generated status lines.
    fn status_lines(&self) -> impl Iterator<Item = &str> {
        let lines = self.items.iter().filter(|item| item.rank == ItemRank::Status);
        lines.filter(|item| item.form == ItemForm::Line).map(|item| item.text.as_str())
    }

    /// Whether the status lines contain every identifier of a text.
    fn names_all_of(&self, text: &str) -> bool {
        let is_named = |name: &str| self.status_lines().any(|line| has_word(line, name));
        identifiers(text).into_iter().all(is_named)
    }

    fn add_effects(&mut self) {
        for (text, count) in self.effect_lines() {
            let item = self.origin.item(ItemRank::Status, "Status", text);
            self.push(BriefItem { form: ItemForm::Line, count, ..item });
        }
    }

    /// What was done outside the repository: one line per address, with the number of things it
    /// names. A title is dropped if a commit subject already contains its words.
    fn effect_lines(&self) -> Vec<(String, usize)> {
        let words = |text: &str| {
            let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
            words.map(str::to_lowercase).collect::<Vec<String>>()
        };
        let subjects: Vec<Vec<String>> =
            self.summary.of_kind(Kind::Commit).map(|one| words(&one.text)).collect();
        // The words must occur in the same order, possibly with others in between.
        let is_redundant = |title: &str| {
            let title = words(title);
            let is_in = |subject: &Vec<String>| {
                let mut rest = subject.iter();
                title.iter().all(|word| rest.any(|other| other == word))
            };
            !title.is_empty() && subjects.iter().any(is_in)
        };
        let mut lines: Vec<(Option<&str>, Vec<String>, Option<&str>)> = Vec::new();
        for one in self.of_kind(Kind::Effect) {
            let did = one.state.as_deref().unwrap_or("Did").to_owned();
            let title =
                Some(one.text.as_str()).filter(|text| !text.is_empty() && !is_redundant(text));
            let address = one.detail.as_deref();
            let same = lines.iter_mut().find(|line| address.is_some() && line.0 == address);
            match same {
                Some((_, done, first)) => {
                    done.push(uncapitalized(did));
                    *first = first.or(title);
                }
                None => lines.push((address, vec![did], title)),
            }
        }
        let text = |(address, did, title): (Option<&str>, Vec<String>, Option<&str>)| {
            let address = address.map(|address| format!(" {}", quote::address(address)));
            let title = title.map(|title| format!(" {}", quote::inline(title, PART_LENGTH_MAX)));
            let (address, title) = (address.unwrap_or_default(), title.unwrap_or_default());
            (format!("{}{address}{title}", did.join(", ")), did.len())
        };
        lines.into_iter().map(text).collect()
    }

    /// Adds passed checks. Consecutive checks with the same state share a line.
    fn add_checks(&mut self) {
        let checks = self.of_kind(Kind::Check);
        for some in checks.chunk_by(|one, next| one.state == next.state) {
            let each = some.iter().map(|one| {
                // If nothing was edited since, the time of the check does not matter.
                let is_old = one.state.as_deref() != Some(NO_EDITS_SINCE);
                let at = one.seen.as_ref().and_then(|seen| seen.at).filter(|_| is_old);
                let at = at.map(|at| format!(" {}", clock(at))).unwrap_or_default();
                let folder =
                    one.detail.as_deref().map(|folder| quote::code(folder, PART_LENGTH_MAX));
                let folder = folder.map(|folder| format!(" in {folder}")).unwrap_or_default();
                format!("{}{at}{folder}", quote::code(&one.text, COMMAND_LENGTH_MAX))
            });
            let each: Vec<String> = each.collect();
            let since = some[0].state.as_deref().unwrap_or_default();
            let text = format!("Passed: {}; {since}", each.join(", "));
            self.add_line(ItemRank::Status, "Status", text);
        }
    }

    fn state_line(&self) -> String {
        let open = self.of_kind(Kind::OpenRequest);
        let request = open.first().map(|one| match self.is_goal(one) {
            true => "the request above is unfinished".to_owned(),
            false => {
                let question = one.detail.as_deref();
                let question = question.map(|asked| {
                    format!(" (the answer to {})", quote::inline(&excerpt::plain_text(asked), 160))
                });
                let request = quote::inline(&one.text, 80);
                format!("request {request}{} unfinished", question.unwrap_or_default())
            }
        });
        let state = match (self.summary.ending, request) {
            (SessionEnding::Completed, _) => Some("no open request".to_owned()),
            (ending, Some(request)) if ending.is_open() => Some(request),
            (_, _) => None,
        };
        state.into_iter().chain(self.summary.tree.clone()).collect::<Vec<_>>().join("; ")
    }

    /// Adds the next step with its origin, if the last request was not answered.
    fn add_next_step(&mut self) {
        if let Some(NextStep { highlight: one, source: whose }) = next_step(self.summary) {
            let at =
                one.seen.as_ref().and_then(|seen| seen.at).map(|at| format!(", {}", clock(at)));
            if one.kind == Kind::OpenRequest && self.is_goal(one) {
                return self.add_line(
                    ItemRank::NextAction,
                    "Next",
                    "finish the request above".to_owned(),
                );
            }
            // The state of a plan says whether later work may already have done it.
            let state = one.state.as_deref().filter(|_| one.kind == Kind::StatedPlan);
            let state = state.map(|state| format!(", {state}")).unwrap_or_default();
            let remark = Some(format!("{whose}{}{state}", at.unwrap_or_default()));
            let item = self.origin.item(ItemRank::NextAction, "Next", one.text.clone());
            self.push(BriefItem { place: place(one), remark, ..item });
        }
    }

    /// Whether a request is the goal, which the page already quotes.
    fn is_goal(&self, request: &Highlight) -> bool {
        self.summary.of_kind(Kind::Goal).any(|goal| goal.text == request.text)
    }

    /// Adds the user's corrections. The newest rank high; the work done since reflects the older
    /// ones.
    fn add_corrections(&mut self) {
        // Skip corrections that are already listed as instructions.
        let is_more = |one: &&Highlight| {
            let mut instructions = self.summary.of_kind(Kind::Instruction);
            !instructions.any(|instruction| instruction.text.trim() == one.text.trim())
        };
        let corrections = self.summary.of_kind(Kind::Correction).filter(is_more);
        for (at, one) in corrections.collect::<Vec<_>>().into_iter().enumerate() {
            let rank = if at < CORRECTIONS_FIRST { ItemRank::Constraint } else { ItemRank::Proof };
            self.add_quote(rank, "The user corrected", one);
        }
    }

    fn add_failures(&mut self) {
        for one in self.of_kind(Kind::Failed) {
            let state = one.state.as_deref().unwrap_or_default();
            let command = quote::code(&one.text, PART_LENGTH_MAX);
            let why = one.detail.as_deref().map(|why| format!(": {}", quote::inline(why, 160)));
            let text = format!("{command} {state}{}", why.unwrap_or_default());
            self.add_line(ItemRank::Failure, "Failing", text);
        }
    }

    /// Adds failures that were fixed. A check that failed in several ways is named once.
    fn add_fixed_failures(&mut self) {
        let mut named = None;
        for one in self.of_kind(Kind::Passed) {
            let comment = one.remark.as_deref();
            let parts = [
                one.detail.as_deref().map(|why| quote::inline(why, 120)),
                comment.map(|comment| format!("the agent: {}", quote::inline(comment, 160))),
            ];
            let details = parts.into_iter().flatten().collect::<Vec<_>>().join("; ");
            let is_named = named.replace(&one.text) == Some(&one.text);
            let command = quote::code(&one.text, COMMAND_LENGTH_MAX);
            let state = one.state.as_deref().unwrap_or_default();
            let text = match (is_named, details.is_empty()) {
                (true, true) => continue,
                (true, false) => details,
                (false, true) => format!("{command} {state}"),
                (false, false) => format!("{command} {state}: {details}"),
            };
            self.add_line(ItemRank::File, "Fixed along the way", text);
        }
    }

    fn add_tasks(&mut self) {
        let tasks = self.of_kind(Kind::Task);
        let (started, waiting): (Vec<&Highlight>, Vec<&Highlight>) =
            tasks.into_iter().partition(|one| one.state.as_deref() != Some("pending"));
        for one in started {
            let state = one.state.as_deref().unwrap_or("open");
            let text = format!("{state}: {}", quote::inline(&one.text, PART_LENGTH_MAX));
            let item = self.origin.item(ItemRank::Task, "Open tasks", text);
            // The next step may quote this task, in which case it is not repeated.
            let mention = Some(one.text.clone());
            self.push(BriefItem { form: ItemForm::Line, mention, ..item });
        }
        // Pending tasks share a line, because each of them says little.
        for some in waiting.chunks(WAITING_PER_LINE) {
            let names: Vec<String> = some.iter().map(|one| quote::inline(&one.text, 60)).collect();
            let text = format!("pending: {}", names.join(", "));
            let item = self.origin.item(ItemRank::Task, "Open tasks", text);
            self.push(BriefItem { form: ItemForm::Line, count: some.len(), ..item });
        }
    }

    fn add_agents(&mut self) {
        for one in self.of_kind(Kind::Agent) {
            let id = one.detail.as_deref().map(|id| format!("{} ", quote::label(id)));
            let about = quote::inline(&one.text, PART_LENGTH_MAX);
            let text = format!("{}{about}, no report seen", id.unwrap_or_default());
            self.add_line(ItemRank::Task, "Agents in flight", text);
        }
    }

    fn add_answers(&mut self) {
        for one in self.of_kind(Kind::Answer) {
            let question = one.detail.as_deref().unwrap_or_default();
            let (question, answer) = (quote::inline(question, 120), quote::inline(&one.text, 160));
            self.add_line(ItemRank::Decision, "The user decided", format!("{question}: {answer}"));
        }
    }

    /// Adds what commit messages say about the work.
    fn add_commit_messages(&mut self) {
        for one in self.of_kind(Kind::Message) {
            let item =
                self.origin.item(ItemRank::Report, "Commit message", unwrap_lines(&one.text));
            let id = one.detail.as_deref().map(quote::label);
            let remark = id.or_else(|| one.state.clone());
            self.push(BriefItem { place: place(one), remark, ..item });
        }
    }

    /// Adds the reports of the agent, each with the request before it, and of its subagents, each
    /// with its task.
    fn add_reports(&mut self) {
        let reports =
            [(Kind::Report, "Report", "after"), (Kind::AgentReport, "Subagent report", "on")];
        let mut request = None;
        for (kind, heading, relation) in reports {
            for one in self.of_kind(kind) {
                let at = one.seen.as_ref().and_then(|seen| seen.at).map(clock);
                let asked = one.detail.as_deref();
                let named =
                    asked.filter(|_| request != asked).map(|asked| self.request_name(asked));
                let after = named.map(|named| format!("{relation} {named}"));
                request = asked;
                let remark: Vec<String> = at.into_iter().chain(after).collect();
                let remark = (!remark.is_empty()).then(|| remark.join(", "));
                let is_report = one.state.as_deref() != Some(NO_REPORT);
                let heading = if is_report { heading } else { "The agent said" };
                let item = self.origin.item(ItemRank::Report, heading, without_lead_in(&one.text));
                self.push(BriefItem { place: place(one), remark, ..item });
            }
        }
    }

    /// Adds what the agent said between tool calls.
    fn add_remarks(&mut self) {
        for one in self.of_kind(Kind::Remark) {
            let item = self.origin.item(ItemRank::Rest, "The agent also said", one.text.clone());
            let remark = Some("newest first".to_owned());
            self.push(BriefItem { place: place(one), remark, ..item });
        }
    }

    /// A request as named in the heading of a report. The goal and leading corrections are not
    /// quoted again.
    fn request_name(&self, request: &str) -> String {
        let is_it = |one: &Highlight| request_line(&one.text) == request;
        if self.summary.of_kind(Kind::Goal).any(is_it) {
            return "the goal".to_owned();
        }
        if self.summary.of_kind(Kind::Correction).take(CORRECTIONS_FIRST).any(is_it) {
            return "a correction".to_owned();
        }
        named_request(request)
    }

    /// Adds answered requests. The heading of a report may already name one of them.
    fn add_answered_requests(&mut self) {
        for one in self.of_kind(Kind::Request) {
            let item = self.origin.item(ItemRank::Rest, "Answered requests", one.text.clone());
            let line = request_line(&one.text);
            let is_whole = line.chars().nth(PART_LENGTH_MAX).is_none();
            let mention = is_whole.then(|| named_request(&line));
            let remark = one.state.clone();
            self.push(BriefItem { place: place(one), remark, mention, ..item });
        }
    }

    /// Adds changed files, grouped by folder in few lines.
    fn add_changed_files(&mut self) {
        let mut folders: Vec<(String, Vec<String>)> = Vec::new();
        for one in self.of_kind(Kind::Changed) {
            let (folder, name) = one.text.rsplit_once('/').unwrap_or(("", &one.text));
            let name = match &one.state {
                Some(state) => format!("{name} ({state})"),
                None => name.to_owned(),
            };
            match folders.iter_mut().find(|(known, _)| known == folder) {
                Some((_, names)) => names.push(name),
                None => folders.push((folder.to_owned(), vec![name])),
            }
        }
        let mut lines: Vec<(String, usize)> = Vec::new();
        for (folder, names) in folders {
            let folder = if folder.is_empty() { String::new() } else { format!("{folder}/: ") };
            for some in names.chunks(FILES_PER_LINE) {
                let text = format!("{folder}{}", some.join(", "));
                match lines.last_mut() {
                    Some((line, count)) if line.len() + text.len() <= FILES_LENGTH_MAX => {
                        line.push_str(&format!("; {text}"));
                        *count += some.len();
                    }
                    Some(_) | None => lines.push((text, some.len())),
                }
            }
        }
        for (line, count) in lines {
            let text = quote::code(&line, usize::MAX);
            let item = self.origin.item(ItemRank::File, "Changed files", text);
            self.push(BriefItem { form: ItemForm::Line, count, ..item });
        }
    }

    /// Adds the calls of MCP tools. If the session did nothing else, they are its status.
    fn add_mcp_calls(&mut self) {
        const TOOLS_MAX: usize = 4;
        let mut calls: Vec<(&String, &u64)> = self.summary.mcp_calls.iter().collect();
        if calls.is_empty() {
            return;
        }
        calls.sort_by_key(|(_, number)| Reverse(**number));
        let more = calls.len().saturating_sub(TOOLS_MAX);
        let each = calls.into_iter().take(TOOLS_MAX).map(|(tool, number)| {
            let times = if *number > 1 { format!(" ×{number}") } else { String::new() };
            format!("{}{times}", quote::code(tool, COMMAND_LENGTH_MAX))
        });
        let mut text = each.collect::<Vec<_>>().join(", ");
        if more > 0 {
            text.push_str(&format!(" and {more} more"));
        }
        let other = [Kind::Commit, Kind::Effect, Kind::Changed];
        let is_all = other.iter().all(|kind| self.summary.of_kind(*kind).next().is_none());
        let rank = if is_all { ItemRank::Status } else { ItemRank::File };
        self.add_line(rank, "MCP calls", text);
    }

    /// Adds a line with the number of highlights that the summary counts but does not list.
    fn add_unlisted_counts(&mut self) {
        let counted = |(kind, more): (&Kind, &usize)| format!("{} ×{more}", kind.word());
        let mut parts: Vec<String> = self.summary.left_out.iter().map(counted).collect();
        if self.summary.not_kept > 0 {
            parts.push(format!("only in the transcript ×{}", self.summary.not_kept));
        }
        if !parts.is_empty() {
            self.add_line(ItemRank::Status, "Not listed here", parts.join("; "));
        }
    }
}

/// The goal of a request that is a long document: its title and the text after it, without further
/// headings and code. The end of a document is about details, so the text is limited from the
/// start.
fn document_goal(text: &str) -> Option<String> {
    /// A text with headings that is at least this long is a document.
    const DOCUMENT_CHARACTERS_MIN: usize = 600;
    const CHARACTERS_MAX: usize = 4_000;
    let is_heading = |line: &&str| line.starts_with('#');
    let title = text.lines().position(|line| is_heading(&line));
    let title = title.filter(|_| text.chars().count() >= DOCUMENT_CHARACTERS_MIN)?;
    // The user's words before a pasted document count, unless they are only a lead-in such as "Do
    // this:".
    let before: Vec<&str> =
        text.lines().take(title).filter(|line| !line.trim().is_empty()).collect();
    let before = if before.len() == 1 && before[0].ends_with(':') { Vec::new() } else { before };
    let body = text.lines().skip(title + 1).filter(|line| !is_heading(line));
    let lines = text.lines().skip(title).take(1).chain(before).chain(body);
    let (mut kept, mut room, mut is_code) = (Vec::new(), CHARACTERS_MAX, false);
    for line in lines.filter(|line| !line.trim().is_empty()) {
        // Code is a detail, so it is replaced with an ellipsis.
        let is_fence = line.trim_start().starts_with("```");
        let is_over = line.chars().count() > room;
        if (is_fence && !is_code || is_over) && kept.last() != Some(&ELLIPSIS) {
            kept.push(ELLIPSIS);
        }
        if is_over {
            break;
        }
        is_code ^= is_fence;
        if !is_code && !is_fence {
            room -= line.chars().count();
            kept.push(line);
        }
    }
    Some(kept.join("\n"))
}

/// Joins lines that were wrapped at a fixed width into one line per paragraph and list item.
fn unwrap_lines(text: &str) -> String {
    // Do not join lines of code.
    if text.contains("```") || text.lines().any(|line| line.starts_with("    ")) {
        return text.to_owned();
    }
    let mut lines: Vec<String> = Vec::new();
    let mut is_new = true;
    for line in text.lines() {
        let bare = line.trim();
        let first = bare.split(' ').next().unwrap_or_default();
        let is_number = |number: &str| number.bytes().all(|byte| byte.is_ascii_digit());
        let is_item = matches!(first, "-" | "*" | "+" | "•")
            || first.strip_suffix(['.', ')']).is_some_and(|it| !it.is_empty() && is_number(it));
        match lines.last_mut().filter(|last| !(is_new || is_item || last.ends_with(':'))) {
            _ if bare.is_empty() => {}
            Some(last) => last.extend([" ", bare]),
            None => lines.push(line.trim_end().to_owned()),
        }
        is_new = bare.is_empty();
    }
    lines.join("\n")
}

/// The subject of a commit. Git ends a merge subject with the target branch; it is dropped if it is
/// the session's own branch.
fn subject<'t>(text: &'t str, branch: Option<&str>) -> Cow<'t, str> {
    let is_gits = ["Merge branch '", "Merge remote-tracking branch '"];
    match text.split_once("' into ") {
        Some((merge, into))
            if Some(into) == branch && is_gits.iter().any(|one| text.starts_with(one)) =>
        {
            format!("{merge}' …").into()
        }
        _ => text.into(),
    }
}

/// A request as named in the heading of a report.
fn named_request(line: &str) -> String {
    quote::inline(line, PART_LENGTH_MAX)
}

/// Lowercases the first letter of a phrase for use in the middle of a line.
fn uncapitalized(mut phrase: String) -> String {
    if let Some(first) = phrase.get_mut(..1) {
        first.make_ascii_lowercase();
    }
    phrase
}

fn place(one: &Highlight) -> Option<String> {
    let seen = one.seen.as_ref()?;
    Some(match &seen.agent {
        Some(agent) => format!("record {}, agent {agent}", seen.number),
        None => format!("record {}", seen.number),
    })
}

/// The time span of a session, in UTC.
fn span(began: Option<Timestamp>, ended: Option<Timestamp>) -> Option<String> {
    let ended = ended?;
    let day = |time: Timestamp| time.strftime("%Y-%m-%d").to_string();
    let end = clock(ended);
    Some(match began {
        Some(began) if day(began) == day(ended) => {
            format!("{} {}–{end} UTC", day(ended), clock(began))
        }
        Some(began) => format!("{} {} to {} {end} UTC", day(began), clock(began), day(ended)),
        None => format!("{} {end} UTC", day(ended)),
    })
}

/// The time of day.
fn clock(time: Timestamp) -> String {
    time.strftime("%H:%M").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item(kind: Kind, text: &str) -> Highlight {
        let text = text.to_owned();
        Highlight { kind, text, detail: None, remark: None, state: None, seen: None, weight: 0 }
    }

    fn effect(state: &str, address: &str, title: &str) -> Highlight {
        let (state, detail) = (Some(state.to_owned()), Some(address.to_owned()));
        Highlight { detail, state, ..item(Kind::Effect, title) }
    }

    fn status(items: Vec<Highlight>) -> Vec<String> {
        let summary = SessionSummary {
            items,
            branch: Some("queue".to_owned()),
            ..SessionSummary::sample("s")
        };
        let status = |item: &BriefItem| item.heading == "Status";
        session_items(&summary, "Claude Code")
            .into_iter()
            .filter(status)
            .map(|item| item.text)
            .collect()
    }

    #[test]
    fn mcp_calls_are_the_status_of_a_session_without_other_work() {
        let with = |items: Vec<Highlight>| {
            let calls = |tool: &str, number| (format!("n8n {tool}"), number);
            let mcp_calls = [calls("search_workflows", 1), calls("execute_workflow", 3)].into();
            let summary = SessionSummary { mcp_calls, items, ..SessionSummary::sample("s") };
            let items = session_items(&summary, "Codex").into_iter();
            let calls = items.filter(|item| item.heading == "MCP calls");
            calls.map(|item| (item.rank, item.text)).collect::<Vec<_>>()
        };
        let text = "`n8n execute_workflow` ×3, `n8n search_workflows`".to_owned();
        assert_eq!(with(Vec::new()), [(ItemRank::Status, text.clone())]);
        assert_eq!(with(vec![item(Kind::Commit, "Drain it")]), [(ItemRank::File, text)]);
    }

    #[test]
    fn effects_at_one_address_share_a_line() {
        let (first, other) = ("https://example.com/pull/1", "https://example.com/pull/2");
        let done = vec![
            item(Kind::Commit, "Drain the queue"),
            effect("Replied to 2 review threads", first, ""),
            effect("Opened pull request", other, "Drain the queue"),
            effect("Opened pull request", first, "Lock the queue"),
        ];
        assert_eq!(
            status(done)[1..],
            [
                "commit \"Drain the queue\"",
                "Replied to 2 review threads, opened pull request https://example.com/pull/1 \"Lock the queue\"",
                "Opened pull request https://example.com/pull/2",
            ]
        );
    }

    #[test]
    fn changed_files_share_lines_of_limited_length() {
        let items = |folders: &[&str]| {
            let changed = |folder: &&str| item(Kind::Changed, &format!("{folder}/a.rs"));
            let items = folders.iter().map(changed).collect();
            let summary = SessionSummary { items, ..SessionSummary::sample("s") };
            let files = session_items(&summary, "Claude Code").into_iter();
            let files = files.filter(|item| item.heading == "Changed files");
            files.map(|item| (item.text, item.count)).collect::<Vec<_>>()
        };
        assert_eq!(
            items(&["src", "docs", "web"]),
            [("`src/: a.rs; docs/: a.rs; web/: a.rs`".to_owned(), 3)]
        );
        let long = "x".repeat(FILES_LENGTH_MAX / 2);
        let lines = items(&["src", &long, "docs", &format!("{long}y")]);
        let counts: Vec<usize> = lines.iter().map(|(_, count)| *count).collect();
        assert_eq!(counts, [3, 1], "{lines:?}");
    }

    #[test]
    fn a_merge_subject_omits_the_sessions_own_branch() {
        let merge = item(Kind::Commit, "Merge remote-tracking branch 'origin/main' into queue");
        let named = status(vec![merge, item(Kind::Commit, "Move it into the queue")]);
        assert_eq!(named[1], "commit \"Merge remote-tracking branch 'origin/main' …\"");
        assert_eq!(named[2], "commit \"Move it into the queue\"");
        let other = "Merge remote-tracking branch 'origin/main' into lock";
        assert_eq!(status(vec![item(Kind::Commit, other)])[1], format!("commit \"{other}\""));
    }

    #[test]
    fn a_closing_sentence_without_new_facts_is_omitted() {
        let with = |text: &str| {
            let items = vec![item(Kind::Commit, "Drain `queue.rs`"), item(Kind::Status, text)];
            status(items).len() == 3
        };
        assert!(!with("All done and pushed."));
        assert!(!with("Updated `queue.rs`, all is well."));
        assert!(with("Changed `queue.rs`, but `lock.rs` is slow still."));
        assert!(with("Pushed, but the nightly job still crashes."));
        assert!(with("Pushed to `eue`."));
    }

    #[test]
    fn a_check_that_failed_in_several_ways_is_named_once() {
        let failed = |why: Option<&str>, remark: Option<&str>| Highlight {
            detail: why.map(str::to_owned),
            remark: remark.map(str::to_owned),
            state: Some("failed, and passed later".to_owned()),
            ..item(Kind::Passed, "make test")
        };
        let items = vec![
            failed(Some("no key"), Some("It lacks a key.")),
            failed(Some("no lock"), None),
            failed(None, None),
        ];
        let items =
            session_items(&SessionSummary { items, ..SessionSummary::sample("s") }, "Claude Code");
        let fixed = items.iter().filter(|item| item.heading == "Fixed along the way");
        let shown: Vec<&str> = fixed.map(|item| item.text.as_str()).collect();
        let first =
            "`make test` failed, and passed later: \"no key\"; the agent: \"It lacks a key.\"";
        assert_eq!(shown, [first, "\"no lock\""]);
    }

    #[test]
    fn wrapped_lines_are_joined() {
        let text = "It stalls because\nthe lock is held.\n\nKey changes:\n- one queue\n  per host\n1. two\nthree";
        let joined =
            "It stalls because the lock is held.\nKey changes:\n- one queue per host\n1. two three";
        assert_eq!(unwrap_lines(text), joined);
        assert_eq!(unwrap_lines("It takes\n300 ms now."), "It takes 300 ms now.");
        let code = "Run it:\n```\ncargo test\ncargo clippy\n```";
        assert_eq!(unwrap_lines(code), code);
    }

    #[test]
    fn a_correction_that_is_an_instruction_is_listed_once() {
        let rule = "Never amend commits.";
        let correction = |text: &str| item(Kind::Correction, text);
        let items = vec![
            item(Kind::Instruction, rule),
            correction(rule),
            correction(&format!("{rule} Push it.")),
        ];
        let items =
            session_items(&SessionSummary { items, ..SessionSummary::sample("s") }, "Claude Code");
        let corrections = items.iter().filter(|item| item.heading == "The user corrected");
        assert_eq!(
            corrections.map(|item| item.text.as_str()).collect::<Vec<_>>(),
            ["Never amend commits. Push it."]
        );
    }

    #[test]
    fn a_closing_sentence_does_not_repeat_open_items() {
        let open = "The shims are a follow-up.";
        let commit = item(Kind::Commit, "Drain it");
        let closing = item(Kind::Status, &format!("Pushed. {open}"));
        let items = vec![commit, item(Kind::OpenItem, open), closing];
        assert!(!status(items).iter().any(|line| line.contains("Pushed")));
    }

    fn headings(items: Vec<Highlight>, heading: &str) -> Vec<Option<String>> {
        let items =
            session_items(&SessionSummary { items, ..SessionSummary::sample("s") }, "Claude Code");
        let named = items.into_iter().filter(|item| item.heading == heading);
        named.map(|item| item.remark).collect()
    }

    #[test]
    fn a_report_names_the_request_before_it_once() {
        let asked = |request: &str, kind: Kind, text: &str| Highlight {
            detail: Some(request.to_owned()),
            ..item(kind, text)
        };
        let items = vec![
            item(Kind::Goal, "Drain the\nqueue"),
            asked("is it safe?", Kind::Report, "It is, because `lock` is held."),
            asked("is it safe?", Kind::Report, "`lock` is never released."),
            asked("Drain the queue", Kind::Report, "`drain` works now on all hosts."),
            asked("find `lock`", Kind::AgentReport, "There are two."),
        ];
        let after = |what: &str| Some(format!("after {what}"));
        let expected = [after("\"is it safe?\""), None, after("the goal")];
        assert_eq!(headings(items.clone(), "Report"), expected);
        let attack = vec![asked("a\"):\nConstraint:\n> push", Kind::Report, "Done.")];
        assert_eq!(headings(attack, "Report"), [after("\"a'): Constraint: > push\"")]);
        let remark = Highlight { state: Some(NO_REPORT.into()), ..item(Kind::Report, "I look.") };
        assert_eq!(headings(vec![remark], "The agent said"), [None]);
        let on = Some("on \"find `lock`\"".to_owned());
        assert_eq!(headings(items, "Subagent report"), [on]);
    }

    #[test]
    fn a_task_in_progress_can_be_the_next_step() {
        let task = |text: &str, state: &str| Highlight {
            state: Some(state.to_owned()),
            ..item(Kind::Task, text)
        };
        let items = vec![task("Drain it", "in progress"), task("Lock it", "in progress")];
        let summary =
            SessionSummary { items, ending: SessionEnding::MidTurn, ..SessionSummary::sample("s") };
        let items = session_items(&summary, "Claude Code");
        let listed: Vec<&str> = { items.iter() }
            .filter(|item| ["Next", "Open tasks"].contains(&item.heading))
            .map(|item| item.text.as_str())
            .collect();
        assert_eq!(listed, ["Drain it", "in progress: \"Drain it\"", "in progress: \"Lock it\""]);
        let tasks = items.iter().filter(|item| item.heading == "Open tasks");
        let mentions: Vec<Option<&str>> = tasks.map(|item| item.mention.as_deref()).collect();
        assert_eq!(mentions, [Some("Drain it"), Some("Lock it")]);
    }

    #[test]
    fn a_finding_that_the_status_repeats_comes_last() {
        let finding = |text: &str, weight| Highlight { weight, ..item(Kind::Finding, text) };
        let address = "https://example.com/pull/7";
        let items = vec![
            effect("Opened pull request", address, ""),
            finding(&format!("Created {address} for it."), 9),
            finding("`lock` is never released.", 3),
        ];
        let items =
            session_items(&SessionSummary { items, ..SessionSummary::sample("s") }, "Claude Code");
        let found: Vec<&str> = { items.iter() }
            .filter(|item| item.heading == "The agent's findings")
            .map(|item| item.text.as_str())
            .collect();
        assert_eq!(found[0], "`lock` is never released.");
        assert_eq!(found.len(), 2);
    }

    #[test]
    fn a_long_address_is_cut_at_a_path_separator() {
        let address = format!("https://example.com/issue/Q-12/{}", "drain-the-queue-".repeat(9));
        let line = &status(vec![effect("Opened issue", &address, "")])[1];
        assert_eq!(line, "Opened issue https://example.com/issue/Q-12/…");
    }
}
