//! Recognizes a draft that `midstride new` wrote and that its author has not started. It gets one
//! finding that names what to fill in, instead of one for each empty part.

use super::{header_key_span, required};
use crate::format::finding::{Code, Finding};
use crate::format::header::Header;
use crate::format::skeleton::skeleton;
use crate::format::stage::Stages;
use crate::handoff::Handoff;
use crate::text::id::HandoffId;
use crate::text::yaml::YamlNode;

/// The fields that midstride fills in, or that an argument of `new` does. None of them shows that
/// the author started to write.
const WRITTEN_FIELDS: [&str; 15] = [
    "format",
    "id",
    "uid",
    "title",
    "description",
    "kind",
    "stage",
    "status",
    "from",
    "to",
    "created",
    "at_commit",
    "dependencies",
    "state",
    "revisions",
];

/// The finding for an untouched draft. `None` for any other document.
pub(super) fn check(handoff: &Handoff<'_>, stages: &Stages) -> Option<Finding> {
    if !is_untouched(handoff) {
        return None;
    }
    let fields = required::unfilled_fields(handoff, stages);
    let fields = fields.iter().map(|field| format!("`{field}`"));
    let sections = handoff.document().sections().iter();
    let sections = sections.map(|section| section.title.value.trim().to_owned());
    let parts: Vec<String> = fields.chain(sections).collect();
    let (last, before) = parts.split_last()?;
    let parts = match before {
        [] => last.clone(),
        before => format!("{} and {last}", before.join(", ")),
    };
    let at = handoff.node("context_summary").map_or(header_key_span(handoff), |node| node.at);
    let message = format!("this draft is untouched: fill in {parts}");
    let finding = Finding::new(Code::UntouchedDraft, at, message);
    let key = handoff.key();
    let mut names = std::iter::once(&key.id).chain(&key.stage);
    let can_be_typed = names.all(|name| HandoffId::parse(name).is_ok());
    Some(match can_be_typed {
        true => finding.with_command(["midstride", "edit", &key.to_string()]),
        false => finding,
    })
}

/// Whether the document is open and has only what `midstride new` wrote: the skeleton, no summary,
/// and no entry in any list. A comment in the header, such as `allow`, is a change too.
fn is_untouched(handoff: &Handoff<'_>) -> bool {
    let Some(header) = handoff.header().filter(|header| header.comments.is_empty()) else {
        return false;
    };
    let document = handoff.document();
    let body = document.body().slice(document.text());
    handoff.status().is_open()
        && body.trim().lines().eq(skeleton(handoff.kind()).trim().lines())
        && has_only_written_fields(header)
}

fn has_only_written_fields(header: &Header) -> bool {
    let fields = header.fields();
    let is_unfilled = |name: &str, node: &YamlNode| {
        WRITTEN_FIELDS.contains(&name) || required::has_no_value(node)
    };
    fields.get("uid").is_some()
        && fields.get("context_summary").is_some()
        && fields.entries().iter().all(|entry| is_unfilled(&entry.key.value, &entry.node))
}

#[cfg(test)]
mod tests {
    use crate::format::document::Document;
    use crate::format::header::HandoffKind;
    use crate::format::skeleton::skeleton;
    use crate::format::stage::Stages;
    use crate::handoff::check::{StandaloneContext, check};
    use crate::handoff::{Handoff, Location};

    const HEADER: &str = "---
handoff:
  format: 1
  id: slow
  uid: 01a1eec1-6c4b-7266-b28d-57d5e26c1629
  title: Search is slow
  kind: investigation
  status: planned
  created: 2026-03-21T17:24:00Z
  context_summary:
---
";

    /// The findings of a text, as `CODE message`.
    fn findings(text: &str) -> Vec<String> {
        let document = Document::parse(text.as_bytes());
        let (location, stages) = (Location::default(), Stages::shipped());
        let handoff = Handoff::new(&document, &location, &stages);
        let found = check(&handoff, &stages, None, &StandaloneContext).findings;
        found.iter().map(|finding| format!("{} {}", finding.code, finding.message)).collect()
    }

    fn draft(kind: HandoffKind) -> String {
        let header = HEADER.replace("investigation", kind.word());
        format!("{header}\n{}", skeleton(kind))
    }

    #[test]
    fn an_untouched_draft_gets_one_finding_that_names_what_to_fill_in() {
        assert_eq!(
            findings(&draft(HandoffKind::Investigation)),
            [
                "C014 this draft is untouched: fill in `context_summary`, Diagnosis, Root causes, Plan and Continuation"
            ]
        );
        assert_eq!(
            findings(&draft(HandoffKind::Session)),
            ["C014 this draft is untouched: fill in `context_summary`, State and Continuation"]
        );
        let stage = draft(HandoffKind::Stage).replace(
            "  context_summary:\n",
            "  stage: pricing\n  from: a\n  to: [b]\n  context_summary:\n  decisions_made: []\n  assumptions: []\n",
        );
        assert_eq!(
            findings(&stage),
            ["C014 this draft is untouched: fill in `context_summary` and `decisions_made`"]
        );
    }

    #[test]
    fn a_draft_that_was_started_is_checked_in_full() {
        let text = draft(HandoffKind::Investigation);
        let is_draft = |text: &str| findings(text).iter().any(|one| one.starts_with("C014"));
        for (from, to) in [
            ("  context_summary:\n", "  context_summary: Every search reads all rows\n"),
            ("  context_summary:\n", "  context_summary:\n  wrong_turns: [{tried: An index}]\n"),
            ("  context_summary:\n", ""),
            ("  status: planned\n", "  status: abandoned\n"),
            ("handoff:\n", "# midstride: allow C007 to come\nhandoff:\n"),
            ("<!-- Where to start. -->", "Start with the query."),
            ("## Plan\n", "## Steps\n"),
        ] {
            assert!(text.contains(from), "{from}");
            assert!(!is_draft(&text.replace(from, to)), "{to}");
        }
        assert!(is_draft(&text.replace("planned", "in_progress")));
        assert!(is_draft(&text.replace('\n', "\r\n")), "line endings do not matter");
    }

    #[test]
    fn comments_of_the_skeleton_are_no_content() {
        let text = draft(HandoffKind::Investigation)
            .replace("  context_summary:\n", "  context_summary: Every search reads all rows\n");
        assert_eq!(
            findings(&text),
            ["C007 4 sections are empty: Diagnosis, Root causes, Plan and Continuation"]
        );
    }
}
