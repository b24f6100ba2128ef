//! Measures how random a text is. Words, names and paths use common pairs of letters; random text
//! does not.

/// For each letter, the letters that often follow it in English and in identifiers.
const PAIRS: [&[u8]; 26] = [
    b"bcdfgiklmnprstuvwxy",
    b"aceijlorsuy",
    b"acefhikloprstuy",
    b"adegilorsuy",
    b"abcdefgilmnopqrstvwxy",
    b"aefgilnorstuy",
    b"aeghilnorsu",
    b"aeiortu",
    b"abcdefgklmnoprstvxz",
    b"es",
    b"eis",
    b"adefilopstuvy",
    b"abdeilmopsu",
    b"acdefgiklnopstuvy",
    b"abcdefgiklmnoprstuvw",
    b"aehiloprstuy",
    b"u",
    b"abcdefgiklmnoprstuvy",
    b"acehiklmopqstuy",
    b"acdefhilmoprstuwy",
    b"abcdefgilmnprst",
    b"aeio",
    b"aehinors",
    b"aceipt",
    b"einopst",
    b"ei",
];

/// [`PAIRS`] as bit sets.
const FOLLOWERS: [u32; 26] = {
    let mut bits = [0; 26];
    let mut row = 0;
    while row < 26 {
        let mut at = 0;
        while at < PAIRS[row].len() {
            bits[row] |= 1 << (PAIRS[row][at] - b'a');
            at += 1;
        }
        row += 1;
    }
    bits
};

/// The percentage of uncommon character pairs. Words have few, even with capitals inside; random
/// text has a third or more.
pub(super) fn oddity(text: &[u8]) -> usize {
    let mut odd = 0;
    let mut steps = 0;
    for (at, pair) in text.windows(2).enumerate() {
        let [first, second] = [pair[0], pair[1]];
        if !first.is_ascii_alphanumeric() || !second.is_ascii_alphanumeric() {
            continue;
        }
        steps += 1;
        odd += usize::from(is_odd(text, at, first, second));
    }
    (odd * 100).checked_div(steps).unwrap_or(0)
}

fn is_odd(text: &[u8], at: usize, first: u8, second: u8) -> bool {
    if first.is_ascii_digit() || second.is_ascii_digit() {
        return first.is_ascii_digit() != second.is_ascii_digit();
    }
    if first.is_ascii_lowercase() && second.is_ascii_uppercase() {
        // A new camel-case word starts. A single letter is not a word.
        let ended = at > 0 && text[at - 1].is_ascii_lowercase();
        let begun = text.get(at + 2).is_some_and(u8::is_ascii_alphabetic);
        return !ended || !begun;
    }
    if first.is_ascii_uppercase() && second.is_ascii_uppercase() && is_mixed(text, at) {
        return true;
    }
    let row = usize::from(first.to_ascii_lowercase() - b'a');
    FOLLOWERS[row] & (1 << (second.to_ascii_lowercase() - b'a')) == 0
}

/// Whether the word around `at` also has lowercase letters.
fn is_mixed(text: &[u8], at: usize) -> bool {
    let small = |byte: &&u8| !byte.is_ascii_uppercase();
    let before = text[..at].iter().rev().find(small);
    let behind = text[at..].iter().find(small);
    [before, behind].iter().flatten().any(|byte| byte.is_ascii_lowercase())
}

/// The Shannon entropy in tenths of a bit per byte.
pub(super) fn entropy(text: &[u8]) -> usize {
    let mut counts = [0u32; 256];
    for byte in text {
        counts[usize::from(*byte)] += 1;
    }
    #[expect(clippy::cast_precision_loss, reason = "texts are short")]
    let all = text.len().max(1) as f64;
    let share = |count: &u32| f64::from(*count) / all;
    let sum: f64 =
        counts.iter().filter(|count| **count > 0).map(share).map(|p| -p * p.log2()).sum();
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 80")]
    let tenths = (sum * 10.0) as usize;
    tenths
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn random_text_is_odder_than_words() {
        for words in [
            "getUserTokenFromRequest",
            "claude-sonnet-4-5-20250929",
            "src/components/PasswordField.tsx",
            "x86_64-unknown-linux-gnu",
            "arn:aws:secretsmanager:eu-central-1",
            "correct horse battery staple",
        ] {
            assert!(oddity(words.as_bytes()) < 25, "{words}: {}", oddity(words.as_bytes()));
        }
        for random in [
            "kJhGtRfDqWxZ",
            "9f86d081884c7d659a2feaa0c55ad015",
            "wJalrXUtnFEMI/K7MDENG/bPxRfiCY",
            "qxzjvkwplagb",
        ] {
            assert!(oddity(random.as_bytes()) > 35, "{random}: {}", oddity(random.as_bytes()));
        }
    }

    #[test]
    fn entropy_is_in_tenths_of_a_bit() {
        assert_eq!(entropy(b""), 0);
        assert_eq!(entropy(b"aaaa"), 0);
        assert_eq!(entropy(b"abab"), 10);
        assert_eq!(entropy(b"abcdefgh"), 30);
    }
}
