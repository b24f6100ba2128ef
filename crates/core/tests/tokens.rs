//! Compares token estimates with what models counted.

use crate::transcripts::jsonl_below;
use midstride_core::text::tokens::{TokenizerFamily, estimate};
use midstride_testkit::{corpus, fixtures};
use proptest::prelude::*;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write as _;

/// The maximum error at the 95th percentile.
const ERROR_MAX: f64 = 0.15;

// What a client sends around the text, fitted together with the costs. These belong to the
// measurement: a text in a briefing has none of this overhead.
const MESSAGE: f64 = 18.0;
const CALL: f64 = 18.0;
const PARAMETER: f64 = 15.0;
const RESULT: f64 = 45.0;

/// Below this, an error in the constants above outweighs the error of the estimate. It also
/// excludes counts that were recorded while the answer was still streaming, which are below 40.
const WRITTEN_MIN: f64 = 200.0;
/// Claude Code adds reminders of about 115 tokens to some results and does not record them. From
/// this size on, they no longer dominate.
const READ_MIN: f64 = 1000.0;
/// The tools whose results are sent as they are recorded. Edit results include linter and hook
/// notices that are not in the transcript, and a call that a hook refused is reported twice.
const PLAIN_TOOLS: [&str; 4] = ["Bash", "Glob", "Grep", "Read"];

/// A text and what a model counted for it.
struct Sample {
    text: Vec<String>,
    tokens: f64,
}

impl Sample {
    /// The relative error; positive if the estimate is too high.
    fn error(&self, family: TokenizerFamily) -> f64 {
        let estimated: u64 = self.text.iter().map(|part| family.estimate(part)).sum();
        f64::from(u32::try_from(estimated).unwrap()) / self.tokens - 1.0
    }
}

/// A request of a Claude Code session: what was new in it, and the answer.
#[derive(Default)]
struct Request {
    model: String,
    context: f64,
    answered: f64,
    answer: Vec<Value>,
    /// What the user and tools added since the previous request.
    new: Vec<Value>,
    /// Whether the context was compacted since the previous request.
    compacted: bool,
}

fn number(value: &Value, name: &str) -> f64 {
    value.get(name).and_then(Value::as_f64).unwrap_or_default()
}

fn blocks(message: &Value) -> Vec<Value> {
    match message.get("content") {
        Some(Value::Array(blocks)) => blocks.clone(),
        Some(text @ Value::String(_)) => vec![serde_json::json!({"type": "text", "text": text})],
        _ => Vec::new(),
    }
}

/// Whether a server assigned this message id; synthetic transcripts have made-up usage.
fn is_real(id: &str) -> bool {
    id.strip_prefix("msg_01").is_some_and(|rest| rest.len() == 22)
}

fn requests(text: &str) -> Vec<Request> {
    let mut requests: Vec<(String, Request)> = Vec::new();
    let mut next = Request::default();
    for record in text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()) {
        let message = &record["message"];
        match record["type"].as_str() {
            Some("system") => next.compacted |= record["subtype"] == "compact_boundary",
            Some("user") => next.new.extend(blocks(message)),
            Some("assistant") => {
                let id = message["id"].as_str().unwrap_or_default();
                let usage = &message["usage"];
                if !is_real(id) || !usage.is_object() {
                    continue;
                }
                let at = requests.iter().rposition(|(other, _)| other == id);
                let at = at.unwrap_or_else(|| {
                    let cached = number(usage, "cache_read_input_tokens")
                        + number(usage, "cache_creation_input_tokens");
                    next.context = number(usage, "input_tokens") + cached;
                    next.model = message["model"].to_string();
                    requests.push((id.to_owned(), std::mem::take(&mut next)));
                    requests.len() - 1
                });
                let request = &mut requests[at].1;
                request.answer.extend(blocks(message));
                // An answer has several records; only the last one can have the full count.
                request.answered = number(usage, "output_tokens");
            }
            _ => {}
        }
    }
    requests.into_iter().map(|(_, request)| request).collect()
}

/// An answer that is fully visible: hidden thinking is counted, but not shown.
fn written(request: &Request) -> Option<Sample> {
    let mut text = Vec::new();
    let mut tokens = request.answered - MESSAGE;
    for block in &request.answer {
        match block["type"].as_str()? {
            "text" => text.push(block["text"].as_str()?.to_owned()),
            "tool_use" => {
                tokens -= CALL;
                text.push(block["name"].as_str()?.to_owned());
                for (name, value) in block["input"].as_object()? {
                    tokens -= PARAMETER;
                    text.push(name.clone());
                    text.push(value.as_str().map_or_else(|| value.to_string(), str::to_owned));
                }
            }
            _ => return None,
        }
    }
    (tokens >= WRITTEN_MIN).then_some(Sample { text, tokens })
}

/// Results of plain tools, measured by how much the context grew beyond the previous answer.
fn read(before: &Request, request: &Request) -> Option<Sample> {
    let calls: BTreeSet<&str> = before.answer.iter().filter_map(|b| b["name"].as_str()).collect();
    let plain = calls.iter().all(|name| PLAIN_TOOLS.contains(name));
    // A count recorded while streaming would leave a part of the answer in the growth.
    let counted = before.answered > 30.0 && before.model == request.model;
    if !plain || !counted || before.compacted || request.compacted {
        return None;
    }
    let mut text = Vec::new();
    let mut tokens = request.context - before.context - before.answered;
    for block in &request.new {
        if block["type"] != "tool_result" || block["is_error"] == true {
            return None;
        }
        tokens -= RESULT;
        let content = &block["content"];
        if let Some(content) = content.as_str() {
            text.push(content.to_owned());
            continue;
        }
        for part in content.as_array()? {
            text.push(part["text"].as_str()?.to_owned());
        }
    }
    (tokens >= READ_MIN).then_some(Sample { text, tokens })
}

/// Prints the errors of a family's estimates and returns the error at the 95th percentile.
fn tell(what: &str, family: TokenizerFamily, samples: &[Sample]) -> f64 {
    let errors: Vec<f64> = samples.iter().map(|sample| sample.error(family)).collect();
    let mut sizes: Vec<f64> = errors.iter().map(|error| error.abs()).collect();
    sizes.sort_by(f64::total_cmp);
    let at = |percent: usize| sizes[(sizes.len() * percent).div_ceil(100) - 1];
    let count = f64::from(u32::try_from(errors.len()).unwrap());
    // Write to stderr directly, because the test harness hides the output of passing tests.
    let _ = writeln!(
        std::io::stderr(),
        "{what}: {count} texts, error: median {:.1} %, p90 {:.1} %, p95 {:.1} %, bias {:+.1} %",
        100.0 * at(50),
        100.0 * at(90),
        100.0 * at(95),
        100.0 * errors.iter().sum::<f64>() / count,
    );
    at(95)
}

#[test]
#[ignore = "needs MIDSTRIDE_CORPUS"]
fn estimates_for_corpus_texts_are_close_to_claude_counts() {
    let folder = corpus("transcripts");
    let mut samples = BTreeMap::new();
    for path in jsonl_below(&folder) {
        let requests = requests(&String::from_utf8_lossy(&std::fs::read(&path).unwrap()));
        let answers = requests.iter().filter_map(written);
        let results = requests.windows(2).filter_map(|pair| read(&pair[0], &pair[1]));
        for (kind, sample) in answers.map(|s| ("written", s)).chain(results.map(|s| ("read", s))) {
            // The same answer can occur in several transcripts; it is one measurement.
            samples.insert(sample.text.clone(), (kind, sample));
        }
    }
    let mut of = BTreeMap::<&str, Vec<Sample>>::new();
    for (kind, sample) in samples.into_values() {
        of.entry(kind).or_default().push(sample);
    }
    assert!(of["written"].len() > 60 && of["read"].len() > 25, "too few to judge by");
    for (kind, samples) in of {
        assert!(
            tell(&format!("Claude, {kind}"), TokenizerFamily::Claude, &samples) <= ERROR_MAX,
            "{kind}"
        );
    }
}

/// Texts of `fixtures/tokens` with their counts by the GPT tokenizer.
const COUNTED: [(&str, f64); 12] = [
    ("changes", 274.0),
    ("chinese", 144.0),
    ("data", 254.0),
    ("french", 156.0),
    ("german", 189.0),
    ("handoff", 313.0),
    ("japanese", 220.0),
    ("log", 332.0),
    ("prose", 226.0),
    ("russian", 149.0),
    ("script", 266.0),
    ("source", 266.0),
];

#[test]
fn estimates_are_close_to_gpt_counts() {
    let samples = COUNTED.map(|(name, tokens)| {
        let path = fixtures("tokens").join(name).with_extension("txt");
        Sample { text: vec![std::fs::read_to_string(path).unwrap()], tokens }
    });
    assert!(tell("GPT", TokenizerFamily::Gpt, &samples) <= ERROR_MAX);
}

fn text() -> impl Strategy<Value = String> {
    let pieces = proptest::sample::select(vec![
        "word", "Two", "HTTP", "a", "12", "2026", " ", "  ", "\n", "\n    ", "\t", "\r\n", "->",
        "{\"", "_", "é", "Ж", "«", "—", "日本", "ก", "🚀", "\u{7}",
    ]);
    prop_oneof![
        3 => prop::collection::vec(pieces, 0..12).prop_map(|pieces| pieces.concat()),
        1 => "\\PC{0,20}",
        1 => any::<String>(),
    ]
}

proptest! {
    #[test]
    fn a_text_costs_about_as_much_as_its_parts((one, two) in (text(), text())) {
        for family in [TokenizerFamily::Claude, TokenizerFamily::Gpt] {
            let whole = family.estimate(&format!("{one}{two}"));
            let parts = family.estimate(&one) + family.estimate(&two);
            // A single space is free and a wider gap is not; nor are letters late in a word that
            // was two words.
            prop_assert!(whole <= parts + 2, "{family:?}: {whole} of {parts}");
            // If two parts become one word or one run, its beginning is paid for once.
            prop_assert!(whole + 3 >= parts, "{family:?}: {whole} of {parts}");
            prop_assert!(whole >= family.estimate(&one), "{family:?}: more text, lower cost");
        }
        prop_assert_eq!(estimate(&one), TokenizerFamily::Claude.estimate(&one));
    }
}
