//! Tests of prompts: which documents each finds first, and what a hook adds to one.

use crate::{open, set_up};
use midstride::store::index::Effort;
use midstride::verbs::{self, PromptSearch, search_prompt};
use midstride_core::brief::BriefOccasion;
use midstride_core::brief::hook::HookEvent;
use midstride_testkit::Sandbox;
use std::time::Duration;

/// Typical paths and titles of documents.
const DOCUMENTS: [(&str, &str); 10] = [
    (".midstride/handoffs/y2038-rollover.md", "Timestamps overflow in the billing ledger"),
    (".midstride/handoffs/feat-042/design.md", "Saved searches send alerts"),
    ("docs/handoffs/2026-03-02_login-redirect.md", "Login redirect loses the return address"),
    ("docs/handoffs/2026-03-05_invoice-pdf.md", "Invoice PDF renders without fonts"),
    ("HANDOFF.md", "Thumbnail pipeline moves to the worker"),
    ("thoughts/shared/handoffs/general/2026-02-11_10-00-00_flaky-e2e.md", "Flaky checkout tests"),
    (".claude/handoffs/postgres-upgrade.md", "Postgres upgrade to version 17"),
    ("memory-bank/activeContext.md", "Active context of the mobile offline mode"),
    (".agents/rate-limiter.md", "Rate limiter drops bursts behind the proxy"),
    ("NEXT_SESSION.md", "Accessibility audit of the settings dialog"),
];

fn project_with_ten() -> Sandbox {
    let sandbox = Sandbox::new("none").repository();
    set_up(&open(sandbox.root()));
    for (path, title) in DOCUMENTS {
        let body = "## Current state\n\nIt half works.\n\n## Next steps\n\n- Finish it\n";
        let text = match path.strip_prefix(".midstride/handoffs/") {
            Some(name) => {
                let id = name.split(['/', '.']).next().unwrap_or_default();
                format!(
                    "---\nhandoff:\n  id: {id}\n  title: {title}\n  status: planned\n---\n{body}"
                )
            }
            None => format!("# {title}\n\n{body}"),
        };
        sandbox.write(path, text);
    }
    sandbox
}

/// What a prompt finds, best first.
fn found(sandbox: &Sandbox, text: &str) -> Vec<String> {
    let prompt = PromptSearch {
        text: text.to_owned(),
        files: Vec::new(),
        limit: 3,
        timeout: Duration::from_mins(1),
        effort: Effort::Prompt,
    };
    let hits = search_prompt(&open(sandbox.root()), &prompt).hits.into_iter();
    hits.map(|hit| hit.stored.path.display().to_string()).collect()
}

#[test]
fn ten_resume_prompts_find_their_document_or_nothing() {
    let sandbox = project_with_ten();
    let first = [
        ("Continue the handoff from docs/handoffs/2026-03-02_login-redirect.md", 2),
        ("pick up @HANDOFF.md where we left off", 4),
        ("resume y2038-rollover please", 0),
        ("go on with 2026-02-11_10-00-00_flaky-e2e.md, the first step", 5),
        ("let's get back to the invoice pdf without fonts", 3),
        ("why does the rate limiter still drop bursts?", 8),
    ];
    for (prompt, index) in first {
        let found = found(&sandbox, prompt);
        assert_eq!(found.first().map(String::as_str), Some(DOCUMENTS[index].0), "{prompt}");
    }
    let none = [
        "write a haiku about spring",
        "continue",
        "resume docs/handoffs/2026-09-09_unknown.md",
        "rename the helper in src/util/strings.rs",
    ];
    for prompt in none {
        assert_eq!(found(&sandbox, prompt), Vec::<String>::new(), "{prompt}");
    }
}

#[test]
fn a_document_is_named_in_several_ways() {
    let sandbox = project_with_ten();
    let check = |prompt: &str, expected: &str| {
        assert_eq!(found(&sandbox, prompt).first().map(String::as_str), Some(expected), "{prompt}");
    };
    check("read `feat-042/design` first", DOCUMENTS[1].0);
    check("(see postgres-upgrade)", DOCUMENTS[6].0);
    check("open 2026-03-05_invoice-pdf.md.", DOCUMENTS[3].0);
    check(&format!("@{}", sandbox.root().join("NEXT_SESSION.md").display()), DOCUMENTS[9].0);
    assert!(found(&sandbox, "fix ../../etc/passwd.md").is_empty());
}

/// What a hook adds to the context of a session.
fn told(sandbox: &Sandbox, moment: HookEvent) -> Option<String> {
    let call = crate::hook_call("test", "5e55", moment);
    verbs::hook(
        &crate::open_in_hook(sandbox.root()),
        &call,
        midstride::store::index::RefreshLimit::default(),
    )
    .answer
    .context
}

#[test]
fn proposing_a_rejected_idea_again_is_pointed_out_once() {
    let sandbox = Sandbox::new("none").repository();
    set_up(&open(sandbox.root()));
    sandbox.write(
        ".midstride/handoffs/sessions.md",
        "---\nhandoff:\n  id: sessions\n  title: Sessions are lost\n  status: planned\n  wrong_turns:\n    \
         - tried: Keeping sessions in Memcached\n      why_wrong: It evicts them under load\n---\n",
    );
    assert!(told(&sandbox, HookEvent::Start(BriefOccasion::Startup)).is_some());
    let ask = |text: &str| told(&sandbox, HookEvent::Prompt(text.to_owned()));
    assert_eq!(ask("Why are sessions lost? Find out about sessions being lost"), None);
    let again = ask("Let us keep the lost sessions in memcached instead").unwrap();
    assert!(again.contains("Rejected earlier") && again.contains("evicts"), "{again}");
    assert_eq!(ask("I still want sessions kept in memcached"), None);
}
