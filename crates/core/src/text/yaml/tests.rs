use super::*;

fn reading(text: &str) -> ParsedYaml {
    parse(text, Span::new(0, text.len()))
}

fn at<'t>(text: &'t str, root: &YamlNode, path: &[&str]) -> &'t str {
    let node = path.iter().fold(root.clone(), |node, key| node.get(key).unwrap().clone());
    node.at.slice(text)
}

#[test]
fn every_value_has_its_byte_span() {
    let text = concat!(
        "id: a # why\n",
        "empty:\n",
        "spaced :\n",
        "q: 'it''s'\n",
        "block: |\n  hello\n  you\n\n# comment\n",
        "kept: |+\n  x\n\n",
        "list:\n  - a\n  - d: x\n    why: \"y\"\n\n  # c2\n  -\n",
        "flow: [a, {b: c}, ]\n",
        "long: one\n  two\n",
    );
    let ParsedYaml { root, comments, problems } = reading(text);
    assert!(problems.is_empty());
    assert_eq!(at(text, &root, &["id"]), "a");
    assert_eq!(root.get("empty").unwrap().at, Span::empty(text.find("empty:").unwrap() + 6));
    assert_eq!(root.get("spaced").unwrap().at, Span::empty(text.find("spaced :").unwrap() + 8));
    assert_eq!(at(text, &root, &["q"]), "'it''s'");
    assert_eq!(at(text, &root, &["block"]), "|\n  hello\n  you");
    assert_eq!(at(text, &root, &["kept"]), "|+\n  x\n\n");
    assert_eq!(at(text, &root, &["list"]), "- a\n  - d: x\n    why: \"y\"\n\n  # c2\n  -");
    assert_eq!(at(text, &root, &["flow"]), "[a, {b: c}, ]");
    assert_eq!(at(text, &root, &["long"]), "one\n  two");
    let YamlValue::List(items) = &root.get("list").unwrap().value else { panic!("a list") };
    let dashes: Vec<&str> = items.iter().map(|i| &text[i.dash.unwrap()..][..1]).collect();
    assert_eq!(dashes, ["-", "-", "-"]);
    let comments: Vec<&str> = comments.iter().map(|at| at.slice(text)).collect();
    assert_eq!(comments, ["# why", "# comment", "# c2"]);
}

#[test]
fn a_syntax_error_costs_only_its_own_block() {
    let text = "name: x\nhandoff:\n  id: a\n  title: one: two\n  to: [b\n  status: planned\n  l:\n    - 'x\n  end: y\n";
    let ParsedYaml { root, problems, .. } = reading(text);
    let handoff = root.get("handoff").unwrap();
    assert_eq!(root.get("name").unwrap().text().unwrap().value, "x");
    assert_eq!(handoff.get("id").unwrap().text().unwrap().value, "a");
    assert_eq!(handoff.get("status").unwrap().text().unwrap().value, "planned");
    assert_eq!(handoff.get("end").unwrap().text().unwrap().value, "y");
    for broken in ["title", "to", "l"] {
        let value = &handoff.get(broken).unwrap().value;
        assert!(matches!(value, YamlValue::Unreadable(_)), "{broken}");
    }
    assert_eq!(problems.len(), 3);
    assert_eq!(problems[0].at.slice(text), ": two");
}

#[test]
fn values_are_read_despite_tabs_conflicts_and_duplicate_keys() {
    let tabs = reading("handoff:\n\tid: a\n\tto:\n\t\t- b\n");
    assert_eq!(tabs.problems.len(), 1);
    assert_eq!(tabs.problems[0].kind, YamlProblemKind::Tab);
    assert_eq!(tabs.root.get("handoff").unwrap().get("to").unwrap().items().len(), 1);

    let conflict =
        reading("id: a\n<<<<<<< ours\nstatus: x\n=======\nstatus: y\n>>>>>>> theirs\nb: c\n");
    let kinds: Vec<YamlProblemKind> = conflict.problems.iter().map(|p| p.kind).collect();
    assert_eq!(kinds, [YamlProblemKind::ConflictMarker]);
    assert_eq!(conflict.root.get("b").unwrap().text().unwrap().value, "c");

    let twice = reading("a: 1\nb: 2\na: 3\n");
    assert_eq!(twice.problems[0].kind, YamlProblemKind::DuplicateKey);
    assert_eq!(twice.root.get("a").unwrap().text().unwrap().value, "1");
}

#[test]
fn aliases_are_expanded_within_limits() {
    let fine = reading("a: &x [1, 2]\nb: *x\n");
    assert_eq!(fine.root.get("b").unwrap().items().len(), 2);
    let mut bomb = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
    for level in 1..12 {
        let names = vec![format!("*a{}", level - 1); 10].join(", ");
        bomb.push_str(&format!("a{level}: &a{level} [{names}]\n"));
    }
    assert!(!reading(&bomb).problems.is_empty());
    let deep = format!("a: {}", "[".repeat(100_000));
    assert!(!reading(&deep).problems.is_empty());
}

#[test]
fn written_values_read_back_unchanged() {
    let texts = [
        "plain",
        "",
        " ",
        "- dash",
        "a: b",
        "a #b",
        "it's",
        "\"q\"",
        "yes",
        "null",
        "~",
        "1.5",
        "0x1f",
        "2026-03-21",
        "[x",
        "{x}",
        "*x",
        "&x",
        "!x",
        "%x",
        "@x",
        "`x`",
        "a:",
        ":a",
        "multi\nline",
        "multi\nline\n",
        "multi\n\nline\n",
        " lead\nx",
        "trail \nx",
        "two\n\n",
        "\n",
        "tab\tx",
        "\u{7}bell",
        "\u{feff}bom",
        "日本語",
        "é: ü",
        "a\r\nb",
        "=",
        "<x>",
        ">",
        "|",
        "./path/x.rs:12",
        ".hidden",
        "#tag",
        "? q",
        "-",
        "--- x",
        "...",
        "a, b",
        "x]",
        "\u{2028}",
    ];
    for text in texts {
        for form in [QuoteStyle::Auto, QuoteStyle::SingleQuoted, QuoteStyle::DoubleQuoted] {
            let yaml = format!("k: {}\nz: 1\n", scalar(text, form, 2).trim_end_matches('\n'));
            let reading = reading(&yaml);
            assert!(reading.problems.is_empty(), "{text:?} → {yaml:?}");
            let read = reading.root.get("k").unwrap().data();
            assert_eq!(read, YamlData::text(text), "{text:?} → {yaml:?}");
        }
        for value in [
            YamlData::text(text),
            YamlData::List(vec![YamlData::text(text), YamlData::text("b c")]),
            YamlData::List(vec![YamlData::map([
                ("a", YamlData::text(text)),
                ("b", YamlData::texts([text])),
            ])]),
            YamlData::map([("x", YamlData::map([("y", YamlData::text(text))]))]),
        ] {
            for key in ["k", "revisions"] {
                let yaml = format!("top:\n{}z: 1\n", block_entry(key, &value, 2));
                let reading = reading(&yaml);
                let read = reading.root.get("top").unwrap().get(key).unwrap().data();
                assert!(read.is_equivalent_to(&value), "{value:?} → {yaml}");
            }
            let yaml = format!("k: {}\n", flow(&value));
            let read = super::parse(&yaml, Span::new(0, yaml.len())).root;
            assert!(read.get("k").unwrap().data().is_equivalent_to(&value), "{value:?} → {yaml}");
        }
    }
}
