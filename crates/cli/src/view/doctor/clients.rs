//! The clients as a doctor sees them: what is there, what fired, what is missing.

use super::super::client::{called, others, twice};
use super::super::table::{Column, table, width};
use super::super::{count, heading, indented, one_line, tame};
use super::ProblemText;
use jiff::Timestamp;
use midstride::clients::hook_log::Fired;
use midstride::clients::install::{
    Allow, HookStanding, HookTrust, InstallError, Saving, Scope, Standing,
};
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
    if facts.is_installed() {
        line("saving", saving(facts));
    }
    if facts.is_found() && !facts.is_installed() {
        let name = facts.client.name();
        line("user", &format!("nothing installed. Next: midstride client add {name}"));
    }
    if facts.is_installed() || !facts.fired.is_empty() {
        out.push_str(&indented(&hooks(facts, width().saturating_sub(2))));
    }
    if speaks && facts.is_installed() && facts.fired.is_empty() {
        out.push_str(
            "  No hook fired in this project yet. Start a session here, then look again.\n",
        );
    }
    out
}

/// Whether the agent may save.
fn saving(facts: &ClientFacts) -> &'static str {
    match (facts.own.saving, facts.client) {
        (Saving::Allowed, _) => "allowed without asking",
        (Saving::Denied, _) => "denied by your settings; agents are not asked to save",
        (Saving::Asked, Client::ClaudeCode) => {
            "asks you each time; headless sessions cannot save. Next: midstride client add claude-code --allow save"
        }
        (Saving::Asked, Client::Codex) => {
            "asks you each time; headless sessions cannot save. Next: midstride client add codex --allow save"
        }
    }
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

/// A column of the table of hooks.
struct HookColumn {
    name: &'static str,
    /// In a narrow terminal the lowest number is left out first.
    spared: Option<u8>,
    /// Whether it tells something about this client.
    is_shown: fn(&ClientFacts) -> bool,
    cell: fn(&Row<'_>) -> String,
}

const HOOK_COLUMNS: [HookColumn; 10] = [
    column("HOOK", None, always, |row| named(row.event)),
    column("IN", Some(3), always, places),
    column("TRUST", None, asks, |row| row.trust.map(trust_word).unwrap_or_default().to_owned()),
    column("FIRED", None, always, |row| of(row, "never", |fired| fired.count.to_string())),
    column("LAST", Some(5), fired, |row| of(row, "", |fired| minute(fired.last))),
    column("MEDIAN", Some(2), fired, |row| of(row, "", |fired| format!("{} ms", fired.median))),
    column("WORST", Some(1), fired, |row| of(row, "", |fired| format!("{} ms", fired.worst))),
    column("TOKENS", Some(4), fired, |row| of(row, "", |fired| fired.tokens.to_string())),
    column("ALL", Some(0), fired, |row| of(row, "", |fired| fired.tokens_all.to_string())),
    column("DID", None, fired, |row| of(row, "", did)),
];

const fn column(
    name: &'static str,
    spared: Option<u8>,
    is_shown: fn(&ClientFacts) -> bool,
    cell: fn(&Row<'_>) -> String,
) -> HookColumn {
    HookColumn { name, spared, is_shown, cell }
}

fn always(_: &ClientFacts) -> bool {
    true
}

fn asks(facts: &ClientFacts) -> bool {
    facts.client == Client::Codex
}

fn fired(facts: &ClientFacts) -> bool {
    !facts.fired.is_empty()
}

fn of(row: &Row<'_>, never: &str, cell: fn(&Fired) -> String) -> String {
    row.fired.map_or(never.to_owned(), cell)
}

fn places(row: &Row<'_>) -> String {
    match (row.is_wanted, row.installed_in.is_empty()) {
        (false, _) => "-".to_owned(),
        (true, true) => "missing".to_owned(),
        (true, false) => row.installed_in.join(", "),
    }
}

fn hooks(facts: &ClientFacts, width: usize) -> String {
    let shown = || HOOK_COLUMNS.iter().filter(|column| (column.is_shown)(facts));
    let columns: Vec<Column> =
        shown().map(|column| Column { name: column.name, spared: column.spared }).collect();
    let row = |row: &Row<'_>| shown().map(|column| (column.cell)(row)).collect();
    let rows: Vec<Vec<String>> = rows(facts).iter().map(row).collect();
    let table = table(&columns, &rows, width);
    match table.left_out.is_empty() {
        true => table.text,
        false => {
            format!("{}No room for {}; --json has all.\n", table.text, table.left_out.join(", "))
        }
    }
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

/// Whether a file has to be mended before anything can be installed.
pub(super) fn is_blocked(facts: &ClientFacts) -> bool {
    let of_user = facts.standings.iter().filter(|standing| standing.scope == Scope::User);
    of_user.flat_map(|standing| &standing.files).any(|file| file.problem.is_some())
}

/// What is wrong with a client.
pub(super) fn problems(facts: &ClientFacts) -> Vec<ProblemText> {
    let (name, typed) = (called(facts.client), facts.client.name());
    let mut found = Vec::new();
    for problem in &facts.problems {
        let hint = format!("`midstride client list` tells more about {name}");
        found.push((problem.to_string(), hint));
    }
    // Where nothing is there yet, a file may be in the way of installing.
    let is_there = facts.is_installed();
    let looked_at = |one: &&Standing| one.is_installed() || (!is_there && facts.is_found());
    for standing in facts.standings.iter().filter(looked_at) {
        found.extend(missing(standing).filter(|_| standing.is_installed()));
        found.extend(in_the_way(standing).filter(|_| standing.is_installed()));
        found.extend(files(standing));
        found.extend(untrusted(standing));
    }
    found.extend(hooks_off(facts).filter(|_| is_there));
    found.extend(facts.standings.iter().filter_map(other_timeouts));
    found.extend(unhooked(facts));
    found.extend(failed(facts));
    if let [one, other] = &facts.standings[..]
        && one.has_hooks()
        && other.has_hooks()
        && one.adds_to(other)
    {
        found.push(twice(facts.client));
    }
    let has_plugin = facts.standings.iter().any(|one| one.has_plugin);
    let added = facts.standings.iter().find(|one| one.is_installed());
    if let Some(added) = added.filter(|_| has_plugin) {
        let hint = format!(
            "use one of the two ways: `claude plugin uninstall midstride` or `midstride client \
             remove {typed}{}`",
            option(added)
        );
        found.push((format!("{name} has midstride twice, by its plugin as well"), hint));
    }
    found
}

/// Hooks whose last call failed. A call that told no moment, or one that is not ours, is over once the
/// client called well again.
fn failed(facts: &ClientFacts) -> Vec<ProblemText> {
    let name = called(facts.client);
    let is_well = |one: &&Fired| one.error.is_none();
    let well = facts.fired.iter().filter(is_well).map(|one| one.last).max();
    let mut found = Vec::new();
    for row in rows(facts) {
        let Some((fired, why)) = row.fired.and_then(|one| Some((one, one.error.as_deref()?)))
        else {
            continue;
        };
        if !row.is_wanted && well > Some(fired.last) {
            continue;
        }
        let why = one_line(why, WIDTH_MAX);
        let message = format!("the last call of {} by {name} failed: {why}", named(&fired.event));
        let hint = "the session itself went on; `midstride session recover` captures what was \
                    missed, and `hooks.log` beside the ledger tells when it happened";
        found.push((message, hint.to_owned()));
    }
    found
}

/// All hooks of the client are switched off.
fn hooks_off(facts: &ClientFacts) -> Option<ProblemText> {
    let path = facts.own.hooks_off.as_ref()?.display();
    let name = called(facts.client);
    let (key, hint) = match facts.client {
        Client::ClaudeCode => ("`disableAllHooks`", "remove `disableAllHooks` to run hooks again"),
        Client::Codex => {
            ("`hooks = false`", "set `hooks = true` under `[features]` to run hooks again")
        }
    };
    Some((format!("{name} runs no hooks: {key} is set in `{path}`"), hint.to_owned()))
}

/// Sessions that ran without a hook.
fn unhooked(facts: &ClientFacts) -> Option<ProblemText> {
    const SHOWN_MAX: usize = 3;
    let shown = facts.unhooked.iter().take(SHOWN_MAX).map(|id| one_line(id, 36));
    let mut shown = shown.collect::<Vec<_>>().join(", ");
    let more = facts.unhooked.len().saturating_sub(SHOWN_MAX);
    if more > 0 {
        shown.push_str(&format!(" and {more} more"));
    }
    let sessions = count(facts.unhooked.len(), "session");
    let message = format!("{sessions} of {} ran without a hook: {shown}", called(facts.client));
    let hint = "`midstride session recover` captures them; a session that was started before \
                `client add`, or with its own settings, calls no hook";
    (!facts.unhooked.is_empty()).then(|| (message, hint.to_owned()))
}

/// Hooks with another timeout than midstride wrote: a short one cuts them off.
fn other_timeouts(standing: &Standing) -> Option<ProblemText> {
    let changed = standing
        .hooks
        .iter()
        .filter_map(|hook| Some(format!("{} {} s", hook.event, hook.other_timeout?)));
    let changed: Vec<String> = changed.collect();
    let (name, typed, option) = (called(standing.client), standing.client.name(), option(standing));
    let message = format!("{name} has changed hook timeouts: {}", changed.join(", "));
    let choice = choice(standing);
    let hint = format!(
        "`midstride client remove {typed}{option}`, then `midstride client add {typed}{option}{choice}` writes them again"
    );
    (!changed.is_empty()).then_some((message, hint))
}

fn missing(standing: &Standing) -> Option<ProblemText> {
    let (name, typed) = (called(standing.client), standing.client.name());
    let hooks = standing.hooks.iter().filter(|hook| !hook.is_there);
    let mut missing: Vec<String> = hooks.map(|hook| hook.event.clone()).collect();
    if standing.lacks_server() {
        missing.push("the MCP server".to_owned());
    }
    let skills = standing.lacking_skills();
    if skills > 0 {
        missing.push(count(skills, "skill"));
    }
    if missing.is_empty() || standing.files.iter().any(|file| file.problem.is_some()) {
        return None;
    }
    let option = option(standing);
    let message = format!("{name} lacks {}", missing.join(", "));
    Some((message, format!("`midstride client add {typed}{option}` adds what is missing")))
}

/// What is called like ours, so that ours is not there.
fn in_the_way(standing: &Standing) -> impl Iterator<Item = ProblemText> {
    let (typed, option) = (standing.client.name(), option(standing));
    let hint = format!("move it away, then `midstride client add {typed}{option}` puts ours there");
    standing.files.iter().filter_map(others).map(move |message| (message, hint.clone()))
}

/// What is typed to mean this place.
fn option(standing: &Standing) -> &'static str {
    match standing.scope {
        Scope::User => "",
        Scope::Project(_) => " --project",
    }
}

/// What is typed to choose again what the user chose before.
fn choice(standing: &Standing) -> String {
    let allow = match standing.wishes.allow {
        Some(Allow::Save) => " --allow save",
        Some(Allow::Read) => " --allow read",
        Some(Allow::Nothing) | None => "",
    };
    let trusts = standing.client == Client::Codex && standing.wishes.trust_hooks;
    format!("{allow}{}", if trusts { " --trust-hooks" } else { "" })
}

fn files(standing: &Standing) -> Vec<ProblemText> {
    let mut found = Vec::new();
    for file in &standing.files {
        if let Some(problem) = &file.problem {
            let message = one_line(&problem.to_string(), usize::MAX);
            found.push((message, hint_of(problem, standing)));
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

fn hint_of(problem: &InstallError, standing: &Standing) -> String {
    let (typed, option) = (standing.client.name(), option(standing));
    match problem {
        InstallError::Unexpected { at, .. } => format!(
            "make {at} what is expected or take it out, then `midstride client add {typed}{option}`"
        ),
        InstallError::Unreadable { .. } => {
            "mend the file; the client cannot read it either".to_owned()
        }
        InstallError::Unproven { .. }
        | InstallError::NoHome
        | InstallError::Receipt(_)
        | InstallError::NoPerson(_)
        | InstallError::File(_) => "see what is there".to_owned(),
    }
}

/// Hooks that a client leaves out without a word.
fn untrusted(standing: &Standing) -> Vec<ProblemText> {
    let name = called(standing.client);
    let of = |wanted: HookTrust| -> Vec<&str> {
        let hooks = standing.hooks.iter().filter(|hook| hook.trust == Some(wanted));
        hooks.map(|hook| hook.event.as_str()).collect()
    };
    let trust = format!(
        "start `codex` and answer its question, or `midstride client add codex --trust-hooks{}`",
        option(standing)
    );
    let these = match standing.scope {
        Scope::User => "these hooks",
        Scope::Project(_) => "these hooks of the project",
    };
    let off = "`enabled = false` stands beside them in `config.toml` of Codex; take it out if that is \
               not what you want";
    let all = [
        (HookTrust::Asked, format!("does not trust {these} yet and leaves them out"), &*trust),
        (
            HookTrust::Changed,
            format!("trusted {these} as they were before and leaves them out"),
            &trust,
        ),
        (HookTrust::SwitchedOff, format!("was told to leave {these} out"), off),
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
    saving: &'static str,
    hooks_off: Option<String>,
    unhooked_sessions: Vec<String>,
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
        saving: match facts.own.saving {
            Saving::Allowed => "allowed",
            Saving::Asked => "asked",
            Saving::Denied => "denied",
        },
        hooks_off: facts.own.hooks_off.as_ref().map(|path| path.display().to_string()),
        unhooked_sessions: facts.unhooked.clone(),
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

#[cfg(test)]
mod tests {
    use super::*;
    use midstride::clients::install::OwnSettings;

    #[test]
    fn rows_fit_into_a_narrow_terminal_and_say_what_they_left_out() {
        let fired = Fired {
            client: "codex".to_owned(),
            event: "UserPromptSubmit".to_owned(),
            count: 12,
            last: Timestamp::UNIX_EPOCH,
            did: "told of 3 handoffs that matter for this prompt".to_owned(),
            error: None,
            median: 17,
            worst: 250,
            tokens: 1234,
            tokens_all: 14_808,
            failures: 0,
            failed: None,
        };
        let facts = ClientFacts {
            client: Client::Codex,
            folder: None,
            has_folder: true,
            program: None,
            standings: Vec::new(),
            problems: Vec::new(),
            own: OwnSettings { hooks_off: None, saving: Saving::Asked },
            unhooked: Vec::new(),
            fired: vec![fired],
        };
        let narrow = hooks(&facts, 58);
        let row = narrow.lines().nth(1).unwrap_or_default();
        assert!(row.chars().count() <= 58, "{narrow}");
        assert!(narrow.contains("No room for IN, LAST, MEDIAN"), "{narrow}");
        assert!(hooks(&facts, 150).contains("1234    14808  told of"), "{narrow}");
    }
}
