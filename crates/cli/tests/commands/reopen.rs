use super::shop;

#[test]
fn a_closed_handoff_is_reopened_with_a_reason() {
    let sandbox = shop();
    sandbox.run(["resolve", "market", "--outcome", "Pages take 108 ms"]).exits(0);
    insta::assert_snapshot!(sandbox.run(["start", "market"]), @"
    exit 2
    ----- stderr -----
    error: `market-page-perf` is already resolved
    hint: reopen it with midstride reopen market-page-perf
    ");
    insta::assert_snapshot!(
        sandbox.run(["reopen", "market", "--reason", "Berlin is still slow"]),
        @"
    exit 0
    ----- stderr -----
    market-page-perf@4: reopened: Berlin is still slow
    The handoff is in_progress again. It was resolved: Pages take 108 ms
    hint: see how it was closed with midstride show market-page-perf@3
    "
    );
    let text = sandbox.read(".midstride/handoffs/market-page-perf.md");
    assert!(text.contains("status: in_progress\n"), "{text}");
    assert!(!text.contains("Pages take 108 ms"), "{text}");
    assert!(text.contains("verb: reopen, reason: \"reopened: Berlin is still slow\""), "{text}");
    let before = sandbox.run(["show", "market@3"]).exits(0);
    assert!(before.stdout.contains("Pages take 108 ms"), "{before}");
    insta::assert_snapshot!(sandbox.run(["reopen", "market"]), @"
    exit 2
    ----- stderr -----
    error: `market-page-perf` is in_progress, not closed
    hint: `midstride show market-page-perf` shows its status
    ");
    let json = sandbox.run(["reopen", "login-loop", "--json"]).exits(0).stdout;
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["reason"], "reopened");
}

#[test]
fn work_that_never_began_is_planned_again() {
    let sandbox = shop();
    sandbox.run(["resolve", "feat-042/request", "--abandon", "no budget"]).exits(0);
    let run = sandbox.run(["reopen", "feat-042/request"]).exits(0);
    assert!(
        run.stderr.contains("The handoff is planned again. It was abandoned: no budget"),
        "{run}"
    );
    let text = sandbox.read(".midstride/handoffs/feat-042/request.md");
    assert!(text.contains("status: planned\n"), "{text}");
}

#[test]
fn changes_of_a_closed_handoff_say_that_it_is_closed() {
    let sandbox = shop();
    let edit = ["edit", "login-loop", "--reason", "more", "--body", "-"];
    let notice = "`login-loop` is resolved and stays closed\n\
                  hint: reopen it with midstride reopen login-loop\n";
    let run = sandbox.run_with_input(&edit, "## Diagnosis\n\nThe cookie.\n").exits(0);
    assert!(run.stderr.contains(notice), "{run}");
    let review = ["review", "login-loop", "--by", "eve", "--challenged", "x", "--verdict", "held"];
    let run = sandbox.run(review).exits(0);
    assert!(run.stderr.contains(notice), "{run}");
}
