//! How a project is set up, how the clients stand, and whether the way through midstride works.

mod clients;
mod simulation;

pub(crate) use simulation::Step;

use super::client::path_problem;
use super::{count, heading, one_line, tame};
use clients::ClientJson;
use midstride::clients::hook_log::Told;
use midstride::clients::install::OnPath;
use midstride::store::ledger::{LedgerFacts, LedgerState, NEWEST};
use midstride::verbs::{ClientFacts, Dismissals, Examined, Idle, Reindexed, ShelfFacts};
use midstride::workspace::project::{NotRead, SetUp};
use midstride::workspace::shelf::Layout;
use serde::Serialize;
use simulation::StepJson;
use std::path::Path;

/// What is wrong, and what to do about it.
pub(crate) type ProblemText = (String, String);

/// Everything that was found out.
pub(crate) struct Diagnosis {
    pub(crate) examined: Examined,
    /// Whether hooks may tell of the handoffs here.
    pub(crate) is_at_home: bool,
    pub(crate) off: Option<Off>,
    pub(crate) clients: Vec<ClientFacts>,
    pub(crate) on_path: OnPath,
    /// What the log of the hooks tells.
    pub(crate) told: Told,
    /// Why it could not be read.
    pub(crate) log_problem: Option<String>,
    pub(crate) idle: Idle,
    /// What the list of our tools costs a session, in tokens.
    pub(crate) tools: u64,
    /// A session that was played; none where that was not wanted.
    pub(crate) steps: Option<Vec<Step>>,
}

/// What switches the hooks off.
#[derive(Clone, Copy)]
pub(crate) enum Off {
    Variable,
    Project,
}

#[derive(Serialize)]
pub(crate) struct DiagnosisJson {
    switched_off: Option<&'static str>,
    clients: Vec<ClientJson>,
    on_path: Option<String>,
    on_path_is_this_version: bool,
    unreadable_log_lines: usize,
    simulation: Option<Vec<StepJson>>,
    cost: CostJson,
    #[serde(flatten)]
    examined: ExaminedJson,
}

#[derive(Serialize)]
struct CostJson {
    processes: usize,
    bytes: BytesJson,
    tools_tokens: u64,
    briefing_tokens: Option<u64>,
}

#[derive(Serialize)]
struct BytesJson {
    all: u64,
    ledger: u64,
    index: u64,
    log: u64,
    cursors: u64,
    other: u64,
}

#[derive(Serialize)]
struct ExaminedJson {
    root: String,
    set_up: &'static str,
    shelves: Vec<ShelfJson>,
    ledger: LedgerJson,
    index: IndexJson,
    problems: Vec<ProblemJson>,
}

#[derive(Serialize)]
struct ShelfJson {
    path: String,
    layout: &'static str,
    documents: Option<usize>,
}

#[derive(Serialize)]
struct LedgerJson {
    path: String,
    version: Option<u32>,
    records: Option<usize>,
    put_aside: usize,
    forgotten: usize,
    dismissed: usize,
    dismissed_as_wrong: usize,
}

#[derive(Serialize)]
struct IndexJson {
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

pub(crate) fn json(diagnosis: &Diagnosis, problems: &[ProblemText]) -> DiagnosisJson {
    let on_path = match &diagnosis.on_path {
        OnPath::Same(path) | OnPath::Other(path, _) => Some(path.display().to_string()),
        OnPath::Missing => None,
    };
    let Idle { ledger, index, log, cursors, other, briefing } = diagnosis.idle;
    let all = diagnosis.idle.bytes();
    DiagnosisJson {
        switched_off: diagnosis.off.map(|off| match off {
            Off::Variable => "variable",
            Off::Project => "project",
        }),
        clients: diagnosis.clients.iter().map(clients::json).collect(),
        on_path,
        on_path_is_this_version: matches!(diagnosis.on_path, OnPath::Same(_)),
        unreadable_log_lines: diagnosis.told.unreadable,
        simulation: diagnosis
            .steps
            .as_ref()
            .map(|steps| steps.iter().map(simulation::json).collect()),
        cost: CostJson {
            // There is none: a hook ends with its answer, the MCP server with its session.
            processes: 0,
            bytes: BytesJson { all, ledger, index, log, cursors, other },
            tools_tokens: diagnosis.tools,
            briefing_tokens: briefing,
        },
        examined: examined_json(&diagnosis.examined, problems),
    }
}

fn examined_json(examined: &Examined, problems: &[ProblemText]) -> ExaminedJson {
    let Examined { ledger, index, .. } = examined;
    let (version, records) = match &ledger.state {
        LedgerState::Fine { version, records } => (Some(*version), Some(*records)),
        LedgerState::Newer { version } => (Some(*version), None),
        LedgerState::Missing | LedgerState::Unusable(_) => (None, None),
    };
    let shelf = |shelf: &ShelfFacts| ShelfJson {
        path: shelf.path.display().to_string(),
        layout: layout(shelf.layout),
        documents: shelf.documents.as_ref().ok().copied(),
    };
    let problem = |(message, hint): &ProblemText| ProblemJson {
        message: message.clone(),
        hint: hint.clone(),
    };
    ExaminedJson {
        root: examined.root.display().to_string(),
        set_up: set_up(examined.set_up),
        shelves: examined.shelves.iter().map(shelf).collect(),
        ledger: LedgerJson {
            path: ledger.path.display().to_string(),
            version,
            records,
            put_aside: ledger.put_aside,
            forgotten: examined.forgotten,
            dismissed: examined.dismissals.all,
            dismissed_as_wrong: examined.dismissals.wrong,
        },
        index: IndexJson {
            path: index.path.display().to_string(),
            documents: index.documents,
            bytes: index.bytes,
            age_seconds: index.age.map(|age| age.as_secs()),
        },
        problems: problems.iter().map(problem).collect(),
    }
}

fn set_up(how: SetUp) -> &'static str {
    match how {
        SetUp::Not => "not",
        SetUp::Committed => "committed",
        SetUp::Private => "private",
    }
}

fn layout(layout: Layout) -> &'static str {
    match layout {
        Layout::Own => "own",
        Layout::Pipeline => "pipeline",
        Layout::Folder => "folder",
        Layout::Memory => "memory",
    }
}

pub(crate) fn text(diagnosis: &Diagnosis, problems: &[ProblemText]) -> String {
    let off = match diagnosis.off {
        Some(Off::Variable) => {
            "Hooks are OFF by MIDSTRIDE=off in this environment. Take it away to switch them on.\n"
        }
        Some(Off::Project) => {
            "Hooks are OFF in this project: nothing is told and nothing captured. `midstride on` \
             switches them on.\n"
        }
        None => "",
    };
    let verdict = match (problems.len(), diagnosis.off) {
        (0, None) => "Nothing is wrong.".to_owned(),
        (0, Some(_)) => "Nothing else is wrong.".to_owned(),
        (some, _) => format!("{} found; what to do stands at the end.", count(some, "problem")),
    };
    let mut out = format!("{off}{verdict}\n\n{}", cost(diagnosis));
    let speaks = diagnosis.off.is_none() && diagnosis.examined.set_up != SetUp::Not;
    for facts in &diagnosis.clients {
        out.push_str(&clients::text(facts, speaks));
    }
    out.push_str(&clients::alone(&diagnosis.told.fired));
    if let Some(steps) = &diagnosis.steps {
        out.push_str(&simulation::text(steps));
    }
    out.push_str(&examined_text(&diagnosis.examined));
    out.push_str(&problems_text(problems));
    out
}

/// What is wrong is what a doctor was asked for: it stands with the rest, also in a file.
fn problems_text(problems: &[ProblemText]) -> String {
    let problem = |(message, hint): &ProblemText| {
        // A reason of several lines stays below its first one.
        let message = tame(message).replace('\n', "\n    ");
        format!("  - {message}\n    hint: {}\n", tame(hint))
    };
    let all: String = problems.iter().map(problem).collect();
    if all.is_empty() { all } else { format!("{}{all}", heading("Problems")) }
}

/// What midstride costs while nobody calls it, and what it costs a session that starts.
fn cost(diagnosis: &Diagnosis) -> String {
    let Idle { ledger, index, log, cursors, other, briefing } = diagnosis.idle;
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
        Some(tokens) => format!("a briefing of {tokens} tokens now"),
        None => "no briefing here".to_owned(),
    };
    let path = match &diagnosis.on_path {
        OnPath::Same(found) => format!("{}, this version", path(found)),
        OnPath::Other(found, version) if version.is_empty() => {
            format!("{}, another version", path(found))
        }
        OnPath::Other(found, version) => format!("{}, {}", path(found), one_line(version, 60)),
        OnPath::Missing => "not on the PATH".to_owned(),
    };
    let lost = match diagnosis.told.unreadable {
        0 => String::new(),
        some => format!("  log      {} cannot be read and do not count\n", count(some, "line")),
    };
    format!(
        "{}  program  {path}\n  idle     no process, no daemon; {} on disk{parts}\n  session  {} \
         tokens for the list of MCP tools, {briefing}\n{lost}",
        heading("midstride"),
        size(diagnosis.idle.bytes()),
        diagnosis.tools,
    )
}

fn size(bytes: u64) -> String {
    const KILOBYTE: u64 = 1 << 10;
    const MEGABYTE: u64 = 1 << 20;
    match bytes {
        0..KILOBYTE => format!("{bytes} bytes"),
        KILOBYTE..MEGABYTE => format!("{} KB", bytes.div_ceil(KILOBYTE)),
        _ => format!("{} MB", bytes.div_ceil(MEGABYTE)),
    }
}

fn examined_text(examined: &Examined) -> String {
    let set_up = match examined.set_up {
        SetUp::Not => "not set up; what lies around is read all the same",
        SetUp::Committed => "set up, with a folder that is committed",
        SetUp::Private => "set up privately: nothing is committed",
    };
    let mut out = heading("Project");
    out.push_str(&format!("  {}\n  {set_up}\n", path(&examined.root)));
    out.push_str(&heading("Shelves"));
    for shelf in &examined.shelves {
        let documents = match &shelf.documents {
            Ok(number) => count(*number, "document"),
            Err(_) => "cannot be looked at".to_owned(),
        };
        out.push_str(&format!("  {}  {documents}\n", path(&shelf.path)));
    }
    out.push_str(&heading("Ledger"));
    out.push_str(&format!("  {}\n  {}\n", path(&examined.ledger.path), ledger(&examined.ledger)));
    if examined.forgotten > 0 {
        out.push_str(&format!("  {} forgotten\n", count(examined.forgotten, "text")));
    }
    let Dismissals { all, wrong } = examined.dismissals;
    if let Some(share) = (wrong * 100).checked_div(all) {
        let items = count(all, "briefed item");
        out.push_str(&format!("  {items} dismissed, {wrong} as wrong ({share} %)\n"));
    }
    out.push_str(&heading("Index"));
    out.push_str(&format!("  {}\n  {}\n", path(&examined.index.path), index(examined)));
    out
}

fn path(path: &Path) -> String {
    tame(&path.display().to_string())
}

fn ledger(facts: &LedgerFacts) -> String {
    let state = match &facts.state {
        LedgerState::Missing => "not there yet; the first change makes it".to_owned(),
        LedgerState::Fine { version, records } => {
            format!("version {version}, {}", count(*records, "record"))
        }
        LedgerState::Newer { version } => {
            format!("version {version}, which a newer midstride made; this one knows {NEWEST}")
        }
        LedgerState::Unusable(why) => format!("cannot be used: {why}"),
    };
    match facts.put_aside {
        0 => state,
        some => format!("{state}, {} put aside for it", count(some, "file")),
    }
}

fn index(examined: &Examined) -> String {
    match examined.index.documents {
        None => "not there yet; the first search makes it".to_owned(),
        Some(0) => "nothing is in it yet; the first search fills it".to_owned(),
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

pub(crate) fn reindexed(done: &Reindexed) -> String {
    let gone = match done.removed {
        0 => String::new(),
        some => format!(", {} of worktrees that are gone removed", count(some, "index")),
    };
    format!("Indexed {}{gone}", count(done.documents, "document"))
}

/// What is wrong, and what to do about it.
pub(crate) fn problems(diagnosis: &Diagnosis) -> Vec<ProblemText> {
    let mut found: Vec<ProblemText> =
        diagnosis.clients.iter().flat_map(clients::problems).collect();
    let is_installed = diagnosis.clients.iter().any(ClientFacts::is_installed);
    if !is_installed {
        found.push(no_client(&diagnosis.clients));
    }
    if is_installed && !matches!(diagnosis.on_path, OnPath::Same(_)) {
        let (message, hint) = path_problem(&diagnosis.on_path);
        found.push((message, hint.to_owned()));
    }
    if let Some(why) = &diagnosis.log_problem {
        found.push((why.clone(), "see what is there; hooks go on without their log".to_owned()));
    }
    if diagnosis.examined.set_up != SetUp::Not && !diagnosis.is_at_home {
        found.push((
            "these handoffs are somebody else's: sessions are told how many there are, and no more"
                .to_owned(),
            "`midstride trust` shows them, and lets sessions be told".to_owned(),
        ));
    }
    found.extend(diagnosis.steps.iter().flat_map(|steps| simulation::problems(steps)));
    found.extend(problems_of_project(&diagnosis.examined));
    found
}

/// Nobody calls midstride; where a client is there, a file may have to be mended first.
fn no_client(all: &[ClientFacts]) -> ProblemText {
    let there: Vec<&ClientFacts> = all.iter().filter(|facts| facts.is_found()).collect();
    if there.is_empty() {
        let hint = "install Claude Code or Codex and start it once, then `midstride client add --all`; \
                    a home elsewhere is named with CLAUDE_CONFIG_DIR or CODEX_HOME";
        return ("no client was found on this machine".to_owned(), hint.to_owned());
    }
    let names: Vec<&str> = there.iter().map(|facts| facts.client.name()).collect();
    let is_blocked = there.iter().any(|facts| clients::is_blocked(facts));
    let first = if is_blocked { "mend what stands above, then " } else { "" };
    let hint = format!("{first}`midstride client add {}` installs it", names.join(" "));
    ("no client calls midstride".to_owned(), hint)
}

/// What can be done about something that is configured and not read.
fn hint_to_read(not_read: &NotRead) -> String {
    match not_read {
        NotRead::Unknown { key, file } => format!(
            "take `{key}` out of `{}`, or update midstride if a newer one knows it",
            file.display()
        ),
        NotRead::Untrusted(_) => {
            "`midstride trust` shows what it would do; or mend the configuration".to_owned()
        }
        NotRead::Configuration(_) | NotRead::Shelf { .. } => {
            "mend what is said of it, or the configuration".to_owned()
        }
    }
}

fn problems_of_project(examined: &Examined) -> Vec<ProblemText> {
    let mut found = Vec::new();
    let mut tell = |message: String, hint: String| found.push((message, hint));
    if examined.set_up == SetUp::Not {
        let hint = "`midstride init` sets it up; `midstride init --private` commits nothing";
        tell("this project is not set up".to_owned(), hint.to_owned());
    }
    if let Some(why) = &examined.broken {
        let hint = "mend the file: until then no hook and hardly a command works here; `midstride \
                    init` in an empty folder shows a fresh one";
        tell(why.clone(), hint.to_owned());
    }
    for not_read in &examined.not_read {
        tell(not_read.to_string(), hint_to_read(not_read));
    }
    for error in examined.shelves.iter().filter_map(|shelf| shelf.documents.as_ref().err()) {
        tell(error.to_string(), error.hint().unwrap_or("see what is there").to_owned());
    }
    let ledger = &examined.ledger;
    match &ledger.state {
        LedgerState::Newer { version } => tell(
            format!(
                "`{}` is of version {version}; this midstride knows {NEWEST}",
                ledger.path.display()
            ),
            "update midstride; the ledger is left as it is".to_owned(),
        ),
        LedgerState::Unusable(why) => {
            let path = ledger.path.display();
            let hint = format!(
                "move `{path}` away: what the documents tell is told again; tasks come with \
                 `midstride sync`"
            );
            tell(why.clone(), hint);
        }
        LedgerState::Missing | LedgerState::Fine { .. } => {}
    }
    if ledger.unreadable > 0 {
        let hint = format!("look at what lies in `{}`", ledger.spool.display());
        tell(
            format!("{} put aside for the ledger cannot be read", count(ledger.unreadable, "file")),
            hint,
        );
    }
    found
}
