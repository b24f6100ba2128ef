//! Tests of which session a page is about: the one whose work is nearest to the branch and the
//! folder.

use crate::transcript::Transcript;
use crate::{open_on_disk, set_up};
use midstride::clients;
use midstride::verbs::{self, BriefOutcome, BriefRequest, SessionChoice};
use midstride_core::session::checkpoint::CheckpointMode;
use midstride_core::text::id::SessionId;
use midstride_testkit::Sandbox;
use std::path::Path;

fn shop() -> Sandbox {
    let sandbox = Sandbox::new("none").repository();
    set_up(&open_on_disk(sandbox.root()));
    sandbox
}

fn briefed(folder: &Path) -> BriefOutcome {
    verbs::brief(&open_on_disk(folder), &BriefRequest::default(), &mut |_, _| ())
}

/// A session in a folder that asked for something, on a branch, and changed some files.
fn works_in(
    sandbox: &Sandbox,
    folder: &Path,
    (id, day): (&str, u32),
    branch: &str,
    files: &[&str],
) {
    let asked = Transcript::of(id, folder).on(day, branch).user(&format!("Ask of {id}"));
    let edited = files.iter().fold(asked, |transcript, file| transcript.edits(file));
    let path = sandbox.home().join(format!("{id}.jsonl"));
    std::fs::write(&path, edited.says("Done.").text()).unwrap();
    let client = clients::find("claude-code");
    verbs::checkpoint(
        &open_on_disk(folder),
        &SessionChoice::Transcript(path),
        client,
        CheckpointMode::Auto,
    )
    .unwrap();
}

#[test]
fn sessions_rank_by_branch_then_folder() {
    let sandbox = shop();
    for folder in ["web/src", "api"] {
        std::fs::create_dir_all(sandbox.root().join(folder)).unwrap();
    }
    sandbox.git(&["branch", "later"]);
    let root = sandbox.root();
    let predecessor = |folder: &str| {
        let told = briefed(&root.join(folder));
        told.predecessor.map(|gist| gist.session.as_str()[..4].to_owned())
    };
    // On another branch: in the folder, in another folder but with edits in this one, and
    // elsewhere.
    works_in(&sandbox, &root.join("web"), ("aaaa-1", 1), "later", &["a.rs"]);
    works_in(&sandbox, root, ("bbbb-2", 2), "later", &["api/b.rs", "api/x/c.rs"]);
    works_in(&sandbox, root, ("cccc-3", 3), "later", &["api/c.rs", "web/c.rs"]);
    assert_eq!(predecessor("").as_deref(), Some("cccc"));
    assert_eq!(predecessor("web").as_deref(), Some("aaaa"));
    assert_eq!(predecessor("web/src").as_deref(), Some("aaaa"));
    assert_eq!(predecessor("api").as_deref(), Some("bbbb"));
    // This branch comes first, wherever the work was done.
    works_in(&sandbox, root, ("dddd-0", 4), "main", &["docs/d.md"]);
    assert_eq!(predecessor("web").as_deref(), Some("dddd"));
    let page = briefed(&root.join("web")).briefing.text;
    let rest = "Earlier sessions: aaaa-1 \"Ask of aaaa-1\" (branch later)\n  \
                cccc-3 \"Ask of cccc-3\" (branch later)\n  bbbb-2";
    assert!(page.contains(rest), "{page}");
}

#[test]
fn work_in_another_worktree_counts_for_this_folder_and_is_only_named_otherwise() {
    let sandbox = shop();
    sandbox.write("web/a.rs", "x");
    sandbox.git(&["add", "--all"]);
    sandbox.git(&["commit", "--quiet", "--message", "set up"]);
    let second = sandbox.root().with_file_name("second");
    sandbox.git(&["worktree", "add", "--quiet", "-b", "later", second.to_str().unwrap()]);
    works_in(&sandbox, &second, ("aaaa-1", 1), "later", &["web/a.rs"]);
    let page = |folder: &str| briefed(&sandbox.root().join(folder));
    let predecessor = |folder: &str| page(folder).predecessor.map(|gist| gist.session);
    assert_eq!(
        (predecessor("web").as_ref().map(SessionId::as_str), predecessor("")),
        (Some("aaaa-1"), None)
    );
    let named = "Earlier sessions: aaaa-1 \"Ask of aaaa-1\" (branch later)";
    assert!(page("").briefing.text.contains(named), "{}", page("").briefing.text);
}

/// The lines of a page that name a session.
fn session_lines(page: &str) -> Vec<&str> {
    page.lines().filter(|line| line.contains("session")).collect()
}

#[test]
fn an_older_session_on_this_branch_is_not_called_the_last_one() {
    let sandbox = shop();
    sandbox.git(&["branch", "later"]);
    works_in(&sandbox, sandbox.root(), ("aaaa-1", 1), "main", &["a.rs"]);
    works_in(&sandbox, sandbox.root(), ("bbbb-2", 2), "later", &["b.rs"]);
    works_in(&sandbox, sandbox.root(), ("cccc-3", 3), "later", &["c.rs"]);
    let page = briefed(sandbox.root()).briefing.text;
    let lines = session_lines(&page);
    assert!(lines[0].starts_with("Last session on this branch: Claude Code aaaa-1"), "{page}");
    assert!(lines[1].starts_with("Newest session: Claude Code cccc-3, 2026-03-03"), "{page}");
    assert!(lines[1].ends_with(", on branch `later`: \"Ask of cccc-3\""), "{page}");
    assert!(page.contains("Newer sessions: bbbb-2 \"Ask of bbbb-2\" (branch later)"), "{page}");
    assert!(!page.contains("arlier session"), "{page}");
    let home = verbs::home(&open_on_disk(sandbox.root()));
    let home = home.unwrap();
    assert_eq!(home.last_session.unwrap().session.as_str(), "aaaa-1");
    assert_eq!(home.newest_session.unwrap().summary.session.as_str(), "cccc-3");
    // The newest one is on this branch.
    works_in(&sandbox, sandbox.root(), ("dddd-4", 4), "main", &["d.rs"]);
    let page = briefed(sandbox.root()).briefing.text;
    assert!(session_lines(&page)[0].starts_with("Last session: Claude Code dddd-4"), "{page}");
    assert!(!page.contains("Newest session"), "{page}");
}
