use crate::sandbox;

#[test]
fn a_project_is_set_up_once() {
    let sandbox = sandbox().repository();
    insta::assert_snapshot!(sandbox.as_user().run(["init"]), @r#"
    exit 0
    ----- stderr -----
    Configuration  .midstride/config.toml
    Handoffs       .midstride/handoffs
    Next: midstride new "what you found out"
    "#);
    insta::assert_snapshot!(sandbox.as_user().run(["init"]), @"
    exit 0
    ----- stderr -----
    This project is already set up: .midstride/config.toml
    ");
    insta::assert_snapshot!(sandbox.as_user().run(["init", "--private"]), @"
    exit 2
    ----- stderr -----
    error: this project is already set up, with `[ROOT]/.midstride/config.toml`
    hint: to change it, remove that file first
    ");
    assert_eq!(sandbox.git(&["status", "--porcelain"]), "?? .midstride/\n");
}

#[test]
fn a_private_setup_leaves_the_working_tree_unchanged() {
    let sandbox = sandbox().repository();
    insta::assert_snapshot!(sandbox.as_user().run(["init", "--private"]), @r#"
    exit 0
    ----- stderr -----
    Configuration  .git/midstride/config.toml
    Handoffs       .git/midstride/handoffs
    Next: midstride new "what you found out"
    "#);
    sandbox.run(["new", "A find", "--no-edit"]).exits(0);
    assert_eq!(sandbox.git(&["status", "--porcelain"]), "");
    insta::assert_snapshot!(sandbox.run(["list"]), @"
    exit 0
    ----- stdout -----
    ID    STATUS   CHANGED     AGE  REVISED  REVIEWED  OPEN  TITLE
    find  planned  2026-03-21  0 d                           A find
    ");
}

#[test]
fn setup_works_without_git() {
    let sandbox = sandbox();
    insta::assert_snapshot!(sandbox.as_user().run(["init", "--json"]), @r#"
    exit 0
    ----- stdout -----
    {
      "schema": "init/1",
      "configuration": ".midstride/config.toml",
      "handoffs": ".midstride/handoffs",
      "already": false,
      "merge_driver": null
    }
    "#);
    sandbox.run(["new", "A find", "--no-edit"]).exits(0);
    sandbox.run(["new", "A session", "--kind", "session", "--no-edit"]).exits(0);
    insta::assert_snapshot!(sandbox.run(["list"]), @"
    exit 0
    ----- stdout -----
    ID       STATUS   CHANGED     AGE  REVISED  REVIEWED  OPEN  TITLE
    find     planned  2026-03-21  0 d                           A find
    session  planned  2026-03-21  0 d                           A session
    ");
}

#[test]
fn a_worktree_shares_the_private_folder() {
    let sandbox = sandbox().repository();
    sandbox.as_user().run(["init", "--private"]).exits(0);
    sandbox.run(["new", "A find", "--no-edit"]).exits(0);
    sandbox.git(&["worktree", "add", "--quiet", "../second"]);
    let run = sandbox.run(["-C", "../second", "list"]).exits(0);
    assert!(run.stdout.contains("find"), "{run}");
}

#[test]
fn a_broken_configuration_is_reported_with_its_line() {
    let sandbox = sandbox();
    sandbox.write(".midstride/config.toml", "shelfs = [\"docs\"]\n");
    insta::assert_snapshot!(sandbox.run(["list"]), @"
    exit 2
    ----- stderr -----
    error: cannot parse `[ROOT]/.midstride/config.toml`: unknown key `shelfs` on line 1; did you mean `shelves`?
    hint: fix the file; to see a valid one, run `midstride init` in an empty folder
    ");
}
