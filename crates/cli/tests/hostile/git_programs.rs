//! Tests with a repository whose `.git/config` names a program in every setting where git can
//! run one, as an unpacked archive might. No command, hook or tool of midstride may run one.

mod planted;

use super::surfaces::{run_commands, run_hooks, run_tools};
use midstride_testkit::Sandbox;
use planted::{KEYS, NETWORK_KEYS, Planted, gits, planted};
use std::collections::BTreeSet;

/// The programs that ran, by the setting that names them.
fn fired(sandbox: &Sandbox) -> BTreeSet<String> {
    let Ok(listed) = std::fs::read_dir(sandbox.home().join("fired")) else {
        return BTreeSet::new();
    };
    listed.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

/// Runs everything and collects what ran, with the first surface that ran it.
fn fired_everywhere(sandbox: &Sandbox) -> Vec<String> {
    let mut seen = BTreeSet::new();
    let mut reports = Vec::new();
    let mut note = |surface: &str, _: &str| {
        for name in fired(sandbox) {
            if seen.insert(name.clone()) {
                reports.push(format!("{name} by {surface}"));
            }
        }
    };
    run_tools(sandbox, &mut note);
    run_hooks(sandbox, &mut note);
    run_commands(sandbox, &mut note);
    reports
}

#[test]
fn no_program_of_a_repository_runs() {
    assert!(KEYS.len() + NETWORK_KEYS.len() >= 25);
    let mut fired = Vec::new();
    for git in gits() {
        for planted_as in [Planted::Everything, Planted::ReachableBySync] {
            let reports = fired_everywhere(&planted(&git, planted_as)).into_iter();
            fired.extend(reports.map(|one| format!("{} {planted_as:?}: {one}", git.version)));
        }
    }
    assert!(fired.is_empty(), "{fired:#?}");
}

#[test]
fn sync_reaches_a_remote_beside_planted_programs() {
    for git in gits() {
        let sandbox = planted(&git, Planted::ReachableBySync);
        sandbox.run(["task", "add", "Sent to the remote"]).exits(0);
        sandbox.run(["sync"]).exits(0);
        let hub = sandbox.home().join("hub.git");
        let refs =
            sandbox.git(&["ls-remote", "--upload-pack=git-upload-pack", hub.to_str().unwrap()]);
        assert!(refs.contains("refs/midstride/tasks"), "{}: {refs}", git.version);
        assert!(fired(&sandbox).is_empty(), "{}: {:?}", git.version, fired(&sandbox));
    }
}

#[test]
fn sync_refuses_network_programs_of_a_repository() {
    for git in gits() {
        for key in NETWORK_KEYS {
            let sandbox = planted(&git, Planted::Only(key));
            let run = sandbox.run(["sync"]).exits(2);
            let about = format!("{} {key}: {run}", git.version);
            assert!(run.stderr.to_lowercase().contains(&key.to_lowercase()), "{about}");
            assert!(run.stderr.contains("git config --global"), "{about}");
            assert!(fired(&sandbox).is_empty(), "{about}");
        }
    }
}

#[test]
fn sync_runs_network_programs_that_the_user_configured() {
    for git in gits() {
        let key = "remote.origin.uploadpack";
        let sandbox = planted(&git, Planted::Only(key));
        let program = sandbox.home().join("canary").join(planted::slug(key));
        let mine = format!("[remote \"origin\"]\n\tuploadpack = {}\n", program.display());
        std::fs::write(sandbox.home().join("gitconfig"), mine).unwrap();
        let mut sync = sandbox.command(env!("CARGO_BIN_EXE_midstride"));
        sandbox.finish(sync.arg("sync").env("GIT_CONFIG_GLOBAL", sandbox.home().join("gitconfig")));
        assert_eq!(fired(&sandbox), BTreeSet::from([planted::slug(key)]), "{}", git.version);
    }
}

#[test]
fn sync_does_not_follow_a_url_that_is_a_command() {
    for git in gits() {
        let sandbox = planted(&git, Planted::CommandUrl);
        let run = sandbox.run(["sync"]).exits(2);
        assert!(run.stderr.contains("transport 'ext' not allowed"), "{}: {run}", git.version);
        assert!(fired(&sandbox).is_empty(), "{}: {:?}", git.version, fired(&sandbox));
    }
}

/// Shows that the programs are planted where git runs them: without it, the other tests could not
/// fail.
#[test]
fn plain_git_runs_planted_programs() {
    let calls: [&[&str]; 9] = [
        &["status"],
        &["log"],
        &["blame", "src/market.rs"],
        &["diff", "first", "HEAD", "--", ".midstride"],
        &["cat-file", "-p", "first:src/gone.rs"],
        &["fetch", "origin"],
        &["push", "origin", "HEAD:refs/heads/other"],
        &["update-ref", "refs/heads/other", "HEAD"],
        &["checkout", "--quiet", "HEAD", "--", "src/market.rs"],
    ];
    let expected = [
        "core-fsmonitor",
        "diff-canary-command",
        "diff-canary-textconv",
        "filter-canary-clean",
        "filter-canary-smudge",
        "filter-piped-process",
        "gpg-program",
        "hook-post-receive",
        "hook-pre-push",
        "hook-reference-transaction",
        "hookspath-reference-transaction",
        "hub-core-alternateRefsCommand",
        "remote-origin-vcs",
        "remote-promisor-uploadpack",
    ];
    for git in gits() {
        let mut all = BTreeSet::new();
        for planted_as in [Planted::Everything, Planted::ReachableBySync] {
            let sandbox = planted(&git, planted_as);
            for arguments in calls {
                sandbox.finish(sandbox.command("git").args(arguments));
            }
            all.extend(fired(&sandbox));
        }
        for name in expected {
            assert!(all.contains(name), "{} {name}: {all:?}", git.version);
        }
    }
}
