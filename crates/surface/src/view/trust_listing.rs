//! Renders what trust in a project would allow, before the user decides.

use super::permission::{TrustStatusJson, trust_status_json, trust_status_text};
use super::{count, escape_hidden, indent, sanitize};
use crate::json::{JsonAnswer, JsonItem, JsonList};
use midstride::sys::git::GitAuthor;
use midstride::verbs::{ListedDocument, ListedProof, TrustGrants, TrustListing, TrustStatus};
use midstride::workspace::Workspace;
use midstride::workspace::permission::Grant;
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::Path;

/// How many entries of a group are shown. `--json` lists all.
const SHOWN_MAX: usize = 20;
/// The author of a commit can be any text.
const AUTHOR_CHARS_MAX: usize = 80;

/// What trust would allow, and whether the user trusts it.
#[derive(Serialize)]
pub struct TrustListingJson {
    #[serde(flatten)]
    status: TrustStatusJson,
    documents: Vec<ListedDocumentJson>,
    proofs: Vec<ListedProofJson>,
}

impl JsonAnswer for TrustListingJson {
    const SCHEMA: &'static str = "trust/1";
}

#[derive(Serialize)]
struct ListedDocumentJson {
    path: String,
    authors: Vec<ListedAuthorJson>,
    changed: bool,
}

#[derive(Serialize)]
struct ListedAuthorJson {
    name: String,
    email: String,
    you: bool,
}

#[derive(Serialize)]
struct ListedProofJson {
    handoff: String,
    command: String,
    allowed: bool,
}

/// The JSON for everything that trust would allow.
pub fn trust_listing_json(reach: &TrustStatus, listing: &TrustListing) -> TrustListingJson {
    let author = |author: &GitAuthor| ListedAuthorJson {
        name: author.name.clone(),
        email: author.email.clone(),
        you: is_user(listing, author),
    };
    let document = |document: &ListedDocument| ListedDocumentJson {
        path: document.path.display().to_string(),
        authors: document.authors.iter().map(author).collect(),
        changed: document.is_changed,
    };
    let proofs = listing.proofs.iter().map(|proof| ListedProofJson {
        handoff: proof.key.clone(),
        command: proof.command.clone(),
        allowed: proof.is_allowed,
    });
    TrustListingJson {
        status: trust_status_json(reach),
        documents: listing.documents.iter().map(document).collect(),
        proofs: proofs.collect(),
    }
}

/// Everything that trust would allow: the documents that are read and whose they are, private stores,
/// folders and rules of the configuration, and commands.
pub fn trust_listing_text(
    workspace: &Workspace,
    reach: &TrustStatus,
    listing: &TrustListing,
) -> String {
    let mut out = documents_text(listing);
    out.push_str(&trust_status_text(workspace, reach));
    let waiting: Vec<_> = listing.proofs.iter().filter(|proof| !proof.is_allowed).collect();
    if !waiting.is_empty() {
        let commands = count(waiting.len(), "proof command");
        out.push_str(&format!(
            "{commands}, not run until allowed with `midstride trust HANDOFF`:\n"
        ));
        let line = |proof: &&ListedProof| {
            let command = escape_hidden(&proof.command).replace('\n', "\n    ");
            format!("  {}  {command}\n", escape_hidden(&proof.key))
        };
        out.push_str(&first_lines(waiting.iter().map(line)));
    }
    out
}

/// A permission that the user granted.
#[derive(Serialize)]
pub struct GrantJson {
    kind: &'static str,
    about: String,
    shown: String,
    at: Option<String>,
}

impl JsonItem for GrantJson {
    const LIST_SCHEMA: &'static str = "permissions/1";
}

/// The JSON for everything that the user trusts in a project with these documents.
pub fn grants_json(grants: &TrustGrants, listing: &TrustListing) -> JsonList<GrantJson> {
    let json = |kind: &'static str, granted: &Grant, shown: &str| GrantJson {
        kind,
        about: granted.about.clone(),
        shown: shown.to_owned(),
        at: granted.at.map(|at| at.to_string()),
    };
    let paths = listing.documents.iter().map(|document| document.path.display().to_string());
    let paths = paths.collect::<Vec<String>>().join(", ");
    let documents = grants.documents.iter().map(|one| json("documents", one, &paths));
    let remote = grants.remote.iter().map(|one| json("remote", one, &one.shown));
    let configurations =
        grants.configurations.iter().map(|one| json("configuration", one, &one.shown));
    let proofs = grants.proofs.iter().map(|one| json("proof", one, &one.shown));
    documents.chain(remote).chain(configurations).chain(proofs).collect()
}

/// Everything that the user trusts in a project with these documents, in one or more lines each.
pub fn grants_text(grants: &TrustGrants, listing: &TrustListing) -> String {
    let mut out = String::new();
    if let Some(granted) = &grants.documents {
        let documents = match listing.documents.is_empty() {
            true => "no documents yet".to_owned(),
            false => documents_text(listing),
        };
        out.push_str(&grant_text(granted, &documents));
    }
    if let Some(granted) = &grants.remote {
        out.push_str(&grant_text(granted, "later clones, if the remote has their documents"));
    }
    for granted in grants.configurations.iter().chain(&grants.proofs) {
        out.push_str(&grant_text(granted, &escape_hidden(&granted.shown)));
    }
    out
}

fn grant_text(granted: &Grant, shown: &str) -> String {
    let day = granted.at.map_or_else(String::new, |at| format!("{}  ", at.strftime("%Y-%m-%d")));
    format!("{day}{}\n{}", sanitize(&granted.about), indent(shown))
}

fn documents_text(listing: &TrustListing) -> String {
    if listing.documents.is_empty() {
        return String::new();
    }
    let all = count(listing.documents.len(), "document");
    let mut out = format!("{all} that sessions would be briefed from: {}\n", authors_text(listing));
    if listing.documents.iter().any(|document| !document.authors.is_empty()) {
        out.push_str("  git does not verify author names, so anyone can use any name\n");
    }
    let mut folders: BTreeMap<&Path, Vec<&ListedDocument>> = BTreeMap::new();
    for document in &listing.documents {
        let folder = document.path.parent().unwrap_or(Path::new(""));
        folders.entry(folder).or_default().push(document);
    }
    for (folder, documents) in folders {
        let folder = escape_hidden(&folder.display().to_string());
        let folder = if folder.is_empty() { ".".to_owned() } else { folder };
        out.push_str(&format!("{folder}: {}\n", count(documents.len(), "document")));
        out.push_str(&first_lines(documents.iter().map(|one| document_line(listing, one))));
    }
    out
}

fn document_line(listing: &TrustListing, document: &ListedDocument) -> String {
    let name = document.path.file_name().unwrap_or_default().to_string_lossy();
    let authors = author_names(listing, document);
    let is_edited = document.is_changed && !document.authors.is_empty();
    let changed = if is_edited { ", changed since the commit" } else { "" };
    format!("  {}  {authors}{changed}\n", escape_hidden(&name))
}

/// Whose the documents are: `3 by Ada <ada@example.org> (you), 1 by Mallory <m@example.org>`.
pub fn authors_text(listing: &TrustListing) -> String {
    let mut groups: BTreeMap<String, usize> = BTreeMap::new();
    for document in &listing.documents {
        *groups.entry(author_names(listing, document)).or_default() += 1;
    }
    let mut groups: Vec<(String, usize)> = groups.into_iter().collect();
    groups.sort_by_key(|(_, documents)| std::cmp::Reverse(*documents));
    let more = groups.len().saturating_sub(SHOWN_MAX);
    let shown = groups.iter().take(SHOWN_MAX).map(|(names, documents)| match names.as_str() {
        NOT_COMMITTED => format!("{documents} {NOT_COMMITTED}"),
        names => format!("{documents} by {names}"),
    });
    let shown: Vec<String> = shown.collect();
    let rest = if more > 0 { format!(", and {more} more authors") } else { String::new() };
    shown.join(", ") + &rest
}

/// The first documents by path: `HANDOFF.md, docs/handoffs/cache.md and 2 more`.
pub fn document_names(listing: &TrustListing) -> String {
    const NAMED_MAX: usize = 3;
    let names = listing.documents.iter().take(NAMED_MAX);
    let names: Vec<String> =
        names.map(|one| escape_hidden(&one.path.display().to_string())).collect();
    let more = match listing.documents.len().saturating_sub(NAMED_MAX) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    names.join(", ") + &more
}

/// The words for a document that no commit has.
const NOT_COMMITTED: &str = "not committed";

fn author_names(listing: &TrustListing, document: &ListedDocument) -> String {
    let name = |author: &GitAuthor| {
        let shown: String =
            escape_hidden(&author.to_string()).chars().take(AUTHOR_CHARS_MAX).collect();
        if is_user(listing, author) { format!("{shown} (you)") } else { shown }
    };
    let names: Vec<String> = document.authors.iter().map(name).collect();
    if names.is_empty() { NOT_COMMITTED.to_owned() } else { names.join(" and ") }
}

fn is_user(listing: &TrustListing, author: &GitAuthor) -> bool {
    listing.user_email.as_ref().is_some_and(|email| *email == author.email)
}

fn first_lines(lines: impl ExactSizeIterator<Item = String>) -> String {
    let more = lines.len().saturating_sub(SHOWN_MAX);
    let shown: String = lines.take(SHOWN_MAX).collect();
    match more {
        0 => shown,
        more => format!("{shown}  and {more} more; `midstride trust --json` lists all\n"),
    }
}
