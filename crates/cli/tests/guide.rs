//! Tests that run the commands in the README and the guide, and that follow the links of all pages.

use crate::commands::setup::newcomer;
use midstride_testkit::{Sandbox, repository_root};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Commands that the sandbox of a page cannot run, by how they begin, with the reason.
const NOT_RUN: [(&str, &str); 3] = [
    ("cargo ", "builds, installs or removes the program itself"),
    ("cd ", "the sandbox starts in its repository"),
    ("scripts/test", "runs this test"),
];

/// What the user types when `setup` asks, and later commands do.
const TYPED: &str = "a\ny\ny\n";

/// Runs a line in the shell and stops at the first one that exits with another code than expected.
/// Questions need a terminal, and a pager would wait for a key.
const SHELL: &str = r#"exec >/dev/tty 2>&1
export PAGER=cat
run() {
    eval "$2"
    local code=$?
    if [ "$code" != "$1" ]; then echo "exit $code: $2"; exit 99; fi
}
"#;

fn pages_with_commands() -> Vec<PathBuf> {
    let folder = repository_root().join("docs/guide");
    let mut pages: Vec<PathBuf> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    pages.push(repository_root().join("README.md"));
    pages.sort();
    pages
}

/// The commands in the `sh` blocks of a page, each with the exit code that its comment names.
fn commands(page: &str) -> Vec<(i32, String)> {
    let mut commands = Vec::new();
    for block in page.split("\n```sh\n").skip(1) {
        let block = block.split("\n```").next().unwrap().replace("\\\n", " ");
        for line in block.lines().filter(|line| !line.trim().is_empty()) {
            let (command, comment) = line.split_once(" # ").unwrap_or((line, ""));
            let code = comment.strip_prefix("exit code ").map_or("0", |rest| &rest[..1]);
            commands.push((code.parse().unwrap(), command.trim().to_owned()));
        }
    }
    commands
}

/// The commands of midstride in the text of a page, outside of blocks.
fn inline_commands(page: &str) -> BTreeSet<&str> {
    let outside = page.split("\n```").step_by(2);
    let spans = outside.flat_map(|text| text.split('`').skip(1).step_by(2));
    spans.filter(|span| *span == "midstride" || span.starts_with("midstride ")).collect()
}

fn quote(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

/// The repository of a newcomer, with a remote that has its commits.
fn cloned() -> Sandbox {
    let sandbox = newcomer();
    let remote = sandbox.home().join("remote.git").display().to_string();
    sandbox.git(&["init", "--quiet", "--bare", "--initial-branch=main", &remote]);
    sandbox.git(&["remote", "add", "origin", &remote]);
    sandbox.git(&["push", "--quiet", "--set-upstream", "origin", "main"]);
    sandbox
}

fn run_script(sandbox: &Sandbox, script: &str) -> midstride_testkit::Run {
    let bash = Path::new("/bin/bash");
    sandbox.as_user_of(bash).types(TYPED).run(["-c", &format!("{SHELL}{script}")])
}

#[test]
fn every_command_of_the_readme_and_the_guide_runs() {
    let mut count = 0;
    for path in pages_with_commands() {
        let page = fs::read_to_string(&path).unwrap();
        let is_run = |command: &str| !NOT_RUN.iter().any(|(start, _)| command.starts_with(start));
        let commands = commands(&page).into_iter().filter(|(_, command)| is_run(command));
        let lines: Vec<String> =
            commands.map(|(code, command)| format!("run {code} {}\n", quote(&command))).collect();
        count += lines.len();
        let run = run_script(&cloned(), &lines.concat());
        assert_eq!(run.code, Some(0), "{}: {run}", path.display());
    }
    assert!(count > 40, "{count} commands are too few");
}

#[test]
fn every_command_in_the_text_of_the_readme_and_the_guide_exists() {
    let sandbox = cloned();
    for path in pages_with_commands() {
        let page = fs::read_to_string(&path).unwrap();
        let lines: String = inline_commands(&page)
            .into_iter()
            .map(|command| format!("run 0 {}\n", quote(&format!("{command} --help"))))
            .collect();
        let run = run_script(&sandbox, &lines);
        assert_eq!(run.code, Some(0), "{}: {run}", path.display());
    }
}

#[test]
fn the_readme_is_short() {
    let page = fs::read_to_string(repository_root().join("README.md")).unwrap();
    assert!(page.lines().count() <= 120, "{} lines", page.lines().count());
}

/// All Markdown pages of the project that are not test data.
fn pages() -> Vec<PathBuf> {
    let root = repository_root();
    let mut found = Vec::new();
    let mut folders = vec![root.join("docs"), root.join("plugin"), root.join(".github")];
    while let Some(folder) = folders.pop() {
        for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            match path.is_dir() {
                true => folders.push(path),
                false => found.push(path),
            }
        }
    }
    found.extend(fs::read_dir(&root).unwrap().map(|entry| entry.unwrap().path()));
    found.retain(|path| path.extension().is_some_and(|extension| extension == "md"));
    found.sort();
    found
}

/// The anchors of the headings, as hosting services make them.
fn anchors(page: &str) -> BTreeSet<String> {
    let headings = page.lines().filter_map(|line| {
        let text = line.trim_start_matches('#');
        (text.len() < line.len()).then_some(text.trim())
    });
    let keep = |c: char| c.is_alphanumeric() || c == '-' || c == '_' || c == ' ';
    headings
        .map(|text| text.to_lowercase().chars().filter(|c| keep(*c)).collect::<String>())
        .map(|text| text.replace(' ', "-"))
        .collect()
}

/// Why a link of a page leads nowhere, if it does.
fn broken(path: &Path, target: &str) -> Option<String> {
    if target.starts_with("https://") {
        return None;
    }
    let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
    let file = match file {
        "" => path.to_owned(),
        file => path.parent().unwrap().join(file),
    };
    if !file.exists() {
        return Some(format!("{}: no file {target}", path.display()));
    }
    let has_anchor =
        anchor.is_empty() || anchors(&fs::read_to_string(&file).unwrap()).contains(anchor);
    (!has_anchor).then(|| format!("{}: no heading {target}", path.display()))
}

#[test]
fn no_link_is_broken() {
    let mut count = 0;
    let mut wrong = Vec::new();
    for path in pages() {
        let page = fs::read_to_string(&path).unwrap();
        let outside: String = page.split("\n```").step_by(2).collect();
        for rest in outside.split("](").skip(1) {
            let target = rest.split(')').next().unwrap();
            count += 1;
            wrong.extend(broken(&path, target));
        }
    }
    assert!(count > 20, "{count} links are too few");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
