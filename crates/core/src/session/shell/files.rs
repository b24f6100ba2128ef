//! Recognizes commands that write, delete, move, or restore files.

use super::git::GitCommand;
use super::line::SimpleCommand;

/// What a command does to files. Paths are as typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum FileStep {
    /// Deletes files.
    Remove(Vec<String>),
    /// Moves files to a file or a folder.
    Move {
        /// The files that are moved.
        from: Vec<String>,
        /// The destination.
        to: String,
    },
    /// Restores files from git; all of them if none is named.
    Restore(Vec<String>),
    /// Stashes changes.
    Stash,
    /// Restores stashed changes.
    Unstash,
    /// Writes files.
    Write(Vec<String>),
    /// Changes files that the line does not name.
    Rewrite,
    /// Checks out another branch.
    Switch,
    /// Deletes untracked files.
    Clean,
}

/// Function calls that scripts use to write files.
const WRITES: [&str; 6] =
    ["write(", "write_text(", "writelines(", "writeFileSync(", "writeFile(", "File.write"];

/// Returns what a command does to files, if anything. Formatters are ignored, because their changes
/// do not affect any result.
pub(crate) fn file_step(command: &SimpleCommand) -> Option<FileStep> {
    let written = command.output_to.as_deref().filter(|path| is_project_file(path));
    if let Some(path) = written {
        return Some(FileStep::Write(vec![path.to_owned()]));
    }
    let owned = |words: Vec<&str>| words.into_iter().map(str::to_owned).collect::<Vec<_>>();
    match command.program() {
        "rm" | "unlink" | "trash" | "rmdir" => {
            Some(FileStep::Remove(owned(command.operands().collect())))
        }
        "mv" => moved(command.operands().collect()),
        "cp" => command.operands().last().map(|to| FileStep::Write(vec![to.to_owned()])),
        "tee" => written_to(command.operands().collect()),
        "sed" | "gsed" if command.args().iter().any(|arg| arg.starts_with("-i")) => {
            let has_script = command.has("-e") || command.has("-f") || command.has("--expression");
            let files = command.operands().skip(usize::from(!has_script));
            written_to(files.filter(|file| !file.is_empty()).collect())
        }
        "perl" | "ruby" if command.args().iter().any(|arg| is_in_place(arg)) => {
            Some(FileStep::Rewrite)
        }
        "patch" => Some(FileStep::Rewrite),
        "python" | "python3" | "node" | "ruby" | "perl" => {
            let code = command.stdin.as_deref().or(command.value_of(&["-c", "-e"]))?;
            WRITES.iter().any(|call| code.contains(call)).then_some(FileStep::Rewrite)
        }
        "git" => {
            let git = GitCommand::from_command(command)?;
            let operands: Vec<&str> = git.operands().collect();
            match git.verb {
                "rm" if !git.has("--cached") => Some(FileStep::Remove(owned(operands))),
                "mv" => moved(operands),
                "apply" if !git.has_any(&["--check", "--stat", "--cached"]) => {
                    Some(FileStep::Rewrite)
                }
                "merge" | "pull" | "rebase" | "cherry-pick" | "revert" | "am"
                    if !git.has_any(&["--abort", "--quit", "--continue", "--skip"]) =>
                {
                    Some(FileStep::Rewrite)
                }
                "clean" if !git.has_any(&["-n", "--dry-run"]) => Some(FileStep::Clean),
                "stash" => match operands.first().copied() {
                    None | Some("push" | "save") => Some(FileStep::Stash),
                    Some("pop" | "apply") => Some(FileStep::Unstash),
                    Some(_) => None,
                },
                "reset" if git.has("--hard") => Some(FileStep::Restore(Vec::new())),
                "restore" if git.has("--staged") && !git.has("--worktree") => None,
                "restore" => restored(operands),
                "checkout" => checked_out(&git, operands),
                "switch" if git.has_any(&["-c", "-C", "--create"]) => None,
                "switch" => Some(FileStep::Switch),
                _ => None,
            }
        }
        _ => None,
    }
}

fn written_to(files: Vec<&str>) -> Option<FileStep> {
    let files: Vec<String> =
        files.into_iter().filter(|file| is_project_file(file)).map(str::to_owned).collect();
    (!files.is_empty()).then_some(FileStep::Write(files))
}

fn is_in_place(arg: &str) -> bool {
    arg.starts_with('-') && !arg.starts_with("--") && arg.contains('i') && arg.len() <= 6
}

/// Whether a file is more than a log, a device, or a temporary file.
fn is_project_file(path: &str) -> bool {
    let is_passing = ["/dev/", "/tmp/", "/private/tmp/", "/var/", "$", "~", "&"];
    !path.is_empty()
        && !is_passing.iter().any(|start| path.starts_with(start))
        && ![".log", ".out", ".tmp"].iter().any(|ending| path.ends_with(ending))
}

fn moved(mut operands: Vec<&str>) -> Option<FileStep> {
    let to = operands.pop().filter(|_| !operands.is_empty())?.to_owned();
    Some(FileStep::Move { from: operands.into_iter().map(str::to_owned).collect(), to })
}

fn restored(operands: Vec<&str>) -> Option<FileStep> {
    let is_all = operands.iter().any(|path| matches!(*path, "." | ":/" | "*"));
    match (is_all, operands.is_empty()) {
        (true, _) => Some(FileStep::Restore(Vec::new())),
        (false, true) => None,
        (false, false) => {
            Some(FileStep::Restore(operands.into_iter().map(str::to_owned).collect()))
        }
    }
}

/// Returns whether `git checkout` restores files or switches branches.
fn checked_out(git: &GitCommand<'_>, operands: Vec<&str>) -> Option<FileStep> {
    if git.has_any(&["-b", "-B", "--orphan"]) {
        return None;
    }
    // This resolves a conflict with one of its sides; it reverts nothing.
    if git.has_any(&["--ours", "--theirs"]) {
        return Some(FileStep::Rewrite);
    }
    let behind = git.args.iter().skip_while(|arg| *arg != "--").skip(1);
    let behind: Vec<&str> = behind.map(String::as_str).collect();
    if !behind.is_empty() {
        return restored(behind);
    }
    match operands.as_slice() {
        ["." | ":/"] => Some(FileStep::Restore(Vec::new())),
        // Assume a file, although a branch name can contain a dot.
        [one] if one.contains('.') && !one.starts_with("origin/") => restored(operands),
        [_] => Some(FileStep::Switch),
        [_, paths @ ..] if !paths.is_empty() => restored(paths.to_vec()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::shell::ShellLine;

    #[test]
    fn file_steps_are_derived_from_commands() {
        let list = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        let table = [
            ("rm -rf a b/", Some(FileStep::Remove(list(&["a", "b/"])))),
            ("git rm -f a", Some(FileStep::Remove(list(&["a"])))),
            ("git rm --cached a", None),
            ("mv a b", Some(FileStep::Move { from: list(&["a"]), to: "b".into() })),
            ("git mv a b c/", Some(FileStep::Move { from: list(&["a", "b"]), to: "c/".into() })),
            ("git checkout -- src/a.rs", Some(FileStep::Restore(list(&["src/a.rs"])))),
            ("git checkout src/a.rs", Some(FileStep::Restore(list(&["src/a.rs"])))),
            ("git checkout HEAD~1 -- a", Some(FileStep::Restore(list(&["a"])))),
            ("git checkout .", Some(FileStep::Restore(vec![]))),
            ("git reset --hard HEAD~1", Some(FileStep::Restore(vec![]))),
            ("git restore ./src/a.rs", Some(FileStep::Restore(list(&["./src/a.rs"])))),
            ("git restore --staged a", None),
            ("git checkout main", Some(FileStep::Switch)),
            ("git switch main", Some(FileStep::Switch)),
            ("git checkout -b new", None),
            ("git stash -u", Some(FileStep::Stash)),
            ("git stash pop", Some(FileStep::Unstash)),
            ("git stash list", None),
            ("git clean -fd", Some(FileStep::Clean)),
            ("cat > src/a.rs <<E\nx\nE", Some(FileStep::Write(list(&["src/a.rs"])))),
            ("make > /tmp/log 2>&1", None),
            ("make > build.log", None),
            ("sed -i 's/a/b/' a.rs b.rs", Some(FileStep::Write(list(&["a.rs", "b.rs"])))),
            ("sed -i '' -e s/a/b/ a.rs", Some(FileStep::Write(list(&["s/a/b/", "a.rs"])))),
            ("sed -n 1p a.rs", None),
            ("cp a b", Some(FileStep::Write(list(&["b"])))),
            ("git merge main", Some(FileStep::Rewrite)),
            ("git merge --abort", None),
            ("python3 - <<E\nopen('a', 'w').write('x')\nE", Some(FileStep::Rewrite)),
            ("python3 - <<E\nprint(1)\nE", None),
            ("git commit -m 'git checkout .'", None),
            ("ls", None),
        ];
        for (line, expected) in table {
            assert_eq!(file_step(&ShellLine::parse(line).commands[0]), expected, "{line}");
        }
    }
}
