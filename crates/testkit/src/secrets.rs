//! Fake secrets, and texts that only look like secrets, to test redaction with.
//!
//! The secrets follow the formats that their providers publish, with random bodies. They were
//! written without looking at the rules that must find them; keep it that way.

mod contexts;
mod formats;
mod grammar;
mod negatives;

pub use negatives::negatives;

use crate::random::Random;
use contexts::{Context, contexts};
use formats::{Format, formats};

/// A text that contains a secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Positive {
    /// The kind of secret.
    pub kind: &'static str,
    /// The secret as it appears in the text.
    pub secret: String,
    /// The whole text.
    pub text: String,
    /// The name of the context.
    pub context: &'static str,
}

/// What may remain of a secret: its published prefix, and parts too short to be usable.
const PREFIX_BYTES_MAX: usize = 20;
const PART_BYTES: usize = 12;

impl Positive {
    /// A part of the secret that is still in `text`, if any.
    pub fn survivor(&self, text: &str) -> Option<&str> {
        let lines = self.lines();
        if let [line] = lines[..]
            && text.contains(line)
        {
            return Some(line);
        }
        lines.iter().enumerate().find_map(|(index, line)| {
            let start = if index == 0 { PREFIX_BYTES_MAX } else { 0 };
            let last = line.len().checked_sub(PART_BYTES)?;
            let mut parts = (start..=last).filter_map(|at| line.get(at..at + PART_BYTES));
            parts.find(|part| text.contains(part))
        })
    }

    /// The lines of the secret, without what its context puts between them.
    fn lines(&self) -> Vec<&str> {
        let is_one_line = !self.secret.contains('\n') && !self.secret.contains("\\n");
        if is_one_line {
            return vec![&self.secret];
        }
        let between = |c: char| c.is_whitespace() || "\\\"+>".contains(c);
        self.secret
            .split('\n')
            .flat_map(|line| line.split("\\n"))
            .map(|line| line.rsplit('\t').next().unwrap_or(line).trim_matches(between))
            .filter(|line| !line.is_empty())
            .collect()
    }
}

/// Generates `per_kind` texts for each kind of secret, the same ones for the same seed, each in
/// another context as long as there are unused ones.
pub fn positives(seed: u64, per_kind: usize) -> Vec<Positive> {
    let mut random = Random::seeded(seed);
    formats().iter().flat_map(|format| of_format(format, per_kind, &mut random)).collect()
}

fn of_format(format: &Format, count: usize, random: &mut Random) -> Vec<Positive> {
    let sample = format.make(random);
    let suiting: Vec<&Context> = contexts().filter(|c| c.suits(format, &sample)).collect();
    let start = random.below(suiting.len());
    let in_context = |index: usize| {
        let context = suiting[(start + index) % suiting.len()];
        let value = loop {
            let value = format.make(random);
            if context.suits(format, &value) {
                break value;
            }
        };
        let (text, secret) = context.write(random.pick(format.names), &value);
        Positive { kind: format.kind, secret, text, context: context.name }
    };
    (0..count).map(in_context).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::{BTreeMap, BTreeSet};

    #[test]
    fn same_seed_generates_same_texts() {
        assert_eq!(positives(7, 3), positives(7, 3));
        assert_ne!(positives(7, 3), positives(8, 3));
        assert_eq!(negatives(), negatives());
    }

    #[test]
    fn every_kind_has_several_contexts_and_every_context_is_used() {
        let mut seen: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for positive in positives(1, 120) {
            seen.entry(positive.kind).or_default().insert(positive.context);
        }
        assert_eq!(seen.len(), formats().len(), "two kinds have one name");
        for (kind, contexts) in &seen {
            assert!(contexts.len() >= 2, "{kind}: {contexts:?}");
        }
        let used: BTreeSet<&str> = seen.into_values().flatten().collect();
        for context in contexts() {
            assert!(used.contains(context.name), "{}", context.name);
        }
    }

    #[test]
    fn every_text_contains_its_secret() {
        for positive in positives(2, 40) {
            assert!(positive.text.contains(&positive.secret), "{positive:?}");
            assert!(positive.secret.len() >= 8, "{positive:?}");
            assert!(!positive.text.contains(['«', '»', '‹', '›']), "{positive:?}");
            assert!(!positive.text.contains("{v}"), "{positive:?}");
            assert!(positive.survivor(&positive.text).is_some(), "{positive:?}");
            let without = positive.text.replace(&positive.secret, "");
            assert_eq!(positive.survivor(&without), None, "{positive:?}");
        }
    }

    #[test]
    fn json_contexts_are_valid_json() {
        let objects: Vec<Positive> = positives(3, 120)
            .into_iter()
            .filter(|positive| positive.context.starts_with("json"))
            .filter(|positive| positive.text.starts_with('{'))
            .collect();
        assert!(objects.len() > 1000);
        for positive in objects {
            let read = serde_json::from_str::<serde_json::Value>(&positive.text);
            assert!(read.is_ok(), "{read:?} {positive:?}");
        }
    }

    #[test]
    fn key_lines_and_token_ends_count_as_survivors() {
        let of = |secret: &str| Positive {
            kind: "",
            secret: secret.to_owned(),
            text: String::new(),
            context: "",
        };
        let key = of("AAAAaaaaBBBBbbbbCCCC\\nDDDDddddEEEEeeee\\nFFFFffffGGGG");
        assert_eq!(key.survivor("left: DDDDddddEEEE"), Some("DDDDddddEEEE"));
        assert_eq!(key.survivor("left: AAAAaaaaBBBB"), None);
        let token = of("prefix_0123456789abcdefghijklmnopqrstuvwxyz");
        assert_eq!(token.survivor("…opqrstuvwxyz"), Some("opqrstuvwxyz"));
        assert_eq!(token.survivor("prefix_REDACTED"), None);
        assert_eq!(of("Winter2024!").survivor("p: Winter2024!"), Some("Winter2024!"));
    }

    #[test]
    fn there_are_hundreds_of_unique_negatives() {
        let negatives = negatives();
        let texts: BTreeSet<&String> = negatives.iter().map(|(_, text)| text).collect();
        assert!(texts.len() >= 300, "{}", texts.len());
        assert_eq!(texts.len(), negatives.len());
        assert!(texts.iter().all(|text| !text.contains(['‹', '›'])));
    }

    /// Prefixes that only secrets start with, and how many characters must follow.
    const OPENINGS: [(&str, usize); 30] = [
        ("AKIA", 16),
        ("ASIA", 16),
        ("AIza", 30),
        ("GOCSPX-", 20),
        ("ya29.", 20),
        ("ghp_", 20),
        ("gho_", 20),
        ("ghs_", 20),
        ("ghu_", 20),
        ("ghr_", 20),
        ("github_pat_", 20),
        ("glpat-", 16),
        ("sk-ant-", 20),
        ("sk-proj-", 20),
        ("sk-or-", 20),
        ("sk_live_", 16),
        ("sk_test_", 16),
        ("whsec_", 16),
        ("xoxb-", 16),
        ("xoxp-", 16),
        ("npm_", 30),
        ("pypi-", 30),
        ("hf_", 30),
        ("hvs.", 20),
        ("dop_v1_", 20),
        ("AGE-SECRET-KEY-1", 20),
        ("SG.", 40),
        ("lin_api_", 20),
        ("shpat_", 20),
        ("gsk_", 30),
    ];

    #[test]
    fn no_negative_contains_a_secret() {
        let in_token = |c: &char| c.is_ascii_alphanumeric() || "_-.".contains(*c);
        for (what, text) in negatives() {
            for (opening, length) in OPENINGS {
                for (at, _) in text.match_indices(opening) {
                    let body = text[at + opening.len()..].chars().take_while(in_token).count();
                    assert!(body < length, "{what}: {text}");
                }
            }
            assert!(!text.contains("PRIVATE KEY-----\nM"), "{what}: {text}");
        }
    }
}
