//! Properties of author notes: nothing an author writes is lost, and saving it again changes
//! nothing.

use midstride_core::format::document::Document;
use midstride_core::session::author_notes::{AuthorNotes, SessionFacts};
use midstride_core::text::yaml::YamlData;
use proptest::prelude::*;
use proptest::sample::select;

/// Markdown as authors write it.
fn markdown() -> impl Strategy<Value = String> {
    let pieces = select(vec![
        "Text of mine.\n",
        "\n",
        "## Next steps\n",
        "## Context\n",
        "### Detail\n",
        "# Title\n",
        "- an item\n",
        "1. a step\n",
        "```\n",
        "code\n",
        "## Landmines\n",
        "> quoted\n",
        "| a | b |\n|---|---|\n",
        "By `src/cache.ts:12`, because.\n",
        "## Boot\n",
        "  indented\n",
        "<!-- a remark -->\n",
        "\r\n",
    ]);
    prop::collection::vec(pieces, 1..14).prop_map(|pieces| pieces.concat())
}

fn facts(page: &str) -> SessionFacts {
    SessionFacts {
        state: YamlData::map([("goals", YamlData::List(Vec::new()))]),
        page: format!("### Tasks\n\n- {page}\n"),
        boot: Vec::new(),
        ended_tasks: Vec::new(),
        title: Some("Session".to_owned()),
    }
}

/// The lines with content.
fn lines(text: &str) -> Vec<&str> {
    let hollow = |line: &&str| line.is_empty() || line.starts_with(['#', '`']);
    text.lines().map(str::trim).filter(|line| !hollow(line)).collect()
}

proptest! {
    #[test]
    fn notes_are_neither_lost_nor_duplicated(first in markdown(), second in markdown()) {
        let read = |text: &str| AuthorNotes::parse(text).ok();
        let (Some(one), Some(other)) = (read(&first), read(&second)) else { return Ok(()) };
        let once = one.new_document(&facts("open"), &[]).unwrap();
        let again = one.merge_into_document(&once, &facts("open")).unwrap();
        prop_assert_eq!(again.text(), once.text());
        let both = other.merge_into_document(&once, &facts("done")).unwrap();
        for line in lines(&first).into_iter().chain(lines(&second)) {
            prop_assert!(both.text().contains(line), "{line:?} is lost: {}", both.text());
        }
        let document = Document::parse(both.text().as_bytes());
        prop_assert!(both.text().contains("- done") && !both.text().contains("- open"));
        prop_assert_eq!(document.text().matches("midstride:facts 1").count(), 1);
    }
}
