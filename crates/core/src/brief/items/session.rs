//! What is worth telling of a session that went before, or of this one before its context was
//! replaced.

use super::ItemSource;
use crate::brief::unsettled::UnsettledItem;
use crate::brief::{BriefItem, Headline, ItemForm, ItemRank, excerpt, quote};
use crate::session::checkpoint::{
    BEFORE_EDITS, FROM_SUMMARY, Highlight, HighlightKind as Kind, NO_EDITS_SINCE, NO_REPORT,
    SessionEnding, SessionSummary, request_line,
};
use crate::session::report::{ELLIPSIS, has_word, identifiers, only_says_done, without_lead_in};
use crate::session::{Client, short_id};
use jiff::Timestamp;
use std::borrow::Cow;

/// Corrections that lead the page.
const CORRECTIONS_FIRST: usize = 3;
/// Statements of one kind that come before the reports they are from.
const STATEMENTS_FIRST: usize = 8;
/// Things that earlier sessions left open that are told one by one.
const UNSETTLED_MAX: usize = 32;
/// File names in one line.
const FILES_PER_LINE: usize = 10;
/// Folders with few files share a line up to here.
const FILES_LENGTH_MAX: usize = 120;
/// Tasks that nobody started in one line.
const WAITING_PER_LINE: usize = 4;
/// A command among others in a line of ours.
const COMMAND_LENGTH_MAX: usize = 64;
/// A subject, a title or a command in a line of ours.
const PART_LENGTH_MAX: usize = 110;

/// What someone who continues has to know of a session: everything that its gist names.
pub fn session_items(gist: &SessionSummary) -> Vec<BriefItem> {
    SessionItemBuilder::new(gist).collect()
}

/// What earlier sessions left open, each with the handle that dismisses it.
pub fn unsettled_items(carried: &[UnsettledItem], more: usize) -> Vec<BriefItem> {
    let line = |origin: &ItemSource, text: String| BriefItem {
        form: ItemForm::Line,
        is_page_subject: true,
        ..origin.item(ItemRank::Task, "Open from earlier sessions", text)
    };
    let mut points: Vec<BriefItem> = Vec::new();
    let origin = ItemSource::new("earlier sessions".to_owned(), &["midstride", "session", "list"]);
    let more = more + carried.len().saturating_sub(UNSETTLED_MAX);
    for one in carried.iter().take(UNSETTLED_MAX) {
        let what = one.item.kind.word();
        let day = one.ended.map(|ended| format!(", {}", ended.strftime("%Y-%m-%d")));
        let text = quote::inline(&one.item.text, PART_LENGTH_MAX);
        let (handle, session) = (&one.handle, short_id(&one.session));
        let why = one.item.detail.as_deref().filter(|_| one.item.kind == Kind::Failed);
        let why = why.map(|why| format!(": {}", quote::inline(why, PART_LENGTH_MAX)));
        let (why, day) = (why.unwrap_or_default(), day.unwrap_or_default());
        let text = format!("{handle} {what} {text}{why} ({session}{day})");
        points.push(line(&origin, text));
    }
    if more > 0 {
        let text = format!("{more} older; midstride dismiss lists them");
        points.push(BriefItem { count: more, unbriefed: more, ..line(&origin, text) });
    }
    points
}

/// What sessions before the one on the page did outside, which is not to be done twice, and what they
/// reported last.
pub fn earlier_session_items<'g>(
    sessions: impl IntoIterator<Item = &'g SessionSummary>,
) -> Vec<BriefItem> {
    let mut points = Vec::new();
    for gist in sessions {
        let session = SessionItemBuilder::new(gist);
        let short = short_id(&gist.session);
        for (text, count) in session.effect_lines() {
            let text = format!("{text} ({short})");
            let point =
                session.origin.item(ItemRank::Task, "Done outside by earlier sessions", text);
            points.push(BriefItem { form: ItemForm::Line, is_page_subject: true, count, ..point });
        }
        if let Some(report) = gist.of_kind(Kind::Report).next() {
            let text = without_lead_in(&report.text);
            let point = session.origin.item(ItemRank::Rest, "Report of an earlier session", text);
            let at = gist.ended.map(|ended| format!(", {}", ended.strftime("%Y-%m-%d %H:%M")));
            let remark = Some(format!("{short}{}", at.unwrap_or_default()));
            points.push(BriefItem { place: place(report), remark, is_page_subject: true, ..point });
        }
    }
    points
}

/// What the user is told of a session in one line.
pub fn headline(gist: &SessionSummary) -> Headline {
    let count = |kind: Kind| gist.of_kind(kind).count();
    let mut state = vec![ending_word(gist.ending).to_owned()];
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
    state.extend(gist.of_kind(Kind::Effect).filter_map(pull_request).take(1));
    let title = gist.of_kind(Kind::Goal).next().and_then(|goal| first_line(&goal.text));
    Headline { name: short_id(&gist.session).to_owned(), title, state }
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

/// `PR #201`, from the address of a pull request.
fn pull_request(effect: &Highlight) -> Option<String> {
    let (_, rest) = effect.detail.as_deref()?.split_once("/pull/")?;
    let number: String = rest.chars().take_while(char::is_ascii_digit).collect();
    (!number.is_empty()).then(|| format!("PR #{number}"))
}

/// The first line of a text that says something, without Markdown marks before it.
fn first_line(text: &str) -> Option<String> {
    let lines = text.lines().map(|line| line.trim_start_matches(['#', '*', '-', '>', ' ']).trim());
    let mut lines = lines.filter(|line| !line.is_empty());
    lines.find(|line| !line.ends_with(':')).map(str::to_owned)
}

pub(super) fn client_name(client: Client) -> &'static str {
    match client {
        Client::ClaudeCode => "Claude Code",
        Client::Codex => "Codex",
    }
}

/// Makes the points of one session.
struct SessionItemBuilder<'g> {
    summary: &'g SessionSummary,
    origin: ItemSource,
    items: Vec<BriefItem>,
}

impl<'g> SessionItemBuilder<'g> {
    fn new(summary: &'g SessionSummary) -> Self {
        let short = short_id(&summary.session);
        let show = ["midstride", "session", "show", short];
        let origin = ItemSource::new(format!("session {short}"), &show);
        Self { summary, origin, items: Vec::with_capacity(summary.items.len() + 4) }
    }

    fn collect(mut self) -> Vec<BriefItem> {
        self.add_source();
        self.add_quotes(Kind::Instruction, ItemRank::Instruction, "The user's instruction");
        self.add_goal();
        self.add_status();
        self.add_next_step();
        self.add_quotes(
            Kind::Queued,
            ItemRank::NextAction,
            "The user typed, and the session did not get to",
        );
        self.add_corrections();
        self.add_statements(Kind::DeadEnd, ItemRank::WrongTurn, "Tried and given up");
        self.add_paths(Kind::Reverted, ItemRank::WrongTurn, "A change was taken back");
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
        self.add_changed_files();
        self.add_answered_requests();
        self.add_quotes(Kind::TakenBack, ItemRank::Rest, "The user went back before this");
        self.add_unlisted_counts();
        self.items
    }

    fn of_kind(&self, kind: Kind) -> Vec<&'g Highlight> {
        self.summary.of_kind(kind).collect()
    }

    fn push(&mut self, point: BriefItem) {
        self.items.push(BriefItem { is_page_subject: true, ..point });
    }

    fn add_line(&mut self, rank: ItemRank, what: &'static str, text: String) {
        let point = BriefItem { form: ItemForm::Line, ..self.origin.item(rank, what, text) };
        self.push(point);
    }

    fn add_quote(&mut self, rank: ItemRank, what: &'static str, one: &Highlight) {
        let point = self.origin.item(rank, what, one.text.clone());
        let remark = one.state.clone();
        self.push(BriefItem { place: place(one), remark, ..point });
    }

    /// The words of the agent.
    fn add_agent_quote(&mut self, rank: ItemRank, what: &'static str, one: &Highlight) {
        let point = self.origin.item(rank, what, one.text.clone());
        self.push(BriefItem { place: place(one), remark: Some("the agent".to_owned()), ..point });
    }

    /// Each as a quote of its own.
    fn add_quotes(&mut self, kind: Kind, rank: ItemRank, what: &'static str) {
        for one in self.of_kind(kind) {
            self.add_quote(rank, what, one);
        }
    }

    /// Statements of the agent. The best come early; the others are in its reports.
    fn add_statements(&mut self, kind: Kind, rank: ItemRank, what: &'static str) {
        for (at, one) in self.of_kind(kind).into_iter().enumerate() {
            let rank = if at < STATEMENTS_FIRST { rank } else { ItemRank::Rest };
            self.add_agent_quote(rank, what, one);
        }
    }

    /// What the newest summary says: all there is where nothing came after it.
    fn add_summary(&mut self) {
        for one in self.of_kind(Kind::Summary) {
            let rank = if one.weight > 0 { ItemRank::Decision } else { ItemRank::Rest };
            let point = self.origin.item(rank, "From the summary", one.text.clone());
            self.push(BriefItem { place: place(one), ..point });
        }
    }

    /// What the agent found out and decided, the most telling first.
    fn add_findings(&mut self) {
        let mut found = self.of_kind(Kind::Finding);
        found.extend(self.of_kind(Kind::Decision));
        // "Created pull request #12" says nothing once the status names it.
        let is_said =
            |one: &Highlight| !identifiers(&one.text).is_empty() && self.names_all_of(&one.text);
        found.sort_by_key(|one| (is_said(one), std::cmp::Reverse(one.weight)));
        // One heading for all of them: two would cost a finding.
        let is_old = |one: &&Highlight| one.state.as_deref() == Some(BEFORE_EDITS);
        let remark = found.iter().any(is_old).then(|| "at the time".to_owned());
        for (at, one) in found.into_iter().enumerate() {
            let rank = if at < STATEMENTS_FIRST { ItemRank::Decision } else { ItemRank::File };
            let point = self.origin.item(rank, "The agent's findings", one.text.clone());
            self.push(BriefItem { place: place(one), remark: remark.clone(), ..point });
        }
    }

    /// Paths, each in a line.
    fn add_paths(&mut self, kind: Kind, rank: ItemRank, what: &'static str) {
        for one in self.of_kind(kind) {
            let state = one.state.as_ref().map(|state| format!(", {state}"));
            let text = quote::code(&one.text, usize::MAX);
            self.add_line(rank, what, format!("{text}{}", state.unwrap_or_default()));
        }
    }

    /// Which session this is, when it was and how it ended.
    fn add_source(&mut self) {
        let gist = self.summary;
        let mut parts = vec![format!("{} {}", client_name(gist.client), short_id(&gist.session))];
        parts.extend(span(gist.began, gist.ended));
        let running = self.of_kind(Kind::Running);
        let running = running.first().map(|one| quote::code(&one.text, PART_LENGTH_MAX));
        let ending = match (gist.ending, running) {
            (SessionEnding::Asked, _) => "ended with a question to the user".to_owned(),
            (SessionEnding::MidTurn, Some(running)) => {
                format!("stopped in the middle of a turn while {running} was running")
            }
            (SessionEnding::MidTurn, None) => "stopped in the middle of a turn".to_owned(),
            (SessionEnding::Interrupted, _) => "the user interrupted the last turn".to_owned(),
            (SessionEnding::Failed, _) => "stopped mid-turn by an API error".to_owned(),
            // Of one that completed, the status says that no request is open.
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
            let point = self.origin.item(ItemRank::Goal, "Goal", text);
            let remark = Some(match one.state.as_deref() {
                Some(FROM_SUMMARY) => FROM_SUMMARY.to_owned(),
                Some(state) => format!("the user, {state}"),
                None => "the user".to_owned(),
            });
            self.push(BriefItem { place: place(one), remark, is_beginning, ..point });
        }
    }

    /// The state in one line, then commits, effects and checks in a line each.
    fn add_status(&mut self) {
        let state = self.state_line();
        if !state.is_empty() {
            self.add_line(ItemRank::Status, "Status", state);
        }
        // Where it is the same for all commits, the first line says it.
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

    /// Whether the agent only says at the end that all is done, and names nothing that the lines of the
    /// status do not: "All done, pushed." They are proven, and its report has the rest.
    fn is_redundant_status(&self, said: &Highlight) -> bool {
        // What it says is open is listed as such.
        let open = self.summary.of_kind(Kind::OpenItem);
        let rest = open.fold(said.text.clone(), |text, one| text.replace(&one.text, ""));
        matches!(self.summary.ending, SessionEnding::Completed | SessionEnding::Unknown)
            && self.status_lines().count() > 1
            && only_says_done(&rest)
            && self.names_all_of(&rest)
    }

    /// The lines about where the work is.
    fn status_lines(&self) -> impl Iterator<Item = &str> {
        let lines = self.items.iter().filter(|point| point.rank == ItemRank::Status);
        lines.filter(|point| point.form == ItemForm::Line).map(|point| point.text.as_str())
    }

    /// Whether these lines have each name in a text.
    fn names_all_of(&self, text: &str) -> bool {
        let is_named = |name: &str| self.status_lines().any(|line| has_word(line, name));
        identifiers(text).into_iter().all(is_named)
    }

    fn add_effects(&mut self) {
        for (text, count) in self.effect_lines() {
            let point = self.origin.item(ItemRank::Status, "Status", text);
            self.push(BriefItem { form: ItemForm::Line, count, ..point });
        }
    }

    /// What was done outside, each line with how many things it names. What was done at one address shares
    /// a line, and a title whose words are in the subject of a commit was just said.
    fn effect_lines(&self) -> Vec<(String, usize)> {
        let words = |text: &str| {
            let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
            words.map(str::to_lowercase).collect::<Vec<String>>()
        };
        let subjects: Vec<Vec<String>> =
            self.summary.of_kind(Kind::Commit).map(|one| words(&one.text)).collect();
        // Its words in their order, perhaps with others between them.
        let is_said = |title: &str| {
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
            let title = Some(one.text.as_str()).filter(|text| !text.is_empty() && !is_said(text));
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

    /// Checks that passed; those with the same edits since share a line.
    fn add_checks(&mut self) {
        let checks = self.of_kind(Kind::Check);
        for some in checks.chunk_by(|one, next| one.state == next.state) {
            let each = some.iter().map(|one| {
                // Where nothing was edited since, it does not matter when it passed.
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

    /// One labeled next step, or none where the last request was answered.
    fn add_next_step(&mut self) {
        let first = |kind: Kind| self.of_kind(kind).first().copied();
        let question =
            || first(Kind::Question).map(|one| (one, "the agent's question, unanswered"));
        let plan = || first(Kind::StatedPlan).map(|one| (one, "the agent's plan"));
        let task = || self.task_in_progress().map(|one| (one, "the task in progress"));
        let request =
            || first(Kind::OpenRequest).map(|one| (one, "the user's request, unfinished"));
        let found = match self.summary.ending {
            SessionEnding::Asked => question(),
            SessionEnding::MidTurn | SessionEnding::Interrupted | SessionEnding::Failed => {
                plan().or_else(task).or_else(request)
            }
            SessionEnding::Unknown | SessionEnding::Nothing | SessionEnding::Completed => None,
        };
        if let Some((one, whose)) = found {
            let at =
                one.seen.as_ref().and_then(|seen| seen.at).map(|at| format!(", {}", clock(at)));
            if one.kind == Kind::OpenRequest && self.is_goal(one) {
                return self.add_line(
                    ItemRank::NextAction,
                    "Next",
                    "finish the request above".to_owned(),
                );
            }
            // What came after a plan may have been what it says.
            let state = one.state.as_deref().filter(|_| one.kind == Kind::StatedPlan);
            let state = state.map(|state| format!(", {state}")).unwrap_or_default();
            let remark = Some(format!("{whose}{}{state}", at.unwrap_or_default()));
            let point = self.origin.item(ItemRank::NextAction, "Next", one.text.clone());
            self.push(BriefItem { place: place(one), remark, ..point });
        }
    }

    /// Whether a request is the goal, which the page has just quoted.
    fn is_goal(&self, request: &Highlight) -> bool {
        self.summary.of_kind(Kind::Goal).any(|goal| goal.text == request.text)
    }

    fn task_in_progress(&self) -> Option<&'g Highlight> {
        self.summary.of_kind(Kind::Task).find(|one| one.state.as_deref() == Some("in progress"))
    }

    /// What the user corrected. The newest lead; what older ones asked for shows in what was done.
    fn add_corrections(&mut self) {
        // An instruction leads the page already.
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

    /// Failures that were fixed. A check that failed in several ways is named once.
    fn add_fixed_failures(&mut self) {
        let mut named = None;
        for one in self.of_kind(Kind::Passed) {
            let said = one.remark.as_deref();
            let parts = [
                one.detail.as_deref().map(|why| quote::inline(why, 120)),
                said.map(|said| format!("the agent: {}", quote::inline(said, 160))),
            ];
            let told = parts.into_iter().flatten().collect::<Vec<_>>().join("; ");
            let is_named = named.replace(&one.text) == Some(&one.text);
            let command = quote::code(&one.text, COMMAND_LENGTH_MAX);
            let state = one.state.as_deref().unwrap_or_default();
            let text = match (is_named, told.is_empty()) {
                (true, true) => continue,
                (true, false) => told,
                (false, true) => format!("{command} {state}"),
                (false, false) => format!("{command} {state}: {told}"),
            };
            self.add_line(ItemRank::File, "Fixed on the way", text);
        }
    }

    fn add_tasks(&mut self) {
        let tasks = self.of_kind(Kind::Task);
        let (started, waiting): (Vec<&Highlight>, Vec<&Highlight>) =
            tasks.into_iter().partition(|one| one.state.as_deref() != Some("pending"));
        for one in started {
            let state = one.state.as_deref().unwrap_or("open");
            let text = format!("{state}: {}", quote::inline(&one.text, PART_LENGTH_MAX));
            let point = self.origin.item(ItemRank::Task, "Open tasks", text);
            // The next step may be one of them.
            let mention = Some(one.text.clone());
            self.push(BriefItem { form: ItemForm::Line, mention, ..point });
        }
        // Tasks that nobody started share a line: one that is far off says little.
        for some in waiting.chunks(WAITING_PER_LINE) {
            let names: Vec<String> = some.iter().map(|one| quote::inline(&one.text, 60)).collect();
            let text = format!("pending: {}", names.join(", "));
            let point = self.origin.item(ItemRank::Task, "Open tasks", text);
            self.push(BriefItem { form: ItemForm::Line, count: some.len(), ..point });
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

    /// What commit messages say about the work.
    fn add_commit_messages(&mut self) {
        for one in self.of_kind(Kind::Message) {
            let point =
                self.origin.item(ItemRank::Report, "Commit message", unwrap_lines(&one.text));
            let id = one.detail.as_deref().map(quote::label);
            let remark = id.or_else(|| one.state.clone());
            self.push(BriefItem { place: place(one), remark, ..point });
        }
    }

    /// What the agent reported, each with the request before it, and its subagents, each with its task.
    fn add_reports(&mut self) {
        let reports =
            [(Kind::Report, "Report", "after"), (Kind::AgentReport, "Report of a subagent", "on")];
        let mut request = None;
        for (kind, what, relation) in reports {
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
                let what = if is_report { what } else { "The agent said" };
                let point = self.origin.item(ItemRank::Report, what, without_lead_in(&one.text));
                self.push(BriefItem { place: place(one), remark, ..point });
            }
        }
    }

    /// What the agent said between calls.
    fn add_remarks(&mut self) {
        for one in self.of_kind(Kind::Remark) {
            let point = self.origin.item(ItemRank::Rest, "The agent also said", one.text.clone());
            let remark = Some("newest first".to_owned());
            self.push(BriefItem { place: place(one), remark, ..point });
        }
    }

    /// A request as the heading of a report names it; what leads the page is not quoted again.
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

    /// Requests that were answered. A report may name the one before it.
    fn add_answered_requests(&mut self) {
        for one in self.of_kind(Kind::Request) {
            let point = self.origin.item(ItemRank::Rest, "Answered requests", one.text.clone());
            let line = request_line(&one.text);
            let is_whole = line.chars().nth(PART_LENGTH_MAX).is_none();
            let mention = is_whole.then(|| named_request(&line));
            let remark = one.state.clone();
            self.push(BriefItem { place: place(one), remark, mention, ..point });
        }
    }

    /// Files by folder, in few lines.
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
            let point = self.origin.item(ItemRank::File, "Changed files", text);
            self.push(BriefItem { form: ItemForm::Line, count, ..point });
        }
    }

    /// What the gist counts and does not name.
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

/// What a request asks for that is a document: its beginning from its title on, without the headings
/// below it. Its end is about details.
fn document_goal(text: &str) -> Option<String> {
    /// A longer text with headings is a document.
    const DOCUMENT_CHARACTERS_MIN: usize = 600;
    const CHARACTERS_MAX: usize = 4_000;
    let is_heading = |line: &&str| line.starts_with('#');
    let title = text.lines().position(|line| is_heading(&line));
    let title = title.filter(|_| text.chars().count() >= DOCUMENT_CHARACTERS_MIN)?;
    // What the user says before a pasted document counts, unless it only hands it over.
    let before: Vec<&str> =
        text.lines().take(title).filter(|line| !line.trim().is_empty()).collect();
    let before = if before.len() == 1 && before[0].ends_with(':') { Vec::new() } else { before };
    let body = text.lines().skip(title + 1).filter(|line| !is_heading(line));
    let lines = text.lines().skip(title).take(1).chain(before).chain(body);
    let (mut kept, mut room, mut is_code) = (Vec::new(), CHARACTERS_MAX, false);
    for line in lines.filter(|line| !line.trim().is_empty()) {
        // Code is a detail too.
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

/// A text whose lines were broken at a width, with a line per paragraph and list item.
fn unwrap_lines(text: &str) -> String {
    // Lines of code are no paragraph.
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

/// The subject of a commit. A merge subject that git wrote ends with the branch; this leaves it out if it
/// is the branch of the session.
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

/// A request as the heading of a report names it.
fn named_request(line: &str) -> String {
    quote::inline(line, PART_LENGTH_MAX)
}

/// A phrase of ours in the middle of a line.
fn uncapitalized(mut phrase: String) -> String {
    if let Some(first) = phrase.get_mut(..1) {
        first.make_ascii_lowercase();
    }
    phrase
}

fn place(one: &Highlight) -> Option<String> {
    let seen = one.seen.as_ref()?;
    Some(match &seen.agent {
        Some(agent) => format!("record {} of agent {agent}", seen.number),
        None => format!("record {}", seen.number),
    })
}

/// From when to when, in one time zone that reads the same everywhere.
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

/// A time of day.
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
        let gist = SessionSummary {
            items,
            branch: Some("queue".to_owned()),
            ..SessionSummary::sample("s")
        };
        let status = |point: &BriefItem| point.heading == "Status";
        session_items(&gist).into_iter().filter(status).map(|point| point.text).collect()
    }

    #[test]
    fn what_was_done_at_one_address_shares_a_line() {
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
    fn a_merge_is_named_without_the_branch_that_it_went_into() {
        let merge = item(Kind::Commit, "Merge remote-tracking branch 'origin/main' into queue");
        let named = status(vec![merge, item(Kind::Commit, "Move it into the queue")]);
        assert_eq!(named[1], "commit \"Merge remote-tracking branch 'origin/main' …\"");
        assert_eq!(named[2], "commit \"Move it into the queue\"");
        let other = "Merge remote-tracking branch 'origin/main' into lock";
        assert_eq!(status(vec![item(Kind::Commit, other)])[1], format!("commit \"{other}\""));
    }

    #[test]
    fn a_closing_sentence_that_says_no_more_than_the_status_is_left_out() {
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
        let points = session_items(&SessionSummary { items, ..SessionSummary::sample("s") });
        let fixed = points.iter().filter(|point| point.heading == "Fixed on the way");
        let shown: Vec<&str> = fixed.map(|point| point.text.as_str()).collect();
        let first =
            "`make test` failed, and passed later: \"no key\"; the agent: \"It lacks a key.\"";
        assert_eq!(shown, [first, "\"no lock\""]);
    }

    #[test]
    fn lines_broken_at_a_width_are_joined() {
        let text = "It stalls because\nthe lock is held.\n\nKey changes:\n- one queue\n  per host\n1. two\nthree";
        let joined =
            "It stalls because the lock is held.\nKey changes:\n- one queue per host\n1. two three";
        assert_eq!(unwrap_lines(text), joined);
        assert_eq!(unwrap_lines("It takes\n300 ms now."), "It takes 300 ms now.");
        let code = "Run it:\n```\ncargo test\ncargo clippy\n```";
        assert_eq!(unwrap_lines(code), code);
    }

    #[test]
    fn a_correction_that_is_an_instruction_is_told_once() {
        let rule = "Never amend commits.";
        let said = |text: &str| item(Kind::Correction, text);
        let items =
            vec![item(Kind::Instruction, rule), said(rule), said(&format!("{rule} Push it."))];
        let points = session_items(&SessionSummary { items, ..SessionSummary::sample("s") });
        let told = points.iter().filter(|point| point.heading == "The user corrected");
        assert_eq!(
            told.map(|point| point.text.as_str()).collect::<Vec<_>>(),
            ["Never amend commits. Push it."]
        );
    }

    #[test]
    fn a_closing_sentence_and_what_it_says_is_open_are_not_told_twice() {
        let open = "The shims are a follow-up.";
        let commit = item(Kind::Commit, "Drain it");
        let closing = item(Kind::Status, &format!("Pushed. {open}"));
        let items = vec![commit, item(Kind::OpenItem, open), closing];
        assert!(!status(items).iter().any(|line| line.contains("Pushed")));
    }

    fn headings(items: Vec<Highlight>, what: &str) -> Vec<Option<String>> {
        let points = session_items(&SessionSummary { items, ..SessionSummary::sample("s") });
        let named = points.into_iter().filter(|point| point.heading == what);
        named.map(|point| point.remark).collect()
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
        assert_eq!(headings(items, "Report of a subagent"), [on]);
    }

    #[test]
    fn a_task_may_be_the_next_step() {
        let task = |text: &str, state: &str| Highlight {
            state: Some(state.to_owned()),
            ..item(Kind::Task, text)
        };
        let items = vec![task("Drain it", "in progress"), task("Lock it", "in progress")];
        let gist =
            SessionSummary { items, ending: SessionEnding::MidTurn, ..SessionSummary::sample("s") };
        let points = session_items(&gist);
        let listed: Vec<&str> = { points.iter() }
            .filter(|point| ["Next", "Open tasks"].contains(&point.heading))
            .map(|point| point.text.as_str())
            .collect();
        assert_eq!(listed, ["Drain it", "in progress: \"Drain it\"", "in progress: \"Lock it\""]);
        let tasks = points.iter().filter(|point| point.heading == "Open tasks");
        let mentions: Vec<Option<&str>> = tasks.map(|point| point.mention.as_deref()).collect();
        assert_eq!(mentions, [Some("Drain it"), Some("Lock it")]);
    }

    #[test]
    fn a_finding_that_the_status_has_comes_last() {
        let finding = |text: &str, weight| Highlight { weight, ..item(Kind::Finding, text) };
        let address = "https://example.com/pull/7";
        let items = vec![
            effect("Opened pull request", address, ""),
            finding(&format!("Created {address} for it."), 9),
            finding("`lock` is never released.", 3),
        ];
        let points = session_items(&SessionSummary { items, ..SessionSummary::sample("s") });
        let found: Vec<&str> = { points.iter() }
            .filter(|point| point.heading == "The agent's findings")
            .map(|point| point.text.as_str())
            .collect();
        assert_eq!(found[0], "`lock` is never released.");
        assert_eq!(found.len(), 2);
    }

    #[test]
    fn a_long_address_ends_behind_a_part_of_its_path() {
        let address = format!("https://example.com/issue/Q-12/{}", "drain-the-queue-".repeat(9));
        let line = &status(vec![effect("Opened issue", &address, "")])[1];
        assert_eq!(line, "Opened issue https://example.com/issue/Q-12/…");
    }
}
