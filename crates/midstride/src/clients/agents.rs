//! Recognizes the agent that started this process: by the variables of the process, and by the
//! variables, the session and the program of each of its ancestors. Unsetting a variable hides an agent
//! from the first check only.

use super::{ALL, Client};
use crate::sys::env::{Automation, Environment, PROOF, SessionName};
use crate::sys::process::{self, Ancestor};
use std::path::Path;

/// An agent that midstride recognizes but does not support.
struct OtherAgent {
    title: &'static str,
    /// Set in the shells that it starts.
    variable: &'static str,
}

const OTHER_AGENTS: [OtherAgent; 4] = [
    OtherAgent { title: "Gemini CLI", variable: "GEMINI_CLI" },
    OtherAgent { title: "opencode", variable: "OPENCODE" },
    OtherAgent { title: "Cursor", variable: "CURSOR_AGENT" },
    OtherAgent { title: "an agent", variable: "AI_AGENT" },
];

/// The variables that identify an agent.
pub fn agent_variables() -> impl Iterator<Item = &'static str> {
    let of_clients = ALL.into_iter().flat_map(|client| client.profile().shell_variables).copied();
    of_clients.chain(OTHER_AGENTS.iter().map(|agent| agent.variable))
}

/// The agent or proof that started this process. The ancestors are read only if the variables of the
/// process name none.
pub(super) fn detect_automation(environment: &Environment) -> Option<Automation> {
    let own = automation_by_variables(|name| environment.variable(name).is_some());
    own.or_else(|| automation_above(environment, &process::ancestors()))
}

/// The agent or proof among the ancestors of a process.
pub fn find_automation_above(environment: &Environment, pid: u64) -> Option<Automation> {
    automation_above(environment, &process::ancestors_of(pid))
}

fn automation_above(environment: &Environment, ancestors: &[Ancestor]) -> Option<Automation> {
    let is_proof = |ancestor: &Ancestor| ancestor.has_variable(|name| name == PROOF);
    // A proof that starts an agent is still a proof.
    if ancestors.iter().any(is_proof) {
        return Some(Automation::Proof);
    }
    ancestors.iter().find_map(|ancestor| agent_at(environment, *ancestor))
}

/// The agent that a process is, or in whose shell it runs.
fn agent_at(environment: &Environment, ancestor: Ancestor) -> Option<Automation> {
    let by_variable =
        automation_by_variables(|wanted| ancestor.has_variable(|name| name == wanted));
    by_variable.or_else(|| {
        let program = ancestor.executable();
        let is_it = |client: &&'static dyn Client| {
            let names = client.profile().executables;
            program
                .as_deref()
                .is_some_and(|program| names.iter().any(|name| matches(program, name)))
                || client.is_session_process(environment, ancestor.pid)
        };
        ALL.into_iter().find(is_it).map(client_agent)
    })
}

fn automation_by_variables(is_set: impl Fn(&str) -> bool) -> Option<Automation> {
    if is_set(PROOF) {
        return Some(Automation::Proof);
    }
    let is_client = |client: &&'static dyn Client| {
        client.profile().shell_variables.iter().any(|name| is_set(name))
    };
    let client = ALL.into_iter().find(is_client).map(client_agent);
    client.or_else(|| {
        let other = OTHER_AGENTS.iter().find(|agent| is_set(agent.variable))?;
        Some(Automation::agent(other.title, other.title))
    })
}

fn client_agent(client: &'static dyn Client) -> Automation {
    Automation::agent(client.name(), client.title())
}

/// Whether the path of a program ends with these names; `*` is any name.
fn matches(program: &Path, ending: &str) -> bool {
    let mut names = program.iter().rev();
    ending
        .rsplit('/')
        .all(|wanted| names.next().is_some_and(|name| wanted == "*" || name == wanted))
}

/// The session in which the process was started, if the variables of its client say.
pub(super) fn detect_session(variable: impl Fn(&str) -> Option<String>) -> Option<SessionName> {
    ALL.into_iter().find_map(|client| {
        let session = client.profile().session_variable?;
        variable(session.mark)?;
        SessionName::parse(client.name(), &variable(session.id)?)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shell_of_an_agent_is_recognized() {
        let of = |set: &'static str| automation_by_variables(|name| name == set);
        for (variable, name, title) in [
            ("CLAUDECODE", "claude-code", "Claude Code"),
            ("CODEX_SANDBOX", "codex", "Codex"),
            ("CODEX_SANDBOX_NETWORK_DISABLED", "codex", "Codex"),
            ("CODEX_THREAD_ID", "codex", "Codex"),
            ("QWEN_CODE", "qwen-code", "Qwen Code"),
            ("QWEN_CODE_SESSION_ID", "qwen-code", "Qwen Code"),
            ("CURSOR_AGENT", "Cursor", "Cursor"),
        ] {
            assert_eq!(of(variable), Some(Automation::agent(name, title)), "{variable}");
        }
        assert_eq!(of("MIDSTRIDE_PROOF"), Some(Automation::Proof));
        assert_eq!(of("TERM"), None);
    }

    #[test]
    fn the_program_of_a_client_is_recognized() {
        let is_client = |path: &str| {
            let is_it = |client: &&'static dyn Client| {
                client.profile().executables.iter().any(|name| matches(Path::new(path), name))
            };
            ALL.into_iter().find(is_it).map(Client::name)
        };
        assert_eq!(
            is_client("/usr/lib/node_modules/claude-code-linux-x64/claude"),
            Some("claude-code")
        );
        assert_eq!(is_client("/home/a/.local/share/claude/versions/2.1.9"), Some("claude-code"));
        assert_eq!(is_client("/opt/codex/bin/codex"), Some("codex"));
        assert_eq!(is_client("/usr/local/bin/qwen"), Some("qwen-code"));
        for other in ["/bin/sh", "/opt/claude/bin/ls", "/home/a/versions/2.1.9", "claude-fmt", "/"]
        {
            assert_eq!(is_client(other), None, "{other}");
        }
    }

    #[test]
    fn a_session_is_recognized_only_with_its_client() {
        let set = |variables: &'static [(&str, &str)]| {
            detect_session(move |name| {
                let one = variables.iter().find(|(variable, _)| *variable == name);
                one.map(|(_, value)| (*value).to_owned())
            })
        };
        let named = SessionName::parse("claude-code", "5e55");
        assert!(named.is_some());
        assert_eq!(set(&[("CLAUDECODE", "1"), ("CLAUDE_CODE_SESSION_ID", "5e55")]), named);
        assert_eq!(set(&[("CLAUDE_CODE_SESSION_ID", "5e55")]), None);
        assert_eq!(set(&[("CODEX_THREAD_ID", "a/../b")]), None);
        assert_eq!(set(&[("CODEX_THREAD_ID", "a-b")]), SessionName::parse("codex", "a-b"));
    }
}
