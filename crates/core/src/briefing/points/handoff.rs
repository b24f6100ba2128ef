//! What is worth telling of an open handoff.

use super::{Origin, day, short_commit};
use crate::briefing::{Boot, BootAction, Point, Rank};
use crate::check::content::without_comments;
use crate::drift::Verdict;
use crate::handoff::Handoff;
use crate::header::{Decision, Proof, Question, RunOutcome, Validation, WrongTurn};
use crate::insert;
use crate::section::{Meaning, Section};
use crate::span::{At, Span};
use crate::time::Time;
use crate::yaml::Node;
use jiff::Timestamp;
use std::collections::HashSet;

/// A handoff, and what is known of it besides its text.
#[derive(Clone, Debug)]
pub struct KnownHandoff<'d> {
    /// The handoff.
    pub handoff: Handoff<'d>,
    /// How its proofs ran, the latest run of each last.
    pub runs: Vec<ProofRun>,
    /// What has happened to places that it names.
    pub drifted: Vec<Drifted>,
    /// The commit that those were judged at.
    pub judged_at: Option<String>,
}

/// A run of a proof.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProofRun {
    /// Which proof, counted from one.
    pub number: usize,
    /// The command that was run.
    pub command: String,
    /// What came of it.
    pub outcome: String,
    /// When.
    pub at: Timestamp,
    /// What was checked out.
    pub commit: Option<String>,
}

/// A place that is not as it was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Drifted {
    /// As the document writes it.
    pub place: String,
    /// What has happened.
    pub verdict: Verdict,
    /// Where it is now, where that is known and somewhere else.
    pub now: Option<String>,
}

/// What a session has to know of a handoff, and what it is to do first.
pub fn of_handoff(known: &KnownHandoff<'_>) -> (Vec<Boot>, Vec<Point>) {
    let handoff = &known.handoff;
    let key = handoff.key().to_string();
    let origin = Origin::of(format!("handoff {key}"), &["midstride", "show", &key]);
    let mut points = Vec::new();
    points.extend(standing(handoff, &origin));
    points.extend(next_action(handoff, &origin));
    decisions(handoff, &origin, &mut points);
    questions(handoff, &origin, &mut points);
    wrong_turns(handoff, &origin, &mut points);
    landmines(handoff, &origin, &mut points);
    proofs(known, &origin, &mut points);
    drifted(known, &origin, &mut points);
    for dependency in handoff.dependencies().upstream {
        let builds = dependency.artifact.map(|text| text.value);
        points.extend(builds.map(|text| origin.point(Rank::Read, "It builds on", text)));
    }
    assumptions(handoff, &origin, &mut points);
    (boot(handoff, &origin), points)
}

fn boot(handoff: &Handoff<'_>, origin: &Origin) -> Vec<Boot> {
    let texts = |path: &str| -> Vec<String> {
        let items = handoff.node(path).map(Node::items);
        let texts = items.unwrap_or_default().into_iter().filter_map(Node::text);
        texts.map(|text| text.value.trim().to_owned()).filter(|text| !text.is_empty()).collect()
    };
    let mut boot: Vec<BootAction> = Vec::new();
    boot.extend(texts("boot.constraint").into_iter().map(BootAction::Constraint));
    boot.extend(texts("boot.skill").into_iter().map(BootAction::Skill));
    let mut read = texts("boot.read");
    read.extend(texts("state.documents.must_read"));
    let mut seen = HashSet::new();
    let read = read.into_iter().filter(|path| seen.insert(path.clone()));
    boot.extend(read.map(BootAction::Read));
    let tasks = texts("boot.tasks");
    boot.extend((!tasks.is_empty()).then_some(BootAction::Tasks(tasks)));
    boot.into_iter().map(|action| origin.boot(action)).collect()
}

/// Its title and its summary, with how its life stands.
fn standing(handoff: &Handoff<'_>, origin: &Origin) -> Option<Point> {
    let text = match (handoff.title().map(str::trim), handoff.summary()) {
        (Some(title), Some(summary)) => format!("{title}: {summary}"),
        (Some(text), None) | (None, Some(text)) => text.to_owned(),
        (None, None) => return None,
    };
    let changed = handoff.changed().map(|time| format!(", changed {}", day(time.moment)));
    let status = handoff.status().word().replace('_', " ");
    let remark = format!("{status}{}", changed.unwrap_or_default());
    Some(origin.point(Rank::Standing, "Where it stands", text).remarked(remark))
}

/// Where to go on, as the handoff says; else the first step of its plan that is not ticked off.
fn next_action(handoff: &Handoff<'_>, origin: &Origin) -> Option<Point> {
    let continuation = said_about(handoff, Meaning::Continuation).next();
    if let Some(text) = continuation {
        return Some(origin.point(Rank::NextAction, "Next", text));
    }
    let mut plans = said_about(handoff, Meaning::Plan);
    let step = plans.find_map(|text| first_open_step(&text).map(str::to_owned))?;
    Some(origin.point(Rank::NextAction, "First open step of the plan", step))
}

/// What the author says below the headings of a meaning, where that is more than nothing.
fn said_about(handoff: &Handoff<'_>, meaning: Meaning) -> impl Iterator<Item = String> {
    let document = handoff.document();
    let below = |section: &Section| Span::new(section.own.start, section.at.end);
    let texts = document.sections_about(meaning).map(below);
    let texts = texts.map(|below| insert::said(document, below));
    // A comment says what should stand there.
    texts.filter(|text| !without_comments(text).trim().is_empty())
}

/// The first item of a list that nobody ticked off, with the lines that belong to it.
fn first_open_step(text: &str) -> Option<&str> {
    let mut from = None;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        match (from, item(line)) {
            (None, Some(item)) if !is_ticked_off(item) => from = Some(at),
            (Some(from), Some(_)) => return Some(text[from..at].trim()),
            _ => {}
        }
        at += line.len();
    }
    from.map(|from| text[from..].trim())
}

/// What an item of a list says, if a line begins one at the margin.
fn item(line: &str) -> Option<&str> {
    if let Some(rest) = ["- ", "* ", "+ "].iter().find_map(|mark| line.strip_prefix(mark)) {
        return Some(rest);
    }
    let rest = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let numbered = rest.len() < line.len();
    rest.strip_prefix(". ").or_else(|| rest.strip_prefix(") ")).filter(|_| numbered)
}

fn is_ticked_off(item: &str) -> bool {
    ["[x]", "[X]", "~~"].iter().any(|mark| item.trim_start().starts_with(mark))
}

/// The text of an entry with what belongs to it.
fn joined(main: Option<At<&str>>, more: &[(&str, Option<At<&str>>)]) -> Option<String> {
    let mut text = main?.value.trim().to_owned();
    for (name, part) in more {
        if let Some(part) = part {
            text.push_str(&format!(" — {name}: {}", part.value.trim()));
        }
    }
    Some(text)
}

fn decisions(handoff: &Handoff<'_>, origin: &Origin, points: &mut Vec<Point>) {
    let text = |one: &Decision<'_>| joined(one.decision, &[("because", one.rationale)]);
    let all = handoff.decisions();
    for one in &all {
        let (rank, what) = match one.binding {
            true => (Rank::Constraint, "Binding decision"),
            false => (Rank::Decision, "Decision"),
        };
        points.extend(text(one).map(|text| origin.point(rank, what, text)));
    }
    if all.is_empty() {
        let said = said_about(handoff, Meaning::Decisions);
        points.extend(said.map(|text| origin.point(Rank::Decision, "Decisions", text)));
    }
}

fn questions(handoff: &Handoff<'_>, origin: &Origin, points: &mut Vec<Point>) {
    let text = |one: &Question<'_>| joined(one.question, &[("context", one.context)]);
    for (number, one) in handoff.open_questions() {
        let (rank, what) = match one.blocks() {
            true => (Rank::BlockingQuestion, "Blocking question"),
            false => (Rank::Rest, "Open question"),
        };
        let place = Some(format!("question {number}"));
        points.extend(text(&one).map(|text| Point { place, ..origin.point(rank, what, text) }));
    }
    if handoff.questions().is_empty() {
        let said = said_about(handoff, Meaning::Questions);
        points.extend(said.map(|text| origin.point(Rank::Rest, "Open questions", text)));
    }
}

fn wrong_turns(handoff: &Handoff<'_>, origin: &Origin, points: &mut Vec<Point>) {
    let all = handoff.wrong_turns();
    let text = |one: &WrongTurn<'_>| {
        joined(one.tried, &[("wrong because", one.why_wrong), ("instead", one.replaced_by)])
    };
    let told = all.iter().filter_map(text);
    points.extend(told.map(|text| origin.point(Rank::WrongTurn, "Wrong turn", text)));
    if all.is_empty() {
        let said = said_about(handoff, Meaning::WrongTurns);
        points.extend(said.map(|text| origin.point(Rank::WrongTurn, "Wrong turns", text)));
    }
}

fn landmines(handoff: &Handoff<'_>, origin: &Origin, points: &mut Vec<Point>) {
    let all = handoff.landmines();
    let told = all.iter().map(|text| text.value.trim());
    points.extend(told.map(|text| origin.point(Rank::Landmine, "Landmine", text)));
    if all.is_empty() {
        let said = said_about(handoff, Meaning::Landmines);
        points.extend(said.map(|text| origin.point(Rank::Landmine, "Landmines", text)));
    }
}

fn assumptions(handoff: &Handoff<'_>, origin: &Origin, points: &mut Vec<Point>) {
    for one in handoff.assumptions() {
        let (rank, what) = match one.validation {
            Validation::Holds => continue,
            Validation::Pending => (Rank::Rest, "Assumption, not validated"),
            // Whoever still relies on it goes wrong.
            Validation::Disproved => (Rank::WrongTurn, "Assumption, disproved"),
        };
        points.extend(one.assumption.map(|text| origin.point(rank, what, text.value)));
    }
}

/// The claims with what came of them last; those that do not hold come first.
fn proofs(known: &KnownHandoff<'_>, origin: &Origin, points: &mut Vec<Point>) {
    let told = known.handoff.proofs().into_iter().filter_map(|(number, proof)| {
        let text = proof.claim.or(proof.run)?.value.trim();
        let (holds, remark) = last_run(known, number, &proof);
        let point = origin.point(Rank::Proof, "Proof", text).remarked(remark);
        Some((holds, Point { place: Some(format!("proof {number}")), ..point }))
    });
    let mut told: Vec<(bool, Point)> = told.collect();
    told.sort_by_key(|(holds, _)| *holds);
    points.extend(told.into_iter().map(|(_, point)| point));
}

/// Whether a proof held when it was last run, as far as anybody wrote it down, and when.
fn last_run(known: &KnownHandoff<'_>, number: usize, proof: &Proof<'_>) -> (bool, String) {
    let command = proof.run.map(|run| run.value.trim());
    let same = |run: &&ProofRun| run.number == number && Some(run.command.trim()) == command;
    let told = known.runs.iter().rev().find(same);
    let written = proof.last.as_ref().and_then(|last| {
        let at = last.time.and_then(|time| Time::read(time.value)).map(|time| time.moment);
        Some((last.outcome?, at, last.commit.map(|commit| commit.value)))
    });
    let (outcome, at, commit) = match (told, written) {
        (Some(run), Some((_, Some(at), _))) if at > run.at => return said(written),
        (Some(run), _) => (run.outcome.as_str(), Some(run.at), run.commit.as_deref()),
        (None, _) => return said(written),
    };
    let word = [RunOutcome::Holds, RunOutcome::Broken, RunOutcome::TimedOut];
    let outcome = word.into_iter().find(|one| one.word() == outcome);
    said(outcome.map(|outcome| (outcome, at, commit)))
}

fn said(run: Option<(RunOutcome, Option<Timestamp>, Option<&str>)>) -> (bool, String) {
    let Some((outcome, at, commit)) = run else { return (false, "never run".to_owned()) };
    let word = match outcome {
        RunOutcome::Holds => "held",
        RunOutcome::Broken => "broken",
        RunOutcome::TimedOut => "timed out",
    };
    let at = at.map_or_else(String::new, |at| format!(" {}", day(at)));
    // A header may say anything is a commit; only what looks like one stands in our own words.
    let commit = commit.filter(|commit| commit.bytes().all(|byte| byte.is_ascii_hexdigit()));
    let commit = commit.map_or_else(String::new, |id| format!(" at {}", short_commit(id)));
    (outcome == RunOutcome::Holds, format!("{word}{at}{commit}"))
}

/// Places that are not as they were. They were judged earlier, and it is said at which commit.
fn drifted(known: &KnownHandoff<'_>, origin: &Origin, points: &mut Vec<Point>) {
    let judged = known.judged_at.as_deref();
    let judged = judged.map_or_else(String::new, |id| format!(", judged at {}", short_commit(id)));
    for one in &known.drifted {
        let text = match &one.now {
            Some(now) => format!("{} → {now}", one.place),
            None => one.place.clone(),
        };
        let remark = format!("{}{judged}", one.verdict.word());
        points.push(origin.point(Rank::Proof, "Cited place", text).remarked(remark));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_step_that_nobody_ticked_off_is_next() {
        let ticked = "Some words.\n\n- [x] One\n- [ ] Two\n  in two lines\n- [ ] Three\n";
        assert_eq!(first_open_step(ticked), Some("- [ ] Two\n  in two lines"));
        assert_eq!(first_open_step("1. ~~One~~\n2. Two\n"), Some("2. Two"));
        assert_eq!(first_open_step("1) One\n   - below\n2) Two\n"), Some("1) One\n   - below"));
        assert_eq!(first_open_step("- [x] One\n"), None);
        assert_eq!(first_open_step("14 ms is too much.\n"), None);
    }
}
