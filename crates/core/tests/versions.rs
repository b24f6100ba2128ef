//! Checks that documents of every format version stay readable.

use midstride_core::format::document::{Document, FORMAT_VERSION};
use midstride_core::format::finding::Severity;
use midstride_core::format::stage::Stages;
use midstride_core::handoff::check::{StandaloneContext, check};
use midstride_core::handoff::{Handoff, Location};
use midstride_testkit::{fixtures, markdown_below};

#[test]
fn every_format_version_is_readable() {
    for version in 1..=FORMAT_VERSION {
        let documents = markdown_below(&fixtures("old-versions").join(version.to_string()));
        assert!(!documents.is_empty(), "there is a fixture of version {version}");
        for path in documents {
            let document = Document::parse(&std::fs::read(&path).unwrap());
            let (whereabouts, stages) = (Location::default(), Stages::shipped());
            let handoff = Handoff::new(&document, &whereabouts, &stages);
            assert!(handoff.is_handoff(), "{}", path.display());
            assert!(handoff.title().is_some() && !handoff.decisions().is_empty());
            let verdict = check(&handoff, &stages, None, &StandaloneContext);
            assert_eq!(verdict.count(Severity::Error), 0, "{}: {verdict:?}", path.display());
        }
    }
}
