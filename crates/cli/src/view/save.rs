//! A session that was saved: where it is, what is missing, how to go on.

use super::{Surface, count, mission, one_line, shell_word, shown_path, tame};
use midstride::verbs::{Asking, Saved, Written};
use midstride::workspace::project::Project;
use midstride_core::session::coverage::{Coverage, CoverageCount};
use midstride_core::session::gate::{QualityIssue, QualityReport};
use midstride_core::session::judgement::{Reflection, ReflectionAnswer};
use midstride_core::session::short_id;
use serde::Serialize;
use std::fmt::Write as _;

/// The first question at the end.
pub(crate) const INHERIT: &str = "Would I inherit this confidently with zero context?";
/// The second one.
pub(crate) const FINDS_PLANS: &str =
    "Would the resuming agent find and read the plan documents before working?";

/// So many things that are missing are shown.
const MISSING_SHOWN_MAX: usize = 20;

#[derive(Serialize)]
pub(crate) struct SavedJson {
    key: String,
    path: String,
    written: &'static str,
    revision: usize,
    complete: bool,
    passed: bool,
    accepted: Option<String>,
    /// Whether an agent was asked before, so that it is kept as it is.
    kept: bool,
    missing: Vec<GapJson>,
    told: Vec<ToldJson>,
    reflection: ReflectionJson,
    client: Option<&'static str>,
    session: Option<String>,
    checkpoint: Option<String>,
    in_flight: Vec<AgentJson>,
    tasks: usize,
    redacted: Vec<String>,
    resume: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    similar: Option<String>,
}

#[derive(Serialize)]
struct GapJson {
    code: String,
    what: String,
    seen: Option<String>,
    add: String,
}

#[derive(Serialize)]
struct ToldJson {
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
struct AgentJson {
    id: Option<String>,
    about: Option<String>,
}

pub(crate) fn json(project: &Project, saved: &Saved) -> SavedJson {
    let handoff = saved.shelved.handoff(project);
    let answer = |answer: &Option<ReflectionAnswer>| {
        answer.as_ref().map(|one| AnswerJson { answer: one.yes, why: one.why.clone() })
    };
    let Reflection { inherit, finds_plans } = &saved.reflection;
    let captured = saved.captured.as_ref();
    SavedJson {
        key: handoff.key().to_string(),
        path: saved.shelved.path.display().to_string(),
        written: match saved.written {
            Written::New => "new",
            Written::Revised(_) => "revised",
            Written::Unchanged => "unchanged",
        },
        revision: handoff.replaced_texts().len() + 1,
        complete: saved.is_complete(),
        passed: saved.gate.passes(),
        accepted: saved.accepted.clone(),
        kept: is_kept(saved),
        missing: saved.gate.issues.iter().map(gap).collect(),
        told: saved.coverage.iter().flat_map(Coverage::counts).map(told).collect(),
        reflection: ReflectionJson { inherit: answer(inherit), finds_plans: answer(finds_plans) },
        client: captured.map(|done| done.checkpoint.client().name()),
        session: captured.map(|done| done.checkpoint.session_id().to_owned()),
        checkpoint: captured.map(|done| done.blob.clone()),
        in_flight: saved
            .in_flight
            .iter()
            .map(|agent| AgentJson { id: agent.id.clone(), about: agent.about.clone() })
            .collect(),
        tasks: saved.tasks,
        redacted: saved.redacted.iter().map(|secret| secret.kind.to_string()).collect(),
        resume: resume(project, saved).map(|(command, _)| command).to_vec(),
        similar: saved.similar.clone(),
    }
}

fn gap(gap: &QualityIssue) -> GapJson {
    GapJson {
        code: gap.code.clone(),
        what: gap.what.clone(),
        seen: gap.seen.clone(),
        add: gap.hint.clone(),
    }
}

fn told(count: CoverageCount) -> ToldJson {
    ToldJson {
        what: count.kind.plural(),
        happened: count.total,
        named: count.named,
        covered: count.covered,
    }
}

/// Whether something is missing and nobody is asked for it again.
fn is_kept(saved: &Saved) -> bool {
    saved.asking == Asking::Before && !saved.gate.passes() && saved.accepted.is_none()
}

/// What became of the handoff and of which session it is, in a line.
pub(crate) fn written(project: &Project, saved: &Saved) -> String {
    let handoff = saved.shelved.handoff(project);
    let (key, path) = (handoff.key(), shown_path(project, &saved.shelved.path));
    let of = session(saved).map(|session| format!(" from {session}")).unwrap_or_default();
    match &saved.written {
        Written::New => format!("Wrote {key}{of}: {path}"),
        Written::Revised(recorded) => format!("Saved {key}@{}{of}: {path}", recorded.revision),
        Written::Unchanged => format!("{key}: nothing new to save{of}, in {path}"),
    }
}

/// The session that was saved, so that a wrong one is noticed: its client, its id, what it is about.
fn session(saved: &Saved) -> Option<String> {
    let checkpoint = &saved.captured.as_ref()?.checkpoint;
    let (client, id) = (checkpoint.client().name(), tame(checkpoint.session_id()));
    let about = checkpoint.first_request().map(|about| format!(" \"{}\"", one_line(&about, 60)));
    Some(format!("{client} session {}{}", short_id(&id), about.unwrap_or_default()))
}

/// What else there is to say.
pub(crate) fn remarks(saved: &Saved) -> Vec<String> {
    let mut remarks = Vec::new();
    if let Some(similar) = &saved.similar {
        let similar = shell_word(similar);
        remarks.push(format!("It is a new handoff; did you mean `--id {similar}`?"));
    }
    if let Some(reason) = &saved.accepted {
        let codes = saved.gate.codes().join(", ");
        remarks.push(format!("Accepted as it is ({codes}): {}", tame(reason)));
    }
    remarks.extend(kept(saved));
    if saved.tasks_left_out > 0 {
        let left = count(saved.tasks_left_out, "open task");
        remarks.push(format!("{left} more did not fit; `midstride sync` shares all"));
    }
    let answers = [
        (&saved.reflection.inherit, INHERIT, "--inherit"),
        (&saved.reflection.finds_plans, FINDS_PLANS, "--finds-plans"),
    ];
    for (answer, question, flag) in answers {
        match answer {
            None if saved.asking == Asking::Now => remarks
                .push(format!("Not answered: {question} ({flag} yes, or {flag} \"no: why\")")),
            Some(ReflectionAnswer { yes: false, why }) => {
                let why = why.as_deref().map(|why| format!(": {}", tame(why))).unwrap_or_default();
                remarks.push(format!("{question} No{why}"));
            }
            None | Some(_) => {}
        }
    }
    remarks
}

/// Says that what is missing is not asked for again.
pub(crate) fn kept(saved: &Saved) -> Option<String> {
    let missing = count(saved.gate.issues.len(), "missing item");
    is_kept(saved).then(|| format!("Kept as it is. The handoff lists {missing}."))
}

/// Exactly what to add, numbered: the weightiest, where it is too much to read.
pub(crate) fn missing(gate: &QualityReport, surface: Surface) -> String {
    let mut text =
        format!("{} missing before this can be taken over:", is_or_are(gate.issues.len()));
    for (number, gap) in (1..).zip(gate.issues.iter().take(MISSING_SHOWN_MAX)) {
        // What was not told says of which sort it is; the code of a finding can be explained.
        let code = gap.is_finding.then_some(gap.code.as_str());
        let about: Vec<String> = code.into_iter().chain(gap.seen.as_deref()).map(tame).collect();
        let about =
            if about.is_empty() { String::new() } else { format!(" ({})", about.join(", ")) };
        let _ = write!(text, "\n{number}. {}{about}", tame(&gap.what));
        let add = match surface {
            Surface::Typed => tame(&gap.hint),
            Surface::Called => add_for_tools(gap),
        };
        let _ = write!(text, "\n   → {add}");
    }
    let left = gate.issues.len().saturating_sub(MISSING_SHOWN_MAX);
    if left > 0 {
        let _ = match surface {
            Surface::Typed => write!(text, "\n… and {left} more; `--json` has them all"),
            Surface::Called => write!(text, "\n… and {left} more, told once these are there"),
        };
    }
    text
}

/// What would fill a gap, with what the tool takes for it.
fn add_for_tools(gap: &QualityIssue) -> String {
    // A code of the judge, or the sort of what is not told, with the words that are meant.
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
        Some((code, _, taken)) if *code == "C001" => format!("say it again in {taken}"),
        Some((_, _, taken)) => format!("{} ({taken})", tame(gap.hint.trim_end_matches('.'))),
        None => tame(&gap.hint),
    }
}

fn is_or_are(number: usize) -> String {
    if number == 1 { "1 thing is".to_owned() } else { format!("{number} things are") }
}

/// How to add what is missing.
pub(crate) fn how_to_add(project: &Project, saved: &Saved) -> String {
    let key = shell_word(&saved.shelved.handoff(project).key().id);
    let once = match saved.asking {
        Asking::Now => "You are asked once: the next save is kept as it is.",
        Asking::Person | Asking::Before => "Or save it as it is with --accept REASON.",
    };
    format!(
        "Saved. Add what is missing with midstride save --id {key} and --constraint, --decision, \
         --wrong-turn, --landmine, --next or --body -. {once}"
    )
}

/// The commands that take it up again, and what each does.
fn resume(project: &Project, saved: &Saved) -> [(String, &'static str); 3] {
    let key = shell_word(&saved.shelved.handoff(project).key().to_string());
    [
        ("midstride brief".to_owned(), "tells a fresh session what it has to know"),
        (format!("midstride start {key}"), "begins the work, and restores the tasks it carries"),
        (format!("midstride show {key}"), "has all of it"),
    ]
}

/// The tools that do it, and what each does.
fn resume_by_tools(key: &str) -> [(String, &'static str); 3] {
    [
        ("brief".to_owned(), "tells a fresh session what it has to know"),
        ("get".to_owned(), "with this id has all of it"),
        (
            format!("midstride start {}", shell_word(key)),
            "in a terminal begins the work, and restores the tasks it carries",
        ),
    ]
}

/// The mission as this handoff leaves it.
fn briefing<'s>(project: &'s Project, saved: &'s Saved) -> mission::Briefing<'s> {
    let this = std::slice::from_ref(&saved.shelved);
    let decided = mission::decided(project, this).into_iter();
    let decided = decided.map(mission::Decided::on_its_page);
    mission::Briefing {
        mission: saved.mission.as_ref(),
        tasks: &saved.board,
        agents: &saved.in_flight,
        decided: decided.collect(),
        questions: super::task::questions(project, this),
    }
}

/// Where it is, how to resume, what is in flight.
pub(crate) fn complete(project: &Project, saved: &Saved, surface: Surface) -> String {
    let handoff = saved.shelved.handoff(project);
    let (key, path) = (handoff.key(), shown_path(project, &saved.shelved.path));
    let revision = handoff.replaced_texts().len() + 1;
    // Where there are no tasks, the handoff says it all.
    let mut text = match saved.board.is_empty() {
        true => String::new(),
        false => mission::handoff(&briefing(project, saved)) + "\n",
    };
    let _ = write!(
        text,
        "## Handoff Complete\n\nState captured in {path} ({key}@{revision}), read back from disk. To resume:\n\n"
    );
    let ways = match surface {
        Surface::Typed => resume(project, saved),
        Surface::Called => resume_by_tools(&key.to_string()),
    };
    for (number, (way, does)) in (1..).zip(ways) {
        let _ = writeln!(text, "{number}. `{way}` {does}");
    }
    let briefing = briefing(project, saved);
    let _ = writeln!(text, "\n**In-flight work:** {}", mission::in_flight(&briefing));
    let tasks = if saved.tasks == 0 { "none".to_owned() } else { saved.tasks.to_string() };
    let _ = writeln!(text, "**Open tasks:** {tasks}");
    if let Some(session) = session(saved) {
        let _ = writeln!(text, "**Session:** {session}");
    }
    text
}
