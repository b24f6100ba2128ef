//! Renders a saved session: where it is, what is missing, and how to resume.

use super::{Surface, count, display_path, mission, one_line, sanitize, shell_word};
use crate::json::JsonAnswer;
use midstride::verbs::{AuthorRequest, SaveChange, SaveOutcome};
use midstride::workspace::Workspace;
use midstride_core::session::author_notes::{Reflection, ReflectionAnswer};
use midstride_core::session::coverage::{Coverage, CoverageCount};
use midstride_core::session::quality::{QualityIssue, QualityReport};
use midstride_core::session::short_id;
use midstride_core::text::id::{BlobHash, SessionId};
use serde::Serialize;
use std::fmt::Write as _;

/// The first closing question.
pub const INHERIT_QUESTION: &str = "Would I inherit this confidently with zero context?";
/// The second closing question.
pub const FINDS_PLANS_QUESTION: &str =
    "Would the resuming agent find and read the plan documents before working?";

/// The maximum number of missing items shown.
const MISSING_SHOWN_MAX: usize = 20;

/// A saved session handoff, and what is still missing from it.
#[derive(Serialize)]
pub struct SaveJson {
    key: String,
    path: String,
    written: &'static str,
    revision: usize,
    complete: bool,
    passed: bool,
    accepted: Option<String>,
    /// Whether the agent was already asked, so that the handoff is saved as it is.
    kept: bool,
    missing: Vec<QualityIssueJson>,
    told: Vec<SavedCoverageJson>,
    reflection: ReflectionJson,
    client: Option<String>,
    session: Option<SessionId>,
    checkpoint: Option<BlobHash>,
    in_flight: Vec<InFlightAgentJson>,
    tasks: usize,
    redacted: Vec<String>,
    resume: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    similar: Option<String>,
}

impl JsonAnswer for SaveJson {
    const SCHEMA: &'static str = "save/1";
}

#[derive(Serialize)]
struct QualityIssueJson {
    code: String,
    what: String,
    seen: Option<String>,
    add: String,
}

#[derive(Serialize)]
struct SavedCoverageJson {
    what: &'static str,
    happened: usize,
    named: usize,
    covered: usize,
}

#[derive(Serialize)]
struct ReflectionJson {
    inherit: Option<AnswerJson>,
    finds_plans: Option<AnswerJson>,
}

#[derive(Serialize)]
struct AnswerJson {
    answer: bool,
    why: Option<String>,
}

#[derive(Serialize)]
struct InFlightAgentJson {
    id: Option<String>,
    about: Option<String>,
}

/// The JSON for a saved session.
pub fn json(workspace: &Workspace, saved: &SaveOutcome) -> SaveJson {
    let handoff = saved.stored.handoff(workspace);
    let answer = |answer: &Option<ReflectionAnswer>| {
        answer.as_ref().map(|one| AnswerJson { answer: one.yes, why: one.why.clone() })
    };
    let Reflection { inherit, finds_plans } = &saved.reflection;
    let captured = saved.captured.as_ref();
    SaveJson {
        key: handoff.key().to_string(),
        path: saved.stored.path.display().to_string(),
        written: match saved.change {
            SaveChange::New => "new",
            SaveChange::Revised(_) => "revised",
            SaveChange::Unchanged => "unchanged",
        },
        revision: handoff.replaced_texts().len() + 1,
        complete: saved.is_complete(),
        passed: saved.quality.passes(),
        accepted: saved.accepted.clone(),
        kept: is_accepted_incomplete(saved),
        missing: saved.quality.issues.iter().map(quality_issue_json).collect(),
        told: saved.coverage.iter().flat_map(Coverage::counts).map(coverage_json).collect(),
        reflection: ReflectionJson { inherit: answer(inherit), finds_plans: answer(finds_plans) },
        client: captured.map(|done| done.checkpoint.client().to_string()),
        session: captured.map(|done| done.checkpoint.session_id()),
        checkpoint: captured.map(|done| done.blob.clone()),
        in_flight: saved
            .in_flight
            .iter()
            .map(|agent| InFlightAgentJson { id: agent.id.clone(), about: agent.about.clone() })
            .collect(),
        tasks: saved.tasks,
        redacted: saved.redacted.iter().map(|secret| secret.kind.to_string()).collect(),
        resume: resume_commands(workspace, saved).map(|(command, _)| command).to_vec(),
        similar: saved.similar_id.clone(),
    }
}

fn quality_issue_json(gap: &QualityIssue) -> QualityIssueJson {
    QualityIssueJson {
        code: gap.code.clone(),
        what: gap.what.clone(),
        seen: gap.seen.clone(),
        add: gap.hint.clone(),
    }
}

fn coverage_json(count: CoverageCount) -> SavedCoverageJson {
    SavedCoverageJson {
        what: count.kind.plural(),
        happened: count.total,
        named: count.named,
        covered: count.covered,
    }
}

/// Whether items are missing that will not be asked for again.
fn is_accepted_incomplete(saved: &SaveOutcome) -> bool {
    saved.author_request == AuthorRequest::AskedBefore
        && !saved.quality.passes()
        && saved.accepted.is_none()
}

/// What happened to the handoff and which session it is from, in one line.
pub fn written_text(workspace: &Workspace, saved: &SaveOutcome) -> String {
    let handoff = saved.stored.handoff(workspace);
    let (key, path) = (handoff.key(), display_path(workspace, &saved.stored.path));
    let of = session_text(saved).map(|session| format!(" from {session}")).unwrap_or_default();
    match &saved.change {
        SaveChange::New => format!("Wrote {key}{of}: {path}"),
        SaveChange::Revised(recorded) => format!("Saved {key}@{}{of}: {path}", recorded.revision),
        SaveChange::Unchanged => format!("{key}: nothing new to save{of} in {path}"),
    }
}

/// The client, id and subject of the saved session, so that the user notices a wrong one.
fn session_text(saved: &SaveOutcome) -> Option<String> {
    let checkpoint = &saved.captured.as_ref()?.checkpoint;
    let (client, id) = (checkpoint.client(), sanitize(checkpoint.session_id().as_str()));
    let about = checkpoint.first_request().map(|about| format!(" \"{}\"", one_line(&about, 60)));
    Some(format!("{client} session {}{}", short_id(&id), about.unwrap_or_default()))
}

/// Further remarks about the save.
pub fn remarks(saved: &SaveOutcome) -> Vec<String> {
    let mut remarks = Vec::new();
    if let Some(similar) = &saved.similar_id {
        let similar = shell_word(similar);
        remarks.push(format!("This is a new handoff; did you mean `--id {similar}`?"));
    }
    if let Some(reason) = &saved.accepted {
        let codes = saved.quality.codes().join(", ");
        remarks.push(format!("Accepted as is ({codes}): {}", sanitize(reason)));
    }
    remarks.extend(incomplete_notice(saved));
    if saved.tasks_omitted > 0 {
        let left = count(saved.tasks_omitted, "open task");
        remarks.push(format!("{left} did not fit; `midstride sync` shares all tasks"));
    }
    let answers = [
        (&saved.reflection.inherit, INHERIT_QUESTION, "--inherit"),
        (&saved.reflection.finds_plans, FINDS_PLANS_QUESTION, "--finds-plans"),
    ];
    for (answer, question, flag) in answers {
        match answer {
            None if saved.author_request == AuthorRequest::AskedNow => remarks
                .push(format!("Not answered: {question} ({flag} yes, or {flag} \"no: why\")")),
            Some(ReflectionAnswer { yes: false, why }) => {
                let why =
                    why.as_deref().map(|why| format!(": {}", sanitize(why))).unwrap_or_default();
                remarks.push(format!("{question} No{why}"));
            }
            None | Some(_) => {}
        }
    }
    remarks
}

/// Says that the missing items will not be asked for again.
pub fn incomplete_notice(saved: &SaveOutcome) -> Option<String> {
    let missing = count(saved.quality.issues.len(), "missing item");
    is_accepted_incomplete(saved).then(|| format!("Saved as is. The handoff lists {missing}."))
}

/// What to add, as a numbered list. If it is long, only the most important items are shown.
pub fn missing_text(gate: &QualityReport, surface: Surface) -> String {
    let mut text = format!(
        "{} needed before the next session can resume this:",
        things_are(gate.issues.len())
    );
    for (number, gap) in (1..).zip(gate.issues.iter().take(MISSING_SHOWN_MAX)) {
        // Show a code only for findings, because `explain` knows those.
        let code = gap.is_finding.then_some(gap.code.as_str());
        let about: Vec<String> =
            code.into_iter().chain(gap.seen.as_deref()).map(sanitize).collect();
        let about =
            if about.is_empty() { String::new() } else { format!(" ({})", about.join(", ")) };
        let _ = write!(text, "\n{number}. {}{about}", sanitize(&gap.what));
        let add = match surface {
            Surface::Terminal => sanitize(&gap.hint),
            Surface::Tools => add_for_tools(gap),
        };
        let _ = write!(text, "\n   → {add}");
    }
    let left = gate.issues.len().saturating_sub(MISSING_SHOWN_MAX);
    if left > 0 {
        let _ = match surface {
            Surface::Terminal => write!(text, "\n… and {left} more; `--json` lists them all"),
            Surface::Tools => write!(text, "\n… and {left} more, listed after you add these"),
        };
    }
    text
}

/// What to add for a missing item, with the tool parameter that takes it.
fn add_for_tools(gap: &QualityIssue) -> String {
    // The code of a finding or the kind of an uncovered item, a word to look for, and the
    // parameter.
    const TAKEN_AS: [(&str, &str, &str); 14] = [
        ("C001", "", "`decisions`, as `X because Y`"),
        ("C007", "what to do next", "`next`"),
        ("C013", "the summary", "`summary`"),
        ("C013", "", "`next`"),
        ("S001", "summary", "`summary`"),
        ("S002", "summary", "`summary`"),
        ("S002", "`title`", "`title`"),
        ("failed_command", "", "`wrong_turns`, `landmines` or `body`"),
        ("reverted_edit", "", "`wrong_turns`"),
        ("correction", "", "`constraints` or `decisions`"),
        ("changed_file", "", "`body`"),
        ("decision", "", "`decisions`"),
        ("open_task", "", "`next`"),
        ("agent_in_flight", "", "`next`"),
    ];
    let mentions = |word: &str| gap.hint.contains(word) || gap.what.contains(word);
    let taken = TAKEN_AS.iter().find(|(code, word, _)| *code == gap.code && mentions(word));
    match taken {
        Some((code, _, taken)) if *code == "C001" => format!("restate it in {taken}"),
        Some((_, _, taken)) => format!("{} ({taken})", sanitize(gap.hint.trim_end_matches('.'))),
        None => sanitize(&gap.hint),
    }
}

fn things_are(number: usize) -> String {
    if number == 1 { "1 more item is".to_owned() } else { format!("{number} more items are") }
}

/// How to add what is missing.
pub fn how_to_add(workspace: &Workspace, saved: &SaveOutcome) -> String {
    let key = shell_word(&saved.stored.handoff(workspace).key().id);
    let once = match saved.author_request {
        AuthorRequest::AskedNow => "You are asked only once; the next save is accepted as is.",
        AuthorRequest::NotAsked | AuthorRequest::AskedBefore => {
            "Or save it as is with --accept REASON."
        }
    };
    format!(
        "Saved. Add what is missing with midstride save --id {key} and --constraint, --decision, \
         --wrong-turn, --landmine, --next or --body -. {once}"
    )
}

/// The commands that resume the work, with what each does.
fn resume_commands(workspace: &Workspace, saved: &SaveOutcome) -> [(String, &'static str); 3] {
    let key = shell_word(&saved.stored.handoff(workspace).key().to_string());
    [
        ("midstride brief".to_owned(), "briefs a new session"),
        (format!("midstride start {key}"), "starts the work and restores its tasks"),
        (format!("midstride show {key}"), "prints the whole handoff"),
    ]
}

/// The tools that resume the work, with what each does.
fn resume_tools(key: &str) -> [(String, &'static str); 3] {
    [
        ("brief".to_owned(), "briefs a new session"),
        ("get".to_owned(), "with this id returns the whole handoff"),
        (
            format!("midstride start {}", shell_word(key)),
            "in a terminal starts the work and restores its tasks",
        ),
    ]
}

/// The mission as this handoff leaves it.
fn mission_briefing<'s>(
    workspace: &'s Workspace,
    saved: &'s SaveOutcome,
) -> mission::MissionBriefing<'s> {
    let this = std::slice::from_ref(&saved.stored);
    let decided = mission::open_decisions(workspace, this).into_iter();
    let decided = decided.map(mission::HandoffDecision::without_handoff);
    mission::MissionBriefing {
        mission: saved.mission.as_ref(),
        tasks: &saved.board,
        agents: &saved.in_flight,
        decisions: decided.collect(),
        questions: super::task::open_questions(workspace, this),
    }
}

/// Where the handoff is, how to resume it, and what is in flight.
pub fn completion_text(workspace: &Workspace, saved: &SaveOutcome, surface: Surface) -> String {
    let handoff = saved.stored.handoff(workspace);
    let (key, path) = (handoff.key(), display_path(workspace, &saved.stored.path));
    let revision = handoff.replaced_texts().len() + 1;
    // Without tasks, the section would only repeat the handoff.
    let mut text = match saved.board.is_empty() {
        true => String::new(),
        false => mission::handoff_section(&mission_briefing(workspace, saved)) + "\n",
    };
    let _ = write!(
        text,
        "## Handoff Complete\n\nState captured in {path} ({key}@{revision}), read back from disk. To resume:\n\n"
    );
    let ways = match surface {
        Surface::Terminal => resume_commands(workspace, saved),
        Surface::Tools => resume_tools(&key.to_string()),
    };
    for (number, (way, does)) in (1..).zip(ways) {
        let _ = writeln!(text, "{number}. `{way}` {does}");
    }
    let briefing = mission_briefing(workspace, saved);
    let _ = writeln!(text, "\n**In-flight work:** {}", mission::in_flight_text(&briefing));
    let tasks = if saved.tasks == 0 { "none".to_owned() } else { saved.tasks.to_string() };
    let _ = writeln!(text, "**Open tasks:** {tasks}");
    if let Some(session) = session_text(saved) {
        let _ = writeln!(text, "**Session:** {session}");
    }
    text
}
