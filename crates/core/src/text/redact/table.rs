//! Parses the rule table in `rules.txt`.

use super::base64::lies_in_base64;
use super::hit::{CharClass, SecretCandidate};
use super::human_chosen::ValueContext;
use super::joined_lines::JoinedLines;
use super::value::{EvidenceStrength, ValueChecker, is_name};
use super::{CUSTOM_RULES_MAX, CustomRule, REDACTION_MARK};
use regex::bytes::{Regex, RegexBuilder};
use std::borrow::Cow;
use std::ops::Range;
use std::sync::OnceLock;

/// The table: rules, word lists and the cases of the tests.
pub(super) const SHIPPED: &str = include_str!("rules.txt");

/// A rule: the prefix of a secret and what has to follow it.
#[derive(Debug)]
pub(super) struct SecretRule {
    pub(super) kind: Cow<'static, str>,
    /// The prefix.
    pub(super) begins: Cow<'static, str>,
    then: Cow<'static, str>,
    options: RuleOptions,
    /// The expression of `then`, compiled on the first match of the prefix.
    compiled: OnceLock<Option<Regex>>,
}

/// The options of a rule; `rules.txt` explains them.
#[derive(Clone, Copy, Debug, Default)]
struct RuleOptions {
    inside: bool,
    back: Option<(CharClass, usize, usize)>,
    strength: Option<EvidenceStrength>,
    userpass: bool,
    command: bool,
    bearer: bool,
    wrapped: bool,
    is_custom: bool,
    /// Whether a custom rule may match more than one line.
    multiline: bool,
}

/// The rules and word lists that ship with midstride.
#[derive(Debug)]
pub(super) struct RuleTable {
    pub(super) rules: Vec<SecretRule>,
    words: Vec<(&'static str, &'static str)>,
}

impl RuleTable {
    /// Parses the shipped table. Invalid lines are skipped; a test checks every line.
    pub(super) fn shipped() -> Self {
        let mut table = Self { rules: Vec::new(), words: Vec::new() };
        for line in rule_lines() {
            match line.strip_prefix('@') {
                Some(list) => table.words.extend(list.split_once(' ')),
                None => table.rules.extend(parse_rules(line)),
            }
        }
        table
    }

    /// The words of the named list.
    pub(super) fn words(&self, list: &str) -> Vec<&'static str> {
        let lines = self.words.iter().filter(|(name, _)| *name == list);
        lines.flat_map(|(_, words)| words.split_ascii_whitespace()).collect()
    }
}

/// The lines of the table that are neither comments nor cases of tests.
fn rule_lines() -> impl Iterator<Item = &'static str> {
    SHIPPED.lines().filter(|line| !line.is_empty() && !line.starts_with(['#', '=', ' ']))
}

/// Parses the rules of a line, one for each prefix.
pub(super) fn parse_rules(line: &'static str) -> Vec<SecretRule> {
    let mut columns = line.split_ascii_whitespace();
    let (Some(kind), Some(begins), Some(then)) = (columns.next(), columns.next(), columns.next())
    else {
        return Vec::new();
    };
    let holds = columns.fold(RuleOptions::default(), RuleOptions::with_column);
    let rule =
        |begins| SecretRule::new(Cow::Borrowed(kind), Cow::Borrowed(begins), then.into(), holds);
    begins.split(',').map(rule).collect()
}

impl RuleOptions {
    fn with_column(mut self, column: &str) -> Self {
        match column {
            "inside" => self.inside = true,
            "random" => self.strength = Some(EvidenceStrength::Secret),
            "password" => self.strength = Some(EvidenceStrength::Password),
            "userpass" => self.userpass = true,
            "command" => self.command = true,
            "bearer" => self.bearer = true,
            "wrapped" => self.wrapped = true,
            _ => self.back = column.strip_prefix("back=").and_then(parse_back),
        }
        self
    }
}

fn parse_back(text: &str) -> Option<(CharClass, usize, usize)> {
    let (class, range) = text.split_once(':')?;
    let (least, most) = range.split_once('-')?;
    Some((CharClass::from_name(class)?, least.parse().ok()?, most.parse().ok()?))
}

/// Why the custom rules of a project are invalid.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CustomRuleError {
    /// There are too many.
    #[error("`redact` contains more than {CUSTOM_RULES_MAX} rules")]
    TooMany,
    /// The kind is empty, too long, or has other characters.
    #[error("the kind `{0}` must consist of lowercase letters, digits and dashes")]
    Kind(String),
    /// The prefix is too short or too long, or has a control character.
    #[error(
        "`begins` for kind `{kind}` must be {BEGINS_BYTES_MIN} to {CUSTOM_BYTES_MAX} characters \
         on one line"
    )]
    PrefixLength {
        /// The kind of the rule.
        kind: String,
    },
    /// The prefix would match the word that replaces a secret.
    #[error("`{0}` is the start of midstride's placeholder for a secret")]
    PrefixIsMark(String),
    /// The regular expression is invalid.
    #[error("`{kind}`: {error}")]
    Expression {
        /// The kind of the rule.
        kind: String,
        /// What is wrong with it.
        error: regex::Error,
    },
    /// The regular expression matches the empty text, or has several groups.
    #[error("`then` after `{begins}` must not match empty text and may contain at most one group")]
    ExpressionShape {
        /// The prefix of the rule.
        begins: String,
    },
}

impl SecretRule {
    fn new(
        kind: Cow<'static, str>,
        begins: Cow<'static, str>,
        then: Cow<'static, str>,
        options: RuleOptions,
    ) -> Self {
        Self { kind, begins, then, options, compiled: OnceLock::new() }
    }

    /// Creates a rule from a project's custom rule, or returns why it is invalid.
    pub(super) fn from_custom(added: &CustomRule) -> Result<Self, CustomRuleError> {
        let CustomRule { kind, begins, then, multiline } = added;
        let letter = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        if kind.is_empty() || kind.len() > CUSTOM_BYTES_MAX || !kind.chars().all(letter) {
            return Err(CustomRuleError::Kind(kind.clone()));
        }
        let is_length_allowed = (BEGINS_BYTES_MIN..=CUSTOM_BYTES_MAX).contains(&begins.len());
        if !is_length_allowed || begins.contains(char::is_control) {
            return Err(CustomRuleError::PrefixLength { kind: kind.clone() });
        }
        if begins.contains(REDACTION_MARK) || REDACTION_MARK.starts_with(begins.as_str()) {
            return Err(CustomRuleError::PrefixIsMark(begins.clone()));
        }
        let invalid = |error| CustomRuleError::Expression { kind: kind.clone(), error };
        let expression = compile(then).map_err(invalid)?;
        if expression.is_match(b"") || expression.captures_len() > 2 {
            return Err(CustomRuleError::ExpressionShape { begins: begins.clone() });
        }
        let own = |text: &str| Cow::Owned(text.to_owned());
        Ok(Self::new(
            own(kind),
            own(begins),
            own(then),
            RuleOptions { is_custom: true, multiline: *multiline, ..RuleOptions::default() },
        ))
    }

    /// The range of the secret at this candidate, if there is one.
    pub(super) fn find(
        &self,
        hit: SecretCandidate<'_>,
        values: &ValueChecker,
    ) -> Option<Range<usize>> {
        let start = match self.options.back {
            Some((class, least, most)) => hit.step_back(class, least, most)?,
            None => hit.at,
        };
        if !self.options.inside && !hit.begins_word(start) {
            return None;
        }
        let from = hit.at + self.begins.len();
        let rest = hit.text.get(from..)?;
        // A word that ends right after the prefix only looks like a secret. Skip it before
        // compiling the expression.
        let stops = |byte: &u8| byte.is_ascii_whitespace() || b"\"'`,;()".contains(byte);
        let tight =
            self.options.back.is_none() && !self.options.is_custom && !self.then.contains(r"\s");
        if tight && rest.iter().take(BODY_BYTES_MIN).any(stops) {
            return None;
        }
        let may_join = !self.options.is_custom || self.options.multiline;
        let joined = may_join.then(|| JoinedLines::new(hit, start, from, self.options.wrapped));
        let joined = joined.flatten();
        let over_lines = joined.and_then(|joined| {
            let found = self.find_from(joined.hit(), start, values)?;
            Some(joined.original_range(&found))
        });
        over_lines.or_else(|| self.find_from(hit, start, values))
    }

    /// The part of the text behind the prefix that the rule may match. A custom rule is written by
    /// others and must not swallow a document, so its match ends with the line.
    fn matchable<'t>(&self, rest: &'t [u8]) -> &'t [u8] {
        if !self.options.is_custom {
            return rest;
        }
        let rest = &rest[..rest.len().min(CUSTOM_MATCH_BYTES_MAX - self.begins.len())];
        let line_end = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r'));
        let end = line_end.filter(|_| !self.options.multiline);
        &rest[..end.unwrap_or(rest.len())]
    }

    /// The range of the secret that starts at `start`, if the expression matches.
    fn find_from(
        &self,
        hit: SecretCandidate<'_>,
        start: usize,
        values: &ValueChecker,
    ) -> Option<Range<usize>> {
        let from = hit.at + self.begins.len();
        let rest = self.matchable(&hit.text[from..]);
        let regex = self.compiled.get_or_init(|| compile(&self.then).ok()).as_ref()?;
        let found = regex.captures(rest)?;
        let at = match found.get(1) {
            Some(group) => group.start() + from..group.end() + from,
            None => start..found.get(0)?.end() + from,
        };
        let is_part = found.get(1).is_some() || self.options.back.is_some();
        let secret = if is_part { &hit.text[at.clone()] } else { &rest[..at.end - from] };
        let real = match self.options.strength {
            Some(EvidenceStrength::Password) => {
                values.is_secret(secret, EvidenceStrength::Password, false)
                    || values.is_human_chosen(secret, ValueContext::Command)
            }
            Some(strength) => values.is_secret(secret, strength, false),
            None if self.options.command => !values.is_password_placeholder(secret),
            None if self.options.bearer => values.is_bearer(secret),
            // A project may call a word a secret.
            None if self.options.is_custom => !values.is_stand_in(secret),
            None => !values.is_stand_in(secret) && !is_name(secret),
        };
        let real = real && !self.is_data(hit.text, &at, values);
        let real = real && (!self.options.userpass || super::base64::is_userpass(secret));
        real.then_some(at)
    }

    /// Whether what was found is part of other data: base64 in which the prefix occurs by chance, or
    /// the hash of a file name.
    fn is_data(&self, text: &[u8], at: &Range<usize>, values: &ValueChecker) -> bool {
        let RuleOptions { inside, is_custom, .. } = self.options;
        if inside || is_custom {
            return false;
        }
        let is_short = self.begins.len() <= SHORT_PREFIX_BYTES_MAX;
        let is_plain = self.begins.bytes().all(|byte| byte.is_ascii_alphanumeric());
        (is_short && values.has_file_ending(&text[at.start..], at.len()))
            || (is_plain && self.begins.len() <= CHANCE_BYTES_MAX && lies_in_base64(text, at))
    }
}

/// The maximum length of a prefix that occurs in base64 data by chance.
const CHANCE_BYTES_MAX: usize = 5;
/// The maximum length of a prefix that also starts names of files.
const SHORT_PREFIX_BYTES_MAX: usize = 4;

/// Every shipped expression without blanks needs at least this many bytes.
const BODY_BYTES_MIN: usize = 8;

/// The minimum length of a custom prefix. With a shorter one, almost every word would be checked.
const BEGINS_BYTES_MIN: usize = 3;
/// The maximum length of the kind and the prefix of a custom rule.
const CUSTOM_BYTES_MAX: usize = 40;

/// The maximum length of the match of a custom rule, with its prefix.
const CUSTOM_MATCH_BYTES_MAX: usize = 4 << 10;

/// The memory limit of a compiled expression. The shipped ones need a tenth of it.
const REGEX_BYTES_MAX: usize = 1 << 20;

fn compile(then: &str) -> Result<Regex, regex::Error> {
    let anchored = format!(r"\A(?:{then})");
    RegexBuilder::new(&anchored).unicode(false).size_limit(REGEX_BYTES_MAX).build()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shipped_rule_parses() {
        let table = RuleTable::shipped();
        for line in rule_lines().filter(|line| !line.starts_with('@')) {
            let rules = parse_rules(line);
            assert!(!rules.is_empty(), "{line}");
            for rule in rules {
                assert!(!rule.begins.is_empty(), "{line}");
                if let Err(error) = compile(&rule.then) {
                    panic!("{line}: {error}");
                }
            }
            for column in line.split_ascii_whitespace().skip(3) {
                let holds =
                    ["inside", "random", "password", "command", "bearer", "userpass", "wrapped"];
                let known = holds.contains(&column);
                let back = column.strip_prefix("back=").and_then(parse_back).is_some();
                assert!(known || back, "{line}: `{column}`");
            }
        }
        assert!(table.rules.len() > 150);
    }
}
