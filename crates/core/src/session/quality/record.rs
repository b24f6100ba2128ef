//! Records the result of the quality gate in the state of a handoff, with the author's own answers.

use super::{QualityIssue, QualityReport, kind_key};
use crate::format::document::Document;
use crate::format::shape::parse_flag;
use crate::session::author_notes::{Reflection, ReflectionAnswer};
use crate::session::coverage::Coverage;
use crate::text::edit::{Edit, HeaderPath};
use crate::text::id::SessionId;
use crate::text::time;
use crate::text::yaml::{YamlData, YamlNode};
use jiff::Timestamp;

/// The key in `state`.
const STATE_KEY: &str = "quality_gates";
/// When the result was recorded. Records that differ only in this are the same.
const AT_KEY: &str = "at";
/// The maximum number of missing items listed. `save` counts the rest.
const MISSING_MAX: usize = 20;
/// The keys that midstride writes. Other keys belong to the author and stay.
const KEYS: [&str; 9] =
    [AT_KEY, "passed", "findings", "missing", "accepted", "asked", "kept", "told", "reflection"];

/// Who recorded a result, and when.
#[derive(Clone, Debug)]
pub struct QualityStamp<'o> {
    /// When.
    pub at: Timestamp,
    /// Who.
    pub by: Option<&'o str>,
    /// The session of the agent that saves. None when a user saves; users are not asked.
    pub agent: Option<&'o SessionId>,
}

/// The session whose agent was asked to add what is missing.
pub fn asked_session(document: &Document) -> Option<&str> {
    Some(quality_node(document)?.get("asked")?.text()?.value.trim())
}

/// Whether an agent was asked and saved again. It is not asked a second time.
pub fn has_been_resaved(document: &Document) -> bool {
    let kept =
        quality_node(document).and_then(|record| record.get("kept")).and_then(YamlNode::text);
    kept.and_then(|text| parse_flag(text.value)) == Some(true)
}

/// The recorded result in the state of a handoff.
pub fn quality_node(document: &Document) -> Option<&YamlNode> {
    document.handoff_header()?.fields().get("state")?.get(STATE_KEY)
}

/// The recorded answers to the reflection questions.
pub fn recorded_reflection(document: &Document) -> Reflection {
    let answers = quality_node(document).and_then(|record| record.get("reflection"));
    let answer = |name: &str| {
        let node = answers?.get(name)?;
        let yes = parse_flag(node.get("answer")?.text()?.value)?;
        let why = node.get("why").and_then(YamlNode::text).map(|why| why.value.trim().to_owned());
        Some(ReflectionAnswer { yes, why })
    };
    Reflection { inherit: answer("inherit"), finds_plans: answer("finds_plans") }
}

/// Whether a handoff passed the gate, or was accepted as it is.
pub fn passes_quality_check(document: &Document) -> bool {
    let Some(record) = quality_node(document) else { return true };
    let passed =
        record.get("passed").and_then(YamlNode::text).and_then(|text| parse_flag(text.value));
    passed != Some(false) || record.get("accepted").is_some()
}

/// The edit that records the current result. None if the document already has it.
pub fn record_edit(
    document: &Document,
    gate: &QualityReport,
    coverage: Option<&Coverage>,
    accepted: Option<&str>,
    reflection: &Reflection,
    occasion: &QualityStamp<'_>,
) -> Option<Edit> {
    let before = quality_node(document).map(YamlNode::data);
    let old = |key: &str| before.as_ref().and_then(|before| get(before, key));
    let codes = gate.codes();
    let findings = (!codes.is_empty()).then(|| YamlData::texts(codes));
    // An acceptance stays valid as long as the findings are the same.
    let same =
        old("findings").zip(findings.as_ref()).is_some_and(|(old, new)| old.is_equivalent_to(new));
    let accepted =
        accepted.map(YamlData::text).or_else(|| old("accepted").filter(|_| same).cloned());
    let is_asked = occasion.agent.is_some()
        && asked_session(document) == occasion.agent.map(SessionId::as_str);
    let is_kept = is_asked || (occasion.agent.is_none() && has_been_resaved(document));
    let asks = occasion
        .agent
        .map(|agent| YamlData::text(agent.as_str()))
        .or_else(|| old("asked").cloned());
    let missing = YamlData::texts(missing_lines(gate));
    let parts = [
        ("passed", Some(YamlData::flag(gate.passes()))),
        ("findings", findings),
        ("missing", (!gate.passes()).then_some(missing)),
        ("accepted", accepted.filter(|_| !gate.passes())),
        ("asked", asks),
        ("kept", (is_kept && !gate.passes()).then(|| YamlData::flag(true))),
        ("told", coverage.filter(|coverage| !coverage.items.is_empty()).map(coverage_data)),
        ("reflection", reflection_data(reflection, old("reflection"), occasion)),
    ];
    let parts = parts.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?)));
    let own = before.iter().flat_map(entries).filter(|(key, _)| !KEYS.contains(&key.as_str()));
    let parts: Vec<(String, YamlData)> = parts.chain(own.cloned()).collect();
    if before.as_ref().is_some_and(|before| is_same_record(before, &YamlData::Map(parts.clone()))) {
        return None;
    }
    let at = (AT_KEY.to_owned(), YamlData::Bare(time::format_time(occasion.at)));
    let whole = YamlData::Map(std::iter::once(at).chain(parts).collect());
    Some(Edit::Set(HeaderPath::field("state").key(STATE_KEY), whole))
}

/// What is missing, each line once.
fn missing_lines(gate: &QualityReport) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for line in gate.issues.iter().map(QualityIssue::title) {
        if lines.len() < MISSING_MAX && !lines.contains(&line) {
            lines.push(line);
        }
    }
    lines
}

fn entries(data: &YamlData) -> &[(String, YamlData)] {
    match data {
        YamlData::Map(entries) => entries,
        YamlData::Null | YamlData::Text(_) | YamlData::Bare(_) | YamlData::List(_) => &[],
    }
}

fn get<'d>(data: &'d YamlData, key: &str) -> Option<&'d YamlData> {
    entries(data).iter().find(|(other, _)| other == key).map(|(_, value)| value)
}

/// Whether two records are equal except for their time.
fn is_same_record(one: &YamlData, other: &YamlData) -> bool {
    let lasting = |data: &YamlData| {
        YamlData::Map(entries(data).iter().filter(|(key, _)| key != AT_KEY).cloned().collect())
    };
    lasting(one).is_equivalent_to(&lasting(other))
}

/// How much of the session the author covers, by kind.
fn coverage_data(coverage: &Coverage) -> YamlData {
    YamlData::map(coverage.counts().into_iter().map(|count| {
        (kind_key(count.kind), YamlData::text(format!("{} of {}", count.covered, count.total)))
    }))
}

/// The author's answers. Earlier answers stay where there is no new one. A missing answer of an
/// agent is recorded; users are not asked.
fn reflection_data(
    reflection: &Reflection,
    before: Option<&YamlData>,
    occasion: &QualityStamp<'_>,
) -> Option<YamlData> {
    let is_empty = *reflection == Reflection::default() && before.is_none();
    if is_empty && occasion.agent.is_none() {
        return None;
    }
    let answers = [("inherit", &reflection.inherit), ("finds_plans", &reflection.finds_plans)];
    Some(YamlData::map(answers.map(|(name, answer)| {
        let old = before.and_then(|before| get(before, name)).cloned();
        let new = answer.as_ref().map(|answer| answer_data(answer, occasion));
        let value = match (old, new) {
            (Some(old), Some(new)) if is_same_record(&old, &new) => old,
            (_, Some(new)) => new,
            (Some(old), None) => old,
            (None, None) => YamlData::text("not answered"),
        };
        (name, value)
    })))
}

fn answer_data(answer: &ReflectionAnswer, occasion: &QualityStamp<'_>) -> YamlData {
    let why = answer.why.as_deref().map(|why| ("why", YamlData::text(why)));
    let by = occasion.by.map(|by| ("by", YamlData::text(by)));
    let at = (AT_KEY, YamlData::Bare(time::format_time(occasion.at)));
    YamlData::map(
        [("answer", YamlData::flag(answer.yes))].into_iter().chain(why).chain(by).chain([at]),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    const TEXT: &str = "---\nhandoff:\n  id: a\n  state:\n    goals: []\n---\n";

    fn gate(codes: &[&str]) -> QualityReport {
        let gap = |code: &&str| QualityIssue {
            code: (*code).to_owned(),
            is_finding: false,
            what: String::new(),
            seen: None,
            hint: String::new(),
        };
        QualityReport { issues: codes.iter().map(gap).collect() }
    }

    fn after(
        text: &str,
        gate: &QualityReport,
        accepted: Option<&str>,
        inherit: Option<&str>,
        at: &str,
    ) -> String {
        let document = Document::parse(text.as_bytes());
        let inherit = inherit.and_then(ReflectionAnswer::parse);
        let reflection = Reflection { inherit, finds_plans: None };
        let occasion = QualityStamp { at: at.parse().unwrap(), by: Some("me"), agent: None };
        let edit = record_edit(&document, gate, None, accepted, &reflection, &occasion);
        document.edit(edit.as_slice()).unwrap().0.text().to_owned()
    }

    const EARLY: &str = "2026-03-21T10:00:00Z";
    const LATE: &str = "2026-03-22T10:00:00Z";

    #[test]
    fn recording_the_same_result_later_changes_nothing() {
        let once = after(TEXT, &gate(&["C007"]), Some("so be it"), Some("no: all new"), EARLY);
        assert!(once.contains("accepted: so be it") && once.contains("findings: [C007]"), "{once}");
        assert!(once.contains("answer: false") && once.contains("finds_plans: not answered"));
        assert_eq!(after(&once, &gate(&["C007"]), None, Some("no, all new"), LATE), once);
        assert_eq!(after(&once, &gate(&["C007", "C007"]), None, None, LATE), once);
    }

    #[test]
    fn an_agent_is_asked_once() {
        let by_agent = |text: &str, codes: &[&str], session: &str| {
            let document = Document::parse(text.as_bytes());
            let at = EARLY.parse().unwrap();
            let occasion = QualityStamp { at, by: None, agent: Some(&SessionId::new(session)) };
            let none = Reflection::default();
            let edit = record_edit(&document, &gate(codes), None, None, &none, &occasion);
            document.edit(edit.as_slice()).unwrap().0
        };
        let once = by_agent(TEXT, &["correction"], "one");
        assert_eq!((asked_session(&once), has_been_resaved(&once)), (Some("one"), false));
        let twice = by_agent(once.text(), &["correction"], "one");
        assert_eq!((asked_session(&twice), has_been_resaved(&twice)), (Some("one"), true));
        // The agent of another session was not asked yet.
        let other = by_agent(twice.text(), &["correction"], "two");
        assert_eq!((asked_session(&other), has_been_resaved(&other)), (Some("two"), false));
        let passed = by_agent(once.text(), &[], "one");
        assert!(
            !has_been_resaved(&passed) && !passed.text().contains("missing"),
            "{}",
            passed.text()
        );
    }

    #[test]
    fn a_new_finding_ends_the_acceptance() {
        let once = after(TEXT, &gate(&["C007"]), Some("so be it"), None, EARLY);
        let more = after(&once, &gate(&["C007", "correction"]), None, None, LATE);
        assert!(!more.contains("so be it") && more.contains(LATE), "{more}");
        let passed = after(&once, &gate(&[]), None, Some("yes"), LATE);
        assert!(passed.contains("passed: true") && !passed.contains("findings"), "{passed}");
        let document = Document::parse(passed.as_bytes());
        assert_eq!(recorded_reflection(&document).inherit, ReflectionAnswer::parse("yes"));
    }

    #[test]
    fn unknown_keys_stay() {
        let text = TEXT.replace("goals: []", "quality_gates: {mine: 1}");
        let once = after(&text, &gate(&[]), None, None, EARLY);
        assert!(once.contains("mine: 1"), "{once}");
        assert_eq!(after(&once, &gate(&[]), None, None, LATE), once);
    }
}
