//! What tells a command apart from others: the program and what it is asked to do, whatever is
//! wrapped around it.

use std::collections::BTreeSet;

/// Programs that prepare, shorten or repeat: another one is what was run.
const AROUND: &str = " cd echo export source sleep set true pushd popd mkdir tail head grep rg sed awk wc sort tee cat ls xargs jq less printf kill wait rm cp for do done if then fi while ";
/// Programs that start another one.
const WRAPPERS: &str = " sudo env time nohup exec command nice bash sh zsh npx bunx ";
/// Programs that look: that they find nothing is an answer.
const PROBES: &str =
    " cat cd command diff find grep head jq ls pgrep ps rg sed stat tail test type wc which ";
/// What comes before the name of what is run.
const RUNNERS: &str = " run exec test-file script ";

/// A command as it is told apart.
pub(super) struct Told {
    /// The same for commands that are the same but for how their output is shown.
    pub key: String,
    /// The same for commands that ask the same program for the same thing.
    pub kin: String,
    /// How texts name it.
    pub names: Vec<String>,
    /// Whether it only looks.
    pub is_probe: bool,
}

/// Tells a command apart.
pub(super) fn told(command: &str) -> Told {
    let all: Vec<Vec<&str>> = simple(command).into_iter().map(unwrapped).collect();
    let named = |words: &&Vec<&str>| !words.is_empty();
    let is_around = |words: &&Vec<&str>| is_in(AROUND, program(words));
    let mut telling: Vec<&Vec<&str>> =
        all.iter().filter(named).filter(|words| !is_around(words)).collect();
    if telling.is_empty() {
        telling = all.iter().filter(named).take(1).collect();
    }
    let key: Vec<String> = telling.iter().map(|words| words.join(" ")).collect();
    let mut names = BTreeSet::new();
    for words in &telling {
        names.extend(names_of(words));
    }
    let is_probe = telling.iter().all(|words| is_in(PROBES, program(words)));
    let kin = telling.first().map(|words| head(words).join(" ")).unwrap_or_default();
    Told { key: key.join(" && "), kin, names: names.into_iter().collect(), is_probe }
}

fn is_in(list: &str, word: &str) -> bool {
    list.contains(&format!(" {word} "))
}

fn program<'c>(words: &[&'c str]) -> &'c str {
    let first = words.first().copied().unwrap_or_default();
    first.rsplit('/').next().unwrap_or(first)
}

/// The commands of a line, without where their output goes.
fn simple(command: &str) -> Vec<&str> {
    let parts = command.split(['\n', ';', '|', '&']);
    parts.map(str::trim).filter(|part| !part.is_empty()).collect()
}

/// The words of one command, without what starts it.
fn unwrapped(command: &str) -> Vec<&str> {
    let is_output = |word: &&str| word.contains('>') || *word == "1" || word.starts_with('<');
    let words = command.split_whitespace().filter(|word| !is_output(word));
    let mut words: Vec<&str> = words.map(|word| word.trim_matches(['"', '\'', '(', ')'])).collect();
    words.retain(|word| !word.is_empty());
    loop {
        let first = words.first().copied().unwrap_or_default();
        let is_variable = first.split_once('=').is_some_and(|(name, _)| {
            !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        });
        if words.len() > 1 && (is_variable || is_in(WRAPPERS, first)) {
            words.remove(0);
        } else if words.len() > 2 && first == "timeout" {
            words.drain(..2);
        } else if words.len() > 1 && first.starts_with('-') {
            words.remove(0);
        } else {
            return words;
        }
    }
}

/// The program and what it is asked to do.
fn head<'c>(words: &[&'c str]) -> Vec<&'c str> {
    let asked = words.iter().skip(1).filter(|word| !word.starts_with('-')).copied();
    let mut head = vec![program(words)];
    for next in asked {
        head.push(next);
        if !is_in(RUNNERS, next) {
            break;
        }
    }
    head
}

/// Ways in which people write a command: from its program to what it is asked, with the options in
/// between or without; a script by its name alone.
fn names_of(words: &[&str]) -> Vec<String> {
    let head = head(words);
    let last = head.last().copied().unwrap_or_default();
    let upto = words.iter().position(|word| *word == last).unwrap_or_default();
    let mut names = vec![head.join(" "), words[..=upto.min(words.len() - 1)].join(" ")];
    let script = last.rsplit('/').next().unwrap_or(last);
    if head.len() > 1 && script.contains('.') && script.len() > 3 {
        names.push(script.to_owned());
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_around_a_command_does_not_count() {
        let plain = told("cargo test -p core");
        for same in [
            "cd /x && cargo test -p core 2>&1 | tail -30",
            "RUST_LOG=debug timeout 580 cargo test -p core",
            "sudo cargo test -p core; echo done",
        ] {
            assert_eq!(told(same).key, plain.key, "{same}");
        }
        assert_eq!(plain.kin, "cargo test");
        assert_ne!(told("cargo test -p cli").key, plain.key);
        assert_eq!(told("cargo test -p cli").kin, plain.kin);
        assert_ne!(told("npm run build").kin, told("npm run lint").kin);
        assert!(told("cd x && grep -n y z").is_probe && !plain.is_probe);
        assert_eq!(
            told("python -u scripts/load.py --all").names,
            ["load.py", "python -u scripts/load.py", "python scripts/load.py",]
        );
        assert!(told("").names.is_empty() || told("").key.is_empty());
    }
}
