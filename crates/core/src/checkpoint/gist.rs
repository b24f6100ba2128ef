//! What whoever goes on has to know of a session, the newest of each sort first: all that the user
//! said, that failed, that was changed and that is open is named, the newest at length. It is kept
//! beside the checkpoint, so that nobody who is told reads through all that a long session did.

use super::{ArtifactState, Checkpoint};
use crate::session::{
    Agent, AgentState, Answer, Client, Command, Exit, PlanState, Request, Seen, TaskStatus,
};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap, HashSet};

/// The version of the shape; where an older one is kept, the checkpoint itself tells more.
pub const GIST_VERSION: u32 = 2;

/// So many of each sort at length; the others are named in a line.
pub const AT_LENGTH_MAX: usize = 8;
/// A line has no more characters than this, unless it is the path of a file.
const LINE_LENGTH_MAX: usize = 200;
/// What is more than this in all is counted: a session has some hundreds of things to tell, and a
/// hook reads them all.
const BYTES_MAX: usize = 256 << 10;
/// What an item takes besides its texts.
const ITEM_BYTES: usize = 60;

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
    /// How many things the session did that not even the checkpoint has.
    #[serde(default)]
    pub not_kept: u64,
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
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
    /// A command that failed, and passed since.
    Passed,
    /// What was said or begun before the user went back.
    TakenBack,
}

impl Gist {
    /// Takes it from a checkpoint.
    pub fn of(checkpoint: &Checkpoint) -> Self {
        let session = &checkpoint.session;
        let left: HashSet<&str> = checkpoint.abandoned.iter().map(String::as_str).collect();
        let facts = Facts { checkpoint, folder: session.cwd.as_deref().unwrap_or_default(), left };
        let mut gist = Self {
            version: GIST_VERSION,
            client: checkpoint.client(),
            session: checkpoint.session_id().to_owned(),
            digest: checkpoint.digest.clone(),
            folder: session.cwd.clone(),
            // What the client saw while it worked; git may have been looked at long after.
            branch: session.branch.clone().or_else(|| checkpoint.git.branch.clone()),
            ended: session.ended,
            items: Vec::new(),
            left_out: BTreeMap::new(),
            not_kept: session.requests.left_out
                + session.commands.left_out
                + session.agents.left_out
                + session.files.left_out,
        };
        gist.keep(facts.by_weight());
        gist
    }

    /// Reads what was kept; `None` where a later version wrote it, or somebody else.
    pub fn read(bytes: &[u8]) -> Option<Self> {
        let gist: Self = serde_json::from_slice(bytes).ok()?;
        (1..=GIST_VERSION).contains(&gist.version).then_some(gist)
    }

    /// Whether it names all that a gist of this version does.
    pub fn is_current(&self) -> bool {
        self.version == GIST_VERSION
    }

    /// The items of a sort.
    pub fn of_sort(&self, sort: Sort) -> impl Iterator<Item = &Item> {
        self.items.iter().filter(move |item| item.sort == sort)
    }

    /// Keeps what there is room for, and counts the others. What comes first has the room first.
    fn keep(&mut self, sorts: Vec<Vec<Item>>) {
        let mut room = BYTES_MAX;
        for items in sorts {
            for (number, item) in items.into_iter().enumerate() {
                let item = if number < AT_LENGTH_MAX { item } else { item.in_a_line() };
                match room.checked_sub(item.bytes()) {
                    Some(rest) => {
                        room = rest;
                        self.items.push(item);
                    }
                    None => *self.left_out.entry(item.sort).or_default() += 1,
                }
            }
        }
        self.items.sort_by_key(|item| item.sort);
    }
}

/// The file may be as it was, or as it was left: going back in a conversation need not touch the disk.
const LEFT: &str = "only before the user went back; look at how it is on disk";

/// What a checkpoint tells, sort by sort.
struct Facts<'c> {
    checkpoint: &'c Checkpoint,
    folder: &'c str,
    /// Records that the user went back before.
    left: HashSet<&'c str>,
}

impl Facts<'_> {
    /// What has to be done something about, then what is good to know, then what is over.
    fn by_weight(&self) -> Vec<Vec<Item>> {
        let (failed, passed) = self.failed();
        let (goal, asked) = self.asked();
        let [changed, reverted] = self.changed();
        vec![
            goal,
            self.corrections(),
            self.queued(),
            self.last_words(),
            self.agents(),
            failed,
            self.tasks(),
            self.answers(),
            reverted,
            self.missing(),
            plans(self.checkpoint, &|path| self.short(path)),
            asked,
            changed,
            passed,
            self.taken_back(),
        ]
    }

    fn stands(&self, seen: &Seen) -> bool {
        !self.left.contains(seen.record.as_str())
    }

    /// A path as it is beneath the folder of the session.
    fn short(&self, path: &str) -> String {
        let below = path.strip_prefix(self.folder).and_then(|rest| rest.strip_prefix('/'));
        below.unwrap_or(path).to_owned()
    }

    /// What the user said, also in the session that this one goes on from.
    fn requests(&self, corrections: bool) -> impl DoubleEndedIterator<Item = (&Request, bool)> {
        let session = &self.checkpoint.session;
        let before = session.asked_before.iter().map(|one| (one, true));
        let all = before.chain(session.requests.iter().map(|one| (one, false)));
        all.filter(move |(one, _)| {
            one.correction.is_some() == corrections && self.stands(&one.seen)
        })
    }

    /// What the user asked first, and what since.
    fn asked(&self) -> (Vec<Item>, Vec<Item>) {
        let mut asked = self.requests(false);
        let goal = asked.next().map(|goal| request(Sort::Goal, goal));
        (goal.into_iter().collect(), asked.rev().map(|one| request(Sort::Request, one)).collect())
    }

    fn corrections(&self) -> Vec<Item> {
        self.requests(true).rev().map(|one| request(Sort::Correction, one)).collect()
    }

    fn queued(&self) -> Vec<Item> {
        let queued = self.checkpoint.session.queued.iter().rev();
        // What clients queue for themselves begins with a mark.
        let queued = queued.filter(|one| !one.text.starts_with('<'));
        queued.map(|one| Item::of(Sort::Queued, &one.text).seen(&one.seen)).collect()
    }

    fn answers(&self) -> Vec<Item> {
        let answers = self.checkpoint.session.answers.iter().rev();
        let answers = answers.filter(|answer| self.stands(&answer.seen));
        let item = |one: &Answer| {
            Item::of(Sort::Answer, &one.answer).seen(&one.seen).detail(Some(one.question.clone()))
        };
        answers.map(item).collect()
    }

    /// Each command that failed, once: those that did not pass since, and those that did.
    fn failed(&self) -> (Vec<Item>, Vec<Item>) {
        let commands = &self.checkpoint.session.commands;
        let mut failures: HashMap<&str, usize> = HashMap::new();
        for command in commands.iter().filter(|command| command.exit == Exit::Failed) {
            *failures.entry(command.text.as_str()).or_default() += 1;
        }
        // One that was stopped, or not allowed, says nothing about how it stands.
        let ended = commands.iter().rev();
        let ended = ended.filter(|command| matches!(command.exit, Exit::Passed | Exit::Failed));
        let (mut open, mut over) = (Vec::new(), Vec::new());
        for command in ended {
            // The latest run tells, and takes the others away.
            let Some(times) = failures.remove(command.text.as_str()) else { continue };
            match (is_unresolved(command), self.stands(&command.seen)) {
                (true, true) => open.push(failed_item(command)),
                (true, false) => over.push(Item::of(Sort::TakenBack, &command.text)),
                (false, _) => over.push(passed_item(command, times)),
            }
        }
        (open, over)
    }

    fn tasks(&self) -> Vec<Item> {
        let open = self.checkpoint.session.tasks.iter().filter(|task| task.status.is_open());
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
        tasks.collect()
    }

    fn agents_in_flight(&self) -> impl DoubleEndedIterator<Item = &Agent> {
        self.checkpoint.session.agents.iter().filter(|one| one.state == AgentState::InFlight)
    }

    fn agents(&self) -> Vec<Item> {
        let flying = self.agents_in_flight().rev().filter(|one| self.stands(&one.seen));
        let item = |agent: &Agent| {
            Item::of(Sort::Agent, asked_of(agent)).seen(&agent.seen).detail(agent.id.clone())
        };
        flying.map(item).collect()
    }

    fn last_words(&self) -> Vec<Item> {
        let words = self.checkpoint.session.last_words.iter();
        words.map(|words| Item::of(Sort::LastWords, &words.text).seen(&words.seen)).collect()
    }

    /// Files that were changed, and those of which a change was taken back.
    fn changed(&self) -> [Vec<Item>; 2] {
        let number = |seen: Option<&Seen>| seen.map_or(0, |seen| seen.number);
        let mut changed: Vec<_> = self.checkpoint.session.files.changed().collect();
        changed.sort_by_key(|(path, file)| {
            let left = self.checkpoint.is_left(file);
            (left, std::cmp::Reverse(number(file.changed.last())), path.to_owned())
        });
        let reverted = changed.iter().filter_map(|(path, file)| {
            let seen = file.reverted.last()?;
            let item = Item::of(Sort::Reverted, &self.short(path)).seen(seen);
            Some(if self.stands(seen) { item } else { item.state(LEFT) })
        });
        let reverted = reverted.collect();
        let changed = changed.iter().map(|(path, file)| {
            let item = Item::of(Sort::Changed, &self.short(path));
            if self.checkpoint.is_left(file) { item.state(LEFT) } else { item }
        });
        [changed.collect(), reverted]
    }

    fn missing(&self) -> Vec<Item> {
        let artifacts = self.checkpoint.artifacts.iter();
        let missing = artifacts.filter(|one| one.state == ArtifactState::Missing);
        missing.map(|one| Item::of(Sort::Missing, &self.short(&one.path))).collect()
    }

    /// What the user went back before: it was said, and it holds no more.
    fn taken_back(&self) -> Vec<Item> {
        let item = |text: &str, seen: &Seen| Item::of(Sort::TakenBack, text).seen(seen);
        let requests = self.checkpoint.session.requests.iter();
        let requests = requests.map(|one| (one.text.as_str(), &one.seen));
        let agents = self.agents_in_flight().map(|one| (asked_of(one), &one.seen));
        let gone = requests.chain(agents).filter(|(_, seen)| !self.stands(seen));
        gone.map(|(text, seen)| item(text, seen)).collect()
    }
}

fn request(sort: Sort, (one, is_before): (&Request, bool)) -> Item {
    let item = Item::of(sort, &one.text).seen(&one.seen);
    if is_before { item.state("before this session forked") } else { item }
}

/// What an agent was asked, in few words where there are any.
fn asked_of(agent: &Agent) -> &str {
    agent.about.as_deref().or(agent.prompt.as_deref()).unwrap_or_default()
}

/// Plans of the session, each once with how it stands now, then those that lie in the project.
fn plans(checkpoint: &Checkpoint, short: &dyn Fn(&str) -> String) -> Vec<Item> {
    let mut seen = HashSet::new();
    let mut items = Vec::new();
    for plan in checkpoint.session.plans.iter().rev() {
        let state = plan.state.words();
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

/// A command that failed, and passed since.
fn passed_item(command: &Command, times: usize) -> Item {
    let failed = match times {
        1 => "failed once".to_owned(),
        times => format!("failed {times} times"),
    };
    Item::of(Sort::Passed, &command.text).state(&failed)
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

    /// Named rather than told: what belongs to it is left to the checkpoint.
    fn in_a_line(self) -> Self {
        let is_path =
            matches!(self.sort, Sort::Reverted | Sort::Changed | Sort::Missing | Sort::Plan);
        let text = if is_path { self.text } else { line_of(&self.text) };
        Self { text, detail: self.detail.as_deref().map(line_of), ..self }
    }

    /// About what it takes to keep it.
    fn bytes(&self) -> usize {
        let length = |text: &Option<String>| text.as_ref().map_or(0, String::len);
        ITEM_BYTES
            + self.text.len()
            + length(&self.detail)
            + length(&self.state)
            + length(&self.agent)
    }
}

/// The first line of a text that says something, if it is not too long.
fn line_of(text: &str) -> String {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    match line.char_indices().nth(LINE_LENGTH_MAX) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None if line.len() < text.len() => format!("{line} …"),
        None => line.to_owned(),
    }
}
