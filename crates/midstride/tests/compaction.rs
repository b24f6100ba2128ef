//! What hooks say around a compaction: to whoever writes the summary, and to the session after it.

use crate::open;
use crate::transcript::Transcript;
use midstride::index::Limit;
use midstride::verbs::{self, Hooked};
use midstride_core::hook::{Call, Moment};
use midstride_core::session::Client;
use midstride_testkit::Sandbox;

const ID: &str = "5e550001-4c00-4000-8000-00000000aaaa";

fn shop() -> Sandbox {
    let sandbox = Sandbox::new("none").repository();
    verbs::init(&open(sandbox.root()), false).unwrap();
    sandbox
}

fn write(sandbox: &Sandbox, transcript: &Transcript) {
    std::fs::write(sandbox.home().join("transcript.jsonl"), transcript.text()).unwrap();
}

fn hook(sandbox: &Sandbox, event: &str, moment: Moment) -> Hooked {
    let call = Call {
        client: Client::ClaudeCode,
        event: event.to_owned(),
        session: Some(ID.to_owned()),
        transcript: Some(sandbox.home().join("transcript.jsonl").display().to_string()),
        folder: None,
        agent: None,
        turn: None,
        is_unrestricted: false,
        moment,
    };
    let done = verbs::hook(&open(sandbox.root()), &call, Limit::default());
    assert_eq!(done.errors, Vec::<String>::new());
    done
}

/// What the agent says; nothing proves any of it.
const CLAIMS: [&str; 6] = [
    "The importer is repaired and every test passes.",
    "The root cause is a race in the pool.",
    "I decided to keep the old cache.",
    "Run the manual test on staging",
    "The report for the auditors is still missing.",
    "Next I will delete the old importer.",
];

#[test]
fn whoever_writes_the_summary_is_told_facts_and_words_of_the_user_only() {
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
    let told = hook(&sandbox, "PreCompact", Moment::BeforeCompaction).answer.instructions.unwrap();
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
    // There is no summary yet that lacks anything.
    assert!(!told.contains("the summary above"), "{told}");
}
