//! A repository with a program planted in every setting of git that can run one. Each program
//! leaves a file named after its setting.

use crate::commands::session::put;
use crate::hostile::surfaces::SESSION;
use crate::sandbox;
use midstride_testkit::{Sandbox, fixtures};
use std::collections::BTreeSet;
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

/// A git that is installed here.
pub(super) struct InstalledGit {
    pub(super) path: PathBuf,
    pub(super) version: String,
}

/// The different versions of git that are installed.
pub(super) fn gits() -> Vec<InstalledGit> {
    let usual = std::env::var_os("PATH").unwrap_or_default();
    let more = std::fs::read_dir("/opt").into_iter().flatten().flatten();
    let more = more.map(|entry| entry.path().join("bin"));
    let folders = std::env::split_paths(&usual)
        .chain(["/usr/local/bin", "/usr/bin"].map(PathBuf::from))
        .chain(more);
    let mut seen = BTreeSet::new();
    let mut found = Vec::new();
    for path in folders.map(|folder| folder.join("git")).filter(|path| path.is_file()) {
        let Ok(output) = std::process::Command::new(&path).arg("--version").output() else {
            continue;
        };
        let version = String::from_utf8(output.stdout).unwrap().trim().to_owned();
        if seen.insert(version.clone()) {
            found.push(InstalledGit { path, version });
        }
    }
    assert!(!found.is_empty(), "git is not installed");
    found
}

/// Which programs are planted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Planted {
    /// All of them, and an object is missing that a promisor remote could send.
    Everything,
    /// All but those that keep `sync` from trying, or that stop git where they run.
    ReachableBySync,
    /// A single one.
    Only(&'static str),
    /// None, but the URL of the remote is a command.
    CommandUrl,
}

/// The settings whose programs git runs to reach another repository.
pub(super) const NETWORK_KEYS: [&str; 8] = [
    "core.askPass",
    "core.gitProxy",
    "core.sshCommand",
    "credential.helper",
    "credential.https://example.org.helper",
    "remote.origin.receivepack",
    "remote.origin.uploadpack",
    "remote.origin.vcs",
];

/// The other settings that name a program, from git's documentation.
pub(super) const KEYS: [&str; 60] = [
    "alias.blame",
    "alias.cat-file",
    "alias.fetch",
    "alias.log",
    "alias.status",
    "browser.canary.cmd",
    "core.alternateRefsCommand",
    "core.editor",
    "core.fsmonitor",
    "core.pager",
    "core.virtualFilesystem",
    "diff.canary.command",
    "diff.canary.textconv",
    "diff.external",
    "difftool.canary.cmd",
    "difftool.canary.path",
    "filter.canary.clean",
    "filter.canary.smudge",
    "filter.piped.process",
    "filter.=odd=.clean",
    "gc.recentObjectsHook",
    "gpg.openpgp.program",
    "gpg.program",
    "gpg.ssh.defaultKeyCommand",
    "gpg.ssh.program",
    "gpg.x509.program",
    "guitool.canary.cmd",
    "help.browser",
    "hook.canary.command",
    "imap.tunnel",
    "instaweb.browser",
    "instaweb.httpd",
    "interactive.diffFilter",
    "man.canary.cmd",
    "merge.canary.driver",
    "mergetool.canary.cmd",
    "mergetool.canary.path",
    "pager.blame",
    "pager.config",
    "pager.diff",
    "pager.log",
    "pager.status",
    "remote.promisor.receivepack",
    "remote.promisor.uploadpack",
    "sendemail.ccCmd",
    "sendemail.headerCmd",
    "sendemail.sendmailCmd",
    "sendemail.toCmd",
    "sequence.editor",
    "submodule.vendor.update",
    "tar.canary.command",
    "trailer.canary.cmd",
    "trailer.canary.command",
    "uploadpack.packObjectsHook",
    "web.browser",
    "diff.nested.textconv",
    "diff.nested.command",
    "filter.nested.clean",
    "filter.nested.process",
    "merge.nested.driver",
];

/// Settings that make git run the programs above.
const TRIGGERS: &str = "\
[log]\n\tshowSignature = true
[push]\n\tgpgSign = if-asked\n\trecurseSubmodules = on-demand
[fetch]\n\trecurseSubmodules = true
[submodule]\n\trecurse = true
[submodule \"vendor\"]\n\turl = ./vendor\n\tactive = true\n\tignore = none
[status]\n\tsubmoduleSummary = true
[diff]\n\tsubmodule = log\n\tignoreSubmodules = none\n\ttool = canary
[merge]\n\ttool = canary
[gc]\n\tauto = 1\n\tautoDetach = false
[maintenance]\n\tauto = true\n\tautoDetach = false
[protocol]\n\tallow = always
[protocol \"ext\"]\n\tallow = always
[commit]\n\tgpgSign = true
[tag]\n\tgpgSign = true
[hook \"canary\"]\n\tevent = reference-transaction
[trailer \"canary\"]\n\tkey = canary
[remote \"promisor\"]\n\tpromisor = true\n\tpartialCloneFilter = blob:none
[extensions]\n\tpartialClone = promisor
[core]\n\trepositoryFormatVersion = 1
[include]\n\tpath = included
";

/// The hooks of git that are files.
const HOOKS: [&str; 24] = [
    "applypatch-msg",
    "commit-msg",
    "fsmonitor-watchman",
    "p4-changelist",
    "p4-pre-submit",
    "post-applypatch",
    "post-checkout",
    "post-commit",
    "post-index-change",
    "post-merge",
    "post-receive",
    "post-rewrite",
    "post-update",
    "pre-applypatch",
    "pre-auto-gc",
    "pre-commit",
    "pre-merge-commit",
    "pre-push",
    "pre-rebase",
    "pre-receive",
    "prepare-commit-msg",
    "push-to-checkout",
    "reference-transaction",
    "update",
];

/// The file name of a setting.
pub(super) fn slug(key: &str) -> String {
    key.replace(|c: char| !c.is_ascii_alphanumeric() && c != '-', "-")
}

const MARKET: &str = "\
---
handoff:
  id: market
  uid: 01980000-0000-7000-8000-000000000001
  title: Market pages take 14 s
  kind: investigation
  status: in_progress
  created: 2026-03-21T17:24:00Z
  context_summary: Cold renders load every company, a pelican among them.
  open_questions:
    - question: May the weather be ten minutes old?
      blocking: true
  proofs:
    - claim: It holds
      run: 'true'
---

## Diagnosis

`src/market.rs:3` is slow, and `src/gone.rs` is where `src/other.rs:2` came from.
";

/// Cites code without saying at which commit, so that git is asked who wrote the line.
const UNDATED: &str = "\
---
handoff:
  id: undated
  title: An undated one
  context_summary: Short.
---

## Diagnosis

`src/market.rs:3` is slow, and `src/gone.rs:2` too.
";

const FEATURE: &str = "\
---
handoff:
  id: feature
  kind: stage
  stage: request
  status: planned
  created: 2026-03-21T17:24:00Z
  context_summary: Quotas for markets.
---
";

/// A project with a history, and programs planted afterwards.
pub(super) fn planted(git: &InstalledGit, planted_as: Planted) -> Sandbox {
    let sandbox = sandbox().with_program("git", &git.path).repository();
    add_history(&sandbox);
    add_remotes(&sandbox);
    add_conflict(&sandbox);
    add_submodule(&sandbox);
    let text = std::fs::read_to_string(fixtures("transcripts/claude-code").join("cache.jsonl"));
    let text = text.unwrap().replace("/home/dev/shop", &sandbox.root().display().to_string());
    put(&sandbox, SESSION, &text.replace("2026-03-20", "2026-03-22"));
    std::fs::create_dir(sandbox.home().join("fired")).unwrap();
    match planted_as {
        Planted::Everything => {
            plant(&sandbox, &[&KEYS[..], &NETWORK_KEYS].concat());
            plant_hooks(&sandbox, &sandbox.root().join("planted-hooks"), "hookspath");
            let config = sandbox.read(".git/config") + "[core]\n\thooksPath = planted-hooks\n";
            sandbox.write(".git/config", config);
            remove_object(&sandbox, "first:src/gone.rs");
            remove_object(&sandbox, "first:src/market.rs");
        }
        Planted::ReachableBySync => {
            plant(
                &sandbox,
                &KEYS.into_iter().filter(|key| !key.ends_with("process")).collect::<Vec<_>>(),
            );
        }
        Planted::Only(key) => plant_keys(&sandbox, ".git/config", &[key], "", "origin"),
        Planted::CommandUrl => {
            let program = plant_program(&sandbox, "remote-origin-url");
            let url = format!(
                "[protocol]\n\tallow = always\n[protocol \"ext\"]\n\tallow = always\n\
                 [remote \"origin\"]\n\turl = \"ext::{} x\"\n",
                program.display()
            );
            let config = sandbox.read(".git/config");
            let config = config.replace(&format!("url = {}", hub(&sandbox).display()), "");
            sandbox.write(".git/config", config + &url);
        }
    }
    // Files of an unpacked archive do not match the index.
    for path in ["src/market.rs", "src/other.rs", ".midstride/handoffs/market.md", "vendor/a.txt"] {
        let file = std::fs::File::options().append(true).open(sandbox.root().join(path)).unwrap();
        let later = std::time::SystemTime::now() + std::time::Duration::from_mins(1);
        file.set_modified(later).unwrap();
    }
    sandbox
}

fn hub(sandbox: &Sandbox) -> PathBuf {
    sandbox.home().join("hub.git")
}

fn add_history(sandbox: &Sandbox) {
    sandbox.as_user().run(["init"]).exits(0);
    let lines: String = (1..12).map(|number| format!("let line = {number};\n")).collect();
    sandbox.write("src/market.rs", &lines).write("src/other.rs", &lines);
    sandbox.write("src/gone.rs", format!("{lines}let gone = true;\n"));
    sandbox.write(".midstride/handoffs/market.md", MARKET);
    sandbox.write(".midstride/handoffs/feature/request.md", FEATURE);
    sandbox.write(".midstride/handoffs/undated.md", UNDATED);
    sandbox.write("HANDOFF.md", "# Where we are\n\n`src/market.rs:3` is slow.\n");
    sandbox.write(".gitattributes", ATTRIBUTES).write("body.md", "## Diagnosis\n\nA new one.\n");
    sandbox.git(&["add", "--all"]);
    sandbox.git(&["commit", "--quiet", "--message", "first"]);
    sandbox.git(&["tag", "first"]);
    for text in ["## Diagnosis\n\nSee `src/market.rs:4`.\n", "## Diagnosis\n\n`src/gone.rs:2`.\n"] {
        let revise = ["edit", "market", "--reason", "More is known", "--body", "-"];
        sandbox.run_with_input(&revise, text).exits(0);
        sandbox.git(&["commit", "--quiet", "--all", "--message", "revised"]);
    }
    sandbox.git(&["rm", "--quiet", "src/gone.rs"]);
    sandbox.write("src/market.rs", format!("// New.\n{lines}"));
    sandbox.git(&["commit", "--quiet", "--all", "--message", "moved"]);
    // A signed commit, as any repository may have.
    let signature = r"gpgsig -----BEGIN PGP SIGNATURE-----\n \n iQ\n -----END PGP SIGNATURE-----\n";
    let sign = format!(
        "git cat-file commit HEAD | sed '0,/^$/s/^$/{signature}/' > \"$HOME/signed\" &&
        git update-ref HEAD $(git hash-object -t commit -w \"$HOME/signed\")"
    );
    sandbox.finish(sandbox.command("sh").args(["-c", &sign])).exits(0);
}

const ATTRIBUTES: &str = "\
*.rs diff=canary filter=canary merge=canary
*.md diff=canary filter=piped merge=canary
.midstride/handoffs/feature/*.md filter==odd= diff=nested
";

fn add_remotes(sandbox: &Sandbox) {
    let hub = hub(sandbox);
    let (hub, alternate) = (hub.to_str().unwrap(), sandbox.home().join("alternate.git"));
    sandbox.git(&["clone", "--quiet", "--bare", ".", alternate.to_str().unwrap()]);
    sandbox.git(&["clone", "--quiet", "--bare", ".", hub]);
    sandbox.git(&["remote", "add", "origin", hub]);
    sandbox.git(&["remote", "add", "promisor", hub]);
    let objects = format!("{}\n", alternate.join("objects").display());
    for git_dir in [sandbox.root().join(".git"), PathBuf::from(hub)] {
        std::fs::write(git_dir.join("objects/info/alternates"), &objects).unwrap();
    }
}

fn add_conflict(sandbox: &Sandbox) {
    let commit = |text: &str| {
        sandbox.write("src/conflict.md", text).git(&["add", "--all"]);
        sandbox.git(&["commit", "--quiet", "--message", "conflict"]);
    };
    commit("base\n");
    sandbox.git(&["branch", "side"]);
    commit("ours\n");
    sandbox.git(&["checkout", "--quiet", "side"]);
    commit("theirs\n");
    sandbox.git(&["checkout", "--quiet", "main"]);
    let merge = ["merge", "--quiet", "side"];
    sandbox.finish(sandbox.command("git").args(merge)).exits(1);
}

fn add_submodule(sandbox: &Sandbox) {
    sandbox.write("vendor/a.txt", "a\n").write("vendor/.gitattributes", "* filter=vendored\n");
    for arguments in [&["init", "--quiet"][..], &["add", "--all"], &["commit", "-qm", "vendor"]] {
        let mut git = sandbox.command("git");
        sandbox.finish(git.args(arguments).current_dir(sandbox.root().join("vendor"))).exits(0);
    }
    let modules = "[submodule \"vendor\"]\n\tpath = vendor\n\turl = ./vendor\n";
    sandbox.write(".gitmodules", modules);
    sandbox.git(&["-c", "advice.addEmbeddedRepo=false", "add", "vendor", ".gitmodules"]);
}

/// Plants programs in the repository, its submodule and its remote.
fn plant(sandbox: &Sandbox, keys: &[&'static str]) {
    // Some of them come by a file that the configuration includes.
    let (included, direct): (Vec<&str>, Vec<&str>) =
        keys.iter().copied().partition(|key| key.contains("nested"));
    plant_keys(sandbox, ".git/included", &included, "", "origin");
    plant_keys(sandbox, ".git/config", &direct, TRIGGERS, "origin");
    let vendored = ["core.fsmonitor", "filter.vendored.clean", "filter.vendored.process"];
    plant_keys(sandbox, "vendor/.git/config", &vendored, "", "vendor");
    let hub = "../home/hub.git";
    let remote_keys =
        ["core.alternateRefsCommand", "gc.recentObjectsHook", "uploadpack.packObjectsHook"];
    let triggers = "[gc]\n\tauto = 1\n\tautoDetach = false\n";
    plant_keys(sandbox, &format!("{hub}/config"), &remote_keys, triggers, "hub");
    sandbox.write(".git/info/attributes", ATTRIBUTES);
    for git_dir in [".git", "vendor/.git", hub] {
        plant_hooks(sandbox, &sandbox.root().join(git_dir).join("hooks"), "hook");
    }
}

/// Plants a program for every hook in a folder.
fn plant_hooks(sandbox: &Sandbox, folder: &Path, place: &str) {
    std::fs::create_dir_all(folder).unwrap();
    for hook in HOOKS {
        let program = plant_program(sandbox, &format!("{place}-{hook}"));
        std::fs::copy(program, folder.join(hook)).unwrap();
    }
}

/// Plants programs for some keys in a configuration file.
fn plant_keys(sandbox: &Sandbox, file: &str, keys: &[&str], more: &str, place: &str) {
    let path = sandbox.root().join(file);
    let mut text = std::fs::read_to_string(&path).unwrap_or_default();
    text.push_str(more);
    for key in keys {
        let name = if place == "origin" { slug(key) } else { format!("{place}-{}", slug(key)) };
        let program = plant_program(sandbox, &name).display().to_string();
        let value = match *key {
            "remote.origin.vcs" => plant_helper(sandbox, Path::new(&program)),
            key if key.starts_with("alias.") || key.ends_with(".update") => format!("!{program}"),
            _ => program,
        };
        let (section, rest) = key.split_once('.').unwrap();
        let section = match rest.rsplit_once('.') {
            Some((subsection, _)) => format!("{section} \"{subsection}\""),
            None => section.to_owned(),
        };
        let name = key.rsplit('.').next().unwrap();
        text.push_str(&format!("[{section}]\n\t{name} = {value}\n"));
    }
    std::fs::write(&path, text).unwrap();
}

/// Writes the program that leaves a file of this name.
fn plant_program(sandbox: &Sandbox, name: &str) -> PathBuf {
    let folder = sandbox.home().join("canary");
    std::fs::create_dir_all(&folder).unwrap();
    let (path, mark) = (folder.join(name), sandbox.home().join("fired").join(name));
    // Git continues after those that succeed, so that later ones are reached.
    let rest = match name {
        name if name.ends_with("clean") || name.ends_with("smudge") => "exec cat",
        name if name.ends_with("textconv") => "exec cat \"$1\"",
        name if name.starts_with("hook") => "exit 0",
        _ => "exit 1",
    };
    let script = format!("#!/bin/sh\ntouch '{}'\n{rest}\n", mark.display());
    std::fs::write(&path, script).unwrap();
    std::fs::set_permissions(&path, Permissions::from_mode(0o755)).unwrap();
    path
}

/// Git runs `git-remote-` and the name of a helper, which may lead to a file of the working tree.
fn plant_helper(sandbox: &Sandbox, program: &Path) -> String {
    std::fs::create_dir_all(sandbox.root().join("git-remote-x")).unwrap();
    std::fs::copy(program, sandbox.root().join("helper")).unwrap();
    "x/../helper".to_owned()
}

/// Removes an object, which a promisor remote would have.
fn remove_object(sandbox: &Sandbox, name: &str) {
    let script = "id=$(git -c core.fsmonitor=false rev-parse \"$1\") && cd .git/objects &&
        file=$(echo $id | cut -c1-2)/$(echo $id | cut -c3-) &&
        rm -f \"$file\" && rm -f \"$HOME/alternate.git/objects/$file\"";
    sandbox.finish(sandbox.command("sh").args(["-c", script, "sh", name])).exits(0);
}
