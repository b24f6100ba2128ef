use super::shop;

const FILE: &str = ".midstride/handoffs/market-page-perf.md";

#[test]
fn the_editor_changes_the_document() {
    let sandbox = shop();
    let run = sandbox.run_with_editor(&["edit", "market"], "sed -i 's/14 s/15 s/' \"$1\"");
    assert!(run.stderr.contains("market-page-perf@3: edited\n"), "{run}");
    assert!(sandbox.read(FILE).contains("title: Market pages take 15 s"));
    sandbox.run(["undo", "market"]).exits(0);
    assert!(sandbox.read(FILE).contains("title: Market pages take 14 s"));
    let run = sandbox.run_with_editor(&["edit", "HANDOFF.md"], "echo more >> \"$1\"");
    assert!(run.stderr.contains("Saved HANDOFF.md\n"), "{run}");
    assert!(sandbox.read("HANDOFF.md").ends_with("green.\nmore\n"));
}

#[test]
fn an_unchanged_text_or_failed_editor_changes_nothing() {
    let sandbox = shop();
    let before = sandbox.read(FILE);
    insta::assert_snapshot!(sandbox.run_with_editor(&["edit", "market"], "true"), @"
    exit 0
    ----- stderr -----
    Nothing changed.
    ");
    let run = sandbox.run_with_editor(&["edit", "market"], "echo x >> \"$1\"; exit 3").exits(2);
    assert!(run.stderr.contains("exit status: 3\nhint: your text is in `[HOME]"), "{run}");
    insta::assert_snapshot!(sandbox.run(["edit", "market"]), @"
    exit 2
    ----- stderr -----
    error: no editor is set
    hint: set EDITOR, for instance `EDITOR=vim`
    ");
    assert_eq!(sandbox.read(FILE), before);
}

#[test]
fn a_concurrent_change_is_not_overwritten() {
    let sandbox = shop();
    let theirs = sandbox.root().join(FILE);
    let script = format!("echo ours >> \"$1\"; echo theirs >> {}", theirs.display());
    let run = sandbox.run_with_editor(&["edit", "market"], &script).exits(2);
    assert!(sandbox.read(FILE).ends_with("theirs\n"));
    let hint = run.stderr.split("your text is in `").nth(1).expect("its place is told");
    let kept = hint.split('`').next().unwrap().replace("[HOME]", sandbox.home().to_str().unwrap());
    assert!(std::fs::read_to_string(kept).unwrap().ends_with("ours\n"), "{run}");
}
