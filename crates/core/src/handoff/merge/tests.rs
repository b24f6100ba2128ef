use super::*;

fn document(fields: &str, body: &str) -> Document {
    let text = format!("---\nhandoff:\n  id: a\n  uid: one\n{fields}---\n\n{body}");
    Document::parse(text.as_bytes())
}

/// Merges in both orders, which must give the same result.
fn merged(base: &Document, one: &Document, other: &Document) -> MergedText {
    let there = merge(Some(base), one, other, None).unwrap();
    assert_eq!(merge(Some(base), other, one, None).unwrap(), there);
    there
}

#[test]
fn a_change_of_one_side_is_taken() {
    let base = document("  title: t\n  status: planned\n", "One.\n\nTwo.\n");
    let one = document("  title: better\n  status: planned\n", "One.\n\nTwo!\n");
    let other = document("  title: t\n  status: in_progress\n", "One?\n\nTwo.\n");
    let merged = merged(&base, &one, &other);
    assert_eq!(merged.conflicts, Vec::<String>::new());
    let expected = document("  title: better\n  status: in_progress\n", "One?\n\nTwo!\n");
    assert_eq!(merged.text, expected.text());
}

#[test]
fn the_status_that_is_further_along_wins() {
    let status = |word: &str| document(&format!("  status: {word}\n"), "");
    let base = status("planned");
    for (further, closed) in [("in_progress", "resolved"), ("in_progress", "abandoned")] {
        let merged = merged(&base, &status(further), &status(closed));
        assert_eq!(merged.conflicts, Vec::<String>::new());
        assert_eq!(merged.text, status(closed).text());
    }
    let closed = merged(&base, &status("resolved"), &status("abandoned"));
    assert_eq!(closed.conflicts.len(), 1, "both are closed");
}

#[test]
fn lists_are_merged_by_item_identity() {
    let questions = |a: &str, b: &str| {
        document(
            &format!("  open_questions:\n    - question: q1 # first\n{a}    - question: q2\n{b}"),
            "",
        )
    };
    let base = questions("", "      blocking: true\n");
    let one = questions("      answer: yes it is\n", "      blocking: true\n    - question: q3\n");
    let other = questions("", "      blocking: true\n      answer: no\n    - question: q4\n");
    let text = merged(&base, &one, &other).text;
    let read = Document::parse(text.as_bytes());
    assert_eq!(
        read.handoff_header().unwrap().fields().get("open_questions").unwrap().items().len(),
        4
    );
    for part in ["q1 # first\n      answer: yes it is\n", "answer: no\n", "q3", "q4"] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn the_later_run_of_a_proof_wins() {
    let proof = |last: &str| {
        document(&format!("  proofs:\n    - claim: fast\n      run: bench # slow\n{last}"), "")
    };
    let run = |hour: u8, rest: &str| {
        format!("      last:\n        at: 2026-03-21T{hour:02}:00:00Z\n{rest}")
    };
    let early = run(8, "        by: ann\n        outcome: holds\n        number: 7\n");
    let late = run(9, "        by: bob\n        outcome: broken\n");
    for base in ["", &run(7, "        by: eve\n        outcome: holds\n")] {
        let merged = merged(&proof(base), &proof(&early), &proof(&late));
        assert_eq!(merged.conflicts, Vec::<String>::new());
        assert_eq!(merged.text, proof(&late).text());
    }
}

#[test]
fn a_removed_item_stays_removed_unless_the_other_side_changed_it() {
    let base =
        document("  landmines:\n    - a\n    - b\n  open_questions:\n    - question: q\n", "");
    let one = document("  landmines:\n    - b\n", "");
    let other = document(
        "  landmines:\n    - a\n    - b\n    - c\n  open_questions:\n    - question: q\n      answer: x\n",
        "",
    );
    let text = merged(&base, &one, &other).text;
    assert!(text.contains("  landmines:\n    - b\n    - c\n"), "{text}");
    assert!(text.contains("answer: x"), "{text}");
}

#[test]
fn the_later_status_wins_and_two_closed_ones_conflict() {
    let of = |status: &str| document(&format!("  status: {status}\n"), "");
    let status = |one: &str, other: &str| merged(&of("planned"), &of(one), &of(other));
    assert!(status("in_progress", "resolved").text.contains("  status: resolved\n"));
    let two = status("resolved", "abandoned");
    assert_eq!(two.conflicts, ["status"]);
    assert!(
        two.text.contains("=======\n  status: resolved\n>>>>>>> the other side\n"),
        "{}",
        two.text
    );
}

#[test]
fn a_paragraph_changed_by_both_sides_conflicts() {
    let base = document("", "## Plan\n\nOne line\nand another.\n\nLast.\n");
    let one = document("", "## Plan\n\nOne line, mended\nand another.\n\nLast.\n");
    let other = document("", "## Plan\n\nOne line\nand one more.\n\nLast.\n");
    let merged = merged(&base, &one, &other);
    assert_eq!(merged.conflicts, ["One line"]);
    assert!(
        merged.text.ends_with(
            "## Plan\n\n<<<<<<< one side\nOne line\nand one more.\n=======\n\
             One line, mended\nand another.\n>>>>>>> the other side\n\nLast.\n"
        ),
        "{}",
        merged.text
    );
}

#[test]
fn additions_of_both_sides_are_kept() {
    let base = document("", "First.\n");
    let one = document("", "First.\n\n## A\n\nText of a.\n");
    let other = document("", "First.\n\n## B\n\nText of b.\n");
    let merged = merged(&base, &one, &other);
    assert_eq!(merged.conflicts, Vec::<String>::new());
    assert!(
        merged.text.ends_with("First.\n\n## A\n\nText of a.\n\n## B\n\nText of b.\n"),
        "{}",
        merged.text
    );
}

#[test]
fn equal_additions_appear_once() {
    let bodies = |base: &str, one: &str, other: &str| {
        let merged = merged(&document("", base), &document("", one), &document("", other));
        assert_eq!(merged.conflicts, Vec::<String>::new(), "{}", merged.text);
        merged.text.split_once("---\n\n").unwrap().1.to_owned()
    };
    // A cherry-picked fix, with an addition above or below it.
    assert_eq!(bodies("A.\n", "A.\n\nFix.\n", "A.\n\nMore.\n\nFix.\n"), "A.\n\nMore.\n\nFix.\n");
    assert_eq!(
        bodies("A.\n\nZ.\n", "A.\n\nFix.\n\nZ.\n", "A.\n\nMore.\n\nFix.\n\nLast.\n\nZ.\n"),
        "A.\n\nMore.\n\nFix.\n\nLast.\n\nZ.\n"
    );
    assert_eq!(
        bodies("A.\n", "A.\n\nOne.\n\nFix.\n", "A.\n\nFix.\n\nTwo.\n"),
        "A.\n\nOne.\n\nFix.\n\nTwo.\n"
    );
    assert_eq!(bodies("- a\n", "- a\n- x\n- y\n", "- a\n- z\n- x\n"), "- a\n- z\n- x\n- y\n");
    // Before and after blank lines is the same position.
    assert_eq!(
        bodies("A.\n\n\nZ.\n", "A.\n\nFix.\n\n\nZ.\n", "A.\n\n\nMore.\n\nFix.\n\nZ.\n")
            .matches("Fix.")
            .count(),
        1
    );
    // One heading with two different texts.
    assert_eq!(
        bodies("A.\n", "A.\n\n## N\n\nOne.\n", "A.\n\n## N\n\nTwo.\n"),
        "A.\n\n## N\n\nOne.\n\nTwo.\n"
    );
}

#[test]
fn changed_blank_lines_lose_no_text() {
    let blank = |counts: [usize; 3], words: [&str; 2]| {
        let [a, b, c] = counts.map(|count| "\n".repeat(count));
        document("", &format!("A.\n{a}{}{b}{}{c}Z.\n", words[0], words[1]))
    };
    let counts = (0..27).map(|n| [n % 3 + 1, n / 3 % 3, n / 9]);
    let base = blank([4, 0, 0], ["", ""]);
    for one in counts.clone() {
        for other in counts.clone() {
            let merged =
                merged(&base, &blank(one, ["X.\n", "Y.\n"]), &blank(other, ["W.\n", "X.\n"]));
            for word in ["A.", "W.", "X.", "Y.", "Z."] {
                assert!(merged.text.contains(word), "{one:?} {other:?} {}", merged.text);
            }
        }
    }
}

#[test]
fn equal_text_in_two_places_is_kept_twice() {
    let bodies = |one: &str, other: &str| {
        let base = document("", "A.\n");
        let merged = merged(&base, &document("", one), &document("", other));
        merged.text.split_once("---\n\n").unwrap().1.to_owned()
    };
    // Each section keeps its own text.
    assert_eq!(
        bodies("A.\n\n## B\n\nNone.\n", "A.\n\n## C\n\nNone.\n"),
        "A.\n\n## B\n\nNone.\n\n## C\n\nNone.\n"
    );
    // Code and tables are not mixed.
    assert_eq!(
        bodies("A.\n\n```\na\n\nb\n```\n", "A.\n\n```\nc\n\nb\n```\n"),
        "A.\n\n```\na\n\nb\n```\n\n```\nc\n\nb\n```\n"
    );
    assert_eq!(
        bodies("A.\n\n| x |\n|---|\n| 1 |\n", "A.\n\n| x |\n|---|\n| 2 |\n"),
        "A.\n\n| x |\n|---|\n| 1 |\n\n| x |\n|---|\n| 2 |\n"
    );
}

#[test]
fn two_different_answers_conflict_in_place() {
    let answer = |text: &str| {
        document(
            &format!(
                "  open_questions:\n    - question: q\n      answer: {text}\n    - question: r\n"
            ),
            "",
        )
    };
    let base = document("  open_questions:\n    - question: q\n    - question: r\n", "");
    let merged = merged(&base, &answer("yes"), &answer("no"));
    assert_eq!(merged.conflicts, ["open_questions[0].answer"]);
    assert!(
        merged.text.contains(
            "    - question: q\n<<<<<<< one side\n      answer: no\n=======\n      answer: yes\n\
             >>>>>>> the other side\n    - question: r\n"
        ),
        "{}",
        merged.text
    );
}

#[test]
fn conflict_markers_have_different_labels() {
    let side = |by: &str, title: &str| {
        let revisions = format!("  revisions:\n    - at: 2026-03-22T08:00:00Z\n{by}");
        document(&format!("  title: {title}\n{revisions}      reason: r\n"), "")
    };
    let base = document("  title: t\n", "");
    let both = merged(&base, &side("", "a"), &side("", "b")).text;
    for part in [
        "<<<<<<< 2026-03-22T08:00:00Z, one side\n",
        ">>>>>>> 2026-03-22T08:00:00Z, the other side\n",
    ] {
        assert!(both.contains(part), "{part}: {both}");
    }
    let eve = "      by: eve\n";
    let known = merged(&base, &side(eve, "a"), &side("", "b")).text;
    assert!(
        known.contains("> eve, 2026-03-22T08:00:00Z\n")
            || known.contains("< eve, 2026-03-22T08:00:00Z\n")
    );
}

#[test]
fn conflicts_on_one_line_are_reported_once() {
    let meta = |values: &str| document(&format!("  meta: {{{values}}}\n"), "");
    let one_line = merged(&meta("a: 1, b: 2"), &meta("a: 3, b: 4"), &meta("a: 5, b: 6"));
    assert_eq!(one_line.conflicts, ["meta"]);
    let marked = "<<<<<<< one side\n  meta: {a: 3, b: 4}\n=======\n  meta: {a: 5, b: 6}\n>>>>>>>";
    assert!(one_line.text.contains(marked), "{}", one_line.text);

    let deep = |a: u8, b: u8| {
        document(&format!("  meta:\n    x: {{y: {{a: {a}, b: {b}}}}}\n    z: 1\n"), "")
    };
    assert_eq!(merged(&deep(1, 2), &deep(3, 4), &deep(5, 6)).conflicts, ["meta.x.y"]);

    let flow = |title: &str, summary: &str| {
        let header = format!("handoff: {{id: a, title: {title}, context_summary: {summary}}}");
        Document::parse(format!("---\n{header}\n---\n\nText.\n").as_bytes())
    };
    let whole = merged(&flow("t", "s"), &flow("t1", "s1"), &flow("t2", "s2"));
    assert_eq!(whole.conflicts, ["handoff"]);
}

#[test]
fn a_one_line_header_is_merged_as_a_line() {
    let header = |title: &str, other: &str| {
        let header = format!("{{handoff: {{id: a, title: {title}}}, other: {other}}}");
        Document::parse(format!("---\n{header}\n---\n\nText.\n").as_bytes())
    };
    let merged = merged(&header("t", "o"), &header("t1", "o1"), &header("t2", "o2"));
    let marked = "---\n<<<<<<< one side\n{handoff: {id: a, title: t1}, other: o1}\n=======\n\
                  {handoff: {id: a, title: t2}, other: o2}\n>>>>>>>";
    assert!(merged.text.starts_with(marked), "{}", merged.text);
}

#[test]
fn line_endings_of_the_document_are_kept() {
    let document = |fields: &str, body: &str| {
        Document::parse(document(fields, body).text().replace('\n', "\r\n").as_bytes())
    };
    let base = document("  title: t\n  to: [x]\n", "One.");
    let one = document("  title: t1\n  to: [x]\n", "One, mine.\n\nMore.");
    let other = document("  title: t2\n  to: [x] # why\n", "One, theirs.\n\nOther.");
    let conflicted = merged(&base, &one, &other);
    assert_eq!(conflicted.conflicts.len(), 2);
    let added = merged(&base, &document("  to: [x]\n", "One.\n\nA."), &document("", "One.\n\nB."));
    let apart = side_by_side(&one, &other);
    for text in [conflicted.text, added.text, apart.text] {
        assert_eq!(text.matches('\n').count(), text.matches("\r\n").count(), "{text:?}");
    }
}

#[test]
fn comments_of_both_sides_survive() {
    let base = document("  title: t\n  to: [x]\n", "");
    let one = document("  # midstride: allow C005 short\n  title: better\n  to: [x]\n", "");
    let other = document("  title: t\n  to: [x, y] # both\n", "");
    let text = merged(&base, &one, &other).text;
    for part in ["# midstride: allow C005 short\n", "# both\n", "[x, y]", "better"] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

/// The text without its marker lines.
fn mend_by_hand(text: &str) -> String {
    text.split_inclusive('\n').filter(|line| !line.starts_with(['<', '=', '>'])).collect()
}

#[test]
fn an_item_is_removed_from_a_list_with_comments() {
    let landmines = |items: &str, more: &str| document(&format!("  landmines:\n{items}{more}"), "");
    let base = landmines("    # above\n    - a # of a\n    - b # of b\n    # last\n", "");
    // One side changed the list, or both did.
    let one = landmines("    # above\n    - b # of b\n    # last\n", "");
    let title = document(
        "  title: t\n  landmines:\n    # above\n    - a # of a\n    - b # of b\n    # last\n",
        "",
    );
    let both =
        landmines("    # above\n    - a # of a\n    - b # of b\n    - c # of c\n    # last\n", "");
    for (other, added) in [(&title, ""), (&both, "    - c")] {
        let merged = merged(&base, &one, other);
        assert_eq!(merged.conflicts, Vec::<String>::new(), "{}", merged.text);
        let list = "  landmines:\n    # above\n    - b # of b\n";
        assert!(merged.text.contains(list), "{}", merged.text);
        assert!(
            merged.text.contains("    # last\n") && merged.text.contains(added),
            "{}",
            merged.text
        );
        // The comment on `a` is removed with it.
        assert!(!merged.text.contains("of a"), "{}", merged.text);
        assert_eq!(merged.text.contains("of c"), !added.is_empty(), "{}", merged.text);
    }
}

#[test]
fn a_new_comment_survives_the_removal_of_its_entry() {
    let base = document("  landmines:\n    - a\n    - b\n  resolution:\n    pr: x\n", "");
    let without = document("  landmines:\n    - b\n", "");
    let with =
        document("  landmines:\n    - a # new\n    - b\n  resolution:\n    # why\n    pr: x\n", "");
    let merged = merged(&base, &without, &with);
    assert_eq!(merged.conflicts, Vec::<String>::new(), "{}", merged.text);
    assert!(merged.text.contains("  # new\n  landmines:\n    - b\n"), "{}", merged.text);
    assert!(merged.text.contains("  # why\n"), "{}", merged.text);
    assert!(!merged.text.contains("pr: x"), "{}", merged.text);
}

#[test]
fn a_value_with_comments_conflicts_in_place() {
    let state = |value: &str, to: &str| {
        document(&format!("  state:\n    # about it\n    now: {value} # here\n  to: [{to}]\n"), "")
    };
    let other = document("  state: gone\n  to: [x]\n", "");
    let merged = merged(&state("1", "x"), &state("2", "x, y"), &other);
    assert_eq!(merged.conflicts, ["state"], "{}", merged.text);
    for part in ["now: 2 # here\n", "  state: gone\n", "# about it\n", "to: [x, y]\n"] {
        assert_eq!(merged.text.matches(part).count(), 1, "{part}: {}", merged.text);
    }
}

#[test]
fn two_different_handoffs_are_never_merged() {
    let one = document("", "");
    let other = Document::parse(b"---\nhandoff:\n  id: a\n  uid: two\n---\n");
    assert_eq!(merge(None, &one, &other, None), Err(MergeRefusal::TwoHandoffs));
    let both = side_by_side(&one, &other);
    assert_eq!(both, side_by_side(&other, &one));
    assert!(both.text.contains("uid: one") && both.text.contains("uid: two"));
    assert!(has_two_handoffs(&Document::parse(both.text.as_bytes())));
    let left = mend_by_hand(&both.text);
    assert!(!has_two_handoffs(&Document::parse(left.as_bytes())), "{left}");
    let same = side_by_side(&one, &document("  title: t\n", ""));
    assert!(!has_two_handoffs(&Document::parse(same.text.as_bytes())));
}

#[test]
fn the_history_records_both_merged_texts() {
    let entry = |at: &str, reason: &str| {
        format!("    - at: 2026-03-{at}T08:00:00Z\n      reason: {reason}\n      was: aa\n")
    };
    let base = document("", "Text.\n");
    let one = document(&format!("  revisions:\n{}", entry("22", "mine")), "Text, mine.\n");
    let other = document(&format!("  revisions:\n{}", entry("23", "theirs")), "Text.\n\nMore.\n");
    let tips = SideIds { one: &BlobHash::new("11"), other: &BlobHash::new("22") };
    let there = merge(Some(&base), &one, &other, Some(tips)).unwrap();
    let swapped = SideIds { one: &BlobHash::new("22"), other: &BlobHash::new("11") };
    assert_eq!(merge(Some(&base), &other, &one, Some(swapped)).unwrap(), there);
    let history = "  revisions:\n    - at: 2026-03-22T08:00:00Z\n      reason: mine\n      was: aa\n      made: \"11\"\n    - {at: 2026-03-23T08:00:00Z, reason: theirs, was: aa, made: \"22\"}\n    - {at: 2026-03-23T08:00:00Z, verb: merge, reason: merged, joins: [\"11\", \"22\"]}\n";
    assert!(there.text.contains(history), "{}", there.text);
}

#[test]
fn an_unreadable_history_does_not_prevent_the_merge() {
    let base = document("  revisions: odd\n", "");
    let one = document("  revisions: odd\n  created: 2026-03-21T00:00:00Z\n", "");
    let other = document("  revisions: odd\n  title: t\n", "");
    let tips = SideIds { one: &BlobHash::new("11"), other: &BlobHash::new("22") };
    let there = merge(Some(&base), &one, &other, Some(tips)).unwrap();
    assert_eq!(there.conflicts, Vec::<String>::new());
    let read = Document::parse(there.text.as_bytes());
    assert!(read.findings().iter().all(|finding| finding.code.to_string() != "H005"));
}

#[test]
fn reviews_are_renumbered_by_the_merge() {
    let entry = |at: &str, was: &str| {
        format!("    - at: 2026-03-{at}T08:00:00Z\n      reason: r{at}\n      was: {was}\n")
    };
    let base = document("", "Text.\n");
    let one =
        document(&format!("  revisions:\n{}{}", entry("22", "aa"), entry("23", "ab")), "A.\n");
    let review = "  reviews:\n    - at: 2026-03-24T08:00:00Z\n      by: eve\n      challenged: all\n      revision: 2\n";
    let fields = format!("{review}  revisions:\n{}", entry("24", "aa"));
    let other = document(&fields, "Text.\n\nMore.\n");
    let tips = SideIds { one: &BlobHash::new("11"), other: &BlobHash::new("22") };
    let there = merge(Some(&base), &one, &other, Some(tips)).unwrap();
    // The entry that made eve's text is now the third.
    assert!(there.text.contains("      challenged: all\n      revision: 4\n"), "{}", there.text);
}

#[test]
fn anchors_are_merged_individually() {
    let text = |body: &str, anchors: &str| {
        let header = "---\nhandoff:\n  id: a\n  uid: one\n---\n";
        Document::parse(
            format!("{header}{body}\n\n<!-- midstride:anchors 1\n{anchors}-->\n").as_bytes(),
        )
    };
    let base = text("One.\n\nTwo.\n\nThree.", "aa nothing a.rs\nbb nothing b.rs\n");
    let one = text("One, a.rs.\n\nTwo.\n\nThree.", "bb nothing b.rs\ncc nothing a.rs\n");
    let other =
        text("One.\n\nTwo.\n\nThree d.rs.", "aa nothing a.rs\nbb nothing b.rs\ndd nothing d.rs\n");
    let merged = merge(Some(&base), &one, &other, None).unwrap();
    assert_eq!(merged.conflicts, Vec::<String>::new());
    assert_eq!(merge(Some(&base), &other, &one, None).unwrap(), merged);
    let end = "Three d.rs.\n\n<!-- midstride:anchors 1\ncc nothing a.rs\nbb nothing b.rs\ndd nothing d.rs\n-->\n";
    assert!(merged.text.ends_with(end), "{}", merged.text);
    let conflicting = merge(Some(&base), &one, &text("One!\n\nTwo.\n\nThree.", ""), None).unwrap();
    assert_eq!(conflicting.conflicts.len(), 1);
    assert!(
        conflicting.text.ends_with("-->\n")
            && conflicting.text.matches("midstride:anchors").count() == 1
    );
}
