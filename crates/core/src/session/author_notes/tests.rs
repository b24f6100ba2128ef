use super::*;
use crate::format::generated_section::{self, GeneratedSection};

fn facts(page: &str) -> SessionFacts {
    SessionFacts {
        state: YamlData::map([("goals", YamlData::List(vec![]))]),
        page: page.to_owned(),
        boot: vec![(StartupKind::Read, "docs/plan.md".to_owned())],
        ended_tasks: Vec::new(),
        title: Some("Session: cache".to_owned()),
    }
}

fn laid(notes: &AuthorNotes, text: &str, page: &str) -> String {
    let document = Document::parse(text.as_bytes());
    notes.merge_into_document(&document, &facts(page)).unwrap().text().to_owned()
}

fn skeleton(notes: &AuthorNotes) -> String {
    notes.new_document(&facts("### Tasks\n\n- [ ] Warm"), &[]).unwrap().text().to_owned()
}

#[test]
fn a_new_handoff_has_three_sections() {
    let notes = AuthorNotes { next: vec!["Measure".into()], ..AuthorNotes::default() };
    let notes = notes.with_decision("Use Redis because it is there");
    let text = skeleton(&notes);
    let document = Document::parse(text.as_bytes());
    let titles: Vec<&str> = document.sections().iter().map(|s| s.title.value.as_str()).collect();
    assert_eq!(titles, ["Boot", "Context", "Tasks", "Continuation"], "{text}");
    for part in [
        "  title: \"Session: cache\"\n",
        "    - decision: Use Redis\n      rationale: it is there\n",
        "  boot:\n    read: [docs/plan.md]\n",
        "    documents:\n      must_read: [docs/plan.md]\n",
        "- Read `docs/plan.md`.\n",
        "\n1. Measure\n",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(document.findings().is_empty(), "{:?}", document.findings());
}

#[test]
fn merging_the_same_notes_twice_changes_nothing() {
    let given = "# Cache\n\nThe cache is cold.\n\n## Decisions\n\nRedis, because it is there.\n\n### Not taken\n\nMemcached\n\n## Next steps\n\n1. Measure\n\n```sh\na\n\nb\n```\n";
    let notes =
        AuthorNotes::parse(given).unwrap().with_wrong_turn("Blaming git because it was near");
    let once = skeleton(&notes);
    assert_eq!(laid(&notes, &once, "### Tasks\n\n- [ ] Warm"), once);
    for line in given.lines().filter(|line| !line.starts_with(['#', '`'])) {
        assert!(once.contains(line), "{line}: {once}");
    }
    assert_eq!(once.matches("## Continuation").count(), 1, "{once}");
    assert!(!once.contains("## Next steps"), "{once}");
}

#[test]
fn merging_new_notes_keeps_earlier_text() {
    let first = AuthorNotes::parse("The cache is cold.\n\n## Next steps\n\nWarm it.\n").unwrap();
    let once = skeleton(&first);
    let mine = once.replace("Warm it.", "Warm it.\n\nBy hand: at night.");
    let second = AuthorNotes::parse("## Next steps\n\nMeasure it.\n\n## Landmines\n\nThe purge.\n");
    let twice = laid(&second.unwrap(), &mine, "### Tasks\n\n- [x] Warm");
    for text in ["cache is cold", "Warm it.", "By hand: at night.", "Measure it.", "The purge."] {
        assert!(twice.contains(text), "{text}: {twice}");
    }
    assert!(twice.contains("[x] Warm") && !twice.contains("[ ] Warm"), "{twice}");
    let document = Document::parse(twice.as_bytes());
    let at = |text: &str| twice.find(text).unwrap();
    assert!(at("Warm it.") < at("By hand") && at("By hand") < at("Measure it."), "{twice}");
    let page =
        GeneratedSection::find(&document, generated_section::GeneratedSectionKind::Facts).unwrap();
    assert!(
        page.is_unmodified && at("cache is cold") < page.at.start && page.at.end < at("Warm it.")
    );
}

#[test]
fn entries_about_the_same_thing_are_merged() {
    let text = "---\nhandoff:\n  id: a\n  decisions_made:\n    - Use Redis # ours\n    - decision: Keep one file\n      rationale: The user said so\n---\n";
    let notes = AuthorNotes::default()
        .with_decision("Use Redis because it is there")
        .with_decision("Keep one file")
        .with_landmine("The purge")
        .with_question("Which store?", true);
    let once = laid(&notes, text, "page");
    for part in ["decision: Use Redis", "rationale: it is there", "rationale: The user said so"] {
        assert_eq!(once.matches(part).count(), 1, "{once}");
    }
    assert!(once.contains("blocking: true") && once.contains("- The purge"), "{once}");
    assert_eq!(laid(&notes, &once, "page"), once);
}

#[test]
fn a_new_rationale_replaces_the_earlier_one() {
    let text = "---\nhandoff:\n  id: a\n  decisions_made:\n    - decision: Use Redis\n      rationale: It is fast\n---\n";
    let notes = AuthorNotes::default().with_decision("Use Redis because it is there");
    let once = laid(&notes, text, "page");
    assert!(once.contains("    - decision: Use Redis\n      rationale: it is there\n"), "{once}");
    assert!(!once.contains("It is fast"), "{once}");
}

#[test]
fn a_header_is_split_into_fields() {
    let text = "---\nhandoff:\n  id: cache\n  title: Cold cache\n  status: resolved\n  mood: calm\n  boot:\n    constraint: [Only the cache]\n  state:\n    identity: {role: fixer}\n  landmines: The purge\n---\nText.\n";
    let notes = AuthorNotes::parse(text).unwrap();
    assert_eq!(notes.id.as_deref(), Some("cache"));
    let text = skeleton(&notes);
    for part in [
        "title: Cold cache",
        "mood: calm",
        "role: fixer",
        "- Keep to this: Only the cache",
        "landmines",
        "Text.",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(!text.contains("resolved"), "{text}");
}

#[test]
fn json_notes_are_parsed_and_merged() {
    let text = r#"{"title": "Cold", "summary": "It is cold.", "decisions": ["A because B", {"decision": "C", "binding": true}], "wrong_turns": "X because Y; instead Z", "questions": [{"question": "Q?", "blocking": true}], "next": ["Go"], "constraints": ["Only the cache"], "reflection": {"inherit": "yes, all is told", "finds_plans": false}, "body": "Text."}"#;
    let notes = AuthorNotes::parse(text).unwrap();
    assert_eq!(notes.reflection.inherit, ReflectionAnswer::parse("yes: all is told"));
    assert_eq!(notes.reflection.finds_plans, Some(ReflectionAnswer { yes: false, why: None }));
    let text = skeleton(&notes);
    for part in ["binding: true", "replaced_by: Z", "rationale: B", "blocking: true", "1. Go"] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn invalid_notes_are_rejected() {
    let error = |text: &str| AuthorNotes::parse(text).unwrap_err().to_string();
    assert_eq!(error("  \n"), "it is empty");
    assert_eq!(error("{}"), "it is empty");
    assert_eq!(error(r#"{"desicions": []}"#), "unknown key `desicions`");
    assert_eq!(error(r#"{"next": [1]}"#), "`next` must be a string that is not blank");
    assert!(error("{ no").starts_with("it starts like JSON but is not valid JSON"));
    let notes = AuthorNotes::parse(r#"{"constraints": ["rm -rf build"]}"#).unwrap();
    assert!(notes.refused_startup_step().is_some());
    let near = AuthorNotes::parse(r#"{"desicions": []}"#).unwrap_err();
    let AuthorNotesError::Json(NotesJsonError::UnknownKey { nearest, .. }) = near else { panic!() };
    assert_eq!(nearest, Some("decisions"));
}

#[test]
fn finished_tasks_are_removed_from_the_startup_steps() {
    let mut facts = facts("page");
    facts.boot.push((StartupKind::Task, "Warm the cache".to_owned()));
    let document = AuthorNotes::default().new_document(&facts, &[]).unwrap();
    assert!(document.text().contains("- Restore the task: Warm the cache"));
    facts.boot.pop();
    facts.ended_tasks.push("Warm the cache".to_owned());
    let after = AuthorNotes::default().merge_into_document(&document, &facts).unwrap();
    assert!(!after.text().contains("Warm the cache"), "{}", after.text());
}

#[test]
fn windows_line_breaks_are_kept() {
    let notes = AuthorNotes::parse("Text.\n\n## Next steps\n\nGo.\n").unwrap();
    let text = skeleton(&AuthorNotes::default()).replace('\n', "\r\n");
    let once = laid(&notes, &text, "page");
    assert_eq!(once.matches('\n').count(), once.matches("\r\n").count(), "{once:?}");
    assert_eq!(laid(&notes, &once, "page"), once);
}

#[test]
fn entries_are_added_once_and_leave_the_text_as_it_is() {
    let document =
        Document::parse(b"---\nhandoff:\n  id: x\n  landmines: [The purge]\n---\n\nText.\n");
    let notes = AuthorNotes::default()
        .with_landmine("The purge")
        .with_question("Why?", true)
        .with_question("Why?", false)
        .with_proof("It: builds", "cargo build: all")
        .with_assumption("Nobody else writes");
    assert_eq!(notes.entry_fields(), ["open_questions", "assumptions", "landmines", "proofs"]);
    let (after, _) = document.edit(&notes.entry_edits(&document)).unwrap();
    insta::assert_snapshot!(after.text(), @r#"
    ---
    handoff:
      id: x
      open_questions:
        - question: Why?
          blocking: true
      assumptions:
        - assumption: Nobody else writes
      landmines: [The purge]
      proofs:
        - claim: "It: builds"
          run: "cargo build: all"
    ---

    Text.
    "#);
    assert!(notes.entry_edits(&after).is_empty());
}
