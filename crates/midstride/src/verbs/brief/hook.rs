//! Answers a hook call from a client: briefs the session and records what it does. The client
//! waits, so nothing here starts a process or waits for a lock. If one step fails, the others still
//! run.

use crate::clients::active_sessions;
use crate::clients::capture::{UnreadAmount, capture, unread_amount};
use crate::clients::hook_memory::{HookMemory, SessionLocation};
use crate::clients::hook_switch::{SKIP_NEXT_FILE, is_switched_off};
use crate::clients::install::SavePermission;
use crate::clients::{self, Client, TranscriptInfo, task_lists};
use crate::store::Store;
use crate::store::index::{Effort, Index, IndexCard, RefreshLimit, retain_briefable};
use crate::store::ledger::LedgerError;
use crate::sys::env::{self, SessionName};
use crate::sys::files;
use crate::sys::ids::sha256;
use crate::verbs::brief::{
    BriefOutcome, BriefRequest, Delivery, brief, brief_handoffs, brief_own_work,
    delivered_handoffs, is_rejected, summary_of_session,
};
use crate::verbs::handoff::search::{
    HOOK_SEARCH_TIMEOUT, PromptSearch, RelevantHandoffs, search_prompt,
};
use crate::verbs::session::checkpoint::{
    CheckpointOutcome, build_checkpoint, changed_files, find_transcript, store_checkpoint,
};
use crate::verbs::session::coverage::measure_coverage;
use crate::verbs::session::sessions::{
    OlderSessions, RECOVERED_MAX, RecoveryBounds, is_captured, recover_within,
};
use crate::verbs::task::mirror::mirror;
use crate::workspace::observation::is_due;
use crate::workspace::{Access, DocumentPlace, SetupMode, StoreOwner, StoredHandoff, Workspace};
use jiff::Timestamp;
use midstride_core::brief::hook::{
    BLOCKS_MAX, ClientTask, HandoffCompleteness, HookEvent, HookInput, HookOutput, SaveReason,
    missing_from_texts, reminder_reason, reminder_text, save_reason, stop_block_reason,
    without_agent_statements,
};
use midstride_core::brief::{BriefOccasion, Briefing, ItemRank};
use midstride_core::format::document::Document;
use midstride_core::format::finding::Code;
use midstride_core::handoff::check::CheckFindings;
use midstride_core::session::Session;
use midstride_core::session::checkpoint::{Checkpoint, CheckpointMode, SessionSummary};
use midstride_core::session::quality::{self, QualityIssue, QualityReport};
use midstride_core::text::id::SessionId;
use midstride_core::text::tokens;
use midstride_core::text::yaml::YamlNode;
use midstride_core::work::event::DeliveredHandoff;
use std::cmp::Reverse;
use std::collections::HashSet;
use std::path::Path;

/// Hooks capture a session if its transcript is short, when it ends or before the next one starts.
/// A background process captures longer ones.
const RECOVERY_BOUNDS: RecoveryBounds = RecoveryBounds {
    sessions_max: RECOVERED_MAX,
    bytes_max: 4 << 20,
    older: OlderSessions::Skipped,
};
/// How many edited files are kept. The least recently edited are dropped.
const EDITED_MAX: usize = 64;
/// How many handoffs a prompt is briefed on at most.
const RELEVANT_MAX: usize = 3;
/// How many search hits are considered. Some of them were already briefed.
const RELEVANT_CANDIDATES_MAX: usize = 8;
/// How much of a prompt is searched. Users write their question before what they paste, and the
/// client waits.
const PROMPT_BYTES_MAX: usize = 64 << 10;
/// The token limit for what a summary has to keep and for what it lost.
const SUMMARY_TOKENS_MAX: u64 = 1_000;
/// What the user reads when the first session in a repository starts.
const FIRST_SESSION: &str =
    "midstride remembers sessions in this repository (`midstride off` to stop)";
/// The ranks an agent needs from handoffs: its constraints and the landmines.
const AGENT_RANKS: [ItemRank; 2] = [ItemRank::Constraint, ItemRank::Landmine];

/// The ranks repeated to a session that already knows a handoff.
const REJECTION_RANKS: [ItemRank; 2] = [ItemRank::Rejected, ItemRank::Constraint];

/// The result of a hook call.
#[derive(Debug, Default)]
pub struct HookOutcome {
    /// The answer for the client.
    pub answer: HookOutput,
    /// What was done, in words.
    pub actions: Vec<String>,
    /// How many tokens the model gets.
    pub tokens: u64,
    /// What went wrong. The other steps still ran.
    pub errors: Vec<String>,
    /// Whether ended sessions still have to be recovered by a process with more time.
    pub is_recovery_incomplete: bool,
    /// Whether a background process has to import the past sessions of the repository.
    pub is_import_due: bool,
    /// Whether a background process has to capture the session.
    pub is_capture_due: bool,
    /// Whether the index still has to be finished and no other process is doing it.
    pub is_index_incomplete: bool,
    /// Whether a background process has to ask git what is uncommitted.
    pub is_observation_due: bool,
}

/// Whether hooks stay silent: the project is excluded or not set up, or hooks are switched off.
pub fn is_silent(workspace: &Workspace) -> bool {
    workspace.exclusion().is_some()
        || workspace.setup() == SetupMode::NotSetUp
        || has_unread_store(workspace)
        || is_switched_off(workspace)
}

/// Whether to brief sessions when they start. The environment decides first, then the project's
/// configuration. Headless sessions get none by default, so that installing midstride changes
/// nothing for scripts.
fn wants_briefing(workspace: &Workspace, client: &'static dyn Client) -> bool {
    let configured = workspace.settings().brief;
    env::briefing_choice().unwrap_or_else(|| {
        configured.budget != Some(0)
            && (configured.headless || !client.is_headless(workspace.environment()))
    })
}

/// Whether hooks have something to say in a project where they are otherwise silent: its setup, or that
/// hooks are off, may be in a private store that is not read.
pub fn has_unread_store(workspace: &Workspace) -> bool {
    workspace.exclusion().is_none()
        && workspace.setup() != SetupMode::Committed
        && workspace.store_owner() == StoreOwner::Unknown
}

/// Answers a hook call. `limit` is how much of the index may be built before the answer.
pub fn hook(store: &Store, call: &HookInput, limit: RefreshLimit) -> HookOutcome {
    let workspace = store.workspace();
    // Hooks set the store aside when they write.
    let unread_store = (workspace.store_owner() == StoreOwner::Unknown).then(unread_store_line);
    if is_silent(workspace) {
        let lines = unread_store.filter(|_| has_unread_store(workspace));
        return HookOutcome { answer: lines_at_start(call, lines), ..HookOutcome::default() };
    }
    let access = workspace.access();
    let mut done = match access {
        Access::Granted => answer(store, call, limit),
        Access::Own { .. } => match workspace.own_view() {
            Ok(view) => answer(&Store::new(view, store.wait_policy()), call, limit),
            Err(error) => HookOutcome { errors: vec![error.to_string()], ..HookOutcome::default() },
        },
        Access::Untrusted { .. } => HookOutcome::default(),
    };
    let untrusted = (access != Access::Granted).then(|| untrusted_line(access.withheld()));
    let lines = lines_at_start(call, untrusted.into_iter().chain(unread_store));
    let join = |one: Option<String>, other: Option<String>, between: &str| {
        let both: Vec<String> = one.into_iter().chain(other).collect();
        (!both.is_empty()).then(|| both.join(between))
    };
    done.answer.user_line = join(done.answer.user_line.take(), lines.user_line, "; ");
    // First, because the end is omitted if the text is too long.
    done.answer.context = join(lines.context, done.answer.context.take(), "\n");
    done.answer = done.answer.within_limits();
    done.tokens = done.answer.context.as_deref().map_or(0, tokens::estimate);
    done
}

/// Answers a call in a project or view whose documents may all be passed on.
fn answer(store: &Store, call: &HookInput, limit: RefreshLimit) -> HookOutcome {
    let (workspace, mut done) = (store.workspace(), HookOutcome::default());
    let id = call.session.as_ref().map_or("", SessionId::as_str);
    let client = clients::find(call.client.as_str());
    let session = SessionName::parse(call.client.as_str(), id);
    let session = session
        .map(|name| SessionName { id: workspace.redact_session_id(name.id), client: name.client });
    let Some((client, session)) = client.zip(session) else {
        done.errors.push("the session has no usable id".to_owned());
        return done;
    };
    let is_first = workspace.store_owner() == StoreOwner::Missing;
    let mut hooking =
        HookCall { store, call, client, session, limit, outcome: done, last_edit: None };
    hooking.keep_task_list(client.shared_task_list(workspace.environment()));
    hooking.answer();
    if is_first && matches!(call.kind, HookEvent::Start(_)) {
        hooking.announce_first_session();
        hooking.outcome.is_import_due = workspace.store_owner() == StoreOwner::User;
    }
    let is_due = hooking.is_observation_due();
    let mut done = hooking.outcome;
    // One process at a time finishes the index.
    if done.is_index_incomplete {
        done.is_index_incomplete = matches!(Index::lock_to_finish(workspace), Ok(Some(_)));
    }
    done.is_observation_due = is_due;
    done
}

/// The answer with these lines, for the user and the model, if a session starts.
fn lines_at_start(call: &HookInput, lines: impl IntoIterator<Item = String>) -> HookOutput {
    let is_start =
        matches!(call.kind, HookEvent::Start(BriefOccasion::Startup | BriefOccasion::Clear));
    let lines: Vec<String> = lines.into_iter().filter(|_| is_start).collect();
    let line = (!lines.is_empty()).then(|| lines.join("\n"));
    HookOutput { user_line: line.clone(), context: line, ..HookOutput::default() }
}

/// Says how many documents of an untrusted project were not read.
fn untrusted_line(documents: usize) -> String {
    let (handoffs, them) = match documents {
        1 => ("1 handoff".to_owned(), "it"),
        count => (format!("{count} handoffs"), "them"),
    };
    format!(
        "midstride: this session's briefing does not include {handoffs} in this repository, because \
         the user has not trusted {them}. To allow {them}, run `midstride trust` in a terminal"
    )
}

/// Says that the private store was not read.
fn unread_store_line() -> String {
    "midstride: skipped this repository's private store, because it came from elsewhere or from \
     an earlier version of midstride. If it is yours, run `midstride trust` once in a terminal \
     to use it again"
        .to_owned()
}

struct HookCall<'h> {
    store: &'h Store,
    call: &'h HookInput,
    client: &'static dyn Client,
    session: SessionName,
    limit: RefreshLimit,
    outcome: HookOutcome,
    /// When the session last changed a file, in the part of its transcript that was read.
    last_edit: Option<Timestamp>,
}

impl HookCall<'_> {
    /// Says that sessions are captured in this repository, unless nothing could be stored.
    fn announce_first_session(&mut self) {
        if self.store.workspace().store_owner() == StoreOwner::User {
            let line = &mut self.outcome.answer.user_line;
            *line = Some(match line.take() {
                Some(line) => format!("{FIRST_SESSION}; {line}"),
                None => FIRST_SESSION.to_owned(),
            });
        }
    }

    /// Whether the last observation is out of date. At the end of a session and before a compaction
    /// git is always asked, because the user's own edits are in no transcript.
    fn is_observation_due(&self) -> bool {
        match self.call.kind {
            HookEvent::BeforeCompaction | HookEvent::End { .. } => {
                self.store.workspace().repository().is_some()
            }
            HookEvent::Stop { .. } => is_due(self.store.workspace(), self.last_edit),
            HookEvent::Start(_)
            | HookEvent::Prompt(_)
            | HookEvent::AfterCompaction(_)
            | HookEvent::AgentStart
            | HookEvent::AgentStop
            | HookEvent::Interrupt
            | HookEvent::TaskCreated(_)
            | HookEvent::TaskCompleted(_)
            | HookEvent::Other => false,
        }
    }

    /// Records which list holds the session's tasks, before a briefing needs it.
    fn keep_task_list(&mut self, list: Option<String>) {
        let is_needed = matches!(
            self.call.kind,
            HookEvent::Start(_) | HookEvent::TaskCreated(_) | HookEvent::TaskCompleted(_)
        );
        if let Some(list) = list.filter(|_| is_needed) {
            let kept = task_lists::save_shared_list(self.store.workspace(), &self.session, &list);
            self.record_error(kept);
        }
    }

    fn answer(&mut self) {
        match &self.call.kind {
            HookEvent::Start(occasion) => self.start(*occasion),
            HookEvent::Prompt(text) => self.prompt(text),
            HookEvent::BeforeCompaction => self.before_compaction(),
            HookEvent::AfterCompaction(summary) => self.after_compaction(summary.as_deref()),
            HookEvent::AgentStart => self.agent_start(),
            HookEvent::AgentStop | HookEvent::Interrupt => {
                drop(self.read_transcript(is_enough_news));
            }
            HookEvent::TaskCreated(task) => self.mirror(task, false),
            HookEvent::TaskCompleted(task) => self.mirror(task, true),
            HookEvent::Stop { again } => {
                self.stop(*again);
                if self.is_last_stop() {
                    self.end(false);
                }
            }
            HookEvent::End { is_clear } => self.end(*is_clear),
            HookEvent::Other => {}
        }
    }

    /// Returns the value, or records the error.
    fn record_error<T, E: std::fmt::Display>(&mut self, result: Result<T, E>) -> Option<T> {
        result.map_err(|error| self.outcome.errors.push(error.to_string())).ok()
    }

    fn record_action(&mut self, what: impl Into<String>) {
        self.outcome.actions.push(what.into());
    }

    fn request(&self, occasion: BriefOccasion) -> BriefRequest {
        BriefRequest {
            occasion: Some(occasion),
            client: Some(self.client),
            session: Some(self.session.clone()),
            limit: self.limit,
            ..BriefRequest::default()
        }
    }

    /// Recovers killed sessions first, so that the briefing covers them.
    fn start(&mut self, occasion: BriefOccasion) {
        let place = SessionLocation::new(self.store.workspace(), self.call.transcript.as_deref());
        // A repeated briefing fills the context. If the memory cannot be written, brief anyway.
        if self.is_first(|kept| (kept.place, kept.ended) = (place, false)) == Some(false) {
            return;
        }
        self.mark_active();
        let recovered = self.recover();
        let has_context = occasion == BriefOccasion::Resume;
        let since = if has_context { self.last_active() } else { None };
        if matches!(occasion, BriefOccasion::Resume | BriefOccasion::Compact) {
            self.checkpoint();
        }
        if occasion != BriefOccasion::Compact && !self.should_brief() {
            self.record_action("started without a briefing");
            return;
        }
        let tokens = self.store.workspace().settings().brief.budget.filter(|tokens| *tokens > 0);
        let tokens =
            tokens.filter(|_| matches!(occasion, BriefOccasion::Startup | BriefOccasion::Clear));
        let in_context = self.page_in_context(occasion);
        let asked =
            BriefRequest { tokens, has_context, since, in_context, ..self.request(occasion) };
        let briefed = brief(self.store, &asked, &mut |_, _| ());
        self.record_errors(&briefed);
        // A briefing with the same text is still in its context.
        let is_known = has_context && matches!(briefed.delivery, Delivery::Known);
        let page = Some(&briefed.briefing).filter(|page| !page.text.is_empty() && !is_known);
        let text = page.map(|page| page.text.clone());
        if text.is_some() {
            self.record_action("briefed");
        }
        // A page counts the handoffs that are not read yet. Without a page, say it here.
        let indexing = briefed.indexing.map(|indexing| format!("Building the index: {indexing}"));
        let text = text.or(indexing);
        let indexing =
            briefed.indexing.map(|indexing| format!("midstride is building its index: {indexing}"));
        let line = [page.and_then(Briefing::user_line), recovered_line(recovered), indexing];
        let line: Vec<String> = line.into_iter().flatten().collect();
        self.outcome.answer.user_line = (!line.is_empty()).then(|| line.join("; "));
        let page = text.clone().filter(|_| occasion == BriefOccasion::Compact);
        self.outcome.answer.context = text.clone();
        let now = self.store.workspace().environment().clock.now();
        self.change_memory(|kept| {
            kept.told = page;
            kept.waits = text.is_some() && occasion == BriefOccasion::Resume;
            kept.briefed = text.map(|text| (now, text)).or(kept.briefed.take());
        });
        let bounded = HookMemory::prune(self.store.workspace());
        self.record_error(bounded);
    }

    /// The page a resumed session got, if it is compacted before its first prompt. Both pages are
    /// then in its context.
    fn page_in_context(&self, occasion: BriefOccasion) -> Option<String> {
        let kept = (occasion == BriefOccasion::Compact).then(|| self.memory())?;
        kept.briefed.filter(|_| kept.waits).map(|(_, page)| page)
    }

    /// Whether this session gets a briefing. A skip request is used up here.
    fn should_brief(&self) -> bool {
        let private = self.store.workspace().private().ok().flatten();
        let skip = private.map(|folder| folder.path().join(SKIP_NEXT_FILE));
        let is_skipped = skip.is_some_and(|file| files::remove(&file).is_ok());
        !is_skipped && wants_briefing(self.store.workspace(), self.client)
    }

    /// When the session was last captured. The transcript cannot tell, because clients append to it
    /// before they call the hook.
    fn last_active(&mut self) -> Option<Timestamp> {
        let summary = self.own_summary();
        self.record_error(summary).flatten()?.ended
    }

    fn recover(&mut self) -> usize {
        let ledger = self.store.ledger();
        let Some(ledger) = self.record_error(ledger) else { return 0 };
        let recovered =
            recover_within(self.store.workspace(), ledger, &RECOVERY_BOUNDS, &mut |_, _| ());
        let Some(recovered) = self.record_error(recovered) else { return 0 };
        for (_, error) in &recovered.failed {
            self.outcome.errors.push(error.to_string());
        }
        self.outcome.is_recovery_incomplete = recovered.remaining > 0;
        let new: Vec<&CheckpointOutcome> =
            recovered.checkpoints.iter().filter(|one| one.is_new).collect();
        if !new.is_empty() {
            self.record_action(format!("recovered {}", new.len()));
        }
        new.into_iter().filter(|one| !self.has_reported_end(&one.checkpoint)).count()
    }

    /// Whether the client reported the end of a session. It may write to the transcript after that.
    fn has_reported_end(&self, checkpoint: &Checkpoint) -> bool {
        let id = checkpoint.session_id();
        let name = SessionName::parse(checkpoint.client().as_str(), id.as_str());
        name.is_some_and(|name| HookMemory::read(self.store.workspace(), &name).ended)
    }

    fn record_errors(&mut self, briefed: &BriefOutcome) {
        self.outcome.is_index_incomplete |= briefed.is_index_incomplete;
        let errors = &mut self.outcome.errors;
        errors.extend(briefed.ledger_error.iter().map(ToString::to_string));
        errors.extend(briefed.delivery.error().map(ToString::to_string));
        errors.extend(briefed.unread.iter().map(ToString::to_string));
    }

    /// Briefs on the handoffs that matter for a prompt, each once per session.
    fn prompt(&mut self, text: &str) {
        if self.call.agent.is_some() {
            return self.agent_prompt(text);
        }
        self.mark_active();
        let kept = self.memory();
        if kept.waits {
            self.change_memory(|kept| kept.waits = false);
        }
        let mut parts = Vec::new();
        if let Some(briefed) = self.brief_relevant(text) {
            self.record_errors(&briefed);
            self.outcome.answer.user_line = briefed.briefing.user_line();
            self.record_action("briefed");
            parts.push(briefed.briefing.text);
        }
        if let Some(reason) = self.reminder(&kept) {
            self.record_action("nudged");
            parts.push(reminder_text(reason));
        }
        // Take this last, so that a call that runs out of time does not lose it.
        let missing =
            kept.missing.as_ref().and_then(|_| self.change_memory(|kept| kept.missing.take()));
        if let Some(missing) = missing.flatten() {
            self.record_action("briefed on details missing from the summary");
            parts.insert(0, missing);
        }
        self.outcome.answer.context = (!parts.is_empty()).then(|| parts.join("\n\n"));
    }

    /// Briefs an agent on its task, which is not the user's prompt. Codex calls the prompt hook for
    /// both and names the agent's transcript.
    fn agent_prompt(&mut self, text: &str) {
        let Some(briefed) = self.brief_relevant(text) else { return };
        self.record_errors(&briefed);
        self.record_action("briefed an agent");
        self.outcome.answer.context = Some(briefed.briefing.text);
    }

    /// Reads the transcript and returns the reason to remind the agent to save, once per session.
    fn reminder(&mut self, kept: &HookMemory) -> Option<SaveReason> {
        let turned_on = self.store.workspace().settings().hooks.nudge;
        let may = turned_on != Some(false) && !kept.nudged;
        // Assess a long transcript once, and then whenever there is enough new text.
        let session = self.read_transcript(|news| match news {
            UnreadAmount::Nothing | UnreadAmount::Little => may && !kept.weighed,
            UnreadAmount::Enough => true,
        });
        let session = session.filter(|_| may)?;
        let reason = reminder_reason(&session, turned_on).filter(|_| self.may_save());
        let reason = reason.filter(|_| !self.has_handoff());
        if kept.weighed && reason.is_none() {
            return None;
        }
        // If it cannot be remembered, the reminder would repeat with every prompt.
        let is_first = self.change_memory(|kept| {
            kept.weighed = true;
            reason.is_some() && !std::mem::replace(&mut kept.nudged, true)
        });
        reason.filter(|_| is_first == Some(true))
    }

    /// Whether the agent may save, so that it is never asked for something it cannot do. If the
    /// client prompts for permission, the session must not be headless.
    fn may_save(&self) -> bool {
        let workspace = self.store.workspace();
        let environment = workspace.environment();
        let saving = || self.client.settings(environment, workspace.root().path()).saving;
        self.call.is_unrestricted
            || match saving() {
                SavePermission::Allowed => true,
                SavePermission::Prompted => !self.client.is_headless(environment),
                SavePermission::Denied => false,
            }
    }

    fn brief_relevant(&mut self, text: &str) -> Option<BriefOutcome> {
        if !wants_briefing(self.store.workspace(), self.client) {
            return None;
        }
        let prompt = PromptSearch {
            text: text[..text.floor_char_boundary(PROMPT_BYTES_MAX)].to_owned(),
            files: Vec::new(),
            limit: RELEVANT_CANDIDATES_MAX,
            // A fifth of the hook's time limit, whatever that is.
            timeout: env::hook_time().map_or(HOOK_SEARCH_TIMEOUT, |time| time / 5),
            effort: Effort::Prompt,
        };
        let RelevantHandoffs { hits, is_index_incomplete: is_index_left, .. } =
            search_prompt(self.store, &prompt);
        self.outcome.is_index_incomplete |= is_index_left;
        if hits.is_empty() {
            return None;
        }
        let delivered = self.briefed_handoffs();
        let delivered = self.record_error(delivered)?;
        let is_new = |stored: &StoredHandoff| {
            let handoff = stored.handoff(self.store.workspace());
            let uid = handoff.uid().map(|uid| uid.to_string());
            let own = IndexCard::from_document(self.store.workspace(), stored)
                .routing
                .and_then(|routing| routing.session);
            let name = uid.unwrap_or_else(|| handoff.key().to_string());
            !delivered.contains(&name) && own.as_ref() != Some(&self.session.id)
        };
        let asked =
            BriefRequest { prompt: Some(prompt.text), ..self.request(BriefOccasion::Prompt) };
        let hits = briefable(self.store.workspace(), hits.into_iter().map(|hit| hit.stored));
        let (new, known): (Vec<StoredHandoff>, Vec<StoredHandoff>) =
            hits.into_iter().partition(is_new);
        if new.is_empty() {
            return self.brief_rejections(asked, known);
        }
        let new: Vec<StoredHandoff> = new.into_iter().take(RELEVANT_MAX).collect();
        // If it cannot be remembered, it would repeat with every prompt.
        if self.is_first(|_| ()) != Some(true) {
            return None;
        }
        let briefed = brief_handoffs(self.store, &asked, new);
        (!briefed.briefing.text.is_empty()).then_some(briefed)
    }

    /// Briefs once more on what known handoffs reject, if the prompt proposes it again.
    fn brief_rejections(
        &mut self,
        asked: BriefRequest,
        known: Vec<StoredHandoff>,
    ) -> Option<BriefOutcome> {
        let prompt = asked.prompt.as_deref().unwrap_or_default();
        let rejects = |stored: &StoredHandoff| is_rejected(self.store.workspace(), prompt, stored);
        let again: Vec<StoredHandoff> =
            known.into_iter().take(RELEVANT_MAX).filter(rejects).collect();
        if again.is_empty() || self.is_first(|_| ()) != Some(true) {
            return None;
        }
        let asked = BriefRequest { only: Some(&REJECTION_RANKS), ..asked };
        let briefed = brief_handoffs(self.store, &asked, again);
        let is_new = matches!(briefed.delivery, Delivery::New | Delivery::Queued);
        (is_new && !briefed.briefing.text.is_empty()).then_some(briefed)
    }

    /// The handoffs this session was briefed on, by uid, or by id if they have none.
    fn briefed_handoffs(&self) -> Result<HashSet<String>, LedgerError> {
        let Some(ledger) = self.store.existing_ledger()? else {
            return Ok(HashSet::new());
        };
        let name = |one: DeliveredHandoff| one.uid.map_or(one.id, |uid| uid.to_string());
        Ok(delivered_handoffs(ledger, &self.session)?.into_iter().map(name).collect())
    }

    /// The transcript the client names, if it exists. Reads none of it.
    fn find_transcript(&mut self) -> Option<TranscriptInfo> {
        let path = self.call.transcript.as_deref().map(Path::new);
        let found = path.map(|path| clients::unread_transcript(path, self.client));
        let is_missing = match &found {
            Some(Err(error)) => error.is_missing(),
            Some(Ok(_)) => false,
            None => true,
        };
        if is_missing && may_lack_transcript(&self.call.kind) {
            self.record_action("found no transcript yet");
            return None;
        }
        match found {
            Some(found) => self.record_error(found),
            None => {
                self.outcome.errors.push("the client sent no transcript path".to_owned());
                None
            }
        }
    }

    /// The same transcript, once its first lines show that it belongs to this project.
    fn check_transcript(&mut self, called: &TranscriptInfo) -> Option<TranscriptInfo> {
        let found = find_transcript(self.store.workspace(), &called.path, called.client);
        self.record_error(found)
    }

    /// Reads what is new in the transcript if the amount is wanted. The session is captured when it
    /// ends.
    fn read_transcript(&mut self, is_wanted: impl Fn(UnreadAmount) -> bool) -> Option<Session> {
        let called = self.find_transcript()?;
        if !is_wanted(unread_amount(self.store.workspace(), &called)) {
            return None;
        }
        let found = self.check_transcript(&called)?;
        let captured = capture(self.store.workspace(), &found);
        let captured = self.record_error(captured)?;
        self.record_new_bytes(captured.new_bytes);
        self.record_changes(&captured.session);
        Some(captured.session)
    }

    /// Records which files the session changed, for sessions that start meanwhile.
    fn record_changes(&mut self, session: &Session) {
        self.last_edit = session.files.last_change();
        if self.last_edit.is_some() {
            let edited = edited_files(self.store.workspace(), session);
            self.change_memory(|kept| kept.edited = edited);
        }
    }

    fn mark_active(&mut self) {
        let marked = active_sessions::add_marker(self.store.workspace(), &self.session);
        self.record_error(marked);
    }

    fn record_new_bytes(&mut self, bytes: u64) {
        if bytes > 0 {
            self.record_action("read on");
        }
    }

    /// Captures what the session did since its last capture.
    fn checkpoint(&mut self) -> Option<CheckpointOutcome> {
        self.checkpoint_within(u64::MAX)
    }

    /// Captures the session, unless its transcript is longer than `bytes_max`. Then a background
    /// process does.
    fn checkpoint_within(&mut self, bytes_max: u64) -> Option<CheckpointOutcome> {
        let called = self.find_transcript()?;
        let ledger = self.store.ledger();
        let ledger = self.record_error(ledger)?;
        let is_done = is_captured(self.store.workspace(), ledger, &called);
        if self.record_error(is_done)? {
            self.record_action("nothing new");
            return None;
        }
        if called.bytes > bytes_max {
            self.outcome.is_capture_due = true;
            self.record_action("continues in the background");
            return None;
        }
        let found = self.check_transcript(&called)?;
        let done = store_checkpoint(self.store.workspace(), ledger, &found, CheckpointMode::Auto);
        let done = self.record_error(done)?;
        self.record_action(if done.is_new { "captured" } else { "nothing new" });
        if !matches!(self.call.kind, HookEvent::End { .. }) {
            self.record_changes(&done.checkpoint.session);
        }
        Some(done)
    }

    fn before_compaction(&mut self) {
        let done = self.checkpoint();
        let is_new = done.as_ref().is_some_and(|done| done.is_new);
        let summary = match done {
            Some(done) => Some(SessionSummary::from_checkpoint(&done.checkpoint)),
            None => {
                let summary = self.own_summary();
                self.record_error(summary).flatten()
            }
        };
        let Some(kept) = summary.as_ref().and_then(without_agent_statements) else { return };
        // If anything is new since, this is not a repetition.
        if self.is_first(|_| ()) == Some(false) && !is_new {
            return;
        }
        let briefing = self.own_briefing(&kept, BriefOccasion::Summary);
        self.outcome.answer.instructions = Some(format!(
            "The summary must include the following. Quote the user's words verbatim.\n\n{briefing}"
        ));
    }

    /// Finds what neither the summary nor the briefing since then includes, and keeps it for the
    /// next prompt.
    fn after_compaction(&mut self, summary: Option<&str>) {
        let Some(summary) = summary else { return };
        let digest = sha256(summary.as_bytes());
        let is_compared = |kept: &HookMemory| kept.compared.as_ref() == Some(&digest);
        let kept = self.memory();
        if is_compared(&kept) {
            return;
        }
        let own = self.own_summary();
        let Some(own) = self.record_error(own).flatten() else { return };
        let briefed = kept.told.unwrap_or_default();
        let lost = missing_from_texts(&own, &[summary, &briefed]);
        let lost = lost.map(|lost| self.own_briefing(&lost, BriefOccasion::Compact));
        let is_lost = lost.is_some();
        let changed = self.change_memory(|kept| {
            let is_new = !is_compared(kept);
            if is_new {
                (kept.told, kept.missing, kept.compared) = (None, lost, Some(digest.clone()));
            }
            is_new
        });
        if changed == Some(true) {
            self.record_action(if is_lost {
                "found details missing from the summary"
            } else {
                "compared the summary"
            });
        }
    }

    fn own_summary(&self) -> Result<Option<SessionSummary>, LedgerError> {
        let ledger = self.store.existing_ledger()?;
        ledger.map_or(Ok(None), |ledger| summary_of_session(ledger, &self.session))
    }

    fn own_briefing(&self, summary: &SessionSummary, occasion: BriefOccasion) -> String {
        let asked = BriefRequest { tokens: Some(SUMMARY_TOKENS_MAX), ..self.request(occasion) };
        let text = brief_own_work(self.store.workspace(), &asked, summary).text;
        self.store.workspace().clean(&text).0.as_str().to_owned()
    }

    fn agent_start(&mut self) {
        let asked = BriefRequest {
            session: None,
            only: Some(&AGENT_RANKS),
            ..self.request(BriefOccasion::Agent)
        };
        let briefed = brief(self.store, &asked, &mut |_, _| ());
        self.record_errors(&briefed);
        if !briefed.briefing.text.is_empty() && self.is_first(|_| ()) != Some(false) {
            self.record_action("briefed an agent");
            self.outcome.answer.context = Some(briefed.briefing.text);
        }
    }

    fn mirror(&mut self, task: &ClientTask, is_done: bool) {
        let mirrored = mirror(self.store, &self.session, task, is_done);
        if self.record_error(mirrored).is_some() {
            self.record_action("mirrored a task");
        }
    }

    fn stop(&mut self, again: bool) {
        if !self.store.workspace().settings().hooks.stop_gate {
            self.read_transcript(is_enough_news);
            return;
        }
        let before = if again { self.memory().blocked } else { 0 };
        let own = self.own_handoffs();
        if before >= BLOCKS_MAX || own.iter().any(needs_no_changes) {
            self.read_transcript(is_enough_news);
            return;
        }
        let found = self.find_transcript().and_then(|called| self.check_transcript(&called));
        let Some(found) = found else { return };
        let captured = capture(self.store.workspace(), &found);
        let Some(captured) = self.record_error(captured) else { return };
        self.record_new_bytes(captured.new_bytes);
        self.record_changes(&captured.session);
        let Some(reason) = save_reason(&captured.session).filter(|_| self.may_save()) else {
            return;
        };
        let taken =
            build_checkpoint(self.store.workspace(), &found, captured, CheckpointMode::Auto);
        let Some(taken) = self.record_error(taken) else { return };
        let handed = self.find_gaps(own.first(), &taken.serialized.checkpoint);
        let Some(why) = stop_block_reason(Some(reason), &handed, before) else { return };
        // If blocks cannot be counted, they would never stop.
        if self.is_first(|kept| kept.blocked = before + 1) == Some(true) {
            self.record_action("blocked");
            self.outcome.answer.block = Some(why);
        }
    }

    /// Whether the client may call no further hook: the agent stops, and the client does not report the
    /// end of a headless session.
    fn is_last_stop(&self) -> bool {
        let environment = self.store.workspace().environment();
        self.outcome.answer.block.is_none()
            && !self.client.profile().reports_headless_end
            && self.client.is_headless(environment)
    }

    /// A background process captures a long session, so that the client does not wait. After
    /// `/clear` the next session starts at once and its briefing needs the capture, so the hook
    /// captures it.
    fn end(&mut self, is_clear: bool) {
        self.checkpoint_within(if is_clear { u64::MAX } else { RECOVERY_BOUNDS.bytes_max });
        self.change_memory(HookMemory::end);
        let unmarked = active_sessions::remove_marker(self.store.workspace(), &self.session);
        self.record_error(unmarked);
    }

    /// Whether this session has an open handoff that needs no changes.
    fn has_handoff(&self) -> bool {
        self.own_handoffs().iter().any(needs_no_changes)
    }

    /// What a handoff of this session does not cover. Only the comparison with the transcript is
    /// done again. Everything else was checked when it was saved, and would start git.
    fn find_gaps(
        &self,
        own: Option<&StoredHandoff>,
        checkpoint: &Checkpoint,
    ) -> HandoffCompleteness {
        let key = own.map(|stored| stored.handoff(self.store.workspace()).key().to_string());
        let nothing = Document::parse(b"");
        let document = own.map_or(&nothing, |stored| &stored.document);
        let coverage = measure_coverage(self.store.workspace(), checkpoint, document);
        let gate = QualityReport::check(document, &CheckFindings::default(), Some(&coverage));
        let mut gaps: Vec<String> = gate.issues.iter().map(QualityIssue::line).collect();
        let found = quality::quality_node(document).and_then(|record| record.get("findings"));
        let codes = found.into_iter().flat_map(YamlNode::items).filter_map(YamlNode::text);
        let rules = codes.filter_map(|code| Some(Code::parse(code.value)?.rule()));
        gaps.extend(rules.map(|rule| format!("{}: {}", rule.code, rule.fix)));
        HandoffCompleteness::Incomplete { key, gaps }
    }

    /// The open handoffs of this session.
    fn own_handoffs(&self) -> Vec<StoredHandoff> {
        let of_session = |card: &IndexCard| {
            let session = card.routing.as_ref().and_then(|routing| routing.session.as_ref());
            session == Some(&self.session.id)
        };
        let places = self.store.with_index(|index| {
            index.refresh(self.store.workspace(), Effort::Open, self.limit, &mut |_, _| ())?;
            index.open_handoffs(self.store.workspace())
        });
        let ours = places.into_iter().flatten().filter(|(_, card)| of_session(card));
        ours.filter_map(|(place, _)| self.store.workspace().read(&place).ok()).collect()
    }

    fn memory(&self) -> HookMemory {
        HookMemory::read(self.store.workspace(), &self.session)
    }

    /// Changes the hook memory. Returns `None` if it cannot be written.
    fn change_memory<T>(&mut self, change: impl FnOnce(&mut HookMemory) -> T) -> Option<T> {
        let changed = HookMemory::change(self.store.workspace(), &self.session, change);
        self.record_error(changed)
    }

    /// Whether this is the first of several identical calls. Asked before something is said. If it
    /// is, changes the hook memory.
    fn is_first(&mut self, change: impl FnOnce(&mut HookMemory)) -> Option<bool> {
        let Some(key) = self.call.dedup_key() else { return Some(true) };
        let key = &key.as_bytes()[..key.len().min(PROMPT_BYTES_MAX)];
        let turn = self.call.turn.as_deref().unwrap_or_default().as_bytes();
        let call = sha256(&[self.call.event.as_bytes(), b"\n", turn, b"\n", key].concat());
        let now = self.store.workspace().environment().clock.now();
        let is_first = self.change_memory(|kept| {
            let is_first = kept.is_first(&call, now);
            if is_first {
                change(kept);
            }
            is_first
        });
        if is_first == Some(false) {
            self.record_action("left it to another hook call");
        }
        is_first
    }
}

/// Whether the transcript may not exist yet. Clients write it late, and not at all for a session
/// without a prompt. Before and after a compaction it must exist.
fn may_lack_transcript(moment: &HookEvent) -> bool {
    !matches!(moment, HookEvent::BeforeCompaction | HookEvent::Start(BriefOccasion::Compact))
}

/// For events that need no answer, a small amount of new text can wait.
fn is_enough_news(news: UnreadAmount) -> bool {
    news == UnreadAmount::Enough
}

/// Whether a handoff needs no changes: it passes the quality check, or its agent already saved it
/// again.
fn needs_no_changes(stored: &StoredHandoff) -> bool {
    quality::passes_quality_check(&stored.document) || quality::has_been_resaved(&stored.document)
}

/// The documents without notes that sessions are not briefed from.
fn briefable(
    workspace: &Workspace,
    hits: impl Iterator<Item = StoredHandoff>,
) -> Vec<StoredHandoff> {
    let hits: Vec<StoredHandoff> = hits.collect();
    let card = |stored: &StoredHandoff| {
        (stored.document_place(), IndexCard::from_document(workspace, stored))
    };
    let mut cards: Vec<(DocumentPlace, IndexCard)> = hits.iter().map(card).collect();
    let made: Vec<_> =
        cards.iter().map(|(place, card)| (place.clone(), card.made_from.clone())).collect();
    retain_briefable(workspace, &mut cards, &made);
    let places: HashSet<DocumentPlace> = cards.into_iter().map(|(place, _)| place).collect();
    hits.into_iter().filter(|stored| places.contains(&stored.document_place())).collect()
}

fn recovered_line(count: usize) -> Option<String> {
    match count {
        0 => None,
        1 => Some("midstride recovered 1 session that was not captured when it ended".to_owned()),
        more => Some(format!(
            "midstride recovered {more} sessions that were not captured when they ended"
        )),
    }
}

/// The project files a session changed, most recent first, redacted.
fn edited_files(workspace: &Workspace, session: &Session) -> Vec<String> {
    let mut changed: Vec<_> = changed_files(workspace, session).collect();
    changed.sort_by_key(|(_, seen)| Reverse(seen.map(|seen| seen.number)));
    let names = changed.iter().filter_map(|(path, _)| path.to_str()).take(EDITED_MAX);
    names.map(|name| workspace.clean(name).0.as_str().to_owned()).collect()
}
