//! Other people's documents: read without a panic, never an error where there is no header, and
//! left alone by a second `fmt`.

use midstride_core::check::{Alone, check};
use midstride_core::document::Document;
use midstride_core::finding::Severity;
use midstride_core::handoff::{Handoff, Whereabouts};
use midstride_core::stage::Stages;
use midstride_core::trust::Trust;
use midstride_core::{story, time};
use midstride_testkit::{corpus, fixtures, markdown_below};
use std::path::Path;

fn holds(path: &Path) {
    let bytes = std::fs::read(path).unwrap();
    let document = Document::parse(&bytes);
    let (whereabouts, stages) = (Whereabouts::default(), Stages::shipped());
    let handoff = Handoff::of(&document, &whereabouts, &stages);
    let verdict = check(&handoff, &stages, None, &Alone);
    if document.is_exact() {
        assert_eq!(document.render().as_bytes(), bytes, "{}", path.display());
    }
    if !handoff.is_handoff() {
        assert_eq!(verdict.count(Severity::Error), 0, "{}: {verdict:?}", path.display());
    }
    let trust = Trust::of(&handoff, time::Time::read("2026-03-21").unwrap().moment);
    let moments = story::moments(&handoff);
    assert!(moments.len() > trust.revisions, "{}: {moments:?}", path.display());
    if let Ok(once) = document.format() {
        assert_eq!(once.format().unwrap().text(), once.text(), "{}", path.display());
    }
}

#[test]
fn foreign_handoffs_are_read() {
    let Some(folder) = corpus("handoffs") else { return };
    let documents = markdown_below(&folder);
    assert!(documents.len() >= 100, "the corpus has {} documents", documents.len());
    for path in &documents {
        holds(path);
    }
}

#[test]
fn our_own_documents_of_the_same_kinds_are_read() {
    for folder in ["good", "broken", "old-versions", "findings"] {
        let documents = markdown_below(&fixtures(folder));
        assert!(!documents.is_empty(), "{folder}");
        for path in &documents {
            holds(path);
        }
    }
}
