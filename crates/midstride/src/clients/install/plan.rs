//! What is going to be written, decided before anything is.

use super::entry::{Entry, What, command_of_group};
use super::place::Place;
use super::receipt::{Inserted, Receipt, Receipts};
use super::splice::undo;
use super::{
    Added, Allow, Form, InstallError, Scope, Unfit, Wanted, Wishes, json, plugin, toml, wanted,
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
pub struct Plan {
    /// The client.
    pub client: Client,
    /// For whom.
    pub scope: Scope,
    /// The files that become others.
    pub changes: Vec<Change>,
    /// What is left as it is, and why.
    pub notes: Vec<Note>,
    /// What is remembered afterwards.
    receipt: Option<Receipt>,
    /// Folders that were made for us, the outermost first.
    folders: Vec<PathBuf>,
}

/// A file that becomes another.
#[derive(Clone, Debug)]
pub struct Change {
    place: Place,
    /// The text as it is; none where there is no file.
    pub before: Option<String>,
    /// The text as it is going to be; none where the file goes.
    pub after: Option<String>,
}

impl Change {
    /// The file.
    pub fn path(&self) -> &Path {
        self.place.path()
    }
}

/// Something that is left as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Note {
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
    Twice(Client),
}

/// A file format by the name of the file.
#[derive(Clone, Copy)]
enum Format {
    Json,
    Toml,
}

impl Format {
    fn of(path: &Path) -> Self {
        if path.extension().is_some_and(|ending| ending == "toml") {
            Self::Toml
        } else {
            Self::Json
        }
    }

    fn value(self, text: &str) -> Result<Value, Unfit> {
        match self {
            Self::Json => json::value(text),
            Self::Toml => toml::value(text),
        }
    }

    fn add(self, text: &str, entries: &[Entry]) -> Result<Added, Unfit> {
        match self {
            Self::Json => json::add(text, entries),
            Self::Toml => toml::add(text, entries),
        }
    }

    fn take_out(self, text: &str, ours: &Inserted) -> Result<String, Unfit> {
        match self {
            Self::Json => json::take_out(text, &ours.entries, &ours.made, &ours.filled),
            Self::Toml => toml::take_out(text, &ours.entries),
        }
    }

    fn is_nothing(self, text: &str) -> bool {
        match self {
            Self::Json => json::is_nothing(text),
            Self::Toml => toml::is_nothing(text),
        }
    }
}

/// What a file says, or that nothing does.
pub(super) fn value_of(path: &Path, text: Option<&str>) -> Result<Value, InstallError> {
    let value = text.map(|text| Format::of(path).value(text)).transpose();
    value.map(Option::unwrap_or_default).map_err(|error| error.at(path))
}

/// Whether there is room for entries in a file, and why not.
pub(super) fn has_room(
    path: &Path,
    text: Option<&str>,
    entries: &[Entry],
) -> Result<(), InstallError> {
    let added = Format::of(path).add(text.unwrap_or_default(), entries);
    added.map(drop).map_err(|error| error.at(path))
}

/// Whether a client reads a file that says this.
pub(super) fn is_read(client: Client, path: &Path, text: &str) -> bool {
    match Format::of(path) {
        Format::Json => json::is_read_by(client, text),
        Format::Toml => true,
    }
}

pub(super) fn add(
    environment: &Environment,
    client: Client,
    scope: &Scope,
    wishes: Wishes,
) -> Result<Plan, InstallError> {
    let old = Receipts::of(environment, client, scope)?.read()?;
    // Without a choice, what was asked for before stays.
    let before = old.as_ref().map(Receipt::wishes).unwrap_or_default();
    let allow = wishes.allow.or(before.allow).unwrap_or_default();
    let wishes =
        Wishes { allow: Some(allow), trust_hooks: wishes.trust_hooks || before.trust_hooks };
    let mut plan = Plan::empty(client, scope);
    let wanted = wanted(environment, client, scope, wishes)?;
    let mut files = Vec::new();
    for wanted in &wanted {
        let ours = old.as_ref().and_then(|receipt| receipt.of(wanted.place.path()));
        files.extend(plan.add_to(wanted, ours)?);
    }
    // An older version may have written where this one writes nothing.
    let is_wanted = |file: &Inserted| wanted.iter().any(|one| one.place.path() == file.path);
    for file in old.iter().flat_map(|receipt| &receipt.files).filter(|file| !is_wanted(file)) {
        plan.take_out_of(&scope.place(&file.path), file)?;
    }
    plan.receipt = Some(Receipt {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        at: environment.clock.now().to_string(),
        project: scope.root().map(Path::to_owned),
        allow_read_tools: allow >= Allow::Read,
        allow_save_tools: allow >= Allow::Save,
        trust_hooks: wishes.trust_hooks,
        files,
    });
    Ok(plan)
}

pub(super) fn remove(
    environment: &Environment,
    client: Client,
    scope: &Scope,
) -> Result<Plan, InstallError> {
    let receipt = Receipts::of(environment, client, scope)?.read()?;
    let mut plan = Plan::empty(client, scope);
    if let Some(receipt) = receipt {
        for ours in &receipt.files {
            plan.take_out_of(&scope.place(&ours.path), ours)?;
        }
        plan.folders = receipt.files.into_iter().flat_map(|file| file.folders).collect();
        plan.note_kept_skills(&wanted(environment, client, scope, Wishes::default())?)?;
        return Ok(plan);
    }
    let all = Wishes { allow: Some(Allow::Save), trust_hooks: true };
    let wanted = wanted(environment, client, scope, all)?;
    let found = wanted.iter().map(as_if_inserted).collect::<Result<Vec<_>, _>>()?;
    let found: Vec<Inserted> = found.into_iter().flatten().collect();
    // A permission or a skill alone may be anybody's; what calls midstride is not.
    let is_called =
        |file: &Inserted| file.entries.iter().any(|entry| command_of(entry.value()).is_some());
    if found.iter().any(is_called) {
        for ours in &found {
            plan.take_out_of(&scope.place(&ours.path), ours)?;
        }
        plan.folders = found.into_iter().flat_map(|file| file.folders).collect();
    }
    plan.note_kept_skills(&wanted)?;
    Ok(plan)
}

/// Where no receipt is left, what is there and is what we would insert is taken for ours.
fn as_if_inserted(wanted: &Wanted) -> Result<Option<Inserted>, InstallError> {
    let path = wanted.place.path();
    let Some(present) = wanted.place.read()? else { return Ok(None) };
    let hash = sha256(present.as_bytes());
    let entries: Vec<Entry> = match &wanted.form {
        Form::Whole(text) if *text != present => return Ok(None),
        Form::Whole(_) => Vec::new(),
        Form::Entries(entries) => {
            let top = value_of(path, Some(&present))?;
            let ours = entries.iter().filter(|entry| is_like_ours(entry, &top)).cloned().collect();
            if Vec::is_empty(&ours) {
                return Ok(None);
            }
            ours
        }
    };
    let way = |entry: &Entry| match entry.what {
        What::Member(_) => entry.keys.len() - 1,
        What::Element(_) => entry.keys.len(),
    };
    // A skill has a folder of its own. In a project the others are kept by nobody once they are
    // empty: git knows none.
    let own_folder = path.parent().filter(|_| entries.is_empty()).map(Path::to_owned);
    let folders = wanted.place.folders_in_project().into_iter().chain(own_folder).collect();
    let ways = entries.iter().flat_map(|entry| (1..=way(entry)).map(|depth| &entry.keys[..depth]));
    let made: BTreeSet<&[String]> = ways.collect();
    Ok(Some(Inserted {
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
fn is_like_ours(entry: &Entry, top: &Value) -> bool {
    let ours = entry.value();
    entry.find(top).is_some_and(|there| match command_of(ours) {
        Some(command) => command_of(there) == Some(command) || command_of_group(ours).is_some(),
        None => there == ours,
    })
}

/// Whether what is there for a server starts another program than ours. A group of hooks is found
/// by our command, whatever else is in it.
pub(super) fn is_somebody_elses(entry: &Entry, there: &Value) -> bool {
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

impl Plan {
    fn empty(client: Client, scope: &Scope) -> Self {
        let scope = scope.clone();
        Self {
            client,
            scope,
            changes: Vec::new(),
            notes: Vec::new(),
            receipt: None,
            folders: Vec::new(),
        }
    }

    fn change(&mut self, place: &Place, before: Option<String>, after: Option<String>) {
        if before != after {
            self.changes.push(Change { place: place.clone(), before, after });
        }
    }

    /// Plans one file, and gives back what is remembered of it.
    fn add_to(
        &mut self,
        wanted: &Wanted,
        ours: Option<&Inserted>,
    ) -> Result<Option<Inserted>, InstallError> {
        let present = wanted.place.read()?;
        match &wanted.form {
            Form::Whole(text) => Ok(self.add_whole(&wanted.place, text, present, ours)),
            Form::Entries(entries) => self.add_entries(&wanted.place, entries, present, ours),
        }
    }

    fn add_whole(
        &mut self,
        place: &Place,
        text: &str,
        present: Option<String>,
        ours: Option<&Inserted>,
    ) -> Option<Inserted> {
        let is_ours = |there: &str| ours.is_some_and(|ours| ours.after == sha256(there.as_bytes()));
        match present {
            Some(there) if there == text => return ours.cloned(),
            Some(there) if !is_ours(&there) => {
                self.notes.push(Note::OtherSkill(place.path().to_owned()));
                return ours.cloned();
            }
            Some(_) | None => {}
        }
        let folders = ours.map_or_else(|| place.missing_folders(), |ours| ours.folders.clone());
        self.change(place, present, Some(text.to_owned()));
        Some(Inserted {
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
        place: &Place,
        entries: &[Entry],
        present: Option<String>,
        ours: Option<&Inserted>,
    ) -> Result<Option<Inserted>, InstallError> {
        let path = place.path();
        let top = value_of(path, present.as_deref())?;
        self.note_others(path, entries, &top, ours);
        if has_plugin(&top) {
            self.notes.push(Note::Plugin(path.to_owned()));
        }
        if !is_read(self.client, path, present.as_deref().unwrap_or_default()) {
            self.notes.push(Note::NotRead(path.to_owned()));
        }
        if entries.iter().all(|entry| is_in_order(entry, &top, ours))
            && !has_stale(entries, &top, ours)
        {
            return Ok(ours.cloned());
        }
        let base = match (ours, &present) {
            (Some(ours), Some(text)) => {
                self.note_rewritten(path, entries, &top, ours);
                without(path, text, ours)?
            }
            (_, present) => present.clone(),
        };
        let added = Format::of(path)
            .add(base.as_deref().unwrap_or_default(), entries)
            .map_err(|error| error.at(path))?;
        let inserted = Inserted {
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
        entries: &[Entry],
        top: &Value,
        ours: Option<&Inserted>,
    ) {
        let is_ours = |entry: &Entry| ours.is_some_and(|ours| inserted(entry, ours).is_some());
        for entry in entries.iter().filter(|entry| matches!(entry.what, What::Member(_))) {
            let differs = entry.find(top).is_some_and(|there| there != entry.value());
            if differs && !is_ours(entry) {
                self.notes.push(Note::OtherEntry(path.to_owned(), entry.name()));
            }
        }
    }

    /// An entry of ours that somebody changed and that is written again loses that change.
    fn note_rewritten(&mut self, path: &Path, entries: &[Entry], top: &Value, ours: &Inserted) {
        for entry in entries {
            let Some((before, there)) = inserted(entry, ours).zip(entry.find(top)) else {
                continue;
            };
            if there != before.value() && !is_in_order(entry, top, Some(ours)) {
                self.notes.push(Note::ChangedEntry(path.to_owned(), entry.name()));
            }
        }
    }

    fn take_out_of(&mut self, place: &Place, ours: &Inserted) -> Result<(), InstallError> {
        let Some(present) = place.read()? else { return Ok(()) };
        let after = if !ours.is_whole() {
            let top = value_of(place.path(), Some(&present))?;
            if !ours.entries.iter().any(|entry| entry.find(&top).is_some()) {
                // Somebody took ours out, or wrote the file anew: it is theirs.
                return Ok(());
            }
            self.note_changed(place.path(), ours, &top);
            without(place.path(), &present, ours)?
        } else if ours.after == sha256(present.as_bytes()) {
            None
        } else {
            self.notes.push(Note::ChangedSkill(place.path().to_owned()));
            return Ok(());
        };
        self.change(place, Some(present), after);
        Ok(())
    }

    /// A skill that neither goes nor was named yet.
    fn note_kept_skills(&mut self, wanted: &[Wanted]) -> Result<(), InstallError> {
        for Wanted { place, form } in wanted {
            let path = place.path();
            let is_planned = self.changes.iter().any(|change| change.path() == path);
            let is_named = self.notes.contains(&Note::ChangedSkill(path.to_owned()));
            let is_skill = matches!(form, Form::Whole(_));
            if is_skill && !is_planned && !is_named && place.read()?.is_some() {
                self.notes.push(Note::KeptSkill(path.to_owned()));
            }
        }
        Ok(())
    }

    /// What calls midstride goes in any case; what somebody made of it since is named.
    fn note_changed(&mut self, path: &Path, ours: &Inserted, top: &Value) {
        for entry in &ours.entries {
            if entry.find(top).is_some_and(|there| there != entry.value()) {
                self.notes.push(Note::ChangedEntry(path.to_owned(), entry.name()));
            }
        }
    }

    /// Writes what was planned. Where one file cannot be written, the others are as they were.
    pub(crate) fn carry_out(&self, environment: &Environment) -> Result<(), InstallError> {
        let receipts = Receipts::of(environment, self.client, &self.scope)?;
        let _lock = receipts.lock()?;
        let old = receipts.read()?;
        // Kept before, so that nothing of ours is ever unknown; taken away afterwards, for the same.
        if self.receipt.is_some() {
            receipts.keep(self.receipt.as_ref())?;
        }
        for (done, change) in self.changes.iter().enumerate() {
            let written = change.place.exchange(change.before.as_deref(), change.after.as_deref());
            if let Err(error) = written {
                for change in self.changes[..done].iter().rev() {
                    change.place.exchange(change.after.as_deref(), change.before.as_deref())?;
                }
                self.remove_folders();
                receipts.keep(old.as_ref())?;
                return Err(error.into());
            }
        }
        if self.receipt.is_none() {
            self.remove_folders();
            receipts.keep(None)?;
        }
        Ok(())
    }

    /// Folders that were made for us go where they are empty.
    fn remove_folders(&self) {
        let planned = self.receipt.iter().flat_map(|receipt| &receipt.files);
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
fn inserted<'i>(entry: &Entry, ours: &'i Inserted) -> Option<&'i Entry> {
    let is_same = |other: &&Entry| match (&entry.what, &other.what) {
        (What::Element(Value::String(a)), What::Element(Value::String(b))) => a == b,
        (What::Member(_), What::Member(_)) | (What::Element(_), What::Element(_)) => {
            entry.keys == other.keys
        }
        (What::Member(_), What::Element(_)) | (What::Element(_), What::Member(_)) => false,
    };
    ours.entries.iter().find(is_same)
}

/// Whether an entry is there, and not one that we inserted when we wanted something else.
fn is_in_order(entry: &Entry, top: &Value, ours: Option<&Inserted>) -> bool {
    let Some(there) = entry.find(top) else { return false };
    let before = ours.and_then(|ours| inserted(entry, ours));
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
fn has_stale(entries: &[Entry], top: &Value, ours: Option<&Inserted>) -> bool {
    let known = |old: &Entry| {
        entries.iter().any(|entry| ours.is_some_and(|ours| inserted(entry, ours) == Some(old)))
    };
    let old = ours.into_iter().flat_map(|ours| &ours.entries);
    old.filter(|old| !known(old)).any(|old| old.find(top).is_some())
}

/// A text without what is ours: the very bytes that were there, where nobody wrote since.
fn without(path: &Path, text: &str, ours: &Inserted) -> Result<Option<String>, InstallError> {
    let format = Format::of(path);
    let is_untouched = !ours.splices.is_empty() && sha256(text.as_bytes()) == ours.after;
    let undone = if is_untouched { undo(text, &ours.splices) } else { None };
    match (undone, &ours.before) {
        (Some(_), None) => return Ok(None),
        (Some(undone), Some(before)) if sha256(undone.as_bytes()) == *before => {
            return Ok(Some(undone));
        }
        (Some(_), Some(_)) | (None, _) => {}
    }
    let rest = format.take_out(text, ours).map_err(|error| error.at(path))?;
    let is_gone = ours.before.is_none() && format.is_nothing(&rest);
    Ok((!is_gone).then_some(rest))
}
