//! Tests that keep generated pages up to date and run the samples in the documentation.

use crate::sandbox;
use midstride_core::format::document::Document;
use midstride_testkit::{assert_page, repository_root};

#[test]
fn the_command_line_page_is_up_to_date() {
    let run = sandbox().run(["reference", "cli"]).exits(0);
    assert_page("docs/cli.md", &run.stdout);
}

#[test]
fn the_findings_page_is_up_to_date() {
    let run = sandbox().run(["reference", "findings"]).exits(0);
    assert_page("docs/findings.md", &run.stdout);
}

/// The code blocks of a page in this language.
fn samples(page: &str, language: &str) -> Vec<String> {
    let fence = format!("\n````{language}\n");
    page.split(&fence)
        .skip(1)
        .map(|rest| format!("{}\n", rest.split("\n````").next().unwrap_or_default()))
        .collect()
}

#[test]
fn the_samples_of_the_format_are_valid() {
    let page = std::fs::read_to_string(repository_root().join("docs/format.md")).unwrap();
    let strict = samples(&page, "markdown");
    assert!(strict.len() >= 2, "the page has samples in the strict form");
    for sample in strict {
        let document = Document::parse(sample.as_bytes());
        assert!(document.handoff_header().is_some(), "{sample}");
        assert!(document.findings().is_empty(), "{:?}\n{sample}", document.findings());
        assert_eq!(document.render(), sample);
        assert_eq!(document.format().unwrap().text(), sample, "a sample is in the strict form");
    }
    let loose = samples(&page, "markdown loose");
    assert!(!loose.is_empty(), "the page shows what is read leniently");
    for sample in loose {
        let document = Document::parse(sample.as_bytes());
        let mended = document.format().unwrap();
        assert_ne!(mended.text(), sample, "a loose sample changes");
        assert!(mended.findings().is_empty(), "{:?}\n{sample}", mended.findings());
    }
}

#[test]
fn every_field_of_the_format_is_in_its_page() {
    let page = std::fs::read_to_string(repository_root().join("docs/format.md")).unwrap();
    for field in midstride_core::format::header::HANDOFF.fields {
        assert!(
            page.contains(&format!("`{}`", field.name)),
            "docs/format.md lacks `{}`",
            field.name
        );
    }
}
