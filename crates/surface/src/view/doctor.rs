//! Renders `midstride doctor`: the setup of the project, the clients, and a simulated session.

mod clients;
mod simulation;

pub use simulation::{SimulationError, SimulationStep};

use super::client::path_problem;
use super::permission::unread_store_text;
use super::session_cost::{FoundClient, SessionCost};
use super::{count, heading, one_line, sanitize, size};
use crate::json::JsonAnswer;
use clients::ClientDiagnosisJson;
use midstride::clients::hook_log::HookLogReport;
use midstride::clients::install::PathLookup;
use midstride::clients::{ALL, Client, home_variables, one_of};
use midstride::store::ledger::{LedgerHealth, LedgerState, NEWEST_VERSION};
use midstride::sys::git::{GitVersion, OLDEST_VERSION};
use midstride::verbs::{
    ClientFacts, Dismissals, FolderFacts, IdleCost, ProjectReport, ReindexOutcome,
};
use midstride::workspace::folder::FolderLayout;
use midstride::workspace::user_settings::Exclusion;
use midstride::workspace::{SetupMode, SkippedSetting, StoreOwner};
use serde::Serialize;
use simulation::SimulationStepJson;
use std::path::{Path, PathBuf};

/// A problem and its hint.
pub(crate) type ProblemText = (String, String);

/// Everything that `midstride doctor` found out.
pub struct Diagnosis {
    /// The setup, folders, ledger and index of the project.
    pub project: ProjectReport,
    /// How many documents of others sessions are not briefed from.
    pub withheld: usize,
    /// Whose the private store is.
    pub store_owner: StoreOwner,
    /// The place of the private store.
    pub private_folder: PathBuf,
    /// Private stores that are not the user's, in place or set aside.
    pub unread_stores: Vec<PathBuf>,
    /// What switched the hooks off, if they are off.
    pub off_switch: Option<OffSwitch>,
    /// What is known about each client.
    pub clients: Vec<ClientFacts>,
    /// The program that the PATH leads to.
    pub on_path: PathLookup,
    /// The version of git on the PATH, if there is one.
    pub git: Option<GitVersion>,
    /// The statistics from the hook log.
    pub hook_log: HookLogReport,
    /// Why the hook log could not be read.
    pub log_problem: Option<String>,
    /// The log of calls that could not open their project, and its path.
    pub user_log: Option<(PathBuf, HookLogReport)>,
    /// What midstride costs while no session runs.
    pub idle: IdleCost,
    /// The tokens that the tools and skills add to a session.
    pub session_cost: SessionCost,
    /// The steps of the simulated session, if one was requested.
    pub steps: Option<Vec<SimulationStep>>,
}

/// What switched the hooks off.
pub enum OffSwitch {
    /// The environment variable `MIDSTRIDE`.
    Variable,
    /// The project, with `midstride off`.
    Project,
    /// The user's settings, or the policy of the machine.
    Excluded(Exclusion),
}

/// The result of `midstride doctor --json`.
#[derive(Serialize)]
pub struct DiagnosisJson {
    switched_off: Option<&'static str>,
    clients: Vec<ClientDiagnosisJson>,
    on_path: Option<String>,
    on_path_is_this_version: bool,
    unreadable_log_lines: usize,
    simulation: Option<Vec<SimulationStepJson>>,
    cost: IdleCostJson,
    #[serde(flatten)]
    examined: ProjectReportJson,
}

impl JsonAnswer for DiagnosisJson {
    const SCHEMA: &'static str = "doctor/1";
}

#[derive(Serialize)]
struct IdleCostJson {
    processes: usize,
    bytes: DiskUsageJson,
    tools_tokens: u64,
    tool_names_tokens: u64,
    briefing_tokens: Option<u64>,
}

#[derive(Serialize)]
struct DiskUsageJson {
    all: u64,
    ledger: u64,
    index: u64,
    log: u64,
    cursors: u64,
    other: u64,
}

#[derive(Serialize)]
struct ProjectReportJson {
    root: String,
    set_up: &'static str,
    shelves: Vec<HandoffFolderJson>,
    ledger: LedgerDiagnosisJson,
    index: IndexDiagnosisJson,
    problems: Vec<ProblemJson>,
}

#[derive(Serialize)]
struct HandoffFolderJson {
    path: String,
    layout: &'static str,
    documents: Option<usize>,
}

#[derive(Serialize)]
struct LedgerDiagnosisJson {
    path: String,
    version: Option<u32>,
    records: Option<usize>,
    put_aside: usize,
    forgotten: usize,
    redacted: usize,
    dismissed: usize,
    dismissed_as_wrong: usize,
}

#[derive(Serialize)]
struct IndexDiagnosisJson {
    path: String,
    documents: Option<usize>,
    bytes: u64,
    age_seconds: Option<u64>,
}

#[derive(Serialize)]
struct ProblemJson {
    message: String,
    hint: String,
}

/// The JSON for a diagnosis. `problems` are those of [`problems`], with secrets redacted.
pub fn json(diagnosis: &Diagnosis, problems: &[ProblemText]) -> DiagnosisJson {
    let on_path = match &diagnosis.on_path {
        PathLookup::Same(path) | PathLookup::Other(path, _) => Some(path.display().to_string()),
        PathLookup::Missing => None,
    };
    let IdleCost { ledger, index, log, cursors, other, briefing_tokens: briefing } = diagnosis.idle;
    let all = diagnosis.idle.bytes();
    DiagnosisJson {
        switched_off: diagnosis.off_switch.as_ref().map(|off| match off {
            OffSwitch::Variable => "variable",
            OffSwitch::Project => "project",
            OffSwitch::Excluded(_) => "excluded",
        }),
        clients: diagnosis.clients.iter().map(clients::json).collect(),
        on_path,
        on_path_is_this_version: matches!(diagnosis.on_path, PathLookup::Same(_)),
        unreadable_log_lines: diagnosis.hook_log.unreadable,
        simulation: diagnosis
            .steps
            .as_ref()
            .map(|steps| steps.iter().map(simulation::json).collect()),
        cost: IdleCostJson {
            // midstride has no daemon: a hook exits after its answer, and the MCP server exits with
            // its session.
            processes: 0,
            bytes: DiskUsageJson { all, ledger, index, log, cursors, other },
            tools_tokens: diagnosis.session_cost.tool_list,
            tool_names_tokens: diagnosis.session_cost.tool_names,
            briefing_tokens: briefing,
        },
        examined: project_json(&diagnosis.project, problems),
    }
}

fn project_json(examined: &ProjectReport, problems: &[ProblemText]) -> ProjectReportJson {
    let ProjectReport { ledger, index, .. } = examined;
    let (version, records) = match &ledger.state {
        LedgerState::Readable { version, records } => (Some(*version), Some(*records)),
        LedgerState::Newer { version } => (Some(*version), None),
        LedgerState::Missing | LedgerState::Unusable(_) => (None, None),
    };
    let shelf = |shelf: &FolderFacts| HandoffFolderJson {
        path: shelf.path.display().to_string(),
        layout: layout_word(shelf.layout),
        documents: shelf.documents.as_ref().ok().copied(),
    };
    let problem = |(message, hint): &ProblemText| ProblemJson {
        message: message.clone(),
        hint: hint.clone(),
    };
    ProjectReportJson {
        root: examined.root.display().to_string(),
        set_up: setup_word(examined.set_up),
        shelves: examined.folders.iter().map(shelf).collect(),
        ledger: LedgerDiagnosisJson {
            path: ledger.path.display().to_string(),
            version,
            records,
            put_aside: ledger.spooled,
            forgotten: examined.forgotten,
            redacted: redacted_count(examined),
            dismissed: examined.dismissals.all,
            dismissed_as_wrong: examined.dismissals.wrong,
        },
        index: IndexDiagnosisJson {
            path: index.path.display().to_string(),
            documents: index.documents,
            bytes: index.bytes,
            age_seconds: index.age.map(|age| age.as_secs()),
        },
        problems: problems.iter().map(problem).collect(),
    }
}

fn setup_word(how: SetupMode) -> &'static str {
    match how {
        SetupMode::NotSetUp => "not",
        SetupMode::Committed => "committed",
        SetupMode::Private => "private",
    }
}

fn layout_word(layout: FolderLayout) -> &'static str {
    match layout {
        FolderLayout::Own => "own",
        FolderLayout::Pipeline => "pipeline",
        FolderLayout::Folder => "folder",
        FolderLayout::Memory => "memory",
    }
}

/// The report for users. `problems` are those of [`problems`], with secrets redacted.
pub fn text(diagnosis: &Diagnosis, problems: &[ProblemText], terminal: Option<usize>) -> String {
    let off = match &diagnosis.off_switch {
        Some(OffSwitch::Variable) => {
            "Hooks are off: MIDSTRIDE=off is set in this environment. Unset it to turn them on.\n"
                .to_owned()
        }
        Some(OffSwitch::Project) => {
            "Hooks are off in this project. Turn them on with `midstride on`.\n".to_owned()
        }
        Some(OffSwitch::Excluded(exclusion)) => format!("midstride is off here: {exclusion}.\n"),
        None => String::new(),
    };
    let verdict = match (problems.len(), &diagnosis.off_switch) {
        (0, None) => "No problems.".to_owned(),
        (0, Some(_)) => "No other problems.".to_owned(),
        (some, _) => format!("{} (see below)", count(some, "problem")),
    };
    let mut out = format!("{off}{verdict}\n\n{}", cost_text(diagnosis));
    let speaks = diagnosis.off_switch.is_none() && diagnosis.project.set_up != SetupMode::NotSetUp;
    for facts in &diagnosis.clients {
        out.push_str(&clients::text(facts, speaks, terminal));
    }
    out.push_str(&clients::background_text(&diagnosis.hook_log.hooks));
    if let Some(steps) = &diagnosis.steps {
        out.push_str(&simulation::text(steps, terminal));
    }
    out.push_str(&project_text(&diagnosis.project));
    out.push_str(&problems_text(problems));
    out
}

/// The problems, printed with the report on standard output so that they also end up in a
/// redirected file.
fn problems_text(problems: &[ProblemText]) -> String {
    let problem = |(message, hint): &ProblemText| {
        // Indent a message of several lines below its first line.
        let message = sanitize(message).replace('\n', "\n    ");
        format!("  - {message}\n    hint: {}\n", sanitize(hint))
    };
    let all: String = problems.iter().map(problem).collect();
    if all.is_empty() { all } else { format!("{}{all}", heading("Problems")) }
}

/// What midstride costs while idle, and what it costs at the start of a session.
fn cost_text(diagnosis: &Diagnosis) -> String {
    let IdleCost { ledger, index, log, cursors, other, briefing_tokens: briefing } = diagnosis.idle;
    let parts = [
        ("ledger", ledger),
        ("index", index),
        ("log", log),
        ("cursors", cursors),
        ("other", other),
    ];
    let part = |(name, bytes): (&str, u64)| (bytes > 0).then(|| format!("{name} {}", size(bytes)));
    let parts: Vec<String> = parts.into_iter().filter_map(part).collect();
    let parts = if parts.is_empty() { String::new() } else { format!(" ({})", parts.join(", ")) };
    let briefing = match briefing {
        Some(0) => "nothing to brief now".to_owned(),
        Some(tokens) => format!("a {tokens}-token briefing now"),
        None => "no briefing here".to_owned(),
    };
    let path = match &diagnosis.on_path {
        PathLookup::Same(found) => format!("{}, this version", path_text(found)),
        PathLookup::Other(found, version) if version.is_empty() => {
            format!("{}, another version", path_text(found))
        }
        PathLookup::Other(found, version) => {
            format!("{}, {}", path_text(found), one_line(version, 60))
        }
        PathLookup::Missing => "not on the PATH".to_owned(),
    };
    let lost = match diagnosis.hook_log.unreadable {
        0 => String::new(),
        some => format!("  log      skipped {} that could not be read\n", count(some, "line")),
    };
    let failed = diagnosis.user_log.as_ref().and_then(failed_calls_text).unwrap_or_default();
    let is_used = |facts: &&ClientFacts| facts.is_found() || facts.is_installed();
    let all = diagnosis.clients.iter();
    let is_any_used = all.clone().any(|facts| is_used(&facts));
    let used = all.filter(|facts| !is_any_used || is_used(facts));
    let used: Vec<_> =
        used.map(|facts| FoundClient::new(facts.client, facts.program.as_ref())).collect();
    let cost = diagnosis.session_cost;
    format!(
        "{}  program  {path}\n  idle     no process, no daemon; {} on disk{parts}\n  session  \
         {briefing}; {}\n  tools    {}\n{lost}{failed}",
        heading("midstride"),
        size(diagnosis.idle.bytes()),
        cost.names_text(),
        cost.list_text(&used),
    )
}

/// How many hook calls of any project could not open it, and why the last one could not.
fn failed_calls_text((path, report): &(PathBuf, HookLogReport)) -> Option<String> {
    let calls = report.hooks.iter().map(|hook| hook.failures).sum();
    let (at, why) = report.hooks.iter().filter_map(|hook| hook.failed.as_ref()).max()?;
    let (calls, why) = (count(calls, "hook call"), one_line(why, 120));
    let log = path_text(path);
    Some(format!(
        "  failed   {calls} could not open a project, last on {at}: {why}\n           ({log})\n"
    ))
}

fn project_text(examined: &ProjectReport) -> String {
    let set_up = match examined.set_up {
        SetupMode::NotSetUp => "not set up; existing handoffs are still read",
        SetupMode::Committed => "set up, with a committed folder",
        SetupMode::Private => "set up privately: nothing is committed",
    };
    let mut out = heading("Project");
    out.push_str(&format!("  {}\n  {set_up}\n", path_text(&examined.root)));
    out.push_str(&heading("Folders"));
    for shelf in &examined.folders {
        let documents = match &shelf.documents {
            Ok(number) => count(*number, "document"),
            Err(_) => "cannot be read".to_owned(),
        };
        out.push_str(&format!("  {}  {documents}\n", path_text(&shelf.path)));
    }
    out.push_str(&heading("Ledger"));
    out.push_str(&format!(
        "  {}\n  {}\n",
        path_text(&examined.ledger.path),
        ledger_text(&examined.ledger)
    ));
    if examined.forgotten > 0 {
        out.push_str(&format!("  {} forgotten\n", count(examined.forgotten, "item")));
    }
    let redacted = redacted_count(examined);
    if redacted > 0 {
        let texts = count(redacted, "stored item");
        out.push_str(&format!("  {texts} redacted again with newer rules\n"));
    }
    let Dismissals { all, wrong } = examined.dismissals;
    if let Some(share) = (wrong * 100).checked_div(all) {
        let items = count(all, "briefed item");
        out.push_str(&format!("  {items} dismissed, {wrong} as wrong ({share}%)\n"));
    }
    out.push_str(&heading("Index"));
    out.push_str(&format!("  {}\n  {}\n", path_text(&examined.index.path), index_text(examined)));
    out
}

/// How many stored texts newer rules redacted: blobs and earlier texts by all rules since the store
/// was created, records and files by the last ones.
fn redacted_count(examined: &ProjectReport) -> usize {
    let last = examined.redaction.as_ref();
    examined.redacted + last.map_or(0, |last| last.records + last.files + last.handoffs)
}

fn path_text(path: &Path) -> String {
    sanitize(&path.display().to_string())
}

fn ledger_text(facts: &LedgerHealth) -> String {
    let state = match &facts.state {
        LedgerState::Missing => "not created yet; the first change creates it".to_owned(),
        LedgerState::Readable { version, records } => {
            format!("version {version}, {}", count(*records, "record"))
        }
        LedgerState::Newer { version } => {
            format!(
                "version {version}, created by a newer midstride; this one supports {NEWEST_VERSION}"
            )
        }
        LedgerState::Unusable(why) => format!("cannot be used: {why}"),
    };
    match facts.spooled {
        0 => state,
        some => format!("{state}, {} queued for it", count(some, "file")),
    }
}

fn index_text(examined: &ProjectReport) -> String {
    match examined.index.documents {
        None => "not created yet; the first search creates it".to_owned(),
        Some(0) => "empty; the first search fills it".to_owned(),
        Some(documents) => {
            let size = size(examined.index.bytes);
            let age = examined.index.age.map_or(0, |age| age.as_secs() / 86_400);
            let age = if age == 0 {
                "today".to_owned()
            } else {
                format!("{} ago", count(usize::try_from(age).unwrap_or(usize::MAX), "day"))
            };
            format!("{}, {size}, changed {age}", count(documents, "document"))
        }
    }
}

/// Reports how many documents were indexed.
pub fn reindex_text(done: &ReindexOutcome) -> String {
    let gone = match done.removed {
        0 => String::new(),
        some => format!(", removed the index for {}", count(some, "deleted worktree")),
    };
    format!("Indexed {}{gone}", count(done.documents, "document"))
}

/// All problems with their hints.
pub fn problems(diagnosis: &Diagnosis) -> Vec<ProblemText> {
    let mut found: Vec<ProblemText> =
        diagnosis.clients.iter().flat_map(clients::problems).collect();
    let is_installed = diagnosis.clients.iter().any(ClientFacts::is_installed);
    if !is_installed {
        found.push(no_client_problem(&diagnosis.clients));
    }
    if is_installed && !matches!(diagnosis.on_path, PathLookup::Same(_)) {
        let (message, hint) = path_problem(&diagnosis.on_path);
        found.push((message, hint.to_owned()));
    }
    found.extend(diagnosis.git.filter(|git| *git < OLDEST_VERSION).map(old_git_problem));
    if let Some(why) = &diagnosis.log_problem {
        found.push((
            why.clone(),
            "check that path; until it is fixed, hooks run without a log".to_owned(),
        ));
    }
    if diagnosis.project.set_up != SetupMode::NotSetUp && diagnosis.withheld > 0 {
        found.push((
            "this project is not trusted, so sessions are not briefed from its handoffs".to_owned(),
            "run `midstride trust` to review and allow it".to_owned(),
        ));
    }
    found.extend(store_problems(diagnosis));
    found.extend(diagnosis.steps.iter().flat_map(|steps| simulation::problems(steps)));
    found.extend(project_problems(&diagnosis.project));
    found
}

/// Private stores that are not read, or not passed on.
fn store_problems(diagnosis: &Diagnosis) -> Vec<ProblemText> {
    let folder = diagnosis.private_folder.display();
    let unrecorded = (diagnosis.store_owner == StoreOwner::Unrecorded).then(|| {
        let message = format!(
            "midstride cannot record that `{folder}` is yours, so sessions are not briefed from it"
        );
        (message, "set HOME or XDG_STATE_HOME".to_owned())
    });
    let unread = diagnosis.unread_stores.iter().map(|path| unread_store_text(path));
    unrecorded.into_iter().chain(unread).collect()
}

/// The problem that git is older than midstride supports.
fn old_git_problem(git: GitVersion) -> ProblemText {
    let hint = "update git: older versions may run programs that a repository configures";
    (
        format!("git {git} is older than {OLDEST_VERSION}, the oldest supported version"),
        hint.to_owned(),
    )
}

/// The problem that midstride is not installed in any client. If a client was found, one of its files may have to
/// be fixed first.
fn no_client_problem(all: &[ClientFacts]) -> ProblemText {
    let there: Vec<&ClientFacts> = all.iter().filter(|facts| facts.is_found()).collect();
    if there.is_empty() {
        let (titles, variables) = (one_of(ALL.map(Client::title)), home_variables());
        let hint = format!(
            "install {titles} and start it once, then run `midstride setup`; if its home folder is in another location, set {variables}"
        );
        return ("no client found on this machine".to_owned(), hint);
    }
    let is_blocked = there.iter().any(|facts| clients::is_blocked(facts));
    let first = if is_blocked { "fix the problems above, then " } else { "" };
    let hint = format!("{first}run `midstride setup`");
    ("midstride is not installed in any client".to_owned(), hint)
}

/// The problem that newer rules found secrets that could not be removed.
fn unredacted_problem(left: usize) -> ProblemText {
    let texts = count(left, "private item");
    let hint = "`midstride check` lists the handoffs; `git gc --prune=now` removes old copies from git's packs";
    (format!("newer redaction rules find secrets in {texts}"), hint.to_owned())
}

/// The hint for a setting that was not applied.
fn unread_setting_hint(not_read: &SkippedSetting) -> String {
    match not_read {
        SkippedSetting::UnknownKey { key, file } => format!(
            "remove `{key}` from `{}`, or update midstride if a newer version supports it",
            file.display()
        ),
        SkippedSetting::Untrusted(_) | SkippedSetting::UntrustedRules(_) => {
            "review it with `midstride trust`, or fix the configuration".to_owned()
        }
        SkippedSetting::Configuration(_) | SkippedSetting::Folder { .. } => {
            "fix the problem, or change the configuration".to_owned()
        }
    }
}

fn project_problems(examined: &ProjectReport) -> Vec<ProblemText> {
    let mut found = Vec::new();
    let mut tell = |message: String, hint: String| found.push((message, hint));
    if examined.set_up == SetupMode::NotSetUp {
        let hint =
            "run `midstride init` to set it up, or `midstride init --private` to commit nothing";
        tell("this project is not set up".to_owned(), hint.to_owned());
    }
    if let Some(why) = &examined.config_error {
        let hint = "fix the file: until then, hooks and most commands fail here; to see a valid file, run `midstride init` in an empty folder";
        tell(why.clone(), hint.to_owned());
    }
    for not_read in &examined.not_read {
        tell(not_read.to_string(), unread_setting_hint(not_read));
    }
    for error in examined.folders.iter().filter_map(|shelf| shelf.documents.as_ref().err()) {
        tell(error.to_string(), error.hint().unwrap_or("check that path").to_owned());
    }
    if let Some(why) = &examined.move_error {
        let hint = "fix this and run `midstride doctor` again; until then, `git push --mirror` and \
                    `git clone --mirror` copy them";
        let message =
            format!("revisions of uncommitted handoffs are still in your repository: {why}");
        tell(message, hint.to_owned());
    }
    if examined.packed_texts > 0 {
        let texts = count(examined.packed_texts, "revision");
        let hint = "`git gc --prune=now` removes them and all other unreachable objects; until then, `git clone` of this folder copies them";
        tell(format!("git's packs still contain {texts} of uncommitted handoffs"), hint.to_owned());
    }
    let left = examined.redaction.as_ref().map_or(0, |last| last.left);
    if left > 0 {
        let (message, hint) = unredacted_problem(left);
        tell(message, hint);
    }
    let ledger = &examined.ledger;
    match &ledger.state {
        LedgerState::Newer { version } => tell(
            format!(
                "`{}` has version {version}; this midstride supports {NEWEST_VERSION}",
                ledger.path.display()
            ),
            "update midstride; the ledger was not changed".to_owned(),
        ),
        LedgerState::Unusable(why) => {
            let path = ledger.path.display();
            let hint = format!(
                "restore `{path}` from a backup, or move it and `ledger.db-wal` out of the way: midstride rebuilds what it can from documents and transcripts, and `midstride sync` fetches shared tasks"
            );
            tell(why.clone(), hint);
        }
        LedgerState::Missing | LedgerState::Readable { .. } => {}
    }
    if ledger.unreadable > 0 {
        let hint = format!("look at the files in `{}`", ledger.spool.display());
        tell(
            format!("{} queued for the ledger cannot be read", count(ledger.unreadable, "file")),
            hint,
        );
    }
    found
}
