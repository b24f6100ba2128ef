//! Tests of what `trust` shows and of evidence for documents: authors can be forged, and a remote counts
//! only if it has the documents itself.

use crate::{consent, without_home};
use midstride::verbs::{self, TrustListing};
use midstride::workspace::{Access, Workspace};
use midstride_testkit::Sandbox;
use std::path::{Path, PathBuf};

const CONFIG: &str = ".midstride/config.toml";
const HANDOFF: &str = ".midstride/handoffs/a.md";

fn handoff(title: &str) -> String {
    format!(
        "---\nhandoff:\n  id: a\n  title: {title}\n  status: planned\n  proofs:\n    - claim: It builds\n      \
         run: make all\n---\n\n# {title}\n"
    )
}

fn open(folder: &Path) -> Workspace {
    Workspace::discover(without_home(folder)).unwrap()
}

fn git(sandbox: &Sandbox, folder: &Path, author: &str, arguments: &[&str]) {
    let mut git = sandbox.command("git");
    git.current_dir(folder).env("GIT_AUTHOR_NAME", author);
    git.env("GIT_AUTHOR_EMAIL", format!("{author}@example.org")).args(arguments);
    sandbox.finish(&mut git).exits(0);
}

fn commit(sandbox: &Sandbox, folder: &Path, author: &str) {
    git(sandbox, folder, author, &["add", "--all"]);
    git(sandbox, folder, author, &["commit", "--quiet", "--message", "change"]);
}

fn write(folder: &Path, path: &str, text: &str) {
    std::fs::create_dir_all(folder.join(path).parent().unwrap()).unwrap();
    std::fs::write(folder.join(path), text).unwrap();
}

fn authors(listing: &TrustListing, path: &str) -> Vec<String> {
    let document = listing.documents.iter().find(|one| one.path == Path::new(path)).unwrap();
    document.authors.iter().map(|author| author.email.clone()).collect()
}

#[test]
fn documents_are_listed_with_their_authors_and_commands() {
    let sandbox = Sandbox::new("").repository();
    let root = sandbox.root();
    write(root, HANDOFF, &handoff("A"));
    commit(&sandbox, root, "ada");
    write(root, HANDOFF, &handoff("Better"));
    write(root, "docs/handoffs/größe.md", "# Größe\n");
    commit(&sandbox, root, "mallory");
    write(root, "HANDOFF.md", "# Mine\n");
    let listing = verbs::trust_listing(&open(root));
    let ada_and_mallory = ["ada@example.org", "mallory@example.org"];
    assert_eq!(authors(&listing, HANDOFF), ada_and_mallory);
    assert_eq!(authors(&listing, "docs/handoffs/größe.md"), ["mallory@example.org"]);
    assert_eq!(authors(&listing, "HANDOFF.md"), [""; 0]);
    let changed = |listing: &TrustListing| {
        let changed = listing.documents.iter().filter(|document| document.is_changed);
        changed.map(|document| document.path.display().to_string()).collect::<Vec<_>>()
    };
    assert_eq!(changed(&listing), ["HANDOFF.md"]);
    assert_eq!((listing.proofs.len(), &*listing.proofs[0].command), (1, "make all"));
    assert!(!listing.proofs[0].is_allowed);
    let refused = listing.require_author("ada@example.org").unwrap_err();
    assert_eq!((refused.others.len(), refused.others[0].1, refused.unknown), (1, 2, 1));
    // What is edited has the author of the commit, and is not theirs.
    std::fs::remove_file(root.join("HANDOFF.md")).unwrap();
    write(root, "docs/handoffs/größe.md", "# Edited\n");
    assert_eq!(changed(&verbs::trust_listing(&open(root))), ["docs/handoffs/größe.md"]);
}

#[test]
fn a_forged_author_grants_nothing() {
    let sandbox = Sandbox::new("").repository();
    write(sandbox.root(), HANDOFF, &handoff("A"));
    // The author line is the user's, and nothing shows that it was not the user.
    commit(&sandbox, sandbox.root(), "ada");
    let workspace = open(sandbox.root());
    assert!(verbs::trust_listing(&workspace).require_author("ada@example.org").is_ok());
    assert_eq!(workspace.access(), Access::Own { withheld: 1 });
    assert!(!workspace.is_trusted() && !verbs::is_vouched_by_remote(&workspace).unwrap());
}

/// A remote with a handoff, and a clone whose remote the user trusts.
fn remote() -> (Sandbox, PathBuf) {
    let sandbox = Sandbox::new("");
    let origin = sandbox.root().with_file_name("origin.git");
    let path = origin.display().to_string();
    git(&sandbox, sandbox.root(), "ada", &["init", "--quiet", "--bare", &path]);
    let first = clone(&sandbox, "first");
    write(&first, CONFIG, "");
    write(&first, HANDOFF, &handoff("A"));
    commit(&sandbox, &first, "ada");
    git(&sandbox, &first, "ada", &["push", "--quiet", "origin", "HEAD:refs/heads/main"]);
    git(&sandbox, &origin, "ada", &["symbolic-ref", "HEAD", "refs/heads/main"]);
    assert!(!verbs::is_vouched_by_remote(&open(&first)).unwrap(), "nobody trusts it");
    assert_eq!(verbs::trust_remote(&open(&first), &consent()).unwrap(), Some(path));
    (sandbox, origin)
}

fn clone(sandbox: &Sandbox, name: &str) -> PathBuf {
    let origin = sandbox.root().with_file_name("origin.git").display().to_string();
    git(sandbox, sandbox.root(), "ada", &["clone", "--quiet", &origin, &format!("../{name}")]);
    sandbox.root().with_file_name(name)
}

#[test]
fn a_clone_that_its_trusted_remote_has_needs_no_question() {
    let (sandbox, _) = remote();
    let second = clone(&sandbox, "second");
    assert_eq!(open(&second).access(), Access::Own { withheld: 1 }, "nothing is automatic");
    assert!(verbs::is_vouched_by_remote(&open(&second)).unwrap());
    // A local commit that changes something else changes nothing about the documents.
    write(&second, "src/a.rs", "fn a() {}\n");
    commit(&sandbox, &second, "bob");
    assert!(verbs::is_vouched_by_remote(&open(&second)).unwrap());
    // An edited or a new document is not the remote's, committed or not.
    write(&second, HANDOFF, &handoff("Edited"));
    assert!(!verbs::is_vouched_by_remote(&open(&second)).unwrap());
    commit(&sandbox, &second, "ada");
    assert!(!verbs::is_vouched_by_remote(&open(&second)).unwrap());
    let third = clone(&sandbox, "third");
    write(&third, "HANDOFF.md", "# New\n");
    assert!(!verbs::is_vouched_by_remote(&open(&third)).unwrap());
    // The configuration counts too.
    let fourth = clone(&sandbox, "fourth");
    write(&fourth, CONFIG, "[hooks]\nstop_gate = true\n");
    assert!(!verbs::is_vouched_by_remote(&open(&fourth)).unwrap());
    verbs::distrust(&open(&third)).unwrap();
    let fifth = clone(&sandbox, "fifth");
    assert!(!verbs::is_vouched_by_remote(&open(&fifth)).unwrap(), "the trust was taken back");
}

#[test]
fn a_forged_remote_grants_nothing() {
    let (sandbox, origin) = remote();
    let tip = {
        let mut git = sandbox.command("git");
        let output = git.arg("-C").arg(&origin).args(["rev-parse", "main"]).output().unwrap();
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    };
    // A repository of someone else that names the trusted remote.
    let forged = sandbox.root().with_file_name("forged");
    let path = forged.display().to_string();
    git(&sandbox, sandbox.root(), "mallory", &["init", "--quiet", &path]);
    write(&forged, HANDOFF, &handoff("Forged"));
    commit(&sandbox, &forged, "ada");
    let url = origin.display().to_string();
    git(&sandbox, &forged, "ada", &["remote", "add", "origin", &url]);
    let refused = |what: &str| {
        let workspace = open(&forged);
        assert!(verbs::trusted_remote(&workspace).is_some(), "{what}: the URL is the trusted one");
        assert!(!verbs::is_vouched_by_remote(&workspace).unwrap(), "{what}");
        assert_eq!(workspace.access(), Access::Own { withheld: 1 }, "{what}");
    };
    refused("its URL alone");
    // Its configuration sends the question to a place that has the forged commit.
    let config = format!("url.{path}/.git.insteadOf");
    git(&sandbox, &forged, "ada", &["config", &config, &url]);
    refused("another place for the URL");
    git(&sandbox, &forged, "ada", &["config", "--unset-all", &config]);
    // The commit of the remote is here, but something else is shown in its place.
    git(&sandbox, &forged, "ada", &["fetch", "--quiet", "origin", "main"]);
    git(&sandbox, &forged, "ada", &["replace", &tip, "HEAD"]);
    refused("a replaced commit");
    git(&sandbox, &forged, "ada", &["replace", "--delete", &tip]);
    // Objects of other content under the ids that the remote has.
    git(&sandbox, &forged, "ada", &["config", "remote.origin.fetch", "+refs/heads/*:refs/x/*"]);
    let object = |id: &str| forged.join(".git/objects").join(&id[..2]).join(&id[2..]);
    let head = std::fs::read_to_string(forged.join(".git/HEAD")).unwrap();
    let head = head.trim().strip_prefix("ref: ").unwrap();
    let own = std::fs::read_to_string(forged.join(".git").join(head)).unwrap();
    let target = object(&tip);
    let _ = std::fs::remove_file(&target);
    std::fs::create_dir_all(target.parent().unwrap()).unwrap();
    std::fs::copy(object(own.trim()), &target).unwrap();
    refused("a commit whose content does not have its id");
}

#[test]
fn a_remote_inside_the_repository_is_never_trusted() {
    let sandbox = Sandbox::new("").repository();
    write(sandbox.root(), HANDOFF, &handoff("A"));
    commit(&sandbox, sandbox.root(), "ada");
    let inside = sandbox.root().join("evil.git").display().to_string();
    for url in [inside.as_str(), "../x", "ext::sh -c id", "http://example.org/x", "evil::x", "-x:y"]
    {
        let _ = sandbox.command("git").args(["remote", "remove", "origin"]).output();
        let mut add = sandbox.command("git");
        add.args(["config", "remote.origin.url", url]);
        sandbox.finish(&mut add).exits(0);
        assert_eq!(verbs::trust_remote(&open(sandbox.root()), &consent()).unwrap(), None, "{url}");
    }
}
