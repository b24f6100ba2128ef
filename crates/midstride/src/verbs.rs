//! What can be done with handoffs, one file per verb. Surfaces call these and nothing below.

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
    DismissError, Dismissable, Dismissals, dismiss, dismissable, dismissals, settle,
};
pub use brief::hook::{Hooked, hook, is_silent};
pub use brief::search_sessions::{FoundSession, search_sessions};
pub use brief::{Asked, BUDGET, Briefed, Delivery, agents_in_flight, brief, carried};
pub use client::{add_to_client, carry_out, client_standing, found_clients, remove_from_client};
pub use handoff::advance::{Advance, AdvanceError, Forward, Passage, advance};
pub use handoff::agent_save::{check_agent_project, check_agent_transcript, read_body};
pub use handoff::allow::{
    AllowError, Allowable, allow, allowable, allowed, disallow, disallow_all, may_allow,
};
pub use handoff::blocking::{BlockingQuestion, blocking_questions};
pub use handoff::check::{Comparison, Judged, check_all, check_pull_request, check_these};
pub use handoff::edit::{Draft, EditError, Edited, draft, edit, fill_in};
pub use handoff::fmt::{FmtError, Formatted, fmt};
pub use handoff::follow::{Followed, follow};
pub use handoff::forget::{
    BEGINNING_LENGTH_MIN, ForgetError, ForgetStep, Forgotten, KeptText, forget, kept_revision,
    kept_text,
};
pub use handoff::graph::{Connected, graph};
pub use handoff::live::{LiveError, commit_id, live};
pub use handoff::merge::{Driven, Joined, MergeError, drive, repair};
pub use handoff::merge_driver::{Driver, DriverError, install_driver, remove_driver};
pub use handoff::new::{Created, NewError, NewHandoff, Origin, new};
pub use handoff::promote::{PromoteError, promote};
pub use handoff::receipts::{ReceiptError, acknowledge, receipts};
pub use handoff::review::{Review, ReviewError, Reviewed, review};
pub use handoff::revise::{ReviseError, Revised, faults_of_revision, revise};
pub use handoff::save::{
    Asking, InFlight, Promoted, Save, SaveError, Saved, Source, Written, save,
};
pub use handoff::search::{
    Explained, Found, HOOK_WITHIN, Matter, Matters, Prompt, Search, search, search_prompt,
};
pub use handoff::share::{ShareError, share};
pub use handoff::undo::{UndoError, undo};
pub use handoff::verify::{
    Progress, Ran, Record, State, TIMEOUT_SECONDS, Verification, Verified, Verify, verify,
};
pub use project::doctor::{
    ClientFacts, Examined, Idle, Reindexed, ShelfFacts, examine, examine_clients, idle, reindex,
};
pub use project::finish_index::finish_index;
pub use project::init::{InitError, Initialised, init};
pub use project::observe::{branch_state, commits_made, last_observation, observe, observe_alone};
pub use project::purge::{
    Doomed, Folder, InGit, Irreplaceable, Purge, PurgeError, plan_purge, purge,
};
pub use project::sync::{SyncError, Synced, TasksSynced, sync};
pub use project::trust::{Reach, distrust, reach, trust, trusted};
pub use session::checkpoint::{CheckpointError, Checkpointed, Which, checkpoint};
pub use session::cover::{Covering, Told};
pub use session::sessions::{
    Extent, Listed, RECOVERED_MAX, Recovered, Shown, recover, session, sessions,
};
pub use task::carry::{Carries, Imported, import_tasks};
pub use task::{
    Added, Board, Done, TaskError, TaskWish, add_own_task, add_task, change_task, note_task,
};
pub use work::instructions::{Unwritten, instructions, unwritten_instructions};
pub use work::mission::{MissionError, NewMission, missions, state_mission};
pub use work::workflow::{
    LoadedState, STATE_BYTES_MAX, SavedState, StateChange, WorkflowError, load_state, save_state,
    states,
};
