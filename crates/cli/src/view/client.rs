//! Clients: what is going to change in their files, and how they stand.

use super::difference::unified;
use super::{count, heading};
use midstride::clients::install::{Change, FileStanding, Note, OnPath, Plan, Scope, Standing};
use midstride_core::session::Client;
use midstride_core::text::redact::CleanText;
use serde::Serialize;
use std::path::{Path, PathBuf};

/// What a diff calls a file that is not there.
const NOWHERE: &str = "/dev/null";

/// A client as people call it.
pub(crate) fn called(client: Client) -> &'static str {
    match client {
        Client::ClaudeCode => "Claude Code",
        Client::Codex => "Codex",
    }
}

fn scope_word(scope: &Scope) -> &'static str {
    match scope {
        Scope::User => "user",
        Scope::Project(_) => "project",
    }
}

/// Every change as a diff.
pub(crate) fn changes(plans: &[Plan]) -> String {
    let all: String = plans.iter().flat_map(|plan| &plan.changes).map(difference).collect();
    if all.is_empty() { "Nothing changes.\n".to_owned() } else { all }
}

/// What each plan comes to, where it changes something.
pub(crate) fn summary(plans: &[Plan]) -> Vec<String> {
    let plans = plans.iter().filter(|plan| !plan.changes.is_empty());
    plans.map(summary_of).collect()
}

fn summary_of(plan: &Plan) -> String {
    let of = |is_it: &dyn Fn(&Change) -> bool| plan.changes.iter().filter(|one| is_it(one)).count();
    let kinds = [
        (of(&|one| one.before.is_none()), "is new", "are new"),
        (of(&|one| one.before.is_some() && one.after.is_some()), "changes", "change"),
        (of(&|one| one.after.is_none()), "goes", "go"),
    ];
    let told = kinds.into_iter().filter(|(number, ..)| *number > 0);
    let told = told.map(|(number, one, more)| {
        format!("{} {}", count(number, "file"), if number == 1 { one } else { more })
    });
    let scope = match plan.scope {
        Scope::User => "for you",
        Scope::Project(_) => "in this project",
    };
    let told: Vec<String> = told.collect();
    format!("{}, {scope}: {}.", called(plan.client), told.join(", "))
}

/// What stands around our entries may be secret, and whoever looks may write down what they see.
fn difference(change: &Change) -> String {
    let path = change.path().display().to_string();
    let name = |text: &Option<String>| match text {
        Some(_) => path.clone(),
        None => NOWHERE.to_owned(),
    };
    let names = (name(&change.before), name(&change.after));
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    let diff = unified(&text(&change.before), &text(&change.after), &names);
    CleanText::redact(&diff).0.as_str().to_owned()
}

/// What is left as it is, and what to do about it.
pub(crate) fn note(note: &Note) -> (String, String) {
    let (message, hint) = match note {
        Note::OtherSkill(path) => (
            format!("`{}` is another skill of that name; it stays as it is", path.display()),
            "move it away to get ours",
        ),
        Note::ChangedSkill(path) => (
            format!("`{}` was changed since; it stays", path.display()),
            "remove it yourself if you do not want it",
        ),
        Note::KeptSkill(path) => (
            format!("`{}` stays: it is not known to be midstride's", path.display()),
            "remove it yourself if you do not want it",
        ),
        Note::Plugin(path) => (
            format!("the plugin of midstride is enabled in `{}` as well", path.display()),
            "use one of the two ways: `claude plugin uninstall midstride` or `midstride client remove`",
        ),
        Note::NotRead(path) => (
            format!(
                "`{}` has comments or trailing commas: clients leave all of it out",
                path.display()
            ),
            "take them out of the file; until then neither ours nor yours holds",
        ),
        Note::OtherEntry(path, name) => (
            format!("`{name}` in `{}` is not ours; it stays as it is", path.display()),
            "rename or remove it to get ours",
        ),
        Note::ChangedEntry(path, name) => (
            format!("`{name}` in `{}` was changed since, and goes with the change", path.display()),
            "the difference shows it; copy what you want to keep",
        ),
        Note::Twice(client) => return twice(*client),
    };
    (message, hint.to_owned())
}

/// The hooks of two places are run one after the other.
pub(crate) fn twice(client: Client) -> (String, String) {
    let (name, typed) = (called(client), client.name());
    (
        format!("with midstride for you and in this project, {name} runs every hook twice"),
        format!(
            "keep one: `midstride client remove {typed}` takes out yours, `midstride client remove \
             {typed} --project` the project's"
        ),
    )
}

/// What is wrong with the program that clients will find.
pub(crate) fn path_problem(found: &OnPath) -> (String, &'static str) {
    const INSTALL: &str = "`cargo install --locked --path crates/cli` puts it into cargo's `bin` folder, which \
                           has to be on the PATH of your clients";
    match found {
        OnPath::Missing => {
            ("`midstride` is not on the PATH: clients will not find it".to_owned(), INSTALL)
        }
        OnPath::Other(path, version) => (
            format!("clients will start `{}`, which is {}", path.display(), said(version)),
            INSTALL,
        ),
        OnPath::Same(path) => (format!("clients will start `{}`", path.display()), ""),
    }
}

fn said(version: &str) -> String {
    if version.is_empty() {
        "of another version".to_owned()
    } else {
        format!("`{}`", super::one_line(version, 60))
    }
}

/// What a person should know after installing.
pub(crate) fn after_adding(standing: &Standing) -> Vec<String> {
    let name = called(standing.client);
    let others: Vec<&str> =
        standing.files.iter().flat_map(|file| &file.others).map(String::as_str).collect();
    let without = match others.is_empty() {
        true => String::new(),
        false => format!(", without `{}`: what is called so is not ours", others.join("`, `")),
    };
    let mut lines =
        vec![format!("{name}: installed{without}. Sessions that run already do not know of it.")];
    if let (Client::ClaudeCode, Scope::Project(root)) = (standing.client, &standing.scope) {
        lines.push(format!(
            "Claude Code reads hooks of a project only when it is started in {}; without `--project` they hold everywhere.",
            root.display()
        ));
        lines.push("Claude Code asks everybody once whether to start the server.".to_owned());
    }
    match standing.trusted() {
        Some((trusted, all)) if trusted < all => lines.push(format!(
            "Codex asks you once to trust {}; until then it leaves them out without a word. \
             `--trust-hooks` answers for you.",
            count(all - trusted, "hook")
        )),
        Some(_) | None => {}
    }
    if let (Client::Codex, Scope::Project(_)) = (standing.client, &standing.scope) {
        lines.push("Codex reads files of a project only after you trusted the project.".to_owned());
    }
    lines
}

/// What a file has that is called like ours and is not.
pub(crate) fn others(file: &FileStanding) -> Option<String> {
    let path = file.path.display();
    let names = file.others.join("`, `");
    match (file.others.is_empty(), file.is_skill()) {
        (true, _) => None,
        (false, true) => Some(format!("`{path}` is not midstride's skill, or was changed since")),
        (false, false) => Some(format!("`{names}` in `{path}` does not start midstride")),
    }
}

/// A client with what it has of ours.
pub(crate) struct Listed {
    pub(crate) client: Client,
    pub(crate) folder: Option<PathBuf>,
    pub(crate) is_found: bool,
    pub(crate) standings: Vec<Standing>,
}

pub(crate) fn list(clients: &[Listed], path: &OnPath) -> String {
    let mut out = String::new();
    for listed in clients {
        out.push_str(&heading(called(listed.client)));
        let folder = listed.folder.as_deref().unwrap_or(Path::new("?")).display();
        let found = if listed.is_found { "found" } else { "not found" };
        out.push_str(&format!("  {found}: {folder}\n"));
        for standing in &listed.standings {
            out.push_str(&stands(standing));
        }
    }
    out.push_str(&match path {
        OnPath::Same(path) => format!("On the PATH: {}\n", path.display()),
        OnPath::Other(path, version) => {
            format!("On the PATH: {}, {}\n", path.display(), said(version))
        }
        OnPath::Missing => "On the PATH: nothing called midstride\n".to_owned(),
    });
    out
}

fn stands(standing: &Standing) -> String {
    let scope = scope_word(&standing.scope);
    let state = match (standing.is_installed(), standing.is_complete()) {
        (false, _) => "not installed",
        (true, true) => "installed",
        (true, false) => "incomplete",
    };
    let mut out = format!("  for the {scope}: {state}\n");
    let is_there = standing.is_installed();
    for file in &standing.files {
        let path = file.path.display();
        if let Some(problem) = &file.problem {
            out.push_str(&format!("    {}\n", super::one_line(&problem.to_string(), usize::MAX)));
        } else if is_there && !file.missing.is_empty() {
            out.push_str(&format!("    missing in {path}: {}\n", file.missing.join(", ")));
        }
        if let Some(others) = others(file) {
            out.push_str(&format!("    {others}\n"));
        }
        if file.is_left_out {
            out.push_str(&format!(
                "    left out by the client, for its comments or commas: {path}\n"
            ));
        }
        if is_there && file.is_changed {
            out.push_str(&format!("    changed since by somebody: {path}\n"));
        }
    }
    if let Some((trusted, all)) = standing.trusted().filter(|(_, all)| *all > 0) {
        out.push_str(&format!("    hooks that Codex trusts: {trusted} of {all}\n"));
    }
    out
}

#[derive(Serialize)]
pub(crate) struct PlanJson {
    client: &'static str,
    scope: &'static str,
    changes: Vec<ChangeJson>,
    left: Vec<String>,
}

#[derive(Serialize)]
struct ChangeJson {
    path: String,
    existed: bool,
    exists: bool,
    unified: String,
}

pub(crate) fn plans_json(plans: &[Plan]) -> Vec<PlanJson> {
    let change = |change: &Change| ChangeJson {
        path: change.path().display().to_string(),
        existed: change.before.is_some(),
        exists: change.after.is_some(),
        unified: difference(change),
    };
    let plan = |plan: &Plan| PlanJson {
        client: plan.client.name(),
        scope: scope_word(&plan.scope),
        changes: plan.changes.iter().map(change).collect(),
        left: plan.notes.iter().map(|one| note(one).0).collect(),
    };
    plans.iter().map(plan).collect()
}

#[derive(Serialize)]
pub(crate) struct ListJson {
    clients: Vec<ClientJson>,
    on_path: Option<OnPathJson>,
}

#[derive(Serialize)]
struct OnPathJson {
    path: String,
    is_this_version: bool,
}

#[derive(Serialize)]
struct ClientJson {
    client: &'static str,
    found: bool,
    folder: Option<String>,
    scopes: Vec<StandingJson>,
}

#[derive(Serialize)]
struct StandingJson {
    scope: &'static str,
    installed: bool,
    complete: bool,
    receipt: bool,
    hooks_trusted: Option<usize>,
    files: Vec<FileJson>,
}

#[derive(Serialize)]
struct FileJson {
    path: String,
    present: Vec<String>,
    missing: Vec<String>,
    others: Vec<String>,
    changed_since: bool,
    left_out: bool,
    problem: Option<String>,
}

pub(crate) fn list_json(clients: &[Listed], path: &OnPath) -> ListJson {
    let file = |file: &FileStanding| FileJson {
        path: file.path.display().to_string(),
        present: file.present.clone(),
        missing: file.missing.clone(),
        others: file.others.clone(),
        changed_since: file.is_changed,
        left_out: file.is_left_out,
        problem: file.problem.as_ref().map(ToString::to_string),
    };
    let standing = |standing: &Standing| StandingJson {
        scope: scope_word(&standing.scope),
        installed: standing.is_installed(),
        complete: standing.is_complete(),
        receipt: standing.has_receipt,
        hooks_trusted: standing.trusted().map(|(trusted, _)| trusted),
        files: standing.files.iter().map(file).collect(),
    };
    let client = |listed: &Listed| ClientJson {
        client: listed.client.name(),
        found: listed.is_found,
        folder: listed.folder.as_ref().map(|folder| folder.display().to_string()),
        scopes: listed.standings.iter().map(standing).collect(),
    };
    let on_path = match path {
        OnPath::Same(path) => Some((path, true)),
        OnPath::Other(path, _) => Some((path, false)),
        OnPath::Missing => None,
    };
    ListJson {
        clients: clients.iter().map(client).collect(),
        on_path: on_path.map(|(path, is_this_version)| OnPathJson {
            path: path.display().to_string(),
            is_this_version,
        }),
    }
}

/// A file of the plugin.
#[derive(Serialize)]
pub(crate) struct PluginFileJson {
    path: String,
    text: String,
}

pub(crate) fn plugin_json(files: Vec<(PathBuf, String)>) -> Vec<PluginFileJson> {
    let file =
        |(path, text): (PathBuf, String)| PluginFileJson { path: path.display().to_string(), text };
    files.into_iter().map(file).collect()
}
