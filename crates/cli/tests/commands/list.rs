use super::shop;
use crate::sandbox;
use midstride_testkit::json_items;

#[test]
fn open_handoffs_are_listed_with_what_blocks_them() {
    let sandbox = shop();
    insta::assert_snapshot!(sandbox.run(["list"]), @"
    exit 0
    ----- stdout -----
    ID                STATUS       CHANGED     AGE  REVISED  REVIEWED  OPEN                      TITLE
    market-page-perf  in_progress  2026-03-22  0 d  1                  1 question, 1 assumption  Market pages take 14 s
    feat-042/request  planned      2026-03-20  1 d                                               Snapshots of machines for audits.
    HANDOFF           note                                                                       Where we are
    ----- stderr -----
    1 closed; `midstride list --all` shows them
    ");
    insta::assert_snapshot!(sandbox.run(["list", "--all"]), @"
    exit 0
    ----- stdout -----
    ID                STATUS       CHANGED     AGE   REVISED  REVIEWED  OPEN                      TITLE
    market-page-perf  in_progress  2026-03-22  0 d   1                  1 question, 1 assumption  Market pages take 14 s
    feat-042/request  planned      2026-03-20  1 d                                                Snapshots of machines for audits.
    HANDOFF           note                                                                        Where we are
    login-loop        resolved     2026-03-01  20 d                                               Login loops on Safari
    ");
}

#[test]
fn the_list_shows_trust_facts() {
    let sandbox = shop();
    let review = |verdict: &str| {
        let by = ["review", "market", "--by", "eve", "--challenged", "x", "--verdict", verdict];
        sandbox.run(by).exits(0);
    };
    review("held");
    review("rejected");
    sandbox.run(["resolve", "feat-042/request", "--abandon", "no budget"]).exits(0);
    let at = |arguments: &[&str]| {
        let mut command = sandbox.command(env!("CARGO_BIN_EXE_midstride"));
        sandbox.finish(command.env("MIDSTRIDE_NOW", "2026-04-02T08:00:00Z").args(arguments))
    };
    insta::assert_snapshot!(at(&["list", "--all"]), @"
    exit 0
    ----- stdout -----
    ID                STATUS       CHANGED     AGE   REVISED  REVIEWED        OPEN                      TITLE
    market-page-perf  in_progress  2026-03-22  11 d  1        2 (1 rejected)  1 question, 1 assumption  Market pages take 14 s
    HANDOFF           note                                                                              Where we are
    feat-042/request  abandoned    2026-03-21  13 d                                                     Snapshots of machines for audits.
    login-loop        resolved     2026-03-01  32 d                                                     Login loops on Safari
    ");
    let json: serde_json::Value = json_items(&at(&["list", "--json"]).stdout);
    assert_eq!(json[0]["trust"]["age_days"], 11);
    assert_eq!(json[0]["trust"]["reviews"]["rejected"], 1);
    assert_eq!(json[0]["trust"]["unvalidated_assumptions"], 1);
}

#[test]
fn filters_narrow_the_list() {
    let sandbox = shop();
    let keys = |arguments: &[&str]| -> Vec<String> {
        let run = sandbox.run([&["list", "--json"], arguments].concat());
        let json = json_items(&run.stdout);
        run.exits(i32::from(json.as_array().unwrap().is_empty()));
        json.as_array().unwrap().iter().map(|one| one["key"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(keys(&["--status", "resolved"]), ["login-loop"]);
    assert_eq!(keys(&["--kind", "stage"]), ["feat-042/request"]);
    assert_eq!(keys(&["--stage", "request"]), ["feat-042/request"]);
    assert_eq!(keys(&["--owner", "product"]), ["market-page-perf"]);
    assert_eq!(keys(&["--owner", "implementer"]), ["market-page-perf"]);
    assert_eq!(keys(&["--blocked"]), ["market-page-perf"]);
    assert_eq!(keys(&["--path", "HANDOFF.md"]), ["HANDOFF"]);
    assert!(keys(&["--owner", "nobody"]).is_empty());
}

#[test]
fn every_folder_is_read_in_place() {
    let sandbox = sandbox().repository();
    sandbox.write("docs/handoffs/deep/er.md", "# In the docs\n");
    sandbox.write(
        "thoughts/shared/handoffs/general/t.md",
        "---\ntopic: Thoughts\nstatus: complete\ndate: 2025-10-24T21:16:45-07:00\n---\n",
    );
    sandbox.write(
        ".claude/pipeline/briefs/feat-001-x.md",
        "---\nhandoff:\n  id: feat-001\n  from: product-discovery\n---\n",
    );
    let slug: String = sandbox
        .root()
        .to_str()
        .unwrap()
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
        .collect();
    let memory = sandbox.home().join(".claude/projects").join(slug).join("memory");
    std::fs::create_dir_all(&memory).unwrap();
    std::fs::write(
        memory.join("handoff-cache.md"),
        "---\nname: Cache\ndescription: d\nhandoff:\n  id: cache\n  title: The cache\n---\n",
    )
    .unwrap();
    std::fs::write(memory.join("MEMORY.md"), "# not a handoff\n").unwrap();
    insta::assert_snapshot!(sandbox.run(["list", "--all"]), @"
    exit 0
    ----- stdout -----
    ID                  STATUS    CHANGED     AGE    REVISED  REVIEWED  OPEN  TITLE
    cache               planned                                               The cache
    er                  note                                                  In the docs
    feat-001/discovery  planned                                               (no title)
    t                   resolved  2025-10-25  147 d                           Thoughts
    ");
}

#[test]
fn a_folder_outside_the_project_is_not_read() {
    let sandbox = sandbox();
    sandbox.write(".midstride/config.toml", "shelves = [\"../home\", \"/etc\"]\n");
    std::fs::write(sandbox.home().join("x.md"), "# Secret\n").unwrap();
    insta::assert_snapshot!(sandbox.run(["list"]), @r#"
    exit 0
    ----- stderr -----
    There are no handoffs here yet. Next: midstride new "what you found out"
    warning: folder `../home` is outside the project; midstride does not read it until you trust it with `midstride trust`
    warning: folder `/etc` is outside the project; midstride does not read it until you trust it with `midstride trust`
    "#);
}
