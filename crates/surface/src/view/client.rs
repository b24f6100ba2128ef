//! Renders clients: the planned changes to their files, and their installation status.

use super::difference::unified_diff;
use super::{count, heading};
use crate::json::{JsonAnswer, JsonItem, JsonList};
use midstride::clients::Client;
use midstride::clients::install::{
    FileChange, FileInstallStatus, InstallNote, InstallPlan, InstallScope, InstallStatus,
    PathLookup,
};
use midstride_core::text::redact::CleanText;
use serde::Serialize;
use std::path::{Path, PathBuf};

/// The name of a missing file in a diff.
const DEV_NULL: &str = "/dev/null";

fn scope_name(scope: &InstallScope) -> &'static str {
    match scope {
        InstallScope::User => "user",
        InstallScope::Project(_) => "project",
    }
}

/// All changes as diffs.
pub fn changes(plans: &[InstallPlan]) -> String {
    let all: String = plans.iter().flat_map(|plan| &plan.changes).map(change_diff).collect();
    if all.is_empty() { "No changes.\n".to_owned() } else { all }
}

/// The changes of one plan as diffs; empty if there are none.
pub(crate) fn changes_of(plan: &InstallPlan) -> String {
    plan.changes.iter().map(change_diff).collect()
}

/// One line for each plan that changes something.
pub fn summary(plans: &[InstallPlan]) -> Vec<String> {
    let plans = plans.iter().filter(|plan| !plan.changes.is_empty());
    plans.map(plan_summary).collect()
}

fn plan_summary(plan: &InstallPlan) -> String {
    let of =
        |is_it: &dyn Fn(&FileChange) -> bool| plan.changes.iter().filter(|one| is_it(one)).count();
    let kinds = [
        (of(&|one| one.before.is_none()), "is new", "are new"),
        (of(&|one| one.before.is_some() && one.after.is_some()), "changes", "change"),
        (of(&|one| one.after.is_none()), "is deleted", "are deleted"),
    ];
    let parts = kinds.into_iter().filter(|(number, ..)| *number > 0);
    let parts = parts.map(|(number, one, more)| {
        format!("{} {}", count(number, "file"), if number == 1 { one } else { more })
    });
    let scope = match plan.scope {
        InstallScope::User => "for you",
        InstallScope::Project(_) => "in this project",
    };
    let parts: Vec<String> = parts.collect();
    format!("{}, {scope}: {}.", plan.client.title(), parts.join(", "))
}

/// A diff of one file. Settings around midstride's entries may hold secrets, and the output may end
/// up in a transcript, so the diff is redacted.
fn change_diff(change: &FileChange) -> String {
    let path = change.path().display().to_string();
    let name = |text: &Option<String>| match text {
        Some(_) => path.clone(),
        None => DEV_NULL.to_owned(),
    };
    let names = (name(&change.before), name(&change.after));
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    let diff = unified_diff(&text(&change.before), &text(&change.after), &names);
    CleanText::redact(&diff).0.as_str().to_owned()
}

/// The message and hint for a part of the installation that was left unchanged.
pub fn note(note: &InstallNote) -> (String, String) {
    let (message, hint) = match note {
        InstallNote::OtherSkill(path) => (
            format!("`{}` is your own skill, so midstride's is not installed", path.display()),
            "rename yours and run this again to get both",
        ),
        InstallNote::ChangedSkill(path) => (
            format!("`{}` was edited since it was installed, so it is kept", path.display()),
            "remove it yourself if you do not want it",
        ),
        InstallNote::KeptSkill(path) => (
            format!("kept `{}`, which may not be midstride's", path.display()),
            "remove it yourself if you do not want it",
        ),
        InstallNote::NotRead(path) => (
            format!(
                "`{}` has comments or trailing commas, so clients ignore the whole file",
                path.display()
            ),
            "remove them; until then clients use neither your settings nor midstride's",
        ),
        InstallNote::OtherEntry(path, name) => (
            format!("`{name}` in `{}` is not midstride's, so it is kept", path.display()),
            "rename or remove it to install midstride's",
        ),
        InstallNote::ChangedEntry(path, name) => (
            format!(
                "`{name}` in `{}` was edited since it was installed; removing it also removes the edit",
                path.display()
            ),
            "look at the diff and copy what you want to keep",
        ),
        InstallNote::Plugin(client, path) => {
            let program = client.profile().program;
            let message = format!("the midstride plugin is also enabled in `{}`", path.display());
            let hint = format!(
                "remove one: `{program} plugin uninstall midstride` or `midstride \
                 client remove`"
            );
            return (message, hint);
        }
        InstallNote::DuplicateHooks(client) => return duplicate_hooks(*client),
    };
    (message, hint.to_owned())
}

/// The warning that the hooks are installed in two places and run twice.
pub(crate) fn duplicate_hooks(client: &'static dyn Client) -> (String, String) {
    let (name, typed) = (client.title(), client.name());
    (
        format!(
            "midstride is installed both for you and in this project, so {name} runs every hook twice"
        ),
        format!(
            "keep one: `midstride client remove {typed}` removes yours; `midstride client remove {typed} --project` removes the project's"
        ),
    )
}

/// The problem with the `midstride` program that clients find on `PATH`.
pub fn path_problem(found: &PathLookup) -> (String, &'static str) {
    const INSTALL: &str = "`cargo install --locked --path crates/cli` installs it in cargo's `bin` folder, which must be on your clients' PATH";
    match found {
        PathLookup::Missing => {
            ("`midstride` is not on the PATH, so clients will not find it".to_owned(), INSTALL)
        }
        PathLookup::Other(path, version) => (
            format!("clients will start `{}`, which is {}", path.display(), version_label(version)),
            INSTALL,
        ),
        PathLookup::Same(path) => (format!("clients will start `{}`", path.display()), ""),
    }
}

fn version_label(version: &str) -> String {
    if version.is_empty() {
        "another version".to_owned()
    } else {
        format!("`{}`", super::one_line(version, 60))
    }
}

/// What the user should know after installing.
pub fn install_remarks(standing: &InstallStatus) -> Vec<String> {
    let name = standing.client.title();
    let others: Vec<&str> =
        standing.files.iter().flat_map(|file| &file.others).map(String::as_str).collect();
    let without = match others.is_empty() {
        true => String::new(),
        false => format!(", except `{}`, because you have your own", others.join("`, `")),
    };
    let mut lines =
        vec![format!("{name}: installed{without}. Restart running sessions to pick this up.")];
    match standing.trusted_hooks() {
        Some((trusted, all)) if trusted < all => lines.push(format!(
            "{name} will ask you once to trust {} and skips them until you do. \
             `midstride client add {} --trust-hooks` answers for you.",
            count(all - trusted, "hook"),
            standing.client.name()
        )),
        Some(_) | None => {}
    }
    if let InstallScope::Project(root) = &standing.scope {
        lines.extend(standing.client.project_install_notes(root));
    }
    lines
}

/// The entries of a file that have midstride's names and are not midstride's.
pub(crate) fn conflicting_entries(file: &FileInstallStatus) -> Option<String> {
    let path = file.path.display();
    let names = file.others.join("`, `");
    match (file.others.is_empty(), file.is_skill()) {
        (true, _) => None,
        (false, true) => Some(format!("`{path}` is your own skill, or you changed it")),
        (false, false) => Some(format!("`{names}` in `{path}` does not start midstride")),
    }
}

/// A client and its installation status.
pub struct ClientListing {
    /// The client.
    pub client: &'static dyn Client,
    /// The folder of the client for this user, if it is known.
    pub folder: Option<PathBuf>,
    /// Whether that folder exists.
    pub is_found: bool,
    /// The installation for the user and for the project.
    pub statuses: Vec<InstallStatus>,
}

/// The clients with what is installed, and the program on the PATH.
pub fn list(clients: &[ClientListing], path: &PathLookup) -> String {
    let mut out = String::new();
    for listed in clients {
        out.push_str(&heading(listed.client.title()));
        let folder = listed.folder.as_deref().unwrap_or(Path::new("?")).display();
        let found = if listed.is_found { "found" } else { "not found" };
        out.push_str(&format!("  {found}: {folder}\n"));
        for standing in &listed.statuses {
            out.push_str(&install_status_text(standing));
        }
    }
    out.push_str(&match path {
        PathLookup::Same(path) => format!("On the PATH: {}\n", path.display()),
        PathLookup::Other(path, version) => {
            format!("On the PATH: {}, {}\n", path.display(), version_label(version))
        }
        PathLookup::Missing => "On the PATH: not found\n".to_owned(),
    });
    out
}

fn install_status_text(standing: &InstallStatus) -> String {
    let scope = scope_name(&standing.scope);
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
            out.push_str(&format!("    missing from {path}: {}\n", file.missing.join(", ")));
        }
        if let Some(others) = conflicting_entries(file) {
            out.push_str(&format!("    {others}\n"));
        }
        if file.is_ignored {
            out.push_str(&format!(
                "    ignored by the client because of comments or trailing commas: {path}\n"
            ));
        }
        if is_there && file.is_changed {
            out.push_str(&format!("    edited since installation: {path}\n"));
        }
    }
    if let Some((trusted, all)) = standing.trusted_hooks().filter(|(_, all)| *all > 0) {
        out.push_str(&format!(
            "    hooks trusted by {}: {trusted} of {all}\n",
            standing.client.title()
        ));
    }
    out
}

/// The file changes of an installation or a removal for one client.
#[derive(Serialize)]
pub struct InstallPlanJson {
    client: &'static str,
    scope: &'static str,
    changes: Vec<FileChangeJson>,
    left: Vec<String>,
}

impl JsonItem for InstallPlanJson {
    const LIST_SCHEMA: &'static str = "client-changes/1";
}

#[derive(Serialize)]
struct FileChangeJson {
    path: String,
    existed: bool,
    exists: bool,
    unified: String,
}

/// The JSON for planned or applied file changes.
pub fn plans_json(plans: &[InstallPlan]) -> Vec<InstallPlanJson> {
    let change = |change: &FileChange| FileChangeJson {
        path: change.path().display().to_string(),
        existed: change.before.is_some(),
        exists: change.after.is_some(),
        unified: change_diff(change),
    };
    let plan = |plan: &InstallPlan| InstallPlanJson {
        client: plan.client.name(),
        scope: scope_name(&plan.scope),
        changes: plan.changes.iter().map(change).collect(),
        left: plan.notes.iter().map(|one| note(one).0).collect(),
    };
    plans.iter().map(plan).collect()
}

/// All clients, and the program on the PATH.
#[derive(Serialize)]
pub struct ClientListJson {
    items: Vec<ClientJson>,
    on_path: Option<PathLookupJson>,
}

impl JsonAnswer for ClientListJson {
    const SCHEMA: &'static str = "clients/1";
}

#[derive(Serialize)]
struct PathLookupJson {
    path: String,
    is_this_version: bool,
}

#[derive(Serialize)]
struct ClientJson {
    client: &'static str,
    found: bool,
    folder: Option<String>,
    scopes: Vec<InstallStatusJson>,
}

#[derive(Serialize)]
struct InstallStatusJson {
    scope: &'static str,
    installed: bool,
    complete: bool,
    receipt: bool,
    hooks_trusted: Option<usize>,
    files: Vec<FileInstallStatusJson>,
}

#[derive(Serialize)]
struct FileInstallStatusJson {
    path: String,
    present: Vec<String>,
    missing: Vec<String>,
    others: Vec<String>,
    changed_since: bool,
    left_out: bool,
    problem: Option<String>,
}

/// The JSON for the list of clients.
pub fn list_json(clients: &[ClientListing], path: &PathLookup) -> ClientListJson {
    let file = |file: &FileInstallStatus| FileInstallStatusJson {
        path: file.path.display().to_string(),
        present: file.present.clone(),
        missing: file.missing.clone(),
        others: file.others.clone(),
        changed_since: file.is_changed,
        left_out: file.is_ignored,
        problem: file.problem.as_ref().map(ToString::to_string),
    };
    let standing = |standing: &InstallStatus| InstallStatusJson {
        scope: scope_name(&standing.scope),
        installed: standing.is_installed(),
        complete: standing.is_complete(),
        receipt: standing.has_record,
        hooks_trusted: standing.trusted_hooks().map(|(trusted, _)| trusted),
        files: standing.files.iter().map(file).collect(),
    };
    let client = |listed: &ClientListing| ClientJson {
        client: listed.client.name(),
        found: listed.is_found,
        folder: listed.folder.as_ref().map(|folder| folder.display().to_string()),
        scopes: listed.statuses.iter().map(standing).collect(),
    };
    let on_path = match path {
        PathLookup::Same(path) => Some((path, true)),
        PathLookup::Other(path, _) => Some((path, false)),
        PathLookup::Missing => None,
    };
    ClientListJson {
        items: clients.iter().map(client).collect(),
        on_path: on_path.map(|(path, is_this_version)| PathLookupJson {
            path: path.display().to_string(),
            is_this_version,
        }),
    }
}

/// A file of the plugin.
#[derive(Serialize)]
pub struct PluginFileJson {
    path: String,
    text: String,
}

impl JsonItem for PluginFileJson {
    const LIST_SCHEMA: &'static str = "plugin-files/1";
}

/// The JSON for the files of the Claude Code plugin.
pub fn plugin_json(files: Vec<(PathBuf, String)>) -> JsonList<PluginFileJson> {
    let file =
        |(path, text): (PathBuf, String)| PluginFileJson { path: path.display().to_string(), text };
    files.into_iter().map(file).collect()
}
