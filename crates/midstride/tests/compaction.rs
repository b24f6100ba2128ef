//! Tests of hooks around a compaction: what the summarizer gets, and what the session gets after
//! it.

use crate::transcript::Transcript;
use crate::{open_on_disk, set_up};
use midstride::clients;
use midstride::store::index::RefreshLimit;
use midstride::verbs::{self, HookOutcome, SessionChoice};
use midstride_core::brief::BriefOccasion;
use midstride_core::brief::hook::{HookEvent, HookInput};
use midstride_core::session::checkpoint::CheckpointMode;
use midstride_testkit::Sandbox;

const ID: &str = "5e550001-4c00-4000-8000-00000000aaaa";

fn shop() -> Sandbox {
    let sandbox = Sandbox::new("none").repository();
    set_up(&open_on_disk(sandbox.root()));
    sandbox
}

fn write(sandbox: &Sandbox, transcript: &Transcript) {
    std::fs::write(sandbox.home().join("transcript.jsonl"), transcript.text()).unwrap();
}

fn hook(sandbox: &Sandbox, event: &str, moment: HookEvent) -> HookOutcome {
    let call = HookInput {
        transcript: Some(sandbox.home().join("transcript.jsonl").display().to_string()),
        ..crate::hook_call(event, ID, moment)
    };
    let done = verbs::hook(&crate::open_in_hook(sandbox.root()), &call, RefreshLimit::default());
    assert_eq!(done.errors, Vec::<String>::new());
    done
}

/// Claims of the agent that nothing proves.
const CLAIMS: [&str; 6] = [
    "The importer is repaired and every test passes.",
    "The root cause is a race in the pool.",
    "I decided to keep the old cache.",
    "Run the manual test on staging",
    "The report for the auditors is still missing.",
    "Next I will delete the old importer.",
];

#[test]
fn the_summarizer_gets_only_facts_and_user_messages() {
    let sandbox = shop();
    let [done, cause, decision, unchecked, open, next] = CLAIMS;
    let report = format!(
        "{done}\n\n## Findings\n\n- {cause}\n- {decision}\n\n## Open\n\n- {open}\n- [ ] {unchecked}\n"
    );
    let transcript = Transcript::of(ID, sandbox.root())
        .user("Repair the importer of invoices")
        .edits("src/import.rs")
        .runs("cargo test", "error: test failed\n--- FAIL: totals_are_rounded", true)
        .says(&report)
        .user("No, do not touch the fixtures")
        .says(next)
        .runs("cat src/import.rs", "x", false);
    write(&sandbox, &transcript);
    let told =
        hook(&sandbox, "PreCompact", HookEvent::BeforeCompaction).answer.instructions.unwrap();
    for claim in CLAIMS {
        assert!(!told.contains(claim), "{claim}: {told}");
    }
    let shown = [
        "> Repair the importer of invoices",
        "> No, do not touch the fixtures",
        "1 file edited, no commit seen",
        "`cargo test` last seen failing at 08:",
        "--- FAIL: totals_are_rounded",
    ];
    for fact in shown {
        assert!(told.contains(fact), "{fact}: {told}");
    }
    // There is no summary yet.
    assert!(!told.contains("the summary above"), "{told}");
}

/// A session that is resumed only to be compacted, as by `claude -p "/compact" --resume ID`. The
/// client keeps the answers to both starts in the context.
#[test]
fn a_session_resumed_for_compaction_is_briefed_once() {
    const OTHER: &str = "Write a report for the auditors";
    const OWN: &str = "do not touch the fixtures";
    let sandbox = shop();
    let transcript = Transcript::of(ID, sandbox.root())
        .on(20, "main")
        .user("Repair the importer of invoices")
        .edits("src/import.rs")
        .says("The importer is repaired.")
        .user("No, do not touch the fixtures")
        .says("I leave them alone.");
    write(&sandbox, &transcript);
    hook(&sandbox, "SessionEnd", HookEvent::End { is_clear: false });
    let other = "5e550002-4c00-4000-8000-00000000aaaa";
    let path = sandbox.home().join("other.jsonl");
    let transcript = Transcript::of(other, sandbox.root()).user(OTHER).edits("report.txt");
    std::fs::write(&path, transcript.says("The report is written.").text()).unwrap();
    let project = open_on_disk(sandbox.root());
    let client = clients::find("claude-code");
    verbs::checkpoint(&project, &SessionChoice::Transcript(path), client, CheckpointMode::Auto)
        .unwrap();

    let start =
        |occasion| hook(&sandbox, "SessionStart", HookEvent::Start(occasion)).answer.context;
    let resumed = start(BriefOccasion::Resume).unwrap();
    assert_eq!([resumed.contains(OTHER), resumed.contains(OWN)], [true, false], "{resumed}");
    hook(&sandbox, "PreCompact", HookEvent::BeforeCompaction);
    let compacted = start(BriefOccasion::Compact).unwrap();
    assert_eq!([compacted.contains(OTHER), compacted.contains(OWN)], [false, true], "{compacted}");
    let summary = Some("The session was about files.".to_owned());
    hook(&sandbox, "PostCompact", HookEvent::AfterCompaction(summary));
    // Nothing is left for the next run.
    hook(&sandbox, "SessionEnd", HookEvent::End { is_clear: false });
    assert_eq!(start(BriefOccasion::Resume), None);
    let prompt = hook(&sandbox, "UserPromptSubmit", HookEvent::Prompt("Go on".to_owned()));
    assert_eq!(prompt.answer.context, None);
    // A compaction in mid-conversation removes the page from its start.
    let compacted = start(BriefOccasion::Compact).unwrap();
    assert!(compacted.contains(OTHER), "{compacted}");
}
