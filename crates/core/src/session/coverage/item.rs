//! The highlights that a handoff is compared with, and how a statement can name each of them.

use super::What;
use super::words::{is_failing, key_words, stem, stems};
use crate::session::checkpoint::{Highlight, HighlightKind, Highlights};
use crate::session::shell::{Line, Simple};
use crate::text::words::{Sort, is_telling, salient, words};
use std::collections::{BTreeMap, BTreeSet};

/// A longer name is cut.
const NAME_LENGTH_MAX: usize = 100;
/// What Claude Code says of a command that failed in the background: not what it printed.
const NOTICE: &str = "Background command ";
/// A sentence of fewer words is no quote: it may be anybody's.
const QUOTE_WORDS_MIN: usize = 3;

/// A highlight, and how a statement can name it.
pub(super) struct Subject<'h> {
    pub(super) what: What,
    pub(super) highlight: &'h Highlight,
    pub(super) name: String,
    pub(super) by: NamedBy,
}

/// How a statement can name something.
pub(super) enum NamedBy {
    /// By its own words.
    Words(Quoted),
    /// By its id, or else by what it was asked.
    Id(Vec<String>, Quoted),
    /// By a path or the end of it.
    Path(Vec<Vec<String>>),
    /// By its command, or by what it printed.
    Failure(Failure),
}

/// A text that can be quoted or paraphrased.
pub(super) struct Quoted {
    /// The whole text and its sentences, each as words in a row.
    pub(super) rows: Vec<Vec<String>>,
    /// The words that carry its meaning.
    pub(super) keys: BTreeSet<String>,
}

/// What is known of a failure.
pub(super) struct Failure {
    /// How its command is called: `cargo test`.
    pub(super) names: Vec<Vec<String>>,
    /// Paths, tests and identifiers that it printed: one of them is something of the failure.
    pub(super) identifiers: Vec<Vec<String>>,
    /// Other words that it printed.
    pub(super) printed: BTreeSet<String>,
    /// Every word of the failed commands and of what they printed: repeating them says nothing new.
    pub(super) known: BTreeSet<String>,
}

/// What the items of a session have in common.
struct Around<'h> {
    /// How many changed files have a name.
    names: BTreeMap<&'h str, usize>,
    /// The words of all failures.
    failed: BTreeSet<String>,
}

/// Everything that a handoff is compared with, kind by kind.
pub(super) fn subjects(highlights: &Highlights) -> Vec<Subject<'_>> {
    let around = Around { names: file_names(highlights), failed: failed_words(highlights) };
    let subjects = |what: What| {
        let of_kind = highlights.of_kind(kind(what)).filter(|one| !one.is_left());
        of_kind.map(|one| subject(what, one, &around)).collect::<Vec<_>>()
    };
    What::ALL.into_iter().flat_map(subjects).collect()
}

fn kind(what: What) -> HighlightKind {
    match what {
        What::Correction => HighlightKind::Correction,
        What::FailedCommand => HighlightKind::Failed,
        What::RevertedEdit => HighlightKind::Reverted,
        What::OpenTask => HighlightKind::Task,
        What::Decision => HighlightKind::Answer,
        What::AgentInFlight => HighlightKind::Agent,
        What::ChangedFile => HighlightKind::Changed,
    }
}

fn subject<'h>(what: What, one: &'h Highlight, around: &Around<'_>) -> Subject<'h> {
    let detail = one.detail.as_deref().unwrap_or_default();
    let (name, by) = match what {
        What::Correction | What::OpenTask => {
            (one_line(&one.text), NamedBy::Words(quoted(&one.text)))
        }
        What::Decision => {
            let name = format!("{} {}", one_line(detail), one_line(&one.text));
            (name, NamedBy::Words(answered(&one.text, detail)))
        }
        What::AgentInFlight => {
            let id = if detail.is_empty() { "an agent" } else { detail };
            let name = format!("{id}: {}", one_line(&one.text));
            (name, NamedBy::Id(stems(detail), quoted(&one.text)))
        }
        What::RevertedEdit | What::ChangedFile => {
            (one_line(&one.text), NamedBy::Path(paths(&one.text, &around.names)))
        }
        What::FailedCommand => {
            (one_line(&one.text), NamedBy::Failure(failure(&one.text, detail, &around.failed)))
        }
    };
    Subject { what, highlight: one, name, by }
}

fn one_line(text: &str) -> String {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    let short: String = line.chars().take(NAME_LENGTH_MAX).collect();
    if short.len() < text.trim().len() { format!("{short} …") } else { short }
}

fn quoted(text: &str) -> Quoted {
    let keys = key_words(text);
    let has_key = |row: &Vec<String>| row.iter().any(|word| keys.contains(word));
    let sentences = text.split(['.', '!', '?', ';', '\n']).map(stems);
    let sentences = sentences.filter(|row| row.len() >= QUOTE_WORDS_MIN).filter(has_key);
    let rows = std::iter::once(stems(text)).chain(sentences).collect();
    Quoted { rows, keys }
}

/// An answer may be one word; then what was asked belongs to it.
fn answered(answer: &str, question: &str) -> Quoted {
    let mut quoted = quoted(answer);
    if quoted.keys.len() < 2 {
        quoted.rows.clear();
        quoted.keys.extend(key_words(question));
    }
    quoted
}

fn failed_words(highlights: &Highlights) -> BTreeSet<String> {
    let failed = highlights.of_kind(HighlightKind::Failed);
    let texts = failed.flat_map(|one| std::iter::once(&one.text).chain(&one.detail));
    texts.flat_map(|text| stems(text)).collect()
}

fn file_names(highlights: &Highlights) -> BTreeMap<&str, usize> {
    let mut names = BTreeMap::new();
    for file in highlights.of_kind(HighlightKind::Changed) {
        *names.entry(last_part(&file.text)).or_default() += 1;
    }
    names
}

fn last_part(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// A file by its path, its last two parts, or its name where no other changed file has it.
fn paths(path: &str, names: &BTreeMap<&str, usize>) -> Vec<Vec<String>> {
    let mut parts = path.rsplit('/');
    let (last, folder) = (parts.next().unwrap_or_default(), parts.next());
    let two = folder.map(|folder| stems(&format!("{folder}/{last}")));
    let is_only = names.get(last).is_none_or(|count| *count < 2);
    let alone = is_only.then(|| stems(last));
    std::iter::once(stems(path)).chain(two).chain(alone).filter(|row| !row.is_empty()).collect()
}

fn failure(command: &str, printed: &str, failed: &BTreeSet<String>) -> Failure {
    let names: Vec<Vec<String>> = Line::read(command).commands.iter().map(called).collect();
    let of_command: BTreeSet<String> = stems(command).into_iter().collect();
    let printed = if printed.starts_with(NOTICE) { "" } else { printed };
    let (mut identifiers, mut words) = (Vec::new(), BTreeSet::new());
    for one in salient(printed) {
        let row: Vec<String> = one.term.words.iter().map(|word| stem(word)).collect();
        let is_new = row.iter().any(|word| !of_command.contains(word) && !is_failing(word));
        match one.sort {
            Sort::Path | Sort::Name if is_new => identifiers.push(row),
            Sort::Path | Sort::Name => {}
            Sort::Word => words.extend(row.into_iter().filter(|_| is_new)),
        }
    }
    identifiers.extend(files_in(printed));
    words.retain(|word| is_telling(word));
    Failure { names, identifiers, printed: words, known: failed.clone() }
}

/// The files in an output, by their names alone.
fn files_in(printed: &str) -> impl Iterator<Item = Vec<String>> {
    let name = |chunk: &'_ str| {
        let (_, last) = chunk.rsplit_once('/')?;
        let name = last.split([':', '(', ')', '"', '\'', ',']).next()?;
        name.trim_matches('.').contains('.').then(|| stems(name))
    };
    printed.split_whitespace().filter_map(name)
}

/// What a command is called: its program and what that is asked to do.
fn called(command: &Simple) -> Vec<String> {
    const RUNNERS: [&str; 4] = ["run", "exec", "compose", "-m"];
    let script = |word: &str| word.contains('/').then(|| word.to_owned());
    let first = command.words.first().map_or("", String::as_str);
    let mut name = script(first).unwrap_or_else(|| command.program().to_owned());
    let mut operands = command.operands();
    let asked = operands.next().unwrap_or_default();
    for word in [Some(asked), operands.next().filter(|_| RUNNERS.contains(&asked))] {
        name = format!("{name} {}", word.unwrap_or_default());
    }
    words(&name).iter().map(|word| stem(&word.text)).collect()
}
