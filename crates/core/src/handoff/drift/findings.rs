//! Turns the results of the citation check into findings: one for each path and kind of drift.

use super::{
    CitationCheck, CitationDoubt, CitationOrigin, CitationOutcome, CodeLocation, LineChange,
    LiteralDrift,
};
use crate::format::document::Document;
use crate::format::finding::{Code, Finding};
use std::collections::{BTreeSet, HashMap};

/// How many places a message names; the rest are only counted.
const NAMED_PLACES_MAX: usize = 3;
/// How many literals a message names; the rest are only counted.
const NAMED_LITERALS_MAX: usize = 5;

/// The findings for the checked citations of a document. `key` is the handoff's key; `None` for a
/// note, which midstride does not edit.
pub fn findings(key: Option<&str>, document: &Document, checks: &[CitationCheck]) -> Vec<Finding> {
    let mut groups: Vec<(FindingGroup<'_>, Vec<&CitationCheck>)> = Vec::new();
    let mut known: HashMap<FindingGroup<'_>, usize> = HashMap::new();
    for check in checks {
        let Some(group) = FindingGroup::new(key, check) else { continue };
        let number = *known.entry(group).or_insert_with(|| {
            groups.push((group, Vec::new()));
            groups.len() - 1
        });
        groups[number].1.push(check);
    }
    let places = groups.iter().map(|(group, checks)| group_finding(key, document, *group, checks));
    places.chain(literal_finding(document, checks)).collect()
}

/// The literals that are gone, in one finding for the whole document: each is a hint only.
fn literal_finding(document: &Document, checks: &[CitationCheck]) -> Option<Finding> {
    let mut seen = BTreeSet::new();
    let found: Vec<(&CitationCheck, &LiteralDrift)> = checks
        .iter()
        .flat_map(|check| check.literals.iter().map(move |literal| (check, literal)))
        .filter(|(check, one)| {
            let file = check.outcome.location().map_or(check.cited_path(), |now| &now.path);
            seen.insert((file, &one.literal.value))
        })
        .collect();
    let (_, first) = found.first()?;
    let first_line = document.position(first.literal.at.start).line;
    let messages: Vec<String> = found
        .iter()
        .map(|(check, literal)| {
            let line = document.position(literal.literal.at.start).line;
            let place = (line != first_line).then(|| format!(" (line {line})"));
            literal_message(check, literal) + &place.unwrap_or_default()
        })
        .collect();
    let more = messages.len().saturating_sub(NAMED_LITERALS_MAX);
    let mut message = messages[..messages.len() - more].join("; ");
    if more > 0 {
        message.push_str(&format!("; and {more} more"));
    }
    let finding = Finding::new(Code::LiteralGone, first.literal.at, message);
    Some(finding.with_hint("check whether the statement is still true"))
}

fn literal_message(check: &CitationCheck, drift: &LiteralDrift) -> String {
    let (path, literal) = (check.cited_path(), &drift.literal.value);
    match (&drift.now, drift.is_line_count) {
        (Some(now), true) => format!("`{path}` had {literal} lines and now has {now}"),
        (Some(now), false) => format!("`{literal}` in `{path}` is now {now}"),
        (None, _) => format!("`{literal}` is no longer in `{path}`"),
    }
}

/// Citations that are reported together.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum FindingGroup<'c> {
    /// Places in one file that moved.
    Moved(&'c str),
    /// Places in one file that changed.
    Changed(&'c str),
    /// One file with a new name.
    Renamed(&'c str, &'c str),
    /// One deleted file or folder.
    Deleted(&'c str),
    /// One name of several files.
    Ambiguous(&'c str),
    /// Lines that never existed, for the same reason.
    NoSuchLines(&'c CitationDoubt),
    /// Citations that were not checked for the same reason.
    Unchecked(&'c CitationDoubt),
}

impl<'c> FindingGroup<'c> {
    fn new(key: Option<&str>, check: &'c CitationCheck) -> Option<Self> {
        let path = check.cited_path();
        match &check.outcome {
            CitationOutcome::Intact(_) => None,
            CitationOutcome::Moved(_) => Some(Self::Moved(path)),
            CitationOutcome::Changed { .. } => Some(Self::Changed(path)),
            CitationOutcome::Renamed(now) => Some(Self::Renamed(path, &now.path)),
            CitationOutcome::Deleted => Some(Self::Deleted(path)),
            // Only in a handoff that midstride wrote is it certain what was missing.
            CitationOutcome::NeverExisted => {
                let is_ours = key.is_some() && check.origin == CitationOrigin::Anchor;
                let doubt = check.doubt.as_ref().filter(|_| is_ours)?;
                // A file may be planned, its lines are not.
                let cites_lines = path != check.place.value;
                Some(if cites_lines { Self::NoSuchLines(doubt) } else { Self::Unchecked(doubt) })
            }
            CitationOutcome::Unchecked => {
                let doubt = check.doubt.as_ref()?;
                if matches!(doubt, CitationDoubt::Ambiguous(_)) {
                    return Some(Self::Ambiguous(path));
                }
                (*doubt != CitationDoubt::UnknownPath).then_some(Self::Unchecked(doubt))
            }
        }
    }

    fn code(self) -> Code {
        match self {
            Self::Moved(_) => Code::CitationMoved,
            Self::Changed(_) => Code::CitationChanged,
            Self::Renamed(..) => Code::CitationRenamed,
            Self::Deleted(_) => Code::CitationDeleted,
            Self::NoSuchLines(_) => Code::CitedLinesMissing,
            Self::Ambiguous(_) | Self::Unchecked(_) => Code::CitationNotChecked,
        }
    }
}

fn group_finding(
    key: Option<&str>,
    document: &Document,
    group: FindingGroup<'_>,
    checks: &[&CitationCheck],
) -> Finding {
    let first = checks[0];
    let message = match group {
        FindingGroup::Moved(_) => moved_message(checks),
        FindingGroup::Changed(_) => changed_message(checks),
        FindingGroup::Renamed(path, now) => match (&checks, first.outcome.location()) {
            ([only], Some(now)) => format!("`{}` is now `{now}`", only.place.value),
            _ => format!("`{path}` is now `{now}`"),
        },
        FindingGroup::Deleted(path) => {
            let doubt = first.doubt.as_ref().map(|why| format!(" ({why})")).unwrap_or_default();
            let name = if checks.len() == 1 { &first.place.value } else { path };
            format!("`{name}` was deleted{doubt}")
        }
        FindingGroup::Ambiguous(path) => {
            let why = first.doubt.as_ref().map(ToString::to_string).unwrap_or_default();
            format!("`{path}` is {why}")
        }
        FindingGroup::NoSuchLines(doubt) | FindingGroup::Unchecked(doubt) => {
            unchecked_message(doubt, checks)
        }
    };
    let others = match matches!(group, FindingGroup::NoSuchLines(_) | FindingGroup::Unchecked(_)) {
        true => String::new(),
        false => other_lines(document, checks),
    };
    let finding = Finding::new(group.code(), first.place.at, format!("{message}{others}"));
    match (group, key) {
        (FindingGroup::Moved(_), Some(key)) if checks.iter().any(|check| check.is_fixable) => {
            finding.with_command(["midstride", "check", "--fix", key])
        }
        (FindingGroup::Moved(_), Some(_)) => finding.with_hint(
            "update the line numbers by hand, because midstride cannot rewrite all of them \
                 safely",
        ),
        (FindingGroup::Moved(_), None) => finding.with_hint("update the line numbers"),
        (FindingGroup::Changed(_), Some(key)) => {
            let place = &first.place.value;
            let held = format!("midstride review {key} --challenged \"{place}\" --verdict held");
            finding.with_hint(format!("revise the statement; if it is still true, run {held}"))
        }
        (FindingGroup::Changed(_), None) => {
            finding.with_hint("check whether the statement is still true")
        }
        (FindingGroup::Ambiguous(_), _) => finding.with_hint("spell out more of the path"),
        (FindingGroup::NoSuchLines(doubt) | FindingGroup::Unchecked(doubt), _) => {
            finding.with_hint(unchecked_hint(doubt))
        }
        (FindingGroup::Renamed(..) | FindingGroup::Deleted(_), _) => finding,
    }
}

/// What to do about a citation that could not be checked. Each reason has its own fix.
fn unchecked_hint(doubt: &CitationDoubt) -> &'static str {
    match doubt {
        CitationDoubt::NoSuchLines => "correct the line number",
        CitationDoubt::NoSuchPath | CitationDoubt::UnknownPath => {
            "correct the path, unless the file is yet to be created"
        }
        CitationDoubt::Ambiguous(_) => "spell out more of the path",
        CitationDoubt::BlankLines => "cite the lines that contain the code",
        CitationDoubt::NoOrigin => "commit the handoff so that git records the code it cites",
        CitationDoubt::Shallow(_) | CitationDoubt::ShallowEnd(_) => "run `git fetch --unshallow`",
        CitationDoubt::MissingCommit(_) => {
            "fetch the branch that contains the commit, or revise the statement"
        }
        CitationDoubt::Submodule(_) => "run `git submodule update --init`",
        CitationDoubt::PartialClone => "run `git fetch --refetch --no-filter`",
        CitationDoubt::Unreadable => "cite a file in the repository",
        CitationDoubt::Git(_) => "fix the git error, then check again",
        CitationDoubt::Ignored
        | CitationDoubt::PathOnly
        | CitationDoubt::RenamesNotSearched
        | CitationDoubt::RenamesTruncated { .. }
        | CitationDoubt::OtherRename(_) => "check the cited code yourself",
    }
}

/// The other lines of the document that cite the same, as ` (also in lines 9 and 12)`.
fn other_lines(document: &Document, checks: &[&CitationCheck]) -> String {
    let line = |check: &&CitationCheck| document.position(check.place.at.start).line;
    let first = line(&checks[0]);
    let lines: BTreeSet<usize> = checks.iter().map(line).filter(|line| *line != first).collect();
    let lines: Vec<String> = lines.iter().map(ToString::to_string).collect();
    match &lines[..] {
        [] => String::new(),
        [only] => format!(" (also on line {only})"),
        several => format!(" (also on lines {})", list(several)),
    }
}

/// Joins words as `a, b and c`, and counts what is too much.
fn list(words: &[String]) -> String {
    let more = words.len().saturating_sub(NAMED_PLACES_MAX);
    match (words, more) {
        ([before @ .., last], 0) if !before.is_empty() => {
            format!("{} and {last}", before.join(", "))
        }
        (words, 0) => words.join(", "),
        (words, more) => format!("{} and {more} more", words[..NAMED_PLACES_MAX].join(", ")),
    }
}

/// The distinct places of some citations, in order.
fn distinct<'c>(checks: &[&'c CitationCheck]) -> Vec<&'c CitationCheck> {
    let mut seen = BTreeSet::new();
    checks.iter().copied().filter(|check| seen.insert(&check.place.value)).collect()
}

fn moved_message(checks: &[&CitationCheck]) -> String {
    let moved: Vec<String> = distinct(checks)
        .iter()
        .filter_map(|check| {
            Some(format!("`{}` is now `{}`", check.place.value, check.outcome.location()?))
        })
        .collect();
    list(&moved)
}

fn changed_message(checks: &[&CitationCheck]) -> String {
    let checks = distinct(checks);
    let Some(CitationOutcome::Changed { location, change }) =
        checks.first().map(|check| &check.outcome)
    else {
        return String::new();
    };
    let first = change_message(&checks[0].place.value, location, change.as_ref());
    let others: Vec<String> =
        checks[1..].iter().map(|check| format!("`{}`", check.place.value)).collect();
    match others.is_empty() {
        true => first,
        false => format!("{first}; {} also changed", list(&others)),
    }
}

fn unchecked_message(doubt: &CitationDoubt, checks: &[&CitationCheck]) -> String {
    let places: Vec<String> =
        distinct(checks).iter().map(|check| format!("`{}`", check.place.value)).collect();
    let (named, is_one) = (list(&places), places.len() == 1);
    let verb = |one: &str, many: &str| if is_one { one.to_owned() } else { many.to_owned() };
    if *doubt == CitationDoubt::NoSuchPath {
        let verbs = verb("does not exist and did not exist", "do not exist and did not exist");
        return format!("{named} {verbs} when this was written");
    }
    if *doubt == CitationDoubt::NoSuchLines {
        let verbs = verb("is past the end of the file", "are past the end of their file");
        return format!("{named} {verbs}");
    }
    format!("{named} {} not checked: {doubt}", verb("was", "were"))
}

fn change_message(place: &str, now: &CodeLocation, change: Option<&LineChange>) -> String {
    let elsewhere = match now.is_in_cited_file(place) {
        true => String::new(),
        false => format!(" in `{}`", now.path),
    };
    match change {
        Some(LineChange { before: was, after: Some(is) }) => {
            let there = now.lines.filter(|lines| !place.ends_with(&lines.to_string()));
            let there = there.map(|lines| format!(", on line {lines}")).unwrap_or_default();
            format!("`{place}` was `{was}` and is now `{is}`{elsewhere}{there}")
        }
        Some(LineChange { before: was, after: None }) => {
            format!("`{place}` was `{was}`, which was deleted{elsewhere}")
        }
        None => format!("`{place}` has changed{elsewhere}"),
    }
}

impl CitationCheck {
    /// Whether nothing has the cited path, and nothing had it when it was cited.
    pub fn lacks_path(&self) -> bool {
        matches!(self.doubt, Some(CitationDoubt::NoSuchPath | CitationDoubt::UnknownPath))
    }

    /// Whether the cited file never had the cited lines.
    pub fn lacks_lines(&self) -> bool {
        self.doubt == Some(CitationDoubt::NoSuchLines)
    }

    /// The path as written.
    pub fn cited_path(&self) -> &str {
        self.place.value.split([':', '#']).next().unwrap_or_default()
    }
}

impl CodeLocation {
    /// Whether this is in the file that a citation names.
    pub fn is_in_cited_file(&self, citation: &str) -> bool {
        let cited_path = citation.split([':', '#']).next().unwrap_or_default();
        self.path.ends_with(cited_path.trim_start_matches("../"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::finding::FindingFix;
    use crate::handoff::citation::LineRange;
    use crate::text::id::CommitId;
    use crate::text::span::{Span, Spanned};

    fn check(place: &str, outcome: CitationOutcome) -> CitationCheck {
        CitationCheck {
            place: Spanned::new(place.to_owned(), Span::new(3, 3 + place.len())),
            statement: Span::new(0, 20),
            outcome,
            origin: CitationOrigin::Anchor,
            file_changed: false,
            doubt: None,
            is_fixable: true,
            literals: Vec::new(),
        }
    }

    fn location(path: &str, lines: Option<(usize, usize)>) -> CodeLocation {
        let lines = lines.map(|(first, last)| LineRange { first, last });
        CodeLocation { path: path.to_owned(), lines }
    }

    /// The findings, as if the first places were in the first lines of a document.
    fn findings(key: Option<&str>, checks: &[CitationCheck]) -> Vec<Finding> {
        let document = Document::parse("one\ntwo\nthree\nfour\nfive\nsix\n".as_bytes());
        super::findings(key, &document, checks)
    }

    /// The same citation in another line.
    fn at(start: usize, check: CitationCheck) -> CitationCheck {
        let place = Spanned::new(check.place.value, Span::new(start, start + 1));
        CitationCheck { place, ..check }
    }

    /// The code and message of the only finding.
    fn only_finding(key: Option<&str>, check: CitationCheck) -> (String, String) {
        let found = findings(key, &[check]);
        let [finding] = &found[..] else { panic!("not one finding: {found:?}") };
        (finding.code.to_string(), finding.message.clone())
    }

    #[test]
    fn a_moved_citation_is_always_d001() {
        let now = [
            (location("src/market.py", Some((14, 16))), "src/market.py:14-16"),
            (location("src/market.py", Some((7, 7))), "src/market.py:7"),
            (location("src/market.py", None), "src/market.py"),
            (location("lib/src/market.py", Some((3, 5))), "lib/src/market.py:3-5"),
        ];
        for (now, shown) in now {
            for key in [Some("y2038"), None] {
                let moved = check("src/market.py:12-14", CitationOutcome::Moved(now.clone()));
                let message = format!("`src/market.py:12-14` is now `{shown}`");
                assert_eq!(only_finding(key, moved), ("D001".to_owned(), message));
            }
        }
    }

    #[test]
    fn only_a_handoff_gets_the_command_that_updates_its_lines() {
        let moved = check("a.py:1", CitationOutcome::Moved(location("a.py", Some((2, 2)))));
        let fixes = |key| {
            let found = findings(key, std::slice::from_ref(&moved));
            found.into_iter().map(|finding| finding.fix).collect::<Vec<_>>()
        };
        let command = ["midstride", "check", "--fix", "y2038"].map(str::to_owned).to_vec();
        assert_eq!(fixes(Some("y2038")), [Some(FindingFix::Command(command))]);
        assert!(matches!(fixes(None)[..], [Some(FindingFix::Hint(_))]));
    }

    #[test]
    fn lines_that_cannot_be_rewritten_get_no_command() {
        let now = location("a.py", Some((2, 2)));
        let moved =
            CitationCheck { is_fixable: false, ..check("a.py:1", CitationOutcome::Moved(now)) };
        let found = findings(Some("y2038"), &[moved]);
        let [Finding { fix: Some(FindingFix::Hint(hint)), .. }] = &found[..] else {
            panic!("{found:?}")
        };
        assert!(hint.starts_with("update the line numbers by hand"), "{hint}");
    }

    #[test]
    fn each_outcome_has_its_code() {
        let at = || location("a.py", Some((2, 2)));
        let changed = CitationOutcome::Changed { location: at(), change: None };
        for (outcome, code) in [
            (CitationOutcome::Moved(at()), "D001"),
            (changed, "D002"),
            (CitationOutcome::Renamed(location("b.py", None)), "D003"),
            (CitationOutcome::Deleted, "D004"),
        ] {
            assert_eq!(only_finding(Some("y2038"), check("a.py:1", outcome)).0, code);
        }
        for outcome in [CitationOutcome::Intact(at()), CitationOutcome::NeverExisted] {
            assert_eq!(findings(Some("y2038"), &[check("a.py:1", outcome)]), []);
        }
    }

    #[test]
    fn one_path_is_reported_once_with_its_lines() {
        let gone = || check("src/a.py", CitationOutcome::Deleted);
        let lines = check("src/a.py:7", CitationOutcome::Deleted);
        let found = findings(None, &[at(0, gone()), at(8, gone()), at(14, lines), at(0, gone())]);
        let [finding] = &found[..] else { panic!("{found:?}") };
        assert_eq!(finding.message, "`src/a.py` was deleted (also on lines 3 and 4)");
        let renamed =
            |place| check(place, CitationOutcome::Renamed(location("b.py", Some((3, 3)))));
        let found = findings(None, &[at(0, renamed("a.py:1")), at(4, renamed("a.py:2"))]);
        let [finding] = &found[..] else { panic!("{found:?}") };
        assert_eq!(finding.message, "`a.py` is now `b.py` (also on line 2)");
    }

    #[test]
    fn moved_and_changed_places_of_a_file_are_listed() {
        let moved = |from: usize, to: usize| {
            let now = location("a.py", Some((to, to)));
            check(&format!("a.py:{from}"), CitationOutcome::Moved(now))
        };
        let found = only_message(&[moved(1, 2), moved(3, 4), moved(1, 2)]);
        assert_eq!(found, "`a.py:1` is now `a.py:2` and `a.py:3` is now `a.py:4`");
        let found =
            only_message(&[moved(1, 2), moved(3, 4), moved(5, 6), moved(7, 8), moved(9, 10)]);
        assert!(found.ends_with("`a.py:5` is now `a.py:6` and 2 more"), "{found}");
        let changed = |line: usize| {
            let change = LineChange { before: "x".to_owned(), after: Some("y".to_owned()) };
            let location = location("a.py", Some((line, line)));
            let outcome = CitationOutcome::Changed { location, change: Some(change) };
            check(&format!("a.py:{line}"), outcome)
        };
        let found = only_message(&[changed(1), changed(3)]);
        assert_eq!(found, "`a.py:1` was `x` and is now `y`; `a.py:3` also changed");
    }

    fn only_message(checks: &[CitationCheck]) -> String {
        let found = findings(Some("y2038"), checks);
        let [finding] = &found[..] else { panic!("{found:?}") };
        finding.message.clone()
    }

    #[test]
    fn literals_of_a_document_are_reported_together() {
        let drift = |literal: &str, start, is_line_count, now: Option<&str>| LiteralDrift {
            literal: Spanned::new(literal.to_owned(), Span::new(start, start + 1)),
            is_line_count,
            now: now.map(str::to_owned),
        };
        let intact = |place: &str, literals| CitationCheck {
            literals,
            ..check(place, CitationOutcome::Intact(location(&format!("src/{}", &place[..4]), None)))
        };
        let checks = [
            intact("a.py:3", vec![drift("97", 0, true, Some("112"))]),
            intact("a.py", vec![drift("load_rows", 4, false, None)]),
            intact("a.py:7", vec![drift("load_rows", 8, false, None)]),
            CitationCheck {
                literals: vec![drift("load_rows", 8, false, None)],
                ..check("src/a.py", CitationOutcome::Intact(location("src/a.py", None)))
            },
            intact("b.py", vec![drift("MAX = 14", 14, false, Some("20"))]),
        ];
        let found = findings(None, &checks);
        let [finding] = &found[..] else { panic!("{found:?}") };
        assert_eq!(finding.code.to_string(), "D007");
        assert_eq!(
            finding.message,
            "`a.py` had 97 lines and now has 112; `load_rows` is no longer in `a.py` (line 2); `MAX = 14` in `b.py` is now 20 (line 4)"
        );
    }

    #[test]
    fn each_reason_has_its_own_fix() {
        let commit = CommitId::new("1234567890123456789012345678901234567890");
        for (doubt, fix) in [
            (CitationDoubt::Ambiguous(2), "spell out more of the path"),
            (CitationDoubt::NoOrigin, "commit the handoff so that git records the code it cites"),
            (CitationDoubt::Shallow(commit), "run `git fetch --unshallow`"),
            (CitationDoubt::Submodule("a".to_owned()), "run `git submodule update --init`"),
        ] {
            let unchecked = CitationCheck {
                doubt: Some(doubt),
                ..check("config.go", CitationOutcome::Unchecked)
            };
            let found = findings(Some("y2038"), &[unchecked]);
            assert_eq!(found[0].fix, Some(FindingFix::Hint(fix.to_owned())));
        }
    }

    #[test]
    fn what_was_not_checked_is_reported_once() {
        let doubted = |place: &str, outcome, doubt| CitationCheck {
            doubt: Some(doubt),
            ..check(place, outcome)
        };
        let unchecked = |place: &str, doubt| doubted(place, CitationOutcome::Unchecked, doubt);
        let never = |place: &str, doubt| doubted(place, CitationOutcome::NeverExisted, doubt);
        let checks = [
            unchecked("a.py:1", CitationDoubt::NoOrigin),
            unchecked("b.py:1", CitationDoubt::NoOrigin),
            unchecked("config.go", CitationDoubt::Ambiguous(11)),
            unchecked("Next.js", CitationDoubt::UnknownPath),
            never("src/new.py", CitationDoubt::NoSuchPath),
            never("src/new.py:3", CitationDoubt::NoSuchPath),
            never("a.py:900", CitationDoubt::NoSuchLines),
        ];
        let found: Vec<String> = findings(Some("y2038"), &checks)
            .into_iter()
            .map(|one| format!("{} {}", one.code, one.message))
            .collect();
        let expected = [
            "D005 `a.py:1` and `b.py:1` were not checked: there is no record of the cited code",
            "D005 `config.go` is ambiguous: 11 files have this name",
            "D005 `src/new.py` does not exist and did not exist when this was written",
            "D008 `src/new.py:3` does not exist and did not exist when this was written",
            "D008 `a.py:900` is past the end of the file",
        ];
        assert_eq!(found, expected);
        // A note is not ours.
        assert_eq!(findings(None, &checks[4..]), []);
    }
}
