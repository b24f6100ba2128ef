//! Tests of trust: it belongs to one repository on this machine and cannot be brought along.

use crate::{consent, without_home};
use midstride::verbs;
use midstride::workspace::{Access, Workspace};
use midstride_testkit::Sandbox;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

const HANDOFF: &str = "---\nhandoff:\n  id: a\n  status: planned\n---\nA\n";

/// A repository with a handoff of someone else.
fn cloned() -> Sandbox {
    let sandbox = Sandbox::new("").repository();
    sandbox.write(".midstride/config.toml", "");
    sandbox.write(".midstride/handoffs/a.md", HANDOFF);
    sandbox
}

fn open(folder: &Path) -> Workspace {
    Workspace::discover(without_home(folder)).unwrap()
}

fn trusted() -> Sandbox {
    let sandbox = cloned();
    assert!(!open(sandbox.root()).is_trusted());
    verbs::trust(&open(sandbox.root()), &consent()).unwrap();
    assert_eq!(open(sandbox.root()).access(), Access::Granted);
    sandbox
}

/// A folder beside the project, so that both have the same home.
fn beside(sandbox: &Sandbox, name: &str) -> std::path::PathBuf {
    sandbox.root().with_file_name(name)
}

#[test]
fn a_file_inside_the_repository_grants_nothing() {
    let sandbox = cloned();
    let identity = sandbox.root().join(".git").display().to_string();
    sandbox.write(".git/midstride/home", format!("{identity}\n"));
    // The folder that it is in is no store of the user either.
    let workspace = open(sandbox.root());
    assert_eq!(workspace.access(), Access::Own { withheld: 1 });
    assert!(workspace.own_view().unwrap().read_all().is_empty());
}

#[test]
fn a_moved_copied_or_restored_repository_is_not_trusted() {
    let sandbox = trusted();
    let (root, away) = (sandbox.root(), beside(&sandbox, "away"));
    std::fs::rename(root, &away).unwrap();
    assert!(!open(&away).is_trusted(), "moved");
    let copy = sandbox.command("cp").current_dir(&away).args(["-a", "."]).arg(root).status();
    assert!(copy.unwrap().success());
    assert!(!open(root).is_trusted(), "restored from a copy");
    std::fs::remove_dir_all(root).unwrap();
    std::fs::rename(&away, root).unwrap();
    assert!(open(root).is_trusted(), "the same folder in its place");
}

#[test]
fn pointing_into_a_trusted_repository_grants_nothing() {
    let sandbox = trusted();
    let git_dir = sandbox.root().join(".git");
    let plant = |name: &str| {
        let folder = beside(&sandbox, name);
        std::fs::create_dir_all(folder.join(".midstride/handoffs")).unwrap();
        std::fs::write(folder.join(".midstride/handoffs/a.md"), HANDOFF).unwrap();
        folder
    };
    let file = plant("file");
    std::fs::write(file.join(".git"), format!("gitdir: {}\n", git_dir.display())).unwrap();
    let link = plant("link");
    std::os::unix::fs::symlink(&git_dir, link.join(".git")).unwrap();
    let common = plant("common");
    std::fs::create_dir_all(common.join(".git")).unwrap();
    std::fs::write(common.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
    std::fs::write(common.join(".git/commondir"), format!("{}\n", git_dir.display())).unwrap();
    // A worktree of the repository whose place another folder claims.
    sandbox.write("x", "x");
    sandbox.git(&["add", "x"]);
    sandbox.git(&["commit", "--quiet", "--message", "x"]);
    sandbox.git(&["worktree", "add", "--quiet", "../linked"]);
    let claimed = plant("claimed");
    std::fs::copy(beside(&sandbox, "linked").join(".git"), claimed.join(".git")).unwrap();
    for folder in [&file, &link, &common, &claimed] {
        let workspace = open(folder);
        assert!(workspace.repository().is_some(), "{}", folder.display());
        assert_eq!(workspace.access(), Access::Own { withheld: 1 }, "{}", folder.display());
    }
    assert!(open(&beside(&sandbox, "linked")).is_trusted(), "its own worktree");
    // A separate git directory can be trusted for itself.
    verbs::trust(&open(&file), &consent()).unwrap();
    assert!(open(&file).is_trusted() && !open(&link).is_trusted());
}

#[test]
fn a_record_that_others_could_have_written_does_not_count() {
    let sandbox = trusted();
    let folder = sandbox.home().join(".local/state/midstride/trust");
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let record = entries.into_iter().find(|path| path.is_file()).unwrap();
    std::fs::set_permissions(&record, std::fs::Permissions::from_mode(0o660)).unwrap();
    assert!(!open(sandbox.root()).is_trusted());
}

#[test]
fn trust_is_revoked() {
    let sandbox = trusted();
    assert!(verbs::distrust(&open(sandbox.root())).unwrap());
    assert_eq!(open(sandbox.root()).access(), Access::Own { withheld: 1 });
    assert!(!verbs::distrust(&open(sandbox.root())).unwrap());
}
