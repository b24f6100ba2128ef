//! What happened in a session that a successor would want told, from its checkpoint.
//!
//! What the user went back on is left out. Commands that agents ran are theirs to tell; files that
//! they changed are there, and count. The same command that failed many times is one thing.

use super::command;
use super::statement::Sort;
use super::trace::Trace;
use super::words::{AGENT, DECIDED, FAILING, TAKEN_BACK, TO_DO};
use super::{Item, Told, What};
use crate::checkpoint::Checkpoint;
use crate::search::salient;
use crate::session::{AgentState, Command, Exit, PlanState, Seen, Touched};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// How much a successor would miss something: what the user said most, then what does not work,
/// then what was tried, then what they find by looking.
mod weight {
    pub(super) const CORRECTION: u32 = 10;
    pub(super) const UNRESOLVED: u32 = 8;
    pub(super) const REVERTED: u32 = 8;
    pub(super) const DECISION: u32 = 6;
    pub(super) const FIXED: u32 = 5;
    pub(super) const AGENT: u32 = 5;
    pub(super) const TASK: u32 = 4;
    pub(super) const PASSED_BY_ITSELF: u32 = 2;
    pub(super) const FILE: u32 = 2;
    pub(super) const FILE_ELSEWHERE: u32 = 1;
    pub(super) const PROBE: u32 = 1;
}

/// So many names in the output of a failed command are looked for.
const NAMES_MAX: usize = 5;
/// A longer name is cut.
const NAME_LENGTH_MAX: usize = 100;

/// Something that happened, and how texts name it.
#[derive(Clone, Debug)]
pub(super) struct Happening {
    /// What happened; not told yet.
    pub item: Item,
    /// How texts name it.
    pub traces: Vec<Trace>,
    /// What is explained together with it is of the same kin.
    pub kin: String,
}

impl Happening {
    fn new(what: What, name: &str, seen: &Seen, weight: u32, traces: Vec<Trace>) -> Self {
        let name = one_line(name);
        let item =
            Item { what, name, seen: Some(seen.clone()), weight, told: Told::Missing, at: None };
        Self { item, traces, kin: String::new() }
    }
}

/// Everything that happened, sort by sort.
pub(super) fn of(checkpoint: &Checkpoint) -> Vec<Happening> {
    let mut all = failed_commands(checkpoint);
    all.extend(reverted_edits(checkpoint));
    all.extend(corrections(checkpoint));
    all.extend(changed_files(checkpoint));
    all.extend(decisions(checkpoint));
    all.extend(open_tasks(checkpoint));
    all.extend(agents_in_flight(checkpoint));
    all
}

fn one_line(text: &str) -> String {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    let short: String = line.chars().take(NAME_LENGTH_MAX).collect();
    if short.len() < text.trim().len() { format!("{short} …") } else { short }
}

fn failed_commands(checkpoint: &Checkpoint) -> Vec<Happening> {
    let counts = |command: &&Command| {
        command.exit == Exit::Failed
            && command.seen.agent.is_none()
            && !checkpoint.is_abandoned(&command.seen)
    };
    // The last time it failed tells how it stands.
    let mut last: HashMap<String, usize> = HashMap::new();
    let mut found: Vec<Happening> = Vec::new();
    for command in checkpoint.session.commands.iter().filter(counts) {
        let told = command::told(&command.text);
        let weight = match &command.passed_later {
            _ if told.is_probe => weight::PROBE,
            None => weight::UNRESOLVED,
            Some(later) if later.changed.is_empty() => weight::PASSED_BY_ITSELF,
            Some(_) => weight::FIXED,
        };
        let traces = told.names.iter().filter_map(|name| Trace::row(name));
        let traces = traces.chain(names_in(command.error.as_deref().unwrap_or_default())).collect();
        let what = What::FailedCommand;
        let mut one = Happening::new(what, &command.text, &command.seen, weight, traces);
        one.kin = format!("$ {}", told.kin);
        match last.get(&told.key) {
            Some(earlier) => found[*earlier] = one,
            None => {
                last.insert(told.key, found.len());
                found.push(one);
            }
        }
    }
    found
}

/// Files that the output of a failed command names, by their last part.
fn names_in(error: &str) -> impl Iterator<Item = Trace> {
    let file = |word: &str| {
        let (_, last) = word.rsplit_once('/')?;
        let name = last.split([':', '(', ')', '"', '\'', ',']).next()?;
        let is_file = name.trim_matches('.').contains('.');
        is_file.then(|| name.to_owned())
    };
    let names: BTreeSet<String> = error.split_whitespace().filter_map(file).collect();
    let traces = names.into_iter().take(NAMES_MAX).filter_map(|name| Trace::row(&name));
    traces.map(|trace| trace.beside(FAILING, None))
}

/// The files that count, with how they are named: below the folder of the session without it.
fn files(checkpoint: &Checkpoint) -> Vec<(String, &Touched, bool)> {
    let session = &checkpoint.session;
    let folder = session.cwd.as_deref().unwrap_or_default().trim_end_matches('/');
    let named = |path: &str| match path.strip_prefix(folder).and_then(|rest| rest.strip_prefix('/'))
    {
        Some(inside) if !folder.is_empty() => (inside.to_owned(), true),
        Some(_) | None => (path.to_owned(), !path.starts_with('/')),
    };
    let counting = session.files.changed().filter(|(_, touched)| !checkpoint.is_left(touched));
    counting
        .map(|(path, touched)| {
            let (name, is_inside) = named(path);
            (name, touched, is_inside)
        })
        .collect()
}

/// A file by its last two parts, or by its name alone where no other changed file has that name.
fn file_traces(name: &str, names: &BTreeMap<&str, usize>) -> Vec<Trace> {
    let mut parts = name.rsplit('/');
    let (last, folder) = (parts.next().unwrap_or_default(), parts.next());
    let whole = Trace::row(name);
    let two = folder.and_then(|folder| Trace::row(&format!("{folder}/{last}")));
    let is_only = names.get(last).is_none_or(|count| *count < 2);
    let alone = is_only.then(|| Trace::row(last)).flatten();
    [whole, two, alone].into_iter().flatten().collect()
}

fn last_names<'f>(files: &'f [(String, &Touched, bool)]) -> BTreeMap<&'f str, usize> {
    let mut names = BTreeMap::new();
    for (name, _, _) in files {
        *names.entry(name.rsplit('/').next().unwrap_or(name)).or_default() += 1;
    }
    names
}

fn reverted_edits(checkpoint: &Checkpoint) -> Vec<Happening> {
    let files = files(checkpoint);
    let names = last_names(&files);
    let mut found = Vec::new();
    for (name, touched, _) in &files {
        let mut taken_back = touched.reverted.iter().rev();
        let Some(seen) = taken_back.find(|seen| !checkpoint.is_abandoned(seen)) else { continue };
        let traces = file_traces(name, &names).into_iter();
        let traces = traces.map(|trace| trace.beside(TAKEN_BACK, Some(Sort::WrongTurn))).collect();
        let one = Happening::new(What::RevertedEdit, name, seen, weight::REVERTED, traces);
        found.push(Happening { kin: name.clone(), ..one });
    }
    found
}

fn changed_files(checkpoint: &Checkpoint) -> Vec<Happening> {
    let files = files(checkpoint);
    let names = last_names(&files);
    let mut found = Vec::new();
    for (name, touched, is_inside) in &files {
        let Some(seen) = touched.changed.last() else { continue };
        if is_as_before(touched) {
            continue;
        }
        let weight = if *is_inside { weight::FILE } else { weight::FILE_ELSEWHERE };
        let traces = file_traces(name, &names);
        let one = Happening::new(What::ChangedFile, name, seen, weight, traces);
        found.push(Happening { kin: name.clone(), ..one });
    }
    found
}

/// Whether every change was taken back, so that nothing is left of them.
fn is_as_before(touched: &Touched) -> bool {
    let (changes, reverts) = (touched.changed.len(), touched.reverted.len());
    let last = |list: &[Seen]| list.last().map(|seen| seen.number);
    reverts > 0 && changes <= 2 * reverts && last(&touched.reverted) >= last(&touched.changed)
}

fn corrections(checkpoint: &Checkpoint) -> Vec<Happening> {
    let requests = checkpoint.session.requests.iter();
    let corrections = requests.filter(|request| {
        request.correction.is_some()
            && request.seen.agent.is_none()
            && !checkpoint.is_abandoned(&request.seen)
            && !request.text.trim_start().starts_with('<')
    });
    corrections
        .map(|request| {
            let traces = Trace::telling(&request.text, DECIDED).into_iter().collect();
            let what = What::Correction;
            Happening::new(what, &request.text, &request.seen, weight::CORRECTION, traces)
        })
        .collect()
}

fn decisions(checkpoint: &Checkpoint) -> Vec<Happening> {
    let session = &checkpoint.session;
    let decided = |name: &str, text: &str, seen: &Seen| {
        let trace = Trace::telling(text, DECIDED).map(|trace| match salient(text).len() {
            0 | 1 => trace.beside(DECIDED, Some(Sort::Decision)),
            _ => trace,
        });
        let traces = trace.into_iter().collect();
        Happening::new(What::Decision, name, seen, weight::DECISION, traces)
    };
    let answers = session.answers.iter().map(|answer| {
        let name = format!("{} {}", one_line(&answer.question), one_line(&answer.answer));
        let tells = !salient(&answer.answer).is_empty();
        let text = if tells { &answer.answer } else { &answer.question };
        decided(&name, text, &answer.seen)
    });
    // With words of the user it is a correction.
    let is_correction = |seen: &Seen| {
        session
            .requests
            .iter()
            .any(|request| request.correction.is_some() && request.seen.record == seen.record)
    };
    let rejections = session.rejections.iter().filter(|one| !is_correction(&one.seen));
    let rejections = rejections.map(|one| {
        let about = one.about.as_deref().unwrap_or_default();
        let name = format!("not allowed: {} {}", one.tool, one_line(about));
        decided(&name, if about.is_empty() { &one.tool } else { about }, &one.seen)
    });
    let plans = session.plans.iter().filter_map(|plan| {
        let came = match plan.state {
            PlanState::Approved => "approved",
            PlanState::Rejected => "rejected",
            PlanState::Read | PlanState::Written | PlanState::Proposed => return None,
        };
        let text = plan.text.as_deref().or(plan.path.as_deref())?;
        Some(decided(&format!("plan {came}: {}", one_line(text)), text, &plan.seen))
    });
    let all = answers.chain(rejections).chain(plans);
    all.filter(|one| one.item.seen.as_ref().is_none_or(|seen| !checkpoint.is_abandoned(seen)))
        .collect()
}

fn open_tasks(checkpoint: &Checkpoint) -> Vec<Happening> {
    let open = checkpoint.session.tasks.iter().filter(|task| {
        task.status.is_open() && task.seen.agent.is_none() && !checkpoint.is_abandoned(&task.seen)
    });
    open.map(|task| {
        let traces = Trace::telling(&task.subject, TO_DO).into_iter().collect();
        Happening::new(What::OpenTask, &task.subject, &task.changed, weight::TASK, traces)
    })
    .collect()
}

fn agents_in_flight(checkpoint: &Checkpoint) -> Vec<Happening> {
    let flying = checkpoint.session.agents.iter().filter(|agent| {
        agent.state == AgentState::InFlight && !checkpoint.is_abandoned(&agent.seen)
    });
    flying
        .map(|agent| {
            let asked = agent.about.as_deref().or(agent.prompt.as_deref()).unwrap_or_default();
            let id = agent.id.as_deref().unwrap_or("an agent");
            let by_id = agent.id.as_deref().and_then(Trace::row);
            let by_id = by_id.map(|trace| trace.beside(AGENT, None));
            let by_words = Trace::telling(asked, AGENT);
            let traces = by_id.into_iter().chain(by_words).collect();
            let name = format!("{id}: {}", one_line(asked));
            Happening::new(What::AgentInFlight, &name, &agent.seen, weight::AGENT, traces)
        })
        .collect()
}
