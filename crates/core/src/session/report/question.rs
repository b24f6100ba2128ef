//! Finds the question an agent asks the user at the end of a text.

use super::ELLIPSIS;
use super::blocks::{ReportBlock, ReportBlockKind, parse_blocks};
use super::sentences::{has_any, sentences, starts_with_any, words};
use super::shorten::shorten;

const SENTENCES_CHARACTERS_MAX: usize = 300;
const OPTION_CHARACTERS_MAX: usize = 320;
const OPTIONS_MAX: usize = 6;
/// The maximum length of a question that takes its options from the text before it. A longer
/// question names what it asks about.
const PICK_CHARACTERS_MAX: usize = 120;
/// The maximum number of sentences after a question that explain it.
const EXPLAINED_MAX: usize = 2;

/// Phrases of polite offers that need no answer.
#[rustfmt::skip]
const IN_PASSING: &[&str] = &[
    "anything else", "any questions", "something else", "anything you", "any other", "help with anything", "what do you want to do next",
    "sonst noch", "autre chose", "algo más", "mais alguma coisa", "还有其他", "他に",
];

/// Words that address the user, which a rhetorical question lacks.
#[rustfmt::skip]
const TO_USER: &[&str] = &[
    "you", "your", "me to", "should i", "shall i", "can i", "may i", "do i", "should we", "shall we", "ok to", "okay to",
    "soll ich", "sie", "du", "dois-je", "vous", "debo", "quieres", "devo", "quer", "您", "你", "ましょうか",
];

/// Openings of requests for an answer that have no question mark.
#[rustfmt::skip]
const REQUEST: &[&str] = &[
    "let me know which", "let me know whether", "let me know what", "let me know how", "please confirm", "please choose", "please pick",
    "please advise", "please provide", "please tell me", "please let me know which", "please let me know whether", "tell me which",
    "tell me whether", "waiting for your", "awaiting your", "i need your", "pick one", "your call", "up to you",
];

/// Returns the question the user must answer, with its options if they form a list. A question that
/// the text itself answers, or a polite offer, does not count.
pub fn question(text: &str) -> Option<String> {
    question_of(&parse_blocks(text))
}

pub(super) fn question_of(all: &[ReportBlock]) -> Option<String> {
    let own: Vec<ReportBlock> =
        all.iter().filter(|block| block.kind != ReportBlockKind::Other).cloned().collect();
    let without_reply = own.split_last().filter(|(last, before)| is_reply_line(last, before));
    question_in(&own).or_else(|| question_in(without_reply?.1))
}

fn question_in(all: &[ReportBlock]) -> Option<String> {
    let end = all.iter().rposition(|block| !is_listed(block))?;
    let (before, after) = (&all[..end], &all[end + 1..]);
    let asked = question_in_block(&all[end], !after.is_empty());
    match asked {
        Some(asked) if after.is_empty() => {
            Some(with_options(&asked, &options_before(&asked, before)))
        }
        Some(asked) => Some(with_options(&asked, after)),
        None if all_ask(after) => Some(with_options(&all[end].text, after)),
        None => None,
    }
}

pub(super) fn is_listed(block: &ReportBlock) -> bool {
    matches!(block.kind, ReportBlockKind::Item { .. } | ReportBlockKind::Row)
}

/// Whether the last block is a "Let me know." after a question or its options.
fn is_reply_line(last: &ReportBlock, before: &[ReportBlock]) -> bool {
    let openings = ["let me know", "i can", "once you", "happy to"];
    last.text.chars().nth(160).is_none()
        && starts_with_any(&words(&last.text), &openings)
        && before.last().is_some_and(|block| is_listed(block) || block.text.ends_with('?'))
}

/// Whether every item of a list is a question.
fn all_ask(items: &[ReportBlock]) -> bool {
    !items.is_empty() && items.iter().all(|item| item.text.ends_with(['?', '？']))
}

/// Returns the question at the end of a block. A lead-in may come between it and a list.
fn question_in_block(block: &ReportBlock, has_list: bool) -> Option<String> {
    let all = sentences(&block.text);
    let last = all.iter().rposition(|sentence| is_question(sentence, has_list))?;
    let after = &all[last + 1..];
    let asking = words(all[last]);
    let is_to_user = has_any(&asking, TO_USER) && !starts_with_any(&asking, &["why", "how come"]);
    let is_last = match (after, has_list) {
        ([], _) => true,
        ([lead_in], true) => lead_in.ends_with(':') && is_to_user,
        (more, false) => is_to_user && more.len() <= EXPLAINED_MAX,
        _ => false,
    };
    let mut from = last;
    while from > 0 && all[from - 1].ends_with(['?', '？']) {
        from -= 1;
    }
    let text = all[from..].join(" ");
    (is_last && !has_any(&words(&text), IN_PASSING)).then_some(text)
}

fn is_question(sentence: &str, has_list: bool) -> bool {
    let bare = sentence.trim_end_matches(['*', '_', '"', '\'', ')']);
    let words = words(sentence);
    let is_open = has_list && sentence.ends_with(':');
    let asks = ["should", "shall", "would you", "do you", "which", "can you", "could you"];
    bare.ends_with(['?', '？'])
        || starts_with_any(&words, REQUEST)
        || is_open && starts_with_any(&words, &asks)
}

/// Returns the options of a question: the list right before it, or the titles of options above.
fn options_before(asked: &str, before: &[ReportBlock]) -> Vec<ReportBlock> {
    let picks = ["which", "option", "options", "approach", "either", "prefer"];
    let is_pick =
        asked.chars().nth(PICK_CHARACTERS_MAX).is_none() && has_any(&words(asked), &picks);
    if !is_pick {
        return Vec::new();
    }
    let from = before.iter().rposition(|block| !is_listed(block)).map_or(0, |at| at + 1);
    let titles = || before.iter().filter(|block| is_option(block)).cloned().collect();
    // A list below a title describes that option.
    let is_below_title = from > 0 && is_option(&before[from - 1]);
    let options: Vec<ReportBlock> = match &before[from..] {
        [] => titles(),
        _ if is_below_title => titles(),
        list => list.to_vec(),
    };
    // A longer list is an inventory, not a choice.
    if options.len() <= OPTIONS_MAX { options } else { Vec::new() }
}

/// Whether a block is the title of an option: `**Option 2: Add a parameter**`.
fn is_option(block: &ReportBlock) -> bool {
    let words = words(&block.text);
    let mut words = words.split_whitespace();
    let is_named = matches!(words.next(), Some("option" | "approach" | "alternative" | "variant"));
    let number = words.next().unwrap_or_default();
    let is_number = number.len() == 1 && number.bytes().all(|byte| byte.is_ascii_alphanumeric());
    let is_title =
        matches!(block.kind, ReportBlockKind::Heading(_)) || block.text.starts_with("**");
    is_title && is_named && is_number
}

/// Returns a text with list items below it.
pub(super) fn with_options(text: &str, options: &[ReportBlock]) -> String {
    let mut out = shorten(text, SENTENCES_CHARACTERS_MAX);
    for option in options.iter().take(OPTIONS_MAX) {
        let marker = match option.kind {
            ReportBlockKind::Item { number: Some(number), .. } if !has_own_number(&option.text) => {
                format!("{number}.")
            }
            ReportBlockKind::Item { .. }
            | ReportBlockKind::Row
            | ReportBlockKind::Heading(_)
            | ReportBlockKind::Paragraph
            | ReportBlockKind::Other => "-".to_owned(),
        };
        out.push_str(&format!("\n{marker} {}", shorten(&option.text, OPTION_CHARACTERS_MAX)));
    }
    if options.len() > OPTIONS_MAX {
        out.push_str(&format!("\n{ELLIPSIS}"));
    }
    out
}

/// Whether an item already starts with a number, possibly in bold.
fn has_own_number(text: &str) -> bool {
    text.trim_start_matches('*').starts_with(|c: char| c.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_question_the_user_must_answer_is_found() {
        let check = |text: &str, expected: Option<&str>| {
            assert_eq!(question(text).as_deref(), expected, "{text}");
        };
        check(
            "Clean.\n\nWant me to commit and push, or wait?",
            Some("Want me to commit and push, or wait?"),
        );
        check("It is slow. Go on? Or stop here?", Some("Go on? Or stop here?"));
        check(
            "Which do you prefer? I can do either.",
            Some("Which do you prefer? I can do either."),
        );
        check("**Which queue should I drain?**", Some("**Which queue should I drain?**"));
        check("Please confirm the new name.", Some("Please confirm the new name."));
        check("Soll ich den Branch löschen?", Some("Soll ich den Branch löschen?"));
        check(
            "Shall I add one? It would help. A bit.",
            Some("Shall I add one? It would help. A bit."),
        );
        check(
            "**1. Now** - here\n\n**2. Later** - there\n\nWhich?",
            Some("Which?\n- **1. Now** - here\n- **2. Later** - there"),
        );
        check("要不要提交？", Some("要不要提交？"));
        check("Should we:\n1. keep it\n2. drop it", Some("Should we:\n1. keep it\n2. drop it"));
        check(
            "1. keep it\n2. drop it\n\nWhich approach?",
            Some("Which approach?\n1. keep it\n2. drop it"),
        );
        check(
            "**Option 1: Lock** (simplest)\n- Small\n\n**Option 2: Queue**\n- Clean\n\nOption 1 is less work.\n\nWhich do you prefer?",
            Some("Which do you prefer?\n- **Option 1: Lock** (simplest)\n- **Option 2: Queue**"),
        );
        check(
            "**Option 1: Lock** was too slow.\n\n**Option 2: Queue** too.\n\nWhat is left:\n- stream\n- cache\n\nWhich do you prefer?",
            Some("Which do you prefer?\n- stream\n- cache"),
        );
        check("Shall I go on? It would:\n- move `a`", Some("Shall I go on? It would:\n- move `a`"));
        check("Open:\n- Is it `a`?\n- Is it `b`?", Some("Open:\n- Is it `a`?\n- Is it `b`?"));
        check("Should I keep it?\n\nLet me know.", Some("Should I keep it?"));
    }

    #[test]
    fn answered_questions_and_polite_offers_are_ignored() {
        let check = |text: &str| assert_eq!(question(text), None, "{text}");
        check("Done. Let me know if you have questions.");
        check("All done. Anything else you need?");
        check("Why did it fail? The lock was held.");
        check("Which one is right?\n\nThe second, because the first never runs.");
        check("The test asks `ready?`.");
        check("```\nContinue?\n```");
        check(&"Let me know.\n\n".repeat(3_000));
        check("> Shall I?\n\nDone.");
        check("");
    }
}
