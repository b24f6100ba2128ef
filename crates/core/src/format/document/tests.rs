use super::*;
use crate::format::finding::{Code, FindingFix};
use crate::format::header::{Decision, Question};
use crate::text::edit::{Edit, HeaderPath};
use crate::text::span::Spanned;
use crate::text::yaml::YamlData;

fn document(text: &str) -> Document {
    let document = Document::parse(text.as_bytes());
    assert_eq!(document.render(), text);
    document
}

fn codes(document: &Document) -> Vec<Code> {
    document.findings().iter().map(|finding| finding.code).collect()
}

/// Edits a document and returns the changed lines, `-` for old and `+` for new ones.
fn edited(text: &str, edit: Edit) -> String {
    let before = document(text);
    let (after, patch) = before.edit(&[edit]).unwrap();
    assert_eq!(patch.apply(text).unwrap(), after.text());
    assert_eq!(patch.reversed().apply(after.text()).unwrap(), text);
    let (old, new): (Vec<&str>, Vec<&str>) =
        (text.split('\n').collect(), after.text().split('\n').collect());
    let same_start = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
    let (old, new) = (&old[same_start..], &new[same_start..]);
    let same_end = old.iter().rev().zip(new.iter().rev()).take_while(|(a, b)| a == b).count();
    let removed = old[..old.len() - same_end].iter().map(|line| format!("-{line}\n"));
    let added = new[..new.len() - same_end].iter().map(|line| format!("+{line}\n"));
    removed.chain(added).collect()
}

fn decision() -> YamlData {
    YamlData::map([
        ("decision", YamlData::text("Use a query")),
        ("rationale", YamlData::text("it is: fast")),
    ])
}

fn append(field: &str) -> Edit {
    Edit::Append(HeaderPath::field(field), decision())
}

#[test]
fn a_mapping_is_appended_to_a_block_list() {
    let text = "---\nhandoff:\n  id: a\n  decisions_made: # all of them\n    - decision: x # one\n      rationale: y # two\n\n    # about what follows\n  status: planned\n---\nbody\n";
    assert_eq!(
        edited(text, append("decisions_made")),
        "+    - decision: Use a query\n+      rationale: \"it is: fast\"\n"
    );
}

#[test]
fn a_mapping_is_appended_after_a_block_scalar() {
    let text = "---\nhandoff:\n  decisions_made:\n  - decision: |+\n      x\n\n  - |\n    y\n\n  status: planned\n---\n";
    assert_eq!(
        edited(text, append("decisions_made")),
        "+  - decision: Use a query\n+    rationale: \"it is: fast\"\n"
    );
    let text = "---\nhandoff:\n  decisions_made:\n  - decision: |+\n      x\n\n---\n";
    assert_eq!(
        edited(text, append("decisions_made")),
        "+  - decision: Use a query\n+    rationale: \"it is: fast\"\n"
    );
}

#[test]
fn a_mapping_is_appended_to_an_empty_list() {
    let text = "---\nhandoff:\n  decisions_made: [] # none yet\n  status: planned\n---\n";
    assert_eq!(
        edited(text, append("decisions_made")),
        "-  decisions_made: [] # none yet\n+  decisions_made: # none yet\n+    - decision: Use a query\n+      rationale: \"it is: fast\"\n"
    );
    for empty in
        ["decisions_made: []", "decisions_made:", "decisions_made: ~", "decisions_made: [ ]"]
    {
        let text = format!("---\nhandoff:\n  {empty}\n  # keep\n  status: planned\n---\n");
        let change = edited(&text, append("decisions_made"));
        assert!(
            change.ends_with("+    - decision: Use a query\n+      rationale: \"it is: fast\"\n"),
            "{change}"
        );
    }
}

#[test]
fn a_mapping_is_appended_to_an_absent_key() {
    let text = "---\nhandoff:\n  id: a\n  to: [b] # who\n  # about the summary\n  context_summary: x\n  status: planned\n---\n";
    assert_eq!(
        edited(text, append("decisions_made")),
        "+  decisions_made:\n+    - decision: Use a query\n+      rationale: \"it is: fast\"\n"
    );
    let text = "---\nhandoff: {id: a}\n---\n";
    assert_eq!(
        edited(text, append("decisions_made")),
        "-handoff: {id: a}\n+handoff: {id: a, decisions_made: [{decision: Use a query, rationale: \"it is: fast\"}]}\n"
    );
    let text = "---\nhandoff:\n---\n";
    assert_eq!(
        edited(text, append("decisions_made")),
        "+  decisions_made:\n+    - decision: Use a query\n+      rationale: \"it is: fast\"\n"
    );
}

#[test]
fn a_mapping_is_appended_to_brackets_and_to_a_single_value() {
    let text = "---\nhandoff:\n  decisions_made: [x, {decision: y}, ] # c\n---\n";
    assert_eq!(
        edited(text, append("decisions_made")),
        "-  decisions_made: [x, {decision: y}, ] # c\n+  decisions_made: [x, {decision: y}, {decision: Use a query, rationale: \"it is: fast\"}, ] # c\n"
    );
    let text = "---\nhandoff:\n  to: architect # one\n---\n";
    assert_eq!(
        edited(text, Edit::Append(HeaderPath::field("to"), YamlData::text("sre"))),
        "-  to: architect # one\n+  to: [architect, sre] # one\n"
    );
}

#[test]
fn line_breaks_of_the_file_are_kept() {
    let text = "---\r\nhandoff:\r\n  id: a\r\n  context_summary: |\r\n    x\r\n  decisions_made:\r\n    - decision: x\r\n---\r\nbody\r\n";
    let change = edited(text, append("decisions_made"));
    assert_eq!(change, "+    - decision: Use a query\r\n+      rationale: \"it is: fast\"\r\n");
    let set = Edit::Set(HeaderPath::field("context_summary"), YamlData::text("one\ntwo\n"));
    assert_eq!(edited(text, set), "-    x\r\n+    one\r\n+    two\r\n");
}

#[test]
fn an_edited_value_keeps_its_quotes_and_neighbors() {
    let text = "---\nhandoff:\n  id: 'a' # id\n  status:   PLANNED   # now\n  title: \"x\"\n  context_summary: >-\n    one\n    two # no comment\n  # next\n  to:\n    - b\n---\n";
    let set = |field: &str, value| Edit::Set(HeaderPath::field(field), value);
    assert_eq!(
        edited(text, set("id", YamlData::text("it's"))),
        "-  id: 'a' # id\n+  id: 'it''s' # id\n"
    );
    assert_eq!(
        edited(text, set("status", YamlData::Bare("planned".into()))),
        "-  status:   PLANNED   # now\n+  status:   planned   # now\n"
    );
    assert_eq!(
        edited(text, set("title", YamlData::text("a \"b\""))),
        "-  title: \"x\"\n+  title: \"a \\\"b\\\"\"\n"
    );
    assert_eq!(
        edited(text, set("context_summary", YamlData::text("short"))),
        "-  context_summary: >-\n-    one\n-    two # no comment\n+  context_summary: short\n"
    );
    assert_eq!(
        edited(text, set("title", YamlData::text("one\ntwo\n"))),
        "-  title: \"x\"\n+  title: |\n+    one\n+    two\n"
    );
    assert_eq!(
        edited(text, set("to", YamlData::texts(["x", "z"]))),
        "-  to:\n-    - b\n+  to: [x, z]\n"
    );
}

#[test]
fn parts_of_entries_are_set_and_removed() {
    let text = "---\nhandoff:\n  open_questions:\n    - question: q1\n      blocking: true # wait\n    - q2\n  to: [a, b, c]\n---\n";
    let question = |index| HeaderPath::field("open_questions").item(index);
    assert_eq!(
        edited(text, Edit::Set(question(0).key("answer"), YamlData::text("42 days"))),
        "+      answer: 42 days\n"
    );
    assert_eq!(
        edited(
            text,
            Edit::Set(
                question(1),
                YamlData::map([
                    ("question", YamlData::text("q2")),
                    ("blocking", YamlData::flag(false))
                ])
            )
        ),
        "-    - q2\n+    - question: q2\n+      blocking: false\n"
    );
    assert_eq!(edited(text, Edit::Remove(question(1))), "-    - q2\n");
    assert_eq!(
        edited(text, Edit::Remove(HeaderPath::field("to").item(2))),
        "-  to: [a, b, c]\n+  to: [a, b]\n"
    );
    assert_eq!(
        edited(text, Edit::Remove(HeaderPath::field("to").item(0))),
        "-  to: [a, b, c]\n+  to: [b, c]\n"
    );
    assert_eq!(edited(text, Edit::Remove(HeaderPath::field("to"))), "-  to: [a, b, c]\n");
    assert_eq!(
        edited(
            text,
            Edit::Set(HeaderPath::field("resolution").key("commit"), YamlData::text("4f2c1e"))
        ),
        "+  resolution:\n+    commit: 4f2c1e\n"
    );
    let only = "---\nhandoff:\n  to:\n    - a\n---\n";
    assert_eq!(edited(only, Edit::Remove(HeaderPath::field("to").item(0))), "-    - a\n");
}

#[test]
fn an_unsafe_edit_is_refused() {
    let refused = |text: &str, edit: Edit| document(text).edit(&[edit]).unwrap_err();
    let twice = "---\nhandoff:\n  to: a\n  to: b\n---\n";
    assert_eq!(refused(twice, append("to")), DocumentEditError::Ambiguous("handoff.to".into()));
    let broken = "---\nhandoff:\n  to: [a\n  id: x\n---\n";
    assert_eq!(refused(broken, append("to")), DocumentEditError::Unreadable("handoff.to".into()));
    assert_eq!(refused("no header\n", append("to")), DocumentEditError::NoHeader);
    let commented = "---\nhandoff:\n  to:\n    - a # the boss\n---\n";
    let set = Edit::Set(HeaderPath::field("to"), YamlData::texts(["b"]));
    assert_eq!(refused(commented, set), DocumentEditError::WouldCorrupt("handoff.to".into()));
    let newer = "---\nhandoff:\n  format: 99\n---\n";
    assert_eq!(refused(newer, append("to")), DocumentEditError::NewerFormat);
    let anchored = "---\nhandoff:\n  title: &t x\n  description: *t\n---\n";
    let set = Edit::Set(HeaderPath::field("title"), YamlData::text("y"));
    assert_eq!(refused(anchored, set), DocumentEditError::WouldCorrupt("handoff.title".into()));
    assert_eq!(
        Document::parse(b"---\nhandoff:\n  id: \xff\n---\n").edit(&[append("to")]).unwrap_err(),
        DocumentEditError::NotUtf8
    );
}

#[test]
fn edits_work_beside_a_broken_block() {
    let text = "---\nhandoff:\n  id: a\n  title: one: two\n  status: planned\n---\n";
    let set = Edit::Set(HeaderPath::field("status"), YamlData::Bare("resolved".into()));
    assert_eq!(edited(text, set), "-  status: planned\n+  status: resolved\n");
}

#[test]
fn headers_are_distinguished_from_horizontal_rules() {
    assert!(document("---\nJust a rule\n---\nmore\n").header().is_none());
    assert!(document("---\n\ntext\n").header().is_none());
    assert!(document("text\n---\n").header().is_none());
    assert!(document("").header().is_none());
    assert_eq!(
        document("---\ntitle: x\n---\n").header().unwrap().location,
        HeaderLocation::Foreign
    );
    assert_eq!(
        document("\u{feff}---\nhandoff:\n  id: a\n---\n").header().unwrap().location,
        HeaderLocation::FrontMatter
    );
    let open = document("---\nhandoff:\n  id: a\n\n# Title\n");
    assert_eq!(codes(&open), [Code::HeaderNotClosed]);
    assert_eq!(open.format().unwrap().text(), "---\nhandoff:\n  id: a\n---\n\n# Title\n");
}

#[test]
fn loose_values_are_formatted_strictly() {
    let text = "---\nhandoff:\n  id: a\n  status: IN PROGRESS # still\n  to: architect\n  created: 2026-03-21T17:24\n  decisions_made:\n    - Use a query\n  open_questions: Which one?\n---\n\nRevised: 2026-03-21T18:20 (wrong code path)\n";
    let tight = document(text).format().unwrap();
    assert_eq!(
        tight.text(),
        "---\nhandoff:\n  id: a\n  status: in_progress # still\n  to: [architect]\n  created: 2026-03-21T17:24:00Z\n  decisions_made:\n    - decision: Use a query\n  open_questions:\n    - question: Which one?\n  revisions:\n    - {at: 2026-03-21T18:20:00Z, reason: wrong code path}\n---\n\nRevised: 2026-03-21T18:20 (wrong code path)\n"
    );
    assert!(codes(&tight).is_empty());
    assert_eq!(tight.format().unwrap().text(), tight.text());
}

const PIPELINE_SECTION: &str = "# Spec

## Handoff

- **From**: product-planner
- **To**: commercial-strategist (parallel), architect
- **Gate**: spec
  - Status: asked by the gate
- **Open Questions**:
  1. ~~[BLOCKING] How does it sign in?~~ **RESOLVED**: mTLS on both sides
  2. [BLOCKING] Where are scopes
     added?
  3. [NON-BLOCKING] Should the limit be configurable?
- **Decisions Made**:
  1. Use a thin proxy
  2. Keep events for 60 days
- **Landmines**: none

## Overview
";

#[test]
fn lists_in_a_handoff_section_are_list_fields() {
    let document = Document::parse(PIPELINE_SECTION.as_bytes());
    let header = document.header().unwrap();
    assert_eq!(header.location, HeaderLocation::Section);
    let texts = |name| header.list::<Spanned<&str>>(name).into_iter().map(|text| text.value);
    assert_eq!(texts("to").collect::<Vec<_>>(), ["commercial-strategist", "architect"]);
    let decisions: Vec<Decision<'_>> = header.list("decisions_made");
    assert_eq!(decisions[1].decision.unwrap().value, "Keep events for 60 days");
    let questions: Vec<Question<'_>> = header.list("open_questions");
    let found: Vec<(&str, bool, Option<&str>)> = questions
        .iter()
        .map(|one| (one.question.unwrap().value, one.blocks(), one.answer.map(|text| text.value)))
        .collect();
    assert_eq!(
        found,
        [
            ("How does it sign in?", false, Some("mTLS on both sides")),
            ("Where are scopes added?", true, None),
            ("Should the limit be configurable?", false, None),
        ]
    );
    assert!(header.get("landmines").is_some() && texts("landmines").next().is_none());
    // What another item says is not about the handoff.
    assert!(header.get("status").is_none());
    let question = questions[1].at.slice(PIPELINE_SECTION);
    assert_eq!(question, "[BLOCKING] Where are scopes\n     added?");
}

#[test]
fn a_list_may_start_in_the_column_of_its_key() {
    let text = "## Handoff\n\n**Open questions**:\n- BLOCKING: Who pays?\n- And when?\n\n**From**: sales\n";
    let document = Document::parse(text.as_bytes());
    let header = document.header().unwrap();
    let questions: Vec<Question<'_>> = header.list("open_questions");
    assert_eq!(questions.iter().map(Question::blocks).collect::<Vec<_>>(), [true, false]);
    assert_eq!(header.text("from").unwrap().value, "sales");
}

#[test]
fn formatting_a_section_with_lists_loses_nothing() {
    let formatted = Document::parse(PIPELINE_SECTION.as_bytes()).format().unwrap();
    assert_eq!(
        formatted.text(),
        "---
handoff:
  from: product-planner
  to: [commercial-strategist, architect]
  decisions_made:
    - decision: Use a thin proxy
    - decision: Keep events for 60 days
  open_questions:
    - question: How does it sign in?
      blocking: true
      answer: mTLS on both sides
    - question: Where are scopes added?
      blocking: true
    - question: Should the limit be configurable?
      blocking: false
  landmines: []
---

# Spec

## Handoff

- **To**: commercial-strategist (parallel), architect
- **Gate**: spec
  - Status: asked by the gate

## Overview
"
    );
}

#[test]
fn a_handoff_section_becomes_a_header() {
    let text = "# Market pages\n\n## Handoff\n\n- **Status**: PLANNED\n- From: product-discovery\n\nA remark that stays.\n\n## Diagnosis\n\nslow\n";
    let before = document(text);
    assert_eq!(codes(&before), [Code::HeaderInSection]);
    let after = before.format().unwrap();
    assert_eq!(
        after.text(),
        "---\nhandoff:\n  status: planned\n  from: product-discovery\n---\n\n# Market pages\n\n## Handoff\n\n\nA remark that stays.\n\n## Diagnosis\n\nslow\n"
    );
    assert_eq!(after.format().unwrap().text(), after.text());
}

#[test]
fn notes_are_not_formatted() {
    for text in ["# A note\n\n\ttext", "---\ntopic: a: b\n---\nx", "---\nstatus: DONE\n---\n"] {
        assert_eq!(document(text).format().unwrap().text(), text);
    }
}

#[test]
fn formatting_never_loses_content() {
    let unharmed = [
        "---\nhandoff:\n  id: x\n\n# people\nowner: bob\n---\n\nbody\n",
        "---\nhandoff:\n  id: x\n\"$schema\": v\nlast updated: v\na.b: v\n---\n",
        "---\nhandoff:\n  to: [\na\n]\n---\n",
        "---\nhandoff:\n  id: x\n<<<<<<< a\n  title: y\n=======\n  title: z\n>>>>>>> b\n---\nbody\n",
        "## Handoff\n\n```yaml\nhandoff:\n  id: x # keep me\n```\n",
        "## Handoff\n\n```yaml\nhandoff:\n  id: x\nother: precious\n```\n",
        "## Handoff\n\n- Summary: the first line\n  goes on here\n",
        "---\nhandoff:\n  id: x\n---\n\n```\nCaptured: 2020-01-01T00:00\n```\n",
        "---\nhandoff:\n  to: !!str bob\n---\n",
        "---\nhandoff:\n  status: accepted\n---\n",
    ];
    for text in unharmed {
        assert_eq!(document(text).format().unwrap().text(), text);
    }
    let recipe = "---\nhandoff:\n\tid: x\n\tdescription: |\n\t\tall:\n\t\t\tmake\n---\n";
    assert_eq!(document(recipe).format().unwrap().text(), recipe);
}

#[test]
fn formatting_keeps_line_breaks_and_the_header_of_another_tool() {
    let open = "---\r\nhandoff:\r\n  id: x\r\n\r\n# T\r\ntext";
    assert_eq!(
        document(open).format().unwrap().text(),
        "---\r\nhandoff:\r\n  id: x\r\n---\r\n\r\n# T\r\ntext\r\n"
    );
    let foreign = "---\ntopic: foo # theirs\n---\n\n## Handoff\n\n- Status: planned\n";
    assert_eq!(
        document(foreign).format().unwrap().text(),
        "---\ntopic: foo # theirs\nhandoff:\n  status: planned\n---\n\n"
    );
}

#[test]
fn an_unclosed_header_ends_where_the_text_starts() {
    let text = "---\nhandoff:\n  id: x\n\n  title: y\n\n# Title\n\ntext\n\n---\n\nmore\n";
    let open = document(text);
    assert_eq!(codes(&open), [Code::HeaderNotClosed]);
    assert!(open.body().slice(text).starts_with("\n# Title"));
}

#[test]
fn a_value_that_formatting_cannot_fix_is_reported() {
    let text = "---\nhandoff:\n  platform_capabilities:\n    quota: maybe\n---\n";
    assert_eq!(codes(&document(text)), [Code::UnreadableValue]);
    let open = "---\nhandoff:\n  id: a # b";
    assert_eq!(document(open).format().unwrap().text(), "---\nhandoff:\n  id: a # b\n---\n");
}

#[test]
fn an_edit_that_raises_the_format_version_stops_later_edits() {
    let edits = [
        Edit::Set(HeaderPath::field("format"), YamlData::Bare("9".into())),
        Edit::Set(HeaderPath::field("title"), YamlData::text("x")),
    ];
    let refused = document("---\nhandoff:\n  id: a\n---\n").edit(&edits).unwrap_err();
    assert_eq!(refused, DocumentEditError::NewerFormat);
}

#[test]
fn text_between_two_horizontal_rules_stays() {
    for text in
        ["---\nhandoff:hor# x\n---\nbody\n", "---\nhandoff:... x\n---\n# T\n\n**Captured**: x\n"]
    {
        let note = document(text);
        assert!(note.handoff_header().is_none(), "{text}");
        assert_eq!(note.format().unwrap().text(), text);
    }
}

#[test]
fn a_comment_stays_with_its_value() {
    let text = "---\nhandoff:\n  to:\n    - a\n      # about a\n    # about the list\n---\n";
    let append = Edit::Append(HeaderPath::field("to"), YamlData::text("b"));
    let (after, _) = document(text).edit(&[append]).unwrap();
    assert_eq!(
        after.text(),
        "---\nhandoff:\n  to:\n    - a\n      # about a\n    - b\n    # about the list\n---\n"
    );
}

#[test]
fn formatting_many_values_with_comments_is_stable() {
    let pair = "    - decision: d\n      alternatives_considered:\n        k: v # c\n    - plain\n";
    let text = format!("---\nhandoff:\n  decisions_made:\n{}---\n", pair.repeat(300));
    let once = document(&text).format().unwrap();
    assert_eq!(once.format().unwrap().text(), once.text());
    assert!(once.text().contains("    - decision: plain\n"));
}

#[test]
fn problems_in_a_note_are_hints() {
    for bytes in [&b"# caf\xe9\n"[..], b"---\ntopic: [a\n---\nx\n"] {
        let note = Document::parse(bytes);
        assert_eq!(codes(&note), [Code::NotePartlyUnreadable]);
    }
    let large = format!("---\ntopic: x\n{}---\n", "# y\n".repeat(300_000));
    assert_eq!(codes(&Document::parse(large.as_bytes())), [Code::NotePartlyUnreadable]);
}

/// The findings about unknown keys, with their hint.
fn unknown_keys(fields: &str) -> Vec<String> {
    let document = Document::parse(format!("---\nhandoff:\n{fields}---\n").as_bytes());
    let found = document.findings().iter().filter(|finding| finding.code == Code::UnknownKey);
    let hint = |fix: &Option<FindingFix>| match fix {
        Some(FindingFix::Hint(hint)) => hint.clone(),
        other => panic!("not a hint: {other:?}"),
    };
    found.map(|f| format!("{} ({})", f.message, hint(&f.fix))).collect()
}

#[test]
fn a_guessed_key_is_reported_with_the_field_it_stands_for() {
    for (fields, expected) in [
        (
            "  open_questions:\n    - text: Why?\n      owner: ann\n",
            [
                "`text` is not a field of a question; put its text in `question` (write `question`)",
                "`owner` is not a field of a question; put its text in `suggested_owner` (write `suggested_owner`)",
            ]
            .as_slice(),
        ),
        (
            "  proofs:\n    - claim: It builds\n      Command: cargo build\n",
            &["`Command` is not a field of a proof; put its text in `run` (write `run`)"],
        ),
        (
            "  decisions_made:\n    - decision: Redis\n      why: It is shared\n",
            &["`why` is not a field of a decision; put its text in `rationale` (write `rationale`)"],
        ),
        (
            "  assumptions:\n    - assumption: Disks are fast\n      verified: true\n",
            &["`verified` is not a field of an assumption; put its value in `validated` (write `validated`)"],
        ),
        (
            "  open_questions:\n    - frage: Why?\n      blocking: true\n",
            &["`frage` is not a field of a question, and `question` is missing (write `question`)"],
        ),
    ] {
        assert_eq!(unknown_keys(fields), expected, "{fields}");
    }
}

#[test]
fn a_key_of_another_tool_is_not_reported_and_survives_edits() {
    let fields = "  open_questions:\n    - question: Why?\n      blocking: true\n      ticket: 4411\n  \
                  decisions_made:\n    - decision: Redis\n      rationale: Shared\n      why: more\n";
    assert_eq!(unknown_keys(fields), Vec::<String>::new());
    let text = format!("---\nhandoff:\n{fields}---\n");
    let answer = HeaderPath::field("open_questions").item(0).key("answer");
    let edit = Edit::Set(answer, YamlData::text("Because"));
    let (after, _) = Document::parse(text.as_bytes()).edit(&[edit]).unwrap();
    assert!(after.text().contains("      ticket: 4411\n"), "{}", after.text());
    assert!(after.text().contains("      why: more\n"), "{}", after.text());
}
