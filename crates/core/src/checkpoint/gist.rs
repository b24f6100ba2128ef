//! What whoever goes on has to know of a session: a few of each sort, the newest first. It is kept
//! beside the checkpoint, so that nobody who is told reads through all that a long session did.

use super::{ArtifactState, Checkpoint};
use crate::session::{AgentState, Client, Command, Exit, PlanState, Seen, TaskStatus};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashSet};

/// The version of the shape; of another one the checkpoint itself is read.
pub const GIST_VERSION: u32 = 1;

/// So many of each sort; the others are counted.
const KEPT_MAX: usize = 8;
/// Files and tasks are told in a few words each.
const SHORT_KEPT_MAX: usize = 20;

/// What is worth telling of a session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Gist {
    /// The version of this shape.
    pub version: u32,
    /// The client that ran it.
    pub client: Client,
    /// Its id.
    pub session: String,
    /// The digest of the checkpoint.
    pub digest: String,
    /// Where it worked.
    pub folder: Option<String>,
    /// The branch that was checked out.
    pub branch: Option<String>,
    /// When its last record was written.
    pub ended: Option<Timestamp>,
    /// What is worth telling, sort by sort, the newest of each first.
    pub items: Vec<Item>,
    /// How many more of a sort there are.
    pub left_out: BTreeMap<Sort, usize>,
}

/// One thing that is worth telling.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Item {
    /// What sort of thing.
    pub sort: Sort,
    /// What was said, run or touched.
    pub text: String,
    /// What belongs to it: an error, a question, an id.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub detail: Option<String>,
    /// How it stands, in our own words.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub state: Option<String>,
    /// The line of the transcript that tells it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub number: Option<u64>,
    /// The agent that did it, where it was not the session itself.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub agent: Option<String>,
}

/// What sort of thing is told of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Sort {
    /// What the user asked first.
    Goal,
    /// What the user asked since.
    Request,
    /// What the user corrected.
    Correction,
    /// What the user typed and the client did not get to.
    Queued,
    /// What the user decided when asked.
    Answer,
    /// A command that failed and did not pass since.
    Failed,
    /// A file whose change was taken back.
    Reverted,
    /// A task that is open.
    Task,
    /// An agent that has not come back.
    Agent,
    /// What the agent said last.
    LastWords,
    /// A file that was changed.
    Changed,
    /// A file that should be there and is not.
    Missing,
    /// A plan document.
    Plan,
}

impl Gist {
    /// Takes it from a checkpoint. What the user went back before was not asked.
    pub fn of(checkpoint: &Checkpoint) -> Self {
        let mut gist = Self {
            version: GIST_VERSION,
            client: checkpoint.client(),
            session: checkpoint.session_id().to_owned(),
            digest: checkpoint.digest.clone(),
            folder: checkpoint.session.cwd.clone(),
            branch: checkpoint.git.branch.clone().or_else(|| checkpoint.session.branch.clone()),
            ended: checkpoint.session.ended,
            items: Vec::new(),
            left_out: BTreeMap::new(),
        };
        let left: HashSet<&str> = checkpoint.abandoned.iter().map(String::as_str).collect();
        let stands = |seen: &Seen| !left.contains(seen.record.as_str());
        gist.said_by_the_user(checkpoint, &stands);
        gist.left_open(checkpoint, &stands);
        gist.left_on_disk(checkpoint);
        gist
    }

    /// Reads what was kept; `None` where another version wrote it, or somebody else.
    pub fn read(bytes: &[u8]) -> Option<Self> {
        let gist: Self = serde_json::from_slice(bytes).ok()?;
        (gist.version == GIST_VERSION).then_some(gist)
    }

    /// The items of a sort.
    pub fn of_sort(&self, sort: Sort) -> impl Iterator<Item = &Item> {
        self.items.iter().filter(move |item| item.sort == sort)
    }

    fn said_by_the_user(&mut self, checkpoint: &Checkpoint, stands: &dyn Fn(&Seen) -> bool) {
        let session = &checkpoint.session;
        let requests = session.requests.iter().filter(|request| stands(&request.seen));
        let (corrections, asked): (Vec<_>, Vec<_>) =
            requests.partition(|request| request.correction.is_some());
        let item = |sort, seen: &Seen, text: &str| Item::of(sort, text).seen(seen);
        let mut asked = asked.into_iter();
        self.items.extend(asked.next().map(|goal| item(Sort::Goal, &goal.seen, &goal.text)));
        let requests = asked.rev().map(|one| item(Sort::Request, &one.seen, &one.text));
        self.keep(KEPT_MAX, requests);
        let corrections = corrections.into_iter().rev();
        self.keep(KEPT_MAX, corrections.map(|one| item(Sort::Correction, &one.seen, &one.text)));
        // What clients queue for themselves begins with a mark.
        let queued = session.queued.iter().rev().filter(|one| !one.text.starts_with('<'));
        self.keep(KEPT_MAX, queued.map(|one| item(Sort::Queued, &one.seen, &one.text)));
        let answers = session.answers.iter().rev().filter(|answer| stands(&answer.seen));
        let answers = answers.map(|one| {
            item(Sort::Answer, &one.seen, &one.answer).detail(Some(one.question.clone()))
        });
        self.keep(KEPT_MAX, answers);
    }

    fn left_open(&mut self, checkpoint: &Checkpoint, stands: &dyn Fn(&Seen) -> bool) {
        let session = &checkpoint.session;
        let mut seen = HashSet::new();
        let failed = session.commands.iter().rev().filter(|command| {
            // A later run of the same command tells how it stands.
            let is_last = seen.insert(command.text.as_str());
            is_last && is_unresolved(command) && stands(&command.seen)
        });
        self.keep(KEPT_MAX, failed.map(failed_item));
        let open = session.tasks.iter().filter(|task| task.status.is_open());
        let tasks = open.map(|task| {
            let item = Item::of(Sort::Task, &task.subject).seen(&task.changed);
            match &task.status {
                // A word of the client is none of ours.
                TaskStatus::Other(word) => item.detail(Some(word.clone())),
                TaskStatus::Pending
                | TaskStatus::InProgress
                | TaskStatus::Completed
                | TaskStatus::Deleted => item.state(task.status.word()),
            }
        });
        self.keep(SHORT_KEPT_MAX, tasks);
        let flying = session.agents.iter().rev();
        let flying = flying.filter(|one| one.state == AgentState::InFlight && stands(&one.seen));
        let agents = flying.map(|agent| {
            let asked = agent.about.as_deref().or(agent.prompt.as_deref()).unwrap_or_default();
            Item::of(Sort::Agent, asked).seen(&agent.seen).detail(agent.id.clone())
        });
        self.keep(KEPT_MAX, agents);
        let words = session.last_words.iter();
        self.items.extend(words.map(|words| {
            let item = Item::of(Sort::LastWords, &words.text);
            item.seen(&words.seen)
        }));
    }

    fn left_on_disk(&mut self, checkpoint: &Checkpoint) {
        let folder = checkpoint.session.cwd.as_deref().unwrap_or_default();
        let short = |path: &str| {
            let below = path.strip_prefix(folder).and_then(|rest| rest.strip_prefix('/'));
            below.unwrap_or(path).to_owned()
        };
        let number = |seen: Option<&Seen>| seen.map_or(0, |seen| seen.number);
        let mut changed: Vec<_> = checkpoint.session.files.changed().collect();
        changed.sort_by_key(|(path, file)| {
            (std::cmp::Reverse(number(file.changed.last())), path.to_owned())
        });
        let reverted: Vec<Item> = changed
            .iter()
            .filter_map(|(path, file)| {
                Some(Item::of(Sort::Reverted, &short(path)).seen(file.reverted.last()?))
            })
            .collect();
        self.keep(KEPT_MAX, reverted.into_iter());
        let changed = changed.into_iter().map(|(path, _)| Item::of(Sort::Changed, &short(path)));
        self.keep(SHORT_KEPT_MAX, changed);
        let missing = checkpoint.artifacts.iter().filter(|one| one.state == ArtifactState::Missing);
        let missing = missing.map(|one| Item::of(Sort::Missing, &short(&one.path)));
        self.keep(KEPT_MAX, missing);
        self.keep(KEPT_MAX, plans(checkpoint, &short).into_iter());
    }

    /// Keeps the first few, and counts the others.
    fn keep(&mut self, most: usize, items: impl Iterator<Item = Item>) {
        for (number, item) in items.enumerate() {
            match number < most {
                true => self.items.push(item),
                false => *self.left_out.entry(item.sort).or_default() += 1,
            }
        }
    }
}

/// Plans of the session, each once with how it stands now, then those that lie in the project.
fn plans(checkpoint: &Checkpoint, short: &dyn Fn(&str) -> String) -> Vec<Item> {
    let mut seen = HashSet::new();
    let mut items = Vec::new();
    for plan in checkpoint.session.plans.iter().rev() {
        let state = match plan.state {
            PlanState::Read => "read",
            PlanState::Written => "written",
            PlanState::Proposed => "proposed, not decided",
            PlanState::Approved => "approved by the user",
            PlanState::Rejected => "rejected by the user",
        };
        let Some(path) = plan.path.as_deref().map(short) else { continue };
        if plan.state != PlanState::Rejected && seen.insert(path.clone()) {
            items.push(Item::of(Sort::Plan, &path).seen(&plan.seen).state(state));
        }
    }
    for path in checkpoint.plan_documents.iter().map(|path| short(path)) {
        if seen.insert(path.clone()) {
            items.push(Item::of(Sort::Plan, &path).state("found in the project"));
        }
    }
    items
}

fn is_unresolved(command: &Command) -> bool {
    command.exit == Exit::Failed && command.passed_later.is_none()
}

/// A failed command with the last line of what it wrote.
fn failed_item(command: &Command) -> Item {
    let error = command.error.as_deref().unwrap_or_default();
    let last = error.lines().rev().map(str::trim).find(|line| !line.is_empty());
    let item = Item::of(Sort::Failed, &command.text).seen(&command.seen);
    let item = item.detail(last.map(str::to_owned));
    match command.code {
        Some(code) => item.state(&format!("exit {code}")),
        None => item,
    }
}

impl Item {
    fn of(sort: Sort, text: &str) -> Self {
        let text = text.trim().to_owned();
        Self { sort, text, detail: None, state: None, number: None, agent: None }
    }

    fn seen(self, seen: &Seen) -> Self {
        Self { number: Some(seen.number), agent: seen.agent.clone(), ..self }
    }

    fn detail(self, detail: Option<String>) -> Self {
        Self { detail, ..self }
    }

    fn state(self, state: &str) -> Self {
        Self { state: Some(state.to_owned()), ..self }
    }
}
