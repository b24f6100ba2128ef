//! A change that was recorded.

use midstride::journal::Recorded;
use midstride::project::{Project, Shelved};
use midstride::verbs::Imported;
use midstride_core::handoff::Handoff;
use serde::Serialize;

#[derive(Serialize)]
pub(crate) struct RecordedJson {
    key: String,
    path: String,
    revision: usize,
    reason: String,
    outside: bool,
    redacted: Vec<String>,
    untold: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tasks: Option<super::task::ImportedJson>,
    #[serde(skip_serializing_if = "Option::is_none")]
    findings: Option<Vec<super::findings::FindingJson>>,
}

impl RecordedJson {
    /// With the tasks that came along.
    pub(crate) fn with_tasks(self, imported: &Imported) -> Self {
        Self { tasks: Some(super::task::imported(imported)), ..self }
    }

    /// With what is wrong with the new text.
    pub(crate) fn with_findings(self, findings: Vec<super::findings::FindingJson>) -> Self {
        Self { findings: Some(findings), ..self }
    }
}

pub(crate) fn json(
    project: &Project,
    shelved: &Shelved,
    recorded: &Recorded,
    reason: &str,
) -> RecordedJson {
    RecordedJson {
        key: shelved.handoff(project).key().to_string(),
        path: shelved.path.display().to_string(),
        revision: recorded.revision,
        reason: reason.to_owned(),
        outside: recorded.outside,
        redacted: recorded.redacted.iter().map(|secret| secret.kind.to_string()).collect(),
        untold: recorded.untold.clone(),
        tasks: None,
        findings: None,
    }
}

/// That what was changed has ended.
pub(crate) fn ended(handoff: &Handoff<'_>) -> Option<String> {
    let (key, status) = (handoff.key(), handoff.status());
    let told = || format!("`{key}` is {status}: it has ended, and this does not take it up again");
    (!status.is_open()).then(told)
}
