//! Lists the highlights that a handoff is compared with, and how a statement can name each of them.

use super::CoverageKind;
use super::words::{is_failing, key_words, stem, stems};
use crate::session::checkpoint::{Highlight, HighlightKind, Highlights};
use crate::session::shell::{ShellLine, SimpleCommand};
use crate::text::words::{TermKind, is_distinctive, salient_terms, words};
use std::collections::{BTreeMap, BTreeSet};

/// The maximum length of a name; a longer one is truncated.
const NAME_LENGTH_MAX: usize = 100;
/// How Claude Code's notice about a failed background command begins, which is not output of the
/// command.
const NOTICE: &str = "Background command ";
/// The minimum number of words in a quote; a shorter sentence may be a coincidence.
const QUOTE_WORDS_MIN: usize = 3;

/// A highlight, and how a statement can name it.
pub(super) struct Subject<'h> {
    pub(super) kind: CoverageKind,
    pub(super) highlight: &'h Highlight,
    pub(super) name: String,
    pub(super) reference: SubjectReference,
}

/// How a statement can name a subject.
pub(super) enum SubjectReference {
    /// By its own words.
    Words(QuotableText),
    /// By its id, or by what it was asked to do.
    Id(Vec<String>, QuotableText),
    /// By its path or the end of it.
    Path(Vec<Vec<String>>),
    /// By its command, or by what it printed.
    Failure(FailureEvidence),
}

/// A text that can be quoted or paraphrased.
pub(super) struct QuotableText {
    /// The whole text and its sentences, each as a sequence of words.
    pub(super) rows: Vec<Vec<String>>,
    /// Its key words.
    pub(super) keys: BTreeSet<String>,
}

/// The evidence of a failure.
pub(super) struct FailureEvidence {
    /// The names of its commands, such as `cargo test`.
    pub(super) names: Vec<Vec<String>>,
    /// Paths, tests, and identifiers that it printed; one of them is enough evidence.
    pub(super) identifiers: Vec<Vec<String>>,
    /// Other words that it printed.
    pub(super) printed: BTreeSet<String>,
    /// Every word of the failed commands and of their output: repeating them adds nothing new.
    pub(super) known: BTreeSet<String>,
}

/// Data shared by all subjects of a session.
struct SubjectContext<'h> {
    /// The number of changed files with each file name.
    names: BTreeMap<&'h str, usize>,
    /// The words of all failures.
    failed: BTreeSet<String>,
}

/// Returns everything that a handoff is compared with, kind by kind.
pub(super) fn subjects(highlights: &Highlights) -> Vec<Subject<'_>> {
    let shared = SubjectContext { names: file_names(highlights), failed: failed_words(highlights) };
    let subjects = |what: CoverageKind| {
        let of_kind = highlights.of_kind(highlight_kind(what)).filter(|one| !one.is_abandoned());
        of_kind.map(|one| subject(what, one, &shared)).collect::<Vec<_>>()
    };
    CoverageKind::ALL.into_iter().flat_map(subjects).collect()
}

fn highlight_kind(what: CoverageKind) -> HighlightKind {
    match what {
        CoverageKind::Correction => HighlightKind::Correction,
        CoverageKind::FailedCommand => HighlightKind::Failed,
        CoverageKind::RevertedEdit => HighlightKind::Reverted,
        CoverageKind::OpenTask => HighlightKind::Task,
        CoverageKind::Decision => HighlightKind::Answer,
        CoverageKind::AgentInFlight => HighlightKind::Agent,
        CoverageKind::ChangedFile => HighlightKind::Changed,
    }
}

fn subject<'h>(what: CoverageKind, one: &'h Highlight, shared: &SubjectContext<'_>) -> Subject<'h> {
    let detail = one.detail.as_deref().unwrap_or_default();
    let (name, by) = match what {
        CoverageKind::Correction | CoverageKind::OpenTask => {
            (one_line(&one.text), SubjectReference::Words(quotable_text(&one.text)))
        }
        CoverageKind::Decision => {
            let name = format!("{} {}", one_line(detail), one_line(&one.text));
            (name, SubjectReference::Words(quotable_answer(&one.text, detail)))
        }
        CoverageKind::AgentInFlight => {
            let id = if detail.is_empty() { "an agent" } else { detail };
            let name = format!("{id}: {}", one_line(&one.text));
            (name, SubjectReference::Id(stems(detail), quotable_text(&one.text)))
        }
        CoverageKind::RevertedEdit | CoverageKind::ChangedFile => {
            (one_line(&one.text), SubjectReference::Path(path_references(&one.text, &shared.names)))
        }
        CoverageKind::FailedCommand => (
            one_line(&one.text),
            SubjectReference::Failure(failure_evidence(&one.text, detail, &shared.failed)),
        ),
    };
    Subject { kind: what, highlight: one, name, reference: by }
}

fn one_line(text: &str) -> String {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    let short: String = line.chars().take(NAME_LENGTH_MAX).collect();
    if short.len() < text.trim().len() { format!("{short} …") } else { short }
}

fn quotable_text(text: &str) -> QuotableText {
    let keys = key_words(text);
    let has_key = |row: &Vec<String>| row.iter().any(|word| keys.contains(word));
    let sentences = text.split(['.', '!', '?', ';', '\n']).map(stems);
    let sentences = sentences.filter(|row| row.len() >= QUOTE_WORDS_MIN).filter(has_key);
    let rows = std::iter::once(stems(text)).chain(sentences).collect();
    QuotableText { rows, keys }
}

/// An answer may be one word; then the words of the question count too.
fn quotable_answer(answer: &str, question: &str) -> QuotableText {
    let mut quoted = quotable_text(answer);
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

/// Returns how a file can be named: by its path, by its last two parts, or by its file name if no
/// other changed file has it.
fn path_references(path: &str, names: &BTreeMap<&str, usize>) -> Vec<Vec<String>> {
    let mut parts = path.rsplit('/');
    let (last, folder) = (parts.next().unwrap_or_default(), parts.next());
    let two = folder.map(|folder| stems(&format!("{folder}/{last}")));
    let is_only = names.get(last).is_none_or(|count| *count < 2);
    let alone = is_only.then(|| stems(last));
    std::iter::once(stems(path)).chain(two).chain(alone).filter(|row| !row.is_empty()).collect()
}

fn failure_evidence(command: &str, printed: &str, failed: &BTreeSet<String>) -> FailureEvidence {
    let names: Vec<Vec<String>> =
        ShellLine::parse(command).commands.iter().map(command_name).collect();
    let of_command: BTreeSet<String> = stems(command).into_iter().collect();
    let printed = if printed.starts_with(NOTICE) { "" } else { printed };
    let (mut identifiers, mut words) = (Vec::new(), BTreeSet::new());
    for one in salient_terms(printed) {
        let row: Vec<String> = one.term.words.iter().map(|word| stem(word)).collect();
        let is_new = row.iter().any(|word| !of_command.contains(word) && !is_failing(word));
        match one.kind {
            TermKind::Path | TermKind::Name if is_new => identifiers.push(row),
            TermKind::Path | TermKind::Name => {}
            TermKind::Word => words.extend(row.into_iter().filter(|_| is_new)),
        }
    }
    identifiers.extend(files_in(printed));
    words.retain(|word| is_distinctive(word));
    FailureEvidence { names, identifiers, printed: words, known: failed.clone() }
}

/// Returns the files in an output, by their file names alone.
fn files_in(printed: &str) -> impl Iterator<Item = Vec<String>> {
    let name = |chunk: &'_ str| {
        let (_, last) = chunk.rsplit_once('/')?;
        let name = last.split([':', '(', ')', '"', '\'', ',']).next()?;
        name.trim_matches('.').contains('.').then(|| stems(name))
    };
    printed.split_whitespace().filter_map(name)
}

/// Returns the name of a command: its program and subcommand.
fn command_name(command: &SimpleCommand) -> Vec<String> {
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
