//! Text that may be written: what the rules recognise as a secret is taken out first.
//!
//! Only [`Clean`] text reaches a document, a kept revision or a log. The rules here are the ones
//! that cannot be mistaken: a prefix that only a provider gives, followed by enough of its letters.

use crate::span::Span;

/// What stands in the place of a secret; one word, so that it harms neither YAML nor Markdown.
const MARK: &str = "REDACTED-";

/// Text without the secrets that the rules recognise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Clean(String);

/// A secret that was taken out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Redaction {
    /// What it was.
    pub kind: &'static str,
    /// Where it stood, in the text before.
    pub at: Span,
}

struct Rule {
    kind: &'static str,
    prefix: &'static str,
    /// How many letters follow at least.
    length: usize,
}

const RULES: &[Rule] = &[
    rule("aws-key", "AKIA", 16),
    rule("aws-key", "ASIA", 16),
    rule("anthropic-key", "sk-ant-", 20),
    rule("openai-key", "sk-proj-", 20),
    rule("github-token", "ghp_", 30),
    rule("github-token", "gho_", 30),
    rule("github-token", "ghs_", 30),
    rule("github-token", "ghu_", 30),
    rule("github-token", "github_pat_", 30),
    rule("gitlab-token", "glpat-", 20),
    rule("google-key", "AIza", 35),
    rule("slack-token", "xoxb-", 20),
    rule("slack-token", "xoxp-", 20),
    rule("npm-token", "npm_", 36),
    rule("pypi-token", "pypi-AgE", 50),
    rule("stripe-key", "sk_live_", 20),
];

const KEY_BEGIN: &str = "-----BEGIN ";
const KEY_NAME: &str = "PRIVATE KEY";
const KEY_END: &str = "-----END ";

const fn rule(kind: &'static str, prefix: &'static str, length: usize) -> Rule {
    Rule { kind, prefix, length }
}

impl Clean {
    /// The text without its secrets, and what was taken out.
    pub fn of(text: &str) -> (Self, Vec<Redaction>) {
        let mut found: Vec<Redaction> =
            RULES.iter().flat_map(|rule| tokens(text, rule)).chain(private_keys(text)).collect();
        found.sort_by_key(|redaction| (redaction.at.start, std::cmp::Reverse(redaction.at.end)));
        let mut kept: Vec<Redaction> = Vec::new();
        for redaction in found {
            if kept.last().is_none_or(|last| redaction.at.start >= last.at.end) {
                kept.push(redaction);
            }
        }
        let mut clean = String::with_capacity(text.len());
        let mut from = 0;
        for Redaction { kind, at } in &kept {
            clean.push_str(&text[from..at.start]);
            clean.push_str(MARK);
            clean.push_str(kind);
            from = at.end;
        }
        clean.push_str(&text[from..]);
        (Self(clean), kept)
    }

    /// As text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Words by which the name of a variable says that its value is nobody's business.
const SECRET_WORDS: [&str; 22] = [
    "APIKEY",
    "AUTH",
    "AUTHORIZATION",
    "BEARER",
    "COOKIE",
    "CREDENTIAL",
    "CREDENTIALS",
    "CREDS",
    "DSN",
    "JWT",
    "KEY",
    "KEYS",
    "PASS",
    "PASSPHRASE",
    "PASSWD",
    "PASSWORD",
    "PASSWORDS",
    "PRIVATE",
    "SECRET",
    "SECRETS",
    "TOKEN",
    "TOKENS",
];

/// Whether a variable is not to be passed on: its name says that it is secret, or its value is, or
/// is an address with a password in it.
pub fn is_secret_variable(name: &str, value: &str) -> bool {
    let upper = name.to_uppercase();
    let mut words = upper.split(|c: char| !c.is_alphanumeric());
    words.any(|word| SECRET_WORDS.contains(&word))
        || !Clean::of(value).1.is_empty()
        || has_password(value)
}

/// `scheme://user:password@host`
fn has_password(value: &str) -> bool {
    value.split("://").skip(1).any(|rest| {
        let authority = rest.split(['/', '?', '#', ' ']).next().unwrap_or_default();
        authority.rsplit_once('@').is_some_and(|(user, _)| user.contains(':'))
    })
}

fn tokens(text: &str, rule: &'static Rule) -> Vec<Redaction> {
    let letter = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    text.match_indices(rule.prefix)
        .filter(|(at, _)| !text[..*at].ends_with(|c: char| c.is_ascii_alphanumeric() || c == '_'))
        .filter_map(|(at, _)| {
            let rest = &text[at + rule.prefix.len()..];
            let length = rest.find(|c| !letter(c)).unwrap_or(rest.len());
            let end = at + rule.prefix.len() + length;
            (length >= rule.length).then(|| Redaction { kind: rule.kind, at: Span::new(at, end) })
        })
        .collect()
}

fn private_keys(text: &str) -> Vec<Redaction> {
    text.match_indices(KEY_BEGIN)
        .filter(|(at, _)| text[*at..].lines().next().is_some_and(|line| line.contains(KEY_NAME)))
        .map(|(at, _)| {
            let rest = &text[at..];
            let last = rest
                .find(KEY_END)
                .map_or(rest.len(), |end| end + rest[end..].find('\n').unwrap_or(rest.len() - end));
            Redaction { kind: "private-key", at: Span::new(at, at + last) }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_variable_is_known_by_its_name_or_its_value() {
        for (name, value) in [
            ("GITHUB_TOKEN", "x"),
            ("aws_secret_access_key", "x"),
            ("DB_PASSWORD", "x"),
            ("SSH_AUTH_SOCK", "/tmp/agent"),
            ("NPM-TOKEN", "x"),
            ("HARMLESS", "glpat-abcdefghijklmnopqrstu"),
            ("DATABASE_URL", "postgres://app:hunter2@db/shop"),
        ] {
            assert!(is_secret_variable(name, value), "{name}");
        }
        for (name, value) in [
            ("PATH", "/usr/bin"),
            ("PWD", "/home/dev"),
            ("AUTHOR", "ann"),
            ("KEYBOARD", "de"),
            ("TOKENIZERS_PARALLELISM", "0"),
            ("PROXY", "http://proxy:3128/a@b"),
        ] {
            assert!(!is_secret_variable(name, value), "{name}");
        }
    }

    #[test]
    fn secrets_are_taken_out_and_everything_else_stays() {
        let token = format!("ghp_{}", "a1B2".repeat(9));
        let text = format!("use {token} and `sk-ant-{}`.\n", "x".repeat(30));
        let (clean, found) = Clean::of(&text);
        assert_eq!(clean.as_str(), "use REDACTED-github-token and `REDACTED-anthropic-key`.\n");
        assert_eq!(found.len(), 2);
        assert_eq!(found[0].at.of(&text), token);
        let key = "a\n-----BEGIN RSA PRIVATE KEY-----\nMII\n-----END RSA PRIVATE KEY-----\nb\n";
        assert_eq!(Clean::of(key).0.as_str(), "a\nREDACTED-private-key\nb\n");
    }

    #[test]
    fn commits_uids_paths_and_words_are_no_secrets() {
        for text in [
            "4f2c9d1e0b7a63c58d2f1e9a0c4b7d6e5f8a9b0c",
            "0195b9d2-4c00-7000-8000-000000000001",
            "src/ghp_handler.rs and sk-ant-colony",
            "AKIAS are trees; AIza is short",
            "-----BEGIN CERTIFICATE-----",
        ] {
            let (clean, found) = Clean::of(text);
            assert_eq!((clean.as_str(), found.len()), (text, 0));
        }
    }

    #[test]
    fn clean_text_is_clean() {
        let text = format!("glpat-{0} glpat-{0}", "z".repeat(20));
        let (clean, _) = Clean::of(&text);
        assert!(Clean::of(clean.as_str()).1.is_empty());
    }
}
