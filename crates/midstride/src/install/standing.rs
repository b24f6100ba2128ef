//! How a client stands: what of ours is there, what is missing, what was changed since.

use super::plan::{is_read, value_of};
use super::receipt::{Receipt, Receipts};
use super::{Form, InstallError, Scope, codex, wanted};
use crate::ids::sha256;
use crate::settings::Environment;
use midstride_core::session::Client;
use std::path::PathBuf;

/// What one client has of ours for one scope.
#[derive(Debug)]
pub struct Standing {
    /// The client.
    pub client: Client,
    /// For whom.
    pub scope: Scope,
    /// Every file in which something of ours belongs.
    pub files: Vec<FileStanding>,
    /// Whether a receipt tells that it was installed from here.
    pub has_receipt: bool,
    /// How many of our hooks the client trusts, of how many; where it asks its user at all.
    pub trusted: Option<(usize, usize)>,
}

/// What one file has of ours.
#[derive(Debug)]
pub struct FileStanding {
    /// The file.
    pub path: PathBuf,
    /// What is there.
    pub present: Vec<String>,
    /// What is not.
    pub missing: Vec<String>,
    /// Whether somebody wrote it since.
    pub is_changed: bool,
    /// Whether the client leaves it out, for comments or trailing commas that somebody wrote.
    pub is_left_out: bool,
    /// Why it could not be looked at.
    pub problem: Option<InstallError>,
}

impl Standing {
    /// Whether something of ours is there.
    pub fn is_installed(&self) -> bool {
        self.files.iter().any(|file| !file.present.is_empty())
    }

    /// Whether everything of ours is there.
    pub fn is_complete(&self) -> bool {
        self.files.iter().all(|file| file.missing.is_empty() && file.problem.is_none())
    }
}

/// Looks at a client.
pub fn standing(
    environment: &Environment,
    client: Client,
    scope: &Scope,
) -> Result<Standing, InstallError> {
    let receipt = Receipts::of(environment, client, scope)?.read()?;
    let wishes = receipt.as_ref().map(Receipt::wishes).unwrap_or_default();
    let wanted = wanted(environment, client, scope, wishes)?;
    let trusted = match client {
        Client::ClaudeCode => None,
        Client::Codex => wanted.first().and_then(|file| codex::trusted(environment, &file.place)),
    };
    let files = wanted.iter().map(|wanted| look(client, wanted, receipt.as_ref())).collect();
    let scope = scope.clone();
    Ok(Standing { client, scope, files, has_receipt: receipt.is_some(), trusted })
}

fn look(client: Client, wanted: &super::Wanted, receipt: Option<&Receipt>) -> FileStanding {
    let path = wanted.place.path().to_owned();
    let mut file = FileStanding {
        path,
        present: Vec::new(),
        missing: Vec::new(),
        is_changed: false,
        is_left_out: false,
        problem: None,
    };
    if let Err(problem) = fill(&mut file, client, wanted, receipt) {
        file.problem = Some(problem);
    }
    file
}

fn fill(
    file: &mut FileStanding,
    client: Client,
    wanted: &super::Wanted,
    receipt: Option<&Receipt>,
) -> Result<(), InstallError> {
    let text = wanted.place.read()?;
    let ours = receipt.and_then(|receipt| receipt.of(&file.path));
    let hash = text.as_ref().map(|text| sha256(text.as_bytes()));
    file.is_changed = ours.is_some_and(|ours| hash.as_ref() != Some(&ours.after));
    match &wanted.form {
        Form::Entries(entries) => {
            let top = value_of(&file.path, text.as_deref())?;
            file.is_left_out = text.is_some_and(|text| !is_read(client, &file.path, &text));
            let (present, missing) = entries.iter().partition(|entry| entry.find(&top).is_some());
            let names = |entries: Vec<&super::Entry>| entries.iter().map(|e| e.name()).collect();
            (file.present, file.missing) = (names(present), names(missing));
        }
        Form::Whole(_) => {
            let name = file.path.parent().and_then(|folder| folder.file_name());
            let name = name.unwrap_or_default().to_string_lossy().into_owned();
            let list = if text.is_some() { &mut file.present } else { &mut file.missing };
            list.push(name);
        }
    }
    Ok(())
}
