//! Measures how many of the facts that an independent reader found in a session its briefing
//! contains.
//!
//! `fixtures/labels/session-facts.jsonl` names each fact by its place in a transcript of the
//! corpus: file, record, byte range and a hash of the range. The words themselves are read from the
//! corpus. Facts of a compaction summary are looked for in the briefing that a new session would
//! get right before the summary was written.
//!
//! A summary says "all tests pass" or "committed as 1a2b3c4" where a page has a line that proves
//! it. The labels of such facts say so in `stated`. A page names files by folder; their paths
//! count.

use crate::pages::briefed;
use midstride_core::session::shell::is_id;
use midstride_testkit::{corpus, fixtures};
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use std::collections::{BTreeMap, BTreeSet};

/// The minimum share of facts in the briefing, in percent.
const SHARE_MIN: usize = 85;
const TOKENS: u64 = 2_000;

/// Words that say nothing about a fact.
const STOP: &str = "about after again before could should would their there these those which where \
    while being other using added still needs need with that this from have into when does been \
    were will than then them also only each more some such make made";

struct Fact {
    record: usize,
    kind: String,
    text: String,
    stated: Option<String>,
}

impl Fact {
    fn is_on(&self, page: &str) -> bool {
        has(page, &self.text) || self.stated.as_deref().is_some_and(|how| self.is_stated(how, page))
    }

    /// Whether a line of the page proves the fact.
    fn is_stated(&self, how: &str, page: &str) -> bool {
        let has_line = |start: &str| page.lines().any(|line| line.trim_start().starts_with(start));
        match how {
            "passed-check" => has_line("Passed: ") && !has_line("Failing: "),
            "commit" => self.text.split_whitespace().any(|word| is_id(word) && has_line(word)),
            other => panic!("no such statement: {other}"),
        }
    }
}

/// The words of a fact: long ones, or those of three letters and more if it has no others.
fn words(text: &str) -> BTreeSet<String> {
    let text = text.to_lowercase();
    let words = text.split(|c: char| !(c.is_ascii_alphanumeric() || "_./".contains(c)));
    let words = words.map(|word| word.trim_matches(['.', '/']));
    let words = words.filter(|word| !STOP.split(' ').any(|stop| stop == *word));
    let words: Vec<&str> = words.filter(|word| word.len() > 2).collect();
    let has_long = words.iter().any(|word| word.len() > 4);
    let words = words.into_iter().filter(|word| !has_long || word.len() > 4);
    words.map(str::to_owned).collect()
}

/// A page with the full paths of files that it names by folder: "`src/: a.rs, b.rs`" gives
/// `src/b.rs`.
fn with_paths(page: &str) -> String {
    let parts = page.split(['`', ';']).filter_map(|part| part.split_once("/: "));
    let paths = parts.flat_map(|(folder, names)| {
        names.split(", ").map(move |name| format!("{}/{name}", folder.trim()))
    });
    format!("{page}\n{}", paths.collect::<Vec<_>>().join("\n"))
}

/// Whether a page contains a fact: at least 60% of its words.
fn has(page: &str, fact: &str) -> bool {
    let page = page.to_lowercase();
    let wanted = words(fact);
    let found = wanted.iter().filter(|word| page.contains(word.as_str())).count();
    !wanted.is_empty() && found * 10 >= wanted.len() * 6
}

/// The labeled facts by file, with their words from the corpus.
fn facts(folder: &std::path::Path) -> BTreeMap<String, Vec<Fact>> {
    let labels = std::fs::read_to_string(fixtures("labels").join("session-facts.jsonl")).unwrap();
    let mut found: BTreeMap<String, Vec<Fact>> = BTreeMap::new();
    let mut files: BTreeMap<String, Vec<u8>> = BTreeMap::new();
    for label in labels.lines() {
        let label: Value = serde_json::from_str(label).unwrap();
        let number = |name: &str| usize::try_from(label[name].as_u64().unwrap()).unwrap();
        let file = label["file"].as_str().unwrap();
        let bytes = files
            .entry(file.to_owned())
            .or_insert_with(|| std::fs::read(folder.join(file)).unwrap());
        let line = bytes.split(|byte| *byte == b'\n').nth(number("record") - 1).unwrap();
        let range = &line[number("from")..number("to")];
        let hash: String = Sha256::digest(range).iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(hash, label["sha256"].as_str().unwrap(), "{file} changed: {label}");
        let text = format!("\"{}\"", std::str::from_utf8(range).unwrap());
        found.entry(file.to_owned()).or_default().push(Fact {
            record: number("record"),
            kind: label["kind"].as_str().unwrap().to_owned(),
            text: serde_json::from_str(&text).unwrap(),
            stated: label["stated"].as_str().map(str::to_owned),
        });
    }
    found
}

/// The records before a summary. All records if the facts are about the whole session; the summary
/// too if the file starts shortly before it, because what it summarizes is missing.
fn before_summary<'b>(bytes: &'b [u8], facts: &[Fact]) -> &'b [u8] {
    let lines: Vec<&[u8]> = bytes.split_inclusive(|byte| *byte == b'\n').collect();
    let first = facts[0].record;
    let is_summary = facts.iter().all(|fact| fact.record == first);
    let has_work = |lines: &[&[u8]]| {
        let is_call =
            |line: &&&[u8]| String::from_utf8_lossy(line).contains("\"type\":\"tool_use\"");
        lines.iter().filter(is_call).count() >= 10
    };
    let end = match is_summary {
        true if has_work(&lines[..first - 1]) => first - 1,
        true => first,
        false => lines.len(),
    };
    &bytes[..lines[..end].iter().map(|line| line.len()).sum()]
}

#[test]
#[ignore = "needs MIDSTRIDE_CORPUS"]
#[expect(clippy::print_stdout, reason = "the measure is read with --nocapture")]
fn a_briefing_contains_the_facts_of_its_corpus_session() {
    let folder = corpus("fidelity");
    let folder = folder.parent().unwrap();
    let (mut kept, mut all) = (0, 0);
    let mut kinds: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    let show_missing = std::env::var_os("MIDSTRIDE_SHOW_MISSING").is_some();
    for (file, facts) in facts(folder) {
        assert!(facts.len() >= 12, "{file} has {} facts", facts.len());
        let bytes = std::fs::read(folder.join(&file)).unwrap();
        let page = briefed("claude-code", before_summary(&bytes, &facts), TOKENS).text;
        let page = with_paths(&page);
        let found: Vec<bool> = facts.iter().map(|fact| fact.is_on(&page)).collect();
        for (fact, is_found) in facts.iter().zip(&found) {
            let count = kinds.entry(fact.kind.clone()).or_default();
            count.0 += usize::from(*is_found);
            count.1 += 1;
            if show_missing && !is_found {
                println!("missing {} {}: {}", file, fact.kind, fact.text.replace('\n', " "));
            }
        }
        let here = found.iter().filter(|found| **found).count();
        println!("{file}: {here} of {}", facts.len());
        if show_missing {
            println!("{page}\n");
        }
        (kept, all) = (kept + here, all + facts.len());
    }
    for (kind, (kept, all)) in &kinds {
        println!("{kind}: {kept} of {all}");
    }
    println!("{kept} of {all} facts at {TOKENS} tokens");
    assert!(kept * 100 >= all * SHARE_MIN, "{kept} of {all} facts");
}
