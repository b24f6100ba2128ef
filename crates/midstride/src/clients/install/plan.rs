//! What is going to be written, decided before anything is.

use super::client_file::ClientFile;
use super::entry::{ConfigEntry, EntryValue, command_of_group};
use super::record::{FileInsertion, InstallRecord, InstallRecordFile};
use super::splice::undo;
use super::{
    AllowedTools, ClientFileError, EntryInsertion, InstallError, InstallOptions, InstallScope,
    TargetContent, TargetFile, json, plugin, target_files, toml,
};
use crate::sys::files;
use crate::sys::ids::sha256;
use crate::workspace::settings::Environment;
use midstride_core::session::Client;
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Changes of files of a client, all of them or none.
#[derive(Clone, Debug)]
pub struct InstallPlan {
    /// The client.
    pub client: Client,
    /// For whom.
    pub scope: InstallScope,
    /// The files that become others.
    pub changes: Vec<FileChange>,
    /// What is left as it is, and why.
    pub notes: Vec<InstallNote>,
    /// What is remembered afterwards.
    record: Option<InstallRecord>,
    /// Folders that were made for us, the outermost first.
    folders: Vec<PathBuf>,
}

/// A file that becomes another.
#[derive(Clone, Debug)]
pub struct FileChange {
    file: ClientFile,
    /// The text as it is; none where there is no file.
    pub before: Option<String>,
    /// The text as it is going to be; none where the file goes.
    pub after: Option<String>,
}

impl FileChange {
    /// The file.
    pub fn path(&self) -> &Path {
        self.file.path()
    }
}

/// Something that is left as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InstallNote {
    /// A skill of that name says something else.
    OtherSkill(PathBuf),
    /// A skill of ours was changed since.
    ChangedSkill(PathBuf),
    /// A skill of that name is there that we do not know to be ours.
    KeptSkill(PathBuf),
    /// The plugin is enabled in that file as well.
    Plugin(PathBuf),
    /// The client does not read the file, for comments or trailing commas that somebody wrote.
    NotRead(PathBuf),
    /// An entry of that name was there before us, and says something else.
    OtherEntry(PathBuf, String),
    /// An entry of ours was changed since, and goes with the change.
    ChangedEntry(PathBuf, String),
    /// The client has our hooks for the user and in the project, and runs both.
    DuplicateHooks(Client),
}

/// A file format by the name of the file.
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

/// What a file says, or that nothing does.
pub(super) fn parse_file(path: &Path, text: Option<&str>) -> Result<Value, InstallError> {
    let value = text.map(|text| ConfigFormat::from_path(path).value(text)).transpose();
    value.map(Option::unwrap_or_default).map_err(|error| error.with_path(path))
}

/// Whether there is room for entries in a file, and why not.
pub(super) fn check_entries_fit(
    path: &Path,
    text: Option<&str>,
    entries: &[ConfigEntry],
) -> Result<(), InstallError> {
    let added = ConfigFormat::from_path(path).add(text.unwrap_or_default(), entries);
    added.map(drop).map_err(|error| error.with_path(path))
}

/// Whether a client reads a file that says this.
pub(super) fn is_read_by_client(client: Client, path: &Path, text: &str) -> bool {
    match ConfigFormat::from_path(path) {
        ConfigFormat::Json => json::is_read_by(client, text),
        ConfigFormat::Toml => true,
    }
}

pub(super) fn add(
    environment: &Environment,
    client: Client,
    scope: &InstallScope,
    wishes: InstallOptions,
) -> Result<InstallPlan, InstallError> {
    let old = InstallRecordFile::for_client(environment, client, scope)?.read()?;
    // Without a choice, what was asked for before stays.
    let before = old.as_ref().map(InstallRecord::options).unwrap_or_default();
    let allow = wishes.allow.or(before.allow).unwrap_or_default();
    let wishes = InstallOptions {
        allow: Some(allow),
        trust_hooks: wishes.trust_hooks || before.trust_hooks,
    };
    let mut plan = InstallPlan::empty(client, scope);
    let wanted = target_files(environment, client, scope, wishes)?;
    let mut files = Vec::new();
    for wanted in &wanted {
        let ours = old.as_ref().and_then(|receipt| receipt.insertion_in(wanted.file.path()));
        files.extend(plan.add_to(wanted, ours)?);
    }
    // An older version may have written where this one writes nothing.
    let is_wanted = |file: &FileInsertion| wanted.iter().any(|one| one.file.path() == file.path);
    for file in old.iter().flat_map(|receipt| &receipt.files).filter(|file| !is_wanted(file)) {
        plan.remove_from(&scope.client_file(&file.path), file)?;
    }
    plan.record = Some(InstallRecord {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        at: environment.clock.now().to_string(),
        project: scope.root().map(Path::to_owned),
        allow_read_tools: allow >= AllowedTools::Read,
        allow_save_tools: allow >= AllowedTools::Save,
        trust_hooks: wishes.trust_hooks,
        files,
    });
    Ok(plan)
}

pub(super) fn remove(
    environment: &Environment,
    client: Client,
    scope: &InstallScope,
) -> Result<InstallPlan, InstallError> {
    let receipt = InstallRecordFile::for_client(environment, client, scope)?.read()?;
    let mut plan = InstallPlan::empty(client, scope);
    if let Some(receipt) = receipt {
        for ours in &receipt.files {
            plan.remove_from(&scope.client_file(&ours.path), ours)?;
        }
        plan.folders = receipt.files.into_iter().flat_map(|file| file.folders).collect();
        plan.note_kept_skills(&target_files(
            environment,
            client,
            scope,
            InstallOptions::default(),
        )?)?;
        return Ok(plan);
    }
    let all = InstallOptions { allow: Some(AllowedTools::Save), trust_hooks: true };
    let wanted = target_files(environment, client, scope, all)?;
    let found = wanted.iter().map(infer_insertion).collect::<Result<Vec<_>, _>>()?;
    let found: Vec<FileInsertion> = found.into_iter().flatten().collect();
    // A permission or a skill alone may be anybody's; what calls midstride is not.
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

/// Where no receipt is left, what is there and is what we would insert is taken for ours.
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
    let way = |entry: &ConfigEntry| match entry.what {
        EntryValue::Member(_) => entry.keys.len() - 1,
        EntryValue::Element(_) => entry.keys.len(),
    };
    // A skill has a folder of its own. In a project the others are kept by nobody once they are
    // empty: git knows none.
    let own_folder = path.parent().filter(|_| entries.is_empty()).map(Path::to_owned);
    let folders = wanted.file.folders_in_project().into_iter().chain(own_folder).collect();
    let ways = entries.iter().flat_map(|entry| (1..=way(entry)).map(|depth| &entry.keys[..depth]));
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

/// Whether an entry is there, and starts what ours would or says the same.
fn is_like_ours(entry: &ConfigEntry, top: &Value) -> bool {
    let ours = entry.value();
    entry.find(top).is_some_and(|there| match command_of(ours) {
        Some(command) => command_of(there) == Some(command) || command_of_group(ours).is_some(),
        None => there == ours,
    })
}

/// Whether what is there for a server starts another program than ours. A group of hooks is found
/// by our command, whatever else is in it.
pub(super) fn is_foreign(entry: &ConfigEntry, there: &Value) -> bool {
    let program = |value: &Value| {
        let command = value.get("command")?.as_str()?;
        Path::new(command).file_name().map(ToOwned::to_owned)
    };
    program(entry.value()).is_some_and(|ours| program(there) != Some(ours))
}

/// What an entry starts: a server, or the hook of a group.
fn command_of(value: &Value) -> Option<&Value> {
    value.get("command").or_else(|| command_of_group(value))
}

impl InstallPlan {
    fn empty(client: Client, scope: &InstallScope) -> Self {
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

    fn change(&mut self, place: &ClientFile, before: Option<String>, after: Option<String>) {
        if before != after {
            self.changes.push(FileChange { file: place.clone(), before, after });
        }
    }

    /// Plans one file, and gives back what is remembered of it.
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
        place: &ClientFile,
        text: &str,
        present: Option<String>,
        ours: Option<&FileInsertion>,
    ) -> Option<FileInsertion> {
        let is_ours = |there: &str| ours.is_some_and(|ours| ours.after == sha256(there.as_bytes()));
        match present {
            Some(there) if there == text => return ours.cloned(),
            Some(there) if !is_ours(&there) => {
                self.notes.push(InstallNote::OtherSkill(place.path().to_owned()));
                return ours.cloned();
            }
            Some(_) | None => {}
        }
        let folders = ours.map_or_else(|| place.missing_folders(), |ours| ours.folders.clone());
        self.change(place, present, Some(text.to_owned()));
        Some(FileInsertion {
            path: place.path().to_owned(),
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
        place: &ClientFile,
        entries: &[ConfigEntry],
        present: Option<String>,
        ours: Option<&FileInsertion>,
    ) -> Result<Option<FileInsertion>, InstallError> {
        let path = place.path();
        let top = parse_file(path, present.as_deref())?;
        self.note_others(path, entries, &top, ours);
        if has_plugin(&top) {
            self.notes.push(InstallNote::Plugin(path.to_owned()));
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
            folders: ours.map_or_else(|| place.missing_folders(), |ours| ours.folders.clone()),
        };
        self.change(place, present, Some(added.text));
        Ok(Some(inserted))
    }

    /// A member that says something else than ours, and is not ours, stays as it is.
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

    /// An entry of ours that somebody changed and that is written again loses that change.
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

    fn remove_from(
        &mut self,
        place: &ClientFile,
        ours: &FileInsertion,
    ) -> Result<(), InstallError> {
        let Some(present) = place.read()? else { return Ok(()) };
        let after = if !ours.is_whole() {
            let top = parse_file(place.path(), Some(&present))?;
            if !ours.entries.iter().any(|entry| entry.find(&top).is_some()) {
                // Somebody took ours out, or wrote the file anew: it is theirs.
                return Ok(());
            }
            self.note_changed(place.path(), ours, &top);
            remove_insertion(place.path(), &present, ours)?
        } else if ours.after == sha256(present.as_bytes()) {
            None
        } else {
            self.notes.push(InstallNote::ChangedSkill(place.path().to_owned()));
            return Ok(());
        };
        self.change(place, Some(present), after);
        Ok(())
    }

    /// A skill that neither goes nor was named yet.
    fn note_kept_skills(&mut self, wanted: &[TargetFile]) -> Result<(), InstallError> {
        for TargetFile { file: place, content: form } in wanted {
            let path = place.path();
            let is_planned = self.changes.iter().any(|change| change.path() == path);
            let is_named = self.notes.contains(&InstallNote::ChangedSkill(path.to_owned()));
            let is_skill = matches!(form, TargetContent::WholeFile(_));
            if is_skill && !is_planned && !is_named && place.read()?.is_some() {
                self.notes.push(InstallNote::KeptSkill(path.to_owned()));
            }
        }
        Ok(())
    }

    /// What calls midstride goes in any case; what somebody made of it since is named.
    fn note_changed(&mut self, path: &Path, ours: &FileInsertion, top: &Value) {
        for entry in &ours.entries {
            if entry.find(top).is_some_and(|there| there != entry.value()) {
                self.notes.push(InstallNote::ChangedEntry(path.to_owned(), entry.name()));
            }
        }
    }

    /// Writes what was planned. Where one file cannot be written, the others are as they were.
    pub(crate) fn apply(&self, environment: &Environment) -> Result<(), InstallError> {
        let receipts = InstallRecordFile::for_client(environment, self.client, &self.scope)?;
        let _lock = receipts.lock()?;
        let old = receipts.read()?;
        // Kept before, so that nothing of ours is ever unknown; taken away afterwards, for the same.
        if self.record.is_some() {
            receipts.save(self.record.as_ref())?;
        }
        for (done, change) in self.changes.iter().enumerate() {
            let written = change.file.replace(change.before.as_deref(), change.after.as_deref());
            if let Err(error) = written {
                for change in self.changes[..done].iter().rev() {
                    change.file.replace(change.after.as_deref(), change.before.as_deref())?;
                }
                self.remove_folders();
                receipts.save(old.as_ref())?;
                return Err(error.into());
            }
        }
        if self.record.is_none() {
            self.remove_folders();
            receipts.save(None)?;
        }
        Ok(())
    }

    /// Folders that were made for us go where they are empty.
    fn remove_folders(&self) {
        let planned = self.record.iter().flat_map(|receipt| &receipt.files);
        let planned = planned.flat_map(|file| &file.folders);
        let mut folders: Vec<&PathBuf> = self.folders.iter().chain(planned).collect();
        folders.sort_unstable();
        folders.into_iter().rev().for_each(|folder| files::remove_empty_folder(folder));
    }
}

/// Whether settings of Claude Code enable the plugin, from whatever marketplace.
pub(super) fn has_plugin(top: &Value) -> bool {
    let enabled = top.get("enabledPlugins").and_then(Value::as_object);
    let is_ours = |name: &str| name.split('@').next() == Some(plugin::NAME);
    enabled
        .is_some_and(|all| all.iter().any(|(name, on)| is_ours(name) && *on == Value::Bool(true)))
}

/// What was inserted for an entry.
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

/// Whether an entry is there, and not one that we inserted when we wanted something else.
fn is_up_to_date(entry: &ConfigEntry, top: &Value, ours: Option<&FileInsertion>) -> bool {
    let Some(there) = entry.find(top) else { return false };
    let before = ours.and_then(|ours| inserted_entry(entry, ours));
    before.is_none_or(|before| {
        let is_changed = there != before.value();
        before.value() == entry.value()
            || (is_changed && !has_leftover(before.value(), entry.value(), there))
    })
}

/// Whether something that was inserted and is no longer wanted is still there: a permission that was
/// taken back goes, also from an entry that somebody changed.
fn has_leftover(before: &Value, wanted: &Value, there: &Value) -> bool {
    before.as_object().into_iter().flatten().any(|(key, before)| {
        there.get(key).is_some_and(|there| match wanted.get(key) {
            Some(wanted) => has_leftover(before, wanted, there),
            None => true,
        })
    })
}

/// Whether something of ours is there that is not wanted any more.
fn has_stale(entries: &[ConfigEntry], top: &Value, ours: Option<&FileInsertion>) -> bool {
    let known = |old: &ConfigEntry| {
        entries
            .iter()
            .any(|entry| ours.is_some_and(|ours| inserted_entry(entry, ours) == Some(old)))
    };
    let old = ours.into_iter().flat_map(|ours| &ours.entries);
    old.filter(|old| !known(old)).any(|old| old.find(top).is_some())
}

/// A text without what is ours: the very bytes that were there, where nobody wrote since.
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
