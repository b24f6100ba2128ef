//! Renders what midstride stores.

use super::{sanitize, size};
use crate::json::JsonAnswer;
use midstride::verbs::{DataReport, StoredData};
use midstride::workspace::user_settings::Retention;
use serde::Serialize;

/// The listing for users.
pub fn text(report: &DataReport) -> String {
    let mut out = String::new();
    for project in &report.projects {
        out.push_str(&format!("{}\n", sanitize(&project.folder.display().to_string())));
        match &project.stored {
            Ok(stored) if stored.is_empty() => out.push_str("  nothing\n"),
            Ok(stored) => out.push_str(&lines(stored)),
            Err(why) => out.push_str(&format!("  cannot be read: {}\n", sanitize(why))),
        }
    }
    if report.projects.is_empty() {
        out.push_str("No repository has midstride data.\n");
    }
    if !report.user.is_empty() {
        out.push_str("For this user\n");
        out.push_str(&lines(&report.user));
    }
    let kept = match report.retention {
        Retention::Forever => "until you delete them".to_owned(),
        days @ Retention::Days(_) => format!("for {days} after their last capture"),
    };
    out.push_str(&format!("Captured sessions are kept {kept} (capture.retention).\n"));
    out
}

fn lines(stored: &[StoredData]) -> String {
    let width = stored.iter().map(|one| one.kind.len()).max().unwrap_or_default();
    let line = |one: &StoredData| {
        let oldest = one
            .oldest
            .map_or_else(String::new, |oldest| format!("  oldest {}", oldest.strftime("%Y-%m-%d")));
        let path = sanitize(&one.path.display().to_string());
        format!("  {:width$}  {:>4}  {:>9}{oldest}  {path}\n", one.kind, one.count, size(one.bytes))
    };
    stored.iter().map(line).collect()
}

/// The result of `midstride data --json`.
#[derive(Serialize)]
pub struct DataJson {
    projects: Vec<ProjectDataJson>,
    user: Vec<StoredDataJson>,
    /// In days; null if sessions are kept until they are deleted.
    retention_days: Option<u32>,
}

impl JsonAnswer for DataJson {
    const SCHEMA: &'static str = "data/1";
}

#[derive(Serialize)]
struct ProjectDataJson {
    folder: String,
    stored: Vec<StoredDataJson>,
    error: Option<String>,
}

#[derive(Serialize)]
struct StoredDataJson {
    kind: &'static str,
    count: usize,
    bytes: u64,
    oldest: Option<String>,
    path: String,
}

/// The JSON for what is stored.
pub fn json(report: &DataReport) -> DataJson {
    let projects = report.projects.iter().map(|project| ProjectDataJson {
        folder: project.folder.display().to_string(),
        stored: project.stored.as_ref().map_or_else(|_| Vec::new(), |stored| stored_json(stored)),
        error: project.stored.as_ref().err().cloned(),
    });
    let retention_days = match report.retention {
        Retention::Forever => None,
        Retention::Days(days) => Some(days),
    };
    DataJson { projects: projects.collect(), user: stored_json(&report.user), retention_days }
}

fn stored_json(stored: &[StoredData]) -> Vec<StoredDataJson> {
    let one = |one: &StoredData| StoredDataJson {
        kind: one.kind,
        count: one.count,
        bytes: one.bytes,
        oldest: one.oldest.map(|oldest| oldest.to_string()),
        path: one.path.display().to_string(),
    };
    stored.iter().map(one).collect()
}
