//! What can be done with handoffs, one file per verb. Surfaces call these and nothing below.

mod advance;
mod agent_save;
mod allow;
mod blocking;
mod brief;
mod carry;
mod check;
mod checkpoint;
mod clean;
mod client;
mod cover;
mod decided;
mod dismiss;
mod doctor;
mod edit;
mod finish_index;
mod fmt;
mod follow;
mod forget;
mod graph;
mod hook;
mod init;
mod instructions;
mod live;
mod merge;
mod merge_driver;
mod mirror;
mod mission;
mod new;
mod observe;
mod plans;
mod purge;
mod receipts;
mod review;
mod revise;
mod save;
mod search;
mod search_sessions;
mod sessions;
mod share;
mod sync;
mod task;
mod trust;
mod undo;
mod verify;
mod workflow;

pub use advance::{Advance, AdvanceError, Forward, Passage, advance};
pub use agent_save::{check_agent_project, check_agent_transcript, read_body};
pub use allow::{
    AllowError, Allowable, allow, allowable, allowed, disallow, disallow_all, may_allow,
};
pub use blocking::{BlockingQuestion, blocking_questions};
pub use brief::{Asked, BUDGET, Briefed, Delivery, agents_in_flight, brief, carried};
pub use carry::{Carries, Imported, import_tasks};
pub use check::{Comparison, Judged, check_all, check_pull_request, check_these};
pub use checkpoint::{CheckpointError, Checkpointed, Which, checkpoint};
pub use client::{add_to_client, carry_out, client_standing, found_clients, remove_from_client};
pub use cover::{Covering, Told};
pub use dismiss::{
    DismissError, Dismissable, Dismissals, dismiss, dismissable, dismissals, settle,
};
pub use doctor::{
    ClientFacts, Examined, Idle, Reindexed, ShelfFacts, examine, examine_clients, idle, reindex,
};
pub use edit::{Draft, EditError, Edited, draft, edit, fill_in};
pub use finish_index::finish_index;
pub use fmt::{FmtError, Formatted, fmt};
pub use follow::{Followed, follow};
pub use forget::{
    BEGINNING_LENGTH_MIN, ForgetError, ForgetStep, Forgotten, KeptText, forget, kept_revision,
    kept_text,
};
pub use graph::{Connected, graph};
pub use hook::{
    Hooked, hook, is_silent, is_switched_off, last_briefing, skip_next_briefing, switch_hooks,
};
pub use init::{InitError, Initialised, init};
pub use instructions::{Unwritten, instructions, unwritten_instructions};
pub use live::{LiveError, commit_id, live};
pub use merge::{Driven, Joined, MergeError, drive, repair};
pub use merge_driver::{Driver, DriverError, install_driver, remove_driver};
pub use mission::{MissionError, NewMission, missions, state_mission};
pub use new::{Created, NewError, NewHandoff, Origin, new};
pub use observe::{branch_state, commits_made, last_observation, observe, observe_alone};
pub use purge::{Doomed, Folder, InGit, Irreplaceable, Purge, PurgeError, plan_purge, purge};
pub use receipts::{ReceiptError, acknowledge, receipts};
pub use review::{Review, ReviewError, Reviewed, review};
pub use revise::{ReviseError, Revised, faults_of_revision, revise};
pub use save::{Asking, InFlight, Save, SaveError, Saved, Source, Written, save};
pub use search::{
    Explained, Found, HOOK_WITHIN, Matter, Matters, Prompt, Search, search, search_prompt,
};
pub use search_sessions::{FoundSession, search_sessions};
pub use sessions::{
    Extent, Listed, PromoteError, Promoted, RECOVERED_MAX, Recovered, Shown, promote, recover,
    session, sessions,
};
pub use share::{ShareError, share};
pub use sync::{SyncError, Synced, TasksSynced, sync};
pub use task::{
    Added, Board, Done, TaskError, TaskWish, add_own_task, add_task, change_task, note_task,
};
pub use trust::{Reach, distrust, reach, trust, trusted};
pub use undo::{UndoError, undo};
pub use verify::{
    Progress, Ran, Record, State, TIMEOUT_SECONDS, Verification, Verified, Verify, verify,
};
pub use workflow::{
    LoadedState, STATE_BYTES_MAX, SavedState, StateChange, WorkflowError, load_state, save_state,
    states,
};
