//! The operations of midstride, one file per verb. The CLI and the MCP server call these and
//! nothing below them.

mod brief;
mod client;
mod handoff;
mod project;
mod session;
mod task;
mod work;

pub use crate::clients::hook_memory::last_briefing;
pub use crate::clients::hook_switch::{is_switched_off, skip_next_briefing, switch_hooks};
pub use brief::dismiss::{
    DismissError, DismissOutcome, DismissableItem, Dismissals, count_dismissals, dismiss,
    dismiss_named, dismissable_items, dismissed_notes, settle, undo_dismiss,
};
pub use brief::hook::{HookOutcome, has_unread_store, hook, is_silent};
pub use brief::preview::{BriefingPreview, PreviewError, preview_briefing};
pub use brief::search_sessions::{FoundSession, search_sessions};
pub use brief::status_line::{ClientStatusLine, LastCheck, status_line};
pub use brief::{
    BUDGET, BriefOutcome, BriefRequest, Delivery, NewestSession, agents_in_flight, brief,
};
pub use client::{add_to_client, apply_plan, client_status, find_clients, remove_from_client};
pub use handoff::advance::{
    AdvanceError, AdvanceOutcome, AdvanceRequest, StageTransition, advance,
};
pub use handoff::agent_save::{check_agent_project, check_agent_transcript, read_body};
pub use handoff::answer::{
    AnswerInputError, AnswerOutcome, AnswerRequest, NumberedAnswer, PreviousAnswer, PreviousValue,
    answer, is_for_user,
};
pub use handoff::apply::{ApplyError, apply, commit_id};
pub use handoff::blocking::{BlockingQuestion, blocking_questions};
pub use handoff::check::{
    Comparison, DocumentCheck, check_all, check_documents, check_pull_request,
};
pub use handoff::deliveries::{DeliveryError, acknowledge, delivery_records};
pub use handoff::diff::{DiffError, NamedRevision, RevisionText, diff};
pub use handoff::edit::{EditError, EditOutcome, EditorDraft, edit, fill_in, open_draft};
pub use handoff::fix::{FixOutcome, FixedDocument, fix};
pub use handoff::fmt::{FmtError, FormatOutcome, fmt};
pub use handoff::forget::{
    ForgetError, ForgetOutcome, ForgetStep, ID_PREFIX_LENGTH_MIN, KeptText, forget, kept_revision,
    kept_text, proposed_texts,
};
pub use handoff::graph::{ProjectGraph, graph};
pub use handoff::list::{HandoffListing, ListFilter, list};
pub use handoff::merge::{DriverFiles, MergeError, MergeOutcome, merge_as_driver, repair};
pub use handoff::merge_driver::{DriverError, MergeDriverChange, install_driver, remove_driver};
pub use handoff::new::{CreatedHandoff, ImportedNote, NewError, NewHandoff, lacks_text, new};
pub use handoff::proof_permission::{
    AllowError, AllowableProof, allow, allowable_proofs, disallow, disallow_all,
};
pub use handoff::reopen::{ReopenOutcome, reopen};
pub use handoff::resolve::{
    ResolveInputError, ResolveOutcome, ResolveRequest, TypedEnding, resolve,
};
pub use handoff::review::{ReviewError, ReviewOutcome, ReviewRequest, review};
pub use handoff::revise::{
    ReviseError, ReviseOutcome, RevisionEffects, addition_info, revise, revise_with_entries,
    revision_effects,
};
pub use handoff::save::{
    AuthorRequest, InFlightAgent, SaveChange, SaveError, SaveOutcome, SaveRequest, SaveSource, save,
};
pub use handoff::search::{
    ExplainedHit, PromptSearch, RelevantHandoff, RelevantHandoffs, SearchOutcome, SearchRequest,
    search, search_prompt,
};
pub use handoff::share::{ShareError, share};
pub use handoff::start::{StartOutcome, start};
pub use handoff::undo::{UndoError, undo};
pub use handoff::update_citations::{CitationUpdate, update_moved_citations};
pub use handoff::verify::{
    ProofLedgerError, ProofRecording, ProofStartError, RecordOptions, TIMEOUT_SECONDS, TrialReport,
    Verification, VerifiedProof, VerifyProgress, VerifyRequest, VerifyState, verifiable_handoffs,
    verify,
};
pub use project::config::{ConfigError, ConfigFile, SETTING_KEYS, SettingKey, SettingScope};
pub use project::configuration_trust::{
    TrustError, TrustGrants, TrustOutcome, TrustStatus, UnreadStore, distrust, trust, trust_grants,
    trust_status,
};
pub use project::data::{DataReport, ProjectData, StoredData, data, recorded_stores};
pub use project::doctor::{
    ClientFacts, FolderFacts, IdleCost, ProjectReport, ReindexOutcome, examine, examine_clients,
    measure_idle_cost, reindex,
};
pub use project::finish_index::finish_index;
pub use project::forget_sessions::{
    CapturedSession, SessionSelection, apply_retention, captured_sessions, forget_sessions,
    is_retention_due,
};
pub use project::home::{
    FailingCheck, HomeError, HomeProblem, HomeScreen, LastSession, LogFilter, LoggedSession,
    NextAction, NextCommand, OpenHandoff, OpenTask, ReopenCommand, SessionLog, WaitingItem,
    WaitingSource, home, log, log_everywhere, unfinished_projects,
};
pub use project::init::{InitError, InitOutcome, init};
pub use project::observe::{
    branch_state, commits_made, last_observation, observe, observe_in_background,
};
pub use project::purge::{
    GitFileState, PurgeError, PurgePlan, PurgedFile, PurgedFolder, UnrecoverableData, plan_purge,
    purge,
};
pub use project::redact_stored::{
    RedactStoredError, RedactStoredStep, is_redaction_due, redact_stored,
};
pub use project::setup::{
    SettingsUndo, SetupClient, SetupError, apply_setup, count_documents, limit_to_repository,
    plan_setup, plan_undo, trust_documents, undo_limit,
};
pub use project::subject::{
    BriefSubject, OtherId, StartError, SubjectError, brief_subject, continuation_prompt,
    find_other_id, find_subject, portable_markdown, start_client,
};
pub use project::suggest::{Suggestion, SuggestionKind, suggest};
pub use project::sync::{SyncError, SyncOutcome, TaskSyncOutcome, sync};
pub use project::trust_listing::{
    ListedDocument, ListedProof, OtherAuthors, TrustListing, is_vouched_by_remote, trust_listing,
    trust_remote, trusted_remote,
};
pub use project::why::{
    BlamedLine, CitingHandoff, CommitReason, CommitSession, CommitTarget, WhyError, WrongTurnText,
    why,
};
pub use session::checkpoint::{CheckpointError, CheckpointOutcome, SessionChoice, checkpoint};
pub use session::coverage::{ComparedSession, SessionComparison};
pub use session::sessions::{
    Extent, IMPORTED_MAX, ListedSession, LostSessions, RecoveryOutcome, SessionView,
    import_sessions, lost_sessions, recover, session, sessions,
};
pub use task::transfer::{TaskImport, TaskSnapshot, import_tasks};
pub use task::{
    AddedTask, ChangedTask, TaskBoard, TaskChangeOutcome, TaskChangeRequest, TaskError,
    add_session_task, change_task, note_task,
};
pub use work::instructions::{UnwrittenInstructions, instructions, unwritten_instructions};
pub use work::mission::{MissionError, NewMission, missions, record_mission};
pub use work::workflow::{
    LoadedState, STATE_BYTES_MAX, SavedState, StateChange, WorkflowError, load_state, save_state,
    states,
};
