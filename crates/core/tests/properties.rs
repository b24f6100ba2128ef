//! Properties of every document.

use midstride_core::format::document::Document;
use midstride_core::format::header::HANDOFF;
use midstride_core::format::stage::Stages;
use midstride_core::handoff::check::{StandaloneContext, check};
use midstride_core::handoff::topic::{self, BodyTopics};
use midstride_core::handoff::{Handoff, Location};
use midstride_core::text::edit::{Edit, HeaderPath, HeaderPathStep};
use midstride_core::text::span::Span;
use midstride_core::text::yaml::YamlData;
use midstride_testkit::{fixtures, markdown_below};
use proptest::prelude::*;
use proptest::sample::{Index, select};

/// Text with awkward characters.
fn text() -> impl Strategy<Value = String> {
    let pieces = select(vec![
        "a", "word", "yes", "null", "1.5", ": ", " #", "'", "\"", "\n", "\n\n", "- ", "{", "]",
        "é", "日本", "\t", "|", ">", "*x", "&y", "---", "...", " ", "\\", "%", "@", "\u{7}",
        "TODO", "`c`", "a: b", "\r\n", "~", "!t",
    ]);
    prop::collection::vec(pieces, 0..8).prop_map(|pieces| pieces.concat())
}

fn key() -> impl Strategy<Value = String> {
    let known: Vec<String> = HANDOFF.fields.iter().map(|field| field.name.to_owned()).collect();
    prop_oneof![4 => select(known), 1 => "[a-z_]{1,8}"]
}

pub(crate) fn data() -> impl Strategy<Value = YamlData> {
    let leaf = prop_oneof![
        4 => text().prop_map(YamlData::Text),
        1 => any::<bool>().prop_map(YamlData::flag),
        1 => any::<u16>().prop_map(|number| YamlData::Bare(number.to_string())),
    ];
    tree(leaf)
}

fn tree(leaf: impl Strategy<Value = YamlData> + 'static) -> impl Strategy<Value = YamlData> {
    leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(YamlData::List),
            prop::collection::btree_map(key(), inner, 0..4).prop_map(YamlData::map),
        ]
    })
}

/// The strict form of an arbitrary header and body.
fn strict() -> impl Strategy<Value = (Vec<(String, YamlData)>, String)> {
    let fields = prop::collection::btree_map(key(), tree(text().prop_map(YamlData::Text)), 1..8);
    (fields, "[a-zé #*`\n-]{0,60}").prop_map(|(fields, body)| (fields.into_iter().collect(), body))
}

/// Lines as they occur in notes.
fn note_line() -> impl Strategy<Value = String> {
    let lines = select(vec![
        "# Import\n",
        "## Next steps\n",
        "### Root cause: é\n",
        "## Current state (日本)\n",
        "\n",
        "**Next:** do it\n",
        "**Status**: ✅ Complete\n",
        "Status：🚧 é\n",
        "| Status | done |\n",
        "Next steps\n",
        "Notes:\n",
        "- [x] a\n",
        "- é ✅\n",
        "  more\n",
        "1. ~~b~~ (done)\n",
        "~~\n",
        "```sh\n",
        "```\n",
        "~~~\n",
        "<!-- x -->\n",
        "---\n",
        "text\r\n",
        "> quote\n",
        "**\n",
        "**é**\n",
        "#\n",
        "####### no\n",
        "•é\n",
        "no end",
    ]);
    lines.prop_map(str::to_owned)
}

/// Documents in the wild: valid, loose, broken, with comments in odd places.
fn wild() -> impl Strategy<Value = String> {
    let lines = select(vec![
        "  id: a\n",
        "  status: PLANNED # now\n",
        "  # a comment\n",
        "\n",
        "  to: architect\n",
        "  to:\n    - a # x\n    - b\n",
        "  to: [a, b]\n",
        "  to: []\n",
        "  decisions_made:\n",
        "    - decision: x\n      rationale: y # why\n",
        "    - plain\n",
        "    # between\n",
        "  open_questions:\n  - question: |\n      long\n      text\n\n",
        "  context_summary: >-\n    one\n    two\n",
        "  title: \"quoted\" # t\n",
        "  title: 'single'\n",
        "  landmines:\n    - a: 1\n",
        "  dependencies:\n    upstream:\n      - artifact: x.md\n",
        "  dependencies: {upstream: [{artifact: x}]}\n",
        "  resolution: {}\n",
        "  description:\n",
        "  created: 2026-03-21\n",
        "  state:\n    any: [1, {b: c}]\n",
        "  kept: |+\n    x\n\n",
        "  meta: {a: 1, b: {c: 2, d: 3}}\n",
        "  meta: {a: 1,\n    b: 2, c: 3}\n",
        "  assumptions:\n    -\n",
        "top: level\n",
        "  bad: a: b\n",
        "\tid: t\n",
        "  long: one\n    two\n",
        "  anchor: &a x\n",
        "  alias: *a\n",
    ]);
    let eol = select(vec!["\n", "\r\n"]);
    (prop::collection::vec(lines, 0..9), eol, "[a-z #\n]{0,20}").prop_map(|(lines, eol, body)| {
        format!("---\nhandoff:\n{}---\n{body}", lines.concat()).replace('\n', eol)
    })
}

pub(crate) fn document() -> impl Strategy<Value = String> {
    let fixtures: Vec<String> = ["good", "broken"]
        .iter()
        .flat_map(|folder| markdown_below(&fixtures(folder)))
        .filter_map(|path| String::from_utf8(std::fs::read(path).unwrap()).ok())
        .collect();
    prop_oneof![
        3 => wild(),
        1 => select(fixtures),
        1 => strict().prop_map(|(fields, body)| compose(&fields, &body).text().to_owned()),
    ]
}

fn compose(fields: &[(String, YamlData)], body: &str) -> Document {
    let fields: Vec<(&str, YamlData)> =
        fields.iter().map(|(k, v)| (k.as_str(), v.clone())).collect();
    Document::compose(&fields, body)
}

pub(crate) fn path() -> impl Strategy<Value = HeaderPath> {
    // Mostly keys that the documents have, so that most edits apply.
    let present = select(vec![
        "id",
        "to",
        "decisions_made",
        "open_questions",
        "question",
        "title",
        "status",
        "landmines",
        "context_summary",
        "dependencies",
        "upstream",
        "resolution",
        "description",
        "state",
        "any",
        "assumptions",
        "kept",
        "decision",
        "rationale",
        "created",
        "long",
        "anchor",
        "meta",
        "a",
        "b",
        "c",
    ]);
    let step = prop_oneof![
        6 => present.prop_map(|key| HeaderPathStep::Key(key.to_owned())),
        1 => key().prop_map(HeaderPathStep::Key),
        3 => (0..3_usize).prop_map(HeaderPathStep::Item),
    ];
    prop::collection::vec(step, 1..4).prop_map(|steps| {
        HeaderPath([vec![HeaderPathStep::Key("handoff".to_owned())], steps].concat())
    })
}

pub(crate) fn edit() -> impl Strategy<Value = Edit> {
    prop_oneof![
        3 => (path(), data()).prop_map(|(path, data)| Edit::Set(path, data)),
        3 => (path(), data()).prop_map(|(path, data)| Edit::Append(path, data)),
        2 => path().prop_map(Edit::Remove),
    ]
}

/// The value at a path of the header.
fn at(document: &Document, path: &HeaderPath) -> Option<YamlData> {
    let mut node = document.header()?.root.clone();
    for step in &path.0 {
        node = match step {
            HeaderPathStep::Key(key) => node.get(key)?.clone(),
            HeaderPathStep::Item(index) => (*node.items().get(*index)?).clone(),
        };
    }
    Some(node.data())
}

/// The comments of a header, sorted.
fn comments(document: &Document) -> Vec<String> {
    let header = document.header().unwrap();
    let text =
        |at: &midstride_core::text::span::Span| at.slice(document.text()).trim_end().to_owned();
    let mut comments: Vec<String> = header.comments.iter().map(text).collect();
    comments.sort();
    comments
}

fn judge(document: &Document) {
    let (whereabouts, stages) = (Location::default(), Stages::shipped());
    let verdict =
        check(&Handoff::new(document, &whereabouts, &stages), &stages, None, &StandaloneContext);
    for finding in verdict.findings {
        assert!(document.text().get(finding.at.range()).is_some(), "{finding:?}");
        document.position(finding.at.start);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2 * ProptestConfig::default().cases, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_are_a_document(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let document = Document::parse(&bytes);
        if document.is_exact() {
            prop_assert_eq!(document.render().into_bytes(), bytes);
        } else {
            prop_assert_eq!(document.text().len(), bytes.len());
        }
        judge(&document);
    }

    #[test]
    fn any_text_with_a_header_is_a_document(text in document(), cut in any::<Index>(), noise in text()) {
        let mut at = cut.index(text.len() + 1);
        while !text.is_char_boundary(at) { at -= 1; }
        let text = format!("{}{noise}{}", &text[..at], &text[at..]);
        let document = Document::parse(text.as_bytes());
        prop_assert_eq!(document.render(), text);
        judge(&document);
    }

    #[test]
    fn every_part_of_a_note_is_quoted_from_it(lines in prop::collection::vec(note_line(), 0..30)) {
        let text = lines.concat();
        let document = Document::parse(text.as_bytes());
        let (whereabouts, stages) = (Location::default(), Stages::shipped());
        let handoff = Handoff::new(&document, &whereabouts, &stages);
        let topics = BodyTopics::from_document(&document);
        let _ = (handoff.is_open(), handoff.time_from_name());
        let line = handoff.status_line();
        prop_assert!(line.is_none_or(|line| line.text.at.slice(document.text()) == line.text.value));
        let quoted = [topics.next_steps(), topics.state()].into_iter().flatten();
        for quoted in quoted.flat_map(|text| topic::split_items(&text)) {
            for line in quoted.lines() {
                prop_assert!(text.contains(line.trim()), "{line:?} in {text:?}");
            }
        }
    }

    #[test]
    fn composed_documents_parse_back_and_are_strict((fields, body) in strict()) {
        let document = compose(&fields, &body);
        prop_assert!(document.is_exact());
        for (name, value) in &fields {
            let read = at(&document, &HeaderPath::field(name)).unwrap();
            prop_assert_eq!(&read, value, "{}", document.text());
        }
        let again: Vec<(String, YamlData)> = fields
            .iter()
            .map(|(name, _)| (name.clone(), at(&document, &HeaderPath::field(name)).unwrap()))
            .collect();
        let rendered = compose(&again, document.body().slice(document.text()));
        prop_assert_eq!(rendered.text(), document.text());
    }

    #[test]
    fn formatting_is_idempotent(text in document()) {
        let before = Document::parse(text.as_bytes());
        let Ok(once) = before.format() else { return Ok(()) };
        let twice = once.format().unwrap();
        prop_assert_eq!(twice.text(), once.text());
        prop_assert_eq!(once.render(), once.text());
        if before.handoff_header().is_some() {
            prop_assert_eq!(comments(&before), comments(&once));
            let body = |document: &Document| {
                document.body().slice(document.text()).trim_end_matches(['\r', '\n']).to_owned()
            };
            prop_assert_eq!(body(&before), body(&once));
        }
    }

    #[test]
    fn an_edit_changes_only_its_target_and_can_be_reverted(text in document(), edit in edit()) {
        let before = Document::parse(text.as_bytes());
        if let Ok((after, patch)) = before.edit(std::slice::from_ref(&edit)) {
            prop_assert_eq!(patch.apply(&text).unwrap(), after.text());
            prop_assert_eq!(&patch.reversed().apply(after.text()).unwrap(), &text);
            match &edit {
                Edit::Set(path, value) => {
                    let read = at(&after, path);
                    prop_assert!(read.as_ref().is_some_and(|read| read.is_equivalent_to(value)), "{read:?}");
                }
                Edit::Append(path, value) => {
                    let Some(YamlData::List(items)) = at(&after, path) else { panic!("a list") };
                    prop_assert!(items.last().unwrap().is_equivalent_to(value));
                }
                Edit::Remove(_) | Edit::Body(..) => {}
            }
            prop_assert_eq!(before.body().slice(&text), after.body().slice(after.text()));
        }
    }

    #[test]
    fn several_edits_give_what_they_give_one_by_one(
        text in document(),
        edits in prop::collection::vec(edit(), 1..5),
        body in prop::option::of((text(), any::<Index>())),
    ) {
        let before = Document::parse(text.as_bytes());
        let body = body.map(|(new, from)| {
            let mut start = before.body().start + from.index(before.body().len() + 1);
            while !text.is_char_boundary(start) { start -= 1; }
            Edit::Body(Span::new(start, before.body().end), new)
        });
        let edits: Vec<Edit> = body.into_iter().chain(edits).collect();
        let apply = |document: Document, edit: &Edit| {
            document.edit(std::slice::from_ref(edit)).map(|(after, _)| after)
        };
        let one_by_one = edits.iter().try_fold(before.clone(), apply);
        let together = before.edit(&edits).map(|(after, _)| after);
        prop_assert_eq!(
            together.map(|document| document.text().to_owned()),
            one_by_one.map(|document| document.text().to_owned())
        );
    }

    #[test]
    fn replacing_body_text_changes_nothing_else(text in document(), new in text(), from in any::<Index>()) {
        let before = Document::parse(text.as_bytes());
        let body = before.body();
        let mut start = body.start + from.index(body.len() + 1);
        while !text.is_char_boundary(start) { start -= 1; }
        let span = Span::new(start, body.end);
        if let Ok((after, patch)) = before.edit(&[Edit::Body(span, new.clone())]) {
            prop_assert_eq!(&after.text()[..start], &text[..start]);
            prop_assert!(after.text().ends_with(&new));
            prop_assert_eq!(patch.reversed().apply(after.text()).unwrap(), text);
        }
    }
}
