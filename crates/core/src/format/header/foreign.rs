//! Maps header fields to the front matter keys of other tools.

/// The keys that other tools use for a field.
pub(super) fn foreign_names(field: &str) -> &'static [&'static str] {
    match field {
        "id" => &["id", "slug"],
        "title" => &["title", "topic", "subject", "name"],
        "description" => &["description", "summary"],
        "status" => &["status", "state"],
        "from" => &["from", "author", "researcher", "agent"],
        "created" => &["created", "date", "created_at", "timestamp"],
        "updated" => &["updated", "last_updated", "updated_at"],
        "at_commit" => &["at_commit", "git_commit", "commit"],
        _ => &[],
    }
}
