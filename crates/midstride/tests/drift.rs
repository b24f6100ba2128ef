//! Tests of drift detection in generated repositories with known truth.
//!
//! `MIDSTRIDE_DRIFTS` sets how many; `scripts/soak` uses a thousand. `MIDSTRIDE_DRIFT_SEED` runs
//! one.

use crate::open;
use midstride::verbs::{Comparison, check_all};
use midstride_core::handoff::drift::{CitationCheck, CitationStatus};
use midstride_testkit::{DriftingRepo, Expected};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

/// The number of repositories to generate.
fn drifts() -> u64 {
    let told = std::env::var("MIDSTRIDE_DRIFTS").ok();
    told.map_or(100, |told| told.parse().expect("MIDSTRIDE_DRIFTS is a number"))
}

/// Every checked citation, by the tag of its statement and its location.
fn judged(repo: &DriftingRepo, at_head: bool) -> BTreeMap<(String, String), CitationCheck> {
    let store = repo.store();
    let (ground, _) = repo.expected(at_head);
    let with = Comparison::against(&store, ground, true).unwrap();
    let mut all = BTreeMap::new();
    for one in check_all(&store, &with) {
        let one = one.unwrap();
        for judgement in &one.citations {
            let said = judgement.statement.slice(one.document().text());
            let is_tag = |word: &&str| word.starts_with('T') && word.ends_with('x');
            let tag = said.split(|c: char| !c.is_alphanumeric()).find(is_tag).unwrap_or(said);
            let key = (tag.to_owned(), judgement.place.value.clone());
            assert_eq!(all.insert(key, judgement.clone()), None, "judged twice: {judgement:?}");
        }
    }
    all
}

/// Where the check and the truth disagree.
fn disagreements(repo: &DriftingRepo, at_head: bool, expected: &[Expected]) -> String {
    let mut judged = judged(repo, at_head);
    let mut told = String::new();
    for one in expected {
        let Expected { tag, place, .. } = one;
        match judged.remove(&(tag.clone(), place.clone())) {
            Some(judgement) if one.agrees(&judgement) => {}
            other => {
                writeln!(told, "{tag} {place}\n  true:   {one:?}\n  judged: {other:?}").unwrap();
            }
        }
    }
    for (key, judgement) in judged {
        writeln!(told, "{key:?} is no citation: {judgement:?}").unwrap();
    }
    told
}

/// The results of some seeds.
#[derive(Default)]
struct Outcome {
    sure: BTreeSet<CitationStatus>,
    failed: Vec<String>,
}

fn run(seeds: impl Iterator<Item = u64>) -> Outcome {
    let mut outcome = Outcome::default();
    for seed in seeds {
        let repo = DriftingRepo::of(seed, open);
        for at_head in [false, true] {
            let (_, expected) = repo.expected(at_head);
            outcome.sure.extend(expected.iter().filter_map(Expected::verdict));
            let told = disagreements(&repo, at_head, &expected);
            if !told.is_empty() {
                let ground = if at_head { "the newest commit" } else { "the working tree" };
                let story = repo.story();
                outcome.failed.push(format!("seed {seed}, against {ground}\n{story}\n{told}"));
            }
        }
    }
    outcome
}

#[test]
fn every_citation_status_is_correct() {
    const TOGETHER: usize = 4;
    let one = std::env::var("MIDSTRIDE_DRIFT_SEED").ok().map(|seed| seed.parse().unwrap());
    let outcome = match one {
        Some(seed) => run(std::iter::once(seed)),
        None => std::thread::scope(|scope| {
            let part = |first: u64| move || run((first..drifts()).step_by(TOGETHER));
            let parts: Vec<_> =
                (0..).take(TOGETHER).map(|first| scope.spawn(part(first))).collect();
            parts.into_iter().fold(Outcome::default(), |mut all, part| {
                let part = part.join().unwrap();
                all.sure.extend(part.sure);
                all.failed.extend(part.failed);
                all
            })
        }),
    };
    let failed = &outcome.failed;
    assert!(
        failed.is_empty(),
        "{} are not true; run one again: MIDSTRIDE_DRIFT_SEED=N cargo test -p midstride --test main \
         drift::every\n\n{}",
        failed.len(),
        failed[..failed.len().min(3)].join("\n\n")
    );
    // Repositories in which nothing happened would prove nothing.
    assert!(one.is_some() || outcome.sure.len() == 7, "{:?}", outcome.sure);
}
