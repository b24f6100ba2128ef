//! The real clients, connected to a scripted model.

use crate::{ModelServer, Sandbox};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The variable that names the folder where `scripts/test` installed the clients.
const VARIABLE: &str = "MIDSTRIDE_CLIENTS";

/// The folder with the clients. A test that needs it is ignored unless it is asked for.
fn folder() -> PathBuf {
    let folder = std::env::var_os(VARIABLE);
    PathBuf::from(folder.unwrap_or_else(|| panic!("this test needs {VARIABLE}")))
}

/// The installed versions of Claude Code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClaudeCode {
    /// 2.1.197.
    Older,
    /// 2.1.325.
    Newer,
}

impl ClaudeCode {
    /// The program of a version. Both versions have a command of the same name, so each is started
    /// from its own package.
    fn program(self, folder: &Path) -> PathBuf {
        let package = match self {
            Self::Older => "@anthropic-ai/claude-code",
            Self::Newer => "claude-code-2.1.325",
        };
        folder.join("node_modules").join(package).join("bin/claude.exe")
    }
}

/// Claude Code in a sandbox, without a terminal.
pub fn claude_code(sandbox: &Sandbox, model: &ModelServer) -> Command {
    claude_code_of(ClaudeCode::Older, sandbox, model)
}

/// A version of Claude Code in a sandbox, without a terminal.
pub fn claude_code_of(version: ClaudeCode, sandbox: &Sandbox, model: &ModelServer) -> Command {
    let mut command = sandbox.command(version.program(&folder()));
    command
        .env("ANTHROPIC_BASE_URL", model.address())
        .env("ANTHROPIC_API_KEY", "none")
        // Headless sessions are briefed only if the user asks for it.
        .env("MIDSTRIDE_BRIEF", "1")
        .env("DISABLE_TELEMETRY", "1")
        .env("DISABLE_AUTOUPDATER", "1")
        .env("DISABLE_ERROR_REPORTING", "1")
        .env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1")
        .env("CLAUDE_CODE_MAX_RETRIES", "0")
        // Claude Code refuses to skip permissions as root unless it is in a sandbox, and this is
        // one.
        .env("IS_SANDBOX", "1")
        .env_remove("MIDSTRIDE_NOW");
    command
}

/// Codex in a sandbox, without a terminal.
pub fn codex(sandbox: &Sandbox, model: &ModelServer) -> Command {
    let program = native_codex(&folder());
    let home = sandbox.home().join(".codex");
    std::fs::create_dir_all(&home).expect("the home is ours");
    let configuration = home.join("config.toml");
    if !configuration.exists() {
        std::fs::write(&configuration, settings(model)).expect("the home is ours");
    }
    let mut command = sandbox.command(program);
    command.env("MIDSTRIDE_BRIEF", "1");
    command.env("TOLD_KEY", "none").env_remove("MIDSTRIDE_NOW");
    command
}

/// Qwen Code in a sandbox, without a terminal.
pub fn qwen_code(sandbox: &Sandbox, model: &ModelServer) -> Command {
    let home = sandbox.home().join(".qwen");
    std::fs::create_dir_all(&home).expect("the home is ours");
    let settings = home.join("settings.json");
    if !settings.exists() {
        std::fs::write(&settings, QWEN_SETTINGS).expect("the home is ours");
    }
    // npm links a wrapper script instead, whose child continues when the wrapper is killed.
    let modules = folder().join("node_modules");
    let mut command = sandbox.command(modules.join(".bin/node"));
    command
        .arg(modules.join("@qwen-code/qwen-code/cli.js"))
        .env("OPENAI_BASE_URL", format!("{}/v1", model.address()))
        .env("OPENAI_API_KEY", "none")
        .env("OPENAI_MODEL", "told")
        .env("MIDSTRIDE_BRIEF", "1")
        .env_remove("MIDSTRIDE_NOW");
    command
}

/// The settings that make Qwen Code use only the model on loopback. Its memory would ask the model on its
/// own after each turn. Without the version, it would write it.
const QWEN_SETTINGS: &str = r#"{
  "security": { "auth": { "selectedType": "openai" } },
  "telemetry": { "enabled": false },
  "privacy": { "usageStatisticsEnabled": false },
  "general": { "enableAutoUpdate": false },
  "memory": {
    "enableManagedAutoMemory": false,
    "enableManagedAutoDream": false,
    "enableAutoSkill": false
  },
  "$version": 4
}
"#;

/// tmux, for clients that need a terminal.
pub fn tmux(sandbox: &Sandbox) -> Command {
    let is_there = sandbox.command("tmux").arg("-V").output().is_ok();
    assert!(is_there, "tests with a terminal need tmux");
    sandbox.command("tmux")
}

/// The MCP inspector's command line in a sandbox.
pub fn inspector(sandbox: &Sandbox) -> Command {
    let programs = folder().join("node_modules/.bin");
    let mut command = sandbox.command(programs.join("node"));
    command
        .arg(programs.join("mcp-inspector"))
        .args(["--cli", "--quiet", "--format", "json"])
        .env("MCP_INSPECTOR_SECRET_STORE", "memory");
    command
}

/// The native Codex program. npm links a wrapper script instead, which does not handle being killed
/// well.
fn native_codex(folder: &Path) -> PathBuf {
    let below = |folder: PathBuf| std::fs::read_dir(folder).into_iter().flatten().flatten();
    let packages = below(folder.join("node_modules/@openai")).map(|entry| entry.path());
    let vendors = packages.flat_map(|package| below(package.join("vendor")));
    let programs = vendors.map(|vendor| vendor.path().join("bin/codex"));
    let mut there = programs.filter(|program| program.exists());
    there.next().expect("codex is installed for this machine")
}

/// The configuration that makes Codex use only the model on loopback.
fn settings(model: &ModelServer) -> String {
    format!(
        r#"model = "told"
model_provider = "told"
check_for_update_on_startup = false

[model_providers.told]
name = "told"
base_url = "{}/v1"
wire_api = "responses"
env_key = "TOLD_KEY"
request_max_retries = 0
stream_max_retries = 0

[analytics]
enabled = false

[otel]
exporter = "none"
"#,
        model.address()
    )
}
