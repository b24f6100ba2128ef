//! Who may act as the user, and who reads the user's name.

use super::tree::Tree;

/// Calls that act as the user without a terminal, and the files with them. A temporary folder that the
/// process made is its own.
const AS_USER: [(&str, &[&str]); 2] = [
    (
        "Invoker::User",
        &["crates/midstride/src/sys/env.rs", "crates/midstride/src/workspace/consent.rs"],
    ),
    (
        "Environment::in_scratch(",
        &["crates/cli/src/commands/doctor/simulation.rs", "crates/cli/src/demo.rs"],
    ),
];

/// Reads of the user's name. `Environment::author` gives the name to record.
const NAMES: [&str; 2] = ["environment().user", "environment.user"];

fn violations(tree: &Tree) -> Vec<String> {
    let mut found = Vec::new();
    let sources = tree
        .below("crates/", ".rs")
        .filter(|(path, _)| path.contains("/src/") && !path.starts_with("crates/testkit/"));
    for (path, text) in sources {
        let code = |line: &&str| !line.trim_start().starts_with("//");
        let code: Vec<&str> = text.lines().filter(code).collect();
        for (call, allowed) in AS_USER {
            if code.iter().any(|line| line.contains(call)) && !allowed.contains(&path) {
                found.push(format!("{path}: `{call}` acts as the user"));
            }
        }
        let reads = |line: &&&str| {
            !line.contains(".user = ") && NAMES.iter().any(|name| line.contains(name))
        };
        if let Some(line) = code.iter().find(reads) {
            found.push(format!("{path}: an agent may run `{}`", line.trim()));
        }
    }
    found
}

#[test]
fn only_temporary_folders_act_as_the_user() {
    let tree = Tree::read();
    assert_eq!(violations(&tree), Vec::<String>::new());
    let file = "crates/cli/src/commands/trust.rs";
    for line in ["let caller = Invoker::User;", "let name = workspace.environment().user.clone();"]
    {
        assert_eq!(violations(&tree.with_line(file, line)).len(), 1, "{line}");
    }
}
