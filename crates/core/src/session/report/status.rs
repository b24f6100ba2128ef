//! Finds the status of the work at the end of a text, and decides whether the text is a report.

use super::blocks::{ReportBlock, ReportBlockKind};
use super::cues::CuedSentence;
use super::question::question_of;
use super::sentences::{has_any, identifiers, sentences, starts_with_any};
use super::shorten::shorten;
use super::topics::{HeadingTopic, heading_topic};

const STATUS_CHARACTERS_MAX: usize = 300;
/// The maximum number of words in a polite opener. A longer sentence has content, however it
/// begins: "All tests still fail on Windows."
const POLITE_WORDS_MAX: usize = 3;
/// A text this long is a report, whatever its words are.
const REPORT_CHARACTERS_MIN: usize = 400;

/// Whether a text is a report (it says what was done, found, or decided, or answers the request)
/// rather than a remark between two tool calls ("Now let me run the tests.").
pub(super) fn is_report(blocks: &[ReportBlock]) -> bool {
    let Some(last) = blocks.last() else { return false };
    // A heading or a lead-in at the end announces the call that follows.
    if matches!(last.kind, ReportBlockKind::Heading(_)) || last.text.ends_with([':', '：']) {
        return false;
    }
    let is_step = |text: &str| {
        sentences(text).last().is_some_and(|sentence| CuedSentence::parse(sentence).is_step())
    };
    if last.kind == ReportBlockKind::Paragraph && is_step(&last.text) {
        return false;
    }
    let length: usize = blocks.iter().map(|block| block.text.len()).sum();
    let has_topic = |block: &ReportBlock| {
        matches!(block.kind, ReportBlockKind::Heading(_)) && heading_topic(&block.text).is_some()
    };
    length >= REPORT_CHARACTERS_MIN
        || blocks.iter().any(has_topic)
        || question_of(blocks).is_some()
        || blocks.iter().any(|block| sentences(&block.text).into_iter().any(says_something))
}

fn says_something(sentence: &str) -> bool {
    let marked = CuedSentence::parse(sentence);
    !marked.is_step()
        && (marked.is_outcome()
            || !identifiers(sentence).is_empty()
            || marked.kind().is_some() && !marked.is_polite())
}

/// Returns the sentences of a report that state the status of the work: from its beginning, its
/// conclusion, and its last paragraph.
pub(super) fn status(blocks: &[ReportBlock]) -> Option<String> {
    let paragraph = |block: &&ReportBlock| block.kind == ReportBlockKind::Paragraph;
    let mut found =
        blocks.first().filter(paragraph).map_or(Vec::new(), |block| opening(&block.text));
    let concluded = blocks.windows(2).find(|pair| {
        matches!(pair[0].kind, ReportBlockKind::Heading(_))
            && heading_topic(&pair[0].text) == Some(HeadingTopic::Conclusion)
    });
    found.extend(concluded.into_iter().flat_map(|pair| sentences(&pair[1].text)));
    let last = blocks.last().filter(paragraph).into_iter();
    for sentence in last.flat_map(|block| outcomes(&block.text)) {
        if !found.contains(&sentence) {
            found.push(sentence);
        }
    }
    let text = join_with_ellipsis(blocks, &found);
    Some(shorten(&text, STATUS_CHARACTERS_MAX)).filter(|text| !text.is_empty())
}

/// Joins sentences of a text, with `[…]` where text between them is missing.
fn join_with_ellipsis(blocks: &[ReportBlock], sentences: &[&str]) -> String {
    let in_a_row = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let all: Vec<String> = blocks.iter().map(|block| in_a_row(&block.text)).collect();
    let all = all.join(" ");
    let mut text = String::new();
    for pair in sentences.windows(2) {
        let gap = if all.contains(&in_a_row(&pair.join(" "))) { " " } else { " […] " };
        text.push_str(pair[0]);
        text.push_str(gap);
    }
    text.push_str(sentences.last().unwrap_or(&""));
    text
}

/// Returns the outcomes in the first paragraph. If it is short and starts with an outcome, the
/// sentences after it are included: "Pushed. Commit `1a2b3c4`."
fn opening(paragraph: &str) -> Vec<&str> {
    let mut all = sentences(paragraph);
    let is_short = paragraph.chars().nth(STATUS_CHARACTERS_MAX).is_none();
    if is_short && all.first().is_some_and(|first| CuedSentence::parse(first).is_outcome()) {
        all.retain(|sentence| !is_aside(sentence));
        return all;
    }
    outcomes(paragraph)
}

fn outcomes(paragraph: &str) -> Vec<&str> {
    let mut all = sentences(paragraph);
    all.retain(|sentence| !is_aside(sentence) && CuedSentence::parse(sentence).is_outcome());
    all
}

/// Whether a sentence is a question, a step, or a lead-in.
fn is_aside(sentence: &str) -> bool {
    let marked = CuedSentence::parse(sentence);
    let is_lead_in = sentence.ends_with([':', '：']) && !marked.is_outcome();
    is_lead_in
        || sentence.ends_with(['?', '？'])
        || marked.is_step()
        || starts_with_any(&marked.words, &["here's", "here is"])
}

/// Returns a report without the opening lines that only announce it: "All done. Here's a summary:".
pub(crate) fn without_lead_in(text: &str) -> &str {
    let mut rest = text;
    while let Some((line, after)) = rest.split_once('\n') {
        let is_empty = line.trim().is_empty();
        if after.trim().is_empty() || !(is_empty || is_lead_in(line.trim())) {
            break;
        }
        rest = after;
    }
    rest
}

fn is_lead_in(line: &str) -> bool {
    let title = line.trim_matches(['#', ' ', '*', ':']);
    let is_title = line.starts_with('#') && title.eq_ignore_ascii_case("summary");
    let announces =
        |last: &&str| has_any(&CuedSentence::parse(last).words, &["here's", "here is", "here are"]);
    let parts = sentences(line);
    let is_empty = |sentence: &&str| {
        let marked = CuedSentence::parse(sentence);
        marked.is_polite() && sentence.split_whitespace().nth(POLITE_WORDS_MAX).is_none()
            || marked.is_step()
    };
    let (last, before) = parts.split_last().unwrap_or((&"", &[]));
    let is_announced =
        line.ends_with([':', '：']) && announces(last) && before.iter().all(is_empty);
    (is_title || is_announced) && identifiers(line).is_empty()
}

#[cfg(test)]
mod tests {
    use super::super::parse_report;
    use super::without_lead_in;

    #[test]
    fn a_line_that_only_announces_a_report_is_omitted() {
        let check = |text: &str, expected: &str| assert_eq!(without_lead_in(text), expected);
        let report = "- `drain()` waits\n\n## Summary\nIt waits.";
        check(report, report);
        check(&format!("All done. Here's a summary of the changes:\n\n{report}"), report);
        check(&format!("OK, here are my thoughts on each:\n{report}"), report);
        check(&format!("Good. Here is what happened:\n\n## Summary\n\n{report}"), report);
        let fails = "Two tests still fail. Here's a summary:\n- a";
        check(fails, fails);
        check("# Summary export crashes\nIt does.", "# Summary export crashes\nIt does.");
        let says = "Here is why `drain()` waits:\n- the lock";
        check(says, says);
        check("Three issues to fix:\n1. lock", "Three issues to fix:\n1. lock");
        check("Here's a summary:\n", "Here's a summary:\n");
    }

    #[test]
    fn remarks_are_not_reports() {
        let check = |text: &str, expected: bool| {
            assert_eq!(parse_report(text).is_report, expected, "{text}");
        };
        check("Now let me run the tests.", false);
        check("Good. Now apply the fixes.", false);
        check("I'll start by reading the parser.", false);
        check("The lock is held twice. Let me fix that.", false);
        check("Good, that looks right.", false);
        check("Now the tests:", false);
        check("Good. Now the fixes.\n\n**Fix 1: `drain()` (queue.rs)**", false);
        check("", false);
        check("Done.", true);
        check("Run it with `just drain`:\n```sh\njust drain\n```", true);
        check("## Proposed\n> a quote", false);
        check("Pushed as `1a2b3c4`.", true);
        check("Only `main()` calls it.", true);
        check("Which queue should I drain?", true);
        check("The cause is the lock: it is taken twice, because `drain()` calls itself.", true);
        check("Fertig, alle Tests laufen.", true);
    }

    #[test]
    fn the_status_quotes_the_outcome_sentences() {
        let check = |text: &str, expected: Option<&str>| {
            assert_eq!(parse_report(text).status.as_deref(), expected, "{text}");
        };
        check("All done. Here's what I did:\n\n- a\n- b", Some("All done."));
        check("Tests pass, not committed yet.", Some("Tests pass, not committed yet."));
        check(
            "Pushed `1a2b3c4`.\n\n1. **queue.rs** — drained\n\nAll three threads have been replied to. Want more?",
            Some("Pushed `1a2b3c4`. […] All three threads have been replied to."),
        );
        check(
            "## Review\n\n### Verdict\n**Ship it.** Small risk.",
            Some("**Ship it.** Small risk."),
        );
        check("Pushed. Commit `1a2b3c4`. Want more?", Some("Pushed. Commit `1a2b3c4`."));
        check("Yes, everything is pushed:\n- a", Some("Yes, everything is pushed:"));
        check("The gap was a test that verified the caller.\n\nThat branch might be merged.", None);
        check("Now let me commit.", None);
        check("The parser reads lines.", None);
    }
}
