//! The caller of an MCP request: its client, session and project.

use super::era;
use crate::hooks;
use crate::ui::MessageRedactor;
use midstride::clients::{self, Client, session_of_request};
use midstride::store::Store;
use midstride::store::ledger::WaitPolicy;
use midstride::sys::env::{Automation, Environment, Invoker, SessionName};
use midstride::workspace::{Access, SetupMode, StoredHandoff, Workspace};
use midstride_surface::diagnostic::{Diagnostic, untrusted_project, withheld_documents};
use midstride_surface::text::sanitize;
use serde_json::Value;
use std::cell::Cell;
use std::path::{Component, Path};

/// The name for a client that does not send one.
const UNNAMED_CLIENT: &str = "an MCP client";
const NAME_LENGTH_MAX: usize = 64;
/// The minimum length of an id prefix that a tool may use to change something. Reading accepts
/// shorter ones.
const PREFIX_LENGTH_MIN: usize = 4;

/// The caller of a request.
#[derive(Debug)]
pub(super) struct Caller {
    environment: Environment,
    /// The author recorded for changes. It is never the user.
    pub(super) name: String,
    /// The client, if it is a known one.
    pub(super) client: Option<&'static dyn Client>,
    rules: MessageRedactor,
    /// The number of project documents that are withheld.
    withheld: Cell<usize>,
}

impl Caller {
    /// Identifies the caller of a request; `greeted` is the client name from `initialize`, if there
    /// was one.
    pub(super) fn from_request(
        environment: &Environment,
        greeted: Option<&str>,
        parameters: &Value,
    ) -> Self {
        let mut environment = environment.clone();
        let client_name = era::client_name(parameters).or(greeted);
        let client = client_name.and_then(|client_name| {
            clients::ALL.into_iter().find(|client| client.profile().mcp_name == client_name)
        });
        if let Some(session) =
            client.and_then(|client| session_of_request(&environment, client, parameters))
        {
            environment.session = Some(session);
        }
        let from_session = environment.session.as_ref().and_then(|one| clients::find(&one.client));
        let client = client.or(from_session.filter(|_| client_name.is_none()));
        let name = client.map(|client| client.name().to_owned());
        let name = name
            .or_else(|| client_name.map(clean_client_name))
            .unwrap_or_else(|| UNNAMED_CLIENT.to_owned());
        // A client can give itself any name, but it is not the user.
        let name = match environment.names_user(&name) {
            true => format!("MCP client {name}"),
            false => name,
        };
        // The environment may name a session of another client; ignore that one.
        let own = |session: &SessionName| client.is_some_and(|one| one.name() == session.client);
        environment.session = environment.session.filter(own);
        let title = client.map_or("an agent", |client| client.title());
        // An MCP client is always a program, even when the server was started from a terminal.
        environment.invoker = Invoker::Automation(Automation::agent(&name, title));
        let (rules, withheld) = (MessageRedactor::default(), Cell::new(0));
        Self { environment, name, client, rules, withheld }
    }

    /// Says how many documents are withheld, if any are.
    pub(super) fn withheld_note(&self) -> Option<Diagnostic> {
        let withheld = self.withheld.get();
        (withheld > 0).then(|| withheld_documents(withheld))
    }

    /// The caller's project, which must be set up, with the documents that the user trusts. Fails if
    /// the user trusts none of them. Every tool, resource and prompt gets the project here, so none can
    /// skip the check. Paths are relative to its root, not to the directory the server was started in,
    /// because replies show them that way.
    pub(super) fn store(&self) -> Result<Store, Diagnostic> {
        // An error in the configuration quotes it, so the check comes first.
        let workspace = Workspace::discover_ignoring_settings(self.environment.clone())?;
        self.rules.set_project(&workspace);
        let folder = workspace.root().path().to_owned();
        let environment = Environment { folder, ..self.environment.clone() };
        let workspace = match environment.folder == self.environment.folder {
            true => workspace,
            false => Workspace::discover_ignoring_settings(environment.clone())?,
        };
        if let Some(exclusion) = workspace.exclusion() {
            return Err(exclusion.into());
        }
        let workspace = match workspace.access() {
            Access::Granted if workspace.broken_configuration().is_none() => workspace,
            Access::Granted if workspace.is_trusted() => Workspace::discover(environment)?,
            Access::Granted => workspace.own_view()?,
            Access::Own { withheld } => {
                self.withheld.set(withheld);
                workspace.own_view()?
            }
            Access::Untrusted { documents } => return Err(untrusted_project(documents)),
        };
        match workspace.setup() {
            SetupMode::Committed | SetupMode::Private => {
                hooks::spawn_due_redaction(&workspace);
                Ok(Store::new(workspace, WaitPolicy::Command))
            }
            SetupMode::NotSetUp => {
                let place = workspace.root().path().display();
                Err(Diagnostic::new(format!("midstride is not set up in `{place}`"))
                    .hint("run `midstride init`, or `midstride init --private` to commit nothing")
                    .hint("only the user can decide this: ask first"))
            }
        }
    }

    /// Redacts secrets from a reply, by the project's rules if there is a project.
    pub(super) fn clean(&self, text: &str) -> String {
        if !self.rules.has_project() {
            // A broken project is reported by the tools that need it, not here.
            let _ = Workspace::discover(self.environment.clone())
                .map(|workspace| self.rules.set_project(&workspace));
        }
        self.rules.clean(text)
    }

    /// The session of the caller, if it is known.
    pub(super) fn session(&self) -> Option<&SessionName> {
        self.environment.session.as_ref()
    }
}

fn clean_client_name(name: &str) -> String {
    let name: String = sanitize(name).split_whitespace().collect::<Vec<_>>().join(" ");
    let name: String = name.chars().take(NAME_LENGTH_MAX).collect();
    if name.is_empty() { UNNAMED_CLIENT.to_owned() } else { name }
}

/// Finds the handoff that a tool is about to change. Rejects short prefixes, so that a guess cannot
/// hit a handoff by its first letter.
pub(super) fn find_to_change(
    workspace: &Workspace,
    name: &str,
) -> Result<StoredHandoff, Diagnostic> {
    let stored = find(workspace, name)?;
    let key = stored.handoff(workspace).key();
    let is_path = Path::new(name).extension().is_some();
    let is_whole = is_path || key.id == name || key.to_string() == name;
    require_long_name(name, is_whole || is_long_enough(name), &key.to_string())?;
    Ok(stored)
}

/// Whether an id prefix is long enough to change something with it.
pub(super) fn is_long_enough(beginning: &str) -> bool {
    beginning.chars().count() >= PREFIX_LENGTH_MIN
}

/// Rejects a name that is too short to change something with it.
pub(super) fn require_long_name(name: &str, is_enough: bool, id: &str) -> Result<(), Diagnostic> {
    if is_enough {
        return Ok(());
    }
    let least = format!("`{name}` is too short to identify what to change");
    Err(Diagnostic::new(least).hint(format!("if you mean `{id}`, pass the full id")))
}

/// Finds a handoff by name.
pub(super) fn find(workspace: &Workspace, name: &str) -> Result<StoredHandoff, Diagnostic> {
    let leaves = |part: Component<'_>| {
        matches!(part, Component::ParentDir | Component::RootDir | Component::Prefix(_))
    };
    if Path::new(name).components().any(leaves) || name.contains('\0') {
        return Err(Diagnostic::new(format!("`{}` does not name a handoff", sanitize(name)))
            .hint("give an id from `search`, or a path in the project"));
    }
    Ok(workspace.find(name)?)
}
