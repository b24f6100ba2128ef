//! Tests with secrets that terminal sequences or invisible characters split.

use super::*;

/// What can be in the middle of a secret without a reader seeing it.
const HIDDEN: [&str; 14] = [
    "\u{1b}[m\u{1b}[K",
    "\u{1b}[0;1;38;5;196m",
    "\u{1b}]8;;https://host/page\u{1b}\\",
    "\u{1b}]0;title\u{7}",
    "\u{9b}31m",
    "\u{200b}",
    "\u{200d}\u{2060}",
    "\u{ad}",
    "\u{202e}",
    "\u{2066}",
    "\u{feff}",
    "\u{332}",
    "\\u001b[31m",
    "\\u200b",
];

/// Puts something hidden after every `every` characters.
fn split(text: &str, every: usize, hidden: &str) -> String {
    let letters: Vec<char> = text.chars().collect();
    let parts: Vec<String> = letters.chunks(every).map(|part| part.iter().collect()).collect();
    parts.join(hidden)
}

#[test]
fn a_secret_split_by_something_hidden_is_redacted() {
    let mut dice = Dice(7);
    for hidden in HIDDEN {
        for every in [1, 3, 4, 20] {
            let token = format!("ghp_{}", dice.letters(ALNUM, 36));
            taken_out(
                &format!("use {} here", split(&token, every, hidden)),
                &split(&token, every, hidden),
            );
            let value = dice.letters(ALNUM, 24);
            let text = split(&format!("DB_PASSWORD={value}"), every, hidden);
            let (clean, found) = CleanText::redact(&format!("{text}\nPORT=80\n"));
            assert_eq!(found.len(), 1, "{text:?} became {:?}", clean.as_str());
            assert!(clean.as_str().ends_with("REDACTED-password\nPORT=80\n"), "{clean:?}");
        }
    }
}

#[test]
fn a_token_that_grep_colored_is_redacted_and_its_line_stays() {
    let body = Dice(8).letters(ALNUM, 36);
    for (text, clean) in [
        (
            format!("a.env:TOKEN=\u{1b}[01;31m\u{1b}[Kghp_\u{1b}[m\u{1b}[K{body}\n"),
            "a.env:TOKEN=\u{1b}[01;31m\u{1b}[KREDACTED-github-token\n",
        ),
        (
            format!("\u{1b}[35m\u{1b}[Ka.env\u{1b}[m\u{1b}[K:ghp_{body}\u{1b}[m\u{1b}[K\n"),
            "\u{1b}[35m\u{1b}[Ka.env\u{1b}[m\u{1b}[K:REDACTED-github-token\u{1b}[m\u{1b}[K\n",
        ),
        (
            format!("{{\"out\":\"\\u001b[01;31mghp_\\u001b[m\\u001b[K{body}\\n\"}}"),
            "{\"out\":\"\\u001b[01;31mREDACTED-github-token\\n\"}",
        ),
    ] {
        assert_eq!(CleanText::redact(&text).0.as_str(), clean);
    }
}

#[test]
fn a_secret_in_a_hyperlink_is_redacted() {
    let token = format!("ghp_{}", Dice(9).letters(ALNUM, 36));
    let text = format!("\u{1b}]8;;https://host/?t={token}\u{1b}\\link\u{1b}]8;;\u{1b}\\");
    taken_out(&text, &token);
}

#[test]
fn a_colored_private_key_is_redacted() {
    let mut dice = Dice(10);
    let lines: Vec<String> =
        (0..20).map(|_| format!("\u{1b}[32m+{}\u{1b}[m", dice.letters(BASE64, 64))).collect();
    let key = format!(
        "\u{1b}[32m+-----BEGIN PRIVATE KEY-----\u{1b}[m\n{}\n\u{1b}[32m+-----END PRIVATE KEY-----",
        lines.join("\n")
    );
    let (clean, _) = CleanText::redact(&format!("{key}\u{1b}[m\nend\n"));
    assert_eq!(clean.as_str(), "\u{1b}[32m+REDACTED-private-key\u{1b}[m\nend\n");
}

#[test]
fn hidden_bytes_without_a_secret_stay() {
    for text in [
        "\u{1b}[1mtoken\u{1b}[0m: the smallest unit",
        "\u{1b}[32mtest password::is_hashed\u{1b}[0m ... \u{1b}[32mok\u{1b}[0m",
        "\u{1b}]8;;file:///home/dev/secrets.rs\u{1b}\\secrets.rs\u{1b}]8;;\u{1b}\\",
        "pass\u{ad}word re\u{ad}set",
        "\u{feff}# Keys",
        "cafe\u{301} token",
        "⚠\u{fe0f} secret rotation 👩\u{200d}💻",
        "\\u001b[33mwarning\\u001b[0m: unused variable `token`",
    ] {
        untouched(text);
    }
}
