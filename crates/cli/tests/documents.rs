//! Tests with the external corpus: its documents are read without a panic, give no errors without a
//! header, are stable under a second `fmt`, and become handoffs without loss.

use crate::sandbox;
use midstride_core::format::document::Document;
use midstride_core::format::finding::{Finding, Severity};
use midstride_core::format::stage::Stages;
use midstride_core::handoff::check::{StandaloneContext, check};
use midstride_core::handoff::timeline;
use midstride_core::handoff::trust::Trust;
use midstride_core::handoff::{Handoff, Location};
use midstride_core::text::redact::CleanText;
use midstride_core::text::time;
use midstride_testkit::{Sandbox, corpus, fixtures, markdown_below};
use std::path::Path;

fn holds(path: &Path) {
    let bytes = std::fs::read(path).unwrap();
    let document = Document::parse(&bytes);
    let (whereabouts, stages) = (Location::default(), Stages::shipped());
    let handoff = Handoff::new(&document, &whereabouts, &stages);
    let verdict = check(&handoff, &stages, None, &StandaloneContext);
    if document.is_exact() {
        assert_eq!(document.render().as_bytes(), bytes, "{}", path.display());
    }
    if !handoff.is_handoff() {
        assert_eq!(verdict.count(Severity::Error), 0, "{}: {verdict:?}", path.display());
    }
    let trust = Trust::from_handoff(&handoff, time::Time::parse("2026-03-21").unwrap().moment);
    let moments = timeline::entries(&handoff);
    assert!(moments.len() > trust.revisions, "{}: {moments:?}", path.display());
    if let Ok(once) = document.format() {
        assert_eq!(once.format().unwrap().text(), once.text(), "{}", path.display());
    }
}

#[test]
#[ignore = "needs MIDSTRIDE_CORPUS"]
fn corpus_handoffs_are_read() {
    let folder = corpus("handoffs");
    let documents = markdown_below(&folder);
    assert!(documents.len() >= 100, "the corpus has {} documents", documents.len());
    for path in &documents {
        holds(path);
    }
}

#[test]
fn fixture_documents_are_read() {
    for folder in ["good", "broken", "old-versions", "findings"] {
        let documents = markdown_below(&fixtures(folder));
        assert!(!documents.is_empty(), "{folder}");
        for path in &documents {
            holds(path);
        }
    }
}

/// Turns a note into a handoff and checks that all of the note is in it.
fn becomes_a_handoff(sandbox: &Sandbox, path: &Path, id: &str) {
    let note = std::fs::read(path).unwrap();
    if Document::parse(&note).handoff_header().is_some() || std::str::from_utf8(&note).is_err() {
        return;
    }
    sandbox.write("note.md", &note);
    sandbox.run(["new", "--from", "note.md", "--id", id, "--committed"]).exits(0);
    let text = sandbox.read(&format!(".midstride/handoffs/{id}.md"));
    // A note of the corpus may contain a secret; only that is omitted.
    let (note, _) = CleanText::redact(std::str::from_utf8(&note).unwrap());
    let mut lines = text.lines();
    for line in note.as_str().trim_start_matches('\u{feff}').lines() {
        assert!(lines.any(|other| other == line), "{}: lost `{line}`", path.display());
    }
    let document = Document::parse(text.as_bytes());
    assert!(document.handoff_header().is_some(), "{}", path.display());
    let error = |finding: &Finding| finding.code.rule().severity == Severity::Error;
    let wrong: Vec<&Finding> = document.findings().iter().filter(|f| error(f)).collect();
    assert!(wrong.is_empty(), "{}: {wrong:?}", path.display());
    let json = sandbox.run(["check", id, "--json"]).stdout;
    let of_form = json.lines().filter(|line| line.contains("\"code\": \"H0"));
    assert_eq!(of_form.collect::<Vec<_>>(), Vec::<&str>::new(), "{}: {json}", path.display());
}

#[test]
#[ignore = "needs MIDSTRIDE_CORPUS"]
fn corpus_notes_become_handoffs_without_losing_a_line() {
    let folder = corpus("handoffs");
    let sandbox = sandbox();
    sandbox.as_user().run(["init"]).exits(0);
    for (number, path) in markdown_below(&folder).iter().enumerate() {
        becomes_a_handoff(&sandbox, path, &format!("note-{number}"));
    }
}

#[test]
#[ignore = "needs MIDSTRIDE_CORPUS"]
fn corpus_handoffs_are_connected() {
    let folder = corpus("handoffs");
    let sandbox = sandbox();
    sandbox.as_user().run(["init"]).exits(0);
    for path in &markdown_below(&folder) {
        let below = path.strip_prefix(&folder).unwrap();
        let bytes = std::fs::read(path).unwrap();
        sandbox.write(&format!("docs/handoffs/{}", below.display()), bytes);
    }
    let json = |arguments: &[&str]| -> serde_json::Value {
        serde_json::from_str(&sandbox.run(arguments).exits(0).stdout).unwrap()
    };
    let (graph, list) = (
        json(&["list", "--graph", "--all", "--json"]),
        json(&["list", "--all", "--json"])["items"].clone(),
    );
    let count = |list: &serde_json::Value| list.as_array().unwrap().len();
    assert_eq!(count(&graph["nodes"]), count(&list));
    assert!(count(&list) > 90 && count(&graph["edges"]) > 0);
    sandbox.run(["list", "--graph", "--all"]).exits(0);
    sandbox.run(["list", "--graph", "--all", "--format", "mermaid"]).exits(0);
}

#[test]
fn fixture_notes_become_handoffs_without_losing_a_line() {
    let sandbox = sandbox();
    sandbox.as_user().run(["init"]).exits(0);
    let folders = ["good", "broken", "old-versions", "findings"];
    let documents = folders.iter().flat_map(|folder| markdown_below(&fixtures(folder)));
    for (number, path) in documents.enumerate() {
        becomes_a_handoff(&sandbox, &path, &format!("note-{number}"));
    }
}
