//! Finds placeholders: what a template asks for, left in a text.

/// The placeholder in a text: the whole text, its value after a colon, or a part in brackets.
pub(super) fn find_placeholder(text: &str) -> Option<String> {
    const WORDS: [&str; 4] = ["TODO", "TBD", "FIXME", "XXX"];
    let text = without_list_number(text.trim()).trim_start_matches("[ ] ");
    if !may_have_placeholder(text) {
        return find_unfilled(text);
    }
    let value = text.rsplit_once(": ").map_or(text, |(_, value)| value);
    if matches!(value, "..." | "…" | "[...]" | "{...}") {
        return Some(value.to_owned());
    }
    if let Some(word) = WORDS.iter().find(|word| is_used_as_value(text, word)) {
        return Some((*word).to_owned());
    }
    if let Some(word) = ["Lorem ipsum", "lorem ipsum"].iter().find(|word| text.contains(**word)) {
        return Some((*word).to_owned());
    }
    let name = |inner: &str| {
        inner == "NNN"
            || (inner.contains('-') && inner.chars().all(|c| c.is_ascii_lowercase() || c == '-'))
    };
    let words = |inner: &str| {
        inner.trim() == inner
            && inner.contains(' ')
            && inner.chars().all(|c| c.is_alphanumeric() || " -_,'…".contains(c))
    };
    find_bracketed(text, '{', '}', name)
        .or_else(|| find_bracketed(text, '<', '>', words))
        .or_else(|| template_variable(text))
        .or_else(|| find_unfilled(text))
}

/// A value that a template asks for and that is still missing: the whole text, or what follows a
/// colon.
pub(super) fn find_unfilled(text: &str) -> Option<String> {
    let text = without_list_number(text.trim());
    let text = ["[ ] ", "[x] "].iter().find_map(|mark| text.strip_prefix(mark)).unwrap_or(text);
    if !may_be_unfilled(text) {
        return None;
    }
    let value = text.rsplit_once(": ").map_or(text, |(_, value)| value);
    let is_unfilled = |text: &&str| {
        let plain = text.trim_end_matches('.').replace("**", "");
        is_bracketed(&plain) || is_template_variable(&plain) || asks_to_fill_in(&plain)
    };
    let found = [text, value].into_iter().find(is_unfilled)?;
    Some(found.trim_end_matches('.').to_owned())
}

fn may_be_unfilled(text: &str) -> bool {
    text.contains(['[', '{'])
        || ["ill in", "illed", "determined"].iter().any(|part| text.contains(part))
}

/// Whether a text is entirely in brackets: `[Next step 1]` or `[Decision]: [rationale]`. A single
/// word may be a name, so it counts only beside another.
fn is_bracketed(text: &str) -> bool {
    let is_words = |inner: &str| {
        inner.trim() == inner
            && inner.starts_with(char::is_alphabetic)
            && inner.chars().all(|c| c.is_alphanumeric() || " -_,'’…/.?&".contains(c))
    };
    let mut rest = text.trim();
    let mut has_space = false;
    for groups in 1.. {
        let group = rest.strip_prefix('[').and_then(|rest| rest.split_once(']'));
        let Some((inner, behind)) = group.filter(|(inner, _)| is_words(inner)) else {
            return false;
        };
        has_space |= inner.contains(' ');
        if behind.is_empty() {
            return has_space || groups > 1;
        }
        rest = behind.trim_start_matches([':', '-', '–', '—', ' ']);
        // `[text](target)` and `[text][label]` are links.
        if rest.len() == behind.len() {
            return false;
        }
    }
    false
}

fn is_template_variable(text: &str) -> bool {
    template_variable(text).is_some_and(|found| found == text.trim())
}

/// Whether a text says nothing but that something is missing: `To be filled in later`.
fn asks_to_fill_in(text: &str) -> bool {
    let plain =
        text.trim_matches(['*', '_', '(', ')', '[', ']', '<', '>', '.', '…', ' ']).to_lowercase();
    let plain =
        [" later", " soon"].iter().find_map(|end| plain.strip_suffix(end)).unwrap_or(&plain);
    matches!(
        plain,
        "to be filled"
            | "to be filled in"
            | "to be filled out"
            | "to be determined"
            | "fill in"
            | "fill this in"
    )
}

/// A line without its list number.
fn without_list_number(line: &str) -> &str {
    let digits = line.len() - line.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let after_number = line[digits..].strip_prefix(['.', ')']);
    after_number.filter(|_| digits > 0).and_then(|rest| rest.strip_prefix(' ')).unwrap_or(line)
}

/// Finds a `{{name}}` template variable. `${{ secrets.KEY }}` is a real expression.
fn template_variable(text: &str) -> Option<String> {
    let start = text.find("{{")?;
    let length = text[start..].find("}}")? + 2;
    let inner = text[start + 2..start + length - 2].trim();
    let is_name =
        !inner.is_empty() && inner.chars().all(|c| c.is_alphanumeric() || "_-. ".contains(c));
    (is_name && !text[..start].ends_with('$')).then(|| text[start..start + length].to_owned())
}

/// A quick scan over the bytes, so that most lines skip the closer look.
fn may_have_placeholder(text: &str) -> bool {
    let bytes = text.as_bytes();
    bytes.iter().zip(bytes.iter().skip(1)).any(|(first, second)| match first {
        b'{' | b'<' | b'[' => true,
        b'T' => matches!(second, b'O' | b'B'),
        b'F' => *second == b'I',
        b'X' => *second == b'X',
        b'.' => *second == b'.',
        // "lorem ipsum", and the bytes of an ellipsis.
        b'p' => *second == b's',
        0xe2 => *second == 0x80,
        _ => false,
    })
}

/// Whether a word opens the text or follows a colon, a bracket or a table border.
fn is_used_as_value(text: &str, word: &str) -> bool {
    text.match_indices(word).any(|(at, _)| {
        let before = text[..at].trim_end();
        let after = &text[at + word.len()..];
        let opens = before.is_empty() || before.ends_with([':', '(', '[', '|']);
        opens && !after.starts_with(|c: char| c.is_alphanumeric() || c == '_')
    })
}

fn find_bracketed(
    text: &str,
    open: char,
    close: char,
    fits: impl Fn(&str) -> bool,
) -> Option<String> {
    text.match_indices(open).find_map(|(at, _)| {
        let inner = &text[at + 1..at + text[at..].find(close)?];
        // `Vec<dyn Any>` and `/users/{user-id}` are code without backticks.
        let in_code =
            text[..at].ends_with(|c: char| c == '/' || (open == '<' && c.is_alphanumeric()));
        (!in_code && !inner.is_empty() && fits(inner)).then(|| format!("{open}{inner}{close}"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_are_distinguished_from_words() {
        for text in [
            "TODO",
            "TODO: write",
            "TBD",
            "...",
            "feat-{NNN}",
            "{agent-name}",
            "<fill this in>",
            "1. TBD",
            "[Next step 1]",
            "2. [Describe the next step]",
            "Next: [first thing to do]",
            "{{x}}",
            "Deploy {{ service_name }} first",
        ] {
            assert!(find_placeholder(text).is_some(), "{text}");
        }
        assert_eq!(find_placeholder("Then Lorem ipsum dolor").as_deref(), Some("Lorem ipsum"));
        for text in [
            "The TODO list",
            "TODOs",
            "{x}",
            "a < b > c",
            "<b>",
            "Vec<u8>",
            "and so on...",
            "[the plan](plan.md)",
            "[x] Warm the cache",
            "See [the plan] first",
            "[Redis]",
            "${{ secrets.KEY }}",
            "f(x) = {{1, 2}}",
        ] {
            assert_eq!(find_placeholder(text), None, "{text}");
        }
    }

    #[test]
    fn values_that_are_not_filled_in_are_found() {
        for text in [
            "[Next step 1]",
            "1. [Next step 1]",
            "[ ] [Specific actionable step]",
            "[Decision]: [rationale]",
            "**[Decision 1]**: [Why it was made]",
            "[Blocker 1] - [Why blocked, what's needed]",
            "**Owner**: [team or person]",
            "Status: {{status}}",
            "{{ next_steps }}",
            "To be filled in later",
            "_To be filled in later._",
            "Rationale: to be filled in",
            "(to be determined)",
        ] {
            assert!(find_unfilled(text).is_some(), "{text}");
            assert!(find_placeholder(text).is_some(), "{text}");
        }
    }

    #[test]
    fn links_boxes_and_prose_are_no_placeholders() {
        for text in [
            "[the plan](plan.md)",
            "[the plan][1]",
            "[the plan]: plan.md",
            "[Plan A](a.md) - [Plan B](b.md)",
            "[x] Warm the cache",
            "[ ] Warm the cache",
            "[1]",
            "[^note]: a footnote",
            "[[A wiki page]]",
            "[BLOCKING] Who pays?",
            "[Redis]",
            "[2026-01-17 09:30] Deployed",
            "arr[0]",
            "Deploys fill in the cache",
            "The owner has to be determined by the team",
            "f(x) = {{1, 2}}",
            "Rendered by {{mustache}} templates",
        ] {
            assert_eq!(find_unfilled(text), None, "{text}");
        }
    }
}
