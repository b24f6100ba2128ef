//! The clients as a doctor sees them: what is there, what fired, what is missing.

use super::super::client::called;
use super::super::table::{Column, table, width};
use super::super::{count, heading, indented, one_line, tame};
use super::ProblemText;
use jiff::Timestamp;
use midstride::hook_log::Fired;
use midstride::install::{HookStanding, HookTrust, Scope, Standing};
use midstride::verbs::ClientFacts;
use midstride_core::session::Client;
use serde::Serialize;

/// Of an error and of a version the beginning tells enough.
const WIDTH_MAX: usize = 100;

/// A hook of a client: where it is installed, whether it is trusted, and what it did.
struct Row<'f> {
    event: &'f str,
    /// Whether it is one of ours; others fired all the same.
    is_wanted: bool,
    installed_in: Vec<&'static str>,
    trust: Option<HookTrust>,
    fired: Option<&'f Fired>,
}

/// Every hook that belongs there, then those that fired all the same.
fn rows(facts: &ClientFacts) -> Vec<Row<'_>> {
    let wanted = facts.standings.first().map_or(&[][..], |standing| &standing.hooks);
    let fired = |event: &str| facts.fired.iter().find(|fired| fired.event == event);
    let known = wanted.iter().map(|hook| {
        let at = |standing: &&Standing| place_of(standing, &hook.event).is_some();
        let places: Vec<&Standing> = facts.standings.iter().filter(at).collect();
        let trusts = places.iter().filter_map(|standing| {
            standing.hooks.iter().find(|one| one.event == hook.event)?.trust
        });
        Row {
            event: &hook.event,
            is_wanted: true,
            installed_in: places.iter().filter_map(|one| place_of(one, &hook.event)).collect(),
            trust: trusts.max_by_key(|trust| *trust != HookTrust::Trusted),
            fired: fired(&hook.event),
        }
    });
    let is_unknown = |one: &&Fired| !wanted.iter().any(|hook| hook.event == one.event);
    let unknown = facts.fired.iter().filter(is_unknown).map(|one| Row {
        event: &one.event,
        is_wanted: false,
        installed_in: Vec::new(),
        trust: None,
        fired: Some(one),
    });
    known.chain(unknown).collect()
}

/// By which way a hook is there.
fn place_of(standing: &Standing, event: &str) -> Option<&'static str> {
    let is_it = |hook: &HookStanding| hook.event == event && hook.is_there;
    match (standing.hooks.iter().any(is_it), &standing.scope) {
        (true, Scope::User) => Some("user"),
        (true, Scope::Project(_)) => Some("project"),
        (false, _) => standing.has_plugin.then_some("plugin"),
    }
}

/// `speaks` is whether hooks say anything in this project at all.
pub(super) fn text(facts: &ClientFacts, speaks: bool) -> String {
    let mut out = heading(called(facts.client));
    let mut line = |name: &str, what: &str| out.push_str(&format!("  {name:<9}{what}\n"));
    line("program", &program(facts));
    for standing in facts.standings.iter().filter(|one| one.is_installed() || one.has_plugin) {
        match standing.scope {
            Scope::User => line("user", &installed(standing)),
            Scope::Project(_) => line("project", &installed(standing)),
        }
    }
    if facts.is_found() && !facts.is_installed() {
        let name = facts.client.name();
        line("user", &format!("nothing installed. Next: midstride client add {name}"));
    }
    if facts.is_installed() || !facts.fired.is_empty() {
        out.push_str(&indented(&hooks(facts)));
    }
    if speaks && facts.is_installed() && facts.fired.is_empty() {
        out.push_str(
            "  No hook fired in this project yet. Start a session here, then look again.\n",
        );
    }
    out
}

fn program(facts: &ClientFacts) -> String {
    let folder = facts.folder.as_ref().map(|folder| tame(&folder.display().to_string()));
    match (&facts.program, folder) {
        (Some(program), _) => {
            let path = tame(&program.path.display().to_string());
            let version = program.version.as_deref().unwrap_or("says no version");
            format!("{}, {path}", one_line(version, WIDTH_MAX))
        }
        (None, Some(folder)) if facts.has_folder => {
            format!("not on the PATH, but {folder} is there")
        }
        (None, _) => "not found".to_owned(),
    }
}

fn installed(standing: &Standing) -> String {
    let (skills, all_skills) = standing.skills;
    let hooks = standing.hooks.iter().filter(|hook| hook.is_there).count();
    if !standing.is_installed() {
        return "everything comes with the plugin".to_owned();
    }
    let server = if standing.has_server { "the MCP server" } else { "no MCP server" };
    let all = standing.hooks.len();
    let plugin = if standing.has_plugin { ", and the plugin" } else { "" };
    format!("{hooks} of {all} hooks, {server}, {skills} of {all_skills} skills{plugin}")
}

fn hooks(facts: &ClientFacts) -> String {
    const OF_CALLS: [&str; 6] = ["LAST", "MEDIAN", "WORST", "TOKENS", "ALL", "DID"];
    let is_asked = facts.client == Client::Codex;
    let all = ["HOOK", "IN", "TRUST", "FIRED", "LAST", "MEDIAN", "WORST", "TOKENS", "ALL", "DID"];
    let spared = [None, Some(3), None, None, None, Some(2), Some(1), None, Some(0), None];
    let has_fired = !facts.fired.is_empty();
    let is_shown = |name: &&str| match *name {
        "TRUST" => is_asked,
        name => has_fired || !OF_CALLS.contains(&name),
    };
    let columns: Vec<Column> = all
        .into_iter()
        .zip(spared)
        .filter(|(name, _)| is_shown(name))
        .map(|(name, spared)| Column { name, spared })
        .collect();
    let row = |row: &Row<'_>| {
        let cells = all.into_iter().zip(cells(row));
        cells.filter(|(name, _)| is_shown(name)).map(|(_, cell)| cell).collect()
    };
    let rows: Vec<Vec<String>> = rows(facts).iter().map(row).collect();
    let table = table(&columns, &rows, width().saturating_sub(2));
    match table.left_out.is_empty() {
        true => table.text,
        false => {
            format!("{}No room for {}; --json has all.\n", table.text, table.left_out.join(", "))
        }
    }
}

fn cells(row: &Row<'_>) -> [String; 10] {
    let at = match (row.is_wanted, row.installed_in.is_empty()) {
        (false, _) => "-".to_owned(),
        (true, true) => "missing".to_owned(),
        (true, false) => row.installed_in.join(", "),
    };
    let of = |cell: &dyn Fn(&Fired) -> String| row.fired.map(cell).unwrap_or_default();
    [
        named(row.event),
        at,
        row.trust.map(trust_word).unwrap_or_default().to_owned(),
        row.fired.map_or("never".to_owned(), |fired| fired.count.to_string()),
        of(&|fired| minute(fired.last)),
        of(&|fired| format!("{} ms", fired.median)),
        of(&|fired| format!("{} ms", fired.worst)),
        of(&|fired| fired.tokens.to_string()),
        of(&|fired| fired.tokens_all.to_string()),
        of(&did),
    ]
}

/// A call that could not be read tells no moment.
fn named(event: &str) -> String {
    if event.is_empty() { "(not understood)".to_owned() } else { tame(event) }
}

fn did(fired: &Fired) -> String {
    match (&fired.error, &fired.failed) {
        (Some(why), _) => format!("FAILED: {}", one_line(why, WIDTH_MAX)),
        (None, Some((at, why))) => {
            let why = one_line(why, WIDTH_MAX);
            let did = one_line(&fired.did, WIDTH_MAX);
            format!("{did}; {} failed, last {}: {why}", fired.failures, minute(*at))
        }
        (None, None) => one_line(&fired.did, WIDTH_MAX),
    }
}

fn minute(time: Timestamp) -> String {
    time.strftime("%Y-%m-%d %H:%M").to_string()
}

fn trust_word(trust: HookTrust) -> &'static str {
    match trust {
        HookTrust::Trusted => "trusted",
        HookTrust::Asked => "not yet",
        HookTrust::Changed => "changed",
        HookTrust::SwitchedOff => "off",
    }
}

/// What went on alone, after a client had its answer.
pub(super) fn alone(fired: &[Fired]) -> String {
    let ours = fired.iter().filter(|one| one.client == "midstride");
    let line = |one: &Fired| {
        let (event, times, did) = (tame(&one.event), super::super::times(one.count), did(one));
        format!("  {event:<9}{times}, last {}: {did}\n", minute(one.last))
    };
    let lines: String = ours.map(line).collect();
    if lines.is_empty() { lines } else { format!("{}{lines}", heading("After a client went on")) }
}

/// What is wrong with a client.
pub(super) fn problems(facts: &ClientFacts) -> Vec<ProblemText> {
    let (name, typed) = (called(facts.client), facts.client.name());
    let mut found = Vec::new();
    for problem in &facts.problems {
        let hint = format!("`midstride client list` tells more about {name}");
        found.push((problem.to_string(), hint));
    }
    for standing in facts.standings.iter().filter(|one| one.is_installed()) {
        found.extend(missing(standing));
        found.extend(files(standing));
    }
    found.extend(untrusted(facts));
    for fired in facts.fired.iter().filter(|one| one.error.is_some()) {
        let why = one_line(fired.error.as_deref().unwrap_or_default(), WIDTH_MAX);
        let message = format!("the last call of {} by {name} failed: {why}", named(&fired.event));
        let hint = "the session itself went on; `midstride session recover` captures what was \
                    missed, and `hooks.log` beside the ledger tells when it happened";
        found.push((message, hint.to_owned()));
    }
    let plugins = facts.standings.iter().filter(|one| one.has_plugin).count();
    let added = facts.standings.iter().filter(|one| one.is_installed()).count();
    if plugins > 0 && added > 0 {
        let hint = format!(
            "use one of the two ways: `claude plugin uninstall midstride` or `midstride client \
             remove {typed}`"
        );
        found.push((format!("{name} has midstride twice, by its plugin as well"), hint));
    }
    found
}

fn missing(standing: &Standing) -> Option<ProblemText> {
    let (name, typed) = (called(standing.client), standing.client.name());
    let hooks = standing.hooks.iter().filter(|hook| !hook.is_there);
    let mut missing: Vec<String> = hooks.map(|hook| hook.event.clone()).collect();
    if !standing.has_server {
        missing.push("the MCP server".to_owned());
    }
    let (skills, all) = standing.skills;
    if skills < all {
        missing.push(count(all - skills, "skill"));
    }
    if missing.is_empty() || standing.files.iter().any(|file| file.problem.is_some()) {
        return None;
    }
    let option = match standing.scope {
        Scope::User => "",
        Scope::Project(_) => " --project",
    };
    let message = format!("{name} lacks {}", missing.join(", "));
    Some((message, format!("`midstride client add {typed}{option}` adds what is missing")))
}

fn files(standing: &Standing) -> Vec<ProblemText> {
    let mut found = Vec::new();
    for file in &standing.files {
        if let Some(problem) = &file.problem {
            let message = one_line(&problem.to_string(), usize::MAX);
            found.push((message, "mend the file; the client cannot read it either".to_owned()));
        }
        if file.is_left_out {
            let path = file.path.display();
            found.push((
                format!(
                    "`{path}` has comments or trailing commas: the client leaves all of it out"
                ),
                "take them out of the file".to_owned(),
            ));
        }
    }
    found
}

/// Hooks that a client leaves out without a word.
fn untrusted(facts: &ClientFacts) -> Vec<ProblemText> {
    let name = called(facts.client);
    let rows = rows(facts);
    let of = |wanted: HookTrust| -> Vec<&str> {
        rows.iter().filter(|row| row.trust == Some(wanted)).map(|row| row.event).collect()
    };
    let is_here = |scope: &str| rows.iter().any(|row| row.installed_in.contains(&scope));
    let option = if is_here("project") && !is_here("user") { " --project" } else { "" };
    let trust = format!(
        "start `codex` and answer its question, or `midstride client add codex --trust-hooks{option}`"
    );
    let all = [
        (HookTrust::Asked, "does not trust these hooks yet and leaves them out", trust.as_str()),
        (
            HookTrust::Changed,
            "trusted these hooks as they were before and leaves them out",
            trust.as_str(),
        ),
        (
            HookTrust::SwitchedOff,
            "was told to leave these hooks out",
            "`enabled = false` stands beside them in `config.toml` of Codex; take it out if that is \
             not what you want",
        ),
    ];
    let told = all.into_iter().filter_map(|(trust, what, hint)| {
        let events = of(trust);
        let message = format!("{name} {what}: {}", events.join(", "));
        (!events.is_empty()).then(|| (message, hint.to_owned()))
    });
    told.collect()
}

#[derive(Serialize)]
pub(super) struct ClientJson {
    client: &'static str,
    found: bool,
    installed: bool,
    folder: Option<String>,
    program: Option<ProgramJson>,
    scopes: Vec<ScopeJson>,
    hooks: Vec<HookJson>,
}

#[derive(Serialize)]
struct ProgramJson {
    path: String,
    version: Option<String>,
}

#[derive(Serialize)]
struct ScopeJson {
    scope: &'static str,
    installed: bool,
    plugin: bool,
    mcp_server: bool,
    skills: usize,
}

#[derive(Serialize)]
struct HookJson {
    event: String,
    installed_in: Vec<&'static str>,
    trust: Option<&'static str>,
    fired: Option<FiredJson>,
}

#[derive(Serialize)]
struct FiredJson {
    count: usize,
    last: String,
    did: String,
    error: Option<String>,
    median_milliseconds: u64,
    worst_milliseconds: u64,
    tokens_last: u64,
    tokens_total: u64,
    failures: usize,
    last_failure: Option<FailureJson>,
}

#[derive(Serialize)]
struct FailureJson {
    at: String,
    error: String,
}

pub(super) fn json(facts: &ClientFacts) -> ClientJson {
    let scope = |standing: &Standing| ScopeJson {
        scope: match standing.scope {
            Scope::User => "user",
            Scope::Project(_) => "project",
        },
        installed: standing.is_installed(),
        plugin: standing.has_plugin,
        mcp_server: standing.has_server,
        skills: standing.skills.0,
    };
    let hook = |row: &Row<'_>| HookJson {
        event: row.event.to_owned(),
        installed_in: row.installed_in.clone(),
        trust: row.trust.map(|trust| match trust {
            HookTrust::Trusted => "trusted",
            HookTrust::Asked => "asked",
            HookTrust::Changed => "changed",
            HookTrust::SwitchedOff => "switched_off",
        }),
        fired: row.fired.map(fired_json),
    };
    ClientJson {
        client: facts.client.name(),
        found: facts.is_found(),
        installed: facts.is_installed(),
        folder: facts.folder.as_ref().map(|folder| folder.display().to_string()),
        program: facts.program.as_ref().map(|program| ProgramJson {
            path: program.path.display().to_string(),
            version: program.version.clone(),
        }),
        scopes: facts.standings.iter().map(scope).collect(),
        hooks: rows(facts).iter().map(hook).collect(),
    }
}

fn fired_json(fired: &Fired) -> FiredJson {
    let failure = |(at, error): &(Timestamp, String)| FailureJson {
        at: at.to_string(),
        error: error.clone(),
    };
    FiredJson {
        count: fired.count,
        last: fired.last.to_string(),
        did: fired.did.clone(),
        error: fired.error.clone(),
        median_milliseconds: fired.median,
        worst_milliseconds: fired.worst,
        tokens_last: fired.tokens,
        tokens_total: fired.tokens_all,
        failures: fired.failures,
        last_failure: fired.failed.as_ref().map(failure),
    }
}
