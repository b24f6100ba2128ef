//! The machine-readable state of a session, stored under `state` in the header of its handoff.
//!
//! An entry that comes from a record names that record, and is rewritten whenever the session is
//! read again. Entries without a record and unknown keys belong to the author and stay.

use super::{
    ActualContent, ArtifactState, Checkpoint, CheckpointArtifact, CheckpointContext,
    ExpectedContent,
};
use crate::session::{Agent, AgentState, PlanState, Provenance, Request};
use crate::text::id::{BlobHash, CommitId};
use crate::text::time;
use crate::text::yaml::YamlData;
use std::path::Path;

/// The maximum number of entries per list. The rest is counted under `left_out`; the checkpoint has
/// all of them.
const ENTRIES_MAX: usize = 30;
/// The maximum length of a text. The checkpoint has the rest.
const TEXT_LENGTH_MAX: usize = 300;
/// The key that marks an entry as coming from a record.
const RECORD: &str = "record";
/// The key of the plan documents.
const PLANS: &str = "plans";
/// Keys that are facts as a whole: outdated ones are removed.
const FACTS: [(&str, &[&str]); 3] = [
    (
        "environment",
        &[
            "folder",
            "model",
            "client_version",
            "branch",
            "commit",
            "observed_at",
            "late",
            "context_percent",
        ],
    ),
    ("recovery", &["client", "session", "checkpoint", "last_record"]),
    (
        "left_out",
        &["skills", "subagents", "goals", "decisions", "corrections", "artifacts", "in_flight"],
    ),
];

type Entries = Vec<(String, YamlData)>;

impl Checkpoint {
    /// Builds the state of the session. `blob` names the stored checkpoint. Paths below one of
    /// `tops` become relative to it.
    pub fn state(&self, blob: Option<&BlobHash>, tops: &[&Path]) -> YamlData {
        let mut left_out = Entries::new();
        let mut bounded =
            |name: &str, entries: Vec<YamlData>| newest_entries(name, entries, &mut left_out);
        let session = &self.session;
        let skills = bounded(
            "skills",
            session
                .skills
                .iter()
                .filter(|skill| !self.is_abandoned(&skill.seen))
                .map(|skill| {
                    let arguments = optional_text(
                        "arguments",
                        Some(skill.arguments.as_str()).filter(|a| !a.is_empty()),
                    );
                    entry([Some(("name", truncated_line(&skill.name))), arguments], &skill.seen)
                })
                .collect(),
        );
        let subagents = bounded("subagents", self.agents());
        let goals = bounded("goals", self.goals());
        let decisions = bounded("decisions", self.decisions(tops));
        let corrections = bounded("corrections", self.corrections());
        let artifacts = bounded("artifacts", self.changed(tops));
        let calls = self.in_flight.iter().filter(|call| !self.is_abandoned(&call.seen));
        let calls =
            calls.map(|call| entry([Some(("tool", truncated_line(&call.tool)))], &call.seen));
        let calls = bounded("in_flight", calls.collect());
        let last_words =
            session.last_words.as_ref().map(|words| ("last_words", truncated_line(&words.text)));
        let conversation = [("corrections", corrections)].into_iter().chain(last_words);
        let mut state = vec![
            ("skill_stack", YamlData::map([("skills", skills)])),
            ("subagents", subagents),
            ("workflow", YamlData::map([("in_flight", calls)])),
            ("goals", goals),
            ("documents", self.documents(tops)),
            ("decisions", decisions),
            ("conversation", YamlData::map(conversation)),
            ("artifacts", artifacts),
            ("environment", self.environment(tops)),
            ("recovery", self.recovery(blob)),
        ];
        state.extend((!left_out.is_empty()).then_some(("left_out", YamlData::Map(left_out))));
        YamlData::map(state)
    }

    /// Plan documents in the project that the session worked with, without those that the user
    /// rejected.
    pub fn must_read(&self, tops: &[&Path]) -> Vec<String> {
        let mut paths = Vec::new();
        let plans = self
            .session
            .plans
            .iter()
            .filter(|plan| plan.state != PlanState::Rejected && !self.is_abandoned(&plan.seen));
        for path in plans.filter_map(|plan| plan.path.as_deref()) {
            let path = relative_path(path, tops);
            if !Path::new(&path).is_absolute() && !paths.contains(&path) {
                paths.push(path);
            }
        }
        paths
    }

    fn goals(&self) -> Vec<YamlData> {
        let session = &self.session;
        let asked = session.requests.iter().filter(|request| request.correction.is_none());
        let asked = asked.filter(|request| !self.is_abandoned(&request.seen));
        let asked = asked
            .map(|Request { seen, text, .. }| entry([Some(("goal", truncated_line(text)))], seen));
        let queued = session.queued.iter().filter(|queued| !queued.text.starts_with('<'));
        let queued = queued.map(|queued| {
            let reached = ("reached", YamlData::flag(false));
            entry([Some(("goal", truncated_line(&queued.text))), Some(reached)], &queued.seen)
        });
        asked.chain(queued).collect()
    }

    fn corrections(&self) -> Vec<YamlData> {
        let corrected = self.session.requests.iter().filter(|request| request.correction.is_some());
        let corrected = corrected.filter(|request| !self.is_abandoned(&request.seen));
        corrected
            .map(|request| entry([Some(("said", truncated_line(&request.text)))], &request.seen))
            .collect()
    }

    fn agents(&self) -> Vec<YamlData> {
        let agents = self.session.agents.iter();
        let mut agents: Vec<&Agent> =
            agents.filter(|agent| !self.is_abandoned(&agent.seen)).collect();
        // Only the last entries are kept, so running agents are sorted to the end.
        agents.sort_by_key(|agent| agent.state == AgentState::InFlight);
        let one = |agent: &Agent| {
            let task = agent.about.as_deref().or(agent.prompt.as_deref());
            let status = match agent.state {
                AgentState::InFlight => "in_flight",
                AgentState::Ended => "ended",
                AgentState::Failed => "failed",
            };
            let status = ("status", YamlData::Bare(status.to_owned()));
            let id = optional_text("id", agent.id.as_deref());
            entry(
                [
                    id,
                    optional_text("kind", agent.kind.as_deref()),
                    optional_text("task", task),
                    Some(status),
                ],
                &agent.seen,
            )
        };
        agents.into_iter().map(one).collect()
    }

    fn decisions(&self, tops: &[&Path]) -> Vec<YamlData> {
        let session = &self.session;
        let answers = session.answers.iter().filter(|answer| !self.is_abandoned(&answer.seen));
        let answers = answers.map(|answer| {
            let question = ("question", truncated_line(&answer.question));
            entry([Some(question), Some(("answer", truncated_line(&answer.answer)))], &answer.seen)
        });
        let rejected = session.rejections.iter().filter(|one| !self.is_abandoned(&one.seen));
        let rejected = rejected.map(|rejection| {
            let about = rejection.about.as_deref().map(|about| relative_path(about, tops));
            let said = optional_text("said", rejection.said.as_deref());
            let tool = ("not_allowed", truncated_line(&rejection.tool));
            entry([Some(tool), optional_text("about", about.as_deref()), said], &rejection.seen)
        });
        answers.chain(rejected).collect()
    }

    fn changed(&self, tops: &[&Path]) -> Vec<YamlData> {
        let mut artifacts: Vec<&CheckpointArtifact> = self.artifacts.iter().collect();
        // Only the last entries are kept, so files that differ are sorted to the end.
        artifacts.sort_by_key(|artifact| artifact.state != ArtifactState::Match);
        let one = |artifact: &CheckpointArtifact| {
            let word = |word: &str| YamlData::Bare(word.to_owned());
            let parts = [
                ("path", YamlData::Text(relative_path(&artifact.path, tops))),
                ("expected", word(expected_name(artifact.expected))),
                ("actual", word(actual_name(artifact.actual))),
                ("state", word(artifact_state_name(artifact.state))),
            ];
            let record = artifact.seen.iter().map(|seen| (RECORD, YamlData::text(&seen.record)));
            YamlData::map(parts.into_iter().chain(record))
        };
        artifacts.into_iter().map(one).collect()
    }

    fn documents(&self, tops: &[&Path]) -> YamlData {
        let paths = self.session.plans.iter().filter_map(|plan| plan.path.as_deref());
        let paths = paths.map(|path| relative_path(path, tops));
        let plans = plan_list(paths.chain(self.plan_documents.iter().cloned()));
        YamlData::map([("must_read", YamlData::texts(self.must_read(tops))), (PLANS, plans)])
    }

    fn environment(&self, tops: &[&Path]) -> YamlData {
        let (session, git) = (&self.session, &self.git);
        let folder = session.cwd.as_deref().map(|cwd| relative_path(cwd, tops));
        let percent = self.context_percent.map(|percent| YamlData::Bare(percent.to_string()));
        let parts = [
            optional_text("folder", folder.as_deref()),
            optional_text("model", session.model.as_deref()),
            optional_text("client_version", session.version.as_deref()),
            optional_text("branch", git.branch.as_deref()),
            optional_text("commit", git.commit.as_ref().map(CommitId::as_str)),
            Some(("observed_at", YamlData::Bare(time::format_time(git.observed_at)))),
            git.late.then(|| ("late", YamlData::flag(true))),
            percent.map(|percent| ("context_percent", percent)),
        ];
        YamlData::map(parts.into_iter().flatten())
    }

    fn recovery(&self, blob: Option<&BlobHash>) -> YamlData {
        let parts = [
            Some(("client", YamlData::text(self.session.client.as_str()))),
            Some(("session", YamlData::text(self.session_id().as_str()))),
            optional_text("checkpoint", blob.map(BlobHash::as_str)),
            optional_text("last_record", self.session.last_record.as_deref()),
        ];
        YamlData::map(parts.into_iter().flatten())
    }
}

/// Builds the state of work without a client session from its context.
pub fn state_without_session(context: &CheckpointContext) -> YamlData {
    let parts = [
        optional_text("branch", context.branch.as_deref()),
        optional_text("commit", context.commit.as_ref().map(CommitId::as_str)),
        Some(("observed_at", YamlData::Bare(time::format_time(context.at)))),
    ];
    YamlData::map([
        ("documents", YamlData::map([(PLANS, plan_list(context.plan_documents.iter().cloned()))])),
        ("environment", YamlData::map(parts.into_iter().flatten())),
    ])
}

/// Updates a state with newer facts. Facts and entries from records are replaced; everything else
/// stays. If only the observation time differs, the old one stays.
pub(crate) fn refresh_state(before: &YamlData, facts: &YamlData) -> YamlData {
    let (YamlData::Map(before), YamlData::Map(facts)) = (before, facts) else {
        return facts.clone();
    };
    let mut out = Entries::new();
    for (key, old) in before {
        let new = facts.iter().find(|(other, _)| other == key).map(|(_, value)| value);
        let known = FACTS.iter().find(|(name, _)| name == key).map(|(_, keys)| *keys);
        match (known, new) {
            (Some(known), Some(new)) => out.push((key.clone(), refresh_facts(old, new, known))),
            // The list of tasks is replaced as a whole.
            (None, Some(new)) if key == "tasks" => out.push((key.clone(), new.clone())),
            (None, Some(new)) => out.push((key.clone(), merge_data(old, new))),
            (Some(_), None) if key == "left_out" => {}
            (_, None) => out.push((key.clone(), old.clone())),
        }
    }
    let added = facts.iter().filter(|(key, _)| !before.iter().any(|(other, _)| other == key));
    out.extend(added.cloned());
    YamlData::Map(out)
}

/// Updates a mapping of facts: known keys are replaced, others stay.
fn refresh_facts(old: &YamlData, new: &YamlData, known: &[&str]) -> YamlData {
    let (YamlData::Map(before), YamlData::Map(after)) = (old, new) else { return new.clone() };
    let lasting = |entries: &Entries| {
        let lasting =
            entries.iter().filter(|(key, _)| !["observed_at", "late"].contains(&key.as_str()));
        YamlData::Map(lasting.filter(|(key, _)| known.contains(&key.as_str())).cloned().collect())
    };
    if lasting(before).is_equivalent_to(&lasting(after)) {
        return old.clone();
    }
    let own = before.iter().filter(|(key, _)| !known.contains(&key.as_str()));
    YamlData::Map(after.iter().chain(own).cloned().collect())
}

fn merge_data(old: &YamlData, new: &YamlData) -> YamlData {
    match (old, new) {
        (YamlData::Map(before), YamlData::Map(after)) => {
            let mut out = Entries::new();
            for (key, old) in before {
                let new = after.iter().find(|(other, _)| other == key).map(|(_, new)| new);
                let value = match new {
                    // The list of plans is observed, so it is replaced and not merged.
                    Some(new) if key == PLANS => new.clone(),
                    Some(new) => merge_data(old, new),
                    None => old.clone(),
                };
                out.push((key.clone(), value));
            }
            let added = after.iter().filter(|(key, _)| !before.iter().any(|(k, _)| k == key));
            out.extend(added.cloned());
            YamlData::Map(out)
        }
        (YamlData::List(before), YamlData::List(after)) => {
            let is_new = |item: &&YamlData| !after.iter().any(|other| other.is_equivalent_to(item));
            let own = before.iter().filter(|item| !has_record(item)).filter(is_new);
            YamlData::List(own.chain(after).cloned().collect())
        }
        _ => new.clone(),
    }
}

fn has_record(item: &YamlData) -> bool {
    matches!(item, YamlData::Map(entries) if entries.iter().any(|(key, _)| key == RECORD))
}

fn entry<const N: usize>(parts: [Option<(&str, YamlData)>; N], seen: &Provenance) -> YamlData {
    let record = (RECORD, YamlData::text(&seen.record));
    YamlData::map(parts.into_iter().flatten().chain([record]))
}

fn optional_text<'n>(name: &'n str, text: Option<&str>) -> Option<(&'n str, YamlData)> {
    text.map(|text| (name, truncated_line(text)))
}

/// A text in one line, truncated with `…`.
fn truncated_line(text: &str) -> YamlData {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let short: String = line.chars().take(TEXT_LENGTH_MAX).collect();
    YamlData::Text(if short.len() < line.len() { format!("{short}…") } else { short })
}

/// The newest entries. The number of omitted ones goes to `left_out`.
fn newest_entries(name: &str, mut entries: Vec<YamlData>, left_out: &mut Entries) -> YamlData {
    let more = entries.len().saturating_sub(ENTRIES_MAX);
    if more > 0 {
        left_out.push((name.to_owned(), YamlData::Bare(more.to_string())));
        // Keep the first goal: it says what the work is about.
        let from = usize::from(name == "goals");
        entries.drain(from..from + more);
    }
    YamlData::List(entries)
}

fn plan_list(paths: impl Iterator<Item = String>) -> YamlData {
    let mut found: Vec<String> = Vec::new();
    for path in paths {
        if !found.contains(&path) && found.len() < ENTRIES_MAX {
            found.push(path);
        }
    }
    if found.is_empty() { YamlData::text("none found") } else { YamlData::texts(found) }
}

fn relative_path(path: &str, tops: &[&Path]) -> String {
    let inside = tops.iter().find_map(|top| Path::new(path).strip_prefix(top).ok());
    match inside.map(|inside| inside.to_string_lossy().into_owned()) {
        Some(inside) if inside.is_empty() => ".".to_owned(),
        Some(inside) => inside,
        None => path.to_owned(),
    }
}

fn expected_name(expected: ExpectedContent) -> &'static str {
    match expected {
        ExpectedContent::Text => "text",
        ExpectedContent::File => "file",
        ExpectedContent::Nothing => "nothing",
    }
}

fn actual_name(actual: ActualContent) -> &'static str {
    match actual {
        ActualContent::Text => "text",
        ActualContent::File => "file",
        ActualContent::Nothing => "nothing",
    }
}

fn artifact_state_name(state: ArtifactState) -> &'static str {
    match state {
        ArtifactState::Match => "match",
        ArtifactState::Partial => "partial",
        ArtifactState::Missing => "missing",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::checkpoint::CheckpointMode;

    fn checkpoint() -> Checkpoint {
        let text = include_str!("../../../../../fixtures/sessions/cache.json");
        Checkpoint::new(
            serde_json::from_str(text).unwrap(),
            "t.jsonl".into(),
            1,
            CheckpointMode::Auto,
            around("2026-03-20T09:02:00Z"),
        )
    }

    fn around(at: &str) -> CheckpointContext {
        CheckpointContext {
            at: at.parse().unwrap(),
            commit: Some(CommitId::new("4f2c")),
            branch: Some("main".into()),
            plan_documents: vec!["docs/cache-plan.md".into(), "PLAN.md".into()],
            on_disk: [("/home/dev/shop/src/cache.ts".to_owned(), None)].into(),
            ..CheckpointContext::default()
        }
    }

    fn written(data: &YamlData) -> String {
        crate::text::yaml::block_entry("state", data, 0)
    }

    #[test]
    fn the_state_has_every_part_of_the_session() {
        let state =
            checkpoint().state(Some(&BlobHash::new("b10b")), &[Path::new("/home/dev/shop")]);
        let text = written(&state);
        let YamlData::Map(entries) = state else { panic!() };
        let keys: Vec<&str> = entries.iter().map(|(key, _)| key.as_str()).collect();
        assert_eq!(
            keys,
            [
                "skill_stack",
                "subagents",
                "workflow",
                "goals",
                "documents",
                "decisions",
                "conversation",
                "artifacts",
                "environment",
                "recovery"
            ]
        );
        for part in [
            "    - name: report\n",
            "    - id: ag2\n",
            "      status: in_flight\n",
            "    - goal: Now write the report.\n",
            "  documents:\n    must_read: [docs/cache-plan.md]\n",
            "    - question: Which store?\n      answer: Redis\n",
            "      - said: Do not touch the pages, only the cache.\n",
            "    - path: src/cache.ts\n      expected: file\n      actual: nothing\n      state: missing\n",
            "    branch: main\n",
            "  recovery:\n    client: claude-code\n",
            "    checkpoint: b10b\n",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
        assert!(!text.contains("rename the shop") && !text.contains("/home/dev/shop"), "{text}");
    }

    #[test]
    fn refreshing_replaces_facts_and_keeps_added_entries() {
        let tops = [Path::new("/home/dev/shop")];
        let one = checkpoint().state(Some(&BlobHash::new("one")), &tops);
        assert_eq!(refresh_state(&one, &one), one);
        let YamlData::Map(mut entries) = one.clone() else { panic!() };
        for (key, value) in &mut entries {
            match (key.as_str(), value) {
                ("goals", YamlData::List(goals)) => goals.push(YamlData::text("Keep it small")),
                ("environment" | "documents", YamlData::Map(map)) => {
                    map.push(("mine".to_owned(), YamlData::text("too")));
                }
                _ => {}
            }
        }
        entries.insert(0, ("mood".to_owned(), YamlData::text("calm")));
        let touched = YamlData::Map(entries);
        let again =
            refresh_state(&touched, &checkpoint().state(Some(&BlobHash::new("two")), &tops));
        let text = written(&again);
        for own in ["mood: calm", "- Keep it small", "mine: too", "checkpoint: two"] {
            assert!(text.contains(own), "{own}: {text}");
        }
        assert!(!text.contains("checkpoint: one") && text.matches("mine: too").count() == 2);
        assert_eq!(
            text.matches("record: a01").count(),
            written(&one).matches("record: a01").count()
        );
    }

    #[test]
    fn a_later_observation_time_alone_changes_nothing() {
        let early = state_without_session(&around("2026-03-20T09:02:00Z"));
        let late = state_without_session(&around("2026-03-20T19:02:00Z"));
        assert_ne!(early, late);
        assert_eq!(refresh_state(&early, &late), early);
    }

    #[test]
    fn entries_over_the_limit_are_counted() {
        let mut checkpoint = checkpoint();
        let first = checkpoint.session.requests.items[0].clone();
        let many = (0..100).map(|n| Request { text: format!("request {n}"), ..first.clone() });
        checkpoint.session.requests.items = many.collect();
        let text = written(&checkpoint.state(None, &[]));
        assert!(
            text.contains("goal: request 0\n") && text.contains("goal: request 99\n"),
            "{text}"
        );
        assert!(!text.contains("goal: request 5\n") && text.contains("goals: 70\n"), "{text}");
    }
}
