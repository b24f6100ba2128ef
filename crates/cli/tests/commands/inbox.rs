use super::shop;
use crate::sandbox;

#[test]
fn the_inbox_shows_what_is_waiting_and_what_is_next() {
    let sandbox = shop();
    insta::assert_snapshot!(sandbox.run::<&str>([]), @r#"
    exit 0
    ----- stdout -----
    2 handoffs are open, 1 question blocks.

    Waits for an answer
      market-page-perf  May the weather be ten minutes old?  → product

    In progress
      market-page-perf  Market pages take 14 s

    Planned
      feat-042/request  Snapshots of machines for audits.

    Notes
      HANDOFF  Where we are

    Next: midstride answer market-page-perf q1 "the answer"
    "#);
    let json: serde_json::Value = serde_json::from_str(&sandbox.run(["--json"]).stdout).unwrap();
    assert_eq!(json["waiting"][0]["owner"], "product");
    assert_eq!(json["planned"][0]["key"], "feat-042/request");
}

#[test]
fn an_empty_inbox_says_how_to_start() {
    let sandbox = sandbox().repository();
    insta::assert_snapshot!(sandbox.run::<&str>([]), @r#"
    exit 0
    ----- stdout -----
    Nothing is open.

    Next: midstride new "what you found out"
    "#);
}
