//! What the gate said, kept in the state of the handoff, together with the author's own answers.

use super::{Gap, Gate, word};
use crate::format::document::Document;
use crate::format::shape::read_flag;
use crate::session::coverage::Coverage;
use crate::session::judgement::{Answer, Reflection};
use crate::text::edit::{Edit, Path};
use crate::text::time;
use crate::text::yaml::{Data, Node};
use jiff::Timestamp;

/// Where the state has it.
const PLACE: &str = "quality_gates";
/// When it was said: what only differs in this is the same.
const AT: &str = "at";
/// More are counted by `save`.
const MISSING_MAX: usize = 20;
/// Its keys; others are somebody's own and stay.
const KEYS: [&str; 9] =
    [AT, "passed", "findings", "missing", "accepted", "asked", "kept", "told", "reflection"];

/// Who says so, and when.
#[derive(Clone, Debug)]
pub struct Occasion<'o> {
    /// When.
    pub at: Timestamp,
    /// Who.
    pub by: Option<&'o str>,
    /// The session of the agent that saves; none where a person does, who is not asked.
    pub agent: Option<&'o str>,
}

/// The session whose agent was asked for what is missing.
pub fn asked(document: &Document) -> Option<&str> {
    Some(record(document)?.get("asked")?.text()?.value.trim())
}

/// Whether an agent was asked and saved again, so that nothing more is asked.
pub fn is_kept(document: &Document) -> bool {
    let kept = record(document).and_then(|record| record.get("kept")).and_then(Node::text);
    kept.and_then(|text| read_flag(text.value)) == Some(true)
}

/// Where the state of a handoff has what the gate said.
pub fn record(document: &Document) -> Option<&Node> {
    document.handoff_header()?.fields().get("state")?.get(PLACE)
}

/// What was answered about a handoff so far.
pub fn answered(document: &Document) -> Reflection {
    let answers = record(document).and_then(|record| record.get("reflection"));
    let answer = |name: &str| {
        let node = answers?.get(name)?;
        let yes = read_flag(node.get("answer")?.text()?.value)?;
        let why = node.get("why").and_then(Node::text).map(|why| why.value.trim().to_owned());
        Some(Answer { yes, why })
    };
    Reflection { inherit: answer("inherit"), finds_plans: answer("finds_plans") }
}

/// Whether a handoff passed the gate, or was accepted as it is.
pub fn is_enough(document: &Document) -> bool {
    let Some(said) = record(document) else { return true };
    let passed = said.get("passed").and_then(Node::text).and_then(|text| read_flag(text.value));
    passed != Some(false) || said.get("accepted").is_some()
}

/// The edit that records what the gate says now; none where the document says it.
pub fn recorded(
    document: &Document,
    gate: &Gate,
    coverage: Option<&Coverage>,
    accepted: Option<&str>,
    reflection: &Reflection,
    occasion: &Occasion<'_>,
) -> Option<Edit> {
    let before = record(document).map(Node::data);
    let old = |key: &str| before.as_ref().and_then(|before| get(before, key));
    let codes = gate.codes();
    let findings = (!codes.is_empty()).then(|| Data::texts(codes));
    // What was accepted stays accepted as long as nothing else is missing.
    let same = old("findings").zip(findings.as_ref()).is_some_and(|(old, new)| old.same(new));
    let accepted = accepted.map(Data::text).or_else(|| old("accepted").filter(|_| same).cloned());
    let is_asked = occasion.agent.is_some() && asked(document) == occasion.agent;
    let is_kept = is_asked || (occasion.agent.is_none() && is_kept(document));
    let asks = occasion.agent.map(Data::text).or_else(|| old("asked").cloned());
    let missing = Data::texts(missing(gate));
    let parts = [
        ("passed", Some(Data::flag(gate.passes()))),
        ("findings", findings),
        ("missing", (!gate.passes()).then_some(missing)),
        ("accepted", accepted.filter(|_| !gate.passes())),
        ("asked", asks),
        ("kept", (is_kept && !gate.passes()).then(|| Data::flag(true))),
        ("told", coverage.filter(|coverage| !coverage.items.is_empty()).map(told)),
        ("reflection", reflected(reflection, old("reflection"), occasion)),
    ];
    let parts = parts.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?)));
    let own = before.iter().flat_map(entries).filter(|(key, _)| !KEYS.contains(&key.as_str()));
    let parts: Vec<(String, Data)> = parts.chain(own.cloned()).collect();
    if before.as_ref().is_some_and(|before| says(before, &Data::Map(parts.clone()))) {
        return None;
    }
    let at = (AT.to_owned(), Data::Bare(time::write(occasion.at)));
    let whole = Data::Map(std::iter::once(at).chain(parts).collect());
    Some(Edit::Set(Path::field("state").key(PLACE), whole))
}

/// What is missing, each line once.
fn missing(gate: &Gate) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for line in gate.gaps.iter().map(Gap::title) {
        if lines.len() < MISSING_MAX && !lines.contains(&line) {
            lines.push(line);
        }
    }
    lines
}

fn entries(data: &Data) -> &[(String, Data)] {
    match data {
        Data::Map(entries) => entries,
        Data::Null | Data::Text(_) | Data::Bare(_) | Data::List(_) => &[],
    }
}

fn get<'d>(data: &'d Data, key: &str) -> Option<&'d Data> {
    entries(data).iter().find(|(other, _)| other == key).map(|(_, value)| value)
}

/// Whether two records say the same, whenever they say it.
fn says(one: &Data, other: &Data) -> bool {
    let lasting = |data: &Data| {
        Data::Map(entries(data).iter().filter(|(key, _)| key != AT).cloned().collect())
    };
    lasting(one).same(&lasting(other))
}

/// How much of the session the author covers, by kind.
fn told(coverage: &Coverage) -> Data {
    Data::map(coverage.counts().into_iter().map(|count| {
        (word(count.what), Data::text(format!("{} of {}", count.covered, count.happened)))
    }))
}

/// The answers as the author's word; earlier ones stay where nothing new is answered. What an agent does
/// not answer is recorded; a person is not asked.
fn reflected(
    reflection: &Reflection,
    before: Option<&Data>,
    occasion: &Occasion<'_>,
) -> Option<Data> {
    let is_empty = *reflection == Reflection::default() && before.is_none();
    if is_empty && occasion.agent.is_none() {
        return None;
    }
    let answers = [("inherit", &reflection.inherit), ("finds_plans", &reflection.finds_plans)];
    Some(Data::map(answers.map(|(name, answer)| {
        let old = before.and_then(|before| get(before, name)).cloned();
        let new = answer.as_ref().map(|answer| in_words(answer, occasion));
        let value = match (old, new) {
            (Some(old), Some(new)) if says(&old, &new) => old,
            (_, Some(new)) => new,
            (Some(old), None) => old,
            (None, None) => Data::text("not answered"),
        };
        (name, value)
    })))
}

fn in_words(answer: &Answer, occasion: &Occasion<'_>) -> Data {
    let why = answer.why.as_deref().map(|why| ("why", Data::text(why)));
    let by = occasion.by.map(|by| ("by", Data::text(by)));
    let at = (AT, Data::Bare(time::write(occasion.at)));
    Data::map([("answer", Data::flag(answer.yes))].into_iter().chain(why).chain(by).chain([at]))
}

#[cfg(test)]
mod tests {
    use super::*;
    const TEXT: &str = "---\nhandoff:\n  id: a\n  state:\n    goals: []\n---\n";

    fn gate(codes: &[&str]) -> Gate {
        let gap = |code: &&str| Gap {
            code: (*code).to_owned(),
            is_finding: false,
            what: String::new(),
            seen: None,
            add: String::new(),
        };
        Gate { gaps: codes.iter().map(gap).collect() }
    }

    fn after(
        text: &str,
        gate: &Gate,
        accepted: Option<&str>,
        inherit: Option<&str>,
        at: &str,
    ) -> String {
        let document = Document::parse(text.as_bytes());
        let inherit = inherit.and_then(Answer::read);
        let reflection = Reflection { inherit, finds_plans: None };
        let occasion = Occasion { at: at.parse().unwrap(), by: Some("me"), agent: None };
        let edit = recorded(&document, gate, None, accepted, &reflection, &occasion);
        document.edit(edit.as_slice()).unwrap().0.text().to_owned()
    }

    const EARLY: &str = "2026-03-21T10:00:00Z";
    const LATE: &str = "2026-03-22T10:00:00Z";

    #[test]
    fn saying_the_same_later_changes_nothing() {
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
            let occasion = Occasion { at, by: None, agent: Some(session) };
            let none = Reflection::default();
            let edit = recorded(&document, &gate(codes), None, None, &none, &occasion);
            document.edit(edit.as_slice()).unwrap().0
        };
        let once = by_agent(TEXT, &["correction"], "one");
        assert_eq!((asked(&once), is_kept(&once)), (Some("one"), false));
        let twice = by_agent(once.text(), &["correction"], "one");
        assert_eq!((asked(&twice), is_kept(&twice)), (Some("one"), true));
        // The agent of another session was not asked yet.
        let other = by_agent(twice.text(), &["correction"], "two");
        assert_eq!((asked(&other), is_kept(&other)), (Some("two"), false));
        let passed = by_agent(once.text(), &[], "one");
        assert!(!is_kept(&passed) && !passed.text().contains("missing"), "{}", passed.text());
    }

    #[test]
    fn what_else_is_missing_is_not_accepted_yet() {
        let once = after(TEXT, &gate(&["C007"]), Some("so be it"), None, EARLY);
        let more = after(&once, &gate(&["C007", "correction"]), None, None, LATE);
        assert!(!more.contains("so be it") && more.contains(LATE), "{more}");
        let passed = after(&once, &gate(&[]), None, Some("yes"), LATE);
        assert!(passed.contains("passed: true") && !passed.contains("findings"), "{passed}");
        let document = Document::parse(passed.as_bytes());
        assert_eq!(answered(&document).inherit, Answer::read("yes"));
    }

    #[test]
    fn keys_of_others_stay() {
        let text = TEXT.replace("goals: []", "quality_gates: {mine: 1}");
        let once = after(&text, &gate(&[]), None, None, EARLY);
        assert!(once.contains("mine: 1"), "{once}");
        assert_eq!(after(&once, &gate(&[]), None, None, LATE), once);
    }
}
