//! Renders the client section of `midstride doctor`: what is installed, which hooks fired, what is
//! missing.

use super::super::client::{conflicting_entries, duplicate_hooks};
use super::super::table::{Column, line_width, table};
use super::super::{count, heading, indent, one_line, sanitize};
use super::ProblemText;
use jiff::Timestamp;
use midstride::clients::HooksSetting;
use midstride::clients::hook_log::HookStats;
use midstride::clients::install::{
    AllowedTools, HookStatus, HookTrust, InstallError, InstallScope, InstallStatus, SavePermission,
};
use midstride::verbs::ClientFacts;
use midstride_core::text::id::SessionId;
use serde::Serialize;

/// The width at which errors and versions are truncated.
const WIDTH_MAX: usize = 100;

/// A hook of a client: where it is installed, whether it is trusted, and its statistics.
struct HookRow<'f> {
    event: &'f str,
    /// Whether midstride installs this hook. The log may contain others.
    is_ours: bool,
    installed_in: Vec<&'static str>,
    trust: Option<HookTrust>,
    fired: Option<&'f HookStats>,
}

/// The hooks that midstride installs, then other hooks found in the log.
fn rows(facts: &ClientFacts) -> Vec<HookRow<'_>> {
    let wanted = facts.statuses.first().map_or(&[][..], |standing| &standing.hooks);
    let fired = |event: &str| facts.hook_stats.iter().find(|fired| fired.event == event);
    let known = wanted.iter().map(|hook| {
        let at = |standing: &&InstallStatus| install_source(standing, &hook.event).is_some();
        let places: Vec<&InstallStatus> = facts.statuses.iter().filter(at).collect();
        let trusts = places.iter().filter_map(|standing| {
            standing.hooks.iter().find(|one| one.event == hook.event)?.trust
        });
        HookRow {
            event: &hook.event,
            is_ours: true,
            installed_in: places
                .iter()
                .filter_map(|one| install_source(one, &hook.event))
                .collect(),
            trust: trusts.max_by_key(|trust| *trust != HookTrust::Trusted),
            fired: fired(&hook.event),
        }
    });
    let is_unknown = |one: &&HookStats| !wanted.iter().any(|hook| hook.event == one.event);
    let unknown = facts.hook_stats.iter().filter(is_unknown).map(|one| HookRow {
        event: &one.event,
        is_ours: false,
        installed_in: Vec::new(),
        trust: None,
        fired: Some(one),
    });
    known.chain(unknown).collect()
}

/// Where a hook is installed.
fn install_source(standing: &InstallStatus, event: &str) -> Option<&'static str> {
    let is_it = |hook: &HookStatus| hook.event == event && hook.is_installed;
    match (standing.hooks.iter().any(is_it), &standing.scope) {
        (true, InstallScope::User) => Some("user"),
        (true, InstallScope::Project(_)) => Some("project"),
        (false, _) => standing.has_plugin.then_some("plugin"),
    }
}

/// `speaks` is whether hooks print anything in this project at all.
pub(super) fn text(facts: &ClientFacts, speaks: bool, terminal: Option<usize>) -> String {
    let mut out = heading(facts.client.title());
    let mut line = |name: &str, what: &str| out.push_str(&format!("  {name:<9}{what}\n"));
    line("program", &program_text(facts));
    for standing in facts.statuses.iter().filter(|one| one.is_installed() || one.has_plugin) {
        match standing.scope {
            InstallScope::User => line("user", &installed_text(standing)),
            InstallScope::Project(_) => line("project", &installed_text(standing)),
        }
    }
    if facts.is_installed() {
        line("saving", &saving_text(facts));
    }
    if facts.is_found() && !facts.is_installed() {
        let name = facts.client.name();
        line("user", &format!("nothing installed. Next: midstride client add {name}"));
    }
    if facts.is_installed() || !facts.hook_stats.is_empty() {
        out.push_str(&indent(&hooks_table(facts, line_width(terminal).saturating_sub(2))));
    }
    if speaks && facts.is_installed() && facts.hook_stats.is_empty() {
        out.push_str(
            "  No hooks have fired in this project yet. Start a session here, then run this again.\n",
        );
    }
    out
}

/// Whether the agent may save.
fn saving_text(facts: &ClientFacts) -> String {
    match facts.own_settings.saving {
        SavePermission::Allowed => "allowed without asking".to_owned(),
        SavePermission::Denied => {
            "denied by your settings, so agents are not asked to save".to_owned()
        }
        SavePermission::Prompted => format!(
            "asks you each time; headless sessions cannot save. Next: midstride client add {} --allow save",
            facts.client.name()
        ),
    }
}

fn program_text(facts: &ClientFacts) -> String {
    let folder = facts.folder.as_ref().map(|folder| sanitize(&folder.display().to_string()));
    match (&facts.program, folder) {
        (Some(program), _) => {
            let path = sanitize(&program.path.display().to_string());
            let version = program.version.as_deref().unwrap_or("unknown version");
            format!("{}, {path}", one_line(version, WIDTH_MAX))
        }
        (None, Some(folder)) if facts.has_folder => {
            format!("not on the PATH, but {folder} exists")
        }
        (None, _) => "not found".to_owned(),
    }
}

fn installed_text(standing: &InstallStatus) -> String {
    let (skills, all_skills) = standing.skills;
    let hooks = standing.hooks.iter().filter(|hook| hook.is_installed).count();
    if !standing.is_installed() {
        return "installed as a plugin".to_owned();
    }
    let server = if standing.has_server { "the MCP server" } else { "no MCP server" };
    let all = standing.hooks.len();
    let plugin = if standing.has_plugin { ", and the plugin" } else { "" };
    format!("{hooks} of {all} hooks, {server}, {skills} of {all_skills} skills{plugin}")
}

/// A column of the hook table.
struct HookColumn {
    name: &'static str,
    /// A narrow terminal drops the column with the lowest number first.
    drop_order: Option<u8>,
    /// Whether the column applies to this client.
    is_shown: fn(&ClientFacts) -> bool,
    cell: fn(&HookRow<'_>) -> String,
}

const HOOK_COLUMNS: [HookColumn; 10] = [
    column("HOOK", None, always, |row| event_name(row.event)),
    column("IN", Some(3), always, places_cell),
    column("TRUST", None, asks_for_trust, |row| {
        row.trust.map(trust_word).unwrap_or_default().to_owned()
    }),
    column("FIRED", None, always, |row| fired_cell(row, "never", |fired| fired.count.to_string())),
    column("LAST", Some(5), has_fired, |row| {
        fired_cell(row, "", |fired| format_minute(fired.last))
    }),
    column("MEDIAN", Some(2), has_fired, |row| {
        fired_cell(row, "", |fired| format!("{} ms", fired.median))
    }),
    column("WORST", Some(1), has_fired, |row| {
        fired_cell(row, "", |fired| format!("{} ms", fired.worst))
    }),
    column("TOKENS", Some(4), has_fired, |row| {
        fired_cell(row, "", |fired| fired.tokens.to_string())
    }),
    column("ALL", Some(0), has_fired, |row| {
        fired_cell(row, "", |fired| fired.total_tokens.to_string())
    }),
    column("DID", None, has_fired, |row| fired_cell(row, "", outcome_text)),
];

const fn column(
    name: &'static str,
    spared: Option<u8>,
    is_shown: fn(&ClientFacts) -> bool,
    cell: fn(&HookRow<'_>) -> String,
) -> HookColumn {
    HookColumn { name, drop_order: spared, is_shown, cell }
}

fn always(_: &ClientFacts) -> bool {
    true
}

fn asks_for_trust(facts: &ClientFacts) -> bool {
    facts.client.profile().asks_for_hook_trust
}

fn has_fired(facts: &ClientFacts) -> bool {
    !facts.hook_stats.is_empty()
}

fn fired_cell(row: &HookRow<'_>, never: &str, cell: fn(&HookStats) -> String) -> String {
    row.fired.map_or(never.to_owned(), cell)
}

fn places_cell(row: &HookRow<'_>) -> String {
    match (row.is_ours, row.installed_in.is_empty()) {
        (false, _) => "-".to_owned(),
        (true, true) => "missing".to_owned(),
        (true, false) => row.installed_in.join(", "),
    }
}

fn hooks_table(facts: &ClientFacts, width: usize) -> String {
    let shown = || HOOK_COLUMNS.iter().filter(|column| (column.is_shown)(facts));
    let columns: Vec<Column> =
        shown().map(|column| Column { name: column.name, drop_order: column.drop_order }).collect();
    let row = |row: &HookRow<'_>| shown().map(|column| (column.cell)(row)).collect();
    let rows: Vec<Vec<String>> = rows(facts).iter().map(row).collect();
    let table = table(&columns, &rows, width);
    match table.omitted_columns.is_empty() {
        true => table.text,
        false => {
            format!(
                "{}Columns omitted: {} (see --json)\n",
                table.text,
                table.omitted_columns.join(", ")
            )
        }
    }
}

/// The name of an event. It is empty in the log if the hook could not parse its input.
fn event_name(event: &str) -> String {
    if event.is_empty() { "(not understood)".to_owned() } else { sanitize(event) }
}

fn outcome_text(fired: &HookStats) -> String {
    match (&fired.error, &fired.failed) {
        (Some(why), _) => format!("FAILED: {}", one_line(why, WIDTH_MAX)),
        (None, Some((at, why))) => {
            let why = one_line(why, WIDTH_MAX);
            let did = one_line(&fired.did, WIDTH_MAX);
            format!("{did}; {} failed, last {}: {why}", fired.failures, format_minute(*at))
        }
        (None, None) => one_line(&fired.did, WIDTH_MAX),
    }
}

fn format_minute(time: Timestamp) -> String {
    time.strftime("%Y-%m-%d %H:%M").to_string()
}

fn trust_word(trust: HookTrust) -> &'static str {
    match trust {
        HookTrust::Trusted => "trusted",
        HookTrust::Pending => "not yet",
        HookTrust::Changed => "changed",
        HookTrust::Disabled => "off",
    }
}

/// The background work that ran after a client had its answer.
pub(super) fn background_text(fired: &[HookStats]) -> String {
    let ours = fired.iter().filter(|one| one.client == "midstride");
    let line = |one: &HookStats| {
        let (event, times, did) =
            (sanitize(&one.event), super::super::times(one.count), outcome_text(one));
        format!("  {event:<9}{times}, last {}: {did}\n", format_minute(one.last))
    };
    let lines: String = ours.map(line).collect();
    if lines.is_empty() { lines } else { format!("{}{lines}", heading("Background work")) }
}

/// Whether a file has to be fixed before anything can be installed.
pub(super) fn is_blocked(facts: &ClientFacts) -> bool {
    let of_user = facts.statuses.iter().filter(|standing| standing.scope == InstallScope::User);
    of_user.flat_map(|standing| &standing.files).any(|file| file.problem.is_some())
}

/// All problems with a client.
pub(super) fn problems(facts: &ClientFacts) -> Vec<ProblemText> {
    let (name, typed) = (facts.client.title(), facts.client.name());
    let mut found = Vec::new();
    for problem in &facts.problems {
        let hint = format!("run `midstride client list` for details about {name}");
        found.push((problem.to_string(), hint));
    }
    // If nothing is installed yet, a broken file may prevent installing.
    let is_there = facts.is_installed();
    let looked_at = |one: &&InstallStatus| one.is_installed() || (!is_there && facts.is_found());
    for standing in facts.statuses.iter().filter(looked_at) {
        found.extend(missing_parts(standing).filter(|_| standing.is_installed()));
        found.extend(conflicts(standing).filter(|_| standing.is_installed()));
        found.extend(file_problems(standing));
        found.extend(untrusted_hooks(standing));
    }
    found.extend(hooks_off(facts).filter(|_| is_there));
    found.extend(facts.statuses.iter().filter_map(other_timeouts));
    found.extend(unhooked_sessions(facts));
    found.extend(failed_hooks(facts));
    if let [one, other] = &facts.statuses[..]
        && one.has_hooks()
        && other.has_hooks()
        && one.duplicates_hooks_of(other)
    {
        found.push(duplicate_hooks(facts.client));
    }
    let has_plugin = facts.statuses.iter().any(|one| one.has_plugin);
    let added = facts.statuses.iter().find(|one| one.is_installed());
    if let Some(added) = added.filter(|_| has_plugin) {
        let hint = format!(
            "remove one: `{} plugin uninstall midstride` or `midstride client \
             remove {typed}{}`",
            facts.client.profile().program,
            scope_flag(added)
        );
        found.push((
            format!("{name} has midstride twice: installed directly and as a plugin"),
            hint,
        ));
    }
    found
}

/// The hooks whose last call failed. For a call without an event name, or one that midstride does
/// not install, a later successful call of any hook clears the problem.
fn failed_hooks(facts: &ClientFacts) -> Vec<ProblemText> {
    let name = facts.client.title();
    let is_well = |one: &&HookStats| one.error.is_none();
    let well = facts.hook_stats.iter().filter(is_well).map(|one| one.last).max();
    let mut found = Vec::new();
    for row in rows(facts) {
        let Some((fired, why)) = row.fired.and_then(|one| Some((one, one.error.as_deref()?)))
        else {
            continue;
        };
        if !row.is_ours && well > Some(fired.last) {
            continue;
        }
        let why = one_line(why, WIDTH_MAX);
        let message = format!("the last {} call by {name} failed: {why}", event_name(&fired.event));
        let hint = "the session itself continued; `midstride session recover` captures what was missed, and `hooks.log` next to the ledger shows when it happened";
        found.push((message, hint.to_owned()));
    }
    found
}

/// The problem that all hooks of the client are disabled.
fn hooks_off(facts: &ClientFacts) -> Option<ProblemText> {
    let path = facts.own_settings.hooks_off.as_ref()?.display();
    let name = facts.client.title();
    let HooksSetting { off, hint } = facts.client.profile().hooks_setting;
    Some((format!("{name} runs no hooks: {off} is set in `{path}`"), (*hint).to_owned()))
}

/// The problem that sessions ran without hooks.
fn unhooked_sessions(facts: &ClientFacts) -> Option<ProblemText> {
    const SHOWN_MAX: usize = 3;
    let shown = facts.unhooked.iter().take(SHOWN_MAX).map(|id| one_line(id.as_str(), 36));
    let mut shown = shown.collect::<Vec<_>>().join(", ");
    let more = facts.unhooked.len().saturating_sub(SHOWN_MAX);
    if more > 0 {
        shown.push_str(&format!(" and {more} more"));
    }
    let sessions = count(facts.unhooked.len(), "session");
    let message = format!("{sessions} in {} ran without hooks: {shown}", facts.client.title());
    let hint = "`midstride session recover` captures them; a session that was started before `client add`, or with its own settings, runs no hooks";
    (!facts.unhooked.is_empty()).then(|| (message, hint.to_owned()))
}

/// The hooks whose timeout was changed; a short timeout kills them.
fn other_timeouts(standing: &InstallStatus) -> Option<ProblemText> {
    let unit = standing.client.profile().hook_timeout_unit;
    let changed = standing
        .hooks
        .iter()
        .filter_map(|hook| Some(format!("{} {} {unit}", hook.event, hook.other_timeout?)));
    let changed: Vec<String> = changed.collect();
    let (name, typed, option) =
        (standing.client.title(), standing.client.name(), scope_flag(standing));
    let message = format!("hook timeouts for {name} were changed: {}", changed.join(", "));
    let choice = consent_flags(standing);
    let hint = format!(
        "to reset them, run `midstride client remove {typed}{option}`, then `midstride client add {typed}{option}{choice}`"
    );
    (!changed.is_empty()).then_some((message, hint))
}

fn missing_parts(standing: &InstallStatus) -> Option<ProblemText> {
    let (name, typed) = (standing.client.title(), standing.client.name());
    let hooks = standing.hooks.iter().filter(|hook| !hook.is_installed);
    let mut missing: Vec<String> = hooks.map(|hook| hook.event.clone()).collect();
    if standing.lacks_server() {
        missing.push("the MCP server".to_owned());
    }
    let skills = standing.missing_skills();
    if skills > 0 {
        missing.push(count(skills, "skill"));
    }
    if missing.is_empty() || standing.files.iter().any(|file| file.problem.is_some()) {
        return None;
    }
    let option = scope_flag(standing);
    let message = format!("{name} is missing {}", missing.join(", "));
    Some((message, format!("`midstride client add {typed}{option}` adds what is missing")))
}

/// The entries with midstride's names that are not midstride's, so that midstride's own are
/// missing.
fn conflicts(standing: &InstallStatus) -> impl Iterator<Item = ProblemText> {
    let (typed, option) = (standing.client.name(), scope_flag(standing));
    let hint = format!(
        "move it out of the way, then run `midstride client add {typed}{option}` to install midstride's"
    );
    standing
        .files
        .iter()
        // A skill of the user works; it is not a problem.
        .filter(|file| !file.is_skill())
        .filter_map(conflicting_entries)
        .map(move |message| (message, hint.clone()))
}

/// The flag that selects this scope.
fn scope_flag(standing: &InstallStatus) -> &'static str {
    match standing.scope {
        InstallScope::User => "",
        InstallScope::Project(_) => " --project",
    }
}

/// The flags that repeat the user's earlier choices.
fn consent_flags(standing: &InstallStatus) -> String {
    let allow = match standing.options.allow {
        Some(AllowedTools::Save) => " --allow save",
        Some(AllowedTools::Read) => " --allow read",
        Some(AllowedTools::Nothing) | None => "",
    };
    let asks = standing.client.profile().asks_for_hook_trust;
    let trusts = asks && standing.options.trust_hooks;
    format!("{allow}{}", if trusts { " --trust-hooks" } else { "" })
}

fn file_problems(standing: &InstallStatus) -> Vec<ProblemText> {
    let mut found = Vec::new();
    for file in &standing.files {
        if let Some(problem) = &file.problem {
            let message = one_line(&problem.to_string(), usize::MAX);
            found.push((message, install_error_hint(problem, standing)));
        }
        if file.is_ignored {
            let path = file.path.display();
            found.push((
                format!(
                    "`{path}` has comments or trailing commas, so the client ignores the whole file"
                ),
                "remove them from the file".to_owned(),
            ));
        }
    }
    found
}

fn install_error_hint(problem: &InstallError, standing: &InstallStatus) -> String {
    let (typed, option) = (standing.client.name(), scope_flag(standing));
    match problem {
        InstallError::Unexpected { at, .. } => {
            format!("correct or remove {at}, then run `midstride client add {typed}{option}`")
        }
        InstallError::Unreadable { .. } => {
            "fix the file; the client cannot read it either".to_owned()
        }
        InstallError::Unverified { .. }
        | InstallError::NoHome
        | InstallError::DamagedRecord(_)
        | InstallError::RunByAgent(_)
        | InstallError::File(_)
        | _ => "check that path".to_owned(),
    }
}

/// The hooks that a client skips silently because they are not trusted.
fn untrusted_hooks(standing: &InstallStatus) -> Vec<ProblemText> {
    let name = standing.client.title();
    let of = |wanted: HookTrust| -> Vec<&str> {
        let hooks = standing.hooks.iter().filter(|hook| hook.trust == Some(wanted));
        hooks.map(|hook| hook.event.as_str()).collect()
    };
    let (program, typed) = (standing.client.profile().program, standing.client.name());
    let trust = format!(
        "start `{program}` and answer its question, or run `midstride client add {typed} --trust-hooks{}`",
        scope_flag(standing)
    );
    let these = match standing.scope {
        InstallScope::User => "these hooks",
        InstallScope::Project(_) => "these project hooks",
    };
    let off =
        format!("`enabled = false` is set for them in {name}'s settings; remove it to enable them");
    let all = [
        (HookTrust::Pending, format!("does not trust {these} yet and skips them"), &*trust),
        (
            HookTrust::Changed,
            format!("trusted an earlier version of {these} and skips the current one"),
            &trust,
        ),
        (HookTrust::Disabled, format!("is configured to skip {these}"), &off),
    ];
    let found = all.into_iter().filter_map(|(trust, what, hint)| {
        let events = of(trust);
        let message = format!("{name} {what}: {}", events.join(", "));
        (!events.is_empty()).then(|| (message, hint.to_owned()))
    });
    found.collect()
}

#[derive(Serialize)]
pub(super) struct ClientDiagnosisJson {
    client: &'static str,
    found: bool,
    installed: bool,
    folder: Option<String>,
    program: Option<ClientProgramJson>,
    scopes: Vec<InstallScopeJson>,
    saving: &'static str,
    hooks_off: Option<String>,
    unhooked_sessions: Vec<SessionId>,
    hooks: Vec<HookDiagnosisJson>,
}

#[derive(Serialize)]
struct ClientProgramJson {
    path: String,
    version: Option<String>,
}

#[derive(Serialize)]
struct InstallScopeJson {
    scope: &'static str,
    installed: bool,
    plugin: bool,
    mcp_server: bool,
    skills: usize,
}

#[derive(Serialize)]
struct HookDiagnosisJson {
    event: String,
    installed_in: Vec<&'static str>,
    trust: Option<&'static str>,
    fired: Option<HookStatsJson>,
}

#[derive(Serialize)]
struct HookStatsJson {
    count: usize,
    last: String,
    did: String,
    error: Option<String>,
    median_milliseconds: u64,
    worst_milliseconds: u64,
    tokens_last: u64,
    tokens_total: u64,
    failures: usize,
    last_failure: Option<HookFailureJson>,
}

#[derive(Serialize)]
struct HookFailureJson {
    at: String,
    error: String,
}

pub(super) fn json(facts: &ClientFacts) -> ClientDiagnosisJson {
    let scope = |standing: &InstallStatus| InstallScopeJson {
        scope: match standing.scope {
            InstallScope::User => "user",
            InstallScope::Project(_) => "project",
        },
        installed: standing.is_installed(),
        plugin: standing.has_plugin,
        mcp_server: standing.has_server,
        skills: standing.skills.0,
    };
    let hook = |row: &HookRow<'_>| HookDiagnosisJson {
        event: row.event.to_owned(),
        installed_in: row.installed_in.clone(),
        trust: row.trust.map(|trust| match trust {
            HookTrust::Trusted => "trusted",
            HookTrust::Pending => "asked",
            HookTrust::Changed => "changed",
            HookTrust::Disabled => "switched_off",
        }),
        fired: row.fired.map(hook_stats_json),
    };
    ClientDiagnosisJson {
        client: facts.client.name(),
        found: facts.is_found(),
        installed: facts.is_installed(),
        folder: facts.folder.as_ref().map(|folder| folder.display().to_string()),
        program: facts.program.as_ref().map(|program| ClientProgramJson {
            path: program.path.display().to_string(),
            version: program.version.clone(),
        }),
        scopes: facts.statuses.iter().map(scope).collect(),
        saving: match facts.own_settings.saving {
            SavePermission::Allowed => "allowed",
            SavePermission::Prompted => "asked",
            SavePermission::Denied => "denied",
        },
        hooks_off: facts.own_settings.hooks_off.as_ref().map(|path| path.display().to_string()),
        unhooked_sessions: facts.unhooked.clone(),
        hooks: rows(facts).iter().map(hook).collect(),
    }
}

fn hook_stats_json(fired: &HookStats) -> HookStatsJson {
    let failure = |(at, error): &(Timestamp, String)| HookFailureJson {
        at: at.to_string(),
        error: error.clone(),
    };
    HookStatsJson {
        count: fired.count,
        last: fired.last.to_string(),
        did: fired.did.clone(),
        error: fired.error.clone(),
        median_milliseconds: fired.median,
        worst_milliseconds: fired.worst,
        tokens_last: fired.tokens,
        tokens_total: fired.total_tokens,
        failures: fired.failures,
        last_failure: fired.failed.as_ref().map(failure),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use midstride::clients::install::ClientSettings;

    #[test]
    fn hook_table_fits_a_narrow_terminal_and_names_omitted_columns() {
        let fired = HookStats {
            client: "codex".to_owned(),
            event: "UserPromptSubmit".to_owned(),
            count: 12,
            last: Timestamp::UNIX_EPOCH,
            did: "told of 3 handoffs that matter for this prompt".to_owned(),
            error: None,
            median: 17,
            worst: 250,
            tokens: 1234,
            total_tokens: 14_808,
            failures: 0,
            failed: None,
        };
        let facts = ClientFacts {
            client: midstride::clients::find("codex").unwrap(),
            folder: None,
            has_folder: true,
            program: None,
            statuses: Vec::new(),
            problems: Vec::new(),
            own_settings: ClientSettings { hooks_off: None, saving: SavePermission::Prompted },
            unhooked: Vec::new(),
            hook_stats: vec![fired],
        };
        let narrow = hooks_table(&facts, 58);
        let row = narrow.lines().nth(1).unwrap_or_default();
        assert!(row.chars().count() <= 58, "{narrow}");
        assert!(narrow.contains("Columns omitted: IN, LAST, MEDIAN"), "{narrow}");
        assert!(hooks_table(&facts, 150).contains("1234    14808  told of"), "{narrow}");
    }
}
