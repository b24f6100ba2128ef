use super::shop;
use crate::sandbox;
use midstride_testkit::Sandbox;

fn handoff(id: &str, title: &str, fields: &str, body: &str) -> String {
    format!("---\nhandoff:\n  id: {id}\n  title: {title}\n{fields}---\n\n{body}\n")
}

/// A project with a pipeline, a successor, a cycle, dangling references, shared files, a hub and
/// orphans.
fn project() -> Sandbox {
    let sandbox = sandbox().repository();
    sandbox.as_user().run(["init"]).exits(0);
    let write = |id: &str, title: &str, fields: &str, body: &str| {
        let text = handoff(id, title, fields, body);
        sandbox.write(&format!(".midstride/handoffs/{id}.md"), text);
    };
    let stage = |stage: &str, title: &str, upstream: &str, body: &str| {
        let upstream = match upstream {
            "" => String::new(),
            upstream => format!("  dependencies:\n    upstream:\n{upstream}"),
        };
        let fields = format!("  kind: stage\n  stage: {stage}\n{upstream}");
        let text = handoff("feat-042", title, &fields, body);
        sandbox.write(&format!(".midstride/handoffs/feat-042/{stage}.md"), text);
    };
    let derived =
        |from: &str| format!("      - artifact: {from}\n        relationship: derived_from\n");
    stage("request", "Snapshots for audits", "", "");
    stage("discovery", "What auditors need", &derived("feat-042/request"), "Read `src/vm.rs:4`.");
    let both = derived("feat-042/discovery") + &derived(".midstride/handoffs/feat-042/request.md");
    stage("spec", "Snapshots, exactly", &both, "");
    write(
        "slow-pages",
        "Market pages take 14 s",
        "  status: superseded\n  superseded_by: slow-market-query\n",
        "",
    );
    write("slow-market-query", "The query loads every city", "", "The weather is in `src/vm.rs`.");
    write("nightcheck", "What runs at night", "", "It found slow-market-query first.");
    let upstream = |names: &str| format!("  dependencies:\n    upstream: [{names}]\n");
    write("chicken", "From an egg", &upstream("egg"), "");
    write("egg", "From a chicken", &upstream("chicken, feat-042, slow-market-qery"), "");
    write("lonely", "Nobody knows me", "", "See src/everywhere.rs.");
    write("long-ago", "Done and forgotten", "  status: resolved\n", "");
    for number in 1..=6 {
        let body = "See src/everywhere.rs, after nightcheck.md.";
        write(&format!("part-{number}"), "One of many", "", body);
    }
    sandbox
}

#[test]
fn the_graph_is_shown_as_trees_with_problems() {
    insta::assert_snapshot!(project().run(["list", "--graph"]), @"
    exit 0
    ----- stdout -----
    feat-042/request  planned  Snapshots for audits
    ├─ leads to (derived_from) feat-042/discovery  planned  What auditors need
    │  └─ leads to (derived_from) feat-042/spec  planned  Snapshots, exactly
    └─ leads to (derived_from) feat-042/spec (see above)
    slow-pages  superseded  Market pages take 14 s
    └─ superseded by slow-market-query  planned  The query loads every city
       └─ mentioned by nightcheck  planned  What runs at night
          ├─ mentioned by part-1  planned  One of many
          ├─ mentioned by part-2  planned  One of many
          ├─ mentioned by part-3  planned  One of many
          ├─ mentioned by part-4  planned  One of many
          ├─ mentioned by part-5  planned  One of many
          └─ mentioned by part-6  planned  One of many
    chicken  planned  From an egg
    └─ builds on and leads to egg  planned  From a chicken

    Shared files
      feat-042/discovery, slow-market-query
        src/vm.rs
      cited by too many handoffs to count as a connection
        src/everywhere.rs  by 7 handoffs

    Cycles
      chicken → egg → chicken
        according to .midstride/handoffs/egg.md:6, .midstride/handoffs/chicken.md:6
        next: decide which came first, and remove the other reference: midstride edit chicken

    Dangling references
      .midstride/handoffs/egg.md:6  upstream: `slow-market-qery` does not exist
        next: did you mean `slow-market-query`? midstride edit egg

    Orphans
      lonely  planned  Nobody knows me
        next: list what they build on under `dependencies.upstream`; an unconnected handoff is not an error
    ----- stderr -----
    1 not shown: closed, with no connection to an open handoff; increase --depth to go further, or use --all to show all of them
    ");
}

#[test]
fn names_kinds_and_steps_choose_a_part() {
    let sandbox = project();
    insta::assert_snapshot!(sandbox.run(["list", "--graph", "slow-pages"]), @"
    exit 0
    ----- stdout -----
    slow-pages  superseded  Market pages take 14 s
    └─ superseded by slow-market-query  planned  The query loads every city
    ----- stderr -----
    14 not shown: too many steps away, or not connected at all; increase --depth to go further, or use --all to show all of them
    ");
    insta::assert_snapshot!(sandbox.run(["list", "--graph", "slow-pages", "--depth", "1"]), @"
    exit 0
    ----- stdout -----
    slow-pages  superseded  Market pages take 14 s
    └─ superseded by slow-market-query  planned  The query loads every city
    ----- stderr -----
    14 not shown: too many steps away, or not connected at all; increase --depth to go further, or use --all to show all of them
    ");
    insta::assert_snapshot!(sandbox.run(["list", "--graph", "egg", "--link", "mentions"]), @"
    exit 0
    ----- stderr -----
    1 handoff without any connection of this kind
    15 not shown: too many steps away, or not connected at all; increase --depth to go further, or use --all to show all of them
    ");
    insta::assert_snapshot!(sandbox.run(["list", "--graph", "--link", "supersedes", "--link", "shares", "--all"]), @"
    exit 0
    ----- stdout -----
    slow-pages  superseded  Market pages take 14 s
    └─ superseded by slow-market-query  planned  The query loads every city

    Shared files
      feat-042/discovery, slow-market-query
        src/vm.rs
      cited by too many handoffs to count as a connection
        src/everywhere.rs  by 7 handoffs

    Orphans
      lonely  planned  Nobody knows me
      long-ago  resolved  Done and forgotten
        next: list what they build on under `dependencies.upstream`; an unconnected handoff is not an error
    ----- stderr -----
    11 handoffs without any connection of this kind
    ");
}

#[test]
fn mermaid_and_json_agree() {
    let sandbox = project();
    let arguments = ["list", "--graph", "slow-pages", "egg", "--depth", "1", "--format", "mermaid"];
    insta::assert_snapshot!(sandbox.run(arguments), @r#"
    exit 0
    ----- stdout -----
    flowchart LR
        h0["chicken #40;planned#41;<br/>From an egg"]
        h1["egg #40;planned#41;<br/>From a chicken"]
        h2["slow-market-query #40;planned#41;<br/>The query loads every city"]
        h3["slow-pages #40;superseded#41;<br/>Market pages take 14 s"]
        h0 -->|"leads to"| h1
        h1 -->|"leads to"| h0
        h3 ==>|"superseded by"| h2
        d0[["upstream#58; #96;slow-market-qery#96; does not exist"]]
        h1 -.-x d0
        classDef ended stroke-dasharray: 4
        class h3 ended
    "#);
    insta::assert_snapshot!(sandbox.run(["list", "--graph", "egg", "--depth", "1", "--json"]), @r#"
    exit 0
    ----- stdout -----
    {
      "schema": "graph/1",
      "nodes": [
        {
          "key": "chicken",
          "title": "From an egg",
          "status": "planned",
          "path": ".midstride/handoffs/chicken.md",
          "ended": false
        },
        {
          "key": "egg",
          "title": "From a chicken",
          "status": "planned",
          "path": ".midstride/handoffs/egg.md",
          "ended": false
        }
      ],
      "edges": [
        {
          "from": ".midstride/handoffs/chicken.md",
          "kind": "upstream",
          "to": ".midstride/handoffs/egg.md",
          "details": [],
          "told": {
            "path": ".midstride/handoffs/egg.md",
            "line": 6
          }
        },
        {
          "from": ".midstride/handoffs/egg.md",
          "kind": "upstream",
          "to": ".midstride/handoffs/chicken.md",
          "details": [],
          "told": {
            "path": ".midstride/handoffs/chicken.md",
            "line": 6
          }
        }
      ],
      "hubs": [],
      "cycles": [
        {
          "handoffs": [
            ".midstride/handoffs/chicken.md",
            ".midstride/handoffs/egg.md"
          ],
          "told": [
            {
              "path": ".midstride/handoffs/egg.md",
              "line": 6
            },
            {
              "path": ".midstride/handoffs/chicken.md",
              "line": 6
            }
          ],
          "next": "decide which came first, and remove the other reference: midstride edit chicken"
        }
      ],
      "dangling": [
        {
          "path": ".midstride/handoffs/egg.md",
          "line": 6,
          "kind": "upstream",
          "written": "slow-market-qery",
          "candidates": [],
          "next": "did you mean `slow-market-query`? midstride edit egg"
        }
      ],
      "orphans": {
        "handoffs": [],
        "next": null
      },
      "unread": []
    }
    "#);
}

#[test]
fn hostile_words_stay_in_their_labels() {
    let sandbox = sandbox();
    sandbox.as_user().run(["init"]).exits(0);
    let title = r#"'x"] --> h9["end`%%{init}%% <b>#quot;; |y| \u001b[31m'"#;
    let fields = "  dependencies:\n    upstream:\n      - artifact: b\n        relationship: '\"| h9 %%'\n      - '\"] end'\n";
    sandbox.write(".midstride/handoffs/a.md", handoff("a", title, fields, ""));
    sandbox.write(".midstride/handoffs/b.md", handoff("b", "end", "", ""));
    let run = sandbox.run(["list", "--graph", "--format", "mermaid"]).exits(0);
    insta::assert_snapshot!(run, @r##"
    exit 0
    ----- stdout -----
    flowchart LR
        h0["a #40;planned#41;<br/>x#34;#93; --#62; h9#91;#34;end#96;#37;#37;#123;init#125;#37;#37; #60;b#62;#35;quot#59;#59; #124;y#124; #92;u001b#91;31m"]
        h1["b #40;planned#41;<br/>end"]
        h1 -->|"#34;#124; h9 #37;#37;"| h0
        d0[["upstream#58; #96;#34;#93; end#96; does not exist"]]
        h0 -.-x d0
    "##);
}

#[test]
fn small_graphs_have_short_output() {
    let empty = sandbox();
    insta::assert_snapshot!(empty.run(["list", "--graph"]), @r#"
    exit 0
    ----- stderr -----
    There are no handoffs here yet. Next: midstride new "what you found out"
    "#);
    empty.as_user().run(["init"]).exits(0);
    empty.write(".midstride/handoffs/a.md", handoff("a", "All alone", "", ""));
    insta::assert_snapshot!(empty.run(["list", "--graph"]), @"
    exit 0
    ----- stdout -----
    Orphans
      a  planned  All alone
        next: list what they build on under `dependencies.upstream`; an unconnected handoff is not an error
    ");
    insta::assert_snapshot!(empty.run(["list", "--graph", "a", "--format", "mermaid"]), @r#"
    exit 0
    ----- stdout -----
    flowchart LR
        h0["a #40;planned#41;<br/>All alone"]
    "#);
    empty.write(".midstride/handoffs/a.md", handoff("a", "Done", "  status: resolved\n", ""));
    insta::assert_snapshot!(empty.run(["list", "--graph"]), @"
    exit 0
    ----- stderr -----
    1 not shown: closed, with no connection to an open handoff; increase --depth to go further, or use --all to show all of them
    ");
}

#[test]
fn an_unknown_name_gets_a_suggestion() {
    insta::assert_snapshot!(shop().run(["list", "--graph", "maket-page-perf"]), @"
    exit 2
    ----- stderr -----
    error: there is no handoff `maket-page-perf`
    hint: did you mean `market-page-perf`?
    ");
    insta::assert_snapshot!(shop().run(["list", "--graph", "--all", "market"]), @"
    exit 2
    ----- stderr -----
    error: the argument '--all' cannot be used with '[HANDOFFS]...'

    Usage: midstride list --graph --all [HANDOFFS]...

    For more information, try '--help'.
    ");
}

#[test]
fn unreadable_files_are_reported_next_to_the_graph() {
    let sandbox = shop();
    std::os::unix::fs::symlink("/etc/hostname", sandbox.root().join(".midstride/handoffs/out.md"))
        .unwrap();
    insta::assert_snapshot!(sandbox.run(["list", "--graph", "--all"]), @"
    exit 2
    ----- stdout -----
    Orphans
      HANDOFF  note  Where we are
      feat-042/request  planned  Snapshots of machines for audits.
      login-loop  resolved  Login loops on Safari
      market-page-perf  in_progress  Market pages take 14 s
        next: list what they build on under `dependencies.upstream`; an unconnected handoff is not an error
    ----- stderr -----
    warning: `[ROOT]/.midstride/handoffs/out.md` points outside the project
    hint: midstride stays inside the project; move the file into the project
    ");
}

#[test]
fn an_ambiguous_feature_needs_its_stage() {
    let sandbox = sandbox();
    sandbox.as_user().run(["init"]).exits(0);
    for folder in ["briefs", "specs"] {
        let path = format!(".claude/pipeline/{folder}/feat-001.md");
        sandbox.write(&path, handoff("feat-001", "Snapshots", "", ""));
    }
    let fields = "  dependencies:\n    downstream:\n      - feat-001\n";
    sandbox.write(".midstride/handoffs/a.md", handoff("a", "Wanted", fields, ""));
    insta::assert_snapshot!(sandbox.run(["list", "--graph", "a"]), @"
    exit 0
    ----- stdout -----
    Dangling references
      .midstride/handoffs/a.md:7  downstream: `feat-001` matches 2 handoffs
        next: choose one of feat-001/discovery, feat-001/spec: midstride edit a

    Orphans
      a  planned  Wanted
        next: list what they build on under `dependencies.upstream`; an unconnected handoff is not an error
    ----- stderr -----
    2 not shown: too many steps away, or not connected at all; increase --depth to go further, or use --all to show all of them
    ");
}

#[test]
fn documents_outside_handoff_folders_are_connected() {
    let sandbox = shop();
    sandbox.write("notes/plan.md", "# Plan\n\nSee market-page-perf.\n");
    insta::assert_snapshot!(sandbox.run(["list", "--graph", "notes/plan.md"]), @"
    exit 0
    ----- stdout -----
    market-page-perf  in_progress  Market pages take 14 s
    └─ mentioned by plan  note  Plan
    ----- stderr -----
    3 not shown: too many steps away, or not connected at all; increase --depth to go further, or use --all to show all of them
    ");
}
