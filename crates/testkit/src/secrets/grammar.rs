//! Generates random texts from a grammar, the same ones for the same seed.
//!
//! `ghp_‹alnum36›` is a prefix followed by 36 letters and digits, `‹num10-13›` is ten to thirteen
//! digits. If only a part of the text is secret, it is in guillemets:
//! `redis://:«‹pass16›»@cache:6379/0`.

use crate::random::Random;

/// The alphabets that the names between `‹` and `›` refer to.
const ALPHABETS: [(&str, &str); 14] = [
    ("num", "0123456789"),
    ("hex", "0123456789abcdef"),
    ("HEX", "0123456789ABCDEF"),
    ("let", "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"),
    ("low", "abcdefghijklmnopqrstuvwxyz0123456789"),
    ("UP", "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"),
    ("alnum", "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"),
    ("url", "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"),
    ("base", "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"),
    // Base 32 as used in AWS ids, ULIDs and bech32.
    ("aws", "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"),
    ("ulid", "0123456789ABCDEFGHJKMNPQRSTVWXYZ"),
    ("bech", "qpzry9x8gf2tvdw0s3jn54khce6mua7l"),
    ("BECH", "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L"),
    // What password managers generate when quotes and spaces are excluded.
    ("pass", "ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz23456789!%^*_-+."),
];

const WORDS: [&str; 24] = [
    "amber", "anchor", "basalt", "cedar", "cobalt", "copper", "dragon", "ember", "falcon",
    "garnet", "harbor", "juniper", "lantern", "maple", "meadow", "monkey", "orchid", "pebble",
    "saffron", "summer", "thistle", "walnut", "willow", "winter",
];

const STANDARD: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

impl Random {
    /// A random text from a grammar.
    pub(super) fn expand(&mut self, grammar: &str) -> String {
        let mut text = String::new();
        let mut rest = grammar;
        while let Some((before, after)) = rest.split_once('‹') {
            let (symbol, after) = after.split_once('›').expect("every ‹ has its ›");
            text.push_str(before);
            text.push_str(&self.symbol(symbol));
            rest = after;
        }
        text + rest
    }

    fn symbol(&mut self, symbol: &str) -> String {
        let digits = symbol.find(|c: char| c.is_ascii_digit()).unwrap_or(symbol.len());
        let (name, count) = symbol.split_at(digits);
        match name {
            "word" => self.pick(&WORDS).to_owned(),
            "Word" => self.word_with_capital(),
            "uuid" => self.uuid(count),
            _ => {
                let count = self.count(count);
                self.letters(alphabet(name), count)
            }
        }
    }

    fn word_with_capital(&mut self) -> String {
        let word = self.pick(&WORDS);
        word[..1].to_uppercase() + &word[1..]
    }

    fn uuid(&mut self, version: &str) -> String {
        let variant = self.pick(&["8", "9", "a", "b"]);
        self.expand(&format!("‹hex8›-‹hex4›-{version}‹hex3›-{variant}‹hex3›-‹hex12›"))
    }

    fn count(&mut self, count: &str) -> usize {
        let number = |digits: &str| digits.parse::<usize>().expect("a count is a number");
        match count.split_once('-') {
            Some((least, most)) => number(least) + self.below(number(most) + 1 - number(least)),
            None => number(count),
        }
    }

    fn letters(&mut self, alphabet: &str, count: usize) -> String {
        (0..count).map(|_| char::from(self.pick(alphabet.as_bytes()))).collect()
    }
}

fn alphabet(name: &str) -> &'static str {
    let known = ALPHABETS.iter().find(|(known, _)| *known == name);
    known.unwrap_or_else(|| panic!("no alphabet is called `{name}`")).1
}

/// Base64 with padding.
pub(super) fn base64(bytes: &[u8]) -> String {
    let mut text = String::new();
    for three in bytes.chunks(3) {
        let byte = |index: usize| u32::from(three.get(index).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for place in 0..4 {
            let six = usize::try_from(bits >> (18 - 6 * place) & 63).expect("six bits");
            let is_padding = place > u32::try_from(three.len()).expect("at most three");
            text.push(if is_padding { '=' } else { char::from(STANDARD[six]) });
        }
    }
    text
}

/// URL-safe base64 without padding.
pub(super) fn base64_url(bytes: &[u8]) -> String {
    base64(bytes).trim_end_matches('=').replace('+', "-").replace('/', "_")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_matches_the_standard() {
        assert_eq!(
            ["", "f", "fo", "foo", "foob"].map(|text| base64(text.as_bytes())),
            ["", "Zg==", "Zm8=", "Zm9v", "Zm9vYg=="]
        );
        assert_eq!(base64_url(&[0xfb, 0xff]), "-_8");
    }

    #[test]
    fn a_grammar_determines_prefix_and_length() {
        let mut random = Random::seeded(1);
        let text = random.expand("ghp_‹alnum36›.‹num2-4›");
        assert!(text.starts_with("ghp_"), "{text}");
        assert!((43..=45).contains(&text.len()), "{text}");
        assert_eq!(&random.expand("‹uuid7›")[14..15], "7");
    }
}
