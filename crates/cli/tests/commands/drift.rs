//! Tests of what `check` says about citations, in all kinds of repositories.

use super::without_history;
use crate::sandbox;
use midstride_testkit::Sandbox;
use serde_json::Value;

/// A file of twenty different lines.
fn code() -> String {
    (1..=20).map(|number| format!("let value_{number} = step({number});\n")).collect()
}

/// A repository with a file and a folder for handoffs.
fn repository() -> Sandbox {
    let sandbox = sandbox();
    sandbox.write(".midstride/config.toml", "").write("src/a.rs", code());
    sandbox.repository()
}

/// Creates a handoff that cites some locations, with anchors.
#[track_caller]
fn cite(sandbox: &Sandbox, text: &str) {
    sandbox.run_with_input(&["new", "A finding", "--id", "a", "--body", "-"], text).exits(0);
}

#[track_caller]
fn commit(sandbox: &Sandbox) {
    sandbox.git(&["add", "--all"]);
    sandbox.git(&["commit", "--quiet", "--message", "next"]);
}

/// Every citation in one line: status, current location, how it is known, and doubts.
#[track_caller]
fn judged(sandbox: &Sandbox, arguments: &[&str]) -> String {
    let run = sandbox.run([&["check", "--all", "--json"], arguments].concat());
    let told: Value = serde_json::from_str(&run.stdout).unwrap_or_else(|_| panic!("{run}"));
    let documents = told["documents"].as_array().unwrap().iter();
    let citations = documents.flat_map(|document| document["citations"].as_array().unwrap());
    let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let line = |one: &Value| {
        let now = word(&one["now"]["path"]);
        let lines = match (&one["now"]["first_line"], &one["now"]["last_line"]) {
            (Value::Number(first), Value::Number(last)) => format!(":{first}-{last}"),
            _ => String::new(),
        };
        let (place, verdict, by) =
            (word(&one["place"]), word(&one["verdict"]), word(&one["baseline"]["found_by"]));
        let said = format!("{place} {verdict} {now}{lines} by {by} {}", word(&one["why"]));
        said.split_whitespace().collect::<Vec<_>>().join(" ") + "\n"
    };
    citations.map(line).collect()
}

/// Every file in a folder with its text, except derived data.
fn files(folder: &std::path::Path) -> Vec<(std::path::PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() && !path.is_symlink() {
            found.extend(files(&path));
        } else if path.is_file() && !path.to_string_lossy().contains("/midstride/index-") {
            found.push((path.clone(), std::fs::read(&path).unwrap()));
        }
    }
    found.sort();
    found
}

#[test]
fn checking_changes_nothing() {
    let sandbox = repository();
    cite(&sandbox, "See `src/a.rs:3`, `src/gone.rs` and `src/a.rs`.\n");
    sandbox.write("docs/handoffs/note.md", "# By hand\n\nSee `src/a.rs:5`.\n");
    commit(&sandbox);
    sandbox.write("src/a.rs", format!("// new\n{}", code()));
    // Create the index first, because its lock stays.
    sandbox.run(["search", "hand"]).exits(0);
    let before = files(sandbox.root());
    judged(&sandbox, &[]);
    judged(&sandbox, &["--at", "HEAD"]);
    sandbox.run(["check"]);
    assert_eq!(files(sandbox.root()), before);
}

#[test]
fn moved_citations_are_updated_in_a_revision_that_can_be_undone() {
    let sandbox = repository();
    sandbox.write("src/b.rs", code().replace("value", "other"));
    // The first location moves to where the second one was.
    cite(&sandbox, "See `src/a.rs:3`, `src/a.rs:5`, `src/a.rs#L7-L8` and `src/b.rs:4`.\n");
    commit(&sandbox);
    sandbox.write("src/a.rs", format!("// new\n// too\n{}", code()));
    sandbox.write("src/b.rs", code().replace("value", "other").replace("other_4 ", "another "));
    let file = ".midstride/handoffs/a.md";
    let before = sandbox.read(file);
    sandbox.run(["check", "--fix", "a"]);
    let after = sandbox.read(file);
    assert!(
        after.contains("See `src/a.rs:5`, `src/a.rs:7`, `src/a.rs#L9-L10` and `src/b.rs:4`."),
        "{after}"
    );
    insta::assert_snapshot!(judged(&sandbox, &[]), @"
    src/a.rs:5 intact src/a.rs:5-5 by anchor
    src/a.rs:7 intact src/a.rs:7-7 by anchor
    src/a.rs#L9-L10 intact src/a.rs:9-10 by anchor
    src/b.rs:4 changed src/b.rs:4-4 by anchor
    ");
    // Each location has the anchor of its own lines.
    sandbox.write("src/a.rs", code());
    insta::assert_snapshot!(judged(&sandbox, &[]), @"
    src/a.rs:5 moved src/a.rs:3-3 by anchor
    src/a.rs:7 moved src/a.rs:5-5 by anchor
    src/a.rs#L9-L10 moved src/a.rs:7-8 by anchor
    src/b.rs:4 changed src/b.rs:4-4 by anchor
    ");
    sandbox.run(["undo", "a"]).exits(0);
    assert_eq!(without_history(&sandbox.read(file)), without_history(&before), "anchors too");
}

#[test]
fn a_line_list_is_updated_whole() {
    let sandbox = repository();
    cite(
        &sandbox,
        "The loop in src/a.rs:3,7,12 calls `src/a.rs` (lines 14-15) and src/a.rs:~18.\n",
    );
    sandbox.write("src/a.rs", format!("{}{}", "// new\n".repeat(9), code()));
    sandbox.run(["check", "--fix", "a"]);
    let text = sandbox.read(".midstride/handoffs/a.md");
    let expected = "The loop in src/a.rs:12,16,21 calls `src/a.rs` (lines 23-24) and src/a.rs:~27.";
    assert!(text.contains(expected), "{text}");
}

#[test]
fn a_line_list_with_a_changed_line_is_not_updated() {
    let sandbox = repository();
    let list = "The loop in src/a.rs:3,7,12 is slow.";
    cite(&sandbox, &format!("{list}\n"));
    sandbox.write("src/a.rs", format!("// new\n{}", code().replace("value_7 ", "other ")));
    let run = sandbox.run(["check", "-v", "a"]);
    assert!(run.stdout.contains("D001") && !run.stdout.contains("--fix"), "{run}");
    sandbox.run(["check", "--fix", "a"]);
    let text = sandbox.read(".midstride/handoffs/a.md");
    assert!(text.contains(list), "{text}");
    insta::assert_snapshot!(judged(&sandbox, &[]), @"
    src/a.rs:3 moved src/a.rs:4-4 by anchor
    src/a.rs:7 changed src/a.rs:8-8 by anchor
    src/a.rs:12 moved src/a.rs:13-13 by anchor
    ");
}

#[test]
fn alternatives_in_braces_are_checked() {
    let sandbox = repository();
    sandbox.write("src/b.rs", code().replace("value", "other"));
    cite(&sandbox, "See `src/{a,b}.rs`.\n");
    commit(&sandbox);
    std::fs::remove_file(sandbox.root().join("src/b.rs")).unwrap();
    insta::assert_snapshot!(judged(&sandbox, &[]), @"
    src/a.rs intact src/a.rs by anchor
    src/b.rs deleted by anchor
    ");
}

#[test]
fn findings_about_a_citation_can_be_silenced() {
    let sandbox = repository();
    cite(
        &sandbox,
        "# x\n\nSee `src/a.rs:3`.\n\n<!-- midstride: allow D002 it is being rewritten -->\n",
    );
    sandbox.write("src/a.rs", code().replace("value_3 ", "other "));
    let run = sandbox.run(["check", "--json", "a"]);
    let told: Value = serde_json::from_str(&run.stdout).unwrap();
    let codes = |list: &str| -> Vec<String> {
        let all = told["documents"][0][list].as_array().unwrap();
        all.iter().map(|one| one["code"].as_str().unwrap().to_owned()).collect()
    };
    assert!(!codes("findings").contains(&"D002".to_owned()), "{run}");
    assert!(codes("silenced").contains(&"D002".to_owned()), "{run}");
}

#[test]
fn a_checked_out_submodule_is_read() {
    let other = sandbox();
    other.write("lib.rs", code()).write("deep/b.rs", "b\n");
    let other = other.repository();
    let sandbox = repository();
    let from = other.root().to_str().unwrap();
    let allow = ["-c", "protocol.file.allow=always"];
    sandbox.git(&[&allow[..], &["submodule", "--quiet", "add", from, "vendor/lib"]].concat());
    sandbox.write(
        "docs/handoffs/note.md",
        "# By hand\n\nSee `vendor/lib/`, `vendor/lib/lib.rs:4` and `vendor/lib/deep/b.rs`.\n",
    );
    commit(&sandbox);
    cite(&sandbox, "See `vendor/lib/`, `vendor/lib/lib.rs:3` and `vendor/lib/deep/b.rs`.\n");
    sandbox.write("vendor/lib/lib.rs", format!("// new\n{}", code()));
    insta::assert_snapshot!(judged(&sandbox, &[]), @"
    vendor/lib/ intact vendor/lib by anchor
    vendor/lib/lib.rs:3 moved vendor/lib/lib.rs:4-4 by anchor
    vendor/lib/deep/b.rs intact vendor/lib/deep/b.rs by anchor
    vendor/lib/ intact vendor/lib by blame
    vendor/lib/lib.rs:4 not_judged by blame submodule `vendor/lib` is not available
    vendor/lib/deep/b.rs not_judged by blame submodule `vendor/lib` is not available
    ");
    sandbox.git(&["submodule", "--quiet", "deinit", "--force", "vendor/lib"]);
    insta::assert_snapshot!(judged(&sandbox, &[]), @"
    vendor/lib/ intact vendor/lib by anchor
    vendor/lib/lib.rs:3 not_judged by anchor submodule `vendor/lib` is not available
    vendor/lib/deep/b.rs not_judged by anchor submodule `vendor/lib` is not available
    vendor/lib/ intact vendor/lib by blame
    vendor/lib/lib.rs:4 not_judged by blame submodule `vendor/lib` is not available
    vendor/lib/deep/b.rs not_judged by blame submodule `vendor/lib` is not available
    ");
}

#[test]
fn binary_files_are_checked_by_path() {
    let sandbox = repository();
    let lfs = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n";
    sandbox.write("img/logo.png", b"\x89PNG\0\0").write("img/big.psd", lfs);
    sandbox.write("data/huge.csv", "a,b\n".repeat(2_000_000)).write("img/old.png", b"\0\x01\x02");
    cite(&sandbox, "See `img/logo.png:3`, `img/big.psd:2`, `data/huge.csv:9`, `img/old.png`.\n");
    sandbox.write("img/logo.png", b"\x89PNG\0\0other").write("img/big.psd", lfs.replace('4', "5"));
    sandbox.write("data/huge.csv", "c,d\n".repeat(2_000_000));
    std::fs::rename(sandbox.root().join("img/old.png"), sandbox.root().join("img/new.png"))
        .unwrap();
    insta::assert_snapshot!(judged(&sandbox, &[]), @"
    img/logo.png:3 intact img/logo.png:3-3 by anchor only its path was checked
    img/big.psd:2 intact img/big.psd:2-2 by anchor only its path was checked
    data/huge.csv:9 intact data/huge.csv:9-9 by anchor only its path was checked
    img/old.png renamed img/new.png by anchor
    ");
}

#[test]
fn unicode_and_odd_names_are_followed() {
    let sandbox = repository();
    let odd = "app/[slug]/größe (1).rs";
    sandbox.write("src/Hub.rs", code().replace("value", "hub")).write(odd, code());
    sandbox.write("app/[slug]/größe.rs", code().replace("value", "odd"));
    sandbox.write("docs/with space/b.rs", "b\n");
    cite(
        &sandbox,
        "See `src/Hub.rs:3`, `app/[slug]/größe.rs:4`, [x](app/[slug]/größe.rs#L5) and \
         `docs/with space/b.rs:1`.\n",
    );
    commit(&sandbox);
    sandbox.git(&["mv", "src/Hub.rs", "src/hub.rs"]);
    sandbox.git(&["mv", "app/[slug]/größe.rs", "app/[slug]/größer.rs"]);
    insta::assert_snapshot!(judged(&sandbox, &[]), @"
    src/Hub.rs:3 renamed src/hub.rs:3-3 by anchor
    app/[slug]/größe.rs:4 renamed app/[slug]/größer.rs:4-4 by anchor
    app/[slug]/größe.rs#L5 renamed app/[slug]/größer.rs:5-5 by anchor
    space/b.rs:1 never_there by anchor it did not exist when this was written
    ");
    commit(&sandbox);
    insta::assert_snapshot!(judged(&sandbox, &["--at", "HEAD"]), @"
    src/Hub.rs:3 renamed src/hub.rs:3-3 by anchor
    app/[slug]/größe.rs:4 renamed app/[slug]/größer.rs:4-4 by anchor
    app/[slug]/größe.rs#L5 renamed app/[slug]/größer.rs:5-5 by anchor
    space/b.rs:1 never_there by anchor it did not exist when this was written
    ");
    insta::assert_snapshot!(judged(&sandbox, &["--at", "HEAD~1"]), @"
    src/Hub.rs:3 intact src/Hub.rs:3-3 by anchor
    app/[slug]/größe.rs:4 intact app/[slug]/größe.rs:4-4 by anchor
    app/[slug]/größe.rs#L5 intact app/[slug]/größe.rs:5-5 by anchor
    space/b.rs:1 never_there by anchor it did not exist when this was written
    ");
}

#[test]
fn a_symlink_out_of_the_project_is_not_followed() {
    let sandbox = repository();
    std::fs::write(sandbox.home().join("secret.txt"), code()).unwrap();
    std::os::unix::fs::symlink(sandbox.home(), sandbox.root().join("out")).unwrap();
    std::os::unix::fs::symlink("a.rs", sandbox.root().join("src/link.rs")).unwrap();
    commit(&sandbox);
    cite(&sandbox, "See `out/secret.txt:3`, `src/link.rs:3` and `../../../home/secret.txt:4`.\n");
    sandbox.write("docs/handoffs/note.md", "# By hand\n\n`out/secret.txt:3`, `src/link.rs:3`\n");
    commit(&sandbox);
    insta::assert_snapshot!(judged(&sandbox, &[]), @"
    out/secret.txt:3 never_there by blame
    src/link.rs:3 intact src/link.rs:3-3 by anchor
    ../../../home/secret.txt:4 never_there by anchor
    out/secret.txt:3 never_there by blame
    src/link.rs:3 intact src/link.rs:3-3 by blame
    ");
}

#[test]
fn a_shallow_clone_reports_what_is_unknown() {
    let sandbox = repository();
    sandbox.write("docs/handoffs/note.md", "# By hand\n\nSee `src/a.rs:3` and `src/a.rs`.\n");
    commit(&sandbox);
    sandbox.write("src/a.rs", code().replace("value_3 ", "other "));
    commit(&sandbox);
    insta::assert_snapshot!(judged(&sandbox, &[]), @"
    src/a.rs:3 changed src/a.rs:3-3 by blame
    src/a.rs intact src/a.rs by blame
    ");
    let clone = sandbox.home().join("clone");
    let from = format!("file://{}", sandbox.root().display());
    sandbox.git(&["clone", "--quiet", "--depth=1", &from, clone.to_str().unwrap()]);
    insta::assert_snapshot!(judged(&sandbox, &["-C", clone.to_str().unwrap()]), @"
    src/a.rs:3 not_judged by none the history in this shallow clone ends at 3131d4607924
    src/a.rs intact src/a.rs by none
    ");
}

#[test]
fn a_lost_commit_is_reported_once() {
    let sandbox = repository();
    let lost = "1234567890123456789012345678901234567890";
    let text = format!(
        "---\nhandoff:\n  id: p\n  status: planned\n  at_commit: {lost}\n---\nSee `src/a.rs:3`, \
         `src/b.rs:4` and `src/a.rs`.\n"
    );
    // midstride creates the private folder.
    sandbox.run(["new", "Session", "--kind", "session"]).exits(0);
    sandbox.write(".git/midstride/handoffs/p.md", text);
    insta::assert_snapshot!(judged(&sandbox, &["p"]), @"
    src/a.rs:3 not_judged by none commit 123456789012 is not in this repository
    src/b.rs:4 not_judged by none commit 123456789012 is not in this repository
    src/a.rs intact src/a.rs by none
    ");
    let run = sandbox.run(["check", "-v", "p"]);
    assert_eq!(run.stdout.matches("D005").count(), 1, "{run}");
}

#[test]
fn a_truncated_search_is_reported() {
    let sandbox = repository();
    cite(&sandbox, "See `src/a.rs:3`.\n");
    commit(&sandbox);
    for number in 0..1001 {
        sandbox.write(&format!("gen/{number}.rs"), format!("fn number_{number}() {{}}\n"));
    }
    std::fs::remove_file(sandbox.root().join("src/a.rs")).unwrap();
    insta::assert_snapshot!(judged(&sandbox, &[]), @"src/a.rs:3 deleted by anchor only 1000 of 1002 files were searched for a rename");
}

#[test]
fn anchors_work_without_git() {
    let sandbox = sandbox();
    sandbox.write(".midstride/config.toml", "").write("src/a.rs", code());
    cite(&sandbox, "See `src/a.rs:3`, `src/a.rs:5`, `src/b.rs:1` and `src/`.\n");
    sandbox.write("docs/handoffs/note.md", "# By hand\n\nSee `src/a.rs:3` and `src/a.rs`.\n");
    sandbox.write("src/a.rs", format!("// new\n{}", code().replace("value_5 ", "other ")));
    insta::assert_snapshot!(judged(&sandbox, &[]), @"
    src/a.rs:3 moved src/a.rs:4-4 by anchor
    src/a.rs:5 changed src/a.rs by anchor
    src/b.rs:1 never_there by anchor it did not exist when this was written
    src/ intact src by anchor
    src/a.rs:3 not_judged by none there is no record of the cited code
    src/a.rs intact src/a.rs by none
    ");
    std::fs::remove_dir_all(sandbox.root().join("src")).unwrap();
    insta::assert_snapshot!(judged(&sandbox, &["a"]), @"
    src/a.rs:3 deleted by anchor midstride does not search for renames without git
    src/a.rs:5 deleted by anchor midstride does not search for renames without git
    src/b.rs:1 never_there by anchor it did not exist when this was written
    src/ deleted by anchor
    ");
}

#[test]
fn paths_of_a_nested_project_start_at_its_root() {
    let sandbox = sandbox();
    sandbox.write("app/.midstride/config.toml", "").write("app/src/a.rs", code());
    sandbox.write("shared/b.rs", code());
    let sandbox = sandbox.repository();
    let text = "See `src/a.rs:3`, `shared/b.rs:4`, `../shared/b.rs:5`.\n";
    let new = ["-C", "app", "new", "A finding", "--id", "a", "--body", "-"];
    sandbox.run_with_input(&new, text).exits(0);
    sandbox.write("app/docs/handoffs/note.md", format!("# By hand\n\n{text}"));
    commit(&sandbox);
    for file in ["app/src/a.rs", "shared/b.rs"] {
        sandbox.write(file, format!("// new\n{}", code()));
    }
    insta::assert_snapshot!(judged(&sandbox, &["-C", "app"]), @"
    src/a.rs:3 moved app/src/a.rs:4-4 by anchor
    shared/b.rs:4 moved shared/b.rs:5-5 by anchor
    ../shared/b.rs:5 moved shared/b.rs:6-6 by anchor
    src/a.rs:3 moved app/src/a.rs:4-4 by blame
    shared/b.rs:4 moved shared/b.rs:5-5 by blame
    ../shared/b.rs:5 moved shared/b.rs:6-6 by blame
    ");
}

#[test]
fn a_worktree_checks_its_own_files() {
    let sandbox = repository();
    cite(&sandbox, "See `src/a.rs:3`.\n");
    sandbox
        .run(["new", "Private", "--id", "p", "--private", "--summary", "See src/a.rs:4"])
        .exits(0);
    commit(&sandbox);
    let other = sandbox.home().join("other");
    let other = other.to_str().unwrap();
    sandbox.git(&["worktree", "add", "--quiet", other]);
    std::fs::write(format!("{other}/src/a.rs"), format!("// new\n{}", code())).unwrap();
    insta::assert_snapshot!(judged(&sandbox, &["-C", other]), @"
    src/a.rs:3 moved src/a.rs:4-4 by anchor
    src/a.rs:4 moved src/a.rs:5-5 by anchor
    ");
    insta::assert_snapshot!(judged(&sandbox, &[]), @"
    src/a.rs:3 intact src/a.rs:3-3 by anchor
    src/a.rs:4 intact src/a.rs:4-4 by anchor
    ");
}

#[test]
fn line_endings_do_not_matter() {
    let sandbox = repository();
    cite(&sandbox, "See `src/a.rs:3-5`.\n");
    sandbox.write("docs/handoffs/note.md", "# By hand\n\nSee `src/a.rs:3-5`.\n");
    commit(&sandbox);
    sandbox.git(&["config", "core.autocrlf", "true"]);
    sandbox.write("src/a.rs", code().replace('\n', "\r\n"));
    let note = sandbox.read("docs/handoffs/note.md").replace('\n', "\r\n");
    sandbox.write("docs/handoffs/note.md", note);
    insta::assert_snapshot!(judged(&sandbox, &[]), @"
    src/a.rs:3-5 intact src/a.rs:3-5 by anchor
    src/a.rs:3-5 intact src/a.rs:3-5 by blame
    ");
    sandbox.write("src/a.rs", format!("// new\r\n{}", code().replace('\n', "\r\n")));
    insta::assert_snapshot!(judged(&sandbox, &[]), @"
    src/a.rs:3-5 moved src/a.rs:4-6 by anchor
    src/a.rs:3-5 moved src/a.rs:4-6 by blame
    ");
}

#[test]
fn a_staged_text_is_checked_by_its_own_lines() {
    let sandbox = repository();
    let note = "docs/handoffs/note.md";
    sandbox.write(note, "# By hand\n\nSee `src/a.rs:3`.\n");
    commit(&sandbox);
    sandbox.write("src/a.rs", format!("// new\n{}", code()));
    commit(&sandbox);
    // The new line is staged; an unstaged line is above it.
    sandbox.write(note, "# By hand\n\nSee `src/a.rs:3`.\n\nAnd `src/a.rs:9`.\n");
    sandbox.git(&["add", note]);
    sandbox.write(note, "# By hand\n\nSome words.\n\nSee `src/a.rs:3`.\n\nAnd `src/a.rs:9`.\n");
    insta::assert_snapshot!(judged(&sandbox, &["--staged"]), @"
    src/a.rs:3 moved src/a.rs:4-4 by blame
    src/a.rs:9 intact src/a.rs:9-9 by just_written
    ");
}

#[test]
fn a_new_line_refers_to_the_current_code() {
    let sandbox = repository();
    // The sandbox would replace ids in the output of git.
    let head = sandbox.read(".git/refs/heads/main");
    let header =
        format!("---\nhandoff:\n  id: n\n  status: planned\n  at_commit: {}\n---\n", head.trim());
    let note = "docs/handoffs/n.md";
    sandbox.write(note, format!("{header}See `src/a.rs:3`.\n"));
    commit(&sandbox);
    sandbox.write("src/a.rs", format!("// new\n{}", code()));
    commit(&sandbox);
    sandbox.write(note, format!("{header}See `src/a.rs:3`.\n\nAlso `src/a.rs:6`.\n"));
    insta::assert_snapshot!(judged(&sandbox, &[]), @"
    src/a.rs:3 moved src/a.rs:4-4 by blame
    src/a.rs:6 intact src/a.rs:6-6 by just_written
    ");
}

/// A note by hand in its own commit.
#[track_caller]
fn note(sandbox: &Sandbox, text: &str) {
    sandbox.write("docs/handoffs/note.md", format!("# By hand\n\n{text}\n"));
    commit(sandbox);
}

#[test]
fn a_blamed_blank_line_or_brace_is_not_followed() {
    let sandbox = repository();
    sandbox.write("src/b.rs", "fn b() {\n    call();\n}\n\nfn c() {\n    other();\n}\n");
    note(&sandbox, "`call` is slow, see `src/b.rs:3`, `src/b.rs:4` and `src/b.rs:6`.");
    let text = sandbox.read("src/b.rs");
    sandbox.write("src/b.rs", format!("// new\n// too\n{text}"));
    insta::assert_snapshot!(judged(&sandbox, &[]), @"
    src/b.rs:3 not_judged by blame the cited lines are blank or contain only braces
    src/b.rs:4 not_judged by blame the cited lines are blank or contain only braces
    src/b.rs:6 moved src/b.rs:8-8 by blame
    ");
    let run = sandbox.run(["check", "-v"]);
    assert_eq!(run.stdout.matches("D001").count(), 1, "{run}");
}

#[test]
fn the_version_with_the_named_identifier_is_the_origin() {
    let sandbox = repository();
    let functions: String = (1..=9).map(|n| format!("fn load_rows_{n}() {{}}\n")).collect();
    sandbox.write("src/b.rs", &functions);
    commit(&sandbox);
    // The note was written before these lines, and committed after them.
    sandbox.write("src/b.rs", format!("// one\n// two\n{functions}"));
    commit(&sandbox);
    note(&sandbox, "- `load_rows_5` is slow, see src/b.rs:5.\n- `load_rows_2` is in src/b.rs:4.");
    insta::assert_snapshot!(judged(&sandbox, &[]), @"
    src/b.rs:5 moved src/b.rs:7-7 by blame
    src/b.rs:4 intact src/b.rs:4-4 by blame
    ");
}

#[test]
fn a_file_deleted_by_the_commit_of_the_note_is_reported() {
    let sandbox = repository();
    sandbox.write("src/b.rs", code().replace("value", "other"));
    sandbox.write("src/c.rs", code().replace("value", "third"));
    commit(&sandbox);
    std::fs::remove_file(sandbox.root().join("src/b.rs")).unwrap();
    std::fs::rename(sandbox.root().join("src/c.rs"), sandbox.root().join("src/d.rs")).unwrap();
    note(
        &sandbox,
        "- The loop is in `src/b.rs:3`.\n- The other is in `src/c.rs`.\n- Removed `src/b.rs`.\n- `src/e.rs` too.",
    );
    insta::assert_snapshot!(judged(&sandbox, &[]), @"
    src/b.rs:3 deleted by blame
    src/c.rs renamed src/d.rs by blame
    src/b.rs never_there by blame it did not exist when this was written
    src/e.rs never_there by blame it did not exist when this was written
    ");
}

#[test]
fn a_log_that_quotes_a_deleted_file_is_not_its_new_name() {
    let sandbox = repository();
    let page = code().replace("let", "<p>");
    sandbox.write("site/index.html", &page).write("site/other.html", page.replace("step", "walk"));
    cite(&sandbox, "See `site/index.html` and `site/other.html`.\n");
    commit(&sandbox);
    for gone in ["site/index.html", "site/other.html"] {
        std::fs::remove_file(sandbox.root().join(gone)).unwrap();
    }
    sandbox.write("logs/run.log", format!("started\n{page}done\n"));
    sandbox.write("site/new.html", format!("{}<b>\n", page.replace("step", "walk")));
    commit(&sandbox);
    insta::assert_snapshot!(judged(&sandbox, &[]), @"
    site/index.html deleted by anchor
    site/other.html renamed site/new.html by anchor
    ");
}

#[test]
fn a_new_file_is_the_new_name_of_one_file_only() {
    let sandbox = repository();
    // Twenty lines; some have another name.
    let file = |is_other: fn(usize) -> bool, name: &str| -> String {
        let line = |n| if is_other(n) { name } else { "value" };
        (1..=20).map(|n| format!("let {}_{n} = step({n});\n", line(n))).collect()
    };
    let first = file(|_| false, "value");
    let second = file(|n| n > 15, "other");
    let third = file(|n| n > 14, "third");
    sandbox.write("src/b.rs", &first).write("src/c.rs", &second).write("src/d.rs", &third);
    commit(&sandbox);
    cite(&sandbox, "See `src/c.rs`, `src/b.rs` and `src/d.rs`.\n");
    commit(&sandbox);
    for missing in ["src/b.rs", "src/c.rs", "src/d.rs"] {
        std::fs::remove_file(sandbox.root().join(missing)).unwrap();
    }
    sandbox.write("lib/x.rs", format!("{first}// new\n"));
    sandbox.write("lib/y.rs", file(|n| n > 15, "other").replace("let value_1", "let new_1"));
    insta::assert_snapshot!(judged(&sandbox, &[]), @"
    src/c.rs renamed lib/y.rs by anchor
    src/b.rs renamed lib/x.rs by anchor
    src/d.rs deleted by anchor `lib/x.rs` is similar, but another missing file matches it as well or better
    ");
    sandbox
        .write("lib/y.rs", second.replace("let value", "let new_").replace("new__1 ", "value_1 "));
    commit(&sandbox);
    insta::assert_snapshot!(judged(&sandbox, &[]), @"
    src/c.rs deleted by anchor `lib/x.rs` is similar, but another missing file matches it as well or better
    src/b.rs renamed lib/x.rs by anchor
    src/d.rs deleted by anchor `lib/x.rs` is similar, but another missing file matches it as well or better
    ");
}

#[test]
fn a_copy_that_is_deleted_later_does_not_take_the_new_name() {
    let sandbox = repository();
    let text: String = (1..=20).map(|n| format!("let value_{n} = step({n});\n")).collect();
    sandbox.write("src/a.rs", &text).write("src/b.rs", &text);
    commit(&sandbox);
    cite(&sandbox, "See `src/a.rs` and `src/b.rs`.\n");
    std::fs::remove_file(sandbox.root().join("src/b.rs")).unwrap();
    sandbox.write("lib/x.rs", &text);
    commit(&sandbox);
    std::fs::remove_file(sandbox.root().join("src/a.rs")).unwrap();
    for is_committed in [false, true] {
        if is_committed {
            commit(&sandbox);
        }
        insta::allow_duplicates!(insta::assert_snapshot!(judged(&sandbox, &[]), @"
        src/a.rs deleted by anchor `lib/x.rs` is similar, but another missing file matches it as well or better
        src/b.rs renamed lib/x.rs by anchor
        "));
    }
}

#[test]
fn an_ignored_file_is_not_deleted() {
    let sandbox = repository();
    sandbox.write(".gitignore", "local/\n!local/kept.rs\n").write("local/a.toml", "one = 1\n");
    cite(&sandbox, "See `local/a.toml`.\n");
    commit(&sandbox);
    std::fs::remove_file(sandbox.root().join("local/a.toml")).unwrap();
    insta::assert_snapshot!(judged(&sandbox, &[]), @"
    local/a.toml not_judged by anchor git ignores it, so it may exist elsewhere
    ");
}

#[test]
fn a_note_is_not_renamed_to_the_handoff_made_of_it() {
    let sandbox = repository();
    let text = format!("# Rows\n\n{}", code());
    sandbox.write("notes/rows.md", &text);
    cite(&sandbox, "See `notes/rows.md`.\n");
    commit(&sandbox);
    std::fs::remove_file(sandbox.root().join("notes/rows.md")).unwrap();
    sandbox.write("notes/made.md", format!("---\nhandoff:\n  id: rows\n---\n{text}"));
    commit(&sandbox);
    insta::assert_snapshot!(judged(&sandbox, &["a"]), @"
    notes/rows.md deleted by anchor
    ");
}

/// Commits everything at a time.
#[track_caller]
fn commit_at(sandbox: &Sandbox, time: &str) {
    sandbox.git(&["add", "--all"]);
    let mut git = sandbox.command("git");
    git.args(["commit", "--quiet", "--message", "next", "--date", time]);
    assert!(git.env("GIT_COMMITTER_DATE", time).status().unwrap().success());
}

#[test]
fn the_date_of_a_note_is_the_origin_of_its_paths() {
    let sandbox = repository();
    sandbox.write("src/b.rs", code().replace("value", "other"));
    commit_at(&sandbox, "2024-05-01T10:00:00Z");
    std::fs::remove_file(sandbox.root().join("src/b.rs")).unwrap();
    commit_at(&sandbox, "2024-05-03T10:00:00Z");
    let text = "# By hand\n\n- See `src/b.rs`.\n- See `src/a.rs:3`.\n- Removed `src/b.rs`.\n- See `src/c.rs`.\n";
    sandbox.write("docs/handoffs/2024-05-02-rows.md", text);
    insta::assert_snapshot!(judged(&sandbox, &[]), @"
    src/b.rs deleted by date
    src/a.rs:3 intact src/a.rs:3-3 by date only its path was checked
    src/b.rs not_judged by none no file exists at this path
    src/c.rs not_judged by none no file exists at this path
    ");
    commit_at(&sandbox, "2024-05-09T10:00:00Z");
    insta::assert_snapshot!(judged(&sandbox, &[]), @"
    src/b.rs deleted by date
    src/a.rs:3 intact src/a.rs:3-3 by blame
    src/b.rs never_there by blame it did not exist when this was written
    src/c.rs never_there by blame it did not exist when this was written
    ");
}

#[test]
fn what_is_not_checked_is_reported_once() {
    let sandbox = repository();
    sandbox.write(
        "docs/handoffs/note.md",
        "# By hand\n\nSee `src/a.rs:3`, `src/a.rs:4` and `src/a.rs`.\n",
    );
    let run = sandbox.run(["check", "-v", "docs/handoffs/note.md"]);
    let told =
        "`src/a.rs:3` and `src/a.rs:4` were not checked: there is no record of the cited code";
    assert_eq!(run.stdout.matches(told).count(), 1, "{run}");
    assert_eq!(run.stdout.matches("D005").count(), 1, "{run}");
}

#[test]
fn our_handoff_reports_what_never_existed() {
    let sandbox = repository();
    let text = "See `src/new.rs`, `src/other.rs:4`, `src/a.rs:90` and `Next.js`.\n\n```sh\ncat src/third.rs\n```\n";
    cite(&sandbox, text);
    let run = sandbox.run(["check", "-v", "a"]);
    for line in [
        "hint[D005]: `src/new.rs` does not exist and did not exist when this was written",
        "warning[D008]: `src/other.rs:4` does not exist and did not exist when this was written",
        "warning[D008]: `src/a.rs:90` is past the end of the file",
    ] {
        assert!(run.stdout.contains(line), "{run}");
    }
    // Wrong lines are shown without being asked for.
    let run = sandbox.run(["check", "a"]).exits(1);
    assert_eq!(run.stdout.matches("D008").count(), 2, "{run}");
    sandbox
        .write("src/new.rs", "")
        .write("src/other.rs", code())
        .write("src/a.rs", code().repeat(9));
    let run = sandbox.run(["check", "-v", "a"]);
    assert!(!run.stdout.contains("D005") && !run.stdout.contains("D008"), "{run}");
}

#[test]
fn a_partial_clone_reports_what_is_missing() {
    let origin = repository();
    origin.git(&["config", "uploadpack.allowFilter", "true"]);
    note(&origin, "See `src/a.rs:3`.");
    origin.write("src/a.rs", format!("// new\n{}", code()));
    commit(&origin);
    let sandbox = sandbox();
    let from = format!("file://{}", origin.root().display());
    sandbox.git(&["clone", "--quiet", "--filter=blob:none", &from, "clone"]);
    drop(origin);
    let clone = sandbox.root().join("clone");
    let mut check = sandbox.command(env!("CARGO_BIN_EXE_midstride"));
    // Git must not ask the remote, which may run a program of its choice.
    let run = sandbox
        .finish(check.args(["check", "-v"]).env("GIT_NO_LAZY_FETCH", "1").current_dir(&clone));
    assert_eq!(run.stdout.matches("D005").count(), 1, "{run}");
    assert!(!run.stdout.contains("D001"), "{run}");
}

#[test]
fn paths_in_plain_code_blocks_are_checked() {
    let sandbox = repository();
    for name in ["b", "c", "d", "e"] {
        sandbox.write(&format!("src/{name}.rs"), code().replace("value", name));
    }
    let text = "```\nproject/\n├── src/\n│   ├── a.rs\n│   └── b.rs  # rows\n└── .midstride/\n```\n\n\
        ```sh\ncargo run src/c.rs\n```\n\n```md\n- src/d.rs:3 is slow\n```\n\n```rust\nmod src/e.rs\n```\n";
    cite(&sandbox, text);
    commit(&sandbox);
    for name in ["b", "c", "d", "e"] {
        std::fs::remove_file(sandbox.root().join(format!("src/{name}.rs"))).unwrap();
    }
    insta::assert_snapshot!(judged(&sandbox, &[]), @"
    project/src/ intact src by anchor
    project/src/a.rs intact src/a.rs by anchor
    project/src/b.rs deleted by anchor
    project/.midstride/ intact .midstride by anchor
    src/c.rs deleted by anchor
    src/d.rs deleted by anchor
    ");
}

#[test]
fn an_existing_file_is_not_a_rename_of_a_deleted_one() {
    let sandbox = repository();
    sandbox.write("lib/twin.rs", code());
    commit(&sandbox);
    cite(&sandbox, "See `src/a.rs:3`.\n");
    let file = ".midstride/handoffs/a.md";
    let text = sandbox.read(file);
    let without: String =
        text.lines().filter(|line| !line.contains("at_commit")).map(|l| format!("{l}\n")).collect();
    sandbox.write(file, without);
    std::fs::remove_file(sandbox.root().join("src/a.rs")).unwrap();
    insta::assert_snapshot!(judged(&sandbox, &[]), @"src/a.rs:3 deleted by anchor");
    commit(&sandbox);
    insta::assert_snapshot!(judged(&sandbox, &[]), @"src/a.rs:3 deleted by anchor");
}

#[test]
fn later_commits_suggest_a_handoff_may_be_done() {
    let sandbox = repository();
    cite(&sandbox, "See `src/a.rs:3`.\n");
    commit(&sandbox);
    sandbox.write("src/a.rs", format!("// new\n{}", code()));
    sandbox.git(&["add", "--all"]);
    let mut later = sandbox.command("git");
    later.env("GIT_COMMITTER_DATE", "2026-03-25T10:00:00Z");
    sandbox.finish(later.args(["commit", "--quiet", "--message", "cache the weather"])).exits(0);
    let run = sandbox.run(["check", "-v", "a"]);
    let said = run.stdout.lines().find(|line| line.contains("possibly done"));
    let said = said
        .unwrap_or_default()
        .replace(&sandbox.git(&["rev-parse", "--short=8", "HEAD"]).trim().to_owned(), "[SHORT]");
    insta::assert_snapshot!(said, @r#"hint[D006]: possibly done: a later commit changed the cited code: [SHORT] "cache the weather""#);
    let mut check = sandbox.command(env!("CARGO_BIN_EXE_midstride"));
    check.env("MIDSTRIDE_NOW", "2026-06-01T00:00:00Z");
    let run = sandbox.finish(check.args(["check", "-v", "a"]));
    assert!(run.stdout.contains("possibly done: unchanged for 71 days; a later commit"), "{run}");
}

#[test]
fn a_changed_line_has_not_moved_to_an_equal_one() {
    let sandbox = repository();
    let twins = "fn buy() {\n    let total = price * amount;\n    charge(total)\n}\n\
                 fn sell() {\n    let total = price * amount;\n    refund(total)\n}\n";
    for is_committed in [true, false] {
        sandbox.write("src/twins.rs", twins);
        if is_committed {
            commit(&sandbox);
        }
        cite(&sandbox, "Selling forgets the fee: `src/twins.rs:6`.\n");
        let (first, second) = twins.rsplit_once("amount;").unwrap();
        sandbox.write("src/twins.rs", format!("{first}amount - fee;{second}"));
        let told = judged(&sandbox, &[]);
        assert!(told.starts_with("src/twins.rs:6 changed"), "{told}");
        std::fs::remove_file(sandbox.root().join(".midstride/handoffs/a.md")).unwrap();
        std::fs::remove_file(sandbox.root().join("src/twins.rs")).unwrap();
    }
}

#[test]
fn updating_citations_is_idempotent() {
    let sandbox = repository();
    sandbox.write("src/three.rs", "alpha();\nbeta();\ngamma();\n");
    let said = |[a, b, c]: [usize; 3]| {
        format!("Alpha is `src/three.rs:{a}`, beta `src/three.rs:{b}`, gamma `src/three.rs:{c}`.")
    };
    cite(&sandbox, &format!("{}\n", said([1, 2, 3])));
    sandbox.write("src/three.rs", "top();\nalpha();\nbeta();\ngamma();\n");
    for _ in 0..2 {
        sandbox.run(["check", "--fix", "a"]);
        let text = sandbox.read(".midstride/handoffs/a.md");
        assert!(text.contains(&said([2, 3, 4])), "{text}");
    }
    // Editing by hand gives the same.
    sandbox.write("src/three.rs", "top();\ntop();\nalpha();\nbeta();\ngamma();\n");
    sandbox.write("body.md", format!("## Diagnosis\n\n{}\n", said([3, 4, 5])));
    sandbox.run(["edit", "a", "--reason", "lines", "--body", "body.md"]).exits(0);
    assert_eq!(judged(&sandbox, &[]).matches(" intact ").count(), 3);
}

#[test]
fn anchors_contain_no_secrets() {
    let sandbox = repository();
    let token = format!("ghp_{}", "a1B2".repeat(9));
    cite(&sandbox, &format!("The token {token} is in `src/a.rs:3`.\n"));
    let told = judged(&sandbox, &[]);
    assert!(told.starts_with("src/a.rs:3 intact src/a.rs:3-3 by anchor"), "{told}");
    assert!(!sandbox.read(".midstride/handoffs/a.md").contains(&token));
}

#[test]
fn filters_of_the_repository_are_not_run() {
    let sandbox = repository();
    sandbox.write(".gitattributes", "*.rs filter=evil\n");
    let ran = sandbox.home().join("ran");
    let filter = format!("sh -c 'touch {}; cat'", ran.display());
    sandbox.git(&["config", "filter.evil.clean", &filter]);
    cite(&sandbox, "See `src/a.rs:3`.\n");
    std::fs::rename(sandbox.root().join("src/a.rs"), sandbox.root().join("src/b.rs")).unwrap();
    judged(&sandbox, &[]);
    sandbox.run(["check", "--fix"]);
    assert!(!ran.exists());
}

#[test]
fn a_hanging_git_is_reported() {
    let sandbox = repository();
    cite(&sandbox, "See `src/a.rs:3` and `src/b.rs`.\n");
    commit(&sandbox);
    std::fs::remove_file(sandbox.root().join("src/a.rs")).unwrap();
    sandbox.write(".git/index", "this is no index");
    let told = judged(&sandbox, &[]);
    assert!(told.starts_with("src/a.rs:3 not_judged by anchor git ls-files"), "{told}");
}

#[test]
fn the_only_file_that_fits_is_checked() {
    let sandbox = repository();
    sandbox.write("one/config.go", "open()\n").write("two/config.go", "load_rows()\nshut()\n");
    cite(
        &sandbox,
        "- `load_rows` is slow, see config.go:1.\n- See config.go:2.\n- See config.go.\n",
    );
    sandbox.write("two/config.go", "// new\nload_rows()\nshut()\n");
    insta::assert_snapshot!(judged(&sandbox, &[]), @"
    config.go:1 moved two/config.go:2-2 by anchor
    config.go:2 moved two/config.go:3-3 by anchor
    config.go not_judged by none ambiguous: 2 files have this name
    ");
    let run = sandbox.run(["check", "-v", "a"]);
    assert!(run.stdout.contains("`config.go` is ambiguous: 2 files have this name"), "{run}");
}

#[test]
fn an_ambiguous_name_is_not_checked() {
    let sandbox = repository();
    sandbox.write("p/config.go", "one\n").write("q/config.go", "two\n");
    cite(&sandbox, "See `config.go:1`.\n");
    commit(&sandbox);
    let told = judged(&sandbox, &[]);
    assert!(
        told.starts_with("config.go:1 not_judged by blame ambiguous: 2 files have this name"),
        "{told}"
    );
}

#[test]
fn comparing_with_a_missing_commit_fails() {
    let sandbox = super::shop();
    insta::assert_snapshot!(sandbox.run(["check", "--at", "nonsense"]), @"
    exit 2
    ----- stderr -----
    error: there is no commit `nonsense` in this repository
    hint: name a commit, a branch or a tag; `git log --oneline` lists commits
    ");
}

#[test]
fn what_a_sentence_says_about_a_file_is_compared_with_it() {
    let sandbox = repository();
    sandbox.write(
        "docs/handoffs/note.md",
        "# Steps\n\n- `src/a.rs` is 20 lines.\n- Replace `value_7` in `src/a.rs`. It has `value_8`.\n",
    );
    cite(&sandbox, "`value_9` in `src/a.rs` is slow, and `value_10` is not.\n");
    commit(&sandbox);
    let said = || {
        let run = sandbox.run(["check", "-v"]);
        let lines = run.stdout.lines().filter(|line| line.contains("D007"));
        lines.map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(said(), [""; 0]);
    let now = code().replace("value_7 ", "other_7 ").replace("value_9 ", "other_9 ");
    sandbox.write("src/a.rs", format!("// new\n{now}"));
    commit(&sandbox);
    let expected = [
        "hint[D007]: `value_9` is no longer in `src/a.rs`",
        "hint[D007]: `src/a.rs` had 20 lines and now has 21; `value_7` is no longer in `src/a.rs` (line 4)",
    ];
    assert_eq!(said(), expected);
    // The cache has the same results.
    assert_eq!(said(), expected);
}
