//! Advances a handoff to the next stage: checks it, drafts the next document and records the step.

use crate::journal::{JournalError, RecordedRevision, RevisionInfo};
use crate::store::Store;
use crate::sys::files::FileError;
use crate::verbs::handoff::apply::{ApplyError, apply_in_place};
use crate::verbs::handoff::check::{DocumentCheck, check_documents};
use crate::verbs::handoff::new::{
    CreatedHandoff, NewError, NewHandoff, existing_path, find_by_key, find_upstream, new,
    reference, stage_rule,
};
use crate::workspace::{Catalog, StoredHandoff, Workspace};
use midstride_core::format::finding::{Code, Finding};
use midstride_core::format::header::RevisionVerb;
use midstride_core::format::stage::StageRule;
use midstride_core::handoff::lifecycle::{self, LifecycleRefusal};
use midstride_core::text::edit::Edit;
use midstride_core::text::id::HandoffKey;
use midstride_core::text::span::{Span, line_end};
use std::path::PathBuf;

/// The next stage, and who advances to it.
#[derive(Clone, Debug)]
pub struct AdvanceRequest {
    /// The next stage.
    pub to: String,
    /// Why to advance despite blocking findings.
    pub force: Option<String>,
    /// The author of the step.
    pub by: Option<String>,
}

/// The result of [`advance`].
#[derive(Debug)]
pub enum AdvanceOutcome {
    /// Findings block the step, and nothing was changed. Has only the blocking findings.
    Blocked(Box<DocumentCheck>),
    /// The handoff advanced.
    Advanced(Box<StageTransition>),
}

/// The step from one stage to the next.
#[derive(Debug)]
pub struct StageTransition {
    /// The document as it was before.
    pub from: StoredHandoff,
    /// The name of the next stage's document.
    pub key: HandoffKey,
    /// Its path.
    pub path: PathBuf,
    /// The draft, unless the next stage's document already existed.
    pub created: Option<CreatedHandoff>,
    /// The recorded revision, unless the history already had it.
    pub recorded: Option<RecordedRevision>,
    /// The reason in the history.
    pub reason: String,
    /// The codes of the findings that were overridden, each once.
    pub overridden: Vec<Code>,
    /// The other handoffs the next stage builds on that are still open.
    pub open_siblings: Vec<HandoffKey>,
}

/// Why a handoff did not advance. A draft that was written stays, and the next attempt finds it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AdvanceError {
    /// The stage or the document does not exist, or the next document could not be created.
    #[error(transparent)]
    New(#[from] NewError),
    /// The step does not fit the handoff, or could not be recorded.
    #[error(transparent)]
    Apply(#[from] ApplyError),
    /// A file could not be read.
    #[error(transparent)]
    File(#[from] FileError),
}

/// Advances the named handoff to the next stage. Writes the draft before the record, so that after
/// a kill the same command finds the draft and finishes.
pub fn advance(
    store: &Store,
    name: &str,
    forward: &AdvanceRequest,
) -> Result<AdvanceOutcome, AdvanceError> {
    let workspace = store.workspace();
    let rule = stage_rule(workspace, &forward.to)?;
    let from = find_upstream(workspace, name, rule).map_err(NewError::from)?;
    refuse_invalid_transition(workspace, &from, &forward.to)?;
    let mut checked = check_documents(store, None, vec![workspace.reread(&from)?]).remove(0);
    checked.verdict.findings.retain(Finding::blocks);
    checked.verdict.findings.extend(find_missing_upstream(workspace, &from, &forward.to, rule));
    if !checked.verdict.findings.is_empty() && forward.force.is_none() {
        return Ok(AdvanceOutcome::Blocked(Box::new(checked)));
    }
    let mut over: Vec<Code> = checked.verdict.findings.iter().map(|found| found.code).collect();
    over.sort_unstable();
    over.dedup();
    let step = AdvanceStep { store, request: forward, is_blocked: !over.is_empty() };
    step.refuse_unwritable(&from)?;
    let (key, path, created) = step.draft(&from)?;
    let change =
        RevisionInfo::by_verb(RevisionVerb::Advance, step.reason(&over), forward.by.clone());
    let recorded = step.record(&from, &key, &path, &change)?;
    let (reason, open_siblings) = (change.reason, find_open_siblings(workspace, &from, rule));
    let transition = StageTransition {
        from,
        key,
        path,
        created,
        recorded,
        reason,
        overridden: over,
        open_siblings,
    };
    Ok(AdvanceOutcome::Advanced(Box::new(transition)))
}

/// Findings for the other stages the next stage builds on that are missing or incomplete.
fn find_missing_upstream(
    workspace: &Workspace,
    from: &StoredHandoff,
    to: &str,
    rule: &StageRule,
) -> Vec<Finding> {
    let (handoff, catalog) = (from.handoff(workspace), Catalog::new(workspace));
    let at = handoff.header().map(|header| header.at.start).unwrap_or_default();
    let at = Span::new(at, line_end(from.document.text(), at));
    let others = rule.upstream().iter().filter(|stage| handoff.stage() != Some(stage.as_str()));
    let finding = |stage: &String| {
        let key = HandoffKey { id: handoff.id().to_owned(), stage: Some(stage.clone()) };
        let Some(other) = find_by_key(workspace, &key) else {
            let message = format!("{to} also builds on {stage}, but `{key}` does not exist");
            let finding = Finding::new(Code::UpstreamNotFound, at, message);
            return Some(match find_predecessor(workspace, &key) {
                Some(before) => finding.with_command([
                    "midstride",
                    "advance",
                    &before.to_string(),
                    "--to",
                    stage,
                ]),
                None => {
                    finding.with_command(["midstride", "new", "--stage", stage, "--id", &key.id])
                }
            });
        };
        let why = catalog.check(&other).incomplete_reason()?;
        let message = format!("{to} also builds on {stage}, but `{key}` is incomplete: {why}");
        let finding = Finding::new(Code::UpstreamIncomplete, at, message);
        Some(finding.with_command(["midstride", "check", &key.to_string()]))
    };
    others.filter_map(finding).collect()
}

/// The other handoffs a stage builds on that are still open.
fn find_open_siblings(
    workspace: &Workspace,
    from: &StoredHandoff,
    rule: &StageRule,
) -> Vec<HandoffKey> {
    let own = from.handoff(workspace).key();
    let key_of = |stage: &String| HandoffKey { id: own.id.clone(), stage: Some(stage.clone()) };
    let others = rule.upstream().iter().map(key_of).filter(|key| *key != own);
    let is_open = |key: &HandoffKey| {
        find_by_key(workspace, key).is_some_and(|other| other.handoff(workspace).status().is_open())
    };
    others.filter(is_open).collect()
}

/// A document of the same feature that this stage can follow.
fn find_predecessor(workspace: &Workspace, key: &HandoffKey) -> Option<HandoffKey> {
    let rule = workspace.settings().stages.stages.get(key.stage.as_deref()?)?;
    let before = |stage: &String| HandoffKey { id: key.id.clone(), stage: Some(stage.clone()) };
    let mut upstream = rule.upstream().iter().map(before);
    upstream.find(|key| find_by_key(workspace, key).is_some())
}

fn refuse_invalid_transition(
    workspace: &Workspace,
    from: &StoredHandoff,
    to: &str,
) -> Result<(), ApplyError> {
    let handoff = from.handoff(workspace);
    let key = handoff.key().to_string();
    lifecycle::check_advance(&handoff, to, &workspace.settings().stages)
        .map_err(|why| ApplyError::Refused { key, why })
}

/// One advance in progress.
struct AdvanceStep<'a> {
    store: &'a Store,
    request: &'a AdvanceRequest,
    /// Whether blocking findings are overridden.
    is_blocked: bool,
}

impl AdvanceStep<'_> {
    fn decide(&self, now: &StoredHandoff, artifact: &str) -> Result<Vec<Edit>, LifecycleRefusal> {
        // A blocking question may have been added meanwhile. The handoff then stays open.
        let blocked = self.is_blocked
            || !Catalog::new(self.store.workspace()).check(now).blocking().is_empty();
        let (handoff, stages) =
            (now.handoff(self.store.workspace()), &self.store.workspace().settings().stages);
        let time = self.store.workspace().environment().clock.now();
        lifecycle::advance(&handoff, &self.request.to, artifact, stages, blocked, time)
    }

    /// Refuses a header that cannot be edited before anything is written. The artifact does not
    /// matter for this.
    fn refuse_unwritable(&self, from: &StoredHandoff) -> Result<(), ApplyError> {
        let key = from.handoff(self.store.workspace()).key().to_string();
        let edits = self.decide(from, &key).map_err(|why| ApplyError::Refused { key, why })?;
        from.document.edit(&edits).map_err(JournalError::from)?;
        Ok(())
    }

    /// The next stage's document: the existing one, or a new draft that builds on this one.
    fn draft(
        &self,
        from: &StoredHandoff,
    ) -> Result<(HandoffKey, PathBuf, Option<CreatedHandoff>), AdvanceError> {
        let id = from.handoff(self.store.workspace()).id().to_owned();
        let key = HandoffKey { id: id.clone(), stage: Some(self.request.to.clone()) };
        if let Some(path) = existing_path(self.store.workspace(), &key)? {
            return Ok((key, path, None));
        }
        let whole = self.store.workspace().root().path().join(&from.path);
        let wanted = NewHandoff {
            id: Some(id),
            stage: Some(self.request.to.clone()),
            upstream: Some(whole.display().to_string()),
            // What builds on a private handoff stays private, too.
            private: self.store.workspace().private_folder_of(from).map(|_| true),
            ..NewHandoff::default()
        };
        match new(self.store, &wanted) {
            Ok(created) => Ok((key, created.stored.path.clone(), Some(created))),
            // Another process created it first.
            Err(exists @ NewError::Exists { .. }) => {
                match existing_path(self.store.workspace(), &key)? {
                    Some(path) => Ok((key, path, None)),
                    None => Err(exists.into()),
                }
            }
            Err(error) => Err(error.into()),
        }
    }

    /// The reason for the history.
    fn reason(&self, over: &[Code]) -> String {
        let advanced = lifecycle::advance_reason(&self.request.to);
        match &self.request.force {
            Some(why) if self.is_blocked => {
                let over: Vec<String> = over.iter().map(ToString::to_string).collect();
                format!("{advanced} with --force: {why} (despite {})", over.join(", "))
            }
            Some(_) | None => advanced,
        }
    }

    /// Records the step in the document it starts from, unless it is already recorded.
    fn record(
        &self,
        from: &StoredHandoff,
        key: &HandoffKey,
        path: &std::path::Path,
        change: &RevisionInfo,
    ) -> Result<Option<RecordedRevision>, ApplyError> {
        let artifact = reference(self.store.workspace(), path, key).display().to_string();
        let decide = |now: &StoredHandoff| {
            let edits = self.decide(now, &artifact)?;
            lifecycle::reject_if_recorded(
                &now.handoff(self.store.workspace()),
                edits,
                &change.reason,
            )
        };
        match apply_in_place(self.store, from, &decide, change) {
            Err(ApplyError::Refused { why: LifecycleRefusal::AlreadyRecorded, .. }) => Ok(None),
            recorded => recorded.map(Some),
        }
    }
}
