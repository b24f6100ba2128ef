//! Plans the changes to a client's files before anything is written.

use super::record::{FileInsertion, InstallRecord, InstallRecordFile};
use super::target_files;
use crate::clients::client::{Client, ClientProfile};
use crate::clients::config::entry::{EntryValue, command_of_group};
use crate::clients::config::splice::undo;
use crate::clients::config::{
    AllowedTools, ClientFile, ClientFileError, ConfigEntry, EntryInsertion, InstallError,
    InstallOptions, InstallScope, TargetContent, TargetFile, json, toml,
};
use crate::sys::env::Environment;
use crate::sys::files;
use crate::sys::ids::sha256;
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Changes to the files of a client. Either all are made or none.
#[derive(Clone, Debug)]
pub struct InstallPlan {
    /// The client.
    pub client: &'static dyn Client,
    /// Who it is for.
    pub scope: InstallScope,
    /// The files that change.
    pub changes: Vec<FileChange>,
    /// What stays unchanged, and why.
    pub notes: Vec<InstallNote>,
    /// The install record to save afterwards.
    record: Option<InstallRecord>,
    /// Folders created by midstride, outermost first.
    folders: Vec<PathBuf>,
}

/// A change to one file.
#[derive(Clone, Debug)]
pub struct FileChange {
    file: ClientFile,
    /// The current text; `None` if there is no file.
    pub before: Option<String>,
    /// The new text; `None` if the file is removed.
    pub after: Option<String>,
}

impl FileChange {
    /// The path of the file.
    pub fn path(&self) -> &Path {
        self.file.path()
    }
}

/// Something the user should know about the plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InstallNote {
    /// A skill with this name has other content.
    OtherSkill(PathBuf),
    /// A skill of midstride's was changed since it was installed.
    ChangedSkill(PathBuf),
    /// A skill with this name exists that is not known to be midstride's.
    KeptSkill(PathBuf),
    /// The plugin of this client is enabled in this file too.
    Plugin(&'static dyn Client, PathBuf),
    /// The client cannot read the file because of comments or trailing commas.
    NotRead(PathBuf),
    /// An entry with this name existed before and has another value.
    OtherEntry(PathBuf, String),
    /// An entry of midstride's was changed since; the change is lost.
    ChangedEntry(PathBuf, String),
    /// The client has the hooks both for the user and in the project, and runs both.
    DuplicateHooks(&'static dyn Client),
}

/// A config file format, by file extension.
#[derive(Clone, Copy)]
enum ConfigFormat {
    Json,
    Toml,
}

impl ConfigFormat {
    fn from_path(path: &Path) -> Self {
        if path.extension().is_some_and(|ending| ending == "toml") {
            Self::Toml
        } else {
            Self::Json
        }
    }

    fn value(self, text: &str) -> Result<Value, ClientFileError> {
        match self {
            Self::Json => json::parse_value(text),
            Self::Toml => toml::parse_value(text),
        }
    }

    fn add(self, text: &str, entries: &[ConfigEntry]) -> Result<EntryInsertion, ClientFileError> {
        match self {
            Self::Json => json::add_entries(text, entries),
            Self::Toml => toml::add_entries(text, entries),
        }
    }

    fn remove_entries(self, text: &str, ours: &FileInsertion) -> Result<String, ClientFileError> {
        match self {
            Self::Json => json::remove_entries(text, &ours.entries, &ours.made, &ours.filled),
            Self::Toml => toml::remove_entries(text, &ours.entries),
        }
    }

    fn is_blank(self, text: &str) -> bool {
        match self {
            Self::Json => json::is_blank(text),
            Self::Toml => toml::is_blank(text),
        }
    }
}

/// The value of a file; null if there is none.
pub(super) fn parse_file(path: &Path, text: Option<&str>) -> Result<Value, InstallError> {
    let value = text.map(|text| ConfigFormat::from_path(path).value(text)).transpose();
    value.map(Option::unwrap_or_default).map_err(|error| error.with_path(path))
}

/// Whether entries can be added to a file, or why not.
pub(super) fn check_entries_fit(
    path: &Path,
    text: Option<&str>,
    entries: &[ConfigEntry],
) -> Result<(), InstallError> {
    let added = ConfigFormat::from_path(path).add(text.unwrap_or_default(), entries);
    added.map(drop).map_err(|error| error.with_path(path))
}

/// Whether a client can read a file with this text.
pub(super) fn is_read_by_client(client: &'static dyn Client, path: &Path, text: &str) -> bool {
    match ConfigFormat::from_path(path) {
        ConfigFormat::Json => {
            let ClientProfile { accepts_comments, accepts_byte_order_mark, .. } = client.profile();
            *accepts_comments || json::is_strict(text, *accepts_byte_order_mark)
        }
        ConfigFormat::Toml => true,
    }
}

pub(super) fn add(
    environment: &Environment,
    client: &'static dyn Client,
    scope: &InstallScope,
    options: InstallOptions,
) -> Result<InstallPlan, InstallError> {
    let old = InstallRecordFile::for_client(environment, client, scope)?.read()?;
    // Options that are not given keep their previous value.
    let before = old.as_ref().map(InstallRecord::options).unwrap_or_default();
    let allow = options.allow.or(before.allow).unwrap_or_default();
    let options = InstallOptions {
        allow: Some(allow),
        trust_hooks: options.trust_hooks || before.trust_hooks,
        status_line: options.status_line || before.status_line,
    };
    let mut plan = InstallPlan::empty(client, scope);
    let wanted = target_files(environment, client, scope, options)?;
    let mut files = Vec::new();
    for wanted in &wanted {
        let ours = old.as_ref().and_then(|record| record.insertion_in(wanted.file.path()));
        files.extend(plan.add_to(wanted, ours)?);
    }
    // An older version may have written to a file that this one does not use.
    let is_wanted = |file: &FileInsertion| wanted.iter().any(|one| one.file.path() == file.path);
    for file in old.iter().flat_map(|record| &record.files).filter(|file| !is_wanted(file)) {
        plan.remove_from(&scope.client_file(&file.path), file)?;
        plan.folders.extend(file.folders.iter().cloned());
    }
    inherit_folders(&mut files, &plan.folders);
    plan.record = Some(InstallRecord {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        at: environment.clock.now().to_string(),
        project: scope.root().map(Path::to_owned),
        allow_read_tools: allow >= AllowedTools::Read,
        allow_save_tools: allow >= AllowedTools::Save,
        trust_hooks: options.trust_hooks,
        status_line: options.status_line,
        files,
    });
    Ok(plan)
}

/// Records the folders of files that are dropped with a file that is still in them, so that `remove`
/// removes them with it.
fn inherit_folders(files: &mut [FileInsertion], folders: &[PathBuf]) {
    for folder in folders {
        let heir = files.iter_mut().find(|file| file.path.starts_with(folder));
        if let Some(heir) = heir.filter(|heir| !heir.folders.contains(folder)) {
            heir.folders.push(folder.clone());
        }
    }
}

pub(super) fn remove(
    environment: &Environment,
    client: &'static dyn Client,
    scope: &InstallScope,
) -> Result<InstallPlan, InstallError> {
    let record = InstallRecordFile::for_client(environment, client, scope)?.read()?;
    let mut plan = InstallPlan::empty(client, scope);
    if let Some(record) = record {
        for ours in &record.files {
            plan.remove_from(&scope.client_file(&ours.path), ours)?;
        }
        plan.folders = record.files.into_iter().flat_map(|file| file.folders).collect();
        plan.note_kept_skills(&target_files(
            environment,
            client,
            scope,
            InstallOptions::default(),
        )?)?;
        return Ok(plan);
    }
    let all =
        InstallOptions { allow: Some(AllowedTools::Save), trust_hooks: true, status_line: true };
    let wanted = target_files(environment, client, scope, all)?;
    let found = wanted.iter().map(infer_insertion).collect::<Result<Vec<_>, _>>()?;
    let found: Vec<FileInsertion> = found.into_iter().flatten().collect();
    // A permission or skill alone may be the user's own; an entry that calls midstride is not.
    let is_called =
        |file: &FileInsertion| file.entries.iter().any(|entry| command_of(entry.value()).is_some());
    if found.iter().any(is_called) {
        for ours in &found {
            plan.remove_from(&scope.client_file(&ours.path), ours)?;
        }
        plan.folders = found.into_iter().flat_map(|file| file.folders).collect();
    }
    plan.note_kept_skills(&wanted)?;
    Ok(plan)
}

/// Infers what was inserted if there is no install record: whatever equals what midstride would
/// insert.
fn infer_insertion(wanted: &TargetFile) -> Result<Option<FileInsertion>, InstallError> {
    let path = wanted.file.path();
    let Some(present) = wanted.file.read()? else { return Ok(None) };
    let hash = sha256(present.as_bytes());
    let entries: Vec<ConfigEntry> = match &wanted.content {
        TargetContent::WholeFile(text) if *text != present => return Ok(None),
        TargetContent::WholeFile(_) => Vec::new(),
        TargetContent::Entries(entries) => {
            let top = parse_file(path, Some(&present))?;
            let ours = entries.iter().filter(|entry| is_like_ours(entry, &top)).cloned().collect();
            if Vec::is_empty(&ours) {
                return Ok(None);
            }
            ours
        }
    };
    let depth = |entry: &ConfigEntry| match entry.what {
        EntryValue::Member(_) => entry.keys.len() - 1,
        EntryValue::Element(_) => entry.keys.len(),
    };
    // A skill has its own folder. The other folders in a project can go once they are empty,
    // because git does not track empty folders.
    let own_folder = path.parent().filter(|_| entries.is_empty()).map(Path::to_owned);
    let folders = wanted.file.folders_in_project().into_iter().chain(own_folder).collect();
    let ways =
        entries.iter().flat_map(|entry| (1..=depth(entry)).map(|depth| &entry.keys[..depth]));
    let made: BTreeSet<&[String]> = ways.collect();
    Ok(Some(FileInsertion {
        path: path.to_owned(),
        before: Some(hash.clone()),
        after: hash,
        splices: Vec::new(),
        made: made.into_iter().map(<[String]>::to_vec).collect(),
        entries,
        filled: Vec::new(),
        folders,
    }))
}

/// Whether an entry exists and runs the same command as midstride's, or has the same value.
fn is_like_ours(entry: &ConfigEntry, top: &Value) -> bool {
    let ours = entry.value();
    entry.find(top).is_some_and(|there| match command_of(ours) {
        Some(command) => command_of(there) == Some(command) || command_of_group(ours).is_some(),
        None => there == ours,
    })
}

/// Whether an existing server entry runs another program than midstride. A hook group is found by
/// midstride's command, whatever else it contains.
pub(super) fn is_foreign(entry: &ConfigEntry, there: &Value) -> bool {
    let program = |value: &Value| {
        let command = value.get("command")?.as_str()?;
        Path::new(command).file_name().map(ToOwned::to_owned)
    };
    program(entry.value()).is_some_and(|ours| program(there) != Some(ours))
}

/// The command that an entry runs: of a server, or of the hook in a group.
fn command_of(value: &Value) -> Option<&Value> {
    value.get("command").or_else(|| command_of_group(value))
}

impl InstallPlan {
    fn empty(client: &'static dyn Client, scope: &InstallScope) -> Self {
        let scope = scope.clone();
        Self {
            client,
            scope,
            changes: Vec::new(),
            notes: Vec::new(),
            record: None,
            folders: Vec::new(),
        }
    }

    fn change(&mut self, file: &ClientFile, before: Option<String>, after: Option<String>) {
        if before != after {
            self.changes.push(FileChange { file: file.clone(), before, after });
        }
    }

    /// Plans one file and returns what to record about it.
    fn add_to(
        &mut self,
        wanted: &TargetFile,
        ours: Option<&FileInsertion>,
    ) -> Result<Option<FileInsertion>, InstallError> {
        let present = wanted.file.read()?;
        match &wanted.content {
            TargetContent::WholeFile(text) => Ok(self.add_whole(&wanted.file, text, present, ours)),
            TargetContent::Entries(entries) => {
                self.add_entries(&wanted.file, entries, present, ours)
            }
        }
    }

    fn add_whole(
        &mut self,
        file: &ClientFile,
        text: &str,
        present: Option<String>,
        ours: Option<&FileInsertion>,
    ) -> Option<FileInsertion> {
        let is_ours = |there: &str| ours.is_some_and(|ours| ours.after == sha256(there.as_bytes()));
        match present {
            Some(there) if there == text => return ours.cloned(),
            Some(there) if !is_ours(&there) => {
                self.notes.push(InstallNote::OtherSkill(file.path().to_owned()));
                return ours.cloned();
            }
            Some(_) | None => {}
        }
        let folders = ours.map_or_else(|| file.missing_folders(), |ours| ours.folders.clone());
        self.change(file, present, Some(text.to_owned()));
        Some(FileInsertion {
            path: file.path().to_owned(),
            before: None,
            after: sha256(text.as_bytes()),
            splices: Vec::new(),
            entries: Vec::new(),
            made: Vec::new(),
            filled: Vec::new(),
            folders,
        })
    }

    fn add_entries(
        &mut self,
        file: &ClientFile,
        entries: &[ConfigEntry],
        present: Option<String>,
        ours: Option<&FileInsertion>,
    ) -> Result<Option<FileInsertion>, InstallError> {
        let path = file.path();
        let top = parse_file(path, present.as_deref())?;
        self.note_others(path, entries, &top, ours);
        if self.client.has_plugin(&top) {
            self.notes.push(InstallNote::Plugin(self.client, path.to_owned()));
        }
        if !is_read_by_client(self.client, path, present.as_deref().unwrap_or_default()) {
            self.notes.push(InstallNote::NotRead(path.to_owned()));
        }
        if entries.iter().all(|entry| is_up_to_date(entry, &top, ours))
            && !has_stale(entries, &top, ours)
        {
            return Ok(ours.cloned());
        }
        let base = match (ours, &present) {
            (Some(ours), Some(text)) => {
                self.note_rewritten(path, entries, &top, ours);
                remove_insertion(path, text, ours)?
            }
            (_, present) => present.clone(),
        };
        let added = ConfigFormat::from_path(path)
            .add(base.as_deref().unwrap_or_default(), entries)
            .map_err(|error| error.with_path(path))?;
        let inserted = FileInsertion {
            path: path.to_owned(),
            before: base.map(|text| sha256(text.as_bytes())),
            after: sha256(added.text.as_bytes()),
            splices: added.splices,
            entries: added.entries,
            made: added.made,
            filled: added.filled,
            folders: ours.map_or_else(|| file.missing_folders(), |ours| ours.folders.clone()),
        };
        self.change(file, present, Some(added.text));
        Ok(Some(inserted))
    }

    /// Notes members with the same name and another value that are not midstride's; they stay
    /// unchanged.
    fn note_others(
        &mut self,
        path: &Path,
        entries: &[ConfigEntry],
        top: &Value,
        ours: Option<&FileInsertion>,
    ) {
        let is_ours =
            |entry: &ConfigEntry| ours.is_some_and(|ours| inserted_entry(entry, ours).is_some());
        for entry in entries.iter().filter(|entry| matches!(entry.what, EntryValue::Member(_))) {
            let differs = entry.find(top).is_some_and(|there| there != entry.value());
            if differs && !is_ours(entry) {
                self.notes.push(InstallNote::OtherEntry(path.to_owned(), entry.name()));
            }
        }
    }

    /// Notes changed entries of midstride's that are rewritten and so lose the change.
    fn note_rewritten(
        &mut self,
        path: &Path,
        entries: &[ConfigEntry],
        top: &Value,
        ours: &FileInsertion,
    ) {
        for entry in entries {
            let Some((before, there)) = inserted_entry(entry, ours).zip(entry.find(top)) else {
                continue;
            };
            if there != before.value() && !is_up_to_date(entry, top, Some(ours)) {
                self.notes.push(InstallNote::ChangedEntry(path.to_owned(), entry.name()));
            }
        }
    }

    fn remove_from(&mut self, file: &ClientFile, ours: &FileInsertion) -> Result<(), InstallError> {
        let Some(present) = file.read()? else { return Ok(()) };
        let after = if !ours.is_whole() {
            let top = parse_file(file.path(), Some(&present))?;
            if !ours.entries.iter().any(|entry| entry.find(&top).is_some()) {
                // The entries were removed, or the file was rewritten, so it belongs to the user.
                return Ok(());
            }
            self.note_changed(file.path(), ours, &top);
            remove_insertion(file.path(), &present, ours)?
        } else if ours.after == sha256(present.as_bytes()) {
            None
        } else {
            self.notes.push(InstallNote::ChangedSkill(file.path().to_owned()));
            return Ok(());
        };
        self.change(file, Some(present), after);
        Ok(())
    }

    /// Notes skills that stay and are not mentioned yet.
    fn note_kept_skills(&mut self, wanted: &[TargetFile]) -> Result<(), InstallError> {
        for TargetFile { file, content } in wanted {
            let path = file.path();
            let is_planned = self.changes.iter().any(|change| change.path() == path);
            let is_named = self.notes.contains(&InstallNote::ChangedSkill(path.to_owned()));
            let is_skill = matches!(content, TargetContent::WholeFile(_));
            if is_skill && !is_planned && !is_named && file.read()?.is_some() {
                self.notes.push(InstallNote::KeptSkill(path.to_owned()));
            }
        }
        Ok(())
    }

    /// Notes entries that the user changed. They are removed too, because they call midstride.
    fn note_changed(&mut self, path: &Path, ours: &FileInsertion, top: &Value) {
        for entry in &ours.entries {
            if entry.find(top).is_some_and(|there| there != entry.value()) {
                self.notes.push(InstallNote::ChangedEntry(path.to_owned(), entry.name()));
            }
        }
    }

    /// Writes the planned changes. If one file cannot be written, the others are restored.
    pub(crate) fn apply(&self, environment: &Environment) -> Result<(), InstallError> {
        let record_file = InstallRecordFile::for_client(environment, self.client, &self.scope)?;
        let _lock = record_file.lock()?;
        let old = record_file.read()?;
        // The record is saved before the files change and removed after, so that it always covers
        // everything midstride inserted.
        if self.record.is_some() {
            record_file.save(self.record.as_ref())?;
        }
        for (done, change) in self.changes.iter().enumerate() {
            let written = change.file.replace(change.before.as_deref(), change.after.as_deref());
            if let Err(error) = written {
                // If only syncing its folder failed, the file has its new text.
                if change.file.read()? == change.after {
                    change.file.replace(change.after.as_deref(), change.before.as_deref())?;
                }
                for change in self.changes[..done].iter().rev() {
                    change.file.replace(change.after.as_deref(), change.before.as_deref())?;
                }
                self.remove_folders();
                record_file.save(old.as_ref())?;
                return Err(error.into());
            }
        }
        self.remove_folders();
        if self.record.is_none() {
            record_file.save(None)?;
        }
        Ok(())
    }

    /// Removes folders created by midstride, if they are empty.
    fn remove_folders(&self) {
        let planned = self.record.iter().flat_map(|record| &record.files);
        let planned = planned.flat_map(|file| &file.folders);
        let mut folders: Vec<&PathBuf> = self.folders.iter().chain(planned).collect();
        folders.sort_unstable();
        folders.into_iter().rev().for_each(|folder| files::remove_empty_folder(folder));
    }
}

/// The inserted entry that corresponds to an entry.
fn inserted_entry<'i>(entry: &ConfigEntry, ours: &'i FileInsertion) -> Option<&'i ConfigEntry> {
    let is_same = |other: &&ConfigEntry| match (&entry.what, &other.what) {
        (EntryValue::Element(Value::String(a)), EntryValue::Element(Value::String(b))) => a == b,
        (EntryValue::Member(_), EntryValue::Member(_))
        | (EntryValue::Element(_), EntryValue::Element(_)) => entry.keys == other.keys,
        (EntryValue::Member(_), EntryValue::Element(_))
        | (EntryValue::Element(_), EntryValue::Member(_)) => false,
    };
    ours.entries.iter().find(is_same)
}

/// Whether an entry exists and is not an outdated one that midstride inserted.
fn is_up_to_date(entry: &ConfigEntry, top: &Value, ours: Option<&FileInsertion>) -> bool {
    let Some(there) = entry.find(top) else { return false };
    let before = ours.and_then(|ours| inserted_entry(entry, ours));
    before.is_none_or(|before| {
        let is_changed = there != before.value();
        before.value() == entry.value()
            || (is_changed && !has_leftover(before.value(), entry.value(), there))
    })
}

/// Whether something inserted earlier and no longer wanted still exists. A revoked permission is
/// removed even from an entry that the user changed.
fn has_leftover(before: &Value, wanted: &Value, there: &Value) -> bool {
    before.as_object().into_iter().flatten().any(|(key, before)| {
        there.get(key).is_some_and(|there| match wanted.get(key) {
            Some(wanted) => has_leftover(before, wanted, there),
            None => true,
        })
    })
}

/// Whether entries of midstride's exist that are no longer wanted.
fn has_stale(entries: &[ConfigEntry], top: &Value, ours: Option<&FileInsertion>) -> bool {
    let known = |old: &ConfigEntry| {
        entries
            .iter()
            .any(|entry| ours.is_some_and(|ours| inserted_entry(entry, ours) == Some(old)))
    };
    let old = ours.into_iter().flat_map(|ours| &ours.entries);
    old.filter(|old| !known(old)).any(|old| old.find(top).is_some())
}

/// Removes what midstride inserted; restores the exact bytes if the file was not edited since.
fn remove_insertion(
    path: &Path,
    text: &str,
    ours: &FileInsertion,
) -> Result<Option<String>, InstallError> {
    let format = ConfigFormat::from_path(path);
    let is_untouched = !ours.splices.is_empty() && sha256(text.as_bytes()) == ours.after;
    let undone = if is_untouched { undo(text, &ours.splices) } else { None };
    match (undone, &ours.before) {
        (Some(_), None) => return Ok(None),
        (Some(undone), Some(before)) if sha256(undone.as_bytes()) == *before => {
            return Ok(Some(undone));
        }
        (Some(_), Some(_)) | (None, _) => {}
    }
    let rest = format.remove_entries(text, ours).map_err(|error| error.with_path(path))?;
    let is_gone = ours.before.is_none() && format.is_blank(&rest);
    Ok((!is_gone).then_some(rest))
}
