//! Tests redaction against secrets that were generated without knowledge of its rules.
//!
//! `MIDSTRIDE_SECRETS` sets how many of each kind are generated for each of ten seeds, and
//! `MIDSTRIDE_SEED` the first seed; `scripts/soak` uses a hundred and a random seed.

use midstride_core::text::redact::{CleanText, RedactionRules, RedactionStream};
use midstride_testkit::secrets::{Positive, negatives, positives};
use std::collections::BTreeMap;
use std::fmt::Write as _;

const SEEDS: u64 = 10;

/// The number of secrets of each kind per seed.
fn per_kind() -> usize {
    let told = std::env::var("MIDSTRIDE_SECRETS").ok();
    told.map_or(3, |told| told.parse().expect("MIDSTRIDE_SECRETS is a number"))
}

fn first_seed() -> u64 {
    let seed = std::env::var("MIDSTRIDE_SEED").ok();
    seed.map_or(1, |seed| seed.parse().expect("MIDSTRIDE_SEED is a number"))
}

fn every_positive() -> impl Iterator<Item = Positive> {
    let first = first_seed();
    (first..first + SEEDS).flat_map(|seed| positives(seed, per_kind()))
}

/// The failures, grouped by what they are about, so that a glance shows where to start.
#[derive(Default)]
struct Wrong(BTreeMap<String, Vec<String>>);

impl Wrong {
    fn note(&mut self, about: &str, what: String) {
        self.0.entry(about.to_owned()).or_default().push(what);
    }

    #[track_caller]
    fn none(self, of: usize) {
        let count: usize = self.0.values().map(Vec::len).sum();
        let mut told = String::new();
        for (about, wrong) in &self.0 {
            writeln!(told, "{} × {about}, such as {}", wrong.len(), wrong[0]).unwrap();
        }
        assert!(of > 1000, "{of} are too few to tell");
        assert!(count == 0, "{count} of {of}:\n{told}");
    }
}

#[test]
fn no_secret_is_missed() {
    let mut wrong = Wrong::default();
    let mut all = 0;
    for positive in every_positive() {
        all += 1;
        let (clean, _) = CleanText::redact(&positive.text);
        if let Some(left) = positive.survivor(clean.as_str()) {
            let about = format!("{} in {}", positive.kind, positive.context);
            wrong.note(&about, format!("{left:?} of {:?}", positive.text));
        }
    }
    wrong.none(all);
}

#[test]
fn lookalikes_are_not_redacted() {
    for (what, text) in negatives() {
        let (clean, found) = CleanText::redact(&text);
        assert_eq!(clean.as_str(), text, "{what}: {found:?}");
    }
}

/// Redacting a secret leaves the lines around it unchanged.
#[test]
fn lookalikes_next_to_a_secret_are_not_redacted() {
    let negatives = negatives();
    let mut wrong = Wrong::default();
    let mut all = 0;
    for (positive, (what, negative)) in every_positive().zip(negatives.iter().cycle()) {
        all += 1;
        let before = format!("{negative}\n{}", positive.text);
        let behind = format!("{}\n{negative}", positive.text.trim_end_matches('\n'));
        let (before, behind) = (CleanText::redact(&before).0, CleanText::redact(&behind).0);
        let stays = before.as_str().starts_with(negative.as_str())
            && behind.as_str().ends_with(negative.as_str());
        if !stays {
            let told = format!("{:?}, {:?}", before.as_str(), behind.as_str());
            wrong.note(&format!("{what} beside {} in {}", positive.kind, positive.context), told);
        }
        let left = [before, behind].iter().any(|clean| positive.survivor(clean.as_str()).is_some());
        if left {
            let about = format!("{} in {} beside {what}", positive.kind, positive.context);
            wrong.note(&about, format!("{negative:?}, {:?}", positive.text));
        }
    }
    wrong.none(all);
}

#[test]
fn redaction_is_idempotent_and_reports_what_it_removed() {
    let mut wrong = Wrong::default();
    let mut all = 0;
    for positive in every_positive() {
        all += 1;
        let (clean, found) = CleanText::redact(&positive.text);
        let (again, more) = CleanText::redact(clean.as_str());
        let about = format!("{} in {}", positive.kind, positive.context);
        if again != clean || !more.is_empty() {
            wrong.note(&about, format!("{:?}, then {:?}", clean.as_str(), again.as_str()));
        }
        if found.is_empty() != (clean.as_str() == positive.text) {
            wrong.note(&about, format!("{found:?} in {:?}", positive.text));
        }
    }
    wrong.none(all);
}

/// A stream processes half a million bytes at once and looks 32 KiB ahead. Here the boundary
/// between two parts falls among secrets, at a different place each time.
#[test]
fn secrets_on_a_stream_boundary_are_redacted() {
    let secrets: String = positives(1, 1).iter().map(|one| format!("{}\n", one.text)).collect();
    let before = " ".repeat(512 << 10);
    let whole = format!("{before}{secrets}{}", " ".repeat(40 << 10));
    let (clean, found) = CleanText::redact(&whole);
    let borders = 8 * per_kind();
    for border in 0..borders {
        let first = before.len() + (32 << 10) + secrets.len() * border / borders + border;
        let (one, other) = whole.as_bytes().split_at(first);
        let mut stream = RedactionStream::new(RedactionRules::shipped());
        let mut out = Vec::new();
        stream.push(one, &mut out);
        stream.push(other, &mut out);
        let counts = stream.finish(&mut out);
        assert!(out == clean.as_str().as_bytes(), "{border}");
        assert_eq!(counts.values().sum::<usize>(), found.len());
    }
}
