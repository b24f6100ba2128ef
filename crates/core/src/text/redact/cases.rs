//! Runs the cases of `rules.txt`: each rule has texts that it redacts and texts that stay.

use super::hit::{BEFORE_BYTES_MAX, SecretCandidate};
use super::table::{RuleTable, SHIPPED, SecretRule, parse_rules};
use super::value::ValueChecker;
use super::{CleanText, REDACTION_MARK};
use std::fmt::Write as _;

/// How often each case is expanded with other random text.
const DRAWS: u64 = 20;

/// The cases of a rule, or of a kind whose grammar is in code.
struct CasedRule {
    line: &'static str,
    positives: Vec<&'static str>,
    negatives: Vec<&'static str>,
}

fn cased_rules() -> Vec<CasedRule> {
    let mut rules: Vec<CasedRule> = Vec::new();
    for line in SHIPPED.lines().filter(|line| !line.is_empty() && !line.starts_with(['#', '@'])) {
        let Some(case) = line.strip_prefix("  ") else {
            rules.push(CasedRule { line, positives: Vec::new(), negatives: Vec::new() });
            continue;
        };
        let rule = rules.last_mut().expect("a case is below its rule");
        match case.split_once(' ') {
            Some(("+", text)) => rule.positives.push(text),
            Some(("-", text)) => rule.negatives.push(text),
            _ => panic!("a case starts with + or -: {line}"),
        }
    }
    rules
}

/// Expands the symbols of a case, the same way for the same seed.
struct CaseText {
    state: u64,
    prefix: String,
}

impl CaseText {
    fn expand(seed: u64, case: &str, prefix: &str) -> String {
        let mut made = Self { state: seed, prefix: prefix.to_owned() };
        let mut text = String::new();
        let mut rest = case;
        while let Some((before, behind)) = rest.split_once('{') {
            text.push_str(before);
            let symbol = behind.split_once('}').and_then(|(symbol, behind)| {
                made.symbol(symbol).map(|expanded| (expanded, behind))
            });
            let (expanded, behind) = symbol.unwrap_or(("{".to_owned(), behind));
            text.push_str(&expanded);
            rest = behind;
        }
        text + rest
    }

    fn below(&mut self, count: usize) -> usize {
        self.state = self
            .state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.state >> 33).unwrap() % count
    }

    fn symbol(&mut self, symbol: &str) -> Option<String> {
        let (name, length) = symbol.split_once(':').unwrap_or((symbol, "0"));
        let length: usize = length.parse().ok()?;
        let (upper, lower, digits) =
            ("ABCDEFGHIJKLMNOPQRSTUVWXYZ", "abcdefghijklmnopqrstuvwxyz", "0123456789");
        Some(match name {
            "prefix" => self.prefix.clone(),
            "nl" => "\n".to_owned(),
            "digits" => self.letters(digits, length),
            "hex" => self.letters("0123456789abcdef", length),
            "lower" => self.letters(&[lower, digits].concat(), length),
            "upper" => self.letters(&[upper, digits].concat(), length),
            "letters" => self.letters(&[upper, lower].concat(), length),
            "alnum" => self.letters(&[upper, lower, digits].concat(), length),
            // The ends are letters, because a sign there may belong to the text around.
            "url64" => self.enclosed(&[upper, lower, digits, "_-"].concat(), length),
            "base64" => self.enclosed(&[upper, lower, digits, "+/"].concat(), length),
            "camel" => self.camel(length),
            "uuid" => {
                let parts = [8, 4, 4, 4, 12].map(|length| self.letters("0123456789abcdef", length));
                parts.join("-")
            }
            "userpass" => self.userpass(),
            _ => return None,
        })
    }

    fn letters(&mut self, of: &str, count: usize) -> String {
        (0..count).map(|_| char::from(of.as_bytes()[self.below(of.len())])).collect()
    }

    fn enclosed(&mut self, of: &str, count: usize) -> String {
        let mut text = self.letters(&of[..62], count.min(1));
        text += &self.letters(of, count.saturating_sub(2));
        text += &self.letters(&of[..62], usize::from(count > 1));
        text
    }

    /// Words written as one name, such as `requiredTokenValue`.
    fn camel(&mut self, length: usize) -> String {
        const WORDS: [&str; 16] = [
            "required",
            "Characteristic",
            "Value",
            "Missing",
            "Handler",
            "Default",
            "Table",
            "Render",
            "Custom",
            "Field",
            "Provider",
            "Status",
            "Color",
            "Import",
            "Window",
            "Label",
        ];
        let mut text = WORDS[0].to_owned();
        while text.len() < length {
            text.push_str(WORDS[1 + self.below(WORDS.len() - 1)]);
        }
        text.truncate(length);
        text
    }

    fn userpass(&mut self) -> String {
        const LETTERS: &[u8; 64] =
            b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        let plain = format!("user:{}", self.letters("abcdefghijkmnpqrstuvwxyz23456789", 13));
        let mut text = String::new();
        for three in plain.as_bytes().chunks(3) {
            let bits = three.iter().fold(0, |bits, byte| bits << 8 | usize::from(*byte));
            let digits = [18, 12, 6, 0].map(|shift| char::from(LETTERS[bits >> shift & 63]));
            text.extend(digits);
        }
        text
    }
}

/// A case with its marks removed, and the range between them.
fn unmarked(text: &str) -> (String, std::ops::Range<usize>) {
    let Some((before, rest)) = text.split_once('«') else {
        return (text.to_owned(), 0..text.len());
    };
    let (secret, behind) = rest.split_once('»').expect("« has its »");
    let range = before.len()..before.len() + secret.len();
    (format!("{before}{secret}{behind}"), range)
}

/// What is wrong with a positive case of a rule, if anything.
fn check_positive(rule: &SecretRule, values: &ValueChecker, text: &str) -> Option<String> {
    let (text, range) = unmarked(text);
    let places = text.match_indices(&*rule.begins).map(|(at, _)| at);
    let mut found = places.filter_map(|at| {
        let hit = SecretCandidate::new(text.as_bytes(), at, BEFORE_BYTES_MAX);
        let found = rule.find(hit, values)?;
        Some(found.start + at - hit.at..found.end + at - hit.at)
    });
    let found = found.find(|found| *found == range);
    let (clean, _) = CleanText::redact(&text);
    let remains = clean.as_str().contains(&text[range]);
    (found.is_none() || remains).then(|| format!("{text} became {}", clean.as_str()))
}

/// What is wrong with a positive case of a kind whose grammar is in code, if anything.
fn check_kind(kind: &str, text: &str) -> Option<String> {
    let (text, range) = unmarked(text);
    let (clean, _) = CleanText::redact(&text);
    let expected = format!("{}{REDACTION_MARK}{kind}{}", &text[..range.start], &text[range.end..]);
    (clean.as_str() != expected).then(|| format!("{text:?} became {:?}", clean.as_str()))
}

/// What is wrong with the cases of a rule, with random text of one seed.
fn check_cases(cased: &CasedRule, values: &ValueChecker, seed: u64) -> Vec<String> {
    let kind = cased.line.strip_prefix("= ");
    let rules = if kind.is_some() { Vec::new() } else { parse_rules(cased.line) };
    let expand = |case: &&'static str, prefix: &str| CaseText::expand(seed, case, prefix);
    let mut wrong = Vec::new();
    for case in &cased.positives {
        wrong.extend(kind.and_then(|kind| check_kind(kind, &expand(case, ""))));
        let failed = |rule| check_positive(rule, values, &expand(case, &rule.begins));
        wrong.extend(rules.iter().filter_map(failed));
    }
    let prefixes = rules.iter().map(|rule| &*rule.begins).chain(kind.map(|_| ""));
    for text in prefixes.flat_map(|prefix| cased.negatives.iter().map(move |c| expand(c, prefix))) {
        let (clean, _) = CleanText::redact(&text);
        if clean.as_str() != text {
            wrong.push(format!("{text} should stay and became {}", clean.as_str()));
        }
    }
    wrong
}

#[test]
fn every_rule_redacts_its_positive_cases_and_leaves_its_negative_ones() {
    let table = RuleTable::shipped();
    let values = ValueChecker::new(|list| table.words(list));
    let mut wrong = String::new();
    for cased in cased_rules() {
        let failed = (1..=DRAWS).flat_map(|seed| check_cases(&cased, &values, seed));
        for failed in failed {
            writeln!(wrong, "{}: {failed}", cased.line).unwrap();
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{wrong}", wrong.lines().count());
}

#[test]
fn every_rule_has_positive_and_negative_cases() {
    let rules = cased_rules();
    assert!(rules.len() > 150);
    for rule in rules {
        assert!(!rule.positives.is_empty(), "no text to redact: {}", rule.line);
        assert!(!rule.negatives.is_empty(), "no text to leave: {}", rule.line);
    }
}
