//! Renders the permission prompts, showing exactly what would be run.

use super::{count, display_path, escape_hidden, indent};
use crate::json::JsonAnswer;
use midstride::verbs::{AllowableProof, TIMEOUT_SECONDS, TrustStatus, UnreadStore};
use midstride::workspace::Workspace;
use midstride_core::handoff::proof::{Expectation, ExpectedExit, ProofSpec};
use serde::Serialize;
use std::path::Path;

/// The proofs of a handoff, and which of them may run.
#[derive(Serialize)]
pub struct ProofPermissionsJson {
    key: String,
    proofs: Vec<AllowableProofJson>,
}

impl JsonAnswer for ProofPermissionsJson {
    const SCHEMA: &'static str = "proofs/1";
}

#[derive(Serialize)]
struct AllowableProofJson {
    number: usize,
    claim: Option<String>,
    test: Option<serde_json::Value>,
    not_understood: Option<String>,
    allowed: bool,
}

/// The JSON for the proofs of the handoff `key`.
pub fn proof_permissions_json(key: &str, proofs: &[AllowableProof]) -> ProofPermissionsJson {
    let proofs = proofs.iter().map(|proof| AllowableProofJson {
        number: proof.number,
        claim: proof.claim.clone(),
        test: proof.test.as_ref().ok().map(ProofSpec::data),
        not_understood: proof.test.as_ref().err().map(ToString::to_string),
        allowed: proof.is_allowed,
    });
    ProofPermissionsJson { key: key.to_owned(), proofs: proofs.collect() }
}

/// A proof command exactly as it would be run.
pub fn proof_text(proof: &AllowableProof) -> String {
    let claim = proof.claim.as_deref().unwrap_or("(no claim)");
    let allowed = if proof.is_allowed { " (allowed)" } else { "" };
    let mut out = format!("Proof {}{allowed}: {}\n", proof.number, escape_hidden(claim));
    match &proof.test {
        Ok(test) => out.push_str(&indent(&test_lines(test))),
        Err(why) => {
            out.push_str(&indent(&format!("not understood: {}", escape_hidden(&why.to_string()))));
        }
    }
    out
}

fn test_lines(test: &ProofSpec) -> String {
    let command = escape_hidden(&test.command).replace('\n', "\n          ");
    let folder = if test.directory.is_empty() {
        "the project root".to_owned()
    } else {
        escape_hidden(&test.directory)
    };
    let mut lines = vec![format!("runs      {command}"), format!("in        {folder}")];
    lines.push(format!("at most   {} s", test.timeout.unwrap_or(TIMEOUT_SECONDS)));
    lines.extend(
        expectations(&test.expectation).into_iter().map(|line| format!("expects   {line}")),
    );
    lines.extend(test.measures.as_ref().map(|name| format!("measures  {}", escape_hidden(name))));
    lines.join("\n")
}

fn expectations(expectation: &Expectation) -> Vec<String> {
    let exit = match expectation.exit {
        ExpectedExit::Code(code) => format!("exit code {code}"),
        ExpectedExit::Any => "any exit code".to_owned(),
    };
    let contains = expectation
        .contains
        .iter()
        .map(|text| format!("output that contains `{}`", escape_hidden(text)));
    let matches = expectation
        .matches
        .iter()
        .map(|text| format!("output that matches `{}`", escape_hidden(text)));
    let min = expectation.min.iter().map(|number| format!("a number of at least {number}"));
    let max = expectation.max.iter().map(|number| format!("a number of at most {number}"));
    std::iter::once(exit).chain(contains).chain(matches).chain(min).chain(max).collect()
}

/// Says that a private store is not read, and what to do.
pub fn unread_store_text(path: &Path) -> (String, String) {
    let path = escape_hidden(&path.display().to_string());
    let message = format!(
        "the private store `{path}` came from elsewhere or from an earlier version, so it is not read"
    );
    let hint = format!("if it is yours, accept it with `midstride trust`; if not, delete `{path}`");
    (message, hint)
}

/// The folders outside the project that the configuration names, and whether they are trusted.
#[derive(Serialize)]
pub struct TrustStatusJson {
    configuration: Option<String>,
    shelves: Vec<OutsideFolderJson>,
    redact: Vec<RedactionRuleJson>,
    unread_stores: Vec<UnreadStoreJson>,
    trusted: bool,
}

#[derive(Serialize)]
struct OutsideFolderJson {
    name: String,
    path: String,
}

#[derive(Serialize)]
struct UnreadStoreJson {
    path: String,
    handoffs: Option<usize>,
    tasks: Option<usize>,
    sessions: Option<usize>,
}

#[derive(Serialize)]
struct RedactionRuleJson {
    kind: String,
    begins: String,
    then: String,
    multiline: bool,
}

/// The JSON for the folders outside the project.
pub fn trust_status_json(reach: &TrustStatus) -> TrustStatusJson {
    let shelves = reach.outside_folders.iter().map(|shelf| OutsideFolderJson {
        name: shelf.name.clone(),
        path: shelf.path.display().to_string(),
    });
    let redact = reach.redaction_rules.iter().map(|rule| RedactionRuleJson {
        kind: rule.kind.clone(),
        begins: rule.begins.clone(),
        then: rule.then.clone(),
        multiline: rule.multiline,
    });
    TrustStatusJson {
        configuration: reach.configuration.as_ref().map(|path| path.display().to_string()),
        shelves: shelves.collect(),
        redact: redact.collect(),
        unread_stores: reach.unread_stores.iter().map(unread_store_json).collect(),
        trusted: reach.is_trusted,
    }
}

fn unread_store_json(store: &UnreadStore) -> UnreadStoreJson {
    UnreadStoreJson {
        path: store.path.display().to_string(),
        handoffs: store.contents.map(|contents| contents.handoffs),
        tasks: store.contents.and_then(|contents| contents.tasks),
        sessions: store.contents.and_then(|contents| contents.sessions),
    }
}

/// What is in a private store that is not trusted yet.
fn unread_store_line(workspace: &Workspace, store: &UnreadStore) -> String {
    let path = escape_hidden(&display_path(workspace, &store.path));
    let Some(contents) = store.contents else { return format!("  {path}  cannot be read\n") };
    let handoffs = count(contents.handoffs, "handoff");
    match contents.tasks.zip(contents.sessions) {
        Some((tasks, sessions)) => {
            let (tasks, sessions) = (count(tasks, "task"), count(sessions, "session"));
            format!("  {path}  {handoffs}, {tasks}, {sessions}\n")
        }
        None => format!("  {path}  {handoffs}, and a ledger that cannot be read\n"),
    }
}

/// What the configuration does once it is trusted: the folders outside the project that are read,
/// and what is redacted.
pub fn trust_status_text(workspace: &Workspace, reach: &TrustStatus) -> String {
    let path = reach.configuration.as_ref().map(|path| display_path(workspace, path));
    let path = path.unwrap_or_default();
    let mut out = String::new();
    if !reach.unread_stores.is_empty() {
        out.push_str("private stores that came from elsewhere or from an earlier version:\n");
    }
    for store in &reach.unread_stores {
        out.push_str(&unread_store_line(workspace, store));
    }
    if !reach.outside_folders.is_empty() {
        out.push_str(&format!("{path} lists folders outside the project:\n"));
    }
    for shelf in &reach.outside_folders {
        let (name, path) =
            (escape_hidden(&shelf.name), escape_hidden(&shelf.path.display().to_string()));
        out.push_str(&format!("  {name}  reads *.md under {path}\n"));
    }
    if !reach.redaction_rules.is_empty() {
        out.push_str(&format!("{path} removes text from what midstride writes:\n"));
    }
    for rule in &reach.redaction_rules {
        let (kind, begins) = (escape_hidden(&rule.kind), escape_hidden(&rule.begins));
        let lines = if rule.multiline { ", across several lines" } else { "" };
        out.push_str(&format!(
            "  {kind}  redacts `{begins}` followed by `{}`{lines}\n",
            escape_hidden(&rule.then)
        ));
    }
    out
}
