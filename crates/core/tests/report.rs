//! Properties of extracting items from an agent's texts, and what it finds in real ones.

use midstride_core::session::report::{
    ELLIPSIS, Report, parse_report, parse_summary, question, rank, shorten, stated_plan,
    unchecked_boxes,
};
use midstride_testkit::corpus;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::Value;

/// Texts as agents write them, with everything that can go wrong in Markdown.
fn text() -> impl Strategy<Value = String> {
    let pieces = select(vec![
        "# Issues\n",
        "\n\n",
        "\n",
        "- ",
        "  - ",
        "1. ",
        "\t* [ ] ",
        "☐ ",
        "- [x] ",
        "| a | b |\n",
        "|---|\n",
        "```\n",
        "~~~",
        "`",
        "``",
        "**",
        "**Root cause:** ",
        "> ",
        "---\n",
        "because ",
        "does not ",
        "Let me ",
        "Summary:\n",
        "1. Pending Tasks:\n",
        "Want me to go on? ",
        "word ",
        "`code x` ",
        "src/lib.rs ",
        "é",
        "日本。",
        "… ",
        "[…] ",
        "e.g. ",
        ": ",
        "? ",
        ". ",
        "\u{7}",
        "\r\n",
        "https://example.org/a?b=c ",
        "Next steps:\n",
    ]);
    prop::collection::vec(pieces, 0..40).prop_map(|pieces| pieces.concat())
}

/// Text with normalized whitespace and without marks that only group; the rest must come from the
/// input.
fn plain(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Whether every piece of a shortened text comes from the input.
fn is_verbatim(input: &str, text: &str) -> bool {
    let input = plain(input);
    text.split(ELLIPSIS).flat_map(str::lines).all(|piece| {
        let piece = piece.trim();
        let piece = piece.strip_prefix("- ").unwrap_or(piece);
        input.contains(&plain(piece))
    })
}

proptest! {
    #[test]
    fn items_are_pieces_of_the_text(text in text()) {
        let report = parse_report(&text);
        for item in &report.items {
            prop_assert!(is_verbatim(&text, &item.text), "{:?}", item);
        }
        for item in &parse_summary(&text).items {
            prop_assert!(is_verbatim(&text, &item.text), "{:?}", item);
        }
        for open in unchecked_boxes(&text) {
            prop_assert!(is_verbatim(&text, &open), "{}", open);
        }
        prop_assert_eq!(rank([(0, &report)]).len(), report.items.len());
        prop_assert_eq!(&report.question, &question(&text));
    }

    #[test]
    fn any_text_can_be_read(text in any::<String>()) {
        parse_report(&text);
        parse_summary(&text);
        stated_plan(&text);
    }

    #[test]
    fn a_short_text_fits(text in text(), characters_max in 0..80_usize) {
        let short = shorten(&text, characters_max);
        prop_assert!(short.chars().count() <= characters_max);
        let pieces: Vec<&str> = short.split(ELLIPSIS).collect();
        prop_assert!(pieces.iter().all(|piece| text.contains(piece.trim())));
    }
}

#[test]
fn hostile_texts_are_read_quickly() {
    let long = 1 << 17;
    let texts = [
        "a".repeat(long),
        "` ".repeat(long / 2),
        "- ".repeat(long / 2),
        "# a\n".repeat(long / 4),
        "  - [ ] a because\n".repeat(long / 16),
        "a. B".repeat(long / 4),
        (1..1_500).map(|length| "`".repeat(length) + " ").collect(),
        "*".repeat(long),
        "> ".repeat(long / 2),
        "let me know? ".repeat(long / 16),
    ];
    for text in &texts {
        parse_report(text);
        parse_summary(text);
        stated_plan(text);
        unchecked_boxes(text);
        assert!(shorten(text, 300).chars().count() <= 300);
    }
}

/// The last text of each turn of a Claude Code transcript, newest first.
fn last_texts(transcript: &str) -> Vec<String> {
    let mut turns = vec![String::new()];
    for record in transcript.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()) {
        let is_aside = ["isSidechain", "isMeta"].iter().any(|field| record[field] == true);
        let content = &record["message"]["content"];
        let texts =
            content.as_array().into_iter().flatten().filter_map(|block| block["text"].as_str());
        match record["type"].as_str() {
            _ if is_aside => {}
            Some("assistant") => {
                for text in texts.filter(|text| !text.trim().is_empty()) {
                    if let Some(last) = turns.last_mut() {
                        text.clone_into(last);
                    }
                }
            }
            Some("user") if content.is_string() || texts.count() > 0 => turns.push(String::new()),
            _ => {}
        }
    }
    turns.retain(|text| !text.is_empty());
    turns.reverse();
    turns
}

#[test]
#[ignore = "needs MIDSTRIDE_CORPUS"]
#[expect(clippy::print_stdout, reason = "the measure is read with --nocapture")]
fn reports_of_the_corpus_are_read() {
    let folder = corpus("fidelity");
    let (mut texts, mut reports, mut items, mut questions) = (0, 0, 0, 0);
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "jsonl") {
            continue;
        }
        for text in last_texts(&std::fs::read_to_string(&path).unwrap()) {
            let Report { question, items: found, .. } = parse_report(&text);
            for item in &found {
                assert!(is_verbatim(&text, &item.text), "{item:?}");
            }
            texts += 1;
            reports += usize::from(parse_report(&text).is_report);
            items += found.len();
            questions += usize::from(question.is_some());
        }
    }
    println!("{texts} texts: {reports} reports, {items} items, {questions} questions");
    assert!(reports * 10 >= texts * 8, "most last texts of a turn are reports");
}
