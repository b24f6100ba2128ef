//! What an unknown command was meant to be.

use clap::Command;
use midstride_core::text::id::nearest_match;
use midstride_surface::diagnostic::Diagnostic;

/// Words of other tools and of earlier versions: the command they follow, the word, and the hint.
const KNOWN_WORDS: [(&str, &str, &str); 13] = [
    ("midstride", "sessions", "`midstride log` lists past sessions"),
    ("midstride", "tasks", "`midstride task list` lists the tasks"),
    ("midstride", "close", "`midstride resolve` closes a handoff"),
    ("midstride", "install", "`midstride setup` installs midstride into your clients"),
    ("midstride", "uninstall", "`midstride setup --undo` removes midstride from your clients"),
    ("midstride", "import", "`midstride setup` imports past sessions"),
    ("midstride", "import", "`midstride new --from NOTE` turns a note into a handoff"),
    ("midstride", "handoff", "`midstride new` writes a handoff"),
    ("midstride", "handoff", "`midstride save` saves a session as a handoff"),
    ("midstride", "revise", "`midstride edit --body FILE --reason TEXT` changes a handoff"),
    ("midstride", "allow", "`midstride trust HANDOFF` allows a handoff's proof commands"),
    ("midstride", "graph", "`midstride list --graph` shows how handoffs are connected"),
    ("midstride", "state", "`midstride session state` shows saved workflow states"),
];

/// The same, for words that follow a subcommand.
const KNOWN_SUBCOMMANDS: [(&str, &str, &str); 1] = [(
    "midstride session",
    "promote",
    "`midstride save --session ID` turns a session into a handoff",
)];

/// Reports an unknown command. `typed` are the words before it, with the options between them.
pub(super) fn unknown_command(definition: &Command, typed: &[String], word: &str) -> Diagnostic {
    let (parent, path) = innermost(definition, typed);
    let diagnostic = Diagnostic::new(format!("there is no `{path} {word}` command"));
    let known = KNOWN_WORDS.iter().chain(&KNOWN_SUBCOMMANDS);
    let hints: Vec<&str> = known
        .filter(|(after, known, _)| *after == path && *known == word)
        .map(|(_, _, hint)| *hint)
        .collect();
    if !hints.is_empty() {
        return hints.into_iter().fold(diagnostic, Diagnostic::hint);
    }
    match nearest_command(parent, word) {
        Some(name) => diagnostic.hint(format!("did you mean `{path} {name}`?")),
        None if path == "midstride" => diagnostic.hint("`midstride help` lists the commands"),
        None => diagnostic.hint(format!("`{path} --help` lists its commands")),
    }
}

/// The innermost command that the words name, and its path.
fn innermost<'c>(definition: &'c Command, typed: &[String]) -> (&'c Command, String) {
    let start = (definition, "midstride".to_owned());
    typed.iter().fold(start, |(command, path), word| match command.find_subcommand(word) {
        Some(below) => (below, format!("{path} {}", below.get_name())),
        None => (command, path),
    })
}

/// The command that a typo was meant to be: one with the same letters in another order, or a similar one
/// with the same first letter and at most two other letters. `done` is no typo of `on`.
fn nearest_command<'c>(parent: &'c Command, word: &str) -> Option<&'c str> {
    let others = |name: &str| letters_without(word, name).len() + letters_without(name, word).len();
    let is_near = |name: &&str| others(name) <= 2 && name.chars().next() == word.chars().next();
    let shown = parent.get_subcommands().filter(|command| !command.is_hide_set());
    let names: Vec<&str> = shown.map(Command::get_name).collect();
    // Three letters in another order are too few for a measure of similarity.
    let reordered = names.iter().copied().find(|name| others(name) == 0);
    reordered.or_else(|| nearest_match(word, names.into_iter().filter(is_near)))
}

/// The letters of a word, without as many of each as another word has.
fn letters_without(word: &str, other: &str) -> Vec<char> {
    let mut rest: Vec<char> = word.chars().collect();
    for letter in other.chars() {
        if let Some(index) = rest.iter().position(|have| *have == letter) {
            rest.swap_remove(index);
        }
    }
    rest
}
