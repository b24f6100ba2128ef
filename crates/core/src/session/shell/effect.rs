//! Recognizes commands that change something outside the project's files: pushes, pull requests,
//! releases, deployments, and migrations.

use super::check_output::output_lines;
use super::check_results::LineStatus;
use super::git::{GitCommand, file_text, pushed_refs};
use super::kinds::{EffectKind, EffectResult};
use super::line::{ShellLine, SimpleCommand};

/// The maximum number of unchecked boxes kept per text.
const BOXES_MAX: usize = 30;

/// A change outside the project's files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CommandEffect {
    /// Its kind.
    pub kind: EffectKind,
    /// The action, in the words of its tool.
    pub action: String,
    /// What it applies to.
    pub target: Option<String>,
    /// The title it sets.
    pub title: Option<String>,
    /// The unchecked boxes in the text it writes; `None` if it writes no text.
    pub boxes: Option<Vec<String>>,
}

impl CommandEffect {
    fn new(kind: EffectKind, action: impl Into<String>) -> Self {
        Self { kind, action: action.into(), target: None, title: None, boxes: None }
    }

    fn with_target(self, target: Option<&str>) -> Self {
        let target = target.filter(|target| !target.contains(['$', '`'])).map(str::to_owned);
        Self { target, ..self }
    }
}

/// Returns the external effect of a command, if it has one.
pub(crate) fn command_effect(command: &SimpleCommand, line: &ShellLine) -> Option<CommandEffect> {
    if is_trial(command) {
        return None;
    }
    match command.program() {
        "git" => push(command),
        "gh" => github(command, line),
        "glab" => gitlab(command, line),
        _ => publish(command).or_else(|| deploy(command)).or_else(|| migrate(command)),
    }
}

/// Whether a command only asks for help, or is a dry run.
fn is_trial(command: &SimpleCommand) -> bool {
    let is_dry = |arg: &String| {
        arg.starts_with("--dry-run") && !arg.ends_with("=none") && !arg.ends_with("=false")
    };
    command.args().iter().any(is_dry)
        || ["--help", "-h", "help", "--version"].iter().any(|ask| command.has(ask))
}

fn push(command: &SimpleCommand) -> Option<CommandEffect> {
    let git = GitCommand::from_command(command).filter(|git| git.verb == "push")?;
    if git.has("-n") {
        return None;
    }
    let forces = git.args.iter().any(|arg| arg == "-f" || arg.starts_with("--force"));
    let action = match () {
        () if git.has_any(&["--delete", "-d"]) => "git push --delete",
        () if forces => "git push --force",
        () if git.has_any(&["--tags", "--follow-tags"]) => "git push --tags",
        () => "git push",
    };
    let named = git.operands().nth(1);
    let target = named.map(|named| named.rsplit(':').next().unwrap_or(named));
    let target = target.map(|target| target.trim_start_matches("refs/heads/"));
    Some(
        CommandEffect::new(EffectKind::Push, action)
            .with_target(target.filter(|target| *target != "HEAD")),
    )
}

/// Subcommands of `gh` that change something.
const GITHUB: [(&str, &[&str], EffectKind); 13] = [
    (
        "pr",
        &["create", "edit", "merge", "close", "reopen", "ready", "update-branch", "lock", "revert"],
        EffectKind::PullRequest,
    ),
    ("pr", &["comment"], EffectKind::Comment),
    ("pr", &["review"], EffectKind::Review),
    (
        "issue",
        &["create", "edit", "close", "reopen", "delete", "transfer", "lock", "pin", "develop"],
        EffectKind::Issue,
    ),
    ("issue", &["comment"], EffectKind::Comment),
    ("release", &["create", "edit", "upload", "delete", "delete-asset"], EffectKind::Release),
    ("workflow", &["run", "enable", "disable"], EffectKind::Other),
    ("run", &["rerun", "cancel", "delete"], EffectKind::Other),
    ("repo", &["create", "fork", "edit", "delete", "rename", "archive", "sync"], EffectKind::Other),
    ("gist", &["create", "edit", "delete"], EffectKind::Other),
    ("label", &["create", "edit", "delete", "clone"], EffectKind::Other),
    ("secret", &["set", "delete"], EffectKind::Other),
    ("variable", &["set", "delete"], EffectKind::Other),
];

fn github(command: &SimpleCommand, line: &ShellLine) -> Option<CommandEffect> {
    let (noun, verb) = (command.operand(0)?, command.operand(1).unwrap_or_default());
    if noun == "api" {
        return api(command, line);
    }
    let known = GITHUB.iter().find(|(of, verbs, _)| *of == noun && verbs.contains(&verb));
    let (_, _, kind) = known?;
    if command.has("--web") || command.has("-w") && verb == "create" {
        return None;
    }
    let target = match (noun, verb) {
        ("pr" | "issue", "create") => None,
        _ => command.operand(2).filter(|target| !is_value(command, target)),
    };
    let mut outside =
        CommandEffect::new(*kind, format!("gh {noun} {verb}")).with_target(target.map(number_of));
    let title = if noun == "pr" || noun == "issue" { ["--title", "-t"] } else { ["--title", ""] };
    outside.title = plain(command.value_of(&title));
    outside.boxes = body(command, line).map(|body| unchecked_boxes_in(&body));
    Some(outside)
}

/// Whether a word is the value of the option before it.
fn is_value(command: &SimpleCommand, word: &str) -> bool {
    const FLAGS: [&str; 19] = [
        "--draft",
        "-d",
        "--fill",
        "--squash",
        "-s",
        "--merge",
        "-m",
        "--rebase",
        "-r",
        "--auto",
        "--admin",
        "--approve",
        "-a",
        "--delete-branch",
        "--paginate",
        "--silent",
        "-i",
        "--slurp",
        "--verbose",
    ];
    let at = command.args().iter().position(|arg| arg == word).unwrap_or_default();
    let before = at.checked_sub(1).and_then(|at| command.args().get(at));
    before.is_some_and(|option| {
        option.starts_with('-') && !option.contains('=') && !FLAGS.contains(&option.as_str())
    })
}

/// Returns the number at the end of a URL, or the word itself.
fn number_of(target: &str) -> &str {
    let last = target.trim_end_matches('/').rsplit('/').next().unwrap_or(target);
    let last = last.trim_start_matches('#');
    if last.bytes().all(|byte| byte.is_ascii_digit()) { last } else { target }
}

fn body(command: &SimpleCommand, line: &ShellLine) -> Option<String> {
    let given = command.value_of(&["--body", "-b", "--notes", "-n", "--description"]);
    if let Some(given) = given {
        return Some(given.to_owned());
    }
    let file = command.value_of(&["--body-file", "-F", "--notes-file"])?;
    file_text(command, file, line)
}

/// Returns the texts of unchecked boxes.
pub(crate) fn unchecked_boxes_in(body: &str) -> Vec<String> {
    let text = |line: &str| {
        let line = line.trim_start();
        let rest = line.strip_prefix(['-', '*', '+'])?.trim_start();
        let text = rest.strip_prefix("[ ]")?.trim();
        (!text.is_empty()).then(|| text.to_owned())
    };
    body.lines().filter_map(text).take(BOXES_MAX).collect()
}

fn plain(text: Option<&str>) -> Option<String> {
    let text = text?.trim();
    (!text.is_empty() && !text.contains("$(")).then(|| text.to_owned())
}

/// Parses `gh api`: the effect depends on the method, the fields, and the path.
fn api(command: &SimpleCommand, line: &ShellLine) -> Option<CommandEffect> {
    let path = command.operands().skip(1).find(|word| !is_value(command, word))?;
    let fields = command.values_of(&["-f", "-F", "--field", "--raw-field"]);
    if path == "graphql" {
        return mutation(&fields);
    }
    let method = command.value_of(&["-X", "--method"]).map(str::to_ascii_uppercase);
    let has_body = !fields.is_empty() || command.value_of(&["--input"]).is_some();
    let method = method.unwrap_or_else(|| if has_body { "POST" } else { "GET" }.to_owned());
    if !matches!(method.as_str(), "POST" | "PATCH" | "PUT" | "DELETE") {
        return None;
    }
    let path = path.trim_start_matches('/').split('?').next().unwrap_or_default();
    let parts: Vec<&str> = path.split('/').collect();
    let below = if parts.first() == Some(&"repos") { parts.get(3..)? } else { &parts[..] };
    let field = |name: &str| {
        let of = |field: &&&str| field.split_once('=').is_some_and(|(key, _)| key == name);
        fields.iter().find(of).and_then(|field| field.split_once('=')).map(|(_, value)| value)
    };
    let is_new = method == "POST";
    let (kind, what, target) = match below {
        ["pulls", number, "comments", _, "replies"] if is_new => {
            (EffectKind::Reply, "reply to review thread", Some(*number))
        }
        ["pulls", number, "comments"] if is_new && field("in_reply_to").is_some() => {
            (EffectKind::Reply, "reply to review thread", Some(*number))
        }
        ["pulls" | "issues", number, "comments"] if is_new => {
            (EffectKind::Comment, "comment", Some(*number))
        }
        ["pulls", number, "reviews", ..] => (EffectKind::Review, "review", Some(*number)),
        ["pulls", number, "merge"] => (EffectKind::PullRequest, "merge", Some(*number)),
        ["pulls"] if is_new => (EffectKind::PullRequest, "create pull request", None),
        ["pulls", number, ..] if *number != "comments" => {
            (EffectKind::PullRequest, "change pull request", Some(*number))
        }
        ["issues"] if is_new => (EffectKind::Issue, "create issue", None),
        ["issues", number, ..] if *number != "comments" => {
            (EffectKind::Issue, "change issue", Some(*number))
        }
        [_, "comments", _, ..] => (EffectKind::Comment, "change comment", None),
        ["releases", ..] => (EffectKind::Release, "release", None),
        _ => (EffectKind::Other, "", None),
    };
    let action = match what {
        "" => format!("gh api {method} {}", below.join("/")),
        what => format!("gh api {what}"),
    };
    let mut outside = CommandEffect::new(kind, action).with_target(target);
    if matches!(kind, EffectKind::PullRequest | EffectKind::Issue) {
        outside.title = plain(field("title"));
        let body = match field("body") {
            Some(body) => match body.strip_prefix('@') {
                Some(file) => file_text(command, file, line),
                None => Some(body.to_owned()),
            },
            None => None,
        };
        outside.boxes = body.map(|body| unchecked_boxes_in(&body));
    }
    Some(outside)
}

/// Returns the first change that a GraphQL mutation asks for.
fn mutation(fields: &[&str]) -> Option<CommandEffect> {
    let query = fields.iter().find_map(|field| field.strip_prefix("query="))?;
    let (_, rest) = query.split_once("mutation")?;
    let (_, rest) = rest.split_once('{')?;
    let name: String = rest.trim_start().chars().take_while(char::is_ascii_alphanumeric).collect();
    // An alias comes before the name.
    let rest = rest.trim_start()[name.len()..].trim_start();
    let name = match rest.strip_prefix(':') {
        Some(rest) => rest.trim_start().chars().take_while(char::is_ascii_alphanumeric).collect(),
        None => name,
    };
    let kind = match name.as_str() {
        "" => return None,
        "resolveReviewThread" | "unresolveReviewThread" | "submitPullRequestReview" => {
            EffectKind::Review
        }
        name if name.contains("Reply") => EffectKind::Reply,
        name if name.contains("Comment") => EffectKind::Comment,
        name if name.contains("PullRequest") => EffectKind::PullRequest,
        name if name.contains("Issue") => EffectKind::Issue,
        _ => EffectKind::Other,
    };
    Some(CommandEffect::new(kind, format!("gh api graphql {name}")))
}

fn gitlab(command: &SimpleCommand, line: &ShellLine) -> Option<CommandEffect> {
    let (noun, verb) = (command.operand(0)?, command.operand(1).unwrap_or_default());
    let kind = match (noun, verb) {
        ("mr", "create" | "update" | "merge" | "close" | "reopen" | "rebase") => {
            EffectKind::PullRequest
        }
        ("mr" | "issue", "note") => EffectKind::Comment,
        ("mr", "approve" | "revoke") => EffectKind::Review,
        ("issue", "create" | "update" | "close" | "reopen" | "delete") => EffectKind::Issue,
        ("release", "create" | "upload" | "delete") => EffectKind::Release,
        ("ci", "run" | "retry" | "trigger" | "cancel") => EffectKind::Other,
        _ => return None,
    };
    let target = command.operand(2).filter(|target| !is_value(command, target));
    let mut outside =
        CommandEffect::new(kind, format!("glab {noun} {verb}")).with_target(target.map(number_of));
    outside.title = plain(command.value_of(&["--title", "-t"]));
    outside.boxes = body(command, line).map(|body| unchecked_boxes_in(&body));
    Some(outside)
}

/// Recognizes commands that publish packages and images.
fn publish(command: &SimpleCommand) -> Option<CommandEffect> {
    let program = command.program();
    let first = command.operand(0).unwrap_or_default();
    let second = command.operand(1).unwrap_or_default();
    let (action, target) = match (program, first, second) {
        (
            "npm" | "pnpm" | "cargo" | "uv" | "poetry" | "flit" | "hatch" | "vsce" | "ovsx",
            "publish",
            _,
        ) => (format!("{program} publish"), None),
        ("yarn", "publish", _) | ("yarn", "npm", "publish") => ("yarn publish".to_owned(), None),
        ("twine", "upload", _) => ("twine upload".to_owned(), None),
        ("gem" | "docker" | "podman", "push", target) => (format!("{program} push"), Some(target)),
        ("helm", "push", target) => ("helm push".to_owned(), Some(target)),
        ("docker", "buildx" | "build", _) if command.has("--push") => {
            let tag = command.value_of(&["-t", "--tag"]);
            ("docker build --push".to_owned(), tag)
        }
        ("dotnet", "nuget", "push") => ("dotnet nuget push".to_owned(), command.operand(2)),
        ("mix", "hex.publish", _) => ("mix hex.publish".to_owned(), None),
        ("pod", "trunk", "push") => ("pod trunk push".to_owned(), None),
        ("goreleaser", "release", _) if !command.has("--snapshot") => {
            ("goreleaser release".to_owned(), None)
        }
        ("mvn" | "mvnw", _, _) if command.operands().any(|word| word == "deploy") => {
            ("mvn deploy".to_owned(), None)
        }
        ("gradle" | "gradlew", _, _)
            if command.operands().any(|word| word.rsplit(':').next() == Some("publish")) =>
        {
            ("gradle publish".to_owned(), None)
        }
        ("changeset" | "lerna" | "semantic-release", "publish", _) => {
            (format!("{program} publish"), None)
        }
        _ => return None,
    };
    let target = target.filter(|target| !target.is_empty());
    Some(CommandEffect::new(EffectKind::Publish, action).with_target(target))
}

/// Recognizes commands that deploy to clusters, infrastructure, and hosts.
fn deploy(command: &SimpleCommand) -> Option<CommandEffect> {
    let program = command.program();
    let first = command.operand(0).unwrap_or_default();
    let second = command.operand(1).unwrap_or_default();
    let is_change = match program {
        "kubectl" | "oc" => {
            matches!(
                first,
                "apply"
                    | "create"
                    | "delete"
                    | "patch"
                    | "scale"
                    | "replace"
                    | "set"
                    | "edit"
                    | "annotate"
                    | "label"
                    | "cordon"
                    | "drain"
                    | "autoscale"
                    | "expose"
                    | "run"
            ) || (first == "rollout" && matches!(second, "restart" | "undo" | "pause" | "resume"))
        }
        "helm" => matches!(first, "upgrade" | "install" | "uninstall" | "rollback" | "delete"),
        "helmfile" => matches!(first, "apply" | "sync" | "destroy"),
        "terraform" | "tofu" | "terragrunt" => matches!(first, "apply" | "destroy" | "import"),
        "pulumi" => matches!(first, "up" | "update" | "destroy"),
        "vercel" => !matches!(
            first,
            "dev"
                | "env"
                | "logs"
                | "link"
                | "pull"
                | "build"
                | "ls"
                | "list"
                | "inspect"
                | "whoami"
                | "login"
                | "logout"
                | "switch"
                | "teams"
                | "projects"
                | "project"
                | "domains"
                | "init"
        ),
        "netlify" | "firebase" | "fly" | "flyctl" | "serverless" | "sls" | "sam" | "eb"
        | "kamal" | "cdk" | "deployctl" | "gh-pages" => {
            first == "deploy" || program == "gh-pages" || (program == "cdk" && first == "destroy")
        }
        "wrangler" => {
            matches!(first, "deploy" | "publish" | "rollback")
                || (first == "secret" && matches!(second, "put" | "delete"))
        }
        "railway" => first == "up",
        "heroku" => matches!(first, "container:release" | "releases:rollback" | "config:set"),
        "ansible-playbook" => !command.has("--check") && !command.has("--syntax-check"),
        "amplify" => matches!(first, "push" | "publish"),
        "aws" => aws(first, second, command),
        "gcloud" | "az" => cloud(command, first),
        _ => false,
    };
    if !is_change {
        return None;
    }
    let action = match program {
        "aws" | "gcloud" | "az" => format!("{program} {first} {second}"),
        "ansible-playbook" | "gh-pages" => program.to_owned(),
        _ if first.is_empty() => program.to_owned(),
        "vercel" if first != "deploy" => "vercel deploy".to_owned(),
        "kubectl" if first == "rollout" => format!("kubectl rollout {second}"),
        _ => format!("{program} {first}"),
    };
    let target = match program {
        "kubectl" | "oc" => {
            let named = command.operand(if first == "rollout" { 2 } else { 1 });
            command.value_of(&["-f", "--filename", "-k"]).or(named)
        }
        "helm" => command.operand(1),
        "ansible-playbook" => command.operand(0),
        _ => None,
    };
    Some(CommandEffect::new(EffectKind::Deployment, action.trim_end()).with_target(target))
}

/// Whether an `aws` operation changes something.
fn aws(service: &str, operation: &str, command: &SimpleCommand) -> bool {
    const VERBS: [&str; 21] = [
        "create",
        "delete",
        "put",
        "update",
        "run",
        "start",
        "stop",
        "terminate",
        "deploy",
        "publish",
        "send",
        "invoke",
        "attach",
        "detach",
        "modify",
        "register",
        "deregister",
        "tag",
        "untag",
        "restore",
        "reboot",
    ];
    if service == "s3" {
        let to = command.operands().last().unwrap_or_default();
        return match operation {
            "cp" | "sync" => to.starts_with("s3://"),
            "mv" | "rm" | "mb" | "rb" => true,
            _ => false,
        };
    }
    let verb = operation.split('-').next().unwrap_or_default();
    service != "configure" && VERBS.contains(&verb)
}

fn cloud(command: &SimpleCommand, group: &str) -> bool {
    const VERBS: [&str; 15] = [
        "create",
        "delete",
        "update",
        "deploy",
        "submit",
        "patch",
        "restart",
        "start",
        "stop",
        "add",
        "remove",
        "import",
        "reset",
        "add-iam-policy-binding",
        "up",
    ];
    const OWN: [&str; 6] = ["config", "auth", "account", "login", "components", "extension"];
    !OWN.contains(&group) && command.operands().skip(1).any(|word| VERBS.contains(&word))
}

/// Recognizes commands that migrate databases.
fn migrate(command: &SimpleCommand) -> Option<CommandEffect> {
    let program = command.program();
    let first = command.operand(0).unwrap_or_default();
    let second = command.operand(1).unwrap_or_default();
    let action = match (program, first, second) {
        ("alembic", "upgrade" | "downgrade", _)
        | ("flyway", "migrate" | "undo", _)
        | ("liquibase", "update" | "rollback", _)
        | ("goose" | "dbmate", "up" | "down", _)
        | ("knex", "migrate:latest" | "migrate:up" | "migrate:rollback", _)
        | ("sequelize" | "sequelize-cli", "db:migrate", _)
        | ("typeorm", "migration:run" | "migration:revert", _)
        | ("drizzle-kit", "push" | "migrate", _)
        | ("mix", "ecto.migrate" | "ecto.rollback", _) => format!("{program} {first}"),
        ("prisma", "migrate", "deploy" | "dev" | "reset") | ("prisma", "db", "push") => {
            format!("prisma {first} {second}")
        }
        ("rails" | "rake", task, _) if task.starts_with("db:") && changes_database(task) => {
            format!("{program} {task}")
        }
        ("python" | "python3", file, "migrate") if file.ends_with("manage.py") => {
            "manage.py migrate".to_owned()
        }
        ("manage.py", "migrate", _) => "manage.py migrate".to_owned(),
        ("sqlx", "migrate", "run" | "revert")
        | ("diesel", "migration", "run" | "revert")
        | ("supabase", "db", "push" | "reset")
        | ("atlas", "migrate" | "schema", "apply") => format!("{program} {first} {second}"),
        ("php", "artisan", task) if task.starts_with("migrate") && task != "migrate:status" => {
            format!("artisan {task}")
        }
        ("migrate", _, _) if command.has("-path") || command.has("-source") => "migrate".to_owned(),
        _ => return None,
    };
    Some(CommandEffect::new(EffectKind::Migration, action))
}

fn changes_database(task: &str) -> bool {
    ["db:migrate", "db:rollback", "db:schema:load", "db:seed", "db:reset", "db:drop", "db:setup"]
        .iter()
        .any(|name| task == *name || task.starts_with(&format!("{name}:")))
        && task != "db:migrate:status"
}

/// Returns the result of an external effect.
pub(crate) fn effect_result(
    command: &SimpleCommand,
    outside: &CommandEffect,
    ended: LineStatus,
    output: &str,
) -> EffectResult {
    if outside.kind == EffectKind::Push {
        let refs = pushed_refs(output);
        if refs.iter().any(|one| !one.is_done) || output.contains("error: failed to push") {
            return EffectResult::Failed;
        }
        if !refs.is_empty() || output.contains("Everything up-to-date") {
            return EffectResult::Done;
        }
    }
    match ended {
        LineStatus::Passed if command.implied_by_status.passed => return EffectResult::Done,
        LineStatus::Failed(_) if command.implied_by_status.failed => return EffectResult::Failed,
        LineStatus::Passed | LineStatus::Failed(_) => {}
    }
    let says_failed = ["(HTTP 4", "(HTTP 5", "fatal: ", "create failed", "GraphQL: ", "Error: "];
    if says_failed.iter().any(|mark| output.contains(mark)) {
        return EffectResult::Failed;
    }
    let shows_it = match outside.kind {
        EffectKind::PullRequest
        | EffectKind::Issue
        | EffectKind::Comment
        | EffectKind::Reply
        | EffectKind::Review
        | EffectKind::Release => url(outside.kind, output).is_some() || output.contains("\"id\":"),
        EffectKind::Push
        | EffectKind::Publish
        | EffectKind::Deployment
        | EffectKind::Migration
        | EffectKind::Other => false,
    };
    if shows_it { EffectResult::Done } else { EffectResult::Unknown }
}

/// Returns the URL of an effect, as the output shows it.
pub fn url(kind: EffectKind, output: &str) -> Option<String> {
    let fits = |url: &&str| {
        let is_offer = url.contains("/pull/new/") || url.contains("merge_requests/new");
        !is_offer
            && match kind {
                EffectKind::PullRequest | EffectKind::Review => {
                    url.contains("/pull/") || url.contains("/merge_requests/")
                }
                EffectKind::Issue => url.contains("/issues/") || url.contains("/issue/"),
                EffectKind::Comment | EffectKind::Reply => {
                    url.contains("#issuecomment")
                        || url.contains("#discussion_r")
                        || url.contains("#note_")
                }
                EffectKind::Release => url.contains("/releases/"),
                EffectKind::Deployment => !url.contains("localhost") && !url.contains("127.0.0.1"),
                EffectKind::Other => true,
                EffectKind::Push | EffectKind::Publish | EffectKind::Migration => false,
            }
    };
    for line in output_lines(output) {
        let found =
            urls(&line).into_iter().filter(|url| !url.contains("api.github.com")).find(fits);
        if let Some(found) = found {
            return Some(found.to_owned());
        }
    }
    None
}

fn urls(line: &str) -> Vec<&str> {
    let starts = line.match_indices("https://").map(|(at, _)| at);
    starts
        .map(|at| {
            let rest = &line[at..];
            let is_end =
                |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '<' | '>' | ')' | ',');
            rest.split(is_end).next().unwrap_or(rest).trim_end_matches(['.', ';', '\\'])
        })
        .collect()
}

/// Returns the external action of an MCP tool, in the tool's own words: `linear create_issue` for
/// `mcp__linear__create_issue`. `None` for tools that only read, or that work on this machine.
pub fn tool_effect_action(tool: &str) -> Option<String> {
    const VERBS: [&str; 23] = [
        "create",
        "update",
        "post",
        "send",
        "comment",
        "merge",
        "publish",
        "add",
        "delete",
        "close",
        "reopen",
        "submit",
        "edit",
        "reply",
        "assign",
        "archive",
        "upload",
        "deploy",
        "push",
        "save",
        "set",
        "transition",
        "move",
    ];
    const LOCAL: [&str; 18] = [
        "filesystem",
        "memory",
        "playwright",
        "browser",
        "puppeteer",
        "chrome",
        "serena",
        "ide",
        "thinking",
        "context7",
        "midstride",
        "knowledge",
        "taskmaster",
        "task-master",
        "todo",
        "sqlite",
        "jetbrains",
        "editor",
    ];
    let (server, name) = mcp_server_and_tool(tool)?;
    let lower = server.to_ascii_lowercase();
    let is_local = lower == "git" || LOCAL.iter().any(|local| lower.contains(local));
    let verb = name.split(['_', '-']).find(|word| !lower.contains(&word.to_ascii_lowercase()))?;
    let verb: String = verb
        .chars()
        .enumerate()
        .take_while(|(at, c)| *at == 0 || !c.is_uppercase())
        .map(|(_, c)| c)
        .collect();
    let verb = verb.to_ascii_lowercase();
    (!is_local && VERBS.contains(&verb.as_str())).then(|| format!("{server} {name}"))
}

/// Returns the server and the tool of a call of an MCP tool, as in `linear list_issues`. `None` for
/// other tools and for those of midstride, which do no work.
pub(in crate::session) fn mcp_tool_name(tool: &str) -> Option<String> {
    let (server, name) = mcp_server_and_tool(tool)?;
    let is_own = server.split('_').any(|word| word == "midstride");
    (!is_own).then(|| format!("{server} {name}"))
}

fn mcp_server_and_tool(tool: &str) -> Option<(&str, &str)> {
    tool.strip_prefix("mcp__")?.split_once("__")
}
