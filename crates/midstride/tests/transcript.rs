//! Builds Claude Code transcripts record by record.

use serde_json::{Value, json};
use std::path::Path;

/// A session that works in a folder.
pub(crate) struct Transcript {
    id: String,
    folder: String,
    branch: String,
    day: u32,
    records: Vec<(&'static str, Value)>,
}

impl Transcript {
    pub(crate) fn of(id: &str, folder: &Path) -> Self {
        let (id, folder) = (id.to_owned(), folder.display().to_string());
        Self { id, folder, branch: "main".to_owned(), day: 21, records: Vec::new() }
    }

    /// Sets the day of March 2026 and the branch.
    pub(crate) fn on(self, day: u32, branch: &str) -> Self {
        Self { day, branch: branch.to_owned(), ..self }
    }

    pub(crate) fn user(mut self, text: &str) -> Self {
        self.records.push(("user", json!(text)));
        self
    }

    pub(crate) fn says(mut self, text: &str) -> Self {
        self.records.push(("assistant", json!([{"type": "text", "text": text}])));
        self
    }

    fn calls(mut self, name: &str, input: &Value, output: &str, failed: bool) -> Self {
        let id = format!("call-{}", self.records.len());
        let call = json!([{"type": "tool_use", "id": id, "name": name, "input": input}]);
        let result = json!([{
            "type": "tool_result", "tool_use_id": id, "content": output, "is_error": failed
        }]);
        self.records.extend([("assistant", call), ("user", result)]);
        self
    }

    pub(crate) fn runs(self, command: &str, output: &str, failed: bool) -> Self {
        self.calls("Bash", &json!({"command": command}), output, failed)
    }

    /// Writes a file in the folder.
    pub(crate) fn edits(self, path: &str) -> Self {
        let whole = Path::new(&self.folder).join(path);
        self.calls("Write", &json!({"file_path": whole, "content": "x"}), "ok", false)
    }

    pub(crate) fn text(&self) -> String {
        let name = |number: usize| format!("{}-{number}", self.id);
        let record = |(number, (role, content)): (usize, &(&str, Value))| {
            let record = json!({
                "type": role,
                "uuid": name(number),
                "parentUuid": number.checked_sub(1).map(name),
                "sessionId": self.id,
                "cwd": self.folder,
                "gitBranch": self.branch,
                "timestamp": format!("2026-03-{:02}T08:{number:02}:00.000Z", self.day),
                "message": {"role": role, "content": content},
            });
            format!("{record}\n")
        };
        self.records.iter().enumerate().map(record).collect()
    }
}
