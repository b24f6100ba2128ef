//! Recognizes names whose value is a secret: `DB_PASSWORD`, `clientSecret`, `api-key`.

use super::table::RuleTable;
use super::value::EvidenceStrength;

/// The word lists that classify names.
#[derive(Debug)]
pub(super) struct SecretNames {
    passwords: Vec<&'static str>,
    secrets: Vec<&'static str>,
    keys: Vec<&'static str>,
    id_keys: Vec<&'static str>,
    weak: Vec<&'static str>,
    tails: Vec<&'static str>,
    harmless: Vec<&'static str>,
    public: Vec<&'static str>,
    services: Vec<&'static str>,
}

/// Words up to this length must match a whole word or its start, because many other words contain
/// them: `lob` is in `global`.
const SHORT_WORD: usize = 4;

impl SecretNames {
    pub(super) fn new(table: &RuleTable) -> Self {
        Self {
            passwords: table.words("passwords"),
            secrets: table.words("secrets"),
            keys: table.words("keys"),
            id_keys: table.words("id-keys"),
            weak: table.words("weak"),
            tails: table.words("tails"),
            harmless: table.words("harmless"),
            public: table.words("public"),
            services: table.words("services"),
        }
    }

    /// How strongly a name suggests that its value is a secret; `None` if it does not.
    pub(super) fn strength(&self, name: &[u8]) -> Option<EvidenceStrength> {
        let words = split_words(name);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let main = words.iter().rposition(|word| !self.tails.contains(word))?;
        let (last, before) = words[..=main].split_last()?;
        if self.harmless.contains(last) {
            return None;
        }
        let previous = before.last().copied().unwrap_or_default();
        let public = self.public.contains(&previous);
        let ends = |list: &[&str]| list.iter().any(|word| ends_with_word(last, word));
        if *last != "key" && ends(&self.passwords) {
            return Some(EvidenceStrength::Password);
        }
        let explicit = self.keys.contains(&previous);
        if (*last == "key" && explicit) || ends(&self.secrets) {
            return Some(EvidenceStrength::Explicit);
        }
        let is_credential =
            last.ends_with("key") || last.ends_with("token") || ["auth", "pat"].contains(last);
        if is_credential && !public && self.is_of_service(name) {
            return Some(EvidenceStrength::Explicit);
        }
        if *last == "key" {
            let id = self.id_keys.contains(&previous).then_some(EvidenceStrength::Secret);
            let vague = (!previous.is_empty() && !public).then_some(EvidenceStrength::Near);
            return id.or(vague);
        }
        if ends(&self.weak) {
            return (!public).then_some(EvidenceStrength::Weak);
        }
        let secret = |word: &&str| self.passwords.contains(word) || self.secrets.contains(word);
        let key = |pair: &[&str]| pair[1] == "key" && self.keys.contains(&pair[0]);
        if before.iter().any(secret) || before.windows(2).any(key) {
            return Some(EvidenceStrength::Weak);
        }
        let vague = |word: &&str| ["token", "auth", "authtoken"].contains(word);
        (!public && before.iter().any(vague)).then_some(EvidenceStrength::Near)
    }

    /// Whether a name contains that of a service: `SNYK_TOKEN`, `adafruitKey`.
    pub(super) fn is_of_service(&self, name: &[u8]) -> bool {
        let words = split_words(name);
        let joined = words.concat();
        self.services.iter().any(|service| match service.len() <= SHORT_WORD {
            true => words.iter().any(|word| word.starts_with(service)),
            false => joined.contains(service),
        })
    }

    /// Whether a name is that of an access token, in any spelling: `_authToken`, `ACCESS_TOKEN`. A
    /// plain `token` may be just the id of one.
    pub(super) fn is_access_token(&self, name: &[u8]) -> bool {
        let words = split_words(name);
        let [.., previous, last] = words.as_slice() else { return false };
        last == "token" && (previous == "refresh" || self.keys.contains(&previous.as_str()))
    }
}

fn ends_with_word(whole: &str, word: &str) -> bool {
    whole == word || (word.len() > SHORT_WORD && whole.ends_with(word))
}

/// Splits a name of any naming style into lowercase words, without numbers.
fn split_words(name: &[u8]) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut previous = 0u8;
    for (at, byte) in name.iter().copied().enumerate() {
        if byte.is_ascii_alphabetic() {
            let next_is_small = name.get(at + 1).is_some_and(u8::is_ascii_lowercase);
            let begins = !previous.is_ascii_alphabetic()
                || (byte.is_ascii_uppercase() && (previous.is_ascii_lowercase() || next_is_small));
            if begins {
                words.push(String::new());
            }
            if let Some(word) = words.last_mut() {
                word.push(char::from(byte.to_ascii_lowercase()));
            }
        }
        previous = byte;
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_secrets_are_classified_by_strength() {
        let names = SecretNames::new(&RuleTable::shipped());
        let strength = |name: &str| names.strength(name.as_bytes());
        for name in
            ["password", "DB_PASSWORD", "spring.datasource.password", "userPassword2", "npasswd"]
        {
            assert_eq!(strength(name), Some(EvidenceStrength::Password), "{name}");
        }
        for name in [
            "clientSecret",
            "AWS_SECRET_ACCESS_KEY",
            "apikey",
            "X-API-Key",
            "SECRET_KEY_BASE",
            "APIKeyProd",
        ] {
            assert_eq!(strength(name), Some(EvidenceStrength::Explicit), "{name}");
        }
        for name in ["sessionKey", "PROJECT_KEY", "app-key"] {
            assert_eq!(strength(name), Some(EvidenceStrength::Secret), "{name}");
        }
        for name in ["SNYK_TOKEN", "adafruitKey", "DISCORD_BOT_TOKEN", "sendbirdtoken"] {
            assert_eq!(strength(name), Some(EvidenceStrength::Explicit), "{name}");
        }
        for name in ["signKey", "FEATURE_KEY"] {
            assert_eq!(strength(name), Some(EvidenceStrength::Near), "{name}");
        }
        for name in ["token", "GITHUB_TOKEN", "_authToken", "PASSWORD_GITHUB"] {
            assert_eq!(strength(name), Some(EvidenceStrength::Weak), "{name}");
        }
        for name in [
            "public_key",
            "key",
            "primaryKey",
            "password_file",
            "tokenCount",
            "tokenizer",
            "author",
            "nextPageToken",
            "secretName",
            "monkey",
            "passed",
            "compass_heading",
            "max_token_limit",
        ] {
            assert_eq!(strength(name), None, "{name}");
        }
    }
}
