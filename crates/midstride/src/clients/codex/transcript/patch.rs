//! Parses Codex patches into file changes.

use super::{absolute_path, unknown_write};
use crate::clients::lenient::{OneOrMany, Scalar};
use midstride_core::session::{ToolFileChange, hash};
use serde::Deserialize;
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// Returns the changes that the text of a patch asks for.
pub(super) fn parse_patch(text: &str, cwd: &str) -> Vec<ToolFileChange> {
    let mut changes: Vec<ToolFileChange> = Vec::new();
    let mut hunk = PatchHunk::default();
    for line in text.lines() {
        let named =
            |mark: &str| line.strip_prefix(mark).map(|path| absolute_path(path.trim(), cwd));
        if let Some(path) = named("*** Add File: ") {
            hunk.close(&mut changes);
            changes.push(unknown_write(path));
        } else if let Some(path) = named("*** Update File: ") {
            hunk.close(&mut changes);
            changes.push(ToolFileChange::Edit { path, parts: Vec::new() });
        } else if let Some(path) = named("*** Delete File: ") {
            hunk.close(&mut changes);
            changes.push(ToolFileChange::Delete { path });
        } else if let Some(path) = named("*** Move to: ") {
            if let Some(ToolFileChange::Edit { path: from, .. }) = changes.last().cloned() {
                changes.push(ToolFileChange::Delete { path: from });
                changes.push(unknown_write(path));
            }
        } else if line.starts_with("@@") || line.starts_with("*** End") {
            hunk.close(&mut changes);
        } else {
            hunk.take(line);
        }
    }
    hunk.close(&mut changes);
    changes
}

/// The lines that a patch removes and adds.
#[derive(Default)]
struct PatchHunk {
    old: String,
    new: String,
}

impl PatchHunk {
    fn take(&mut self, line: &str) {
        let (side, line) = match (line.strip_prefix('+'), line.strip_prefix('-')) {
            (Some(line), _) => (&mut self.new, line),
            (None, Some(line)) => (&mut self.old, line),
            (None, None) => return,
        };
        side.push_str(line);
        side.push('\n');
    }

    fn close(&mut self, changes: &mut [ToolFileChange]) {
        let Self { old, new } = std::mem::take(self);
        match changes.last_mut() {
            Some(ToolFileChange::Write { content: content @ None, .. }) if !new.is_empty() => {
                *content =
                    Some((hash(new.as_bytes()), u64::try_from(new.len()).unwrap_or_default()));
            }
            Some(ToolFileChange::Edit { parts, .. }) if !(old.is_empty() && new.is_empty()) => {
                parts.push((hash(old.as_bytes()), hash(new.as_bytes())));
            }
            _ => {}
        }
    }
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct CodexFileChange<'a> {
    #[serde(borrow)]
    r#type: Scalar<'a>,
    #[serde(borrow)]
    content: Scalar<'a>,
    #[serde(borrow)]
    unified_diff: Scalar<'a>,
    #[serde(borrow)]
    move_path: Scalar<'a>,
}

/// Returns the changes that the client reports it made.
pub(super) fn parse_changes(changes: Option<&RawValue>) -> Vec<ToolFileChange> {
    let Some(changes) = changes else { return Vec::new() };
    let read: Result<BTreeMap<Cow<'_, str>, OneOrMany<'_, CodexFileChange<'_>>>, _> =
        serde_json::from_str(changes.get());
    let mut found = Vec::new();
    for (path, change) in read.unwrap_or_default() {
        let change = change.one().unwrap_or_default();
        let path = path.into_owned();
        match change.r#type.text() {
            Some("add") => {
                let content = change.content.text().map(|text| {
                    (hash(text.as_bytes()), u64::try_from(text.len()).unwrap_or_default())
                });
                found.push(ToolFileChange::Write { path, content });
            }
            Some("delete") => found.push(ToolFileChange::Delete { path }),
            Some(_) | None => {
                let mut hunk = PatchHunk::default();
                let mut edit = [ToolFileChange::Edit { path: path.clone(), parts: Vec::new() }];
                for line in change.unified_diff.text().unwrap_or_default().lines() {
                    if line.starts_with("@@") {
                        hunk.close(&mut edit);
                    } else if !line.starts_with("+++ ") && !line.starts_with("--- ") {
                        hunk.take(line);
                    }
                }
                hunk.close(&mut edit);
                found.extend(edit);
                if let Some(to) = change.move_path.text() {
                    found.push(ToolFileChange::Delete { path });
                    found.push(unknown_write(to.to_owned()));
                }
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_patch_lists_the_files_it_changes() {
        let text = "*** Begin Patch\n*** Add File: docs/a.md\n+# A\n+b\n*** Update File: src/x.rs\n@@\n-old\n+new\n*** Move to: src/y.rs\n*** Delete File: /tmp/z\n*** End Patch";
        let changes = parse_patch(text, "/home/dev/shop");
        let paths: Vec<&str> = changes.iter().map(ToolFileChange::path).collect();
        let base = "/home/dev/shop";
        assert_eq!(
            paths,
            [
                format!("{base}/docs/a.md"),
                format!("{base}/src/x.rs"),
                format!("{base}/src/x.rs"),
                format!("{base}/src/y.rs"),
                "/tmp/z".to_owned()
            ]
        );
        assert_eq!(
            changes[0],
            ToolFileChange::Write {
                path: format!("{base}/docs/a.md"),
                content: Some((hash(b"# A\nb\n"), 6))
            }
        );
    }

    #[test]
    fn requested_and_reported_changes_are_equal() {
        let asked = parse_patch("*** Update File: a\n@@\n-one\n+two\n", "/r");
        let raw = r#"{"/r/a":{"type":"update","unified_diff":"@@ -1 +1 @@\n-one\n+two\n"}}"#;
        let raw: Box<RawValue> = serde_json::from_str(raw).unwrap();
        assert_eq!(parse_changes(Some(&raw)), asked);
    }
}
