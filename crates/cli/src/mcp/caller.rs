//! Whoever calls: which client, in which session, in which project.

use super::era;
use crate::diagnostic::Diagnostic;
use crate::ui::MessageRedactor;
use crate::view::sanitize;
use midstride::clients::current_session;
use midstride::workspace::project::{Project, SetupMode, StoredHandoff};
use midstride::workspace::settings::{Automation, Environment, SessionName};
use midstride_core::session::Client;
use serde_json::Value;
use std::path::{Component, Path};

/// How a client is called that does not say so.
const UNNAMED_CLIENT: &str = "an MCP client";
/// Clients that call themselves otherwise here than elsewhere.
const ALIASES: [(&str, Client); 2] =
    [("codex-mcp-client", Client::Codex), ("claude-code", Client::ClaudeCode)];
const NAME_LENGTH_MAX: usize = 64;
/// So much of an id is the least that names what is changed; reading takes less.
const PREFIX_LENGTH_MIN: usize = 4;

/// Whoever makes a request.
#[derive(Debug)]
pub(super) struct Caller {
    environment: Environment,
    /// Who changes what they change: never the user.
    pub(super) name: String,
    /// The client, where it is one that is known.
    pub(super) client: Option<Client>,
    rules: MessageRedactor,
}

impl Caller {
    /// The caller of a request; `greeted` is who opened the session, where somebody did.
    pub(super) fn from_request(
        environment: &Environment,
        greeted: Option<&str>,
        parameters: &Value,
    ) -> Self {
        let mut environment = environment.clone();
        // Whoever speaks MCP is a program, wherever it was started.
        environment.automation.get_or_insert(Automation::Agent("an agent"));
        let said = era::client_name(parameters).or(greeted);
        let known = said.and_then(|said| ALIASES.into_iter().find(|(alias, _)| *alias == said));
        let client = known.map(|(_, client)| client);
        if let Some(session) =
            client.and_then(|client| session_of_request(client, &environment, parameters))
        {
            environment.session = Some(session);
        }
        let around = environment.session.as_ref().and_then(|one| Client::from_name(&one.client));
        let client = client.or(around.filter(|_| said.is_none()));
        let name = client.map(|client| client.name().to_owned());
        let name = name
            .or_else(|| said.map(clean_client_name))
            .unwrap_or_else(|| UNNAMED_CLIENT.to_owned());
        // What was left in the environment by another client tells nothing about this one.
        let own = |session: &SessionName| client.is_some_and(|one| one.name() == session.client);
        environment.session = environment.session.filter(own);
        Self { environment, name, client, rules: MessageRedactor::default() }
    }

    /// The project, which has to be set up. Paths count from its root, wherever the server was
    /// started: that is how they are told.
    pub(super) fn project(&self) -> Result<Project, Diagnostic> {
        let project = Project::discover(self.environment.clone())?;
        self.rules.set_project(&project);
        let folder = project.root().path().to_owned();
        let project = match folder == self.environment.folder {
            true => project,
            false => Project::discover(Environment { folder, ..self.environment.clone() })?,
        };
        match project.setup() {
            SetupMode::Committed | SetupMode::Private => Ok(project),
            SetupMode::NotSetUp => {
                let place = project.root().path().display();
                Err(Diagnostic::new(format!("midstride is not set up in `{place}`"))
                    .hint("`midstride init` sets it up; `midstride init --private` commits nothing")
                    .hint("that is for the user to decide: ask first"))
            }
        }
    }

    /// What goes back to the client, without secrets: by the rules of the project, where there is one.
    pub(super) fn clean(&self, text: &str) -> String {
        if !self.rules.has_project() {
            // What is wrong with a project is said by whoever needs it.
            let _ = Project::discover(self.environment.clone())
                .map(|project| self.rules.set_project(&project));
        }
        self.rules.clean(text)
    }

    /// The session, where it is known.
    pub(super) fn session(&self) -> Option<&SessionName> {
        self.environment.session.as_ref()
    }
}

/// The session that a request belongs to: it says so, or its client does elsewhere. The environment
/// of a server tells in which session it was started; its client may have begun another one since.
fn session_of_request(
    client: Client,
    environment: &Environment,
    parameters: &Value,
) -> Option<SessionName> {
    match client {
        Client::Codex => {
            SessionName::parse(client.name(), parameters["_meta"]["threadId"].as_str()?)
        }
        Client::ClaudeCode => current_session(environment, client),
    }
}

fn clean_client_name(name: &str) -> String {
    let name: String = sanitize(name).split_whitespace().collect::<Vec<_>>().join(" ");
    let name: String = name.chars().take(NAME_LENGTH_MAX).collect();
    if name.is_empty() { UNNAMED_CLIENT.to_owned() } else { name }
}

/// The handoff of a name, to be changed. Whoever guesses must not hit one by its first letter.
pub(super) fn find_to_change(project: &Project, name: &str) -> Result<StoredHandoff, Diagnostic> {
    let shelved = find(project, name)?;
    let key = shelved.handoff(project).key();
    let is_path = Path::new(name).extension().is_some();
    let is_whole = is_path || key.id == name || key.to_string() == name;
    require_long_name(name, is_whole || is_long_enough(name), &key.to_string())?;
    Ok(shelved)
}

/// Whether a beginning of an id is long enough to change something by it.
pub(super) fn is_long_enough(beginning: &str) -> bool {
    beginning.chars().count() >= PREFIX_LENGTH_MIN
}

/// Refuses a name that is not enough to change something by it.
pub(super) fn require_long_name(name: &str, is_enough: bool, id: &str) -> Result<(), Diagnostic> {
    if is_enough {
        return Ok(());
    }
    let least = format!("`{name}` is too short to change something by it");
    Err(Diagnostic::new(least).hint(format!("if you mean `{id}`, name it whole")))
}

/// The handoff of a name.
pub(super) fn find(project: &Project, name: &str) -> Result<StoredHandoff, Diagnostic> {
    let leaves = |part: Component<'_>| {
        matches!(part, Component::ParentDir | Component::RootDir | Component::Prefix(_))
    };
    if Path::new(name).components().any(leaves) || name.contains('\0') {
        return Err(Diagnostic::new(format!("`{}` names no handoff", sanitize(name)))
            .hint("give an id, as `search` lists them, or a path below the project"));
    }
    Ok(project.find(name)?)
}
