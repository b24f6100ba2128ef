//! Secrets that nobody has, and texts that only look like secrets: what redaction is held against.
//!
//! The secrets are made from the forms that their providers publish, with random bodies; they are
//! written without looking at the rules that must find them, and are to be kept that way.

mod contexts;
mod formats;
mod grammar;
mod negatives;

pub use negatives::negatives;

use crate::random::Random;
use contexts::{Context, contexts};
use formats::{Format, formats};

/// A text with a secret in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Positive {
    /// What kind of secret it is.
    pub kind: &'static str,
    /// The secret as it appears in the text.
    pub secret: String,
    /// The whole text.
    pub text: String,
    /// Where the secret stands.
    pub context: &'static str,
}

/// What may be left of a secret: a published prefix, and less than anybody could use.
const PREFIX_BYTES_MAX: usize = 20;
const PART_BYTES: usize = 12;

impl Positive {
    /// A part of the secret that is still in `text`, unless none is.
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
            let parts = (start..=last).map(|at| &line[at..at + PART_BYTES]);
            parts.into_iter().find(|part| text.contains(part))
        })
    }

    /// The lines of the secret without what its context puts between them.
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

/// For each kind of secret `per_kind` texts, the same ones for the same seed; each in another
/// context as long as there are others.
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
    fn the_same_seed_makes_the_same_texts() {
        assert_eq!(positives(7, 3), positives(7, 3));
        assert_ne!(positives(7, 3), positives(8, 3));
        assert_eq!(negatives(), negatives());
    }

    #[test]
    fn every_kind_stands_in_several_contexts_and_every_context_is_used() {
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
    fn every_text_has_its_secret() {
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
    fn what_claims_to_be_json_is_json() {
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
    fn a_line_of_a_key_or_the_end_of_a_token_is_a_survivor() {
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
    fn there_are_hundreds_of_negatives_and_no_two_are_alike() {
        let negatives = negatives();
        let texts: BTreeSet<&String> = negatives.iter().map(|(_, text)| text).collect();
        assert!(texts.len() >= 300, "{}", texts.len());
        assert_eq!(texts.len(), negatives.len());
        assert!(texts.iter().all(|text| !text.contains(['‹', '›'])));
    }

    /// Openings of secrets that nothing else begins with, and how much must follow.
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
    fn no_negative_is_a_secret_after_all() {
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
