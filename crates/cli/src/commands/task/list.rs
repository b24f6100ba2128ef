//! `midstride task list`: tasks, and open questions among them.

use super::CliOutcome;
use crate::commands::report_unread;
use crate::ui::Ui;
use clap::ValueEnum;
use midstride::store::Store;
use midstride::verbs::TaskBoard;
use midstride::workspace::DocumentSelection;
use midstride_core::work::task::{Task, TaskStatus, Tasks};
use midstride_surface::diagnostic::Diagnostic;
use midstride_surface::view::task::OpenQuestion;
use midstride_surface::view::{self, count};

/// List the open tasks
///
/// Tasks in progress come first, then tasks that are ready, then waiting tasks, then open questions
/// in handoffs. Answer a question with `midstride task done ID#q1 --answer TEXT`.
#[derive(Debug, Default, clap::Args)]
#[command(after_help = "Examples:
  midstride task list
  midstride task list --all --search cache")]
pub(crate) struct TaskListArgs {
    /// Only this status
    #[arg(long, value_enum)]
    status: Option<TaskStatusArg>,

    /// Only tasks that are ready to start
    #[arg(long, conflicts_with = "blocked")]
    ready: bool,

    /// Only blocked and waiting tasks
    #[arg(long)]
    blocked: bool,

    /// Only tasks with all these words
    #[arg(long, value_name = "WORDS")]
    search: Option<String>,

    /// Include done and dropped tasks
    #[arg(long)]
    all: bool,

    /// Print as JSON
    #[arg(long)]
    json: bool,
}

impl TaskListArgs {
    /// The arguments for listing ready tasks.
    pub(super) fn ready(json: bool) -> Self {
        Self { ready: true, json, ..Self::default() }
    }
}

#[derive(Clone, Copy, Debug, ValueEnum)]
#[value(rename_all = "snake_case")]
pub(super) enum TaskStatusArg {
    Pending,
    InProgress,
    Blocked,
    Done,
    Dropped,
}

impl From<TaskStatusArg> for TaskStatus {
    fn from(status: TaskStatusArg) -> Self {
        match status {
            TaskStatusArg::Pending => Self::Pending,
            TaskStatusArg::InProgress => Self::InProgress,
            TaskStatusArg::Blocked => Self::Blocked,
            TaskStatusArg::Done => Self::Done,
            TaskStatusArg::Dropped => Self::Dropped,
        }
    }
}

pub(super) fn list(
    ui: &mut Ui,
    store: &Store,
    args: &TaskListArgs,
) -> Result<CliOutcome, Diagnostic> {
    let workspace = store.workspace();
    let tasks = TaskBoard::open(store)?.tasks;
    let DocumentSelection { documents, unread } = workspace.select(&[])?;
    let words: Vec<String> = args
        .search
        .iter()
        .flat_map(|text| text.split_whitespace())
        .map(str::to_lowercase)
        .collect();
    let asked_for_ended = args.all || args.status.is_some();
    let mut chosen: Vec<&Task> =
        tasks.iter().filter(|task| task_matches(&tasks, task, args, &words)).collect();
    let hidden = chosen.iter().filter(|task| !task.status.is_open() && !asked_for_ended).count();
    chosen.retain(|task| task.status.is_open() || asked_for_ended);
    view::task::sort(&tasks, &mut chosen);
    let mut questions = view::task::open_questions(workspace, &documents);
    questions.retain(|question| question_matches(question, args, &words));
    if args.json {
        ui.print_json(&view::task::entries(&tasks, &chosen, &questions))?;
        return report_unread(ui, workspace, unread);
    }
    if chosen.is_empty() && questions.is_empty() {
        ui.say(match tasks.is_empty() {
            true => "No tasks here yet. Next: midstride task add \"what to do\"",
            false => "No matching tasks.",
        })?;
    } else {
        let table = view::task::render_table(&tasks, &chosen, &questions, Ui::width());
        ui.print(&table.text)?;
        if !table.omitted_columns.is_empty() {
            let names = table.omitted_columns.join(", ");
            ui.say(&format!("Columns omitted: {names} (see `midstride task show ID` or --json)"))?;
        }
    }
    if hidden > 0 {
        ui.say(&format!("{hidden} done or dropped; `midstride task list --all` shows them"))?;
    }
    report_anomalies(ui, &tasks)?;
    report_unread(ui, workspace, unread)
}

/// Reports dependency cycles, and dependencies on unknown tasks.
fn report_anomalies(ui: &mut Ui, tasks: &Tasks) -> Result<(), Diagnostic> {
    for circle in tasks.cycles() {
        let first = circle.first().map(ToString::to_string).unwrap_or_default();
        let names = view::task::joined_ids(&circle).replace(", ", " → ");
        ui.warn(&Diagnostic::new(format!("{names} → {first} depend on each other")).hint(
            format!("`midstride task update {first} --no-longer-depends-on TASK` breaks the cycle"),
        ))?;
    }
    let unknown = |task: &&Task| {
        task.status.is_open() && tasks.awaited_tasks(task).iter().any(|a| a.status.is_none())
    };
    let waiting = tasks.iter().filter(unknown).count();
    if waiting > 0 {
        let is = if waiting == 1 { "is" } else { "are" };
        let waiting = count(waiting, "task");
        ui.warn(
            &Diagnostic::new(format!(
                "{waiting} {is} waiting for tasks that are not in this clone"
            ))
            .hint("`midstride sync` fetches shared tasks"),
        )?;
    }
    for task in tasks.iter().filter(|task| !task.newer_kinds.is_empty()) {
        let kinds = task.newer_kinds.iter().cloned().collect::<Vec<_>>().join(", ");
        ui.warn(
            &Diagnostic::new(format!(
                "{} contains {kinds}, which a newer midstride wrote",
                task.id
            ))
            .hint("update midstride to change it"),
        )?;
    }
    Ok(())
}

fn task_matches(tasks: &Tasks, task: &Task, args: &TaskListArgs, words: &[String]) -> bool {
    let text = || {
        let notes = task.notes.iter().map(|note| note.text.as_str());
        let parts = [task.subject.as_str()].into_iter().chain(task.description.as_deref());
        let parts = parts.chain(notes).chain(task.metadata.values().map(String::as_str));
        parts.chain(task.reason.as_deref()).collect::<Vec<_>>().join("\n").to_lowercase()
    };
    args.status.is_none_or(|status| task.status == status.into())
        && (!args.ready || tasks.is_ready(task))
        && (!args.blocked || tasks.is_blocked(task))
        && (words.is_empty() || contains_all(&text(), words))
}

fn question_matches(open: &OpenQuestion<'_>, args: &TaskListArgs, words: &[String]) -> bool {
    let context = open.question.context.map_or("", |text| text.value);
    let searched = || format!("{}\n{context}", open.subject()).to_lowercase();
    args.status.is_none_or(|status| open.status() == status.into())
        && !args.ready
        && (!args.blocked || open.question.blocking)
        && (words.is_empty() || contains_all(&searched(), words))
}

fn contains_all(text: &str, words: &[String]) -> bool {
    words.iter().all(|word| text.contains(word.as_str()))
}
