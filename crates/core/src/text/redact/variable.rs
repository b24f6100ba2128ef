//! Detects environment variables that must not be passed to child processes.

use super::CleanText;

/// Words in a variable name that mark its value as secret.
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

/// Whether a variable is secret: by its name, because its value contains a secret, or because its
/// value is a URL with a password.
pub fn is_secret_variable(name: &str, value: &str) -> bool {
    let upper = name.to_uppercase();
    let mut words = upper.split(|c: char| !c.is_alphanumeric());
    words.any(|word| SECRET_WORDS.contains(&word))
        || !CleanText::redact(value).1.is_empty()
        || has_password(value)
}

/// Whether a value contains a URL of the form `scheme://user:password@host`.
fn has_password(value: &str) -> bool {
    value.split("://").skip(1).any(|rest| {
        let authority = rest.split(['/', '?', '#', ' ']).next().unwrap_or_default();
        authority.rsplit_once('@').is_some_and(|(user, _)| user.contains(':'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_variable_is_detected_by_its_name_or_value() {
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
}
